/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_SYNTH_H
#define CAIRN_TESTS_SYNTH_H

/*
 * Maps, ELF files and profiles made in memory, so that readers can be tested
 * without compiler and runtime, and with input that no compiler would make.
 */
#include "abi/crc32c.h"
#include "abi/file.h"
#include "abi/map.h"
#include "abi/rt.h"
#include "base/bytes.h"
#include "format/writer.h"
#include "format/zframe.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYNTH_UNUSED __attribute__((unused))

struct synth_edge {
	uint32_t src, dst, kind, counter; /* counter: 0 or 1 + number */
};

/* Segment s of the block has the line `line` + s, or none if line is 0. */
struct synth_block {
	uint32_t counter, nsegments, line, instance;
};

struct synth_site {
	uint32_t offset, block, segment;
};

/* What a site leaves unfinished: enum cairn_pending, and its value. */
struct synth_pending {
	uint32_t kind;
	int64_t value;
};

/* A call: of a name, NULL: through a pointer.  `line` is that of the callee's
 * definition in the same file, 0: it is elsewhere. */
struct synth_outcall {
	uint32_t block, segment;
	const char *callee;
	uint32_t line, at; /* at: its own line, 0: unknown */
};

struct synth_function {
	const char *name, *reason, *file;
	uint32_t line, flags;
	uint64_t hash, address, counters;
	uint32_t ncounters, code_size;
	const char *const *instances;
	uint32_t ninstances;
	const struct synth_block *blocks; /* from block 1 on */
	uint32_t nblocks;                 /* with the outside; 0: none */
	const struct synth_edge *edges;
	uint32_t nedges;
	const struct synth_site *sites;
	uint32_t nsites;
	const uint32_t (*probes)[2]; /* offset, block */
	uint32_t nprobes;
	uint32_t paths; /* enum cairn_paths; what follows is for it */
	uint64_t npaths;
	const uint32_t *cuts;
	uint32_t ncuts;
	const uint32_t *turns; /* heads of loops that count their turns */
	uint32_t nturns;
	const struct synth_pending *pendings; /* per site */
	const struct synth_outcall *outcalls;
	uint32_t noutcalls;
};

static inline void synth_text(struct bytes *b, const char *s)
{
	bytes_put_str(b, s ? s : "", s ? strlen(s) : 0);
}

static inline void synth_paths(struct bytes *b, const struct synth_function *f)
{
	bytes_put_uv(b, f->paths);
	if (f->paths == CAIRN_PATHS_NONE)
		return;
	bytes_put_uv(b, f->npaths);
	bytes_put_uv(b, f->ncuts);
	for (uint32_t i = 0; i < f->ncuts; i++)
		bytes_put_uv(b, f->cuts[i]);
	bytes_put_uv(b, f->nturns);
	for (uint32_t i = 0; i < f->nturns; i++)
		bytes_put_uv(b, f->turns[i]);
	for (uint32_t i = 0; i < f->nsites; i++) {
		bytes_put_uv(b, f->pendings[i].kind);
		if (f->pendings[i].kind == CAIRN_PENDING_KNOWN)
			bytes_put_uv(b, (uint64_t)f->pendings[i].value);
		else if (f->pendings[i].kind == CAIRN_PENDING_REGISTER)
			bytes_put_sv(b, f->pendings[i].value);
	}
}

/* A copy that was inlined into the function itself, at line 1. */
static inline void synth_instance(struct bytes *b, const char *name)
{
	synth_text(b, name);
	for (int i = 0; i < 3; i++) /* file, line, parent */
		bytes_put_uv(b, 0);
	bytes_put_uv(b, 1);
}

/* Each has a callee of its own. */
static inline void synth_outcalls(struct bytes *b,
                                  const struct synth_function *f)
{
	uint32_t n = 0;
	int64_t line = 0;

	for (uint32_t i = 0; i < f->noutcalls; i++)
		n += f->outcalls[i].callee != NULL;
	bytes_put_uv(b, n);
	for (uint32_t i = 0; i < f->noutcalls; i++) {
		const struct synth_outcall *o = &f->outcalls[i];

		if (!o->callee)
			continue;
		synth_text(b, o->callee);
		bytes_put_uv(b, o->line ? 1 : 0);
		bytes_put_uv(b, o->line);
	}
	n = 0;
	bytes_put_uv(b, f->noutcalls);
	for (uint32_t i = 0; i < f->noutcalls; i++) {
		const struct synth_outcall *o = &f->outcalls[i];

		bytes_put_uv(b, o->block);
		bytes_put_uv(b, o->segment);
		bytes_put_uv(b, o->callee ? ++n : 0);
		bytes_put_uv(b, 0);
		bytes_put_uv(b, o->at ? 1 : 0);
		if (!o->at)
			continue;
		bytes_put_sv(b, (int64_t)o->at - line);
		line = o->at;
	}
}

