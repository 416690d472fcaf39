/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_FORMULA_H
#define CAIRN_REPLAY_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/type.h"
#include "replay/value.h"

struct cairn_err;

/* What a name stands for. */
struct formula_name {
	bool is_constant;
	uint32_t id; /* of a variable: whatever the names say */
	const struct type *type;
	value_wide value; /* of a constant */
	/* If nothing was found: NULL, or why, as the end of a sentence; until
	 * the next question. */
	const char *why;
};

enum formula_scope { FORMULA_LOCAL, FORMULA_GLOBAL };

struct formula_names {
	/* Members of *this come after local names and before global ones. */
	bool (*find)(void *context, enum formula_scope scope, const char *name,
	             struct formula_name *found);
	/* tag: "struct", "union", "enum" or "". */
	const struct type *(*type)(void *context, const char *tag,
	                           const char *name);
	/* "a, b, c", for sentences: the names that are known; the caller frees
	 * it. */
	char *(*list)(void *context);
	void *context;
	/* These may be NULL.  Makes a type whole whose unit only declares it,
	 * or something in it, if another unit has that. */
	void (*complete)(void *context, const struct type *t);
	/* A record that only other units have; NULL: none has. */
	const struct type *(*foreign)(void *context, const char *name);
};

/* An expression of C whose types are known. */
struct formula;

/*
 * Parses the expression that begins at text[*at], up to a comma or the end; *at
 * is then there.
 *
 * Fails:  CAIRN_E_USAGE with the column.
 * Memory: types of `names` have to outlive it; formula_free.
 */
int formula_parse(struct formula **f, const char *text, size_t *at,
                  const struct formula_names *names, struct cairn_err *err);
void formula_free(struct formula *f);

const struct type *formula_type(const struct formula *f);

/* The world at the moment of an evaluation. */
struct formula_world {
	void (*variable)(void *context, uint32_t id, struct value *v);
	void *context;
	struct value_memory memory;
};

/* Never fails: a value can be unknown. */
void formula_evaluate(const struct formula *f, const struct formula_world *w,
                      struct value *v);
/* 1: it is not 0; 0: it is; -1: not known. */
int formula_holds(const struct formula *f, const struct formula_world *w);

#endif /* CAIRN_REPLAY_FORMULA_H */
