/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one function's traces cost without and with a form that is made for
 * them: tables 4 and 5 of Y. Zhang and R. Gupta, PLDI 2001.
 *
 *     scan raw RAW TWPP LIMIT TRACE...   writes a raw trace, and the
 * timestamped form of just the same scan find RAW FUNCTION...          searches
 * the raw trace scan grammar FILE TRACE...         writes the whole program
 * path as a grammar scan extract FILE FUNCTION...      searches the grammar
 *
 * A raw trace has a word of 4 bytes per executed block, per call and per return
 * (figure 1 of the paper), thread by thread.  It ends with the event that
 * reaches LIMIT bytes, and so does the timestamped form.  Traces must be of one
 * executable.
 *
 * To find a function's traces, one has to know which function each block is of:
 * the scanner keeps a stack of calls, runs over blocks of others as fast as it
 * can read, and copies those of the function.  The file is in the page cache;
 * it is read in pieces that stay in the processor's cache.
 *
 * To find them in a grammar (the paper's comparison with Larus), the grammar is
 * read, and what is left of each rule when all symbols of other functions are
 * struck out is computed, from the first rule to the last.
 *
 * Results are JSON.  Functions are numbers, those of cairn twpp --json.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "analysis/grammar.h"
#include "analysis/sequitur.h"
#include "analysis/traced.h"
#include "analysis/twpp.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/ptrmap.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/writer.h"

#define BATCH 1024

/* Words that are no blocks. */
#define MARK 0x80000000u
#define RETURN 0xffffffffu
#define THREAD 0xfffffffeu
#define END 0xfffffffdu
#define MORE 0xfffffffcu /* of the scanner: read on */

/* Where the scanner copies words to, in turns. */
#define FOUND ((size_t)1 << 20)

/* Words that it reads at a time. */
#define BUFFER ((size_t)1 << 16)

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "scan: %s\n", what);
	exit(2);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* --- traces --------------------------------------------------------------- */

struct input {
	struct profile *profile;
	struct streams streams;
	struct traced traced;
};

static void input_open(struct input *in, const char *path)
{
	struct cairn_err err;

	if (profile_open(&in->profile, &path, 1, NULL, &err) < 0 ||
	    streams_open(&in->streams, path, CONTAINER_WHOLE, &err) < 0 ||
	    traced_init(&in->traced, in->profile, &in->streams, &err) < 0)
		fail(err.text);
}

static void input_close(struct input *in)
{
	traced_release(&in->traced);
	streams_release(&in->streams);
	profile_free(in->profile);
}

/* What is done with events: of a whole file, until it returns false. */
struct sink {
	void *context;
	void (*begin)(void *context, const struct traced *t);
	bool (*take)(void *context, const struct walk_event *e);
};

static bool drain_thread(const struct sink *s, struct input *in, size_t thread)
{
	struct walk_event *events = xcalloc(BATCH, sizeof(*events));
	struct walk_event start = {.kind = WALK_START};
	struct traced_walk w;
	struct cairn_err err;
	bool goes_on = s->take(s->context, &start);
	int rc = 1;

	traced_begin(&w, &in->traced, thread);
	while (rc > 0 && goes_on) {
		size_t n;

		rc = walk_run(&w.walk, events, BATCH, &n, &err);
		for (size_t i = 0; i < n && goes_on; i++)
			goes_on = s->take(s->context, &events[i]);
	}
	if (rc < 0)
		fail(err.text);
	traced_end(&w);
	free(events);
	return goes_on;
}

static void drain(const struct sink *s, char **paths, int n)
{
	bool goes_on = true;

	for (int i = 0; i < n && goes_on; i++) {
		struct input in = {0};

		input_open(&in, paths[i]);
		s->begin(s->context, &in.traced);
		for (size_t k = 0; k < in.streams.nthreads && goes_on; k++)
			goes_on = drain_thread(s, &in, k);
		input_close(&in);
	}
}

/* Functions of the first trace; those of others must be the same. */
struct functions {
	struct twpp_source *of;
	uint32_t n;
};

static void functions_take(struct functions *f, const struct traced *t)
{
	if (!f->of) {
		f->n = t->n;
		f->of = xcalloc((size_t)t->n + 1, sizeof(*f->of));
		for (uint32_t i = 0; i < t->n; i++)
			f->of[i] = (struct twpp_source){
			        .name = xstrdup(traced_name(t, i)),
			        .nblocks = t->functions[i].f->nblocks,
			        .nedges = t->functions[i].f->nedges};
	}
	if (f->n != t->n)
		fail("the traces are of different programs");
	for (uint32_t i = 0; i < t->n; i++)
		if (strcmp(f->of[i].name, traced_name(t, i)) != 0)
			fail("the traces are of different programs");
}

