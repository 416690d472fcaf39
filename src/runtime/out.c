/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output file: created, grown, mapped, sealed.
 *
 * The file is one header page and then chunks of whole pages, back to back, as
 * docs/FORMAT.md has it.  Space is reserved ahead of use (fallocate, or zeros)
 * and mapped in windows; chunks are cut from the newest window.  A mapped page
 * that has no block behind it would kill the program with SIGBUS when the disk
 * is full, and a size above `ulimit -f` with SIGXFSZ: so nothing is mapped
 * that is not reserved, and nothing is reserved above the limit.  Where a
 * reservation fails or does not hold, a chunk is private memory and is written
 * when the process ends; the header says so.  A trace, which is written as the
 * program runs, is not kept: it ends there, and the header says so for good.
 *
 * The file gets its name when its header is complete: it is made without one
 * (O_TMPFILE) or, where that cannot be, under another.
 *
 * No descriptor stays open: programs close and count theirs.  To grow, the
 * file is opened again by its absolute path and must be the same inode.
 *
 * Invariant: HDR_LENGTH covers only chunks whose header and payload are
 * complete; a chunk that is sealed does not change.  Behind out.length there
 * are zeros: a write that fails there is undone.  Hence a file whose process
 * dies between any two instructions is readable.
 * Breaks when: somebody else truncates the file.
 * Cost: six system calls per window, a page fault per page touched; at the end
 * one checksum per chunk, over the pages of it that were.
 */
#include "runtime/out.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/add.h"
#include "runtime/crc.h"
#include "runtime/name.h"
#include "runtime/rt.h"
#include "runtime/secure.h"
#include "runtime/sys.h"

#define FIRST_RESERVE (8 * RT_PAGE)
#define MIN_STEP (16 * RT_PAGE)
#define MAX_STEP (256 * RT_PAGE)
#define MIN_SPARSE (16 * RT_PAGE) /* less is as quickly read */
#define MAX_NAMES 65536u

#define PATH (process.buffers->path)
#define DRAFT (process.buffers->draft)

static struct {
	bool is_file;        /* the header page is mapped */
	bool was_made;       /* PATH names our file */
	bool has_orphan;     /* some chunk is not mapped */
	bool has_draft_name; /* DRAFT is to be removed */
	bool has_lost;       /* something that no file can have */
	bool lacks_module;   /* such a chunk is a MODULE */
	bool is_stuck;       /* what is behind out.length is not zeros */
	int fd;              /* 1 + descriptor, only while the lock is held */
	uint64_t dev, ino;
	uint64_t length;   /* of the chunks handed out, header included */
	uint64_t reserved; /* bytes of the file that are safe to touch */
	unsigned char *window;
	uint64_t window_at, window_size;
} out;

/* --- one line on stderr --------------------------------------------------- */

static const char *error_text(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "permission denied";
	case ENOENT:
		return "no such directory";
	case ENOTDIR:
		return "not a directory";
	case EISDIR:
		return "is a directory";
	case EROFS:
		return "read-only file system";
	case ENOSPC:
		return "no space left on device";
	case EDQUOT:
		return "disk quota exceeded";
	case EFBIG:
		return "file size limit (ulimit -f)";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENOMEM:
		return "out of memory";
	case ENODEV:
		return "not a regular file";
	case EEXIST:
		return "too many files of this name";
	case ENAMETOOLONG:
		return "name too long";
	case ESTALE:
		return "the file was replaced";
	case EINVAL:
		return "traces and recordings do not add up";
	case ENOEXEC:
		return "it is a profile of another build";
	case EPROTO:
		return "only counts of edges, paths and pairs add up so; use "
		       "cairn merge";
	case EBADMSG:
		return "it is no profile, or damaged";
	case ETIME:
		return "others have it locked";
	case ELOOP:
		return "is a symbolic link";
	case EUSERS:
		return "it belongs to another user";
	case EKEYREJECTED:
		return "it has privileges that its caller does not have";
	case ENOTNAM:
		return "it is not a file that only root can write, with the "
		       "path of a folder";
	case ENOTUNIQ:
		return "the caller of the program could change it";
	case EOPNOTSUPP:
		return "this file system cannot reserve space";
	default:
		return "input/output error";
	}
}

static size_t append(char *line, size_t size, size_t at, const char *s)
{
	while (*s && at < size)
		line[at++] = *s++;
	return at;
}

