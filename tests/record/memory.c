/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in all ways that a program can get it, use it and lose it; the first
 * argument says which.  What each prints does not depend on where memory is.
 * spin() makes a replay diverge that finds other bytes.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDE __attribute__((noinline))
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define PAGE 4096u
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

HIDE static void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n % 29; i++)
		__asm__ volatile("");
}

static void need(int is_true, const char *what)
{
	if (is_true)
		return;
	printf("no %s\n", what);
	exit(0);
}

/* A few words here and there; their sum. */
static unsigned long use(void *memory, size_t n)
{
	unsigned char *p = memory;
	unsigned long sum = 0;

	for (size_t i = 0; i < 64; i++) {
		size_t at = n / 64 * i & ~(size_t)7;

		sum += *(unsigned long *)(p + at);
		*(unsigned long *)(p + at) += i * 77 + 1;
		sum = sum * 3 + *(unsigned long *)(p + at);
	}
	spin(sum);
	return sum;
}

static void *map(void *at, size_t n, int prot, int flags)
{
	void *p = mmap(at, n, prot, flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* --- where -----------------------------------------------------------------
 */

static void hints(void)
{
	static const uintptr_t at[] = {
	        0x10000,        0x10000000,     0x700000000,    0x7000000000,
	        0x123456789000, 0x300000000000, 0x600000000000, 0x7fff00000000};

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		void *p = map((void *)at[i], MIB, RW, ANON);

		need(p != NULL, "memory");
		printf("%lu %lu\n", use(p, MIB), use(p, MIB));
	}
}

static void over_own(void)
{
	char *p = map(NULL, 16 * MIB, PROT_NONE, ANON);

	need(p != NULL, "memory");
	for (unsigned i = 0; i < 5; i++) {
		char *q = map(p + 3 * i * PAGE, 8 * PAGE, RW, ANON | MAP_FIXED);

		printf("%lu ", use(q, 8 * PAGE));
		q[3 * PAGE] = (char)i;
		printf("%d\n", p[3 * i * PAGE + 3 * PAGE]);
	}
}

static void far_away(void)
{
	void *p = map((void *)0x200000000000, MIB, RW, ANON | MAP_FIXED);

	printf("%lu\n", use(p, MIB));
}

static void low(void)
{
	void *p = map(NULL, MIB, RW, ANON | MAP_32BIT);

	printf("%lu\n", use(p, MIB));
}

static void moved(void)
{
	size_t n = MIB;
	char *p = map(NULL, n, RW, ANON);

	need(p != NULL, "memory");
	memset(p, 5, n);
	for (unsigned i = 0; i < 6; i++) {
		map(p + n, PAGE, PROT_NONE, ANON | MAP_FIXED_NOREPLACE);
		p = mremap(p, n, 2 * n, MREMAP_MAYMOVE);
		n *= 2;
		printf("%lu %d %d\n", use(p, n), p[n / 2 - 1], p[n / 2 + 1]);
		spin((unsigned char)p[n / 2 - 1]);
	}
	p = mremap(p, n, MIB, 0);
	printf("%lu\n", use(p, MIB));
	munmap(p, MIB);
}

static void large_alignment(void)
{
	for (size_t n = 64; n <= GIB; n *= 8) {
		void *p;

		need(!posix_memalign(&p, n, 3 * PAGE), "memory");
		memset(p, 1, 3 * PAGE);
		printf("%lu %d\n", use(p, 3 * PAGE),
		       ((uintptr_t)p & (n - 1)) == 0);
		free(p);
	}
}

static void sparse(void)
{
	char *p = map(NULL, 32 * GIB, RW, ANON | MAP_NORESERVE);

	need(p != NULL, "memory");
	printf("%lu %lu\n", use(p, 32 * GIB), use(p, 32 * GIB));
}

static void too_large(void)
{
	char *p = map(NULL, 300 * GIB, RW, ANON | MAP_NORESERVE);

	printf("%lu\n", p ? use(p, 300 * GIB) : 0);
}

/* --- given back -------------------------------------------------------------
 */

static void dropped(void)
{
	static const int ways[] = {MADV_DONTNEED, MADV_DONTNEED, MADV_REMOVE,
	                           MADV_COLD,     MADV_HUGEPAGE, MADV_DONTNEED};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		int shares = ways[i] == MADV_REMOVE;
		char *p = map(NULL, 4 * MIB, RW,
		              MAP_ANONYMOUS |
		                      (shares ? MAP_SHARED : MAP_PRIVATE));
		unsigned long sum = 0;

		memset(p, (int)i + 1, 4 * MIB);
		madvise(p + PAGE, 2 * MIB, ways[i]);
		for (size_t k = 0; k < 4 * MIB; k += 555) {
			sum += (unsigned char)p[k];
			spin((unsigned char)p[k]);
		}
		printf("%lu %lu\n", sum, use(p, 4 * MIB));
		munmap(p, 4 * MIB);
	}
}

