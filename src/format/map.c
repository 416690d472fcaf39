/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of the map section (abi/map.h, docs/FORMAT.md section 5).
 *
 * Records are read in order through a cursor that cannot leave its bytes; each
 * thing read is appended to a vector, so that memory grows with bytes that are
 * really there and never with a number that a file claims.
 *
 * Invariant: a function is in map->functions only if everything it refers to
 * was checked; ranges of earlier functions never change.
 * Breaks when: the section was cut or edited; the blob's crc32c and the checks
 * of every index find that.
 * Cost: O(bytes) to parse, O(n log n) in the number of functions to find
 * duplicates.
 */
#include "format/map.h"

#include "abi/crc32c.h"
#include "abi/map.h"
#include "abi/record.h"
#include "abi/rt.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY "build the program again"

/* No function has as many paths as this: it would have been cut. */
#define PATHS_END ((uint64_t)1 << 60)

struct parser {
	struct map *map;
	const unsigned char *data;
	const char *name;
	struct cairn_err *err;
	uint64_t at;      /* of the record */
	uint32_t version; /* of the blob */
	bool is_outdated; /* it has pairs that are no longer read */
	struct cursor c;
	struct map_function f;
	uint32_t *files; /* of the function: its file numbers to strings */
	uint32_t nfiles, files_cap;
	int64_t line; /* the line before, for deltas */
	/* of a function of a recording, until all units are known */
	const unsigned char *unit;
	struct wants_unit {
		uint32_t function;
		const unsigned char *id;
	} * wants;
	uint32_t nwants, wants_cap;
};

static int corrupt(struct parser *p, const char *what)
{
	return cairn_corrupt(p->err, p->name, p->at,
	                     "in the map record: %s; " REMEDY, what);
}

/* A number below `limit`; anything else marks the cursor. */
static uint32_t read_below(struct parser *p, uint64_t limit)
{
	uint64_t v = cursor_uv(&p->c);

	if (v >= limit)
		p->c.bad = true;
	return p->c.bad ? 0 : (uint32_t)v;
}

/* 0, or 1 + a number below `limit`. */
static uint32_t read_option(struct parser *p, uint32_t limit)
{
	uint32_t v = read_below(p, (uint64_t)limit + 1);

	return v ? v - 1 : MAP_NONE;
}

static uint32_t read_string(struct parser *p)
{
	size_t n;
	const char *s = cursor_str(&p->c, &n);

	if (s && memchr(s, '\0', n))
		p->c.bad = true;
	return p->c.bad ? 0 : strtab_add(&p->map->strings, s, n);
}

/* 0, or 1 + the index of a file of the blob: as a string of the map. */
static uint32_t read_file(struct parser *p)
{
	uint32_t file = read_option(p, p->nfiles);

	return file == MAP_NONE || p->c.bad ? MAP_NONE : p->files[file];
}

static void read_instance(struct parser *p)
{
	struct map *m = p->map;
	uint32_t n = m->ninstances - p->f.first_instance;
	struct map_instance i = {.name = read_string(p), .file = MAP_NONE};

	if (p->version > CAIRN_BLOB_VERSION_OLD) {
		i.file = read_file(p);
		i.line = read_below(p, UINT32_MAX);
		i.parent = read_below(p, (uint64_t)n + 1);
		i.call_line = read_below(p, UINT32_MAX);
	}
	VEC_RESERVE(m->instances, m->ninstances, m->instances_cap);
	m->instances[m->ninstances++] = i;
}

static void read_aliases(struct parser *p)
{
	struct map *m = p->map;

	p->f.first_alias = m->naliases;
	if (!(p->f.flags & CAIRN_FN_ALIASES))
		return;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(m->aliases, m->naliases, m->aliases_cap);
		m->aliases[m->naliases++] = read_string(p);
		p->f.naliases++;
	}
}

static int read_head(struct parser *p)
{
	struct map_function *f = &p->f;

	f->flags = read_below(p, UINT32_MAX);
	f->name = read_string(p);
	read_aliases(p);
	f->reason = read_string(p);
	f->hash = cursor_u64(&p->c);
	p->nfiles = 0;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(p->files, p->nfiles, p->files_cap);
		p->files[p->nfiles++] = read_string(p);
	}
	f->file = read_file(p);
	f->line = read_below(p, UINT32_MAX);
	f->first_instance = p->map->ninstances;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--)
		read_instance(p);
	f->ninstances = p->map->ninstances - f->first_instance;
	return p->c.bad ? corrupt(p, "its names end early") : 0;
}

static uint32_t read_places(struct parser *p)
{
	struct map *m = p->map;
	uint32_t first = m->nplaces;

	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(m->places, m->nplaces, m->places_cap);
		m->places[m->nplaces++] = read_below(p, UINT32_MAX);
	}
	return m->nplaces - first;
}

static void read_line(struct parser *p)
{
	struct map *m = p->map;
	struct map_line l = {0};

	l.instance = read_below(p, (uint64_t)p->f.ninstances + 1);
	l.file = read_below(p, p->nfiles);
	if (__builtin_add_overflow(p->line, cursor_sv(&p->c), &p->line) ||
	    p->line < 0 || p->line > INT32_MAX)
		p->c.bad = true;
	if (p->version > CAIRN_BLOB_VERSION_OLD)
		l.ninstructions = read_below(p, UINT32_MAX);
	l.first_place = m->nplaces;
	if (p->version >= CAIRN_BLOB_VERSION_PLACES)
		l.nplaces = read_places(p);
	if (p->c.bad)
		return;
	l.line = (uint32_t)p->line;
	l.file = p->files[l.file];
	VEC_RESERVE(m->lines, m->nlines, m->lines_cap);
	m->lines[m->nlines++] = l;
}

