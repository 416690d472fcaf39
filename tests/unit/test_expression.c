/* SPDX-License-Identifier: Apache-2.0 */
/* Path expressions: what they mean, and what is said about wrong ones. */
#include "analysis/expression.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* The tree in a form that shows every node: sequences in [], choices in <>. */
static void print(const struct expression *e, uint32_t node, FILE *out)
{
	const struct expression_node *n = &e->nodes[node];
	const struct expression_symbol *s;

	switch (n->kind) {
	case EXPRESSION_SYMBOL:
		s = &e->symbols[n->symbol];
		if (s->what == EXPRESSION_LINE)
			fprintf(out, "%s@%u", s->spot.file, s->spot.line);
		else
			fprintf(out, "%s%s",
			        s->what == EXPRESSION_LEAVE ? "^" : "",
			        s->pattern);
		return;
	case EXPRESSION_REPEAT:
		print(e, n->child, out);
		fprintf(out, "{%u,%d}", n->min, (int)n->max);
		return;
	default:
		break;
	}
	fputc(n->kind == EXPRESSION_CHOICE ? '<' : '[', out);
	for (uint32_t c = n->child; c != EXPRESSION_NONE;
	     c = e->nodes[c].next) {
		if (c != n->child)
			fputc(' ', out);
		print(e, c, out);
	}
	fputc(n->kind == EXPRESSION_CHOICE ? '>' : ']', out);
}

static void assert_tree(const char *text, const char *wanted)
{
	struct expression e;
	struct cairn_err err = {0};
	char *tree;
	size_t size;
	FILE *out = open_memstream(&tree, &size);

	assert_non_null(out);
	if (expression_parse(&e, text, &err))
		fail_msg("%s: %s", text, err.text);
	print(&e, e.root, out);
	fclose(out);
	assert_string_equal(tree, wanted);
	free(tree);
	expression_release(&e);
	assert_null(e.nodes);
}

static void test_trees(void **state)
{
	(void)state;
	assert_tree("open (read|write)* close",
	            "[open <[read] [write]>{0,-1} close]");
	assert_tree("  a\t|\nb c ", "<[a] [b c]>");
	assert_tree("a+ b? c{2} d{0,} e{ 3 , 4 }",
	            "[a{1,-1} b{0,1} c{2,2} d{0,-1} e{3,4}]");
	assert_tree("()", "[[]]");
	assert_tree("a ( ) ((b))", "[a [] [[b]]]");
	assert_tree("(a*)+", "[[a{0,-1}]{1,-1}]");
	/* names: operators end them, and lines are told from functions */
	assert_tree("std::sort|~A", "<[std::sort] [~A]>");
	assert_tree("dir/a-b.c:12 f.cold$1 x@plt",
	            "[dir/a-b.c@12 f.cold$1 x@plt]");
	assert_tree("a::b: f:0 12", "[a::b: f:0 12]");
	assert_tree("gr\xc3\xbc\xc3\x9f", "[gr\xc3\xbc\xc3\x9f]");
	/* quotes */
	assert_tree("\"str*\"* \"a b.c:7\"", "[str*{0,-1} a b.c@7]");
	assert_tree("\"f(int, char)\"", "[f(int, char)]");
	assert_tree("\"operator\\\"\\\\x\"", "[operator\\\"\\\\x]");
	/* leave */
	assert_tree(
	        "leave(f) leave( \"g*\" )+ leave (f) leaves(f) \"leave\"(f)",
	        "[^f ^g*{1,-1} leave [f] leaves [f] leave [f]]");
	assert_tree("leave", "[leave]");
	assert_tree("leave(a.c:3)", "[^a.c:3]");
}

static void test_symbols(void **state)
{
	struct expression e;
	struct cairn_err err;

	(void)state;
	assert_int_equal(expression_parse(&e,
	                                  "a leave(a) a \"a\" a.c:1 a.c:01 "
	                                  "a.c:2 b.c:1",
	                                  &err),
	                 0);
	assert_int_equal(e.nsymbols, 5);
	assert_string_equal(e.symbols[1].text, "leave(a)");
	assert_int_equal(e.symbols[1].column, 3);
	assert_string_equal(e.symbols[2].text, "a.c:1");
	assert_int_equal(e.symbols[2].column, 18);
	assert_string_equal(e.symbols[4].text, "b.c:1");
	expression_release(&e);
}

static void assert_wrong(const char *text, size_t column, const char *what)
{
	struct expression e;
	struct cairn_err err = {0};
	char place[40];

	assert_int_equal(expression_parse(&e, text, &err), CAIRN_E_USAGE);
	snprintf(place, sizeof(place), "in column %zu, at ", column);
	if (!strstr(err.text, place) || !strstr(err.text, what))
		fail_msg("'%s' gives: %s", text, err.text);
	assert_null(e.nodes);
	assert_null(e.symbols);
}

