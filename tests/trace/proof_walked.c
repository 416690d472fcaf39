/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regenerates a trace and compares it with the log of the same process (log.c).
 *
 *     proof_walked HOW TRACE LOG...
 *
 * The logs are those of the threads of one image of a process.  HOW says what
 * must be the same:
 *
 *     exact   all blocks, in order
 *     prefix  all blocks in order, up to where the trace ends: what a frame in
 *             the middle of a path did since its last call is nowhere written.
 *             `lag` is how much the log has more.  It may have less: what a
 *             program is bound to do next the walk does not wait for.
 *     order   the blocks of each function, in order: a signal handler stands in
 *             the trace before the history that it interrupted
 *     counts  how often each block was executed: where a handler calls what it
 *             interrupted
 *     cut     as counts, but for frames that a jump out of a handler took away
 *             in the middle of a path: `lag` is how many blocks differ
 *     last    the trace may begin later than the log, and then ends as that
 *             does, but for `lag` blocks behind the last branch, which the log
 *             has more, or less
 *     tail    as last, for the blocks of each function: where a handler stands
 *             is known up to a path
 *     read    nothing, it can be read
 *     events  the same, and every event is a line
 *
 *     sections  the same; the threads that enter a function section(), in the
 *             order of SYNC
 *
 * One line per thread; exit status 1 if something differs, 2 if the trace
 * cannot be read.  Order among threads (SYNC) is checked for all but `events`:
 * the numbers of a thread ascend, and no number is there twice.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traced.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

enum how {
	EXACT,
	PREFIX,
	ORDER,
	COUNTS,
	CUT,
	LAST,
	TAIL,
	READ,
	EVENTS,
	SECTIONS
};

static const char *const hows[] = {"exact",  "prefix",  "order", "counts",
                                   "cut",    "last",    "tail",  "read",
                                   "events", "sections"};

#define END_MAX 4096 /* blocks between branches */

/* What a thread did: by the trace, or by its log. */
struct run {
	uint64_t tid;
	uint64_t *blocks;
	size_t n, cap;
	uint64_t nenter, ncut, nsync, ntime;
	size_t nopen;
	int64_t lag; /* behind the log */
	bool is_taken;
};

struct runs {
	struct run *run;
	size_t n, cap;
};

static struct run *add_run(struct runs *r, uint64_t tid)
{
	VEC_RESERVE(r->run, r->n, r->cap);
	r->run[r->n] = (struct run){.tid = tid};
	return &r->run[r->n++];
}

static void read_log(struct runs *logs, const char *path)
{
	uint64_t head[2];
	FILE *f = fopen(path, "rb");
	struct run *run;

	if (!f) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	if (fread(head, 8, 2, f) != 2 || !head[0]) {
		fclose(f); /* killed when it had made the file, and no more */
		return;
	}
	run = add_run(logs, head[0]);
	run->n = (size_t)head[1];
	run->blocks = xcalloc(run->n + 1, 8);
	if (fread(run->blocks, 8, run->n, f) != run->n) {
		fprintf(stderr, "%s: the log is too short\n", path);
		exit(2);
	}
	fclose(f);
	/* killed when it had taken a place, and not filled it */
	while (run->n && !run->blocks[run->n - 1])
		run->n--;
}

/* --- the trace ------------------------------------------------------------ */

static void show(const struct traced *t, const struct walk_event *e)
{
	static const char *const names[] = {"ENTER", "PATH",  "LEAVE", "DEATH",
	                                    "LAND",  "FRAME", "START", "TIME",
	                                    "SYNC",  "LOST"};
	const char *name = e->kind < sizeof(names) / sizeof(*names)
	                           ? names[e->kind]
	                           : "OTHER";

	if (e->function >= t->n) {
		printf("%s %" PRIu64 "\n", name, e->value);
		return;
	}
	printf("%*s%s %s", (int)e->depth, "", name,
	       traced_name(t, e->function));
	if (e->kind == WALK_PATH)
		for (uint32_t i = e->nskipped; i < e->way->nblocks; i++)
			printf(" %" PRIu32, e->way->blocks[i]);
	else if (e->kind == WALK_LAND || e->kind == WALK_FRAME)
		printf(" %" PRIu32, e->block);
	printf("\n");
}

struct reader {
	const struct traced *t;
	/* Blocks that are only a call, which may come back in two ways: in
	 * the log they stand before the call, in the trace behind. */
	uint64_t *calls;
	size_t ncalls, calls_cap;
	uint32_t *base; /* low addresses of functions */
	struct runs *runs, *logs;
	uint64_t *syncs; /* of all threads */
	size_t nsyncs, syncs_cap;
	enum how how;
	bool failed;
	struct section {
		uint64_t sync, tid;
		size_t number;
	} * sections;
	size_t nsections, sections_cap;
	uint64_t sync; /* the last of the thread */
};

