/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_WRITER_H
#define CAIRN_FORMAT_WRITER_H

#include "base/bytes.h"

#include <stdint.h>

struct cairn_err;
struct chunk;
struct container;

/* What the header of a file that a tool writes says. */
struct writer_header {
	uint32_t pid, ppid, nruns;
	uint64_t start, end;
	uint32_t last_pid; /* of a sum: of what was added last */
	uint64_t last_start;
	uint32_t flags, how, signal, unwalked;
};

/* What a chunk's header says beside what follows from its payload. */
struct writer_chunk {
	uint32_t type, id, module;
	uint64_t n, aux0, aux1;
};

/*
 * Builds a closed .cairn file in memory: writer_begin, then one writer_chunk
 * per chunk, then writer_end, which puts the header in place.  The bytes are
 * a function of the arguments only.
 */
void writer_begin(struct bytes *out);
void writer_chunk(struct bytes *out, const struct writer_chunk *k,
                  const void *payload, size_t size);
void writer_end(struct bytes *out, const struct writer_header *h);

/* A chunk of another file, as it is. */
void writer_copy(struct bytes *out, const struct chunk *k);
/* A part of a stream, of a thread or context, by another number. */
void writer_copy_part(struct bytes *out, const struct chunk *k, uint32_t id,
                      uint64_t number);
/* The same, of bytes that are packed: n before that. */
void writer_part(struct bytes *out, uint32_t id, uint64_t number, size_t n,
                 const void *packed, size_t size);
/* The header of a file that has what another one had. */
struct writer_header writer_header_of(const struct container *c);

/* Writes all of it; 0, or -1 and errno. */
int writer_all(int fd, const void *bytes, size_t size);

/*
 * Opens a new file beside `path`, which gets that name when it is complete, and
 * removes those that killed processes have left.  Its lock, by which others
 * know that it is not one of these, goes when the descriptor is closed: rename
 * it before.  Returns the descriptor, or -1 with errno; *name is for the caller
 * to free in both cases.
 */
int writer_draft(const char *path, char **name);

/*
 * Writes data under a name so that the name never shows half a file: into a
 * new file beside it, synced, then renamed over it.  A symbolic link stays and
 * the file behind it is replaced, with the permissions it had; what is no
 * regular file (a pipe, /dev/null) or stands for an open one (/dev/stdout) is
 * written into.
 */
int writer_replace(const char *path, const void *data, size_t size,
                   struct cairn_err *err);
/* The same; but a symbolic link at this name is replaced itself, wherever it
 * leads. */
int writer_replace_here(const char *path, const void *data, size_t size,
                        struct cairn_err *err);

#endif /* CAIRN_FORMAT_WRITER_H */
