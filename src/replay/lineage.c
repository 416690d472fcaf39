/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of fork: a context that goes on from one of another process is
 * replayed with the log of that, up to the bytes where it was forked, and then
 * with its own.  That one may go on from another in turn.
 *
 * The file of a parent is found by the pid in its header, whatever its name
 * (CAIRN_OUT may be any).  Numbers of processes
 * come again: of several files the one counts that began last before the child
 * did.  Cells are those of the child's modules, which has all that its parent
 * had at the fork, by the same numbers.
 *
 * One whose oldest part was dropped needs no ancestors; it begins at the
 * checkpoint that it has.
 *
 * Invariant: each link but the child's is left where an event ends at `until`.
 * Cost: a look at each file of the directory, once per ancestor.
 */
#include "replay/lineage.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/files.h"
#include "replay/broker.h"
#include "replay/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NLINKS_MAX 4096u

struct lineage_link {
	struct recording own; /* of an ancestor */
	const struct recording *r;
	const struct recording_context *c;
	struct recording_log log;
	uint64_t until; /* bytes of the log; UINT64_MAX: all */
};

/* --- files --------------------------------------------------------------- */

struct search {
	uint32_t pid;
	uint64_t before; /* when the child began */
	char *path;      /* the best so far */
	uint64_t start;
	bool is_cut;
	off_t size;
};

bool lineage_read_head(const char *path, unsigned char *head, off_t *size)
{
	struct stat status;
	ssize_t got;
	int fd;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	*size = status.st_size;
	fd = files_open(path);
	if (fd < 0)
		return false;
	got = read(fd, head, CAIRN_HDR_LENGTH);
	close(fd);
	return got == CAIRN_HDR_LENGTH &&
	       !memcmp(head, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE);
}

/* Of several that began at the same time one is whole, others were cut, or are
 * copies, maybe of a part. */
static void consider(struct search *s, const char *path)
{
	unsigned char head[CAIRN_HDR_LENGTH];
	uint64_t start;
	off_t size;
	bool is_cut;

	if (!lineage_read_head(path, head, &size) ||
	    get_le32(head + CAIRN_HDR_PID) != s->pid)
		return;
	start = get_le64(head + CAIRN_HDR_START);
	is_cut = get_le32(head + CAIRN_HDR_FLAGS) & CAIRN_FILE_LAST;
	if (start > s->before || (s->path && start < s->start))
		return;
	if (s->path && start == s->start &&
	    (is_cut != s->is_cut ? is_cut : size <= s->size))
		return;
	free(s->path);
	s->path = xstrdup(path);
	s->start = start;
	s->is_cut = is_cut;
	s->size = size;
}

static void search_directory(struct search *s, const char *beside)
{
	const char *slash = strrchr(beside, '/');
	int nfolder = slash ? (int)(slash + 1 - beside) : 0;
	size_t n = 0;
	char *names = broker_names_beside(beside, &n);

	for (size_t at = 0; names && at < n; at += strlen(names + at) + 1) {
		char *path = xasprintf("%.*s%s", nfolder, beside, names + at);

		consider(s, path);
		free(path);
	}
	free(names);
}

/* The file of a context's parent, for the caller to free; NULL: not there. */
static char *find_parent(const struct recording *r,
                         const struct recording_context *c,
                         const struct lineage_options *options)
{
	struct search s = {.pid = c->parent_pid, .before = r->s.c.start};

	for (size_t i = 0; i < options->nparents; i++)
		consider(&s, options->parents[i]);
	if (!s.path)
		search_directory(&s, r->s.c.name);
	return s.path;
}

/* --- links --------------------------------------------------------------- */

static const struct recording_context *context_of(const struct recording *r,
                                                  uint32_t number)
{
	for (size_t i = 0; i < r->ncontexts; i++)
		if (r->contexts[i].number == number)
			return &r->contexts[i];
	return NULL;
}

/* Are the child's cells what the parent called so?  What the parent loaded
 * after the fork may be another module by the same number. */
static bool has_same_modules(const struct recording *parent,
                             const struct recording *child)
{
	const struct recording_module *a = recording_module(parent, 1);
	const struct recording_module *b = recording_module(child, 1);

	return !a || !b || (a->nid == b->nid && !memcmp(a->id, b->id, a->nid));
}

static struct lineage_link *add_link(struct lineage *l)
{
	struct lineage_link *link = xcalloc(1, sizeof(*link));

	VEC_RESERVE(l->links, l->nlinks, l->links_cap);
	return l->links[l->nlinks++] = link;
}

/* Has it what was before the fork, as far back as it has anything? */
static bool begins_before(const struct lineage_link *l)
{
	return l->c && l->c->base.place.position <= l->until;
}

static int check_parent(const struct lineage_link *parent,
                        const struct lineage_link *child, struct cairn_err *err)
{
	if (parent->r->is_cut && !begins_before(parent))
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: goes on from a moment of %s that is not "
		                  "kept there; keep more, or cut the child's "
		                  "first",
		                  child->r->s.c.name, parent->own.s.c.name);
	if (parent->c && has_same_modules(&parent->own, child->r))
		return 0;
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "%s: is not the recording from which %s goes on; "
	                  "name that with --parent FILE",
	                  parent->own.s.c.name, child->r->s.c.name);
}

