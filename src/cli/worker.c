/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn-replay, in lib/cairn beside the folder of this program: a program of
 * its own since it needs LLVM, which no other subcommand should have to load.
 * Its argv[0] is COMMAND/VERSION: one of another version does not answer.
 *
 * It may die of what LLVM does with a program, or for lack of memory; who
 * started it says so.
 */
#include "cli/worker.h"

#include "base/alloc.h"
#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL "../lib/cairn/cairn-replay"
#define REMEDY                                                         \
	"install cairn again, or the LLVM 19 libraries that it needs " \
	"(libllvm19)"
#define NOT_STARTED 127 /* of the loader */

/* For the caller to free; NULL if it is not known. */
static char *tool_path(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	return xasprintf("%.*s" TOOL, (int)(slash + 1 - self), self);
}

int worker_become(char **argv, struct cairn_err *err)
{
	char *tool = tool_path();
	int rc;

	argv[0] = xasprintf("%s/" CAIRN_VERSION, argv[0]);
	if (tool)
		execv(tool, argv);
	rc = cairn_fail(err, CAIRN_E_ABSENT, "cannot execute %s: %s; " REMEDY,
	                tool ? tool : TOOL, strerror(errno));
	free(tool);
	return rc;
}

static int fail_signal(int signal, const char *what, struct cairn_err *err)
{
	if (signal == SIGKILL)
		return cairn_fail(
		        err, CAIRN_E_SYSTEM,
		        "%s: cairn-replay, which does the work, was killed; if "
		        "memory ran out, end other programs, or use --jobs 1",
		        what);
	if (signal == SIGHUP || signal == SIGINT || signal == SIGTERM)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: cairn-replay, which does the work, was "
		                  "told to end (%s); ask again",
		                  what, strsignal(signal));
	return cairn_fail(
	        err, CAIRN_E_SYSTEM,
	        "%s: cairn-replay, which does the work, was ended by the "
	        "signal %d (%s); report this as a mistake of Cairn, "
	        "with the recording and the program",
	        what, signal, strsignal(signal));
}

int worker_judge(int status, const char *what, const char *said,
                 struct cairn_err *err)
{
	if (WIFSIGNALED(status))
		return fail_signal(WTERMSIG(status), what, err);
	if (WEXITSTATUS(status) != NOT_STARTED)
		return 0;
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "cairn-replay does not start%s%s; " REMEDY,
	                  *said ? ": " : "", said);
}
