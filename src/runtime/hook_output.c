/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables that are recorded only.)  What goes to stdout and stderr, as
 * events of the log: libc makes text that no marked code ever sees, and `cairn
 * output` shows it with the place that wrote it.
 *
 * A hook (libc_output.inc) calls the real function and then says what that
 * wrote.  Memory of the program is named by its address, if it is long enough
 * for that to be shorter: a replay has it.  What printf makes is taken from the
 * buffer of the stream; where it was written out already it is made again.
 *
 * Bytes that others have put into the buffer, past all hooks (putc_unlocked,
 * which is inlined; functions that write messages), are found by the next hook:
 * it knows where the one before left the stream.  What is written to the
 * descriptor while the stream still has some in its buffer goes out before
 * them.
 *
 * Invariant: if threads write to a stream, their events are in the order of its
 * bytes, by the numbers of SYNC: a hook has the stream's lock, and another
 * context than that of the last event gets a new number first.  The order of
 * those who write to the descriptor at the same time is not known.
 * Breaks when: others both write to a stream and flush it: what was written out
 * is not seen.  Wide streams are not looked at.
 * Cost: some 60 instructions per call, besides the bytes.
 */
#include "runtime/output.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "runtime/exe.h"
#include "runtime/record.h"
#include "runtime/sys.h"

#define IS_FILE 0x2000   /* _IO_IS_FILEBUF: it has a descriptor */
#define IS_LINES 0x200   /* _IO_LINE_BUF: whoever reads writes it out */
#define SHORT 16u        /* no longer than an address and its bytes */
#define ERROR "%s%s%m\n" /* perror's */
#define NTEXT 512u       /* bytes of text that fit on a stack */

/* Where the last hook left a stream. */
static struct {
	FILE *fp;
	const char *at;
} seen[2];

static uint32_t last_writer; /* a context */

static uint64_t *busy(void)
{
	return &__cairn_record[CAIRN_RECORD_BUSY / 8];
}

static bool is_recorded(void)
{
	const struct context *c = record_self();

	return c && !c->is_over && !*busy();
}

/* --- pieces -----------------------------------------------------------------
 */

static void take_turn(void)
{
	uint32_t me = record_self()->id;

	if (__atomic_load_n(&last_writer, __ATOMIC_RELAXED) == me)
		return;
	if (__atomic_exchange_n(&last_writer, me, __ATOMIC_ACQ_REL))
		record_order();
}

static void say_text(unsigned how, size_t pending, const char *p, size_t n)
{
	const unsigned last = how & CAIRN_OUT_LINE;

	take_turn();
	for (; n > RECORD_PIECE; n -= RECORD_PIECE, p += RECORD_PIECE)
		record_text(how & ~last, pending, p, RECORD_PIECE);
	record_text(how, pending, p, n);
}

static void say_memory(unsigned how, size_t pending, const char *p, size_t n)
{
	const unsigned last = how & CAIRN_OUT_LINE;

	if (n <= SHORT || !record_shadow_follows((uintptr_t)p, n)) {
		say_text(how, pending, p, n);
		return;
	}
	take_turn();
	for (; n > RECORD_PIECE; n -= RECORD_PIECE, p += RECORD_PIECE)
		record_memory(how & ~last, pending, p, RECORD_PIECE);
	record_memory(how, pending, p, n);
}

/* Formats once more; `n` bytes, and errno as it was then. */
static void say_format(unsigned how, size_t pending, int n, int error,
                       const char *format, va_list args)
{
	size_t size = (size_t)n + 1;
	char few[NTEXT], *text = few;
	int now = errno, made;

	if (size > sizeof(few))
		text = sys_map_zeros(size);
	if (!text)
		return;
	errno = error;
	made = vsnprintf(text, size, format, args);
	errno = now;
	if (made > 0)
		say_text(how, pending, text, (size_t)(made < n ? made : n));
	if (text != few)
		sys3(SYS_munmap, (long)text, (long)size, 0);
}

/* --- streams ----------------------------------------------------------------
 */

/* 1 or 2; 0: of no interest. */
static int descriptor(const FILE *fp)
{
	if (!(fp->_flags & IS_FILE) || fp->_mode > 0)
		return 0;
	return fp->_fileno == STDOUT_FILENO || fp->_fileno == STDERR_FILENO
	               ? fp->_fileno
	               : 0;
}

/* What the last hook of this stream knew of its buffer ends here. */
static const char *known_end(const FILE *fp, int fd)
{
	const char *at = seen[fd - 1].at;

	return seen[fd - 1].fp == fp && at >= fp->_IO_write_base &&
	                       at <= fp->_IO_write_ptr
	               ? at
	               : fp->_IO_write_base;
}

/* Others may have written to the stream. */
static void catch_up(FILE *fp, int fd)
{
	const char *from = known_end(fp, fd);

	if (fp->_IO_write_ptr > from)
		say_text(CAIRN_OUT_LATE |
		                 (fd == STDERR_FILENO ? CAIRN_OUT_STDERR : 0),
		         0, from, (size_t)(fp->_IO_write_ptr - from));
	seen[fd - 1].fp = fp;
	seen[fd - 1].at = fp->_IO_write_ptr;
}

