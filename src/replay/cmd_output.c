/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn output: what a recorded program wrote to stdout and stderr, and which
 * places in it did.
 */
#include "abi/file.h"
#include "abi/record.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/engine.h"
#include "replay/pieces.h"
#include "replay/places.h"
#include "replay/session.h"
#include "replay/spans.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
        "usage: cairn output [OPTION...] FILE\n\n"
        "Shows what a recorded run wrote to stdout and stderr: each piece with "
        "the\ncontext and tick of the call that wrote it, and its place in the "
        "source.\n\n"
        "  --fd N           only of stdout (1) or stderr (2)\n"
        "  --raw            only the bytes of stdout, or of --fd, as they came "
        "out\n"
        "  --from TICK      only from this tick on\n"
        "  --to TICK        only up to this tick\n"
        "  --json           as JSON\n" SESSION_HELP;

enum { OPT_FD = SESSION_OTHERS, OPT_RAW, OPT_JSON, OPT_FROM, OPT_TO };

static const struct option options[] = {
        {"fd", required_argument, NULL, OPT_FD},
        {"raw", no_argument, NULL, OPT_RAW},
        {"json", no_argument, NULL, OPT_JSON},
        {"from", required_argument, NULL, OPT_FROM},
        {"to", required_argument, NULL, OPT_TO},
        SESSION_OPTIONS,
        {0},
};

struct question {
	struct session_options session;
	int fd; /* 0: both */
	bool is_raw, is_json;
	uint64_t from, to; /* ticks */
};

/* Whoever is asked. */
struct listener {
	const struct question *question;
	struct spans spans;
	struct pieces pieces;
	uint32_t context;
};

static void listen(void *context, const struct engine_output *o)
{
	struct listener *l = context;

	if (!o->is_inherited && o->tick >= l->question->from &&
	    o->tick <= l->question->to)
		pieces_add(&l->pieces, l->context, o);
}

static void replay_span(void *listener, const struct span *s,
                        struct span_result *r)
{
	struct listener *l = listener;
	struct engine_result result;

	l->context = s->context->number;
	r->status = FINE;
	if (spans_replay(&l->spans, s, &result, &r->err) < 0)
		r->status = ERROR;
	else if (result.end == ENGINE_DIVERGED)
		r->status = DIFFERENT;
}

static int take_span(void *listener, const struct span *s,
                     const struct span_result *r, FILE *out)
{
	(void)listener;
	(void)s;
	(void)out;
	if (r->status != FINE)
		command_fail(&r->err);
	return r->status;
}

/* Returns an exit status.  What there is up to a divergence is kept.  Pieces
 * are collected by one process. */
static int replay_all(struct session *s, struct listener *l)
{
	const struct spans_wish wish = {
	        .from = l->question->from,
	        .last = l->question->to,
	        .njobs = 1,
	        .no_checkpoints = s->options->no_cache,
	};
	const struct spans_work work = {replay_span, take_span, l};
	int status;

	engine_listen_output(listen, l);
	spans_plan(&l->spans, s, &wish);
	status = spans_run(&l->spans, &work);
	spans_release(&l->spans);
	if (status == FINE)
		pieces_sort(&l->pieces);
	return status;
}

/* What was in libc's buffer when the process was killed never came out, unless
 * it was lines, of which nobody knows. */
static void take_pending(const struct question *q, const struct session *s,
                         struct pieces *p)
{
	const struct container *c = &s->recording.s.c;

	if (c->state != CAIRN_STATE_OPEN || q->to != UINT64_MAX)
		return;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		uint32_t word = get_le32(c->data + CAIRN_HDR_PENDING +
		                         4 * (size_t)(fd - STDOUT_FILENO));
		uint32_t n = word & ~CAIRN_PENDING_PERHAPS;

		if (n && n == word)
			pieces_kill(p, fd, n);
		else if (n && (!q->fd || q->fd == fd))
			text_print(stderr,
			           "cairn: %s: the program was killed, and the "
			           "last %" PRIu32
			           " bytes of std%s may not have "
			           "been written out\n",
			           q->session.file, n,
			           fd == STDOUT_FILENO ? "out" : "err");
	}
}

/* --- showing -------------------------------------------------------------- */

static void print_raw(const struct pieces *p, int fd)
{
	size_t n;
	unsigned char *all = pieces_join(p, fd ? fd : STDOUT_FILENO, &n);

	fwrite(all, 1, n, stdout);
	free(all);
}

/* As in a string of C. */
static void print_bytes(const unsigned char *bytes, size_t n)
{
	static const char special[] = "\n\t\r\"\\", letters[] = "ntr\"\\";

	putchar('"');
	for (size_t i = 0; i < n; i++) {
		const char *at = bytes[i] ? strchr(special, bytes[i]) : NULL;
		size_t k = text_character((const char *)bytes + i);

		if (at)
			printf("\\%c", letters[at - special]);
		else if (!k || k > n - i)
			printf("\\%03o", bytes[i]);
		else
			putchar(bytes[i]);
		for (; !at && k > 1 && k <= n - i; k--)
			putchar(bytes[++i]);
	}
	putchar('"');
}

