/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAIRN_OUT=NAME,merge: many runs, one after the other or at the same time, add
 * their counts to one file.
 *
 * A run counts in a file of its own, beside the sum and as safe from SIGKILL as
 * ever.  When it ends, and its file is closed, it makes a new sum of the old
 * one and its own, in a file that nobody sees, gives it the name of the old
 * one, and removes its own.  Who adds holds a lock (flock) on the sum: on the
 * file that has the name, which the holder of a lock on a former one finds out.
 * The first run makes the sum; of two that do, one finds that it is there.
 *
 * Invariant: at any moment each run that has ended is in the sum, or beside it,
 * but for one, at most, that is both: who was killed between the last two
 * steps.  The header of the sum says which file was added last; who adds next
 * removes it first, and readers do not count it twice.  A draft of a sum that a
 * killed process leaves is removed by the next one, too.
 * Breaks when: somebody else renames the files, or the file system has no
 * working flock.
 * Cost: that of sum.c, and about 20 system calls.  A run waits for others up to
 * PATIENCE_NS; then its file stays.
 */
#include "runtime/add.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "abi/file.h"
#include "runtime/crc.h"
#include "runtime/name.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sum.h"
#include "runtime/sys.h"

#define SUM (process.buffers->sum)
#define DRAFT (process.buffers->draft)
#define PATIENCE_NS 60000000000ull
#define LOOK_NS 1000000u
#define MAX_TRIES 100000u

/* --- files ---------------------------------------------------------------- */

static int open_file(const char *path)
{
	return sys_open(path,
	                O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
	                0);
}

/* Maps a whole file; 0 or a negative errno. */
static int map_whole(int fd, struct sum_file *f)
{
	struct stat st;
	int r = (int)sys3(SYS_fstat, fd, (long)&st, 0);

	rt_zero(f, sizeof(*f));
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENODEV;
	if (st.st_size < (long)CAIRN_FILE_HEADER_SIZE)
		return -EBADMSG;
	f->size = (uint64_t)st.st_size;
	f->owner = st.st_uid;
	f->mem = sys_map(NULL, f->size, PROT_READ, MAP_SHARED, fd, 0);
	return f->mem ? 0 : -ENOMEM;
}

static void unmap(const struct sum_file *f)
{
	if (f->mem)
		sys3(SYS_munmap, (long)f->mem, (long)f->size, 0);
}

/* Is the file that is open the one that has the name? */
static bool has_name(int fd, const char *path)
{
	struct stat a, b;

	return sys3(SYS_fstat, fd, (long)&a, 0) == 0 &&
	       sys6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&b,
	            AT_SYMLINK_NOFOLLOW, 0, 0) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Waits for the lock of an open file, up to a moment; 0 or a negative errno. */
static int wait_for_lock(int fd, uint64_t until)
{
	const uint32_t word = 0;
	long r;

	while ((r = sys3(SYS_flock, fd, LOCK_EX | LOCK_NB, 0)) < 0) {
		if (r != -EWOULDBLOCK && r != -EINTR)
			return (int)r;
		if (sys_now_ns() > until)
			return -ETIME;
		sys_futex_wait(&word, 0, LOOK_NS);
	}
	return 0;
}

/* Is it of another user than our own file, which is beside it?  He could read
 * what we add, or hold the lock as long as he likes. */
static int check_owner(int fd, uint32_t owner)
{
	struct stat st;
	int r = (int)sys3(SYS_fstat, fd, (long)&st, 0);

	return r < 0 ? r : st.st_uid == owner ? 0 : -EUSERS;
}

/* Opens and locks the sum: a descriptor, -ENOENT if there is none, or another
 * negative errno. */
static int lock_sum(uint32_t owner)
{
	uint64_t until = sys_now_ns() + PATIENCE_NS;
	int fd, r;

	for (;;) {
		fd = open_file(SUM);
		if (fd < 0)
			return fd;
		r = check_owner(fd, owner);
		if (r == 0)
			r = wait_for_lock(fd, until);
		if (r == 0 && has_name(fd, SUM))
			return fd;
		sys1(SYS_close, fd);
		if (r < 0)
			return r;
	}
}

/* --- the one before us ---------------------------------------------------- */

/* Is it the file whose pid and start these are? */
static bool is_run(const char *path, uint32_t pid, uint64_t start)
{
	unsigned char h[CAIRN_HDR_CRC + 4];
	int fd = open_file(path);
	long n;

	if (fd < 0)
		return false;
	n = sys3(SYS_read, fd, (long)h, sizeof(h));
	sys1(SYS_close, fd);
	return n == (long)sizeof(h) &&
	       rt_same(h, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE) &&
	       rt_get32(h + CAIRN_HDR_CRC) == crc_of(h, CAIRN_HDR_CRC) &&
	       rt_get32(h + CAIRN_HDR_PID) == pid &&
	       rt_get64(h + CAIRN_HDR_START) == start;
}

/* Removes the file that was added last, if its process had no time for it. */
static void remove_last(const unsigned char *sum)
{
	uint32_t pid = rt_get32(sum + CAIRN_HDR_LAST_PID);
	uint64_t start = rt_get64(sum + CAIRN_HDR_LAST_START);
	struct stat st;

	for (unsigned n = 0; pid; n++) {
		if (name_part(DRAFT, sizeof(process.buffers->draft), pid, n) <
		            0 ||
		    sys6(SYS_newfstatat, AT_FDCWD, (long)DRAFT, (long)&st,
		         AT_SYMLINK_NOFOLLOW, 0, 0) < 0)
			return;
		if (is_run(DRAFT, pid, start)) {
			sys1(SYS_unlink, (long)DRAFT);
			return;
		}
	}
}

