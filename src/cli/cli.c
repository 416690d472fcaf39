/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all subcommands share: input options, errors, output.  Results go to
 * stdout and nothing else does; a file named with -o is written whole or not
 * at all.
 */
#include "cli/cli.h"

#include "abi/file.h"
#include "analysis/check.h"
#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/beside.h"
#include "cli/walked.h"
#include "format/streams.h"
#include "format/writer.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that a sentence names. */
#define SHOWN_FILES 3

int cli_fail(const struct cairn_err *err)
{
	text_print(stderr, "cairn: %s\n", err->text);
	return CLI_ERROR;
}

int cli_fail_in(const char *path, const struct cairn_err *err)
{
	struct cairn_err named;

	cairn_fail_in(&named, path, err);
	return cli_fail(&named);
}

int cli_usage(const char *command, const char *format, ...)
{
	va_list args;

	text_print(stderr, "cairn: ");
	va_start(args, format);
	text_vprint(stderr, format, args);
	va_end(args);
	text_print(stderr, "; see cairn %s%s--help\n", command,
	           *command ? " " : "");
	return CLI_ERROR;
}

static int refuse_option(int c, char **argv, const struct option *options)
{
	char what[256];

	options_judge(c, argv, options, what, sizeof(what));
	return cli_usage(argv[0], "%s", what);
}

bool cli_parse(const struct cli_syntax *s, int argc, char **argv, void *request,
               int *status)
{
	char *letters = xasprintf("%sq", s->letters);
	int c;

	opterr = 0;
	*status = CLI_FINE;
	while (!*status &&
	       (c = getopt_long(argc, argv, letters, s->options, NULL)) != -1) {
		if (c == 'h') {
			free(letters);
			*status = cli_help(s->help);
			return false;
		}
		*status = s->take(request, c, argv[0]);
		if (*status == CLI_OTHER)
			*status = refuse_option(c, argv, s->options);
	}
	free(letters);
	return !*status;
}

int cli_take_top(const char *command, const char *arg, unsigned *top)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno || v > UINT_MAX)
		return cli_usage(command,
		                 "--top takes a number of rows up to %u, 0 for "
		                 "all, not '%s'",
		                 UINT_MAX, arg);
	*top = v ? (unsigned)v : UINT_MAX;
	return CLI_FINE;
}

int cli_take_percent(const char *command, const char *option, const char *arg,
                     double most, double *out)
{
	char *end;

	*out = strtod(arg, &end);
	if (end != arg && *end == '%')
		end++;
	if (end == arg || *end || !(*out >= 0 && *out <= most))
		return cli_usage(command,
		                 "%s takes a number of percent, from 0 to %g, "
		                 "not '%s'",
		                 option, most, arg);
	return CLI_FINE;
}

int cli_take_color(const char *command, const char *arg, enum cli_color *out)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(arg, words[i])) {
			*out = (enum cli_color)i;
			return CLI_FINE;
		}
	return cli_usage(command,
	                 "--color takes auto, always or never, not '%s'", arg);
}

bool cli_wants_colour(enum cli_color color, const struct cli_form *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != CLI_COLOR_AUTO)
		return color == CLI_COLOR_ALWAYS;
	return (!f->output || !strcmp(f->output, "-")) && !(no && *no) &&
	       isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

