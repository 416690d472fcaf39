/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines a unified diff changes.
 *
 * POSIX.1-2017, diff -u: "--- old", "+++ new", then hunks "@@ -l,n +l,n @@"
 * with lines that begin with ' ', '-', '+' or '\'.  A hunk is as long as its
 * head says, so a removed line that looks like a head is none.  Everything
 * between hunks that is no head (what git and others write there) is skipped.
 * File names end at a tab; git quotes those with odd bytes.
 *
 * Invariant: within a hunk, `old` and `now` are the next line of either side.
 * Cost: O(n log n).
 */
#include "analysis/patch.h"

#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct parser {
	struct patch *p;
	bool is_new;
	const char *name;
	const char *at, *end;
	uint32_t number; /* of the line of the diff */
	uint32_t file;   /* STRTAB_NONE: none on our side */
	uint32_t other;  /* the same of the other side */
	bool has_file;
	size_t nhunks;
};

/* What is left of a hunk. */
struct hunk {
	uint64_t old, nold, now, nnow;
	uint32_t nremoved, nadded; /* since the last line of context */
};

struct text {
	const char *s;
	size_t n;
};

static bool next_line(struct parser *r, struct text *line)
{
	const char *newline;

	if (r->at == r->end)
		return false;
	newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
	line->s = r->at;
	line->n = (size_t)((newline ? newline : r->end) - r->at);
	r->at = newline ? newline + 1 : r->end;
	r->number++;
	return true;
}

static bool starts(const struct text *line, const char *with)
{
	size_t n = strlen(with);

	return line->n >= n && !memcmp(line->s, with, n);
}

static int bad(const struct parser *r, const char *what, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s:%u: %s; give it what diff -u or git diff prints",
	                  r->name, r->number, what);
}

/* --- file names --------------------------------------------------------- */

/* A name in quotes, as git writes it; what is odd stays as it is. */
static void unquote(struct text *name, char *out)
{
	static const char from[] = "abtnvfr", to[] = "\a\b\t\n\v\f\r";
	size_t n = 0;

	for (size_t i = 1; i < name->n && name->s[i] != '"'; i++) {
		const char *s = name->s + i, *letter;

		if (*s != '\\' || i + 1 == name->n) {
			out[n++] = *s;
			continue;
		}
		i++;
		letter = memchr(from, s[1], sizeof(from) - 1);
		if (letter) {
			out[n++] = to[letter - from];
		} else if (s[1] >= '0' && s[1] <= '3' && i + 2 < name->n) {
			out[n++] = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 +
			                  (s[3] - '0'));
			i += 2;
		} else {
			out[n++] = s[1];
		}
	}
	*name = (struct text){out, n};
}

static uint32_t take_file(struct strtab *files, const struct text *line)
{
	struct text name = {line->s + 4, line->n - 4};
	char *buffer = xmalloc(line->n + 1);
	uint32_t file = STRTAB_NONE;
	const char *tab;

	if (name.n && *name.s == '"') {
		unquote(&name, buffer);
	} else {
		tab = memchr(name.s, '\t', name.n);
		if (tab)
			name.n = (size_t)(tab - name.s);
		if (name.n && name.s[name.n - 1] == '\r')
			name.n--;
	}
	if (name.n != 9 || memcmp(name.s, "/dev/null", 9) != 0)
		file = strtab_add(files, name.s, name.n);
	free(buffer);
	return file;
}

static void take_files(struct parser *r, const struct text *old,
                       const struct text *now)
{
	r->has_file = true;
	r->file = take_file(&r->p->files, r->is_new ? now : old);
	r->other = take_file(&r->p->others, r->is_new ? old : now);
}

/* --- hunks -------------------------------------------------------------- */

static void add_line(struct parser *r, uint64_t line)
{
	struct patch *p = r->p;

	if (r->file == STRTAB_NONE || !line || line > UINT32_MAX)
		return;
	VEC_RESERVE(p->lines, p->n, p->cap);
	p->lines[p->n++] = (struct patch_line){r->file, (uint32_t)line};
}

static void add_change(struct parser *r, const struct hunk *h)
{
	struct patch *p = r->p;

	VEC_RESERVE(p->changes, p->nchanges, p->changes_cap);
	p->changes[p->nchanges++] = (struct patch_change){
	        .old_file = r->is_new ? r->other : r->file,
	        .new_file = r->is_new ? r->file : r->other,
	        .old = (uint32_t)(h->old - h->nremoved),
	        .nold = h->nremoved,
	        .now = (uint32_t)(h->now - h->nadded),
	        .nnow = h->nadded,
	};
}

/* Context, or the end of the hunk: was there a change on the other side only?
 */
static void end_change(struct parser *r, struct hunk *h)
{
	uint64_t next = r->is_new ? h->now : h->old;

	if (h->nremoved || h->nadded)
		add_change(r, h);
	if (r->is_new ? h->nremoved && !h->nadded : h->nadded && !h->nremoved) {
		add_line(r, next - 1);
		add_line(r, next);
	}
	h->nremoved = h->nadded = 0;
}

