/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_CONTAINER_H
#define CAIRN_FORMAT_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* Bytes of a slot of a FRAMES chunk: key, register, count. */
#define CONTAINER_FRAME_SLOT 24u

/* One chunk, checked.  The payload is borrowed from the container. */
struct chunk {
	uint32_t type; /* enum cairn_chunk_type */
	uint32_t id, module;
	uint64_t n, aux0, aux1;
	uint64_t offset; /* of its header in the file */
	const unsigned char *payload;
	uint64_t size; /* of the payload, padding included */
	bool verified; /* a checksum over the payload was there, and right; of
	                  a part of a trace: was there, it is `crc` */
	uint32_t crc;
};

/* A .cairn file.  Fields are those of the header, see abi/file.h. */
struct container {
	char *name;
	unsigned char *data; /* the file, mapped; NULL after container_parse */
	size_t size;
	unsigned char *live; /* copies of what may change, or NULL */
	uint32_t kind, pid, ppid, nruns;
	uint64_t start, end, length;
	uint32_t last_pid;   /* of a sum that runs add to: PID and START of */
	uint64_t last_start; /* the file that was added last */
	uint32_t state, flags, how, signal, unwalked;
	struct chunk *chunks; /* without the optional ones that we skipped */
	size_t nchunks, cap;
	uint32_t nskipped;
	bool truncated; /* only if it was allowed: chunks up to the cut */
	uint64_t cut;   /* first byte that could not be used */
};

enum container_mode {
	CONTAINER_WHOLE,   /* a truncated file is an error */
	CONTAINER_PARTIAL, /* take the chunks before the cut */
};

/*
 * Says what a recording is read as: the file that `replay` makes of it, whose
 * name the caller frees.  Without that it is read as it is.
 */
typedef int (*container_replay)(const char *path, enum container_mode mode,
                                char **trace, struct cairn_err *err);
void container_replay_with(container_replay replay);

/*
 * Reads and checks a file: magic, version, all checksums, all lengths, no
 * chunk twice, every chunk's module declared.  What is inside the payloads is
 * not looked at.  The file is mapped: it must not get shorter meanwhile.
 *
 * Fails:  CAIRN_E_SYSTEM, _FOREIGN, _VERSION, _CORRUPT.  *c is then empty and
 *         need not be released.
 */
int container_read(struct container *c, const char *path,
                   enum container_mode mode, struct cairn_err *err);
/* The same, and a recording is read as it is, whatever replays. */
int container_read_plain(struct container *c, const char *path,
                         enum container_mode mode, struct cairn_err *err);
/* The same over bytes in memory, which have to outlive *c. */
int container_parse(struct container *c, const char *name,
                    const unsigned char *data, size_t size,
                    enum container_mode mode, struct cairn_err *err);
void container_release(struct container *c);

/*
 * Fails with CAIRN_E_ABSENT if the file is an empty run: its process, which
 * registers its modules before it counts anything, ended before it had one.
 */
int container_check_run(const struct container *c, struct cairn_err *err);

#endif /* CAIRN_FORMAT_CONTAINER_H */
