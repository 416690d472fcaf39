/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file format of speedscope (www.speedscope.app/file-format-schema.json):
 * one evented profile per thread, whose events open (O) and close (C) frames of
 * a table that all share, nested and in order of time.
 *
 * The table and the end of each profile are known last and are written last;
 * the order of keys is free in JSON.
 */
#include "cli/export.h"

#include <inttypes.h>
#include <stdlib.h>

static void speedscope_begin(struct export_writer *x)
{
	char *name = export_quote(x->program);

	fprintf(x->out,
	        "{\"$schema\":"
	        "\"https://www.speedscope.app/file-format-schema.json\",\n"
	        "\"exporter\":\"cairn %s\",\n\"name\":%s,\n"
	        "\"activeProfileIndex\":0,\n\"profiles\":[",
	        CAIRN_VERSION, name);
	free(name);
}

static void speedscope_begin_thread(struct export_writer *x)
{
	char number[32], *name;

	snprintf(number, sizeof(number), "thread %" PRIu64, x->tid);
	name = export_quote(x->thread ? x->thread : number);
	fprintf(x->out,
	        "%s\n{\"type\":\"evented\",\"name\":%s,\"unit\":\"%s\","
	        "\"startValue\":%" PRIu64 ",\"events\":[",
	        x->nthreads ? "," : "", name,
	        x->clock == EXPORT_NANOSECONDS ? "nanoseconds" : "none",
	        x->begun);
	free(name);
	x->needs_comma = false;
}

static void speedscope_put_event(struct export_writer *x, char type,
                                 uint32_t function)
{
	fprintf(x->out,
	        "%s\n{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64
	        "}",
	        x->needs_comma ? "," : "", type, function, x->now);
	x->needs_comma = true;
}

static void speedscope_enter(struct export_writer *x, uint32_t function)
{
	speedscope_put_event(x, 'O', function);
}

static void speedscope_leave(struct export_writer *x, uint32_t function)
{
	speedscope_put_event(x, 'C', function);
}

static void speedscope_end_thread(struct export_writer *x)
{
	fprintf(x->out, "\n],\"endValue\":%" PRIu64 "}", x->now);
}

static void speedscope_put_frame(struct export_writer *x,
                                 const struct export_function *f)
{
	fprintf(x->out, "%s\n{\"name\":%s", f == x->functions ? "" : ",",
	        f->quoted);
	if (f->file)
		fprintf(x->out, ",\"file\":%s", f->file);
	if (f->file && f->line)
		fprintf(x->out, ",\"line\":%" PRIu32, f->line);
	fputs("}", x->out);
}

static void speedscope_end(struct export_writer *x)
{
	fputs("\n],\n\"shared\":{\"frames\":[", x->out);
	for (uint32_t i = 0; i < x->nfunctions; i++)
		speedscope_put_frame(x, &x->functions[i]);
	fputs("\n]}}\n", x->out);
}

const struct export_format export_speedscope = {
        .name = "speedscope",
        .begin = speedscope_begin,
        .begin_thread = speedscope_begin_thread,
        .enter = speedscope_enter,
        .leave = speedscope_leave,
        .end_thread = speedscope_end_thread,
        .end = speedscope_end,
};
