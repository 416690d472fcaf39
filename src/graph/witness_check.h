/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_WITNESS_CHECK_H
#define CAIRN_GRAPH_WITNESS_CHECK_H

struct cairn_err;
struct witness;
struct witness_options;

/*
 * Can every run be regenerated from its witnesses?  Looks at w->on_edge and
 * w->at_head alone, in the light of options' slots and is_alone:
 *
 *  1. of the edges out of one block, no two have a code in their witness sets
 *     in common, and none has an empty set (theorem 4.2 of the paper);
 *  2. nothing leads from a block with two edges out, or from the head of a loud
 *     one, to a call, the exit or a block without edges out, and writes nothing
 *     (the blocking property);
 *  3. every directed cycle writes;
 *  4. nothing stands where no code fits, or is too large for one.
 *
 * Fails: CAIRN_E_CORRUPT, with the block or edge.
 */
int witness_check(const struct witness *w,
                  const struct witness_options *options, struct cairn_err *err);

#endif /* CAIRN_GRAPH_WITNESS_CHECK_H */
