/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One .cairn file, added to a profile: chunk by chunk, modules first.
 *
 * Numbers of modules are those of the file; the profile's are found by what a
 * module is: its build id, or path, address and number of counters where it was
 * linked without one.  Counters are added where they are; frames, paths, calls
 * and windows are appended, and summed later (loading_sum.c).
 *
 * Invariant: modules of the profile have pairwise different identities;
 * counters that were added belong to the same build of the same file.  A file
 * that fails leaves the profile such that it can be released, not used. Cost:
 * linear in the bytes of the file, and modules of it times those of the
 * profile.
 */
#include "format/loading.h"

#include "abi/file.h"
#include "abi/rt.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/calls.h"
#include "format/container.h"
#include "format/locate.h"
#include "format/map.h"
#include "format/order.h"
#include "format/windows.h"
#include "format/zframe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* State while one file is added. */
struct loader {
	struct loading *to;
	struct profile *p; /* that of `to` */
	const struct container *c;
	struct cairn_err *err;
	uint32_t *module_of; /* per MODULE chunk number: index in p->modules */
	uint32_t *numbers;   /* the chunk numbers, parallel */
	uint64_t *bias;      /* parallel */
	uint32_t nmodules;
	const char *program;
};

static int corrupt(struct loader *l, const struct chunk *k, const char *what)
{
	return cairn_corrupt(l->err, l->c->name, k->offset,
	                     "%s; run the program again, or restore the file",
	                     what);
}

/* A string ended by NUL; NULL if there is no end. */
static const char *take_text(struct cursor *c)
{
	size_t left = (size_t)(c->end - c->p);
	const unsigned char *nul = left ? memchr(c->p, '\0', left) : NULL;

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	return (const char *)cursor_take(c, (uint64_t)(nul - c->p) + 1);
}

static int load_program(struct loader *l, const struct chunk *k)
{
	struct cursor c = {k->payload, k->payload + k->size, false};
	const char *program = take_text(&c);
	const char *directory = take_text(&c);
	const char *command = take_text(&c);

	if (c.bad)
		return corrupt(l, k, "the program chunk ends early");
	l->program = program;
	if (!l->p->program) {
		l->p->program = xstrdup(program);
		l->p->directory = xstrdup(directory);
		l->p->command = xstrdup(command);
	}
	return 0;
}

struct module_head {
	const char *path;
	const unsigned char *id;
	uint32_t nid;
};

static int read_module_head(struct loader *l, const struct chunk *k,
                            struct module_head *h)
{
	struct cursor c = {k->payload, k->payload + k->size, false};

	h->nid = cursor_u32(&c);
	h->id = cursor_take(&c, h->nid);
	h->path = take_text(&c);
	if (c.bad)
		return corrupt(l, k, "the module chunk ends early");
	if (k->n > UINT64_MAX / 8 || k->aux0 > UINT64_MAX - 8 * k->n)
		return corrupt(l, k, "impossible number of counters");
	return 0;
}

static bool same_module(const struct profile_module *m,
                        const struct module_head *h, const struct chunk *k)
{
	if (!loading_same_id(m->id, m->nid, h->id, h->nid))
		return false;
	return m->nid || (!strcmp(m->path, h->path) && m->base == k->aux0 &&
	                  m->ncounters == k->n);
}

static int other_build(struct loader *l, const struct profile_module *m,
                       const struct module_head *h)
{
	char a[LOCATE_ID_TEXT], b[LOCATE_ID_TEXT];

	return cairn_fail(l->err, CAIRN_E_MISMATCH,
	                  "%s: comes from another build than %s: %s has build "
	                  "id %s here and %s there; sum only profiles of one "
	                  "build",
	                  l->c->name, l->p->files[m->from].name, h->path,
	                  locate_id_text(h->id, h->nid, b),
	                  locate_id_text(m->id, m->nid, a));
}

/* Finds the module in what earlier files had; *at is nmodules if it is new. */
static int find_module(struct loader *l, const struct chunk *k,
                       const struct module_head *h, uint32_t *at)
{
	const struct profile *p = l->p;
	const struct profile_module *other = NULL;

	for (*at = 0; *at < p->nmodules; ++*at) {
		const struct profile_module *m = &p->modules[*at];

		if (same_module(m, h, k)) {
			if ((k->n && m->base != k->aux0) ||
			    m->ncounters != k->n)
				return other_build(l, m, h);
			return 0;
		}
		if (m->from + 1 < p->nfiles && !strcmp(m->path, h->path))
			other = m;
	}
	return other ? other_build(l, other, h) : 0;
}