void out_say(const char *what, const char *name, int error, const char *then)
{
	char *line = process.buffers->line;
	const size_t room = sizeof(process.buffers->line) - 1;
	size_t n = 0;

	if (process.has_said)
		return;
	process.has_said = true;
	n = append(line, room, n, "cairn: ");
	n = append(line, room, n, what);
	n = append(line, room, n, name);
	n = append(line, room, n, ": ");
	n = append(line, room, n, error_text(error));
	n = append(line, room, n, "; ");
	n = append(line, room, n, then);
	line[n++] = '\n';
	sys_say(line, n);
}

/* --- the descriptor ------------------------------------------------------- */

static int keep_fd(int fd)
{
	out.fd = fd + 1;
	return fd;
}

void out_idle(void)
{
	if (out.fd)
		sys1(SYS_close, out.fd - 1);
	out.fd = 0;
}

/* A descriptor of our file, or a negative errno. */
static int reopen(void)
{
	struct stat st;
	int fd;

	if (out.fd)
		return out.fd - 1;
	fd = sys_open(PATH, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0);
	if (fd < 0)
		return fd;
	if (sys3(SYS_fstat, fd, (long)&st, 0) < 0 || st.st_dev != out.dev ||
	    st.st_ino != out.ino) {
		sys1(SYS_close, fd);
		return -ESTALE;
	}
	return keep_fd(fd);
}

/* What a program does is its user's business: nobody else reads it. */
static int open_new(const char *path, int flags)
{
	return sys_open(path, O_RDWR | O_CLOEXEC | flags, 0600);
}

/* In the directory of PATH, a file without a name; negative if the file system
 * has no such thing, or there is no way to name it later. */
static int draft_nameless(void)
{
	static const char proc[] = "/proc/self/fd/";
	size_t n = rt_strlen(PATH), at = sizeof(proc) - 1;
	int fd;

	if (sys3(SYS_access, (long)proc, 0, 0) < 0)
		return -ENOENT;
	while (n && PATH[n - 1] != '/')
		n--;
	rt_copy(DRAFT, PATH, n);
	DRAFT[n] = '.';
	DRAFT[n + 1] = 0;
	fd = open_new(DRAFT, O_TMPFILE);
	if (fd < 0)
		return fd;
	rt_copy(DRAFT, proc, at);
	name_number(DRAFT + at, (unsigned)fd);
	return fd;
}

/* The same, with a name that nobody else has. */
static int draft_named(void)
{
	static const char suffix[] = ".new";
	int fd = -EEXIST;

	for (unsigned n = 0; n < MAX_NAMES && fd == -EEXIST; n++) {
		if (name_make(DRAFT, sizeof(DRAFT) - sizeof(suffix), n) < 0)
			return -ENAMETOOLONG;
		rt_copy(DRAFT + rt_strlen(DRAFT), suffix, sizeof(suffix));
		fd = open_new(DRAFT, O_CREAT | O_EXCL);
	}
	return fd;
}

static void drop_draft(void)
{
	out_idle();
	if (out.has_draft_name)
		sys1(SYS_unlink, (long)DRAFT);
	out.has_draft_name = false;
}

/* A new file that nobody can see yet, or take for a profile: it gets its name
 * when it is one.  A descriptor, or a negative errno. */
