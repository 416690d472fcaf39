/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn twpp: the timestamped whole program path of a traced run: its sizes,
 * the traces of one function, where a path occurs, and the run itself, back
 * from it.
 */
#include "cli/twpp.h"

#include "analysis/twpp_graph.h"
#include "analysis/twpp_trail.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/cli.h"
#include "format/writer.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
        "usage: cairn twpp [OPTION...] FILE\n\n"
        "Cuts the control flow of a traced run into path traces, one per "
        "call, keeps each\nonce, and says for every block when it ran.  FILE "
        "is a trace, or what --save\nwrote.  Shows how small that is, and the "
        "functions.\n\n"
        "  --save FILE      write the timestamped whole program path there\n"
        "  --function NAME  the path traces of a function: dynamic basic "
        "blocks with\n"
        "                   their timestamps (l, l:h, l:h:step), and where "
        "each leads\n"
        "  --find PATH      where a path occurs, such as 'f:b2.b7 > g:b1': f "
        "executes\n"
        "                   blocks 2 and 7 one behind the other, and then, "
        "before its\n"
        "                   next block, calls g, which begins with block 1\n"
        "  --expand         all calls, blocks and returns, in order\n"
        "  --access         measure how long one function's traces take to "
        "read\n"
        "  --json           as JSON\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --top N          rows of a table, traces, occurrences (20; 0: "
        "all)\n"
        "  --no-demangle    C++ names as the linker sees them\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20
#define SHOWN 4 /* functions that a sentence names */

enum {
	OPT_SAVE = CLI_OPT_OWN,
	OPT_FUNCTION,
	OPT_FIND,
	OPT_EXPAND,
	OPT_ACCESS,
	OPT_TOP,
	OPT_NO_DEMANGLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"save", required_argument, NULL, OPT_SAVE},
        {"function", required_argument, NULL, OPT_FUNCTION},
        {"find", required_argument, NULL, OPT_FIND},
        {"expand", no_argument, NULL, OPT_EXPAND},
        {"access", no_argument, NULL, OPT_ACCESS},
        {"top", required_argument, NULL, OPT_TOP},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	const char *save, *function, *find;
	bool expand, access;
	struct bytes bytes; /* of the form, if FILE is a trace */
	struct twpp file;
	struct twpp_view view;
};

/* --- answers ------------------------------------------------------------ */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Reads the traces of every function, each alone. */
static int measure(struct twpp *t, struct twpp_access *a, struct cairn_err *err)
{
	double sum = 0, load_sum = 0;

	*a = (struct twpp_access){0};
	for (uint32_t i = 0; i < t->nentries && t->entries[i].ncalls; i++) {
		double begin = now_ms(), spent, load;
		struct twpp_function f;
		uint64_t nruns;
		int rc;

		CAIRN_TRY(twpp_function_load(t, &t->entries[i], &f, err));
		load = now_ms() - begin;
		rc = twpp_function_scan(&f, &nruns, err);
		twpp_function_release(&f);
		if (rc)
			return rc;
		spent = now_ms() - begin;
		sum += spent;
		load_sum += load;
		a->worst = spent > a->worst ? spent : a->worst;
		a->load_worst = load > a->load_worst ? load : a->load_worst;
		a->nfunctions++;
	}
	if (a->nfunctions) {
		a->mean = sum / (double)a->nfunctions;
		a->load_mean = load_sum / (double)a->nfunctions;
	}
	return 0;
}

static int show_all(struct request *q, FILE *out, struct cairn_err *err)
{
	struct twpp_access access;

	if (q->access) {
		CAIRN_TRY(measure(&q->file, &access, err));
		q->view.access = &access;
	}
	if (q->form.json)
		twpp_json(&q->view, out);
	else
		twpp_text(&q->view, out);
	q->view.access = NULL;
	return 0;
}

/* All functions of the name; JSON can be of one alone. */
static int show_function(struct request *q, FILE *out, struct cairn_err *err)
{
	struct twpp_path p;
	int rc = 0;

	twpp_name_readably(&q->file);
	CAIRN_TRY(twpp_path_name(&p, &q->file, q->function, err));
	if (q->form.json && p.parts[0].nentries > 1)
		rc = cairn_fail(
		        err, CAIRN_E_USAGE,
		        "%zu functions have the name %s; ask for one by "
		        "its number, #%u",
		        p.parts[0].nentries, q->function,
		        q->file.entries[p.parts[0].entries[0]].function);
	for (size_t i = 0; i < p.parts[0].nentries && !rc; i++) {
		const struct twpp_entry *e =
		        &q->file.entries[p.parts[0].entries[i]];
		struct twpp_function f;

		if (i && !e->ncalls) /* nor were those that follow */
			break;
		rc = twpp_function_load(&q->file, e, &f, err);
		if (rc)
			break;
		if (i)
			text_print(out, "\n");
		rc = q->form.json ? twpp_json_function(&q->view, &f, out, err)
		                  : twpp_text_function(&q->view, &f, out, err);
		twpp_function_release(&f);
	}
	twpp_path_release(&p);
	return rc;
}

/* Not an error: enough were found. */
#define ENOUGH 1

static int keep_hit(void *arg, const struct twpp_occurrence *o)
{
	struct twpp_hits *h = arg;
	size_t n = h->path->nparts;
	struct twpp_hit *hit;

	VEC_RESERVE(h->items, h->nitems, h->items_cap);
	hit = &h->items[h->nitems++];
	*hit = (struct twpp_hit){.thread = o->thread, .when = o->when};
	hit->sites = xcalloc(n, sizeof(*hit->sites));
	memcpy(hit->sites, o->sites, n * sizeof(*hit->sites));
	return h->nitems == h->most ? ENOUGH : 0;
}

