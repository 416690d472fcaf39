/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the replays of a session are, for who waits at a terminal.
 *
 * A thread looks at the clock ten times a second: replay code is not slowed
 * down, and a unit that takes long to compile shows a sign of life.  The share
 * is that of ticks.  How many a context has is said by the last event of its
 * log alone: the thread reads through that, once the work takes long.  Parts
 * that processes of their own replay tell their ticks in shared memory.
 *
 * Invariant: `lock` is held by whoever draws or changes what is drawn; nothing
 * is drawn while `is_held`.  A jump out of what holds it (a divergence) leaves
 * that set, which only means silence.
 * Cost: no thread unless stderr is a terminal; to read a log takes a tenth of
 * the time that a replay takes for its events.
 */
#include "replay/meter.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/progress.h"
#include "format/recording.h"
#include "replay/engine.h"
#include "replay/outlet.h"
#include "replay/program.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_NS 100000000

static struct {
	bool is_open, is_apart;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	atomic_bool ends, is_compiling;
	const struct recording *recording;
	const struct program *program;
	struct meter_part *parts;
	size_t nparts;
	bool has_ends;          /* of parts */
	_Atomic uint64_t *done; /* ticks of each part, for all processes */
	size_t at;              /* the part that this process replays */
	struct progress progress;
	char said[64];
	unsigned percent; /* the most that was said */
	bool is_held;
	bool shares_terminal; /* with stdout */
} m;

/* --- ticks --------------------------------------------------------------- */

/* The last tick of a log, or of what can be read. */
static uint64_t last_tick(const struct recording_context *c)
{
	struct recording_event e;
	struct recording_log l;
	struct cairn_err err;
	uint64_t tick;

	recording_log_init(&l, m.recording, c);
	while (!m.ends && recording_next_event(&l, &e, &err) > 0)
		continue;
	tick = l.tick;
	recording_log_release(&l);
	return tick;
}

/* Without the lock: parts are planned once. */
static void find_ends(void)
{
	for (size_t i = 0; i < m.nparts; i++) {
		const struct recording_context *c = m.parts[i].context;
		uint64_t last;

		if (m.parts[i].last != UINT64_MAX)
			continue;
		last = last_tick(c);
		for (size_t k = i; k < m.nparts; k++)
			if (m.parts[k].context == c &&
			    m.parts[k].last == UINT64_MAX)
				m.parts[k].last = last;
	}
}

static void note_ticks(void)
{
	uint64_t tick = engine_tick();

	if (m.at < m.nparts && tick > m.parts[m.at].first)
		m.done[m.at] = tick - m.parts[m.at].first;
}

static unsigned percent(void)
{
	double all = 0, done = 0;
	unsigned p;

	for (size_t i = 0; i < m.nparts; i++) {
		const struct meter_part *x = &m.parts[i];
		uint64_t n = x->last > x->first ? x->last - x->first : 0;
		uint64_t so_far = m.done[i];

		all += (double)n;
		done += (double)(so_far < n ? so_far : n);
	}
	p = all > 0 ? (unsigned)(100 * done / all) : 0;
	if (p > m.percent)
		m.percent = p;
	return m.percent;
}

/* --- the line ------------------------------------------------------------ */

static uint32_t count_loaded(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m.program->nunits; i++)
		n += m.program->units[i].is_loaded;
	return n;
}

static void draw(void)
{
	char text[sizeof(m.said)];

	if (m.is_compiling)
		snprintf(text, sizeof(text), "compiling %u of %u",
		         count_loaded() + 1, m.program->nunits);
	else if (m.nparts)
		snprintf(text, sizeof(text), "replaying: %u %%", percent());
	else
		return;
	if (m.progress.is_shown && !strcmp(text, m.said))
		return;
	memcpy(m.said, text, sizeof(text));
	progress_say(&m.progress, text);
}

