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
struct recording_base;

/* A file with all that a context has at a moment, or the same in a recording.
 */
struct checkpoint {
	char *name;                 /* of the file, or the recording */
	const unsigned char *bytes; /* in the recording; NULL: it is a file */
	uint64_t size;              /* of either */
	uint64_t key;               /* see checkpoint_key */
	uint32_t context;
	uint32_t hash; /* of memory and cells */
	struct engine_moment moment;
	unsigned char *frames; /* of the moment, when it is loaded */
	uint64_t nraw;
	uint64_t nmodules, modules; /* that have cells in it, and which */
};

void checkpoint_release(struct checkpoint *c);

/* What tells versions of what is kept apart; */
uint64_t checkpoint_version(void);
/* What tells recordings apart, and versions of what is kept. */
uint64_t checkpoint_key(const struct recording *r);

/* What memory and cells are now; in the thread of the engine.  has_seen: as of
 * the moment. */
uint32_t checkpoint_hash(const struct program *p, bool has_seen);

/* Writes one of the engine's current memory and cells into an open file, in the
 * place of what is there. */
struct checkpoint_place {
	int fd;
	uint64_t key;
	uint32_t context;
	const struct program *program;
	const struct recording *recording;
};

int checkpoint_write(const struct checkpoint_place *at,
                     const struct engine_moment *m);

/* Looks at the head of a file of BROKER_CHECKPOINTS; false if it is none of
 * this key. */
bool checkpoint_read(struct checkpoint *c, const char *name, uint64_t key);
/*
 * The one that a context begins with; r has all modules.  name: of the file,
 * for messages.  Fails: CAIRN_E_VERSION if another cairn wrote it.
 * Memory: the base has to outlive it.
 */
int checkpoint_take(struct checkpoint *c, const struct recording *r,
                    const struct recording_base *b, const char *name,
                    struct cairn_err *err);
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