static void take_section(struct reader *r, uint64_t tid,
                         const struct walk_event *e)
{
	if (r->how != SECTIONS ||
	    strcmp(traced_name(r->t, e->function), "section") != 0)
		return;
	VEC_RESERVE(r->sections, r->nsections, r->sections_cap);
	r->sections[r->nsections] =
	        (struct section){r->sync, tid, r->nsections};
	r->nsections++;
}

static int by_sync(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	if (x->sync != y->sync)
		return x->sync < y->sync ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void show_sections(struct reader *r)
{
	if (r->nsections)
		qsort(r->sections, r->nsections, sizeof(*r->sections), by_sync);
	for (size_t i = 0; i < r->nsections; i++)
		printf("section %" PRIu64 "\n", r->sections[i].tid);
}

static void take_path(struct run *run, uint64_t base,
                      const struct walk_event *e)
{
	for (uint32_t i = e->nskipped; i < e->way->nblocks; i++) {
		VEC_RESERVE(run->blocks, run->n, run->cap);
		run->blocks[run->n++] = base << 32 | e->way->blocks[i];
	}
}

static void take_sync(struct reader *r, struct run *run, uint64_t value)
{
	if (run->nsync && r->syncs[r->nsyncs - 1] >= value) {
		printf("FAIL SYNC %" PRIu64 " follows %" PRIu64 "\n", value,
		       r->syncs[r->nsyncs - 1]);
		r->failed = true;
	}
	r->sync = value;
	VEC_RESERVE(r->syncs, r->nsyncs, r->syncs_cap);
	r->syncs[r->nsyncs++] = value;
	run->nsync++;
}

static void take(struct reader *r, struct run **run, const struct walk *w,
                 const struct walk_event *e)
{
	if (r->how == EVENTS)
		show(r->t, e);
	if (e->kind == WALK_START) {
		*run = add_run(r->runs, e->value);
		return;
	}
	if (!*run)
		*run = add_run(r->runs, 0);
	(*run)->nopen = w->nframes;
	switch (e->kind) {
	case WALK_PATH:
		take_path(*run, r->base[e->function], e);
		break;
	case WALK_ENTER:
		(*run)->nenter++;
		take_section(r, (*run)->tid, e);
		break;
	case WALK_DEATH:
		(*run)->ncut++;
		break;
	case WALK_SYNC:
		take_sync(r, *run, e->value);
		break;
	case WALK_TIME:
		(*run)->ntime++;
		break;
	default:
		break;
	}
}

static void read_thread(struct reader *r, struct traced *t, size_t thread)
{
	struct cairn_err err = {0};
	struct traced_walk w;
	struct walk_event e;
	struct run *run = NULL;
	int rc;

	traced_begin(&w, t, thread);
	while ((rc = walk_next(&w.walk, &e, &err)) == 1)
		take(r, &run, &w.walk, &e);
	if (rc < 0) {
		printf("FAIL stream %zu: %s\n", thread, err.text);
		r->failed = true;
	}
	traced_end(&w);
}

/* Does a frame that is in the call of a site go on elsewhere than in its block?
 */
static bool goes_on(const struct traced_function *f, block_id block)
{
	const struct map_edge *edges = f->map->edges + f->f->first_edge;
	const struct map_call *calls = f->map->traced + f->f->first_traced;

	for (uint32_t i = 0; i < f->f->ntraced; i++)
		if (edges[calls[i].edge].src == block &&
		    edges[calls[i].edge].kind == CAIRN_EDGE_FALL)
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void find_calls(struct reader *r)
{
	for (uint32_t i = 0; i < r->t->n; i++) {
		const struct traced_function *f = &r->t->functions[i];

		for (uint32_t k = 0; k < f->f->nsites; k++) {
			block_id b = f->map->sites[f->f->first_site + k].block;

			if (goes_on(f, b))
				continue;
			VEC_RESERVE(r->calls, r->ncalls, r->calls_cap);
			r->calls[r->ncalls++] = (uint64_t)r->base[i] << 32 | b;
		}
	}
	if (r->ncalls)
		qsort(r->calls, r->ncalls, sizeof(*r->calls), by_number);
}

static void drop_calls(const struct reader *r, struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n; i++)
		if (!r->ncalls || !bsearch(&run->blocks[i], r->calls, r->ncalls,
		                           sizeof(*r->calls), by_number))
			run->blocks[n++] = run->blocks[i];
	run->n = n;
}

/* A library that was loaded several times is in the log with several
 * addresses: the first is for all. */
static void rebase_logs(struct reader *r, const struct traced *t)
{
	for (size_t i = 0; i < r->logs->n; i++) {
		struct run *run = &r->logs->run[i];

		for (size_t k = 0; k < run->n; k++) {
			uint32_t f = t->program.function_at(
			        t->program.context,
			        (uint32_t)(run->blocks[k] >> 32));

			if (f < t->n)
				run->blocks[k] = (uint64_t)r->base[f] << 32 |
				                 (uint32_t)run->blocks[k];
		}
	}
}

static bool read_trace(struct reader *r, const char *path)
{
	struct cairn_err err = {0};
	struct profile *p;
	struct streams s;
	struct traced t;

	if (profile_open(&p, &path, 1, NULL, &err) < 0 ||
	    streams_open(&s, path, CONTAINER_WHOLE, &err) < 0 ||
	    traced_init(&t, p, &s, &err) < 0) {
		printf("FAIL %s\n", err.text);
		return false;
	}
	printf("file state=%" PRIu32 " flags=%#" PRIx32 " how=%" PRIu32
	       " streams=%zu\n",
	       s.c.state, s.c.flags, s.c.how, s.nthreads);
	r->t = &t;
	r->base = xcalloc((size_t)t.n + 1, sizeof(*r->base));
	for (uint32_t i = 0; i < t.n; i++)
		r->base[i] = (uint32_t)(t.functions[i].f->address +
		                        p->modules[t.functions[i].module].bias);
	find_calls(r);
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].nbiases > 1)
			rebase_logs(r, &t);
	for (size_t i = 0; i < s.nthreads; i++)
		read_thread(r, &t, i);
	traced_release(&t);
	streams_release(&s);
	return true;
}

