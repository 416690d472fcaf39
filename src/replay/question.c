/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked at a line: finds the line in the units of a program, and
 * answers whenever replay code comes by.
 *
 * Memory is what the context has read or written itself, so far; before that,
 * what the files of the program have there.  Where a thread-local variable is,
 * is known once the context has used it.
 *
 * Cost: to look at the units that name the file; per answer, that of the terms.
 */
#include "replay/question.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "format/image.h"
#include "replay/command.h"
#include "replay/engine.h"
#include "replay/meter.h"
#include "replay/shadow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_ID ((uint64_t)1 << 32) /* of what places tell */

/* --- options ------------------------------------------------------------- */

static bool parse_count(const struct question_options *o, const char *name,
                        const char *text, uint64_t max, uint64_t *v)
{
	char what[96], *end;

	errno = 0;
	*v = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *v && *v <= max)
		return true;
	snprintf(what, sizeof(what), "%s needs a number from 1 on, not %.32s",
	         name, text);
	command_usage(o->command, what);
	return false;
}

bool question_option(struct question_options *o, int option,
                     const char *argument)
{
	uint64_t v;
	bool is_fine;

	switch (option) {
	case QUESTION_AT:
		o->at = argument;
		return true;
	case QUESTION_JSON:
		o->is_json = true;
		return true;
	case QUESTION_LIMIT:
		return parse_count(o, "--limit", argument, UINT64_MAX,
		                   &o->limit);
	case QUESTION_CONTEXT:
		is_fine = parse_count(o, "--context", argument, UINT32_MAX, &v);
		o->context = (uint32_t)v;
		return is_fine;
	case QUESTION_FROM:
		return command_tick(o->command, "--from", argument, &o->from);
	case QUESTION_TO:
		return parse_count(o, "--to", argument, UINT64_MAX, &o->to);
	default:
		return false;
	}
}

/* --- units --------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Names of files are in the IR as they are. */
int question_unit(struct question *q, uint32_t i, const char *text,
                  struct cairn_err *err)
{
	const struct program *p = &q->session.program;
	const struct program_unit *u = &p->units[i];
	const char *name = p->modules[u->module].path;
	unsigned char *bitcode;
	size_t n;

	if (q->units[i])
		return 0;
	CAIRN_TRY(program_bitcode(p, u, &bitcode, &n, err));
	if (text && (!n || !memmem(bitcode, n, text, strlen(text)))) {
		free(bitcode);
		return 0;
	}
	q->units[i] = debug_open(bitcode, n, i);
	free(bitcode);
	if (!q->units[i])
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: LLVM cannot read its IR; build the "
		                  "program again",
		                  name);
	return 0;
}

static void add_places(struct question *q, uint32_t unit)
{
	size_t n;
	const struct debug_place *list =
	        debug_places(q->units[unit], &q->spot, &n);

	for (size_t i = 0; i < n; i++) {
		VEC_RESERVE(q->places, q->nplaces, q->places_cap);
		q->places[q->nplaces++] = (struct question_place){
		        .place = &list[i],
		        .unit = unit,
		        .index = i,
		        .wants = xcalloc(list[i].nvariables + 1, sizeof(bool)),
		};
	}
}

/* Why there is no code at the line. */
static int fail_line(struct question *q, bool has_debug, struct cairn_err *err)
{
	const struct spot *s = &q->spot;
	uint32_t below = 0, above = 0, a, b;
	bool has_file = false;
	char near[64] = "";

	for (uint32_t i = 0; i < q->session.program.nunits; i++) {
		if (!q->units[i] || !debug_near(q->units[i], s, &b, &a))
			continue;
		has_file = true;
		if (b > below)
			below = b;
		if (a && (!above || a < above))
			above = a;
	}
	if (below && above)
		snprintf(near, sizeof(near),
		         "lines %" PRIu32 " and %" PRIu32 " have", below,
		         above);
	else
		snprintf(near, sizeof(near), "line %" PRIu32 " has",
		         below ? below : above);
	if (!has_debug)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: the program was built without debug "
		                  "information; build it with -g and record "
		                  "again",
		                  q->options->session.file);
	if (!has_file)
		return cairn_fail(
		        err, CAIRN_E_ABSENT,
		        "%s: no code of the program comes from a file "
		        "%s that was compiled with -g",
		        q->options->session.file, s->file);
	return cairn_fail(err, CAIRN_E_ABSENT, "%s:%" PRIu32 ": no code; %s",
	                  s->file, s->line, near);
}

