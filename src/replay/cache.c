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
#include "format/writer.h"
#include "replay/broker.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 16u
#define MAGIC 0x314f5243u /* "CRO1" */

static bool read_all(int fd, void *data, size_t size)
{
	unsigned char *p = data;

	while (size) {
		ssize_t n = read(fd, p, size);

		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

static unsigned char *read_file(int fd, size_t *size)
{
	unsigned char head[HEAD], *data;
	struct stat st;

	if (!read_all(fd, head, HEAD) || get_le32(head) != MAGIC ||
	    fstat(fd, &st) || (uint64_t)st.st_size - HEAD != get_le64(head + 8))
		return NULL;
	*size = (size_t)get_le64(head + 8);
	data = xmalloc(*size + 1);
	if (read_all(fd, data, *size) &&
	    crc32c(0, data, *size) == get_le32(head + 4))
		return data;
	free(data);
	return NULL;
}

unsigned char *cache_get(const char *key, size_t *size)
{
	int fd = broker_get(BROKER_CACHE, key);
	unsigned char *data = fd < 0 ? NULL : read_file(fd, size);

	if (fd >= 0)
		close(fd);
	return data;
}

void cache_put(const char *key, const void *data, size_t size)
{
	struct broker_draft d;
	unsigned char head[HEAD];

	if (!broker_draft(BROKER_CACHE, &d))
		return;
	put_le32(head, MAGIC);
	put_le32(head + 4, crc32c(0, data, size));
	put_le64(head + 8, size);
	if (writer_all(d.fd, head, HEAD) || writer_all(d.fd, data, size))
		broker_drop(&d);
	else
		broker_keep(&d, key);
}
