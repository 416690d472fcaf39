/* SPDX-License-Identifier: Apache-2.0 */
// Guaranteed tail calls: as many as the stack has no room for.
// limits: ulimit -s 512
// defect: 2
#include <stdio.h>

#define TAIL __attribute__((musttail)) return
typedef long op(const char *code, long acc, long left);
static op add, sub, loop;
static op *const table[] = {add, sub, loop};

static long add(const char *code, long acc, long left)
{
	acc += 3;
	TAIL table[code[1] - '0'](code + 1, acc, left);
}

static long sub(const char *code, long acc, long left)
{
	if (acc & 1)
		acc -= 1;
	TAIL table[code[1] - '0'](code + 1, acc, left);
}

static long loop(const char *code, long acc, long left)
{
	if (--left == 0)
		return acc;
	TAIL table[code[-4] - '0'](code - 4, acc, left);
}

int main(void)
{
	printf("%ld\n", add("00102", 0, 100000));
	return 0;
}
