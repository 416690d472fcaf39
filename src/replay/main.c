/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn-replay: what those subcommands of cairn execute that replay a
 * recording, so that only they load LLVM.  Its name, argv[0], is the
 * subcommand's, with the version of the cairn that started it.
 */
#include "replay/command.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "replay/fatal.h"
#include "replay/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
        {"replay", command_replay},
        {"walk", command_walk}, /* of src/cli alone */
        {"values", command_values},
        {"print", command_print},
        {"output", command_output},
        {"writes", command_writes},
        {"trim", command_trim},
        {"follow", command_follow}, /* of programs that are recorded alone */
};

int command_fail(const struct cairn_err *err)
{
	meter_close();
	text_print(stderr, "cairn: %s\n", err->text);
	return ERROR;
}

int command_usage(const char *command, const char *what)
{
	text_print(
	        stderr,
	        "cairn %s: %s\nTry 'cairn %s --help' for more information.\n",
	        command, what, command);
	return ERROR;
}

bool command_tick(const char *command, const char *option, const char *text,
                  uint64_t *tick)
{
	char what[96], *end;

	errno = 0;
	*tick = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return true;
	snprintf(what, sizeof(what), "%s needs a number of ticks, not %.32s",
	         option, text);
	command_usage(command, what);
	return false;
}

int command_flush(void)
{
	if (fflush(stdout)) {
		fprintf(stderr,
		        "cairn: stdout: cannot write: %s; send the output "
		        "elsewhere\n",
		        strerror(errno));
		return ERROR;
	}
	return FINE;
}

/* The runtime of a program (runtime/record_follow.c), which may be older, says
 * FOLLOW alone. */
static bool is_of_other_version(const char *version, const char *name)
{
	return version ? strcmp(version, CAIRN_VERSION) != 0
	               : strcmp(name, "follow") != 0;
}

int main(int argc, char **argv)
{
	char *version = argc ? strchr(argv[0], '/') : NULL;

	files_fill_usual();
	files_outlive_limits();
	fatal_open();
	if (version)
		*version++ = '\0';
	if (argc) /* was the part after the slash */
		program_invocation_short_name = argv[0];
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!argc || strcmp(argv[0], commands[i].name) != 0)
			continue;
		if (!is_of_other_version(version, argv[0]))
			return commands[i].run(argc, argv);
		fprintf(stderr,
		        "cairn: cairn %s and its cairn-replay, %s, do not "
		        "belong together; install cairn again\n",
		        version ? version : "of another version",
		        CAIRN_VERSION);
		return ERROR;
	}
	fprintf(stderr, "cairn-replay: is a part of cairn, see 'cairn "
	                "--help'\n");
	return ERROR;
}
