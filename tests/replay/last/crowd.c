/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that come and go, and read more than is kept. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static __thread unsigned mine;
static void *run(void *arg)
{
	int fd = open("/dev/urandom", O_RDONLY), n = (int)(long)arg;
	unsigned char b[512];
	unsigned long sum = 0;
	for (int i = 0; i < n; i++) {
		if (read(fd, b, sizeof b) != sizeof b)
			abort();
		for (unsigned k = 0; k < sizeof b; k++)
			sum = sum * 31 + b[k];
		mine++;
		pthread_mutex_lock(&m);
		total += sum & 0xff;
		pthread_mutex_unlock(&m);
	}
	close(fd);
	return (void *)sum;
}
int main(void)
{
	for (int r = 0; r < 15; r++) {
		pthread_t t[4];
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], 0, run, (void *)(1000 + 400 * i));
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], 0);
		printf("round %d: %lu\n", r, total);
		fflush(stdout);
	}
	return 0;
}
