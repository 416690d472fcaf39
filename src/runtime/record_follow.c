/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of which only the newest part is kept (record,last=SIZE): who
 * drops the rest.
 *
 * A replay can begin in the middle where another replay has written down what
 * the program had then; the program itself cannot.  So a process beside it,
 * cairn-replay by the name of `follow`, replays the log while it grows, and
 * drops what is before its checkpoints.  It is no child of the program, which
 * may wait for all that it has: a child of ours starts it and ends, with no
 * signal and for nobody's wait but ours.  It has no descriptor of the
 * program's, nor its session.
 *
 * The thread that packs waits for it when the file has four times SIZE, and
 * the program for that thread: the file does not grow without bound.  A clock
 * in the header page says that there is somebody to wait for.
 *
 * Without it the recording is whole: that is said, and nothing is lost.
 *
 * Invariant: nothing of the program's changes but, for a moment, its memory in
 * a copy.
 * Cost: two forks, once in a process.
 */
#include "runtime/record.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/out.h"
#include "runtime/secure.h"
#include "runtime/sys.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define WALL 0x40000000 /* __WALL */
#define NDIGITS 24u
#define AHEAD 4u /* times SIZE */
#define BUFFERS_MIN ((uint64_t)8 << 20)
#define PAUSE UINT64_C(5000000)
#define PATIENCE 2000u /* pauses */

extern char **__environ __attribute__((weak));

/* What a unit that was compiled with record,last=SIZE says: plugin/last.c. */
HIDDEN extern const uint64_t __cairn_record_last;
HIDDEN __attribute__((weak)) const uint64_t __cairn_record_last = 0;
HIDDEN extern const char __cairn_record_tool[];
HIDDEN __attribute__((weak)) const char __cairn_record_tool[1] = "";

static uint64_t size_kept(void)
{
	return *(volatile const uint64_t *)&__cairn_record_last;
}

static const char *find_env(const char *name)
{
	size_t n = rt_strlen(name);
	char **env = &__environ ? __environ : NULL;

	for (; env && *env; env++)
		if (rt_same(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static const char *put_number(char *text, uint64_t v)
{
	char *at = text + NDIGITS;

	*--at = 0;
	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return at;
}

/* A copy of this process; nobody gets a signal when it ends. */
static long copy_process(void)
{
	return sys6(SYS_clone, 0, 0, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void become(const char *tool,
                                             const char *const *argv)
{
	const uint64_t none = 0;
	int fd;

	sys1(SYS_setsid, 0);
	sys3(SYS_close_range, 0, ~0u, 0);
	fd = (int)sys3(SYS_open, (long)"/dev/null", O_RDWR, 0);
	sys3(SYS_dup2, fd, 1, 0);
	sys3(SYS_dup2, fd, 2, 0);
	sys_restore_signals(&none);
	sys3(SYS_execve, (long)tool, (long)argv,
	     (long)(&__environ ? __environ : NULL));
	sys1(SYS_exit_group, 127);
	__builtin_unreachable();
}

/* In the copy: one more, whose parent is nobody's child. */
__attribute__((noreturn)) static void start_apart(const char *tool,
                                                  const char *const *argv)
{
	long pid = copy_process();

	if (!pid)
		become(tool, argv);
	sys1(SYS_exit_group, pid < 0);
	__builtin_unreachable();
}

static int start(const char *tool, const char *path)
{
	char size[NDIGITS], pid[NDIGITS];
	const char *argv[] = {"follow",
	                      "--last",
	                      put_number(size, size_kept()),
	                      "--pid",
	                      put_number(pid, (uint64_t)process.pid),
	                      "--",
	                      path,
	                      NULL};
	int status = 0;
	long child, r;

	r = sys4(SYS_faccessat, AT_FDCWD, (long)tool, X_OK, 0);
	if (r < 0)
		return (int)r;
	child = copy_process();
	if (!child)
		start_apart(tool, argv);
	if (child < 0)
		return (int)child;
	do
		r = sys4(SYS_wait4, child, (long)&status, WALL, 0);
	while (r == -EINTR);
	return r >= 0 && status ? -EAGAIN : 0;
}

/* Of the thread that packs, without the lock. */
static void wait_for_it(void)
{
	const unsigned char *h = process.header;
	uint32_t beat = 0, npauses = 0;

	while (h && !__atomic_load_n(&trace.must_stop, __ATOMIC_ACQUIRE) &&
	       trace.nappended - rt_get64(h + CAIRN_HDR_DROPPED) >
	               AHEAD * size_kept()) {
		if (rt_get32(h + CAIRN_HDR_BEAT) != beat)
			npauses = 0;
		beat = rt_get32(h + CAIRN_HDR_BEAT);
		if (++npauses > PATIENCE) {
			trace.wait = NULL;
			return;
		}
		sys_futex_wait(&trace.must_stop, 0, PAUSE);
	}
}

/* What waits to be packed is in the file, too. */
static void bound_buffers(void)
{
	uint64_t n = AHEAD * size_kept();

	if (n < BUFFERS_MIN)
		n = BUFFERS_MIN;
	if (n < trace.bound)
		trace.bound = n;
}

void record_follow(void)
{
	const char *tool = find_env("CAIRN_TRIM");
	const char *path = out_path();
	int r;

	trace.wait = NULL;
	if (!size_kept() || !path || sys_getpid() != process.pid)
		return;
	if (!tool || !*tool)
		tool = (const char *)*(const char *volatile const[]){
		        __cairn_record_tool};
	out_flag(CAIRN_FILE_LAST, 0);
	/* a privileged program starts nothing for its caller */
	if (secure_is()) {
		out_say("cannot cut ", path, EKEYREJECTED,
		        "all of the recording is kept, not the newest part");
		return;
	}
	r = start(tool, path);
	if (r == 0) {
		trace.wait = wait_for_it;
		bound_buffers();
	} else {
		out_say("cannot execute ", tool, -r,
		        "all of the recording is kept, not the newest part; "
		        "name cairn-replay in CAIRN_TRIM");
	}
}
