/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_ANSWERS_H
#define CAIRN_REPLAY_ANSWERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cairn_err;

struct answer {
	uint32_t context;
	uint64_t order; /* engine_order */
	uint64_t at;    /* of the text, in the file */
	size_t n;
};

/* Texts of several contexts, which are shown in one order. */
struct answers {
	struct answer *items; /* those of a context in its order */
	size_t n, cap;
	FILE *file;
	int error; /* errno of what failed first, or 0 */
};

void answers_release(struct answers *a);
/* Where to write an answer; NULL: there is no such place. */
FILE *answers_begin(struct answers *a);
/* It is written. */
void answers_end(struct answers *a, uint32_t context, uint64_t order);

/*
 * Shows the first `limit` of all contexts (0: all), in order.
 *
 * Fails:  CAIRN_E_SYSTEM if there was no room for them.
 */
int answers_show(struct answers *a, uint64_t limit,
                 void (*show)(void *context, const char *text, size_t n),
                 void *context, struct cairn_err *err);

#endif /* CAIRN_REPLAY_ANSWERS_H */
