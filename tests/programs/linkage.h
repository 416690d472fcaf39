/* SPDX-License-Identifier: Apache-2.0 */
/* What linkage_a.c and linkage_b.c share. */
#ifndef CAIRN_TESTS_LINKAGE_H
#define CAIRN_TESTS_LINKAGE_H

extern _Thread_local int counter;
extern int constructed;

int weak_default(int x);
int weak_replaced(int x);
int with_alias(int x);
int by_resolver(int x);
__attribute__((visibility("hidden"))) int hidden(int x);

/* Defined in both files; the linker keeps one copy, or each file its own. */
static inline int clamp(int x)
{
	if (x < 0)
		return 0;
	return x > 1000 ? 1000 : x;
}

#endif /* CAIRN_TESTS_LINKAGE_H */
