/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_LOCATE_H
#define CAIRN_FORMAT_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* The module whose map is wanted. */
struct locate_module {
	const char *path;      /* as recorded */
	const char *directory; /* where the program ran, for a relative path */
	const unsigned char *id;
	uint32_t nid;      /* 0: linked without a build id */
	bool is_recording; /* the file that names it is one */
};

/*
 * Finds the map section of a module: first in the files and directories that
 * the user named (a directory is asked for the module's base name and for
 * .build-id/xx/yyyy.debug), then at the recorded path, then among the system's
 * separate debug files.  Only a file with the module's build id counts.
 *
 * Memory: *bytes is allocated, the caller frees it.
 * Fails:  CAIRN_E_ABSENT with the reason why the best candidate was no good,
 *         or CAIRN_E_CORRUPT.
 */
int locate_map(const struct locate_module *m, const char *const *exes,
               size_t nexes, unsigned char **bytes, size_t *size,
               struct cairn_err *err);

/* The same for both sections of a recorded module, its map and its IR, with
 * what it has in memory when it starts (the caller frees it). */
struct locate_sections {
	unsigned char *map, *ir;
	size_t map_size, ir_size;
	struct image *image;
};

int locate_recorded(const struct locate_module *m, const char *const *exes,
                    size_t nexes, struct locate_sections *out,
                    struct cairn_err *err);

/* Writes a build id in hex, shortened to what tells builds apart at a glance
 * (16 digits); "none" if there is none.  Returns buffer. */
#define LOCATE_ID_TEXT 17
const char *locate_id_text(const unsigned char *id, uint32_t n,
                           char buffer[LOCATE_ID_TEXT]);

#endif /* CAIRN_FORMAT_LOCATE_H */
