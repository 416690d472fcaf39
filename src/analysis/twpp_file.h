/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_FILE_H
#define CAIRN_ANALYSIS_TWPP_FILE_H

#include "analysis/twpp.h"
#include "analysis/twpp_pack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* A function in the index. */
struct twpp_entry {
	uint32_t function;
	char *name; /* NULL: none */
	/* what else a user may call it, NULL: nothing; twpp_call */
	char *readable;
	uint32_t nblocks, nedges; /* of its CFG; 0: not known */
	uint64_t ncalls;
	uint64_t ntraces;      /* unique ones; 0 if it was not called */
	uint64_t offset, size; /* of its block in the file */
	uint64_t dict_size;    /* of the dictionaries in it */
	uint32_t sum;
};

/* Bytes of the file. */
struct twpp_stored {
	uint64_t header, graph, dictionaries, traces, total;
};

/* An open file.  Not to be shared by threads. */
struct twpp {
	char *name; /* as errors call it */
	const unsigned char *data;
	size_t size;
	bool is_mapped;
	struct twpp_sizes sizes;
	struct twpp_stored stored;
	struct twpp_entry *entries; /* most calls first */
	uint32_t nentries;
	uint32_t *by_function; /* indices of entries, by number of function */
	struct twpp_zip zip;
};

/*
 * Opens a file, or bytes that outlive t.  Reads the index, nothing else.
 *
 * Fails:  CAIRN_E_SYSTEM, CAIRN_E_FOREIGN for another kind of file,
 *         CAIRN_E_VERSION, CAIRN_E_CORRUPT.
 * Memory: until twpp_close.
 */
int twpp_open(struct twpp *t, const char *path, struct cairn_err *err);
int twpp_open_bytes(struct twpp *t, const unsigned char *data, size_t size,
                    const char *name, struct cairn_err *err);
void twpp_close(struct twpp *t);

/* Does the file begin as one of these does?  A file that cannot be read does
 * not. */
bool twpp_is_file(const char *path);

/* The function of this number; NULL if the file does not know it. */
const struct twpp_entry *twpp_entry(const struct twpp *t, uint32_t function);

/* A function may also be called by this name, which is copied: that of C++. */
void twpp_call(struct twpp_entry *e, const char *readable);

/* Figure 8: calls of functions that have at most n unique traces. */
uint64_t twpp_calls_within(const struct twpp *t, uint64_t n);

/* A dynamic basic block of two blocks or more. */
struct twpp_dbb {
	uint32_t first;  /* of its blocks, in the function's pool */
	uint32_t length; /* its blocks */
};

struct twpp_dictionary {
	size_t first; /* of its entries, in the pool */
	size_t n;     /* by their first block, ascending */
};

/* A node of a body: a dynamic basic block and its timestamps. */
struct twpp_body_node {
	uint32_t block; /* its first */
	struct twpp_string series;
};

struct twpp_body {
	uint64_t n;   /* timestamps 1..n */
	size_t first; /* of its nodes, in the pool */
	size_t nnodes;
};

struct twpp_trace {
	uint32_t body, dictionary;
	uint64_t ncalls; /* activations that have this trace */
};

/* One function's traces. */
struct twpp_function {
	struct twpp *file;
	const struct twpp_entry *entry;
	struct twpp_trace *traces;
	size_t ntraces;
	struct twpp_body *bodies;
	size_t nbodies;
	struct twpp_dictionary *dictionaries;
	size_t ndictionaries;
	/* pools */
	struct twpp_body_node *nodes;
	size_t nnodes, nodes_cap;
	struct twpp_dbb *dbbs;
	size_t ndbbs, dbbs_cap;
	uint32_t *blocks;
	size_t nblocks, blocks_cap;
	struct bytes own[3]; /* parts that were packed */
};

/*
 * Reads the block of one function, which was called.
 *
 * Fails:  CAIRN_E_CORRUPT.
 * Memory: until twpp_function_release; borrows from t.
 */
int twpp_function_load(struct twpp *t, const struct twpp_entry *e,
                       struct twpp_function *f, struct cairn_err *err);
void twpp_function_release(struct twpp_function *f);

/* The blocks of a node of a trace; stores how many.  Borrowed from f. */
const uint32_t *twpp_node_blocks(const struct twpp_function *f,
                                 const struct twpp_trace *trace,
                                 const struct twpp_body_node *node, size_t *n);

#endif /* CAIRN_ANALYSIS_TWPP_FILE_H */
