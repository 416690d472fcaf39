/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn writes: who wrote some memory of a recorded program, when and what.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "replay/changes.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/engine.h"
#include "replay/globals.h"
#include "replay/locals.h"
#include "replay/meter.h"
#include "replay/places.h"
#include "replay/session.h"
#include "replay/shadow.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn writes [OPTION...] --var NAME FILE\n"
        "       cairn writes [OPTION...] --addr ADDRESS[:SIZE] FILE\n\n"
        "Shows who wrote a variable or some memory of a recorded run, when "
        "(context and\ntick), where in the source, and what.\n\n"
        "  --var NAME       a global or static variable, or FILE:NAME, or "
        "A::NAME; or\n"
        "                   a part of one, as in list.items[3].key; of a "
        "library that\n"
        "                   was loaded several times, NAME@N of the Nth load; "
        "of several\n"
        "                   in one function, NAME@LINE\n"
        "  --addr A[:SIZE]  memory at this address; 8 bytes, if no SIZE is "
        "given\n"
        "  --last           the last write only, or the last --limit\n"
        "  --limit N        no more than N writes (1000; 0: all)\n"
        "  --json           as JSON\n" SESSION_HELP;

enum { OPT_VAR = SESSION_OTHERS, OPT_ADDR, OPT_LAST, OPT_LIMIT, OPT_JSON };

#define LIMIT 1000u
#define SIZE 8u                     /* of --addr */
#define SIZE_MAX_ ((size_t)1 << 30) /* of anything */
#define NPART 256u
#define NVALUE 128u
#define NBITS 8u /* bit-fields that are shown at once */

static const struct option options[] = {
        {"var", required_argument, NULL, OPT_VAR},
        {"addr", required_argument, NULL, OPT_ADDR},
        {"last", no_argument, NULL, OPT_LAST},
        {"limit", required_argument, NULL, OPT_LIMIT},
        {"json", no_argument, NULL, OPT_JSON},
        SESSION_OPTIONS,
        {0},
};

struct question {
	struct session_options session;
	const char *var;
	uint64_t addr, size; /* without var; size 0: neither */
	size_t limit;
	bool has_limit, is_last, is_json;
};

/* --- values --------------------------------------------------------------- */

static void format_bytes(char *text, size_t size, const unsigned char *p,
                         size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n && at + 6 < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%02x",
		                       i ? " " : "", p[i]);
	if (3 * n > at + 1)
		snprintf(text + at, size - at, " ..");
}

static unsigned __int128 get_unsigned(const unsigned char *p, size_t n)
{
	unsigned __int128 v = 0;

	memcpy(&v, p, n < sizeof(v) ? n : sizeof(v));
	return v;
}

