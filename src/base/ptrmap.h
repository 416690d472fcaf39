/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_PTRMAP_H
#define CAIRN_BASE_PTRMAP_H

#include <stddef.h>
#include <stdint.h>

/* A map from pointers to small numbers; {0} is an empty one. */
struct ptrmap {
	const void **keys; /* NULL: free */
	uint32_t *values;
	size_t n, cap; /* cap is 0 or a power of two */
};

#define PTRMAP_NONE UINT32_MAX

void ptrmap_release(struct ptrmap *m);
/* Requires: key is not NULL. */
void ptrmap_set(struct ptrmap *m, const void *key, uint32_t value);
/* The value of key, or PTRMAP_NONE. */
uint32_t ptrmap_get(const struct ptrmap *m, const void *key);

#endif /* CAIRN_BASE_PTRMAP_H */
