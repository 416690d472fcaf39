/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes path expressions: the parser, the automaton, and a walk whose letters
 * are the bytes of the expression itself.
 */
#include "analysis/automaton.h"
#include "analysis/expression.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each symbol alone is a letter. */
static void add_letters(struct automaton *a)
{
	uint64_t *set = calloc(a->symbol_width + 1, sizeof(*set));

	if (!set)
		abort();
	for (uint32_t i = 0; i < a->e->nsymbols; i++) {
		set[i / 64] = (uint64_t)1 << i % 64;
		if (automaton_letter(a, set) != i)
			abort();
		set[i / 64] = 0;
	}
	free(set);
}

static void run(struct automaton *a, const uint8_t *data, size_t size)
{
	uint32_t state;
	struct cairn_err err;

	add_letters(a);
	state = automaton_start(a);
	for (size_t i = 0; a->nletters && i < size; i++)
		if (automaton_next(a, state, data[i] % a->nletters, &state,
		                   &err))
			return;
		else if (state == AUTOMATON_DEAD)
			state = automaton_anywhere(a);
}

static void try_text(const char *text, const uint8_t *data, size_t size)
{
	struct expression e;
	struct automaton a;
	struct cairn_err err;

	if (expression_parse(&e, text, &err))
		return;
	for (unsigned is_repeated = 0; is_repeated < 2; is_repeated++)
		if (!automaton_init(&a, &e, is_repeated, &err)) {
			run(&a, data, size);
			automaton_release(&a);
		}
	expression_release(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	try_text(text, data, size);
	free(text);
	return 0;
}