/* It may have been unloaded, and loaded again elsewhere. */
static void add_bias(struct profile_module *m, uint64_t bias)
{
	for (uint32_t i = 0; i < m->nbiases; i++)
		if (m->biases[i] == bias)
			return;
	VEC_RESERVE(m->biases, m->nbiases, m->biases_cap);
	m->biases[m->nbiases++] = bias;
}

static int load_module(struct loader *l, const struct chunk *k)
{
	struct profile *p = l->p;
	struct module_head h;
	uint32_t at;

	CAIRN_TRY(read_module_head(l, k, &h));
	CAIRN_TRY(find_module(l, k, &h, &at));
	if (at == p->nmodules) {
		VEC_RESERVE(p->modules, p->nmodules, p->modules_cap);
		p->modules[p->nmodules++] = (struct profile_module){
		        .path = xstrdup(h.path),
		        .id = xmalloc(h.nid),
		        .nid = h.nid,
		        .base = k->aux0,
		        .ncounters = k->n,
		        .from = p->nfiles - 1,
		        .bias = k->aux1,
		};
		if (h.nid)
			memcpy(p->modules[at].id, h.id, h.nid);
	}
	if (p->modules[at].from == p->nfiles - 1)
		add_bias(&p->modules[at], k->aux1);
	l->module_of[l->nmodules] = at;
	l->bias[l->nmodules] = k->aux1;
	l->numbers[l->nmodules++] = k->module;
	return 0;
}

/* The index of a module's number in this file; nmodules if there is none. */
static uint32_t find_number(const struct loader *l, uint32_t number)
{
	uint32_t i = 0;

	while (i < l->nmodules && l->numbers[i] != number)
		i++;
	return i;
}

/* The module that a COUNTS, MAP or PATHS chunk belongs to: the container has
 * checked that there is one. */
static struct profile_module *module_of(struct loader *l, uint32_t number)
{
	return &l->p->modules[l->module_of[find_number(l, number)]];
}

static void load_counts(struct loader *l, const struct chunk *k)
{
	struct profile_module *m = module_of(l, k->module);

	if (!m->counts)
		m->counts = xcalloc((size_t)m->ncounters, sizeof(*m->counts));
	for (uint64_t i = 0; i < k->n; i++)
		m->counts[i] += get_le64(k->payload + 8 * i);
}

/* Only a register depends on where the module was loaded. */
static void add_frame(struct loading *to, const struct profile_frame *f,
                      uint64_t bias)
{
	VEC_RESERVE(to->frames, to->nframes, to->frames_cap);
	to->frames[to->nframes++] =
	        (struct loaded_frame){*f, f->has_reg ? bias : 0};
}

static int load_frames(struct loader *l, const struct chunk *k)
{
	bool is_placed = k->type == CAIRN_CHUNK_PLACED;
	uint64_t each = is_placed ? CAIRN_PLACED_SLOT : CONTAINER_FRAME_SLOT;

	for (uint64_t i = 0; i < k->n; i++) {
		const unsigned char *slot = k->payload + each * i;
		uint64_t key = get_le64(slot), reg = get_le64(slot + 8);
		struct profile_frame f = {
		        .kind = (uint32_t)(key >> CAIRN_FRAME_KIND_SHIFT),
		        .pc = key & CAIRN_FRAME_PC_MASK,
		        .has_reg = reg != 0,
		        .reg = reg ? reg - 1 : 0,
		        .count = (int64_t)get_le64(slot + 16),
		};
		uint32_t number = (uint32_t)(key >> CAIRN_FRAME_MODULE_SHIFT) &
		                  CAIRN_FRAME_MODULE_MASK;
		uint32_t at;

		if (!key || !f.count)
			continue;
		at = find_number(l, number);
		if (at == l->nmodules || f.kind < CAIRN_FRAME_OUT ||
		    f.kind > CAIRN_FRAME_IN_ASYNC)
			return corrupt(l, k, "a frame names no module or kind");
		f.module = l->module_of[at];
		add_frame(l->to, &f,
		          is_placed ? get_le64(slot + CONTAINER_FRAME_SLOT)
		                    : l->bias[at]);
	}
	return 0;
}

/* Is this the address of words of the module? */
static bool is_owner(const struct profile_module *m, uint64_t owner)
{
	uint64_t at = owner - m->base;

	return owner >= m->base && at % 8 == 0 &&
	       m->ncounters >= CAIRN_TABLE_WORDS &&
	       at / 8 <= m->ncounters - CAIRN_TABLE_WORDS;
}