static void look(void)
{
	if (m.nparts)
		note_ticks();
	if (m.is_apart || m.is_held ||
	    progress_time(&m.progress) < PROGRESS_LONG_NS)
		return;
	if (m.nparts && !m.has_ends) {
		pthread_mutex_unlock(&m.lock);
		find_ends();
		pthread_mutex_lock(&m.lock);
		m.has_ends = true;
	}
	if (!m.is_held && !m.ends)
		draw();
}

static void *run(void *unused)
{
	struct timespec t;

	(void)unused;
	pthread_mutex_lock(&m.lock);
	while (!m.ends) {
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += INTERVAL_NS;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		pthread_cond_timedwait(&m.woken, &m.lock, &t);
		if (!m.ends)
			look();
	}
	pthread_mutex_unlock(&m.lock);
	return NULL;
}

static void start(void)
{
	pthread_mutex_init(&m.lock, NULL);
	pthread_cond_init(&m.woken, NULL);
	m.is_open = !pthread_create(&m.thread, NULL, run, NULL);
}

void meter_open(const struct recording *r, const struct program *p)
{
	assert(!m.is_open);
	if (!progress_is_wanted())
		return;
	m.recording = r;
	m.program = p;
	m.shares_terminal = outlet_is_terminal(STDOUT_FILENO);
	progress_begin(&m.progress, "replaying", false);
	start();
}

void meter_close(void)
{
	if (!m.is_open)
		return;
	pthread_mutex_lock(&m.lock);
	m.ends = true;
	pthread_cond_signal(&m.woken);
	pthread_mutex_unlock(&m.lock);
	pthread_join(m.thread, NULL);
	if (!m.is_apart)
		progress_end(&m.progress);
	if (m.nparts)
		munmap((void *)m.done, m.nparts * sizeof(*m.done));
	free(m.parts);
	memset(&m, 0, sizeof(m));
}

/* --- what is done -------------------------------------------------------- */

void meter_plan(const struct meter_part *parts, size_t n)
{
	size_t size = n * sizeof(*m.done);
	void *done;

	assert(!m.nparts);
	if (!m.is_open || !n)
		return;
	done = mmap(NULL, size, PROT_READ | PROT_WRITE,
	            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED)
		return;
	pthread_mutex_lock(&m.lock);
	m.done = done;
	m.parts = xmalloc(n * sizeof(*parts));
	memcpy(m.parts, parts, n * sizeof(*parts));
	m.nparts = n;
	m.at = n; /* none */
	pthread_mutex_unlock(&m.lock);
}

void meter_plan_all(unsigned ntimes)
{
	size_t n = m.is_open ? m.recording->ncontexts : 0;
	struct meter_part *parts = xcalloc(n * ntimes + 1, sizeof(*parts));

	for (size_t i = 0; i < n * ntimes; i++)
		parts[i] = (struct meter_part){
		        .context = &m.recording->contexts[i % n],
		        .last = UINT64_MAX,
		};
	meter_plan(parts, n * ntimes);
	free(parts);
}

void meter_begin(size_t part)
{
	if (!m.is_open)
		return;
	pthread_mutex_lock(&m.lock);
	for (size_t i = 0; i < part && i < m.nparts; i++)
		m.done[i] = UINT64_MAX;
	m.at = part;
	pthread_mutex_unlock(&m.lock);
}

/* The thread was not forked, and may have held the lock. */
void meter_begin_apart(size_t part)
{
	if (!m.is_open)
		return;
	m.is_apart = true;
	m.at = part;
	start();
}

void meter_end(size_t part)
{
	if (m.is_open && part < m.nparts)
		m.done[part] = UINT64_MAX;
}

void meter_compile(bool is_compiling)
{
	m.is_compiling = is_compiling;
}

void meter_hold(void)
{
	if (!m.is_open || m.is_apart || !m.shares_terminal)
		return;
	pthread_mutex_lock(&m.lock);
	m.is_held = true;
	progress_end(&m.progress);
	pthread_mutex_unlock(&m.lock);
}

void meter_go_on(void)
{
	if (!m.is_open || m.is_apart || !m.shares_terminal)
		return;
	pthread_mutex_lock(&m.lock);
	m.is_held = false;
	pthread_mutex_unlock(&m.lock);
}
