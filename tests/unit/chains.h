/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_CHAINS_H
#define CAIRN_TESTS_CHAINS_H

/*
 * Profiles of paths made in memory, of functions that are chains of diamonds:
 *
 *     0 -> 1 -> 2 or 3 -> 4 -> 5 or 6 -> 7 ... -> 0
 *
 * n diamonds have 2^n paths.  Block b is line 10 b of the function's file; the
 * last block of a chain has a call that frames can die in.
 */
#include "synth.h"

#include "analysis/catalog.h"
#include "base/err.h"
#include "format/profile.h"

#define CHAIN_BASE 0x40000
#define CHAIN_MAX 6
#define CHAIN_CODE 0x1000

struct chain {
	const char *name, *file;
	uint32_t flags; /* CAIRN_FN_* */
	uint64_t hash;
	uint32_t n;             /* diamonds */
	const uint64_t *counts; /* of its paths, by number; NULL: 0 */
	uint64_t died;          /* frames, in the call, on path `died_on` */
	uint64_t died_on;
};

/* Path with choice[i] (0: the first way) at diamond i: later choices count
 * less, as the numbering has it.  test_catalog proves that. */
SYNTH_UNUSED static uint64_t chain_path(uint32_t n, const int *choice)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < n; i++)
		number = 2 * number + (uint64_t)choice[i];
	return number;
}

static inline void chain_edges(struct synth_edge *e, uint32_t n)
{
	uint32_t k = 0;

	e[k++] = (struct synth_edge){0, 1, CAIRN_EDGE_ENTRY, 0};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = 3 * i + 1;

		e[k++] = (struct synth_edge){b, b + 1, CAIRN_EDGE_TRUE, 0};
		e[k++] = (struct synth_edge){b, b + 2, CAIRN_EDGE_FALSE, 0};
		e[k++] = (struct synth_edge){b + 1, b + 3, CAIRN_EDGE_JUMP, 0};
		e[k++] = (struct synth_edge){b + 2, b + 3, CAIRN_EDGE_JUMP, 0};
	}
	e[k] = (struct synth_edge){3 * n + 1, 0, CAIRN_EDGE_RETURN, 0};
}

/* Appends the record; its counters are at `counters`. */
static inline void chain_record(struct bytes *map, const struct chain *c,
                                uint64_t address, uint64_t counters)
{
	struct synth_block blocks[3 * CHAIN_MAX + 1];
	struct synth_edge edges[4 * CHAIN_MAX + 2];
	const struct synth_site site = {0x20, 3 * c->n + 1, 0};
	const struct synth_pending pending = {CAIRN_PENDING_REGISTER, 0};
	uint32_t nblocks = 3 * c->n + 1;

	for (uint32_t b = 1; b <= nblocks; b++)
		blocks[b - 1] = (struct synth_block){
		        .nsegments = b == nblocks ? 2 : 1, .line = 10 * b};
	chain_edges(edges, c->n);
	synth_record(map, &(struct synth_function){
	                          .name = c->name,
	                          .file = c->file,
	                          .line = 10,
	                          .flags = c->flags,
	                          .hash = c->hash,
	                          .address = address,
	                          .counters = counters,
	                          .ncounters = 1u << c->n,
	                          .code_size = 0x40,
	                          .blocks = blocks,
	                          .nblocks = nblocks + 1,
	                          .edges = edges,
	                          .nedges = 4 * c->n + 2,
	                          .sites = &site,
	                          .nsites = 1,
	                          .paths = CAIRN_PATHS_DIRECT,
	                          .npaths = (uint64_t)1 << c->n,
	                          .pendings = &pending,
	                  });
}

/* Writes the profile of a program with these functions. */
SYNTH_UNUSED static void chain_save(const char *path, unsigned char id,
                                    const struct chain *chains, size_t n)
{
	struct bytes map = {0}, file = {0};
	uint64_t *counts, total = 0, slots[8][3];
	uint64_t nslots = 0;

	for (size_t i = 0; i < n; i++)
		total += (uint64_t)1 << chains[i].n;
	counts = calloc(total, sizeof(*counts));
	if (!counts)
		abort();
	total = 0;
	for (size_t i = 0; i < n; i++) {
		const struct chain *c = &chains[i];
		uint64_t first = CHAIN_BASE + 8 * total;
		uint64_t address = CHAIN_CODE * (i + 1);

		chain_record(&map, c, address, first);
		for (uint64_t k = 0; c->counts && k < (uint64_t)1 << c->n; k++)
			counts[total + k] = c->counts[k];
		total += (uint64_t)1 << c->n;
		if (!c->died)
			continue;
		slots[nslots][0] =
		        synth_key(CAIRN_FRAME_OUT, 1, address + 0x20);
		slots[nslots][1] = 1 + first + 8 * c->died_on;
		slots[nslots++][2] = c->died;
	}
	writer_begin(&file);
	synth_program(&file, "/bin/chains");
	synth_module(&file, 1, "/bin/chains", id, CHAIN_BASE, total);
	synth_counts(&file, 1, 1, counts, total);
	if (nslots)
		synth_slots(&file, 1, (const uint64_t(*)[3])slots, nslots);
	synth_map_chunk(&file, 1, &map);
	writer_end(&file, &synth_header);
	synth_save(path, &file);
	bytes_release(&file);
	bytes_release(&map);
	free(counts);
}

/* The same, read back. */
SYNTH_UNUSED static struct profile *
chain_profile(unsigned char id, const struct chain *chains, size_t n)
{
	struct synth_dir dir;
	struct profile *p = NULL;
	struct cairn_err err = {0};
	const char *path;

	synth_dir_make(&dir);
	path = synth_path(&dir, "p.cairn");
	chain_save(path, id, chains, n);
	if (profile_open(&p, &path, 1, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	unlink(path);
	rmdir(dir.path);
	return p;
}

#endif /* CAIRN_TESTS_CHAINS_H */