static void test_errors(void **state)
{
	char deep[1000];

	(void)state;
	assert_wrong("", 1, "at its end: there is nothing");
	assert_wrong("  ", 3, "at its end: there is nothing");
	assert_wrong("open (read|write* close", 6,
	             "at '(read|write*': the parenthesis is never closed");
	assert_wrong("open (read + write)* close", 12,
	             "a choice is written a|b");
	assert_wrong("a *", 3, "does not touch");
	assert_wrong("*a", 1, "does not touch");
	assert_wrong("(+)", 2, "does not touch");
	assert_wrong("a|", 3, "there is nothing; name");
	assert_wrong("a||b", 3, "() is nothing");
	assert_wrong("|a", 1, "() is nothing");
	assert_wrong("(a|)", 4, "() is nothing");
	assert_wrong("a)", 2, "no parenthesis is open");
	assert_wrong("a b ) c", 5, "no parenthesis is open");
	assert_wrong(")", 1, "no parenthesis is open");
	assert_wrong("a**", 3, "repeats a repetition");
	assert_wrong("a{2}{3}", 5, "repeats a repetition");
	assert_wrong("a{", 3, "a count is missing");
	assert_wrong("a{x}", 3, "a count is missing");
	assert_wrong("a{2", 2, "counts are {N}");
	assert_wrong("a{2,3", 2, "counts are {N}");
	assert_wrong("a{2,1}", 2, "less than the first");
	assert_wrong("a{1000001}", 3, "too large");
	assert_wrong("a{4294967297}", 3, "too large");
	assert_wrong("a \"bc", 3, "the quote is never closed");
	assert_wrong("\"a\\\"", 1, "the quote is never closed");
	assert_wrong("a \"\"", 3, "no name between");
	assert_wrong("a & b", 3, "double quotes");
	assert_wrong("f<int>", 2, "double quotes");
	assert_wrong("a, b", 2, "double quotes");
	assert_wrong("leave(a|b)", 6, "takes one function");
	assert_wrong("leave()", 7, "not part of a name");
	assert_wrong("x leave(", 9, "a name is missing");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_wrong(deep, 201, "more than 200");
}

static void assert_names(const char *text, const char *const *yes,
                         const char *const *no)
{
	struct expression e;
	struct cairn_err err;

	assert_int_equal(expression_parse(&e, text, &err), 0);
	for (; *yes; yes++)
		if (!expression_is_function(&e.symbols[0], *yes))
			fail_msg("%s is not %s", *yes, text);
	for (; *no; no++)
		if (expression_is_function(&e.symbols[0], *no))
			fail_msg("%s is %s", *no, text);
	expression_release(&e);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_patterns(void **state)
{
	(void)state;
	assert_names("str", NAMES("str"), NAMES("", "st", "strl", "xstr"));
	assert_names("\"str*\"", NAMES("str", "strlen"), NAMES("st", "xstr"));
	assert_names("\"*len\"", NAMES("len", "lenlen", "strlen"),
	             NAMES("lens", "le"));
	assert_names("\"a*b*c\"", NAMES("abc", "aXbXbYc", "abbcc", "abcbc"),
	             NAMES("ac", "acb", "abcb"));
	assert_names("\"?at\"", NAMES("cat", "hat"), NAMES("at", "chat"));
	assert_names("\"*\"", NAMES("", "f"), (const char *const[]){NULL});
	assert_names("\"**?*\"", NAMES("f", "fg"), NAMES(""));
	assert_names("\"a[bc]\"", NAMES("a[bc]"), NAMES("ab"));
	assert_names("\"operator\\*\"", NAMES("operator*"),
	             NAMES("operator*=", "operator+", "operator\\*"));
	assert_names("\"operator\\*=\"", NAMES("operator*="),
	             NAMES("operator*", "operator/="));
	assert_names("\"x\\?*\"", NAMES("x?", "x?y"), NAMES("xy", "x"));
	assert_names("leave(\"str*\")", NAMES("strlen"), NAMES("x"));
}

/* The pattern matcher against one that tries everything. */
static bool try_all(const char *pattern, const char *name)
{
	if (!*pattern)
		return !*name;
	if (*pattern == '*')
		return try_all(pattern + 1, name) ||
		       (*name && try_all(pattern, name + 1));
	return *name && (*pattern == '?' || *pattern == *name) &&
	       try_all(pattern + 1, name + 1);
}

static void spell(char *text, unsigned n, unsigned number, const char *letters)
{
	for (unsigned i = 0; i < n; i++, number /= 4)
		text[i] = letters[number % 4];
	text[n] = '\0';
}

static void test_all_short_patterns(void **state)
{
	char pattern[8], text[16], name[8];
	struct expression e;
	struct cairn_err err;

	(void)state;
	for (unsigned p = 0; p < 1024; p++) {
		spell(pattern, 5, p, "ab*?");
		snprintf(text, sizeof(text), "\"%s\"", pattern);
		assert_int_equal(expression_parse(&e, text, &err), 0);
		for (unsigned n = 0; n <= 6; n++)
			for (unsigned i = 0; i < 1u << 2 * n; i++) {
				spell(name, n, i, "abab");
				assert_int_equal(expression_is_function(
				                         &e.symbols[0], name),
				                 try_all(pattern, name));
			}
		expression_release(&e);
	}
}

static void test_lines(void **state)
{
	struct expression e;
	struct cairn_err err;

	(void)state;
	assert_int_equal(expression_parse(&e, "src/a.c:12", &err), 0);
	assert_true(expression_is_line(&e.symbols[0], "/x/src/a.c", 12));
	assert_false(expression_is_line(&e.symbols[0], "/x/src/a.c", 13));
	assert_false(expression_is_line(&e.symbols[0], "/x/a.c", 12));
	assert_false(expression_is_function(&e.symbols[0], "src/a.c:12"));
	expression_release(&e);
	assert_int_equal(expression_parse(&e, "f", &err), 0);
	assert_false(expression_is_line(&e.symbols[0], "f", 0));
	expression_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_trees),
	        cmocka_unit_test(test_symbols),
	        cmocka_unit_test(test_errors),
	        cmocka_unit_test(test_patterns),
	        cmocka_unit_test(test_all_short_patterns),
	        cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
