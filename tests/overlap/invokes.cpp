/* SPDX-License-Identifier: Apache-2.0 */
/* Calls within try, in loops: what the edge behind such a call adds to the
 * number of the path comes behind what the call brings back.  Nothing throws.
 */
static __thread unsigned long state = 10, sum;
static __thread long fuel = 1779;
static __thread int depth;

static unsigned choose(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

#define CALL(f, x, deepest) \
	(depth < (deepest) && fuel-- > 0 ? (depth++, sum += f(x), depth--) : 0)

__attribute__((noinline)) int turns(int x);
__attribute__((noinline)) static int many(int x);
static int loops(int x);

__attribute__((noinline)) static int ends(int x)
{
	return x;
}

__attribute__((noinline)) static int last(int x)
{
	return x;
}

static int (*volatile table[])(int) = {loops, turns, ends, many};

int turns(int x)
{
	for (int i = 0; i < (int)(choose() % 5); i++) {
		try {
			CALL(many, x + 6, 30);
			CALL(turns, x + 6, 30);
		} catch (int) {
		}
	}
	return x * 2;
}

static int many(int x)
{
	if (choose() % 3) {
		CALL(last, x, 6);
		__asm__ volatile("nop" ::: "memory");
	}
	CALL(table[choose() & 3], x + 6, 30);
	if (depth < 30 && fuel-- > 0)
		return x + 2;
	return x * 2;
}

static int loops(int x)
{
	while (fuel-- > 0 && choose() % 8)
		CALL(turns, x + 3, 12);
	return x;
}

int main()
{
	for (int k = 0; k < 7; k++) {
		try {
			sum += loops(k);
		} catch (int) {
		}
	}
	return 0;
}
