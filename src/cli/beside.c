/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that were told to add to a sum have files beside it, NAME.PID.cairn,
 * until they do (runtime/add.c).  One that was killed leaves its file there;
 * one that was killed right between adding and removing its file is in the sum.
 *
 * A file says which runs it has (format/run_ids.h).  A copy of another one, or
 * a file of a run that is in a sum, is left out; two sums that share only some
 * of their runs cannot be added.  A run whose process ended before it counted
 * anything has nothing to add.
 *
 * Invariant: no run is counted twice, and none is left out unsaid.
 * Cost: a read of a few bytes per file, of a sum eight more per run; a look
 * into the directory per sum.
 */
#include "cli/beside.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/cli.h"
#include "format/run_ids.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXTENSION ".cairn"

/* The number in NAME.123.cairn or NAME.123.1.cairn, where NAME.cairn is that of
 * the sum and `stem` the length of NAME; 0 if it is no such name. */
static uint32_t number_in(const char *name, const char *sum, size_t stem)
{
	const char *at = name + stem + 1;
	unsigned long pid;
	char *end;

	if (strncmp(name, sum, stem) || name[stem] != '.' || *at < '1' ||
	    *at > '9')
		return 0;
	pid = strtoul(at, &end, 10);
	if (*end == '.' && end[1] >= '1' && end[1] <= '9')
		strtoul(end + 1, &end, 10);
	return strcmp(end, EXTENSION) || pid > INT32_MAX ? 0 : (uint32_t)pid;
}

struct found {
	char **items;
	size_t n, cap;
};

static void look(struct found *f, const char *directory, const char *sum,
                 const struct run_ids *sum_runs, char **paths, int npaths)
{
	size_t n = strlen(sum), next = strlen(EXTENSION);
	size_t stem =
	        n > next && !strcmp(sum + n - next, EXTENSION) ? n - next : n;
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		uint32_t pid = number_in(e->d_name, sum, stem);
		struct run_ids run;
		char *path;
		bool is_missing;

		if (!pid)
			continue;
		path = xasprintf("%s/%s", directory, e->d_name);
		run_ids_read(&run, path);
		is_missing = run.pid == pid && !run.is_empty &&
		             !run_ids_have(sum_runs,
		                           CAIRN_RUN_ID(run.pid, run.start)) &&
		             !cli_is_among(path, paths, npaths);
		run_ids_release(&run);
		if (!is_missing) {
			free(path);
			continue;
		}
		VEC_RESERVE(f->items, f->n, f->cap);
		f->items[f->n++] = path;
	}
	if (d)
		closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Says which runs are beside a sum. */
static void say_beside(const char *path, const struct run_ids *sum_runs,
                       char **paths, int npaths)
{
	const char *slash = strrchr(path, '/');
	char *directory =
	        slash ? xstrndup(path,
	                         slash == path ? 1 : (size_t)(slash - path))
	              : xstrdup(".");
	struct found f = {0};

	look(&f, directory, slash ? slash + 1 : path, sum_runs, paths, npaths);
	if (f.n) {
		char *list;

		qsort(f.items, f.n, sizeof(*f.items), by_name);
		list = cli_list_files(f.items, f.n);
		text_print(stderr,
		           "cairn: %s: runs that are not in it are beside it, "
		           "killed or not at their end: %s; cairn merge adds "
		           "them\n",
		           path, list);
		free(list);
	}
	for (size_t i = 0; i < f.n; i++)
		free(f.items[i]);
	free(f.items);
	free(directory);
}

/* --- runs that are there twice ---------------------------------------------
 */

/* A run, and the file that has it. */
struct place {
	uint64_t id;
	int file;
};

/* Where runs are, as a hash table without removal: at most half full. */
struct places {
	struct place *slots; /* id 0: free */
	size_t mask;
};

static struct place *find_place(const struct places *t, uint64_t id)
{
	size_t at = (size_t)(id * 0x9e3779b97f4a7c15u >> 32) & t->mask;

	while (t->slots[at].id && t->slots[at].id != id)
		at = (at + 1) & t->mask;
	return &t->slots[at];
}

static void places_init(struct places *t, const struct run_ids *runs, int n)
{
	size_t all = 1, size = 2;

	for (int i = 0; i < n; i++)
		all += runs[i].n;
	while (size < 2 * all)
		size *= 2;
	t->mask = size - 1;
	t->slots = xcalloc(size, sizeof(*t->slots));
}

