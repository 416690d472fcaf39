/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_CALL_PAIRS_H
#define CAIRN_RUNTIME_CALL_PAIRS_H

#include <stdbool.h>

struct chunk;

/* Is it a table of pairs of paths across calls? */
bool call_pairs_is_table(const struct chunk *c);
/* In the child of a fork: the calling thread has no table any more. */
void call_pairs_fork(void);

#endif /* CAIRN_RUNTIME_CALL_PAIRS_H */
