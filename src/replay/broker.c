/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is one packet: struct request, with the end of a socket for the
 * answer, so that all processes of a worker can ask at the same time, and a
 * descriptor if the request has one.  An answer is one packet, too: struct
 * answer, with a descriptor if there is one to give.
 *
 * What a worker says is believed in nothing: paths end within the packet, names
 * are checked, sizes of what is mapped cannot change, and a file that nobody
 * named on the command line is opened only if it begins as an executable or a
 * recording does.
 *
 * Invariant: drafts[] are all files in the folders that have not got their name
 * yet; none is left when the broker ends.
 * Cost: some 20 microseconds for each request.
 */
#include "replay/broker.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "format/writer.h"
#include "replay/outlet.h"
#include "replay/packet.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NFOLDERS 2
#define NDRAFTS 64u
#define NAME_SIZE 256u
#define DRAFT "draft-"

enum what {
	OPEN,    /* path: a descriptor */
	LIST,    /* folder: a descriptor of names */
	BESIDE,  /* path: the same of the folder where it is */
	GET,     /* folder, path: a descriptor */
	NEW,     /* folder: a descriptor, and a number */
	KEEP,    /* number, path */
	DROP,    /* number */
	REMOVE,  /* folder, path */
	SCRATCH, /* a descriptor */
	REPLACE, /* path; the descriptor has what it is to be */
	KILL,    /* number: a process */
};

struct request {
	uint32_t what, folder;
	uint64_t number;
	char path[PATH_MAX];
};

struct answer {
	int32_t error; /* an errno, or 0 */
	int32_t code;  /* of REPLACE */
	uint64_t number;
	char text[sizeof(((struct cairn_err *)0)->text)];
};

static struct {
	int ask; /* of a worker; -1: it serves itself */
	int compilers_ask;
	const struct broker_rights *rights;
	pid_t worker;
	bool has_compiler;    /* which alone writes into the cache */
	bool serves_compiler; /* now: it asks, not the worker */
	struct {
		int fd; /* 0: not opened yet, -1: it is not used */
		bool can_draft;
	} folders[NFOLDERS];
	struct draft {
		bool is_used;
		bool is_compilers;
		enum broker_folder folder;
		char name[64];
	} drafts[NDRAFTS];
} b = {.ask = -1};

/* --- folders -------------------------------------------------------------- */

/* For the caller to free; NULL: there is none. */
static char *cache_path(bool makes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *base, *path;

	if (cache && *cache == '/')
		base = xstrdup(cache);
	else if (home && *home == '/')
		base = xasprintf("%s/.cache", home);
	else
		return NULL;
	if (makes)
		mkdir(base, 0700);
	path = xasprintf("%s/cairn", base);
	free(base);
	return path;
}

static char *folder_path(enum broker_folder folder, bool makes)
{
	if (folder == BROKER_CACHE)
		return cache_path(makes);
	return xasprintf("%s.checkpoints", b.rights->recording);
}

static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int refuse_folder(const char *path)
{
	if (!b.rights->is_quiet)
		text_print(
		        stderr,
		        "cairn: %s is not used: it is a symbolic link or no "
		        "folder, or it belongs to somebody else, or others can "
		        "write there; remove it\n",
		        path);
	return -1;
}

/* A descriptor; 0: it is not there, -1: it is not used. */
static int open_folder(const char *path, bool makes)
{
	struct stat st;
	int fd;

	if (makes)
		mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return makes ? -1 : 0;
	if (fd < 0)
		return refuse_folder(path);
	if (!fstat(fd, &st) && is_own(&st))
		return fd;
	close(fd);
	return refuse_folder(path);
}

/* The descriptor of a folder; -1: it is not there, or not used. */
static int folder_fd(enum broker_folder folder, bool makes)
{
	int *fd = &b.folders[folder].fd;
	char *path;

	if (*fd || b.rights->has_no_cache)
		return *fd ? *fd : -1;
	path = folder_path(folder, makes);
	*fd = path ? open_folder(path, makes) : -1;
	free(path);
	return *fd ? *fd : -1;
}

/* Letters, digits, - and . but not at the beginning. */
static bool is_name(const char *name)
{
	return *name && *name != '.' && strlen(name) < NAME_SIZE &&
	       !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                          "abcdefghijklmnopqrstuvwxyz0123456789-.")];
}

static int get(const struct request *r, int *out)
{
	int folder = folder_fd((enum broker_folder)r->folder, false);
	struct stat st;

	if (folder < 0 || !is_name(r->path))
		return ENOENT;
	*out = openat(folder, r->path,
	              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*out < 0)
		return errno;
	if (!fstat(*out, &st) && S_ISREG(st.st_mode) && is_own(&st))
		return 0;
	close(*out);
	*out = -1;
	return EACCES;
}