static void read_segment(struct parser *p)
{
	struct map *m = p->map;
	struct map_segment s = {.first_line = m->nlines};

	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--)
		read_line(p);
	s.nlines = m->nlines - s.first_line;
	VEC_RESERVE(m->segments, m->nsegments, m->segments_cap);
	m->segments[m->nsegments++] = s;
}

/* Of an older map: the line that the block ends with. */
static uint32_t last_line(const struct map *m, const struct map_block *b)
{
	for (uint32_t s = m->nsegments; s-- > b->first_segment;) {
		const struct map_segment *g = &m->segments[s];

		for (uint32_t i = g->nlines; i-- > 0;)
			if (m->lines[g->first_line + i].line)
				return g->first_line + i;
	}
	return MAP_NONE;
}

/* Which line of the last segment the branch is on. */
static uint32_t read_branch(struct parser *p, const struct map_block *b)
{
	const struct map_segment *last;
	uint32_t n;

	if (p->c.bad)
		return MAP_NONE;
	if (p->version < CAIRN_BLOB_VERSION_PLACES)
		return last_line(p->map, b);
	last = &p->map->segments[p->map->nsegments - 1];
	n = read_below(p, (uint64_t)last->nlines + 1);
	return n ? last->first_line + n - 1 : MAP_NONE;
}

static void read_block(struct parser *p)
{
	struct map *m = p->map;
	struct map_block b = {.first_segment = m->nsegments};
	uint64_t nsegments;

	b.flags = read_below(p, UINT32_MAX);
	b.ninstructions = read_below(p, UINT32_MAX);
	b.counter = read_option(p, p->f.ncounters);
	nsegments = cursor_uv(&p->c);
	if (!nsegments)
		p->c.bad = true;
	for (; nsegments && !p->c.bad; nsegments--)
		read_segment(p);
	b.nsegments = m->nsegments - b.first_segment;
	b.branch = read_branch(p, &b);
	VEC_RESERVE(m->blocks, m->nblocks, m->blocks_cap);
	m->blocks[m->nblocks++] = b;
}

static int read_blocks(struct parser *p)
{
	struct map *m = p->map;
	uint64_t n = cursor_uv(&p->c);

	p->f.first_block = m->nblocks;
	p->line = 0;
	if (n) {
		VEC_RESERVE(m->blocks, m->nblocks, m->blocks_cap);
		m->blocks[m->nblocks++] =
		        (struct map_block){.counter = MAP_NONE,
		                           .first_segment = m->nsegments,
		                           .branch = MAP_NONE};
		while (--n && !p->c.bad)
			read_block(p);
	}
	p->f.nblocks = m->nblocks - p->f.first_block;
	return p->c.bad ? corrupt(p, "its blocks make no sense") : 0;
}

static int read_edges(struct parser *p)
{
	struct map *m = p->map;

	p->f.first_edge = m->nedges;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		bool first = m->nedges == p->f.first_edge;
		struct map_edge e;

		e.src = read_below(p, p->f.nblocks);
		e.dst = read_below(p, p->f.nblocks);
		e.kind = read_below(p, CAIRN_NEDGE_KINDS);
		e.counter = read_option(p, p->f.ncounters);
		e.weight = cursor_uv(&p->c);
		if ((e.kind == CAIRN_EDGE_ENTRY) != first ||
		    (e.src == 0) != first || (first && e.dst == 0))
			p->c.bad = true;
		VEC_RESERVE(m->edges, m->nedges, m->edges_cap);
		m->edges[m->nedges++] = e;
	}
	p->f.nedges = m->nedges - p->f.first_edge;
	if (p->f.nblocks > 1 && !p->f.nedges)
		p->c.bad = true;
	return p->c.bad ? corrupt(p, "its edges make no sense") : 0;
}

static int read_blob_sites(struct parser *p)
{
	struct map *m = p->map;

	p->f.first_call = m->ncalls;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		struct map_site s = {0};

		s.block = read_below(p, p->f.nblocks);
		if (!s.block) {
			p->c.bad = true;
			break;
		}
		s.segment = read_below(
		        p, m->blocks[p->f.first_block + s.block].nsegments);
		VEC_RESERVE(m->calls, m->ncalls, m->calls_cap);
		m->calls[m->ncalls++] = s;
	}
	p->f.ncalls = m->ncalls - p->f.first_call;
	return p->c.bad ? corrupt(p, "its call sites make no sense") : 0;
}

static void read_outcall(struct parser *p, uint32_t first_callee)
{
	struct map *m = p->map;
	struct map_outcall o = {.block = read_below(p, p->f.nblocks)};

	if (!o.block) {
		p->c.bad = true;
		return;
	}
	o.segment =
	        read_below(p, m->blocks[p->f.first_block + o.block].nsegments);
	o.callee = read_option(p, m->ncallees - first_callee);
	if (o.callee != MAP_NONE)
		o.callee += first_callee;
	o.instance = read_below(p, (uint64_t)p->f.ninstances + 1);
	o.file = read_file(p);
	if (o.file != MAP_NONE) {
		if (__builtin_add_overflow(p->line, cursor_sv(&p->c),
		                           &p->line) ||
		    p->line < 0 || p->line > INT32_MAX)
			p->c.bad = true;
		o.line = p->c.bad ? 0 : (uint32_t)p->line;
	}
	VEC_RESERVE(m->outcalls, m->noutcalls, m->outcalls_cap);
	m->outcalls[m->noutcalls++] = o;
}

