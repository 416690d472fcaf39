/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_INTERRUPTS_H
#define CAIRN_REPLAY_INTERRUPTS_H

#include <stddef.h>
#include <stdint.h>

struct engine_came;
struct lineage_options;
struct recording;

/* Where handlers interrupted the contexts of a recording. */
struct interrupts {
	struct interrupts_list *lists; /* of contexts that were interrupted */
	size_t n, cap;
};

/* Reads the logs of all handlers.  One that is damaged is read up to there: who
 * replays it says so. */
void interrupts_read(struct interrupts *t, const struct recording *r,
                     const struct lineage_options *options);
void interrupts_release(struct interrupts *t);

/* Those of a context, in its order; they live as long as *t. */
const struct engine_came *interrupts_of(const struct interrupts *t,
                                        uint32_t context, size_t *n);

#endif /* CAIRN_REPLAY_INTERRUPTS_H */
