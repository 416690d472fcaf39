/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_TRACE_INPUT_H
#define CAIRN_CLI_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace_index.h"
#include "analysis/traced.h"
#include "base/progress.h"

struct cairn_err;
struct cli_inputs;
struct interleave;
struct interleave_range;
struct map_line;
struct profile;

/* A trace that a command works on. */
struct trace_input {
	const char *path; /* borrowed */
	struct profile *profile;
	struct streams streams;
	struct traced traced;
	char **names;       /* per function, as the user knows it */
	block_id **numbers; /* trace_input_block; NULL: not asked yet */
	struct trace_index index;
	bool has_index;
	bool wants_progress; /* even if stderr is no terminal */
	bool wants_index;    /* in its file, even if it is quickly made */
};

/* Opens a file that has a trace.  Prints what is wrong; an exit status. */
int trace_input_open(struct trace_input *in, struct cli_inputs *inputs,
                     char *path, bool no_demangle);
/* The same, but who calls says what is wrong. */
int trace_input_try(struct trace_input *in, struct cli_inputs *inputs,
                    const char *path, bool no_demangle, struct cairn_err *err);
/* The same for names and lines of functions of a profile that has no trace, so
 * many, each a module and its index in the map; takes the profile over. */
void trace_input_name_all(struct trace_input *in, struct profile *p,
                          const char *path, const uint32_t (*functions)[2],
                          uint32_t n, bool no_demangle);
void trace_input_close(struct trace_input *in);

/*
 * Makes in->index: takes that of the file beside the trace, PATH.index, or
 * walks over all of it.  If that takes long, or is wanted, it is written there.
 */
void trace_input_index(struct trace_input *in);

/*
 * Begins with all threads in one order; range may be NULL: all.  If the file
 * has no marks for it, that is said on stderr, and time decides.
 *
 * Requires: trace_input_index.
 */
void trace_input_interleave(struct trace_input *in, struct interleave *x,
                            const struct interleave_range *range);

/* How far a walk over all threads is, in bytes of the file. */
struct trace_way {
	struct progress progress;            /* progress_end ends it */
	const struct streams_thread *thread; /* that is walked over, */
	uint64_t nparts;                     /* so many parts of it */
	uint64_t done, all;
};

void trace_way_begin(struct trace_way *way, const struct streams *s,
                     const char *what, bool is_forced);
void trace_way_tell(struct trace_way *way, const struct traced_walk *w);

/* The name of a function, and where it is defined; NULL if that is not
 * known. */
const char *trace_input_name(const struct trace_input *in, uint32_t function);
const char *trace_input_file(const struct trace_input *in, uint32_t function,
                             uint32_t *line);

/*
 * The number that reports and paths have for the block that this one is part
 * of: a trace splits blocks after calls.  The parts of a block follow each
 * other.
 */
block_id trace_input_block(struct trace_input *in, uint32_t function,
                           block_id part);

/* Calls visit for the lines of a block, in order, each once in a row; lines
 * that the compiler made are left out. */
void trace_input_lines(const struct trace_input *in, uint32_t function,
                       uint32_t block,
                       void (*visit)(void *context, const char *file,
                                     const struct map_line *line),
                       void *context);

/* Lines of blocks, in order, as "words.c:70-74,80"; for the caller to free. */
char *trace_lines(const struct trace_input *in, uint32_t function,
                  const uint32_t *blocks, uint32_t nblocks);

#endif /* CAIRN_CLI_TRACE_INPUT_H */
