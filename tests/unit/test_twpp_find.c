/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths within and across functions: how they are written, and that exactly
 * those are found which a search of the whole sequence of events finds.
 */
#include "twpps.h"

#include "analysis/twpp_find.h"

#include <inttypes.h>

/* --- how paths are written ---------------------------------------------- */

static const struct twpp_source sources[] = {
        {"main", 9, 12}, {"ns::b2", 5, 5}, {"std::less<T> >::f", 3, 3},
        {"twice", 3, 3}, {"twice", 4, 4},
};

static void open_named(struct twpp *t, struct bytes *file)
{
	struct twpp_builder *b = twpp_new();
	struct twpp_thread *thread = twpp_thread(b, 1);
	struct cairn_err err;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t block = i + 1;

		assert_int_equal(twpp_enter(thread, i, &err), 0);
		assert_int_equal(twpp_blocks(thread, &block, 1, &err), 0);
		assert_int_equal(twpp_leave(thread, false, &err), 0);
	}
	assert_int_equal(twpp_finish(b, sources, 5, file, &err), 0);
	twpp_free(b);
	assert_int_equal(twpp_open_bytes(t, file->data, file->n, "named", &err),
	                 0);
}

static uint32_t function_of(const struct twpp *t, const struct twpp_path *p,
                            size_t part)
{
	return t->entries[p->parts[part].entries[0]].function;
}

static void test_written(void **state)
{
	struct bytes file = {0};
	struct twpp_path p;
	struct cairn_err err;
	struct twpp t;

	(void)state;
	open_named(&t, &file);
	assert_int_equal(twpp_path_parse(&p, &t,
	                                 " main:b2.b17.b3>ns::b2:b1 > "
	                                 "\"std::less<T> >::f\" > #4:b9 ",
	                                 &err),
	                 0);
	assert_int_equal(p.nparts, 4);
	assert_int_equal(function_of(&t, &p, 0), 0);
	assert_int_equal(p.parts[0].nblocks, 3);
	assert_int_equal(p.parts[0].blocks[1], 17);
	assert_int_equal(function_of(&t, &p, 1), 1);
	assert_int_equal(p.parts[1].nblocks, 1);
	assert_int_equal(function_of(&t, &p, 2), 2);
	assert_int_equal(p.parts[2].nblocks, 0);
	assert_int_equal(function_of(&t, &p, 3), 4);
	twpp_path_release(&p);
	assert_int_equal(twpp_path_parse(&p, &t, "ns::b2", &err), 0);
	assert_int_equal(p.parts[0].nblocks, 0);
	twpp_path_release(&p);
	assert_int_equal(twpp_path_parse(&p, &t, "twice:b4", &err), 0);
	assert_int_equal(p.parts[0].nentries, 2);
	twpp_path_release(&p);
	twpp_close(&t);
	bytes_release(&file);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {"",
	                                    ">",
	                                    "main >",
	                                    "main:b1.",
	                                    "main:b1.2",
	                                    "main:b1 b2",
	                                    "\"main",
	                                    "main:b99999999999",
	                                    "\"\"",
	                                    "main:b1..b2",
	                                    "main > > ns::b2"};
	struct bytes file = {0};
	struct twpp_path p;
	struct cairn_err err;
	struct twpp t;

	(void)state;
	open_named(&t, &file);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(twpp_path_parse(&p, &t, texts[i], &err),
		                 CAIRN_E_USAGE);
	assert_int_equal(twpp_path_parse(&p, &t, "other:b1", &err),
	                 CAIRN_E_ABSENT);
	assert_int_equal(twpp_path_parse(&p, &t, "#5", &err), CAIRN_E_ABSENT);
	twpp_close(&t);
	bytes_release(&file);
}

/* Whom a name means; the first number is how many. */
static void assert_meant(const struct twpp *t, const char *name, size_t n,
                         uint32_t function)
{
	struct twpp_path p;
	struct cairn_err err;

	if (!n) {
		assert_int_equal(twpp_path_name(&p, t, name, &err),
		                 CAIRN_E_ABSENT);
		return;
	}
	assert_int_equal(twpp_path_name(&p, t, name, &err), 0);
	assert_int_equal(p.parts[0].nentries, n);
	assert_int_equal(function_of(t, &p, 0), function);
	twpp_path_release(&p);
}