/* --- comparison ----------------------------------------------------------- */

struct item {
	uint64_t id;
	size_t at;
};

static int by_function(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->id >> 32 != y->id >> 32)
		return x->id >> 32 < y->id >> 32 ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The blocks by function, in order in each. */
static void sort_run(struct run *run)
{
	struct item *items = xcalloc(run->n + 1, sizeof(*items));

	for (size_t i = 0; i < run->n; i++)
		items[i] = (struct item){run->blocks[i], i};
	qsort(items, run->n, sizeof(*items), by_function);
	for (size_t i = 0; i < run->n; i++)
		run->blocks[i] = items[i].id;
	free(items);
}

/* How many blocks were executed more often here or there. */
static size_t difference(const struct run *a, const struct run *b)
{
	size_t i = 0, k = 0, n = 0;

	while (i < a->n && k < b->n) {
		bool less = a->blocks[i] < b->blocks[k];
		bool more = a->blocks[i] > b->blocks[k];

		n += less || more;
		i += !more;
		k += !less;
	}
	return n + (a->n - i) + (b->n - k);
}

/* Where the two first differ, at most n. */
static size_t first_difference(const uint64_t *a, const uint64_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Is the trace what the log has before its last `lag` blocks, or, if that is
 * negative, is it so without as many of its own? */
static bool ends_with_lag(const struct run *walked, const struct run *logged,
                          int64_t lag)
{
	size_t nw = walked->n - (lag < 0 ? (size_t)-lag : 0);
	size_t nl = logged->n - (lag > 0 ? (size_t)lag : 0);

	if (nw > walked->n || nl > logged->n || nw > nl)
		return false;
	return first_difference(walked->blocks, logged->blocks + (nl - nw),
	                        nw) == nw;
}

static bool is_end(struct run *walked, const struct run *logged)
{
	for (int64_t lag = 0; lag <= END_MAX; lag++)
		for (int sign = 1; sign >= -1; sign -= 2) {
			walked->lag = sign * lag;
			if (ends_with_lag(walked, logged, sign * lag))
				return true;
		}
	printf("FAIL it does not end as the log\n");
	return false;
}

/* The blocks of the function at `at`, of a run that is sorted. */
static struct run piece_of(const struct run *run, size_t at)
{
	size_t n = 0;

	while (at + n < run->n &&
	       run->blocks[at + n] >> 32 == run->blocks[at] >> 32)
		n++;
	return (struct run){.blocks = run->blocks + at, .n = n};
}

/* The same for each function. */
static bool are_ends(struct run *walked, struct run *logged)
{
	size_t at = 0;
	int64_t lag = 0;

	sort_run(walked);
	sort_run(logged);
	for (size_t i = 0; i < walked->n;) {
		struct run mine = piece_of(walked, i), theirs;

		while (at < logged->n &&
		       logged->blocks[at] >> 32 < mine.blocks[0] >> 32)
			at++;
		theirs = piece_of(logged, at);
		if (!is_end(&mine, &theirs))
			return false;
		lag = llabs(mine.lag) > llabs(lag) ? mine.lag : lag;
		i += mine.n;
	}
	walked->lag = lag;
	return true;
}

static bool is_same(enum how how, struct run *walked, struct run *logged)
{
	size_t n = walked->n < logged->n ? walked->n : logged->n, at;

	if (how == ORDER) {
		sort_run(walked);
		sort_run(logged);
	}
	if ((how == COUNTS || how == CUT) && walked->n && logged->n) {
		qsort(walked->blocks, walked->n, 8, by_number);
		qsort(logged->blocks, logged->n, 8, by_number);
	}
	walked->lag = (int64_t)(logged->n - walked->n);
	if (how == CUT) {
		walked->lag = (int64_t)difference(walked, logged);
		return true;
	}
	if (how == LAST)
		return is_end(walked, logged);
	if (how == TAIL)
		return are_ends(walked, logged);
	at = first_difference(walked->blocks, logged->blocks, n);
	if (at < n)
		printf("FAIL block %zu is %08" PRIx64 ".%" PRIu64
		       ", not %08" PRIx64 ".%" PRIu64 "\n",
		       at, walked->blocks[at] >> 32,
		       walked->blocks[at] & 0xffffffff,
		       logged->blocks[at] >> 32,
		       logged->blocks[at] & 0xffffffff);
	return at == n && (how == PREFIX || walked->n == logged->n);
}

static uint64_t hash_of(const struct run *run)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < run->n; i++) {
		hash = (hash ^ run->blocks[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

static struct run *log_of(struct runs *logs, const struct run *walked)
{
	for (size_t i = 0; i < logs->n; i++)
		if (logs->run[i].tid == walked->tid && !logs->run[i].is_taken) {
			logs->run[i].is_taken = true;
			return &logs->run[i];
		}
	return NULL;
}

/* The process ended when the thread had only just begun: what it is bound to do
 * first is in the walk, and nowhere else. */
static bool is_unborn(const struct run *walked)
{
	return walked->n <= 1 && walked->nopen;
}

static bool compare(enum how how, struct runs *walked, struct runs *logs)
{
	static struct run nothing;
	bool ok = true;

	for (size_t i = 0; i < walked->n; i++) {
		struct run *run = &walked->run[i], *log = log_of(logs, run);
		bool same = (!log && is_unborn(run)) ||
		            is_same(how, run, log ? log : &nothing);

		ok &= same;
		printf("%s thread %" PRIu64 " blocks=%zu hash=%016" PRIx64
		       " lag=%" PRId64 " enters=%" PRIu64 " deaths=%" PRIu64
		       " syncs=%" PRIu64 " times=%" PRIu64 " open=%zu\n",
		       same  ? "ok"
		       : log ? "FAIL"
		             : "FAIL no log of",
		       run->tid, run->n, hash_of(run), run->lag, run->nenter,
		       run->ncut, run->nsync, run->ntime, run->nopen);
	}
	for (size_t i = 0; i < logs->n; i++)
		if (!logs->run[i].is_taken && how != LAST && how != TAIL) {
			printf("FAIL thread %" PRIu64 " is not in the trace\n",
			       logs->run[i].tid);
			ok = false;
		}
	return ok;
}

static bool has_duplicate(struct reader *r)
{
	if (r->nsyncs)
		qsort(r->syncs, r->nsyncs, sizeof(*r->syncs), by_number);
	for (size_t i = 1; i < r->nsyncs; i++)
		if (r->syncs[i] == r->syncs[i - 1]) {
			printf("FAIL SYNC %" PRIu64 " is there twice\n",
			       r->syncs[i]);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	struct runs walked = {0}, logs = {0};
	struct reader r = {.runs = &walked, .logs = &logs};

	for (size_t i = 0; argc > 2 && i < sizeof(hows) / sizeof(*hows); i++)
		if (!strcmp(argv[1], hows[i]))
			r.how = (enum how)i;
	if (argc < 3 || strcmp(argv[1], hows[r.how]) != 0) {
		fprintf(stderr, "usage: proof_walked HOW TRACE LOG...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++)
		read_log(&logs, argv[i]);
	if (!read_trace(&r, argv[2]))
		return 2;
	if (r.how == SECTIONS)
		show_sections(&r);
	if (r.how == EVENTS || r.how == READ || r.how == SECTIONS)
		return r.failed;
	for (size_t i = 0; i < logs.n; i++)
		drop_calls(&r, &logs.run[i]);
	for (size_t i = 0; i < walked.n; i++)
		drop_calls(&r, &walked.run[i]);
	if (!compare(r.how, &walked, &logs) || has_duplicate(&r))
		r.failed = true;
	return r.failed;
}