static inline void synth_blob(struct bytes *b, const struct synth_function *f)
{
	int64_t line = 0;

	bytes_put_uv(b, CAIRN_BLOB_VERSION);
	bytes_put_uv(b, f->flags);
	synth_text(b, f->name);
	synth_text(b, f->reason);
	bytes_put_u64(b, f->hash);
	bytes_put_uv(b, f->file ? 1 : 0);
	if (f->file)
		synth_text(b, f->file);
	bytes_put_uv(b, f->file ? 1 : 0);
	bytes_put_uv(b, f->line);
	bytes_put_uv(b, f->ninstances);
	for (uint32_t i = 0; i < f->ninstances; i++)
		synth_instance(b, f->instances[i]);
	bytes_put_uv(b, f->nblocks);
	for (uint32_t i = 0; i + 1 < f->nblocks; i++) {
		const struct synth_block *k = &f->blocks[i];

		bytes_put_uv(b, 0);
		bytes_put_uv(b, 3);
		bytes_put_uv(b, k->counter);
		bytes_put_uv(b, k->nsegments);
		for (uint32_t s = 0; s < k->nsegments; s++) {
			bytes_put_uv(b, k->line ? 1 : 0);
			if (!k->line)
				continue;
			bytes_put_uv(b, k->instance);
			bytes_put_uv(b, 0);
			bytes_put_sv(b, (int64_t)k->line + s - line);
			bytes_put_uv(b, 3);
			bytes_put_uv(b, 1);
			bytes_put_uv(b, CAIRN_PLACE_ALONE);
			line = (int64_t)k->line + s;
		}
		bytes_put_uv(b, k->line ? 1 : 0);
	}
	bytes_put_uv(b, f->nedges);
	for (uint32_t i = 0; i < f->nedges; i++) {
		bytes_put_uv(b, f->edges[i].src);
		bytes_put_uv(b, f->edges[i].dst);
		bytes_put_uv(b, f->edges[i].kind);
		bytes_put_uv(b, f->edges[i].counter);
		bytes_put_uv(b, 1);
	}
	bytes_put_uv(b, f->nsites);
	for (uint32_t i = 0; i < f->nsites; i++) {
		bytes_put_uv(b, f->sites[i].block);
		bytes_put_uv(b, f->sites[i].segment);
	}
	synth_outcalls(b, f);
	synth_paths(b, f);
}

/* Appends a record.  One that was marked before inlining has no addresses. */
SYNTH_UNUSED static void synth_record(struct bytes *out,
                                      const struct synth_function *f)
{
	unsigned char head[CAIRN_MAP_HEAD_SIZE] = {0};
	uint32_t nsites = f->flags & CAIRN_FN_SOURCE ? 0 : f->nsites;
	struct bytes blob = {0};

	synth_blob(&blob, f);
	put_le32(head + CAIRN_REC_MAGIC, CAIRN_MAP_MAGIC);
	put_le32(head + CAIRN_REC_SIZE,
	         (uint32_t)(sizeof(head) + blob.n + 8 * (size_t)nsites +
	                    8 * (size_t)f->nprobes));
	put_le64(head + CAIRN_REC_FUNC, f->address);
	put_le64(head + CAIRN_REC_COUNTERS, f->counters);
	put_le32(head + CAIRN_REC_NCOUNTERS, f->ncounters);
	put_le32(head + CAIRN_REC_BLOB_CRC, crc32c(0, blob.data, blob.n));
	put_le32(head + CAIRN_REC_NBLOB, (uint32_t)blob.n);
	put_le32(head + CAIRN_REC_NSITES, nsites);
	put_le32(head + CAIRN_REC_NPROBES, f->nprobes);
	put_le32(head + CAIRN_REC_CODE_SIZE, f->code_size);
	bytes_put(out, head, sizeof(head));
	bytes_put(out, blob.data, blob.n);
	for (uint32_t i = 0; i < nsites; i++) {
		bytes_put_u32(out, f->sites[i].offset);
		bytes_put_u32(out, i);
	}
	for (uint32_t i = 0; i < f->nprobes; i++) {
		bytes_put_u32(out, f->probes[i][0]);
		bytes_put_u32(out, f->probes[i][1]);
	}
	bytes_release(&blob);
}

