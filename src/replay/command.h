/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_COMMAND_H
#define CAIRN_REPLAY_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_err;

/* Exit status, as of every subcommand of cairn. */
enum { FINE = 0, DIFFERENT = 1, ERROR = 2 };

/* Subcommands: argv[0] is the name.  Return an exit status. */
int command_replay(int argc, char **argv);
int command_walk(int argc, char **argv);
int command_values(int argc, char **argv);
int command_print(int argc, char **argv);
int command_output(int argc, char **argv);
int command_writes(int argc, char **argv);
int command_trim(int argc, char **argv);
int command_follow(int argc, char **argv);

/* Prints the sentence; returns ERROR. */
int command_fail(const struct cairn_err *err);
/* Says how a command was used wrongly; returns ERROR. */
int command_usage(const char *command, const char *what);
/* A tick from the command line; false: it is none, which is said. */
bool command_tick(const char *command, const char *option, const char *text,
                  uint64_t *tick);
/* Writes out stdout: FINE, or ERROR if that failed. */
int command_flush(void);

#endif /* CAIRN_REPLAY_COMMAND_H */
