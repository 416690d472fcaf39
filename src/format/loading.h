/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_LOADING_H
#define CAIRN_FORMAT_LOADING_H

#include "format/profile.h"

/*
 * A profile while files are added to it: maps are not looked for yet, so that
 * registers of frames still have their load bias, and paths, frames and calls
 * may be there several times.  Only profile.c and loading*.c know of this.
 */
struct loaded_frame {
	struct profile_frame frame;
	uint64_t bias; /* 0 unless it has a register */
};

struct loading {
	struct profile *p;
	struct loaded_frame *frames;
	size_t nframes, frames_cap;
	/* how many there were when they were last summed */
	size_t frames_summed, calls_summed, windows_summed;
};

/* So many more of a kind are kept before they are summed. */
#define LOADING_SLACK 65536u

/* Which program a file, or the first of several, is of. */
struct loading_program {
	const char *file, *path;
	const unsigned char *id; /* build id */
	uint32_t nid;
};

/* Adds all files, several at a time if they are many.  *l is unspecified but
 * can be released if it fails. */
int loading_files(struct loading *l, const char *const *paths, size_t npaths,
                  const struct profile_options *options, bool all_traces,
                  struct cairn_err *err);

/* Adds one file. */
int loading_file(struct loading *l, const char *path,
                 const struct profile_options *options, bool all_traces,
                 struct cairn_err *err);
/*
 * The same for a file of counts; others, for which something has to be made
 * first, fail with CAIRN_E_FOREIGN and no sentence.
 * Threads: any number at a time, each with a *l of its own.
 */
int loading_counts(struct loading *l, const char *path,
                   const struct profile_options *options,
                   struct cairn_err *err);

/* Sums what is there several times, if that is much: memory stays in proportion
 * to what is different. */
void loading_compact(struct loading *l);
/* Sorts the paths of a module and adds up those that are the same. */
void loading_sum_paths(struct profile_module *m);
/* Makes the sum of all frames that of the profile.  Requires: maps. */
void loading_settle_frames(struct loading *l);

/* Are files of this program files of p's? */
int loading_check_program(const struct profile *p,
                          const struct loading_program *of,
                          struct cairn_err *err);
bool loading_same_id(const unsigned char *a, uint32_t na,
                     const unsigned char *b, uint32_t nb);

#endif /* CAIRN_FORMAT_LOADING_H */
