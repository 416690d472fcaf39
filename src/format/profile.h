/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_PROFILE_H
#define CAIRN_FORMAT_PROFILE_H

#include "abi/file.h" /* flags and kinds are part of this interface */
#include "format/run_ids.h"
#include "format/sources.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct cairn_err;
struct map;

/* How often a path was counted in a table. */
struct profile_path {
	uint64_t owner; /* link-time address of the function's words */
	uint64_t key;   /* 1 + number of the path; 0: lost, nobody knows which
	                   path was meant */
	uint64_t count; /* never 0 */
};

/* An executable or shared object that counted. */
struct profile_module {
	char *path;
	unsigned char *id; /* build id */
	uint32_t nid;
	uint64_t base;      /* link-time address of the first counter */
	uint64_t ncounters; /* and how many there are */
	uint64_t *counts;   /* summed over threads and runs; NULL: no thread
	                       ever counted here.  Words that are no counts
	                       (CAIRN_PATHS_HASHED) are 0 where there is a
	                       map */
	struct profile_path *paths; /* sorted by owner, key; each once */
	size_t npaths, paths_cap;
	size_t paths_summed; /* while files are read: so many, the last time */
	struct map *map;     /* NULL if `missing` says why */
	unsigned char *map_bytes;
	size_t map_size;
	char *missing;
	size_t from;   /* the file that had it first, and ... */
	uint64_t bias; /* ... its load bias there */
	/* all of them, if it was loaded several times: that one first */
	uint64_t *biases;
	uint32_t nbiases, biases_cap;
};

/*
 * A place where frames died or began, summed.  The path register is there only
 * where the map wants it (CAIRN_PENDING_REGISTER), and without the load bias,
 * so that it means the same in every run.
 */
struct profile_frame {
	uint32_t module; /* index into modules */
	uint32_t kind;   /* enum cairn_frame_kind */
	uint64_t pc;
	bool has_reg;
	uint64_t reg; /* 0 unless has_reg */
	int64_t count;
};

/*
 * A pair of paths across a call (--cairn=paths,overlap): what the caller had
 * done and the first path of the callee; or, if it is a return, the last path
 * of the callee and what the caller then did.
 */
struct profile_call {
	uint32_t site_module, callee_module; /* indices into modules */
	bool is_return;
	uint64_t site;   /* link-time address of its cell */
	uint64_t callee; /* link-time address of its counters */
	/* times 2^32: the sum of the caller's path at the site, or the number
	 * of the callee's last path; and the number of its first path, or what
	 * the caller's path added behind the site until it ended */
	uint64_t paths;
	uint64_t count; /* never 0 */
};

/* An element of a stream: a path of a function; or a call that it makes. */
struct profile_element {
	uint32_t module; /* index into modules */
	uint32_t link;   /* 0, or 1 + the link of the call (abi/file.h) */
	uint64_t owner;  /* link-time address of the function's counters */
	uint64_t number; /* of the path; of a call the sum up to it */
};

/*
 * Elements one behind the other (--cairn=paths,iterations=K or chains=D), as
 * many as were known before the last of them, and how often just that.  So how
 * often shorter sequences occurred are sums over what ends with them.
 */
struct profile_window {
	size_t first; /* in the pool: indices of elements, the newest first */
	uint64_t count;
	uint8_t len;
	bool is_anchored; /* there was nothing before */
};

struct profile_windows {
	/* elements of one, the path and D calls with chains; 0: there are none
	 */
	uint32_t longest;
	bool of_chains; /* but for the newest element they are calls */
	struct profile_element *elements; /* sorted; each once */
	uint32_t nelements, elements_cap;
	struct profile_window *items; /* sorted by the newest element, then the
	                                 one before, ...; each once */
	size_t n, cap;
	uint32_t *pool;
	size_t npool, pool_cap;
};

/* A path that the run took and put into a table. */
struct profile_first {
	uint64_t number; /* the run's own, ascending, with gaps */
	uint32_t module; /* index into modules */
	uint64_t owner;  /* link-time address of the function's words */
	uint64_t key;    /* 1 + number of the path */
};

/*
 * In which order a run first took the paths of its tables.  Runs have no order
 * among each other: a sum of several has none.
 */
struct profile_order {
	bool is_there;
	struct profile_first *items; /* each path once */
	size_t n, cap;
	/* Records that found no room: of paths that are not in the list, those
	 * of each thread by itself. */
	uint64_t nleft_out;
};

