/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn merge: profiles of several runs of one build become one.  Different
 * builds are refused, since their counters mean different things.
 * Of traces, what they count is summed: what several runs did, one after the
 * other, is no run.
 * cairn pack: the same with one file, for the sake of the maps inside; a trace
 * stays one.
 */
#include "cli/beside.h"
#include "cli/cli.h"
#include "cli/names.h"
#include "cli/report.h"
#include "cli/walked.h"

#include "analysis/trace_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "format/map.h"
#include "format/pack_trace.h"
#include "format/source_file.h"
#include "format/streams.h"
#include "format/strtab.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char merge_help[] =
        "usage: cairn merge -o OUT [OPTION...] FILE...\n\n"
        "Sums profiles of one build into OUT, which needs no executable to "
        "be read.\nOf traces, it sums what their runs executed.  A FILE may "
        "be a directory: the\n.cairn files in it, but for OUT; or @LIST.\n\n"
        "  -o OUT           the file to write; it may be one of those "
        "read\n"
        "  --list LIST      sum the files that LIST names, one on a line "
        "(-: stdin)\n"
        "  --remove         then remove the files that were summed, but for "
        "OUT\n" CLI_INPUT_HELP;

static const char pack_help[] =
        "usage: cairn pack -o OUT [OPTION...] FILE\n\n"
        "Writes FILE again with the maps of its executables inside, so that "
        "OUT can be\nread anywhere and after a rebuild.  A trace stays a "
        "trace.\n\n"
        "  -o OUT           the file to write; it may be one of those "
        "read\n"
        "  --best           pack a trace as small as possible, which takes "
        "time\n"
        "  --sources        put the source text inside, too: reports show it "
        "in the\n"
        "                   place of the files\n" CLI_INPUT_HELP;

enum { OPT_BEST = CLI_OPT_OWN, OPT_LIST, OPT_REMOVE, OPT_SOURCES };

static const struct option merge_options[] = {
        CLI_INPUT_OPTIONS,
        CLI_OUTPUT_OPTION,
        {"list", required_argument, NULL, OPT_LIST},
        {"remove", no_argument, NULL, OPT_REMOVE},
        {0},
};

static const struct option pack_options[] = {
        CLI_INPUT_OPTIONS,
        CLI_OUTPUT_OPTION,
        {"best", no_argument, NULL, OPT_BEST},
        {"sources", no_argument, NULL, OPT_SOURCES},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	bool best, remove, sources;
	struct names names; /* of the profiles */
};

static int write_packed(const struct request *q, const struct profile *p,
                        const char *path)
{
	enum container_mode mode =
	        q->inputs.options.partial ? CONTAINER_PARTIAL : CONTAINER_WHOLE;
	struct cairn_err err;
	struct streams s;
	int rc = streams_open(&s, path, mode, &err);

	if (rc == 0) {
		if (s.nthreads)
			rc = pack_trace(p, &s, q->best, q->form.output, &err);
		else
			rc = profile_write(p, q->form.output, &err);
		streams_release(&s);
	}
	return rc ? cli_fail(&err) : CLI_FINE;
}

/* Adds the text of a source file; false if it cannot be read. */
static bool pack_source(struct profile *p, uint32_t module, const char *path)
{
	struct source_file f;

	if (!*path || report_is_system_file(path) ||
	    sources_find(&p->sources, path))
		return true;
	if (source_file_read(p, module, path, &f, NULL))
		return false;
	sources_add(&p->sources, path, f.text, f.size,
	            source_file_is_newer(&f));
	return true;
}

/* All source files that the maps name, but for those of the system. */
static void pack_sources(struct profile *p)
{
	struct strtab missing = {0};

	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t k = 0; m && k < m->nlines; k++) {
			const char *path = map_string(m, m->lines[k].file);

			if (k && m->lines[k].file == m->lines[k - 1].file)
				continue;
			if (!pack_source(p, i, path))
				strtab_add(&missing, path, strlen(path));
		}
	}
	if (missing.n) {
		char *list = cli_list_files(missing.items, missing.n);

		text_print(stderr,
		           "cairn: sources that cannot be read are not packed: "
		           "%s\n",
		           list);
		free(list);
	}
	strtab_release(&missing);
}

static int pack(struct request *q, char **paths)
{
	struct profile *p = cli_open(&q->inputs, paths, 1);
	int status;

	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	if (q->sources)
		pack_sources(p);
	status = write_packed(q, p, paths[0]);
	profile_free(p);
	return status;
}

/*
 * Runs may add to the file that is to be written: they wait as long as the
 * descriptor that this returns is open.  -1: there is no such file.
 */
