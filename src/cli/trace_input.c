/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands that read traces share: opening one, its index, names and
 * lines, and telling the user how far long work is.
 *
 * The index is in a file beside the trace, if making it took long.  It is
 * written as a convenience: if that is not possible nobody hears of it, and an
 * index that is damaged or of another trace is made anew.
 */
#include "cli/trace_input.h"

#include "abi/file.h"
#include "analysis/interleave.h"
#include "analysis/whole.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/demangle.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- opening ------------------------------------------------------------- */

static int open_streams(struct trace_input *in, const struct cli_inputs *inputs,
                        struct cairn_err *err)
{
	struct cairn_err e;
	int rc;

	CAIRN_TRY(streams_open(&in->streams, in->path,
	                       inputs->options.partial ? CONTAINER_PARTIAL
	                                               : CONTAINER_WHOLE,
	                       err));
	if (!in->streams.nthreads)
		return cairn_fail(
		        err, CAIRN_E_ABSENT, "%s: has no trace; %s", in->path,
		        profile_is_traced(in->profile)
		                ? "no function ran that writes one"
		                : "build the program with --cairn=trace");
	rc = traced_init(&in->traced, in->profile, &in->streams, &e);
	return rc < 0 ? cairn_fail_in(err, in->path, &e) : 0;
}

static void say(char **text, const char *what)
{
	char *longer = xasprintf("%s%s%s", *text, **text ? "; " : "", what);

	free(*text);
	*text = longer;
}

/* What is not there, for whoever would take the rest for all of it: one line,
 * and none for a trace that has all. */
static void say_missing(const struct trace_input *in)
{
	const struct container *c = &in->streams.c;
	char *text = xstrdup(""), *cut;

	cli_say_missing(in->profile);
	if (c->truncated) {
		cut = xasprintf("ends at byte %" PRIu64
		                ": what was behind it is missing",
		                c->cut);
		say(&text, cut);
		free(cut);
	}
	if (c->flags & CAIRN_FILE_TRUNCATED)
		say(&text, "could not grow while the program ran (disk full, "
		           "or a limit): what came then is missing");
	if (c->state == CAIRN_STATE_OPEN || c->flags & CAIRN_FILE_UNFINISHED)
		say(&text,
		    "was never closed: the program was killed or still runs, "
		    "and what each thread did since it last wrote is missing");
	if (c->flags & CAIRN_FILE_FRAMES_LOST)
		say(&text, "where some frames died could not be recorded");
	if (c->unwalked)
		say(&text, "where some threads or frames were in the end could "
		           "not be seen");
	if (*text)
		text_print(stderr, "cairn: %s: %s\n", in->path, text);
	free(text);
}

static void name_functions(struct trace_input *in, bool no_demangle)
{
	in->names = xcalloc((size_t)in->traced.n + 1, sizeof(*in->names));
	for (uint32_t i = 0; i < in->traced.n; i++) {
		const char *name = traced_name(&in->traced, i);

		in->names[i] = no_demangle ? NULL : demangle(name);
		if (!in->names[i])
			in->names[i] = xstrdup(name);
	}
}

int trace_input_try(struct trace_input *in, struct cli_inputs *inputs,
                    const char *path, bool no_demangle, struct cairn_err *err)
{
	int rc;

	*in = (struct trace_input){.path = path};
	CAIRN_TRY(profile_open(&in->profile, &path, 1, &inputs->options, err));
	rc = open_streams(in, inputs, err);
	if (rc < 0) {
		trace_input_close(in);
		return rc;
	}
	say_missing(in);
	name_functions(in, no_demangle);
	return 0;
}

void trace_input_name_all(struct trace_input *in, struct profile *p,
                          const char *path, const uint32_t (*functions)[2],
                          uint32_t n, bool no_demangle)
{
	*in = (struct trace_input){.path = path, .profile = p};
	in->traced.functions =
	        xcalloc((size_t)n + 1, sizeof(*in->traced.functions));
	for (uint32_t i = 0; i < n; i++) {
		const struct map *map = p->modules[functions[i][0]].map;

		in->traced.functions[i] = (struct traced_function){
		        .module = functions[i][0],
		        .index = functions[i][1],
		        .map = map,
		        .f = &map->functions[functions[i][1]],
		};
	}
	in->traced.n = n;
	name_functions(in, no_demangle);
}

int trace_input_open(struct trace_input *in, struct cli_inputs *inputs,
                     char *path, bool no_demangle)
{
	struct cairn_err err;

	return trace_input_try(in, inputs, path, no_demangle, &err) < 0
	               ? cli_fail(&err)
	               : CLI_FINE;
}

void trace_input_close(struct trace_input *in)
{
	for (uint32_t i = 0; in->names && i < in->traced.n; i++)
		free(in->names[i]);
	for (uint32_t i = 0; in->numbers && i < in->traced.n; i++)
		free(in->numbers[i]);
	free(in->names);
	free(in->numbers);
	trace_index_release(&in->index);
	traced_release(&in->traced);
	streams_release(&in->streams);
	if (in->profile)
		profile_free(in->profile);
	*in = (struct trace_input){0};
}

