/* SPDX-License-Identifier: Apache-2.0 */
/* What the addresses in a trace mean. */
#include "analysis/traced.h"

#include "abi/map.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Two functions of one block each, one behind the other. */
static void assert_found(uint64_t bias)
{
	struct map_block blocks[4] = {{0}};
	struct map_edge edges[4] = {
	        {.src = 0, .dst = 1, .kind = CAIRN_EDGE_ENTRY},
	        {.src = 1, .dst = 0, .kind = CAIRN_EDGE_RETURN},
	        {.src = 0, .dst = 1, .kind = CAIRN_EDGE_ENTRY},
	        {.src = 1, .dst = 0, .kind = CAIRN_EDGE_RETURN},
	};
	struct map_function functions[2] = {
	        {.address = 0x1000,
	         .code_size = 0x3000,
	         .paths = CAIRN_PATHS_TRACE,
	         .npaths = 1,
	         .nblocks = 2,
	         .nedges = 2},
	        {.address = 0x4000,
	         .code_size = 0x1000,
	         .paths = CAIRN_PATHS_TRACE,
	         .npaths = 1,
	         .first_block = 2,
	         .nblocks = 2,
	         .first_edge = 2,
	         .nedges = 2},
	};
	struct map map = {
	        .functions = functions,
	        .nfunctions = 2,
	        .blocks = blocks,
	        .nblocks = 4,
	        .edges = edges,
	        .nedges = 4,
	        .sites = (struct map_site[1]){{0}},
	        .traced = (struct map_call[1]){{0}},
	        .cuts = (uint32_t[1]){0},
	        .turns = (uint32_t[1]){0},
	};
	struct profile_module module = {
	        .map = &map, .bias = bias, .biases = &bias, .nbiases = 1};
	struct profile profile = {.modules = &module, .nmodules = 1};
	struct streams streams = {0};
	struct cairn_err err = {0};
	struct traced t;

	assert_int_equal(traced_init(&t, &profile, &streams, &err), 0);
	for (uint64_t at = 0; at < 0x6000; at += 0x100) {
		uint32_t found = t.program.function_at(t.program.context,
		                                       (uint32_t)(bias + at));

		assert_int_equal(found, at < 0x1000   ? WALK_NOTHING
		                        : at < 0x4000 ? 0
		                        : at < 0x5000 ? 1
		                                      : WALK_NOTHING);
	}
	traced_release(&t);
}

static void test_addresses(void **state)
{
	(void)state;
	assert_found(0);
	assert_found(0x555555554000);
	/* the low 32 bits begin again in, before and behind a function */
	for (uint64_t at = 0; at <= 0x6000; at += 0x1000)
		assert_found(0x555600000000 - at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
