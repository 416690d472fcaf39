/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of many profiles: more than a command line holds.
 *
 * A directory stands for the .cairn files in it, in the order of their names; a
 * list has one name per line.  The file that is written is none of those that a
 * directory stands for: who sums the same directory again does not want last
 * time's sum in it.
 *
 * Cost: O(n log n) for a directory of n files.
 */
#include "cli/names.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/regular.h"
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void add(struct names *names, char *name)
{
	VEC_RESERVE(names->items, names->n, names->cap);
	names->items[names->n++] = name;
}

static bool is_profile(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 6 && e->d_name[0] != '.' &&
	       !strcmp(e->d_name + n - 6, ".cairn");
}

/* What a process that was killed has left: format/writer.c, runtime/out.c. */
static bool is_draft(const char *name)
{
	const char *at = strstr(name, ".cairn.");
	size_t n = strlen(name);

	return at && (!strcmp(at, ".cairn.new") ||
	              (n > 6 && !strcmp(name + n - 6, ".draft")));
}

/* Says which drafts are in a directory; releases their names. */
static void say_drafts(const char *path, struct names *drafts)
{
	char *list;

	if (drafts->n) {
		list = cli_list_files(drafts->items, drafts->n);
		fprintf(stderr,
		        "cairn: %s: files that were not completed are not "
		        "read: %s; remove them if no program is writing "
		        "there\n",
		        path, list);
		free(list);
	}
	names_release(drafts);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static int add_directory(struct names *names, const char *path,
                         const char *output, struct cairn_err *err)
{
	struct names drafts = {0};
	size_t first = names->n;
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: cannot open: %s; check the permissions "
		                  "of the directory",
		                  path, strerror(errno));
	while ((e = readdir(d)) != NULL) {
		char *name;

		if (is_draft(e->d_name))
			add(&drafts, xstrdup(e->d_name));
		if (!is_profile(e))
			continue;
		name = xasprintf("%s/%s", path, e->d_name);
		if (is_same_file(name, output))
			free(name);
		else
			add(names, name);
	}
	closedir(d);
	say_drafts(path, &drafts);
	if (names->n == first)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: no .cairn file is in this directory; "
		                  "name one where there are some",
		                  path);
	qsort(names->items + first, names->n - first, sizeof(*names->items),
	      by_name);
	return 0;
}

int names_add_list(struct names *names, const char *path, struct cairn_err *err)
{
	FILE *f = named_stream(path, "name a list of profiles, one on a line",
	                       err);
	size_t size = 0;
	char *line = NULL;
	ssize_t n;
	int e;

	if (!f)
		return CAIRN_E_SYSTEM;
	errno = 0;
	while ((n = getline(&line, &size, f)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[--n] = '\0';
		if (n)
			add(names, xstrndup(line, (size_t)n));
	}
	e = ferror(f) ? errno : 0;
	free(line);
	if (f != stdin)
		fclose(f);
	if (e)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: cannot read: %s; name a list of "
		                  "profiles, one on a line",
		                  path, strerror(e));
	return 0;
}

int names_add(struct names *names, const char *arg, const char *output,
              struct cairn_err *err)
{
	struct stat st;

	if (arg[0] == '@' && arg[1])
		return names_add_list(names, arg + 1, err);
	if (!stat(arg, &st) && S_ISDIR(st.st_mode))
		return add_directory(names, arg, output, err);
	add(names, xstrdup(arg));
	return 0;
}

void names_release(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){0};
}
