/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function with too many paths for an array, without a frame of its own and
 * with something in its red zone, below others: where it calls the runtime, its
 * stack pointer is not where the unwind tables say.
 */
#define NOINLINE __attribute__((noinline))

static volatile unsigned seed = 12345;
static unsigned long sum;

static NOINLINE unsigned many(unsigned x)
{
	volatile unsigned kept[8] = {x, x * 3, x * 5, x * 7, x, x, x, x};
	unsigned s = 0;

#define FORK(k)                                           \
	do {                                              \
		if (x & (1u << (k)))                      \
			s += kept[(k)&7] ^ (unsigned)(k); \
		else                                      \
			s ^= kept[((k) + 3) & 7] + 5;     \
	} while (0)
#define FORKS(k)             \
	do {                 \
		FORK(k);     \
		FORK(k + 1); \
		FORK(k + 2); \
		FORK(k + 3); \
	} while (0)

	FORKS(0);
	FORKS(4);
	FORKS(8);
	FORKS(12);
	FORK(16);
	return s;
}

static NOINLINE unsigned middle(unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++)
		s += many(seed * (i + 1));
	return s + 1;
}

static NOINLINE unsigned outer(unsigned n)
{
	unsigned s = middle(n);

	return s + middle(n / 2);
}

int main(void)
{
	for (unsigned i = 0; i < 20; i++)
		sum += outer(i);
	return 0;
}
