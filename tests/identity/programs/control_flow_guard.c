/* SPDX-License-Identifier: Apache-2.0 */
// Branch targets are marked (endbr64), setjmp comes back twice, calls go
// through pointers.
// cc: -fcf-protection=full -D_FORTIFY_SOURCE=2
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf place;

static int half(int x)
{
	if (x == 7)
		longjmp(place, 5);
	return x / 2;
}

static int more(int x)
{
	return x + 3;
}

int main(int argc, char **argv)
{
	int (*volatile table[])(int) = {half, more, half};
	volatile int s = 0, i = 0;
	char buf[20];

	switch (setjmp(place)) {
	case 0:
		for (; i < 9; i++)
			s += table[i % 3](i);
		break;
	case 5:
		s += 100;
		i++;
		for (; i < 12; i++)
			s += table[i % 2](i + 1);
	}
	strcpy(buf, s > 100 ? "large" : "small");
	printf("%d %s\n", s, buf);
	return 0;
}
