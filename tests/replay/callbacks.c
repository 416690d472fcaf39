/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libc calls: comparisons, visitors, filters, cleanups; in
 * callbacks of callbacks, too. */
#define _GNU_SOURCE
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 300 };

static int depth, visits, nfiles;
static long order;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Sorts while it is asked by a sort. */
static int compare_rows(const void *a, const void *b, void *context)
{
	int rows[2][3];

	memcpy(rows[0], a, sizeof(rows[0]));
	memcpy(rows[1], b, sizeof(rows[1]));
	for (int i = 0; i < 2; i++)
		qsort(rows[i], 3, sizeof(int), compare);
	++*(int *)context;
	for (int i = 0; i < 3; i++)
		if (rows[0][i] != rows[1][i])
			return rows[0][i] < rows[1][i] ? -1 : 1;
	return 0;
}

static void visit(const void *node, VISIT when, int level)
{
	if (when == postorder || when == leaf) {
		order = order * 31 + **(int *const *)node;
		visits++;
	}
	if (level > depth)
		depth = level;
}

static int filter(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int file(const char *path, const struct stat *info, int type,
                struct FTW *where)
{
	(void)info;
	nfiles += type == FTW_F && where->level == 1;
	return strlen(path) > 1000;
}

static void search(int *values)
{
	int found = 0;
	size_t n = N;

	qsort(values, N, sizeof(*values), compare);
	for (int i = 0; i < 1000; i += 7) {
		int *p = bsearch(&i, values, N, sizeof(*values), compare);

		found += p ? *p : 0;
		found += lfind(&i, values, &n, sizeof(*values), compare) != p &&
		         !p;
	}
	printf("found %d\n", found);
}

static void trees(int *values)
{
	void *root = NULL;

	for (int i = 0; i < N; i++)
		tsearch(&values[i], &root, compare);
	twalk(root, visit);
	for (int i = 0; i < N; i++)
		tdelete(&values[i], &root, compare);
	printf("%d visits, depth %d, %lx\n", visits, depth > 3, order);
}

static void rows(const int *values)
{
	int table[N / 3][3], ncalls = 0;
	unsigned long hash = 0;

	memcpy(table, values, sizeof(table));
	qsort_r(table, N / 3, sizeof(table[0]), compare_rows, &ncalls);
	for (int i = 0; i < N / 3; i++)
		hash = hash * 37 + (unsigned)table[i][0];
	printf("%lx %d\n", hash, ncalls > 100);
}

static void folders(void)
{
	struct dirent **names;
	int n;

	mkdir("folder", 0755);
	fclose(fopen("folder/a", "w"));
	fclose(fopen("folder/b", "w"));
	n = scandir("folder", &names, filter, alphasort);
	for (int i = 0; i < n; i++) {
		printf("%s\n", names[i]->d_name);
		free(names[i]);
	}
	free(names);
	nftw("folder", file, 4, FTW_PHYS);
	printf("%d files\n", nfiles);
	unlink("folder/a");
	unlink("folder/b");
	rmdir("folder");
}

static pthread_key_t key;

static void once(void)
{
	pthread_key_create(&key, free);
	puts("once");
}

static void *thread(void *unused)
{
	static pthread_once_t state = PTHREAD_ONCE_INIT;

	(void)unused;
	pthread_once(&state, once);
	pthread_setspecific(key, malloc(10));
	return NULL;
}

int main(void)
{
	int values[N];
	pthread_t one;
	unsigned x = 12345;

	for (int i = 0; i < N; i++)
		values[i] = (int)((x = x * 1103515245 + 12345) >> 16) % 1000;
	rows(values);
	search(values);
	trees(values);
	folders();
	for (int i = 0; i < 3; i++) {
		pthread_create(&one, NULL, thread, NULL);
		pthread_join(one, NULL);
	}
	return 0;
}
