/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_SESSION_H
#define CAIRN_REPLAY_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "format/recording.h"
#include "replay/interrupts.h"
#include "replay/outlet.h"
#include "replay/program.h"
#include "replay/rewrite.h"

struct cairn_err;
struct checkpoint;
struct engine_result;

/* What all questions to a recording have in common. */
struct session_options {
	const char *file;
	const char **exes; /* where to look for modules first */
	size_t nexes, exes_cap;
	const char **parents; /* recordings that others go on from */
	size_t nparents, parents_cap;
	bool is_partial, no_cache;
	bool is_trusted; /* whoever made it may do what this process may */
	bool is_quiet;   /* shows no progress */
	unsigned njobs;  /* 0: as there are processors */
	struct outlet_options outlets;
	struct rewrite_options code;
};

/* Long options of every command: SESSION_OPTIONS in the table, SESSION_HELP in
 * the text, and session_option() for what getopt_long returns. */
enum {
	SESSION_EXE = 256,
	SESSION_PARENT,
	SESSION_PARTIAL,
	SESSION_NO_CACHE,
	SESSION_JOBS,
	SESSION_TRUSTED,
	SESSION_OTHERS
};

#define SESSION_OPTIONS                                              \
	{"exe", required_argument, NULL, SESSION_EXE},               \
	        {"parent", required_argument, NULL, SESSION_PARENT}, \
	        {"partial", no_argument, NULL, SESSION_PARTIAL},     \
	        {"no-cache", no_argument, NULL, SESSION_NO_CACHE},   \
	        {"jobs", required_argument, NULL, SESSION_JOBS},     \
	        {"trusted", no_argument, NULL, SESSION_TRUSTED},     \
	        {"quiet", no_argument, NULL, 'q'},                   \
	{                                                            \
		"help", no_argument, NULL, 'h'                       \
	}

#define SESSION_HELP                                                          \
	"  --exe PATH       look for the executables and libraries that ran " \
	"in\n"                                                                \
	"                   this file or directory first (may be repeated)\n" \
	"  --parent FILE    the recording from which that of a forked child " \
	"goes on,\n"                                                          \
	"                   if it is not beside FILE (may be repeated)\n"     \
	"  --partial        of a truncated file, read what is whole\n"        \
	"  --no-cache       compile everything anew, and keep nothing in\n"   \
	"                   ~/.cache/cairn, nor checkpoints beside FILE\n"    \
	"  --jobs N         replay N parts at a time (as many as "            \
	"processors)\n"                                                       \
	"  --trusted        replay without a sandbox and its limits: the "    \
	"recording\n"                                                         \
	"                   and its programs are your own\n"                  \
	"  -q, --quiet      do not show how far it is\n"                      \
	"  -h, --help       this text\n"

/* Is it one of these?  Then it is noted. */
bool session_option(struct session_options *o, int option,
                    const char *argument);

/* A recording whose contexts can be replayed.  There is one in a process. */
struct session {
	const struct session_options *options;
	const char *needs_whole; /* why a recording whose beginning was dropped
	                            is refused; NULL: it is not */
	bool needs_order;        /* somebody asks engine_order */
	struct recording recording;
	struct interrupts interrupts;
	bool has_interrupts; /* they were read */
	struct program program;
};

/* Enters the sandbox, unless that is done or not wanted.  out: a file that this
 * session replaces, or NULL. */
int session_wall_in(const struct session_options *options, const char *out,
                    struct cairn_err *err);

/* Enters the sandbox first.
 * Requires: options outlive s. */
int session_open(struct session *s, const struct session_options *options,
                 struct cairn_err *err);
void session_close(struct session *s);

/* Compiles a unit now, not when it is called: for all processes that are forked
 * from here on. */
int session_load(struct session *s, uint32_t unit, struct cairn_err *err);

/* Replays a context from its beginning, or that of its first ancestor, or from
 * the checkpoint with which the recording begins; fails as engine_run,
 * lineage_open and checkpoint_take. */
int session_run(struct session *s, const struct recording_context *c,
                struct engine_result *result, struct cairn_err *err);
/* The same, from a checkpoint of it on; NULL: from the beginning. */
int session_run_from(struct session *s, const struct recording_context *c,
                     struct checkpoint *from, struct engine_result *result,
                     struct cairn_err *err);

#endif /* CAIRN_REPLAY_SESSION_H */