static int draft(void)
{
	const char *folder = name_secure_folder();
	struct stat st;
	size_t n;
	int fd;

	if (name_make(PATH, sizeof(PATH), 0) < 0)
		return -ENAMETOOLONG;
	n = rt_strlen(PATH);
	if (PATH[n - 1] == '/')
		return -EISDIR;
	/* "the next free name" makes no sense beside a device or a folder */
	if (sys6(SYS_newfstatat, AT_FDCWD, (long)PATH, (long)&st, 0, 0, 0) ==
	            0 &&
	    !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENODEV;
	fd = draft_nameless();
	out.has_draft_name = fd < 0;
	if (fd < 0)
		fd = draft_named();
	if (fd < 0)
		return fd;
	sys3(SYS_fstat, fd, (long)&st, 0);
	out.dev = st.st_dev;
	out.ino = st.st_ino;
	keep_fd(fd);
	if (folder && !secure_accepts(st.st_uid, folder)) {
		drop_draft();
		return -ENOTUNIQ;
	}
	return fd;
}

/* Gives the draft this name; -EEXIST if somebody has it. */
static int name_draft(void)
{
	int r = (int)sys6(SYS_linkat, AT_FDCWD, (long)DRAFT, AT_FDCWD,
	                  (long)PATH, AT_SYMLINK_FOLLOW, 0);

	if (r == 0 && out.has_draft_name)
		sys1(SYS_unlink, (long)DRAFT);
	/* a file system without links */
	if (r < 0 && r != -EEXIST && out.has_draft_name)
		r = (int)sys6(SYS_renameat2, AT_FDCWD, (long)DRAFT, AT_FDCWD,
		              (long)PATH, RENAME_NOREPLACE, 0);
	return r;
}

/* The first name that is free; 0 or a negative errno. */
static int publish_file(void)
{
	int r = -EEXIST;

	for (unsigned n = 0; n < MAX_NAMES && r == -EEXIST; n++) {
		if (name_make(PATH, sizeof(PATH), n) < 0)
			return -ENAMETOOLONG;
		r = name_draft();
	}
	if (r == 0) {
		out.was_made = true;
		out.has_draft_name = false;
	}
	return r;
}

/* --- reservations --------------------------------------------------------- */

/*
 * File systems that need new blocks to overwrite old ones, or that learn only
 * later that there are none: what was reserved there can still fault.
 */
static bool reservation_holds(int fd)
{
	static const uint32_t loose[] = {
	        0x9123683e, /* btrfs */
	        0x2fc12fc1, /* zfs */
	        0xca451a4e, /* bcachefs */
	        0xf2f52010, /* f2fs */
	        0x00006969, /* nfs */
	        0xff534d42, /* cifs */
	        0xfe534d42, /* smb2 */
	        0x01021997, /* 9p */
	        0x65735546, /* fuse */
	        0x00c36400, /* ceph */
	        0x47504653, /* gpfs */
	        0x0bd00bd0, /* lustre */
	        0x0000517b, /* smb */
	};
	struct statfs fs;

	if (sys3(SYS_fstatfs, fd, (long)&fs, 0) < 0)
		return false;
	for (size_t i = 0; i < sizeof(loose) / sizeof(loose[0]); i++)
		if ((uint32_t)fs.f_type == loose[i])
			return false;
	return true;
}

int out_check_limit(uint64_t size)
{
	struct rlimit limit;

	if (sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) < 0)
		return 0;
	return limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur ? -EFBIG
	                                                                : 0;
}

static int write_zeros(int fd, uint64_t from, uint64_t to)
{
	void *zeros = sys_map_zeros(RT_PAGE);
	int r = zeros ? 0 : -ENOMEM;

	for (; r == 0 && from < to; from += RT_PAGE)
		r = sys_write_all(fd, zeros, RT_PAGE, from);
	if (zeros)
		sys3(SYS_munmap, (long)zeros, (long)RT_PAGE, 0);
	return r;
}

static int reserve(int fd, uint64_t to)
{
	uint64_t from = out.reserved;
	long r = out_check_limit(to);

	if (r == 0)
		do
			r = sys4(SYS_fallocate, fd, 0, (long)from,
			         (long)(to - from));
		while (r == -EINTR);
	if (r == -EOPNOTSUPP || r == -ENOSYS)
		r = write_zeros(fd, from, to);
	if (r == 0)
		out.reserved = to;
	return (int)r;
}

/* Makes `size` bytes behind out.length safe to touch. */
static int reserve_more(uint64_t size)
{
	uint64_t need = out.length + size, step = out.reserved / 4;
	int fd, r;

	if (out.is_stuck)
		return -EIO;
	if (need <= out.reserved)
		return 0;
	fd = reopen();
	if (fd < 0)
		return fd;
	step &= ~(uint64_t)(RT_PAGE - 1);
	if (step < MIN_STEP)
		step = MIN_STEP;
	if (step > MAX_STEP)
		step = MAX_STEP;
	r = need < out.reserved + step ? reserve(fd, out.reserved + step)
	                               : -ENOSPC;
	return r < 0 ? reserve(fd, need) : 0;
}

/*
 * Zeros again behind out.length, where a write failed in the middle: whoever
 * gets the place next relies on them.  Nobody has it yet, so the file may end
 * there for a moment; what was reserved is reserved again.
 */
