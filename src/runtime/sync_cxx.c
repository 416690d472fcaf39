/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Programs that write a trace only, as sync.c.)  The two functions of the C++
 * library that wait inside of it, where --wrap does not reach:
 * std::thread::join and std::condition_variable::wait.  Both take pointers
 * only, and throw if they fail.
 */
#include "runtime/sync.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define JOIN _ZNSt6thread4joinEv
#define WAIT _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
#define PASTE(a, b) a##b
#define NAMED(a, b) PASTE(a, b)

void NAMED(__real_, JOIN)(void *thread);
HIDDEN void NAMED(__wrap_, JOIN)(void *thread);
void NAMED(__real_, WAIT)(void *condition, void *lock);
HIDDEN void NAMED(__wrap_, WAIT)(void *condition, void *lock);

void NAMED(__wrap_, JOIN)(void *thread)
{
	SYNC_BEHIND;

	NAMED(__real_, JOIN)(thread);
}

void NAMED(__wrap_, WAIT)(void *condition, void *lock)
{
	SYNC_BEHIND;

	NAMED(__real_, WAIT)(condition, lock);
}
