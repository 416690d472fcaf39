/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source text inside of a profile (cairn pack --sources).
 *
 * It is what the files had when the profile was packed, and is shown in their
 * place from then on: on another machine they are not there, and on this one
 * they change.  What was newer than the program then is marked.
 *
 * Invariant: paths are sorted, each once, so that the bytes are a function of
 * what was added.
 * Cost: O(n) to add one, O(log n) to find it; one zstd frame for all text.
 */
#include "format/sources.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/container.h"
#include "format/writer.h"
#include "format/zframe.h"

#include <stdlib.h>
#include <string.h>

/* The first of them whose path is not before this one. */
static size_t position(const struct sources *s, const char *path)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(s->items[mid].path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct source_text *sources_find(const struct sources *s,
                                       const char *path)
{
	size_t at = position(s, path);

	return at < s->n && !strcmp(s->items[at].path, path) ? &s->items[at]
	                                                     : NULL;
}

void sources_add(struct sources *s, const char *path, char *text, size_t size,
                 bool is_newer)
{
	size_t at = position(s, path);

	if (at < s->n && !strcmp(s->items[at].path, path)) {
		free(text);
		return;
	}
	VEC_RESERVE(s->items, s->n, s->cap);
	memmove(s->items + at + 1, s->items + at,
	        (s->n - at) * sizeof(*s->items));
	s->items[at] =
	        (struct source_text){xstrdup(path), text, size, is_newer};
	s->n++;
}

static int parse(struct sources *s, const unsigned char *data, size_t size,
                 const struct chunk *k, const char *name, struct cairn_err *err)
{
	struct cursor c = {data, data + size, false};

	while (c.p != c.end && !c.bad) {
		size_t npath;
		const char *path = cursor_str(&c, &npath);
		uint64_t flags = cursor_uv(&c), n = cursor_uv(&c);
		const unsigned char *text = cursor_take(&c, n);
		char *copy;

		if (c.bad)
			break;
		copy = xstrndup(path, npath);
		sources_add(s, copy,
		            memcpy(xcalloc((size_t)n + 1, 1), text, (size_t)n),
		            (size_t)n, flags & CAIRN_SOURCE_NEWER);
		free(copy);
	}
	if (!c.bad)
		return 0;
	return cairn_corrupt(err, name, k->offset,
	                     "the packed sources end early; pack the profile "
	                     "again, or restore the file");
}

int sources_load(struct sources *s, const struct chunk *k, const char *name,
                 struct cairn_err *err)
{
	unsigned char *data;
	size_t size;
	int rc;

	sources_release(s);
	CAIRN_TRY(zframe_unpack(k->payload, (size_t)k->size, k->aux0, name,
	                        &data, &size, err));
	rc = parse(s, data, size, k, name, err);
	free(data);
	return rc;
}

int sources_put(const struct sources *s, struct bytes *out, struct bytes *tmp,
                struct cairn_err *err)
{
	struct bytes raw = {0};
	size_t size;
	int rc;

	if (!s->n)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct source_text *t = &s->items[i];

		bytes_put_str(&raw, t->path, strlen(t->path));
		bytes_put_uv(&raw, t->is_newer ? CAIRN_SOURCE_NEWER : 0);
		bytes_put_uv(&raw, t->size);
		bytes_put(&raw, t->text, t->size);
	}
	size = raw.n;
	tmp->n = 0;
	rc = zframe_pack(tmp, raw.data, raw.n, err);
	bytes_release(&raw);
	if (!rc)
		writer_chunk(out,
		             &(struct writer_chunk){.type = CAIRN_CHUNK_SOURCES,
		                                    .n = s->n,
		                                    .aux0 = size},
		             tmp->data, tmp->n);
	return rc;
}

void sources_release(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].path);
		free(s->items[i].text);
	}
	free(s->items);
	*s = (struct sources){0};
}
