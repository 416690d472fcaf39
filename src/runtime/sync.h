/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_SYNC_H
#define CAIRN_RUNTIME_SYNC_H

#include "runtime/rt.h"

static inline void sync_behind(const char *scope)
{
	(void)scope;
	__cairn_core_trace_sync();
}

/* The calling thread has waited for another when the scope is left, also if it
 * is cancelled in there.  Requires: -fexceptions. */
#define SYNC_BEHIND \
	const char scope_ __attribute__((cleanup(sync_behind), unused)) = 0

#endif /* CAIRN_RUNTIME_SYNC_H */
