/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of C: what this compiler makes of them is what they have to be;
 * then parts of aggregates, what is not known, and mistakes.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "replay/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct pair {
	int a;
	unsigned f : 3;
	int g : 5;
	char name[4];
	struct pair *next;
};

static const struct type char4 = {.kind = TYPE_ARRAY,
                                  .name = "char [4]",
                                  .size = 4,
                                  .target = &type_char,
                                  .n = 4};
static const struct type pair_type, pointer_type = {.kind = TYPE_POINTER,
                                                    .name = "struct pair *",
                                                    .size = 8,
                                                    .target = &pair_type};
static const struct type_member members[] = {
        {"a", &type_int, 0, 0, false, 0},
        {"f", &type_uint, 32, 3, false, 0},
        {"g", &type_int, 35, 5, false, 0},
        {"name", &char4, 8 * offsetof(struct pair, name), 0, false, 0},
        {"next", &pointer_type, 8 * offsetof(struct pair, next), 0, false, 0},
};
static const struct type pair_type = {.kind = TYPE_RECORD,
                                      .name = "struct pair",
                                      .size = sizeof(struct pair),
                                      .members = members,
                                      .nmembers = 5};
static const struct type_constant colors[] = {{"RED", 0}, {"BLUE", -3}};
static const struct type color = {.kind = TYPE_ENUM,
                                  .name = "enum color",
                                  .size = 4,
                                  .is_signed = true,
                                  .constants = colors,
                                  .nconstants = 2};

static struct pair second = {-7, 6, -9, "xyz", NULL};
static struct pair first = {5, 3, 15, "ab", &second};
static signed char sc = -100;
static unsigned char uc = 200;
static short sh = -30000;
static unsigned ui = 4000000000u;
static long lo = -5000000000;
static unsigned long ul = 0xfedcba9876543210;
static float fl = 1.1f;
static double d = -2.5;
static _Bool bo = 1;
static int en = -3;
static struct pair *p = &first;

static const struct variable {
	const char *name;
	const struct type *type;
	void *at;
} variables[] = {
        {"sc", &type_schar, &sc},  {"uc", &type_uchar, &uc},
        {"sh", &type_short, &sh},  {"ui", &type_uint, &ui},
        {"lo", &type_long, &lo},   {"ul", &type_ulong, &ul},
        {"fl", &type_float, &fl},  {"d", &type_double, &d},
        {"bo", &type_bool, &bo},   {"en", &color, &en},
        {"p", &pointer_type, &p},  {"v", &pair_type, &first},
        {"gone", &type_int, NULL},
};

#define NVARIABLES (sizeof(variables) / sizeof(variables[0]))

static bool find(void *context, enum formula_scope scope, const char *name,
                 struct formula_name *found)
{
	(void)context;
	if (scope == FORMULA_GLOBAL && !strcmp(name, "BLUE")) {
		*found = (struct formula_name){
		        .is_constant = true, .type = &color, .value = -3};
		return true;
	}
	for (size_t i = 0; scope == FORMULA_LOCAL && i < NVARIABLES; i++)
		if (!strcmp(variables[i].name, name)) {
			*found = (struct formula_name){
			        .id = (uint32_t)i, .type = variables[i].type};
			return true;
		}
	return false;
}

static const struct type *find_type(void *context, const char *tag,
                                    const char *name)
{
	(void)context;
	if (!strcmp(tag, "struct") && !strcmp(name, "pair"))
		return &pair_type;
	return !*tag && !strcmp(name, "u64") ? &type_ulong : NULL;
}

static char *list(void *context)
{
	(void)context;
	return xstrdup("sc, uc");
}

static void variable(void *context, uint32_t id, struct value *v)
{
	(void)context;
	*v = value_unknown(variables[id].type, VALUE_GONE);
	if (variables[id].at)
		*v = (struct value){
		        .place = VALUE_MEMORY,
		        .address = (uint64_t)(uintptr_t)variables[id].at};
}

/* Our own memory is the program's; page 0 is not there. */
static bool read_own(void *context, uint64_t address, void *to, size_t n)
{
	(void)context;
	if (address < 4096)
		return false;
	memcpy(to, (const void *)(uintptr_t)address, n);
	return true;
}

static const struct formula_names names = {find, find_type, list,
                                           NULL, NULL,      NULL};
static const struct formula_world world = {
        variable, NULL, {read_own, NULL, NULL}};