/* For the case that the program is killed now. */
static void leave(int fd, uint32_t pending)
{
	if (process.header)
		__atomic_store_n(
		        (uint32_t *)(process.header + CAIRN_HDR_PENDING) +
		                (fd - 1),
		        pending, __ATOMIC_RELAXED);
}

static uint32_t left_in(const FILE *fp)
{
	uint32_t n = (uint32_t)(fp->_IO_write_ptr - fp->_IO_write_base);

	return n && fp->_flags & IS_LINES ? n | CAIRN_PENDING_PERHAPS : n;
}

int output_closes(const FILE *fp)
{
	int fd = is_recorded() ? descriptor(fp) : 0;

	return fd && seen[fd - 1].fp == fp ? fd : 0;
}

void output_closed(int fd)
{
	if (fd)
		leave(fd, 0);
}

void output_flushed(const FILE *fp)
{
	int fd = output_closes(fp);

	if (fd)
		leave(fd, left_in(fp));
}

struct output output_begin(FILE *fp)
{
	struct output o = {.fp = fp};
	int fd = is_recorded() ? descriptor(fp) : 0;

	if (!fd)
		return o;
	o.is_followed = true;
	o.how = fd == STDERR_FILENO ? CAIRN_OUT_STDERR : 0;
	o.is_locked = !__libc_single_threaded;
	*busy() = 1;
	if (o.is_locked)
		flockfile(fp);
	if (known_end(fp, fd) != fp->_IO_write_ptr || seen[fd - 1].fp != fp)
		catch_up(fp, fd);
	o.before = fp->_IO_write_ptr;
	o.error = errno;
	return o;
}

void output_end(struct output *o)
{
	const int fd =
	        o->how & CAIRN_OUT_STDERR ? STDERR_FILENO : STDOUT_FILENO;

	if (!o->is_followed)
		return;
	seen[fd - 1].at = o->fp->_IO_write_ptr;
	leave(fd, left_in(o->fp));
	if (o->is_locked)
		funlockfile(o->fp);
	*busy() = 0;
}

void output_text(const struct output *o, const void *text, size_t n)
{
	if (o->is_followed && n)
		say_text(o->how, 0, text, n);
}

void output_memory(const struct output *o, const void *p, size_t n)
{
	if (o->is_followed && n)
		say_memory(o->how, 0, p, n);
}

void output_line(const struct output *o, const char *text)
{
	if (o->is_followed)
		say_memory(o->how | CAIRN_OUT_LINE, 0, text,
		           __builtin_strlen(text));
}

/* If the buffer was not written out in between it has all of it. */
void output_format(const struct output *o, int n, const char *format,
                   va_list args)
{
	if (!o->is_followed || n <= 0)
		return;
	if (o->before && o->fp->_IO_write_ptr - o->before == n)
		say_text(o->how, 0, o->before, (size_t)n);
	else
		say_format(o->how, 0, n, o->error, format, args);
}

static int count_format(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	return n;
}

static void format_error(const struct output *o, int n, int error,
                         const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_format(o->how, 0, n, error, format, args);
	va_end(args);
}

void output_error(const struct output *o, const char *what, int error)
{
	const char *colon = what && *what ? ": " : "";
	int now = errno, n;

	if (!o->is_followed)
		return;
	what = what ? what : "";
	errno = error;
	n = count_format(ERROR, what, colon);
	errno = now;
	if (n > 0)
		format_error(o, n, error, ERROR, what, colon);
}

/* --- descriptors ------------------------------------------------------------
 */

/* The stream of a descriptor, if libc still knows it. */
static FILE *stream_of(int fd)
{
	FILE *fp = fd == STDOUT_FILENO ? stdout : stderr;

	return fp && descriptor(fp) == fd ? fp : NULL;
}

/* How much of what hooks have seen the stream still has.  Its lock is not
 * taken: write may be called anywhere. */
static size_t pending(int fd)
{
	const FILE *fp = stream_of(fd);

	return fp ? (size_t)(known_end(fp, fd) - fp->_IO_write_base) : 0;
}

static unsigned how_of(int fd)
{
	return fd == STDERR_FILENO ? CAIRN_OUT_STDERR : 0;
}

bool output_is_followed(int fd)
{
	return (fd == STDOUT_FILENO || fd == STDERR_FILENO) && is_recorded();
}

void output_written(int fd, const void *p, size_t n)
{
	if (n)
		say_memory(how_of(fd), pending(fd), p, n);
}

void output_formatted(int fd, int n, int error, const char *format,
                      va_list args)
{
	if (n > 0)
		say_format(how_of(fd), pending(fd), n, error, format, args);
}

/* --- the end ----------------------------------------------------------------
 */

/* Without libc flushing its streams this
 * may be anywhere, in the middle of marked code: nothing but the end can be
 * said there. */
static void on_end(bool is_flushed)
{
	if (!is_recorded())
		return;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		FILE *fp = stream_of(fd);

		if (fp && is_flushed)
			catch_up(fp, fd);
		else if (fp && pending(fd))
			record_text(how_of(fd), pending(fd), NULL, 0);
	}
}

__attribute__((constructor)) static void tell_of_the_end(void)
{
	exe_output_end = on_end;
}