static void load_slots(struct profile_module *m, uint64_t owner,
                       const unsigned char *slots, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const unsigned char *slot = slots + CAIRN_TABLE_SLOT * i;
		uint64_t count = get_le64(slot + 8);

		if (!count)
			continue;
		VEC_RESERVE(m->paths, m->npaths, m->paths_cap);
		m->paths[m->npaths++] =
		        (struct profile_path){owner, get_le64(slot), count};
	}
}

/*
 * Tables of path counts.  The runtime makes a table by writing its owner last,
 * so that a file of a killed program has no half tables; the number of slots
 * need be no power of two, since nobody looks a path up by its hash here.
 */
static int load_paths(struct loader *l, const struct chunk *k)
{
	struct profile_module *m = module_of(l, k->module);
	struct cursor c = {k->payload, k->payload + k->n, false};

	while (c.p != c.end) {
		uint64_t owner = cursor_u64(&c), nslots;

		if (!c.bad && !owner)
			break;
		nslots = cursor_u64(&c);
		cursor_take(&c, CAIRN_TABLE_HEAD - CAIRN_TABLE_KEYS);
		if (c.bad ||
		    nslots > (uint64_t)(c.end - c.p) / CAIRN_TABLE_SLOT)
			return corrupt(l, k,
			               "a table of paths is longer than its "
			               "chunk");
		if (!is_owner(m, owner))
			return corrupt(l, k,
			               "a table of paths belongs to no "
			               "counters of its module");
		load_slots(m, owner, c.p, nslots);
		cursor_take(&c, nslots * CAIRN_TABLE_SLOT);
	}
	return 0;
}

static int load_calls(struct loader *l, const struct chunk *k)
{
	const struct calls_modules m = {l->module_of, l->numbers, l->bias,
	                                l->nmodules};
	const char *wrong = calls_load(l->p, &m, k);

	return wrong ? corrupt(l, k, wrong) : 0;
}

static int load_windows(struct loader *l)
{
	const struct calls_modules m = {l->module_of, l->numbers, l->bias,
	                                l->nmodules};
	const struct chunk *bad = NULL;
	const char *wrong = windows_load(l->p, &m, l->c, &bad);

	return wrong ? corrupt(l, bad, wrong) : 0;
}

static int load_first(struct loader *l, const struct chunk *k, uint64_t i)
{
	const unsigned char *record =
	        k->payload + CAIRN_ORDER_HEAD_SIZE + CAIRN_ORDER_RECORD * i;
	uint64_t place = get_le64(record + CAIRN_ORDER_PLACE);
	struct profile_first first = {
	        .number = k->aux0 + i,
	        .owner = place & CAIRN_FRAME_PC_MASK,
	        .key = get_le64(record + CAIRN_ORDER_PATH),
	};
	uint32_t at;

	if (!first.key)
		return 0;
	at = place >> CAIRN_FRAME_KIND_SHIFT
	             ? l->nmodules
	             : find_number(l, (uint32_t)(place >>
	                                         CAIRN_FRAME_MODULE_SHIFT));
	if (at == l->nmodules ||
	    !is_owner(&l->p->modules[l->module_of[at]], first.owner))
		return corrupt(l, k,
		               "a record of the order of paths names no "
		               "counters of a module");
	first.module = l->module_of[at];
	order_add(&l->p->order, &first);
	return 0;
}

/* One part of the order; *room is that of all parts so far. */
static int load_order_part(struct loader *l, const struct chunk *k,
                           uint64_t *room)
{
	struct profile_order *o = &l->p->order;

	if (k->n > UINT64_MAX - k->aux0 || (!k->aux0 && o->is_there))
		return corrupt(l, k,
		               "impossible numbers in the order of paths");
	if (!k->aux0) {
		o->is_there = true;
		o->nleft_out = get_le64(k->payload);
	}
	*room += k->n;
	for (uint64_t i = 0; i < k->n; i++)
		CAIRN_TRY(load_first(l, k, i));
	return 0;
}

/* The order of this file, in the place of that of another one. */
static int load_order(struct loader *l)
{
	struct profile_order *o = &l->p->order;
	uint64_t room = 0, asked;

	order_clear(o);
	for (size_t i = 0; i < l->c->nchunks; i++) {
		const struct chunk *k = &l->c->chunks[i];

		if (k->type != CAIRN_CHUNK_ORDER)
			continue;
		CAIRN_TRY(load_order_part(l, k, &room));
		if (!order_settle(o))
			return corrupt(l, k,
			               "the order of paths has two records of "
			               "the same number");
	}
	asked = o->nleft_out;
	o->nleft_out = asked > room ? asked - room : 0;
	if (!o->is_there)
		order_clear(o);
	return 0;
}

