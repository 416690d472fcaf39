/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_ORDER_H
#define CAIRN_FORMAT_ORDER_H

#include <stdbool.h>

struct profile_first;
struct profile_order;

void order_add(struct profile_order *o, const struct profile_first *first);

/* Sorts what the chunks of one file had and drops what is there again.
 * Returns false if two records have the same number. */
bool order_settle(struct profile_order *o);

/* No order at all. */
void order_clear(struct profile_order *o);

#endif /* CAIRN_FORMAT_ORDER_H */
