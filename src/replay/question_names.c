/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What names mean at a place of the program: its local variables, then what the
 * unit has outside of functions, then what other units have, then functions.
 *
 * In C++ a name is looked for in the scope of the function, then in those
 * around it; if there is none, any that ends with it will do. Cost: linear in
 * names; units are only opened for names that are not in their own.
 */
#include "replay/question.h"

#include "base/alloc.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct type function_type = {.kind = TYPE_FUNCTION,
                                          .name = "function"};

/* The place where names are looked up. */
struct scene {
	struct question *q;
	struct question_place *p;
};

/* The variables that say how long an array is. */
static void want_counts(struct scene *s, const struct type *t)
{
	const struct debug_place *p = s->p->place;

	for (; t && t->kind == TYPE_ARRAY; t = t->target)
		for (size_t i = 0; t->count && i < p->nvariables; i++)
			if (!strcmp(p->variables[i].name, t->count))
				s->p->wants[i] = true;
}

static bool find_local(struct scene *s, const char *name,
                       struct formula_name *found)
{
	const struct debug_place *p = s->p->place;

	for (size_t i = 0; i < p->nvariables; i++) {
		if (strcmp(p->variables[i].name, name) != 0)
			continue;
		s->p->wants[i] = true;
		want_counts(s, p->variables[i].type);
		*found = (struct formula_name){.id = (uint32_t)i,
		                               .type = p->variables[i].type};
		return true;
	}
	return false;
}

/* But for blanks: those in the arguments of a template may be anywhere. */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* Is `wanted`, written in the scope a::b, the thing called `name`? */
static bool is_visible(const char *name, const char *wanted, const char *scope)
{
	size_t n = strlen(scope), k;

	for (;;) {
		k = n ? n + 2 : 0;
		if (!strncmp(name, scope, n) &&
		    (!n || !strncmp(name + n, "::", 2)) &&
		    is_same(name + k, wanted))
			return true;
		if (!n)
			return false;
		while (n && scope[n - 1] != ':')
			n--;
		n = n > 2 ? n - 2 : 0;
	}
}

static bool ends_with(const char *name, const char *wanted)
{
	while ((name = strstr(name, "::")))
		if (is_same(name += 2, wanted))
			return true;
	return false;
}

static const struct debug_variable *
find_in_unit(struct debug *d, const char *name, const char *scope)
{
	size_t n;
	const struct debug_variable *list = debug_globals(d, &n);
	const struct debug_variable *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (is_visible(list[i].name, name, scope))
			return &list[i];
	for (size_t i = 0; i < n; i++) {
		if (!ends_with(list[i].name, name))
			continue;
		if (found && strcmp(found->name, list[i].name) != 0)
			return NULL; /* who knows which is meant */
		found = &list[i];
	}
	return found;
}

/* In its own unit, then in any. */
static const struct debug_variable *find_variable(struct scene *s,
                                                  const char *name)
{
	struct question *q = s->q;
	const struct debug_variable *v =
	        find_in_unit(q->units[s->p->unit], name, s->p->place->scope);

	for (uint32_t i = 0; !v && i < q->session.program.nunits; i++)
		if (question_unit(q, i, NULL, NULL) == 0)
			v = find_in_unit(q->units[i], name, "");
	return v;
}

static void note_local(struct question *q, const struct debug_variable *v)
{
	for (size_t i = 0; i < q->nlocals; i++)
		if (q->locals[i].variable == v)
			return;
	VEC_RESERVE(q->locals, q->nlocals, q->locals_cap);
	q->locals[q->nlocals++] = (struct question_local){.variable = v};
}

static bool find_function(const struct question *q, const char *name,
                          struct formula_name *found)
{
	const struct program *p = &q->session.program;

	for (uint32_t i = 0; i < p->nfunctions; i++)
		if (!strcmp(p->functions[i].name, name)) {
			found->id = QUESTION_FUNCTION | i;
			found->type = &function_type;
			return true;
		}
	return false;
}

static bool find_global(struct scene *s, const char *name,
                        struct formula_name *found)
{
	struct question *q = s->q;
	const struct debug_variable *v;
	int64_t value;

	*found = (struct formula_name){0};
	if (debug_constant(q->units[s->p->unit], name, &found->type, &value)) {
		found->is_constant = true;
		found->value = value;
		return true;
	}
	v = find_variable(s, name);
	if (!v)
		return find_function(q, name, found);
	if (v->is_thread_local)
		note_local(q, v);
	VEC_RESERVE(q->globals, q->nglobals, q->globals_cap);
	found->id = QUESTION_GLOBAL | (uint32_t)q->nglobals;
	found->type = v->type;
	q->globals[q->nglobals++] = v;
	return true;
}

static bool find_name(void *scene, enum formula_scope scope, const char *name,
                      struct formula_name *found)
{
	if (scope == FORMULA_LOCAL)
		return find_local(scene, name, found);
	return find_global(scene, name, found);
}

static const struct type *find_type(void *scene, const char *tag,
                                    const char *name)
{
	struct scene *s = scene;

	return debug_type(s->q->units[s->p->unit], tag, name);
}

static char *list_names(void *scene)
{
	struct scene *s = scene;
	const struct debug_place *p = s->p->place;
	size_t n, size = 0;
	const struct debug_variable *globals =
	        debug_globals(s->q->units[s->p->unit], &n);
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return xstrdup("");
	for (size_t i = 0; i < p->nvariables; i++)
		fprintf(out, "%s%s", i ? ", " : "", p->variables[i].name);
	for (size_t i = 0; i < n && ftell(out) < 300; i++)
		fprintf(out, "%s%s", p->nvariables + i ? ", " : "",
		        globals[i].name);
	fclose(out);
	return text;
}

/* --- terms --------------------------------------------------------------- */

static struct question_term *new_term(struct question_place *p)
{
	VEC_RESERVE(p->terms, p->nterms, p->terms_cap);
	p->terms[p->nterms] = (struct question_term){0};
	return &p->terms[p->nterms++];
}

static char *trimmed(const char *text, size_t from, size_t to)
{
	while (from < to && text[from] == ' ')
		from++;
	while (to > from && text[to - 1] == ' ')
		to--;
	return xstrndup(text + from, to - from);
}

int question_add(struct question *q, struct question_place *p, const char *text,
                 bool may_fail, struct cairn_err *err)
{
	struct scene scene = {q, p};
	struct formula_names names = {find_name, find_type, list_names, &scene};
	struct question_term *t;
	struct cairn_err why;
	size_t at = 0, from = 0;
	int rc;

	for (;;) {
		struct formula *f = NULL;

		rc = formula_parse(&f, text, &at, &names, &why);
		if (rc < 0 && !may_fail) {
			if (err)
				*err = why;
			return rc;
		}
		t = new_term(p);
		t->formula = f;
		if (rc < 0) {
			t->text = xstrdup(text + from);
			t->why = xstrdup("not known here");
			return 0;
		}
		t->text = trimmed(text, from, at);
		if (!text[at])
			return 0;
		from = ++at;
	}
}

int question_condition(struct question *q, struct question_place *p,
                       const char *text, struct cairn_err *err)
{
	struct scene scene = {q, p};
	struct formula_names names = {find_name, find_type, list_names, &scene};
	const struct type *t;
	size_t at = 0;

	CAIRN_TRY(formula_parse(&p->condition, text, &at, &names, err));
	t = formula_type(p->condition);
	if (text[at] || !type_is_scalar(t))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "in '%.100s', column %zu: a condition is one "
		                  "number or pointer",
		                  text, text[at] ? at + 1 : 1);
	return 0;
}
