/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn tests: from one profile of paths per test, which tests add nothing,
 * which suffice, in which order to run them, and what failed ones have in
 * common.
 */
#include "cli/cli.h"

#include "analysis/trace_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/regular.h"
#include "cli/html.h"
#include "cli/trial.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn tests [OPTION...] TEST...\n\n"
        "Each TEST is the profile of paths of one test, all of one build; "
        "cairn merge\nmakes one of a test with several processes.  Shows which "
        "tests add no path, the\nfewest tests that take all paths, and in "
        "which order to run them.\n\n"
        "  --diff FILE      the order for this change (diff -u, git diff): "
        "paths through\n                   changed lines first\n"
        "  --patched        the profiles are of the code with the change\n"
        "  --failed LIST    these tests failed (comma-separated, may be "
        "repeated; names\n                   of profiles, directory and .cairn "
        "may be left off): lines and\n                   paths that go with "
        "failure\n"
        "  --json           everything, as JSON\n"
        "  --html FILE      write a page with tests, lines, paths, source "
        "and CFGs\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --top N          rows of a table (20, on a page 200; 0: all)\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20
/* Steps of the search for the fewest tests: about a second. */
#define COVER_LIMIT 200000

enum {
	OPT_DIFF = CLI_OPT_OWN,
	OPT_PATCHED,
	OPT_FAILED,
	OPT_TOP,
	OPT_NO_DEMANGLE,
	OPT_STABLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        {"diff", required_argument, NULL, OPT_DIFF},
        {"patched", no_argument, NULL, OPT_PATCHED},
        {"failed", required_argument, NULL, OPT_FAILED},
        CLI_JSON_OPTION,
        CLI_HTML_OPTION,
        CLI_OUTPUT_OPTION,
        {"top", required_argument, NULL, OPT_TOP},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {"stable", no_argument, NULL, OPT_STABLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct report_options report;
	struct trial trial;
	const char **failed; /* as they were given */
	size_t nfailed, failed_cap;
	bool patched;
	struct cli_form form;
};

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_DIFF:
		if (q->trial.diff)
			return cli_usage(command, "--diff is given twice");
		q->trial.diff = optarg;
		return CLI_FINE;
	case OPT_PATCHED:
		q->patched = true;
		return CLI_FINE;
	case OPT_FAILED:
		VEC_RESERVE(q->failed, q->nfailed, q->failed_cap);
		q->failed[q->nfailed++] = optarg;
		return CLI_FINE;
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->trial.top);
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

#define EXTENSION ".cairn"
/* Tests that an error names. */
#define SHOWN_TESTS 10

/* How a name of --failed and the name of a test's profile agree. */
enum likeness { LIKE_NOTHING, LIKE_NAME, LIKE_FILE };

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Are they equal, or would they be with the extension? */
static bool is_name(const char *name, const char *of)
{
	size_t n = strlen(name);

	return !strncmp(name, of, n) && (!of[n] || !strcmp(of + n, EXTENSION));
}

static enum likeness compare(const char *name, char *test)
{
	char *whole;
	bool same;

	if (!*name)
		return LIKE_NOTHING;
	if (cli_is_among(name, &test, 1))
		return LIKE_FILE;
	whole = xasprintf("%s%s", name, EXTENSION);
	same = cli_is_among(whole, &test, 1);
	free(whole);
	return same || is_name(name, test) || is_name(name, base(test))
	               ? LIKE_NAME
	               : LIKE_NOTHING;
}

/* Finds the test that a name means: that of the file if there is one.  Returns
 * how many it may mean, and the first of them in *found. */
static int find_test(const char *name, char **tests, int n, int *found)
{
	int nfound = 0;

	for (*found = 0; *found < n; ++*found)
		if (!strcmp(name, tests[*found]))
			return 1;
	for (int i = 0; i < n; i++) {
		enum likeness how = compare(name, tests[i]);

		if (how == LIKE_FILE) {
			*found = i;
			return 1;
		}
		if (how == LIKE_NAME && !nfound++)
			*found = i;
	}
	return nfound;
}

