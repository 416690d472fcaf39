/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of .cairn files that tools make (merge, pack).  The runtime has
 * its own, which may use no library.
 *
 * Invariant: what writer_end leaves passes container_parse.
 * Cost: one pass; the file is built in memory, which is at most what its
 * inputs took when they were read.
 */
#include "format/writer.h"

#include "abi/crc32c.h"
#include "abi/file.h"
#include "base/alloc.h"
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void writer_begin(struct bytes *out)
{
	unsigned char page[CAIRN_FILE_HEADER_SIZE] = {0};

	out->n = 0;
	bytes_put(out, page, sizeof(page));
}

void writer_chunk(struct bytes *out, const struct writer_chunk *k,
                  const void *payload, size_t size)
{
	unsigned char h[CAIRN_CHUNK_HEADER_SIZE] = {0};
	const unsigned char zeros[8] = {0};
	size_t pad = -size & 7;
	uint32_t crc = crc32c(0, payload, size);

	put_le32(h + CAIRN_CHK_MAGIC, CAIRN_CHUNK_MAGIC);
	put_le32(h + CAIRN_CHK_TYPE, k->type);
	put_le64(h + CAIRN_CHK_LENGTH, sizeof(h) + size + pad);
	put_le32(h + CAIRN_CHK_ID, k->id);
	put_le32(h + CAIRN_CHK_MODULE, k->module);
	put_le64(h + CAIRN_CHK_N, k->n);
	put_le64(h + CAIRN_CHK_AUX0, k->aux0);
	put_le64(h + CAIRN_CHK_AUX1, k->aux1);
	put_le32(h + CAIRN_CHK_PAYLOAD_CRC, crc32c(crc, zeros, pad));
	put_le32(h + CAIRN_CHK_HEADER_CRC, crc32c(0, h, CAIRN_CHK_FLAGS));
	bytes_put(out, h, sizeof(h));
	bytes_put(out, payload, size);
	bytes_put(out, zeros, pad);
}

void writer_end(struct bytes *out, const struct writer_header *header)
{
	unsigned char *h = out->data;

	memcpy(h + CAIRN_HDR_MAGIC, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE);
	put_le32(h + CAIRN_HDR_VERSION, CAIRN_FILE_VERSION);
	put_le32(h + CAIRN_HDR_SIZE, CAIRN_FILE_HEADER_SIZE);
	put_le32(h + CAIRN_HDR_KIND, CAIRN_KIND_PROFILE);
	put_le32(h + CAIRN_HDR_PID, header->pid);
	put_le32(h + CAIRN_HDR_PPID, header->ppid);
	put_le32(h + CAIRN_HDR_NRUNS, header->nruns);
	put_le64(h + CAIRN_HDR_START, header->start);
	put_le32(h + CAIRN_HDR_CRC, crc32c(0, h, CAIRN_HDR_CRC));
	put_le32(h + CAIRN_HDR_STATE, CAIRN_STATE_CLOSED);
	put_le32(h + CAIRN_HDR_FLAGS, header->flags);
	put_le64(h + CAIRN_HDR_LENGTH, out->n);
	put_le64(h + CAIRN_HDR_END, header->end);
	put_le32(h + CAIRN_HDR_HOW, header->how);
	put_le32(h + CAIRN_HDR_SIGNAL, header->signal);
	put_le32(h + CAIRN_HDR_UNWALKED, header->unwalked);
	put_le32(h + CAIRN_HDR_STATE_CRC,
	         crc32c(0, h + CAIRN_HDR_STATE,
	                CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE));
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
	while (size) {
		ssize_t put = write(fd, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		data += put;
		size -= (size_t)put;
	}
	return 0;
}

/* Permissions as open() would have given them: mkstemp is stricter. */
static int give_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask);
}

/* Writes straight into what is no regular file: a pipe, /dev/null. */
static int write_special(const char *path, const void *data, size_t size,
                         struct cairn_err *err)
{
	FILE *f = fopen(path, "w");
	int bad = !f;

	if (f) {
		bad = fwrite(data, 1, size, f) != size;
		bad |= fclose(f) != 0;
	}
	return bad ? cairn_fail(err, CAIRN_E_SYSTEM,
	                        "%s: cannot write: %s; name another output",
	                        path, strerror(errno))
	           : 0;
}

int writer_replace(const char *path, const void *data, size_t size,
                   struct cairn_err *err)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	struct stat st;
	int fd, e = 0;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		free(temp);
		return write_special(path, data, size, err);
	}
	fd = mkstemp(temp);
	if (fd < 0) {
		e = errno;
	} else {
		if (write_all(fd, data, size) || give_usual_mode(fd) ||
		    fsync(fd))
			e = errno;
		if (close(fd) && !e)
			e = errno;
		if (!e && rename(temp, path))
			e = errno;
		if (e)
			unlink(temp);
	}
	free(temp);
	return e ? cairn_fail(err, CAIRN_E_SYSTEM,
	                      "%s: cannot write: %s; name another output with "
	                      "-o, or make room",
	                      path, strerror(e))
	         : 0;
}
