/* SPDX-License-Identifier: Apache-2.0 */
// A thread other than the first one execs; the others are gone, and main may
// not have got to its last join.
// varies: main
// cc: -pthread
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static char *self;

static void *replace(void *arg)
{
	if (arg)
		execl("/proc/self/exe", self, "next", (char *)NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	self = argv[0];
	if (argc > 1) {
		puts("next");
		return 0;
	}
	pthread_create(&t, NULL, replace, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, replace, argv);
	pthread_join(t, NULL);
	return 3;
}