/* Names of tests, those that `name` may mean or all, for the caller to free. */
static char *list_tests(const char *name, char **tests, int n)
{
	char *text = xstrdup("");
	int shown = 0, more = 0;

	for (int i = 0; i < n; i++) {
		char *longer;

		if (name && compare(name, tests[i]) == LIKE_NOTHING)
			continue;
		if (shown == SHOWN_TESTS) {
			more++;
			continue;
		}
		longer = xasprintf("%s%s%s", text, shown++ ? ", " : "",
		                   tests[i]);
		free(text);
		text = longer;
	}
	if (more) {
		char *longer = xasprintf("%s and %d more", text, more);

		free(text);
		text = longer;
	}
	return text;
}

/* Marks the test with this name; an error if there is none, or several. */
static int mark_failed(struct request *q, const char *name, char **argv,
                       char **tests, int n)
{
	int test, nfound = find_test(name, tests, n, &test), status;
	char *list;

	if (nfound == 1) {
		q->trial.nfailed += !q->trial.failed[test];
		q->trial.failed[test] = true;
		return CLI_FINE;
	}
	list = list_tests(nfound ? name : NULL, tests, n);
	if (nfound)
		status = cli_usage(argv[0],
		                   "--failed %s: may mean each of %s; give the "
		                   "whole name",
		                   name, list);
	else
		status = cli_usage(argv[0],
		                   "--failed %s: is none of the tests; they "
		                   "are %s",
		                   name, list);
	free(list);
	return status;
}

/* A list, or one name with commas in it. */
static int mark_list(struct request *q, const char *list, char **argv,
                     char **tests, int n)
{
	char *copy, *next, *name;
	int status = CLI_FINE, test;

	if (find_test(list, tests, n, &test) == 1)
		return mark_failed(q, list, argv, tests, n);
	copy = next = xstrdup(list);
	while (!status && (name = strsep(&next, ",")))
		status = mark_failed(q, name, argv, tests, n);
	free(copy);
	return status;
}

static int check_options(struct request *q, char **argv, int argc)
{
	char **tests = argv + optind;
	int n = argc - optind, status;

	status = cli_check_form(argv[0], &q->form);
	if (status)
		return status;
	if (!n)
		return cli_usage(argv[0], "no test given");
	if (q->patched && !q->trial.diff)
		return cli_usage(argv[0], "--patched goes with --diff");
	status = cli_check_output(argv[0], &q->form, tests, n);
	q->trial.failed = xcalloc((size_t)n, sizeof(*q->trial.failed));
	for (size_t i = 0; !status && i < q->nfailed; i++)
		status = mark_list(q, q->failed[i], argv, tests, n);
	return status;
}

/* Reads a whole text file; NULL, having said why, if that fails. */
static char *read_text(const char *path, size_t *size)
{
	struct cairn_err err;
	FILE *f = named_stream(path, "name a text file", &err);
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f) {
		cli_fail(&err);
		return NULL;
	}
	errno = 0;
	n = getdelim(&text, &cap, '\0', f);
	if (n < 0 && ferror(f)) {
		cairn_fail(&err, CAIRN_E_SYSTEM, "%s: cannot read: %s", path,
		           strerror(errno));
		cli_fail(&err);
		free(text);
		text = NULL;
	} else if (n < 0) {
		free(text);
		text = xstrdup("");
		n = 0;
	}
	if (f != stdin)
		fclose(f);
	*size = (size_t)(n < 0 ? 0 : n);
	return text;
}

static int read_diff(struct request *q)
{
	struct trial *t = &q->trial;
	struct cairn_err err;
	size_t size;
	char *text;
	int rc;

	if (!t->diff)
		return CLI_FINE;
	text = read_text(t->diff, &size);
	if (!text)
		return CLI_ERROR;
	rc = patch_parse(&t->patch, text, size, q->patched, t->diff, &err);
	free(text);
	return rc ? cli_fail(&err) : CLI_FINE;
}