/* --- names of files --------------------------------------------------------
 */

/* Writes the names of a folder's files into a file without a name. */
static int write_names(int folder, int *out)
{
	DIR *d = fdopendir(folder);
	struct dirent *entry;
	int fd = memfd_create("names", MFD_CLOEXEC), e = 0;

	while (d && fd >= 0 && (entry = readdir(d)))
		if (dprintf(fd, "%s%c", entry->d_name, 0) < 0)
			e = errno;
	if (!d || fd < 0)
		e = errno;
	if (d)
		closedir(d);
	else
		close(folder);
	if (e && fd >= 0)
		close(fd);
	else
		*out = fd;
	return e;
}

static int list(const struct request *r, int *out)
{
	int folder = folder_fd((enum broker_folder)r->folder, false);

	if (folder < 0)
		return ENOENT;
	folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? errno : write_names(folder, out);
}

/* The folder where a file is, for the caller to free. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, (size_t)(slash + 1 - path))
	             : xstrdup("./");
}

static bool is_same_folder(const struct stat *st, const char *path)
{
	char *folder = folder_of(path);
	struct stat other;
	bool is = !stat(folder, &other) && st->st_dev == other.st_dev &&
	          st->st_ino == other.st_ino;

	free(folder);
	return is;
}

static int list_beside(const struct request *r, int *out)
{
	const struct broker_rights *rights = b.rights;
	char *path = folder_of(r->path);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e = errno;
	struct stat st;
	bool is_one = false;

	free(path);
	if (fd < 0 || fstat(fd, &st))
		return e;
	is_one = is_same_folder(&st, rights->recording);
	for (size_t i = 0; i < rights->nparents; i++)
		is_one |= is_same_folder(&st, rights->parents[i]);
	if (is_one)
		return write_names(fd, out);
	close(fd);
	return EACCES;
}

/* --- files to read ---------------------------------------------------------
 */

static bool is_named(const char *path)
{
	const struct broker_rights *rights = b.rights;
	bool is = !strcmp(path, rights->recording);

	for (size_t i = 0; i < rights->nexes; i++)
		is |= !strcmp(path, rights->exes[i]);
	for (size_t i = 0; i < rights->nparents; i++)
		is |= !strcmp(path, rights->parents[i]);
	return is;
}

/* Is it a file of the kinds that a replay reads: an executable, a library, a
 * recording? */
static bool is_of_kind(int fd)
{
	Elf64_Ehdr start;

	if (pread(fd, &start, sizeof(start), 0) != (ssize_t)sizeof(start))
		return false;
	if (!memcmp(&start, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE))
		return true;
	return !memcmp(start.e_ident, ELFMAG, SELFMAG) &&
	       (start.e_type == ET_EXEC || start.e_type == ET_DYN);
}