static int find_line(struct question *q, struct cairn_err *err)
{
	uint32_t n = q->session.program.nunits;
	bool has_debug = false;

	for (uint32_t i = 0; i < n; i++) {
		CAIRN_TRY(question_unit(q, i, base_name(q->spot.file), err));
		if (q->units[i])
			add_places(q, i);
	}
	if (q->nplaces)
		return 0;
	for (uint32_t i = 0; i < n && !has_debug; i++) {
		CAIRN_TRY(question_unit(q, i, NULL, err));
		has_debug = debug_is_there(q->units[i]);
	}
	return fail_line(q, has_debug, err);
}

/* --- answers ------------------------------------------------------------- */

/* What was there when the program started, if nothing is known since.  Others
 * may have changed it. */
static bool read_image(const struct question *q, uint64_t at, void *to,
                       size_t n)
{
	const struct program *p = &q->session.program;
	bool has_others = q->session.recording.nall > 1;

	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct program_module *m = &p->modules[i];

		if (m->image &&
		    image_read(m->image, m->bias, has_others, at, to, n))
			return true;
	}
	return false;
}

/* Byte by byte if it is seen in parts. */
static bool read_memory(void *question, uint64_t address, void *to, size_t n)
{
	const struct question *q = question;
	unsigned char *bytes = to;

	if (shadow_read(address, to, n))
		return true;
	for (size_t i = 0; i < n; i++)
		if (!shadow_read(address + i, &bytes[i], 1) &&
		    (engine_has_forgotten() ||
		     !read_image(q, address + i, &bytes[i], 1)))
			return false;
	return true;
}

static const char *function_name(void *question, uint64_t address)
{
	const struct question *q = question;
	const struct program_function *f =
	        program_find(&q->session.program, address);

	return f ? f->name : NULL;
}

static struct value_memory memory_of(struct question *q)
{
	return (struct value_memory){read_memory, function_name, q};
}

/* One with an address of its own; 0: not known, or it has none. */
static uint64_t address_of(const struct question *q,
                           const struct debug_variable *v)
{
	for (size_t i = 0; v->is_thread_local && i < q->nlocals; i++)
		if (q->locals[i].variable == v)
			return q->locals[i].address;
	if (v->is_thread_local || v->unit == DEBUG_NONE)
		return 0;
	return q->session.program.units[v->unit].table[v->index];
}

/* How many elements an array of variable length has; false: not known. */
static bool count_elements(struct question *q, const char *name, uint64_t *n)
{
	const struct debug_place *p = q->here->place;
	struct value_memory m = memory_of(q);
	struct value v;

	for (size_t i = 0; i < p->nvariables; i++) {
		if (strcmp(p->variables[i].name, name) != 0)
			continue;
		location_value(&p->variables[i], q->words, &m, &q->room, &v);
		value_load(&v, &m);
		*n = (uint64_t)v.whole;
		return !v.why;
	}
	return false;
}

/* A type with the lengths that its arrays have now; NULL: not known. */
static const struct type *measure(struct question *q, const struct type *t)
{
	const struct type *target;
	struct type *now;

	if (t->kind != TYPE_ARRAY || !t->is_incomplete)
		return t;
	target = measure(q, t->target);
	now = location_room_take(&q->room, sizeof(*now));
	*now = *t;
	now->target = target;
	now->is_incomplete = false;
	if (!target || (t->count && !count_elements(q, t->count, &now->n)))
		return NULL;
	now->size = now->n * target->size;
	return now;
}