/* What is called, then where. */
static int read_outcalls(struct parser *p)
{
	struct map *m = p->map;
	uint32_t first_callee = m->ncallees;

	p->f.first_outcall = m->noutcalls;
	if (p->version <= CAIRN_BLOB_VERSION_OLD)
		return 0;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		struct map_callee c = {.name = read_string(p)};

		c.file = read_file(p);
		c.line = read_below(p, UINT32_MAX);
		VEC_RESERVE(m->callees, m->ncallees, m->callees_cap);
		m->callees[m->ncallees++] = c;
	}
	p->line = 0;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--)
		read_outcall(p, first_callee);
	p->f.noutcalls = m->noutcalls - p->f.first_outcall;
	return p->c.bad ? corrupt(p, "its calls make no sense") : 0;
}

/* What a frame that dies at each site leaves unfinished. */
static void read_pendings(struct parser *p)
{
	for (uint32_t i = 0; i < p->f.ncalls && !p->c.bad; i++) {
		struct map_site *s = &p->map->calls[p->f.first_call + i];

		s->pending = read_below(p, CAIRN_NPENDING_KINDS);
		if (s->pending == CAIRN_PENDING_KNOWN) {
			s->value = cursor_uv(&p->c);
			if (s->value >= p->f.npaths)
				p->c.bad = true;
		} else if (s->pending != CAIRN_PENDING_NOTHING) {
			s->value = (uint64_t)cursor_sv(&p->c);
			if (s->pending == CAIRN_PENDING_ADDRESS &&
			    p->f.npaths > CAIRN_PATH_MODULUS_MAX)
				p->c.bad = true;
		}
	}
}

/* Counters of a function that counts paths are for nothing else. */
static bool has_path_counters(const struct parser *p)
{
	const struct map *m = p->map;
	uint64_t more;

	for (uint32_t i = 0; i < p->f.nedges; i++)
		if (m->edges[p->f.first_edge + i].counter != MAP_NONE)
			return false;
	for (uint32_t i = 0; i < p->f.nblocks; i++)
		if (m->blocks[p->f.first_block + i].counter != MAP_NONE)
			return false;
	if (p->f.paths == CAIRN_PATHS_RECORD)
		return true; /* they are cells */
	if (CAIRN_PATHS_ARE_TRACED(p->f.paths))
		return !p->f.ncounters;
	if (p->f.paths == CAIRN_PATHS_DIRECT && p->f.pairs)
		return p->f.ncounters - p->f.ncells - p->f.nrow_counters >=
		               p->f.npaths &&
		       !p->f.nturns;
	if (p->f.paths == CAIRN_PATHS_DIRECT)
		return p->f.ncounters == p->f.npaths && !p->f.nturns;
	more = CAIRN_TABLE_WORDS;
	if (p->f.paths == CAIRN_PATHS_PREFERRED)
		more += (uint64_t)p->f.slots_size + 1;
	if (p->f.paths == CAIRN_PATHS_RESIDUAL) /* 0: all paths are tested */
		return (!p->f.ncounters || p->f.ncounters == more) &&
		       !p->f.nturns;
	/* a turn has at least one counter */
	more += p->f.ncells + p->f.nrow_counters;
	return p->f.ncounters >= more + p->f.nturns &&
	       (p->f.nturns || p->f.ncounters == more);
}

/* Interesting paths; each has a slot of its own. */
static void read_slots(struct parser *p)
{
	struct map *m = p->map;
	uint64_t number = 0, size = cursor_uv(&p->c), n = cursor_uv(&p->c);
	bool *taken;

	if (size > UINT32_MAX / 16 || n > size || p->c.bad) {
		p->c.bad = true;
		return;
	}
	taken = xcalloc(size + 1, sizeof(*taken));
	p->f.slots_size = (uint32_t)size;
	for (uint64_t i = 0; i < n && !p->c.bad; i++) {
		uint64_t step = cursor_uv(&p->c);
		uint32_t slot = read_below(p, (uint32_t)size);

		if ((i && !step) || step >= p->f.npaths - number || p->c.bad ||
		    taken[slot]) {
			p->c.bad = true;
			break;
		}
		number += step;
		taken[slot] = true;
		VEC_RESERVE(m->slots, m->nslots, m->slots_cap);
		m->slots[m->nslots++] = (struct map_slot){number, slot};
	}
	free(taken);
	p->f.nslots = m->nslots - p->f.first_slot;
}

/* Loops that count their turns, by their heads. */
static void read_turns(struct parser *p)
{
	struct map *m = p->map;

	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		uint32_t head = read_below(p, p->f.nblocks);

		if (!head)
			p->c.bad = true;
		VEC_RESERVE(m->turns, m->nturns, m->turns_cap);
		m->turns[m->nturns++] = head;
	}
	p->f.nturns = m->nturns - p->f.first_turn;
	p->f.turn_counter = CAIRN_TABLE_WORDS;
}

/* Calls of a trace; the addresses of callees come behind the probes. */
static void read_traced(struct parser *p)
{
	struct map *m = p->map;

	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		struct map_call call = {.edge = read_below(p, p->f.nedges)};

		call.kind = read_below(p, CAIRN_NCALLS_KINDS);
		VEC_RESERVE(m->traced, m->ntraced, m->traced_cap);
		m->traced[m->ntraced++] = call;
	}
	p->f.ntraced = m->ntraced - p->f.first_traced;
}

/* Where witnesses stand, ascending. */
static void read_witnesses(struct parser *p)
{
	struct map *m = p->map;
	uint64_t slot = 0, nslots = (uint64_t)p->f.nedges + p->f.nblocks;
	uint64_t n = cursor_uv(&p->c);

	for (uint64_t i = 0; i < n && !p->c.bad; i++) {
		uint64_t step = cursor_uv(&p->c);

		if ((i && !step) || step >= nslots - slot) {
			p->c.bad = true;
			break;
		}
		slot += step;
		VEC_RESERVE(m->witnesses, m->nwitnesses, m->witnesses_cap);
		m->witnesses[m->nwitnesses++] = (uint32_t)slot;
	}
	p->f.nwitnesses = m->nwitnesses - p->f.first_witness;
}

