/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One name for each source file.
 *
 * A compiler names a header by the way it was found: ./inc/h.h in one unit,
 * sub/../inc/h.h in another.  Counts add up by name, so that both have to be
 * the same.  "x/.." may be left out unless x is a symbolic link to another
 * place, which only the file system knows: where the file can be seen, both
 * names have to be of one file.
 *
 * Invariant: what plain_path returns has no "." and no empty part, and ".."
 * only at the beginning of a relative path; doing it again changes nothing.
 * Breaks when: the file cannot be seen (it was renamed by an option such as
 * -fdebug-prefix-map) and a link leads elsewhere.
 * Cost: linear; two stat() for a path with "..".
 */
#include "base/plain.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_up(const char *part, size_t n)
{
	return n == 2 && !strncmp(part, "..", 2);
}

/* Where the last part of begin..end starts. */
static char *last_part(char *begin, char *end)
{
	while (end > begin && end[-1] != '/')
		end--;
	return end;
}

static char *clean(const char *path, bool folds)
{
	char *plain = xmalloc(strlen(path) + 2), *begin = plain, *end;

	if (*path == '/')
		*begin++ = '/';
	end = begin;
	while (*path) {
		size_t n = strcspn(path, "/");
		char *last = last_part(begin, end);

		if (folds && is_up(path, n) && (end > begin || begin > plain) &&
		    !is_up(last, (size_t)(end - last))) {
			/* Above the root is the root. */
			end = last > begin ? last - 1 : begin;
		} else if (n && !(n == 1 && *path == '.')) {
			if (end > begin)
				*end++ = '/';
			memcpy(end, path, n);
			end += n;
		}
		path += n + (path[n] == '/');
	}
	if (end == plain)
		*end++ = '.';
	*end = '\0';
	return plain;
}

char *plain_path(const char *path)
{
	return clean(path, true);
}

char *plain_file(char *path)
{
	char *plain = clean(path, true);
	struct stat a, b;

	if (strstr(path, "..") && !stat(path, &a) &&
	    (stat(plain, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino)) {
		free(plain);
		plain = clean(path, false);
	}
	free(path);
	return plain;
}
