/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn trace: what a program did, in order.  Results are written while the
 * trace is read, as they may be larger than memory; a file named with -o gets
 * its name when it is complete.
 */
#include "cli/cli.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/export.h"
#include "cli/trace_input.h"
#include "cli/trace_view.h"
#include "format/writer.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
        "usage: cairn trace [OPTION...] FILE\n\n"
        "Shows what every thread of a trace did: calls, indented by depth, and "
        "the\nsource lines of the paths in between.  The numbers in front "
        "count "
        "executed\nblocks.  Programs write traces if they are built with "
        "--cairn=trace.\n\n"
        "  --function GLOB  only activations of these functions\n"
        "  --callees        ... and what they call\n"
        "  --depth N        only N levels of calls, with --callees from the "
        "functions on\n"
        "  --from MOMENT    begin at a block (1000), or a time (15ms, 2.5s; "
        "ns, us)\n"
        "  --to MOMENT      end before it\n"
        "  --reverse        the last first\n"
        "  --interleave     all threads in one order: what happened before "
        "something\n                   stands before it\n"
        "  --thread N       only this thread of the file\n"
        "  --blocks         every block with its lines\n"
        "  --times          when, in ns since the program started\n"
        "  --open           only the frames that are open at the end: where "
        "they are, and\n"
        "                   which way they came\n"
        "  --summary        only how much there is: threads, blocks, calls, "
        "bytes\n"
        "  --hash           only a hash of all that each thread executed, in "
        "order\n"
        "  --json           one JSON object per event and line\n"
        "  --export FORMAT  calls for other tools: chrome (also Perfetto), "
        "speedscope,\n"
        "                   folded (stacks, for flame graphs)\n"
        "  --clock CLOCK    of an export: time (default, if the trace has it), "
        "or "
        "blocks:\n"
        "                   executed ones\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --index          keep how to get to any moment in FILE.index, also "
        "if that is\n"
        "                   quickly found\n"
        "  --progress       say how far it is, even if stderr is no "
        "terminal\n"
        "  --no-demangle    C++ names as the linker sees them\n" CLI_INPUT_HELP;

enum {
	OPT_FUNCTION = CLI_OPT_OWN,
	OPT_CALLEES,
	OPT_DEPTH,
	OPT_FROM,
	OPT_TO,
	OPT_REVERSE,
	OPT_INTERLEAVE,
	OPT_THREAD,
	OPT_BLOCKS,
	OPT_TIMES,
	OPT_SUMMARY,
	OPT_HASH,
	OPT_OPEN,
	OPT_EXPORT,
	OPT_CLOCK,
	OPT_INDEX,
	OPT_PROGRESS,
	OPT_NO_DEMANGLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"function", required_argument, NULL, OPT_FUNCTION},
        {"callees", no_argument, NULL, OPT_CALLEES},
        {"depth", required_argument, NULL, OPT_DEPTH},
        {"from", required_argument, NULL, OPT_FROM},
        {"to", required_argument, NULL, OPT_TO},
        {"reverse", no_argument, NULL, OPT_REVERSE},
        {"interleave", no_argument, NULL, OPT_INTERLEAVE},
        {"thread", required_argument, NULL, OPT_THREAD},
        {"blocks", no_argument, NULL, OPT_BLOCKS},
        {"times", no_argument, NULL, OPT_TIMES},
        {"summary", no_argument, NULL, OPT_SUMMARY},
        {"hash", no_argument, NULL, OPT_HASH},
        {"open", no_argument, NULL, OPT_OPEN},
        {"export", required_argument, NULL, OPT_EXPORT},
        {"clock", required_argument, NULL, OPT_CLOCK},
        {"index", no_argument, NULL, OPT_INDEX},
        {"progress", no_argument, NULL, OPT_PROGRESS},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	struct trace_options o;
	bool no_demangle, index, progress;
};

/* --- options ------------------------------------------------------------- */

static int take_number(const char *command, const char *option,
                       const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *value > most)
		return cli_usage(command, "%s takes a number, not '%s'", option,
		                 text);
	return CLI_FINE;
}

/* 1000, 20ns, 1.5ms: nanoseconds have no decimals, others as many as fit. */
static int take_moment(const char *command, const char *option,
                       const char *text, struct trace_moment *m)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 0}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value;

	if (*text >= '0' && *text <= '9') {
		value = strtod(text, &end);
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
			if (strcmp(end, units[i].name))
				continue;
			*m = (struct trace_moment){.is_given = true,
			                           .is_time = i > 0};
			if (!i)
				return take_number(command, option, text,
				                   UINT64_MAX, &m->value);
			if (value * units[i].ns >= 1.8e19)
				break;
			m->value = (uint64_t)(value * units[i].ns + 0.5);
			return CLI_FINE;
		}
	}
	return cli_usage(command,
	                 "%s takes a block number or a time with ns, us, ms or "
	                 "s, not '%s'",
	                 option, text);
}

