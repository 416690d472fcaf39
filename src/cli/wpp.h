/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_WPP_H
#define CAIRN_CLI_WPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/grammar.h"
#include "analysis/repeats.h"
#include "analysis/subpaths.h"

struct cairn_err;
struct phases;
struct sequitur;

enum wpp_kind {
	WPP_PATH,   /* a path of a function, or the part between two calls */
	WPP_CALL,   /* a function is entered */
	WPP_RETURN, /* it returns */
	WPP_DEATH,  /* it is left by a throw, a jump or the end of the run */
	WPP_THREAD, /* what follows is of another thread */
};

/* A symbol of the whole program path. */
struct wpp_symbol {
	enum wpp_kind kind;
	const char *function; /* its name; NULL for a THREAD */
	char *lines;          /* of a PATH: "words.c:70-74,80", or "" */
	uint64_t number; /* of the path in its function, or of the thread */
	uint64_t weight; /* of a PATH: instructions; of others 0 */
};

struct wpp_options {
	struct subpaths_options hot; /* its threshold is set here */
	uint32_t share;              /* T, in millionths of all instructions */
	unsigned top;                /* rows of a table; UINT_MAX: all */
};

/* A phase, as it is shown. */
struct wpp_phase {
	uint32_t nintervals;
	uint64_t work;
	uint32_t *symbols; /* that it spends most in, most first */
	uint64_t *counts;  /* of these, within it */
	size_t nsymbols;
};

/* The whole program path of a run, and what there is to say about it. */
struct wpp {
	struct wpp_options options;
	const char *program; /* borrowed */
	struct wpp_symbol *symbols;
	uint64_t *weight; /* per symbol */
	uint32_t nsymbols, symbols_cap, weight_cap;
	uint32_t nthreads;
	struct sequitur *sequitur;
	struct phases *phases;
	/* after wpp_finish: */
	struct grammar g;
	struct subpaths hot;
	struct repeats loops;
	struct outline outline;
	struct wpp_phase *phase;
	uint64_t *counts; /* per symbol */
	size_t nbytes;    /* of the grammar in a file */
};

/*
 * wpp_init; wpp_add for each symbol, before it is first pushed;
 * wpp_begin_thread and wpp_push in the order of time, thread by thread;
 * wpp_finish; then wpp_text or wpp_json.
 */
void wpp_init(struct wpp *w, const struct wpp_options *o);
void wpp_release(struct wpp *w);

/* Takes over symbol.lines; returns its number. */
uint32_t wpp_add(struct wpp *w, struct wpp_symbol symbol);
void wpp_begin_thread(struct wpp *w);
void wpp_push(struct wpp *w, uint32_t symbol);

/* Fails: as sequitur_finish, grammar_measure and subpaths_init. */
int wpp_finish(struct wpp *w, struct cairn_err *err);

/* Pushes all of a trace, which must outlive w. */
struct trace_input;
int wpp_from_trace(struct wpp *w, struct trace_input *trace,
                   struct cairn_err *err);

void wpp_text(const struct wpp *w, FILE *out);
void wpp_json(const struct wpp *w, FILE *out);

#endif /* CAIRN_CLI_WPP_H */