/* --- the new sum ---------------------------------------------------------- */

/*
 * The name of a draft: SUM.XXXXXX.draft, as those of `cairn merge`
 * (format/writer.c), which removes what nobody holds the lock of.  The holder
 * of the sum's lock has the same name as the one before it.  Whoever makes the
 * first sum holds no lock, and has a name of its own.
 */
static int name_of_draft(bool is_first)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	char end[] = ".adding.draft";
	size_t n = rt_strlen(SUM);

	if (n + sizeof(end) > sizeof(process.buffers->draft))
		return -ENAMETOOLONG;
	if (is_first) {
		uint32_t pid = (uint32_t)process.pid;

		for (unsigned i = 6; i > 0; i--, pid /= 36)
			end[i] = digits[pid % 36];
	}
	rt_copy(DRAFT, SUM, n);
	rt_copy(DRAFT + n, end, sizeof(end));
	return 0;
}

/* Locks a new file; -EEXIST if it was taken for an old draft meanwhile. */
static int lock_draft(int fd)
{
	int r = (int)sys3(SYS_flock, fd, LOCK_EX | LOCK_NB, 0);

	if (r == -EWOULDBLOCK || (r == 0 && !has_name(fd, DRAFT)))
		return -EEXIST;
	return r;
}

/* DRAFT becomes the name of a new file with these bytes, locked; a descriptor,
 * or a negative errno.  `like` is the old sum, -1: there is none. */
static int write_draft(const struct sum *s, int like)
{
	struct stat st;
	int fd, r = name_of_draft(like < 0);

	if (r < 0)
		return r;
	sys1(SYS_unlink, (long)DRAFT); /* of a process that was killed */
	fd = sys_open(DRAFT, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fd;
	r = lock_draft(fd);
	if (r == 0)
		r = out_check_limit(s->size);
	if (r == 0)
		r = sys_write_all(fd, s->mem, s->size, 0);
	if (r == 0 && like >= 0 && sys3(SYS_fstat, like, (long)&st, 0) == 0)
		sys3(SYS_fchmod, fd, st.st_mode & 0777, 0);
	if (r == 0)
		return fd;
	sys1(SYS_unlink, (long)DRAFT);
	sys1(SYS_close, fd);
	return r;
}

/* Gives the draft the name of the sum: of the old one, or if there is none. */
static int name_draft(bool is_first)
{
	int r;

	if (!is_first)
		return (int)sys3(SYS_rename, (long)DRAFT, (long)SUM, 0);
	r = (int)sys6(SYS_linkat, AT_FDCWD, (long)DRAFT, AT_FDCWD, (long)SUM, 0,
	              0);
	if (r == 0)
		sys1(SYS_unlink, (long)DRAFT);
	else if (r != -EEXIST) /* a file system without links */
		r = (int)sys6(SYS_renameat2, AT_FDCWD, (long)DRAFT, AT_FDCWD,
		              (long)SUM, RENAME_NOREPLACE, 0);
	return r;
}

/* Makes the sum of the old one, if any, and the file of this process. */
static int replace_sum(int old_fd, const struct sum_file *ours,
                       const char *path)
{
	struct sum_file old = {0};
	struct sum s = {0};
	int fd = -1, r = old_fd < 0 ? 0 : map_whole(old_fd, &old);

	if (r == 0)
		r = sum_make(&s, old_fd < 0 ? NULL : &old, ours);
	if (r == 0 && old_fd >= 0)
		remove_last(old.mem);
	if (r == 0)
		fd = write_draft(&s, old_fd);
	if (r == 0 && fd < 0)
		r = fd;
	if (r == 0)
		r = name_draft(old_fd < 0);
	if (r < 0 && fd >= 0)
		sys1(SYS_unlink, (long)DRAFT);
	if (r == 0)
		sys1(SYS_unlink, (long)path);
	if (fd >= 0)
		sys1(SYS_close, fd);
	sum_release(&s);
	unmap(&old);
	return r;
}

static int try_to_add(const struct sum_file *ours, const char *path)
{
	int r = -EEXIST, fd;

	for (unsigned i = 0; i < MAX_TRIES && r == -EEXIST; i++) {
		fd = lock_sum(ours->owner);
		if (fd < 0 && fd != -ENOENT)
			return fd;
		r = replace_sum(fd, ours, path);
		if (fd >= 0)
			sys1(SYS_close, fd);
	}
	return r;
}

void add_refuse(const char *path, int error)
{
	static const char begin[] = "what this run wrote stays in ";
	size_t n = sizeof(begin) - 1;

	if (name_sum(SUM, sizeof(SUM)) < 0)
		return;
	rt_copy(DRAFT, begin, n);
	for (; *path && n < sizeof(DRAFT) - 1; path++)
		DRAFT[n++] = *path;
	DRAFT[n] = 0;
	out_say("cannot add to ", SUM, error, DRAFT);
}

bool add_to_sum(const char *path)
{
	struct sum_file ours;
	int fd, r;

	if (name_sum(SUM, sizeof(SUM)) < 0)
		return false;
	fd = open_file(path);
	r = fd < 0 ? fd : map_whole(fd, &ours);
	if (fd >= 0)
		sys1(SYS_close, fd);
	if (r == 0) {
		ours.is_ours = true;
		r = try_to_add(&ours, path);
		unmap(&ours);
	}
	if (r < 0)
		add_refuse(path, -r);
	return r == 0;
}