static int take_export(const char *command, const char *name,
                       struct trace_options *o)
{
	static const struct export_format *const formats[] = {
	        &export_chrome, &export_speedscope, &export_folded};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i]->name, name))
			o->format = formats[i];
	if (o->format && !strcmp(o->format->name, name))
		return CLI_FINE;
	return cli_usage(command,
	                 "--export takes chrome, speedscope or folded, not "
	                 "'%s'",
	                 name);
}

static int take_clock(const char *command, const char *name,
                      struct trace_options *o)
{
	if (!strcmp(name, "time"))
		o->clock = TRACE_CLOCK_TIME;
	else if (!strcmp(name, "blocks"))
		o->clock = TRACE_CLOCK_BLOCKS;
	else
		return cli_usage(command,
		                 "--clock takes time or blocks, not '%s'",
		                 name);
	return CLI_FINE;
}

static int take_thread(const char *command, const char *text,
                       struct trace_options *o)
{
	uint64_t value;
	int status = take_number(command, "--thread", text, UINT32_MAX, &value);

	o->has_thread = true;
	o->thread = (uint32_t)value;
	return status;
}

static int take_valued(struct request *q, int c, const char *command)
{
	struct trace_options *o = &q->o;

	switch (c) {
	case OPT_FUNCTION:
		o->function = optarg;
		return CLI_FINE;
	case OPT_DEPTH:
		return take_number(command, "--depth", optarg, UINT32_MAX,
		                   &o->depth);
	case OPT_FROM:
		return take_moment(command, "--from", optarg, &o->from);
	case OPT_TO:
		return take_moment(command, "--to", optarg, &o->to);
	case OPT_THREAD:
		return take_thread(command, optarg, o);
	case OPT_EXPORT:
		return take_export(command, optarg, o);
	case OPT_CLOCK:
		return take_clock(command, optarg, o);
	default:
		return cli_form_option(&q->form, c, optarg) ||
		                       cli_input_option(&q->inputs, c, optarg)
		               ? CLI_FINE
		               : CLI_OTHER;
	}
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;
	struct trace_options *o = &q->o;
	bool *const flags[] = {
	        [OPT_CALLEES - CLI_OPT_OWN] = &o->callees,
	        [OPT_REVERSE - CLI_OPT_OWN] = &o->reverse,
	        [OPT_INTERLEAVE - CLI_OPT_OWN] = &o->interleave,
	        [OPT_BLOCKS - CLI_OPT_OWN] = &o->blocks,
	        [OPT_TIMES - CLI_OPT_OWN] = &o->times,
	        [OPT_SUMMARY - CLI_OPT_OWN] = &o->summary,
	        [OPT_HASH - CLI_OPT_OWN] = &o->hash,
	        [OPT_OPEN - CLI_OPT_OWN] = &o->open,
	        [OPT_INDEX - CLI_OPT_OWN] = &q->index,
	        [OPT_PROGRESS - CLI_OPT_OWN] = &q->progress,
	        [OPT_NO_DEMANGLE - CLI_OPT_OWN] = &q->no_demangle,
	};

	if (c < CLI_OPT_OWN || !flags[c - CLI_OPT_OWN])
		return take_valued(q, c, command);
	*flags[c - CLI_OPT_OWN] = true;
	return CLI_FINE;
}

static const struct cli_syntax syntax = {help, ":o:h", options, take_option};

static int check_options(const struct request *q, char **argv, int argc)
{
	const struct trace_options *o = &q->o;

	if (argc - optind != 1)
		return cli_usage(argv[0], "it takes one trace, not %d files",
		                 argc - optind);
	if (o->format &&
	    (q->form.json || o->summary || o->reverse || o->blocks))
		return cli_usage(
		        argv[0],
		        "--export goes with none of --json, --summary, "
		        "--reverse and --blocks");
	if (o->interleave &&
	    (o->format || o->summary || o->reverse || o->has_thread))
		return cli_usage(argv[0],
		                 "--interleave goes with none of --export, "
		                 "--summary, --reverse and --thread");
	if (o->interleave && ((o->from.is_given && !o->from.is_time) ||
	                      (o->to.is_given && !o->to.is_time)))
		return cli_usage(
		        argv[0],
		        "with --interleave --from and --to take times, such as "
		        "15ms: every thread counts its own blocks");
	if (o->hash &&
	    (o->format || o->summary || o->reverse || o->blocks || o->times ||
	     o->function || o->depth || o->from.is_given || o->to.is_given ||
	     o->interleave || o->open))
		return cli_usage(argv[0],
		                 "--hash goes with --thread and --json only: "
		                 "it is of all that a thread did");
	if (o->open && (o->summary || o->format || o->reverse || o->blocks ||
	                o->function || o->depth || o->from.is_given ||
	                o->to.is_given || o->interleave))
		return cli_usage(argv[0], "--open goes with --thread and "
		                          "--json only");
	if (o->summary &&
	    (o->function || o->depth || o->from.is_given || o->to.is_given ||
	     o->has_thread || o->reverse || o->blocks || o->times))
		return cli_usage(argv[0], "--summary goes with --json only: it "
		                          "is of the whole trace");
	if (o->from.is_given && o->to.is_given &&
	    o->from.is_time == o->to.is_time && o->to.value < o->from.value)
		return cli_usage(argv[0], "--to is before --from");
	if (o->clock != TRACE_CLOCK_ANY && !o->format)
		return cli_usage(argv[0], "--clock belongs to --export");
	if (o->callees && !o->function)
		return cli_usage(argv[0], "--callees belongs to --function");
	return cli_check_output(argv[0], &q->form, argv + optind, 1);
}

