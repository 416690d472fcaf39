/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delta of an executable: one word at a fixed place of the thread's
 * static TLS block, so that code reads it with one instruction.  A member of
 * its own in the archive, since local-exec TLS cannot be linked into a shared
 * object: only code of an executable names the word and so brings it in.
 */
#include <stdint.h>

#include "abi/rt.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN __thread int64_t __cairn_delta __attribute__((tls_model("local-exec"))) =
        CAIRN_RT_NO_DELTA;

HIDDEN void cairn_delta_set(int64_t delta);

void cairn_delta_set(int64_t delta)
{
	__cairn_delta = delta;
}
