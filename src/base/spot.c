/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FILE:LINE, as options and lists have it.  Maps have the paths that the
 * compiler was called with, so a name stands for all files whose paths end with
 * it.
 */
#include "base/spot.h"

#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* 0 if it is no number of a line. */
static uint32_t parse_number(const char *text)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v > INT_MAX)
		return 0;
	return (uint32_t)v;
}

bool spot_parse(struct spot *s, const char *text)
{
	const char *colon = strrchr(text, ':');
	uint32_t line = colon ? parse_number(colon + 1) : 0;

	if (!line || colon == text)
		return false;
	*s = (struct spot){xstrndup(text, (size_t)(colon - text)), line};
	return true;
}

void spot_release(struct spot *s)
{
	free(s->file);
	*s = (struct spot){0};
}

bool spot_is_file(const char *path, const char *file)
{
	size_t n = strlen(path), k = strlen(file);

	return n >= k && !strcmp(path + n - k, file) &&
	       (n == k || *file == '/' || path[n - k - 1] == '/');
}
