/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_OUT_H
#define CAIRN_RUNTIME_OUT_H

#include <stddef.h>
#include <stdint.h>

struct chunk;

/*
 * The output file.  All of it requires the lock, but for out_flag.
 */

/* What a new chunk is. */
struct out_spec {
	uint32_t type, id, module;
	uint64_t n, aux0, aux1;
	size_t payload; /* bytes */
	uint32_t flags; /* CAIRN_CHUNK_LIVE or 0 */
};

/*
 * Makes the file and its header page, process.header.  If there can be a file
 * but no reservation, the header is in private memory and out_seal writes.
 * Returns 0, or -1 if there can be no file at all; it has said why.
 */
int out_open(uint32_t flags);

/* Forgets the file, which then belongs to another process. */
void out_forget(void);

/* A zeroed chunk with its header filled in; in private memory if the file
 * cannot grow; NULL if there is no memory either. */
struct chunk *out_chunk(const struct out_spec *spec);
/* The same chunk, in the place of *old, whose memory keeps its address. */
void out_replace(struct chunk *old, const struct out_spec *spec);
/*
 * A chunk of which nothing is kept here: written at once, header and payload,
 * at the end of the file.  `c` has room for both, is aligned to 8 and filled
 * with zeros behind the payload.  Returns 0 or a negative errno.
 */
int out_append(const struct out_spec *spec, unsigned char *c);
/* Gives a live chunk another header: of the same payload. */
void out_label(struct chunk *c, const struct out_spec *spec);
/* Gives the blocks of the file behind a chunk's payload back: it is zeros. */
void out_punch(const struct chunk *c);
/* Makes it part of the file: call it when the payload is complete. */
void out_publish(struct chunk *c);
/* Forgets a chunk and its memory. */
void out_drop(struct chunk *c);
/* The same live chunk, of zeros, in a new file. */
void out_renew(struct chunk *c);
/* Puts zeros that nobody reads in the place of a chunk. */
void out_abandon(const struct chunk *c);

/* Closes the descriptor that the calls above share: before the lock goes. */
void out_idle(void);

/* Sets header flags, and adds to the number of what nobody could look at.
 * CAIRN_FILE_TRUNCATED: something is lost, and the file says so for good. */
void out_flag(uint32_t flags, uint32_t unwalked);

/* A fork is about to be made: whoever drops parts of the file has to know. */
void out_count_fork(void);
/* The absolute name of the file; NULL: there is none. */
const char *out_path(void);

/* Counts are lost for want of memory: says so, in the header too. */
void out_lose(void);

/* Checksums, end time, state; writes what is not mapped. */
void out_seal(uint32_t how, uint32_t signal);
/* The program runs on after all. */
void out_unseal(void);
/* What was sealed becomes part of a sum, if CAIRN_OUT names one and nothing can
 * count in this file any more. */
void out_add(uint32_t how);
/* May a file be this long, or would the kernel send SIGXFSZ?  0 or a negative
 * errno. */
int out_check_limit(uint64_t size);

/* One line on stderr, once in the life of the process and its children. */
void out_say(const char *what, const char *name, int error, const char *then);

/* Payload of a chunk. */
void *out_payload(const struct chunk *c);

/* Bookkeeping memory that is never given back; NULL if there is none. */
void *out_meta(size_t size);

#endif /* CAIRN_RUNTIME_OUT_H */
