/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamped whole program paths: reading the file.
 *
 * The file is mapped.  Opening reads the index, a few bytes per function;
 * loading a function reads its block and no other.  twpp_write.c has the form.
 *
 * Nothing is trusted: sums find damage, and a file that was made to deceive has
 * every number checked before it is used.  Room is made for what the bytes can
 * hold, at least one for each element, never for what a number claims.
 * Series are checked where they are read (twpp_trail.c).
 *
 * Cost: open O(functions); load O(block of the function).
 */
#include "analysis/twpp_file.h"

#include "analysis/twpp_builder.h"
#include "analysis/twpp_stamp.h"
#include "base/alloc.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int corrupt(const struct twpp *t, uint64_t offset, const char *what,
                   struct cairn_err *err)
{
	return cairn_corrupt(err, t->name, offset,
	                     "%s; make the file again from its trace", what);
}

static bool take_u32(struct cursor *c, uint32_t *v)
{
	uint64_t wide = cursor_uv(c);

	*v = (uint32_t)wide;
	return wide <= UINT32_MAX;
}

/* A number of elements that have a byte each, at least. */
static bool take_count(struct cursor *c, uint64_t *n)
{
	*n = cursor_uv(c);
	return !c->bad && *n <= (uint64_t)(c->end - c->p);
}

/* --- opening ------------------------------------------------------------ */

static void take_sizes(struct cursor *c, struct twpp_sizes *z)
{
	uint64_t *const all[] = {
	        &z->ncalls,       &z->nblocks,   &z->ntraces,
	        &z->unique_words, &z->dbb_words, &z->stamp_words,
	        &z->dict_words,   &z->dcg_words, &z->dcg_nodes,
	        &z->nodes,        &z->edges,     &z->stamps,
	        &z->runs};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		*all[i] = cursor_uv(c);
}

static bool take_entry(struct cursor *c, struct twpp_entry *e, uint64_t *at)
{
	size_t length;
	const char *name;
	bool fits = take_u32(c, &e->function);

	name = cursor_str(c, &length);
	fits = take_u32(c, &e->nblocks) && fits;
	fits = take_u32(c, &e->nedges) && fits;
	e->ncalls = cursor_uv(c);
	if (e->ncalls) {
		e->ntraces = cursor_uv(c);
		e->size = cursor_uv(c);
		e->dict_size = cursor_uv(c);
		e->sum = cursor_u32(c);
	}
	if (!fits || c->bad || e->dict_size > e->size ||
	    (length && memchr(name, 0, length)))
		return false;
	e->name = length ? xstrndup(name, length) : NULL;
	e->offset = *at;
	return !__builtin_add_overflow(*at, e->size, at);
}

static int by_number(const void *a, const void *b, void *file)
{
	const struct twpp *t = file;
	uint32_t x = t->entries[*(const uint32_t *)a].function;
	uint32_t y = t->entries[*(const uint32_t *)b].function;

	return (x > y) - (x < y);
}

/* False if a function is there twice. */
static bool sort_entries(struct twpp *t)
{
	t->by_function =
	        xcalloc(t->nentries + (size_t)1, sizeof(*t->by_function));
	for (uint32_t i = 0; i < t->nentries; i++)
		t->by_function[i] = i;
	qsort_r(t->by_function, t->nentries, sizeof(*t->by_function), by_number,
	        t);
	for (uint32_t i = 1; i < t->nentries; i++)
		if (!by_number(&t->by_function[i - 1], &t->by_function[i], t))
			return false;
	return true;
}

