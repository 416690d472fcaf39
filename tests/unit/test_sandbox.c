/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall around a replay, attacked from within: whatever code runs there can
 * change nothing outside, and its broker gives it nothing that it may not have.
 *
 * Each attack runs in a worker; its status is that of the process that entered
 * the sandbox: 0 if everything was refused.
 */
#include "replay/broker.h"
#include "replay/compiler.h"
#include "replay/outlet.h"
#include "replay/sandbox.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "format/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT "as it was\n"

static char folder[] = "/tmp/cairn-sandbox-XXXXXX";
static struct broker_rights rights;
static struct outlet_options outlets;
static int stdout_of_attack = -1;

/* Fails the attack if something that must not work does. */
#define REFUSED(call)                                                \
	do {                                                         \
		if ((call) != -1) {                                  \
			fprintf(stderr, "not refused: %s\n", #call); \
			_exit(1);                                    \
		}                                                    \
	} while (0)
#define WORKS(call)                                                    \
	do {                                                           \
		if (!(call)) {                                         \
			fprintf(stderr, "does not work: %s\n", #call); \
			_exit(1);                                      \
		}                                                      \
	} while (0)

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static void write_file(const char *name, const char *text)
{
	char *path = path_of(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(writer_all(fd, text, strlen(text)), 0);
	close(fd);
	free(path);
}

static bool is_there(const char *name)
{
	char *path = path_of(name);
	struct stat st;
	bool is = !lstat(path, &st);

	free(path);
	return is;
}

static void assert_unchanged(const char *name)
{
	char *path = path_of(name), text[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	assert_string_equal(text, TEXT);
	close(fd);
	free(path);
}

/* The status of a process that enters the sandbox and attacks. */
static int attack(void (*attacker)(void))
{
	struct cairn_err err;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		static const int own[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL};

		for (size_t i = 0; i < 4; i++)
			signal(own[i], SIG_DFL); /* not cmocka's */
		if (stdout_of_attack >= 0)
			dup2(stdout_of_attack, STDOUT_FILENO);
		if (sandbox_enter(&rights, &outlets, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			_exit(3);
		}
		attacker();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* --- the file system -------------------------------------------------------
 */

static void attack_files(void)
{
	char *canary = path_of("canary"), *other = path_of("other");

	REFUSED(open(other, O_WRONLY | O_CREAT, 0600));
	REFUSED(open(canary, O_RDWR));
	REFUSED(open(canary, O_RDONLY));
	REFUSED((int)syscall(SYS_open, canary, O_WRONLY));
	REFUSED((int)syscall(SYS_openat2, AT_FDCWD, canary, NULL, 0));
	REFUSED((int)syscall(SYS_creat, other, 0600));
	REFUSED(truncate(canary, 0));
	REFUSED(unlink(canary));
	REFUSED(rename(canary, other));
	REFUSED(link(canary, other));
	REFUSED(symlink(canary, other));
	REFUSED(mkdir(other, 0700));
	REFUSED(rmdir(folder));
	REFUSED(chmod(canary, 0777));
	REFUSED(chown(canary, 1, 1));
	REFUSED(mkfifo(other, 0600));
	REFUSED(chdir("/"));
	REFUSED(chroot(folder));
	REFUSED(mount("none", folder, "tmpfs", 0, NULL));
	REFUSED(unshare(CLONE_NEWUSER));
	REFUSED((int)syscall(SYS_io_uring_setup, 1, NULL));
	REFUSED((int)syscall(SYS_open_by_handle_at, 0, NULL, 0));
}

static void test_files(void **state)
{
	(void)state;
	assert_int_equal(attack(attack_files), 0);
	assert_unchanged("canary");
	assert_false(is_there("other"));
}

/* --- stdout ----------------------------------------------------------------
 */

static void attack_stdout(void)
{
	static const char more[] = "and more\n";

	REFUSED(ftruncate(STDOUT_FILENO, 0));
	REFUSED(lseek(STDOUT_FILENO, 0, SEEK_SET));
	REFUSED(pwrite(STDOUT_FILENO, "x", 1, 0));
	REFUSED((int)syscall(SYS_fallocate, STDOUT_FILENO, 0, 0, 1));
	WORKS(!writer_all(STDOUT_FILENO, more, sizeof(more) - 1));
}

/* A file that is stdout only grows. */
static void test_stdout(void **state)
{
	char *path = path_of("out"), text[64] = "";

	(void)state;
	write_file("out", TEXT);
	stdout_of_attack = open(path, O_RDWR);
	assert_true(lseek(stdout_of_attack, 0, SEEK_END) > 0);
	assert_int_equal(attack(attack_stdout), 0);
	assert_true(pread(stdout_of_attack, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, TEXT "and more\n");
	close(stdout_of_attack);
	stdout_of_attack = -1;
	free(path);
}

/* Byte by byte: what belongs together comes in parts. */
static void write_sequences(void)
{
	static const char text[] = "\033]0;title\a\033[31mred\033[0m\033[2J"
	                           "\xc3\xa9\xe2\x80\xae\x9b\t\033[K|\033[";

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		WORKS(write(STDOUT_FILENO, &text[i], 1) == 1);
}

/* What a terminal shows that is the stdout of an attack; it has come when
 * nobody has the terminal open any more. */
static void attack_on_terminal(char *text, size_t size)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	size_t n = 0;
	ssize_t more;

	assert_true(terminal >= 0);
	assert_int_equal(grantpt(terminal), 0);
	assert_int_equal(unlockpt(terminal), 0);
	stdout_of_attack = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(stdout_of_attack >= 0);
	assert_int_equal(attack(write_sequences), 0);
	close(stdout_of_attack);
	stdout_of_attack = -1;
	while ((more = read(terminal, text + n, size - 1 - n)) > 0)
		n += (size_t)more;
	text[n] = '\0';
	close(terminal);
}

/* A terminal gets colours, and nothing else to obey. */
static void test_terminal(void **state)
{
	char text[256];

	(void)state;
	attack_on_terminal(text, sizeof(text));
	assert_string_equal(text,
	                    "\\x1b]0;title\\x07\033[31mred\033[0m\\x1b[2J"
	                    "\xc3\xa9\\xe2\\x80\\xae\\x9b\t\033[K|\\x1b[");
	outlets.is_raw = true;
	attack_on_terminal(text, sizeof(text));
	outlets.is_raw = false;
	assert_memory_equal(text, "\033]0;title\a", 10);
}

/* Nobody reads: that is told as it would be without a broker. */
static void write_for_ever(void)
{
	for (;;)
		if (write(STDOUT_FILENO, TEXT, sizeof(TEXT) - 1) < 0)
			_exit(7);
}

static void test_nobody_reads(void **state)
{
	int ends[2], status;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	stdout_of_attack = ends[1];
	alarm(600);
	status = attack(write_for_ever);
	alarm(0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	close(ends[1]);
	stdout_of_attack = -1;
}

/* It does not see what the environment of the caller has. */
static void look_at_environment(void)
{
	WORKS(!getenv("SECRET"));
	WORKS(getenv("CAIRN_DEBUG"));
}

static void test_environment(void **state)
{
	(void)state;
	setenv("SECRET", "word", 1);
	setenv("CAIRN_DEBUG", "", 1);
	assert_int_equal(attack(look_at_environment), 0);
	unsetenv("CAIRN_DEBUG");
}

/* --- the rest of the system ------------------------------------------------
 */

static void attack_others(void)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
	int ends[2];

	REFUSED(execv("/bin/true", argv));
	REFUSED((int)syscall(SYS_execveat, 0, "", argv, NULL, AT_EMPTY_PATH));
	REFUSED(kill(getppid(), SIGKILL));
	REFUSED(kill(getppid(), 0));
	REFUSED((int)syscall(SYS_tkill, getppid(), SIGKILL));
	REFUSED((int)syscall(SYS_pidfd_open, getppid(), 0));
	REFUSED(fcntl(0, F_SETOWN, getppid()));
	REFUSED(fcntl(1, F_SETFL, O_ASYNC));
	REFUSED(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	REFUSED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	REFUSED((int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	REFUSED((int)syscall(SYS_process_vm_writev, getppid(), NULL, 0, NULL, 0,
	                     0));
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(socket(AF_NETLINK, SOCK_RAW, 0));
	REFUSED(ioctl(0, TIOCSTI, "x"));
	REFUSED(setrlimit(RLIMIT_AS, &more));
	REFUSED(prctl(PR_SET_DUMPABLE, 1));
	REFUSED(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	REFUSED((int)syscall(SYS_setuid, 0));
	REFUSED((int)syscall(SYS_bpf, 0, NULL, 0));
	REFUSED((int)syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	REFUSED((int)syscall(SYS_userfaultfd, 0));
	REFUSED((int)syscall(SYS_keyctl, 0));
	REFUSED((int)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	REFUSED((int)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
	REFUSED((int)syscall(SYS_clone3, NULL, 0));
}

static void test_others(void **state)
{
	(void)state;
	assert_int_equal(attack(attack_others), 0);
}

/* Children are walled in, too. */
static void attack_as_child(void)
{
	pid_t child = fork();
	int status = 1;

	WORKS(child >= 0);
	if (!child) {
		attack_files();
		_exit(0);
	}
	WORKS(waitpid(child, &status, 0) == child);
	WORKS(!status);
}

static void test_children(void **state)
{
	(void)state;
	assert_int_equal(attack(attack_as_child), 0);
	assert_unchanged("canary");
}

/* --- the broker ------------------------------------------------------------
 */

static void attack_broker(void)
{
	char *canary = path_of("canary"), *own = path_of("recording");
	char *fifo = path_of("fifo");
	struct broker_draft d;
	struct cairn_err err;
	size_t n = 0;

	REFUSED(files_open(canary));
	REFUSED(files_open("/etc/passwd"));
	REFUSED(files_open("/dev/zero"));
	REFUSED(files_open(folder));
	WORKS(files_open(own) >= 0);
	WORKS(files_open("/proc/self/exe") >= 0); /* an executable */
	REFUSED(broker_get(BROKER_CHECKPOINTS, "../canary"));
	REFUSED(broker_get(BROKER_CHECKPOINTS, "/etc/passwd"));
	REFUSED(broker_get(BROKER_CHECKPOINTS, ".."));
	REFUSED(broker_get(BROKER_CHECKPOINTS, ""));
	REFUSED(broker_get((enum broker_folder)7, "canary"));
	WORKS(!broker_names_beside("/etc/passwd", &n));
	broker_remove(BROKER_CHECKPOINTS, "../canary");
	broker_kill(getppid());
	WORKS(files_asked()->replace(canary, "x", 1, &err) < 0);
	REFUSED(files_open(fifo)); /* without being its reader for a moment */
	/* only the compiler writes what will be executed, or removes it */
	broker_remove(BROKER_CACHE, "object");
	WORKS(!broker_draft(BROKER_CACHE, &d));
	WORKS(broker_draft(BROKER_CHECKPOINTS, &d));
	WORKS(!broker_keep(&d, "../escaped"));
	WORKS(broker_draft(BROKER_CHECKPOINTS, &d));
	d.number += 5;
	WORKS(!broker_keep(&d, "1-1"));
}

static void test_broker(void **state)
{
	(void)state;
	char *cache = path_of("cairn"), *fifo = path_of("fifo");

	assert_int_equal(mkdir(cache, 0700), 0);
	write_file("cairn/object", TEXT);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(attack(attack_broker), 0);
	assert_unchanged("canary");
	assert_unchanged("cairn/object");
	free(cache);
	free(fifo);
	assert_false(is_there("escaped"));
}

static void keep_and_leave(void)
{
	struct broker_draft d;

	WORKS(broker_draft(BROKER_CHECKPOINTS, &d));
	WORKS(!writer_all(d.fd, TEXT, strlen(TEXT)));
	WORKS(broker_keep(&d, "1-2"));
	WORKS(broker_draft(BROKER_CHECKPOINTS, &d)); /* never kept */
}

static int count_files(const char *name)
{
	char *command =
	        xasprintf("test $(ls -A %s/%s | wc -l) = 1", folder, name);
	int status = system(command);

	free(command);
	return status ? -1 : 1;
}

static void test_drafts(void **state)
{
	char *path = path_of("recording.checkpoints/1-2");
	struct stat st;

	(void)state;
	assert_int_equal(attack(keep_and_leave), 0);
	assert_unchanged("recording.checkpoints/1-2");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(count_files("recording.checkpoints"), 1);
	free(path);
}

static void end_child(void)
{
	pid_t child = fork();
	int status;

	WORKS(child >= 0);
	if (!child)
		for (;;)
			pause();
	broker_kill(child);
	WORKS(waitpid(child, &status, 0) == child);
	WORKS(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_kill(void **state)
{
	(void)state;
	assert_int_equal(attack(end_child), 0);
}

/* --- folders ---------------------------------------------------------------
 */

static void use_folder(void)
{
	struct broker_draft d;

	WORKS(!broker_draft(BROKER_CHECKPOINTS, &d));
	REFUSED(broker_get(BROKER_CHECKPOINTS, "1-1"));
}

/* A folder that leads elsewhere, or that others can write, is not used. */
static void test_folders(void **state)
{
	char *link = path_of("recording.checkpoints");
	char *elsewhere = path_of("elsewhere"),
	     *file = path_of("elsewhere/1-1");

	(void)state;
	assert_int_equal(mkdir(elsewhere, 0700), 0);
	write_file("elsewhere/1-1", TEXT);
	assert_int_equal(symlink(elsewhere, link), 0);
	assert_int_equal(attack(use_folder), 0);
	assert_unchanged("elsewhere/1-1");
	assert_int_equal(count_files("elsewhere"), 1);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rename(elsewhere, link), 0);
	assert_int_equal(chmod(link, 0770), 0);
	assert_int_equal(attack(use_folder), 0);
	if (getuid() == 0) {
		assert_int_equal(chmod(link, 0700), 0);
		assert_int_equal(chown(link, 12345, 12345), 0);
		assert_int_equal(attack(use_folder), 0);
	}
	assert_unchanged("recording.checkpoints/1-1");
	free(link);
	free(elsewhere);
	free(file);
}

static void use_file(void)
{
	REFUSED(broker_get(BROKER_CHECKPOINTS, "1-1"));
	REFUSED(broker_get(BROKER_CHECKPOINTS, "1-2"));
	REFUSED(broker_get(BROKER_CHECKPOINTS, "1-3"));
	WORKS(broker_get(BROKER_CHECKPOINTS, "1-4") >= 0);
}

/* So it is with a file in it. */
static void test_files_in_folders(void **state)
{
	char *target = path_of("canary"), *f = path_of("recording.checkpoints");
	char *link = path_of("recording.checkpoints/1-1");
	char *fifo = path_of("recording.checkpoints/1-2");
	char *open_to_all = path_of("recording.checkpoints/1-3");

	(void)state;
	assert_int_equal(mkdir(f, 0700), 0);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	write_file("recording.checkpoints/1-3", TEXT);
	assert_int_equal(chmod(open_to_all, 0666), 0);
	write_file("recording.checkpoints/1-4", TEXT);
	assert_int_equal(attack(use_file), 0);
	free(target);
	free(f);
	free(link);
	free(fifo);
	free(open_to_all);
}

/* --- limits and ends -------------------------------------------------------
 */

static void take_all_addresses(void)
{
	size_t n = (size_t)1 << 40;

	WORKS(mmap(NULL, n, PROT_READ,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
	           0) == MAP_FAILED);
}

static void write_without_end(void)
{
	int file = memfd_create("file", MFD_CLOEXEC);

	signal(SIGXFSZ, SIG_IGN);
	WORKS(file >= 0);
	REFUSED(ftruncate(file, (off_t)1 << 40));
}

static void exit_5(void)
{
	_exit(5);
}

static void be_killed(void)
{
	volatile int *nowhere = NULL;

	*nowhere = 1;
}

static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(attack(take_all_addresses), 0);
	assert_int_equal(attack(write_without_end), 0);
}

/* A child that loses its parent, and does not want to end. */
static void leave_child(void)
{
	int ends[2];
	pid_t child;
	char c;

	WORKS(!pipe2(ends, 0));
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, 0);
		for (int s = 1; s < 32; s++)
			signal(s, SIG_IGN);
		WORKS(write(ends[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	WORKS(read(ends[0], &c, 1) == 1);
	printf("%ld", (long)child);
	fflush(stdout);
}

static void test_children_left(void **state)
{
	int ends[2];
	char text[32] = "";
	pid_t left;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	stdout_of_attack = ends[1];
	assert_int_equal(attack(leave_child), 0);
	stdout_of_attack = -1;
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	left = (pid_t)strtol(text, NULL, 10);
	assert_true(left > 1);
	assert_true(kill(left, 0) == -1 && errno == ESRCH);
	close(ends[0]);
	close(ends[1]);
}

/* As the worker ended, so ends who waited for it. */
static void test_ends(void **state)
{
	int status = attack(exit_5);

	(void)state;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	status = attack(be_killed);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* --- the compiler ----------------------------------------------------------
 */

static int make_points(void *context, const struct compiler_order *o,
                       unsigned char **object, size_t *size,
                       struct cairn_err *err)
{
	struct broker_draft d;

	(void)context;
	if (o->unit == 1)
		return cairn_fail(err, CAIRN_E_LIMIT, "unit 1 is none");
	if (o->unit == 2)
		abort();
	if (!broker_draft(BROKER_CACHE, &d) || !broker_keep(&d, "object"))
		return cairn_fail(err, CAIRN_E_SYSTEM, "no cache");
	*size = o->n * sizeof(*o->points);
	*object = xmalloc(*size);
	memcpy(*object, o->points, *size);
	return 0;
}

static void compile(void)
{
	static uint32_t points[5000];
	struct compiler_order o = {.n = 5000, .points = points};
	unsigned char *object;
	struct broker_draft d;
	struct cairn_err err;
	size_t size;

	for (uint32_t i = 0; i < 5000; i++)
		points[i] = i * i;
	WORKS(compiler_open(make_points, NULL, &err) == 0);
	WORKS(!broker_draft(BROKER_CACHE, &d));
	WORKS(compiler_ask(&o, &object, &size, &err) == 0);
	WORKS(size == sizeof(points) && !memcmp(object, points, size));
	WORKS(broker_get(BROKER_CACHE, "object") >= 0);
	o.unit = 1;
	WORKS(compiler_ask(&o, &object, &size, &err) == CAIRN_E_LIMIT);
	WORKS(!strcmp(err.text, "unit 1 is none"));
	o.unit = 2;
	WORKS(compiler_ask(&o, &object, &size, &err) == CAIRN_E_SYSTEM);
	o.unit = 0;
	WORKS(compiler_ask(&o, &object, &size, &err) == 0);
	compiler_close();
}

static void test_compiler(void **state)
{
	(void)state;
	assert_int_equal(attack(compile), 0);
}

/* --- all of them -----------------------------------------------------------
 */

static int make_folder(void **state)
{
	(void)state;
	memcpy(strrchr(folder, '-') + 1, "XXXXXX", 6);
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	write_file("canary", TEXT);
	write_file("recording", TEXT);
	rights = (struct broker_rights){.recording = path_of("recording"),
	                                .is_quiet = true};
	return 0;
}

static int remove_folder(void **state)
{
	char *command = xasprintf("rm -rf %s", folder);
	int status = system(command);

	(void)state;
	free(command);
	free((void *)(uintptr_t)rights.recording);
	return status;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
	        TEST(test_files),         TEST(test_stdout),
	        TEST(test_terminal),      TEST(test_nobody_reads),
	        TEST(test_environment),   TEST(test_others),
	        TEST(test_children),      TEST(test_broker),
	        TEST(test_drafts),        TEST(test_kill),
	        TEST(test_folders),       TEST(test_files_in_folders),
	        TEST(test_limits),        TEST(test_ends),
	        TEST(test_children_left), TEST(test_compiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
