/* SPDX-License-Identifier: Apache-2.0 */
// The linker puts functions in the place of others, folds and drops sections.
// cc: -ffunction-sections -fdata-sections -fvisibility=hidden -fno-plt
// uncovered: record never_called
// ld: -Wl,--wrap=puts -Wl,--gc-sections -Wl,--defsym=alias_of=real_one
#include <stdio.h>

int __real_puts(const char *s);
int alias_of(int x);

int __wrap_puts(const char *s)
{
	__real_puts("wrapped");
	return __real_puts(s) + 1;
}

int real_one(int x)
{
	return x > 1 ? x + 4 : 0;
}

int never_called(int x)
{
	return x * 3;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 4; i++)
		s += alias_of(i) + real_one(i);
	s += puts("text") > 0;
	printf("%d\n", s);
	return 0;
}
