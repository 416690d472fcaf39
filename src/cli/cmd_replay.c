/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn replay and the other questions to a recording: cairn-replay does the
 * work, which knows by its name what to do, and this waits for it.
 */
#include "base/err.h"
#include "cli/cli.h"
#include "cli/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* It ends when this does. */
static _Noreturn void work(pid_t parent, char **argv)
{
	struct cairn_err err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CLI_ERROR);
	worker_become(argv, &err);
	_exit(cli_fail(&err));
}

/* Signals that the user, or who reads its output, ends a program with: this
 * ends in the same way. */
static void follow_signal(int status)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signal == SIGINT || signal == SIGQUIT || signal == SIGTERM ||
	    signal == SIGHUP || signal == SIGPIPE)
		raise(signal);
}

int cmd_replay(int argc, char **argv)
{
	pid_t parent = getpid(), child = fork();
	struct cairn_err err;
	char name[32];
	int status = 0;

	(void)argc;
	if (!child)
		work(parent, argv);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			child = -1;
	if (child < 0) {
		cairn_fail(&err, CAIRN_E_SYSTEM, "fork, wait: %s",
		           strerror(errno));
		return cli_fail(&err);
	}
	follow_signal(status);
	snprintf(name, sizeof(name), "cairn %s", argv[0]);
	if (worker_judge(status, name, "", &err) < 0)
		return cli_fail(&err);
	return WEXITSTATUS(status);
}
