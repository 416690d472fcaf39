/* SPDX-License-Identifier: Apache-2.0 */
// As own_stacks, but what switches them has no marks: nobody sees it (README,
// Limits). edges says 0 entries of body, where 1 is right, and is not here.
// plain: switch.o
// modes: edges,strict paths paths,overlap trace record
// known: paths the path of a frame that is suspended for good is missing (C1)
// known: paths,overlap the same
// known: trace histories of two stacks are in one, at -O2 unnoticed
// known: record the replay diverges, and says that this may be why
#include <stdio.h>
#include <stdlib.h>

#ifdef PLAIN
__asm__(".text\n.globl hand_over\n.type hand_over,@function\nhand_over:\n"
        "\tpush %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n"
        "\tpush %r14\n\tpush %r15\n\tmov %rsp,(%rdi)\n\tmov %rsi,%rsp\n"
        "\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n"
        "\tpop %rbp\n\tpop %rbx\n\tret\n.size hand_over,.-hand_over\n");
#else
void hand_over(void **from, void *to);

static void *home, *fiber;
static int value;

static void body(void)
{
	for (int i = 0;; i++) {
		value += i & 1 ? i : 2 * i;
		hand_over(&fiber, home);
	}
}

int main(void)
{
	char *stack = aligned_alloc(64, 65536);
	void **sp = (void **)(stack + 65536 - 64);

	*--sp = NULL;
	*--sp = (void *)body;
	for (int i = 0; i < 6; i++)
		*--sp = NULL;
	fiber = sp;
	for (int i = 0; i < 5; i++) {
		hand_over(&home, fiber);
		printf("%d\n", value);
	}
	return 0;
}
#endif
