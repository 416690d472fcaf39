/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_TRIM_H
#define CAIRN_REPLAY_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/recording.h"

struct cairn_err;
struct session;

#define TRIM_NWANTED 3u

/* What is kept of a context. */
struct trim_cut {
	const struct recording_context *context;
	uint64_t nlog, nkept; /* bytes of its log, unpacked: all, wanted */
	bool has_ended;       /* before the newest part */
	bool is_gone;         /* nothing is kept */
	/* moments to begin at, the last is the best: ticks, ascending */
	uint64_t wanted[TRIM_NWANTED];
	size_t nwanted;
	/* where it begins; bytes NULL: at its beginning, or as it did */
	struct recording_base base;
	unsigned char *bytes;
};

/* A part of the log, as it is kept. */
struct trim_part {
	const struct streams_part *part;
	uint32_t context; /* index */
	uint64_t size;    /* in the file */
	uint64_t raw;     /* unpacked */
	uint64_t age;     /* greater: newer */
};

/* The newest part of a recording. */
struct trim {
	struct session *session;
	struct trim_cut *cuts;   /* one per context of the recording */
	struct trim_part *parts; /* the newest first */
	size_t nparts, parts_cap;
	uint64_t nlog, nkept; /* bytes of all logs in the file, and kept */
	int scratch;          /* a file without a name */
};

/*
 * Chooses what is kept, so that at most `size` bytes of the log are, and makes
 * the checkpoints.
 *
 * Requires: replay code that saves frames and notes what is seen.
 * Fails:    CAIRN_E_MISMATCH if a context diverges before; as session_run.
 */
int trim_make(struct trim *t, struct session *s, uint64_t size,
              struct cairn_err *err);
void trim_release(struct trim *t);

/* Is there anything that is not kept? */
bool trim_drops(const struct trim *t);

/* Only parts that are packed count: others may change. */
void trim_leave_live(struct session *s);
/* Number of the part with which a context begins. */
uint64_t trim_first_part(const struct trim_cut *c);

/* CHECKPOINT chunks of contexts, for the parts as they are in the file; the
 * header of a file. */
struct bytes;
void trim_put_checkpoints(const struct trim *t, struct bytes *out);
void trim_put_header(const struct trim *t, struct bytes *out);

/* Writes it as a recording. */
int trim_write(struct trim *t, const char *path, struct cairn_err *err);

#endif /* CAIRN_REPLAY_TRIM_H */
