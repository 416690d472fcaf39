/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall around a replay: whatever a recording or an executable contains, and
 * whatever LLVM makes of it, this process can compute, write to descriptors
 * that it was handed, and ask its broker for files (broker.h).  It cannot open,
 * create, rename or remove a file, execute a program, reach a network, or send
 * signals, and it never gets a privilege back.  docs/SECURITY.md has the whole
 * list.
 *
 * The kernel enforces it: a seccomp filter lets through the system calls of the
 * table below; all others fail with EPERM, which libc and LLVM take as they
 * would on any system that lacks something.  Memory and processor time have
 * limits, so that a replay that was made to grow or to go on for ever ends with
 * a sentence.
 *
 * Invariant: from sandbox_enter on, all code of this process and its children
 * runs behind the filter.
 * Cost: a process, and some nanoseconds for each system call.
 */
#include "replay/sandbox.h"

#include "base/err.h"
#include "replay/broker.h"
#include "replay/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)
#define ROOM (64 * GIB) /* of addresses that hold no memory: stacks, arenas */
#define DAY 86400u
#define X32_BIT 0x40000000u

/* --- the filter ------------------------------------------------------------
 */

static const int allowed[] = {
        /* memory */
        SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise,
        SYS_memfd_create,
        /* descriptors that there are */
        SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_pwrite64,
        SYS_lseek, SYS_close, SYS_fstat, SYS_ftruncate, SYS_fsync,
        SYS_fdatasync, SYS_dup, SYS_dup2, SYS_dup3, SYS_pipe2, SYS_poll,
        SYS_ppoll, SYS_sendmsg, SYS_recvmsg,
        /* what files are, not what is in them */
        SYS_access, SYS_faccessat, SYS_faccessat2, SYS_stat, SYS_lstat,
        SYS_newfstatat, SYS_statx, SYS_readlink, SYS_readlinkat, SYS_getcwd,
        /* signals that come to this process */
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
        /* threads, and children like this one */
        SYS_fork, SYS_vfork, SYS_futex, SYS_set_robust_list,
        SYS_get_robust_list, SYS_rseq, SYS_set_tid_address, SYS_wait4, SYS_exit,
        SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity,
        SYS_restart_syscall,
        /* who and when */
        SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid,
        SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo, SYS_getrusage,
        SYS_times, SYS_getrandom, SYS_clock_gettime, SYS_clock_getres,
        SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_time};

/* Those with an argument that has to be one of these... */
struct choice {
	int nr;
	unsigned argument;
	uint32_t values[8]; /* up to the first 0 behind the first */
};

static const struct choice choices[] = {
        {SYS_ioctl, 1, {TCGETS, TIOCGWINSZ}},
        {SYS_fcntl,
         1,
         {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, F_ADD_SEALS}},
        {SYS_prctl, 0, {PR_SET_PDEATHSIG}},
        /* connected for good: no message goes to a socket with a name */
        {SYS_socketpair, 1, {SOCK_SEQPACKET | SOCK_CLOEXEC}},
        {SYS_prlimit64, 2, {0}}, /* asks, and sets nothing */
};

/* ... and one that must have none of these bits. */
#define CLONE_NOT                                                      \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE |  \
	 CLONE_PARENT | CLONE_IO)

struct filter {
	struct sock_filter code[256];
	unsigned short n;
};

static void add(struct filter *f, unsigned code, uint32_t k, unsigned jt,
                unsigned jf)
{
	f->code[f->n++] = (struct sock_filter){(uint16_t)code, (uint8_t)jt,
	                                       (uint8_t)jf, k};
}

static void load(struct filter *f, size_t at)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

/* Goes on if what is loaded is this, else over the next n. */
static void expect(struct filter *f, uint32_t value, unsigned n)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, n);
}

static void end(struct filter *f, uint32_t action)
{
	add(f, BPF_RET | BPF_K, action, 0, 0);
}

#define REFUSE(e) (SECCOMP_RET_ERRNO | (e))

static size_t argument(unsigned i)
{
	return offsetof(struct seccomp_data, args) + 8 * (size_t)i;
}

static unsigned count_values(const struct choice *c)
{
	unsigned n = 1;

	while (n < sizeof(c->values) / sizeof(*c->values) && c->values[n])
		n++;
	return n;
}

/* Both halves count: the kernel looks at all of a pointer. */
static void add_choice(struct filter *f, const struct choice *c)
{
	unsigned n = count_values(c);

	expect(f, (uint32_t)c->nr, 2 * n + 4);
	load(f, argument(c->argument) + 4);
	expect(f, 0, 2 * n + 1);
	load(f, argument(c->argument));
	for (unsigned i = 0; i < n; i++) {
		expect(f, c->values[i], 1);
		end(f, SECCOMP_RET_ALLOW);
	}
	end(f, REFUSE(EPERM));
}

