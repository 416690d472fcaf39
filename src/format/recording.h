/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_RECORDING_H
#define CAIRN_FORMAT_RECORDING_H

#include "abi/record.h" /* kinds of events are part of this interface */
#include "format/streams.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* An executable or shared object whose code was recorded. */
struct recording_module {
	uint32_t number; /* as in the ids of cells */
	const char *path;
	const unsigned char *id; /* build id */
	uint32_t nid;
	uint64_t bias;   /* load address minus link-time address */
	uint64_t cells;  /* link-time address of the first */
	uint64_t ncells; /* words */
};

/* A place before an event of a log. */
struct recording_place {
	uint64_t part;   /* index of it; that of the next, if at its end */
	uint64_t offset; /* in there */
	uint64_t tick, cell, position; /* as in struct recording_log */
};

/* Where a context begins whose oldest part was dropped. */
struct recording_base {
	const unsigned char *bytes; /* replay/checkpoint.h; NULL: it begins at
	                               its beginning */
	size_t n;
	uint64_t tick; /* of the moment */
	struct recording_place place;
};

/* One context. */
struct recording_context {
	uint32_t number;     /* in the file, from 1 on */
	uint32_t kind;       /* enum cairn_context */
	uint32_t thread;     /* number of the context of its thread; its own,
	                        if it is one */
	uint32_t tid;        /* the kernel's number of it */
	bool is_forked;      /* it goes on from a context of another process: */
	uint32_t parent_pid; /* of this one, */
	uint32_t parent;     /* number in its file, */
	uint64_t parent_at;  /* bytes of its log */
	const struct streams_thread *stream; /* its log */
	struct recording_base base;
};

/* A recording, and all that its strings and parts point at. */
struct recording {
	struct streams s;
	struct recording_module *modules;
	size_t nmodules, modules_cap;
	struct recording_context *contexts; /* by number */
	size_t ncontexts;
	size_t nall; /* contexts that there were; some may be dropped */
	bool is_cut; /* its oldest part was dropped */
};

/*
 * Reads a file: modules, contexts.  Logs are read when they are asked for.
 *
 * Fails: as streams_open; CAIRN_E_MISMATCH if it is no recording.
 */
int recording_open(struct recording *r, const char *path,
                   enum container_mode mode, struct cairn_err *err);
void recording_release(struct recording *r);

/* NULL: there is none of this number. */
const struct recording_module *recording_module(const struct recording *r,
                                                uint32_t number);

/* The log of one context, part by part; an event is in one part. */
struct recording_log {
	const struct recording *r;
	const struct streams_thread *stream;
	size_t next; /* part */
	unsigned char *memory;
	size_t capacity;
	/* of recording_next_event: */
	const unsigned char *start, *at, *end; /* of the part that is read */
	uint64_t tick, cell;                   /* of the event before */
	uint64_t position; /* bytes of the log up to its end */
	uint64_t skip;     /* bytes of the first part that do not count */
};

/* Memory: that of the greatest part.  The recording has to outlive it. */
void recording_log_init(struct recording_log *l, const struct recording *r,
                        const struct recording_context *c);
void recording_log_release(struct recording_log *l);

/*
 * The next bytes, which the next call may overwrite.  Returns 1, or 0 if there
 * are no more.  Fails: CAIRN_E_CORRUPT.
 */
int recording_next_part(struct recording_log *l, const unsigned char **bytes,
                        size_t *n, struct cairn_err *err);

#define RECORDING_VALUES 4

struct recording_event {
	uint64_t tick;
	enum cairn_event kind;
	uint64_t cell;              /* id, if it has one */
	uint64_t offset;            /* of IN: from the address of the site */
	const unsigned char *bytes; /* until the next call */
	size_t nbytes;
	uint64_t frame;        /* of BACK */
	enum cairn_other what; /* of OTHER, and what it says: */
	/* of OUT enum cairn_out, bytes pending, address, hash if HASHED (which
	 * is OUT here) or 0; and nbytes, with bytes NULL if they are those at
	 * the address */
	uint64_t value[RECORDING_VALUES];
	bool is_inherited; /* of another process, which was forked later */
};

static inline bool recording_has_cell(const struct recording_event *e)
{
	return e->kind != CAIRN_EVENT_OTHER || e->what == CAIRN_OTHER_TURN;
}

/*
 * The next event.  Returns 1, or 0 if there are no more.  Takes parts by
 * itself: not to be mixed with recording_next_part.  Fails: CAIRN_E_CORRUPT.
 */
int recording_next_event(struct recording_log *l, struct recording_event *e,
                         struct cairn_err *err);

/* Here, since it is asked for with every event. */
static inline void recording_where(const struct recording_log *l,
                                   struct recording_place *p)
{
	bool is_inside = l->at != l->end;

	p->part = is_inside ? l->next - 1 : l->next;
	p->offset = is_inside ? (uint64_t)(l->at - l->start) : l->skip;
	p->tick = l->tick;
	p->cell = l->cell;
	p->position = l->position;
}

/* Goes there.  Fails: CAIRN_E_CORRUPT if there is no such place. */
int recording_seek(struct recording_log *l, const struct recording_place *p,
                   struct cairn_err *err);

#endif /* CAIRN_FORMAT_RECORDING_H */