static void functions_release(struct functions *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free((char *)f->of[i].name);
	free(f->of);
}

/* --- raw and timestamped form --------------------------------------------- */

struct raw {
	struct functions functions;
	struct twpp_builder *builder;
	struct twpp_thread *thread;
	uint64_t nthreads, nwords, limit;
	bool is_cut;
	FILE *out;
};

static void put_words(struct raw *r, const uint32_t *words, size_t n)
{
	if (fwrite(words, 4, n, r->out) != n)
		fail("cannot write the raw trace");
	r->nwords += n;
}

static void put_word(struct raw *r, uint32_t word)
{
	put_words(r, &word, 1);
}

static void raw_begin(void *context, const struct traced *t)
{
	functions_take(&((struct raw *)context)->functions, t);
}

static int raw_feed(struct raw *r, const struct walk_event *e,
                    struct cairn_err *err)
{
	uint32_t n;

	switch (e->kind) {
	case WALK_START:
		r->thread = twpp_thread(r->builder, ++r->nthreads);
		put_word(r, THREAD);
		return 0;
	case WALK_ENTER:
	case WALK_FRAME:
		put_word(r, MARK | e->function);
		return twpp_enter(r->thread, e->function, err);
	case WALK_PATH:
		n = walk_nblocks(e);
		put_words(r, e->way->blocks + e->nskipped, n);
		return twpp_blocks(r->thread, e->way->blocks + e->nskipped, n,
		                   err);
	case WALK_LEAVE:
	case WALK_DEATH:
		put_word(r, RETURN);
		return twpp_leave(r->thread, e->kind == WALK_DEATH, err);
	default:
		return 0;
	}
}

static bool raw_take(void *context, const struct walk_event *e)
{
	struct raw *r = context;
	struct cairn_err err;

	if (4 * r->nwords >= r->limit) {
		r->is_cut = true;
		return false;
	}
	if (raw_feed(r, e, &err) < 0)
		fail(err.text);
	return true;
}

static int do_raw(char **argv, int argc)
{
	struct raw r = {.builder = twpp_new()};
	struct sink s = {&r, raw_begin, raw_take};
	struct bytes twpp = {0};
	struct cairn_err err;

	r.limit = strtoull(argv[2], NULL, 10);
	r.out = fopen(argv[0], "wb");
	if (!r.out)
		fail("cannot write the raw trace");
	setvbuf(r.out, NULL, _IOFBF, (size_t)1 << 20);
	drain(&s, argv + 3, argc - 3);
	printf("{\"bytes\": %" PRIu64
	       ", \"is_cut\": %s, \"functions\": %" PRIu32 "}\n",
	       4 * r.nwords, r.is_cut ? "true" : "false", r.functions.n);
	put_word(&r, END);
	if (fclose(r.out))
		fail("cannot write the raw trace");
	if (twpp_finish(r.builder, r.functions.of, r.functions.n, &twpp,
	                &err) ||
	    writer_replace(argv[1], twpp.data, twpp.n, &err))
		fail(err.text);
	twpp_free(r.builder);
	bytes_release(&twpp);
	functions_release(&r.functions);
	return 0;
}

/* --- scanning ------------------------------------------------------------- */

struct scan {
	int fd;
	uint32_t *words; /* a buffer, with MORE behind what is in it */
	uint32_t function;
	uint64_t ncalls, nblocks; /* of it */
	uint32_t *found;
	size_t nfound;
	uint32_t *callers;
	size_t n, cap;
};

static void copy(struct scan *s, uint32_t word)
{
	s->found[s->nfound++ & (FOUND - 1)] = word;
}

/* Blocks up to the next mark; the function that executes them is the one. */
static const uint32_t *copy_blocks(struct scan *s, const uint32_t *p)
{
	const uint32_t *begin = p;

	for (; !(*p & MARK); p++)
		copy(s, *p);
	s->nblocks += (uint64_t)(p - begin);
	return p;
}

static const uint32_t *refill(struct scan *s)
{
	ssize_t n = read(s->fd, s->words, 4 * BUFFER);

	if (n <= 0 || n % 4)
		fail("the raw trace is not complete");
	s->words[n / 4] = MORE;
	return s->words;
}