/* Opens a regular file; to open others may have effects of its own. */
static int open_regular(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1, e;
	char name[64];
	struct stat st;

	if (place < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	errno = ENOEXEC;
	if (!fstat(place, &st) && S_ISREG(st.st_mode))
		fd = open(name, O_RDONLY | O_CLOEXEC);
	e = errno;
	close(place);
	errno = e;
	return fd;
}

static int open_to_read(const struct request *r, int *out)
{
	bool is_known = is_named(r->path);

	*out = is_known ? open(r->path,
	                       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
	                : open_regular(r->path);
	if (*out < 0)
		return errno;
	if (is_known || is_of_kind(*out))
		return 0;
	close(*out);
	*out = -1;
	return ENOEXEC;
}

/* --- files to write --------------------------------------------------------
 */

/* What brokers left that are no more. */
static void remove_stale(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		long pid;

		if (strncmp(entry->d_name, DRAFT, strlen(DRAFT)) != 0)
			continue;
		pid = strtol(entry->d_name + strlen(DRAFT), NULL, 10);
		if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
			unlinkat(folder, entry->d_name, 0);
	}
	if (d)
		closedir(d);
}

static bool may_write_cache(void)
{
	return !b.has_compiler || b.serves_compiler;
}

static struct draft *free_draft(void)
{
	for (size_t i = 0; i < NDRAFTS; i++)
		if (!b.drafts[i].is_used)
			return &b.drafts[i];
	return NULL;
}

static int begin_draft(const struct request *r, int *out, uint64_t *number)
{
	enum broker_folder f = (enum broker_folder)r->folder;
	int folder = folder_fd(f, true);
	struct draft *d = free_draft();
	uint64_t random = 0;

	if (folder < 0 || !d || (f == BROKER_CACHE && !may_write_cache()))
		return EACCES;
	if (!b.folders[f].can_draft)
		remove_stale(folder);
	b.folders[f].can_draft = true;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return EAGAIN;
	snprintf(d->name, sizeof(d->name), DRAFT "%ld-%016" PRIx64,
	         (long)getpid(), random);
	*out = openat(folder, d->name,
	              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*out < 0)
		return errno;
	d->is_used = true;
	d->is_compilers = b.serves_compiler;
	d->folder = f;
	*number = (uint64_t)(d - b.drafts);
	return 0;
}

static struct draft *draft_of(const struct request *r)
{
	struct draft *d = r->number < NDRAFTS ? &b.drafts[r->number] : NULL;

	return d && d->is_used && d->is_compilers == b.serves_compiler ? d
	                                                               : NULL;
}

static void drop(struct draft *d)
{
	unlinkat(b.folders[d->folder].fd, d->name, 0);
	d->is_used = false;
}

static int keep(const struct request *r)
{
	struct draft *d = draft_of(r);
	int folder, e;

	if (!d)
		return EBADF;
	folder = b.folders[d->folder].fd;
	if (!is_name(r->path) || !strncmp(r->path, DRAFT, strlen(DRAFT)))
		e = EINVAL;
	else
		e = renameat(folder, d->name, folder, r->path) ? errno : 0;
	if (e)
		drop(d);
	d->is_used = false;
	return e;
}

static int remove_file(const struct request *r)
{
	int folder = folder_fd((enum broker_folder)r->folder, false);

	if (r->folder == BROKER_CACHE && !may_write_cache())
		return EACCES;
	if (folder < 0 || !is_name(r->path))
		return ENOENT;
	return unlinkat(folder, r->path, 0) ? errno : 0;
}

static int make_scratch(int *out)
{
	const char *folder = getenv("TMPDIR");
	char *name;

	if (!folder || !*folder)
		folder = "/tmp";
	name = xasprintf("%s/cairn.XXXXXX", folder);
	*out = mkostemp(name, O_CLOEXEC);
	if (*out >= 0)
		unlink(name);
	free(name);
	return *out < 0 ? errno : 0;
}

/* What is written is in a file that nobody can change any more. */
static int replace(const struct request *r, int payload, struct answer *a)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct cairn_err err;
	struct stat st;
	void *data;

	if (!b.rights->out || strcmp(r->path, b.rights->out) != 0 ||
	    fcntl(payload, F_GET_SEALS) < 0 ||
	    (fcntl(payload, F_GET_SEALS) & seals) != seals ||
	    fstat(payload, &st) || !st.st_size)
		return EACCES;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, payload,
	            0);
	if (data == MAP_FAILED)
		return errno;
	a->code = writer_replace(r->path, data, (size_t)st.st_size, &err);
	if (a->code < 0)
		snprintf(a->text, sizeof(a->text), "%s", err.text);
	munmap(data, (size_t)st.st_size);
	return 0;
}

/* --- processes -------------------------------------------------------------
 */

static pid_t parent_of(pid_t pid)
{
	char path[64], text[256], *at;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strrchr(text, ')'); /* of the name: then the state */
	return at && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : -1;
}

/* While it is held by a descriptor its number is nobody else's. */
static int end_process(const struct request *r)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)r->number, 0), e = 0;

	if (fd < 0)
		return errno;
	if (parent_of((pid_t)r->number) != b.worker)
		e = EPERM;
	else if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0))
		e = errno;
	close(fd);
	return e;
}

/* --- requests --------------------------------------------------------------
 */

/* Does what is asked; *out: a descriptor to give, or -1. */
static void serve(const struct request *r, int payload, struct answer *a,
                  int *out)
{
	*out = -1;
	*a = (struct answer){0};
	if (r->folder >= NFOLDERS) {
		a->error = EINVAL;
		return;
	}
	switch ((enum what)r->what) {
	case OPEN:
		a->error = open_to_read(r, out);
		break;
	case LIST:
		a->error = list(r, out);
		break;
	case BESIDE:
		a->error = list_beside(r, out);
		break;
	case GET:
		a->error = get(r, out);
		break;
	case NEW:
		a->error = begin_draft(r, out, &a->number);
		break;
	case KEEP:
		a->error = keep(r);
		break;
	case DROP:
		if (draft_of(r))
			drop(draft_of(r));
		break;
	case REMOVE:
		a->error = remove_file(r);
		break;
	case SCRATCH:
		a->error = make_scratch(out);
		break;
	case REPLACE:
		a->error = replace(r, payload, a);
		break;
	case KILL:
		a->error = end_process(r);
		break;
	default:
		a->error = EINVAL;
		break;
	}
}

