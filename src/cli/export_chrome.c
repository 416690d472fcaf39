/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Trace Event format, which chrome://tracing and ui.perfetto.dev read: an
 * object whose traceEvents begin (B) and end (E) a frame, on a thread of a
 * process, at `ts` microseconds; metadata (M) has the names.
 *
 * A frame is two events rather than a complete one (X), which could be written
 * only when the frame has ended.  Ends have their name, too: speedscope, which
 * reads this format as well, ends nothing without.
 *
 * Nanoseconds are microseconds with three decimals.  There is no unit for
 * executed blocks: each takes a microsecond, and otherData says so.
 */
#include "cli/export.h"

#include <inttypes.h>
#include <stdlib.h>

static void chrome_put_comma(struct export_writer *x)
{
	fputs(x->needs_comma ? ",\n" : "\n", x->out);
	x->needs_comma = true;
}

/* The name of the process or of a thread. */
static void chrome_put_name(struct export_writer *x, const char *kind,
                            uint64_t tid, const char *name)
{
	char *quoted = export_quote(name);

	chrome_put_comma(x);
	fprintf(x->out,
	        "{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
	        ",\"name\":\"%s\",\"args\":{\"name\":%s}}",
	        x->pid, tid, kind, quoted);
	free(quoted);
}

static void chrome_put_event(struct export_writer *x, char phase,
                             uint32_t function)
{
	chrome_put_comma(x);
	fprintf(x->out,
	        "{\"ph\":\"%c\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
	        ",\"ts\":",
	        phase, x->pid, x->tid);
	if (x->clock == EXPORT_NANOSECONDS)
		fprintf(x->out, "%" PRIu64 ".%03u", x->now / 1000,
		        (unsigned)(x->now % 1000));
	else
		fprintf(x->out, "%" PRIu64, x->now);
	fprintf(x->out, ",\"cat\":\"function\",\"name\":%s}",
	        x->functions[function].quoted);
}

static void chrome_begin(struct export_writer *x)
{
	fprintf(x->out,
	        "{\"displayTimeUnit\":\"ns\",\n"
	        "\"otherData\":{\"exporter\":\"cairn %s\",\"clock\":\"%s\"},\n"
	        "\"traceEvents\":[",
	        CAIRN_VERSION,
	        x->clock == EXPORT_NANOSECONDS ? "nanoseconds"
	                                       : "executed blocks, 1 us each");
	chrome_put_name(x, "process_name", x->pid, x->program);
}

static void chrome_begin_thread(struct export_writer *x)
{
	if (x->thread)
		chrome_put_name(x, "thread_name", x->tid, x->thread);
}

static void chrome_enter(struct export_writer *x, uint32_t function)
{
	chrome_put_event(x, 'B', function);
}

static void chrome_leave(struct export_writer *x, uint32_t function)
{
	chrome_put_event(x, 'E', function);
}

static void chrome_end_thread(struct export_writer *x)
{
	(void)x;
}

static void chrome_end(struct export_writer *x)
{
	fputs("\n]}\n", x->out);
}

const struct export_format export_chrome = {
        .name = "chrome",
        .begin = chrome_begin,
        .begin_thread = chrome_begin_thread,
        .enter = chrome_enter,
        .leave = chrome_leave,
        .end_thread = chrome_end_thread,
        .end = chrome_end,
};
