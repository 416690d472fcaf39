/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_ERR_H
#define CAIRN_BASE_ERR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Errors.  A function that can fail returns 0 or a negative enum cairn_error
 * and writes one sentence, without a newline, into *err.  The deepest function
 * that knows the facts writes it; callers forward it.  err may be NULL.
 */
enum cairn_error {
	CAIRN_OK = 0,
	CAIRN_E_SYSTEM = -1,  /* a system call failed */
	CAIRN_E_CORRUPT = -2, /* bytes of a file are not what they should be */
	CAIRN_E_FOREIGN = -3, /* not a file of ours */
	CAIRN_E_VERSION = -4, /* written by a newer Cairn */
	CAIRN_E_ABSENT = -5,  /* something needed is not there: a map, a file */
	CAIRN_E_MISMATCH = -6, /* two inputs do not belong together */
	CAIRN_E_LIMIT = -7,
	CAIRN_E_USAGE = -8,
};

struct cairn_err {
	int code;
	char text[1024];
};

int cairn_fail(struct cairn_err *err, int code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Hands on what is wrong with something in a file; the sentence names the file,
 * if it did not yet.  Returns the code. */
int cairn_fail_in(struct cairn_err *err, const char *file,
                  const struct cairn_err *what);
/* The one place behind every "corrupt" return: set a breakpoint here. */
int cairn_corrupt(struct cairn_err *err, const char *file, uint64_t offset,
                  const char *format, ...)
        __attribute__((format(printf, 4, 5)));

#define CAIRN_TRY(call)                     \
	do {                                \
		int try_result_ = (call);   \
		if (try_result_ < 0)        \
			return try_result_; \
	} while (0)

#endif /* CAIRN_BASE_ERR_H */
