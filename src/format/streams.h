/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_STREAMS_H
#define CAIRN_FORMAT_STREAMS_H

#include "format/container.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* A part of the stream of one thread, as the file has it. */
struct streams_part {
	uint64_t number; /* ascending, from 1 on if none was dropped */
	const struct chunk *chunk;
};

struct streams_thread {
	uint32_t id; /* of the thread in the file */
	struct streams_part *parts;
	size_t nparts, parts_cap;
	uint64_t ndropped; /* parts that a flight recorder forgot */
	bool is_live; /* for who reads while it is written: there is more */
	const struct chunk *checkpoint; /* where it begins; NULL: at part 1 */
};

/* The streams of a trace or a recording. */
struct streams {
	struct container c;
	struct container last; /* of a recording: its checkpoints, if they are
	                          in a file of their own (NAME.last) */
	struct streams_thread *threads;
	size_t nthreads, threads_cap;
};

/*
 * Reads a file.  One that has no trace has no threads.
 *
 * Fails: as container_read; CAIRN_E_CORRUPT if a part is missing.
 */
int streams_open(struct streams *s, const char *path, enum container_mode mode,
                 struct cairn_err *err);
void streams_release(struct streams *s);

/* The CHECKPOINT chunk of a context, or, of 0, that of all; NULL: none. */
const struct chunk *streams_checkpoint(const struct streams *s, uint32_t id);

/*
 * The bytes of a part: in *memory, which is grown as needed and the caller's to
 * free, or in the file.
 *
 * Fails: CAIRN_E_CORRUPT.
 */
int streams_load(const struct streams *s, const struct streams_part *part,
                 unsigned char **memory, size_t *capacity,
                 const unsigned char **bytes, size_t *nbytes,
                 struct cairn_err *err);

#endif /* CAIRN_FORMAT_STREAMS_H */
