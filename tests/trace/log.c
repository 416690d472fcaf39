/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log that --cairn=trace,log calls in every block: a hash of all of them,
 * in order, of the thread that ends the process.  Written to the file that
 * CAIRN_LOG names when the program exits; with CAIRN_LOG_ALL every block is a
 * line there.  Compiled without marks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void cairn_log_block(const void *function, uint64_t block);

static __thread uint64_t hash, nblocks;
static FILE *out;

__attribute__((constructor(90))) static void begin(void)
{
	const char *name = getenv("CAIRN_LOG_ALL");

	if (name)
		out = fopen(name, "w");
}

void cairn_log_block(const void *function, uint64_t block)
{
	uint64_t id = (uint64_t)(uint32_t)(uintptr_t)function << 32 | block;

	hash = (hash ^ id) * 0x9e3779b97f4a7c15u;
	hash ^= hash >> 29;
	nblocks++;
	if (out)
		fprintf(out, "%08x %u\n", (unsigned)(id >> 32),
		        (unsigned)block);
}

__attribute__((destructor(90))) static void end(void)
{
	const char *name = getenv("CAIRN_LOG");
	FILE *f = name ? fopen(name, "w") : NULL;

	if (out)
		fclose(out);
	if (!f)
		return;
	fprintf(f, "%llu %016llx\n", (unsigned long long)nblocks,
	        (unsigned long long)hash);
	fclose(f);
}