static int load_map(struct loader *l, const struct chunk *k)
{
	struct profile_module *m = module_of(l, k->module);
	char *name;
	int rc;

	if (m->map)
		return 0;
	name = xasprintf("%s(%s)", l->c->name, m->path);
	rc = zframe_unpack(k->payload, (size_t)k->size, k->aux0, name,
	                   &m->map_bytes, &m->map_size, l->err);
	if (!rc)
		rc = map_parse(m->map_bytes, m->map_size, name, &m->map,
		               l->err);
	free(name);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_stream(const struct chunk *k)
{
	return (k->type == CAIRN_CHUNK_STREAM ||
	        k->type == CAIRN_CHUNK_PACKED) &&
	       k->aux0;
}

static bool is_trace(const struct container *c)
{
	for (size_t i = 0; i < c->nchunks; i++)
		if (is_stream(&c->chunks[i]))
			return true;
	return false;
}

/*
 * The number of different thread serials among the counts and streams.  A
 * thread takes over the serial of one that has ended, so this bounds how many
 * were there at a time.  0 if it does not: serials are missing, or were summed
 * (serial 0).
 */
static uint32_t count_threads(const struct container *c)
{
	uint32_t *ids, n = 0, distinct = 0;

	if (c->truncated || (c->flags & CAIRN_FILE_TRUNCATED))
		return 0;
	ids = xmalloc(c->nchunks * sizeof(*ids));
	for (size_t i = 0; i < c->nchunks; i++)
		if ((c->chunks[i].type == CAIRN_CHUNK_COUNTS ||
		     is_stream(&c->chunks[i])) &&
		    c->chunks[i].id)
			ids[n++] = c->chunks[i].id;
	qsort(ids, n, sizeof(*ids), by_number);
	for (uint32_t i = 0; i < n; i++)
		distinct += !i || ids[i] != ids[i - 1];
	free(ids);
	return distinct;
}

/* The shard of no thread: what counts there may do so after the end. */
static bool is_common(const struct chunk *k)
{
	return k->type == CAIRN_CHUNK_COUNTS && !k->id;
}

static void add_file(struct profile *p, const struct container *c)
{
	struct profile_file f = {
	        .name = xstrdup(c->name),
	        .pid = c->pid,
	        .ppid = c->ppid,
	        .nruns = c->nruns,
	        .state = c->state,
	        .flags = c->flags,
	        .how = c->how,
	        .signal = c->signal,
	        .unwalked = c->unwalked,
	        .start = c->start,
	        .end = c->end,
	        .last_pid = c->last_pid,
	        .last_start = c->last_start,
	        .threads_at_once = count_threads(c),
	        .truncated = c->truncated,
	        .cut = c->cut,
	        .has_trace = is_trace(c),
	};

	for (size_t i = 0; i < c->nchunks; i++)
		f.nunsealed += c->state == CAIRN_STATE_CLOSED &&
		               !c->chunks[i].verified &&
		               !is_common(&c->chunks[i]);
	run_ids_of(&f.runs, c);
	VEC_RESERVE(p->files, p->nfiles, p->files_cap);
	p->files[p->nfiles++] = f;
}

/* The build id of the program itself, if it counted. */
static const struct profile_module *main_module(struct loader *l)
{
	for (uint32_t i = 0; l->program && i < l->nmodules; i++) {
		const struct profile_module *m =
		        &l->p->modules[l->module_of[i]];

		if (!strcmp(m->path, l->program))
			return m;
	}
	return NULL;
}

/* All files have to come from one program. */
static int check_program(struct loader *l)
{
	struct profile *p = l->p;
	const struct profile_module *m = main_module(l);
	const struct loading_program of = {l->c->name, l->program,
	                                   m ? m->id : NULL, m ? m->nid : 0};

	if (p->nfiles > 1)
		return loading_check_program(p, &of, l->err);
	p->main_nid = of.nid;
	p->main_id = xmalloc(p->main_nid);
	if (p->main_nid)
		memcpy(p->main_id, of.id, of.nid);
	return 0;
}

/* Chunks may come in any order: what others refer to is loaded first. */
static int load_chunks(struct loader *l)
{
	const struct container *c = l->c;

	for (size_t i = 0; i < c->nchunks; i++) {
		if (c->chunks[i].type == CAIRN_CHUNK_PROGRAM)
			CAIRN_TRY(load_program(l, &c->chunks[i]));
		if (c->chunks[i].type == CAIRN_CHUNK_MODULE)
			CAIRN_TRY(load_module(l, &c->chunks[i]));
	}
	CAIRN_TRY(check_program(l));
	for (size_t i = 0; i < c->nchunks; i++) {
		const struct chunk *k = &c->chunks[i];

		if (k->type == CAIRN_CHUNK_COUNTS)
			load_counts(l, k);
		if (k->type == CAIRN_CHUNK_FRAMES ||
		    k->type == CAIRN_CHUNK_PLACED)
			CAIRN_TRY(load_frames(l, k));
		if (k->type == CAIRN_CHUNK_MAP)
			CAIRN_TRY(load_map(l, k));
		if (k->type == CAIRN_CHUNK_PATHS)
			CAIRN_TRY(load_paths(l, k));
		if (k->type == CAIRN_CHUNK_SOURCES && !l->p->sources.n)
			CAIRN_TRY(sources_load(&l->p->sources, k, c->name,
			                       l->err));
		if (k->type == CAIRN_CHUNK_CALLS)
			CAIRN_TRY(load_calls(l, k));
	}
	CAIRN_TRY(load_windows(l));
	return load_order(l);
}

/* What is whole of a truncated file has to be worth something. */
static int check_cut(const struct container *c, struct cairn_err *err)
{
	for (size_t i = 0; i < c->nchunks; i++)
		if (c->chunks[i].type == CAIRN_CHUNK_COUNTS ||
		    c->chunks[i].type == CAIRN_CHUNK_PACKED ||
		    c->chunks[i].type == CAIRN_CHUNK_STREAM)
			return 0;
	if (!c->truncated)
		return 0;
	return cairn_corrupt(err, c->name, c->cut,
	                     "truncated before the first counts, so nothing "
	                     "of it can be read; copy it again, or run the "
	                     "program again");
}

/* Adds what c has; the file is `of`, which it may have been made of. */
static int load_container(struct loading *to, const struct container *c,
                          const struct container *of,
                          const struct profile_options *options,
                          struct cairn_err *err)
{
	struct profile *p = to->p;
	struct loader l = {.to = to, .p = p, .c = c, .err = err};
	int rc;

	if (!options->empty)
		CAIRN_TRY(container_check_run(of, err));
	if (of->flags & CAIRN_FILE_RECORDING && !options->recordings)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "%s: is a recording, which has no counts of "
		                  "its own; cairn report replays it",
		                  of->name);
	CAIRN_TRY(check_cut(of, err));
	add_file(p, of);
	/* that it is cut is known, and is not that it could not grow */
	p->files[p->nfiles - 1].flags |= c->flags & ~CAIRN_FILE_TRUNCATED;
	l.module_of = xmalloc(c->nchunks * sizeof(*l.module_of));
	l.numbers = xmalloc(c->nchunks * sizeof(*l.numbers));
	l.bias = xmalloc(c->nchunks * sizeof(*l.bias));
	rc = load_chunks(&l);
	free(l.module_of);
	free(l.numbers);
	free(l.bias);
	return rc;
}

