/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_SUM_H
#define CAIRN_RUNTIME_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* A whole .cairn file in memory. */
struct sum_file {
	const unsigned char *mem;
	uint64_t size;
	uint32_t owner; /* user */
	bool is_ours;   /* we have just closed it: its payloads are right */
};

/* The sum, as the bytes of a closed file. */
struct sum {
	unsigned char *mem;
	uint64_t size, room;
};

/*
 * Sums the counts of a file that was there, or NULL, and ours.  The header says
 * which file was added last: the second.
 *
 * Fails:  -ENOEXEC if they are of different builds, -EPROTO if one has a trace,
 *         -EBADMSG if one is damaged or still open, -ENOMEM.  *s is then empty.
 * Memory: s->mem is for sum_release to give back.
 * Threads: under the lock only.
 */
int sum_make(struct sum *s, const struct sum_file *old,
             const struct sum_file *ours);
void sum_release(struct sum *s);

#endif /* CAIRN_RUNTIME_SUM_H */