static void give_variable(void *question, uint32_t id, struct value *out)
{
	struct question *q = question;
	struct value_memory m = memory_of(q);
	const struct debug_variable *v;
	const struct program *p = &q->session.program;

	*out = (struct value){.place = VALUE_MEMORY};
	if (id & QUESTION_FUNCTION) {
		out->address = p->functions[id & ~QUESTION_FUNCTION].address;
		return;
	}
	v = id & QUESTION_GLOBAL ? q->globals[id & ~QUESTION_GLOBAL]
	                         : &q->here->place->variables[id];
	out->type = v->type;
	out->address = address_of(q, v);
	if (out->address)
		return;
	location_value(v, q->words, &m, &q->room, out);
	if (v->is_thread_local)
		out->why = VALUE_UNSEEN;
	if (!out->why && !measure(q, v->type))
		out->why = VALUE_GONE;
	else if (!out->why)
		out->type = measure(q, v->type);
}

static struct formula_world world_of(struct question *q)
{
	return (struct formula_world){give_variable, q, memory_of(q)};
}

static char *text_of(struct question *q, const struct value *v)
{
	struct value_memory m = memory_of(q);
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return xstrdup("");
	value_print(out, v, &m);
	fclose(out);
	return text;
}

/* The value of a term, as text for the caller to free; NULL: not to be
 * shown. */
static char *answer(struct question *q, const struct question_term *t)
{
	struct formula_world w = world_of(q);
	struct value v;

	if (!t->formula)
		return xasprintf("<%s>", t->why);
	formula_evaluate(t->formula, &w, &v);
	if (type_is_scalar(v.type))
		value_load(&v, &w.memory);
	if (v.why && q->options->skips_unknown)
		return NULL;
	return text_of(q, &v);
}

static void write_text(struct question *q, uint64_t tick, FILE *out)
{
	const char *comma = " ";

	text_print(out, "[%" PRIu32 ":%" PRIu64 "]", q->context, tick);
	for (size_t i = 0; i < q->here->nterms; i++) {
		char *text = answer(q, &q->here->terms[i]);

		if (!text)
			continue;
		text_print(out, "%s%s = %s", comma, q->here->terms[i].text,
		           text);
		comma = ", ";
		free(text);
	}
	putc('\n', out);
}

static void write_json(struct question *q, uint64_t tick, struct json *j)
{
	json_begin(j, '{');
	json_key(j, "context");
	json_u64(j, q->context);
	json_key(j, "tick");
	json_u64(j, tick);
	json_key(j, "function");
	json_string(j, q->here->place->function);
	json_key(j, "values");
	json_begin(j, '[');
	for (size_t i = 0; i < q->here->nterms; i++) {
		const struct question_term *t = &q->here->terms[i];
		char *text = answer(q, t);

		if (!text)
			continue;
		json_begin(j, '{');
		json_key(j, "name");
		json_string(j, t->text);
		json_key(j, "type");
		json_string(j,
		            t->formula ? formula_type(t->formula)->name : NULL);
		json_key(j, "value");
		json_string(j, text);
		json_end(j, '}');
		free(text);
	}
	json_end(j, ']');
	json_end(j, '}');
}

static bool is_met(struct question *q)
{
	struct formula_world w = world_of(q);
	int rc;

	if (!q->here->condition)
		return true;
	rc = formula_holds(q->here->condition, &w);
	q->nunknown += rc < 0;
	return rc > 0;
}

static void show(void *question, const char *text, size_t n)
{
	struct question *q = question;

	if (q->options->is_json)
		json_raw(&q->json, text, n);
	else
		fwrite(text, 1, n, stdout);
}