static int read_tests(struct request *q, char **paths, int npaths)
{
	struct trial *t = &q->trial;

	t->files = paths;
	suite_init(&t->suite, &t->all.catalog, (size_t)npaths);
	for (int i = 0; i < npaths; i++) {
		struct profile *p = cli_open(&q->inputs, paths + i, 1);
		struct catalog c;

		if (!p)
			return CLI_ERROR;
		catalog_init(&c, p);
		suite_add(&t->suite, (size_t)i, &c);
		side_add_file(&t->all, (size_t)i, &c);
		catalog_release(&c);
		profile_free(p);
	}
	suite_finish(&t->suite);
	return CLI_FINE;
}

static int by_score(const void *a, const void *b, void *context)
{
	const struct trial *t = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct suite_score *p = &t->scores[x], *q = &t->scores[y];

	if (p->ochiai < q->ochiai || p->ochiai > q->ochiai)
		return p->ochiai > q->ochiai ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Leaves out lines of system headers, as cairn report --lines does. */
static void drop_system_lines(struct trial *t)
{
	bool *is_system = xcalloc((size_t)t->lines.files.n + 1, sizeof(bool));
	size_t kept = 0;

	for (uint32_t i = 0; i < t->lines.files.n; i++)
		is_system[i] = report_is_system_file(t->lines.files.items[i]);
	for (size_t i = 0; i < t->lines.n; i++) {
		const struct suite_line *l = &t->lines.items[i];

		if (is_system[l->file])
			t->nsystem += l->own.nfailed > 0;
		else
			t->lines.items[kept++] = *l;
	}
	t->lines.n = kept;
	free(is_system);
}

static void rank_suspects(struct trial *t)
{
	size_t n = t->suite.npaths;

	t->scores = xcalloc(n + 1, sizeof(*t->scores));
	t->suspects = xcalloc(n + 1, sizeof(*t->suspects));
	suite_score(&t->suite, t->failed, t->scores);
	suite_rank_lines(&t->suite, t->failed, t->scores, &t->lines);
	drop_system_lines(t);
	for (size_t i = 0; i < n; i++)
		if (t->scores[i].nfailed)
			t->suspects[t->nsuspects++] = i;
	if (t->nsuspects)
		qsort_r(t->suspects, t->nsuspects, sizeof(*t->suspects),
		        by_score, t);
}

static void analyse(struct trial *t)
{
	size_t n = t->suite.npaths;

	suite_cover(&t->suite, COVER_LIMIT, &t->cover);
	if (t->diff) {
		t->is_changed = xcalloc(n + 1, sizeof(*t->is_changed));
		t->used =
		        xcalloc((size_t)t->patch.files.n + 1, sizeof(*t->used));
		suite_mark(&t->suite, &t->patch, t->is_changed, t->used);
	}
	t->order = xcalloc(t->suite.ntests, sizeof(*t->order));
	suite_order(&t->suite, t->is_changed, t->order);
	if (t->nfailed)
		rank_suspects(t);
}

static void trial_release(struct trial *t)
{
	suite_lines_release(&t->lines);
	cover_release(&t->cover);
	suite_release(&t->suite);
	patch_release(&t->patch);
	free(t->order);
	free(t->is_changed);
	free(t->used);
	free(t->failed);
	free(t->scores);
	free(t->suspects);
	side_release(&t->all);
}

static int write_trial(struct request *q)
{
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.html)
		html_trial(&q->trial, o.stream);
	else if (q->form.json)
		trial_json(&q->trial, o.stream);
	else
		trial_text(&q->trial, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

static int show_tests(struct request *q, char **paths, int npaths)
{
	int status = read_diff(q);

	if (!status)
		status = side_open(&q->trial.all, &q->inputs, paths, npaths,
		                   &q->report);
	if (!status)
		status = read_tests(q, paths, npaths);
	if (!status) {
		analyse(&q->trial);
		status = write_trial(q);
	}
	return status;
}

int cmd_tests(int argc, char **argv)
{
	struct request q = {0};
	int status;

	q.inputs.options.untrace = trace_counts_file;
	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!q.trial.top)
			q.trial.top = q.form.html ? HTML_TOP : DEFAULT_TOP;
		if (!status)
			status = show_tests(&q, argv + optind, argc - optind);
	}
	trial_release(&q.trial);
	free(q.failed);
	cli_inputs_release(&q.inputs);
	return status;
}
