/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn drift: are the paths that were hot in one profile still hot in another?
 * The overlap of both, and what moved most.
 */
#include "cli/cli.h"

#include "analysis/drift.h"
#include "analysis/trace_counts.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/side.h"
#include "format/map.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

static const char help[] =
        "usage: cairn drift [OPTION...] A B\n\n"
        "Compares two profiles of paths: how far the shares of paths agree, "
        "and which\npaths and functions moved most.  A and B may be of "
        "different builds; functions\nare matched by name, source file if "
        "they are static, and CFG.\n\n"
        "  --json           everything, as JSON\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --top N          rows of each table (20; 0: all)\n"
        "  --min-overlap P  exit status 1 if the overlap is below P percent\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20
#define JSON_VERSION 1
/* Of a sum of shares, in percent: 100 is to mean all. */
#define ROUNDING 1e-6

enum {
	OPT_TOP = CLI_OPT_OWN,
	OPT_MIN,
	OPT_NO_DEMANGLE,
	OPT_STABLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"top", required_argument, NULL, OPT_TOP},
        {"min-overlap", required_argument, NULL, OPT_MIN},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {"stable", no_argument, NULL, OPT_STABLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct report_options report;
	struct side a, b;
	struct drift drift;
	struct cli_form form;
	double min; /* percent */
	unsigned top;
};

/* --- text --------------------------------------------------------------- */

static void print_side(const struct request *q, FILE *out, bool is_b)
{
	const struct side *s = is_b ? &q->b : &q->a;

	text_print(out,
	           "%s          %" PRIu64 " paths, %" PRIu64
	           " executions, %.2f %% of them compared: %s\n",
	           is_b ? "B" : "A", s->catalog.npaths, s->catalog.executions,
	           100 * (is_b ? q->drift.compared_b : q->drift.compared_a),
	           s->name);
}

static void print_head(const struct request *q, FILE *out)
{
	const struct drift *d = &q->drift;

	print_side(q, out, false);
	print_side(q, out, true);
	side_text_notes(&q->a, out);
	side_text_notes(&q->b, out);
	text_print(out,
	           "functions  %zu compared\n"
	           "overlap    %.2f %%\n"
	           "hot        %zu paths make %.0f %% of A and %.2f %% of B; "
	           "%zu of them are among the %zu of B\n",
	           d->nmatched, 100 * d->overlap, d->nhot_a, 100 * DRIFT_HOT,
	           100 * d->hot_in_b, d->nstill, d->nhot_b);
}

static void print_functions(const struct request *q, FILE *out)
{
	const struct drift *d = &q->drift;
	size_t n = d->nfunctions < q->top ? d->nfunctions : q->top;

	text_print(out, "\n%8s %8s %8s %8s  function\n", "change", "A %", "B %",
	           "overlap");
	for (size_t i = 0; i < n; i++) {
		const struct drift_function *f = &d->functions[i];

		text_print(out, "%+8.2f %8.2f %8.2f ",
		           100 * (f->share_b - f->share_a), 100 * f->share_a,
		           100 * f->share_b);
		if (f->has_overlap)
			text_print(out, "%8.2f  ", 100 * f->overlap);
		else
			text_print(out, "%8s  ", "-");
		side_text_function(&q->a, out, f->a);
		text_print(out, "\n");
	}
	if (n < d->nfunctions)
		text_print(out, "%8s (%zu more; --top 0 shows all)\n", "",
		           d->nfunctions - n);
}

/* A path in the words of B's build, whose source is the newer one. */
static struct hot_path as_hot(const struct drift_path *p)
{
	return (struct hot_path){
	        .function = p->b, .number = p->number, .count = p->count_b};
}

static bool has_moved(const struct drift_path *p)
{
	return p->share_a < p->share_b || p->share_a > p->share_b;
}

static void print_paths(const struct request *q, FILE *out)
{
	const struct drift *d = &q->drift;
	size_t moved = 0, n;

	while (moved < d->npaths && has_moved(&d->paths[moved]))
		moved++;
	n = moved < q->top ? moved : q->top;
	text_print(out, "\n%8s %8s %8s %14s %14s  path  lines\n", "change",
	           "A %", "B %", "A", "B");
	for (size_t i = 0; i < n; i++) {
		const struct drift_path *p = &d->paths[i];
		struct hot_path h = as_hot(p);

		text_print(out,
		           "%+8.2f %8.2f %8.2f %14" PRIu64 " %14" PRIu64
		           "  %s %" PRIu64 "  ",
		           100 * (p->share_b - p->share_a), 100 * p->share_a,
		           100 * p->share_b, p->count_a, p->count_b,
		           side_function(&q->b, p->b), p->number);
		hot_text_summary(&q->b.view, out, &h);
		text_print(out, "\n");
	}
	if (n < moved)
		text_print(out, "%8s (%zu more; --top 0 shows all)\n", "",
		           moved - n);
	if (!moved)
		text_print(out, "%8s\n", "none");
}

/* Functions of one side that are not the same on the other. */
static void print_unmatched(const struct request *q, FILE *out, bool is_b)
{
	const struct side *s = is_b ? &q->b : &q->a;
	const struct catalog_match *of = is_b ? q->drift.of_b : q->drift.of_a;
	size_t n = 0;

	for (uint32_t i = 0; i < s->catalog.n; i++) {
		const struct catalog_function *f = &s->catalog.functions[i];

		if (of[i].fate == CATALOG_SAME)
			continue;
		if (!n++)
			text_print(out,
			           "\nnot compared: functions of %s that are "
			           "not the same in %s\n%10s %14s  function\n",
			           is_b ? "B" : "A", is_b ? "A" : "B", "paths",
			           "executions");
		text_print(out, "%10zu %14" PRIu64 "  ", f->pc.n,
		           f->executions);
		side_text_function(s, out, i);
		text_print(out, "  %s\n",
		           of[i].fate == CATALOG_CHANGED      ? "changed"
		           : of[i].fate == CATALOG_RENUMBERED ? "cut elsewhere"
		           : is_b                             ? "not in A"
		                                              : "not in B");
	}
}