/* The counts of a trace, in the place of the trace. */
static int load_trace(struct loading *to, const struct container *of,
                      const struct profile_options *options,
                      struct cairn_err *err)
{
	struct bytes b = {0};
	struct container c;
	int rc = options->untrace(of->name, options, &b, err);

	if (!rc)
		rc = container_parse(&c, of->name, b.data, b.n, CONTAINER_WHOLE,
		                     err);
	if (!rc) {
		rc = load_container(to, &c, of, options, err);
		container_release(&c);
	}
	bytes_release(&b);
	return rc;
}

static enum container_mode mode_of(const struct profile_options *o)
{
	return o->partial ? CONTAINER_PARTIAL : CONTAINER_WHOLE;
}

int loading_file(struct loading *to, const char *path,
                 const struct profile_options *options, bool all_traces,
                 struct cairn_err *err)
{
	struct container c;
	int rc;

	CAIRN_TRY(container_read(&c, path, mode_of(options), err));
	if (options->untrace && (all_traces || is_trace(&c)))
		rc = load_trace(to, &c, options, err);
	else
		rc = load_container(to, &c, &c, options, err);
	container_release(&c);
	return rc;
}

int loading_counts(struct loading *to, const char *path,
                   const struct profile_options *options, struct cairn_err *err)
{
	struct container c;
	int rc = CAIRN_E_FOREIGN;

	CAIRN_TRY(container_read_plain(&c, path, mode_of(options), err));
	if (!(c.flags & CAIRN_FILE_RECORDING) &&
	    !(options->untrace && is_trace(&c)))
		rc = load_container(to, &c, &c, options, err);
	container_release(&c);
	return rc;
}
