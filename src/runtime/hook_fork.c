/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  _Fork: fork without the handlers of pthread_atfork, of
 * which ours must run all the same.  The driver links with --wrap=_Fork; in a
 * static program fork itself then comes here too, and our handler, which has
 * run, holds the lock.
 */
#include "runtime/exe.h"
#include "runtime/rt.h"

int __real__Fork(void);

int __wrap__Fork(void)
{
	int pid;

	if (rt_is_inside())
		return __real__Fork();
	rt_fork_prepare();
	pid = __real__Fork();
	if (pid == 0)
		rt_fork_child();
	else
		rt_fork_parent();
	return pid;
}