/* Appends the record of a piece of machine code that was marked before
 * inlining: n entries of offset, site, counters. */
SYNTH_UNUSED static void synth_far_sites(struct bytes *out, uint64_t address,
                                         uint32_t code_size,
                                         const uint64_t (*sites)[3], uint32_t n)
{
	bytes_put_u32(out, CAIRN_SITES_MAGIC);
	bytes_put_u32(out, CAIRN_SITES_HEAD_SIZE + n * CAIRN_SITES_ENTRY_SIZE);
	bytes_put_u64(out, address);
	bytes_put_u32(out, n);
	bytes_put_u32(out, code_size);
	for (uint32_t i = 0; i < n; i++) {
		bytes_put_u32(out, (uint32_t)sites[i][0]);
		bytes_put_u32(out, (uint32_t)sites[i][1]);
		bytes_put_u64(out, sites[i][2]);
	}
}

/* An ELF file with a build id of 8 times `id` and, if map, a map section. */
SYNTH_UNUSED static void synth_elf(struct bytes *out, const struct bytes *map,
                                   unsigned char id)
{
	static const char names[] =
	        "\0.note.gnu.build-id\0.cairn.map\0.shstrtab";
	unsigned char note[24] = {4, 0, 0, 0,   8,   0,   0, 0, NT_GNU_BUILD_ID,
	                          0, 0, 0, 'G', 'N', 'U', 0};
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64,
	                             ELFDATA2LSB, EV_CURRENT},
	                 .e_type = ET_DYN,
	                 .e_machine = EM_X86_64,
	                 .e_version = EV_CURRENT,
	                 .e_ehsize = sizeof(Elf64_Ehdr),
	                 .e_shentsize = sizeof(Elf64_Shdr),
	                 .e_shnum = map ? 4 : 3};
	Elf64_Shdr sh[4] = {{0}};
	uint64_t note_at = sizeof(eh), map_at = note_at + sizeof(note);
	uint64_t names_at = map_at + (map ? map->n : 0);

	memset(note + 16, id, 8);
	sh[1] = (Elf64_Shdr){.sh_name = 1,
	                     .sh_type = SHT_NOTE,
	                     .sh_offset = note_at,
	                     .sh_size = sizeof(note)};
	sh[2] = (Elf64_Shdr){.sh_name = 31,
	                     .sh_type = SHT_STRTAB,
	                     .sh_offset = names_at,
	                     .sh_size = sizeof(names)};
	eh.e_shstrndx = 2;
	if (map)
		sh[3] = (Elf64_Shdr){.sh_name = 20,
		                     .sh_type = SHT_PROGBITS,
		                     .sh_offset = map_at,
		                     .sh_size = map->n};
	eh.e_shoff = names_at + sizeof(names);
	bytes_put(out, &eh, sizeof(eh));
	bytes_put(out, note, sizeof(note));
	if (map)
		bytes_put(out, map->data, map->n);
	bytes_put(out, names, sizeof(names));
	bytes_put(out, sh, eh.e_shnum * sizeof(sh[0]));
}

/* Chunks.  Each appends to a file begun with writer_begin. */
SYNTH_UNUSED static void synth_program(struct bytes *out, const char *path)
{
	struct bytes b = {0};

	bytes_put(&b, path, strlen(path) + 1);
	bytes_put(&b, "/tmp", 5);
	bytes_put(&b, "program argument", 17);
	writer_chunk(out, &(struct writer_chunk){.type = CAIRN_CHUNK_PROGRAM},
	             b.data, b.n);
	bytes_release(&b);
}

SYNTH_UNUSED static void synth_module_at(struct bytes *out, uint32_t number,
                                         const char *path, unsigned char id,
                                         uint64_t base, uint64_t ncounters,
                                         uint64_t bias)
{
	unsigned char build_id[8];
	struct bytes b = {0};

	memset(build_id, id, sizeof(build_id));
	bytes_put_u32(&b, sizeof(build_id));
	bytes_put(&b, build_id, sizeof(build_id));
	bytes_put(&b, path, strlen(path) + 1);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MODULE,
	                                    .module = number,
	                                    .n = ncounters,
	                                    .aux0 = base,
	                                    .aux1 = bias},
	             b.data, b.n);
	bytes_release(&b);
}

