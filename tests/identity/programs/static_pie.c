/* SPDX-License-Identifier: Apache-2.0 */
// A static executable at an address that is not fixed, with threads and a
// resolver of its libc's ifuncs at work before main.
// cc: -fPIE -pthread
// ld: -static-pie
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static __thread int mine = 4;

static void *work(void *arg)
{
	mine += (int)strlen(arg);
	return (void *)(long)mine;
}

int main(void)
{
	pthread_t t;
	void *got;

	pthread_create(&t, NULL, work, "abc");
	pthread_join(t, &got);
	mine++;
	printf("%ld %d\n", (long)got, mine);
	return 0;
}
