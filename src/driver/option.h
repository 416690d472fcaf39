/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_DRIVER_OPTION_H
#define CAIRN_DRIVER_OPTION_H

#include <stdbool.h>
#include <stdio.h>

struct cairn_err;

/* What the --cairn options ask for.  All zero is the default: edges, late. */
struct option {
	bool paths;          /* --cairn=paths: count paths, not edges */
	bool residual;       /* --cairn=residual: only paths no test had */
	bool trace;          /* --cairn=trace: all control flow, in order */
	bool record;         /* --cairn=record: whole executions */
	bool witness;        /* trace: witnesses of 1994, not histories */
	bool path_ids;       /* trace: every path by itself, the same */
	bool log;            /* trace: keep a hash of all blocks, for tests */
	bool overlap;        /* paths: and which one came before */
	const char *degree;  /* overlap: "=" and a degree, or "" */
	bool others;         /* paths: count those not preferred one by one */
	bool none;           /* --cairn=none: compile as clang would */
	bool inlines;        /* --cairn=inline: what calls= inlines, no marks */
	bool slow;           /* a counter in every block */
	bool strict;         /* exact even after SIGKILL */
	bool all;            /* a counter on every edge */
	bool nogs;           /* keep off the %gs segment */
	bool source_stage;   /* marks before the optimizer, not after it */
	bool verbose;        /* show the command */
	bool help;           /* explain these options, and nothing else */
	bool help_all;       /* ... and those of modes */
	const char *weights; /* "heuristic", "freq", or NULL for the default */
	const char *interest;   /* prefer= or tested=: absolute path, or NULL */
	const char *sets;       /* prefer: ",prefer=SET..." for all, or NULL */
	const char *top;        /* prefer: the hottest so many, or NULL */
	const char *last;       /* trace: keep so many bytes, or NULL */
	const char *memory;     /* take so many bytes, or NULL */
	const char *iterations; /* paths: windows of so many, or NULL */
	const char *chains;     /* paths: with so many callers, or NULL */
	const char *calls;      /* paths go so deep into calls, or NULL */
	const char *grow;       /* calls: by so many percent, or NULL */
	const char *share;      /* prefer: a share of the flow in percent */
	const char *feedback; /* absolute path of an earlier profile, or NULL */
	const char *use;      /* the same: counts for the optimizer, or NULL */
	bool has_mode;        /* there is a --cairn= */
};

/* What there is, for a driver of this name; `all`: options of modes, too. */
void option_help(const char *name, bool all, FILE *out);

/* The mode, in a word. */
const char *option_mode(const struct option *o);

/* Is this word addressed to us? */
bool option_is_ours(const char *word);

/*
 * Takes one word for which option_is_ours().  A later --cairn= replaces an
 * earlier one; the other options are independent of it.
 * Fails:  CAIRN_E_USAGE; CAIRN_E_ABSENT if the feedback file is not there.
 */
int option_take(struct option *o, const char *word, struct cairn_err *err);
/* After the last word.  Fails: CAIRN_E_USAGE if they do not go together. */
int option_check(struct option *o, struct cairn_err *err);

#endif /* CAIRN_DRIVER_OPTION_H */
