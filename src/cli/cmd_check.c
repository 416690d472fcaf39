/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn check: the profile doctor.  Each file is looked at on its own, so that
 * one that cannot be read does not hide the others.
 */
#include "cli/cli.h"

#include "analysis/check.h"
#include "analysis/counts.h"
#include "analysis/trace_counts.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/demangle.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

static const char help[] =
        "usage: cairn check [OPTION...] FILE...\n\n"
        "Verifies checksums, structure, maps and the flow through every "
        "function.\nRules have the numbers of docs/INVARIANTS.md.  Exit "
        "status: 0 sound, 1 counts\nmay be wrong, 2 not readable.\n\n"
        "  --json           findings as JSON\n"
        "  -q, --quiet      nothing on stdout, only the exit "
        "status\n" CLI_FILES_HELP;

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        {0},
};

struct request {
	struct cli_inputs inputs;
	bool json, quiet;
};

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	(void)command;
	switch (c) {
	case CLI_OPT_JSON:
		q->json = true;
		return CLI_FINE;
	case 'q':
		progress_silence();
		q->quiet = true;
		return CLI_FINE;
	default:
		return cli_input_option(&q->inputs, c, optarg) ? CLI_FINE
		                                               : CLI_OTHER;
	}
}

static const struct cli_syntax syntax = {help, ":h", options, take_option};

static void print_text(FILE *out, const char *path, const struct counts *c,
                       const struct findings *f, uint64_t nwitnessed)
{
	for (size_t i = 0; i < f->n; i++) {
		char *name = demangle(f->items[i].where);

		text_print(out, "%s: %s %s: %s\n", path, f->items[i].rule,
		           name ? name : f->items[i].where, f->items[i].what);
		free(name);
	}
	if (f->n)
		text_print(out, "%s: not sound, %zu finding%s\n", path, f->n,
		           f->n == 1 ? "" : "s");
	else
		text_print(out,
		           "%s: sound; functions: %" PRIu64
		           ", block executions: %" PRIu64,
		           path, c->totals.functions - c->totals.uncovered,
		           c->totals.executions);
	if (!f->n && c->totals.partial)
		text_print(out,
		           "; functions that count only some of their paths: "
		           "%" PRIu64,
		           c->totals.partial);
	if (!f->n && nwitnessed)
		text_print(out,
		           "; functions whose witnesses suffice (theorem 4.2): "
		           "%" PRIu64,
		           nwitnessed);
	if (!f->n)
		text_print(out, "\n");
}

static void print_json(struct json *j, const char *path, const struct counts *c,
                       const struct findings *f, uint64_t nwitnessed)
{
	json_begin(j, '{');
	json_key(j, "file");
	json_string(j, path);
	json_key(j, "sound");
	json_bool(j, !f->n);
	json_key(j, "functions");
	json_u64(j, c->totals.functions - c->totals.uncovered);
	json_key(j, "partial_functions");
	json_u64(j, c->totals.partial);
	json_key(j, "witnessed_functions");
	json_u64(j, nwitnessed);
	json_key(j, "executions");
	json_u64(j, c->totals.executions);
	json_key(j, "findings");
	json_begin(j, '[');
	for (size_t i = 0; i < f->n; i++) {
		json_begin(j, '{');
		json_key(j, "rule");
		json_string(j, f->items[i].rule);
		json_key(j, "where");
		json_string(j, f->items[i].where);
		json_key(j, "what");
		json_string(j, f->items[i].what);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

/* Looks at one file; j or out may be NULL. */
static int check_one(struct cli_inputs *in, char *path, struct json *j,
                     FILE *out)
{
	uint64_t nwitnessed = 0;
	struct profile *p;
	struct counts *c;
	struct findings f;
	int status;

	in->options.nwitnessed = &nwitnessed;
	p = cli_open(in, &path, 1);
	in->options.nwitnessed = NULL;
	if (!p)
		return CLI_ERROR;
	c = counts_new(p);
	check_profile(&f, c);
	if (j)
		print_json(j, path, c, &f, nwitnessed);
	else if (out)
		print_text(out, path, c, &f, nwitnessed);
	status = f.n ? CLI_NEGATIVE : CLI_FINE;
	findings_release(&f);
	counts_free(c);
	profile_free(p);
	return status;
}

static int check_all(struct cli_inputs *in, char **paths, int npaths,
                     bool as_json, bool quiet)
{
	struct cli_output o;
	struct json j;
	int worst = CLI_FINE;

	cli_output_begin(&o, NULL);
	j = (struct json){.out = o.stream, .flat_below = 4};
	if (as_json)
		json_begin(&j, '[');
	for (int i = 0; i < npaths; i++) {
		int status = check_one(in, paths[i], as_json ? &j : NULL,
		                       quiet ? NULL : o.stream);

		if (status > worst)
			worst = status;
	}
	if (as_json)
		json_end(&j, ']');
	return cli_output_end(&o, worst);
}

int cmd_check(int argc, char **argv)
{
	struct request q = {0};
	int status;

	q.inputs.options.untrace = trace_counts_file;
	q.inputs.options.empty = true;
	if (!cli_parse(&syntax, argc, argv, &q, &status))
		goto done;
	if (q.json && q.quiet)
		status = cli_usage(argv[0], "--json and --quiet exclude each "
		                            "other");
	else if (optind == argc)
		status = cli_usage(argv[0], "no profile given");
	else
		status = check_all(&q.inputs, argv + optind, argc - optind,
		                   q.json, q.quiet);
done:
	cli_inputs_release(&q.inputs);
	return status;
}
