/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_SYS_H
#define CAIRN_RUNTIME_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/syscall.h>

/*
 * System calls without libc: no errno, no cancellation point, no PLT.  Each
 * returns what the kernel returns: a negative errno on failure.
 */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
	                   "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline long sys4(long n, long a, long b, long c, long d)
{
	return sys6(n, a, b, c, d, 0, 0);
}

static inline long sys3(long n, long a, long b, long c)
{
	return sys6(n, a, b, c, 0, 0, 0);
}

static inline long sys1(long n, long a)
{
	return sys6(n, a, 0, 0, 0, 0, 0);
}

static inline int sys_getpid(void)
{
	return (int)sys1(SYS_getpid, 0);
}

static inline int sys_gettid(void)
{
	return (int)sys1(SYS_gettid, 0);
}

/* NULL on failure. */
void *sys_map(void *at, size_t size, int prot, int flags, int fd, uint64_t off);
/* Fresh zeros, private; NULL on failure. */
void *sys_map_zeros(size_t size);

/* Opens a file, but not as stdin, stdout or stderr, which a program may lack:
 * what is written there would go into the file. */
int sys_open(const char *path, int flags, int mode);

/* A whole write or pwrite, whatever the signals; 0 or a negative errno. */
int sys_write_all(int fd, const void *data, size_t n, uint64_t off);

uint64_t sys_now_ns(void);

/* Blocks every signal, glibc's own included; the old mask goes to *old. */
void sys_block_signals(uint64_t *old);
void sys_restore_signals(const uint64_t *old);

/* Writes to stderr.  If nobody reads it, or it may not grow, the program does
 * not get the signal that it would get for its own write. */
void sys_say(const char *text, size_t n);

/* Is the aligned 8-byte word at p readable?  One system call, no effect. */
bool sys_readable(uintptr_t p);

void sys_futex_wait(const uint32_t *word, uint32_t value, uint64_t ns);
void sys_futex_wake(const uint32_t *word);

/* The kernel's struct sigaction. */
struct sys_sigaction {
	uintptr_t handler;
	uint64_t flags;
	uintptr_t restorer;
	uint64_t mask;
};

#define SYS_SA_RESTORER 0x04000000u

long sys_sigaction(int sig, const struct sys_sigaction *act,
                   struct sys_sigaction *old);

/* Values of the auxiliary vector, 0 if absent; but an absent AT_SECURE is 1. */
struct sys_aux {
	uintptr_t execfn, vdso, secure, hwcap2;
};
void sys_read_aux(struct sys_aux *aux);

/* libc is not for us to call from everywhere: the few string functions. */
static inline size_t rt_strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static inline bool rt_same(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (size_t i = 0; i < n; i++)
		if (p[i] != q[i])
			return false;
	return true;
}

static inline void rt_copy(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsb"
	                 : "+D"(to), "+S"(from), "+c"(n)
	                 :
	                 : "memory");
}

/* The same for whole words, quicker for few of them. */
static inline void rt_copy_words(void *to, const void *from, size_t n)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	for (size_t i = 0; i < n / 8; i++)
		t[i] = f[i];
}

static inline void rt_zero(void *to, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

static inline uint32_t rt_get32(const void *p)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t rt_get64(const void *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

/* Aligned stores that a reader of the mapped file may see at any moment. */
static inline void rt_put32(void *p, uint32_t v)
{
	__atomic_store_n((uint32_t *)p, v, __ATOMIC_RELEASE);
}

static inline void rt_put64(void *p, uint64_t v)
{
	__atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
}

#endif /* CAIRN_RUNTIME_SYS_H */
