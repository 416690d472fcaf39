/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts, replayed in parts at the same time: each part begins at a
 * checkpoint, in a process of its own, and has to end as the next one begins.
 *
 * There are as many parts as processors, if they are not too small: every
 * process compiles what it needs, and the functions on the stack of a
 * checkpoint once more (m: SQLite 2 s, tcc 1.5 s for a replay that takes 0.1).
 * Parts are about the same work: so many ticks, and an event counts as EVENT of
 * them.  If there are no checkpoints they are made, and the context is one
 * part.
 *
 * Invariant: the parts of a context, one behind the other, are what is wished
 * of it; what they write is put together in that order.
 */
#include "replay/spans.h"

#include "base/alloc.h"
#include "format/recording.h"
#include "replay/broker.h"
#include "replay/checkpoint.h"
#include "replay/command.h"
#include "replay/fatal.h"
#include "replay/meter.h"
#include "replay/session.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT 64u /* m: 50 ns of the engine; a tick is 0.8 */

/* --- which --------------------------------------------------------------- */

static unsigned count_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

static struct span *add_span(struct spans *p, const struct recording_context *c)
{
	VEC_RESERVE(p->items, p->n, p->cap);
	p->items[p->n] = (struct span){.context = c, .last = p->wish.last};
	return &p->items[p->n++];
}

static uint64_t work(uint64_t nticks, uint64_t nevents)
{
	return nticks + EVENT * nevents;
}

static uint64_t work_at(const struct checkpoint *c)
{
	return c ? work(c->moment.tick, c->moment.nevents) : 0;
}

/* The one that is nearest to having so much work before it. */
static size_t nearest(const struct keeper_list *l, size_t low, size_t high,
                      uint64_t target)
{
	size_t i = low;

	while (i + 1 < high && work_at(&l->items[i]) < target)
		i++;
	if (i > low && target < work_at(&l->items[i]) &&
	    target - work_at(&l->items[i - 1]) < work_at(&l->items[i]) - target)
		i--;
	return i;
}

/* In how many parts this work is divided. */
static size_t count_parts(const struct spans *p, uint64_t all)
{
	size_t n = p->wish.njobs;

	if (p->wish.least && all / p->wish.least < n)
		n = (size_t)(all / p->wish.least);
	return n ? n : 1;
}

/* From the last checkpoint that is not behind `from`; the others in between
 * are where parts may begin. */
static void divide(struct spans *p, const struct recording_context *c,
                   const struct keeper_list *l)
{
	struct checkpoint *first = keeper_before(l, p->wish.from);
	size_t low = first ? (size_t)(first - l->items) + 1 : 0, high = low;
	uint64_t begin = work_at(first), end;
	struct span *s = add_span(p, c);
	size_t n;

	s->from = first;
	while (high < l->n && l->items[high].moment.tick <= p->wish.last)
		high++;
	if (high == low)
		return;
	end = high == l->n && l->is_whole ? work(l->nticks, l->nevents)
	                                  : work_at(&l->items[high - 1]);
	n = count_parts(p, end - begin);
	for (size_t i = 1; i < n; i++) {
		struct checkpoint *at = &l->items[nearest(
		        l, low, high, begin + (end - begin) / n * i)];

		if ((s->from && at->moment.tick <= s->from->moment.tick) ||
		    !checkpoint_is_sound(at))
			continue;
		s->to = at;
		s = add_span(p, c);
		s->from = at;
	}
}

static void plan_context(struct spans *p, const struct recording_context *c,
                         struct keeper_list *l)
{
	const struct spans_wish *w = &p->wish;
	bool is_all = !w->from && w->last == UINT64_MAX;
	struct span *s;

	if (!w->no_checkpoints && !w->every)
		keeper_find(l, p->session, c, w->with_seen);
	if (l->n && !w->in_order && (l->is_whole || !is_all)) {
		divide(p, c, l);
		return;
	}
	s = add_span(p, c);
	s->makes = !w->no_checkpoints && (w->every || !l->is_whole);
}

