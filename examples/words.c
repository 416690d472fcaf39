/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example to profile: prints the most frequent words of a text.
 *
 *     cairn-cc -O2 -g words.c -o words
 *     ./words words.txt
 *     cairn report words.*.cairn
 *
 * Words go into a hash table with chains; the report shows how long the chains
 * are that lookups walk, how often the table grows, and which branch of the
 * sort's comparison is taken: none of it is visible from outside.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct entry *next;
	unsigned long count;
	unsigned hash;
	char word[];
};

struct table {
	struct entry **slots;
	size_t nslots, nentries;
};

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "words: out of memory\n");
		exit(2);
	}
	return p;
}

static unsigned hash_of(const char *word)
{
	unsigned hash = 5381;

	while (*word)
		hash = hash * 33 + (unsigned char)*word++;
	return hash;
}

static void grow(struct table *t)
{
	size_t n = t->nslots ? 2 * t->nslots : 8;
	struct entry **slots = must(calloc(n, sizeof(*slots)));

	for (size_t i = 0; i < t->nslots; i++) {
		struct entry *e = t->slots[i];

		while (e) {
			struct entry *next = e->next;

			e->next = slots[e->hash % n];
			slots[e->hash % n] = e;
			e = next;
		}
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = n;
}

static void count(struct table *t, const char *word)
{
	unsigned hash = hash_of(word);
	struct entry *e;

	if (t->nentries >= t->nslots)
		grow(t);
	for (e = t->slots[hash % t->nslots]; e; e = e->next) {
		if (e->hash == hash && strcmp(e->word, word) == 0) {
			e->count++;
			return;
		}
	}
	e = must(malloc(sizeof(*e) + strlen(word) + 1));
	e->count = 1;
	e->hash = hash;
	strcpy(e->word, word);
	e->next = t->slots[hash % t->nslots];
	t->slots[hash % t->nslots] = e;
	t->nentries++;
}

static void read_words(struct table *t, FILE *in)
{
	char word[64];
	size_t n = 0;
	int c;

	do {
		c = getc(in);
		if (c != EOF && isalpha(c)) {
			if (n < sizeof(word) - 1)
				word[n++] = (char)tolower(c);
		} else if (n) {
			word[n] = '\0';
			count(t, word);
			n = 0;
		}
	} while (c != EOF);
}

static int by_count(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a;
	const struct entry *y = *(struct entry *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->word, y->word);
}

static void print_top(const struct table *t, size_t top)
{
	struct entry **all = must(calloc(t->nentries + 1, sizeof(*all)));
	size_t n = 0;

	for (size_t i = 0; i < t->nslots; i++)
		for (struct entry *e = t->slots[i]; e; e = e->next)
			all[n++] = e;
	qsort(all, n, sizeof(*all), by_count);
	for (size_t i = 0; i < n && i < top; i++)
		printf("%6lu %s\n", all[i]->count, all[i]->word);
	free(all);
}

int main(int argc, char **argv)
{
	struct table table = {0};
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;

	if (!in) {
		perror(argv[1]);
		return 1;
	}
	read_words(&table, in);
	print_top(&table, 5);
	return 0;
}