static void build(struct filter *f)
{
	*f = (struct filter){.n = 0};
	load(f, offsetof(struct seccomp_data, arch));
	expect(f, AUDIT_ARCH_X86_64, 1);
	add(f, BPF_JMP | BPF_JA, 1, 0, 0);
	end(f, SECCOMP_RET_KILL_PROCESS);
	load(f, offsetof(struct seccomp_data, nr));
	add(f, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	end(f, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
		expect(f, (uint32_t)allowed[i], 1);
		end(f, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++)
		add_choice(f, &choices[i]);
	expect(f, SYS_clone, 4);
	load(f, argument(0));
	add(f, BPF_JMP | BPF_JSET | BPF_K, CLONE_NOT, 0, 1);
	end(f, REFUSE(EPERM));
	end(f, SECCOMP_RET_ALLOW);
	expect(f, SYS_clone3, 1); /* whose flags are in memory: use clone */
	end(f, REFUSE(ENOSYS));
	end(f, REFUSE(EPERM));
}

static int wall_in(struct cairn_err *err)
{
	static struct filter f;
	struct sock_fprog program;

	build(&f);
	program = (struct sock_fprog){f.n, f.code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "this system has no sandbox for a replay "
		                  "(seccomp: %s); if you trust the recording "
		                  "and its programs, say --trusted, or set "
		                  "CAIRN_REPLAY_TRUSTED=1",
		                  strerror(errno));
	return 0;
}

/* --- limits ----------------------------------------------------------------
 */

static void limit(__rlimit_resource_t what, uint64_t most)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return;
	if (r.rlim_cur > most)
		r.rlim_cur = most;
	if (what == RLIMIT_CORE)
		r.rlim_max = r.rlim_cur;
	setrlimit(what, &r);
}

/* Of processor time, for each process. */
static uint64_t seconds(void)
{
	const char *text = getenv("CAIRN_REPLAY_SECONDS");
	char *end;
	unsigned long long n;

	if (!text || *text < '0' || *text > '9')
		return DAY;
	n = strtoull(text, &end, 10);
	return *end || !n ? DAY : n;
}

/* Addresses that are four times the memory of this machine, and what a replay
 * reserves without using it; files that are as large as that; a day of
 * processor time, or what the environment says.  No core is written. */
static void set_limits(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
	                  (uint64_t)sysconf(_SC_PAGESIZE);

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_AS, ROOM + 4 * memory);
	limit(RLIMIT_CPU, seconds());
	limit(RLIMIT_FSIZE, ROOM);
}

/* --- entering --------------------------------------------------------------
 */

/* Of who called cairn it sees nothing but what it needs. */
static void leave_environment(void)
{
	char **to = environ;

	for (char **from = environ; *from; from++)
		if (!strncmp(*from, "CAIRN_", strlen("CAIRN_")))
			*to++ = *from;
		else
			memset(*from, 0, strlen(*from));
	*to = NULL;
}

/* Whatever else was open when cairn was called stays outside. */
static void close_others(int keeps, const int asks[2])
{
	const int kept[] = {keeps, asks[0], asks[1]};
	int from = 3;

	for (;;) {
		int next = INT_MAX;

		for (size_t i = 0; i < 3; i++)
			if (kept[i] >= from && kept[i] < next)
				next = kept[i];
		if (next > from)
			syscall(SYS_close_range, from, next - 1, 0);
		if (next == INT_MAX)
			return;
		from = next + 1;
	}
}

/* Whatever the user typed, or another program wrote, is not for a replay. */
static void leave_stdin(void)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		close(nothing);
	}
}

static int become_worker(struct outlets *outlets, int terminal,
                         const int asks[2], pid_t broker, struct cairn_err *err)
{
	outlets_take(outlets);
	close_others(terminal, asks);
	leave_stdin();
	leave_environment();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != broker)
		_exit(2);
	broker_call(asks);
	set_limits();
	return wall_in(err);
}

/* By the signal, but without a core. */
static void end_by(int number)
{
	limit(RLIMIT_CORE, 0);
	signal(number, SIG_DFL);
	raise(number);
}

/* As the worker ended, unless what it said got lost. */
static _Noreturn void end_as(int status, int lost, bool ignores_pipes)
{
	if (lost == EPIPE && !ignores_pipes)
		end_by(SIGPIPE);
	if (lost) {
		dprintf(STDERR_FILENO,
		        "cairn: stdout: cannot write: %s; send the output "
		        "elsewhere\n",
		        strerror(lost));
		_exit(2);
	}
	if (WIFSIGNALED(status))
		end_by(WTERMSIG(status));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
}

/* Two ends of a socket for questions: those of the broker and of the worker. */
static int make_line(int *broker, int *worker, struct cairn_err *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return cairn_fail(err, CAIRN_E_SYSTEM, "socketpair: %s",
		                  strerror(errno));
	*broker = ends[0];
	*worker = ends[1];
	return 0;
}

int sandbox_enter(const struct broker_rights *rights,
                  const struct outlet_options *options, struct cairn_err *err)
{
	pid_t self = getpid(), worker;
	struct outlets outlets;
	bool ignores_pipes;
	int own[2], asks[2], status;

	for (int i = 0; i < 2; i++)
		CAIRN_TRY(make_line(&own[i], &asks[i], err));
	CAIRN_TRY(outlets_open(&outlets, options, err));
	worker = fork();
	if (worker < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM, "fork: %s",
		                  strerror(errno));
	if (!worker)
		return become_worker(&outlets, options->terminal, asks, self,
		                     err);
	for (int i = 0; i < 2; i++)
		close(asks[i]);
	/* children of the worker that lose their parent are ours */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ignores_pipes = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
	status = broker_serve(own, worker, rights, &outlets);
	end_as(status, outlets.error, ignores_pipes);
}
