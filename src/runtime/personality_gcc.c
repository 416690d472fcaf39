/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The personality routine of C functions with cleanups (attribute cleanup,
 * -fexceptions): the language's own, and a note of every frame that it lets go.
 * A frame with something to do first is entered at its landing pad; the mark
 * there counts it, and the resume at its end is a way out like a return.
 */
#include "runtime/personality.h"

#define HIDDEN __attribute__((visibility("hidden")))

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
                                         uint64_t exception_class,
                                         struct _Unwind_Exception *exception,
                                         struct _Unwind_Context *context);
HIDDEN _Unwind_Reason_Code __cairn_gcc_personality(
        int version, _Unwind_Action actions, uint64_t exception_class,
        struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code __cairn_gcc_personality(int version, _Unwind_Action actions,
                                            uint64_t exception_class,
                                            struct _Unwind_Exception *exception,
                                            struct _Unwind_Context *context)
{
	_Unwind_Reason_Code result = __gcc_personality_v0(
	        version, actions, exception_class, exception, context);

	personality_note(actions, result, exception, context);
	return result;
}
