/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_FORMULA_NODE_H
#define CAIRN_REPLAY_FORMULA_NODE_H

#include "replay/formula.h"

/* The tree of an expression; only the formula_*.c see it. */
enum formula_op {
	FORMULA_NUMBER,   /* value */
	FORMULA_VARIABLE, /* id */
	FORMULA_MEMBER,   /* of a */
	FORMULA_ELEMENT,  /* b of the array a */
	FORMULA_TARGET,   /* *a, a is a pointer or a reference */
	FORMULA_ADDRESS,  /* &a; also of an array that becomes a pointer */
	FORMULA_CAST,     /* a as type, both scalars or type void */
	FORMULA_MINUS,    /* -a */
	FORMULA_INVERT,   /* ~a */
	FORMULA_FLIP,     /* !a */
	/* of two numbers of one type */
	FORMULA_ADD,
	FORMULA_SUBTRACT,
	FORMULA_MULTIPLY,
	FORMULA_DIVIDE,
	FORMULA_REST,
	FORMULA_BITS_AND,
	FORMULA_BITS_OR,
	FORMULA_BITS_XOR,
	FORMULA_LEFT, /* b of any whole type */
	FORMULA_RIGHT,
	FORMULA_LESS, /* these are int; of two numbers or pointers */
	FORMULA_MORE,
	FORMULA_AT_MOST,
	FORMULA_AT_LEAST,
	FORMULA_EQUAL,
	FORMULA_DIFFERENT,
	FORMULA_STEP,     /* pointer a + whole b, in units of its target */
	FORMULA_DISTANCE, /* pointer a - pointer b */
	FORMULA_AND,
	FORMULA_OR,
	FORMULA_CHOOSE, /* a ? b : c */
};

struct formula_node {
	enum formula_op op;
	const struct type *type;
	struct formula_node *a, *b, *c;
	struct value value;
	uint32_t id;
	const struct type_member *member;
	struct formula_node *next; /* of all nodes */
};

/* A type that an expression makes: a pointer to another. */
struct formula_made {
	struct type type;
	char *name;
	struct formula_made *next;
};

struct formula {
	struct formula_node *root;
	struct formula_node *nodes;
	struct formula_made *made;
};

#endif /* CAIRN_REPLAY_FORMULA_NODE_H */
