/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is cut while it is written: its checkpoints are in a file
 * beside it, FILE.last, and parts before them are dropped where they are.
 *
 * Chunks of the runtime's are whole pages.  Neighbours that are dropped become
 * one chunk, GAP, by one write of its header; what is in it is a hole.
 *
 * Invariant: at any moment FILE and FILE.last together are a recording:
 * FILE.last is replaced as a whole, before anything is dropped that it does not
 * need. Cost: a look at every chunk's header.
 */
#include "replay/follow.h"

#include "abi/crc32c.h"
#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/writer.h"
#include "replay/session.h"
#include "replay/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u

/* --- checkpoints ---------------------------------------------------------- */

/* Contexts that went before stay away. */
static void put_gone(struct bytes *out, uint32_t context)
{
	static const unsigned char head[CAIRN_CHECKPOINT_HEAD];

	writer_chunk(out,
	             &(struct writer_chunk){
	                     .type = CAIRN_CHUNK_CHECKPOINT,
	                     .id = context,
	                     .aux0 = UINT64_MAX,
	             },
	             head, sizeof(head));
}

static int write_last(struct trim *t, const char *file, struct cairn_err *err)
{
	const struct recording *r = &t->session->recording;
	char *path = xasprintf("%s.last", file);
	struct bytes out = {0};
	int rc;

	writer_begin(&out);
	trim_put_checkpoints(t, &out);
	for (size_t i = 0; i < r->s.last.nchunks; i++)
		if (r->s.last.chunks[i].id && !r->s.last.chunks[i].n)
			put_gone(&out, r->s.last.chunks[i].id);
	for (size_t i = 0; i < r->ncontexts; i++)
		if (t->cuts[i].is_gone)
			put_gone(&out, t->cuts[i].context->number);
	trim_put_header(t, &out);
	rc = writer_replace_here(path, out.data, out.n, err);
	bytes_release(&out);
	free(path);
	return rc;
}

/* --- parts ---------------------------------------------------------------- */

/* A run of chunks that nobody needs. */
struct gap {
	uint64_t from, to;
	unsigned nchunks;
	bool was_gap; /* it is one already */
};

static int put_gap(int fd, const struct gap *g)
{
	unsigned char h[CAIRN_CHUNK_HEADER_SIZE] = {0};

	if (!g->nchunks || (g->was_gap && g->nchunks == 1))
		return 0;
	put_le32(h + CAIRN_CHK_MAGIC, CAIRN_CHUNK_MAGIC);
	put_le32(h + CAIRN_CHK_TYPE, CAIRN_CHUNK_GAP);
	put_le64(h + CAIRN_CHK_LENGTH, g->to - g->from);
	put_le32(h + CAIRN_CHK_HEADER_CRC, crc32c(0, h, CAIRN_CHK_FLAGS));
	if (pwrite(fd, h, sizeof(h), (off_t)g->from) != (ssize_t)sizeof(h))
		return CAIRN_E_SYSTEM;
	if (g->to - g->from > PAGE &&
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	              (off_t)(g->from + PAGE), (off_t)(g->to - g->from - PAGE)))
		return CAIRN_E_SYSTEM;
	return 0;
}

/* Is a part before where its context begins? */
static bool is_dropped(const struct trim *t, uint32_t context, uint64_t number)
{
	const struct recording *r = &t->session->recording;

	for (size_t i = 0; i < r->ncontexts; i++)
		if (r->contexts[i].number == context)
			return t->cuts[i].is_gone ||
			       number < trim_first_part(&t->cuts[i]);
	return false;
}

/* Goes over all chunks that there are. */
static int punch(const struct trim *t, int fd, uint64_t length,
                 uint64_t *dropped)
{
	unsigned char h[CAIRN_CHUNK_HEADER_SIZE];
	struct gap g = {0};

	*dropped = 0;
	for (uint64_t at = CAIRN_FILE_HEADER_SIZE; at < length;) {
		uint32_t type;
		uint64_t n;
		bool is_gap;

		if (pread(fd, h, sizeof(h), (off_t)at) != (ssize_t)sizeof(h) ||
		    get_le32(h + CAIRN_CHK_MAGIC) != CAIRN_CHUNK_MAGIC)
			return CAIRN_E_CORRUPT;
		type = get_le32(h + CAIRN_CHK_TYPE);
		n = get_le64(h + CAIRN_CHK_LENGTH);
		is_gap = type == CAIRN_CHUNK_GAP;
		if (n < CAIRN_CHUNK_HEADER_SIZE || n > length - at)
			return CAIRN_E_CORRUPT;
		if (is_gap || (type == CAIRN_CHUNK_PACKED &&
		               is_dropped(t, get_le32(h + CAIRN_CHK_ID),
		                          get_le64(h + CAIRN_CHK_AUX0)))) {
			if (!g.nchunks)
				g = (struct gap){at, at, 0, is_gap};
			g.nchunks++;
			g.to = at + n;
			*dropped += n;
		} else {
			CAIRN_TRY(put_gap(fd, &g));
			g = (struct gap){0};
		}
		at += n;
	}
	return put_gap(fd, &g);
}

int follow_drop(struct trim *t, const char *file, uint64_t *dropped,
                struct cairn_err *err)
{
	int fd, rc;

	CAIRN_TRY(write_last(t, file, err));
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM, "%s: %s", file,
		                  strerror(errno));
	rc = punch(t, fd, t->session->recording.s.c.length, dropped);
	close(fd);
	if (rc < 0)
		return cairn_fail(err, rc, "%s: cannot drop parts of it", file);
	return 0;
}
