/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: .cairn files become one sum of counters per module, the places
 * where frames died or began, and the map of every module.
 *
 * Files are added one by one (loading_file.c), many at a time (loading.c); then
 * the maps are looked for, what depends on where a run was loaded is taken out
 * (normal.c), and what is there several times is summed (loading_sum.c).
 *
 * Counters of threads add up, and so do those of runs, because each is a plain
 * number of events; addresses are link-time addresses, so that they mean the
 * same in every run of one build.  What makes a build is its build ids.
 *
 * Invariant: modules have pairwise different identities, and counters that
 * were summed belong to the same build of the same file.
 * Breaks when: a module was linked without a build id; then path, address and
 * number of its counters stand in for it.
 * Cost: linear in the bytes of the files, plus sorting frames and paths.
 */
#include "format/profile.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/regular.h"
#include "format/calls.h"
#include "format/loading.h"
#include "format/locate.h"
#include "format/map.h"
#include "format/normal.h"
#include "format/order.h"
#include "format/windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every function's counters have to lie in the module's. */
static int check_map(const struct profile_module *m, struct cairn_err *err)
{
	for (uint32_t i = 0; i < m->map->nfunctions; i++) {
		const struct map_function *f = &m->map->functions[i];
		uint64_t at = f->counters - m->base;

		if (f->ncounters &&
		    (f->counters < m->base || at % 8 || at / 8 > m->ncounters ||
		     f->ncounters > m->ncounters - at / 8))
			return cairn_corrupt(
			        err, m->path, f->record,
			        "in the map, function %s has counters outside "
			        "of the module's; build the program again",
			        map_string(m->map, f->name));
	}
	return 0;
}

static int find_map(struct profile *p, struct profile_module *m,
                    const struct profile_options *o, struct cairn_err *err)
{
	struct locate_module wanted = {
	        .path = m->path,
	        .directory = p->directory ? p->directory : "",
	        .id = m->id,
	        .nid = m->nid,
	        .is_recording = profile_flags(p) & CAIRN_FILE_RECORDING,
	};

	if (!m->map) {
		CAIRN_TRY(locate_map(&wanted, o->exes, o->nexes, &m->map_bytes,
		                     &m->map_size, err));
		CAIRN_TRY(map_parse(m->map_bytes, m->map_size, m->path, &m->map,
		                    err));
	}
	CAIRN_TRY(check_map(m, err));
	return normal_module(m, err);
}

static int find_maps(struct profile *p, const struct profile_options *o,
                     struct cairn_err *err)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		struct profile_module *m = &p->modules[i];
		struct cairn_err e;
		int rc;

		loading_sum_paths(m);
		rc = find_map(p, m, o, &e);
		if (!rc)
			continue;
		if (!o->skip_missing)
			return cairn_fail(err, rc, "%s: %s",
			                  p->files[m->from].name, e.text);
		map_free(m->map);
		m->map = NULL;
		free(m->map_bytes);
		m->map_bytes = NULL;
		m->missing = xstrdup(e.text);
	}
	return 0;
}

static int take_rows(struct profile *p, struct cairn_err *err)
{
	const char *wrong = calls_take_rows(p);

	if (!wrong)
		return 0;
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s: %s; the file is not of this program, or is "
	                  "damaged: run the program again",
	                  p->files[0].name, wrong);
}

/* A trace that is cut before its first part looks like counts. */
static int check_cut_traces(const struct profile *p, struct cairn_err *err)
{
	for (size_t i = 0; i < p->nfiles && profile_is_traced(p); i++) {
		const struct profile_file *f = &p->files[i];

		if (f->truncated && !f->has_trace)
			return cairn_corrupt(
			        err, f->name, f->cut,
			        "truncated before the first part of the trace, "
			        "so nothing of it can be read; copy it again, "
			        "or run the program again");
	}
	return 0;
}

bool profile_is_one(const char *path)
{
	FILE *f = regular_stream(path, "name a .cairn file", NULL);
	int first;

	if (!f)
		return true;
	first = fgetc(f);
	fclose(f);
	return first == (unsigned char)CAIRN_FILE_MAGIC[0];
}