static void scan_run(struct scan *s)
{
	const uint32_t *p = refill(s);
	uint32_t here = END, word;

	for (;;) {
		if (here == s->function)
			p = copy_blocks(s, p);
		while (!(*p & MARK))
			p++;
		word = *p++;
		if (word == RETURN) {
			if (here == s->function)
				copy(s, word);
			here = s->callers[--s->n];
		} else if (word == MORE) {
			p = refill(s);
		} else if (word == THREAD) {
			s->n = 0;
			here = END;
		} else if (word == END) {
			return;
		} else {
			VEC_RESERVE(s->callers, s->n, s->cap);
			s->callers[s->n++] = here;
			here = word & ~MARK;
			if (here == s->function) {
				copy(s, word);
				s->ncalls++;
			}
		}
	}
}

static int do_find(char **argv, int argc)
{
	struct scan s = {.found = xcalloc(FOUND, 4),
	                 .words = xcalloc(BUFFER + 1, 4)};

	s.fd = open(argv[0], O_RDONLY | O_CLOEXEC);
	if (s.fd < 0)
		fail("cannot read the raw trace");
	printf("[");
	for (int i = 1; i < argc; i++) {
		double begun = now_ms();

		s.function = (uint32_t)strtoul(argv[i], NULL, 10);
		s.ncalls = s.nblocks = s.n = s.nfound = 0;
		if (lseek(s.fd, 0, SEEK_SET))
			fail("cannot read the raw trace");
		scan_run(&s);
		printf("%s{\"function\": %" PRIu32 ", \"ms\": %.3f, "
		       "\"calls\": %" PRIu64 ", \"blocks\": %" PRIu64 "}",
		       i > 1 ? ", " : "", s.function, now_ms() - begun,
		       s.ncalls, s.nblocks);
	}
	printf("]\n");
	close(s.fd);
	free(s.callers);
	free(s.found);
	free(s.words);
	return 0;
}

/* --- grammar -------------------------------------------------------------- */

/* Symbols are ways, calls and returns; each belongs to a function. */
struct whole_path {
	struct functions functions;
	struct sequitur *sequitur;
	struct ptrmap ways;
	uint32_t *marks[2]; /* per function: 0, or 1 + symbol */
	uint32_t *owner;    /* per symbol: its function */
	uint32_t n, owner_cap;
};

static uint32_t add_symbol(struct whole_path *p, uint32_t function)
{
	VEC_RESERVE(p->owner, p->n, p->owner_cap);
	p->owner[p->n] = function;
	return p->n++;
}

static uint32_t mark_symbol(struct whole_path *p, int kind, uint32_t function)
{
	uint32_t *known = &p->marks[kind][function];

	if (!*known)
		*known = 1 + add_symbol(p, function);
	return *known - 1;
}

static uint32_t way_symbol(struct whole_path *p, const struct walk_event *e)
{
	uint32_t symbol = ptrmap_get(&p->ways, e->way);

	if (symbol == PTRMAP_NONE) {
		symbol = add_symbol(p, e->function);
		ptrmap_set(&p->ways, e->way, symbol);
	}
	return symbol;
}

static void path_begin(void *context, const struct traced *t)
{
	struct whole_path *p = context;

	if (p->functions.of)
		fail("a grammar is of one trace");
	functions_take(&p->functions, t);
	for (int i = 0; i < 2; i++)
		p->marks[i] = xcalloc((size_t)t->n + 1, sizeof(**p->marks));
}

static bool path_take(void *context, const struct walk_event *e)
{
	struct whole_path *p = context;

	switch (e->kind) {
	case WALK_ENTER:
	case WALK_FRAME:
		sequitur_push(p->sequitur, mark_symbol(p, 0, e->function));
		break;
	case WALK_PATH:
		sequitur_push(p->sequitur, way_symbol(p, e));
		break;
	case WALK_LEAVE:
	case WALK_DEATH:
		sequitur_push(p->sequitur, mark_symbol(p, 1, e->function));
		break;
	default:
		break;
	}
	return true;
}

/* u32 symbols, their functions as u32, the grammar. */
static void path_write(const struct whole_path *p, const struct grammar *g,
                       const char *path)
{
	struct bytes out = {0};
	struct cairn_err err;
	size_t head;

	bytes_put_u32(&out, p->n);
	for (uint32_t i = 0; i < p->n; i++)
		bytes_put_u32(&out, p->owner[i]);
	head = out.n;
	grammar_write(g, &out);
	if (writer_replace(path, out.data, out.n, &err))
		fail(err.text);
	printf("{\"length\": %" PRIu64 ", \"rules\": %" PRIu32
	       ", \"items\": %zu, \"bytes\": %zu}\n",
	       grammar_length(g), g->nrules, grammar_nitems(g), out.n - head);
	bytes_release(&out);
}

