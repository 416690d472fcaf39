/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PROFILE_H
#define CAIRN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reading profiles from C: open .cairn files, walk functions, blocks, edges
 * and source lines with their exact counts, free.
 *
 * Everything handed out is borrowed from the profile and valid until
 * cairn_profile_free.  A profile may be read by several threads at a time.
 * Structs only ever grow at their end, and the library fills as much of them
 * as `size` says, so that programs built against older headers keep working.
 */
#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_API __attribute__((visibility("default")))

struct cairn_profile;

/* A count that is not known; never a real count. */
#define CAIRN_UNKNOWN UINT64_MAX

/*
 * Opens and sums files of one build.  On failure returns NULL and writes one
 * sentence into message[], which may be NULL.
 */
CAIRN_API struct cairn_profile *cairn_profile_open(const char *const *paths,
                                                   size_t npaths, char *message,
                                                   size_t message_size);
CAIRN_API void cairn_profile_free(struct cairn_profile *p);

/* NULL if all counts are exact, else one sentence that says why not. */
CAIRN_API const char *cairn_profile_note(const struct cairn_profile *p);

struct cairn_function {
	size_t size;           /* set by the caller: sizeof */
	const char *name;      /* as the linker sees it */
	const char *module;    /* path of the executable or library */
	const char *file;      /* "" if unknown */
	const char *uncovered; /* NULL, or why it was not instrumented */
	const char *inexact;   /* NULL, or why its counts may be wrong */
	uint32_t line;
	uint32_t nblocks; /* the outside, block 0, included */
	uint32_t nedges;
	uint64_t entries;
};

struct cairn_block {
	size_t size;
	uint64_t count;
	uint32_t instructions; /* of LLVM IR */
	const char *file;      /* of its first line, "" if unknown */
	uint32_t line;
};

struct cairn_edge {
	size_t size;
	uint32_t source, target; /* blocks; 0 is the outside */
	uint32_t kind;           /* enum cairn_edge_kind, docs/FORMAT.md */
	uint64_t count;
};

struct cairn_line {
	size_t size;
	const char *file;
	uint32_t line;
	uint64_t count;
};

CAIRN_API size_t cairn_profile_nfunctions(const struct cairn_profile *p);
CAIRN_API size_t cairn_profile_nlines(const struct cairn_profile *p);

/* Each fills *out and returns true, or returns false if there is no such
 * thing.  Functions are numbered from 0, blocks and edges as in the map. */
CAIRN_API bool cairn_profile_function(const struct cairn_profile *p,
                                      size_t function,
                                      struct cairn_function *out);
CAIRN_API bool cairn_profile_block(const struct cairn_profile *p,
                                   size_t function, uint32_t block,
                                   struct cairn_block *out);
CAIRN_API bool cairn_profile_edge(const struct cairn_profile *p,
                                  size_t function, uint32_t edge,
                                  struct cairn_edge *out);
/* Lines are sorted by file, then line. */
CAIRN_API bool cairn_profile_line(const struct cairn_profile *p, size_t line,
                                  struct cairn_line *out);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_PROFILE_H */