int cli_help(const char *text)
{
	struct cli_output o;

	cli_output_begin(&o, NULL);
	fputs(text, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

bool cli_input_option(struct cli_inputs *in, int option, const char *arg)
{
	struct profile_options *o = &in->options;

	switch (option) {
	case CLI_OPT_EXE:
		VEC_RESERVE(in->exes, o->nexes, in->exes_cap);
		in->exes[o->nexes++] = arg;
		o->exes = in->exes;
		walked_look_in(arg);
		return true;
	case CLI_OPT_PARTIAL:
		o->partial = true;
		return true;
	case CLI_OPT_SKIP:
		o->skip_missing = true;
		return true;
	case 'q':
		progress_silence();
		return true;
	default:
		return false;
	}
}

bool cli_form_option(struct cli_form *f, int option, const char *arg)
{
	switch (option) {
	case CLI_OPT_JSON:
		f->json = true;
		return true;
	case CLI_OPT_HTML:
	case 'o':
		f->html |= option == CLI_OPT_HTML;
		f->output = arg;
		f->noutputs++;
		return true;
	default:
		return false;
	}
}

int cli_check_form(const char *command, const struct cli_form *f)
{
	if (f->json && f->html)
		return cli_usage(command,
		                 "--json and --html exclude each other");
	if (f->html && f->noutputs > 1)
		return cli_usage(command,
		                 "--html FILE is the output; name one");
	return CLI_FINE;
}

/* "-" is no file. */
static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

int cli_check_output(const char *command, const struct cli_form *f,
                     char **inputs, int ninputs)
{
	const char *option = f->option ? f->option : f->html ? "--html" : "-o";

	if (f->output && !*f->output)
		return cli_usage(command, "no output; name one with %s",
		                 option);
	if (f->output && !is_stdout(f->output) &&
	    cli_is_among(f->output, inputs, ninputs))
		return cli_usage(command, "%s %s would overwrite the profile",
		                 option, f->output);
	return CLI_FINE;
}

void cli_inputs_release(struct cli_inputs *in)
{
	free(in->exes);
	*in = (struct cli_inputs){0};
}

struct identity {
	dev_t device;
	ino_t inode;
	int index; /* among the paths */
};

static int by_identity(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The first path that is the same file as one before it; -1 if none is. */
static int find_repeated(char **paths, int npaths)
{
	struct identity *ids = xmalloc((size_t)npaths * sizeof(*ids));
	size_t n = 0;
	int repeated = -1;
	struct stat st;

	for (int i = 0; i < npaths; i++)
		if (!stat(paths[i], &st))
			ids[n++] = (struct identity){st.st_dev, st.st_ino, i};
	if (n)
		qsort(ids, n, sizeof(*ids), by_identity);
	for (size_t i = 1; i < n; i++)
		if (ids[i].device == ids[i - 1].device &&
		    ids[i].inode == ids[i - 1].inode &&
		    (repeated < 0 || ids[i].index < repeated))
			repeated = ids[i].index;
	free(ids);
	return repeated;
}

/* What the user named has to be there, and to count once. */
static int check_names(const struct cli_inputs *in, char **paths, int npaths,
                       struct cairn_err *err)
{
	int repeated;

	for (int i = 0; i < npaths; i++)
		if (!*paths[i])
			return cairn_fail(err, CAIRN_E_USAGE,
			                  "the name of a profile is empty; "
			                  "name a .cairn file");
	for (size_t i = 0; i < in->options.nexes; i++)
		if (access(in->exes[i], R_OK))
			return cairn_fail(err, CAIRN_E_ABSENT,
			                  "--exe %s: cannot open: %s; name a "
			                  "file or directory",
			                  in->exes[i], strerror(errno));
	repeated = find_repeated(paths, npaths);
	if (repeated < 0)
		return 0;
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "%s: is given twice, so its runs would count twice; "
	                  "name it once",
	                  paths[repeated]);
}

char *cli_list_files(char **paths, size_t n)
{
	size_t shown = n < SHOWN_FILES ? n : SHOWN_FILES;
	char *text = xstrdup("");

	for (size_t i = 0; i < shown; i++) {
		char *longer =
		        xasprintf("%s%s%s", text, i ? ", " : "", paths[i]);

		free(text);
		text = longer;
	}
	if (shown < n) {
		char *longer = xasprintf("%s and %zu more file%s", text,
		                         n - shown, n - shown > 1 ? "s" : "");

		free(text);
		text = longer;
	}
	return text;
}

bool cli_is_among(const char *path, char **paths, int npaths)
{
	struct stat a, b;

	if (stat(path, &a))
		return false;
	for (int i = 0; i < npaths; i++)
		if (!stat(paths[i], &b) && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return true;
	return false;
}

struct profile *cli_open(struct cli_inputs *in, char **paths, int npaths)
{
	struct profile *p;
	struct cairn_err err;
	struct progress progress;
	char **kept = xmalloc((size_t)npaths * sizeof(*kept));
	int rc = check_names(in, paths, npaths, &err);

	progress_begin(&progress, "adding up profiles", false);
	in->options.tell = progress_call;
	in->options.tell_context = &progress;
	if (!rc)
		rc = beside_find(paths, npaths, kept, &npaths, &err);
	if (!rc)
		rc = profile_open(&p, (const char *const *)kept, (size_t)npaths,
		                  &in->options, &err);
	free(kept);
	in->options.tell = NULL;
	progress_end(&progress);
	if (!rc)
		return p;
	cli_fail(&err);
	return NULL;
}

int cli_check_maps(const struct profile *p, const char *path)
{
	struct cairn_err err;

	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].map)
			return CLI_FINE;
	if (p->nmodules)
		cairn_fail(&err, CAIRN_E_ABSENT, "%s: nothing to report: %s",
		           p->files[p->modules[0].from].name,
		           p->modules[0].missing);
	else
		cairn_fail(&err, CAIRN_E_ABSENT,
		           "%s: nothing to report: no program or library "
		           "counted in it; run the program again",
		           path);
	return cli_fail(&err);
}

/* Has a flight recorder dropped parts?  If nobody can tell it may have. */
static bool has_dropped(const struct profile_file *f)
{
	struct streams s;
	struct cairn_err err;
	bool is_all_there;

	if (!f->has_trace ||
	    streams_open(&s, f->name, CONTAINER_PARTIAL, &err) < 0)
		return true;
	is_all_there = s.nthreads > 0;
	for (size_t i = 0; i < s.nthreads; i++)
		is_all_there &= !s.threads[i].ndropped;
	streams_release(&s);
	return !is_all_there;
}

size_t cli_count_findings(const struct counts *c)
{
	struct findings found = {0};
	size_t n = 0;

	check_profile(&found, c);
	for (size_t i = 0; i < found.n; i++)
		n += *found.items[i].rule == 'C';
	findings_release(&found);
	return n;
}

void cli_say_findings(const struct counts *c)
{
	struct findings found;

	check_contradictions(&found, c);
	if (found.n)
		text_print(stderr,
		           "cairn: %s: %zu finding%s of cairn check (%s in %s) "
		           "say%s that its counts contradict each other: do "
		           "not rely on them\n",
		           c->profile->files[0].name, found.n,
		           found.n == 1 ? "" : "s", found.items[0].rule,
		           found.items[0].where, found.n == 1 ? "s" : "");
	findings_release(&found);
}

void cli_say_missing(const struct profile *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].missing)
			text_print(stderr, "cairn: left out: %s\n",
			           p->modules[i].missing);
	for (size_t i = 0; i < p->nfiles; i++)
		if (p->files[i].flags & CAIRN_FILE_LAST &&
		    has_dropped(&p->files[i]))
			text_print(stderr,
			           "cairn: %s: a flight recorder wrote it "
			           "(trace,last=SIZE): what is older than its "
			           "newest part is not there\n",
			           p->files[i].name);
}

