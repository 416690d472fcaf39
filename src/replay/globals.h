/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_GLOBALS_H
#define CAIRN_REPLAY_GLOBALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_err;
struct program;

/* A bit-field: its bits from the beginning of the variable on. */
struct global_bits {
	uint64_t first;
	unsigned n;
	bool is_signed, is_bool;
	char part[128];
};

/* A global or static variable, or a part of one. */
struct global {
	uint64_t address, size;
	struct global_bits bits; /* that count; n 0: all do */
	/* one per thread: the address is 0, or the distance of the part from
	 * the variable; this is its name for the linker, in one unit or in
	 * all */
	char *local;
	bool is_static;
	uint32_t unit;
	/* What it began with, byte by byte, and whether that is known. */
	unsigned char *initial;
	bool *is_known;
	struct global_type *type; /* NULL: not known */
};

enum global_kind {
	GLOBAL_BYTES,  /* something else */
	GLOBAL_SIGNED, /* of 1 to 16 bytes */
	GLOBAL_UNSIGNED,
	GLOBAL_BOOL,
	GLOBAL_FLOAT, /* of 4 or 8 bytes; of 10, or these and 6 more */
	GLOBAL_POINTER,
};

/*
 * Finds NAME or FILE:NAME, or in C++ A::NAME; parts of it follow, as in
 * `list.items[3].key`, and @N, the load of a library that was loaded several
 * times.
 *
 * Fails: CAIRN_E_ABSENT if there is no such variable or part, or more than one;
 *        *err names them.
 */
int global_find(struct global *g, const struct program *p, const char *what,
                struct cairn_err *err);
void global_release(struct global *g);

/* The scalar that n bytes at an offset are, or are in: they become those of the
 * scalar; its name behind that of the variable goes to `part`.  GLOBAL_BYTES:
 * there is none. */
enum global_kind global_scalar(const struct global *g, uint64_t *offset,
                               uint64_t *n, char *part, size_t size);

/* The bit-fields that are in n bytes at an offset: how many, and up to `max` of
 * them. */
size_t global_bit_fields(const struct global *g, uint64_t offset, uint64_t n,
                         struct global_bits *out, size_t max);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_REPLAY_GLOBALS_H */
