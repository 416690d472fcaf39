/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without libc.
 *
 * The runtime lives in programs it knows nothing about, and its hooks run in
 * signal handlers, in constructors and at the end of exit: so it asks the
 * kernel itself.  Nothing here touches errno, takes a lock or allocates.
 *
 * Cost: one system call each; sys_now_ns two at most.
 */
#include "runtime/sys.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

/* The trampoline that sigreturn needs: runtime/capture.S. */
void cairn_restore_rt(void);

void *sys_map(void *at, size_t size, int prot, int flags, int fd, uint64_t off)
{
	long r = sys6(SYS_mmap, (long)at, (long)size, prot, flags, fd,
	              (long)off);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

void *sys_map_zeros(size_t size)
{
	return sys_map(NULL, size, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int sys_write_all(int fd, const void *data, size_t n, uint64_t off)
{
	const char *p = data;

	while (n > 0) {
		long r = sys4(SYS_pwrite64, fd, (long)p, (long)n, (long)off);

		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r == 0 ? -EIO : (int)r;
		p += r;
		n -= (size_t)r;
		off += (uint64_t)r;
	}
	return 0;
}

uint64_t sys_now_ns(void)
{
	struct timespec now = {0, 0};

	sys3(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sys_block_signals(uint64_t *old)
{
	uint64_t all = ~(uint64_t)0;

	sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)old, 8);
}

void sys_restore_signals(const uint64_t *old)
{
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, 8);
}

void sys_say(const char *text, size_t n)
{
	const uint64_t ours =
	        (uint64_t)1 << (SIGPIPE - 1) | (uint64_t)1 << (SIGXFSZ - 1);
	const struct timespec now = {0, 0};
	uint64_t mask, before = 0, sent;

	sys_block_signals(&mask);
	sys3(SYS_rt_sigpending, (long)&before, 8, 0);
	sent = ours & ~before;
	if (sys3(SYS_write, 2, (long)text, (long)n) < 0)
		sys4(SYS_rt_sigtimedwait, (long)&sent, 0, (long)&now, 8);
	sys_restore_signals(&mask);
}

bool sys_readable(uintptr_t p)
{
	/* The kernel reads the set before it looks at the bad first argument:
	 * EFAULT or EINVAL. */
	return sys4(SYS_rt_sigprocmask, -1, (long)(p & ~(uintptr_t)7), 0, 8) ==
	       -EINVAL;
}

void sys_futex_wait(const uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u),
	                     (long)(ns % 1000000000u)};

	sys4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value,
	     ns ? (long)&t : 0);
}

void sys_futex_wake(const uint32_t *word)
{
	sys3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
}

long sys_sigaction(int sig, const struct sys_sigaction *act,
                   struct sys_sigaction *old)
{
	struct sys_sigaction copy;

	if (!act)
		return sys4(SYS_rt_sigaction, sig, 0, (long)old, 8);
	copy = *act;
	if (!(copy.flags & SYS_SA_RESTORER)) {
		copy.flags |= SYS_SA_RESTORER;
		copy.restorer = (uintptr_t)cairn_restore_rt;
	}
	return sys4(SYS_rt_sigaction, sig, (long)&copy, (long)old, 8);
}

/* Reads it all; false if there is no /proc. */
static bool read_aux(struct sys_aux *aux)
{
	uint64_t pair[8][2]; /* a few at a time: the stack may be a small one */
	int fd = (int)sys3(SYS_open, (long)"/proc/self/auxv",
	                   O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return false;
	while ((n = sys3(SYS_read, fd, (long)pair, sizeof(pair))) > 0)
		for (long i = 0; i < n / (long)sizeof(pair[0]); i++) {
			if (pair[i][0] == AT_EXECFN)
				aux->execfn = pair[i][1];
			else if (pair[i][0] == AT_SYSINFO_EHDR)
				aux->vdso = pair[i][1];
			else if (pair[i][0] == AT_SECURE)
				aux->secure = pair[i][1];
			else if (pair[i][0] == AT_HWCAP2)
				aux->hwcap2 = pair[i][1];
		}
	sys1(SYS_close, fd);
	return true;
}

void sys_read_aux(struct sys_aux *aux)
{
	static struct sys_aux known;
	static bool is_known;

	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		struct sys_aux found = {0, 0, 0, 0};
		bool ok = read_aux(&found);

		known = found;
		__atomic_store_n(&is_known, ok, __ATOMIC_RELEASE);
	}
	*aux = known;
}
