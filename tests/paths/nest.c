/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in loops, with breaks, continues, switches and several edges back. */
#include "log.h"

static uint32_t x = 1;
#define CHANCE(n) (RANDOM(x) % (n) == 0)
#define PICK(n) (RANDOM(x) % (n))

static int loops(int n)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < n; i++) {
		AT;
		for (int j = 0; j < i % 7; j++) {
			AT;
			if (CHANCE(5)) {
				AT;
				continue;
			}
			sum += j;
			while (CHANCE(3)) {
				AT;
				sum++;
				if (CHANCE(4)) {
					AT;
					break;
				}
			}
			AT;
			if (CHANCE(11)) {
				AT;
				goto out;
			}
		}
		AT;
		do {
			AT;
			sum ^= i;
		} while (CHANCE(2));
		AT;
	}
out:
	AT;
	RETURN(sum);
}

/* Three edges back to one head, and one from an inner to an outer head. */
static int backs(int n)
{
	ENTER;
	int sum = 0;
	AT;
outer:
	AT;
	sum++;
top:
	AT;
	n--;
	if (n < 0) {
		AT;
		RETURN(sum);
	}
	switch (PICK(6)) {
	case 0:
		AT;
		goto top;
	case 1:
		AT;
		sum += 2;
		goto top;
	case 2:
		AT;
		sum += 3; /* fallthrough */
	case 3:
		AT;
		sum += 4;
		goto outer;
	case 4:
		AT;
		break;
	default:
		AT;
		sum ^= 1;
	}
	AT;
	if (CHANCE(2)) {
		AT;
		goto top;
	}
	AT;
	goto outer;
}

/* Conditions with && and ||, whose parts are blocks that log nothing. */
static int conditions(int n)
{
	ENTER;
	int sum = 0;
	AT;
	while (n-- > 0) {
		AT;
		if (n % 3 == 0) {
			AT;
			if (n % 5 == 0) {
				AT;
				sum += 1;
			} else {
				AT;
				sum += 2;
			}
		} else if (n % 7 == 0) {
			AT;
			sum += 3;
			continue;
		} else {
			AT;
			sum += 4;
		}
		AT;
		sum ^= n;
	}
	AT;
	RETURN(sum);
}

int main(void)
{
	log_open();
	for (int i = 0; i < 300; i++)
		loops(i % 40), backs(i % 50), conditions(i % 60);
	return 0;
}
