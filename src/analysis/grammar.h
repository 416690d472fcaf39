/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_GRAMMAR_H
#define CAIRN_ANALYSIS_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct cairn_err;

/* Symbols from here on are rules: GRAMMAR_RULE + index. */
#define GRAMMAR_RULE 0x80000000u

/* A symbol of the input or a rule, so many times in a row. */
struct grammar_item {
	uint32_t symbol;
	uint64_t times; /* at least 1 */
};

/*
 * A grammar that generates one string: the finished form, see grammar.c.  A
 * rule uses rules of lower index only; the last one generates the string.
 */
struct grammar {
	struct grammar_item *items; /* of rule r: from first[r] to first[r+1] */
	size_t *first;
	uint32_t nrules;  /* at least 1 */
	uint64_t *length; /* per rule: symbols that it generates */
	/* per rule, after grammar_measure: */
	uint64_t *weight;      /* of all that it generates */
	uint64_t *occurrences; /* in the derivation of the string */
};

static inline bool grammar_is_rule(uint32_t symbol)
{
	return symbol >= GRAMMAR_RULE;
}

static inline uint32_t grammar_start(const struct grammar *g)
{
	return g->nrules - 1;
}

static inline size_t grammar_nitems(const struct grammar *g)
{
	return g->first[g->nrules];
}

/* Symbols of the string. */
static inline uint64_t grammar_length(const struct grammar *g)
{
	return g->length[grammar_start(g)];
}

/*
 * Makes a grammar of items and first, which it takes over.
 *
 * Fails: CAIRN_E_CORRUPT if a rule uses one that is not below it or an item 0
 *        times, or is empty and not the only one; CAIRN_E_LIMIT if the string
 * has 2^64 symbols or more.  g is then released.
 */
int grammar_init(struct grammar *g, struct grammar_item *items, size_t *first,
                 uint32_t nrules, struct cairn_err *err);
void grammar_release(struct grammar *g);

/*
 * Weighs all rules, and counts how often each occurs.
 *
 * Requires: weight[s] for every symbol s < nsymbols.
 * Fails:    CAIRN_E_MISMATCH if a symbol has no weight; CAIRN_E_LIMIT if the
 *           string weighs 2^64 or more.
 */
int grammar_measure(struct grammar *g, const uint64_t *weight,
                    uint32_t nsymbols, struct cairn_err *err);

/* One more than the highest symbol; 0 if there is none. */
uint32_t grammar_nsymbols(const struct grammar *g);

/* A part of the string: positions from `from` up to `to`. */
struct grammar_range {
	uint64_t from, to;
};

/*
 * How often each symbol occurs in some parts of the string, together, added to
 * counts[], without expanding them.
 *
 * Requires: from <= to <= grammar_length(g); counts[s] for all symbols.
 */
void grammar_count(const struct grammar *g, const struct grammar_range *ranges,
                   size_t n, uint64_t *counts);

/*
 * Is it what Sequitur promises?  No pair of neighbours occurs twice, neighbours
 * differ, every rule but the last is used at least twice, and holds at least
 * two items.
 *
 * Fails: CAIRN_E_CORRUPT, and says which rule is not so.
 */
int grammar_check(const struct grammar *g, struct cairn_err *err);

/* --- the string -------------------------------------------------------- */

struct grammar_place {
	size_t item;   /* in items */
	size_t end;    /* of its rule */
	uint64_t done; /* times that are behind it */
};

/* A place in the string; zero-initialise. */
struct grammar_walk {
	const struct grammar *g;
	struct grammar_place *places; /* innermost last */
	size_t n, cap;
};

/* Goes to the symbol at a position, or to the end if that is the length. */
void grammar_seek(struct grammar_walk *w, const struct grammar *g,
                  uint64_t position);
/* The next symbols that are alike, as far as they are one item of a rule.
 * Returns how many, 0 at the end. */
uint64_t grammar_next(struct grammar_walk *w, uint32_t *symbol);
void grammar_walk_release(struct grammar_walk *w);

/* --- bytes ------------------------------------------------------------- */

void grammar_write(const struct grammar *g, struct bytes *out);
/*
 * Reads what grammar_write has written.
 *
 * Fails: CAIRN_E_CORRUPT for anything else, CAIRN_E_LIMIT as grammar_init;
 *        `file` is for the sentence.  What grammar_check would find is not
 *        looked for.
 */
int grammar_read(struct grammar *g, const void *data, size_t n,
                 const char *file, struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_GRAMMAR_H */
