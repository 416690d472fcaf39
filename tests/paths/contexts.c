/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk down one of four calls, again and again: more chains of 16 of them
 * than fit into a small memory.  With an argument the program kills itself in
 * the end.
 */
#include "log.h"

#include <signal.h>

static uint32_t x;

static void down(uint32_t depth)
{
	ENTER;
	AT;
	if (!depth) {
		AT;
		RETURN_VOID;
	}
	AT;
	switch (RANDOM(x) & 3) {
	case 0:
		AT;
		down(depth - 1);
		break;
	case 1:
		AT;
		down(depth - 1);
		break;
	case 2:
		AT;
		down(depth - 1);
		break;
	default:
		AT;
		down(depth - 1);
	}
	AT;
	RETURN_VOID;
}

/* The same over and over: chains that stay known. */
static void again(uint32_t depth)
{
	ENTER;
	AT;
	if (depth) {
		AT;
		again(depth - 1);
	}
	AT;
	RETURN_VOID;
}

int main(int argc, char **argv)
{
	(void)argv; /* how many there are is enough */
	log_open();
	for (uint32_t i = 0; i < 2600; i++) {
		if (i - 50 >= 2500) /* one branch, so that there is one way */
			again(18);
		else
			down(18);
	}
	if (argc > 1)
		raise(SIGKILL);
	return 0;
}
