/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic instructions that no processor has in its oldest form: the code
 * generator makes calls of them (foreign/helpers.c), which know nothing of
 * segments. */
#include <stdio.h>

static __int128 wide = 5;

int main(int argc, char **argv)
{
	__int128 expected = 8, old;
	int fits;

	(void)argv;
	old = __atomic_fetch_add(&wide, 2 + argc, __ATOMIC_SEQ_CST);
	fits = __atomic_compare_exchange_n(&wide, &expected,
	                                   ((__int128)argc << 70) + 9, 0,
	                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	printf("%d %d %d %d\n", (int)old, fits, (int)wide, (int)(wide >> 70));
	fits = __atomic_compare_exchange_n(&wide, &expected, 0, 0,
	                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	old = __atomic_exchange_n(&wide, 3 * argc, __ATOMIC_SEQ_CST);
	printf("%d %d %d\n", fits, (int)(old >> 70), (int)wide);
	return 0;
}