static void write_answer(struct question *q, uint64_t tick, FILE *out,
                         struct json *j)
{
	if (q->options->is_json)
		write_json(q, tick, j);
	else
		write_text(q, tick, out);
}

/* Answers are written to stdout.  Elements of JSON are no whole lines: with
 * them there is no progress on the same terminal from begin_json on. */
static void begin_output(void)
{
	meter_hold();
}

static void end_output(const struct question *q)
{
	if (!q->options->is_json)
		meter_go_on();
}

static void give(struct question *q, uint64_t tick)
{
	struct json element = q->json; /* without what is before it */

	q->nanswers++;
	q->nhere++;
	if (!q->is_merged) {
		begin_output();
		write_answer(q, tick, stdout, &q->json);
		end_output(q);
		return;
	}
	element.out = answers_begin(&q->answers);
	element.after_key = true;
	if (element.out)
		write_answer(q, tick, element.out, &element);
	answers_end(&q->answers, q->context, engine_order());
}

static bool is_wished(const struct question *q, uint64_t tick)
{
	const struct question_options *o = q->options;

	return tick >= o->from && (!o->to || tick <= o->to);
}

/* Replay code came by a place. */
static void hear(void *question, uint64_t id, uint64_t tick,
                 const uint64_t *args)
{
	struct question *q = question;

	(void)args;
	if (id >= LOCAL_ID) {
		q->locals[id - LOCAL_ID].address = q->words[1];
		return;
	}
	q->here = &q->places[id];
	if (q->words[0] && is_wished(q, tick)) {
		q->nexecuted++;
		if (is_met(q))
			give(q, tick);
	}
	location_room_clear(&q->room);
	if (q->options->limit && q->nhere == q->options->limit)
		engine_pause();
}

/* --- questions in code --------------------------------------------------- */

/* A unit and its first place. */
struct asked {
	struct question *q;
	size_t first;
	uint32_t unit;
};

static bool wants_place(void *asked, size_t i)
{
	const struct asked *a = asked;

	return a->q->places[a->first + i].is_used;
}

static bool wants_variable(void *asked, size_t i, size_t k)
{
	const struct asked *a = asked;

	return a->q->places[a->first + i].wants[k];
}

static uint64_t wants_local(void *asked, const char *name, bool is_static)
{
	const struct asked *a = asked;
	const struct question *q = a->q;

	for (size_t i = 0; i < q->nlocals; i++) {
		const struct debug_variable *v = q->locals[i].variable;

		if (!strcmp(v->symbol, name) && v->is_static == is_static &&
		    (!is_static || v->home == a->unit))
			return LOCAL_ID + i;
	}
	return 0;
}

static bool wants_unit(void *question, uint32_t unit)
{
	const struct question *q = question;

	if (q->nlocals)
		return true; /* any may use it */
	for (size_t i = 0; i < q->nplaces; i++)
		if (q->places[i].unit == unit && q->places[i].is_used)
			return true;
	return false;
}

static void ask_unit(void *question, LLVMModuleRef m, uint32_t unit)
{
	struct question *q = question;
	struct asked a = {q, 0, unit};
	struct debug_request r = {
	        .spot = &q->spot,
	        .words = q->words,
	        .wants_place = wants_place,
	        .wants = wants_variable,
	        .local = wants_local,
	        .context = &a,
	};

	if (!wants_unit(q, unit))
		return;
	while (a.first < q->nplaces && q->places[a.first].unit != unit)
		a.first++;
	r.first = a.first;
	debug_ask(m, &r);
}

/* --- all of it ----------------------------------------------------------- */

static int open_line(struct question *q, struct cairn_err *err)
{
	size_t most = 2;

	q->units = xcalloc((size_t)q->session.program.nunits + 1,
	                   sizeof(*q->units));
	CAIRN_TRY(find_line(q, err));
	for (size_t i = 0; i < q->nplaces; i++)
		if (q->places[i].place->nwords > most)
			most = q->places[i].place->nwords;
	q->words = xcalloc(most, sizeof(*q->words));
	return 0;
}

