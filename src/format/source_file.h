/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_SOURCE_FILE_H
#define CAIRN_FORMAT_SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct profile;

/* Source files of more bytes are not read. */
#define SOURCE_FILE_LIMIT ((size_t)64 << 20)

enum source_state {
	SOURCE_COMPILED, /* its checksum is that of what was compiled */
	SOURCE_OLDER,   /* none is known, and it is not newer than the module */
	SOURCE_NEWER,   /* none is known, and it is newer */
	SOURCE_CHANGED, /* its checksum is another one */
};

/* A source file as it is on disk. */
struct source_file {
	char *text; /* size bytes, and a NUL; the caller's to free */
	size_t size;
	enum source_state state;
};

/*
 * Reads a source file that the map of a module names, if that is safe: a map
 * may come from anybody, and may name any file.  Only regular files of at most
 * SOURCE_FILE_LIMIT bytes are read.  What has the checksum that the map has is
 * the text that was compiled.  Anything else has to have a name as sources
 * have, itself and where links lead to, and no NUL in it; and if a checksum is
 * known the path must not be a symbolic link.
 *
 * Fails: CAIRN_E_*, with a sentence that begins with the reason, not the path.
 */
int source_file_read(const struct profile *p, uint32_t module, const char *path,
                     struct source_file *out, struct cairn_err *err);
/* Does it differ from what was compiled, or may it? */
static inline int source_file_is_newer(const struct source_file *f)
{
	return f->state == SOURCE_NEWER || f->state == SOURCE_CHANGED;
}

#endif /* CAIRN_FORMAT_SOURCE_FILE_H */