static bool take_number(struct text *t, uint64_t *v)
{
	size_t i = 0;

	for (*v = 0; i < t->n && t->s[i] >= '0' && t->s[i] <= '9'; i++) {
		*v = *v * 10 + (uint64_t)(t->s[i] - '0');
		if (*v > UINT32_MAX)
			return false;
	}
	*t = (struct text){t->s + i, t->n - i};
	return i > 0;
}

/* "l,n" or "l". */
static bool take_range(struct text *t, char sign, uint64_t *line, uint64_t *n)
{
	if (!t->n || *t->s != sign)
		return false;
	*t = (struct text){t->s + 1, t->n - 1};
	*n = 1;
	if (!take_number(t, line))
		return false;
	if (t->n && *t->s == ',') {
		*t = (struct text){t->s + 1, t->n - 1};
		if (!take_number(t, n))
			return false;
	}
	/* of an empty side, diff names the line before it */
	*line += !*n;
	return true;
}

static bool take_head(const struct text *line, struct hunk *h)
{
	struct text t = {line->s + 3, line->n - 3};

	*h = (struct hunk){0};
	if (!take_range(&t, '-', &h->old, &h->nold) || !t.n || *t.s != ' ')
		return false;
	t = (struct text){t.s + 1, t.n - 1};
	return take_range(&t, '+', &h->now, &h->nnow) && starts(&t, " @@");
}

static bool take_change(struct parser *r, struct hunk *h, char kind)
{
	bool is_old = kind == '-';

	if (is_old ? !h->nold : !h->nnow)
		return false;
	if (is_old != r->is_new)
		add_line(r, is_old ? h->old : h->now);
	if (is_old) {
		h->nremoved++;
		h->old++;
		h->nold--;
	} else {
		h->nadded++;
		h->now++;
		h->nnow--;
	}
	return true;
}

static bool take_context(struct parser *r, struct hunk *h)
{
	if (!h->nold || !h->nnow)
		return false;
	end_change(r, h);
	h->old++;
	h->nold--;
	h->now++;
	h->nnow--;
	return true;
}

static int take_hunk(struct parser *r, const struct text *head,
                     struct cairn_err *err)
{
	struct hunk h;

	if (!take_head(head, &h))
		return bad(r, "the head of a hunk is not one", err);
	if (!r->has_file)
		return bad(r, "a hunk of no file", err);
	while (h.nold || h.nnow) {
		struct text line;
		bool fits;

		if (!next_line(r, &line))
			return bad(r, "a hunk is shorter than its head says",
			           err);
		if (line.n && *line.s == '\\')
			continue;
		if (line.n && (*line.s == '-' || *line.s == '+'))
			fits = take_change(r, &h, *line.s);
		else
			fits = (!line.n || *line.s == ' ' || *line.s == '\r') &&
			       take_context(r, &h);
		if (!fits)
			return bad(r, "this line does not fit its hunk", err);
	}
	end_change(r, &h);
	r->nhunks++;
	return 0;
}

/* --- all of it ---------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct patch_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void sort_lines(struct patch *p)
{
	size_t kept = 0;

	if (p->n)
		qsort(p->lines, p->n, sizeof(*p->lines), by_place);
	for (size_t i = 0; i < p->n; i++)
		if (!kept || by_place(&p->lines[kept - 1], &p->lines[i]))
			p->lines[kept++] = p->lines[i];
	p->n = kept;
}

static int parse(struct parser *r, struct cairn_err *err)
{
	struct text line, before = {0};

	while (next_line(r, &line)) {
		if (starts(&line, "@@@"))
			return bad(r, "a diff of more than two versions", err);
		if (starts(&line, "@@ "))
			CAIRN_TRY(take_hunk(r, &line, err));
		else if (starts(&line, "+++ ") && starts(&before, "--- "))
			take_files(r, &before, &line);
		before = line;
	}
	return r->nhunks ? 0 : bad(r, "there is no hunk in it", err);
}

int patch_parse(struct patch *p, const char *text, size_t size, bool is_new,
                const char *name, struct cairn_err *err)
{
	struct parser r = {
	        .p = p,
	        .is_new = is_new,
	        .name = name,
	        .at = text,
	        .end = text + size,
	        .file = STRTAB_NONE,
	        .other = STRTAB_NONE,
	};
	int rc;

	*p = (struct patch){0};
	rc = parse(&r, err);
	sort_lines(p);
	if (rc)
		patch_release(p);
	return rc;
}

void patch_release(struct patch *p)
{
	strtab_release(&p->files);
	strtab_release(&p->others);
	free(p->lines);
	free(p->changes);
	*p = (struct patch){0};
}

static bool ends_with(const char *path, const char *file)
{
	size_t n = strlen(path), k = strlen(file);

	return k && n >= k && !strcmp(path + n - k, file) &&
	       (n == k || *file == '/' || path[n - k - 1] == '/');
}

bool patch_is_file(const char *path, const char *file)
{
	const char *slash = strchr(file, '/');

	return ends_with(path, file) || (slash && ends_with(path, slash + 1));
}