int question_open(struct question *q, struct question_options *o,
                  struct cairn_err *err)
{
	int rc;

	*q = (struct question){.options = o};
	if (!spot_parse(&q->spot, o->at))
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "--at needs FILE:LINE, with a LINE from 1 on, "
		        "not %.100s",
		        o->at);
	o->session.code.notes_seen = true;
	o->session.code.saves = !o->session.no_cache;
	o->session.code.ask = ask_unit;
	o->session.code.wants = wants_unit;
	o->session.code.context = q;
	rc = session_open(&q->session, &o->session, err);
	if (rc < 0) {
		spot_release(&q->spot);
		return rc;
	}
	q->session.needs_order = true;
	rc = open_line(q, err);
	if (rc < 0)
		question_close(q);
	return rc;
}

static void release_place(struct question_place *p)
{
	for (size_t i = 0; i < p->nterms; i++) {
		free(p->terms[i].text);
		free(p->terms[i].why);
		formula_free(p->terms[i].formula);
	}
	free(p->terms);
	free(p->wants);
	formula_free(p->condition);
}

void question_close(struct question *q)
{
	for (size_t i = 0; i < q->nplaces; i++)
		release_place(&q->places[i]);
	for (uint32_t i = 0; q->units && i < q->session.program.nunits; i++)
		if (q->units[i])
			debug_close(q->units[i]);
	free(q->units);
	free(q->places);
	free(q->globals);
	free(q->locals);
	free(q->why);
	free(q->words);
	location_room_release(&q->room);
	answers_release(&q->answers);
	spot_release(&q->spot);
	session_close(&q->session);
}

/* A part of a context.  Stopped early, it is fine, too. */
static void replay_span(void *question, const struct span *s,
                        struct span_result *r)
{
	struct question *q = question;
	struct engine_result result;
	uint64_t nuntold;

	q->context = s->context->number;
	q->nhere = 0;
	for (size_t i = 0; i < q->nlocals; i++)
		q->locals[i].address = 0;
	if (r->is_apart) {
		q->nanswers = q->nunknown = q->nexecuted = 0;
		q->json.need_comma = true;
	}
	engine_note_seen();
	engine_listen(hear, q);
	nuntold = engine_untold();
	r->status = FINE;
	if (spans_replay(&q->spans, s, &result, &r->err) < 0)
		r->status = ERROR;
	else if (result.end == ENGINE_DIVERGED)
		r->status = DIFFERENT;
	r->counts[0] = q->nanswers;
	r->counts[1] = q->nunknown;
	r->counts[2] = q->nexecuted;
	r->counts[3] = engine_untold() - nuntold;
	q->nuntold += r->counts[3];
}

/* What a part has written; JSON without the first comma of all. */
static void copy_answers(struct question *q, FILE *out)
{
	bool is_first = q->options->is_json && !q->json.need_comma;
	char buffer[4096];
	size_t n;

	if (is_first && getc(out) == EOF)
		return;
	while ((n = fread(buffer, 1, sizeof(buffer), out)))
		fwrite(buffer, 1, n, stdout);
	q->json.need_comma |= q->nanswers > 0;
}

static int take_span(void *question, const struct span *s,
                     const struct span_result *r, FILE *out)
{
	struct question *q = question;

	(void)s;
	if (out) {
		q->nanswers += r->counts[0];
		q->nunknown += r->counts[1];
		q->nexecuted += r->counts[2];
		q->nuntold += r->counts[3];
		begin_output();
		copy_answers(q, out);
		end_output(q);
	}
	if (r->status != FINE)
		command_fail(&r->err);
	return r->status;
}

/* What all processes would have to compile. */
static int load_units(struct question *q)
{
	struct cairn_err err;

	for (uint32_t i = 0; i < q->session.program.nunits; i++)
		if (spans_are_apart(&q->spans) && wants_unit(q, i) &&
		    session_load(&q->session, i, &err) < 0)
			return command_fail(&err);
	return FINE;
}

