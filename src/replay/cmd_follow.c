/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn-replay follow: keeps the newest part of a recording while its program
 * runs (record,last=SIZE).  The program's runtime starts it
 * (runtime/record_follow.c); nobody sees what it says.
 *
 * Whenever half of SIZE more is packed than is kept, a child of it replays the
 * log from the last checkpoints on, makes new ones, and drops what is before
 * them (follow.c).  When the program has ended, however it did, the recording
 * is trimmed and becomes one file.
 *
 * A child of fork goes on from its parent's log: from the first fork on nothing
 * is dropped, and the parent's file is left alone until all of its children
 * have checkpoints of their own, which they get when they end.
 *
 * The program waits when it is far ahead, as long as the clock in the header
 * page goes on; if anything fails here, it stands still and the log is kept.
 *
 * Invariant: whatever happens to this process, there is a recording.
 * Cost: a replay that notes what is seen, beside the program.
 */
#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/recording.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/follow.h"
#include "replay/lineage.h"
#include "replay/session.h"
#include "replay/trim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND 1000000L
#define POLL 50        /* ms */
#define NFAILURES 20u  /* in a row, and nothing is dropped any more */
#define PATIENCE 1200u /* polls: for children whose process is gone */

static const char help[] =
        "usage: cairn-replay follow --last BYTES --pid PID FILE\n\n"
        "Keeps the newest part of the recording of a process that runs.\n\n"
        "  --last BYTES     of the log\n"
        "  --pid PID        of the process\n" SESSION_HELP;

enum { OPT_LAST = SESSION_OTHERS, OPT_PID };

static const struct option options[] = {
        {"last", required_argument, NULL, OPT_LAST},
        {"pid", required_argument, NULL, OPT_PID},
        SESSION_OPTIONS,
        {0},
};

struct follower {
	struct session_options session;
	uint64_t size;
	uint64_t pid;
	int pidfd;             /* -1: the process is gone, or has to be asked */
	unsigned char *header; /* of the file, shared with the program */
	int fd;
	uint64_t at;        /* chunks before this were looked at */
	uint64_t npacked;   /* bytes of packed chunks before */
	uint64_t tried;     /* the same, when the last child was made */
	pid_t child;        /* that drops parts; 0: none */
	unsigned nfailures; /* of it, in a row */
};

static uint32_t *word(const struct follower *f, size_t at)
{
	return (uint32_t *)(f->header + at);
}

static uint64_t get_header(const struct follower *f, size_t at)
{
	return __atomic_load_n((uint64_t *)(f->header + at), __ATOMIC_ACQUIRE);
}

static void sleep_poll(void)
{
	const struct timespec t = {0, POLL * MILLISECOND};

	nanosleep(&t, NULL);
}

/* Waits a little; has the process ended? */
static bool has_ended(const struct follower *f)
{
	struct pollfd p = {.fd = f->pidfd, .events = POLLIN};

	if (f->pidfd >= 0)
		return poll(&p, 1, POLL) > 0;
	sleep_poll();
	return kill((pid_t)f->pid, 0) && errno == ESRCH;
}

/* --- while it runs -------------------------------------------------------- */

/* Packed chunks that are new. */
static void look(struct follower *f)
{
	uint64_t length = get_header(f, CAIRN_HDR_LENGTH);
	unsigned char h[CAIRN_CHUNK_HEADER_SIZE];

	while (f->at < length) {
		uint64_t n;

		if (pread(f->fd, h, sizeof(h), (off_t)f->at) !=
		    (ssize_t)sizeof(h))
			return;
		n = get_le64(h + CAIRN_CHK_LENGTH);
		if (get_le32(h + CAIRN_CHK_MAGIC) != CAIRN_CHUNK_MAGIC ||
		    n < CAIRN_CHUNK_HEADER_SIZE || n > length - f->at)
			return;
		if (get_le32(h + CAIRN_CHK_TYPE) == CAIRN_CHUNK_PACKED)
			f->npacked += n;
		f->at += n;
	}
}

/* In a child: one round.  Returns an exit status. */
static int advance(const struct follower *f)
{
	struct session s;
	struct cairn_err err;
	struct trim t;
	uint64_t dropped;
	int rc;

	if (session_open(&s, &f->session, &err) < 0)
		return ERROR;
	trim_leave_live(&s);
	rc = trim_make(&t, &s, f->size, &err);
	if (rc < 0)
		return ERROR;
	if (trim_drops(&t)) {
		rc = follow_drop(&t, f->session.file, &dropped, &err);
		if (rc == 0)
			__atomic_store_n(
			        (uint64_t *)(f->header + CAIRN_HDR_DROPPED),
			        dropped, __ATOMIC_RELEASE);
	}
	trim_release(&t);
	return rc < 0 ? ERROR : FINE;
}

static void start_round(struct follower *f)
{
	f->tried = f->npacked;
	f->child = fork();
	if (!f->child)
		_exit(advance(f));
	if (f->child < 0)
		f->child = 0;
}

static void end_round(struct follower *f, bool wait)
{
	int status;

	if (!f->child || waitpid(f->child, &status, wait ? 0 : WNOHANG) == 0)
		return;
	f->child = 0;
	f->nfailures = status ? f->nfailures + 1 : 0;
	if (status)
		f->tried = 0; /* once more: what is live was looked at */
}

/* Is there anything to do, or being done?  If not, the program need not wait
 * for us. */
static bool is_busy(const struct follower *f)
{
	return f->child || f->npacked > f->tried;
}

