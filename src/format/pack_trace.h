/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_PACK_TRACE_H
#define CAIRN_FORMAT_PACK_TRACE_H

#include <stdbool.h>

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

#endif /* CAIRN_FORMAT_PACK_TRACE_H */
