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
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

int sys_open(const char *path, int flags, int mode)
{
	int fd, low;

	do
		fd = (int)sys3(SYS_open, (long)path, flags, mode);
	while (fd == -EINTR);
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	low = fd;
	fd = (int)sys3(SYS_fcntl, low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	sys1(SYS_close, low);
	return fd;
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

/* The value of an entry; false if the kernel gave none of this type. */
static bool find_aux(unsigned long type, uintptr_t *value)
{
	const int before = errno;
	bool is_there;

	errno = 0;
	*value = getauxval(type);
	is_there = *value || !errno;
	errno = before;
	return is_there;
}

/* /proc/self/auxv would not do: a privileged program may not open it. */
void sys_read_aux(struct sys_aux *aux)
{
	find_aux(AT_EXECFN, &aux->execfn);
	find_aux(AT_SYSINFO_EHDR, &aux->vdso);
	find_aux(AT_HWCAP2, &aux->hwcap2);
	if (!find_aux(AT_SECURE, &aux->secure))
		aux->secure = 1; /* unknown: expect the worst */
}