/* The value of an expression as text, for the caller to free. */
static char *evaluate(const char *text, const char **type)
{
	struct formula *f;
	struct cairn_err err;
	struct value v;
	size_t at = 0, size;
	char *out = NULL;
	FILE *stream = open_memstream(&out, &size);

	if (formula_parse(&f, text, &at, &names, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(at, strlen(text));
	formula_evaluate(f, &world, &v);
	value_print(stream, &v, &world.memory);
	fclose(stream);
	*type = formula_type(f)->name;
	if (strchr(*type, '*'))
		*type = "pointer"; /* its own goes with the formula */
	formula_free(f);
	return out;
}

static void assert_value(const char *text, const char *value, const char *type)
{
	const char *found;
	char *out = evaluate(text, &found);

	if (strcmp(out, value) || strcmp(found, type))
		fail_msg("%s: %s of type %s, not %s of type %s", text, out,
		         found, value, type);
	free(out);
}

/* By the compiler itself. */
#define NAME(e)                               \
	_Generic((e), int                     \
	         : "int", unsigned            \
	         : "unsigned int", long       \
	         : "long", unsigned long      \
	         : "unsigned long", float     \
	         : "float", double            \
	         : "double", long double      \
	         : "long double", signed char \
	         : "signed char", short       \
	         : "short", unsigned short    \
	         : "unsigned short")
#define FORMAT(e)                        \
	_Generic((e), int                \
	         : "%d", unsigned        \
	         : "%u", long            \
	         : "%ld", unsigned long  \
	         : "%lu", float          \
	         : "%.9g", double        \
	         : "%.17g", long double  \
	         : "%.21Lg", short       \
	         : "%hd", unsigned short \
	         : "%hu")
#define CHECK(e)                                                          \
	do {                                                              \
		char value_[64];                                          \
		_Pragma("GCC diagnostic push") _Pragma(                   \
		        "GCC diagnostic ignored \"-Wformat-nonliteral\"") \
		        snprintf(value_, sizeof(value_), FORMAT(e), (e)); \
		_Pragma("GCC diagnostic pop")                             \
		        assert_value(#e, value_, NAME(e));                \
	} while (0)

/* Of numbers with a fraction, any text that is this number will do. */
static void assert_real(const char *text, long double value, size_t size,
                        const char *type)
{
	const char *found;
	char *out = evaluate(text, &found);
	long double v = size == 4   ? strtof(out, NULL)
	                : size == 8 ? strtod(out, NULL)
	                            : strtold(out, NULL);

	if (v != value || strcmp(found, type))
		fail_msg("%s: %s of type %s, not %.21Lg of type %s", text, out,
		         found, value, type);
	free(out);
}

#define CHECK_REAL(e) assert_real(#e, (e), sizeof(e), NAME(e))

#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wparentheses"

static void test_integers(void **state)
{
	(void)state;
	CHECK(sc + uc);
	CHECK(sc * sh);
	CHECK(sc + ui);
	CHECK(-ui);
	CHECK(~uc);
	CHECK(lo + ui);
	CHECK(lo * 3 - ul);
	CHECK(sh / 7);
	CHECK(sh % 7);
	CHECK(ul / 10 % 1000);
	CHECK(lo >> 3);
	CHECK(ui >> 3);
	CHECK(sc << 4);
	CHECK(ul >> 60);
	CHECK((uc & 0x3c) | (sh ^ 5));
	CHECK(sc < ui);
	CHECK(lo < ul);
	CHECK(sc < uc);
	CHECK(-1 > 0u);
	CHECK(-1L > 0u);
	CHECK(sc == -100 && uc != 200 || !bo);
	CHECK(bo ? sc : ul);
	CHECK(bo + bo);
	CHECK((short)ui);
	CHECK((unsigned short)lo);
	CHECK((int)ul);
	CHECK((unsigned long)sc);
	CHECK((long)(unsigned)sh);
	CHECK(+sh);
	CHECK(1 + 2 * 3 - 4 / 2);
	CHECK((1 + 2) * 3);
	CHECK(2147483647);
	CHECK(2147483648);
	CHECK(0x80000000);
	CHECK(0xffffffffffffffff);
	CHECK(017);
	CHECK(10ul);
	CHECK(7l);
	CHECK('a');
	CHECK('\n');
	CHECK('\x7f');
	CHECK('\0');
	CHECK('\'');
	CHECK(sizeof(long double));
	CHECK(sizeof sc);
	CHECK(sizeof(struct pair));
}

static void test_reals(void **state)
{
	(void)state;
	CHECK_REAL(fl * 3);
	CHECK_REAL(fl + d);
	CHECK_REAL(d / 3);
	CHECK_REAL(d * uc);
	CHECK_REAL(-fl);
	CHECK(fl < d);
	CHECK((int)d);
	CHECK_REAL((float)ul);
	CHECK_REAL((double)lo);
	CHECK_REAL(1.5);
	CHECK_REAL(1e3f);
	CHECK_REAL(.5L + 1);
	CHECK_REAL(0x1p-3);
	CHECK(!d);
	CHECK_REAL(0.1f + 0.2f);
	CHECK_REAL(0.1 + 0.2);
	assert_value("0.1", "0.1", "double");
	assert_value("d / 0", "-inf", "double");
	assert_value("d != d", "0", "int");
}

static void test_parts(void **state)
{
	(void)state;
	assert_value("p->next->a", "-7", "int");
	assert_value("(*p).f", "3", "unsigned int");
	assert_value("p->next->g", "-9", "int");
	assert_value("v.f - v.g", "-12", "int"); /* both become int */
	assert_value("*p->next",
	             "{a = -7, f = 6, g = -9, name = \"xyz\", next = 0x0}",
	             "struct pair");
	assert_value("v.name", "\"ab\"", "char [4]");
	assert_value("p->name[1]", "98 'b'", "char");
	assert_value("1[p->name]", "98 'b'", "char");
	assert_value("*(v.name + 1) == 'b'", "1", "int");
	assert_value("&p->name[3] - p->name", "3", "long");
	assert_value("(char *)p + 4 == (char *)p->name - 1", "1", "int");
	assert_value("p + 1 - p", "1", "long");
	assert_value("(u64)(p + 1) - (unsigned long)p == sizeof(struct pair)",
	             "1", "int");
	assert_value("((struct pair *)(void *)p)->a", "5", "int");
	assert_value("&v == p && p->next != &v", "1", "int");
	assert_value("*&uc", "200 '\\310'", "unsigned char");
	assert_value("p->next->next", "0x0", "pointer");
	assert_value("p ? p->next->next : p", "0x0", "pointer");
	assert_value("en", "BLUE", "enum color");
	assert_value("en == BLUE", "1", "int");
	assert_value("(int)BLUE", "-3", "int");
	assert_value("(_Bool)uc", "true", "bool");
	assert_value("(__int128)-1 * ul", "-18364758544493064720", "__int128");
}

static void test_unknown(void **state)
{
	(void)state;
	assert_value("gone", "<optimized out>", "int");
	assert_value("gone + 1", "<optimized out>", "int");
	assert_value("0 && gone", "0", "int");
	assert_value("1 || gone", "1", "int");
	assert_value("gone && 0", "<optimized out>", "int");
	assert_value("bo ? 1 : gone", "1", "int");
	assert_value("p->next->next->a", "<not seen>", "int");
	assert_value("1 / (bo - 1)", "<division by zero>", "int");
	assert_value("1 % 0", "<division by zero>", "int");
	assert_value("1 << 32", "<shift by too much>", "int");
	assert_value("(-2147483647 - 1) / -1", "-2147483648", "int");
}

static void assert_mistake(const char *text, size_t column, const char *words)
{
	struct formula *f;
	struct cairn_err err = {0};
	char place[32];
	size_t at = 0;

	snprintf(place, sizeof(place), "column %zu:", column);
	if (formula_parse(&f, text, &at, &names, &err) == 0)
		fail_msg("%s is no mistake", text);
	if (!strstr(err.text, place) || !strstr(err.text, words))
		fail_msg("%s: %s; not %s %s", text, err.text, place, words);
}

static void test_mistakes(void **state)
{
	char deep[2000];

	(void)state;
	assert_mistake("", 1, "missing");
	assert_mistake("1 +", 4, "missing");
	assert_mistake("(1", 3, ") is missing");
	assert_mistake("1 2", 3, "should end");
	assert_mistake("nope", 1, "known are sc, uc");
	assert_mistake("p->b", 4, "it has a, f, g, name, next");
	assert_mistake("p.a", 3, "struct");
	assert_mistake("v->a", 4, "pointer");
	assert_mistake("*sc", 1, "pointer");
	assert_mistake("v + 1", 3, "numbers");
	assert_mistake("d % 2", 3, "whole");
	assert_mistake("~d", 1, "whole");
	assert_mistake("p + p", 3, "between");
	assert_mistake("p * 2", 3, "between");
	assert_mistake("&1", 1, "address");
	assert_mistake("&v.f", 1, "address");
	assert_mistake("(struct pair)sc", 1, "cannot become");
	assert_mistake("(struct other *)p", 9, "no struct other");
	assert_mistake("sc = 1", 4, "assigned");
	assert_mistake("sc(1)", 3, "called");
	assert_mistake("(sc, uc)", 4, "comma");
	assert_mistake("08", 2, "");
	assert_mistake("1x", 2, "no number");
	assert_mistake("'ab'", 1, "quotes");
	assert_mistake("'", 1, "quotes");
	assert_mistake("'\\", 1, "quotes");
	assert_mistake("sc @ 1", 4, "no part");
	assert_mistake("99999999999999999999", 1, "too large");
	assert_mistake("bo ? v : 1", 4, "between");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_mistake(deep, 201, "deep");
	memset(deep, '!', sizeof(deep) - 1);
	assert_mistake(deep, 201, "deep");
}

/* Several, with commas between them. */
static void test_list(void **state)
{
	static const char text[] = "sc , (uc), p->a";
	struct cairn_err err;
	size_t at = 0, n = 0;

	(void)state;
	for (;; n++) {
		struct formula *f;

		assert_int_equal(formula_parse(&f, text, &at, &names, &err), 0);
		formula_free(f);
		if (!text[at])
			break;
		assert_int_equal(text[at++], ',');
	}
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_integers), cmocka_unit_test(test_reals),
	        cmocka_unit_test(test_parts),    cmocka_unit_test(test_unknown),
	        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
