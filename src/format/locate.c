/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the map of a module that ran.
 *
 * A profile records where each module was and its build id.  The file there
 * now may be another one, moved away, or stripped; so every candidate has to
 * show the same build id before its map is believed.  A module linked without
 * a build id cannot be verified: its recorded path is taken as it is, and the
 * caller says so.
 *
 * The sentence that is reported is that of the most telling failure: a file
 * with another build id says more than one that does not exist.
 */
#include "format/locate.h"

#include "abi/map.h"
#include "abi/record.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/elf.h"
#include "format/image.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SYSTEM_DEBUG "/usr/lib/debug"

/* How much the failure of a candidate tells. */
enum telling { NOTHING, NO_FILE, NOT_ELF, NO_MAP, OTHER_BUILD };

struct search {
	const struct locate_module *m;
	bool wants_ir;
	struct locate_sections found; /* map NULL: not yet */
	enum telling best;
	struct cairn_err err; /* of the best failure */
};

const char *locate_id_text(const unsigned char *id, uint32_t n,
                           char buffer[LOCATE_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;

	if (!n)
		return "none";
	for (uint32_t i = 0; i < n && at + 2 < LOCATE_ID_TEXT; i++) {
		buffer[at++] = digits[id[i] >> 4];
		buffer[at++] = digits[id[i] & 15];
	}
	buffer[at] = '\0';
	return buffer;
}

/* A recording cannot be packed. */
static const char *remedy(const struct search *s)
{
	return s->m->is_recording
	               ? "give cairn the file that ran with --exe PATH"
	               : "give cairn the file that ran with --exe PATH, or use "
	                 "cairn pack right after a run";
}

static bool has_id(const struct locate_module *m, const struct elf_view *v)
{
	return v->build_id_size == m->nid &&
	       (!m->nid || !memcmp(v->build_id, m->id, m->nid));
}

static unsigned char *copy(const unsigned char *bytes, size_t n)
{
	unsigned char *p = xmalloc(n + 1);

	memcpy(p, bytes, n);
	return p;
}

static enum telling judge(struct search *s, const char *path,
                          const struct elf_file *f, const struct elf_view *v,
                          struct cairn_err *err)
{
	char mine[LOCATE_ID_TEXT], theirs[LOCATE_ID_TEXT];

	if (!has_id(s->m, v)) {
		cairn_fail(
		        err, CAIRN_E_ABSENT,
		        "%s: is another build (build id %s) than the one that "
		        "ran (build id %s); %s",
		        path,
		        locate_id_text(v->build_id, v->build_id_size, theirs),
		        locate_id_text(s->m->id, s->m->nid, mine), remedy(s));
		return OTHER_BUILD;
	}
	if (!v->map || (s->wants_ir && !v->ir)) {
		cairn_fail(err, CAIRN_E_ABSENT,
		           "%s: has no section %s, so it was stripped or not "
		           "built by cairn-cc; %s",
		           path, v->map ? CAIRN_IR_SECTION : CAIRN_MAP_SECTION,
		           remedy(s));
		return NO_MAP;
	}
	s->found.map = copy(v->map, v->map_size);
	s->found.map_size = v->map_size;
	if (s->wants_ir) {
		s->found.ir = copy(v->ir, v->ir_size);
		s->found.ir_size = v->ir_size;
		s->found.image = image_new(f->data, f->size);
	}
	return NOTHING;
}

/* Looks at one file; true if it gave the map. */
static bool try_file(struct search *s, const char *path)
{
	struct cairn_err err = {0};
	struct elf_file f;
	struct elf_view v;
	enum telling told;

	if (elf_open(&f, path, &err)) {
		told = NO_FILE;
		cairn_fail(&err, CAIRN_E_ABSENT,
		           "%s: the program or library that ran is not there "
		           "any more; %s",
		           path, remedy(s));
	} else if (elf_parse(f.data, f.size, path, &v, &err)) {
		told = NOT_ELF;
	} else {
		told = judge(s, path, &f, &v, &err);
	}
	elf_close(&f);
	if (told > s->best) {
		s->best = told;
		s->err = err;
	}
	return s->found.map != NULL;
}

static bool try_debug_file(struct search *s, const char *root)
{
	static const char digits[] = "0123456789abcdef";
	const struct locate_module *m = s->m;
	char *hex = xmalloc(2 * (size_t)m->nid + 1), *path;
	struct stat st;
	bool found;

	for (uint32_t i = 0; i < m->nid; i++) {
		hex[2 * i] = digits[m->id[i] >> 4];
		hex[2 * i + 1] = digits[m->id[i] & 15];
	}
	hex[2 * (size_t)m->nid] = '\0';
	path = xasprintf("%s/.build-id/%.2s/%s.debug", root, hex,
	                 m->nid ? hex + 2 : "");
	found = m->nid && !stat(path, &st) && try_file(s, path);
	free(path);
	free(hex);
	return found;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A file or directory that the user named. */
static bool try_named(struct search *s, const char *named)
{
	struct stat st;
	char *path;
	bool found;

	if (stat(named, &st) || !S_ISDIR(st.st_mode))
		return try_file(s, named);
	path = xasprintf("%s/%s", named, base_name(s->m->path));
	found = (!stat(path, &st) && try_file(s, path)) ||
	        try_debug_file(s, named);
	free(path);
	return found;
}

static bool try_recorded(struct search *s)
{
	const struct locate_module *m = s->m;
	bool relative = m->path[0] != '/' && m->directory[0] == '/';
	char *path = relative ? xasprintf("%s/%s", m->directory, m->path)
	                      : xstrdup(m->path);
	bool found = try_file(s, path);

	free(path);
	return found;
}

static int search(struct search *s, const char *const *exes, size_t nexes,
                  struct cairn_err *err)
{
	bool found = false;

	for (size_t i = 0; i < nexes && !found; i++)
		found = try_named(s, exes[i]);
	if (!found && !try_recorded(s) && !try_debug_file(s, SYSTEM_DEBUG)) {
		if (err)
			*err = s->err;
		return s->err.code;
	}
	return 0;
}

int locate_map(const struct locate_module *m, const char *const *exes,
               size_t nexes, unsigned char **bytes, size_t *size,
               struct cairn_err *err)
{
	struct search s = {.m = m};

	CAIRN_TRY(search(&s, exes, nexes, err));
	*bytes = s.found.map;
	*size = s.found.map_size;
	return 0;
}

int locate_recorded(const struct locate_module *m, const char *const *exes,
                    size_t nexes, struct locate_sections *out,
                    struct cairn_err *err)
{
	struct search s = {.m = m, .wants_ir = true};

	CAIRN_TRY(search(&s, exes, nexes, err));
	*out = s.found;
	return 0;
}