static void grown(void)
{
	char *first = sbrk(0);

	for (unsigned i = 0; i < 8; i++) {
		char *p = sbrk(MIB + i * 1000);

		need(p != (void *)-1, "brk");
		memset(p, (int)i, MIB);
		printf("%lu\n", use(p, MIB));
	}
	need(sbrk(-(intptr_t)(4 * MIB)) != (void *)-1, "brk");
	printf("%lu\n", use(sbrk(3 * MIB), 3 * MIB));
	printf("%d\n", first[5 * MIB / 2]);
}

static void again(void)
{
	static void *p[512];
	unsigned x = 1;
	unsigned long sum = 0;

	for (unsigned i = 0; i < 4000; i++) {
		unsigned k = (x = x * 1103515245 + 12345) >> 16 & 511;
		size_t n = x >> 8 & (x & 64 ? 0xfffff : 0xfff);

		if (x & 0x80) {
			p[k] = realloc(p[k], n + 1);
		} else {
			free(p[k]);
			p[k] = x & 0x100 ? calloc(1, n + 1) : malloc(n + 1);
		}
		spin(*(unsigned char *)p[k]); /* never set */
		memset((char *)p[k] + n - n / 2, (int)i, n / 2 + 1);
		sum += ((unsigned char *)p[k])[n];
	}
	printf("%lu\n", sum);
}

/* --- others write -----------------------------------------------------------
 */

static void others_write(void)
{
	char text[] = "5 alpha 7 beta 9 gamma", *save = NULL;
	static unsigned char in[3 * PAGE], out[3 * PAGE];
	struct iovec from = {in, sizeof(in)}, to = {out + 1, sizeof(out) - 1};
	int fd[2], mem = open("/proc/self/mem", O_RDWR);
	FILE *f = tmpfile();

	for (char *s = strtok_r(text, " ", &save); s;
	     s = strtok_r(NULL, " ", &save))
		spin(strlen(s) * 3 + (unsigned char)s[0]);
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * i >> 3);
	need(f && fwrite(in, 1, sizeof(in), f) == sizeof(in), "file");
	rewind(f);
	need(fread(out + 7, 1, 5000, f) == 5000, "file");
	printf("%lu\n", use(out, sizeof(out)));
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) > 0)
		spin(out[100]);
	need(!pipe(fd) && write(fd[1], in, 3000) == 3000, "pipe");
	need(read(fd[0], out + 2000, 3000) == 3000, "pipe");
	spin(out[2005] + out[4000]);
	if (mem >= 0 && pwrite(mem, "changed", 7, (off_t)(uintptr_t)in) == 7)
		spin(in[2]);
	spin(in[2] + out[PAGE]);
	puts("read");
}

static int by_value(const void *a, const void *b)
{
	const long *x = a, *y = b;

	spin((unsigned long)*x % 5);
	return (*x > *y) - (*x < *y);
}

static void sorted(void)
{
	long *v = malloc(777 * sizeof(*v)), sum = 0;

	for (long i = 0; i < 777; i++)
		v[i] = i * 7919 % 1009;
	qsort(v, 777, sizeof(*v), by_value);
	for (long i = 0; i < 777; i++) {
		spin((unsigned long)v[i]);
		sum = sum * 3 + v[i];
	}
	printf("%ld\n", sum);
	free(v);
}