static int lock_output(const char *path)
{
	struct stat a, b;
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			return -1;
		if (fstat(fd, &a) || !S_ISREG(a.st_mode) || flock(fd, LOCK_EX))
			break;
		if (!stat(path, &b) && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return fd;
		close(fd); /* another one has got the name meanwhile */
	}
	close(fd);
	return -1;
}

/* What a process that still runs counts from here on would be lost with its
 * file.  A process id that somebody else has got by now is refused, too. */
static int check_ended(const struct profile *p, struct cairn_err *err)
{
	for (size_t i = 0; i < p->nfiles; i++) {
		const struct profile_file *f = &p->files[i];

		if (f->pid && f->state == CAIRN_STATE_OPEN &&
		    (!kill((pid_t)f->pid, 0) || errno == EPERM))
			return cairn_fail(err, CAIRN_E_USAGE,
			                  "%s: its process %u may still run, "
			                  "so the file cannot be removed; wait "
			                  "for its end, or merge without "
			                  "--remove",
			                  f->name, f->pid);
	}
	return 0;
}

static int sum(struct request *q)
{
	struct profile *p;
	struct cairn_err err;
	int status = CLI_FINE;

	q->inputs.options.untrace = trace_counts_file;
	p = cli_open(&q->inputs, q->names.items, (int)q->names.n);
	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	if ((q->remove && check_ended(p, &err)) ||
	    profile_write(p, q->form.output, &err))
		status = cli_fail(&err);
	profile_free(p);
	return status;
}

/* Those that were summed, but for the sum; and empty runs, but for those that
 * may not stay so. */
static int remove_inputs(const struct request *q)
{
	struct cairn_err err;

	for (size_t i = 0; i < q->names.n; i++) {
		char *name = q->names.items[i];

		if (cli_is_among(q->form.output, &name, 1) ||
		    beside_may_begin(name) || !unlink(name))
			continue;
		cairn_fail(&err, CAIRN_E_SYSTEM,
		           "%s: is in %s, but cannot be removed: %s; remove "
		           "it, or it may be counted again",
		           name, q->form.output, strerror(errno));
		return cli_fail(&err);
	}
	return CLI_FINE;
}

static int merge(struct request *q)
{
	int fd = lock_output(q->form.output);
	int status = sum(q);

	if (!status && q->remove)
		status = remove_inputs(q);
	if (fd >= 0)
		close(fd);
	return status;
}

static int take_list(struct request *q)
{
	struct cairn_err err;

	return names_add_list(&q->names, optarg, &err) ? cli_fail(&err)
	                                               : CLI_FINE;
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	(void)command;
	if (c == OPT_LIST)
		return take_list(q);
	q->best |= c == OPT_BEST;
	q->remove |= c == OPT_REMOVE;
	q->sources |= c == OPT_SOURCES;
	return c == OPT_BEST || c == OPT_REMOVE || c == OPT_SOURCES ||
	                       cli_form_option(&q->form, c, optarg) ||
	                       cli_input_option(&q->inputs, c, optarg)
	               ? CLI_FINE
	               : CLI_OTHER;
}

/* Takes the arguments that are no options. */
static int take_names(struct request *q, int argc, char **argv)
{
	struct cairn_err err;

	for (int i = optind; i < argc; i++)
		if (names_add(&q->names, argv[i], q->form.output, &err))
			return cli_fail(&err);
	if (!q->names.n)
		return cli_usage(argv[0], "no profile given");
	return CLI_FINE;
}

/* pack wants exactly one file. */
static int run(int argc, char **argv, bool is_pack)
{
	const struct cli_syntax syntax = {
	        is_pack ? pack_help : merge_help, ":o:h",
	        is_pack ? pack_options : merge_options, take_option};
	struct request q = {0};
	const char *out;
	int status;

	if (!cli_parse(&syntax, argc, argv, &q, &status))
		goto done;
	out = q.form.output;
	if (!out || !*out)
		status = cli_usage(argv[0], "no output; name one with -o");
	else if (!strcmp(out, "-"))
		status = cli_usage(argv[0], "-o -: a profile does not go to "
		                            "stdout; name a file");
	else if (is_pack && optind == argc)
		status = cli_usage(argv[0], "no profile given");
	else if (is_pack && argc - optind > 1)
		status =
		        cli_usage(argv[0], "more than one profile given; merge "
		                           "sums several");
	else if (is_pack)
		status = pack(&q, argv + optind);
	else
		status = take_names(&q, argc, argv);
	if (!status && !is_pack)
		status = merge(&q);
done:
	cli_inputs_release(&q.inputs);
	names_release(&q.names);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	return run(argc, argv, false);
}

int cmd_pack(int argc, char **argv)
{
	walked_end(); /* a recording would no longer be one */
	return run(argc, argv, true);
}