static int add_parent(struct lineage *l, const struct lineage_link *child,
                      const struct lineage_options *options,
                      struct cairn_err *err)
{
	char *path = find_parent(child->r, child->c, options);
	struct lineage_link *link;
	int rc;

	if (!path)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: goes on from process %" PRIu32
		                  ", whose recording is not beside it; name "
		                  "that with --parent FILE",
		                  child->r->s.c.name, child->c->parent_pid);
	link = add_link(l);
	rc = recording_open(&link->own, path, options->mode, err);
	free(path);
	CAIRN_TRY(rc);
	link->r = &link->own;
	link->c = context_of(link->r, child->c->parent);
	link->until = child->c->parent_at;
	return check_parent(link, child, err);
}

static int add_ancestors(struct lineage *l,
                         const struct lineage_options *options,
                         struct cairn_err *err)
{
	const struct lineage_link *child = l->links[0];

	while (child->c->is_forked && !child->c->base.bytes) {
		if (l->nlinks == NLINKS_MAX)
			return cairn_fail(err, CAIRN_E_LIMIT,
			                  "%s: has more than %u ancestors",
			                  child->r->s.c.name, NLINKS_MAX);
		CAIRN_TRY(add_parent(l, child, options, err));
		child = l->links[l->nlinks - 1];
	}
	return 0;
}

int lineage_open(struct lineage *l, const struct recording *r,
                 const struct recording_context *c,
                 const struct lineage_options *options, struct cairn_err *err)
{
	struct lineage_link *link;
	int rc;

	*l = (struct lineage){0};
	link = add_link(l);
	link->r = r;
	link->c = c;
	link->until = UINT64_MAX;
	rc = add_ancestors(l, options, err);
	if (rc < 0) {
		lineage_close(l);
		return rc;
	}
	l->at = l->nlinks - 1;
	for (size_t i = 0; i < l->nlinks; i++)
		recording_log_init(&l->links[i]->log, l->links[i]->r,
		                   l->links[i]->c);
	return 0;
}

void lineage_close(struct lineage *l)
{
	for (size_t i = 0; i < l->nlinks; i++) {
		recording_log_release(&l->links[i]->log);
		recording_release(&l->links[i]->own);
		free(l->links[i]);
	}
	free(l->links);
	*l = (struct lineage){0};
}

const struct recording_base *lineage_base(const struct lineage *l,
                                          struct engine_mark *m)
{
	const struct lineage_link *oldest = l->links[l->nlinks - 1];
	const struct recording_base *b = &oldest->c->base;
	const struct recording_place *p = &b->place;

	*m = (struct engine_mark){l->nlinks - 1, p->part, p->offset,
	                          p->tick,       p->cell, p->position};
	return b->bytes ? b : NULL;
}

/* --- events -------------------------------------------------------------- */

/* The first events of a child's log say nothing that its parent's did not, but
 * where the child itself began. */
static bool says_only_fork(const struct recording_event *v, bool is_ancestor)
{
	return v->kind == CAIRN_EVENT_OTHER &&
	       (v->what == CAIRN_OTHER_BEGIN ||
	        (v->what == CAIRN_OTHER_FORK && is_ancestor));
}

/* A parent's log has to have all that it had then. */
static int end_link(const struct lineage_link *link, struct cairn_err *err)
{
	if (link->log.position == link->until)
		return 0;
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s: the log of its context %" PRIu32
	                  " ends before a child was forked, or an event goes "
	                  "on behind that; record again",
	                  link->r->s.c.name, link->c->number);
}

int lineage_next(void *lineage, struct recording_event *v,
                 struct cairn_err *err)
{
	struct lineage *l = lineage;

	for (;;) {
		struct lineage_link *link = l->links[l->at];
		int rc = link->log.position < link->until
		                 ? recording_next_event(&link->log, v, err)
		                 : 0;

		if (rc < 0 || (!rc && !l->at))
			return rc;
		if (rc)
			v->is_inherited = l->at;
		if (rc && !(link->c->is_forked && says_only_fork(v, l->at)))
			return rc;
		if (rc)
			continue;
		CAIRN_TRY(end_link(link, err));
		l->at--;
	}
}

void lineage_where(void *lineage, struct engine_mark *m)
{
	const struct lineage *l = lineage;
	struct recording_place p;

	recording_where(&l->links[l->at]->log, &p);
	*m = (struct engine_mark){l->at,  p.part, p.offset,
	                          p.tick, p.cell, p.position};
}

int lineage_seek(void *lineage, const struct engine_mark *m,
                 struct cairn_err *err)
{
	struct lineage *l = lineage;
	const struct recording_place p = {m->part, m->offset, m->tick, m->cell,
	                                  m->position};

	if (m->link >= l->nlinks)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "a checkpoint has more ancestors than there "
		                  "are");
	l->at = (size_t)m->link;
	return recording_seek(&l->links[l->at]->log, &p, err);
}
