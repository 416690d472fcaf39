/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object with marks made by hand. */
#define SHARED_MARKS
#include "marks.h"

COUNTER(lib);
COUNTER(lib_gone);

void lib_work(void);
void lib_exit(void (*f)(void));

void lib_work(void)
{
	ENTER();
	COUNT(lib);
}

void lib_exit(void (*f)(void))
{
	ENTER();
	COUNT(lib);
	f();
	COUNT(lib_gone);
}
