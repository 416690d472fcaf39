/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_OUTPUT_H
#define CAIRN_RUNTIME_OUTPUT_H

/* What the hooks of output share: hook_output.c, which works, and the two files
 * that have libc's names for it. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/record.h"

/* All that is hooked. */
#define OUTPUT_HOOKS(X)     \
	X(write)            \
	X(writev)           \
	X(dprintf)          \
	X(vdprintf)         \
	X(__dprintf_chk)    \
	X(__vdprintf_chk)   \
	X(printf)           \
	X(fprintf)          \
	X(vprintf)          \
	X(vfprintf)         \
	X(__printf_chk)     \
	X(__fprintf_chk)    \
	X(__vprintf_chk)    \
	X(__vfprintf_chk)   \
	X(fputc)            \
	X(putc)             \
	X(putchar)          \
	X(fputc_unlocked)   \
	X(putc_unlocked)    \
	X(putchar_unlocked) \
	X(__overflow)       \
	X(fputs)            \
	X(fputs_unlocked)   \
	X(puts)             \
	X(fwrite)           \
	X(fwrite_unlocked)  \
	X(perror)           \
	X(fflush)           \
	X(fflush_unlocked)  \
	X(fclose)

/* Of headers only for who compiles with _FORTIFY_SOURCE. */
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *fp, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list args);
int __vfprintf_chk(FILE *fp, int flag, const char *format, va_list args);

/* A call of libc that writes to a stream. */
struct output {
	FILE *fp;
	unsigned how;       /* CAIRN_OUT_STDERR or 0 */
	const char *before; /* where the stream would have put its next byte */
	int error;          /* errno before */
	bool is_followed;   /* else nobody wants to know */
	bool is_locked;
};

/* Notes that it begins, and what others have put into the stream. */
struct output output_begin(FILE *fp);
/* It is over, or the thread was cancelled in there. */
void output_end(struct output *o);
/* Libc has written out what was in its buffer, or tried to. */
void output_flushed(const FILE *fp);
/* The descriptor of a stream that hooks have seen, or 0, before it is closed;
 * and it is closed. */
int output_closes(const FILE *fp);
void output_closed(int fd);
#define OUTPUT(stream)                                         \
	struct output o __attribute__((cleanup(output_end))) = \
	        output_begin(stream)

/* What it wrote: text, memory of the program, what a format made of its
 * arguments: n bytes. */
void output_text(const struct output *o, const void *text, size_t n);
void output_memory(const struct output *o, const void *p, size_t n);
void output_line(const struct output *o, const char *text);
void output_format(const struct output *o, int n, const char *format,
                   va_list args);

/* The same for what is written to a descriptor; before it, whether anybody
 * wants to know. */
bool output_is_followed(int fd);
void output_written(int fd, const void *p, size_t n);
void output_formatted(int fd, int n, int error, const char *format,
                      va_list args);

/* perror writes past the stream, if that has no orientation yet. */
void output_error(const struct output *o, const char *what, int error);

#endif /* CAIRN_RUNTIME_OUTPUT_H */
