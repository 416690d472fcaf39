/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn trim: keeps the newest part of a recording, with a checkpoint to begin
 * at.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/session.h"
#include "replay/trim.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn trim [OPTION...] --last SIZE FILE\n\n"
        "Keeps the newest part of a recording: replays it up to a moment "
        "with no more\nthan SIZE bytes of its log behind, and writes a "
        "recording that begins there,\nwith all that the program had then.  "
        "What reads recordings begins at that\nmoment; what needs the "
        "beginning says so.\n\n"
        "  --last SIZE      bytes of the log, as they are in the file: 64M, "
        "500K\n"
        "  -o OUT           write OUT instead of FILE\n" SESSION_HELP;

enum { OPT_LAST = SESSION_OTHERS };

static const struct option options[] = {
        {"last", required_argument, NULL, OPT_LAST},
        {"output", required_argument, NULL, 'o'},
        SESSION_OPTIONS,
        {0},
};

struct question {
	struct session_options session;
	const char *out;
	uint64_t size; /* 0: not said */
};

/* A number with K, M or G behind it; false: it is none. */
static bool take_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	char *end;
	unsigned long long n;
	const char *unit;

	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit + 1 - units);

		if (n > UINT64_MAX >> shift)
			return false;
		n <<= shift;
		end++;
	}
	*size = n;
	return *text >= '0' && *text <= '9' && !*end && !errno && n;
}

static bool take_option(void *question, int option)
{
	struct question *q = question;

	switch (option) {
	case OPT_LAST:
		if (take_size(optarg, &q->size))
			return true;
		command_usage("trim", "--last needs a size, as 64M");
		return false;
	case 'o':
		q->out = optarg;
		return true;
	default:
		return false;
	}
}

static const struct arguments arguments = {
        .command = "trim",
        .help = help,
        .options = options,
        .shorts = ":hqo:",
        .take = take_option,
        .operands = "name one file",
        .noperands = 1,
};

static void say(const struct trim *t, const char *out)
{
	const struct recording *r = &t->session->recording;
	size_t n = 0, ngone = 0;

	for (size_t i = 0; i < r->ncontexts; i++) {
		n += t->cuts[i].bytes != NULL;
		ngone += t->cuts[i].is_gone;
	}
	text_print(stdout,
	           "%s: kept %" PRIu64 " of %" PRIu64 " bytes of the log", out,
	           t->nkept, t->nlog);
	if (n == 1 && r->ncontexts == 1)
		printf(", from tick %" PRIu64 " on", t->cuts[0].base.tick);
	else if (n)
		printf(", %zu of %zu contexts from a checkpoint on", n,
		       r->ncontexts);
	if (ngone)
		printf(", %zu that had ended are gone", ngone);
	printf("\n");
}

static int trim(const struct question *q, struct session *s)
{
	struct cairn_err err;
	struct trim t;
	int rc = trim_make(&t, s, q->size, &err);

	if (rc < 0)
		return command_fail(&err);
	rc = trim_write(&t, q->out, &err);
	if (rc == 0)
		say(&t, q->out);
	trim_release(&t);
	return rc < 0 ? command_fail(&err) : command_flush();
}

int command_trim(int argc, char **argv)
{
	struct question q = {0};
	struct cairn_err err;
	struct session s;
	int status = arguments_read(&arguments, argc, argv, &q.session, &q);

	if (status != ARGUMENTS_FINE)
		return status;
	if (!q.size)
		return command_usage("trim", "say how much, by --last SIZE");
	q.session.file = argv[optind];
	if (!q.out)
		q.out = q.session.file;
	q.session.code.saves = q.session.code.notes_seen = true;
	if (session_wall_in(&q.session, q.out, &err) < 0 ||
	    session_open(&s, &q.session, &err) < 0) {
		status = command_fail(&err);
	} else {
		status = trim(&q, &s);
		session_close(&s);
	}
	arguments_release(&q.session);
	return status;
}
