/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line as words: response files expanded the way clang does it on
 * a Unix system (GNU rules: white space separates, '...' and "..." quote, a
 * backslash takes the next character as it is; a file may name another one,
 * relative to the working directory).
 *
 * The driver has to see these words to decide what is compiled and linked;
 * clang gets the response file itself, unless a word in it is ours.
 *
 * Invariant: words are in the order in which clang will see them, and their
 * origins never decrease.
 * Cost: O(bytes).  Text is never freed: the process ends or becomes clang.
 */
#include "driver/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Files that name themselves stop here; the word is then left as it is. */
#define WORDS_MAX_DEPTH 20

static void words_add(struct words *w, const char *text, size_t origin)
{
	VEC_RESERVE(w->items, w->n, w->cap);
	w->items[w->n++] = (struct word){text, origin, false};
}

/* The whole of a file as a string, or NULL. */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0, cap = 0;

	if (!f)
		return NULL;
	do {
		if (cap - n < 4096) {
			cap = cap ? 2 * cap : 8192;
			text = xrealloc(text, cap, 1);
		}
		n += fread(text + n, 1, cap - n - 1, f);
	} while (!feof(f) && !ferror(f));
	if (ferror(f)) {
		free(text);
		text = NULL;
	} else {
		text[n] = '\0';
	}
	fclose(f);
	return text;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
	       c == '\v';
}

/*
 * Unquotes the word at p in place, ends it with NUL and returns where the next
 * one may begin: the text only gets shorter, so it never runs over itself.
 */
static char *take_word(char *p)
{
	char *to = p;
	char quote = '\0';

	for (; *p && (quote || !is_space(*p)); p++) {
		if (*p == '\\' && p[1])
			*to++ = *++p;
		else if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else
			*to++ = *p;
	}
	if (*p)
		p++;
	*to = '\0';
	return p;
}

static void expand(struct words *w, const char *text, size_t origin, int depth)
{
	char *p = NULL;

	if (text[0] == '@' && depth < WORDS_MAX_DEPTH)
		p = read_text(text + 1);
	if (!p) {
		words_add(w, text, origin);
		return;
	}
	while (*p) {
		char *word = p;

		if (is_space(*p)) {
			p++;
			continue;
		}
		p = take_word(p);
		expand(w, word, origin, depth + 1);
	}
}

void words_expand(struct words *w, int argc, char **argv)
{
	w->given = argv;
	for (int i = 1; i < argc; i++)
		expand(w, argv[i], (size_t)i, 0);
}

void argv_add(struct argv *a, const char *text)
{
	if (a->n + 1 >= a->cap) {
		a->cap = a->cap ? 2 * a->cap : 64;
		a->items = xrealloc(a->items, a->cap, sizeof(*a->items));
	}
	a->items[a->n++] = text;
	a->items[a->n] = NULL;
}
