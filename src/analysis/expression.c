/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path expressions: regular expressions over what a program does.
 *
 * B. Bruegge and P. Hibbard, "Generalized path expressions: a high-level
 * debugging mechanism", 1983, as told in section 2.3.2 of the 2007 thesis,
 * whose Open(Read + Write)*Close is here open (read|write)* close.
 *
 *   choice    sequence { '|' sequence }
 *   sequence  item { item }
 *   item      atom [ '*' | '+' | '?' | '{' N [ ',' [ M ] ] '}' ]
 *   atom      '(' [ choice ] ')' | symbol
 *   symbol    name | 'leave(' name ')'
 *   name      letters, digits and _ $ . : ~ / @ - | '"' ... '"'
 *
 * A name of the form FILE:LINE is a line, any other one a function.  Only in
 * quotes '*' and '?' are wild: read* is any number of reads, "read*" all
 * functions whose names begin so.  A backslash in quotes takes the next
 * character as it is.
 *
 * What repeats has to touch what it repeats, so that the thesis's infix '+' is
 * refused rather than read as another expression.
 *
 * Recursive descent: the stack grows with the parentheses, which are limited.
 * Invariant: equal symbols are one.  Cost: O(n) nodes, O(n * symbols) time.
 */
#include "analysis/expression.h"

#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NESTED 200
/* Of a count: more positions than automaton.c takes, less than overflows. */
#define MAX_COUNT 1000000

struct parser {
	struct expression *e;
	const char *text, *at;
	unsigned nested;
	struct cairn_err *err;
};

static int fail_at(struct parser *p, const char *at, const char *what)
{
	int shown = (int)strcspn(at, " \t\n");

	if (shown > 20)
		shown = 20;
	return cairn_fail(p->err, CAIRN_E_USAGE,
	                  "the path expression is wrong in column %zu, at %s"
	                  "%.*s%s: %s",
	                  (size_t)(at - p->text) + 1, *at ? "'" : "its end",
	                  shown, at, *at ? "'" : "", what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80 ||
	       (c && strchr("_$.:~/@-", c));
}

static uint32_t add_node(struct expression *e, enum expression_kind kind,
                         uint32_t child)
{
	VEC_RESERVE(e->nodes, e->nnodes, e->nodes_cap);
	e->nodes[e->nnodes] = (struct expression_node){
	        .kind = kind, .child = child, .next = EXPRESSION_NONE};
	return e->nnodes++;
}

/* --- symbols ------------------------------------------------------------ */

static void release_symbol(struct expression_symbol *s)
{
	free(s->pattern);
	free(s->text);
	spot_release(&s->spot);
}

static bool is_same(const struct expression_symbol *a,
                    const struct expression_symbol *b)
{
	if (a->what != b->what)
		return false;
	if (a->what == EXPRESSION_LINE)
		return a->spot.line == b->spot.line &&
		       !strcmp(a->spot.file, b->spot.file);
	return !strcmp(a->pattern, b->pattern);
}

/* Takes s over. */
static uint32_t add_symbol(struct expression *e, struct expression_symbol *s)
{
	uint32_t i = 0;

	while (i < e->nsymbols && !is_same(&e->symbols[i], s))
		i++;
	if (i < e->nsymbols) {
		release_symbol(s);
		return i;
	}
	VEC_RESERVE(e->symbols, e->nsymbols, e->symbols_cap);
	e->symbols[e->nsymbols++] = *s;
	return i;
}

/* A copy without backslashes before what they quote. */
static char *unescape(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		copy[k++] = s[i];
	}
	copy[k] = '\0';
	return copy;
}

/* Takes what is in quotes. */
static int take_quoted(struct parser *p, const char **name, size_t *n)
{
	const char *quote = p->at++;

	*name = p->at;
	while (*p->at && *p->at != '"')
		p->at += *p->at == '\\' && p->at[1] ? 2 : 1;
	if (!*p->at)
		return fail_at(p, quote, "the quote is never closed");
	*n = (size_t)(p->at++ - *name);
	if (!*n)
		return fail_at(p, quote, "there is no name between the quotes");
	return 0;
}

