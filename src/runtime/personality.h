/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_PERSONALITY_H
#define CAIRN_RUNTIME_PERSONALITY_H

#include <unwind.h>

#include "runtime/registers.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

/*
 * 1 + the path register of the frame, which is in the call that returns to pc;
 * 0 if it has none.  What the unwinder calls the CFA of a context is the
 * frame's stack pointer when the call returns.
 */
static inline uint64_t personality_path(struct _Unwind_Context *context,
                                        uintptr_t pc)
{
	uint32_t at = __cairn_core_register(pc);
	int number = (int)(at & CAIRN_REG_NUMBER);
	uint64_t value;

	if (!at)
		return 0;
	value = number == 7 ? _Unwind_GetCFA(context)
	                    : _Unwind_GetGR(context, number);
	if (!(at & CAIRN_REG_IN_REGISTER))
		value = rt_get64((const void *)(value + registers_offset(at)));
	return 1 + value;
}

/* Notes that a frame dies. */
static inline void personality_dies(struct _Unwind_Context *context,
                                    const struct _Unwind_Exception *exception)
{
	int is_async = 0;
	uintptr_t pc = _Unwind_GetIPInfo(context, &is_async);

	__cairn_core_dying(pc, is_async, exception, false,
	                   is_async ? 0 : personality_path(context, pc));
}

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
	if (!(actions & _UA_CLEANUP_PHASE))
		return;
	if (result == _URC_CONTINUE_UNWIND)
		personality_dies(context, exception);
	else if (!(actions & _UA_HANDLER_FRAME))
		__cairn_core_dying(0, false, exception, true, 0);
}

#endif /* CAIRN_RUNTIME_PERSONALITY_H */