static void with_a_child(void)
{
	volatile int *p = map(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS);
	int up[2], down[2], status;
	char c = 0;

	need(p && !pipe(up) && !pipe(down), "pipe");
	p[0] = 1;
	fflush(stdout);
	if (!fork()) {
		for (int i = 0; i < 5; i++) {
			spin((unsigned)p[0]);
			p[1] = p[0] * 3;
			need(write(up[1], &c, 1) == 1, "pipe");
			need(read(down[0], &c, 1) == 1, "pipe");
		}
		_exit(p[0] & 0x3f);
	}
	for (int i = 0; i < 5; i++) {
		need(read(up[0], &c, 1) == 1, "pipe");
		spin((unsigned)p[1]);
		p[0] = p[1] + i;
		need(write(down[1], &c, 1) == 1, "pipe");
	}
	wait(&status);
	printf("%d %d %d\n", p[0], p[1], WEXITSTATUS(status));
}

/* --- mapped twice -----------------------------------------------------------
 */

static void twice(void)
{
	int fd = memfd_create("twice", 0);
	volatile int *p, *q;

	need(fd >= 0 && !ftruncate(fd, PAGE), "memfd");
	p = mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0);
	q = mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0);
	p[3] = 5;
	printf("%d\n", q[3]);
}

static void attached_twice(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
	volatile int *p, *q;

	need(id >= 0, "shm");
	p = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	q = shmat(id, NULL, 0);
	p[3] = 5;
	printf("%d\n", q[3]);
}

static void copies_of_one(void)
{
	int fd = memfd_create("copies", 0);
	volatile int *p, *q;

	need(fd >= 0 && write(fd, "abcdefghijklmnop", 16) == 16, "memfd");
	p = mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 0);
	q = mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 0);
	p[3] = 5;
	spin((unsigned)q[3]);
	printf("%d %d\n", p[3], q[3]);
}

/* --- faults ----------------------------------------------------------------
 */

static char *heap;
static volatile sig_atomic_t nfaults;

