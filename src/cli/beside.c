/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that were told to add to a sum have files beside it, NAME.PID.cairn,
 * until they do (runtime/add.c).  One that was killed leaves its file there;
 * one that was killed right between adding and removing its file is in the sum,
 * which then names it in its header.
 *
 * Invariant: no run is counted twice, and none is left out unsaid.
 * Cost: a read of a few bytes per file; a look into the directory per sum.
 */
#include "cli/beside.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"
#include "cli/cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXTENSION ".cairn"

/* What tells runs apart, and which a sum has taken last. */
struct head {
	uint32_t pid, last_pid;
	uint64_t start, last_start;
};

/* All 0 if it is no profile: whoever reads it says so. */
static struct head read_head(const char *path)
{
	unsigned char h[CAIRN_HDR_CRC + 4];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_one = fd >= 0 && read(fd, h, sizeof(h)) == (int)sizeof(h) &&
	              !memcmp(h, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE);

	if (fd >= 0)
		close(fd);
	if (!is_one)
		return (struct head){0};
	return (struct head){
	        .pid = get_le32(h + CAIRN_HDR_PID),
	        .last_pid = get_le32(h + CAIRN_HDR_LAST_PID),
	        .start = get_le64(h + CAIRN_HDR_START),
	        .last_start = get_le64(h + CAIRN_HDR_LAST_START),
	};
}

static bool has_added(const struct head *sum, const struct head *run)
{
	return sum->last_pid && sum->last_pid == run->pid &&
	       sum->last_start == run->start;
}

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
                 const struct head *head, char **paths, int npaths)
{
	size_t n = strlen(sum), next = strlen(EXTENSION);
	size_t stem =
	        n > next && !strcmp(sum + n - next, EXTENSION) ? n - next : n;
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		uint32_t pid = number_in(e->d_name, sum, stem);
		struct head run;
		char *path;

		if (!pid)
			continue;
		path = xasprintf("%s/%s", directory, e->d_name);
		run = read_head(path);
		if (run.pid != pid || has_added(head, &run) ||
		    cli_is_among(path, paths, npaths)) {
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
static void say_beside(const char *path, const struct head *head, char **paths,
                       int npaths)
{
	const char *slash = strrchr(path, '/');
	char *directory =
	        slash ? xstrndup(path,
	                         slash == path ? 1 : (size_t)(slash - path))
	              : xstrdup(".");
	struct found f = {0};

	look(&f, directory, slash ? slash + 1 : path, head, paths, npaths);
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

/* The sum that has the run, of those whose numbers these are; -1: none. */
static int find_sum(const struct head *heads, const int *sums, int nsums,
                    int run)
{
	for (int i = 0; i < nsums; i++)
		if (sums[i] != run && has_added(&heads[sums[i]], &heads[run]))
			return sums[i];
	return -1;
}

/* The sums: there are few, and many runs. */
static int gather_sums(const struct head *heads, int n, int *sums)
{
	int nsums = 0;

	for (int i = 0; i < n; i++)
		if (heads[i].last_pid)
			sums[nsums++] = i;
	return nsums;
}

int beside_find(char **paths, int npaths, char **kept)
{
	struct head *heads = xcalloc((size_t)npaths, sizeof(*heads));
	int *sums = xmalloc((size_t)npaths * sizeof(*sums)), nsums, n = 0;

	for (int i = 0; i < npaths; i++)
		heads[i] = read_head(paths[i]);
	nsums = gather_sums(heads, npaths, sums);
	for (int i = 0; i < nsums; i++)
		say_beside(paths[sums[i]], &heads[sums[i]], paths, npaths);
	for (int i = 0; i < npaths; i++) {
		int sum = find_sum(heads, sums, nsums, i);

		if (sum < 0)
			kept[n++] = paths[i];
		else
			text_print(stderr,
			           "cairn: %s: is in %s already, and is not "
			           "counted again\n",
			           paths[i], paths[sum]);
	}
	free(heads);
	free(sums);
	return n;
}
