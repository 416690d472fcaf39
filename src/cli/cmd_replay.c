/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn replay and the other questions to a recording: cairn-replay does the
 * work, which knows by its name what to do.
 */
#include "base/err.h"
#include "cli/cli.h"
#include "cli/walked.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_replay(int argc, char **argv)
{
	struct cairn_err err;
	char *tool = walked_tool();

	(void)argc;
	if (tool)
		execv(tool, argv);
	walked_fail(tool, &err);
	free(tool);
	return cli_fail(&err);
}