/* The broker's side: one request; false: nobody can ask any more. */
static bool serve_one(int ask)
{
	struct request r;
	struct answer a;
	int fds[2], out;
	ssize_t n = packet_receive_now(ask, &r, sizeof(r), fds);

	if (n > 0) {
		r.path[sizeof(r.path) - 1] = '\0';
		if (n == (ssize_t)sizeof(r)) {
			serve(&r, fds[1], &a, &out);
			packet_answer(fds[0], &a, sizeof(a), out);
			if (out >= 0)
				close(out);
		}
		for (size_t i = 0; i < 2; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static volatile sig_atomic_t was_told; /* to end, by this signal */

static void note_signal(int signal)
{
	was_told = signal;
}

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};

#define NENDINGS (sizeof(endings) / sizeof(*endings))

static struct sigaction before[NENDINGS];

/* Those that the caller ignores (nohup) stay ignored. */
static void catch_endings(void)
{
	struct sigaction action = {.sa_handler = note_signal};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NENDINGS; i++)
		if (!sigaction(endings[i], NULL, &before[i]) &&
		    before[i].sa_handler != SIG_IGN)
			sigaction(endings[i], &action, NULL);
}

static void leave_endings(void)
{
	for (size_t i = 0; i < NENDINGS; i++)
		sigaction(endings[i], &before[i], NULL);
}

/* As poll, unless the broker was told to end, or until it is. */
static int wait_for(struct pollfd *p, size_t n)
{
	sigset_t all, old;
	int rc = -1;

	sigemptyset(&all);
	for (size_t i = 0; i < NENDINGS; i++)
		sigaddset(&all, endings[i]);
	sigprocmask(SIG_BLOCK, &all, &old);
	if (!was_told)
		rc = ppoll(p, n, NULL, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}

/* Whoever is left of the worker's children, and theirs, which become ours when
 * their parents end. */
static void end_children(void)
{
	do {
		DIR *d = opendir("/proc");
		struct dirent *entry;

		while (d && (entry = readdir(d))) {
			long pid = strtol(entry->d_name, NULL, 10);

			if (pid > 1 && parent_of((pid_t)pid) == getpid())
				kill((pid_t)pid, SIGKILL);
		}
		if (d)
			closedir(d);
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

/* Waits for one of the worker's descriptors, if it still writes or asks, and
 * serves that.  False: it has ended. */
static bool serve_next(int asks[2], int held, struct outlets *o)
{
	struct pollfd p[3 + OUTLETS] = {
	        {.fd = held, .events = POLLIN},
	        {.fd = asks[0], .events = POLLIN},
	        {.fd = asks[1], .events = POLLIN},
	};

	for (size_t i = 0; i < o->n; i++)
		p[3 + i] = (struct pollfd){.fd = o->items[i].from,
		                           .events = POLLIN};
	if (wait_for(p, 3 + o->n) < 0)
		return true;
	for (size_t i = 0; i < o->n; i++)
		if (p[3 + i].revents)
			outlet_pass(o, &o->items[i]);
	for (int i = 0; i < 2; i++) {
		b.serves_compiler = i == 1;
		if (p[1 + i].revents && !serve_one(asks[i]))
			asks[i] = -1;
	}
	return !(p[0].revents & POLLIN);
}

/* What the worker wrote before it ended. */
static void pass_rest(struct outlets *o)
{
	for (size_t i = 0; i < o->n; i++)
		while (o->items[i].from >= 0 && !was_told)
			outlet_pass(o, &o->items[i]);
}

int broker_serve(int asks[2], pid_t worker, const struct broker_rights *rights,
                 struct outlets *outlets)
{
	int held = (int)syscall(SYS_pidfd_open, worker, 0), status = 0;

	b.rights = rights;
	b.worker = worker;
	b.has_compiler = true;
	outlets->ends = &was_told;
	outlets_leave(outlets);
	catch_endings();
	while (!was_told && serve_next(asks, held, outlets))
		continue;
	if (was_told)
		kill(worker, SIGKILL);
	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		continue;
	end_children();
	pass_rest(outlets);
	for (size_t i = 0; i < NDRAFTS; i++)
		if (b.drafts[i].is_used)
			drop(&b.drafts[i]);
	leave_endings();
	if (was_told)
		raise(was_told);
	return status;
}

/* --- workers ---------------------------------------------------------------
 */

/* Asks; payload: a descriptor to send, or -1.  Returns the error. */
static int ask(struct request *r, int payload, struct answer *a, int *out)
{
	if (b.ask < 0)
		serve(r, payload, a, out);
	else if (!packet_ask(b.ask, r, sizeof(*r), payload, a, sizeof(*a), out))
		return EIO;
	return a->error;
}

/* The same with a path, or a name; a descriptor, or -1 and errno. */
static int ask_for(enum what what, enum broker_folder folder, const char *path)
{
	struct request r = {.what = what, .folder = folder};
	struct answer a;
	int out;

	if (strlen(path) >= sizeof(r.path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(r.path, path, strlen(path));
	errno = ask(&r, -1, &a, &out);
	return errno ? -1 : out;
}

int broker_get(enum broker_folder folder, const char *name)
{
	return ask_for(GET, folder, name);
}

bool broker_draft(enum broker_folder folder, struct broker_draft *d)
{
	struct request r = {.what = NEW, .folder = folder};
	struct answer a;

	if (ask(&r, -1, &a, &d->fd))
		return false;
	d->number = (unsigned)a.number;
	return d->fd >= 0;
}

bool broker_keep(struct broker_draft *d, const char *name)
{
	struct request r = {.what = KEEP, .number = d->number};
	struct answer a;
	int out;

	snprintf(r.path, sizeof(r.path), "%s", name);
	close(d->fd);
	return !ask(&r, -1, &a, &out);
}

void broker_drop(struct broker_draft *d)
{
	struct request r = {.what = DROP, .number = d->number};
	struct answer a;
	int out;

	close(d->fd);
	ask(&r, -1, &a, &out);
}

void broker_remove(enum broker_folder folder, const char *name)
{
	ask_for(REMOVE, folder, name);
}

/* All of a file, with its size. */
static char *read_all(int fd, size_t *n)
{
	struct stat st;
	char *text = NULL;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		*n = (size_t)st.st_size;
		text = xmalloc(*n);
		if (pread(fd, text, *n, 0) != (ssize_t)*n || text[*n - 1]) {
			free(text);
			text = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	return text;
}

char *broker_names(enum broker_folder folder, size_t *n)
{
	return read_all(ask_for(LIST, folder, ""), n);
}

char *broker_names_beside(const char *path, size_t *n)
{
	return read_all(ask_for(BESIDE, 0, path), n);
}

int broker_scratch(void)
{
	return ask_for(SCRATCH, 0, "");
}

FILE *broker_scratch_file(void)
{
	int fd = broker_scratch();
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

void broker_kill(pid_t child)
{
	struct request r = {.what = KILL, .number = (uint64_t)child};
	struct answer a;
	int out;

	if (b.ask < 0)
		kill(child, SIGKILL);
	else
		ask(&r, -1, &a, &out);
}

static int open_by_broker(const char *path)
{
	return ask_for(OPEN, 0, path);
}

/* Bytes in a file that cannot change any more; -1: there is no room. */
static int seal(const void *data, size_t size)
{
	int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || writer_all(fd, data, size) ||
	    fcntl(fd, F_ADD_SEALS,
	          F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static int replace_by_broker(const char *path, const void *data, size_t size,
                             struct cairn_err *err)
{
	struct request r = {.what = REPLACE};
	struct answer a;
	int payload, out, e;

	if (!strcmp(path, "/dev/stdout")) {
		if (!writer_all(STDOUT_FILENO, data, size))
			return 0;
		return cairn_fail(err, CAIRN_E_SYSTEM, "stdout: %s",
		                  strerror(errno));
	}
	payload = seal(data, size);
	if (payload < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: cannot write: no memory for it; end "
		                  "other programs",
		                  path);
	snprintf(r.path, sizeof(r.path), "%s", path);
	e = ask(&r, payload, &a, &out);
	close(payload);
	if (e)
		return cairn_fail(err, CAIRN_E_SYSTEM, "%s: cannot write: %s",
		                  path, strerror(e));
	return a.code < 0 ? cairn_fail(err, a.code, "%s", a.text) : 0;
}

static const struct files_host host = {open_by_broker, replace_by_broker};

void broker_call(const int asks[2])
{
	b.ask = asks[0];
	b.compilers_ask = asks[1];
	files_ask(&host);
}

void broker_leave_compiler(void)
{
	if (b.ask >= 0)
		close(b.compilers_ask);
}

void broker_call_as_compiler(void)
{
	close(b.ask);
	b.ask = b.compilers_ask;
}

bool broker_is_apart(void)
{
	return b.ask >= 0;
}

void broker_stay(const struct broker_rights *rights)
{
	b.rights = rights;
}
