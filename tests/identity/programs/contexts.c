/* SPDX-License-Identifier: Apache-2.0 */
// Two stacks that hand over to each other by swapcontext, both end.
// refuses: trace "swapcontext"
// refuses: record "switches stacks"
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, other;
static int turns;

static void work(int n)
{
	for (int i = 0; i < n; i++) {
		turns += i;
		swapcontext(&other, &home);
	}
}

int main(void)
{
	char *stack = malloc(65536);

	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = 65536;
	other.uc_link = &home;
	makecontext(&other, (void (*)(void))work, 1, 5);
	for (int i = 0; i < 6; i++) {
		swapcontext(&home, &other);
		printf("%d %d\n", i, turns);
	}
	return 0;
}