/* A file, ordered by how many runs it has. */
struct ranked {
	size_t nruns;
	int file;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->nruns != y->nruns)
		return x->nruns > y->nruns ? -1 : 1;
	return x->file - y->file;
}

/* How many of its runs other files have; *other is one of these. */
static size_t count_known(const struct places *t, const struct run_ids *r,
                          int *other)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct place *at = find_place(t, r->ids[i]);

		if (!at->id)
			continue;
		*other = at->file;
		n++;
	}
	return n;
}

static int overlap(char **paths, int file, int other, size_t n,
                   struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "%s: has %zu run%s that %s has, too, and others, so "
	                  "they would count twice; name files that have no run "
	                  "in common",
	                  paths[file], n, n == 1 ? "" : "s", paths[other]);
}

/*
 * Finds for each file the one that has all its runs, -1 if there is none: the
 * largest first, since a file can only be part of one that is not smaller.
 */
static int find_parts(char **paths, int npaths, const struct run_ids *runs,
                      int *part_of, struct cairn_err *err)
{
	struct ranked *order = xmalloc((size_t)npaths * sizeof(*order));
	struct places t;
	int rc = 0;

	places_init(&t, runs, npaths);
	for (int i = 0; i < npaths; i++)
		order[i] = (struct ranked){runs[i].n, i};
	qsort(order, (size_t)npaths, sizeof(*order), by_rank);
	for (int i = 0; i < npaths && !rc; i++) {
		int file = order[i].file, other = -1;
		const struct run_ids *r = &runs[file];
		size_t n = count_known(&t, r, &other);

		part_of[file] = other;
		if (n && (n < r->n || !run_ids_are_all_known(r)))
			rc = overlap(paths, file, other, n, err);
		for (size_t k = 0; k < r->n && !n; k++)
			*find_place(&t, r->ids[k]) =
			        (struct place){r->ids[k], file};
	}
	free(t.slots);
	free(order);
	return rc;
}

bool beside_may_begin(const char *path)
{
	struct run_ids r;
	bool may;

	run_ids_read(&r, path);
	may = r.is_empty && r.is_open && r.pid &&
	      (!kill((pid_t)r.pid, 0) || errno == EPERM);
	run_ids_release(&r);
	return may;
}

static void say_empty(char **empty, size_t n)
{
	char *list;

	if (!n)
		return;
	list = cli_list_files(empty, n);
	text_print(
	        stderr,
	        "cairn: empty runs are skipped, their processes ended before "
	        "they counted anything, or have only just begun: %s\n",
	        list);
	free(list);
}

/* Keeps what is to be counted; names the rest. */
static int keep(char **paths, int npaths, const struct run_ids *runs,
                const int *part_of, char **kept)
{
	char **empty = xmalloc((size_t)npaths * sizeof(*empty));
	size_t nempty = 0;
	int n = 0;

	for (int i = 0; i < npaths; i++) {
		if (part_of[i] >= 0)
			text_print(stderr,
			           "cairn: %s: is in %s already, and is not "
			           "counted again\n",
			           paths[i], paths[part_of[i]]);
		else if (runs[i].is_empty)
			empty[nempty++] = paths[i];
		else
			kept[n++] = paths[i];
	}
	if (n)
		say_empty(empty, nempty);
	free(empty);
	return n;
}

int beside_find(char **paths, int npaths, char **kept, int *nkept,
                struct cairn_err *err)
{
	struct run_ids *runs = xcalloc((size_t)npaths, sizeof(*runs));
	int *part_of = xmalloc((size_t)npaths * sizeof(*part_of)), rc;

	for (int i = 0; i < npaths; i++)
		run_ids_read(&runs[i], paths[i]);
	rc = find_parts(paths, npaths, runs, part_of, err);
	for (int i = 0; i < npaths && !rc; i++)
		if (!runs[i].pid && runs[i].n)
			say_beside(paths[i], &runs[i], paths, npaths);
	*nkept = rc ? 0 : keep(paths, npaths, runs, part_of, kept);
	/* of empty runs alone the last one: its reader says what is wrong */
	if (!rc && !*nkept)
		kept[(*nkept)++] = paths[npaths - 1];
	for (int i = 0; i < npaths; i++)
		run_ids_release(&runs[i]);
	free(runs);
	free(part_of);
	return rc;
}
