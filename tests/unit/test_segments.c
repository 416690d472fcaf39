/* SPDX-License-Identifier: Apache-2.0 */
/* Inter-procedural path segments: the example of section 3.4.2 of the thesis,
 * and the same run as a build counts it that has inlined some calls. */
#include "analysis/segments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { F1, F2, F3, F4, F5, NFUNCTIONS };

#define GO(from, to)                       \
	{                                  \
		.src = (from), .dst = (to) \
	}
#define CALL(from, to)                                      \
	{                                                   \
		.src = (from), .dst = (to), .is_call = true \
	}

/* Edge 0 enters, the last one leaves. */
static const struct segments_edge once[] = {GO(0, 1), CALL(1, 2), GO(2, 0)};
static const struct segments_edge twice[] = {GO(0, 1), CALL(1, 2), CALL(2, 3),
                                             GO(3, 0)};
static const struct segments_edge loop[] = {
        GO(0, 1), GO(1, 2), {.src = 2, .dst = 2, .ends = true}, GO(2, 0)};
static const struct segments_edge leaf[] = {GO(0, 1), GO(1, 0)};

static const struct segments_graph graphs[NFUNCTIONS] = {
        [F1] = {once, 3}, [F2] = {once, 3}, [F3] = {twice, 4},
        [F4] = {loop, 4}, [F5] = {leaf, 2},
};

static void take(struct segments *s, uint32_t n, const edge_id *edges)
{
	segments_take(s, edges, n);
}

#define TAKE(s, ...)                                                \
	take(s, sizeof((edge_id[]){__VA_ARGS__}) / sizeof(edge_id), \
	     (edge_id[]){__VA_ARGS__})

/* The substring of a whole program path that section 3.4.2 has: p1 to p10. */
static void run(struct segments *s)
{
	segments_begin_thread(s);
	segments_enter(s, F1, 0);
	TAKE(s, 0, 1); /* p1 */
	segments_enter(s, F2, 1);
	TAKE(s, 0, 1); /* p2 */
	segments_enter(s, F3, 2);
	TAKE(s, 0, 1); /* p3 */
	segments_enter(s, F4, 3);
	TAKE(s, 0, 1, 2); /* p4 */
	TAKE(s, 2);       /* p5 */
	TAKE(s, 3);       /* p6 */
	segments_leave(s);
	TAKE(s, 2); /* p7 */
	segments_enter(s, F5, 3);
	TAKE(s, 0, 1); /* p8 */
	segments_leave(s);
	TAKE(s, 3); /* p9 */
	segments_leave(s);
	TAKE(s, 2); /* p10 */
}

/* "1:1 2:1 !x3", functions from 1 on. */
static char *text_of(const struct segments *s, const struct segments_one *one)
{
	char *text = xstrdup(""), *more;

	for (uint32_t i = 0; i < one->nsteps; i++) {
		more = xasprintf("%s%u:%u ", text,
		                 s->copies[one->steps[i].copy].function + 1,
		                 one->steps[i].block);
		free(text);
		text = more;
	}
	more = xasprintf("%s%cx%u", text, ".!>"[one->end],
	                 (unsigned)one -> count);
	free(text);
	return more;
}

static bool is_among(const char *const *list, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], text))
			return true;
	return false;
}

/* Segments of at least this depth are those of the list, each once. */
static void assert_segments(struct segments *s, uint32_t depth,
                            const char *const *list, size_t n)
{
	struct segments_one one;
	uint32_t at = 0;
	size_t found = 0;

	while (segments_next(s, &at, &one)) {
		char *text;

		if (one.depth < depth)
			continue;
		text = text_of(s, &one);
		if (!is_among(list, n, text))
			fail_msg("%s is not among them", text);
		free(text);
		found++;
	}
	assert_int_equal(found, n);
}

static void test_thesis(void **state)
{
	static const char *const expected[] = {
	        "1:1 2:1 !x1",     /* p1 p2 */
	        "2:1 3:1 !x1",     /* p2 p3 */
	        "3:1 4:1 4:2 >x1", /* p3 p4 */
	        "3:2 5:1 3:3 .x1", /* p7 p8 p9 */
	};
	struct segments s;

	(void)state;
	segments_init(&s, graphs, NFUNCTIONS, 1);
	run(&s);
	assert_segments(&s, 1, expected, 4);
	segments_release(&s);
}

static void test_depth_0(void **state)
{
	static const char *const expected[] = {
	        "1:1 !x1", "2:1 !x1",     "3:1 !x1", "3:2 !x1", "3:3 .x1",
	        "5:1 .x1", "4:1 4:2 >x1", "4:2 >x1", "4:2 .x1",
	};
	struct segments s;

	(void)state;
	segments_init(&s, graphs, NFUNCTIONS, 0);
	run(&s);
	assert_segments(&s, 0, expected, 9);
	segments_release(&s);
}

static void test_depth_2(void **state)
{
	static const char *const expected[] = {
	        "1:1 2:1 3:1 !x1",
	        "2:1 3:1 4:1 4:2 >x1",
	};
	struct segments s;

	(void)state;
	segments_init(&s, graphs, NFUNCTIONS, 2);
	run(&s);
	assert_segments(&s, 2, expected, 2);
	segments_release(&s);
}

/* f2 in f1, f5 in f3: what f2 does is part of what f1 does, and no more. */
static void test_planned(void **state)
{
	static const char *const expected[] = {
	        "1:1 2:1 !x1", "3:1 !x1", "3:2 5:1 3:3 .x1", "4:1 4:2 >x1",
	        "4:2 >x1",     "4:2 .x1", "2:2 1:2 .x1",
	};
	struct segments s;

	(void)state;
	segments_init_planned(&s, graphs, NFUNCTIONS);
	segments_add_copy(&s, F1, 1, F2);
	segments_add_copy(&s, F3, 2, F5);
	run(&s);
	segments_leave(&s);
	TAKE(&s, 2);
	segments_leave(&s);
	assert_segments(&s, 0, expected, 7);
	segments_release(&s);
}

/* A frame that dies in a call that was not gone into has counted before it;
 * one that dies between calls has not. */
static void test_deaths(void **state)
{
	static const char *const expected[] = {"1:1 2:1 !x1", "1:2 .x1"};
	struct segments s;

	(void)state;
	segments_init_planned(&s, graphs, NFUNCTIONS);
	segments_add_copy(&s, F1, 1, F2);
	segments_begin_thread(&s);
	segments_enter(&s, F1, 0);
	TAKE(&s, 0, 1);
	segments_enter(&s, F2, 1);
	TAKE(&s, 0, 1);
	segments_die(&s);
	TAKE(&s, 2);
	segments_leave(&s);
	segments_enter(&s, F4, 0);
	TAKE(&s, 0, 1);
	segments_die(&s);
	segments_end_thread(&s);
	assert_segments(&s, 0, expected, 2);
	segments_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_thesis),  cmocka_unit_test(test_depth_0),
	        cmocka_unit_test(test_depth_2), cmocka_unit_test(test_planned),
	        cmocka_unit_test(test_deaths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
