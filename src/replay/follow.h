/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_FOLLOW_H
#define CAIRN_REPLAY_FOLLOW_H

#include <stdint.h>

struct cairn_err;
struct trim;

/*
 * Writes where contexts begin into FILE.last, and gives back what of FILE is
 * before that: its program may be running.  *dropped: bytes that were given
 * back.
 */
int follow_drop(struct trim *t, const char *file, uint64_t *dropped,
                struct cairn_err *err);

#endif /* CAIRN_REPLAY_FOLLOW_H */
