/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_COVERAGE_H
#define CAIRN_CLI_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

/* A function as formats of coverage know it: one per name and file. */
struct coverage_function {
	const char *file, *name; /* linkage name */
	uint32_t line;
	uint64_t entries;
};

struct coverage {
	const struct report *report;
	struct coverage_function *functions; /* by file, name */
	size_t n;
};

/* Functions whose entries are known, instances of one name summed. */
void coverage_init(struct coverage *c, const struct report *r);
void coverage_release(struct coverage *c);

/* The functions of a file: the first of *n. */
const struct coverage_function *coverage_of_file(const struct coverage *c,
                                                 const char *path, size_t *n);
/* Does a format that is read by people's tools have the file?  Not what came
 * with the system, unless it was asked for. */
bool coverage_wants_file(const struct report *r, const char *path);

#endif /* CAIRN_CLI_COVERAGE_H */
