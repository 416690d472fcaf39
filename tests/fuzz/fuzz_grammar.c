/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes grammars: the bytes as a file, whatever they say, and the bytes as a
 * string, whose grammar has to be sound, generate it and survive a file.
 */
#include "analysis/grammar.h"
#include "analysis/sequitur.h"
#include "base/bytes.h"

#include <stdlib.h>

#define STEPS 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

/* Walks a part from a place within, and counts it. */
static void use(const struct grammar *g, uint64_t from)
{
	uint32_t nsymbols = grammar_nsymbols(g), symbol;
	struct grammar_walk w = {0};
	struct grammar_range range = {from, grammar_length(g)};
	uint64_t *counts;

	grammar_seek(&w, g, from);
	for (int i = 0; i < STEPS && grammar_next(&w, &symbol); i++)
		require(symbol < nsymbols);
	grammar_walk_release(&w);
	if (nsymbols > STEPS)
		return; /* a symbol may be any number */
	counts = calloc(nsymbols + 1, sizeof(*counts));
	require(counts != NULL);
	grammar_count(g, &range, 1, counts);
	free(counts);
}

static void read_file(const uint8_t *data, size_t size)
{
	struct grammar g;

	if (grammar_read(&g, data, size, "input", NULL) < 0)
		return;
	use(&g, grammar_length(&g) / 2);
	grammar_release(&g);
}

static void make_grammar(const uint8_t *data, size_t size)
{
	struct sequitur *s = sequitur_new();
	struct grammar_walk w = {0};
	struct grammar g, again;
	struct bytes b = {0};
	uint32_t symbol;
	uint64_t n;
	size_t at = 0;

	for (size_t i = 0; i < size; i++)
		sequitur_push(s, data[i] % 8);
	require(!sequitur_finish(s, &g, NULL));
	sequitur_free(s);
	require(!grammar_check(&g, NULL));
	grammar_write(&g, &b);
	require(!grammar_read(&again, b.data, b.n, "input", NULL));
	grammar_seek(&w, &again, 0);
	while ((n = grammar_next(&w, &symbol)))
		for (; n; n--, at++)
			require(at < size && data[at] % 8 == symbol);
	require(at == size);
	grammar_walk_release(&w);
	bytes_release(&b);
	grammar_release(&again);
	grammar_release(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_file(data, size);
	make_grammar(data, size);
	return 0;
}