static int take_name(struct parser *p, const char **name, size_t *n)
{
	if (*p->at == '"')
		return take_quoted(p, name, n);
	*name = p->at;
	while (is_name(*p->at))
		p->at++;
	*n = (size_t)(p->at - *name);
	if (*n)
		return 0;
	return fail_at(p, p->at,
	               *p->at ? "it is not part of a name here; put names with "
	                        "such characters in double quotes"
	                      : "a name is missing");
}

/* leave(NAME): the parenthesis touches the word. */
static int take_leave(struct parser *p, struct expression_symbol *s)
{
	const char *open = p->at + strlen("leave"), *name;
	size_t n;

	p->at = open + 1;
	skip_blanks(p);
	CAIRN_TRY(take_name(p, &name, &n));
	skip_blanks(p);
	if (*p->at != ')')
		return fail_at(p, open,
		               "leave(NAME) takes one function; a blank before "
		               "the parenthesis makes it a function of its "
		               "own");
	p->at++;
	s->what = EXPRESSION_LEAVE;
	s->pattern = xstrndup(name, n);
	return 0;
}

static int take_plain(struct parser *p, struct expression_symbol *s)
{
	const char *name;
	char *literal;
	size_t n;

	CAIRN_TRY(take_name(p, &name, &n));
	literal = unescape(name, n);
	if (spot_parse(&s->spot, literal)) {
		s->what = EXPRESSION_LINE;
	} else {
		s->what = EXPRESSION_ENTER;
		s->pattern = xstrndup(name, n);
	}
	free(literal);
	return 0;
}

static int parse_symbol(struct parser *p, uint32_t *node)
{
	const char *start = p->at;
	struct expression_symbol s = {.column = (size_t)(start - p->text) + 1};

	if (!strncmp(start, "leave(", strlen("leave(")))
		CAIRN_TRY(take_leave(p, &s));
	else
		CAIRN_TRY(take_plain(p, &s));
	s.text = xstrndup(start, (size_t)(p->at - start));
	*node = add_node(p->e, EXPRESSION_SYMBOL, EXPRESSION_NONE);
	p->e->nodes[*node].symbol = add_symbol(p->e, &s);
	return 0;
}

/* --- the tree ----------------------------------------------------------- */

static int parse_choice(struct parser *p, uint32_t *node);

static int parse_group(struct parser *p, uint32_t *node)
{
	const char *open = p->at++;

	if (++p->nested > MAX_NESTED)
		return fail_at(p, open, "more than 200 parentheses are open");
	skip_blanks(p);
	if (*p->at == ')')
		*node = add_node(p->e, EXPRESSION_SEQUENCE, EXPRESSION_NONE);
	else
		CAIRN_TRY(parse_choice(p, node));
	if (*p->at != ')')
		return fail_at(p, open, "the parenthesis is never closed");
	p->at++;
	p->nested--;
	return 0;
}

static int take_count(struct parser *p, uint32_t *count)
{
	const char *start = p->at;

	*count = 0;
	for (; is_digit(*p->at); p->at++) {
		*count = *count * 10 + (uint32_t)(*p->at - '0');
		if (*count > MAX_COUNT)
			return fail_at(p, start, "the count is too large");
	}
	if (p->at == start)
		return fail_at(p, start, "a count is missing");
	return 0;
}

/* {N}, {N,} or {N,M} */
static int take_counts(struct parser *p, uint32_t *min, uint32_t *max)
{
	const char *open = p->at++;

	skip_blanks(p);
	CAIRN_TRY(take_count(p, min));
	*max = *min;
	skip_blanks(p);
	if (*p->at == ',') {
		p->at++;
		skip_blanks(p);
		*max = EXPRESSION_FOREVER;
		if (*p->at != '}')
			CAIRN_TRY(take_count(p, max));
		skip_blanks(p);
	}
	if (*p->at != '}')
		return fail_at(p, open, "counts are {N}, {N,} or {N,M}");
	p->at++;
	if (*max < *min)
		return fail_at(p, open,
		               "the second count is less than the first");
	return 0;
}

static int take_repeat(struct parser *p, uint32_t *min, uint32_t *max)
{
	*min = *p->at == '+';
	*max = *p->at == '?' ? 1 : EXPRESSION_FOREVER;
	if (*p->at == '{')
		CAIRN_TRY(take_counts(p, min, max));
	else
		p->at++;
	if (*p->at && strchr("*+?{", *p->at))
		return fail_at(p, p->at,
		               "it repeats a repetition; put that in "
		               "parentheses");
	return 0;
}

