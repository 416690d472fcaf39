/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FILE:LINE, as options and lists have it.  Maps have whole paths, without "."
 * and "..", so a name stands for all files whose paths end with it, or with
 * what follows "../" in it: that is how builds in another directory call a
 * file.
 */
#include "base/spot.h"

#include "base/alloc.h"
#include "base/plain.h"

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

static bool ends_with(const char *path, const char *file)
{
	size_t n = strlen(path), k = strlen(file);

	return n >= k && !strcmp(path + n - k, file) &&
	       (n == k || *file == '/' || path[n - k - 1] == '/');
}

/* Where a path begins that is plain but for ".." in front. */
static const char *below(const char *plain)
{
	while (!strncmp(plain, "../", 3))
		plain += 3;
	return plain;
}

bool spot_is_file(const char *path, const char *file)
{
	char *plain;
	bool is;

	if (ends_with(path, file))
		return true;
	if (!strstr(file, "./") && !strstr(file, "//"))
		return false;
	plain = plain_path(file);
	is = ends_with(path, below(plain));
	free(plain);
	return is;
}
