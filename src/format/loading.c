/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many files at a time.
 *
 * Each thread adds the files of one stretch of the list to a profile of its
 * own; then the profiles are added to each other in the order of the list, as
 * if one thread had read them all: sums do not depend on how they are grouped,
 * and modules get their numbers in the order in which they are first seen.
 *
 * What goes wrong is found again by reading the files one by one, so that the
 * sentence does not depend on the number of threads.  Traces and recordings are
 * always read like that: what they are read as has to be made first.
 *
 * Invariant: after any number of files each profile has room for what is
 * different in them, twice, and LOADING_SLACK (loading_compact).
 * Cost: that of reading the files, divided by the number of threads, and one
 * profile per thread.
 */
#include "format/loading.h"

#include "base/alloc.h"
#include "base/err.h"
#include "format/locate.h"
#include "format/map.h"
#include "format/order.h"
#include "format/windows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 16
#define FILES_PER_THREAD 16 /* at least */

bool loading_same_id(const unsigned char *a, uint32_t na,
                     const unsigned char *b, uint32_t nb)
{
	return na == nb && (!na || !memcmp(a, b, na));
}

int loading_check_program(const struct profile *p,
                          const struct loading_program *of,
                          struct cairn_err *err)
{
	char a[LOCATE_ID_TEXT], b[LOCATE_ID_TEXT];
	bool same;

	if (of->nid && p->main_nid)
		same = loading_same_id(p->main_id, p->main_nid, of->id,
		                       of->nid);
	else
		same = p->program && of->path && !strcmp(p->program, of->path);
	if (same)
		return 0;
	return cairn_fail(
	        err, CAIRN_E_MISMATCH,
	        "%s: comes from another build than %s: it is of program %s, "
	        "build id %s, the other of %s, build id %s; sum only profiles "
	        "of one build",
	        of->file, p->files[0].name, of->path ? of->path : "(unknown)",
	        locate_id_text(of->id, of->nid, b),
	        p->program ? p->program : "(unknown)",
	        locate_id_text(p->main_id, p->main_nid, a));
}

/* --- adding one profile to another ---------------------------------------- */

static bool same_module(const struct profile_module *a,
                        const struct profile_module *b)
{
	if (!loading_same_id(a->id, a->nid, b->id, b->nid))
		return false;
	return a->nid || (!strcmp(a->path, b->path) && a->base == b->base &&
	                  a->ncounters == b->ncounters);
}

/* Where the module is in p; p->nmodules if it is new, UINT32_MAX if another
 * build of it is there. */
static uint32_t find_module(const struct profile *p,
                            const struct profile_module *m)
{
	bool is_other = false;

	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct profile_module *at = &p->modules[i];

		if (same_module(at, m))
			return (m->ncounters && at->base != m->base) ||
			                       at->ncounters != m->ncounters
			               ? UINT32_MAX
			               : i;
		is_other |= !strcmp(at->path, m->path);
	}
	return is_other ? UINT32_MAX : p->nmodules;
}

static void add_counts(struct profile_module *to, struct profile_module *from)
{
	if (!from->counts)
		return;
	if (!to->counts) {
		to->counts = from->counts;
		from->counts = NULL;
		return;
	}
	for (uint64_t i = 0; i < to->ncounters; i++)
		to->counts[i] += from->counts[i];
}

static void add_paths(struct profile_module *to,
                      const struct profile_module *from)
{
	for (size_t i = 0; i < from->npaths; i++) {
		VEC_RESERVE(to->paths, to->npaths, to->paths_cap);
		to->paths[to->npaths++] = from->paths[i];
	}
}

static void take_map(struct profile_module *to, struct profile_module *from)
{
	if (to->map || !from->map)
		return;
	to->map = from->map;
	to->map_bytes = from->map_bytes;
	to->map_size = from->map_size;
	from->map = NULL;
	from->map_bytes = NULL;
}

static void add_module(struct profile *p, struct profile_module *from,
                       uint32_t at)
{
	if (at < p->nmodules) {
		add_counts(&p->modules[at], from);
		add_paths(&p->modules[at], from);
		take_map(&p->modules[at], from);
		return;
	}
	VEC_RESERVE(p->modules, p->nmodules, p->modules_cap);
	p->modules[p->nmodules] = *from;
	p->modules[p->nmodules++].from += p->nfiles;
	*from = (struct profile_module){0};
}

/* What refers to modules, by their new numbers. */
static void add_places(struct loading *to, const struct loading *from,
                       const uint32_t *number)
{
	struct profile *p = to->p;

	for (size_t i = 0; i < from->nframes; i++) {
		struct loaded_frame f = from->frames[i];

		f.frame.module = number[f.frame.module];
		VEC_RESERVE(to->frames, to->nframes, to->frames_cap);
		to->frames[to->nframes++] = f;
	}
	for (size_t i = 0; i < from->p->ncalls; i++) {
		struct profile_call c = from->p->calls[i];

		c.site_module = number[c.site_module];
		c.callee_module = number[c.callee_module];
		VEC_RESERVE(p->calls, p->ncalls, p->calls_cap);
		p->calls[p->ncalls++] = c;
	}
}