static bool take_index(struct twpp *t, struct cursor *c, uint64_t begin)
{
	uint64_t n, at = begin;

	take_sizes(c, &t->sizes);
	if (!take_count(c, &n) || n > UINT32_MAX)
		return false;
	t->entries = xcalloc((size_t)n + 1, sizeof(*t->entries));
	for (; t->nentries < n; t->nentries++) {
		struct twpp_entry *e = &t->entries[t->nentries];

		if (!take_entry(c, e, &at)) {
			free(e->name);
			return false;
		}
		t->stored.dictionaries += e->dict_size;
		t->stored.traces += e->size - e->dict_size;
		if (t->nentries && e->ncalls > e[-1].ncalls) {
			free(e->name);
			return false;
		}
	}
	t->stored.total = at;
	return c->p == c->end && at == t->size && sort_entries(t);
}

static int read_head(struct twpp *t, struct cairn_err *err)
{
	struct cursor c = {t->data, t->data + t->size, false};
	const unsigned char *magic = cursor_take(&c, 8), *index;
	uint32_t version = cursor_u32(&c), sum = cursor_u32(&c);
	struct bytes own = {0};
	struct cursor part;
	int rc;

	if (!magic || memcmp(magic, TWPP_MAGIC, 8))
		return cairn_fail(err, CAIRN_E_FOREIGN,
		                  "%s is no timestamped whole program path; "
		                  "cairn twpp --save FILE makes one of a trace",
		                  t->name);
	if (!c.bad && version != TWPP_VERSION)
		return cairn_fail(err, CAIRN_E_VERSION,
		                  "%s has version %u, this cairn reads %d; "
		                  "make it again from its trace",
		                  t->name, version, TWPP_VERSION);
	cursor_u32(&c);
	t->stored.header = cursor_u64(&c);
	t->stored.graph = cursor_u64(&c);
	index = cursor_take(&c, t->stored.header);
	cursor_take(&c, t->stored.graph);
	if (c.bad || twpp_sum(index, (size_t)t->stored.header) != sum)
		return corrupt(t, 0, "the header is damaged or cut off", err);
	c = (struct cursor){index, index + t->stored.header, false};
	rc = twpp_part_take(&c, &t->zip, t->name, &own, &part, err);
	if (rc)
		return rc;
	t->stored.header += TWPP_HEAD;
	rc = take_index(t, &part, t->stored.header + t->stored.graph)
	             ? 0
	             : corrupt(t, TWPP_HEAD, "its index does not fit the file",
	                       err);
	bytes_release(&own);
	return rc;
}

int twpp_open_bytes(struct twpp *t, const unsigned char *data, size_t size,
                    const char *name, struct cairn_err *err)
{
	int rc;

	*t = (struct twpp){.name = xstrdup(name), .size = size};
	t->data = size ? data : (const unsigned char *)"";
	rc = read_head(t, err);
	if (rc)
		twpp_close(t);
	return rc;
}

static int map_file(const char *path, unsigned char **data, size_t *size,
                    struct cairn_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	void *p = NULL;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st) < 0) {
		rc = cairn_fail(err, CAIRN_E_SYSTEM, "cannot read %s: %s", path,
		                strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		rc = cairn_fail(err, CAIRN_E_FOREIGN,
		                "%s is no regular file; give the file that "
		                "cairn twpp --save wrote",
		                path);
	} else if (st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
		         0);
		if (p == MAP_FAILED)
			rc = cairn_fail(err, CAIRN_E_SYSTEM,
			                "cannot map %s: %s", path,
			                strerror(errno));
		*size = (size_t)st.st_size;
	}
	*data = p;
	if (fd >= 0)
		close(fd);
	return rc;
}

int twpp_open(struct twpp *t, const char *path, struct cairn_err *err)
{
	unsigned char *data;
	size_t size = 0;
	int rc = map_file(path, &data, &size, err);

	if (rc)
		return rc;
	rc = twpp_open_bytes(t, data, size, path, err);
	if (!rc)
		t->is_mapped = true;
	else if (size)
		munmap(data, size);
	return rc;
}

void twpp_call(struct twpp_entry *e, const char *readable)
{
	free(e->readable);
	e->readable = xstrdup(readable);
}

