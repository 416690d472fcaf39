/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler is a child of the worker, made before the worker runs anything,
 * and the only one that the broker lets write into the cache.  It waits for
 * orders and has a child of its own carry out each.
 *
 * An order is a packet, struct order; with it comes a file without a name that
 * both map: SAID bytes for a sentence, if the child dies, and then the points.
 * The answer has the object in another such file.
 *
 * Invariant: no code of a recording runs in the compiler or its children.
 * Cost: a fork for each object.
 */
#include "replay/compiler.h"

#include "base/alloc.h"
#include "base/err.h"
#include "format/writer.h"
#include "replay/broker.h"
#include "replay/fatal.h"
#include "replay/packet.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAID 4096u
#define NPOINTS_MAX (1u << 24)

struct order {
	uint32_t unit, function, n;
};

struct answer {
	int32_t code;
	char text[sizeof(((struct cairn_err *)0)->text)];
};

static struct {
	compiler_make make;
	void *context;
	int line; /* to the compiler; 0: it is here */
} c;

/* --- the compiler ----------------------------------------------------------
 */

/* The object in a file without a name; -1: there is no room. */
static int put_away(const unsigned char *object, size_t size)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	if (fd >= 0 && writer_all(fd, object, size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The paper that came with an order; NULL: it is none. */
static char *map_paper(int fd, const struct order *o)
{
	size_t size = SAID + sizeof(uint32_t) * (size_t)o->n;
	struct stat st;
	void *p;

	if (fd < 0 || o->n > NPOINTS_MAX || fstat(fd, &st) ||
	    (uint64_t)st.st_size < size)
		return NULL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* The points may change while they are used: they are copied. */
static uint32_t *copy_points(const char *paper, uint32_t n)
{
	uint32_t *points = xmalloc(((size_t)n + 1) * sizeof(*points));

	memcpy(points, paper + SAID, n * sizeof(*points));
	return points;
}

static void carry_out(const struct order *o, const int *fds)
{
	char *paper = map_paper(fds[1], o);
	struct compiler_order order = {o->unit, o->function, o->n, NULL};
	struct answer a = {.code = CAIRN_E_SYSTEM};
	unsigned char *object = NULL;
	struct cairn_err err;
	size_t size;
	int out = -1;

	if (!paper)
		return;
	fatal_say_in(paper, SAID);
	order.points = copy_points(paper, o->n);
	a.code = c.make(c.context, &order, &object, &size, &err);
	if (a.code == 0) {
		out = put_away(object, size);
		if (out < 0)
			a.code = cairn_fail(&err, CAIRN_E_SYSTEM,
			                    "no room for replay code: %s; end "
			                    "other programs, or raise the "
			                    "limit (ulimit -f)",
			                    strerror(errno));
	}
	if (a.code < 0)
		snprintf(a.text, sizeof(a.text), "%s", err.text);
	packet_answer(fds[0], &a, sizeof(a), out);
}

static void close_both(const int *fds)
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static _Noreturn void serve(int line)
{
	struct order o;
	int fds[2];
	ssize_t n;

	signal(SIGCHLD, SIG_IGN);
	broker_call_as_compiler();
	while ((n = packet_receive(line, &o, sizeof(o), fds)) > 0) {
		if (n == (ssize_t)sizeof(o) && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			carry_out(&o, fds);
			_exit(0);
		}
		close_both(fds);
	}
	_exit(0);
}

int compiler_open(compiler_make make, void *context, struct cairn_err *err)
{
	int ends[2];
	pid_t child;

	c.make = make;
	c.context = context;
	c.line = 0;
	if (!broker_is_apart())
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return cairn_fail(err, CAIRN_E_SYSTEM, "socketpair: %s",
		                  strerror(errno));
	fflush(NULL);
	child = fork();
	if (child < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM, "fork: %s",
		                  strerror(errno));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	broker_leave_compiler();
	c.line = ends[0];
	return 0;
}

void compiler_close(void)
{
	if (c.line)
		close(c.line);
	c.line = 0;
}

/* --- who asks ---------------------------------------------------------------
 */

/* A paper with the points on it; -1: there is no room. */
static int write_paper(const struct compiler_order *o)
{
	static const char nothing[SAID];
	int fd = memfd_create("order", MFD_CLOEXEC);

	if (fd >= 0 && (writer_all(fd, nothing, SAID) ||
	                writer_all(fd, o->points, o->n * sizeof(*o->points)))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int fail_died(int paper, struct cairn_err *err)
{
	char said[SAID] = "";

	if (pread(paper, said, SAID - 1, 0) > 0 && *said)
		return cairn_fail(err, CAIRN_E_SYSTEM, "%s", said);
	return cairn_fail(err, CAIRN_E_SYSTEM,
	                  "the process that makes replay code was killed; if "
	                  "memory ran out, end other programs, or use "
	                  "--jobs 1");
}

static int take_object(int fd, unsigned char **object, size_t *size,
                       struct cairn_err *err)
{
	struct stat st;
	void *p = MAP_FAILED;

	if (!fstat(fd, &st) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
		         0);
	if (p == MAP_FAILED)
		return cairn_fail(err, CAIRN_E_SYSTEM, "mmap: %s",
		                  strerror(errno));
	*size = (size_t)st.st_size;
	*object = xmalloc(*size);
	memcpy(*object, p, *size);
	munmap(p, *size);
	return 0;
}

int compiler_ask(const struct compiler_order *o, unsigned char **object,
                 size_t *size, struct cairn_err *err)
{
	struct order order = {o->unit, o->function, o->n};
	struct answer a;
	int paper, out, rc;

	if (!c.line)
		return c.make(c.context, o, object, size, err);
	paper = write_paper(o);
	if (paper < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "no memory for an order; end other programs");
	if (!packet_ask(c.line, &order, sizeof(order), paper, &a, sizeof(a),
	                &out))
		rc = fail_died(paper, err);
	else if (a.code < 0 || out < 0)
		rc = cairn_fail(err, a.code < 0 ? a.code : CAIRN_E_SYSTEM, "%s",
		                a.text);
	else
		rc = take_object(out, object, size, err);
	close(paper);
	if (out >= 0)
		close(out);
	return rc;
}