static int refuse_locals(const struct question *q)
{
	struct cairn_err err;

	cairn_fail(&err, CAIRN_E_ABSENT,
	           "%s: its beginning was dropped, and with it where the "
	           "thread-local variable %s is; ask a whole recording",
	           q->options->session.file, q->locals[0].variable->name);
	return command_fail(&err);
}

/* Where a thread-local variable is, is known only from the beginning on.
 * Answers of several contexts are put in order by one process. */
static int run_contexts(struct question *q)
{
	const struct question_options *o = q->options;
	const struct spans_wish wish = {
	        .context = o->context,
	        .from = o->from,
	        .last = o->to ? o->to : UINT64_MAX,
	        .njobs = o->limit || q->is_merged ? 1 : o->session.njobs,
	        .in_order = q->nlocals > 0,
	        .with_seen = true,
	        .no_checkpoints = o->session.no_cache,
	};
	const struct spans_work work = {replay_span, take_span, q};
	int status;

	if (q->nlocals && q->session.recording.is_cut)
		return refuse_locals(q);
	spans_plan(&q->spans, &q->session, &wish);
	if (!q->spans.n && o->context) {
		struct cairn_err err;

		cairn_fail(&err, CAIRN_E_USAGE,
		           "%s: has no context %" PRIu32 "; they are 1 to %zu",
		           o->session.file, o->context,
		           q->session.recording.ncontexts);
		status = command_fail(&err);
	} else {
		status = load_units(q);
	}
	if (status == FINE)
		status = spans_run(&q->spans, &work);
	spans_release(&q->spans);
	return status;
}

static void begin_json(struct question *q)
{
	struct json *j = &q->json;

	*j = (struct json){.out = stdout, .flat_below = 2};
	begin_output();
	json_begin(j, '{');
	json_key(j, "file");
	json_string(j, q->spot.file);
	json_key(j, "line");
	json_u64(j, q->spot.line);
	json_key(j, "executions");
	json_begin(j, '[');
}

static void end_json(struct question *q)
{
	json_end(&q->json, ']');
	json_end(&q->json, '}');
	putchar('\n');
}

/* Why there is no answer. */
static void say_nothing(const struct question *q)
{
	const struct question_options *o = q->options;

	text_print(stderr, "cairn: %s: %s:%" PRIu32 " was ", o->session.file,
	           q->spot.file, q->spot.line);
	if (q->nexecuted)
		text_print(stderr,
		           "executed %" PRIu64
		           " times, but the condition never "
		           "held",
		           q->nexecuted);
	else
		text_print(stderr, "never executed%s",
		           q->nuntold
		                   ? ", or just before a handler jumped away, "
		                     "or its thread was stopped, which is not "
		                     "known"
		                   : "");
	if (o->context)
		fprintf(stderr, " in context %" PRIu32, o->context);
	if (o->from || o->to)
		fprintf(stderr, " between these ticks");
	fputs("\n", stderr);
}

int question_run(struct question *q)
{
	struct cairn_err err;
	int status, flushed;

	q->is_merged =
	        !q->options->context && q->session.recording.ncontexts > 1;
	if (q->options->is_json)
		begin_json(q);
	status = run_contexts(q);
	if (answers_show(&q->answers, q->options->limit, show, q, &err) < 0)
		status = command_fail(&err);
	if (q->options->is_json)
		end_json(q);
	flushed = command_flush();
	if (q->nunknown)
		text_print(stderr,
		           "cairn: the condition was not known %" PRIu64
		           " times\n",
		           q->nunknown);
	if (status != FINE || flushed != FINE)
		return status != FINE ? status : flushed;
	if (q->nanswers)
		return FINE;
	say_nothing(q);
	return DIFFERENT;
}