void cli_output_begin(struct cli_output *o, const char *path)
{
	if (path && is_stdout(path))
		path = NULL;
	*o = (struct cli_output){.path = path};
	o->stream = path ? open_memstream(&o->data, &o->size) : stdout;
	if (!o->stream) {
		text_print(stderr, "cairn: out of memory\n");
		exit(CLI_ERROR);
	}
}

int cli_output_end(struct cli_output *o, int status)
{
	struct cairn_err err = {0};

	if (!o->path) {
		int e = fflush(stdout) ? errno : 0;

		if (!e && !ferror(stdout))
			return status;
		cairn_fail(&err, CAIRN_E_SYSTEM,
		           "stdout: cannot write%s%s; send the output "
		           "elsewhere",
		           e ? ": " : "", e ? strerror(e) : "");
		return cli_fail(&err);
	}
	fclose(o->stream);
	if (writer_replace(o->path, o->data, o->size, &err))
		status = cli_fail(&err);
	free(o->data);
	return status;
}

int cli_take_share(const char *command, const char *arg, uint32_t *share)
{
	char *end;
	double v = strtod(arg, &end);

	if (*arg < '0' || *arg > '9' || *end || !(v >= 0.0001) || v > 100)
		return cli_usage(command,
		                 "--share takes a percentage from 0.0001 to "
		                 "100, not '%s'",
		                 arg);
	*share = (uint32_t)(v * 10000 + 0.5);
	return CLI_FINE;
}