/* Of one site; *counter is its first. */
static void read_rows(struct parser *p, struct map_site *s, uint64_t *counter)
{
	struct map *m = p->map;
	uint64_t n = cursor_uv(&p->c), radix;

	s->first_row = m->nrow_sums;
	for (uint64_t i = 0; i < n && !p->c.bad; i++) {
		uint64_t sum = cursor_uv(&p->c);

		VEC_RESERVE(m->row_sums, m->nrow_sums, m->row_sums_cap);
		m->row_sums[m->nrow_sums++] = sum ? sum - 1 : MAP_NO_SUM;
		s->nrows++;
	}
	radix = cursor_uv(&p->c);
	if (*counter > p->f.ncounters || radix > CAIRN_TAG_PATHS + 1) {
		p->c.bad = true;
		return;
	}
	s->radix = (uint32_t)radix;
	s->row_counter = (uint32_t)*counter;
	*counter += CAIRN_ROW_PATHS * n;
}

/* A number above the last one, which is the number before at first. */
static uint32_t read_above(struct parser *p, uint32_t *last, uint32_t end)
{
	uint32_t v = read_below(p, end);

	if (v < *last)
		p->c.bad = true;
	*last = v + 1;
	return v;
}

/* Beginnings of paths, and calls, of which no pairs are counted. */
static void read_left_out(struct parser *p)
{
	struct map *m = p->map;
	uint32_t last = 1; /* the outside is no beginning */

	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(m->left_out, m->nleft_out, m->left_out_cap);
		m->left_out[m->nleft_out++] =
		        read_above(p, &last, p->f.nblocks);
	}
	p->f.nleft_out = m->nleft_out - p->f.first_left_out;
	last = 0;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		uint32_t site = read_above(p, &last, p->f.ncalls);

		if (!p->c.bad)
			m->calls[p->f.first_call + site].left_out = true;
	}
}

/* Cells of the sites whose calls are counted: the last counters.  Rows are
 * before them. */
static void read_cells(struct parser *p)
{
	struct map_site *sites = p->map->calls + p->f.first_call;
	uint64_t end = 0, first;
	uint32_t rows;

	p->f.degree =
	        read_below(p, CAIRN_DEGREE_FIRST + CAIRN_DEGREE_LIMIT + 1);
	p->f.nfirst = cursor_uv(&p->c);
	rows = read_below(p, CAIRN_ROWS_LEFT_OUT + CAIRN_NROWS_KINDS);
	p->f.rows = rows & ~CAIRN_ROWS_LEFT_OUT;
	p->c.bad |= p->f.rows >= CAIRN_NROWS_KINDS;
	p->is_outdated |= p->version < CAIRN_BLOB_VERSION_ROWS;
	if (rows & CAIRN_ROWS_LEFT_OUT)
		read_left_out(p);
	for (uint32_t i = 0; i < p->f.ncalls && !p->c.bad; i++) {
		struct map_site *s = &p->map->calls[p->f.first_call + i];
		uint64_t cell = cursor_uv(&p->c);

		if (cell && (s->left_out || cell != ++p->f.ncells))
			p->c.bad = true;
		s->cell = (uint32_t)cell;
	}
	for (uint32_t i = 0; i < p->f.ncalls && !p->c.bad; i++)
		if (sites[i].cell)
			read_rows(p, &sites[i], &end);
	if (p->c.bad || end + p->f.ncells > p->f.ncounters) {
		p->c.bad = true;
		return;
	}
	first = p->f.ncounters - p->f.ncells - end;
	for (uint32_t i = 0; i < p->f.ncalls; i++)
		sites[i].row_counter += (uint32_t)first;
	p->f.nrow_counters = (uint32_t)end;
}

static void read_numbering(struct parser *p)
{
	struct map *m = p->map;

	p->f.npaths = cursor_uv(&p->c);
	if (!p->f.npaths || p->f.npaths >= PATHS_END)
		p->c.bad = true;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(m->cuts, m->ncuts, m->cuts_cap);
		m->cuts[m->ncuts++] = read_below(p, p->f.nedges);
	}
	p->f.ncuts = m->ncuts - p->f.first_cut;
	read_turns(p);
	if (p->f.paths == CAIRN_PATHS_PREFERRED)
		read_slots(p);
	if (p->f.pairs)
		read_cells(p);
	read_pendings(p);
}

static int read_paths(struct parser *p)
{
	struct map *m = p->map;

	p->f.first_cut = m->ncuts;
	p->f.first_turn = m->nturns;
	p->f.first_left_out = m->nleft_out;
	p->f.first_slot = m->nslots;
	p->f.first_traced = m->ntraced;
	p->f.first_witness = m->nwitnesses;
	p->f.paths = read_below(p, CAIRN_NPATHS_KINDS);
	p->f.pairs = p->f.paths == CAIRN_PATHS_PAIRS ||
	             p->f.paths == CAIRN_PATHS_PAIRS_DIRECT;
	if (p->f.pairs)
		p->f.paths = p->f.paths == CAIRN_PATHS_PAIRS
		                     ? CAIRN_PATHS_HASHED
		                     : CAIRN_PATHS_DIRECT;
	p->unit = NULL;
	if (p->f.paths == CAIRN_PATHS_RECORD) {
		p->unit = cursor_take(&p->c, CAIRN_UNIT_ID);
		p->f.unit_index = read_below(p, UINT32_MAX);
		if (p->c.bad)
			return corrupt(p, "its unit makes no sense");
	}
	if (p->f.paths == CAIRN_PATHS_WITNESS)
		read_witnesses(p);
	else if (p->f.paths != CAIRN_PATHS_NONE)
		read_numbering(p);
	if (CAIRN_PATHS_ARE_TRACED(p->f.paths))
		read_traced(p);
	if (p->c.bad)
		return corrupt(p, "its paths make no sense");
	if (p->f.paths != CAIRN_PATHS_NONE && !has_path_counters(p))
		return corrupt(p, "its counters are not those of its paths");
	return 0;
}

