/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_EXPRESSION_H
#define CAIRN_ANALYSIS_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spot.h"

struct cairn_err;

/* What a symbol of a path expression stands for. */
enum expression_what {
	EXPRESSION_ENTER, /* a function is called */
	EXPRESSION_LEAVE, /* it returns, or dies */
	EXPRESSION_LINE   /* a line of the source runs */
};

struct expression_symbol {
	enum expression_what what;
	char *pattern;    /* of functions: '*' and '?' are wild */
	struct spot spot; /* of a LINE */
	char *text;       /* as it was written */
	size_t column;    /* where it was written first, from 1 on */
};

enum expression_kind {
	EXPRESSION_SYMBOL,
	EXPRESSION_SEQUENCE, /* of no children: nothing */
	EXPRESSION_CHOICE,
	EXPRESSION_REPEAT
};

#define EXPRESSION_NONE UINT32_MAX
#define EXPRESSION_FOREVER UINT32_MAX

struct expression_node {
	enum expression_kind kind;
	uint32_t symbol;   /* of a SYMBOL */
	uint32_t child;    /* the first, or EXPRESSION_NONE */
	uint32_t next;     /* sibling, or EXPRESSION_NONE */
	uint32_t min, max; /* of a REPEAT; max may be EXPRESSION_FOREVER */
};

/* A path expression: a tree over the symbols that it names. */
struct expression {
	struct expression_symbol *symbols; /* each once */
	uint32_t nsymbols, symbols_cap;
	struct expression_node *nodes;
	uint32_t nnodes, nodes_cap;
	uint32_t root;
};

/*
 * Parses an expression: expression.c has the grammar.
 *
 * Fails:  CAIRN_E_USAGE, with the column; *e is then empty.
 * Memory: until expression_release.
 */
int expression_parse(struct expression *e, const char *text,
                     struct cairn_err *err);
void expression_release(struct expression *e);

/* Is a function of this name meant by an ENTER or LEAVE? */
bool expression_is_function(const struct expression_symbol *s,
                            const char *name);
/* Is this line of this file meant by a LINE? */
bool expression_is_line(const struct expression_symbol *s, const char *path,
                        uint32_t line);

#endif /* CAIRN_ANALYSIS_EXPRESSION_H */