/* --- output -------------------------------------------------------------- */

/* A file that appears when it is complete, or stdout. */
struct output {
	FILE *stream;
	const char *path; /* NULL: stdout */
	char *draft;      /* NULL: no regular file, written into */
};

static int output_begin(struct output *o, const char *path,
                        struct cairn_err *err)
{
	struct stat st;
	int fd = -1;

	*o = (struct output){.stream = stdout};
	if (!path || !strcmp(path, "-"))
		return 0;
	o->path = path;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->stream = fopen(path, "we");
	} else {
		fd = writer_draft(path, &o->draft);
		o->stream = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (o->stream)
		return 0;
	cairn_fail(err, CAIRN_E_SYSTEM,
	           "%s: cannot write: %s; name another file with -o", path,
	           strerror(errno));
	free(o->draft);
	return CAIRN_E_SYSTEM;
}

/* Gives it its name, with the rights of a new file or of the old one. */
static bool output_name(const struct output *o)
{
	struct stat st;
	mode_t mask = umask(0);

	umask(mask);
	return !chmod(o->draft,
	              stat(o->path, &st) ? 0666 & ~mask : st.st_mode & 07777) &&
	       !rename(o->draft, o->path);
}

static int output_end(struct output *o, int status)
{
	struct cairn_err err;
	bool is_good = !ferror(o->stream);
	int e;

	if (!o->path) {
		struct cli_output standard = {.stream = stdout};

		return cli_output_end(&standard, status);
	}
	errno = 0;
	is_good &= !fflush(o->stream);
	if (status == CLI_ERROR && o->draft)
		unlink(o->draft);
	else if (o->draft && is_good)
		is_good = output_name(o); /* before its lock goes */
	is_good &= !fclose(o->stream);
	e = errno;
	if (!is_good) {
		if (o->draft)
			unlink(o->draft);
		cairn_fail(&err, CAIRN_E_SYSTEM, "%s: cannot write: %s",
		           o->path, e ? strerror(e) : "not all of it");
		status = cli_fail(&err);
	}
	free(o->draft);
	return status;
}

/* --- the command --------------------------------------------------------- */

static bool needs_index(const struct trace_options *o)
{
	return o->summary || o->reverse || o->times || o->interleave ||
	       o->from.is_given || o->to.is_given ||
	       (o->format && o->clock != TRACE_CLOCK_BLOCKS);
}

/* Does the trace know the time at more than one moment? */
static bool has_times(const struct trace_index *x)
{
	for (size_t i = 0; i < x->nthreads; i++) {
		const struct trace_index_thread *t = &x->threads[i];

		if (t->ntimes > 1 &&
		    t->times[t->ntimes - 1].block > t->times[0].block)
			return true;
	}
	return false;
}

static enum export_clock clock_of(const struct trace_view *v)
{
	if (v->o->clock == TRACE_CLOCK_ANY)
		return has_times(&v->in->index) ? EXPORT_NANOSECONDS
		                                : EXPORT_BLOCKS;
	return v->o->clock == TRACE_CLOCK_TIME ? EXPORT_NANOSECONDS
	                                       : EXPORT_BLOCKS;
}

static int write_export(struct trace_view *v, struct cairn_err *err)
{
	struct trace_input *in = v->in;
	struct export_writer writer;
	int result;

	if (v->o->clock == TRACE_CLOCK_TIME && !has_times(&in->index))
		text_print(
		        stderr,
		        "cairn: %s: of each thread only one moment is known, "
		        "so nothing takes time; use --clock blocks\n",
		        in->path);
	v->form = &trace_export;
	v->writer = &writer;
	export_begin(&writer, v->o->format, v->out, clock_of(v),
	             in->profile->program, in->streams.c.pid);
	for (uint32_t i = 0; i < in->traced.n; i++) {
		uint32_t line;
		const char *file = trace_input_file(in, i, &line);

		export_add_function(&writer, in->names[i], file, line);
	}
	result = trace_view_run(v, err);
	export_end(&writer);
	return result;
}