static void format_unsigned(char *text, size_t size, unsigned __int128 v)
{
	char digits[40], *at = digits + sizeof(digits);

	*--at = '\0';
	do {
		*--at = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	snprintf(text, size, "%s", at);
}

static void format_signed(char *text, size_t size, const unsigned char *p,
                          size_t n)
{
	unsigned __int128 v = get_unsigned(p, n);
	unsigned __int128 sign = (unsigned __int128)1 << (8 * n - 1);

	if (v & sign) {
		*text++ = '-';
		size--;
		v = 2 * sign - v; /* 0 is 2^128 */
	}
	format_unsigned(text, size, v);
}

static void format_float(char *text, size_t size, const unsigned char *p,
                         size_t n)
{
	long double l = 0;
	double d;
	float f;

	if (n == sizeof(f)) {
		memcpy(&f, p, sizeof(f));
		snprintf(text, size, "%.9g", (double)f);
	} else if (n == sizeof(d)) {
		memcpy(&d, p, sizeof(d));
		snprintf(text, size, "%.17g", d);
	} else {
		memcpy(&l, p, 10);
		snprintf(text, size, "%.21Lg", l);
	}
}

static void format_value(char *text, size_t size, enum global_kind kind,
                         const unsigned char *p, size_t n)
{
	switch (kind) {
	case GLOBAL_SIGNED:
		format_signed(text, size, p, n);
		break;
	case GLOBAL_UNSIGNED:
		format_unsigned(text, size, get_unsigned(p, n));
		break;
	case GLOBAL_BOOL:
		snprintf(text, size, "%s", *p ? "true" : "false");
		break;
	case GLOBAL_POINTER:
		snprintf(text, size, "%#" PRIx64, (uint64_t)get_unsigned(p, n));
		break;
	case GLOBAL_FLOAT:
		format_float(text, size, p, n);
		break;
	case GLOBAL_BYTES:
		format_bytes(text, size, p, n);
		break;
	}
}

/* --- replaying ------------------------------------------------------------ */

static void note(void *context, const struct engine_write *w)
{
	changes_note(context, w, shadow_at(w->at));
}

static void note_number(void *context, uint64_t number, uint64_t own)
{
	changes_number(context, number, own);
}

static void listen(void *context, const struct engine_write *w)
{
	changes_add(context, w, shadow_at(w->at));
}

/* first: of the parts that the meter knows.  Returns an exit status. */
static int replay_once(struct session *s, struct changes *c, size_t first,
                       void (*told)(void *, const struct engine_write *))
{
	struct engine_result result;
	struct cairn_err err;
	int status = FINE;

	engine_listen_writes(c->at, c->size, told, c);
	engine_listen_numbers(told == note ? note_number : NULL, c);
	for (size_t i = 0; status == FINE && i < s->recording.ncontexts; i++) {
		const struct recording_context *context =
		        &s->recording.contexts[i];

		if (c->thread && context->thread != c->thread)
			continue;
		meter_begin(first + i);
		changes_begin(c, context->number);
		if (session_run(s, context, &result, &err) < 0)
			return command_fail(&err);
		c->is_cut |= result.end == ENGINE_LOG_ENDS;
		if (result.end == ENGINE_DIVERGED) {
			command_fail(&err);
			status = DIFFERENT;
		}
		if (told == note)
			changes_end(c);
	}
	return status;
}

/* A context that finds something does not know who wrote it: if there are
 * several, what they store and find is collected first. */
static int replay_all(struct session *s, struct changes *c)
{
	size_t n = s->recording.ncontexts;
	unsigned ntimes = n > 1 ? 2 : 1;
	int status = FINE;

	meter_plan_all(ntimes);
	if (ntimes > 1)
		status = replay_once(s, c, 0, note);
	changes_decide(c);
	if (status == FINE)
		status = replay_once(s, c, n * (ntimes - 1), listen);
	meter_close();
	changes_finish(c);
	return status;
}

/* --- showing -------------------------------------------------------------- */

/* What a change is, as it is shown. */
struct view {
	struct place at;
	char part[NPART], before[NVALUE], after[NVALUE];
};

static uint64_t get_bits(const struct global_bits *b, uint64_t offset,
                         const unsigned char *p)
{
	uint64_t first = b->first - 8 * offset, v = 0;

	for (unsigned i = 0; i < b->n; i++)
		v |= (uint64_t)(p[(first + i) / 8] >> (first + i) % 8 & 1) << i;
	return v;
}

static void format_bits(char *text, const struct global_bits *b, uint64_t v)
{
	size_t at = strlen(text);
	uint64_t sign = b->is_signed ? (uint64_t)1 << (b->n - 1) : 0;

	at += (size_t)snprintf(text + at, NVALUE - at, "%s", at ? ", " : "");
	if (at >= NVALUE)
		return;
	if (b->is_bool && b->n == 1)
		snprintf(text + at, NVALUE - at, "%s", v ? "true" : "false");
	else if (b->is_signed)
		snprintf(text + at, NVALUE - at, "%" PRId64,
		         (int64_t)((v ^ sign) - sign));
	else
		snprintf(text + at, NVALUE - at, "%" PRIu64, v);
}

/* The bit-field that was asked for. */
static void look_at_field(struct view *v, struct change *x,
                          const struct global_bits *b)
{
	v->part[0] = v->before[0] = v->after[0] = '\0';
	format_bits(v->before, b, get_bits(b, x->offset, change_bytes(x)));
	format_bits(v->after, b,
	            get_bits(b, x->offset, change_bytes(x) + x->n));
}

/* Bit-fields that are not what they were, by their names; of a store that
 * changed none, all that it stored. */
static void look_at_bits(struct view *v, struct change *x,
                         const struct global *g)
{
	struct global_bits bits[NBITS];
	size_t n = global_bit_fields(g, x->offset, x->n, bits, NBITS);
	const unsigned char *old = change_bytes(x), *new = old + x->n;
	bool has_change = !x->is_first && memcmp(old, new, x->n) != 0;

	if (!n || n > NBITS)
		return;
	v->part[0] = v->before[0] = v->after[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		uint64_t a = get_bits(&bits[i], x->offset, old);
		uint64_t b = get_bits(&bits[i], x->offset, new);
		size_t at = strlen(v->part);

		if (has_change && a == b)
			continue;
		snprintf(v->part + at, NPART - at, "%s%s", at ? "," : "",
		         bits[i].part);
		format_bits(v->before, &bits[i], a);
		format_bits(v->after, &bits[i], b);
	}
}

static void look(struct view *v, struct change *x, struct places *places,
                 const struct global *g)
{
	uint64_t offset = x->offset, n = x->n;
	enum global_kind kind =
	        global_scalar(g, &offset, &n, v->part, sizeof(v->part));

	v->at = x->site == ENGINE_NO_SITE
	                ? places_of_cell(places, x->cell)
	                : places_of_site(places, x->cell, x->site);
	if (offset != x->offset || n != x->n)
		kind = GLOBAL_BYTES; /* a part of a scalar */
	if (kind == GLOBAL_BYTES && (x->offset || x->n != g->size))
		snprintf(v->part, sizeof(v->part), "+%" PRIu64, x->offset);
	format_value(v->before, sizeof(v->before), kind, change_bytes(x), x->n);
	format_value(v->after, sizeof(v->after), kind, change_bytes(x) + x->n,
	             x->n);
	if (g->bits.n)
		look_at_field(v, x, &g->bits);
	else if (kind == GLOBAL_BYTES)
		look_at_bits(v, x, g);
}

static void print_change(const struct change *x, const struct view *v,
                         const char *name)
{
	text_print(stdout, "%3" PRIu32 " %10" PRIu64 "  %s%s: %s -> %s  ",
	           x->context, x->tick, name, v->part,
	           x->is_first ? "?" : v->before, v->after);
	if (x->is_outside && x->is_first)
		printf("found at ");
	else if (x->is_outside)
		printf("by code without marks or another thread, seen at ");
	if (v->at.file)
		text_print(stdout, "%s:%" PRIu32 " in %s", v->at.file,
		           v->at.line, v->at.function);
	else
		text_print(stdout, "%s",
		           v->at.function ? v->at.function
		                          : "code without marks");
	putchar('\n');
}

static void json_change(struct json *j, const struct change *x,
                        const struct view *v, const struct changes *c)
{
	json_begin(j, '{');
	json_key(j, "context");
	json_u64(j, x->context);
	if (c->thread) {
		json_key(j, "thread");
		json_u64(j, c->thread);
	}
	json_key(j, "tick");
	json_u64(j, x->tick);
	json_key(j, "address");
	json_u64(j, c->at + x->offset);
	json_key(j, "size");
	json_u64(j, x->n);
	json_key(j, "part");
	json_string(j, v->part);
	json_key(j, "old");
	json_string(j, x->is_first ? NULL : v->before);
	json_key(j, "new");
	json_string(j, v->after);
	json_key(j, "how");
	json_string(j, x->is_outside ? "outside"
	               : x->is_copy  ? "copy"
	                             : "store");
	json_key(j, "function");
	json_string(j, v->at.function);
	json_key(j, "file");
	json_string(j, v->at.file);
	json_key(j, "line");
	json_count(j, v->at.line, v->at.line);
	json_end(j, '}');
}

/* c: n lists, one for each thread that has a variable of its own. */
static void show_json(const struct changes *c, size_t n, struct places *places,
                      const struct global *g)
{
	struct json j = {.out = stdout, .flat_below = 2};
	uint64_t total = 0, nsame = 0, ndoubtful = 0;
	bool is_cut = false;
	struct view v;

	for (size_t i = 0; i < n; i++) {
		total += c[i].total;
		nsame += c[i].nsame;
		ndoubtful += c[i].ndoubtful;
		is_cut |= c[i].is_cut;
	}
	json_begin(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	if (!g->local) {
		json_key(&j, "address");
		json_u64(&j, g->address);
	}
	json_key(&j, "size");
	json_u64(&j, g->size);
	json_key(&j, "total");
	json_u64(&j, total);
	if (g->bits.n) {
		json_key(&j, "unchanged");
		json_u64(&j, nsame);
	}
	json_key(&j, "doubtful");
	json_u64(&j, ndoubtful);
	json_key(&j, "cut");
	json_bool(&j, is_cut);
	json_key(&j, "writes");
	json_begin(&j, '[');
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < c[k].n; i++) {
			look(&v, &c[k].items[i], places, g);
			json_change(&j, &c[k].items[i], &v, &c[k]);
		}
	json_end(&j, ']');
	json_end(&j, '}');
}

static void add_thread(struct view *v, uint32_t thread)
{
	size_t at = strlen(v->part);

	snprintf(v->part + at, NPART - at, " of thread %" PRIu32, thread);
}

static void show_text(const struct changes *c, struct places *places,
                      const struct global *g, const char *name)
{
	struct view v;

	if (c->keeps_last && c->n < c->total)
		printf("%" PRIu64 " writes before these\n", c->total - c->n);
	for (size_t i = 0; i < c->n; i++) {
		look(&v, &c->items[i], places, g);
		if (c->thread)
			add_thread(&v, c->thread);
		print_change(&c->items[i], &v, name);
	}
	if (!c->keeps_last && c->n < c->total)
		printf("%" PRIu64 " more writes; --limit 0 shows all\n",
		       c->total - c->n);
	if (c->nsame)
		printf("%" PRIu64 " stores to its bytes left it as it was\n",
		       c->nsame);
	if (c->ndoubtful)
		printf("up to %" PRIu64 " writes just before a handler jumped "
		       "away, or a thread was stopped, are not listed\n",
		       c->ndoubtful);
	if (c->is_cut)
		printf("the log breaks off: what was written then is not "
		       "known\n");
	if (!c->total && !c->ndoubtful && !c->is_cut)
		text_print(stdout,
		           "nobody wrote %" PRIu64 " bytes at %#" PRIx64 "\n",
		           g->size, g->address);
}

/* --- the question --------------------------------------------------------- */

static int find(const struct question *q, const struct session *s,
                struct global *g, struct cairn_err *err)
{
	*g = (struct global){.address = q->addr, .size = q->size};
	if (q->var)
		CAIRN_TRY(global_find(g, &s->program, q->var, err));
	if (!g->size || g->size > SIZE_MAX_)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "%" PRIu64 " bytes cannot be watched; name a "
		                  "part of them",
		                  g->size);
	return 0;
}

