/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_SOURCES_H
#define CAIRN_FORMAT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes;
struct cairn_err;
struct chunk;

/* The text of a source file, as it was when the profile was packed. */
struct source_text {
	char *path; /* as the map has it */
	char *text; /* size bytes, and a NUL */
	size_t size;
	bool is_newer; /* than the program: it was already then */
};

/* {0} has none.  Sorted by path, each once. */
struct sources {
	struct source_text *items;
	size_t n, cap;
};

/* Adds one, if there is none of that path; takes the text over. */
void sources_add(struct sources *s, const char *path, char *text, size_t size,
                 bool is_newer);
/* NULL if it is not there. */
const struct source_text *sources_find(const struct sources *s,
                                       const char *path);
/* What a SOURCES chunk has, in the place of what was there. */
int sources_load(struct sources *s, const struct chunk *k, const char *name,
                 struct cairn_err *err);
/* Appends a SOURCES chunk, unless there are none.  tmp is scratch. */
int sources_put(const struct sources *s, struct bytes *out, struct bytes *tmp,
                struct cairn_err *err);
void sources_release(struct sources *s);

#endif /* CAIRN_FORMAT_SOURCES_H */
