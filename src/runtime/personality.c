/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The personality routine of functions that have none of their own: an
 * unwinder calls it for every frame that it takes away, be it for a C++
 * exception that flies through C, for pthread_exit or for a cancellation.
 *
 * Cost: nothing until somebody unwinds.
 */
#include "runtime/personality.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN _Unwind_Reason_Code __cairn_personality(
        int version, _Unwind_Action actions, uint64_t exception_class,
        struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code __cairn_personality(int version, _Unwind_Action actions,
                                        uint64_t exception_class,
                                        struct _Unwind_Exception *exception,
                                        struct _Unwind_Context *context)
{
	(void)version;
	(void)exception_class;
	(void)exception;
	if (actions & _UA_CLEANUP_PHASE)
		personality_dies(context, NULL);
	return _URC_CONTINUE_UNWIND;
}
