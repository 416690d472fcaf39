/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of the output file.
 *
 * CAIRN_OUT is a template: %p the process id, %n the name the program was
 * started by, %h the host, %% a percent sign; anything else stays as it is.
 * A relative name belongs to the directory the program started in.
 * "NAME,merge" names a sum of many runs (add.c); the files of the runs are
 * beside it, and have the process id before the extension.  A privileged
 * program takes no template, and its directory is the one that root has named
 * (secure.c).
 *
 * Cost: a few system calls, once per process and per fork.
 */
#include "runtime/name.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>

#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/secure.h"
#include "runtime/sys.h"

#define PATTERN (process.buffers->pattern)
#define DIRECTORY (process.buffers->directory)
#define PROGRAM (process.buffers->program)
#define FOLDER (process.buffers->folder)

static char short_name[256], host[65];
static bool is_sum, is_secure;

static void copy_string(char *to, size_t size, const char *from)
{
	size_t n = rt_strlen(from);

	if (n >= size)
		n = size - 1;
	rt_copy(to, from, n);
	to[n] = 0;
}

static const char *base_name(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (path[0] == '/' && path[1])
			base = path + 1;
	return base;
}

/* Takes ",merge" from the end of the template. */
static void take_suffix(void)
{
	static const char suffix[] = ",merge";
	const size_t nsuffix = sizeof(suffix) - 1;
	size_t n = rt_strlen(PATTERN);

	is_sum = n > nsuffix && rt_same(PATTERN + n - nsuffix, suffix, nsuffix);
	if (is_sum)
		PATTERN[n - nsuffix] = 0;
}

/* 0, or a negative errno if root has named no folder: says so. */
static int find_folder(void)
{
	int r = secure_folder(FOLDER, sizeof(FOLDER));

	if (r == -ENOENT)
		out_say("cannot write a file for ", PROGRAM, EKEYREJECTED,
		        "root may name a folder in " SECURE_CONFIG
		        " (man cairn-cc)");
	else if (r < 0)
		out_say("cannot use ", SECURE_CONFIG, -r,
		        "this run is not counted");
	return r;
}

int name_init(const char *pattern)
{
	struct sys_aux aux;
	struct utsname names;
	long n = sys3(SYS_readlink, (long)"/proc/self/exe", (long)PROGRAM,
	              sizeof(PROGRAM) - 1);

	PROGRAM[n > 0 ? n : 0] = 0;
	n = sys3(SYS_getcwd, (long)DIRECTORY, sizeof(DIRECTORY), 0);
	if (n <= 0 || DIRECTORY[0] != '/')
		DIRECTORY[0] = 0;
	rt_zero(&names, sizeof(names));
	sys1(SYS_uname, (long)&names);
	copy_string(host, sizeof(host), names.nodename);
	sys_read_aux(&aux);
	is_secure = aux.secure;
	if (!PROGRAM[0] && aux.execfn)
		copy_string(PROGRAM, sizeof(PROGRAM), (const char *)aux.execfn);
	/* the caller of a privileged program may give it another name */
	copy_string(short_name, sizeof(short_name),
	            base_name(aux.execfn && !is_secure
	                              ? (const char *)aux.execfn
	                              : PROGRAM));
	if (!pattern || !pattern[0] || is_secure)
		pattern = "%n.%p.cairn";
	copy_string(PATTERN, sizeof(PATTERN), pattern);
	take_suffix();
	return is_secure ? find_folder() : 0;
}

const char *name_secure_folder(void)
{
	return is_secure ? FOLDER : NULL;
}

bool name_is_sum(void)
{
	return is_sum;
}

const char *name_program(void)
{
	return PROGRAM;
}

const char *name_directory(void)
{
	return DIRECTORY;
}

/* A string that grows; full once at == size. */
struct text {
	char *s;
	size_t at, size;
};

static void put_char(struct text *t, char c)
{
	if (t->at < t->size)
		t->s[t->at++] = c;
}

static void put_string(struct text *t, const char *s)
{
	for (; *s; s++)
		put_char(t, *s);
}

/* A part of one file name: no slash may come in through it. */
static void put_part(struct text *t, const char *s)
{
	for (; *s; s++)
		put_char(t, *s == '/' ? '_' : *s);
}

static void put_number(struct text *t, unsigned long v)
{
	char digits[24];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		put_char(t, digits[--n]);
}

void name_number(char *to, unsigned v)
{
	struct text t = {to, 0, 11};

	put_number(&t, v);
	to[t.at] = 0;
}

static void put_pattern(struct text *t)
{
	for (const char *p = PATTERN; *p; p++) {
		if (p[0] != '%' || !p[1]) {
			put_char(t, *p);
			continue;
		}
		switch (*++p) {
		case 'p':
			put_number(t, (unsigned long)sys_getpid());
			break;
		case 'n':
			put_part(t, short_name);
			break;
		case 'h':
			put_part(t, host);
			break;
		case '%':
			put_char(t, '%');
			break;
		default:
			put_char(t, '%');
			put_char(t, *p);
		}
	}
}

/* The template, and pid and n before the extension unless they are 0. */
static int make(char *path, size_t size, unsigned pid, unsigned n)
{
	static const char extension[] = ".cairn";
	const size_t next = sizeof(extension) - 1;
	struct text t = {path, 0, size};
	const char *directory = is_secure ? FOLDER : DIRECTORY;
	bool has_extension;

	if (PATTERN[0] != '/' && directory[0]) {
		put_string(&t, directory);
		put_char(&t, '/');
	}
	put_pattern(&t);
	has_extension =
	        t.at > next && rt_same(path + t.at - next, extension, next);
	if (has_extension && (pid || n))
		t.at -= next;
	if (pid) {
		put_char(&t, '.');
		put_number(&t, pid);
	}
	if (n) {
		put_char(&t, '.');
		put_number(&t, n);
	}
	if (has_extension && (pid || n))
		put_string(&t, extension);
	if (t.at == size) {
		path[size - 1] = 0;
		return -1;
	}
	path[t.at] = 0;
	return 0;
}

int name_make(char *path, size_t size, unsigned n)
{
	return make(path, size, is_sum ? (unsigned)sys_getpid() : 0, n);
}

int name_sum(char *path, size_t size)
{
	return make(path, size, 0, 0);
}

int name_part(char *path, size_t size, unsigned pid, unsigned n)
{
	return make(path, size, pid, n);
}