/* What stands where an item should begin? */
static int refuse(struct parser *p)
{
	switch (*p->at) {
	case '*':
	case '+':
	case '?':
	case '{':
		return fail_at(p, p->at,
		               "it does not touch anything that it could "
		               "repeat; a choice is written a|b");
	case '|':
		return fail_at(p, p->at,
		               "there is nothing to choose before it; () is "
		               "nothing");
	case ')':
		return fail_at(p, p->at,
		               p->nested ? "there is nothing to choose before "
		                           "it; () is nothing"
		                         : "no parenthesis is open");
	default:
		return fail_at(p, p->at,
		               "there is nothing; name what is to happen");
	}
}

static int parse_item(struct parser *p, uint32_t *node)
{
	uint32_t min, max, child;

	if (*p->at == '(')
		CAIRN_TRY(parse_group(p, node));
	else
		CAIRN_TRY(parse_symbol(p, node));
	if (!*p->at || !strchr("*+?{", *p->at))
		return 0;
	CAIRN_TRY(take_repeat(p, &min, &max));
	child = *node;
	*node = add_node(p->e, EXPRESSION_REPEAT, child);
	p->e->nodes[*node].min = min;
	p->e->nodes[*node].max = max;
	return 0;
}

static int parse_sequence(struct parser *p, uint32_t *node)
{
	uint32_t item, last = EXPRESSION_NONE;

	*node = EXPRESSION_NONE;
	skip_blanks(p);
	while (*p->at && !strchr("|)*+?{", *p->at)) {
		CAIRN_TRY(parse_item(p, &item));
		if (*node == EXPRESSION_NONE)
			*node = add_node(p->e, EXPRESSION_SEQUENCE, item);
		else
			p->e->nodes[last].next = item;
		last = item;
		skip_blanks(p);
	}
	if (*node == EXPRESSION_NONE || (*p->at && strchr("*+?{", *p->at)))
		return refuse(p);
	return 0;
}

static int parse_choice(struct parser *p, uint32_t *node)
{
	uint32_t item, last;

	CAIRN_TRY(parse_sequence(p, &item));
	if (*p->at != '|') {
		*node = item;
		return 0;
	}
	last = item;
	*node = add_node(p->e, EXPRESSION_CHOICE, item);
	while (*p->at == '|') {
		p->at++;
		CAIRN_TRY(parse_sequence(p, &item));
		p->e->nodes[last].next = item;
		last = item;
	}
	return 0;
}

int expression_parse(struct expression *e, const char *text,
                     struct cairn_err *err)
{
	struct parser p = {.e = e, .text = text, .at = text, .err = err};
	int status;

	*e = (struct expression){0};
	status = parse_choice(&p, &e->root);
	if (!status && *p.at)
		status = refuse(&p);
	if (status)
		expression_release(e);
	return status;
}

void expression_release(struct expression *e)
{
	for (uint32_t i = 0; i < e->nsymbols; i++)
		release_symbol(&e->symbols[i]);
	free(e->symbols);
	free(e->nodes);
	*e = (struct expression){0};
}

/* --- names -------------------------------------------------------------- */

/* Bytes of the pattern that stand for one byte of a name. */
static size_t literal_size(const char *pattern)
{
	return *pattern == '\\' && pattern[1] ? 2 : 1;
}

/*
 * On a mismatch only the last '*' has to take one more byte: what the ones
 * before it took was the least, and left the most.  O(name * pattern).
 */
static bool is_match(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
			continue;
		}
		size_t n = literal_size(pattern);

		if (*pattern && (*pattern == '?' || pattern[n - 1] == *name)) {
			pattern += n;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool expression_is_function(const struct expression_symbol *s, const char *name)
{
	return s->what != EXPRESSION_LINE && is_match(s->pattern, name);
}

bool expression_is_line(const struct expression_symbol *s, const char *path,
                        uint32_t line)
{
	return s->what == EXPRESSION_LINE && s->spot.line == line &&
	       spot_is_file(path, s->spot.file);
}
