/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a profile as one self-contained file: one chunk of counts, one of
 * tables of paths and one map per module, one frames table.
 *
 * Modules, paths and frames are written in the profile's order, modules
 * numbered from 1, so that the bytes are a function of the inputs.  Load biases
 * are 0, as everything in a profile is in link-time terms.  Tables are as long
 * as they have paths: only the runtime has to find its way in them.  The order
 * in which paths were first taken is kept if it is one run's.  A run that
 * was never closed leaves its mark in the flag UNFINISHED, since the file
 * written here is closed and has all checksums.
 */
#include "format/profile.h"

#include "abi/file.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/calls.h"
#include "format/windows.h"
#include "format/writer.h"
#include "format/zframe.h"

#include <string.h>

static void put_text(struct bytes *b, const char *s)
{
	bytes_put(b, s ? s : "", s ? strlen(s) + 1 : 1);
}

static void put_program(struct bytes *out, struct bytes *tmp,
                        const struct profile *p)
{
	tmp->n = 0;
	put_text(tmp, p->program);
	put_text(tmp, p->directory);
	put_text(tmp, p->command);
	writer_chunk(out, &(struct writer_chunk){.type = CAIRN_CHUNK_PROGRAM},
	             tmp->data, tmp->n);
}

static void put_counts(struct bytes *out, struct bytes *tmp,
                       const struct profile_module *m, uint32_t number)
{
	tmp->n = 0;
	bytes_put_u32(tmp, m->nid);
	bytes_put(tmp, m->id, m->nid);
	put_text(tmp, m->path);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MODULE,
	                                    .module = number,
	                                    .n = m->ncounters,
	                                    .aux0 = m->base},
	             tmp->data, tmp->n);
	if (!m->counts)
		return;
	tmp->n = 0;
	for (uint64_t i = 0; i < m->ncounters; i++)
		bytes_put_u64(tmp, m->counts[i]);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_COUNTS,
	                                    .module = number,
	                                    .n = m->ncounters},
	             tmp->data, tmp->n);
}

/* The table that begins with path `at`; returns the first path behind it. */
static size_t put_table(struct bytes *tmp, const struct profile_module *m,
                        size_t at)
{
	uint64_t owner = m->paths[at].owner;
	size_t end = at;

	while (end < m->npaths && m->paths[end].owner == owner)
		end++;
	bytes_put_u64(tmp, owner);
	bytes_put_u64(tmp, end - at);
	bytes_put_u64(tmp, 0);
	bytes_put_u64(tmp, 0);
	for (; at < end; at++) {
		bytes_put_u64(tmp, m->paths[at].key);
		bytes_put_u64(tmp, m->paths[at].count);
	}
	return end;
}

static void put_paths(struct bytes *out, struct bytes *tmp,
                      const struct profile_module *m, uint32_t number)
{
	if (!m->npaths)
		return;
	tmp->n = 0;
	for (size_t at = 0; at < m->npaths;)
		at = put_table(tmp, m, at);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_PATHS,
	                                    .module = number,
	                                    .n = tmp->n},
	             tmp->data, tmp->n);
}

static int put_map(struct bytes *out, struct bytes *tmp,
                   const struct profile_module *m, uint32_t number,
                   struct cairn_err *err)
{
	tmp->n = 0;
	CAIRN_TRY(zframe_pack(tmp, m->map_bytes, m->map_size, err));
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MAP,
	                                    .module = number,
	                                    .aux0 = m->map_size},
	             tmp->data, tmp->n);
	return 0;
}

static void put_frames(struct bytes *out, struct bytes *tmp,
                       const struct profile *p)
{
	tmp->n = 0;
	for (size_t i = 0; i < p->nframes; i++) {
		const struct profile_frame *f = &p->frames[i];
		uint64_t key = (uint64_t)f->kind << CAIRN_FRAME_KIND_SHIFT;

		key |= (uint64_t)(f->module + 1) << CAIRN_FRAME_MODULE_SHIFT;
		bytes_put_u64(tmp, key | f->pc);
		bytes_put_u64(tmp, f->has_reg ? f->reg + 1 : 0);
		bytes_put_u64(tmp, (uint64_t)f->count);
	}
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_FRAMES,
	                                    .n = p->nframes},
	             tmp->data, tmp->n);
}

