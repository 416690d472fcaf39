/* SPDX-License-Identifier: Apache-2.0 */
/* What no replay could compute: time, pid, random bytes, addresses; numbers of
 * all kinds; every function of libc's that writes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void vprint(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

static void numbers(void)
{
	struct timespec now;
	unsigned char some[8];
	int here;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("line %d: %ld.%09ld %d\n", __LINE__, (long)now.tv_sec,
	       now.tv_nsec, (int)getpid());
	if (getrandom(some, sizeof(some), 0) != sizeof(some))
		exit(1);
	for (size_t i = 0; i < sizeof(some); i++)
		printf("%02x", some[i]);
	fwrite(some, 1, sizeof(some), stdout);
	printf("\nline %d: %p %p %p\n", __LINE__, (void *)&here,
	       (void *)numbers, (void *)stdout);
	printf("line %d: %g %La %.30f %e\n", __LINE__, 1 / 3.0, 1 / 3.0L, 1e300,
	       -0.0);
	printf("line %d: %s %5d %-8s| %c %zu %% %m\n", __LINE__, getenv("HOME"),
	       -7, "left", 'c', strlen("four"));
}

static void characters(void)
{
	putchar('p');
	putc('q', stdout);
	fputc('r', stderr);
	putc('\0', stdout);
	putchar_unlocked('u');
	putc_unlocked('v', stdout);
	fputc_unlocked('w', stdout);
	putc_unlocked('\n', stderr);
	fputs("fputs, and it is long enough for an address\n", stdout);
	fputs_unlocked("short\n", stdout);
	fwrite_unlocked("unlocked\n", 3, 3, stdout);
	puts("");
	puts("a line");
	for (int i = 0; i < 10; i++)
		puts("a line that is printed more than once");
	puts("a line that is longer than all others and has no end, or so it "
	     "seems to who reads it");
}

static void descriptors(void)
{
	struct iovec v[3] = {{"one ", 4},
	                     {"two, the longest of the three ", 30},
	                     {"three\n", 6}};
	ssize_t n;

	printf("still in the buffer");
	n = write(1, "written past the stream\n", 24);
	n += writev(1, v, 3);
	n += dprintf(1, "line %d: %d\n", __LINE__, (int)getpid());
	n += write(2, "to stderr\n", 10);
	printf(" until here %d\n", (int)n);
	fflush(stdout);
	n = write(1, "once more\n", 10);
	errno = ENOENT;
	perror("perror");
	perror(NULL);
	n = write(7, "nowhere", 7);
	n = write(1, NULL, 5); /* EFAULT */
	printf("line %d: %zd %s\n", __LINE__, n, strerror(errno));
}

static void large(void)
{
	char *p = malloc(100000);

	for (int i = 0; i < 100000; i++)
		p[i] = (char)('a' + i % 26);
	p[99999] = '\n';
	fwrite(p, 1000, 100, stdout);
	printf("%.*s\n", 70000, p);
	p[50000] = '\0';
	puts(p);
	if (write(1, p + 60000, 30000) != 30000)
		exit(1);
	fprintf(stderr, "%s", p);
	for (int i = 0; i < 10000; i++)
		putc_unlocked('a' + i % 26, stdout);
	free(p);
}

int main(void)
{
	numbers();
	characters();
	vprint("list %d: %d\n", __LINE__, 5);
	descriptors();
	large();
	printf("no end of line");
	return 0;
}
