/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of files: 16 bytes of head (magic, crc32c of the rest, size), then
 * the object.  Files appear whole, by renaming; one that is damaged counts as
 * absent and is written anew.
 */
#include "replay/cache.h"

#include "abi/crc32c.h"
#include "base/alloc.h"
#include "base/bytes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 16u
#define MAGIC 0x314f5243u /* "CRO1" */

/* The path of a key, for the caller to free; NULL if there is no folder. */
static char *path_of(const char *key)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *base, *folder, *path;

	if (cache && *cache == '/')
		base = xstrdup(cache);
	else if (home && *home == '/')
		base = xasprintf("%s/.cache", home);
	else
		return NULL;
	mkdir(base, 0700);
	folder = xasprintf("%s/cairn", base);
	mkdir(folder, 0700);
	path = xasprintf("%s/%s", folder, key);
	free(base);
	free(folder);
	return path;
}

static unsigned char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rbe");
	unsigned char head[HEAD], *data = NULL;
	uint64_t n;

	if (!f)
		return NULL;
	if (fread(head, 1, HEAD, f) == HEAD && get_le32(head) == MAGIC) {
		struct stat st;

		n = get_le64(head + 8);
		if (!fstat(fileno(f), &st) && (uint64_t)st.st_size == n + HEAD)
			data = xmalloc(n + 1);
		if (data && (fread(data, 1, n, f) != n ||
		             crc32c(0, data, n) != get_le32(head + 4))) {
			free(data);
			data = NULL;
		}
		*size = n;
	}
	fclose(f);
	return data;
}

unsigned char *cache_get(const char *key, size_t *size)
{
	char *path = path_of(key);
	unsigned char *data = path ? read_file(path, size) : NULL;

	free(path);
	return data;
}

static bool write_all(int fd, const void *data, size_t size)
{
	const unsigned char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

void cache_put(const char *key, const void *data, size_t size)
{
	char *path = path_of(key), *new;
	unsigned char head[HEAD];
	int fd;

	if (!path)
		return;
	new = xasprintf("%s.XXXXXX", path);
	put_le32(head, MAGIC);
	put_le32(head + 4, crc32c(0, data, size));
	put_le64(head + 8, size);
	fd = mkstemp(new);
	if (fd >= 0) {
		bool fine =
		        write_all(fd, head, HEAD) && write_all(fd, data, size);

		if (close(fd) || !fine || rename(new, path))
			unlink(new);
	}
	free(new);
	free(path);
}