static int find_hits(struct request *q, struct twpp_hits *h,
                     struct cairn_err *err)
{
	struct twpp_graph g;
	int rc;

	CAIRN_TRY(twpp_count(&q->file, h->path, &h->n, err));
	if (!h->n)
		return 0;
	CAIRN_TRY(twpp_graph_load(&g, &q->file, err));
	rc = twpp_find(&g, h->path, keep_hit, h, err);
	twpp_graph_release(&g);
	return rc < 0 ? rc : 0;
}

/* A name that several functions have means each of them. */
static void say_ambiguous(const struct request *q, const struct twpp_part *part,
                          size_t number)
{
	size_t shown = part->nentries < SHOWN ? part->nentries : SHOWN;

	if (part->nentries < 2)
		return;
	text_print(stderr,
	           "cairn: part %zu of the path is one of %zu functions: ",
	           number, part->nentries);
	for (size_t i = 0; i < shown; i++) {
		const struct twpp_entry *e = &q->file.entries[part->entries[i]];
		char *name = twpp_name(&q->view, e);

		text_print(stderr, "%s%s (#%u)", i ? ", " : "", name,
		           e->function);
		free(name);
	}
	text_print(stderr, "%s\n", shown < part->nentries ? ", ..." : "");
}

/* Status 1 if there is none. */
static int show_hits(struct request *q, FILE *out, int *status,
                     struct cairn_err *err)
{
	struct twpp_path p;
	struct twpp_hits h = {.text = q->find, .path = &p, .most = q->view.top};
	int rc;

	twpp_name_readably(&q->file);
	CAIRN_TRY(twpp_path_parse(&p, &q->file, q->find, err));
	for (size_t i = 0; i < p.nparts; i++)
		say_ambiguous(q, &p.parts[i], i + 1);
	rc = find_hits(q, &h, err);
	if (!rc && q->form.json)
		twpp_json_hits(&q->view, &h, out);
	else if (!rc)
		twpp_text_hits(&q->view, &h, out);
	*status = h.n ? CLI_FINE : CLI_NEGATIVE;
	for (size_t i = 0; i < h.nitems; i++)
		free(h.items[i].sites);
	free(h.items);
	twpp_path_release(&p);
	return rc;
}

static int show(struct request *q)
{
	int status = CLI_FINE, rc;
	struct cairn_err err;
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->function)
		rc = show_function(q, o.stream, &err);
	else if (q->find)
		rc = show_hits(q, o.stream, &status, &err);
	else if (q->expand)
		rc = twpp_text_events(&q->view, o.stream, &err);
	else
		rc = show_all(q, o.stream, &err);
	if (!rc)
		return cli_output_end(&o, status);
	if (o.path) {
		fclose(o.stream);
		free(o.data);
	}
	status = cli_fail(&err);
	return rc == CAIRN_E_ABSENT ? CLI_NEGATIVE : status;
}

/* --- the command -------------------------------------------------------- */

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_SAVE:
		q->save = optarg;
		return CLI_FINE;
	case OPT_FUNCTION:
		q->function = optarg;
		return CLI_FINE;
	case OPT_FIND:
		q->find = optarg;
		return CLI_FINE;
	case OPT_EXPAND:
		q->expand = true;
		return CLI_FINE;
	case OPT_ACCESS:
		q->access = true;
		return CLI_FINE;
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->view.top);
	case OPT_NO_DEMANGLE:
		q->view.no_demangle = true;
		return CLI_FINE;
	default:
		return cli_form_option(&q->form, c, optarg) ||
		                       cli_input_option(&q->inputs, c, optarg)
		               ? CLI_FINE
		               : CLI_OTHER;
	}
}

static const struct cli_syntax syntax = {help, ":o:h", options, take_option};

static int check_options(const struct request *q, char **argv, int argc)
{
	struct cli_form saved = {.output = q->save, .option = "--save"};
	int status;

	if (argc - optind != 1)
		return cli_usage(argv[0], "it takes one file, not %d",
		                 argc - optind);
	if (!!q->function + !!q->find + q->expand + q->access > 1)
		return cli_usage(argv[0],
		                 "--function, --find, --expand and --access "
		                 "exclude each other");
	if (q->expand && q->form.json)
		return cli_usage(argv[0], "--expand prints text only");
	status = cli_check_output(argv[0], &q->form, argv + optind, 1);
	return status ? status
	              : cli_check_output(argv[0], &saved, argv + optind, 1);
}

/* 1 if the trace has no such function. */
static int open_file(struct request *q, char *path, struct cairn_err *err)
{
	int rc;

	if (twpp_is_file(path))
		return twpp_open(&q->file, path, err);
	rc = twpp_from_trace(&q->inputs, path, q->save ? NULL : q->function,
	                     &q->bytes, err);
	if (rc)
		return rc;
	return twpp_open_bytes(&q->file, q->bytes.data, q->bytes.n, path, err);
}

static int run(struct request *q, char *path)
{
	struct cairn_err err;
	int rc = open_file(q, path, &err), status;

	if (rc) {
		status = cli_fail_in(path, &err);
		return rc > 0 ? CLI_NEGATIVE : status;
	}
	q->view.file = &q->file;
	if (q->save &&
	    writer_replace(q->save, q->file.data, q->file.size, &err))
		status = cli_fail(&err);
	else
		status = show(q);
	twpp_close(&q->file);
	return status;
}

int cmd_twpp(int argc, char **argv)
{
	struct request q = {.view.top = DEFAULT_TOP};
	int status;

	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = run(&q, argv[optind]);
	}
	bytes_release(&q.bytes);
	cli_inputs_release(&q.inputs);
	return status;
}