static void print_piece(const struct pieces *p, const struct piece *x,
                        const struct place *at)
{
	text_print(stdout, "%3" PRIu32 " %10" PRIu64 "  %s  ", x->context,
	           x->tick, x->fd == STDOUT_FILENO ? "stdout" : "stderr");
	if (at->file)
		text_print(stdout, "%s:%" PRIu32 " in %s", at->file, at->line,
		           at->function);
	else if (x->context)
		text_print(stdout, "%s",
		           at->function ? at->function : "code without marks");
	else
		printf("SIGKILL");
	text_print(stdout, "%s  ",
	           x->how & CAIRN_OUT_LATE ? ", or before" : "");
	if (x->n)
		print_bytes(p->bytes + x->at, x->n);
	else
		printf("the end: %" PRIu64 " bytes were never written out",
		       x->pending);
	putchar('\n');
}

/* Is it text that a string of JSON can have as it is? */
static bool is_text(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0, k; i < n; i += k) {
		k = text_utf8((const char *)bytes + i);
		if (!bytes[i] || !k || k > n - i)
			return false;
	}
	return true;
}

static void json_bytes(struct json *j, const unsigned char *bytes, size_t n)
{
	bool is_fine = is_text(bytes, n);
	char *text = xmalloc(2 * n + 1);

	for (size_t i = 0; i < n; i++)
		if (is_fine)
			text[i] = (char)bytes[i];
		else
			snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[is_fine ? n : 2 * n] = '\0';
	json_key(j, "text");
	json_string(j, is_fine ? text : NULL);
	json_key(j, "hex");
	json_string(j, is_fine ? NULL : text);
	free(text);
}

static void json_piece(struct json *j, const struct pieces *p,
                       const struct piece *x, const struct place *at)
{
	json_begin(j, '{');
	json_key(j, "context");
	json_u64(j, x->context);
	json_key(j, "tick");
	json_u64(j, x->tick);
	json_key(j, "fd");
	json_u64(j, (uint64_t)x->fd);
	json_key(j, "function");
	json_string(j, at->function);
	json_key(j, "file");
	json_string(j, at->file);
	json_key(j, "line");
	json_count(j, at->line, at->line);
	json_key(j, "late");
	json_bool(j, x->how & CAIRN_OUT_LATE);
	json_key(j, "pending");
	json_u64(j, x->pending);
	json_bytes(j, p->bytes + x->at, x->n);
	json_end(j, '}');
}

static void show(const struct question *q, const struct session *s,
                 struct pieces *p)
{
	struct places *places = places_new(&s->program);
	struct json j = {.out = stdout, .flat_below = 2};

	if (q->is_json) {
		json_begin(&j, '{');
		json_key(&j, "version");
		json_u64(&j, 1);
		json_key(&j, "pieces");
		json_begin(&j, '[');
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *x = &p->items[i];
		struct place at = places_of_site(places, x->cell, x->site);

		if (q->fd && x->fd != q->fd)
			continue;
		if (q->is_json)
			json_piece(&j, p, x, &at);
		else
			print_piece(p, x, &at);
	}
	if (q->is_json) {
		json_end(&j, ']');
		json_end(&j, '}');
	}
	places_free(places);
}

static int answer(const struct question *q)
{
	struct listener l = {.question = q};
	struct session s;
	struct cairn_err err;
	int status, flushed;

	if (session_open(&s, &q->session, &err) < 0)
		return command_fail(&err);
	s.needs_order = true;
	status = replay_all(&s, &l);
	if (status == FINE)
		take_pending(q, &s, &l.pieces);
	if (!l.pieces.n && status == FINE && !q->from && q->to == UINT64_MAX)
		text_print(
		        stderr,
		        "cairn: %s: has no output; the program wrote nothing "
		        "to stdout and stderr, or was linked with an older "
		        "cairn\n",
		        q->session.file);
	if (status != ERROR && q->is_raw)
		print_raw(&l.pieces, q->fd);
	else if (status != ERROR)
		show(q, &s, &l.pieces);
	pieces_release(&l.pieces);
	session_close(&s);
	flushed = command_flush();
	return status == FINE ? flushed : status;
}

/* False: it was used wrongly, which was said. */
static bool take_option(void *question, int option)
{
	struct question *q = question;
	switch (option) {
	case OPT_FD:
		q->fd = !strcmp(optarg, "1")   ? STDOUT_FILENO
		        : !strcmp(optarg, "2") ? STDERR_FILENO
		                               : 0;
		if (!q->fd)
			command_usage("output", "--fd is 1 or 2");
		return q->fd;
	case OPT_RAW:
		q->is_raw = q->session.outlets.is_raw = true;
		return true;
	case OPT_JSON:
		q->is_json = true;
		return true;
	case OPT_FROM:
		return command_tick("output", "--from", optarg, &q->from);
	case OPT_TO:
		return command_tick("output", "--to", optarg, &q->to);
	default:
		return false;
	}
}

static const struct arguments arguments = {
        .command = "output",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name one file",
        .noperands = 1,
};

int command_output(int argc, char **argv)
{
	struct question q = {.to = UINT64_MAX};
	int status = arguments_read(&arguments, argc, argv, &q.session, &q);

	if (status != ARGUMENTS_FINE)
		return status;
	if (q.is_raw && q.is_json)
		return command_usage("output", "--raw is no JSON");
	q.session.file = argv[optind];
	q.session.code.saves = !q.session.no_cache;
	status = answer(&q);
	arguments_release(&q.session);
	return status;
}
