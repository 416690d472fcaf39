/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what reads traces: parts of streams, maps, the walk forwards and
 * backwards, and indices.  The input is a .cairn file with a map and a stream
 * that is not packed; its checksums are put right.
 */
#include "mend.h"

#include "analysis/trace_index.h"
#include "analysis/traced.h"
#include "base/err.h"
#include "format/profile.h"
#include "walk/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A few bytes can say that a loop turned for years. */
#define EVENTS_MAX 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads back from an event; how many events there are. */
static uint64_t read_back(struct traced *t, size_t thread,
                          const struct checkpoints *points, uint64_t nevents)
{
	struct reader_event event;
	struct cairn_err err;
	struct traced_walk w;
	struct reader r;
	uint64_t n = 0;

	traced_begin(&w, t, thread);
	reader_init(&r, &w.walk, points);
	if (reader_seek_event(&r, nevents, &err) == 0)
		while (n < EVENTS_MAX && reader_prev(&r, &event, &err) == 1)
			n++;
	reader_release(&r);
	traced_end(&w);
	return n;
}

/* What was read forwards is there backwards. */
static void read_thread(struct traced *t, size_t thread,
                        struct trace_index_thread *x)
{
	struct walk_event events[64];
	struct cairn_err err;
	struct traced_walk w;
	int result = 1;
	size_t n;

	checkpoints_init(&x->points, 5, 20000);
	traced_begin(&w, t, thread);
	while (w.walk.nevents < EVENTS_MAX && result == 1) {
		checkpoints_offer(&x->points, &w.walk);
		result = walk_run(&w.walk, events, 64, &n, &err);
	}
	x->nevents = w.walk.nevents < EVENTS_MAX ? w.walk.nevents : EVENTS_MAX;
	if (read_back(t, thread, &x->points, x->nevents) != x->nevents)
		abort();
	traced_end(&w);
}

/* An index that is wrong, and has a right checksum. */
static void read_wrong(struct traced *t, const struct trace_index *x,
                       const uint8_t *data, size_t size)
{
	struct bytes b = {0};
	struct trace_index wrong;

	trace_index_encode(x, 0, &b);
	for (size_t i = 0; i + 3 <= size && i < 12; i += 3)
		b.data[(data[i] | (size_t)data[i + 1] << 8) % b.n] ^=
		        data[i + 2];
	put_le64(b.data + b.n - 8, trace_index_hash(b.data, b.n - 8));
	if (trace_index_decode(&wrong, t, 0, b.data, b.n)) {
		for (size_t i = 0; i < wrong.nthreads; i++)
			read_back(t, i, &wrong.threads[i].points,
			          x->threads[i].nevents);
		trace_index_release(&wrong);
	}
	bytes_release(&b);
}

static void read_traced(struct traced *t, const uint8_t *data, size_t size)
{
	struct trace_index x = {.nthreads = t->streams->nthreads};

	x.threads = calloc(x.nthreads + 1, sizeof(*x.threads));
	if (!x.threads)
		abort();
	for (size_t i = 0; i < x.nthreads; i++)
		read_thread(t, i, &x.threads[i]);
	if (size > 12) /* the last bytes say what is wrong */
		read_wrong(t, &x, data + size - 12, 12);
	trace_index_release(&x);
}

static void read_trace(const char *path, const uint8_t *data, size_t size)
{
	struct profile_options o = {.partial = true, .skip_missing = true};
	struct cairn_err err;
	struct profile *p;
	struct streams s;
	struct traced t;

	if (profile_open(&p, &path, 1, &o, &err))
		return;
	if (!streams_open(&s, path, CONTAINER_PARTIAL, &err)) {
		if (!traced_init(&t, p, &s, &err)) {
			read_traced(&t, data, size);
			traced_release(&t);
		}
		streams_release(&s);
	}
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	int fd = memfd_create("input", 0);
	char name[64];

	if (!copy || fd < 0)
		abort();
	if (size)
		memcpy(copy, data, size);
	mend_container(copy, size);
	if (write(fd, copy, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	read_trace(name, data, size);
	close(fd);
	free(copy);
	return 0;
}