/* Functions of one name in several sources, and C++ names. */
static void test_meant(void **state)
{
	static const struct twpp_source named[] = {
	        {"a.c:help", 3, 3},  {"b.c:help", 3, 3}, {"_Z1fi", 3, 3},
	        {"a.c:_Z1gi", 3, 3}, {"_Z1fl", 3, 3},    {"f", 3, 3}};
	static const char *const readable[] = {NULL,     NULL,      "f(int)",
	                                       "g(int)", "f(long)", NULL};
	struct bytes file = {0};
	struct cairn_err err;
	struct twpp_builder *b = twpp_new();
	struct twpp t;

	(void)state;
	assert_int_equal(twpp_finish(b, named, 6, &file, &err), 0);
	twpp_free(b);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "named", &err),
	                 0);
	for (uint32_t i = 0; i < t.nentries; i++)
		if (readable[t.entries[i].function])
			twpp_call(&t.entries[i],
			          readable[t.entries[i].function]);
	assert_meant(&t, "help", 2, 0);
	assert_meant(&t, "a.c:help", 1, 0);
	assert_meant(&t, "b.c:help", 1, 1);
	assert_meant(&t, "c.c:help", 0, 0);
	assert_meant(&t, "f(int)", 1, 2);
	assert_meant(&t, "f(long)", 1, 4);
	assert_meant(&t, "f", 1, 5); /* its own name comes first */
	assert_meant(&t, "_Z1gi", 1, 3);
	assert_meant(&t, "g", 1, 3);
	assert_meant(&t, "a.c:g", 1, 3);
	assert_meant(&t, "a.c:g(int)", 1, 3);
	assert_meant(&t, "b.c:g", 0, 0);
	assert_meant(&t, "h", 0, 0);
	twpp_close(&t);
	bytes_release(&file);
}

/* --- the oracle --------------------------------------------------------- */

enum { PARTS_MAX = 3, BLOCKS_MAX = 3 };

struct question {
	size_t nparts;
	struct {
		uint32_t function, blocks[BLOCKS_MAX];
		size_t nblocks;
	} parts[PARTS_MAX];
};

/* An activation of the sequence: who called it, when, and its blocks. */
struct act {
	size_t caller; /* SIZE_MAX: nobody */
	uint32_t function;
	size_t called_at; /* blocks of the caller before */
	uint32_t *blocks;
	uint64_t *when; /* of block i: blocks of the thread, with it */
	uint64_t entered;
	size_t n, cap, when_cap;
};

struct acts {
	struct act *items;
	size_t n, cap;
};

static void list_acts(const struct events *e, struct acts *acts)
{
	size_t open[64], depth = 0;
	uint64_t when = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct event *v = &e->items[i];

		if (v->kind == EVENT_ENTER) {
			struct act a = {.function = v->what,
			                .caller = SIZE_MAX,
			                .entered = when};

			if (depth) {
				a.caller = open[depth - 1];
				a.called_at = acts->items[a.caller].n;
			}
			VEC_RESERVE(acts->items, acts->n, acts->cap);
			assert_true(depth < 64);
			open[depth++] = acts->n;
			acts->items[acts->n++] = a;
		} else if (v->kind == EVENT_LEAVE) {
			depth--;
		} else {
			struct act *a = &acts->items[open[depth - 1]];

			VEC_RESERVE(a->when, a->n, a->when_cap);
			a->when[a->n] = ++when;
			VEC_RESERVE(a->blocks, a->n, a->cap);
			a->blocks[a->n++] = v->what;
		}
	}
}

static void free_acts(struct acts *acts)
{
	for (size_t i = 0; i < acts->n; i++) {
		free(acts->items[i].blocks);
		free(acts->items[i].when);
	}
	free(acts->items);
}