static int check_selection(const struct request *q,
                           const struct trace_input *in, struct cairn_err *err)
{
	const struct streams *s = &in->streams;

	for (size_t i = 0; i < s->nthreads && q->o.has_thread; i++)
		if (s->threads[i].id == q->o.thread)
			return 0;
	if (q->o.has_thread)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: has no thread %u; --summary lists them",
		                  in->path, q->o.thread);
	return 0;
}

/* Does a function have the name that is asked for? */
static int check_function(const struct request *q, const struct trace_input *in)
{
	const char *glob = q->o.function;

	for (uint32_t i = 0; i < in->traced.n; i++)
		if (!glob || trace_view_matches(in, glob, i))
			return CLI_FINE;
	if (!glob)
		return CLI_FINE;
	text_print(stderr, "cairn: %s: no function matches %s\n", in->path,
	           glob);
	return CLI_NEGATIVE;
}

static uint64_t block_at(const struct trace_index_thread *x,
                         const struct trace_moment *m)
{
	return m->is_time ? trace_index_block(x, m->value) : m->value;
}

static bool is_behind(const struct trace_index_thread *x,
                      const struct trace_moment *m)
{
	return m->is_time ? m->value > trace_index_time(x, x->nblocks)
	                  : m->value > x->nblocks;
}

/* Is there anything between the two moments, in any thread that is shown?  What
 * cannot be read to its end may have more, and will say so. */
static int check_moments(const struct request *q, const struct trace_input *in)
{
	const struct trace_options *o = &q->o;
	bool is_begun = !o->from.is_given, is_forward = is_begun;

	for (size_t i = 0; i < in->index.nthreads && !is_forward; i++) {
		const struct trace_index_thread *x = &in->index.threads[i];

		if (o->has_thread && in->streams.threads[i].id != o->thread)
			continue;
		is_begun |= x->is_broken || !is_behind(x, &o->from);
		is_forward = x->is_broken ||
		             (!is_behind(x, &o->from) &&
		              (!o->to.is_given ||
		               block_at(x, &o->from) <= block_at(x, &o->to)));
	}
	if (is_forward)
		return CLI_FINE;
	text_print(
	        stderr, "cairn: %s: %s\n", in->path,
	        is_begun ? "--to is before --from"
	                 : "--from is behind the end; --summary says how much "
	                   "there is");
	return CLI_NEGATIVE;
}

/* What cannot be read ends the output, with what is before it. */
static int write_trace(struct request *q, struct trace_input *in, FILE *out)
{
	struct cairn_err err;
	struct trace_view v;
	int result = 0;

	if (q->o.summary) {
		trace_summary(in, q->o.json, out);
		for (size_t i = 0; i < in->index.nthreads && !result; i++)
			if (in->index.threads[i].is_broken) {
				err = in->index.threads[i].err;
				result = err.code;
			}
		return result < 0 ? cli_fail_in(in->path, &err) : CLI_FINE;
	}
	if (q->o.hash)
		return trace_hashes(in, &q->o, out, &err) < 0
		               ? cli_fail_in(in->path, &err)
		               : CLI_FINE;
	trace_view_init(&v, in, &q->o, out);
	v.form = q->o.json ? &trace_json : &trace_text;
	result = q->o.open     ? trace_open(&v, &err)
	         : q->o.format ? write_export(&v, &err)
	                       : trace_view_run(&v, &err);
	trace_view_release(&v);
	return result < 0 ? cli_fail_in(in->path, &err) : CLI_FINE;
}

static int show_trace(struct request *q, char *path)
{
	struct trace_input in;
	struct output o;
	struct cairn_err err;
	int status;

	status = trace_input_open(&in, &q->inputs, path, q->no_demangle);
	if (status)
		return status;
	in.wants_progress = q->progress;
	q->o.json = q->form.json;
	q->o.tells_progress = q->form.output || q->progress;
	q->o.forces_progress = q->progress;
	in.wants_index = q->index;
	if (check_selection(q, &in, &err) < 0)
		status = cli_fail(&err);
	if (!status)
		status = check_function(q, &in);
	if (!status && (q->index || needs_index(&q->o))) {
		trace_input_index(&in);
		status = check_moments(q, &in);
	}
	if (!status && output_begin(&o, q->form.output, &err) < 0)
		status = cli_fail(&err);
	else if (!status)
		status = output_end(&o, write_trace(q, &in, o.stream));
	trace_input_close(&in);
	return status;
}

int cmd_trace(int argc, char **argv)
{
	struct request q = {0};
	int status;

	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show_trace(&q, argv[optind]);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