/* A copy of a function, or a call of one. */
static struct map_copy read_copy(struct parser *p, uint32_t nparents)
{
	struct map_copy c;

	c.parent = read_below(p, (uint64_t)nparents + 1);
	c.block = read_below(p, UINT32_MAX);
	c.name = read_string(p);
	c.file = read_string(p);
	c.hash = 0;
	return c;
}

static void read_origins(struct parser *p, struct map_block *b)
{
	struct map *m = p->map;

	b->first_origin = m->norigins;
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		struct map_origin o;

		o.copy = read_below(p, (uint64_t)p->f.ncopies + 1);
		o.block = read_below(p, UINT32_MAX);
		VEC_RESERVE(m->origins, m->norigins, m->origins_cap);
		m->origins[m->norigins++] = o;
	}
	b->norigins = m->norigins - b->first_origin;
}

/* What the function was before calls were inlined into it. */
static int read_copies(struct parser *p)
{
	struct map *m = p->map;

	p->f.first_copy = m->ncopies;
	p->f.first_left = m->nlefts;
	if (!(p->f.flags & CAIRN_FN_SEGMENTS))
		return 0;
	p->f.traced_hash = cursor_u64(&p->c);
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(m->copies, m->ncopies, m->copies_cap);
		m->copies[m->ncopies] = read_copy(p, p->f.ncopies++);
		m->copies[m->ncopies++].hash = cursor_u64(&p->c);
	}
	for (uint64_t n = cursor_uv(&p->c); n && !p->c.bad; n--) {
		VEC_RESERVE(m->lefts, m->nlefts, m->lefts_cap);
		m->lefts[m->nlefts++] = read_copy(p, p->f.ncopies);
		p->f.nlefts++;
	}
	for (uint32_t b = 1; b < p->f.nblocks && !p->c.bad; b++)
		read_origins(p, &m->blocks[p->f.first_block + b]);
	return p->c.bad ? corrupt(p, "what was inlined makes no sense") : 0;
}

