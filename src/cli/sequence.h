/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_SEQUENCE_H
#define CAIRN_CLI_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/windows.h"

struct cairn_err;
struct hot;
struct json;

/* Of the paths of one function. */
struct sequence_function {
	uint64_t executions;
	struct window_sums sums; /* what was counted nowhere is lost, too */
	bool exceeds;            /* more were counted than ran */
};

/* Sequences of one length; or chains, of a path and calls before it. */
struct sequences {
	const struct hot *h;
	unsigned length; /* elements of each */
	bool of_chains;
	struct window_row *rows; /* of selected functions, hottest first */
	size_t nrows;
	uint32_t *function_of; /* per element: in h->functions, or UINT32_MAX */
	struct sequence_function *functions; /* as those of h */
	struct sequence_function sum;        /* over the selected ones */
	size_t nfindings; /* of cairn check, in the counts of the profile */
};

/*
 * Requires: h outlives the result; length and of_chains of *s are what is asked
 *           for, the rest of it is not looked at.
 * Fails:    CAIRN_E_ABSENT if the profile has none of this length.
 */
int sequences_init(struct sequences *s, const struct hot *h, const char *path,
                   struct cairn_err *err);
void sequences_release(struct sequences *s);

void sequences_text(const struct sequences *s, FILE *out);
void sequences_json(const struct sequences *s, FILE *out);

/* The parts that chains have, too: linkage name of a function of h, NULL for
 * UINT32_MAX; the sums, in all and by function, in an object. */
const char *sequences_name(const struct sequences *s, uint32_t function);
void sequences_put_functions(const struct sequences *s, struct json *j);
/* What is not as it should be, as lines of text. */
void sequences_text_notes(const struct sequences *s, FILE *out);

#endif /* CAIRN_CLI_SEQUENCE_H */
