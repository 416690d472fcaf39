/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_COMPILER_H
#define CAIRN_REPLAY_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* What is to be made: replay code of a unit, or, if n is not 0, of one of its
 * functions, so that it makes its frames again at these points. */
struct compiler_order {
	uint32_t unit, function, n;
	const uint32_t *points;
};

/* Makes it; the object is for the caller to free. */
typedef int (*compiler_make)(void *context, const struct compiler_order *o,
                             unsigned char **object, size_t *size,
                             struct cairn_err *err);

/*
 * Where objects for the cache are made: in a process that never runs replay
 * code, so that no recording, whatever the code does with it, gets to write
 * what a later replay will execute.  Each object is made in a process of its
 * own, a copy of this one as it is now, so that no unit has an influence on the
 * object of another.
 *
 * Without a broker apart there is no such process, and compiler_ask calls
 * `make` here.  Fails: CAIRN_E_SYSTEM.
 */
int compiler_open(compiler_make make, void *context, struct cairn_err *err);
/* Fails as `make`, or CAIRN_E_SYSTEM if the process died. */
int compiler_ask(const struct compiler_order *o, unsigned char **object,
                 size_t *size, struct cairn_err *err);
void compiler_close(void);

#endif /* CAIRN_REPLAY_COMPILER_H */