static void undo_write(int fd)
{
	uint64_t reserved = out.reserved;
	long r;

	do
		r = sys3(SYS_ftruncate, fd, (long)out.length, 0);
	while (r == -EINTR);
	if (r < 0) {
		out.is_stuck = true;
		return;
	}
	if (reserved <= out.length)
		return;
	out.reserved = out.length;
	reserve(fd, reserved);
}

/*
 * A window of the file, at `at` if that is not NULL; NULL on failure.  The
 * kernel is told to make single pages: otherwise it "reads" 32 of them around
 * the first that is touched, all zeros.
 */
static void *map_file(void *at, uint64_t size, int fd, uint64_t offset)
{
	void *mem = sys_map(at, size, PROT_READ | PROT_WRITE,
	                    MAP_SHARED | (at ? MAP_FIXED : 0), fd, offset);

	if (mem)
		sys3(SYS_madvise, (long)mem, (long)size, MADV_RANDOM);
	return mem;
}

/* The memory of `size` bytes behind out.length, NULL with *error set. */
static unsigned char *map_more(uint64_t size, int *error)
{
	int fd;

	*error = reserve_more(size);
	if (*error < 0)
		return NULL;
	if (out.length >= out.window_at &&
	    out.length + size <= out.window_at + out.window_size)
		return out.window + (out.length - out.window_at);
	fd = reopen();
	*error = fd < 0 ? fd : -ENOMEM;
	if (fd < 0)
		return NULL;
	out.window_at = out.length;
	out.window_size = out.reserved - out.length;
	out.window = map_file(NULL, out.window_size, fd, out.window_at);
	if (!out.window)
		out.window_size = 0;
	return out.window;
}

/* --- the header page ------------------------------------------------------ */

static void fill_header(uint32_t flags)
{
	unsigned char *h = process.header;

	rt_put32(h + CAIRN_HDR_VERSION, CAIRN_FILE_VERSION);
	rt_put32(h + CAIRN_HDR_SIZE, CAIRN_FILE_HEADER_SIZE);
	rt_put32(h + CAIRN_HDR_KIND, CAIRN_KIND_PROFILE);
	rt_put32(h + CAIRN_HDR_PID, (uint32_t)process.pid);
	rt_put32(h + CAIRN_HDR_PPID, (uint32_t)sys1(SYS_getppid, 0));
	/* what comes after the end is no run of its own */
	rt_put32(h + CAIRN_HDR_NRUNS, process.is_added ? 0 : 1);
	rt_put64(h + CAIRN_HDR_START, sys_now_ns());
	rt_put32(h + CAIRN_HDR_STATE, CAIRN_STATE_OPEN);
	rt_put32(h + CAIRN_HDR_FLAGS, flags);
	rt_put64(h + CAIRN_HDR_LENGTH, CAIRN_FILE_HEADER_SIZE);
	rt_copy(h, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE);
	rt_put32(h + CAIRN_HDR_CRC, crc_of(h, CAIRN_HDR_CRC));
}

/* Reserves and maps the first window; 0 or a negative errno. */
static int map_header(int fd)
{
	int r = reservation_holds(fd) ? reserve(fd, FIRST_RESERVE)
	                              : -EOPNOTSUPP;

	if (r < 0)
		return r;
	out.window_at = 0;
	out.window_size = out.reserved;
	out.window = map_file(NULL, out.window_size, fd, 0);
	process.header = out.window;
	return out.window ? 0 : -ENOMEM;
}

static int no_file(int error)
{
	out_say("cannot create ", PATH, -error,
	        !name_secure_folder() ? "this run is not counted; set "
	                                "CAIRN_OUT to a file that can be "
	                                "written"
	        : error == -ENOTUNIQ
	                ? "this run is not counted; name a folder that the "
	                  "caller cannot enter in " SECURE_CONFIG
	                : "this run is not counted; name another folder in "
	                  "" SECURE_CONFIG);
	return -1;
}

/* The header in private memory, to be written at the end. */
static int stay_in_memory(uint32_t flags, int error)
{
	drop_draft();
	out_say("cannot reserve space for ", PATH, -error,
	        "counts stay in memory, where a long trace has no place, and "
	        "are lost unless there is room when the program ends");
	process.header = sys_map_zeros(RT_PAGE);
	if (!process.header)
		return -1;
	fill_header(flags | CAIRN_FILE_NOT_KILL_SAFE);
	return 0;
}

