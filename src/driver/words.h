/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_DRIVER_WORDS_H
#define CAIRN_DRIVER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The words of a command line, response files (@FILE) expanded, each with the
 * index of the argument that it came from.  `own` marks a word that is meant
 * for us and must not reach clang.
 */
struct word {
	const char *text;
	size_t origin;
	bool own;
};

struct words {
	char **given; /* main()'s arguments, which origins count in */
	struct word *items;
	size_t n, cap;
};

/*
 * Expands argv[1 .. argc-1].  A response file that cannot be read stays as the
 * word it is: clang then says what it thinks of it.
 * Memory: words and their text are kept until the process ends.
 */
void words_expand(struct words *w, int argc, char **argv);

/* An argument vector under construction: items[n] is NULL.  Kept as well. */
struct argv {
	const char **items;
	size_t n, cap;
};

void argv_add(struct argv *a, const char *text);

#endif /* CAIRN_DRIVER_WORDS_H */
