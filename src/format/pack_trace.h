/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_PACK_TRACE_H
#define CAIRN_FORMAT_PACK_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct profile;
struct streams;

/*
 * Writes a trace again as one file that needs no executable: all that it has,
 * and the maps of p.  All parts of streams are packed; if `best`, as small as
 * they get, which takes a minute for a gigabyte of stream.
 *
 * Requires: p and s are of the same file.
 * Fails:    as streams_load; CAIRN_E_SYSTEM if it cannot be written.
 */
int pack_trace(const struct profile *p, const struct streams *s, bool best,
               const char *path, struct cairn_err *err);

/*
 * The same for streams that somebody makes of a recording: all that it has but
 * its logs, then parts, thread by thread; no file is there before the end.
 *
 * Requires: p and s are of the same file, and outlive the writer.
 */
struct pack_writer;
struct pack_writer *pack_writer_new(const struct profile *p,
                                    const struct streams *s);
int pack_writer_part(struct pack_writer *w, uint32_t thread, const void *bytes,
                     size_t n, struct cairn_err *err);
/* is_unfinished: some threads lack what they did last. */
int pack_writer_end(struct pack_writer *w, const char *path, bool is_unfinished,
                    struct cairn_err *err);
void pack_writer_free(struct pack_writer *w);

#endif /* CAIRN_FORMAT_PACK_TRACE_H */
