/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_TRACE_VIEW_H
#define CAIRN_CLI_TRACE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/progress.h"
#include "cli/trace_input.h"
#include "walk/reader.h"

struct cairn_err;
struct export_format;

/* A moment as the user says it: a block, or a time. */
struct trace_moment {
	bool is_given, is_time;
	uint64_t value; /* block number, or ns */
};

enum trace_clock { TRACE_CLOCK_ANY, TRACE_CLOCK_TIME, TRACE_CLOCK_BLOCKS };

struct trace_options {
	const char *function; /* glob, or NULL */
	bool callees;         /* ... and what these call */
	bool blocks, reverse, json, summary, times;
	bool interleave; /* all threads in one order */
	bool open;       /* only the frames that are open at the end */
	struct trace_moment from, to;
	uint64_t depth; /* levels that are shown; 0: all */
	bool has_thread;
	uint32_t thread;
	bool hash;                          /* only a number per thread */
	const struct export_format *format; /* NULL: no export */
	enum trace_clock clock;
	/* Say how far it is: into a file, or if the user wants it. */
	bool tells_progress, forces_progress;
};

struct trace_view;

/* How events are shown. */
struct trace_form {
	void (*begin_thread)(struct trace_view *v);
	/* A frame that is open where the first event is. */
	void (*resume)(struct trace_view *v, uint32_t function, size_t depth);
	void (*event)(struct trace_view *v, const struct reader_event *event);
	void (*end_thread)(struct trace_view *v);
};

extern const struct trace_form trace_text;
extern const struct trace_form trace_json;
extern const struct trace_form trace_export;

/* An open frame, as far as the selection goes. */
struct trace_frame {
	uint32_t function;
	bool is_shown;
	uint64_t level; /* from the selected frame on, or the outermost; 0: in
	                 * no selected one */
};

struct trace_way_text {
	const struct walk_way *way;
	char *text;
};

/* A trace on its way to the user. */
struct trace_view {
	struct trace_input *in;
	const struct trace_options *o;
	const struct trace_form *form;
	FILE *out;
	bool *is_selected; /* per function */
	/* the thread */
	size_t thread;
	struct trace_frame *frames; /* innermost last */
	size_t nframes, frames_cap;
	uint64_t first, last; /* events */
	struct progress progress;
	/* for the forms */
	struct trace_way_text *texts; /* of ways, hashed; a power of two */
	size_t ntexts, texts_cap;
	const struct walk_way *repeated; /* the last path, not printed yet */
	struct reader_event first_of_it;
	uint64_t nrepeated;
	struct export_writer *writer;
	bool is_open;        /* a thread has begun in the export */
	uint64_t tid, begun; /* ... or will, if it has frames */
	uint64_t now;
};

/* Shows what the options ask for.  Fails as the walk. */
int trace_view_run(struct trace_view *v, struct cairn_err *err);
void trace_view_init(struct trace_view *v, struct trace_input *in,
                     const struct trace_options *o, FILE *out);
void trace_view_release(struct trace_view *v);

/* Does a function have this name, as the user or as the linker knows it? */
bool trace_view_matches(const struct trace_input *in, const char *glob,
                        uint32_t function);

/* The number of blocks that were executed, or the time, at an event. */
uint64_t trace_view_time(const struct trace_view *v, uint64_t block);

/* The frames that are open at the end.  Fails as the walk. */
int trace_open(struct trace_view *v, struct cairn_err *err);

/* The last part of a path, and the lines of some blocks, as text has them. */
const char *trace_base(const char *path);
void trace_put_lines(const struct trace_view *v, FILE *out, uint32_t function,
                     const block_id *blocks, uint32_t n);

/* What threads there are, and how much of what. */
void trace_summary(const struct trace_input *in, bool is_json, FILE *out);

/* A hash per thread.  Fails: as the walk does; what is before it is printed. */
int trace_hashes(struct trace_input *in, const struct trace_options *o,
                 FILE *out, struct cairn_err *err);

#endif /* CAIRN_CLI_TRACE_VIEW_H */