int out_open(uint32_t flags)
{
	int fd = draft(), r;

	out.length = CAIRN_FILE_HEADER_SIZE;
	if (fd < 0)
		return no_file(fd);
	r = map_header(fd);
	if (r < 0)
		return stay_in_memory(flags, r);
	fill_header(flags);
	r = publish_file();
	out.is_file = r == 0;
	if (r == 0)
		return 0;
	drop_draft();
	return no_file(r);
}

void out_forget(void)
{
	out_idle();
	if (process.header)
		sys3(SYS_munmap, (long)process.header, (long)RT_PAGE, 0);
	process.header = NULL;
	out.is_file = out.was_made = out.has_orphan = out.has_lost = false;
	out.is_stuck = out.lacks_module = false;
	out.length = out.reserved = 0;
	out.window = NULL;
	out.window_at = out.window_size = 0;
}

static void set_flags(uint32_t flags)
{
	__atomic_fetch_or((uint32_t *)(process.header + CAIRN_HDR_FLAGS), flags,
	                  __ATOMIC_RELAXED);
}

void out_flag(uint32_t flags, uint32_t unwalked)
{
	unsigned char *h = process.header;

	if (!h)
		return;
	if (flags & CAIRN_FILE_TRUNCATED) /* lost, wherever the rest goes */
		__atomic_store_n(&out.has_lost, true, __ATOMIC_RELAXED);
	set_flags(flags);
	__atomic_fetch_add((uint32_t *)(h + CAIRN_HDR_UNWALKED), unwalked,
	                   __ATOMIC_RELAXED);
}

void out_count_fork(void)
{
	if (process.header)
		__atomic_fetch_add(
		        (uint32_t *)(process.header + CAIRN_HDR_FORKS), 1,
		        __ATOMIC_RELEASE);
}

const char *out_path(void)
{
	return out.is_file ? PATH : NULL;
}

/* --- chunks --------------------------------------------------------------- */

void *out_meta(size_t size)
{
	static unsigned char *at, *end;
	void *result;

	size = (size + 15) & ~(size_t)15;
	if ((size_t)(end - at) < size) {
		size_t block = size > 16 * RT_PAGE ? size : 16 * RT_PAGE;

		at = sys_map_zeros(block);
		end = at ? at + block : NULL;
		if (!at)
			return NULL;
	}
	result = at;
	at += size;
	return result;
}

static struct chunk *new_record(void)
{
	struct chunk *c = process.free_chunks;

	if (!c)
		return out_meta(sizeof(*c));
	process.free_chunks = c->next;
	rt_zero(c, sizeof(*c));
	return c;
}

static void fill_chunk(struct chunk *c, const struct out_spec *spec)
{
	unsigned char *h = c->mem;

	rt_put32(h + CAIRN_CHK_MAGIC, CAIRN_CHUNK_MAGIC);
	rt_put32(h + CAIRN_CHK_TYPE, spec->type);
	rt_put64(h + CAIRN_CHK_LENGTH, c->size);
	rt_put32(h + CAIRN_CHK_ID, spec->id);
	rt_put32(h + CAIRN_CHK_MODULE, spec->module);
	rt_put64(h + CAIRN_CHK_N, spec->n);
	rt_put64(h + CAIRN_CHK_AUX0, spec->aux0);
	rt_put64(h + CAIRN_CHK_AUX1, spec->aux1);
	rt_put32(h + CAIRN_CHK_FLAGS, spec->flags);
	rt_put32(h + CAIRN_CHK_HEADER_CRC, crc_of(h, CAIRN_CHK_FLAGS));
}

static void append_record(struct chunk *c)
{
	c->next = NULL;
	if (process.last_chunk)
		process.last_chunk->next = c;
	else
		process.chunks = c;
	process.last_chunk = c;
}

/* The chunk could not become part of the file: keep it in memory.  The flag is
 * for who is killed: out_seal takes it back if all found a place. */
static void note_orphan(int error)
{
	out.has_orphan = true;
	if (!out.is_file)
		return;
	set_flags(CAIRN_FILE_TRUNCATED);
	out_say("cannot grow ", PATH, -error,
	        process.is_recording
	                ? "what does not fit of the recording is lost, the "
	                  "program goes on"
	        : process.trace ? "what does not fit of the trace is lost, the "
	                          "program goes on"
	                        : "new counts stay in memory, and are lost "
	                          "unless there is room when the program ends");
}

