/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_FILES_H
#define CAIRN_BASE_FILES_H

#include <stddef.h>

struct cairn_err;

/*
 * Who opens files for this process, which may be in a sandbox where it can open
 * none itself (replay/broker.h).
 */
struct files_host {
	/* For reading, and without waiting for anybody: a descriptor, or -1
	 * and errno. */
	int (*open)(const char *path);
	/* As writer_replace. */
	int (*replace)(const char *path, const void *data, size_t size,
	               struct cairn_err *err);
};

/* From now on; NULL: this process itself.  *host outlives that. */
void files_ask(const struct files_host *host);
/* NULL: this process itself. */
const struct files_host *files_asked(void);

/* What is opened later is none of the usual three descriptors; what was closed
 * cannot be written. */
void files_fill_usual(void);
/* A file that grows over a limit (ulimit -f) is an error, no death. */
void files_outlive_limits(void);

/* Opens a file for reading: a descriptor, or -1 and errno. */
int files_open(const char *path);

#endif /* CAIRN_BASE_FILES_H */
