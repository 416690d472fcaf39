/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker has no descriptor of what the user has as stdout and stderr: code of
 * a recording could cut the file, write over what is in it, or have a terminal
 * obey it.  It writes into pipes.  The broker copies: bytes as they come into
 * files and pipes; to a terminal, what a terminal shows, line ends, tabs, and
 * the sequences that Cairn itself uses, for colours and to clear a line.  All
 * else is escaped as in base/text.c.
 *
 * Invariant: what lies in `held` is the beginning of a character or a sequence
 * whose end has not come yet.
 * Cost: a copy, by a process that has nothing else to do.
 */
#include "replay/outlet.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ((size_t)64 << 10)
#define PIPE_SIZE (1 << 20)
#define DIGITS 24u /* and semicolons, of a sequence */

/* --- making pipes --------------------------------------------------------- */

static bool terminals[OUTLETS + 1]; /* of the descriptors below */
static int behind[OUTLETS + 1];
static size_t nbehind;

static bool is_same(int one, int other)
{
	struct stat a, b;

	return !fstat(one, &a) && !fstat(other, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int add(struct outlets *o, int fd, bool is_raw, struct cairn_err *err)
{
	struct outlet *one = &o->items[o->n];
	int ends[2];

	/* in one pipe, what is written keeps its order */
	if (o->n && fd == STDERR_FILENO && is_same(fd, o->items[0].to)) {
		o->items[0].places[o->items[0].nplaces++] = fd;
		return 0;
	}
	if (pipe2(ends, O_CLOEXEC))
		return cairn_fail(err, CAIRN_E_SYSTEM, "pipe: %s",
		                  strerror(errno));
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* or it has less */
	*one = (struct outlet){
	        .from = ends[0],
	        .into = ends[1],
	        .to = fd,
	        .places = {fd},
	        .nplaces = 1,
	        .is_escaped = isatty(fd) && !is_raw,
	};
	o->n++;
	return 0;
}

int outlets_open(struct outlets *o, const struct outlet_options *options,
                 struct cairn_err *err)
{
	*o = (struct outlets){0};
	if (!options->has_own_stdout)
		CAIRN_TRY(add(o, STDOUT_FILENO, options->is_raw, err));
	CAIRN_TRY(add(o, STDERR_FILENO, false, err));
	if (options->terminal > STDERR_FILENO)
		CAIRN_TRY(add(o, options->terminal, false, err));
	return 0;
}

void outlets_take(struct outlets *o)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct outlet *one = &o->items[i];

		for (size_t j = 0; j < one->nplaces; j++) {
			behind[nbehind] = one->places[j];
			terminals[nbehind++] = isatty(one->places[j]);
			dup2(one->into, one->places[j]);
		}
	}
	for (size_t i = 0; i < o->n; i++) {
		close(o->items[i].from);
		close(o->items[i].into);
	}
	if (outlet_is_terminal(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOLBF, 0);
}

void outlets_leave(struct outlets *o)
{
	for (size_t i = 0; i < o->n; i++) {
		close(o->items[i].into);
		o->items[i].into = -1;
	}
}

bool outlet_is_terminal(int fd)
{
	for (size_t i = 0; i < nbehind; i++)
		if (behind[i] == fd)
			return terminals[i];
	return isatty(fd);
}

/* --- copying -------------------------------------------------------------- */

static void put(struct outlets *o, struct outlet *one, const char *bytes,
                size_t n)
{
	while (n && !one->is_broken) {
		struct pollfd p = {.fd = one->to, .events = POLLOUT};
		ssize_t done = write(one->to, bytes, n);

		if (done >= 0) {
			bytes += done;
			n -= (size_t)done;
		} else if (*o->ends || (errno != EAGAIN && errno != EINTR)) {
			one->is_broken = true;
			if (one->to == STDOUT_FILENO)
				o->error = errno;
		} else {
			poll(&p, 1, -1);
		}
	}
}

/* The length of a sequence for colours, or to clear a line, that s begins with;
 * 0: it is none, or its end is not there. */
static size_t sequence(const char *s, bool *is_cut)
{
	size_t n = 2;

	if (s[0] != '\033' || (s[1] && s[1] != '['))
		return 0;
	*is_cut = !s[1];
	if (*is_cut)
		return 0;
	n += strspn(s + 2, "0123456789;");
	*is_cut = !s[n] && n < DIGITS;
	return s[n] == 'm' || s[n] == 'K' ? n + 1 : 0;
}

/* How many bytes at s a terminal may have; 0: the first is to be escaped, or
 * the end of what is there cuts a character. */
static size_t shown(const char *s, const char *end, bool *is_cut)
{
	size_t n;

	*is_cut = false;
	if (*s == '\n' || *s == '\t' || *s == '\r')
		return 1;
	n = text_character(s);
	if (n || (n = sequence(s, is_cut)))
		return n;
	*is_cut |= (unsigned char)*s >= 0xc2 && (unsigned char)*s <= 0xf4 &&
	           !text_utf8(s) && end - s < 4;
	return 0;
}

/* Of bytes with a NUL behind them. */
static void put_escaped(struct outlets *o, struct outlet *one, const char *s,
                        size_t n, bool is_last)
{
	const char *end = s + n;
	bool is_cut;

	while (s < end && !one->is_broken) {
		const char *from = s;
		char escape[8];

		while (s < end && (n = shown(s, end, &is_cut)))
			s += n;
		put(o, one, from, (size_t)(s - from));
		if (s == end)
			return;
		if (is_cut && !is_last && (size_t)(end - s) < DIGITS) {
			one->nheld = (size_t)(end - s);
			memcpy(one->held, s, one->nheld);
			return;
		}
		put(o, one, escape,
		    (size_t)snprintf(escape, sizeof(escape), "\\x%02x",
		                     (unsigned char)*s++));
	}
}

void outlet_pass(struct outlets *o, struct outlet *one)
{
	static char bytes[PART + sizeof(one->held) + 1];
	size_t n = one->nheld;
	ssize_t more;

	memcpy(bytes, one->held, n);
	one->nheld = 0;
	more = read(one->from, bytes + n, PART);
	if (more > 0)
		n += (size_t)more;
	bytes[n] = '\0';
	if (one->is_escaped)
		put_escaped(o, one, bytes, n, more <= 0);
	else
		put(o, one, bytes, n);
	if (!(one->is_broken && one->to == STDOUT_FILENO) &&
	    (more > 0 || (more < 0 && errno == EINTR)))
		return;
	close(one->from);
	one->from = -1;
}
