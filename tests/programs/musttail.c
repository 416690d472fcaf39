/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must be tail calls, direct and through a table, in a chain too
 * deep for any stack. */
#include <stdio.h>

#define MUSTTAIL __attribute__((musttail))

struct state;
typedef long step(struct state *s, long n, long acc);
struct state {
	step *table[4];
	long calls;
};

static long dispatch(struct state *s, long n, long acc)
{
	s->calls++;
	if (n <= 0)
		return acc;
	MUSTTAIL return s->table[n & 3](s, n, acc);
}

static long add(struct state *s, long n, long acc)
{
	MUSTTAIL return dispatch(s, n - 1, acc + n);
}

static long flip(struct state *s, long n, long acc)
{
	if (acc & 1)
		MUSTTAIL return add(s, n, acc ^ 2);
	MUSTTAIL return dispatch(s, n - 3, -acc);
}

int main(void)
{
	struct state s = {{add, flip, add, flip}, 0};
	long acc = dispatch(&s, 1000000, 1);

	printf("%ld %ld\n", acc, s.calls);
	return 0;
}