/* In one chunk, without gaps. */
static void put_order(struct bytes *out, struct bytes *tmp,
                      const struct profile_order *o)
{
	if (!o->is_there)
		return;
	tmp->n = 0;
	bytes_put_u64(tmp, o->n + o->nleft_out);
	bytes_put_u64(tmp, 0);
	for (size_t i = 0; i < o->n; i++) {
		const struct profile_first *f = &o->items[i];
		uint64_t module = (uint64_t)f->module + 1;

		bytes_put_u64(tmp,
		              module << CAIRN_FRAME_MODULE_SHIFT | f->owner);
		bytes_put_u64(tmp, f->key);
	}
	writer_chunk(
	        out,
	        &(struct writer_chunk){.type = CAIRN_CHUNK_ORDER, .n = o->n},
	        tmp->data, tmp->n);
}

/* The header of one file stays what it was; several become a merged one. */
static struct writer_header make_header(const struct profile *p)
{
	const struct profile_file *f = p->files;
	struct writer_header h = {
	        .pid = f->pid,
	        .ppid = f->ppid,
	        .start = f->start,
	        .end = f->end,
	        .how = f->how,
	        .signal = f->signal,
	        .flags = profile_flags(p),
	};
	uint64_t unwalked = profile_unwalked(p), nruns = profile_nruns(p);

	h.unwalked = unwalked < UINT32_MAX ? (uint32_t)unwalked : UINT32_MAX;
	h.nruns = nruns < UINT32_MAX ? (uint32_t)nruns : UINT32_MAX;
	if (profile_is_open(p))
		h.flags |= CAIRN_FILE_UNFINISHED;
	if (profile_is_incomplete(p))
		h.flags |= CAIRN_FILE_TRUNCATED;
	for (size_t i = 0; i < p->nfiles && !h.last_pid; i++) {
		h.last_pid = p->files[i].last_pid;
		h.last_start = p->files[i].last_start;
	}
	if (p->nfiles == 1)
		return h;
	h.pid = h.ppid = h.signal = 0;
	h.how = CAIRN_HOW_MERGED;
	for (size_t i = 1; i < p->nfiles; i++) {
		if (p->files[i].start < h.start)
			h.start = p->files[i].start;
		if (p->files[i].end > h.end)
			h.end = p->files[i].end;
	}
	return h;
}

int profile_put(const struct profile *p, const char *path, struct bytes *out,
                struct cairn_err *err)
{
	struct writer_header header = make_header(p);
	struct bytes tmp = {0};
	int rc = 0;

	if (p->nmodules > CAIRN_FRAME_MODULE_MASK)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "%s: more than %u modules; merge fewer files",
		                  path, CAIRN_FRAME_MODULE_MASK);
	writer_begin(out);
	put_program(out, &tmp, p);
	run_ids_put(p, out, &tmp);
	for (uint32_t i = 0; i < p->nmodules && !rc; i++) {
		put_counts(out, &tmp, &p->modules[i], i + 1);
		put_paths(out, &tmp, &p->modules[i], i + 1);
		if (p->modules[i].map)
			rc = put_map(out, &tmp, &p->modules[i], i + 1, err);
	}
	put_frames(out, &tmp, p);
	calls_put(out, &tmp, p);
	windows_put(out, &tmp, p);
	put_order(out, &tmp, &p->order);
	if (!rc)
		rc = sources_put(&p->sources, out, &tmp, err);
	writer_end(out, &header);
	bytes_release(&tmp);
	return rc;
}

int profile_write(const struct profile *p, const char *path,
                  struct cairn_err *err)
{
	struct bytes out = {0};
	int rc = profile_put(p, path, &out, err);

	if (!rc)
		rc = writer_replace(path, out.data, out.n, err);
	bytes_release(&out);
	return rc;
}