static int read_blob(struct parser *p)
{
	uint64_t version = cursor_uv(&p->c);
	int rc;

	if (!p->c.bad && version &&
	    (version < CAIRN_BLOB_VERSION_OLD || version > CAIRN_BLOB_VERSION))
		return cairn_fail(p->err, CAIRN_E_VERSION,
		                  "%s: has a map of version %" PRIu64
		                  ", this cairn reads versions %u to %u; use "
		                  "the cairn that belongs to the cairn-cc that "
		                  "built it",
		                  p->name, version, CAIRN_BLOB_VERSION_OLD,
		                  CAIRN_BLOB_VERSION);
	if (p->c.bad || !version)
		return corrupt(p, "no such version");
	p->version = (uint32_t)version;
	CAIRN_TRY(read_head(p));
	CAIRN_TRY(read_blocks(p));
	CAIRN_TRY(read_edges(p));
	CAIRN_TRY(read_blob_sites(p));
	CAIRN_TRY(read_outcalls(p));
	rc = read_paths(p);
	if (p->is_outdated)
		return cairn_fail(
		        p->err, CAIRN_E_VERSION,
		        "%s: has pairs of paths in a map of version "
		        "%u, this cairn reads them from version %u on; "
		        "build the program again",
		        p->name, p->version, CAIRN_BLOB_VERSION_ROWS);
	CAIRN_TRY(rc);
	CAIRN_TRY(read_copies(p));
	if (p->c.p != p->c.end)
		return corrupt(p, "bytes are left over");
	if ((p->f.flags & CAIRN_FN_NOT_COVERED) &&
	    (p->f.nblocks || p->f.ncalls || p->f.ncounters || p->f.noutcalls))
		return corrupt(p, "a function that is not covered has blocks");
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct map_probe *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The two tables of addresses that follow the blob. */
static int read_addresses(struct parser *p, uint32_t nsites, uint32_t nprobes)
{
	struct map *m = p->map;

	p->f.first_site = m->nsites;
	p->f.nsites = nsites;
	for (; nsites; nsites--) {
		uint32_t offset = cursor_u32(&p->c);
		uint32_t site = cursor_u32(&p->c);

		if (site >= p->f.ncalls)
			return corrupt(p, "an address names no call site");
		VEC_RESERVE(m->sites, m->nsites, m->sites_cap);
		m->sites[m->nsites] = m->calls[p->f.first_call + site];
		m->sites[m->nsites++].offset = offset;
	}
	p->f.first_probe = m->nprobes;
	p->f.nprobes = nprobes;
	for (uint32_t i = 0; i < nprobes; i++) {
		uint32_t offset = cursor_u32(&p->c);
		uint32_t what = cursor_u32(&p->c);

		if (what != CAIRN_PROBE_UNKNOWN &&
		    what >= 2 * (uint64_t)p->f.nblocks + p->f.nedges)
			return corrupt(p, "an address names no block");
		VEC_RESERVE(m->probes, m->nprobes, m->probes_cap);
		m->probes[m->nprobes++] = (struct map_probe){offset, what, i};
	}
	if (p->f.nprobes)
		qsort(m->probes + p->f.first_probe, p->f.nprobes,
		      sizeof(*m->probes), by_offset);
	return 0;
}

static int read_callees(struct parser *p)
{
	struct map_call *calls = p->map->traced + p->f.first_traced;
	struct map_site *sites = p->map->calls + p->f.first_call;

	for (uint32_t i = 0; i < p->f.ntraced; i++)
		if (calls[i].kind != CAIRN_CALLS_ANYTHING)
			calls[i].callee = cursor_u64(&p->c);
	for (uint32_t i = 0; p->f.pairs && i < p->f.ncalls; i++)
		if (sites[i].nrows || sites[i].radix)
			sites[i].callee = cursor_u64(&p->c);
	return p->c.bad ? corrupt(p, "its callees end early") : 0;
}

/* What the linker leaves of a function that it dropped: addresses of 0. */
static bool is_dropped(const struct map_function *f)
{
	return !f->address && !f->counters;
}

static int read_record(struct parser *p, const unsigned char *r, uint32_t size)
{
	struct map *m = p->map;
	uint32_t nblob = get_le32(r + CAIRN_REC_NBLOB);
	uint32_t nsites = get_le32(r + CAIRN_REC_NSITES);
	uint32_t nprobes = get_le32(r + CAIRN_REC_NPROBES);
	const unsigned char *blob = r + CAIRN_MAP_HEAD_SIZE;

	if (CAIRN_MAP_HEAD_SIZE + (uint64_t)nblob + 8 * (uint64_t)nsites +
	            8 * (uint64_t)nprobes >
	    size)
		return corrupt(p, "its parts are longer than the record");
	if (crc32c(0, blob, nblob) != get_le32(r + CAIRN_REC_BLOB_CRC))
		return corrupt(p, "its checksum is wrong");
	p->f = (struct map_function){
	        .address = get_le64(r + CAIRN_REC_FUNC),
	        .counters = get_le64(r + CAIRN_REC_COUNTERS),
	        .ncounters = get_le32(r + CAIRN_REC_NCOUNTERS),
	        .code_size = get_le32(r + CAIRN_REC_CODE_SIZE),
	        .record = (size_t)(r - p->data),
	        .record_size = size,
	};
	if (is_dropped(&p->f))
		return 0;
	p->c = (struct cursor){blob, blob + nblob, false};
	CAIRN_TRY(read_blob(p));
	p->c = (struct cursor){blob + nblob, r + size, false};
	CAIRN_TRY(read_addresses(p, nsites, nprobes));
	CAIRN_TRY(read_callees(p));
	if (p->unit) {
		VEC_RESERVE(p->wants, p->nwants, p->wants_cap);
		p->wants[p->nwants++] =
		        (struct wants_unit){m->nfunctions, p->unit};
	}
	VEC_RESERVE(m->functions, m->nfunctions, m->functions_cap);
	m->functions[m->nfunctions++] = p->f;
	return 0;
}

/* Sites of code that was marked before inlining (abi/map.h). */
static int read_sites_record(struct parser *p, const unsigned char *r,
                             uint32_t size)
{
	struct map *m = p->map;
	uint32_t n = get_le32(r + CAIRN_SITES_N);
	uint64_t code = get_le64(r + CAIRN_SITES_FUNC);

	if (size < CAIRN_SITES_HEAD_SIZE ||
	    (size - CAIRN_SITES_HEAD_SIZE) / CAIRN_SITES_ENTRY_SIZE < n)
		return corrupt(p, "its parts are longer than the record");
	if (!code)
		return 0; /* dropped by the linker */
	VEC_RESERVE(m->codes, m->ncodes, m->codes_cap);
	m->codes[m->ncodes++] =
	        (struct map_code){code, get_le32(r + CAIRN_SITES_CODE_SIZE)};
	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *e =
		        r + CAIRN_SITES_HEAD_SIZE + i * CAIRN_SITES_ENTRY_SIZE;

		VEC_RESERVE(m->far_sites, m->nfar_sites, m->far_sites_cap);
		m->far_sites[m->nfar_sites++] = (struct map_far_site){
		        .pc = code + get_le32(e),
		        .id = get_le32(e + 4),
		        .counters = get_le64(e + 8),
		};
	}
	return 0;
}

static int by_counters(const void *a, const void *b)
{
	const struct map_function *x = *(struct map_function *const *)a;
	const struct map_function *y = *(struct map_function *const *)b;

	if (x->counters != y->counters)
		return x->counters < y->counters ? -1 : 1;
	return x->record < y->record ? -1 : x->record > y->record;
}

static int compare_counters(const void *key, const void *member)
{
	uint64_t x = *(const uint64_t *)key;
	uint64_t y = (*(struct map_function *const *)member)->counters;

	return x < y ? -1 : x > y;
}

/* Finds the functions that far sites belong to, once all are read. */
static int resolve_far_sites(struct parser *p)
{
	struct map *m = p->map;
	struct map_function **sorted =
	        xmalloc(m->nfunctions * sizeof(struct map_function *));
	size_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < m->nfunctions; i++)
		if (m->functions[i].ncounters)
			sorted[n++] = &m->functions[i];
	qsort(sorted, n, sizeof(*sorted), by_counters);
	for (uint32_t i = 0; i < m->nfar_sites && !rc; i++) {
		struct map_far_site *s = &m->far_sites[i];
		struct map_function **f =
		        bsearch(&s->counters, sorted, n, sizeof(*sorted),
		                compare_counters);
		const struct map_site *call;

		if (!f || s->id >= (*f)->ncalls) {
			rc = corrupt(p, "an address names no call site");
			break;
		}
		s->function = (uint32_t)(*f - m->functions);
		call = &m->calls[(*f)->first_call + s->id];
		s->block = call->block;
		s->segment = call->segment;
		s->pending = call->pending;
		s->value = call->value;
	}
	free(sorted);
	return rc;
}

