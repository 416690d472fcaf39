/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the hand-made seeds of tests/fuzz/corpus, which the golden tests use
 * as well: `make_seeds DIRECTORY`.  Version 3 of the map; when the format
 * changes, files of old versions stay and new ones are added.
 */
#include "orders.h"

static const char *root;

static void save(const char *name, struct bytes *b)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	synth_save(path, b);
	b->n = 0;
}

static void save_containers(void)
{
	struct bytes b = {0};

	synth_sample(&b, 30, 10, 1);
	save("container/v2-map3-closed.cairn", &b);
	synth_sample(&b, 20, 5, 0);
	save("container/v2-map3-closed2.cairn", &b);
	synth_sample(&b, 30, 10, 0);
	synth_kill(&b);
	save("container/v2-map3-killed.cairn", &b);
	synth_sample(&b, 30, 10, (uint64_t)-50);
	save("container/v2-map3-negative.cairn", &b);
	synth_sample(&b, 30, 10, 1);
	b.n -= 100;
	save("container/v2-map3-truncated.cairn", &b);
	synth_sample(&b, 30, 10, 1);
	b.data[b.n - 20] ^= 1;
	save("container/v2-map3-flipped.cairn", &b);
	synth_sample(&b, 30, 10, 1);
	put_le32(b.data + CAIRN_HDR_VERSION, 3);
	save("container/v3-future.cairn", &b);
	synth_paths_sample(&b, 0x555555550000, 0);
	save("container/v2-map3-paths.cairn", &b);
	synth_paths_sample(&b, 0x7ffff7dd0000, 0);
	save("container/v2-map3-paths2.cairn", &b);
	synth_paths_sample(&b, 0, 3);
	save("container/v2-map3-paths-lost.cairn", &b);
	order_sample(&b);
	save("container/v2-map3-order.cairn", &b);
	writer_begin(&b);
	synth_program(&b, "/nowhere/program");
	synth_module(&b, 1, "/nowhere/program", 0xbb, 0x1000, 1);
	synth_counts(&b, 1, 1, (const uint64_t[]){1}, 1);
	writer_end(&b, &synth_header);
	save("container/v2-map3-no-map.cairn", &b);
	bytes_put(&b, "not a profile\n", 14);
	save("container/foreign.txt", &b);
	bytes_release(&b);
}

/* A function that calls itself, another one and a pointer. */
static void synth_calls_map(struct bytes *out)
{
	static const struct synth_block blocks[] = {{0, 2, 20, 0},
	                                            {0, 1, 40, 1}};
	static const struct synth_edge edges[] = {
	        {0, 1, CAIRN_EDGE_ENTRY, 0},
	        {1, 2, CAIRN_EDGE_JUMP, 0},
	        {2, 0, CAIRN_EDGE_RETURN, 1},
	};
	static const struct synth_outcall outcalls[] = {
	        {1, 0, "f", 19, 20},
	        {1, 1, "puts", 0, 21},
	        {2, 0, NULL, 0, 0},
	};
	static const char *const instances[] = {"helper"};

	synth_record(out, &(struct synth_function){.name = "f",
	                                           .file = "/src/t.c",
	                                           .line = 19,
	                                           .address = 0x1000,
	                                           .counters = 0x100,
	                                           .ncounters = 1,
	                                           .instances = instances,
	                                           .ninstances = 1,
	                                           .blocks = blocks,
	                                           .nblocks = 3,
	                                           .edges = edges,
	                                           .nedges = 3,
	                                           .outcalls = outcalls,
	                                           .noutcalls = 3});
}

int main(int argc, char **argv)
{
	struct bytes map = {0}, source = {0}, elf = {0}, stripped = {0};
	struct bytes counts = {0}, paths = {0}, calls = {0};

	if (argc != 2)
		return 2;
	root = argv[1];
	synth_sample_map(&map);
	synth_source_map(&source);
	synth_paths_map(&paths);
	synth_calls_map(&calls);
	synth_elf(&elf, &map, 0xaa);
	synth_elf(&stripped, NULL, 0xaa);
	bytes_put(&counts, "0123456789abcdef", 16);
	bytes_put(&counts, map.data, map.n);
	save("counts/v3-sample.counts", &counts);
	bytes_put(&counts, "0123456789abcdef", 16);
	bytes_put(&counts, source.data, source.n);
	save("counts/v3-source.counts", &counts);
	bytes_put(&counts, "0123456789abcdef", 16);
	bytes_put(&counts, paths.data, paths.n);
	save("counts/v3-paths.counts", &counts);
	save("map/v3-sample.map", &map);
	save("map/v3-source.map", &source);
	save("map/v3-paths.map", &paths);
	save("map/v3-calls.map", &calls);
	save("elf/sample.elf", &elf);
	save("elf/stripped.elf", &stripped);
	save_containers();
	bytes_release(&map);
	bytes_release(&source);
	bytes_release(&elf);
	bytes_release(&stripped);
	bytes_release(&counts);
	bytes_release(&paths);
	bytes_release(&calls);
	return 0;
}
