/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn residual: the paths that ran in the field and in no test, those first
 * that most users have.  The exit status says whether there are any, or may be:
 * a frame that died on a path that nobody knows may have died on a new one.
 */
#include "cli/cli.h"

#include "analysis/trace_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/html.h"
#include "cli/residue.h"

#include <getopt.h>
#include <stdlib.h>

static const char help[] =
        "usage: cairn residual --tested TESTED [OPTION...] FIELD...\n\n"
        "Shows what the field does that the tests never did: paths that ran "
        "in a FIELD\nfile and have the count 0 in TESTED, by number of FIELD "
        "files, count, and risk.\nPrograms count paths if they are built with "
        "--cairn=paths.\n\n"
        "  --tested TESTED  paths of the tests; cairn merge sums them\n"
        "  --json           everything, as JSON\n"
        "  --html FILE      write a page with the list, source and CFGs\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --top N          rows of the list (20, on a page 200; 0: all)\n"
        "  --blocks         details of all rows, not just of the first 10\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP
        "\nThe exit status is 1 if there are untested paths, or paths of the "
        "field that\nnobody knows; 0 if there are none.\n";

#define DEFAULT_TOP 20

enum {
	OPT_TESTED = CLI_OPT_OWN,
	OPT_TOP,
	OPT_BLOCKS,
	OPT_NO_DEMANGLE,
	OPT_STABLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        {"tested", required_argument, NULL, OPT_TESTED},
        CLI_JSON_OPTION,
        CLI_HTML_OPTION,
        CLI_OUTPUT_OPTION,
        {"top", required_argument, NULL, OPT_TOP},
        {"blocks", no_argument, NULL, OPT_BLOCKS},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {"stable", no_argument, NULL, OPT_STABLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct report_options report;
	struct residue residue;
	char *tested;
	struct cli_form form;
};

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_TESTED:
		if (q->tested)
			return cli_usage(command,
			                 "--tested is given twice; cairn "
			                 "merge makes one file of several");
		q->tested = optarg;
		return CLI_FINE;
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->residue.top);
	case OPT_BLOCKS:
		q->residue.all_details = true;
		return CLI_FINE;
	case OPT_NO_DEMANGLE:
		q->report.no_demangle = true;
		return CLI_FINE;
	case OPT_STABLE:
		q->report.stable = true;
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
	char **field = argv + optind;
	int nfield = argc - optind, status;

	status = cli_check_form(argv[0], &q->form);
	if (status)
		return status;
	if (!q->tested)
		return cli_usage(argv[0], "no tests given; name their profile "
		                          "with --tested");
	if (!nfield)
		return cli_usage(argv[0], "no profile of the field given");
	status = cli_check_output(argv[0], &q->form, field, nfield);
	return status ? status
	              : cli_check_output(argv[0], &q->form,
	                                 (char *[]){q->tested}, 1);
}

/* Reads each file of the field again, by itself: who has which path. */
static int add_files(struct request *q, char **paths, int npaths)
{
	struct residue *r = &q->residue;

	r->rows = xcalloc((size_t)npaths, sizeof(*r->rows));
	r->files = paths;
	r->nfiles = (size_t)npaths;
	if (npaths == 1) {
		residual_add_file(&r->residual, &r->field.catalog, r->rows);
		return CLI_FINE;
	}
	for (int i = 0; i < npaths; i++) {
		struct profile *p = cli_open(&q->inputs, paths + i, 1);
		struct catalog c;

		if (!p)
			return CLI_ERROR;
		catalog_init(&c, p);
		residual_add_file(&r->residual, &c, &r->rows[i]);
		side_add_file(&r->field, (size_t)i, &c);
		catalog_release(&c);
		profile_free(p);
	}
	return CLI_FINE;
}

/* What a test ran and did not count would look untested. */
static int check_tested(const struct request *q)
{
	size_t n = q->residue.tested.catalog.npartial;
	struct cairn_err err;

	if (!n)
		return CLI_FINE;
	cairn_fail(&err, CAIRN_E_MISMATCH,
	           "%s: %zu functions did not count all of their paths, so "
	           "nobody knows what was tested; run the tests with a build "
	           "of --cairn=paths",
	           q->tested, n);
	return cli_fail(&err);
}

static int check_common(const struct request *q, const char *field)
{
	struct cairn_err err;

	if (q->residue.residual.totals.ncompared)
		return CLI_FINE;
	cairn_fail(&err, CAIRN_E_MISMATCH,
	           "%s and %s have no function in common that counts paths; "
	           "are they of the same program?",
	           q->tested, field);
	return cli_fail(&err);
}

static int write_residue(struct request *q)
{
	bool any = residue_is_any(&q->residue);
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.html)
		html_residue(&q->residue, o.stream);
	else if (q->form.json)
		residue_json(&q->residue, o.stream);
	else
		residue_text(&q->residue, o.stream);
	return cli_output_end(&o, any ? CLI_NEGATIVE : CLI_FINE);
}

static int show_residue(struct request *q, char **paths, int npaths)
{
	struct residue *r = &q->residue;
	int status;

	status = side_open(&r->tested, &q->inputs, &q->tested, 1, &q->report);
	if (!status)
		status = check_tested(q);
	if (!status)
		status = side_open(&r->field, &q->inputs, paths, npaths,
		                   &q->report);
	if (status)
		goto done;
	residual_init(&r->residual, &r->tested.catalog, &r->field.catalog);
	status = check_common(q, paths[0]);
	if (!status)
		status = add_files(q, paths, npaths);
	if (!status) {
		residual_rank(&r->residual);
		status = write_residue(q);
	}
	free(r->rows);
	residual_release(&r->residual);
done:
	side_release(&r->field);
	side_release(&r->tested);
	return status;
}

int cmd_residual(int argc, char **argv)
{
	struct request q = {0};
	int status;

	q.inputs.options.untrace = trace_counts_file;
	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!q.residue.top)
			q.residue.top = q.form.html ? HTML_TOP : DEFAULT_TOP;
		if (!status)
			status = show_residue(&q, argv + optind, argc - optind);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