/* What a unit of a recording defines (abi/record.h). */
static int read_unit_record(struct parser *p, const unsigned char *r,
                            uint32_t size)
{
	struct map *m = p->map;
	struct map_unit u = {.first_address = m->naddresses};

	if (size < CAIRN_UNIT_HEAD ||
	    (size - CAIRN_UNIT_HEAD) / 8 != get_le32(r + CAIRN_UNIT_N))
		return corrupt(p, "its addresses are longer than the record");
	memcpy(u.id, r + CAIRN_UNIT_AT_ID, sizeof(u.id));
	u.naddresses = get_le32(r + CAIRN_UNIT_N);
	u.nlinked = get_le32(r + CAIRN_UNIT_NLINKED);
	if (u.nlinked > u.naddresses)
		return corrupt(p, "it has more functions of others than all");
	for (uint32_t i = 0; i < u.naddresses; i++) {
		VEC_RESERVE(m->addresses, m->naddresses, m->addresses_cap);
		m->addresses[m->naddresses++] =
		        get_le64(r + CAIRN_UNIT_HEAD + 8 * (size_t)i);
	}
	VEC_RESERVE(m->units, m->nunits, m->units_cap);
	m->units[m->nunits++] = u;
	return 0;
}

static bool defines(const struct map *m, const struct map_unit *u,
                    uint64_t address)
{
	for (uint32_t i = 0; i < u->naddresses - u->nlinked; i++)
		if (m->addresses[u->first_address + i] == address)
			return true;
	return false;
}

static int compare_ids(const void *a, const void *b)
{
	const struct map_unit *x = a, *y = b;
	int by_id = memcmp(x->id, y->id, sizeof(x->id));

	if (by_id)
		return by_id;
	return x->first_address < y->first_address
	               ? -1
	               : x->first_address > y->first_address;
}

/* The unit of a function: of those with the id, which can be several if the
 * same was linked twice, the first that defines it.  If another function has
 * taken its place none does, and nobody calls it: then it is any of these. */
static uint32_t find_unit(const struct map *m, const unsigned char *id,
                          uint64_t address)
{
	uint32_t low = 0, high = m->nunits, first;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (memcmp(m->units[middle].id, id, CAIRN_UNIT_ID) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	first = low;
	for (; low < m->nunits && !memcmp(m->units[low].id, id, CAIRN_UNIT_ID);
	     low++)
		if (defines(m, &m->units[low], address))
			return low;
	return low > first ? first : MAP_NONE;
}

/* Finds the units of functions, once all are read, and before functions that
 * are there twice are dropped. */
static int resolve_units(struct parser *p)
{
	struct map *m = p->map;

	qsort(m->units, m->nunits, sizeof(*m->units), compare_ids);
	for (uint32_t i = 0; i < p->nwants; i++) {
		struct map_function *f = &m->functions[p->wants[i].function];

		f->unit = find_unit(m, p->wants[i].id, f->address);
		if (f->unit == MAP_NONE) {
			p->at = f->record;
			return corrupt(p, "its unit is not there");
		}
	}
	return 0;
}

/* Checksums of source files. */
static int read_sources_record(struct parser *p, const unsigned char *r,
                               uint32_t size)
{
	struct map *m = p->map;
	const unsigned char *list = r + CAIRN_SOURCES_HEAD_SIZE;
	uint32_t n = get_le32(r + CAIRN_SOURCES_N);

	size -= CAIRN_SOURCES_HEAD_SIZE;
	if (crc32c(0, list, size) != get_le32(r + CAIRN_SOURCES_CRC))
		return corrupt(p, "the checksum of its sources is wrong");
	p->c = (struct cursor){list, list + size, false};
	for (; n && !p->c.bad; n--) {
		struct map_source s = {.path = read_string(p)};
		const unsigned char *md5 =
		        cursor_take(&p->c, CAIRN_SOURCES_MD5_SIZE);

		if (!md5)
			break;
		memcpy(s.md5, md5, sizeof(s.md5));
		VEC_RESERVE(m->sources, m->nsources, m->sources_cap);
		m->sources[m->nsources++] = s;
	}
	return p->c.bad || p->c.p != p->c.end
	               ? corrupt(p, "its sources make no sense")
	               : 0;
}

static int by_source(const void *a, const void *b)
{
	const struct map_source *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return memcmp(x->md5, y->md5, sizeof(x->md5));
}

/* In order, each once: all units that include a header name it. */
static void sort_sources(struct map *m)
{
	uint32_t kept = 0;

	qsort(m->sources, m->nsources, sizeof(*m->sources), by_source);
	for (uint32_t i = 0; i < m->nsources; i++)
		if (!kept || by_source(&m->sources[kept - 1], &m->sources[i]))
			m->sources[kept++] = m->sources[i];
	m->nsources = kept;
}

const struct map_source *map_sources_of(const struct map *m, const char *path,
                                        uint32_t *n)
{
	uint32_t string = strtab_find(&m->strings, path, strlen(path));
	uint32_t low = 0, high = m->nsources;

	*n = 0;
	if (string == STRTAB_NONE)
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->sources[middle].path < string)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *n < m->nsources && m->sources[low + *n].path == string)
		++*n;
	return *n ? &m->sources[low] : NULL;
}

static int read_any_record(struct parser *p, const unsigned char *r,
                           uint32_t size)
{
	if (get_le32(r) == CAIRN_SITES_MAGIC)
		return read_sites_record(p, r, size);
	if (get_le32(r) == CAIRN_UNIT_MAGIC)
		return read_unit_record(p, r, size);
	if (get_le32(r) == CAIRN_SOURCES_MAGIC)
		return read_sources_record(p, r, size);
	if (get_le32(r) != CAIRN_MAP_MAGIC)
		return corrupt(p, "no record begins here");
	if (size < CAIRN_MAP_HEAD_SIZE)
		return corrupt(p, "impossible size");
	return read_record(p, r, size);
}

