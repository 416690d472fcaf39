/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_LINEAGE_H
#define CAIRN_REPLAY_LINEAGE_H

#include "format/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cairn_err;
struct engine_mark;

/* Where the recordings of ancestors may be: these files, then the directory of
 * the child's. */
struct lineage_options {
	const char *const *parents;
	size_t nparents;
	enum container_mode mode;
};

/* The header of a file, CAIRN_HDR_LENGTH bytes, and the file's size; false: it
 * is none of ours. */
bool lineage_read_head(const char *path, unsigned char *head, off_t *size);

/* The log of a context, from where its first ancestor began: the child of a
 * fork goes on with what its parent had. */
struct lineage {
	struct lineage_link **links; /* the child's first, the oldest last */
	size_t nlinks, links_cap, at;
};

/*
 * Requires: r outlives the lineage, and has the context.
 * Fails:    CAIRN_E_ABSENT if the recording of a parent is not there;
 *           CAIRN_E_MISMATCH if it cannot be the parent's; as recording_open.
 */
int lineage_open(struct lineage *l, const struct recording *r,
                 const struct recording_context *c,
                 const struct lineage_options *options, struct cairn_err *err);
void lineage_close(struct lineage *l);

/* The checkpoint that the first of them begins with, and its place; NULL: it
 * begins at its beginning. */
const struct recording_base *lineage_base(const struct lineage *l,
                                          struct engine_mark *m);

/* The next event, as recording_next_event.  Of what says that the log
 * of a child goes on only the last FORK is there: the context's own.  lineage:
 * a struct lineage. */
int lineage_next(void *lineage, struct recording_event *v,
                 struct cairn_err *err);
/* For the engine: where the next one is, and there again. */
void lineage_where(void *lineage, struct engine_mark *m);
int lineage_seek(void *lineage, const struct engine_mark *m,
                 struct cairn_err *err);

#endif /* CAIRN_REPLAY_LINEAGE_H */
