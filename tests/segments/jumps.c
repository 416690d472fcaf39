/* longjmp over frames of calls that may be inlined, and out of handlers. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf back;
static unsigned state = 3;

static NOINLINE unsigned next(unsigned n)
{
	state = state * 1103515245u + 12345u;
	return (state >> 16) % n;
}

static NOINLINE int jumps(int x)
{
	if (x == 2)
		longjmp(back, 1);
	if (x == 4)
		raise(SIGUSR1);
	return x + 1;
}

static NOINLINE int through(int x)
{
	int y = jumps(x);

	return y & 1 ? y : jumps(y) + 1;
}

static NOINLINE int tries(int x)
{
	if (setjmp(back))
		return -through(0);
	return through(x) + through(x + 1);
}

static volatile sig_atomic_t handled;

static NOINLINE void count(int n)
{
	handled += n;
}

static void handler(int signal)
{
	count(signal ? 1 : 2);
}

int main(void)
{
	int sum = 0;

	signal(SIGUSR1, handler);
	for (int i = 0; i < 300; i++)
		sum += tries((int)next(6));
	printf("%d %d\n", sum, (int)handled);
	return 0;
}
