/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SEQUITUR_H
#define CAIRN_ANALYSIS_SEQUITUR_H

#include <stdint.h>

struct cairn_err;
struct grammar;

/*
 * Makes a grammar of a string while that is read, symbol by symbol, and without
 * keeping it.  See sequitur.c.
 */
struct sequitur;

struct sequitur *sequitur_new(void);
void sequitur_free(struct sequitur *s);

/* Requires: symbol < GRAMMAR_RULE. */
void sequitur_push(struct sequitur *s, uint32_t symbol);
/* The symbol n times. */
void sequitur_push_run(struct sequitur *s, uint32_t symbol, uint64_t n);

/*
 * The finished grammar; nothing may be pushed after it.
 *
 * Ensures: grammar_check(g) finds nothing.
 * Fails:   CAIRN_E_LIMIT if 2^64 symbols or more were pushed.
 */
int sequitur_finish(struct sequitur *s, struct grammar *g,
                    struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_SEQUITUR_H */