void spans_plan(struct spans *p, struct session *s,
                const struct spans_wish *wish)
{
	const struct recording *r = &s->recording;

	*p = (struct spans){.session = s, .wish = *wish};
	if (!p->wish.njobs)
		p->wish.njobs = count_processors();
	p->lists = xcalloc(r->ncontexts + 1, sizeof(*p->lists));
	p->nlists = r->ncontexts;
	for (size_t i = 0; i < r->ncontexts; i++)
		if (!wish->context || r->contexts[i].number == wish->context)
			plan_context(p, &r->contexts[i], &p->lists[i]);
}

void spans_release(struct spans *p)
{
	for (size_t i = 0; i < p->nlists; i++)
		keeper_list_release(&p->lists[i]);
	free(p->lists);
	free(p->items);
	*p = (struct spans){0};
}

/* --- one ----------------------------------------------------------------- */

struct end {
	const struct spans *p;
	const struct span *s;
};

/* Is everything as it is in the checkpoint where the span ends? */
static void compare(const struct end *e)
{
	const struct checkpoint *to = e->s->to;
	struct engine_moment now;

	engine_now(&now);
	if (now.tick != to->moment.tick)
		engine_differ("it passes a checkpoint");
	if (now.nevents != to->moment.nevents || now.env != to->moment.env ||
	    now.order != to->moment.order ||
	    memcmp(&now.mark, &to->moment.mark, sizeof(now.mark)) != 0)
		engine_differ("it has come to another place in the log than a "
		              "checkpoint");
	if (memcmp(now.record, to->moment.record, sizeof(now.record)) != 0 ||
	    checkpoint_hash(&e->p->session->program, now.has_seen) != to->hash)
		engine_differ("its memory is not that of a checkpoint");
}

static uint64_t reached_end(void *end, uint64_t tick, bool can_save)
{
	const struct end *e = end;

	(void)tick;
	(void)can_save;
	if (e->s->to && e->s->to->moment.tick <= e->s->last)
		compare(e);
	engine_pause();
}

static int replay_to(struct end *e, struct engine_result *result,
                     struct cairn_err *err)
{
	const struct span *s = e->s;
	uint64_t end = s->to ? s->to->moment.tick : UINT64_MAX;
	int rc;

	if (s->last < end && s->last != UINT64_MAX)
		end = s->last + 1;
	if (end != UINT64_MAX)
		engine_attend(reached_end, end, e);
	rc = session_run_from(e->p->session, s->context, s->from, result, err);
	engine_attend(NULL, UINT64_MAX, NULL);
	if (rc == 0 && s->to && result->end != ENGINE_PAUSED &&
	    result->end != ENGINE_DIVERGED && result->end != ENGINE_STOPPED &&
	    result->end != ENGINE_STOPPED_IN_CALL)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: the log ends before a checkpoint of its "
		                  "replay; remove the folder %s.checkpoints",
		                  e->p->session->options->file,
		                  e->p->session->options->file);
	return rc;
}

int spans_replay(const struct spans *p, const struct span *s,
                 struct engine_result *result, struct cairn_err *err)
{
	struct end e = {p, s};
	struct keeper k;
	int rc;

	if (!s->makes)
		return replay_to(&e, result, err);
	keeper_begin(&k, p->session, s->context, p->wish.every);
	rc = session_run_from(p->session, s->context, NULL, result, err);
	keeper_end(&k, rc == 0 && result->end != ENGINE_DIVERGED &&
	                               result->end != ENGINE_PAUSED
	                       ? result
	                       : NULL);
	return rc;
}

/* --- several at a time --------------------------------------------------- */

struct process {
	pid_t pid; /* 0: not begun, or it has ended */
	bool is_over;
	FILE *out;
};

static int run_in_order(const struct spans *p, const struct spans_work *w)
{
	int status = FINE;

	for (size_t i = 0; i < p->n && status == FINE; i++) {
		struct span_result r = {0};

		meter_begin(i);
		w->replay(w->context, &p->items[i], &r);
		status = w->take(w->context, &p->items[i], &r, NULL);
	}
	return status;
}

