/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths that users ask for: "f:b2.b7 > g:b1".  twpp_find.h has the grammar.
 *
 * A name ends where the blocks begin, at a colon that is not one of two and
 * that "b" and a digit follow; at ">"; or at the end.
 */
#include "analysis/twpp_find.h"

#include "analysis/alphabet.h"
#include "analysis/twpp_file.h"
#include "analysis/twpp_stamp.h"
#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void twpp_path_release(struct twpp_path *p)
{
	for (size_t i = 0; i < p->nparts; i++) {
		free(p->parts[i].entries);
		free(p->parts[i].blocks);
		free(p->parts[i].fails);
	}
	free(p->parts);
	*p = (struct twpp_path){0};
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t");
}

static bool begins_blocks(const char *name, const char *s)
{
	return s[0] == ':' && s[1] == 'b' && is_digit(s[2]) &&
	       (s == name || s[-1] != ':');
}

/* The name at *s, which then is behind it; NULL if there is none. */
static char *take_name(const char **s)
{
	const char *name = *s, *end;
	size_t n;

	if (*name == '"') {
		end = strchr(++name, '"');
		if (!end || end == name)
			return NULL;
		*s = end + 1;
		return xstrndup(name, (size_t)(end - name));
	}
	for (end = name; *end && *end != '>' && !begins_blocks(name, end);)
		end++;
	*s = end;
	n = (size_t)(end - name);
	while (n && (name[n - 1] == ' ' || name[n - 1] == '\t'))
		n--;
	return n ? xstrndup(name, n) : NULL;
}

/* A number below `below` at *s. */
static bool take_number(const char **s, uint32_t below, uint32_t *number)
{
	uint64_t v = 0;

	if (!is_digit(**s))
		return false;
	for (; is_digit(**s); ++*s) {
		v = 10 * v + (uint64_t)(**s - '0');
		if (v >= below)
			return false;
	}
	*number = (uint32_t)v;
	return true;
}

static bool take_blocks(const char **s, struct twpp_part *part)
{
	size_t cap = 0;

	if (**s != ':')
		return true;
	do {
		++*s;
		VEC_RESERVE(part->blocks, part->nblocks, cap);
		if (**s != 'b')
			return false;
		++*s;
		if (!take_number(s, TWPP_BLOCKS, &part->blocks[part->nblocks]))
			return false;
		part->nblocks++;
	} while (**s == '.');
	return true;
}

static const char *behind_colon(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

static bool is_named(const struct twpp_entry *e, const char *name)
{
	return e->name && !strcmp(e->name, name);
}

static bool is_named_elsewhere(const struct twpp_entry *e, const char *name)
{
	return e->name && !strcmp(behind_colon(e->name), name);
}

static bool is_brief(const char *readable, const char *name)
{
	char *brief = alphabet_brief(readable);
	bool is_same =
	        !strcmp(readable, name) || (brief && !strcmp(brief, name));

	free(brief);
	return is_same;
}

/* Is it the C++ name, or FILE and the C++ name? */
static bool is_readable(const struct twpp_entry *e, const char *name)
{
	size_t nfile;

	if (!e->name || !e->readable)
		return false;
	nfile = (size_t)(behind_colon(e->name) - e->name);
	return is_brief(e->readable, name) ||
	       (nfile && !strncmp(e->name, name, nfile) &&
	        is_brief(e->readable, name + nfile));
}

static void add_entry(struct twpp_part *part, size_t *cap, uint32_t i)
{
	VEC_RESERVE(part->entries, part->nentries, *cap);
	part->entries[part->nentries++] = i;
}

/* The functions that the name means, or the number behind a "#". */
static void find_functions(struct twpp_part *part, const struct twpp *t,
                           const char *name)
{
	static bool (*const are[])(const struct twpp_entry *, const char *) = {
	        is_named, is_named_elsewhere, is_readable};
	const char *digits = name + 1;
	uint32_t number = 0;
	size_t cap = 0;

	if (*name == '#' && take_number(&digits, TWPP_FUNCTIONS, &number) &&
	    !*digits) {
		for (uint32_t i = 0; i < t->nentries; i++)
			if (t->entries[i].function == number)
				add_entry(part, &cap, i);
		return;
	}
	for (size_t k = 0; !part->nentries && k < sizeof(are) / sizeof(are[0]);
	     k++)
		for (uint32_t i = 0; i < t->nentries; i++)
			if (are[k](&t->entries[i], name))
				add_entry(part, &cap, i);
}

/* The failure function of Knuth, Morris and Pratt: fails[i] is the length of
 * the longest proper prefix of blocks 0..i that is also their end. */
static void set_fails(struct twpp_part *part)
{
	size_t k = 0;

	part->fails = xcalloc(part->nblocks + 1, sizeof(*part->fails));
	for (size_t i = 1; i < part->nblocks; i++) {
		while (k && part->blocks[i] != part->blocks[k])
			k = part->fails[k - 1];
		k += part->blocks[i] == part->blocks[k];
		part->fails[i] = k;
	}
}

static int no_function(const struct twpp *t, const char *name,
                       struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%s has no function '%s'; cairn twpp --top 0 lists "
	                  "those that ran",
	                  t->name, name);
}

static int parse_part(struct twpp_path *p, const struct twpp *t,
                      const char *text, const char **s, struct cairn_err *err)
{
	struct twpp_part *part;
	int rc = 0;
	char *name;

	VEC_RESERVE(p->parts, p->nparts, p->parts_cap);
	part = &p->parts[p->nparts++];
	*part = (struct twpp_part){0};
	*s = skip_space(*s);
	name = take_name(s);
	if (!name || !take_blocks(s, part))
		rc = cairn_fail(err, CAIRN_E_USAGE,
		                "'%s' is no path; write one as in "
		                "'f:b2.b7 > g:b1'",
		                text);
	if (!rc)
		find_functions(part, t, name);
	if (!rc && !part->nentries)
		rc = no_function(t, name, err);
	set_fails(part);
	free(name);
	*s = skip_space(*s);
	return rc;
}

int twpp_path_parse(struct twpp_path *p, const struct twpp *t, const char *text,
                    struct cairn_err *err)
{
	const char *s = text;
	int rc;

	*p = (struct twpp_path){0};
	rc = parse_part(p, t, text, &s, err);
	while (!rc && *s == '>') {
		s++;
		rc = parse_part(p, t, text, &s, err);
	}
	if (!rc && *s)
		rc = cairn_fail(err, CAIRN_E_USAGE,
		                "'%s' is no path from '%s' on; parts are "
		                "separated by '>'",
		                text, s);
	if (rc)
		twpp_path_release(p);
	return rc;
}

int twpp_path_name(struct twpp_path *p, const struct twpp *t, const char *name,
                   struct cairn_err *err)
{
	struct twpp_part *part = xcalloc(1, sizeof(*part));

	*p = (struct twpp_path){.parts = part, .nparts = 1, .parts_cap = 1};
	set_fails(part);
	find_functions(part, t, name);
	if (part->nentries)
		return 0;
	twpp_path_release(p);
	return no_function(t, name, err);
}