static void write_text(const struct request *q, FILE *out)
{
	print_head(q, out);
	print_functions(q, out);
	print_paths(q, out);
	print_unmatched(q, out, false);
	print_unmatched(q, out, true);
}

/* --- JSON --------------------------------------------------------------- */

static void put_functions(const struct request *q, struct json *j)
{
	json_key(j, "functions");
	json_begin(j, '[');
	for (size_t i = 0; i < q->drift.nfunctions; i++) {
		const struct drift_function *f = &q->drift.functions[i];

		json_begin(j, '{');
		side_json_function(&q->b, j, f->b);
		side_json_real(j, "share_a", f->share_a);
		side_json_real(j, "share_b", f->share_b);
		json_key(j, "overlap");
		if (f->has_overlap)
			json_real(j, f->overlap);
		else
			json_string(j, NULL);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_paths(const struct request *q, struct json *j)
{
	json_key(j, "paths");
	json_begin(j, '[');
	for (size_t i = 0; i < q->drift.npaths; i++) {
		const struct drift_path *p = &q->drift.paths[i];
		struct hot_path h = as_hot(p);

		hot_json_begin(&q->b.view, j, &h);
		side_json_string(j, "function",
		                 q->b.catalog.functions[p->b].name);
		side_json_u64(j, "count_a", p->count_a);
		side_json_u64(j, "count_b", p->count_b);
		side_json_real(j, "share_a", p->share_a);
		side_json_real(j, "share_b", p->share_b);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_unmatched(const struct request *q, struct json *j,
                          const char *key, bool is_b)
{
	const struct side *s = is_b ? &q->b : &q->a;
	const struct catalog_match *of = is_b ? q->drift.of_b : q->drift.of_a;

	json_key(j, key);
	json_begin(j, '[');
	for (uint32_t i = 0; i < s->catalog.n; i++) {
		if (of[i].fate == CATALOG_SAME)
			continue;
		json_begin(j, '{');
		side_json_function(s, j, i);
		side_json_string(j, "fate",
		                 of[i].fate == CATALOG_CHANGED      ? "changed"
		                 : of[i].fate == CATALOG_RENUMBERED ? "cut"
		                                                    : "absent");
		side_json_u64(j, "paths", s->catalog.functions[i].pc.n);
		side_json_u64(j, "executions",
		              s->catalog.functions[i].executions);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void write_json(const struct request *q, FILE *out)
{
	const struct drift *d = &q->drift;
	struct json j = {.out = out, .flat_below = 3};

	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	side_json_notes(&q->a, &j, "a");
	side_json_notes(&q->b, &j, "b");
	side_json_real(&j, "overlap", d->overlap);
	side_json_real(&j, "compared_a", d->compared_a);
	side_json_real(&j, "compared_b", d->compared_b);
	side_json_u64(&j, "functions_compared", d->nmatched);
	side_json_real(&j, "hot_share", DRIFT_HOT);
	side_json_u64(&j, "hot_paths_a", d->nhot_a);
	side_json_u64(&j, "hot_paths_b", d->nhot_b);
	side_json_u64(&j, "hot_paths_both", d->nstill);
	side_json_real(&j, "hot_a_in_b", d->hot_in_b);
	put_functions(q, &j);
	put_paths(q, &j);
	put_unmatched(q, &j, "a_only", false);
	put_unmatched(q, &j, "b_only", true);
	json_end(&j, '}');
}

/* --- the command -------------------------------------------------------- */

static bool parse_percent(const char *arg, double *percent)
{
	char *end;

	errno = 0;
	*percent = strtod(arg, &end);
	return *arg >= '0' && *arg <= '9' && !*end && !errno && *percent <= 100;
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->top);
	case OPT_MIN:
		if (parse_percent(optarg, &q->min))
			return CLI_FINE;
		return cli_usage(command,
		                 "--min-overlap takes a percentage, not '%s'",
		                 optarg);
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
	if (argc - optind != 2)
		return cli_usage(argv[0],
		                 "it takes two profiles, not %d; cairn merge "
		                 "makes one of several",
		                 argc - optind);
	return cli_check_output(argv[0], &q->form, argv + optind, 2);
}

static int write_drift(struct request *q)
{
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.json)
		write_json(q, o.stream);
	else
		write_text(q, o.stream);
	return cli_output_end(&o, 100 * q->drift.overlap < q->min ? CLI_NEGATIVE
	                                                          : CLI_FINE);
}

static int show_drift(struct request *q, char **paths)
{
	struct cairn_err err;
	int status;

	status = side_open(&q->a, &q->inputs, paths, 1, &q->report);
	if (!status)
		status = side_open(&q->b, &q->inputs, paths + 1, 1, &q->report);
	if (status)
		goto done;
	drift_init(&q->drift, &q->a.catalog, &q->b.catalog);
	if (q->drift.nmatched) {
		status = write_drift(q);
	} else {
		cairn_fail(&err, CAIRN_E_MISMATCH,
		           "%s and %s have no function in common that counts "
		           "paths; are they of the same program?",
		           paths[0], paths[1]);
		status = cli_fail(&err);
	}
	drift_release(&q->drift);
done:
	side_release(&q->b);
	side_release(&q->a);
	return status;
}

int cmd_drift(int argc, char **argv)
{
	struct request q = {.top = DEFAULT_TOP};
	int status;

	q.inputs.options.untrace = trace_counts_file;
	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show_drift(&q, argv + optind);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
