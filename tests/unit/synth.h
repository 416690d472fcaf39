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
};

static inline void synth_text(struct bytes *b, const char *s)
{
	bytes_put_str(b, s ? s : "", s ? strlen(s) : 0);
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
		synth_text(b, f->instances[i]);
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
			line = (int64_t)k->line + s;
		}
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

SYNTH_UNUSED static void synth_module(struct bytes *out, uint32_t number,
                                      const char *path, unsigned char id,
                                      uint64_t base, uint64_t ncounters)
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
	                                    .aux0 = base},
	             b.data, b.n);
	bytes_release(&b);
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

/* pairs: key, count. */
SYNTH_UNUSED static void synth_frames(struct bytes *out, uint32_t thread,
                                      const uint64_t *pairs, uint64_t n)
{
	struct bytes b = {0};

	for (uint64_t i = 0; i < 2 * n; i++)
		bytes_put_u64(&b, pairs[i]);
	writer_chunk(out,
	             &(struct writer_chunk){
	                     .type = CAIRN_CHUNK_FRAMES, .id = thread, .n = n},
	             b.data, b.n);
	bytes_release(&b);
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

#endif /* CAIRN_TESTS_SYNTH_H */
