/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which checkpoints of a replay are made, where they are, and which stay.
 *
 * They are in a folder beside the recording, FILE.checkpoints, one file each,
 * CONTEXT-TICK; CONTEXT-whole says that a replay has come to its end since, and
 * at which tick and event that was.
 * One is made every quarter of a second of the replay, by a child of it: the
 * replay itself goes on.  When there are 256 of them, or more than a gigabyte,
 * every second is removed, and from then on they are made half as often: so
 * two neighbours are never farther apart than 1/64 of the whole, unless their
 * size has it so.
 *
 * Invariant: files[] are those that this replay made and has not removed.
 * Cost: a look at the clock every few milliseconds; a fork for each.
 */
#include "replay/keeper.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/writer.h"
#include "replay/broker.h"
#include "replay/checkpoint.h"
#include "replay/engine.h"
#include "replay/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)
#define INTERVAL (250 * MILLISECOND)
#define SHARE 5u /* as much time passes as one takes, at least */
#define POLL (10 * MILLISECOND)
#define FIRST_POLL 100000u /* ticks */
#define NFILES_MAX 256u
#define BYTES_MAX ((uint64_t)1 << 30)

/* --- those that there are ------------------------------------------------- */

static int by_tick(const void *a, const void *b)
{
	const struct checkpoint *x = a, *y = b;

	return x->moment.tick < y->moment.tick
	               ? -1
	               : x->moment.tick > y->moment.tick;
}

/* The number that a name begins with; 0: none. */
static uint32_t context_of(const char *name)
{
	char *end;
	unsigned long n = strtoul(name, &end, 10);

	return end != name && *end == '-' ? (uint32_t)n : 0;
}

static char *whole_name(uint32_t context)
{
	return xasprintf("%" PRIu32 "-whole", context);
}

#define WHOLE_SIZE 24u /* the key, ticks, events */

static bool read_whole(struct keeper_list *l, uint32_t context, uint64_t key)
{
	char *name = whole_name(context);
	int fd = broker_get(BROKER_CHECKPOINTS, name);
	unsigned char bytes[WHOLE_SIZE];
	bool is;

	is = fd >= 0 && read(fd, bytes, sizeof(bytes)) == WHOLE_SIZE &&
	     get_le64(bytes) == key;
	if (is) {
		l->nticks = get_le64(bytes + 8);
		l->nevents = get_le64(bytes + 16);
	}
	if (fd >= 0)
		close(fd);
	free(name);
	return is;
}

static void consider(struct keeper_list *l, const char *name, uint64_t key,
                     bool with_seen)
{
	struct checkpoint c;

	if (!checkpoint_read(&c, name, key))
		return;
	if (c.context == context_of(name) &&
	    (c.moment.has_seen || !with_seen)) {
		VEC_RESERVE(l->items, l->n, l->cap);
		l->items[l->n++] = c;
	} else {
		checkpoint_release(&c);
	}
}

void keeper_find(struct keeper_list *l, const struct session *s,
                 const struct recording_context *c, bool with_seen)
{
	uint64_t key = checkpoint_key(&s->recording);
	size_t n = 0;
	char *names = broker_names(BROKER_CHECKPOINTS, &n);

	*l = (struct keeper_list){0};
	for (size_t at = 0; names && at < n; at += strlen(names + at) + 1)
		if (context_of(names + at) == c->number)
			consider(l, names + at, key, with_seen);
	if (l->n) {
		qsort(l->items, l->n, sizeof(*l->items), by_tick);
		l->is_whole = read_whole(l, c->number, key);
	}
	free(names);
}

void keeper_list_release(struct keeper_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		checkpoint_release(&l->items[i]);
	free(l->items);
	*l = (struct keeper_list){0};
}

struct checkpoint *keeper_before(const struct keeper_list *l, uint64_t tick)
{
	struct checkpoint *best = NULL;

	for (size_t i = 0; i < l->n && l->items[i].moment.tick <= tick; i++)
		best = &l->items[i];
	while (best && !checkpoint_is_sound(best))
		best = best > l->items ? best - 1 : NULL;
	return best;
}

/* --- those that are made -------------------------------------------------- */

/* What the replay itself has used: the machine may have other work to do. */
static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 * MILLISECOND + (uint64_t)t.tv_nsec;
}

/* Whatever is there of the context. */
static void remove_old(uint32_t context)
{
	size_t n = 0;
	char *names = broker_names(BROKER_CHECKPOINTS, &n);

	for (size_t at = 0; names && at < n; at += strlen(names + at) + 1)
		if (context_of(names + at) == context)
			broker_remove(BROKER_CHECKPOINTS, names + at);
	free(names);
}

/* Every second goes. */
static void thin_out(struct keeper *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->nfiles; i++) {
		if (i % 2) {
			k->files[n++] = k->files[i];
			continue;
		}
		broker_remove(BROKER_CHECKPOINTS, k->files[i].name);
		free(k->files[i].name);
	}
	k->nfiles = n;
	k->interval *= 2;
	k->every *= 2;
}

