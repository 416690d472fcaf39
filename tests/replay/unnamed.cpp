// SPDX-License-Identifier: Apache-2.0
// Values that only debug information names, where setjmp is called: checkpoints
// keep them, and what makes them stays.
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

struct Error : std::runtime_error {
	using runtime_error::runtime_error;
};

static jmp_buf there;

__attribute__((noinline)) static int read_one(FILE *file)
{
	return file ? getc(file) : -1;
}

static void after(int n)
{
	if (!setjmp(there))
		longjmp(there, n);
	printf("%d\n", n);
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : nullptr;
	volatile int turns = 0;

	try {
		throw Error("outer");
	} catch (Error &error) {
		printf("caught\n");
	}
	int unused = read_one(file);
	bool is_first = unused > argc;
	if (!setjmp(there)) {
		turns++;
		longjmp(there, 1);
	}
	printf("%d %d\n", turns, read_one(file));
	after(argc);
	if (file)
		fclose(file);
	return 0;
}
