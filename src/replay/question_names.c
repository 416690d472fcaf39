/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What names mean at a place of the program: its local variables, then what the
 * unit has outside of functions, then what other units have, then functions.
 *
 * In C++ a name is looked for in the scope of the function, then in those
 * around it; if there is none, any that ends with it will do. Cost: linear in
 * names; units are only opened for names that are not in the innermost scope of
 * their own.
 */
#include "replay/question.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"

#include <inttypes.h>
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

/* Several of the name, who knows which. */
static void doubt_local(struct question *q, const struct debug_variable *v)
{
	free(q->why);
	if (v->rival == v->line)
		q->why = xasprintf("line %" PRIu32 " declares %s more than "
		                   "once, and nothing says which is meant here",
		                   v->line, v->name);
	else
		q->why = xasprintf("lines %" PRIu32 " and %" PRIu32 " declare "
		                   "%s, and nothing says which is meant here",
		                   v->rival, v->line, v->name);
}

static bool find_local(struct scene *s, const char *name,
                       struct formula_name *found)
{
	const struct debug_place *p = s->p->place;

	for (size_t i = 0; i < p->nvariables; i++) {
		if (strcmp(p->variables[i].name, name) != 0)
			continue;
		if (p->variables[i].rival) {
			doubt_local(s->q, &p->variables[i]);
			found->why = s->q->why;
			return false;
		}
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

/* How near is `name` to who writes `wanted` in the scope a::b?  The length of
 * the scope that it is in and 2; 0: it is not visible. */
static size_t nearness(const char *name, const char *wanted, const char *scope)
{
	size_t n = strlen(scope), k;

	for (;;) {
		k = n ? n + 2 : 0;
		if (!strncmp(name, scope, n) &&
		    (!n || !strncmp(name + n, "::", 2)) &&
		    is_same(name + k, wanted))
			return n + 2;
		if (!n)
			return 0;
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

static bool is_of_file(const struct debug_variable *v, const char *file)
{
	size_t n = strlen(v->file), k = file ? strlen(file) : 0;

	return !file || (n >= k && !strcmp(v->file + n - k, file) &&
	                 (n == k || v->file[n - k - 1] == '/'));
}

/* The nearest one, or, if none is visible, the only one whose name ends so;
 * that is as near as 1. */
static const struct debug_variable *find_in_unit(struct debug *d,
                                                 const char *name,
                                                 const char *scope,
                                                 const char *file, size_t *near)
{
	size_t n;
	const struct debug_variable *list = debug_globals(d, &n);
	const struct debug_variable *found = NULL;
	bool is_top = !strncmp(name, "::", 2);

	*near = 0;
	for (size_t i = 0; i < n; i++) {
		size_t k = is_of_file(&list[i], file)
		                   ? nearness(list[i].name,
		                              is_top ? name + 2 : name,
		                              is_top ? "" : scope)
		                   : 0;

		if (k > *near) {
			*near = k;
			found = &list[i];
		}
	}
	for (size_t i = 0; i < n && !is_top && *near < 2; i++) {
		if (!is_of_file(&list[i], file) ||
		    !ends_with(list[i].name, name))
			continue;
		if (found && strcmp(found->name, list[i].name) != 0)
			return NULL; /* who knows which is meant */
		*near = 1;
		found = &list[i];
	}
	return found;
}

/* Are two the same variable, as far as anybody can tell? */
static bool is_same_variable(const struct question *q,
                             const struct debug_variable *a,
                             const struct debug_variable *b)
{
	const struct program_unit *units = q->session.program.units;

	if (a->is_thread_local && b->is_thread_local)
		return !a->is_static && !b->is_static &&
		       !strcmp(a->symbol, b->symbol);
	if (a->unit != DEBUG_NONE && b->unit != DEBUG_NONE)
		return units[a->unit].table[a->index] ==
		       units[b->unit].table[b->index];
	/* constants */
	return a->unit == DEBUG_NONE && b->unit == DEBUG_NONE &&
	       a->npieces == 1 && b->npieces == 1 &&
	       a->pieces[0].ops[1] == b->pieces[0].ops[1];
}

static const char *path_of(const struct question *q,
                           const struct debug_variable *v)
{
	const struct program *p = &q->session.program;

	return p->modules[p->units[v->home].module].path;
}

static void doubt(struct question *q, const struct debug_variable *a,
                  const struct debug_variable *b)
{
	bool is_twice = !strcmp(path_of(q, a), path_of(q, b)) &&
	                q->session.program.units[a->home].module !=
	                        q->session.program.units[b->home].module;

	free(q->why);
	if (is_twice)
		q->why = xasprintf("%s is in %s, which was loaded more than "
		                   "once; ask at a line of that",
		                   a->name, path_of(q, a));
	else
		q->why = xasprintf("%s:%u and %s:%u have a variable %s; say "
		                   "'FILE'::%s",
		                   a->file, a->line, b->file, b->line, a->name,
		                   a->name);
}

/* 'FILE'::NAME: the file, for the caller to free, and the name. */
static char *split_file(const char **name)
{
	const char *end = **name == '\'' ? strchr(*name + 1, '\'') : NULL;
	char *file =
	        end ? xstrndup(*name + 1, (size_t)(end - *name - 1)) : NULL;

	if (end)
		*name = end + 3;
	return file;
}

/* The nearest one; of those that are as near, that of the own unit.  Only those
 * of a file, if it is not NULL. */
static const struct debug_variable *
find_variable(struct scene *s, const char *name, const char *file, size_t *near)
{
	struct question *q = s->q;
	const char *scope = s->p->place->scope;
	const struct debug_variable *own, *v, *other;
	size_t k;

	own = v = find_in_unit(q->units[s->p->unit], name, scope, file, near);
	if (*near == strlen(scope) + 2)
		return v;
	for (uint32_t i = 0; i < q->session.program.nunits; i++) {
		if (i == s->p->unit || question_unit(q, i, NULL, NULL) != 0)
			continue;
		other = find_in_unit(q->units[i], name, scope, file, &k);
		if (!other || k < *near || (k == *near && v == own && v))
			continue;
		if (k > *near) {
			v = other;
			*near = k;
			free(q->why);
			q->why = NULL;
		} else if (!is_same_variable(q, v, other)) {
			doubt(q, v, other);
		}
	}
	return q->why ? NULL : v;
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

	name += strncmp(name, "::", 2) ? 0 : 2;
	for (uint32_t i = 0; i < p->nfunctions; i++)
		if (!strcmp(p->functions[i].name, name)) {
			found->id = QUESTION_FUNCTION | i;
			found->type = &function_type;
			return true;
		}
	return false;
}

/* A constant of an enum: one that is nearer than any variable. */
static bool find_constant(struct scene *s, const char *name, size_t beyond,
                          struct formula_name *found)
{
	int64_t value;
	size_t near;

	near = debug_constant(s->q->units[s->p->unit], name, s->p->place->scope,
	                      &found->type, &value);
	if (near <= beyond)
		return false;
	found->is_constant = true;
	found->value = value;
	return true;
}

static bool find_global(struct scene *s, const char *name,
                        struct formula_name *found)
{
	struct question *q = s->q;
	const struct debug_variable *v;
	size_t near;
	char *file;

	free(q->why);
	q->why = NULL;
	*found = (struct formula_name){0};
	if (find_constant(s, name, strlen(s->p->place->scope) + 1, found))
		return true;
	file = split_file(&name);
	v = find_variable(s, name, file, &near);
	free(file);
	if (find_constant(s, name, near, found))
		return true;
	found->why = v ? NULL : q->why;
	if (!v)
		return !q->why && find_function(q, name, found);
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

	return debug_type(s->q->units[s->p->unit], tag, name,
	                  s->p->place->scope);
}

/* Not if units differ in what they call so. */
static const struct type *find_foreign(void *scene, const char *name)
{
	struct question *q = ((struct scene *)scene)->q;
	const struct type *found = NULL, *other;

	for (uint32_t i = 0; i < q->session.program.nunits; i++) {
		if (question_unit(q, i, NULL, NULL) != 0)
			continue;
		other = debug_record(q->units[i], name);
		if (found && other && found->size != other->size)
			return NULL;
		if (!found)
			found = other;
	}
	return found;
}

static void complete(void *scene, const struct type *t)
{
	debug_complete(t, find_foreign, scene);
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
		text_print(out, "%s%s", i ? ", " : "", p->variables[i].name);
	for (size_t i = 0; i < n && ftell(out) < 300; i++)
		text_print(out, "%s%s", p->nvariables + i ? ", " : "",
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
	struct formula_names names = {find_name, find_type, list_names,
	                              &scene,    complete,  find_foreign};
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
	struct formula_names names = {find_name, find_type, list_names,
	                              &scene,    complete,  find_foreign};
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
