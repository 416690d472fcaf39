/* SPDX-License-Identifier: Apache-2.0 */
// Alignment by pages, of variables, frames, and what is allocated.
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(65536) char global[10] = "global";
static __thread _Alignas(256) int per_thread = 3;

__attribute__((noinline)) static int frame(int n)
{
	_Alignas(4096) char room[64];
	char more[n];

	memset(room, n, sizeof(room));
	memset(more, n + 1, (size_t)n);
	if (n > 3)
		return room[5] + more[n - 1] + frame(n - 3);
	return ((uintptr_t)room & 4095) ? 1000 : more[0];
}

int main(void)
{
	void *p;
	int bad = 0;

	for (int shift = 4; shift < 22; shift += 3) {
		if (posix_memalign(&p, (size_t)1 << shift, 100))
			return 1;
		bad += ((uintptr_t)p & (((size_t)1 << shift) - 1)) != 0;
		memset(p, shift, 100);
		bad += ((char *)p)[99] != shift;
		free(p);
	}
	bad += ((uintptr_t)global & 65535) != 0;
	bad += ((uintptr_t)&per_thread & 255) != 0;
	printf("%d %d %s %d\n", bad, frame(17), global, per_thread);
	return 0;
}