static int read_records(struct parser *p, size_t size)
{
	size_t at = 0;

	while (at < size) {
		const unsigned char *r = p->data + at;
		uint32_t n;

		if (!*r) {
			at++;
			continue;
		}
		p->at = at;
		if (size - at < CAIRN_SITES_HEAD_SIZE)
			return corrupt(p, "it ends within its head");
		n = get_le32(r + CAIRN_REC_SIZE);
		if (n < CAIRN_SITES_HEAD_SIZE || n > size - at)
			return corrupt(p, "impossible size");
		CAIRN_TRY(read_any_record(p, r, n));
		at += n;
	}
	return 0;
}

static bool same_record(const struct parser *p, const struct map_function *f,
                        const struct map_function *g)
{
	return f->record_size == g->record_size &&
	       !memcmp(p->data + f->record, p->data + g->record,
	               f->record_size);
}

/* Marks repeated records (record_size 0) and refuses overlapping counters. */
static int mark_duplicates(struct parser *p, struct map_function **sorted,
                           size_t n)
{
	struct map_function *last = NULL;

	for (size_t i = 0; i < n; i++) {
		struct map_function *f = sorted[i];

		if (last && f->counters - last->counters <
		                    8 * (uint64_t)last->ncounters) {
			if (!same_record(p, last, f)) {
				p->at = f->record;
				return corrupt(p, "another function has the "
				                  "same counters");
			}
			f->record_size = 0;
			continue;
		}
		last = f;
	}
	return 0;
}

static int drop_duplicates(struct parser *p)
{
	struct map *m = p->map;
	struct map_function **sorted =
	        xmalloc(m->nfunctions * sizeof(struct map_function *));
	uint32_t kept = 0;
	size_t n = 0;
	int rc;

	for (uint32_t i = 0; i < m->nfunctions; i++)
		if (m->functions[i].ncounters)
			sorted[n++] = &m->functions[i];
	qsort(sorted, n, sizeof(*sorted), by_counters);
	rc = mark_duplicates(p, sorted, n);
	free(sorted);
	for (uint32_t i = 0; i < m->nfunctions; i++)
		if (m->functions[i].record_size)
			m->functions[kept++] = m->functions[i];
	m->nfunctions = kept;
	return rc;
}

/* Gives every vector an address, so that empty ranges have one. */
static struct map *map_new(void)
{
	struct map *m = xcalloc(1, sizeof(*m));

	VEC_RESERVE(m->functions, 0, m->functions_cap);
	VEC_RESERVE(m->blocks, 0, m->blocks_cap);
	VEC_RESERVE(m->segments, 0, m->segments_cap);
	VEC_RESERVE(m->lines, 0, m->lines_cap);
	VEC_RESERVE(m->places, 0, m->places_cap);
	VEC_RESERVE(m->edges, 0, m->edges_cap);
	VEC_RESERVE(m->sites, 0, m->sites_cap);
	VEC_RESERVE(m->probes, 0, m->probes_cap);
	VEC_RESERVE(m->instances, 0, m->instances_cap);
	VEC_RESERVE(m->callees, 0, m->callees_cap);
	VEC_RESERVE(m->outcalls, 0, m->outcalls_cap);
	VEC_RESERVE(m->calls, 0, m->calls_cap);
	VEC_RESERVE(m->far_sites, 0, m->far_sites_cap);
	VEC_RESERVE(m->codes, 0, m->codes_cap);
	VEC_RESERVE(m->cuts, 0, m->cuts_cap);
	VEC_RESERVE(m->slots, 0, m->slots_cap);
	VEC_RESERVE(m->traced, 0, m->traced_cap);
	VEC_RESERVE(m->turns, 0, m->turns_cap);
	VEC_RESERVE(m->left_out, 0, m->left_out_cap);
	VEC_RESERVE(m->witnesses, 0, m->witnesses_cap);
	VEC_RESERVE(m->units, 0, m->units_cap);
	VEC_RESERVE(m->sources, 0, m->sources_cap);
	VEC_RESERVE(m->addresses, 0, m->addresses_cap);
	VEC_RESERVE(m->copies, 0, m->copies_cap);
	VEC_RESERVE(m->lefts, 0, m->lefts_cap);
	VEC_RESERVE(m->origins, 0, m->origins_cap);
	return m;
}

int map_parse(const unsigned char *data, size_t size, const char *name,
              struct map **out, struct cairn_err *err)
{
	struct parser p = {.data = data, .name = name, .err = err};
	int rc;

	*out = NULL;
	if (size > UINT32_MAX)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "%s: its map has more than 4 GiB", name);
	p.map = map_new();
	rc = read_records(&p, size);
	if (!rc)
		sort_sources(p.map);
	if (!rc)
		rc = resolve_units(&p);
	if (!rc)
		rc = drop_duplicates(&p);
	if (!rc)
		rc = resolve_far_sites(&p);
	free(p.files);
	free(p.wants);
	if (rc)
		map_free(p.map);
	else
		*out = p.map;
	return rc;
}

void map_free(struct map *m)
{
	if (!m)
		return;
	strtab_release(&m->strings);
	free(m->functions);
	free(m->blocks);
	free(m->segments);
	free(m->lines);
	free(m->places);
	free(m->edges);
	free(m->sites);
	free(m->probes);
	free(m->instances);
	free(m->callees);
	free(m->outcalls);
	free(m->row_sums);
	free(m->calls);
	free(m->far_sites);
	free(m->codes);
	free(m->cuts);
	free(m->slots);
	free(m->traced);
	free(m->witnesses);
	free(m->units);
	free(m->sources);
	free(m->addresses);
	free(m->copies);
	free(m->lefts);
	free(m->aliases);
	free(m->origins);
	free(m->turns);
	free(m->left_out);
	free(m);
}

const char *map_string(const struct map *m, uint32_t string)
{
	return string == MAP_NONE ? "" : m->strings.items[string];
}
