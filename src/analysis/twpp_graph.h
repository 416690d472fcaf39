/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_GRAPH_H
#define CAIRN_ANALYSIS_TWPP_GRAPH_H

#include "analysis/twpp_file.h"
#include "analysis/twpp_trail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* An activation, as the graph has it: once for all that do the same. */
struct twpp_node {
	uint32_t entry; /* its function: index into the file's entries */
	uint32_t trace;
	enum twpp_end end;
	struct twpp_string odd;   /* blocks that make another number of calls */
	struct twpp_string calls; /* nodes that it calls, in order */
};

struct twpp_graph_thread {
	uint64_t id;
	struct twpp_string roots; /* nodes that nobody called, in order */
};

/* A block that makes calls, and how many each time. */
struct twpp_caller {
	uint32_t block;
	uint64_t ncalls;
};

/* What is held of a function while the graph is walked. */
struct twpp_held {
	struct twpp_caller *callers; /* by their number */
	size_t ncallers, callers_cap;
	bool is_loaded;
	struct twpp_function function;
	uint32_t **blocks; /* per trace, if short and already expanded */
	size_t *nblocks;
};

/* The dynamic call graph. */
struct twpp_graph {
	struct twpp *file;
	struct bytes own;
	const unsigned char *bytes;
	uint64_t *nodes; /* offsets; nodes[n] is the end */
	uint32_t n;
	struct twpp_graph_thread *threads;
	size_t nthreads;
	struct twpp_held *held; /* per entry of the file */
	size_t room;            /* blocks that may still be expanded */
};

/*
 * Reads the graph; functions are loaded when they are walked through.
 *
 * Fails:  CAIRN_E_CORRUPT.
 * Memory: until twpp_graph_release; borrows t.
 */
int twpp_graph_load(struct twpp_graph *g, struct twpp *t,
                    struct cairn_err *err);
void twpp_graph_release(struct twpp_graph *g);

/* Requires: i < g->n. */
struct twpp_node twpp_graph_node(const struct twpp_graph *g, uint32_t i);

/* The function of a node, loaded. */
int twpp_graph_function(struct twpp_graph *g, uint32_t entry,
                        struct twpp_function **f, struct cairn_err *err);

/* The nodes that a string lists, one after the other. */
struct twpp_calls {
	struct twpp_reader reader;
	uint32_t below; /* every one is */
	const struct twpp *file;
};

/* Requires: g outlives c.  Memory: until twpp_calls_release. */
void twpp_calls_init(struct twpp_calls *c, struct twpp_graph *g,
                     const struct twpp_string *nodes, uint32_t below);
void twpp_calls_release(struct twpp_calls *c);
/* 1, 0 at the end, or CAIRN_E_CORRUPT. */
int twpp_calls_next(struct twpp_calls *c, uint32_t *node,
                    struct cairn_err *err);

enum twpp_step {
	TWPP_STEP_END,   /* the activation ends */
	TWPP_STEP_BLOCK, /* it executes a block */
	TWPP_STEP_CALL   /* it calls: the callee is a node */
};

/* What one activation does, in order. */
struct twpp_activation {
	struct twpp_graph *graph;
	const struct twpp_held *held;
	const struct twpp_trace *trace;
	uint32_t node;
	enum twpp_end end;
	uint64_t at; /* blocks so far */
	/* blocks to come: n at p, then `times` more of n_again at again */
	const uint32_t *p, *again;
	size_t n, n_again;
	uint64_t times;
	bool has_trail;
	struct twpp_trail trail; /* what comes then */
	uint64_t ncalls;         /* at this point, to come */
	struct twpp_calls calls;
	struct twpp_reader odd;
	uint64_t odd_at, odd_calls; /* the next one; at UINT64_MAX: none */
};

/*
 * Goes to the beginning of an activation.
 *
 * Memory: until twpp_activation_release, also if it fails.
 * Fails:  CAIRN_E_CORRUPT.
 */
int twpp_activation_init(struct twpp_activation *a, struct twpp_graph *g,
                         uint32_t node, struct cairn_err *err);
void twpp_activation_release(struct twpp_activation *a);

/* The next step, and its block or node; a negative error. */
int twpp_activation_next(struct twpp_activation *a, uint32_t *what,
                         struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_TWPP_GRAPH_H */
