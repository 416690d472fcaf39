/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_SANDBOX_H
#define CAIRN_REPLAY_SANDBOX_H

struct broker_rights;
struct cairn_err;
struct outlet_options;

/*
 * Splits this process: its child goes on from here, behind the wall that
 * sandbox.c describes, and asks this one for files (broker.h); this one ends as
 * the child does.  What the child writes passes through here (outlet.h).
 *
 * Requires: no other thread; nothing was read of a file that somebody sent.
 * Fails:    CAIRN_E_SYSTEM if the kernel cannot do it.
 */
int sandbox_enter(const struct broker_rights *rights,
                  const struct outlet_options *options, struct cairn_err *err);

#endif /* CAIRN_REPLAY_SANDBOX_H */
