/* SPDX-License-Identifier: Apache-2.0 */
// Functions that the processor calls have no marks.
// cc: -mgeneral-regs-only
// uncovered: trace on_timer on_fault
// uncovered: record on_timer on_fault
struct frame;

struct state {
	unsigned long ip, cs, flags, sp, ss;
};

static volatile int ticks;

__attribute__((interrupt, used)) void on_timer(struct frame *f)
{
	ticks++;
}

__attribute__((interrupt, used)) void on_fault(struct state *f,
                                               unsigned long code)
{
	ticks += (int)code + (f->ip == 0);
}

__attribute__((noinline)) static int run(int n)
{
	for (int i = 0; i < n; i++)
		ticks++;
	return ticks;
}

int main(void)
{
	return run(5) != 5;
}
