/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_KEEPER_H
#define CAIRN_REPLAY_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct cairn_err;
struct checkpoint;
struct engine_result;
struct recording_context;
struct session;

/* The checkpoints that there are of a context, by their ticks. */
struct keeper_list {
	struct checkpoint *items;
	size_t n, cap;
	bool is_whole; /* they were made by a replay that came to the end, */
	uint64_t nticks, nevents; /* which was there */
};

/* Those of a recording; with_seen: only such as questions can use that ask for
 * memory (engine_note_seen). */
void keeper_find(struct keeper_list *l, const struct session *s,
                 const struct recording_context *c, bool with_seen);
void keeper_list_release(struct keeper_list *l);
/* The last that is not behind a tick, and not damaged; NULL: there is none. */
struct checkpoint *keeper_before(const struct keeper_list *l, uint64_t tick);

/* Makes checkpoints of a context while it is replayed. */
struct keeper {
	const struct session *session;
	uint32_t context;
	uint64_t key, every; /* ticks; 0: by the time that it takes */
	struct keeper_file {
		char *name;
		uint64_t size;
	} * files;
	size_t nfiles, files_cap;
	uint64_t interval; /* ns between two */
	uint64_t last, polled, polled_tick;
	pid_t child; /* that writes one; 0: none */
	char *name;  /* of that */
	bool is_off;
};

/* From the next replay on; those that there are go when the first is written.
 * Requires: replay code that saves frames. */
void keeper_begin(struct keeper *k, const struct session *s,
                  const struct recording_context *c, uint64_t every);
/* The replay is over; whole: it came to the end, there; NULL: it did not. */
void keeper_end(struct keeper *k, const struct engine_result *whole);

#endif /* CAIRN_REPLAY_KEEPER_H */
