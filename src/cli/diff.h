/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_DIFF_H
#define CAIRN_CLI_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/report.h"

struct body;
struct cairn_err;
struct line_branch;
struct line_count;
struct linemap;
struct json;
struct patch;

/* A profile with all that reports know of it. */
struct diff_side {
	const char *path; /* as the user named it */
	struct profile *profile;
	struct counts *counts;
	struct lines *lines;
	struct report report;
};

/* What became of a line, a way of a branch, or a function. */
enum diff_fate {
	DIFF_SAME,
	DIFF_CHANGED, /* ran in both, not equally often */
	DIFF_NEW,     /* ran in B only, is in both */
	DIFF_LOST,    /* ran in A only, is in both */
	DIFF_ADDED,   /* has code in B only */
	DIFF_REMOVED, /* has code in A only */
	DIFF_UNKNOWN, /* nobody knows how often it ran, in A or in B */
	DIFF_NFATES
};

/* How lines of both versions of a file were matched. */
enum diff_means {
	DIFF_BY_BUILD,  /* they are of the same build */
	DIFF_BY_PATCH,  /* --patch */
	DIFF_BY_TEXT,   /* both texts are there */
	DIFF_BY_NUMBER, /* by their numbers: they may have moved */
	DIFF_NMEANS
};

/* One way of a branch. */
struct diff_way {
	const struct line_branch *a, *b; /* NULL: not there */
	enum diff_fate fate;
};

struct diff_line {
	const struct line_count *a, *b; /* NULL: no code */
	uint32_t place; /* of A alone: the line of B that it stands before */
	size_t first_way, nways;
	enum diff_fate fate;
};

/* How many there are whose executions are known, and how many of them ran. */
struct diff_share {
	uint64_t ran, all;
};

/* Lines, ways of branches or functions. */
struct diff_total {
	struct diff_share a, b;
	struct diff_share added; /* of those that only B has */
	uint64_t fates[DIFF_NFATES];
};

struct diff_file {
	const char *path_a, *path_b; /* NULL: not there */
	enum diff_means means;
	size_t first, n; /* lines */
	struct diff_total lines, ways;
	uint64_t nuncompared; /* lines whose branches are not the same */
};

/* All functions of one name, of one file if they are static. */
struct diff_function {
	const struct report_row *a, *b; /* the first of them; or NULL */
	uint64_t entries_a, entries_b, executions_a, executions_b;
	bool entries_known_a, entries_known_b, known_a, known_b;
	bool doubtful_a, doubtful_b;
	enum diff_fate fate;
};

enum diff_sort {
	DIFF_BY_CHANGE,
	DIFF_BY_GROWTH,
	DIFF_BY_EXECUTIONS,
	DIFF_BY_ENTRIES,
	DIFF_BY_NAME,
	DIFF_BY_LINE,
};

/* Less than 0: no limit. */
struct diff_limits {
	double under_lines, under_branches, under_new; /* percent */
	double drop;                                   /* points */
	double growth;                                 /* percent */
	int64_t lost_lines, lost_branches, lost_functions;
};

struct diff_options {
	struct report_options report;
	enum diff_sort sort;
	struct diff_limits limits;
	bool changed; /* lines that ran in both, and those of A alone, too */
};

struct diff {
	struct diff_side a, b;
	struct diff_options options;
	const struct patch *patch; /* NULL: none */
	bool same_build;           /* of all modules */
	struct diff_file *files;   /* by path */
	size_t nfiles;
	struct diff_line *items; /* by file and place */
	size_t nlines, lines_cap;
	struct diff_way *ways;
	size_t nways, ways_cap;
	struct diff_function *functions; /* as --sort says */
	size_t nfunctions;
	struct diff_total lines, branches, function_total;
	uint64_t nuncompared;
	size_t means[DIFF_NMEANS]; /* files by how they were matched */
	/* functions that --function names; NULL: all */
	const struct body **bodies_a, **bodies_b;
	size_t nbodies_a, nbodies_b;
};

/*
 * Compares both sides, which are open.
 *
 * Memory: until diff_release, which leaves the sides and the patch alone.
 */
void diff_init(struct diff *d);
void diff_release(struct diff *d);

/* The path that a file is known by. */
const char *diff_path(const struct diff_file *f);
const char *diff_fate(enum diff_fate fate);
const char *diff_means(enum diff_means means);
/* How the user knows a function, and its row in B, if it is there. */
const struct report_row *diff_row(const struct diff_function *f);
/* Is it among those that --function, --file and --threshold select? */
bool diff_wants_function(const struct diff *d, const struct diff_function *f);
/* Executions of B, of those of A in percent, less 100; 0 unless both ran. */
double diff_growth(uint64_t a, uint64_t b);
/* A share in percent; of nothing all. */
double diff_percent(const struct diff_share *s);
/* Ways of it that changed their fate. */
size_t diff_ways_of(const struct diff *d, const struct diff_line *l,
                    enum diff_fate fate);

/* --- limits -------------------------------------------------------------- */

struct diff_verdict {
	const char *option;
	double limit, value;
	const char *function; /* of --max-growth: the worst; NULL: all */
	size_t n;             /* of --max-growth: functions beyond it */
	bool is_broken;
};

#define DIFF_NVERDICTS 8
/* The limits that were given; how many. */
size_t diff_judge(const struct diff *d, struct diff_verdict *out);
/* One sentence, for the caller to free. */
char *diff_verdict_text(const struct diff_verdict *v);

/* --- forms --------------------------------------------------------------- */

void diff_text(const struct diff *d, FILE *out);
void diff_json(const struct diff *d, FILE *out);
void diff_html(const struct diff *d, FILE *out);
/* Sentences about what could not be compared well; the next one, or NULL, for
 * the caller to free.  *state is 0 at first. */
char *diff_note(const struct diff *d, unsigned *state);
/* All of them, as a list of this name. */
void diff_json_notes(const struct diff *d, struct json *j);

/* --- between the files that compare --------------------------------------- */

/* Pairs of source files, by path, with what they are paired by. */
void diff_pair_files(struct diff *d);
/* Sets means, and makes the map from lines of A to lines of B. */
void diff_map_lines(const struct diff *d, struct diff_file *f,
                    struct linemap *m);
/* The number of a source file in lines->files; STRTAB_NONE if path is NULL. */
uint32_t diff_file_number(const struct diff_side *s, const char *path);
/* The text of a file, NULL if it is not there or not the one that was
 * compiled; for the caller to free. */
char *diff_source(const struct diff_side *s, const char *path, size_t *size);

#endif /* CAIRN_CLI_DIFF_H */