/* A part in a process of its own: its result counts when it has ended. */
static _Noreturn void run_apart(const struct spans *p, size_t i,
                                struct span_result *r,
                                const struct spans_work *w)
{
	struct span_result own = *r;

	meter_begin_apart(i);
	w->replay(w->context, &p->items[i], &own);
	fflush(stdout);
	*r = own;
	_exit(FINE);
}

static void begin(struct process *x, const struct spans *p, size_t i,
                  struct span_result *r, const struct spans_work *w)
{
	*r = (struct span_result){.is_apart = true, .status = ERROR};
	cairn_fail(&r->err, CAIRN_E_SYSTEM,
	           "%s: a process that replays a part of it was killed; if "
	           "memory ran out, end other programs, or use --jobs 1",
	           p->session->options->file);
	x->out = broker_scratch_file();
	fflush(NULL);
	x->pid = x->out ? fork() : -1;
	x->is_over = x->pid < 0;
	if (x->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(fileno(x->out), STDOUT_FILENO) < 0)
		_exit(ERROR);
	fatal_say_in(r->err.text, sizeof(r->err.text));
	run_apart(p, i, r, w);
}

/* One of them has ended. */
static void await_any(struct process *x, size_t n)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, 0);
	while (pid < 0 && errno == EINTR);
	for (size_t i = 0; i < n; i++)
		if (x[i].pid && (x[i].pid == pid || pid < 0)) {
			x[i].pid = 0;
			x[i].is_over = true;
			meter_end(i);
		}
}

static int take(struct process *x, const struct span *s,
                const struct span_result *r, const struct spans_work *w)
{
	if (x->out)
		rewind(x->out);
	return w->take(w->context, s, r, x->out);
}

/* Those that are left need not go on. */
static void end_all(struct process *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (x[i].pid > 0) {
			broker_kill(x[i].pid);
			waitpid(x[i].pid, NULL, 0);
		}
		if (x[i].out)
			fclose(x[i].out);
	}
}

static size_t count_running(const struct process *x, size_t n)
{
	size_t running = 0;

	for (size_t i = 0; i < n; i++)
		running += x[i].pid > 0;
	return running;
}

static int run_at_once(const struct spans *p, const struct spans_work *w)
{
	size_t size = p->n * sizeof(struct span_result), next = 0;
	struct process *x = xcalloc(p->n, sizeof(*x));
	struct span_result *r = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = FINE;

	if (r == MAP_FAILED) {
		free(x);
		return run_in_order(p, w);
	}
	for (size_t i = 0; i < p->n && status == FINE; i++) {
		while (!x[i].is_over) {
			for (; next < p->n &&
			       count_running(x, next) < p->wish.njobs;
			     next++)
				begin(&x[next], p, next, &r[next], w);
			await_any(x, next);
		}
		status = take(&x[i], &p->items[i], &r[i], w);
	}
	end_all(x, p->n);
	munmap(r, size);
	free(x);
	return status;
}

/* Code is in the cache if a replay has been here before: the processes need not
 * all compile the same. */
bool spans_are_apart(const struct spans *p)
{
	bool has_parts = false, was_here = false;

	for (size_t i = 0; i < p->n; i++)
		has_parts |= p->items[i].to != NULL;
	for (size_t i = 0; i < p->nlists; i++)
		was_here |= p->lists[i].is_whole;
	return (has_parts || (p->wish.is_divisible && was_here && p->n > 1)) &&
	       p->wish.njobs > 1;
}

/* Whoever waits is told about these. */
static void plan_meter(const struct spans *p)
{
	struct meter_part *parts = xcalloc(p->n + 1, sizeof(*parts));

	for (size_t i = 0; i < p->n; i++) {
		const struct span *s = &p->items[i];

		parts[i] = (struct meter_part){
		        .context = s->context,
		        .first = s->from ? s->from->moment.tick
		                         : s->context->base.tick,
		        .last = s->to ? s->to->moment.tick : s->last,
		};
	}
	meter_plan(parts, p->n);
	free(parts);
}

int spans_run(const struct spans *p, const struct spans_work *w)
{
	int status;

	plan_meter(p);
	status = spans_are_apart(p) ? run_at_once(p, w) : run_in_order(p, w);
	meter_close();
	return status;
}