SYNTH_UNUSED static void synth_module(struct bytes *out, uint32_t number,
                                      const char *path, unsigned char id,
                                      uint64_t base, uint64_t ncounters)
{
	synth_module_at(out, number, path, id, base, ncounters, 0);
}

SYNTH_UNUSED static void synth_counts(struct bytes *out, uint32_t thread,
                                      uint32_t module, const uint64_t *counts,
                                      uint64_t n)
{
	struct bytes b = {0};

	for (uint64_t i = 0; i < n; i++)
		bytes_put_u64(&b, counts[i]);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_COUNTS,
	                                    .id = thread,
	                                    .module = module,
	                                    .n = n},
	             b.data, b.n);
	bytes_release(&b);
}

static inline uint64_t synth_key(enum cairn_frame_kind kind, uint32_t module,
                                 uint64_t pc)
{
	return (uint64_t)kind << CAIRN_FRAME_KIND_SHIFT |
	       (uint64_t)module << CAIRN_FRAME_MODULE_SHIFT | pc;
}

/* slots: key, 0 or 1 + register, count. */
SYNTH_UNUSED static void synth_slots(struct bytes *out, uint32_t thread,
                                     const uint64_t (*slots)[3], uint64_t n)
{
	struct bytes b = {0};

	for (uint64_t i = 0; i < n; i++)
		for (int k = 0; k < 3; k++)
			bytes_put_u64(&b, slots[i][k]);
	writer_chunk(out,
	             &(struct writer_chunk){
	                     .type = CAIRN_CHUNK_FRAMES, .id = thread, .n = n},
	             b.data, b.n);
	bytes_release(&b);
}

/* pairs: key, count. */
SYNTH_UNUSED static void synth_frames(struct bytes *out, uint32_t thread,
                                      const uint64_t *pairs, uint64_t n)
{
	struct bytes b = {0};

	for (uint64_t i = 0; i < n; i++) {
		bytes_put_u64(&b, pairs[2 * i]);
		bytes_put_u64(&b, 0);
		bytes_put_u64(&b, pairs[2 * i + 1]);
	}
	writer_chunk(out,
	             &(struct writer_chunk){
	                     .type = CAIRN_CHUNK_FRAMES, .id = thread, .n = n},
	             b.data, b.n);
	bytes_release(&b);
}

/* Appends a table to the payload of a PATHS chunk; pairs: 1 + path, count. */
SYNTH_UNUSED static void synth_table(struct bytes *b, uint64_t owner,
                                     const uint64_t (*pairs)[2], uint64_t n)
{
	bytes_put_u64(b, owner);
	bytes_put_u64(b, n);
	bytes_put_u64(b, 0);
	bytes_put_u64(b, 0);
	for (uint64_t i = 0; i < n; i++) {
		bytes_put_u64(b, pairs[i][0]);
		bytes_put_u64(b, pairs[i][1]);
	}
}

SYNTH_UNUSED static void synth_paths_chunk(struct bytes *out, uint32_t thread,
                                           uint32_t module,
                                           const struct bytes *tables)
{
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_PATHS,
	                                    .id = thread,
	                                    .module = module,
	                                    .n = tables->n},
	             tables->data, tables->n);
}

SYNTH_UNUSED static void synth_map_chunk(struct bytes *out, uint32_t module,
                                         const struct bytes *map)
{
	struct bytes b = {0};

	zframe_pack(&b, map->data, map->n, NULL);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MAP,
	                                    .module = module,
	                                    .aux0 = map->n},
	             b.data, b.n);
	bytes_release(&b);
}

static const struct writer_header synth_header SYNTH_UNUSED = {
        .pid = 4711,
        .ppid = 1,
        .nruns = 1,
        .start = 1000,
        .end = 2000,
        .how = CAIRN_HOW_EXIT,
};

/* Turns a finished file into one whose program was killed. */
SYNTH_UNUSED static void synth_kill(struct bytes *file)
{
	unsigned char *h = file->data;

	put_le32(h + CAIRN_HDR_STATE, CAIRN_STATE_OPEN);
	put_le64(h + CAIRN_HDR_END, 0);
	put_le32(h + CAIRN_HDR_HOW, CAIRN_HOW_UNKNOWN);
	put_le32(h + CAIRN_HDR_STATE_CRC, 0);
}

