/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_FORMULA_PARSER_H
#define CAIRN_REPLAY_FORMULA_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "replay/formula_node.h"

struct cairn_err;

/* The text of an expression, token by token; only the formula_*.c see it. */
#define PARSER_NAME_MAX 256

enum parser_token {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_SIGN, /* an sign, in sign */
};

struct parser {
	const char *text;
	size_t at;    /* behind the token */
	size_t begin; /* of the token */
	enum parser_token token;
	char sign[4];
	char name[PARSER_NAME_MAX];
	struct value number;
	unsigned depth;
	bool has_failed;
	struct formula *f;
	const struct formula_names *names;
	struct cairn_err *err;
};

/* Writes the sentence for a mistake in column at + 1, if it is the first; from
 * then on every token is the end. */
void parser_fail(struct parser *p, size_t at, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void parser_next(struct parser *p);
/* Is the token this operator, or this name? */
bool parser_is(const struct parser *p, const char *sign);
bool parser_is_word(const struct parser *p, const char *word);
/* Goes on behind an operator, if it is the token; or: it has to be. */
bool parser_take(struct parser *p, const char *sign);
void parser_expect(struct parser *p, const char *sign);

struct formula_node *parser_node(struct parser *p, enum formula_op op,
                                 const struct type *t, struct formula_node *a,
                                 struct formula_node *b);

/* The same type, with what its unit does not have of it, but another. */
const struct type *parser_whole(struct parser *p, const struct type *t);
/* A record of this name that only other units have; NULL: none has. */
const struct type *parser_foreign(struct parser *p, const char *name);
/* A member of *this, by its name alone; NULL: there is none. */
struct formula_node *parser_own(struct parser *p, const char *name);
/* What a pointer or a reference points to. */
struct formula_node *parser_target(struct parser *p, struct formula_node *a);
/* A member of a record, also one of a base or of what has no name; of the base
 * that the name says; NULL if there is none. */
struct formula_node *parser_member(struct parser *p, struct formula_node *a,
                                   const char *name);
struct formula_node *parser_qualified(struct parser *p, struct formula_node *a,
                                      const char *name);
bool parser_static(struct parser *p, const struct type *t, const char *name,
                   struct formula_name *found);
/* A pointer to a class as one to a base or a derived class; NULL: that is no
 * such cast. */
struct formula_node *parser_cast_class(struct parser *p, struct formula_node *a,
                                       const struct type *t, size_t at);
/* An object as one of a base; NULL: it is none. */
struct formula_node *parser_slice(struct parser *p, struct formula_node *a,
                                  const struct type *t, size_t at);
/* Of two pointers the one to a derived class becomes one to the base. */
void parser_meet(struct parser *p, struct formula_node **a,
                 struct formula_node **b);

bool parser_find(struct parser *p, enum formula_scope scope, const char *name,
                 struct formula_name *found);
/* The type that begins here; NULL if none does. */
const struct type *parser_type(struct parser *p);
/* A type that goes with the formula. */
const struct type *parser_pointer(struct parser *p, const struct type *t);

#endif /* CAIRN_REPLAY_FORMULA_PARSER_H */
