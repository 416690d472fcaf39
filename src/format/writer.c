/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of .cairn files that tools make (merge, pack).  The runtime has
 * its own, which may use no library.
 *
 * Invariant: what writer_end leaves passes container_parse.
 * Cost: one pass; the file is built in memory, which is at most what its
 * inputs took when they were read.
 */
#include "format/writer.h"

#include "abi/crc32c.h"
#include "abi/file.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "format/container.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as the kernel follows */

void writer_begin(struct bytes *out)
{
	unsigned char page[CAIRN_FILE_HEADER_SIZE] = {0};

	out->n = 0;
	bytes_put(out, page, sizeof(page));
}

void writer_chunk(struct bytes *out, const struct writer_chunk *k,
                  const void *payload, size_t size)
{
	unsigned char h[CAIRN_CHUNK_HEADER_SIZE] = {0};
	const unsigned char zeros[8] = {0};
	size_t pad = -size & 7;
	uint32_t crc = crc32c(0, payload, size);

	put_le32(h + CAIRN_CHK_MAGIC, CAIRN_CHUNK_MAGIC);
	put_le32(h + CAIRN_CHK_TYPE, k->type);
	put_le64(h + CAIRN_CHK_LENGTH, sizeof(h) + size + pad);
	put_le32(h + CAIRN_CHK_ID, k->id);
	put_le32(h + CAIRN_CHK_MODULE, k->module);
	put_le64(h + CAIRN_CHK_N, k->n);
	put_le64(h + CAIRN_CHK_AUX0, k->aux0);
	put_le64(h + CAIRN_CHK_AUX1, k->aux1);
	put_le32(h + CAIRN_CHK_PAYLOAD_CRC, crc32c(crc, zeros, pad));
	put_le32(h + CAIRN_CHK_HEADER_CRC, crc32c(0, h, CAIRN_CHK_FLAGS));
	bytes_put(out, h, sizeof(h));
	bytes_put(out, payload, size);
	bytes_put(out, zeros, pad);
}

void writer_end(struct bytes *out, const struct writer_header *header)
{
	unsigned char *h = out->data;

	memcpy(h + CAIRN_HDR_MAGIC, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE);
	put_le32(h + CAIRN_HDR_VERSION, CAIRN_FILE_VERSION);
	put_le32(h + CAIRN_HDR_SIZE, CAIRN_FILE_HEADER_SIZE);
	put_le32(h + CAIRN_HDR_KIND, CAIRN_KIND_PROFILE);
	put_le32(h + CAIRN_HDR_PID, header->pid);
	put_le32(h + CAIRN_HDR_PPID, header->ppid);
	put_le32(h + CAIRN_HDR_NRUNS, header->nruns);
	put_le64(h + CAIRN_HDR_START, header->start);
	put_le32(h + CAIRN_HDR_LAST_PID, header->last_pid);
	put_le64(h + CAIRN_HDR_LAST_START, header->last_start);
	put_le32(h + CAIRN_HDR_CRC, crc32c(0, h, CAIRN_HDR_CRC));
	put_le32(h + CAIRN_HDR_STATE, CAIRN_STATE_CLOSED);
	put_le32(h + CAIRN_HDR_FLAGS, header->flags);
	put_le64(h + CAIRN_HDR_LENGTH, out->n);
	put_le64(h + CAIRN_HDR_END, header->end);
	put_le32(h + CAIRN_HDR_HOW, header->how);
	put_le32(h + CAIRN_HDR_SIGNAL, header->signal);
	put_le32(h + CAIRN_HDR_UNWALKED, header->unwalked);
	put_le32(h + CAIRN_HDR_STATE_CRC,
	         crc32c(0, h + CAIRN_HDR_STATE,
	                CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE));
}

/* --- from other files ---------------------------------------------------- */

void writer_copy(struct bytes *out, const struct chunk *k)
{
	writer_chunk(out,
	             &(struct writer_chunk){.type = k->type,
	                                    .id = k->id,
	                                    .module = k->module,
	                                    .n = k->n,
	                                    .aux0 = k->aux0,
	                                    .aux1 = k->aux1},
	             k->payload, (size_t)k->size);
}

void writer_copy_part(struct bytes *out, const struct chunk *k, uint32_t id,
                      uint64_t number)
{
	struct chunk part = *k;

	part.id = id;
	part.module = 0;
	part.aux0 = number;
	writer_copy(out, &part);
}

void writer_part(struct bytes *out, uint32_t id, uint64_t number, size_t n,
                 const void *packed, size_t size)
{
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_PACKED,
	                                    .id = id,
	                                    .n = n,
	                                    .aux0 = number,
	                                    .aux1 = size},
	             packed, size);
}

struct writer_header writer_header_of(const struct container *c)
{
	struct writer_header h = {
	        .pid = c->pid,
	        .ppid = c->ppid,
	        .nruns = c->nruns,
	        .start = c->start,
	        .end = c->end,
	        .flags = c->flags,
	        .how = c->how,
	        .signal = c->signal,
	        .unwalked = c->unwalked,
	};

	if (c->state == CAIRN_STATE_OPEN)
		h.flags |= CAIRN_FILE_UNFINISHED;
	if (c->truncated)
		h.flags |= CAIRN_FILE_TRUNCATED;
	return h;
}

/* --- files --------------------------------------------------------------- */

