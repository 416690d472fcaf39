/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_QUESTION_H
#define CAIRN_REPLAY_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/spot.h"
#include "replay/answers.h"
#include "replay/debug.h"
#include "replay/formula.h"
#include "replay/location.h"
#include "replay/session.h"
#include "replay/spans.h"

struct cairn_err;

/* Something that is evaluated at a place: its text, and what it is there. */
struct question_term {
	char *text;
	struct formula *formula; /* NULL: it makes no sense there; why: */
	char *why;
};

/* A place of the line, in one of the units. */
struct question_place {
	const struct debug_place *place;
	uint32_t unit;
	size_t index; /* of those in its unit */
	bool is_used; /* is anything asked there? */
	bool *wants;  /* variables, one by one */
	struct question_term *terms;
	size_t nterms, terms_cap;
	struct formula *condition; /* NULL: always */
};

/* A thread-local variable that is asked for. */
struct question_local {
	const struct debug_variable *variable;
	uint64_t address; /* in this context; 0: not known yet */
};

/* Options that `values` and `print` share. */
struct question_options {
	struct session_options session;
	const char *at; /* FILE:LINE */
	const char *command;
	bool is_json, skips_unknown;
	uint64_t limit;    /* 0: none */
	uint32_t context;  /* 0: all */
	uint64_t from, to; /* ticks; to 0: no end */
};

/*
 * What is asked at a line of a recording.  There is one in a process.
 */
struct question {
	struct question_options *options;
	struct spot spot;
	struct session session;
	struct debug **units; /* of the program; NULL: not looked at */
	struct question_place *places;
	size_t nplaces, places_cap;
	/* variables outside of functions that are asked for, by id */
	const struct debug_variable **globals;
	size_t nglobals, globals_cap;
	struct question_local *locals;
	size_t nlocals, locals_cap;
	char *why;       /* a name was not found; NULL: it was */
	uint64_t *words; /* what places hand over */
	/* while it is asked */
	struct location_room room;
	struct question_place *here;
	uint32_t context;
	uint64_t nanswers, nunknown; /* conditions that are not known */
	uint64_t nuntold;   /* executions that may have been: engine_untold */
	uint64_t nexecuted; /* of the line, whatever the condition */
	uint64_t nhere;     /* answers of this context */
	bool is_merged;     /* answers are kept until all contexts have given
	                       theirs */
	struct answers answers;
	struct json json;
	struct spans spans; /* what is replayed */
};

/* Opens the recording and finds the line.  Fails: with a sentence for the user,
 * before anything is replayed. */
int question_open(struct question *q, struct question_options *o,
                  struct cairn_err *err);
void question_close(struct question *q);

/* Ids of variables in formulas are numbers in the place's list, or, with these
 * added, in q->globals or among the functions of the program. */
#define QUESTION_GLOBAL ((uint32_t)1 << 31)
#define QUESTION_FUNCTION ((uint32_t)1 << 30)

/* Looks into a unit, if its IR has this text; NULL: in any case. */
int question_unit(struct question *q, uint32_t i, const char *text,
                  struct cairn_err *err);

/* Adds a term to a place, or several with commas between them.  A mistake is
 * kept in the term if `may_fail`. */
int question_add(struct question *q, struct question_place *p, const char *text,
                 bool may_fail, struct cairn_err *err);
int question_condition(struct question *q, struct question_place *p,
                       const char *text, struct cairn_err *err);

/* Replays and prints.  Returns an exit status. */
int question_run(struct question *q);

/* Options of both commands: QUESTION_OPTIONS, QUESTION_HELP, and
 * question_option() for what getopt_long returns: false if it is none of them,
 * or has no sense, which it has said. */
enum {
	QUESTION_AT = SESSION_OTHERS,
	QUESTION_JSON,
	QUESTION_LIMIT,
	QUESTION_CONTEXT,
	QUESTION_FROM,
	QUESTION_TO,
	QUESTION_OTHERS
};

#define QUESTION_OPTIONS                                             \
	{"at", required_argument, NULL, QUESTION_AT},                \
	        {"json", no_argument, NULL, QUESTION_JSON},          \
	        {"limit", required_argument, NULL, QUESTION_LIMIT},  \
	        {"from", required_argument, NULL, QUESTION_FROM},    \
	        {"to", required_argument, NULL, QUESTION_TO},        \
	{                                                            \
		"context", required_argument, NULL, QUESTION_CONTEXT \
	}

#define QUESTION_HELP                                                          \
	"  --json           write JSON\n"                                      \
	"  --limit N        stop after N executions\n"                         \
	"  --context N      only in this context (thread or signal handler)\n" \
	"  --from TICK      only from this tick on\n"                          \
	"  --to TICK        only up to this tick\n"

bool question_option(struct question_options *o, int option,
                     const char *argument);

#endif /* CAIRN_REPLAY_QUESTION_H */
