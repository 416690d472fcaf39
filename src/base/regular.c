/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular files at paths that somebody else may have chosen.
 *
 * O_NONBLOCK: open() of a FIFO would wait for a writer.  The type is asked of
 * the descriptor, so nothing can change in between.  Files in /proc say that
 * they are regular and have size 0: no more than st_size bytes are read.
 */
#include "base/regular.h"

#include "base/alloc.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path, const char *remedy, struct stat *st,
                 struct cairn_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, st)) {
		cairn_fail(err, CAIRN_E_SYSTEM, "%s: cannot open: %s; %s", path,
		           strerror(errno), remedy);
		if (fd >= 0)
			close(fd);
		return CAIRN_E_SYSTEM;
	}
	if (S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return cairn_fail(err, CAIRN_E_FOREIGN, "%s: not a regular file; %s",
	                  path, remedy);
}

/* Devices have no end; a terminal has one, by hand, and so has /dev/null. */
static bool is_endless(const struct stat *st, int fd, const char *path)
{
	return S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && !isatty(fd) &&
	                                strcmp(path, "/dev/null") != 0);
}

FILE *named_stream(const char *path, const char *remedy, struct cairn_err *err)
{
	struct stat st;
	FILE *f = NULL;
	int fd, e;

	if (!strcmp(path, "-"))
		return stdin;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, &st)) {
		if (S_ISDIR(st.st_mode) || is_endless(&st, fd, path)) {
			close(fd);
			cairn_fail(err, CAIRN_E_FOREIGN,
			           "%s: not a text file; %s", path, remedy);
			return NULL;
		}
		f = fdopen(fd, "r");
	}
	e = errno;
	if (!f && fd >= 0)
		close(fd);
	if (!f)
		cairn_fail(err, CAIRN_E_SYSTEM, "%s: cannot open: %s; %s", path,
		           strerror(e), remedy);
	return f;
}

int regular_read_fd(int fd, const struct stat *st, const char *path,
                    size_t limit, const char *remedy, char **text, size_t *size,
                    struct cairn_err *err)
{
	size_t n = (size_t)st->st_size, at = 0;
	ssize_t got = 1;

	if (n > limit)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "%s: has more than %zu MiB; %s", path,
		                  limit >> 20, remedy);
	*text = xmalloc(n + 1);
	while (at < n && got) {
		got = read(fd, *text + at, n - at);
		if (got < 0 && errno != EINTR) {
			int e = errno;

			free(*text);
			*text = NULL;
			return cairn_fail(err, CAIRN_E_SYSTEM,
			                  "%s: cannot read: %s; %s", path,
			                  strerror(e), remedy);
		}
		at += got > 0 ? (size_t)got : 0;
	}
	(*text)[at] = '\0';
	*size = at;
	return 0;
}

FILE *regular_stream(const char *path, const char *remedy,
                     struct cairn_err *err)
{
	struct stat st;
	int fd = regular_open(path, remedy, &st, err);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0) {
		cairn_fail(err, CAIRN_E_SYSTEM, "%s: cannot open: %s; %s", path,
		           strerror(errno), remedy);
		close(fd);
	}
	return f;
}

int regular_read(const char *path, size_t limit, const char *remedy,
                 char **text, size_t *size, struct cairn_err *err)
{
	struct stat st;
	int fd = regular_open(path, remedy, &st, err), rc;

	if (fd < 0)
		return fd;
	rc = regular_read_fd(fd, &st, path, limit, remedy, text, size, err);
	close(fd);
	return rc;
}
