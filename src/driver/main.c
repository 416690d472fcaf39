/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn-cc and cairn-c++: clang, with marks.
 *
 * Reads the command line, builds clang's from it (command.c) and becomes clang:
 * no shell, no process in between, so status and signals are clang's own.
 * Plugin and runtime are found beside this file, in ../lib/cairn, whatever name
 * or link it was called by; that holds in the build tree and after
 * installation.
 *
 * Exit status: clang's, or 2 for what we refuse.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "driver/command.h"
#include "driver/option.h"
#include "driver/scan.h"
#include "driver/words.h"

extern char **environ;

#define CLANG_NAME "clang-19"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The compiler: $CAIRN_CLANG, the one we were built with, or one in PATH. */
static const char *find_compiler(void)
{
	const char *asked = getenv("CAIRN_CLANG");

	if (asked && *asked)
		return asked;
	if (access(CAIRN_LLVM_BIN "/clang", X_OK) == 0)
		return CAIRN_LLVM_BIN "/clang";
	return CLANG_NAME;
}

static int find_tools(struct command_tools *t, const char *name,
                      struct cairn_err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return cairn_fail(
		        err, CAIRN_E_SYSTEM,
		        "/proc/self/exe: %s; cairn-cc finds its parts "
		        "through it",
		        strerror(errno));
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');

		if (slash)
			*slash = '\0';
	}
	t->compiler = find_compiler();
	t->plugin = xasprintf("%s/lib/cairn/cairn-plugin.so", self);
	t->runtime = xasprintf("%s/lib/cairn/libcairn_rt.a", self);
	t->executable = xasprintf("%s/lib/cairn/libcairn_exe.a", self);
	t->output = xasprintf("%s/lib/cairn/libcairn_out.a", self);
	n = (ssize_t)strlen(name);
	t->cxx = n >= 2 && strcmp(name + n - 2, "++") == 0;
	return 0;
}

/* Shows the command in a form that a shell takes back. */
static void show(const struct argv *a)
{
	for (size_t i = 0; i < a->n; i++) {
		const char *p = a->items[i];

		fprintf(stderr, "%s'", i ? " " : "");
		for (; *p; p++)
			if (*p == '\'')
				fputs("'\\''", stderr);
			else
				fputc(*p, stderr);
		fputc('\'', stderr);
	}
	fputc('\n', stderr);
}

static int cannot_run(const char *compiler, int error)
{
	fprintf(stderr,
	        "cairn-cc: cannot run %s: %s; install clang-19, or name it in "
	        "CAIRN_CLANG\n",
	        compiler, strerror(error));
	return 2;
}

/* --version: clang's answer first, for scripts read its first line. */
static int show_version(const struct argv *a)
{
	pid_t pid;
	int status;
	int error = posix_spawnp(&pid, a->items[0], NULL, NULL,
	                         (char *const *)a->items, environ);

	if (error)
		return cannot_run(a->items[0], error);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cannot_run(a->items[0], errno);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
	printf("Cairn %s\n", CAIRN_VERSION);
	return fflush(stdout) == 0 ? 0 : 2;
}

static int show_help(const char *name, bool all)
{
	option_help(name, all, stdout);
	if (fflush(stdout) == 0)
		return 0;
	fprintf(stderr,
	        "%s: stdout: cannot write: %s; send the output elsewhere\n",
	        name, strerror(errno));
	return 2;
}

int main(int argc, char **argv)
{
	struct command_tools tools = {0};
	struct words words = {0};
	struct option option = {0};
	struct scan scan;
	struct argv command = {0};
	struct cairn_err err;
	int rc;
	const char *name = argc > 0 ? base_name(argv[0]) : "cairn-cc";

	words_expand(&words, argc, argv);
	rc = scan_words(&scan, &words, &option, &err);
	if (option.help) /* before any mistake */
		return show_help(name, option.help_all);
	if (rc < 0 || find_tools(&tools, name, &err) < 0 ||
	    command_build(&tools, &words, &option, &scan, &command, &err) < 0) {
		text_print(stderr, "%s: %s\n", name, err.text);
		return 2;
	}
	if (option.verbose)
		show(&command);
	if (scan.version && scan.goal == SCAN_QUERY)
		return show_version(&command);
	execvp(command.items[0], (char *const *)command.items);
	return cannot_run(command.items[0], errno);
}