static bool has_enough(const struct follower *f)
{
	return f->npacked - get_header(f, CAIRN_HDR_DROPPED) >=
	       f->size + f->size / 2;
}

/* Children go on from all that is there. */
static bool has_forked(const struct follower *f)
{
	return __atomic_load_n(word(f, CAIRN_HDR_FORKS), __ATOMIC_ACQUIRE);
}

static void follow(struct follower *f)
{
	while (!has_ended(f)) {
		end_round(f, false);
		if (has_forked(f) || f->nfailures > NFAILURES)
			continue; /* and the clock stands still */
		look(f);
		if (is_busy(f))
			__atomic_fetch_add(word(f, CAIRN_HDR_BEAT), 1,
			                   __ATOMIC_RELEASE);
		if (!f->child && f->npacked > f->tried && has_enough(f))
			start_round(f);
	}
	end_round(f, true);
}

/* --- children of the process ---------------------------------------------- */

struct children {
	uint32_t n;
	bool is_pending; /* one of them needs its parent's file */
	bool is_alive;   /* and runs */
};

static void consider(struct children *c, const struct follower *f,
                     const char *path)
{
	struct cairn_err err;
	struct recording r;
	bool is_child = false;

	if (recording_open(&r, path, CONTAINER_PARTIAL, &err) < 0)
		return;
	for (size_t i = 0; i < r.ncontexts; i++) {
		const struct recording_context *x = &r.contexts[i];

		if (!x->is_forked || x->parent_pid != f->pid ||
		    r.s.c.start < get_header(f, CAIRN_HDR_START))
			continue;
		is_child = true;
		if (x->base.bytes)
			continue;
		c->is_pending = true;
		c->is_alive |= !kill((pid_t)r.s.c.pid, 0);
	}
	c->n += is_child;
	recording_release(&r);
}

static struct children find_children(const struct follower *f)
{
	const char *file = f->session.file, *slash = strrchr(file, '/');
	char *folder = slash ? xstrndup(file, (size_t)(slash + 1 - file))
	                     : xstrdup("./");
	struct children c = {0};
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *path = xasprintf("%s%s", folder, entry->d_name);
		unsigned char head[CAIRN_HDR_LENGTH];
		off_t size;

		if (lineage_read_head(path, head, &size))
			consider(&c, f, path);
		free(path);
	}
	if (d)
		closedir(d);
	free(folder);
	return c;
}

/* False: there are some that need this file for good. */
static bool await_children(const struct follower *f)
{
	for (unsigned left = PATIENCE; has_forked(f) && left; left--) {
		struct children c = find_children(f);

		if (!c.is_pending && c.n >= *word(f, CAIRN_HDR_FORKS))
			return true;
		if (c.is_alive)
			left = PATIENCE + 1;
		sleep_poll();
	}
	return !has_forked(f);
}

/* --- the end -------------------------------------------------------------- */

/* Is there anything to do but to leave it as it is? */
static bool needs_trim(const struct recording *r, uint64_t size)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->ncontexts; i++) {
		const struct streams_thread *s = r->contexts[i].stream;

		if (r->contexts[i].is_forked)
			return true;
		for (size_t k = 0; k < s->nparts; k++)
			n += s->parts[k].chunk->size;
	}
	return n > size || r->is_cut;
}

static int finish(const struct follower *f)
{
	const char *file = f->session.file;
	char *last = xasprintf("%s.last", file);
	struct cairn_err err;
	struct session s;
	struct trim t;
	int rc = 0;

	if (session_open(&s, &f->session, &err) < 0)
		return command_fail(&err);
	if (needs_trim(&s.recording, f->size)) {
		rc = trim_make(&t, &s, f->size, &err);
		if (rc == 0) {
			rc = trim_write(&t, file, &err);
			trim_release(&t);
		}
		if (rc == 0)
			unlink(last);
	}
	session_close(&s);
	free(last);
	return rc < 0 ? command_fail(&err) : FINE;
}

/* --- the command line ----------------------------------------------------- */

static bool take_option(void *follower, int option)
{
	struct follower *f = follower;

	switch (option) {
	case OPT_LAST:
		f->size = strtoull(optarg, NULL, 10);
		return true;
	case OPT_PID:
		f->pid = strtoull(optarg, NULL, 10);
		return true;
	default:
		return false;
	}
}

static const struct arguments arguments = {
        .command = "follow",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name one file",
        .noperands = 1,
};

static bool open_header(struct follower *f)
{
	void *p;

	f->fd = open(f->session.file, O_RDWR | O_CLOEXEC);
	if (f->fd < 0)
		return false;
	p = mmap(NULL, CAIRN_FILE_HEADER_SIZE, PROT_READ | PROT_WRITE,
	         MAP_SHARED, f->fd, 0);
	f->header = p;
	return p != MAP_FAILED;
}

int command_follow(int argc, char **argv)
{
	struct follower f = {.at = CAIRN_FILE_HEADER_SIZE};
	int status = arguments_read(&arguments, argc, argv, &f.session, &f);

	if (status != ARGUMENTS_FINE)
		return status;
	f.session.file = argv[optind];
	f.session.is_quiet = true;
	f.session.is_trusted = true; /* it runs beside us */
	f.session.code.saves = f.session.code.notes_seen = true;
	umask(077); /* memory of the program, as the recording is */
	if (!f.size || !f.pid || !open_header(&f))
		return command_usage("follow", "is for the runtime alone");
	f.pidfd = (int)syscall(SYS_pidfd_open, (pid_t)f.pid, 0);
	follow(&f);
	status = await_children(&f) ? finish(&f) : FINE;
	arguments_release(&f.session);
	return status;
}
