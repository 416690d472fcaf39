/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_EXPORT_H
#define CAIRN_CLI_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What times count. */
enum export_clock {
	EXPORT_BLOCKS,     /* executed blocks: a logical clock */
	EXPORT_NANOSECONDS /* since the run began */
};

struct export_function {
	char *name; /* as text; quoted and escaped it is `quoted` */
	char *quoted;
	char *file; /* quoted and escaped, NULL if it is unknown */
	uint32_t line;
};

struct export_writer;
struct export_tree;

/* A format: what is written when. */
struct export_format {
	const char *name; /* as users say it */
	void (*begin)(struct export_writer *x);
	void (*begin_thread)(struct export_writer *x);
	/* so much time passes, in the innermost frame; may be NULL */
	void (*spend)(struct export_writer *x, uint64_t time);
	void (*enter)(struct export_writer *x, uint32_t function);
	void (*leave)(struct export_writer *x, uint32_t function);
	void (*end_thread)(struct export_writer *x);
	void (*end)(struct export_writer *x);
};

extern const struct export_format export_chrome;
extern const struct export_format export_speedscope;
extern const struct export_format export_folded;

/* Control flow on its way into a file of another tool. */
struct export_writer {
	const struct export_format *format;
	FILE *out; /* borrowed; who owns it looks for errors */
	enum export_clock clock;
	const char *program; /* borrowed */
	uint64_t pid;
	struct export_function *functions;
	uint32_t nfunctions, functions_cap;
	/* the thread */
	uint64_t tid;
	const char *thread; /* its name, during export_begin_thread */
	uint64_t begun, now;
	uint32_t *frames; /* functions, innermost last */
	size_t nframes, frames_cap;
	uint64_t nthreads;
	bool needs_comma;
	struct export_tree *tree; /* of folded stacks */
};

/*
 * Begins the file.  Threads follow one after the other, each with the frames it
 * enters and leaves; frames that are open at its end are closed then.  A time
 * below the one before it is taken for that one: consumers want them in order.
 *
 * Memory: the functions, the open frames of one thread and, of folded stacks,
 *         one record per different stack.
 */
void export_begin(struct export_writer *x, const struct export_format *format,
                  FILE *out, enum export_clock clock, const char *program,
                  uint64_t pid);
/* A function, any bytes; numbered from 0 on.  Two of one name are two.  `file`
 * may be NULL. */
uint32_t export_add_function(struct export_writer *x, const char *name,
                             const char *file, uint32_t line);
/* `name` may be NULL. */
void export_begin_thread(struct export_writer *x, uint64_t tid,
                         const char *name, uint64_t time);
void export_enter(struct export_writer *x, uint32_t function, uint64_t time);
/* Requires: a frame is open. */
void export_leave(struct export_writer *x, uint64_t time);
void export_end_thread(struct export_writer *x, uint64_t time);
/* Ends the file and releases x. */
void export_end(struct export_writer *x);

/* Text as a JSON string; for the caller to free. */
char *export_quote(const char *text);
/* A name as a frame of folded stacks: escaped, and without semicolons. */
void export_put_folded(FILE *out, const char *name);

#endif /* CAIRN_CLI_EXPORT_H */