int writer_all(int fd, const void *bytes, size_t size)
{
	const unsigned char *data = bytes;

	while (size) {
		ssize_t put = write(fd, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		data += put;
		size -= (size_t)put;
	}
	return 0;
}

/* Permissions of the file that is replaced, or as open() would have given
 * them: mkstemp is stricter. */
static int give_mode(int fd, const struct stat *old)
{
	mode_t mask;

	if (old)
		return fchmod(fd, old->st_mode & 0777);
	mask = umask(0);
	umask(mask);
	return fchmod(fd, 0666 & ~mask);
}

/* Is this name made by the kernel: /proc/self/fd/1, /dev/fd/1? */
static bool is_in_proc(const char *path)
{
	struct stat st, proc;

	return !lstat(path, &st) && !stat("/proc/self", &proc) &&
	       st.st_dev == proc.st_dev;
}

/*
 * The name behind symbolic links (allocated), so that they stay what they are.
 * NULL if it cannot be replaced: it stands for an open file, as /dev/stdout
 * does, or the links go round in circles.
 */
static char *follow_links(const char *path)
{
	char *at = xstrdup(path);

	for (int i = 0; i < MAX_LINKS; i++) {
		char to[PATH_MAX], *next;
		const char *slash = strrchr(at, '/');
		ssize_t n = readlink(at, to, sizeof(to) - 1);

		if (n < 0)
			return at;
		if (is_in_proc(at))
			break;
		to[n] = '\0';
		next = xasprintf("%.*s%s",
		                 *to == '/' || !slash ? 0
		                                      : (int)(slash - at) + 1,
		                 at, to);
		free(at);
		at = next;
	}
	free(at);
	return NULL;
}

/* Writes straight into what cannot be replaced: a pipe, /dev/null; behind what
 * is there if it is an open file, which may have been opened to append. */
static int write_special(const char *path, const void *data, size_t size,
                         struct cairn_err *err)
{
	FILE *f = fopen(path, "a");
	int bad = !f;

	if (f) {
		bad = fwrite(data, 1, size, f) != size;
		bad |= fclose(f) != 0;
	}
	return bad ? cairn_fail(err, CAIRN_E_SYSTEM,
	                        "%s: cannot write: %s; name another output",
	                        path, strerror(errno))
	           : 0;
}

/* --- drafts ---
 *
 * A file gets its name when it is complete; until then it is a draft,
 * NAME.XXXXXX.draft, and its writer holds a lock on it, which the kernel takes
 * back when the process ends.  So a draft that can be locked is of a process
 * that was killed, and is removed by the next that writes NAME.
 */
#define DRAFT_END ".draft"
#define DRAFT_RANDOM 6u /* characters */

static bool is_draft_of(const char *name, const char *base)
{
	size_t n = strlen(base);

	return !strncmp(name, base, n) && name[n] == '.' &&
	       strlen(name) == n + 1 + DRAFT_RANDOM + strlen(DRAFT_END) &&
	       !strcmp(name + n + 1 + DRAFT_RANDOM, DRAFT_END);
}

static void remove_draft(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
	close(fd);
}

/* Those that killed processes have left. */
static void remove_old_drafts(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1)
	                     : xstrdup("./");
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		char *draft;

		if (!is_draft_of(e->d_name, base))
			continue;
		draft = xasprintf("%s%s", folder, e->d_name);
		remove_draft(draft);
		free(draft);
	}
	if (d)
		closedir(d);
	free(folder);
}

int writer_draft(const char *path, char **name)
{
	struct stat st;
	bool is_locked;
	int fd;

	remove_old_drafts(path);
	for (;;) {
		*name = xasprintf("%s.XXXXXX" DRAFT_END, path);
		fd = mkostemps(*name, (int)strlen(DRAFT_END), O_CLOEXEC);
		if (fd < 0)
			return fd;
		is_locked = !flock(fd, LOCK_EX | LOCK_NB);
		/* where there are no locks no draft is removed */
		if (!is_locked && errno != EWOULDBLOCK)
			return fd;
		if (is_locked && !fstat(fd, &st) && st.st_nlink)
			return fd;
		/* another writer has taken it for an old one meanwhile */
		close(fd);
		unlink(*name);
		free(*name);
	}
}

/* Returns 0 or an errno. */
static int replace(const char *path, const struct stat *old, const void *data,
                   size_t size)
{
	char *temp;
	int fd = writer_draft(path, &temp), e = 0;

	if (fd < 0) {
		e = errno;
	} else {
		if (writer_all(fd, data, size) || give_mode(fd, old) ||
		    fsync(fd))
			e = errno;
		if (!e && rename(temp, path))
			e = errno;
		if (e)
			unlink(temp);
		close(fd); /* nothing is left to fail: fsync has written it */
	}
	free(temp);
	return e;
}

/* e: of replace(). */
static int judge(int e, const char *path, struct cairn_err *err)
{
	return e ? cairn_fail(err, CAIRN_E_SYSTEM,
	                      "%s: cannot write: %s; %sname another output",
	                      path, strerror(e),
	                      e == ENOSPC || e == EDQUOT ? "make room, or "
	                                                 : "")
	         : 0;
}

int writer_replace_here(const char *path, const void *data, size_t size,
                        struct cairn_err *err)
{
	struct stat st;
	bool exists = !lstat(path, &st) && S_ISREG(st.st_mode);

	return judge(replace(path, exists ? &st : NULL, data, size), path, err);
}

int writer_replace(const char *path, const void *data, size_t size,
                   struct cairn_err *err)
{
	const struct files_host *host = files_asked();
	char *target = host ? NULL : follow_links(path);
	struct stat st;
	bool exists = target && !stat(target, &st);
	int e;

	if (host)
		return host->replace(path, data, size, err);
	if (!target || (exists && !S_ISREG(st.st_mode))) {
		free(target);
		return write_special(path, data, size, err);
	}
	e = replace(target, exists ? &st : NULL, data, size);
	free(target);
	return judge(e, path, err);
}