static void widen(const void *variable, uint64_t *offset, uint64_t *n)
{
	const struct global *g = variable;
	char part[NPART];

	if (g->bits.n) {
		*offset = 0;
		*n = g->size;
	} else {
		global_scalar(g, offset, n, part, sizeof(part));
	}
}

/* The bits of a bit-field, in the bytes that have it. */
static void fill_mask(const struct global_bits *b, unsigned char *mask)
{
	for (uint64_t i = b->first; i < b->first + b->n; i++)
		mask[i / 8] |= (unsigned char)(1 << i % 8);
}

/* Of one variable; of thread-local ones, that of a thread. */
static int collect(const struct question *q, struct session *s,
                   const struct global *g, const struct local_place *of,
                   const unsigned char *mask, struct changes *c)
{
	*c = (struct changes){
	        .at = of ? of->address + g->address : g->address,
	        .thread = of ? of->thread : 0,
	        .size = (size_t)g->size,
	        .limit = q->limit,
	        .keeps_last = q->is_last,
	        .initial = g->initial,
	        .is_known = g->is_known,
	        .widen = widen,
	        .context_of_widen = g,
	        .mask = g->bits.n ? mask : NULL,
	};
	changes_init(c);
	return replay_all(s, c);
}

static int watch(const struct question *q, struct session *s,
                 const struct global *g, const struct locals *l)
{
	size_t n = g->local ? l->n : 1;
	struct changes *c = xcalloc(n + 1, sizeof(*c));
	struct places *places = places_new(&s->program);
	unsigned char mask[16] = {0};
	int status = FINE;

	fill_mask(&g->bits, mask);
	for (size_t i = 0; i < n && status == FINE; i++)
		status = collect(q, s, g, g->local ? &l->places[i] : NULL, mask,
		                 &c[i]);
	if (status != ERROR && q->is_json)
		show_json(c, n, places, g);
	for (size_t i = 0; i < n && status != ERROR && !q->is_json; i++) {
		char *name = q->var ? xstrdup(q->var)
		                    : xasprintf("%#" PRIx64, g->address);

		if (g->local && !c[i].total)
			text_print(stdout,
			           "nobody wrote %s of thread %" PRIu32 "\n",
			           name, c[i].thread);
		else
			show_text(&c[i], places, g, name);
		free(name);
	}
	if (!n && !q->is_json)
		text_print(stdout, "no code with marks named %s\n", q->var);
	for (size_t i = 0; i < n; i++)
		changes_release(&c[i]);
	free(c);
	places_free(places);
	return status;
}