struct chunk *out_chunk(const struct out_spec *spec)
{
	struct chunk *c = new_record();
	int error = 0;

	if (!c)
		return NULL;
	c->size = (CAIRN_CHUNK_HEADER_SIZE + spec->payload + RT_PAGE - 1) &
	          ~(uint64_t)(RT_PAGE - 1);
	/* in the file nothing may belong to a module that is not there */
	c->mem = out.is_file && !out.lacks_module ? map_more(c->size, &error)
	                                          : NULL;
	if (c->mem) {
		c->is_mapped = true;
		c->offset = out.length;
		out.length += c->size;
	} else {
		c->mem = sys_map_zeros(c->size);
		if (!c->mem)
			return NULL;
		note_orphan(error);
		out.lacks_module |= spec->type == CAIRN_CHUNK_MODULE;
	}
	fill_chunk(c, spec);
	return c;
}

int out_append(const struct out_spec *spec, unsigned char *mem)
{
	struct chunk c = {.mem = mem};
	int fd = out.is_file ? reopen() : -ENOSPC, r;

	if (fd < 0)
		return fd;
	if (out.is_stuck)
		return -EIO;
	c.size = (CAIRN_CHUNK_HEADER_SIZE + spec->payload + RT_PAGE - 1) &
	         ~(uint64_t)(RT_PAGE - 1);
	rt_zero(mem, CAIRN_CHUNK_HEADER_SIZE);
	fill_chunk(&c, spec);
	rt_put32(mem + CAIRN_CHK_PAYLOAD_CRC,
	         crc_of(mem + CAIRN_CHUNK_HEADER_SIZE,
	                c.size - CAIRN_CHUNK_HEADER_SIZE));
	r = out_check_limit(out.length + c.size);
	if (r < 0)
		return r;
	r = sys_write_all(fd, mem, c.size, out.length);
	if (r < 0) {
		undo_write(fd);
		return r;
	}
	out.length += c.size;
	if (out.reserved < out.length)
		out.reserved = out.length;
	rt_put64(process.header + CAIRN_HDR_LENGTH, out.length);
	return 0;
}

void out_label(struct chunk *c, const struct out_spec *spec)
{
	fill_chunk(c, spec);
}

void out_punch(const struct chunk *c)
{
	int fd = c->is_mapped ? reopen() : -1;

	if (fd < 0 ||
	    sys4(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	         (long)(c->offset + RT_PAGE), (long)(c->size - RT_PAGE)) < 0)
		rt_zero(c->mem + RT_PAGE, c->size - RT_PAGE);
	rt_zero(out_payload(c), RT_PAGE - CAIRN_CHUNK_HEADER_SIZE);
}

