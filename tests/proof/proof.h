/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_PROOF_H
#define CAIRN_TESTS_PROOF_H

/* What the proofs by random instances have in common: N SEED [FIRST]. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool proof_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && end != text && *end == '\0' && *text != '-';
}

/* False, and says how, if the arguments are not as they should be. */
static inline bool proof_arguments(int argc, char **argv, const char *name,
                                   uint64_t *n, uint64_t *seed, uint64_t *first)
{
	if (argc >= 3 && argc <= 4 && proof_number(argv[1], n) && *n > 0 &&
	    proof_number(argv[2], seed) &&
	    (argc == 3 || proof_number(argv[3], first)))
		return true;
	fprintf(stderr, "usage: %s N SEED [FIRST]\n", name);
	return false;
}

#endif /* CAIRN_TESTS_PROOF_H */