/* Are the part's blocks in the activation, up to its first `end`? */
static bool ends_at(const struct question *q, size_t part, const struct act *a,
                    size_t end)
{
	size_t n = q->parts[part].nblocks;

	if (end < n || end > a->n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (a->blocks[end - n + i] != q->parts[part].blocks[i])
			return false;
	return true;
}

struct answer {
	uint64_t thread, when;
	struct twpp_site sites[PARTS_MAX];
};

struct answers {
	struct answer *items;
	size_t n, cap;
};

static void put_answer(struct answers *to, const struct answer *a)
{
	VEC_RESERVE(to->items, to->n, to->cap);
	to->items[to->n++] = *a;
}

/* Everything that goes on with activation i as a part, whose blocks match. */
static void go_on(const struct question *q, const struct acts *acts,
                  size_t part, size_t i, size_t end, struct answer *a,
                  struct answers *to)
{
	bool is_open = !q->parts[part].nblocks;

	a->sites[part] = (struct twpp_site){i + 1, is_open ? 0 : end};
	if (part + 1 == q->nparts) {
		put_answer(to, a);
		return;
	}
	for (size_t k = i + 1; k < acts->n; k++) {
		const struct act *callee = &acts->items[k];
		size_t n = q->parts[part + 1].nblocks;

		if (callee->caller != i ||
		    (!is_open && callee->called_at != end) ||
		    callee->function != q->parts[part + 1].function ||
		    !ends_at(q, part + 1, callee, n))
			continue;
		a->sites[part].at = callee->called_at;
		if (!part && is_open)
			a->when = callee->entered;
		go_on(q, acts, part + 1, k, n, a, to);
	}
}

static void ask_oracle(const struct question *q, const struct acts *acts,
                       uint64_t thread, struct answers *to)
{
	for (size_t i = 0; i < acts->n; i++) {
		const struct act *a = &acts->items[i];
		struct answer answer = {.thread = thread, .when = a->entered};

		if (a->function != q->parts[0].function)
			continue;
		if (!q->parts[0].nblocks) {
			go_on(q, acts, 0, i, 0, &answer, to);
			continue;
		}
		for (size_t end = 1; end <= a->n; end++) {
			answer.when = a->when[end - 1];
			if (ends_at(q, 0, a, end))
				go_on(q, acts, 0, i, end, &answer, to);
		}
	}
}

/* --- against it --------------------------------------------------------- */

struct collected {
	struct answers answers;
	size_t nparts;
};

static int got_one(void *arg, const struct twpp_occurrence *o)
{
	struct collected *c = arg;
	struct answer a = {.thread = o->thread, .when = o->when};

	for (size_t i = 0; i < c->nparts; i++)
		a.sites[i] = o->sites[i];
	put_answer(&c->answers, &a);
	return 0;
}

/* When its second part is entered, or its only one is complete. */
static uint64_t order_of(const struct collected *c, size_t i)
{
	const struct answer *a = &c->answers.items[i];

	return c->nparts > 1 ? a->sites[1].activation : a->when;
}

static int compare_answers(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct answer));
}

static void sort(struct answers *a)
{
	if (a->n)
		qsort(a->items, a->n, sizeof(*a->items), compare_answers);
}

static void write_question(const struct question *q, char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < q->nparts; i++) {
		n += (size_t)snprintf(text + n, size - n, "%s#%" PRIu32,
		                      i ? " > " : "", q->parts[i].function);
		for (size_t k = 0; k < q->parts[i].nblocks; k++)
			n += (size_t)snprintf(text + n, size - n, "%sb%" PRIu32,
			                      k ? "." : ":",
			                      q->parts[i].blocks[k]);
	}
}

static void assert_answers(struct twpp_graph *g, const struct question *q,
                           struct answers *expected)
{
	struct collected c = {.nparts = q->nparts};
	struct twpp_path p;
	struct cairn_err err;
	char text[200];
	uint64_t n;

	write_question(q, text, sizeof(text));
	assert_int_equal(twpp_path_parse(&p, g->file, text, &err), 0);
	assert_int_equal(twpp_count(g->file, &p, &n, &err), 0);
	assert_int_equal(n, expected->n);
	assert_int_equal(twpp_find(g, &p, got_one, &c, &err), 0);
	assert_int_equal(c.answers.n, expected->n);
	for (size_t i = 1; i < c.answers.n; i++)
		assert_true(c.answers.items[i - 1].thread !=
		                    c.answers.items[i].thread ||
		            order_of(&c, i - 1) <= order_of(&c, i));
	sort(&c.answers);
	sort(expected);
	if (expected->n)
		assert_memory_equal(c.answers.items, expected->items,
		                    expected->n * sizeof(*expected->items));
	free(c.answers.items);
	twpp_path_release(&p);
}