static int answer(struct question *q)
{
	struct session s;
	struct global g;
	struct locals l = {0};
	struct cairn_err err;
	int status = FINE, flushed;

	locals_prepare(&l, &q->session.code);
	if (session_open(&s, &q->session, &err) < 0)
		return command_fail(&err);
	s.needs_whole = "who wrote before that is not known";
	s.needs_order = true;
	if (find(q, &s, &g, &err) < 0)
		status = command_fail(&err);
	l.g = &g;
	if (status == FINE && g.local)
		status = locals_find(&l, &s);
	if (status == FINE)
		status = watch(q, &s, &g, &l);
	locals_release(&l);
	global_release(&g);
	session_close(&s);
	flushed = command_flush();
	return status == FINE ? flushed : status;
}

static bool take_number(const char *text, char end, uint64_t *v,
                        const char **rest)
{
	char *stop;

	errno = 0;
	*v = strtoull(text, &stop, 0);
	*rest = stop;
	return !errno && stop != text && (!*stop || *stop == end);
}

static bool take_address(struct question *q, const char *text)
{
	const char *rest;

	q->size = SIZE;
	return take_number(text, ':', &q->addr, &rest) &&
	       (!*rest ||
	        (take_number(rest + 1, '\0', &q->size, &rest) && q->size));
}

