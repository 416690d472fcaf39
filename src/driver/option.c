/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of cairn-cc itself.  They all begin with --cairn, a prefix that
 * clang has no option under, so nothing of clang's is taken away.
 *
 * Invariant: an option set that was accepted names a mode that the plugin
 * implements; what is planned and not there is refused by name.
 */
#include "driver/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

#define OPTION_PREFIX "--cairn"

static bool is(const char *s, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(s, name, n) == 0;
}

bool option_is_ours(const char *word)
{
	size_t n = strlen(OPTION_PREFIX);

	return strncmp(word, OPTION_PREFIX, n) == 0 &&
	       (word[n] == '\0' || word[n] == '=' || word[n] == '-');
}

static int take_mode(struct option *o, const char *s, size_t n,
                     struct cairn_err *err)
{
	o->none = is(s, n, "none");
	o->paths = is(s, n, "paths");
	if (o->none || o->paths || is(s, n, "edges"))
		return 0;
	if (is(s, n, "trace") || is(s, n, "record"))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=%.*s is not built yet; this version "
		                  "has edges, paths and none",
		                  (int)n, s);
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "--cairn=%.*s is no mode; use edges, paths or none",
	                  (int)n, s);
}

static int take_detail(struct option *o, const char *s, size_t n,
                       struct cairn_err *err)
{
	if (is(s, n, "slow") && !o->paths)
		o->slow = true;
	else if (is(s, n, "strict"))
		o->strict = true;
	else if (is(s, n, "all") && !o->paths)
		o->all = true;
	else if (is(s, n, "nogs"))
		o->nogs = true;
	else if (is(s, n, "weights=heuristic"))
		o->weights = "heuristic";
	else if (is(s, n, "weights=freq"))
		o->weights = "freq";
	else
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=%s has no option '%.*s'; it has %s"
		                  "strict, nogs, weights=heuristic and "
		                  "weights=freq",
		                  o->paths ? "paths" : "edges", (int)n, s,
		                  o->paths ? "" : "slow, all, ");
	return 0;
}

/* MODE[,detail...]: the whole value replaces an earlier one. */
static int take_value(struct option *o, const char *value,
                      struct cairn_err *err)
{
	size_t n = strcspn(value, ",");

	o->slow = o->strict = o->all = o->nogs = false;
	o->weights = NULL;
	o->paths = false;
	CAIRN_TRY(take_mode(o, value, n, err));
	while (value[n]) {
		value += n + 1;
		n = strcspn(value, ",");
		if (o->none)
			return cairn_fail(err, CAIRN_E_USAGE,
			                  "--cairn=none takes no options");
		CAIRN_TRY(take_detail(o, value, n, err));
	}
	if (o->slow && o->all)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=edges,slow counts blocks and all "
		                  "counts edges; choose one");
	return 0;
}

static int take_feedback(struct option *o, const char *path,
                         struct cairn_err *err)
{
	o->feedback = realpath(path, NULL);
	if (!o->feedback)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "--cairn-feedback=%s: %s; name a .cairn file "
		                  "that an earlier run wrote",
		                  path, strerror(errno));
	return 0;
}

static int take_stage(struct option *o, const char *value,
                      struct cairn_err *err)
{
	o->source_stage = strcmp(value, "source") == 0;
	if (!o->source_stage && strcmp(value, "late") != 0)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn-stage=%s is no stage; use late or "
		                  "source",
		                  value);
	return 0;
}

/* The value of `word` if it is NAME=value. */
static const char *value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1
	                                                     : NULL;
}

int option_take(struct option *o, const char *word, struct cairn_err *err)
{
	const char *value;

	if (strcmp(word, "--cairn-verbose") == 0) {
		o->verbose = true;
		return 0;
	}
	if ((value = value_of(word, "--cairn")))
		return take_value(o, value, err);
	if ((value = value_of(word, "--cairn-feedback")))
		return take_feedback(o, value, err);
	if ((value = value_of(word, "--cairn-stage")))
		return take_stage(o, value, err);
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "'%s' is no option of cairn-cc; it has --cairn=MODE, "
	                  "--cairn-feedback=FILE, --cairn-stage=STAGE and "
	                  "--cairn-verbose",
	                  word);
}