/* A path that may well be there: taken from an activation and its callees. */
static void draw_question(struct random *r, const struct acts *acts,
                          struct question *q)
{
	size_t i = draw(r, (uint32_t)acts->n), at = 0;

	*q = (struct question){0};
	while (q->nparts < PARTS_MAX) {
		const struct act *a = &acts->items[i];
		size_t n = draw(r, BLOCKS_MAX + 1), next = 0;

		n = n > a->n ? a->n : n;
		if (!q->nparts && a->n > n)
			at = draw(r, (uint32_t)(a->n - n + 1));
		q->parts[q->nparts].function = a->function;
		q->parts[q->nparts].nblocks = n;
		for (size_t k = 0; k < n; k++)
			q->parts[q->nparts].blocks[k] = a->blocks[at + k];
		q->nparts++;
		for (size_t k = i + 1; k < acts->n && !next; k++)
			if (acts->items[k].caller == i &&
			    (!n || acts->items[k].called_at == at + n))
				next = k;
		if (!next || !draw(r, 3))
			break;
		i = next;
		at = 0;
	}
}

static void check_program(uint64_t seed, size_t *nfound, size_t *nlong)
{
	struct random r = {seed};
	struct events threads[2] = {{0}};
	struct acts acts[2] = {{0}};
	struct bytes file = {0};
	struct cairn_err err;
	struct program p;
	struct twpp_graph g;
	struct twpp t;

	draw_program(&r, &p);
	for (size_t i = 0; i < 2; i++) {
		run_thread(&r, &p, 10 + draw(&r, 400), &threads[i]);
		list_acts(&threads[i], &acts[i]);
	}
	make_file(threads, 2, &file);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	assert_int_equal(twpp_graph_load(&g, &t, &err), 0);
	for (unsigned k = 0; k < 20; k++) {
		struct answers expected = {0};
		struct question q;

		draw_question(&r, &acts[draw(&r, 2)], &q);
		for (size_t i = 0; i < 2; i++)
			ask_oracle(&q, &acts[i], i + 1, &expected);
		assert_answers(&g, &q, &expected);
		*nfound += expected.n > 0;
		*nlong += expected.n > 0 && q.nparts > 2;
		free(expected.items);
	}
	twpp_graph_release(&g);
	twpp_close(&t);
	bytes_release(&file);
	free_threads(threads, 2);
	free_acts(&acts[0]);
	free_acts(&acts[1]);
}

static void test_random(void **state)
{
	const char *seed = getenv("SEED");
	uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
	size_t nfound = 0, nlong = 0;

	(void)state;
	for (uint64_t s = first; s < first + 200; s++)
		check_program(s, &nfound, &nlong);
	/* questions that have an answer, and across three functions */
	assert_true(nfound > 2000);
	assert_true(nlong > 200);
}

static int stop_at_third(void *arg, const struct twpp_occurrence *o)
{
	(void)o;
	return ++*(int *)arg == 3 ? 17 : 0;
}

static void test_stop(void **state)
{
	struct events e = {0};
	struct bytes file = {0};
	struct cairn_err err;
	struct twpp_graph g;
	struct twpp_path p;
	struct twpp t;
	int n = 0;

	(void)state;
	put_event(&e, EVENT_ENTER, 0);
	for (unsigned i = 0; i < 9; i++)
		put_event(&e, EVENT_BLOCK, 1);
	put_event(&e, EVENT_LEAVE, TWPP_LEFT);
	make_file(&e, 1, &file);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	assert_int_equal(twpp_graph_load(&g, &t, &err), 0);
	assert_int_equal(twpp_path_parse(&p, &t, "#0:b1.b1", &err), 0);
	assert_int_equal(twpp_find(&g, &p, stop_at_third, &n, &err), 17);
	assert_int_equal(n, 3);
	twpp_path_release(&p);
	twpp_graph_release(&g);
	twpp_close(&t);
	bytes_release(&file);
	free(e.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_written), cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_meant),   cmocka_unit_test(test_random),
	        cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
