/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process that cannot go on: LLVM has met what it cannot do, there
 * is no memory, or it crashed.  What is said is one sentence of ours, with the
 * file, the place and what to do; what was written before is not whole, as the
 * status says.
 *
 * Invariant: sentences are made without allocating memory: it may be what is
 * lacking, or what is broken.
 */
#include "replay/fatal.h"

#include "ir/said.h"
#include "replay/command.h"
#include "replay/meter.h"
#include "replay/shim.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/ErrorHandling.h>

#define STACK_SIZE 65536

static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE,
                              SIGILL,  SIGABRT, SIGXCPU};

static struct {
	const char *file, *module, *source;
	bool is_reading; /* IR */
	char *text;      /* for the parent; NULL: stderr */
	size_t size;
	char own[1024];
	char stack[STACK_SIZE]; /* of handlers: the other may be full */
} fatal;

void fatal_file(const char *file)
{
	fatal.file = file;
}

void fatal_compile(const char *module, const char *source)
{
	fatal.module = module;
	fatal.source = source;
}

bool fatal_is_compiling(void)
{
	return fatal.module;
}

void fatal_read(bool is_reading)
{
	fatal.is_reading = is_reading;
}

void fatal_say_in(char *text, size_t size)
{
	fatal.text = text;
	fatal.size = size;
}

/* Adds a text at the end of another one, as far as there is room. */
static void add(char *to, size_t size, const char *text)
{
	size_t n = strlen(to), more = strlen(text);

	if (more > size - 1 - n)
		more = size - 1 - n;
	memcpy(to + n, text, more);
	to[n + more] = '\0';
}

/* "FILE: " and, if it compiles, "the replay code of ... cannot be made: ". */
static void add_place(char *to, size_t size)
{
	if (fatal.file) {
		add(to, size, fatal.file);
		add(to, size, ": ");
	}
	if (!fatal.module)
		return;
	add(to, size, "the replay code of ");
	add(to, size, fatal.source ? fatal.source : "a unit");
	add(to, size, " in ");
	add(to, size, fatal.module);
	add(to, size, " cannot be made: ");
}

static void add_advice(char *to, size_t size)
{
	if (fatal.is_reading)
		add(to, size,
		    " while it read IR, which is damaged or was made to do "
		    "harm; build the program again");
	else if (fatal.module)
		add(to, size,
		    "; compile that source with clang instead of cairn-cc, and "
		    "report this as a mistake of Cairn");
	else
		add(to, size,
		    "; report this as a mistake of Cairn, with the recording "
		    "and the program");
}

static _Noreturn void end(const char *what, const char *more,
                          const char *advice)
{
	char *to = fatal.own; /* others may write into that of the parent */
	size_t size = sizeof(fatal.own) - 1;

	to[0] = '\0';
	if (!fatal.text)
		add(to, size, "cairn: ");
	add_place(to, size);
	add(to, size, what);
	add(to, size, more);
	if (advice)
		add(to, size, advice);
	else
		add_advice(to, size);
	if (fatal.text) {
		size = strlen(to) < fatal.size ? strlen(to) : fatal.size - 1;
		memcpy(fatal.text, to, size);
		fatal.text[size] = '\0';
	} else {
		strcat(to, "\n");
		if (write(STDERR_FILENO, to, strlen(to)) < 0)
			_exit(ERROR);
	}
	_exit(ERROR);
}

static void handle_error(const char *reason)
{
	static char line[512];

	meter_close();
	snprintf(line, sizeof(line), "%.*s", (int)ir_said(reason), reason);
	end("LLVM says: ", line, NULL);
}

/* Of all assertions of this program, those in LLVM's headers, too. */
void __assert_fail(const char *assertion, const char *file, unsigned line,
                   const char *function)
{
	static char text[512];

	(void)function;
	snprintf(text, sizeof(text), "%s:%u: %s)", file, line, assertion);
	end("an assumption of Cairn does not hold (", text, NULL);
}

static void handle_no_memory(void)
{
	end("there is not enough memory", "",
	    "; end other programs, raise the limit (ulimit -v), or use "
	    "--jobs 1");
}

static const char *name_of(int signal)
{
	switch (signal) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	case SIGABRT:
		return "SIGABRT";
	default:
		return "a signal";
	}
}

_Noreturn void fatal_signal(int signal)
{
	if (fatal.is_reading)
		end("LLVM ended by ", name_of(signal), NULL);
	end("cairn-replay crashed with ", name_of(signal), NULL);
}

static void handle_signal(int signal)
{
	if (signal == SIGXCPU)
		end("the replay has used more processor time than it may", "",
		    "; set CAIRN_REPLAY_SECONDS to more if you trust the "
		    "recording and its programs");
	fatal_signal(signal);
}

void fatal_open(void)
{
	stack_t stack = {.ss_sp = fatal.stack, .ss_size = sizeof(fatal.stack)};
	struct sigaction action = {.sa_handler = handle_signal,
	                           .sa_flags = SA_ONSTACK};

	sigemptyset(&action.sa_mask);
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	LLVMInstallFatalErrorHandler(handle_error);
	replay_shim_on_no_memory(handle_no_memory);
}