/* A directory of its own for the files of a test. */
struct synth_dir {
	char path[64];
	char file[128]; /* of the last synth_path */
};

static inline void synth_dir_make(struct synth_dir *d)
{
	snprintf(d->path, sizeof(d->path), "/tmp/cairn-test-XXXXXX");
	if (!mkdtemp(d->path))
		abort();
}

static inline const char *synth_path(struct synth_dir *d, const char *name)
{
	snprintf(d->file, sizeof(d->file), "%s/%s", d->path, name);
	return d->file;
}

SYNTH_UNUSED static void synth_save(const char *path, const struct bytes *b)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(b->data, 1, b->n, f) != b->n || fclose(f))
		abort();
}

/*
 * The sample that most tests use: `main` at line 10 of /src/sample.c
 *
 *     0 -> 1 (entry) -> 2 -> 3 -> 2, 2 -> 4 -> 0
 *
 * with counters on 3 -> 2 (0) and 4 -> 0 (1), a call at the end of segment 0
 * of block 3, which has two segments, and one function that is not covered.
 */
#define SAMPLE_BASE 0x20000
#define SAMPLE_NCOUNTERS 2
#define SAMPLE_SITE_PC 0x1020

SYNTH_UNUSED static void synth_sample_map(struct bytes *map)
{
	static const struct synth_block blocks[] = {
	        {0, 1, 10, 0}, {0, 1, 11, 0}, {0, 2, 12, 0}, {0, 1, 15, 0}};
	static const struct synth_edge edges[] = {
	        {0, 1, CAIRN_EDGE_ENTRY, 0}, {1, 2, CAIRN_EDGE_JUMP, 0},
	        {2, 3, CAIRN_EDGE_TRUE, 0},  {3, 2, CAIRN_EDGE_JUMP, 1},
	        {2, 4, CAIRN_EDGE_FALSE, 0}, {4, 0, CAIRN_EDGE_RETURN, 2}};
	static const struct synth_site sites[] = {{0x20, 3, 0}};
	static const uint32_t probes[][2] = {
	        {0x4, 1}, {0x8, 2}, {0x10, 3}, {0x30, 4}};
	const struct synth_function f = {
	        .name = "main",
	        .file = "/src/sample.c",
	        .line = 10,
	        .hash = 0x1234,
	        .address = 0x1000,
	        .counters = SAMPLE_BASE,
	        .ncounters = SAMPLE_NCOUNTERS,
	        .code_size = 0x40,
	        .blocks = blocks,
	        .nblocks = 5,
	        .edges = edges,
	        .nedges = 6,
	        .sites = sites,
	        .nsites = 1,
	        .probes = probes,
	        .nprobes = 4,
	};
	const struct synth_function naked = {
	        .name = "bare",
	        .reason = "naked function",
	        .flags = CAIRN_FN_NOT_COVERED,
	        .address = 0x2000,
	};

	synth_record(map, &f);
	bytes_put(map, "\0\0\0", 3);
	synth_record(map, &naked);
}

/*
 * A map of code that was marked before inlining: `callee` was inlined into
 * `caller`, so that the call at 0x10 belongs to both; the code of `callee`
 * itself was dropped.
 */
SYNTH_UNUSED static void synth_source_map(struct bytes *map)
{
	static const struct synth_block blocks[] = {{1, 2, 10, 0}};
	static const struct synth_edge edges[] = {{0, 1, CAIRN_EDGE_ENTRY, 0},
	                                          {1, 0, CAIRN_EDGE_RETURN, 0}};
	static const struct synth_site sites[] = {{0, 1, 0}};
	static const uint64_t entries[][3] = {{0x10, 0, SAMPLE_BASE},
	                                      {0x10, 0, SAMPLE_BASE + 8}};
	struct synth_function f = {
	        .name = "caller",
	        .file = "/src/sample.c",
	        .flags = CAIRN_FN_SOURCE,
	        .counters = SAMPLE_BASE,
	        .ncounters = 1,
	        .blocks = blocks,
	        .nblocks = 2,
	        .edges = edges,
	        .nedges = 2,
	        .sites = sites,
	        .nsites = 1,
	};

	synth_record(map, &f);
	f.name = "callee";
	f.counters += 8;
	synth_record(map, &f);
	synth_far_sites(map, 0x1000, 0x40, entries, 2);
	synth_far_sites(map, 0, 0, entries, 2);
}

