/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads in the same functions at the same time.  The loops carry no
 * locked instruction that would serialise them: the books are made at the end.
 */
#include "battery.h"

#include <pthread.h>

static pthread_barrier_t barrier;

static NOINLINE int odd(unsigned i)
{
	MARK(0);
	return i & 1;
}

static void *run(void *arg)
{
	unsigned n = (unsigned)battery_int(8000000), odds = 0;

	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < n; i++) {
		MARK(1);
		if (odd(i)) {
			MARK(2);
			battery_nop();
			odds++;
		} else {
			MARK(3);
			battery_nop();
		}
	}
	BOOK(0, n);
	BOOK(1, n);
	BOOK(2, odds);
	BOOK(3, n - odds);
	HIT();
	*(unsigned *)arg = odds;
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	unsigned odds[4];
	int bad = 0;

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < battery_int(4); i++)
		pthread_create(&threads[i], NULL, run, &odds[i]);
	for (int i = 0; i < battery_int(4); i++) {
		pthread_join(threads[i], NULL);
		HIT();
		bad |= odds[i] != 4000000;
	}
	return bad;
}