static void add_files(struct profile *p, struct profile *from)
{
	for (size_t i = 0; i < from->nfiles; i++) {
		VEC_RESERVE(p->files, p->nfiles, p->files_cap);
		p->files[p->nfiles++] = from->files[i];
	}
	from->nfiles = 0;
}

static void take_sources(struct profile *p, struct profile *from)
{
	if (p->sources.n)
		return;
	p->sources = from->sources;
	from->sources = (struct sources){0};
}

/* Adds what `from` has, which is then only good to be freed.  False if it is of
 * another build. */
static bool absorb(struct loading *to, struct loading *from)
{
	const struct loading_program of = {from->p->files[0].name,
	                                   from->p->program, from->p->main_id,
	                                   from->p->main_nid};
	uint32_t n = from->p->nmodules, *number;
	bool fits = !loading_check_program(to->p, &of, NULL);

	number = xmalloc(n * sizeof(*number));
	for (uint32_t i = 0; i < n && fits; i++) {
		number[i] = find_module(to->p, &from->p->modules[i]);
		fits = number[i] != UINT32_MAX;
		if (fits)
			add_module(to->p, &from->p->modules[i], number[i]);
	}
	fits = fits && windows_absorb(to->p, from->p, number);
	if (fits) {
		add_places(to, from, number);
		add_files(to->p, from->p);
		take_sources(to->p, from->p);
		order_clear(&to->p->order);
		loading_compact(to);
	}
	free(number);
	return fits;
}

/* --- threads -------------------------------------------------------------- */

/* What all threads read. */
struct work {
	const char *const *paths;
	size_t npaths;
	const struct profile_options *options;
	uint64_t done; /* files, of all threads */
	bool failed;   /* somewhere */
};

struct stretch {
	struct work *work;
	struct loading l;
	size_t from, to;
	bool tells;
	pthread_t thread;
};

static void tell(const struct work *w, uint64_t done)
{
	if (w->options->tell)
		w->options->tell(w->options->tell_context, done, w->npaths);
}

static void *read_stretch(void *stretch)
{
	struct stretch *s = stretch;
	struct work *w = s->work;
	uint64_t done;

	for (size_t i = s->from; i < s->to; i++) {
		if (__atomic_load_n(&w->failed, __ATOMIC_RELAXED))
			break;
		if (loading_counts(&s->l, w->paths[i], w->options, NULL)) {
			__atomic_store_n(&w->failed, true, __ATOMIC_RELAXED);
			break;
		}
		loading_compact(&s->l);
		done = __atomic_add_fetch(&w->done, 1, __ATOMIC_RELAXED);
		if (s->tells)
			tell(w, done);
	}
	return NULL;
}

/* Those that nobody could start a thread for are read here. */
static void read_stretches(struct stretch *s, size_t n)
{
	bool has_thread[MAX_THREADS] = {0};

	for (size_t i = 1; i < n; i++)
		has_thread[i] = !pthread_create(&s[i].thread, NULL,
		                                read_stretch, &s[i]);
	for (size_t i = 0; i < n; i++)
		if (!has_thread[i])
			read_stretch(&s[i]);
	for (size_t i = 1; i < n; i++)
		if (has_thread[i])
			pthread_join(s[i].thread, NULL);
}

/* False if the files have to be read one by one, or something is wrong. */
static bool read_in_parallel(struct loading *l, struct work *w, size_t n)
{
	struct stretch s[MAX_THREADS] = {0};
	bool fits;

	for (size_t i = 0; i < n; i++)
		s[i] = (struct stretch){
		        .work = w,
		        .l.p = i ? xcalloc(1, sizeof(*s[i].l.p)) : l->p,
		        .from = w->npaths * i / n,
		        .to = w->npaths * (i + 1) / n,
		        .tells = !i,
		};
	read_stretches(s, n);
	fits = !w->failed;
	for (size_t i = 1; i < n; i++) {
		fits = fits && absorb(&s[0].l, &s[i].l);
		profile_free(s[i].l.p);
		free(s[i].l.frames);
	}
	*l = s[0].l;
	return fits;
}

static size_t count_threads(size_t npaths)
{
	long ncores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = npaths / FILES_PER_THREAD;

	if (ncores > 0 && n > (size_t)ncores)
		n = (size_t)ncores;
	return n < MAX_THREADS ? n : MAX_THREADS;
}

static int read_one_by_one(struct loading *l, struct work *w, bool all_traces,
                           struct cairn_err *err)
{
	for (size_t i = 0; i < w->npaths; i++) {
		CAIRN_TRY(loading_file(l, w->paths[i], w->options, all_traces,
		                       err));
		loading_compact(l);
		tell(w, i + 1);
	}
	return 0;
}

int loading_files(struct loading *l, const char *const *paths, size_t npaths,
                  const struct profile_options *options, bool all_traces,
                  struct cairn_err *err)
{
	struct work w = {.paths = paths, .npaths = npaths, .options = options};
	size_t n = all_traces ? 1 : count_threads(npaths);
	struct loading first = {.p = xcalloc(1, sizeof(*first.p))};

	if (n > 1 && read_in_parallel(&first, &w, n)) {
		*l->p = *first.p;
		free(first.p);
		first.p = l->p;
		*l = first;
		return 0;
	}
	profile_free(first.p);
	free(first.frames);
	return read_one_by_one(l, &w, all_traces, err);
}
