/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_UNIT_H
#define CAIRN_REPLAY_UNIT_H

#include "format/locate.h"

#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct program;

/* A module as a recording names it. */
struct unit_module {
	struct locate_module file;
	uint64_t bias;
	uint64_t cells; /* link-time address of the first */
	uint64_t ncells;
};

/*
 * Adds a module to a program, with the units and functions that its file has;
 * `exes` are files and directories to look for it first.
 *
 * Fails: as locate_recorded and map_parse; CAIRN_E_CORRUPT if the IR of a
 *        function is not there.
 */
int unit_add_module(struct program *p, const struct unit_module *m,
                    const char *const *exes, size_t nexes,
                    struct cairn_err *err);

#endif /* CAIRN_REPLAY_UNIT_H */
