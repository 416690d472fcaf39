/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cairn-replay says when it cannot go on.  Each case is a process of its
 * own: its stderr, or what it leaves for its parent, is one sentence.
 */
#include "ir/said.h"
#include "replay/fatal.h"

#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <llvm-c/Core.h>

static void ask_too_much(void)
{
	LLVMSetDataLayout(LLVMModuleCreateWithName("m"), "e-p:nonsense");
}

static void abort_now(void)
{
	abort();
}

static void assume(void)
{
	assert(getpid() < 0);
}

static void overflow_stack(void)
{
	volatile char frame[4096];

	frame[0] = 1;
	if (frame[0])
		overflow_stack();
	frame[1] = 1;
}

static void use_all_memory(void)
{
	struct rlimit limit = {1, 1};

	setrlimit(RLIMIT_DATA, &limit);
	setrlimit(RLIMIT_AS, &limit);
	for (;;) /* its tables are C++'s */
		LLVMModuleCreateWithName("m");
}

/* What a process says that does this and has to end with status 2. */
static void hear(void (*act)(void), bool is_apart, char *text, size_t size)
{
	char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ends[2], status;
	ssize_t n, at = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		fatal_open();
		fatal_file("f.cairn");
		if (is_apart)
			fatal_say_in(shared, 4096);
		act();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], text + at, size - 1 - (size_t)at)) > 0)
		at += n;
	text[at] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	if (is_apart) {
		assert_string_equal(text, "");
		strcpy(text, shared);
	}
	munmap(shared, 4096);
}

static void expect(void (*act)(void), const char *what, const char *advice)
{
	char text[4096];

	hear(act, true, text, sizeof(text));
	assert_ptr_equal(strstr(text, "f.cairn: "), text);
	assert_non_null(strstr(text, what));
	assert_non_null(strstr(text, advice));
	assert_null(strchr(text, '\n'));
	hear(act, false, text, sizeof(text));
	assert_ptr_equal(strstr(text, "cairn: f.cairn: "), text);
	assert_non_null(strstr(text, what));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void test_llvm(void **state)
{
	(void)state;
	expect(ask_too_much, "LLVM says: ", "report this");
}

static void test_crash(void **state)
{
	(void)state;
	expect(assume, "an assumption of Cairn does not hold (tests/unit/",
	       "report this");
	expect(abort_now, "crashed with SIGABRT", "report this");
	expect(overflow_stack, "crashed with SIGSEGV", "report this");
}

static void use_all_time(void)
{
	raise(SIGXCPU);
}

static void test_time(void **state)
{
	(void)state;
	expect(use_all_time, "more processor time", "CAIRN_REPLAY_SECONDS");
}

static void test_memory(void **state)
{
	(void)state;
	expect(use_all_memory, "not enough memory", "ulimit -v");
}

static void compile_and_crash(void)
{
	fatal_compile("/bin/prog", "a.c");
	raise(SIGSEGV);
}

static void test_compiling(void **state)
{
	(void)state;
	expect(compile_and_crash,
	       "the replay code of a.c in /bin/prog cannot be made",
	       "compile that source with clang instead of cairn-cc");
}

static void test_said(void **state)
{
	static const struct {
		const char *message, *said;
	} all[] = {
	        {"not yet implemented.", "not yet implemented"},
	        {"Unexpected call!", "Unexpected call"},
	        {"a plain text", "a plain text"},
	        {"the first line.\nand the second.", "the first line"},
	        {"a file: x.c...  ", "a file: x.c"},
	        {".", ""},
	        {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t n = ir_said(all[i].message);

		assert_int_equal(n, strlen(all[i].said));
		assert_memory_equal(all[i].message, all[i].said, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_said),  cmocka_unit_test(test_llvm),
	        cmocka_unit_test(test_crash), cmocka_unit_test(test_memory),
	        cmocka_unit_test(test_time),  cmocka_unit_test(test_compiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
