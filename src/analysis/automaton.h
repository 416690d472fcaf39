/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_AUTOMATON_H
#define CAIRN_ANALYSIS_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct expression;

/* An event that is no letter: it changes nothing. */
#define AUTOMATON_OTHER UINT32_MAX
/* The state without a way to the end. */
#define AUTOMATON_DEAD 0

/* A set of positions, determinized. */
struct automaton_state {
	uint32_t *next; /* per letter; AUTOMATON_OTHER: not known yet */
	uint64_t *set;  /* of positions */
	uint64_t *out;  /* positions that may follow one of them */
	bool is_final;
};

/* The automaton of a path expression, determinized where it is walked. */
struct automaton {
	const struct expression *e;
	bool is_repeated;
	/* the nondeterministic one; position 0 is where it begins */
	uint32_t npositions;
	uint32_t *symbols; /* per position */
	uint64_t *follow;  /* per position, a set of positions */
	uint64_t *final;   /* a set of positions */
	size_t width;      /* words of a set of positions */
	/* letters: what an event may stand for */
	uint64_t *letters; /* per letter, a set of symbols */
	uint64_t *masks;   /* per letter, the set of its positions */
	uint32_t nletters, letters_cap;
	size_t symbol_width; /* words of a set of symbols */
	/* the deterministic one */
	struct automaton_state *states;
	uint32_t nstates, states_cap;
	uint32_t *slots; /* open addressing: 1 + state, 0 empty */
	uint32_t nslots; /* a power of two */
	uint64_t *scratch;
	size_t size; /* bytes of all states */
};

/*
 * The automaton of the expression, or of its repetition any number of times.
 *
 * Requires: e outlives it.
 * Fails:    CAIRN_E_LIMIT if counts make too many copies; *a is then empty.
 */
int automaton_init(struct automaton *a, const struct expression *e,
                   bool is_repeated, struct cairn_err *err);
void automaton_release(struct automaton *a);

/*
 * The letter of an event that stands for this set of symbols, one bit each;
 * AUTOMATON_OTHER if it is empty.  Requires: no state was asked for yet.
 */
uint32_t automaton_letter(struct automaton *a, const uint64_t *symbols);

/* Where it begins; and where it may be if it began unseen. */
uint32_t automaton_start(struct automaton *a);
uint32_t automaton_anywhere(struct automaton *a);

/*
 * One step.  Fails: CAIRN_E_LIMIT if there are too many states.
 */
int automaton_next(struct automaton *a, uint32_t state, uint32_t letter,
                   uint32_t *next, struct cairn_err *err);
bool automaton_is_final(const struct automaton *a, uint32_t state);
/* The set of symbols that may come next: a->symbol_width words. */
void automaton_expected(const struct automaton *a, uint32_t state,
                        uint64_t *symbols);

#endif /* CAIRN_ANALYSIS_AUTOMATON_H */
