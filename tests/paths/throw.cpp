// SPDX-License-Identifier: Apache-2.0
// Exceptions: caught, passed on by cleanups, rethrown, and over frames of
// functions that have nothing to clean up.
#include "log.h"

#include <exception>

// Says that an exception leaves the activation that owns it.
struct guard {
	uint32_t me;
	~guard()
	{
		if (std::uncaught_exceptions())
			WRITE(LOG_RESUME);
	}
};

static int pick(int i)
{
	ENTER;
	AT;
	if (i % 4 == 3) {
		AT;
		throw i;
	}
	if (i % 5 == 4) {
		AT;
		throw "odd";
	}
	AT;
	RETURN(i);
}

// No cleanup: the exception ends its frames in the middle of paths.
static int bare(int i)
{
	ENTER;
	int sum = 0;
	AT;
	for (int k = 0; k < 3; k++) {
		AT;
		if ((i + k) % 2) {
			AT;
			sum += pick(i + k);
		} else {
			AT;
			sum ^= k;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

static int clean(int i)
{
	ENTER;
	AT;
	guard g{me};
	int sum = bare(i);
	if (sum % 2) {
		AT;
		sum += pick(sum);
	}
	AT;
	RETURN(sum);
}

static int collect(int from)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = from; i < from + 9; i++) {
		AT;
		try {
			AT;
			sum += clean(i);
			sum++;
			AT;
		} catch (int k) {
			AT;
			sum -= k;
			if (k % 3 == 0) {
				AT;
				continue;
			}
			AT;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

int main()
{
	log_open();
	for (int i = 0; i < 200; i++)
		try {
			collect(i);
		} catch (const char *) {
		}
	return 0;
}