/* --- progress ------------------------------------------------------------ */

void trace_way_begin(struct trace_way *way, const struct streams *s,
                     const char *what, bool is_forced)
{
	*way = (struct trace_way){0};
	for (size_t i = 0; i < s->nthreads; i++)
		for (size_t k = 0; k < s->threads[i].nparts; k++)
			way->all += s->threads[i].parts[k].chunk->size;
	progress_begin(&way->progress, what, is_forced);
}

void trace_way_tell(struct trace_way *way, const struct traced_walk *w)
{
	const struct streams_thread *t = w->thread;

	if (way->thread != t)
		way->nparts = 0;
	way->thread = t;
	if (way->nparts >= w->walk.nparts)
		return;
	for (; way->nparts < w->walk.nparts && way->nparts < t->nparts;
	     way->nparts++)
		way->done += t->parts[way->nparts].chunk->size;
	way->nparts = w->walk.nparts;
	progress_tell(&way->progress, way->done, way->all);
}

/* --- the index ----------------------------------------------------------- */

/* Reads the index beside the trace.  False if there is none that fits. */
static bool read_index(struct trace_input *in, const char *path,
                       uint64_t identity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *p = MAP_FAILED;
	bool is_right = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
		         0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	is_right = trace_index_decode(&in->index, &in->traced, identity, p,
	                              (size_t)st.st_size);
	munmap(p, (size_t)st.st_size);
	return is_right;
}

static bool is_whole(const struct trace_index *x)
{
	for (size_t i = 0; i < x->nthreads; i++)
		if (x->threads[i].is_broken)
			return false;
	return true;
}

static void write_index(const struct trace_input *in, const char *path,
                        uint64_t identity)
{
	struct bytes out = {0};
	struct cairn_err err;

	trace_index_encode(&in->index, identity, &out);
	(void)writer_replace_here(path, out.data, out.n, &err);
	bytes_release(&out);
}

void trace_input_index(struct trace_input *in)
{
	uint64_t identity = trace_index_identity(&in->traced);
	char *path = xasprintf("%s.index", in->path);
	struct progress p;
	struct trace_index_progress progress = {&p, progress_call};

	if (!in->has_index && !read_index(in, path, identity)) {
		progress_begin(&p, "looking through the trace",
		               in->wants_progress);
		trace_index_build(&in->index, &in->traced, &progress);
		progress_end(&p);
		if ((in->wants_index || progress_time(&p) > PROGRESS_LONG_NS) &&
		    is_whole(&in->index))
			write_index(in, path, identity);
	}
	in->has_index = true;
	free(path);
}

/* --- order --------------------------------------------------------------- */

void trace_input_interleave(struct trace_input *in, struct interleave *x,
                            const struct interleave_range *range)
{
	struct interleave_range r = {0};

	if (range)
		r = *range;
	r.by_time = in->streams.c.flags & CAIRN_FILE_UNORDERED;
	if (r.by_time)
		text_print(stderr,
		           "cairn: %s: the program was not linked with "
		           "--cairn=trace: threads are in the order of time "
		           "only\n",
		           in->path);
	interleave_init(x, &in->traced, &in->index, &r);
}

/* --- names and lines ----------------------------------------------------- */

const char *trace_input_name(const struct trace_input *in, uint32_t function)
{
	return in->names[function];
}

const char *trace_input_file(const struct trace_input *in, uint32_t function,
                             uint32_t *line)
{
	const struct traced_function *f = &in->traced.functions[function];

	*line = f->f->line;
	return f->f->file == MAP_NONE ? NULL : map_string(f->map, f->f->file);
}

block_id trace_input_block(struct trace_input *in, uint32_t function,
                           block_id part)
{
	const struct traced_function *f = &in->traced.functions[function];

	if (!in->numbers)
		in->numbers =
		        xcalloc((size_t)in->traced.n + 1, sizeof(*in->numbers));
	if (!in->numbers[function])
		in->numbers[function] = whole_block_of(f->map, f->f);
	/* of a map that makes no sense: report refuses it */
	return in->numbers[function] ? in->numbers[function][part] : part;
}

void trace_input_lines(const struct trace_input *in, uint32_t function,
                       uint32_t block,
                       void (*visit)(void *context, const char *file,
                                     const struct map_line *line),
                       void *context)
{
	const struct traced_function *f = &in->traced.functions[function];
	const struct map *map = f->map;
	const struct map_block *b = &map->blocks[f->f->first_block + block];
	const struct map_line *last = NULL;

	for (uint32_t s = 0; s < b->nsegments; s++) {
		const struct map_segment *segment =
		        &map->segments[b->first_segment + s];

		for (uint32_t i = 0; i < segment->nlines; i++) {
			const struct map_line *l =
			        &map->lines[segment->first_line + i];

			if (!l->line || (last && last->line == l->line &&
			                 last->file == l->file &&
			                 last->instance == l->instance))
				continue;
			last = l;
			visit(context, map_string(map, l->file), l);
		}
	}
}
