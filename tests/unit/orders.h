/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_ORDERS_H
#define CAIRN_TESTS_ORDERS_H

/*
 * Profiles of residual builds made in memory: chains of diamonds (chains.h)
 * that count untested paths in a table, and say in which order these came.
 */
#include "chains.h"

#define ORDER_N 2u /* diamonds: paths 0 to 3 */
#define ORDER_MODULES 2

/* A record: module number, path; 0 is one that was never completed. */
struct order_record {
	uint32_t module;
	uint64_t path;
};

/* A part of the order, from record `first` on. */
struct order_part {
	uint64_t first, asked;
	const struct order_record *records;
	uint64_t n;
};

/* Each module has the function `name`, with these counts of paths 0 to 3. */
struct order_profile {
	const char *name;
	const uint64_t *counts[ORDER_MODULES]; /* NULL: no such module */
	const struct order_part *parts;
	size_t nparts;
};

SYNTH_UNUSED static void order_chunk(struct bytes *out,
                                     const struct order_part *p)
{
	struct bytes b = {0};

	bytes_put_u64(&b, p->asked);
	bytes_put_u64(&b, 0);
	for (uint64_t i = 0; i < p->n; i++) {
		uint64_t module = p->records[i].module;

		bytes_put_u64(&b,
		              module << CAIRN_FRAME_MODULE_SHIFT | CHAIN_BASE);
		bytes_put_u64(&b, p->records[i].path);
	}
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_ORDER,
	                                    .n = p->n,
	                                    .aux0 = p->first},
	             b.data, b.n);
	bytes_release(&b);
}

static inline void order_map(struct bytes *map, const char *name)
{
	struct synth_block blocks[3 * ORDER_N + 1];
	struct synth_edge edges[4 * ORDER_N + 2];
	const struct synth_site site = {0x20, 3 * ORDER_N + 1, 0};
	const struct synth_pending pending = {CAIRN_PENDING_NOTHING, 0};
	uint32_t nblocks = 3 * ORDER_N + 1;

	for (uint32_t b = 1; b <= nblocks; b++)
		blocks[b - 1] = (struct synth_block){
		        .nsegments = b == nblocks ? 2 : 1, .line = 10 * b};
	chain_edges(edges, ORDER_N);
	synth_record(map, &(struct synth_function){
	                          .name = name,
	                          .file = "/a.c",
	                          .line = 10,
	                          .hash = 1,
	                          .address = CHAIN_CODE,
	                          .counters = CHAIN_BASE,
	                          .ncounters = CAIRN_TABLE_WORDS,
	                          .code_size = 0x40,
	                          .blocks = blocks,
	                          .nblocks = nblocks + 1,
	                          .edges = edges,
	                          .nedges = 4 * ORDER_N + 2,
	                          .sites = &site,
	                          .nsites = 1,
	                          .paths = CAIRN_PATHS_RESIDUAL,
	                          .npaths = 1u << ORDER_N,
	                          .pendings = &pending,
	                  });
}

static inline void order_module(struct bytes *out, const char *name,
                                uint32_t number, const uint64_t *counts)
{
	static const char *const paths[] = {"/bin/order", "/lib/order.so"};
	const uint64_t words[CAIRN_TABLE_WORDS] = {0};
	struct bytes map = {0}, tables = {0};
	uint64_t slots[1u << ORDER_N][2];

	for (uint64_t i = 0; i < 1u << ORDER_N; i++) {
		slots[i][0] = counts[i] ? i + 1 : 0;
		slots[i][1] = counts[i];
	}
	order_map(&map, name);
	synth_table(&tables, CHAIN_BASE, (const uint64_t(*)[2])slots,
	            1u << ORDER_N);
	synth_module(out, number, paths[number - 1],
	             (unsigned char)(0xd0 + number), CHAIN_BASE,
	             CAIRN_TABLE_WORDS);
	synth_counts(out, 1, number, words, CAIRN_TABLE_WORDS);
	synth_paths_chunk(out, 1, number, &tables);
	synth_map_chunk(out, number, &map);
	bytes_release(&map);
	bytes_release(&tables);
}

SYNTH_UNUSED static void order_file(struct bytes *out,
                                    const struct order_profile *p)
{
	writer_begin(out);
	synth_program(out, "/bin/order");
	for (uint32_t i = 0; i < ORDER_MODULES; i++)
		if (p->counts[i])
			order_module(out, p->name, i + 1, p->counts[i]);
	for (size_t i = 0; i < p->nparts; i++)
		order_chunk(out, &p->parts[i]);
	writer_end(out, &synth_header);
}

/* Two modules, two parts, in the wrong order; one record was never completed,
 * one path is there twice, and there was no room for three. */
SYNTH_UNUSED static void order_sample(struct bytes *out)
{
	static const uint64_t one[] = {0, 4, 1, 2}, two[] = {0, 0, 5, 0};
	static const struct order_record early[] = {{1, 4}, {1, 0}, {2, 3}},
	                                 late[] = {{1, 2}, {1, 4}, {1, 3}};
	static const struct order_part parts[] = {{3, 0, late, 3},
	                                          {0, 9, early, 3}};

	order_file(out, &(struct order_profile){
	                        .name = "f",
	                        .counts = {one, two},
	                        .parts = parts,
	                        .nparts = 2,
	                });
}

#endif /* CAIRN_TESTS_ORDERS_H */