/* As the write barrier of a garbage collector. */
static void unprotect(int sig, siginfo_t *info, void *context)
{
	char *page =
	        (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	(void)sig;
	(void)context;
	nfaults++;
	if (page < heap || page >= heap + 64 * PAGE)
		_exit(9);
	mprotect(page, PAGE, RW);
}

static void barrier(void)
{
	struct sigaction act = {.sa_flags = SA_SIGINFO};
	unsigned long sum = 0;

	act.sa_sigaction = unprotect;
	sigaction(SIGSEGV, &act, NULL);
	heap = map(NULL, 64 * PAGE, RW, ANON);
	for (unsigned turn = 0; turn < 3; turn++) {
		mprotect(heap, 64 * PAGE, turn == 2 ? PROT_NONE : PROT_READ);
		for (unsigned i = 0; i < 64; i += turn + 1) {
			heap[i * PAGE + 9] += (char)(turn + i);
			sum += (unsigned char)heap[i * PAGE + 9];
			spin(sum);
		}
	}
	printf("%d %lu\n", nfaults, sum);
}

static void guarded(void)
{
	char *p = map(NULL, 3 * PAGE, RW, ANON);

	mprotect(p + PAGE, PAGE, PROT_NONE);
	printf("%lu\n", use(p, PAGE) + use(p + 2 * PAGE, PAGE));
	fflush(stdout);
	for (unsigned i = 0; i < 10; i++)
		p[i * 1000] = (char)i; /* dies */
}

static int uffd;

static void *fill(void *unused)
{
	static char page[PAGE];
	struct uffd_msg m;

	(void)unused;
	while (read(uffd, &m, sizeof(m)) == sizeof(m)) {
		struct uffdio_copy c = {
		        .dst = m.arg.pagefault.address & ~(uint64_t)(PAGE - 1),
		        .src = (uintptr_t)page,
		        .len = PAGE,
		};

		page[8]++;
		ioctl(uffd, UFFDIO_COPY, &c);
	}
	return NULL;
}

static void filled(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	char *p = map(NULL, 8 * PAGE, RW, ANON);
	struct uffdio_register range = {
	        .range = {(uintptr_t)p, 8 * PAGE},
	        .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t t;
	int sum = 0;

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	need(uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api) &&
	             !ioctl(uffd, UFFDIO_REGISTER, &range),
	     "userfaultfd");
	pthread_create(&t, NULL, fill, NULL);
	for (int i = 0; i < 8; i++) {
		sum = sum * 2 + p[(unsigned)i * PAGE + 8];
		spin((unsigned)sum);
	}
	printf("%d\n", sum);
}

/* --- stacks ----------------------------------------------------------------
 */

HIDE static unsigned long deep(unsigned n, unsigned long *above)
{
	unsigned long mine[40];

	for (unsigned i = 0; i < 40; i++)
		mine[i] = above[i % 7] + n;
	return n ? deep(n - 1, mine) + mine[n % 40] : mine[3];
}

HIDE static unsigned long wide(size_t n)
{
	unsigned char v[n], *w = alloca(n / 2 + 1);
	unsigned long sum = 0;

	memset(v, 3, n);
	memset(w, 4, n / 2);
	for (size_t i = 0; i < n; i += 1000)
		sum += v[i] + w[i / 2];
	return sum + use(v, n & ~(size_t)511);
}

static void on_stack(void)
{
	unsigned long top[40] = {1, 2, 3};

	printf("%lu\n", deep(50, top));
	for (size_t n = 1000; n < 25000; n *= 2)
		printf("%lu\n", wide(n));
}

static void on_large_stack(void)
{
	unsigned long top[40] = {1, 2, 3};

	printf("%lu\n", deep(8000, top));
	for (size_t n = 1000; n < 2 * MIB; n *= 2)
		printf("%lu\n", wide(n));
}

static void *thread(void *p)
{
	unsigned long top[40] = {4, 5, 6};

	printf("%lu\n", deep(20, top));
	return (void *)use(p, PAGE);
}

static void own_stacks(void)
{
	pthread_attr_t a;
	pthread_t t;
	void *sum, *p = aligned_alloc(PAGE, MIB), *q = calloc(1, PAGE);

	pthread_attr_init(&a);
	pthread_attr_setstack(&a, p, MIB);
	for (unsigned i = 0; i < 3; i++) {
		pthread_create(&t, &a, thread, q);
		pthread_join(t, &sum);
		printf("%lu\n", (unsigned long)sum);
	}
}

static void *hold(void *p)
{
	pthread_barrier_wait(p);
	return NULL;
}

/* All at once. */
static void many_threads(void)
{
	static pthread_barrier_t b;
	pthread_t t[40];

	pthread_barrier_init(&b, NULL, 41);
	for (unsigned i = 0; i < 40; i++)
		pthread_create(&t[i], NULL, hold, &b);
	pthread_barrier_wait(&b);
	for (unsigned i = 0; i < 40; i++)
		pthread_join(t[i], NULL);
	puts("all");
}

/* --- code ------------------------------------------------------------------
 */

/* lea 3(%rdi), %rax; ret */
static void made_code(void)
{
	static const unsigned char code[] = {0x48, 0x8d, 0x47, 0x03, 0xc3};
	unsigned char *p = map(NULL, PAGE, RW | PROT_EXEC, ANON);
	unsigned long sum = 0;

	need(p != NULL, "code");
	memcpy(p, code, sizeof(code));
	for (unsigned char i = 0; i < 5; i++) {
		p[3] = i;
		sum = ((unsigned long (*)(unsigned long))p)(sum);
		spin(sum);
	}
	printf("%lu\n", sum);
}

static const struct {
	const char *name;
	void (*f)(void);
} cases[] = {
        {"hints", hints},           {"over-own", over_own},
        {"far", far_away},          {"low", low},
        {"moved", moved},           {"alignment", large_alignment},
        {"sparse", sparse},         {"too-large", too_large},
        {"dropped", dropped},       {"grown", grown},
        {"again", again},           {"others", others_write},
        {"sorted", sorted},         {"child", with_a_child},
        {"twice", twice},           {"attached-twice", attached_twice},
        {"copies", copies_of_one},  {"barrier", barrier},
        {"guarded", guarded},       {"filled", filled},
        {"stack", on_stack},        {"large-stack", on_large_stack},
        {"own-stacks", own_stacks}, {"threads", many_threads},
        {"code", made_code},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].f();
			return 0;
		}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		puts(cases[i].name);
	return 0;
}