static int do_grammar(char **argv, int argc)
{
	struct whole_path p = {.sequitur = sequitur_new()};
	struct sink s = {&p, path_begin, path_take};
	struct grammar g;
	struct cairn_err err;

	drain(&s, argv + 1, argc - 1);
	if (sequitur_finish(p.sequitur, &g, &err))
		fail(err.text);
	path_write(&p, &g, argv[0]);
	sequitur_free(p.sequitur);
	grammar_release(&g);
	ptrmap_release(&p.ways);
	for (int i = 0; i < 2; i++)
		free(p.marks[i]);
	free(p.owner);
	functions_release(&p.functions);
	return 0;
}

/* --- extraction ----------------------------------------------------------- */

/* What is left of a grammar. */
struct rest {
	struct grammar_item *items;
	size_t nitems, items_cap;
	bool *has;        /* per rule: is anything left? */
	uint64_t *length; /* per rule: symbols that are left */
};

static bool is_left(const struct rest *x, const uint32_t *owner,
                    uint32_t symbol, uint32_t function)
{
	if (grammar_is_rule(symbol))
		return x->has[symbol - GRAMMAR_RULE];
	return owner[symbol] == function;
}

/* The function's part of the grammar; symbols that its traces have. */
static uint64_t extract(const struct grammar *g, const uint32_t *owner,
                        uint32_t function, struct rest *x)
{
	x->nitems = 0;
	for (uint32_t r = 0; r < g->nrules; r++) {
		size_t before = x->nitems;

		x->length[r] = 0;
		for (size_t i = g->first[r]; i < g->first[r + 1]; i++) {
			const struct grammar_item *item = &g->items[i];
			uint32_t symbol = item->symbol;

			if (!is_left(x, owner, symbol, function))
				continue;
			VEC_RESERVE(x->items, x->nitems, x->items_cap);
			x->items[x->nitems++] = *item;
			x->length[r] +=
			        item->times *
			        (grammar_is_rule(symbol)
			                 ? x->length[symbol - GRAMMAR_RULE]
			                 : 1);
		}
		x->has[r] = x->nitems > before;
	}
	return x->length[grammar_start(g)];
}

static void extract_one(const unsigned char *data, size_t size,
                        uint32_t function, bool is_first)
{
	uint32_t nsymbols = (uint32_t)get_le32(data);
	size_t head = 4 + 4 * (size_t)nsymbols;
	struct grammar g;
	struct cairn_err err;
	struct rest x = {0};
	double begun = now_ms(), read;
	uint64_t length;

	if (size < head ||
	    grammar_read(&g, data + head, size - head, "grammar", &err))
		fail("the grammar cannot be read");
	read = now_ms();
	x.has = xcalloc(g.nrules, sizeof(*x.has));
	x.length = xcalloc(g.nrules, sizeof(*x.length));
	length = extract(&g, (const uint32_t *)(const void *)(data + 4),
	                 function, &x);
	printf("%s{\"function\": %" PRIu32 ", \"read_ms\": %.3f, "
	       "\"process_ms\": %.3f, \"symbols\": %" PRIu64 "}",
	       is_first ? "" : ", ", function, read - begun, now_ms() - read,
	       length);
	free(x.items);
	free(x.has);
	free(x.length);
	grammar_release(&g);
}

static const void *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		fail("cannot read the file");
	p = mmap(NULL, (size_t)st.st_size, PROT_READ,
	         MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		fail("cannot map the file");
	close(fd);
	*size = (size_t)st.st_size;
	return p;
}

static int do_extract(char **argv, int argc)
{
	size_t size;
	const unsigned char *data = map_file(argv[0], &size);

	printf("[");
	for (int i = 1; i < argc; i++)
		extract_one(data, size, (uint32_t)strtoul(argv[i], NULL, 10),
		            i == 1);
	printf("]\n");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "raw") && argc > 5)
		return do_raw(argv + 2, argc - 2);
	if (!strcmp(what, "find") && argc > 3)
		return do_find(argv + 2, argc - 2);
	if (!strcmp(what, "grammar") && argc > 3)
		return do_grammar(argv + 2, argc - 2);
	if (!strcmp(what, "extract") && argc > 3)
		return do_extract(argv + 2, argc - 2);
	fail("usage: scan raw|find|grammar|extract FILE ...");
}
