/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings, read as traces: cairn-replay (cli/worker.c) replays a recording
 * and writes the trace that it would have been into a file without a name.
 *
 * Invariant: a recording is replayed once in a process.
 * Cost: that of the replay, and room for the trace in $TMPDIR.
 */
#include "cli/walked.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/worker.h"
#include "format/container.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES_MAX 16

static struct {
	struct walked {
		char *path;
		int fd;
	} * items;
	size_t n, cap;
	const char **exes;
	size_t nexes, exes_cap;
} all;

void walked_look_in(const char *path)
{
	VEC_RESERVE(all.exes, all.nexes, all.exes_cap);
	all.exes[all.nexes++] = path;
}

/* --- running it ---------------------------------------------------------- */

static int open_nameless(struct cairn_err *err)
{
	const char *folder = getenv("TMPDIR");
	char *name;
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	name = xasprintf("%s/cairn.XXXXXX", folder);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	else
		cairn_fail(err, CAIRN_E_SYSTEM,
		           "%s: %s: no room for the trace of a recording; set "
		           "TMPDIR to a folder that has some",
		           folder, strerror(errno));
	free(name);
	return fd < 0 ? CAIRN_E_SYSTEM : fd;
}

/* Becomes the tool: the trace goes to stdout, which is the file. */
static _Noreturn void become_tool(const char *path, bool is_partial, int out,
                                  int errors)
{
	const char **argv = xcalloc(2 * all.nexes + 10, sizeof(*argv));
	int terminal = progress_is_wanted() ? dup(STDERR_FILENO) : -1;
	struct cairn_err err;
	size_t n = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM); /* as for Ctrl-C: it clears up */
	argv[n++] = "walk";
	if (terminal >= 0) {
		argv[n++] = "--progress";
		argv[n++] = xasprintf("%d", terminal);
	}
	for (size_t i = 0; i < all.nexes; i++) {
		argv[n++] = "--exe";
		argv[n++] = all.exes[i];
	}
	if (is_partial)
		argv[n++] = "--partial";
	argv[n++] = "--";
	argv[n++] = "/dev/stdout";
	argv[n++] = path;
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		cairn_fail(&err, CAIRN_E_SYSTEM, "dup: %s", strerror(errno));
	else
		worker_become((char **)argv, &err);
	dprintf(errors, "cairn: %s\n", err.text);
	_exit(CLI_ERROR);
}

/* A line, as much as there is room for; false: there is none. */
static bool read_line(FILE *f, char *line, size_t size)
{
	size_t n = 0;
	int c;

	while ((c = getc(f)) != EOF && c != '\n')
		if (n < size - 1)
			line[n++] = (char)c;
	line[n] = '\0';
	return n || c != EOF;
}

/* The last line of what a process says, "" if nothing; those before go on to
 * stderr, if they are few. */
static void read_lines(int fd, char *last, size_t size)
{
	FILE *f = fdopen(fd, "r");
	char *line = xmalloc(size);

	last[0] = '\0';
	for (unsigned n = 0; f && read_line(f, line, size); n++) {
		if (*last && n <= LINES_MAX)
			text_print(stderr, "cairn: %s\n", last);
		snprintf(last, size, "%s",
		         !strncmp(line, "cairn: ", 7) ? line + 7 : line);
	}
	free(line);
	if (f)
		fclose(f);
}

static int run_tool(const char *path, bool is_partial, int out,
                    struct cairn_err *err)
{
	char said[sizeof(err->text)];
	int ends[2], status = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return cairn_fail(err, CAIRN_E_SYSTEM, "pipe: %s",
		                  strerror(errno));
	child = fork();
	if (!child)
		become_tool(path, is_partial, out, ends[1]);
	close(ends[1]);
	read_lines(ends[0], said, sizeof(said));
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM, "%s: %s", path,
		                  strerror(errno));
	CAIRN_TRY(worker_judge(status, path, said, err));
	if (status)
		return cairn_fail(err, CAIRN_E_MISMATCH, "%s", said);
	if (*said)
		text_print(stderr, "cairn: %s\n", said);
	return 0;
}

static int replay(const char *path, enum container_mode mode, char **trace,
                  struct cairn_err *err)
{
	int fd = -1, rc;

	for (size_t i = 0; i < all.n; i++)
		if (!strcmp(all.items[i].path, path))
			fd = all.items[i].fd;
	if (fd < 0) {
		fd = open_nameless(err);
		if (fd < 0)
			return fd;
		rc = run_tool(path, mode == CONTAINER_PARTIAL, fd, err);
		if (rc < 0) {
			close(fd);
			return rc;
		}
		VEC_RESERVE(all.items, all.n, all.cap);
		all.items[all.n++] = (struct walked){xstrdup(path), fd};
	}
	*trace = xasprintf("/proc/self/fd/%d", fd);
	return 0;
}

void walked_begin(void)
{
	container_replay_with(replay);
}

void walked_end(void)
{
	container_replay_with(NULL);
}
