/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_CHECKPOINT_H
#define CAIRN_REPLAY_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/engine.h"

struct cairn_err;
struct program;
struct recording;

/* A file with all that a context has at a moment. */
struct checkpoint {
	char *path;
	uint64_t size; /* bytes of the file */
	uint64_t key;  /* see checkpoint_key */
	uint32_t context;
	uint32_t hash; /* of memory and cells */
	struct engine_moment moment;
	unsigned char *frames; /* of the moment, when it is loaded */
	uint64_t nraw;
};

void checkpoint_release(struct checkpoint *c);

/* What tells recordings apart, and versions of what is kept. */
uint64_t checkpoint_key(const struct recording *r);

/* What memory and cells are now; in the thread of the engine.  has_seen: as of
 * the moment. */
uint32_t checkpoint_hash(const struct program *p, bool has_seen);

/*
 * Writes one of the engine's current memory and cells.  The file appears when
 * it is whole.
 */
int checkpoint_write(const char *path, uint64_t key, uint32_t context,
                     const struct program *p, const struct engine_moment *m);

/* Looks at the head of a file; false if it is none of this key. */
bool checkpoint_read(struct checkpoint *c, const char *path, uint64_t key);
/* Is the file whole, as it was written? */
bool checkpoint_is_sound(const struct checkpoint *c);

/* To begin a replay there: in a thread of the engine. */
struct checkpoint_filler {
	struct checkpoint *c;
	struct program *p;
	bool with_seen; /* what was seen is wanted */
};

/* Its frames; has to be called before the replay. */
int checkpoint_load(struct checkpoint *c, struct cairn_err *err);
/* For struct engine_start: a struct checkpoint_filler. */
int checkpoint_fill(void *filler, struct cairn_err *err);

#endif /* CAIRN_REPLAY_CHECKPOINT_H */