/* A self-contained profile of the first: `back` and `ret` are its two counters.
 */
SYNTH_UNUSED static void synth_sample(struct bytes *out, uint64_t back,
                                      uint64_t ret, uint64_t died)
{
	struct bytes map = {0};
	const uint64_t counts[SAMPLE_NCOUNTERS] = {back, ret};
	const uint64_t frame[2] = {
	        synth_key(CAIRN_FRAME_OUT, 1, SAMPLE_SITE_PC), died};

	synth_sample_map(&map);
	writer_begin(out);
	synth_program(out, "/bin/sample");
	synth_module(out, 1, "/bin/sample", 0xaa, SAMPLE_BASE,
	             SAMPLE_NCOUNTERS);
	synth_counts(out, 1, 1, counts, SAMPLE_NCOUNTERS);
	synth_frames(out, 1, frame, 1);
	synth_map_chunk(out, 1, &map);
	writer_end(out, &synth_header);
	bytes_release(&map);
}

/*
 * A sample that counts paths: `scan` at line 20 of /src/paths.c, in a table,
 *
 *     0 -> 1 (entry) -> 2 (loop head) -> 3 or 4 -> 5 -> 2 (back)
 *     2 -> 6 -> 7 (a call that ends paths) -> 8 -> 0
 *
 * whose loop counts its turns, and `pick`, one counter per path: 0 -> 1 -> 2 or
 * 3 -> 4 -> 0, with a call in block 4 where the register is wanted.  Their
 * paths, by number:
 *
 *     scan  0: 1 2 3 5    1: 1 2 4 5    2: 1 2 6
 *           3: 2 3 5      4: 2 4 5      5: 2 6      6: 7 8
 *     turns 0: 2 3 5      1: 2 4 5      2: 2, and out
 *     pick  0: 1 2 4      1: 1 3 4
 */
#define PATHS_BASE 0x30000
#define PATHS_SCAN (PATHS_BASE + 8)
#define PATHS_PICK (PATHS_BASE + 72)
#define PATHS_NCOUNTERS 11
#define PATHS_SCAN_PC 0x1030
#define PATHS_LAST_PC 0x1060
#define PATHS_PICK_PC 0x2020

