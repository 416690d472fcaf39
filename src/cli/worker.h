/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_WORKER_H
#define CAIRN_CLI_WORKER_H

#include <sys/types.h>

struct cairn_err;

/* Becomes cairn-replay, which is asked for what argv[0] says; that is changed.
 * Returns if it cannot: the sentence is in *err. */
int worker_become(char **argv, struct cairn_err *err);

/*
 * How it ended, by its status of waitpid: 0 if by itself, whatever it says with
 * its exit status.  `what`: the recording, or the command; `said`: a line of
 * its stderr, or "".
 */
int worker_judge(int status, const char *what, const char *said,
                 struct cairn_err *err);

#endif /* CAIRN_CLI_WORKER_H */
