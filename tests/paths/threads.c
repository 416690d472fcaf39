/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads in the same functions: one with few paths, one with many. */
#include "log.h"

#include <pthread.h>

static uint32_t many(uint32_t n)
{
	ENTER;
	uint32_t sum = 0;
	AT;
	for (uint32_t i = 0; i < n; i++) {
		AT;
		if ((RANDOM(n) & 7) == 0) {
			AT;
			sum += 1;
		}
		if ((RANDOM(n) & 7) == 1) {
			AT;
			sum += 2;
		}
		if ((RANDOM(n) & 7) == 2) {
			AT;
			sum += 3;
		}
		if ((RANDOM(n) & 7) == 3) {
			AT;
			sum += 4;
		}
		if ((RANDOM(n) & 7) == 4) {
			AT;
			sum += 5;
		}
		if ((RANDOM(n) & 7) == 5) {
			AT;
			sum += 6;
		}
		if ((RANDOM(n) & 7) == 6) {
			AT;
			sum += 7;
		}
		if ((RANDOM(n) & 7) == 7) {
			AT;
			sum += 8;
		}
		if ((RANDOM(n) & 7) == 0) {
			AT;
			sum += 9;
		}
		if ((RANDOM(n) & 7) == 1) {
			AT;
			sum += 10;
		}
		if ((RANDOM(n) & 7) == 2) {
			AT;
			sum += 11;
		}
		if ((RANDOM(n) & 7) == 3) {
			AT;
			sum += 12;
		}
		if ((RANDOM(n) & 7) == 4) {
			AT;
			sum += 13;
		}
		if ((RANDOM(n) & 7) == 5) {
			AT;
			sum += 14;
		}
		if ((RANDOM(n) & 7) == 6) {
			AT;
			sum += 15;
		}
		AT;
		n = n % 1000;
	}
	AT;
	RETURN(sum);
}

static uint32_t few(uint32_t n)
{
	ENTER;
	AT;
	while (n > 1) {
		AT;
		if (n & 1) {
			AT;
			n = 3 * n + 1;
		} else {
			AT;
			n /= 2;
		}
		AT;
	}
	AT;
	RETURN(n);
}

static void *work(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	log_thread(id);
	for (uint32_t i = 0; i < 40; i++) {
		few(100 * id + i);
		many(i % 40 + id);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	log_open();
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
