/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_PIECES_H
#define CAIRN_REPLAY_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct engine_output;

/* What one call wrote to stdout or stderr. */
struct piece {
	uint32_t context;
	int fd;
	uint64_t tick, cell, order, pending; /* as in struct engine_output */
	uint32_t site;
	unsigned how;
	size_t at, n; /* of bytes */
};

struct pieces {
	struct piece *items;
	size_t n, cap;
	unsigned char *bytes;
	size_t nbytes, bytes_cap;
};

void pieces_release(struct pieces *p);

/* Adds one, with those of a context in their order. */
void pieces_add(struct pieces *p, uint32_t context,
                const struct engine_output *o);
/* Puts those of all contexts in order. */
void pieces_sort(struct pieces *p);

/* The process was killed with so many bytes of a descriptor pending.  Requires:
 * sorted. */
void pieces_kill(struct pieces *p, int fd, uint64_t pending);

/*
 * All that came out of a descriptor, in the order in which it did: n bytes, for
 * the caller to free.  Requires: sorted.
 */
unsigned char *pieces_join(const struct pieces *p, int fd, size_t *n);

#endif /* CAIRN_REPLAY_PIECES_H */