static bool take_option(void *question, int option)
{
	struct question *q = question;
	const char *rest;
	uint64_t n;

	switch (option) {
	case OPT_VAR:
		q->var = optarg;
		return true;
	case OPT_ADDR:
		if (take_address(q, optarg))
			return true;
		command_usage("writes", "--addr is ADDRESS or ADDRESS:SIZE");
		return false;
	case OPT_LIMIT:
		q->has_limit = true;
		if (take_number(optarg, '\0', &n, &rest)) {
			q->limit = (size_t)n;
			return true;
		}
		command_usage("writes", "--limit is a number");
		return false;
	case OPT_LAST:
		q->is_last = true;
		return true;
	case OPT_JSON:
		q->is_json = true;
		return true;
	default:
		return false;
	}
}

static const struct arguments arguments = {
        .command = "writes",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name one file",
        .noperands = 1,
};

int command_writes(int argc, char **argv)
{
	struct question q = {0};
	int status = arguments_read(&arguments, argc, argv, &q.session, &q);

	if (status != ARGUMENTS_FINE)
		return status;
	if (!q.var == !q.size)
		return command_usage("writes", "give --var or --addr");
	if (!q.has_limit)
		q.limit = q.is_last ? 1 : LIMIT;
	q.session.file = argv[optind];
	q.session.code.shows_stores = true;
	status = answer(&q);
	arguments_release(&q.session);
	return status;
}
