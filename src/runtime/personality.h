/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_PERSONALITY_H
#define CAIRN_RUNTIME_PERSONALITY_H

#include <unwind.h>

#include "runtime/rt.h"

/*
 * Notes what a language's own personality routine decided about a frame: to let
 * it go, or to enter a cleanup of it.  In a header because each routine is an
 * archive member of its own, linked only where its language is.
 */
static inline void personality_note(_Unwind_Action actions,
                                    _Unwind_Reason_Code result,
                                    const struct _Unwind_Exception *exception,
                                    struct _Unwind_Context *context)
{
	int is_async = 0;
	uintptr_t pc;

	if (!(actions & _UA_CLEANUP_PHASE))
		return;
	if (result == _URC_CONTINUE_UNWIND) {
		pc = _Unwind_GetIPInfo(context, &is_async);
		__cairn_core_dying(pc, is_async, exception, false);
	} else if (!(actions & _UA_HANDLER_FRAME)) {
		__cairn_core_dying(0, false, exception, true);
	}
}

#endif /* CAIRN_RUNTIME_PERSONALITY_H */
