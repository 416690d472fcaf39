/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn replay: executes a recording again.  The work is done by cairn-replay,
 * in lib/cairn beside the folder of this program: it needs LLVM, which no other
 * subcommand should have to load.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL "../lib/cairn/cairn-replay"

/* The tool's path, for the caller to free; NULL if it is not known. */
static char *find_tool(void)
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

int cmd_replay(int argc, char **argv)
{
	struct cairn_err err;
	char *tool = find_tool();

	(void)argc;
	if (tool)
		execv(tool, argv);
	cairn_fail(&err, CAIRN_E_ABSENT,
	           "cannot execute %s: %s; install cairn again, or the LLVM 19 "
	           "libraries that it needs (libllvm19)",
	           tool ? tool : TOOL, strerror(errno));
	free(tool);
	return cli_fail(&err);
}