void out_replace(struct chunk *c, const struct out_spec *spec)
{
	int error = -ENOSPC, fd = -1;
	void *mem = NULL;

	if (out.is_file && !out.lacks_module) {
		error = reserve_more(c->size);
		fd = error ? -1 : reopen();
	}
	if (fd >= 0)
		mem = map_file(c->mem, c->size, fd, out.length);
	c->is_mapped = mem != NULL;
	c->offset = 0;
	c->is_published = false;
	if (mem) {
		c->offset = out.length;
		out.length += c->size;
	} else {
		sys_map(c->mem, c->size, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		note_orphan(error);
	}
	fill_chunk(c, spec);
}

void *out_payload(const struct chunk *c)
{
	return c->mem + CAIRN_CHUNK_HEADER_SIZE;
}

static bool is_module(const struct chunk *c)
{
	return rt_get32(c->mem + CAIRN_CHK_TYPE) == CAIRN_CHUNK_MODULE;
}

static bool is_live(const struct chunk *c)
{
	return rt_get32(c->mem + CAIRN_CHK_FLAGS) & CAIRN_CHUNK_LIVE;
}

static uint32_t payload_crc(const struct chunk *c)
{
	return crc_of(out_payload(c), c->size - CAIRN_CHUNK_HEADER_SIZE);
}

void out_publish(struct chunk *c)
{
	if (!is_live(c))
		rt_put32(c->mem + CAIRN_CHK_PAYLOAD_CRC, payload_crc(c));
	append_record(c);
	c->is_published = true;
	if (c->is_mapped)
		rt_put64(process.header + CAIRN_HDR_LENGTH, out.length);
}

void out_drop(struct chunk *c)
{
	sys3(SYS_munmap, (long)c->mem, (long)c->size, 0);
	c->next = process.free_chunks;
	process.free_chunks = c;
}

void out_renew(struct chunk *c)
{
	const unsigned char *h = c->mem;
	const struct out_spec spec = {
	        .type = rt_get32(h + CAIRN_CHK_TYPE),
	        .id = rt_get32(h + CAIRN_CHK_ID),
	        .module = rt_get32(h + CAIRN_CHK_MODULE),
	        .n = rt_get64(h + CAIRN_CHK_N),
	        .flags = CAIRN_CHUNK_LIVE,
	};

	out_replace(c, &spec);
	out_publish(c);
}

void out_abandon(const struct chunk *c)
{
	sys_map(c->mem, c->size, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void out_lose(void)
{
	if (!out.has_lost)
		out_flag(CAIRN_FILE_TRUNCATED, 1);
	out_say("cannot count all in ", PATH, ENOMEM, "some counts are lost");
}

/* --- the end -------------------------------------------------------------- */

/* Where in the chunk the next data, or the next hole, begins, from `at` on. */
static uint64_t next(int fd, const struct chunk *c, uint64_t at, int whence)
{
	long r = sys3(SYS_lseek, fd, (long)(c->offset + at), whence);

	if (whence == SEEK_DATA && r < 0 && r != -ENXIO)
		return at; /* it cannot tell: data everywhere */
	return r < 0 || (uint64_t)r - c->offset > c->size
	               ? c->size
	               : (uint64_t)r - c->offset;
}

/*
 * The same as payload_crc, by what the file system says of the file.  A page
 * that nobody touched is a hole, or reserved and not yet written: it is zeros,
 * and to read it would mean to make it.
 */
static uint32_t sparse_crc(int fd, const struct chunk *c)
{
	uint32_t crc =
	        crc_of(out_payload(c), RT_PAGE - CAIRN_CHUNK_HEADER_SIZE);

	for (uint64_t at = RT_PAGE; at < c->size;) {
		uint64_t data = next(fd, c, at, SEEK_DATA), hole;
		uint64_t from = data & ~(uint64_t)(RT_PAGE - 1);

		crc = crc_add_zeros(crc, (from - at) / RT_PAGE);
		if (from == c->size)
			break;
		hole = next(fd, c, data, SEEK_HOLE);
		at = hole > data
		             ? (hole + RT_PAGE - 1) & ~(uint64_t)(RT_PAGE - 1)
		             : c->size;
		crc = crc_add(crc, c->mem + from, at - from);
	}
	return crc;
}

static void seal_chunk(struct chunk *c)
{
	int fd = c->is_mapped && c->size >= MIN_SPARSE ? reopen() : -1;

	rt_put32(c->mem + CAIRN_CHK_PAYLOAD_CRC,
	         fd < 0 ? payload_crc(c) : sparse_crc(fd, c));
	rt_put32(c->mem + CAIRN_CHK_FLAGS,
	         CAIRN_CHUNK_LIVE | CAIRN_CHUNK_SEALED);
}

static int write_chunk(int fd, struct chunk *c)
{
	uint64_t at = c->offset ? c->offset : out.length;
	int r = out_check_limit(at + c->size);

	if (r < 0)
		return r;
	r = sys_write_all(fd, c->mem, c->size, at);
	if (r < 0 && !c->offset)
		undo_write(fd);
	if (r == 0 && !c->offset) {
		c->offset = at;
		out.length = at + c->size;
		rt_put64(process.header + CAIRN_HDR_LENGTH, out.length);
	}
	return r;
}

static int write_header(int fd)
{
	int r = out_check_limit(RT_PAGE);

	return r ? r : sys_write_all(fd, process.header, RT_PAGE, 0);
}

/* Gives every private chunk a place in the file.  Returns a descriptor, or a
 * negative errno if there is no file; sets *lost if some had no place. */
static int write_orphans(bool *lost)
{
	int fd = out.was_made ? reopen() : draft();

	if (fd < 0)
		return fd;
	if (!out.is_file && write_header(fd) < 0) {
		if (!out.was_made)
			drop_draft();
		return -ENOSPC;
	}
	for (struct chunk *c = process.chunks; c; c = c->next) {
		if (c->is_mapped || write_chunk(fd, c) == 0)
			continue;
		*lost = true;
		if (is_module(c)) /* what belongs to it cannot be read */
			break;
	}
	return fd;
}

/* The last of a file that is written at the end. */
static void complete_file(int fd)
{
	int r = write_header(fd);

	if (r == 0 && !out.was_made)
		r = publish_file();
	if (r < 0 && !out.was_made) {
		drop_draft();
		out_say("cannot write ", PATH, -r, "the counts are lost");
	}
}

static void close_state(uint32_t how, uint32_t signal)
{
	unsigned char state[CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE];
	unsigned char *h = process.header;

	rt_put64(h + CAIRN_HDR_END, sys_now_ns());
	rt_put32(h + CAIRN_HDR_HOW, how);
	rt_put32(h + CAIRN_HDR_SIGNAL, signal);
	/* the checksum first: a state that says closed has it */
	rt_copy(state, h + CAIRN_HDR_STATE, sizeof(state));
	state[0] = CAIRN_STATE_CLOSED;
	rt_put32(h + CAIRN_HDR_STATE_CRC, crc_of(state, sizeof(state)));
	rt_put32(h + CAIRN_HDR_STATE, CAIRN_STATE_CLOSED);
}

void out_seal(uint32_t how, uint32_t signal)
{
	bool lost = false;
	int fd = -1;

	if (process.trace)
		process.trace->finish(how);
	for (struct chunk *c = process.chunks; c; c = c->next)
		if (is_live(c) && !c->is_loose)
			seal_chunk(c);
	if (out.has_orphan || !out.is_file) {
		fd = write_orphans(&lost);
		lost = lost || fd < 0 || out.has_lost;
		if (!lost)
			__atomic_fetch_and(
			        (uint32_t *)(process.header + CAIRN_HDR_FLAGS),
			        ~CAIRN_FILE_TRUNCATED, __ATOMIC_RELAXED);
		else
			set_flags(CAIRN_FILE_TRUNCATED);
	}
	close_state(how, signal);
	if (!out.is_file && fd >= 0)
		complete_file(fd);
	process.is_sealed = true;
	out_idle();
}

/* Can something still count in the file, without asking us first? */
static bool is_in_use(void)
{
	for (const struct chunk *c = process.chunks; c; c = c->next)
		if (c->is_loose ||
		    (rt_get32(c->mem + CAIRN_CHK_TYPE) == CAIRN_CHUNK_COUNTS &&
		     !rt_get32(c->mem + CAIRN_CHK_ID)))
			return true;
	return false;
}

/* Do other threads go on if an exec fails? */
static bool has_others(void)
{
	for (const struct thread *t = process.threads; t; t = t->next)
		if (t != rt_self() && t->tid &&
		    sys3(SYS_tgkill, process.pid, t->tid, 0) == 0)
			return true;
	return false;
}

void out_add(uint32_t how)
{
	/* a static program ends twice: in exit, and in the _exit that calls */
	if (!name_is_sum() || !out.was_made || process.is_off ||
	    process.is_added)
		return;
	if (process.trace)
		add_refuse(PATH, EINVAL);
	else if (!is_in_use() && how != CAIRN_HOW_UNLOAD &&
	         (how != CAIRN_HOW_EXEC || !has_others()))
		process.is_added = add_to_sum(PATH);
}

void out_unseal(void)
{
	unsigned char *h = process.header;

	if (process.is_added) {
		rt_start_again();
		return;
	}
	for (struct chunk *c = process.chunks; c; c = c->next)
		if (is_live(c))
			rt_put32(c->mem + CAIRN_CHK_FLAGS, CAIRN_CHUNK_LIVE);
	if (out.has_orphan && out.is_file) /* as in note_orphan */
		set_flags(CAIRN_FILE_TRUNCATED);
	rt_put32(h + CAIRN_HDR_STATE, CAIRN_STATE_OPEN);
	rt_put64(h + CAIRN_HDR_END, 0);
	rt_put32(h + CAIRN_HDR_HOW, CAIRN_HOW_UNKNOWN);
	rt_put32(h + CAIRN_HDR_SIGNAL, 0);
	process.is_sealed = false;
}
