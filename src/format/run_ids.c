/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs a file has, so that none is counted twice.
 *
 * A process and the moment at which it began make an id of 64 bits
 * (CAIRN_RUN_ID).  The header of a file has that of its run; a sum has a RUNS
 * chunk with those of all its runs, but for what older versions added.
 *
 * Cost: for the file of a run, a read of the header and of the heads of its
 * first chunks; of a sum also eight bytes per run.
 */
#include "format/run_ids.h"

#include "abi/crc32c.h"
#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "format/container.h"
#include "format/profile.h"
#include "format/writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(struct run_ids *r, uint32_t pid, uint64_t start)
{
	if (!pid || start < CAIRN_RUN_START_MIN)
		return;
	VEC_RESERVE(r->ids, r->n, r->cap);
	r->ids[r->n++] = CAIRN_RUN_ID(pid, start);
}

static void add_ids(struct run_ids *r, const unsigned char *payload, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		VEC_RESERVE(r->ids, r->n, r->cap);
		r->ids[r->n++] = get_le64(payload + 8 * i);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct run_ids *r)
{
	size_t kept = 0;

	if (r->n)
		qsort(r->ids, r->n, sizeof(*r->ids), by_value);
	for (size_t i = 0; i < r->n; i++)
		if (!i || r->ids[i] != r->ids[i - 1])
			r->ids[kept++] = r->ids[i];
	r->n = kept;
}

/* --- a file that nobody has opened yet ------------------------------------ */

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

static bool read_header(int fd, unsigned char *h, size_t size)
{
	return read_at(fd, h, size, 0) &&
	       !memcmp(h, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE) &&
	       crc32c(0, h, CAIRN_HDR_CRC) == get_le32(h + CAIRN_HDR_CRC);
}

/* The ids in a RUNS chunk. */
static void read_ids(struct run_ids *r, int fd, const unsigned char *k,
                     uint64_t at)
{
	uint64_t n = get_le64(k + CAIRN_CHK_N);
	uint64_t size = get_le64(k + CAIRN_CHK_LENGTH);
	unsigned char *payload;
	struct stat st;

	if (n > (size - CAIRN_CHUNK_HEADER_SIZE) / 8 || fstat(fd, &st) ||
	    size > (uint64_t)st.st_size)
		return;
	payload = xmalloc((size_t)n * 8);
	if (read_at(fd, payload, (size_t)n * 8, at + CAIRN_CHUNK_HEADER_SIZE))
		add_ids(r, payload, n);
	free(payload);
}

/* Looks for a module, and in a sum for the list of runs. */
static void read_chunks(struct run_ids *r, int fd, uint64_t length)
{
	unsigned char k[CAIRN_CHUNK_HEADER_SIZE];
	bool wants_list = !r->pid;
	uint64_t at = CAIRN_FILE_HEADER_SIZE, size;

	r->is_empty = true;
	for (; at < length && (r->is_empty || wants_list); at += size) {
		uint32_t type;

		if (!read_at(fd, k, sizeof(k), at) ||
		    get_le32(k + CAIRN_CHK_MAGIC) != CAIRN_CHUNK_MAGIC ||
		    crc32c(0, k, CAIRN_CHK_FLAGS) !=
		            get_le32(k + CAIRN_CHK_HEADER_CRC)) {
			r->is_empty = false; /* damaged */
			return;
		}
		size = get_le64(k + CAIRN_CHK_LENGTH);
		type = get_le32(k + CAIRN_CHK_TYPE);
		if (size < sizeof(k) || size > length - at) {
			r->is_empty = false;
			return;
		}
		if (type == CAIRN_CHUNK_MODULE)
			r->is_empty = false;
		if (type == CAIRN_CHUNK_RUNS) {
			read_ids(r, fd, k, at);
			wants_list = false;
		}
	}
}

void run_ids_read(struct run_ids *r, const char *path)
{
	unsigned char h[CAIRN_HDR_STATE_CRC + 4];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*r = (struct run_ids){0};
	if (fd < 0)
		return;
	if (read_header(fd, h, sizeof(h))) {
		r->pid = get_le32(h + CAIRN_HDR_PID);
		r->start = get_le64(h + CAIRN_HDR_START);
		r->nruns = get_le32(h + CAIRN_HDR_NRUNS);
		r->is_open = get_le32(h + CAIRN_HDR_STATE) == CAIRN_STATE_OPEN;
		add(r, r->pid, r->start);
		add(r, get_le32(h + CAIRN_HDR_LAST_PID),
		    get_le64(h + CAIRN_HDR_LAST_START));
		read_chunks(r, fd, get_le64(h + CAIRN_HDR_LENGTH));
		sort(r);
	}
	close(fd);
}

void run_ids_release(struct run_ids *r)
{
	free(r->ids);
	*r = (struct run_ids){0};
}

bool run_ids_are_all_known(const struct run_ids *r)
{
	return r->n && r->n >= r->nruns;
}

bool run_ids_have(const struct run_ids *r, uint64_t id)
{
	return r->n && bsearch(&id, r->ids, r->n, sizeof(id), by_value);
}

/* --- files that are summed ------------------------------------------------ */

void run_ids_of(struct run_ids *r, const struct container *c)
{
	*r = (struct run_ids){.nruns = c->nruns, .pid = c->pid};
	add(r, c->pid, c->start);
	add(r, c->last_pid, c->last_start);
	for (size_t i = 0; i < c->nchunks; i++)
		if (c->chunks[i].type == CAIRN_CHUNK_RUNS)
			add_ids(r, c->chunks[i].payload, c->chunks[i].n);
	sort(r);
}

void run_ids_put(const struct profile *p, struct bytes *out, struct bytes *tmp)
{
	struct run_ids all = {0};

	if (p->nfiles == 1 && p->files[0].pid)
		return; /* the header says it */
	for (size_t i = 0; i < p->nfiles; i++)
		for (size_t k = 0; k < p->files[i].runs.n; k++) {
			VEC_RESERVE(all.ids, all.n, all.cap);
			all.ids[all.n++] = p->files[i].runs.ids[k];
		}
	sort(&all);
	tmp->n = 0;
	for (size_t i = 0; i < all.n; i++)
		bytes_put_u64(tmp, all.ids[i]);
	if (all.n)
		writer_chunk(out,
		             &(struct writer_chunk){.type = CAIRN_CHUNK_RUNS,
		                                    .n = all.n},
		             tmp->data, tmp->n);
	run_ids_release(&all);
}