SYNTH_UNUSED static void synth_paths_map(struct bytes *map)
{
	static const struct synth_block scan_blocks[] = {
	        {0, 1, 20, 0}, {0, 1, 21, 0}, {0, 2, 23, 0}, {0, 1, 26, 0},
	        {0, 1, 27, 0}, {0, 1, 29, 0}, {0, 1, 30, 0}, {0, 1, 31, 0}};
	static const struct synth_edge scan_edges[] = {
	        {0, 1, CAIRN_EDGE_ENTRY, 0},   {1, 2, CAIRN_EDGE_JUMP, 0},
	        {2, 3, CAIRN_EDGE_CASE, 0},    {2, 4, CAIRN_EDGE_CASE, 0},
	        {2, 6, CAIRN_EDGE_DEFAULT, 0}, {3, 5, CAIRN_EDGE_JUMP, 0},
	        {4, 5, CAIRN_EDGE_JUMP, 0},    {5, 2, CAIRN_EDGE_JUMP, 0},
	        {6, 7, CAIRN_EDGE_CALL, 0},    {7, 0, CAIRN_EDGE_ABNORMAL, 0},
	        {7, 8, CAIRN_EDGE_FALL, 0},    {8, 0, CAIRN_EDGE_RETURN, 0}};
	static const struct synth_site scan_sites[] = {{0x30, 3, 0},
	                                               {0x60, 7, 0}};
	static const struct synth_pending scan_pendings[] = {
	        {CAIRN_PENDING_REGISTER, -1}, {CAIRN_PENDING_KNOWN, 6}};
	static const uint32_t scan_probes[][2] = {
	        {0x4, 1},  {0x10, 2}, {0x20, 3}, {0x40, 4},
	        {0x48, 5}, {0x50, 6}, {0x58, 7}, {0x68, 8}};
	static const uint32_t scan_turns[] = {2};
	static const struct synth_block pick_blocks[] = {
	        {0, 1, 40, 0}, {0, 1, 42, 0}, {0, 1, 44, 0}, {0, 2, 46, 0}};
	static const struct synth_edge pick_edges[] = {
	        {0, 1, CAIRN_EDGE_ENTRY, 0}, {1, 2, CAIRN_EDGE_TRUE, 0},
	        {1, 3, CAIRN_EDGE_FALSE, 0}, {2, 4, CAIRN_EDGE_JUMP, 0},
	        {3, 4, CAIRN_EDGE_JUMP, 0},  {4, 0, CAIRN_EDGE_RETURN, 0}};
	static const struct synth_site pick_sites[] = {{0x20, 4, 0}};
	static const struct synth_pending pick_pendings[] = {
	        {CAIRN_PENDING_REGISTER, 0}};
	static const uint32_t pick_probes[][2] = {
	        {0x4, 1}, {0x8, 2}, {0xc, 3}, {0x10, 4}};
	const struct synth_function scan = {
	        .name = "scan",
	        .file = "/src/paths.c",
	        .line = 20,
	        .hash = 0x5ca9,
	        .address = 0x1000,
	        .counters = PATHS_SCAN,
	        .ncounters = CAIRN_TABLE_WORDS + 3,
	        .code_size = 0x80,
	        .blocks = scan_blocks,
	        .nblocks = 9,
	        .edges = scan_edges,
	        .nedges = 12,
	        .sites = scan_sites,
	        .nsites = 2,
	        .probes = scan_probes,
	        .nprobes = 8,
	        .paths = CAIRN_PATHS_HASHED,
	        .npaths = 7,
	        .turns = scan_turns,
	        .nturns = 1,
	        .pendings = scan_pendings,
	};
	const struct synth_function pick = {
	        .name = "_Z4picki",
	        .file = "/src/paths.c",
	        .line = 40,
	        .hash = 0x91c4,
	        .address = 0x2000,
	        .counters = PATHS_PICK,
	        .ncounters = 2,
	        .code_size = 0x40,
	        .blocks = pick_blocks,
	        .nblocks = 5,
	        .edges = pick_edges,
	        .nedges = 6,
	        .sites = pick_sites,
	        .nsites = 1,
	        .probes = pick_probes,
	        .nprobes = 4,
	        .paths = CAIRN_PATHS_DIRECT,
	        .npaths = 2,
	        .pendings = pick_pendings,
	};

	synth_record(map, &scan);
	synth_record(map, &pick);
}

/*
 * A self-contained profile of it, of a run at `bias`: scan ran 4 times, died
 * once in a turn that was not its first and once in its last call; pick
 * returned 9 times and died once on its second path.  `lost` counts are under
 * no path.
 */
SYNTH_UNUSED static void synth_paths_sample(struct bytes *out, uint64_t bias,
                                            uint64_t lost)
{
	static const uint64_t old[][2] = {{1, 1}, {4, 1}, {0, 0}, {6, 1}};
	const uint64_t grown[][2] = {{2, 2}, {3, 1}, {4, 0},    {5, 1},
	                             {6, 1}, {7, 2}, {0, lost}, {0, 0}};
	const uint64_t counts[PATHS_NCOUNTERS] = {
	        0, 0x9e3779b97f4a7c15, 7 << 4, bias + 12345, 0, 0, 4, 0, 0, 7,
	        2};
	/* in block 3 the sum is 3 on the path that began with the loop head */
	const uint64_t frames[][3] = {
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_SCAN_PC), 1 + 1 + 4, 1},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_PICK_PC),
	         1 + PATHS_PICK + 8 + bias, 1},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_LAST_PC), 0, 1},
	};
	struct bytes map = {0}, tables = {0};

	synth_paths_map(&map);
	synth_table(&tables, PATHS_SCAN, old, 4);
	synth_table(&tables, PATHS_SCAN, grown, 8);
	bytes_put_u64(&tables, 0);
	bytes_put_u64(&tables, 4);
	writer_begin(out);
	synth_program(out, "/bin/paths");
	synth_module_at(out, 1, "/bin/paths", 0xcc, PATHS_BASE, PATHS_NCOUNTERS,
	                bias);
	synth_counts(out, 1, 1, counts, PATHS_NCOUNTERS);
	synth_paths_chunk(out, 1, 1, &tables);
	synth_slots(out, 1, frames, 3);
	synth_map_chunk(out, 1, &map);
	writer_end(out, &synth_header);
	bytes_release(&map);
	bytes_release(&tables);
}

#endif /* CAIRN_TESTS_SYNTH_H */