void twpp_close(struct twpp *t)
{
	for (uint32_t i = 0; i < t->nentries; i++) {
		free(t->entries[i].name);
		free(t->entries[i].readable);
	}
	free(t->entries);
	free(t->by_function);
	free(t->name);
	twpp_zip_release(&t->zip);
	if (t->is_mapped)
		munmap((void *)(uintptr_t)t->data, t->size);
	*t = (struct twpp){0};
}

bool twpp_is_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[8];
	bool is = fd >= 0 && pread(fd, magic, 8, 0) == 8 &&
	          !memcmp(magic, TWPP_MAGIC, 8);

	if (fd >= 0)
		close(fd);
	return is;
}

const struct twpp_entry *twpp_entry(const struct twpp *t, uint32_t function)
{
	uint32_t low = 0, high = t->nentries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct twpp_entry *e =
		        &t->entries[t->by_function[middle]];

		if (e->function == function)
			return e;
		if (e->function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint64_t twpp_calls_within(const struct twpp *t, uint64_t n)
{
	uint64_t ncalls = 0;

	for (uint32_t i = 0; i < t->nentries; i++)
		if (t->entries[i].ntraces <= n)
			ncalls += t->entries[i].ncalls;
	return ncalls;
}

/* --- one function ------------------------------------------------------- */

static bool take_block(struct cursor *c, uint32_t *block)
{
	return take_u32(c, block) && *block && *block < TWPP_BLOCKS;
}

static bool take_dbb(struct twpp_function *f, struct cursor *c)
{
	uint64_t more, first = f->nblocks;

	if (!take_count(c, &more) || first + more + 2 > UINT32_MAX)
		return false;
	for (uint64_t i = 0; i < more + 2; i++) {
		VEC_RESERVE(f->blocks, f->nblocks, f->blocks_cap);
		if (!take_block(c, &f->blocks[f->nblocks]))
			return false;
		f->nblocks++;
	}
	VEC_RESERVE(f->dbbs, f->ndbbs, f->dbbs_cap);
	f->dbbs[f->ndbbs++] =
	        (struct twpp_dbb){(uint32_t)first, (uint32_t)more + 2};
	return true;
}

static bool take_dictionary(struct twpp_function *f, struct cursor *c,
                            struct twpp_dictionary *d)
{
	uint64_t n;

	if (!take_count(c, &n))
		return false;
	*d = (struct twpp_dictionary){f->ndbbs, (size_t)n};
	for (uint64_t i = 0; i < n; i++) {
		const struct twpp_dbb *last;

		if (!take_dbb(f, c))
			return false;
		last = &f->dbbs[f->ndbbs - 1];
		if (i && f->blocks[last->first] <= f->blocks[last[-1].first])
			return false;
	}
	return true;
}

static bool take_dictionaries(struct twpp_function *f, struct cursor *c)
{
	uint64_t n;

	if (!take_count(c, &n))
		return false;
	f->dictionaries = xcalloc((size_t)n + 1, sizeof(*f->dictionaries));
	f->ndictionaries = (size_t)n;
	for (uint64_t i = 0; i < n; i++)
		if (!take_dictionary(f, c, &f->dictionaries[i]))
			return false;
	return c->p == c->end;
}

static bool take_body(struct twpp_function *f, struct cursor *c,
                      struct twpp_body *body)
{
	uint64_t n;

	body->n = cursor_uv(c);
	body->first = f->nnodes;
	if (!take_count(c, &n) || body->n > TWPP_STAMPS)
		return false;
	body->nnodes = (size_t)n;
	for (uint64_t i = 0; i < n; i++) {
		struct twpp_body_node *node;

		VEC_RESERVE(f->nodes, f->nnodes, f->nodes_cap);
		node = &f->nodes[f->nnodes++];
		if (!take_block(c, &node->block))
			return false;
		twpp_string_take(c, &node->series);
		if (c->bad)
			return false;
	}
	return true;
}

/* Bodies of one part, behind those that are there. */
static bool take_bodies(struct twpp_function *f, struct cursor *c)
{
	size_t first = f->nbodies;
	uint64_t n;

	if (!take_count(c, &n))
		return false;
	f->bodies =
	        xrealloc(f->bodies, first + (size_t)n + 1, sizeof(*f->bodies));
	for (uint64_t i = 0; i < n; i++)
		if (!take_body(f, c, &f->bodies[f->nbodies++]))
			return false;
	return true;
}

static bool take_traces(struct twpp_function *f, struct cursor *c)
{
	uint64_t n, ncalls = 0;

	if (!take_count(c, &n) || n != f->entry->ntraces || n > UINT32_MAX)
		return false;
	f->traces = xcalloc((size_t)n + 1, sizeof(*f->traces));
	f->ntraces = (size_t)n;
	for (uint64_t i = 0; i < n; i++) {
		struct twpp_trace *trace = &f->traces[i];

		if (!take_u32(c, &trace->body) ||
		    !take_u32(c, &trace->dictionary) ||
		    trace->dictionary >= f->ndictionaries)
			return false;
		trace->ncalls = cursor_uv(c);
		if (__builtin_add_overflow(ncalls, trace->ncalls, &ncalls))
			return false;
	}
	return !c->bad && c->p == c->end && ncalls == f->entry->ncalls;
}

static bool has_bodies(const struct twpp_function *f)
{
	for (size_t i = 0; i < f->ntraces; i++)
		if (f->traces[i].body >= f->nbodies)
			return false;
	return true;
}

static int load(struct twpp_function *f, struct cursor *c,
                struct cairn_err *err)
{
	struct twpp *t = f->file;
	struct cursor parts[3];

	for (unsigned i = 0; i < 3; i++)
		CAIRN_TRY(twpp_part_take(c, &t->zip, t->name, &f->own[i],
		                         &parts[i], err));
	if (c->p != c->end || !take_dictionaries(f, &parts[0]) ||
	    !take_bodies(f, &parts[1]) || !take_traces(f, &parts[1]) ||
	    !take_bodies(f, &parts[2]) || parts[2].p != parts[2].end ||
	    !has_bodies(f))
		return corrupt(t, f->entry->offset,
		               "the traces of a function make no sense", err);
	return 0;
}

int twpp_function_load(struct twpp *t, const struct twpp_entry *e,
                       struct twpp_function *f, struct cairn_err *err)
{
	const unsigned char *p = t->data + e->offset;
	struct cursor c = {p, p + e->size, false};
	int rc;

	*f = (struct twpp_function){.file = t, .entry = e};
	if (!e->ncalls)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: function %u was not called", t->name,
		                  e->function);
	if (twpp_sum(p, (size_t)e->size) != e->sum)
		return corrupt(t, e->offset,
		               "the traces of a function are damaged", err);
	rc = load(f, &c, err);
	if (rc)
		twpp_function_release(f);
	return rc;
}

void twpp_function_release(struct twpp_function *f)
{
	free(f->traces);
	free(f->bodies);
	free(f->dictionaries);
	free(f->nodes);
	free(f->dbbs);
	free(f->blocks);
	for (unsigned i = 0; i < 3; i++)
		bytes_release(&f->own[i]);
	*f = (struct twpp_function){0};
}

const uint32_t *twpp_node_blocks(const struct twpp_function *f,
                                 const struct twpp_trace *trace,
                                 const struct twpp_body_node *node, size_t *n)
{
	const struct twpp_dictionary *d = &f->dictionaries[trace->dictionary];
	size_t low = d->first, high = d->first + d->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct twpp_dbb *dbb = &f->dbbs[middle];
		uint32_t head = f->blocks[dbb->first];

		if (head == node->block) {
			*n = dbb->length;
			return f->blocks + dbb->first;
		}
		if (head < node->block)
			low = middle + 1;
		else
			high = middle;
	}
	*n = 1;
	return &node->block;
}
