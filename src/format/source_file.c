/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files on disk, as far as it is safe to show them.
 *
 * Which file is read is what a map says, and a map may come with a profile from
 * anybody: a FIFO, /dev/zero, or a symbolic link to /etc/shadow, whose text
 * would then be in a report that is sent back.  The checksum of what was
 * compiled, which clang puts into debug information, answers that: who knows it
 * has the text.  Where it differs or is not known (DWARF 4, #line), the text
 * may be shown all the same, since sources change between a run and its report;
 * but then it has to look like source: by its name, by the name of the file
 * that links lead to, and by having no NUL.
 *
 * Cost: linear in the file.
 */
#include "format/source_file.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/md5.h"
#include "base/regular.h"
#include "format/map.h"
#include "format/profile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* What compilers of C and C++ take, and what generators make it of. */
static const char *const suffixes[] = {
        "adb",  "asm", "awk",   "c",     "c++", "cc",   "ccm", "cl",   "cp",
        "cppm", "cpp", "cu",    "cuh",   "cxx", "cxxm", "d",   "def",  "dtrace",
        "g4",   "gen", "gperf", "h",     "h++", "hh",   "hip", "hpp",  "hxx",
        "i",    "ii",  "in",    "inc",   "inl", "ino",  "ipp", "ixx",  "l",
        "ll",   "lex", "lpp",   "m",     "m4",  "mm",   "nw",  "peg",  "pc",
        "pyx",  "pxd", "qc",    "ragel", "re",  "rl",   "rs",  "s",    "td",
        "tab",  "tbl", "tcc",   "tmpl",  "tpl", "tpp",  "txx", "vala", "w",
        "x",    "xs",  "y",     "ypp",   "yy",  "yxx",  "zig",
};
/* Where headers of C++ have no suffix. */
static const char *const places[] = {"/usr/include/", "/usr/local/include/",
                                     "/usr/lib/", "/usr/lib64/"};

static bool has_source_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return true;
	if (!dot || dot == name)
		return false;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!strcasecmp(dot + 1, suffixes[i]))
			return true;
	return false;
}

/* The path that an open file has, without links; "" if that is unknown. */
static char *real_name(int fd)
{
	char link[32], name[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name));
	return n > 0 && (size_t)n < sizeof(name) ? xstrndup(name, (size_t)n)
	                                         : xstrdup("");
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) || S_ISLNK(st.st_mode);
}

/* Is it one of the checksums that any module has of the path?  A header may
 * have had several. */
static bool is_compiled(const struct profile *p, const char *path,
                        const struct source_file *f, bool *is_known)
{
	unsigned char digest[MD5_SIZE];

	*is_known = false;
	md5(f->text, f->size, digest);
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;
		uint32_t n = 0;
		const struct map_source *s =
		        m ? map_sources_of(m, path, &n) : NULL;

		*is_known |= n > 0;
		for (uint32_t k = 0; k < n; k++)
			if (!memcmp(s[k].md5, digest, MD5_SIZE))
				return true;
	}
	return false;
}

/* May it be shown, although it is not known to be what was compiled? */
static int check_other(const char *path, int fd, const struct source_file *f,
                       bool is_known, struct cairn_err *err)
{
	char *real = real_name(fd);
	bool is_source = has_source_name(path) && has_source_name(real);

	free(real);
	if (is_known && is_link(path))
		return cairn_fail(
		        err, CAIRN_E_MISMATCH,
		        "it is a symbolic link to a text that was not "
		        "compiled");
	if (!is_source && is_known)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "it is not the text that was compiled, and "
		                  "has no name of a source file");
	if (!is_source)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "it has no name of a source file, and no "
		                  "checksum in the program, which -gdwarf-5 "
		                  "would bring");
	if (memchr(f->text, '\0', f->size))
		return cairn_fail(err, CAIRN_E_FOREIGN, "it is not text");
	return 0;
}

static enum source_state state_of(const struct profile *p, uint32_t module,
                                  const struct stat *st, bool is_known)
{
	struct stat program;

	if (is_known)
		return SOURCE_CHANGED;
	return !stat(p->modules[module].path, &program) &&
	                       st->st_mtime > program.st_mtime
	               ? SOURCE_NEWER
	               : SOURCE_OLDER;
}

static int read_open(const struct profile *p, uint32_t module, const char *path,
                     int fd, const struct stat *st, struct source_file *out,
                     struct cairn_err *err)
{
	bool is_known;
	int rc;

	if ((uint64_t)st->st_size > SOURCE_FILE_LIMIT)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "it has more than %zu MiB",
		                  SOURCE_FILE_LIMIT >> 20);
	CAIRN_TRY(regular_read_fd(fd, st, path, SOURCE_FILE_LIMIT,
	                          "check the file", &out->text, &out->size,
	                          err));
	if (is_compiled(p, path, out, &is_known))
		return 0;
	out->state = state_of(p, module, st, is_known);
	rc = check_other(path, fd, out, is_known, err);
	if (rc < 0)
		free(out->text);
	return rc;
}

int source_file_read(const struct profile *p, uint32_t module, const char *path,
                     struct source_file *out, struct cairn_err *err)
{
	struct stat st;
	int fd, rc;

	*out = (struct source_file){0};
	fd = regular_open(path, "check the file", &st, NULL);
	if (fd == CAIRN_E_FOREIGN)
		return cairn_fail(err, fd, "it is not a regular file");
	if (fd < 0)
		return cairn_fail(err, fd, "%s", strerror(errno));
	rc = read_open(p, module, path, fd, &st, out, err);
	close(fd);
	if (rc < 0)
		*out = (struct source_file){0};
	return rc;
}