/* all_traces: also those files in which nothing was traced. */
static int open_files(struct profile **out, const char *const *paths,
                      size_t npaths, const struct profile_options *options,
                      bool all_traces, struct cairn_err *err)
{
	struct loading l = {.p = xcalloc(1, sizeof(*l.p))};
	struct profile *p = l.p;
	int rc = loading_files(&l, paths, npaths, options, all_traces, err);

	if (!rc)
		rc = find_maps(p, options, err);
	if (!rc)
		rc = take_rows(p, err);
	if (!rc)
		rc = check_cut_traces(p, err);
	if (!rc)
		loading_settle_frames(&l);
	free(l.frames);
	if (rc) {
		profile_free(p);
		return rc;
	}
	calls_sum(p);
	windows_sum(p);
	if (p->nfiles > 1)
		order_clear(&p->order);
	*out = p;
	return 0;
}

int profile_open(struct profile **out, const char *const *paths, size_t npaths,
                 const struct profile_options *options, struct cairn_err *err)
{
	const struct profile_options defaults = {0};
	struct cairn_err e;
	int rc;

	*out = NULL;
	if (!options)
		options = &defaults;
	rc = open_files(out, paths, npaths, options, false, err);
	if (!options->untrace || (rc && rc != CAIRN_E_MISMATCH) ||
	    (!rc && !profile_is_traced(*out)))
		return rc;
	/* A file in which nothing was traced, by itself or beside others of the
	 * same build, does not look like a trace. */
	if (rc) /* what is wrong with them otherwise is known */
		return open_files(out, paths, npaths, options, true, &e) ? rc
		                                                         : 0;
	profile_free(*out);
	*out = NULL;
	return open_files(out, paths, npaths, options, true, err);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nmodules; i++) {
		struct profile_module *m = &p->modules[i];

		free(m->path);
		free(m->biases);
		free(m->id);
		free(m->counts);
		free(m->paths);
		map_free(m->map);
		free(m->map_bytes);
		free(m->missing);
	}
	for (size_t i = 0; i < p->nfiles; i++) {
		free(p->files[i].name);
		run_ids_release(&p->files[i].runs);
	}
	order_clear(&p->order);
	sources_release(&p->sources);
	free(p->modules);
	free(p->files);
	free(p->frames);
	free(p->calls);
	windows_release(p);
	free(p->main_id);
	free(p->program);
	free(p->directory);
	free(p->command);
	free(p);
}

uint64_t profile_count(const struct profile_module *m, uint64_t counter)
{
	return m->counts ? m->counts[counter] : 0;
}

const struct profile_path *profile_paths(const struct profile_module *m,
                                         uint64_t owner, size_t *n)
{
	size_t lo = 0, hi = m->npaths, end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->paths[mid].owner < owner)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < m->npaths && m->paths[end].owner == owner; end++)
		;
	*n = end - lo;
	return *n ? m->paths + lo : NULL;
}

bool profile_is_traced(const struct profile *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++)
			if (CAIRN_PATHS_ARE_TRACED(m->functions[f].paths))
				return true;
	}
	return false;
}

bool profile_is_open(const struct profile *p)
{
	for (size_t i = 0; i < p->nfiles; i++)
		if (p->files[i].state == CAIRN_STATE_OPEN)
			return true;
	return profile_flags(p) & CAIRN_FILE_UNFINISHED;
}

/* Was a frame stopped between calls? */
static bool profile_was_stopped(const struct profile *p)
{
	for (size_t i = 0; i < p->nframes; i++)
		if (p->frames[i].kind == CAIRN_FRAME_OUT_ASYNC)
			return true;
	return false;
}

bool profile_was_killed(const struct profile *p)
{
	for (size_t i = 0; i < p->nfiles; i++) {
		const struct profile_file *f = &p->files[i];

		if (f->state != CAIRN_STATE_CLOSED ||
		    f->flags & (CAIRN_FILE_UNFINISHED | CAIRN_FILE_TRUNCATED) ||
		    (f->how == CAIRN_HOW_SIGNAL && profile_was_stopped(p)))
			return true;
	}
	return false;
}

bool profile_is_incomplete(const struct profile *p)
{
	for (size_t i = 0; i < p->nfiles; i++)
		if (p->files[i].truncated)
			return true;
	return profile_flags(p) & CAIRN_FILE_TRUNCATED;
}

uint32_t profile_flags(const struct profile *p)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < p->nfiles; i++)
		flags |= p->files[i].flags;
	return flags;
}

uint64_t profile_unwalked(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->nfiles; i++)
		n += p->files[i].unwalked;
	return n;
}

uint64_t profile_nruns(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->nfiles; i++)
		n += p->files[i].nruns;
	return n;
}
