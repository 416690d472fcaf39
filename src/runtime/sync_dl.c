/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Programs that write a trace only, as sync.c.)  Behind dlclose: addresses of
 * a library that is gone are kept from others, since in a trace they mean it.
 *
 * Breaks when: another thread loads a library between the end of the real
 * dlclose and ours, or dlclose is called by a library that cairn-cc did not
 * link.  The reader then says that two modules have the same addresses.
 */
#include "runtime/rt.h"

int __real_dlclose(void *handle);
__attribute__((visibility("hidden"))) int __wrap_dlclose(void *handle);

int __wrap_dlclose(void *handle)
{
	int status = __real_dlclose(handle);

	__cairn_core_trace_closed();
	return status;
}