static void note_file(struct keeper *k)
{
	int fd = broker_get(BROKER_CHECKPOINTS, k->name);
	struct stat st = {0};
	uint64_t total = 0;

	if (fd < 0 || fstat(fd, &st) || close(fd)) {
		free(k->name);
		return;
	}
	VEC_RESERVE(k->files, k->nfiles, k->files_cap);
	k->files[k->nfiles++] =
	        (struct keeper_file){k->name, (uint64_t)st.st_size};
	for (size_t i = 0; i < k->nfiles; i++)
		total += k->files[i].size;
	if (k->nfiles >= NFILES_MAX || (k->nfiles > 1 && total > BYTES_MAX))
		thin_out(k);
}

static uint64_t time_of(const struct rusage *used)
{
	return ((uint64_t)used->ru_utime.tv_sec +
	        (uint64_t)used->ru_stime.tv_sec) *
	               1000 * MILLISECOND +
	       ((uint64_t)used->ru_utime.tv_usec +
	        (uint64_t)used->ru_stime.tv_usec) *
	               1000;
}

/* Has the child ended, or, if it is waited for, does it? */
static bool reap(struct keeper *k, bool wait)
{
	struct rusage used;
	int status;

	if (!k->child)
		return true;
	if (wait4(k->child, &status, wait ? 0 : WNOHANG, &used) == 0)
		return false;
	k->child = 0;
	if (k->interval < SHARE * time_of(&used))
		k->interval = SHARE * time_of(&used);
	note_file(k);
	k->name = NULL;
	return true;
}

/* In the child. */
static int write_moment(void *keeper, const struct engine_moment *m)
{
	const struct keeper *k = keeper;
	struct checkpoint_place at = {-1, k->key, k->context,
	                              &k->session->program,
	                              &k->session->recording};
	struct broker_draft d;

	if (!broker_draft(BROKER_CHECKPOINTS, &d))
		return CAIRN_E_SYSTEM;
	at.fd = d.fd;
	if (checkpoint_write(&at, m) == 0)
		return broker_keep(&d, k->name) ? 0 : CAIRN_E_SYSTEM;
	broker_drop(&d);
	return CAIRN_E_SYSTEM;
}

static void save(struct keeper *k, uint64_t tick)
{
	pid_t child;

	struct broker_draft d;

	if (!k->nfiles) {
		k->is_off = !broker_draft(BROKER_CHECKPOINTS, &d);
		if (k->is_off)
			return;
		broker_drop(&d);
		remove_old(k->context);
	}
	k->name = xasprintf("%" PRIu32 "-%020" PRIu64, k->context, tick);
	child = engine_save(write_moment, k);
	if (!child)
		return;
	k->last = now();
	k->child = child > 0 ? child : 0;
	k->is_off = child < 0;
}

/* The tick of the next look at the clock. */
static uint64_t next_poll(struct keeper *k, uint64_t tick, uint64_t time)
{
	uint64_t passed = time > k->polled ? time - k->polled : 1;
	uint64_t ticks = tick - k->polled_tick;

	ticks = (uint64_t)((double)ticks * (double)POLL / (double)passed);
	k->polled = time;
	k->polled_tick = tick;
	return tick + (ticks ? ticks : 1);
}

static uint64_t reached(void *keeper, uint64_t tick, bool can_save)
{
	struct keeper *k = keeper;
	uint64_t time;

	if (k->is_off)
		return UINT64_MAX;
	if (!can_save)
		return tick + 1;
	time = now();
	if (reap(k, k->every) && (k->every || time - k->last >= k->interval))
		save(k, tick);
	return k->every ? tick + k->every : next_poll(k, tick, time);
}

void keeper_begin(struct keeper *k, const struct session *s,
                  const struct recording_context *c, uint64_t every)
{
	*k = (struct keeper){
	        .session = s,
	        .context = c->number,
	        .key = checkpoint_key(&s->recording),
	        .every = every,
	        .interval = INTERVAL,
	        .last = now(),
	        .polled = now(),
	};
	engine_attend(reached, every ? every : FIRST_POLL, k);
}

static void write_whole(const struct keeper *k, const struct engine_result *r)
{
	char *name = whole_name(k->context);
	unsigned char bytes[WHOLE_SIZE];
	struct broker_draft d;

	put_le64(bytes, k->key);
	put_le64(bytes + 8, r->nticks);
	put_le64(bytes + 16, r->nevents);
	if (broker_draft(BROKER_CHECKPOINTS, &d)) {
		if (writer_all(d.fd, bytes, sizeof(bytes)))
			broker_drop(&d);
		else
			broker_keep(&d, name);
	}
	free(name);
}

void keeper_end(struct keeper *k, const struct engine_result *whole)
{
	engine_attend(NULL, UINT64_MAX, NULL);
	reap(k, true);
	if (whole && k->nfiles)
		write_whole(k, whole);
	for (size_t i = 0; i < k->nfiles; i++)
		free(k->files[i].name);
	free(k->files);
	*k = (struct keeper){0};
}
