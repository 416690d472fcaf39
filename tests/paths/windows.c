/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop whose turns go any of eight ways: more sequences of them than fit into
 * a small memory.  With an argument the program kills itself in the end.
 */
#include "log.h"

#include <signal.h>

static uint32_t ways(uint32_t turns)
{
	uint32_t x = turns, sum = 0;
	ENTER;

	AT;
	while (turns--) {
		AT;
		if (RANDOM(x) & 1) {
			AT;
			sum += x;
		}
		AT;
		if (RANDOM(x) & 1) {
			AT;
			sum ^= x;
		}
		AT;
		if (RANDOM(x) & 1) {
			AT;
			sum -= x;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

/* The same turns over and over: windows that stay known. */
static uint32_t again(uint32_t turns)
{
	uint32_t sum = 0;
	ENTER;

	AT;
	for (uint32_t i = 0; i < turns; i++) {
		AT;
		if (i % 3) {
			AT;
			sum += i;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

int main(int argc, char **argv)
{
	uint32_t sum;

	(void)argv; /* how many there are is enough */
	log_open();
	sum = again(1000) + ways(40000) + again(1000);
	if (argc > 1)
		raise(SIGKILL);
	return sum == 1; /* never, as it happens */
}
