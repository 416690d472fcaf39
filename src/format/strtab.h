/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_STRTAB_H
#define CAIRN_FORMAT_STRTAB_H

#include <stddef.h>
#include <stdint.h>

/*
 * A set of strings, each stored once and named by a small number, in order of
 * first appearance.  Zero-initialise it; strtab_release ends it.
 */
struct strtab {
	char **items; /* owned; the address of a string never changes */
	uint32_t n, cap;
	uint32_t *slots; /* open addressing: 1 + index, 0 empty */
	uint32_t nslots; /* 0 or a power of two */
};

#define STRTAB_NONE UINT32_MAX

/* The number of the string, added if it is new.  Copies it. */
uint32_t strtab_add(struct strtab *t, const char *s, size_t n);
/* The number of the string, STRTAB_NONE if it is not there. */
uint32_t strtab_find(const struct strtab *t, const char *s, size_t n);
void strtab_release(struct strtab *t);

#endif /* CAIRN_FORMAT_STRTAB_H */
