/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that call themselves and each other, in the middle of paths. */
#include "log.h"

static int odd(int n);

static int even(int n)
{
	ENTER;
	int sum = 0;
	AT;
	if (n == 0) {
		AT;
		RETURN(1);
	}
	for (int i = 0; i < 3; i++) {
		AT;
		if (i % 2) {
			AT;
			sum += odd(n - 1);
		} else {
			AT;
			sum ^= i;
		}
		AT;
	}
	AT;
	sum += odd(n - 1);
	if (sum % 3) {
		AT;
		RETURN(sum);
	}
	AT;
	RETURN(-sum);
}

static int odd(int n)
{
	ENTER;
	AT;
	if (n == 0) {
		AT;
		RETURN(0);
	}
	AT;
	n += even(n - 1);
	RETURN(n);
}

static int tree(int n, int depth)
{
	ENTER;
	int sum = n;
	AT;
	switch ((depth != 0) * (n % 4) + (depth == 0) * 9) {
	case 0:
		AT;
		sum += tree(n / 2, depth - 1);
		break;
	case 1:
		AT;
		sum += tree(3 * n + 1, depth - 1);
		/* fallthrough */
	case 2:
		AT;
		sum += tree(n + 1, depth - 1);
		break;
	case 3:
		AT;
		sum -= tree(n / 3, depth - 1);
		if (sum & 1) {
			AT;
			sum += tree(n - 1, depth - 1);
		}
		AT;
		break;
	default:
		AT;
	}
	AT;
	RETURN(sum);
}

int main(void)
{
	log_open();
	even(12);
	for (int i = 0; i < 50; i++)
		tree(i, 9);
	return 0;
}
