/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far long work is: one line on stderr that is written over, if that is a
 * terminal, and taken away at the end.  Nothing is shown of what is done within
 * a second.
 *
 * Cost: a comparison, unless another percent is done.
 */
#include "base/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool is_silent;
static int terminal = STDERR_FILENO;
static int known = -1; /* is it one? -1: ask it */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void progress_silence(void)
{
	is_silent = true;
}

void progress_show_on(int fd)
{
	terminal = fd;
}

void progress_begin(struct progress *p, const char *what, bool is_forced)
{
	*p = (struct progress){
	        .what = what,
	        .is_forced = is_forced,
	        .begun = now_ns(),
	};
}

int progress_place(void)
{
	return terminal;
}

void progress_know(bool is_terminal)
{
	known = is_terminal;
}

static bool is_terminal(void)
{
	return known < 0 ? isatty(terminal) : known;
}

uint64_t progress_time(const struct progress *p)
{
	return now_ns() - p->begun;
}

bool progress_is_wanted(void)
{
	return !is_silent && is_terminal();
}

/* Has it taken long, and can it be shown? */
static bool is_due(const struct progress *p)
{
	return progress_time(p) >= PROGRESS_LONG_NS &&
	       (p->is_forced || progress_is_wanted());
}

void progress_tell(struct progress *p, uint64_t done, uint64_t all)
{
	unsigned percent =
	        all ? (unsigned)(100.0 * (double)done / (double)all) : 100;

	if (percent == p->percent)
		return;
	p->percent = percent;
	if (!is_due(p))
		return;
	p->is_shown = true;
	dprintf(terminal, "\rcairn: %s: %u %%", p->what, percent);
}

void progress_say(struct progress *p, const char *text)
{
	if (!progress_is_wanted() || !is_due(p))
		return;
	p->is_shown = true;
	dprintf(terminal, "\rcairn: %s\033[K", text);
}

void progress_call(void *context, uint64_t done, uint64_t all)
{
	progress_tell(context, done, all);
}

void progress_end(struct progress *p)
{
	if (p->is_shown && is_terminal())
		dprintf(terminal, "\r\033[K");
	else if (p->is_shown)
		dprintf(terminal, "\rcairn: %s: done \n", p->what);
	p->is_shown = false;
}