/* What the header of one input file said. */
struct profile_file {
	char *name;
	uint32_t pid, ppid, nruns, state, flags, how, signal, unwalked;
	uint64_t start, end;
	uint32_t last_pid; /* of the file that was added last to a sum */
	uint64_t last_start;
	struct run_ids runs; /* ids of its runs */
	/* Never did more threads than these count at the same time; 0: not
	 * known.  How many there were in all is not recorded. */
	uint32_t threads_at_once;
	bool truncated; /* only its whole chunks were read */
	uint64_t cut;
	bool has_trace;     /* parts of one */
	uint32_t nunsealed; /* chunks of a closed file without a checksum */
};

struct profile {
	char *program, *directory, *command; /* of the first file */
	struct profile_module *modules;
	uint32_t nmodules, modules_cap;
	struct profile_frame *frames; /* sorted by module, pc, kind,
	                                 has_reg, reg; each once */
	size_t nframes, frames_cap;
	struct profile_call *calls; /* sorted; each once */
	size_t ncalls, calls_cap;
	struct profile_windows windows;
	struct profile_order order;
	struct sources sources; /* of the first file that has some */
	struct profile_file *files;
	size_t nfiles, files_cap;
	unsigned char *main_id; /* build id of the program, NULL if unknown */
	uint32_t main_nid;
};

struct profile_options {
	const char *const *exes; /* files and directories to find maps in */
	size_t nexes;
	bool partial;      /* take what is whole of a truncated file */
	bool skip_missing; /* a module without a map is left out */
	bool recordings;   /* take them, as if they had no streams */
	bool empty;        /* take a run that ended before it had a module */
	/* Makes the counts of a trace, as the bytes of a .cairn file; NULL: a
	 * trace has the counts that are in it beside. */
	int (*untrace)(const char *path, const struct profile_options *options,
	               struct bytes *out, struct cairn_err *err);
	/* Where untrace puts how many functions have witnesses, which it then
	 * finds sufficient, or fails; NULL: they were found so when they were
	 * read. */
	uint64_t *nwitnessed;
	/* Is told how many files were read; NULL: nobody asks. */
	void (*tell)(void *context, uint64_t done, uint64_t all);
	void *tell_context;
};

/* Does the file begin like a profile, or is it absent?  It may be damaged. */
bool profile_is_one(const char *path);

/*
 * Reads .cairn files of one build and sums them, and finds every module's map.
 * `options` may be NULL: defaults.
 *
 * Fails:  as container_read and map_parse; CAIRN_E_MISMATCH if the files come
 *         from different builds; CAIRN_E_ABSENT if a map is not to be found.
 */
int profile_open(struct profile **out, const char *const *paths, size_t npaths,
                 const struct profile_options *options, struct cairn_err *err);
void profile_free(struct profile *p);

/*
 * Writes the sum as one self-contained .cairn file.  The bytes depend only on
 * the profile.
 */
int profile_write(const struct profile *p, const char *path,
                  struct cairn_err *err);

/* The same into memory; `path` stands in error sentences. */
int profile_put(const struct profile *p, const char *path, struct bytes *out,
                struct cairn_err *err);

/* Counter number `counter` of the module. */
uint64_t profile_count(const struct profile_module *m, uint64_t counter);

/* The paths that the function with this map entry counted in its tables. */
const struct profile_path *profile_paths(const struct profile_module *m,
                                         uint64_t owner, size_t *n);

/* True if some run did not end in a way that let the runtime finish its file:
 * killed, or still running. */
bool profile_is_open(const struct profile *p);
/* True if some run did not end by itself, or nobody knows how: killed, stopped
 * by a signal between calls, or out of room. */
bool profile_was_killed(const struct profile *p);
/* True if some counts never made it into a file, or were cut off. */
bool profile_is_incomplete(const struct profile *p);
/* All flags of all files, and all UNWALKED. */
uint32_t profile_flags(const struct profile *p);
uint64_t profile_unwalked(const struct profile *p);
/* Does a function of it write a trace?  Not one whose counts were made of a
 * trace already. */
bool profile_is_traced(const struct profile *p);
/* All runs in all files. */
uint64_t profile_nruns(const struct profile *p);

#endif /* CAIRN_FORMAT_PROFILE_H */
