/* SPDX-License-Identifier: Apache-2.0 */
// Atomics of 16 bytes, packed fields, bit fields, misaligned numbers.
// cc: -mcx16
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) odd {
	char a;
	long b;
	unsigned c : 5, d : 9, e : 18;
	short f;
};

static _Alignas(16) __int128 word;

int main(void)
{
	char raw[64];
	struct odd *o = (struct odd *)(raw + 3);
	__int128 old, next;
	int turns = 0;

	memset(raw, 0, sizeof(raw));
	for (int i = 0; i < 20; i++) {
		o->b += i * 1000003L;
		o->d += (unsigned)i;
		o->c ^= o->d;
		o->e = o->c * 3;
		if (o->c > 20)
			o->f -= (short)i;
		old = word;
		do {
			next = old + ((__int128)o->b << 40) + 1;
			turns++;
		} while (!__sync_bool_compare_and_swap(&word, old, next));
	}
	printf("%ld %d %d %d %lx%016lx %d\n", o->b, (int)o->c, (int)o->e, o->f,
	       (long)(word >> 64), (long)word, turns);
	return 0;
}
