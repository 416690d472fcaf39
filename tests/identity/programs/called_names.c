/* SPDX-License-Identifier: Apache-2.0 */
// What is called in place of something else has the name of the source.
// levels: -O0 -O2
// modes: edges paths trace record
// uncovered: paths go
// uncovered: trace go main
// uncovered: record go
// differs: paths main
// differs: record main go
// ask: edges | 0 | report --json {file} | "callee": "__builtin_longjmp"
// ask: paths | 0 | report --json {file} | "callee": "__builtin_longjmp"
// ask: trace | 0 | report --json {file} | "callee": "__builtin_longjmp"
// ask: record | 0 | report --json {file} | "callee": "__builtin_longjmp"
// ask: record | 0 | report --json {file} | "callee": "__builtin_setjmp"
// ask: record | 0 | report --json {file} | "callee": "vfork"
// ask: edges | 0 | report --json {file} | \A(?![^\0]*"(cairn\.|__cairn))
// ask: record | 0 | report --json {file} | \A(?![^\0]*"(cairn\.|_setjmp|fork"))
#include <sys/wait.h>
#include <unistd.h>

static void *buffer[20];
static volatile int turns;

__attribute__((noinline)) static void back(void)
{
	__builtin_longjmp(buffer, 1);
}

__attribute__((noinline)) static int go(int x)
{
	__asm__ goto("test %0, %0\n\tjz %l1" : : "r"(x) : "cc" : zero);
	return 1;
zero:
	return 2;
}

int main(void)
{
	int status = 0;
	pid_t child = vfork();

	if (!child)
		_exit(3);
	waitpid(child, &status, 0);
	if (WEXITSTATUS(status) != 3 || go(0) != 2 || go(5) != 1)
		return 1;
	if (!__builtin_setjmp(buffer))
		back();
	turns++;
	return turns != 1;
}
