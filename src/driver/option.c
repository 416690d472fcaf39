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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/file.h"
#include "abi/map.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/spot.h"

#define OPTION_PREFIX "--cairn"
/* What trace,last= and memory= take: some buffers of the runtime, at least. */
#define OPTION_SIZE_MIN (UINT64_C(1) << 20)
#define OPTION_SIZE_MAX (UINT64_C(1) << 40)
#define OPTION_DEPTH_MAX 16 /* SEGMENTS_DEPTH_MAX */
#define OPTION_GROW_MAX 100000

static const char help[] =
        "usage: %s [--cairn=MODE[,OPTION...]] [--cairn-...] ARGUMENT...\n\n"
        "Compiles and links as %s 19 does, so that the program counts what "
        "it\nexecutes.  Arguments that do not begin with --cairn go to clang, "
        "among them\n--help, which shows its options.\n\n"
        "  --cairn=edges    counts of blocks, edges and lines (the default)\n"
        "  --cairn=paths    counts of paths, from which the others follow\n"
        "  --cairn=residual,tested=FILE\n"
        "                   counts of those paths that this profile of the "
        "tests has not\n"
        "  --cairn=trace    all control flow, in order\n"
        "  --cairn=record   what the program cannot compute itself, to "
        "replay it\n"
        "  --cairn=inline,calls=D,prefer=FILE\n"
        "                   nothing, but inlines what paths with these "
        "options do\n"
        "  --cairn=none     nothing: as clang\n"
        "  --cairn-feedback=FILE\n"
        "                   choose what to count by an earlier profile\n"
        "  --cairn-stage=STAGE\n"
        "                   late (the default): the code that runs; source: "
        "the control\n"
        "                   flow before optimization, edges only\n"
        "  --cairn-use=FILE\n"
        "                   optimize by a profile of the source stage, and "
        "count nothing\n"
        "                   unless there is a --cairn=\n"
        "  --cairn-verbose  show the command that is run\n"
        "  --cairn-help     this text; --cairn-help-all has the options of "
        "modes, too\n\n"
        "Options of edges, paths and residual:\n"
        "  strict           exact even after SIGKILL, but for paths that "
        "are unfinished\n"
        "                   then; slower\n"
        "  nogs             keep off the %%gs segment; slower\n"
        "  weights=heuristic, weights=freq\n"
        "                   what to choose the edges to count by\n"
        "Options of edges:\n"
        "  slow             a counter in every block\n"
        "  all              a counter on every edge\n"
        "Options of trace:\n"
        "  witness          write witnesses (Ball and Larus 1994), not "
        "histories\n"
        "  paths            write every path where it ends; both for "
        "comparison\n"
        "  last=SIZE        keep only the newest part, as 64M (at least 1M), "
        "and in it\n"
        "                   the branches up to the very end; slower\n"
        "  memory=SIZE      take no more memory for buffers than this, as 64M, "
        "which is\n"
        "                   the default (at least 1M)\n"
        "Options of record:\n"
        "  last=SIZE        keep only the newest part of the log, as 64M (at "
        "least 1M),\n"
        "                   with a checkpoint to begin at; takes a second "
        "processor\n"
        "Options of paths:\n"
        "  prefer=FILE      counters for the paths of this profile or list, "
        "one for the\n"
        "                   other ones together\n"
        "  prefer=function:NAME, prefer=line:FILE:LINE\n"
        "                   for all paths of a function, or through a line "
        "(may be\n"
        "                   repeated)\n"
        "  top=N            only the N hottest of the profile\n"
        "  share=PERCENT    only the hottest that make this share of it\n"
        "  others           count the other ones one by one, too\n"
        "  overlap          count pairs as well: a path and the one before it "
        "in a loop,\n"
        "                   a caller's and its callee's\n"
        "  overlap=K        the same; cairn overlap shows bounds of degree K "
        "unless told\n"
        "                   (decisions of the second path, from 0 on; auto or "
        "max)\n"
        "  overlap=loops    the same, without pairs across calls\n"
        "  overlap,prefer=FILE\n"
        "                   only where this profile has most pairs: 99 %% of "
        "them, or\n"
        "                   share=PERCENT\n"
        "  iterations=K     count sequences of up to K paths of an activation, "
        "too (2 to\n"
        "                   16)\n"
        "  chains=D         count each path with up to D calls that led to it, "
        "too (1 to\n"
        "                   16)\n"
        "  memory=SIZE      of iterations and chains: count them in no more "
        "memory than\n"
        "                   this, as 64M, which is the default (at least "
        "1M)\n"
        "  calls=D          paths end at calls, but go into those, up to D "
        "deep, that\n"
        "                   prefer=FILE names (or, with residual, "
        "tested=FILE): a list\n"
        "                   of cairn segments, or a profile of such a "
        "build\n"
        "  grow=PERCENT     of calls: a file may grow by so much; then one "
        "copy of a\n"
        "                   function serves many calls\n\n"
        "man cairn-cc has the details.\n";

static bool is(const char *s, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(s, name, n) == 0;
}

void option_help(const char *name, bool all, FILE *out)
{
	size_t n = strlen(name);
	bool cxx = n >= 2 && strcmp(name + n - 2, "++") == 0;
	char *text = xasprintf(help, name, cxx ? "clang++" : "clang");
	char *options = strstr(text, "\nOptions of ");
	char *end = strstr(text, "\nman cairn-cc ");

	if (all || !options || !end)
		fputs(text, out);
	else
		fprintf(out, "%.*s%s", (int)(options - text), text, end);
	free(text);
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
	o->residual = is(s, n, "residual");
	o->trace = is(s, n, "trace");
	o->record = is(s, n, "record");
	o->inlines = is(s, n, "inline");
	if (o->none || o->inlines || o->paths || o->residual || o->trace ||
	    o->record || is(s, n, "edges"))
		return 0;
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "--cairn=%.*s is no mode; use edges, paths, "
	                  "residual, trace, record, inline or none",
	                  (int)n, s);
}

/* The value of a detail NAME=value, as a string of its own; NULL: another. */
static char *detail_value(const char *s, size_t n, const char *name)
{
	size_t k = strlen(name);

	if (n <= k || strncmp(s, name, k) || s[k] != '=')
		return NULL;
	return xstrndup(s + k + 1, n - k - 1);
}

static int take_interest(struct option *o, const char *name, const char *path,
                         struct cairn_err *err)
{
	if (o->interest)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s=%s: there is one FILE already; cairn "
		                  "merge makes one of several profiles",
		                  name, path);
	o->interest = realpath(path, NULL);
	if (!o->interest)
		return cairn_fail(
		        err, CAIRN_E_ABSENT,
		        "%s=%s: %s; name a profile (.cairn) of an "
		        "earlier run, with calls= best a list of cairn "
		        "segments (commas in its name do not work)",
		        name, path, strerror(errno));
	return 0;
}

static int take_function(const char *set, struct cairn_err *err)
{
	const char *name = strchr(set, ':') + 1;

	if (*name)
		return 0;
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "prefer=%s names no function; use "
	                  "prefer=function:NAME",
	                  set);
}

static int take_line(const char *set, struct cairn_err *err)
{
	struct spot spot;

	if (!spot_parse(&spot, strchr(set, ':') + 1))
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "prefer=%s names no line; use "
		        "prefer=line:FILE:LINE, with a LINE from 1 on",
		        set);
	spot_release(&spot);
	return 0;
}

/* prefer=FILE once, function:NAME and line:FILE:LINE any number of times. */
static int take_prefer(struct option *o, const char *value,
                       struct cairn_err *err)
{
	if (strncmp(value, "function:", 9) == 0)
		CAIRN_TRY(take_function(value, err));
	else if (strncmp(value, "line:", 5) == 0)
		CAIRN_TRY(take_line(value, err));
	else
		return take_interest(o, "prefer", value, err);
	o->sets = xasprintf("%s,prefer=%s", o->sets ? o->sets : "", value);
	return 0;
}

static int take_top(struct option *o, const char *value, struct cairn_err *err)
{
	char *end;

	o->top = value;
	errno = 0;
	if (strtoull(value, &end, 10) == 0 || *end || errno || *value == '-')
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "top=%s is no number of paths", value);
	return 0;
}

static int take_calls(struct option *o, const char *value,
                      struct cairn_err *err)
{
	char *end;
	unsigned long depth = strtoul(value, &end, 10);

	o->calls = value;
	if (*value < '0' || *value > '9' || *end || depth > OPTION_DEPTH_MAX)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "calls=%s is no depth of calls; use a number "
		                  "from 0 to %d",
		                  value, OPTION_DEPTH_MAX);
	return 0;
}

static int take_grow(struct option *o, const char *value, struct cairn_err *err)
{
	char *end;
	unsigned long percent = strtoul(value, &end, 10);

	o->grow = value;
	if (*value < '0' || *value > '9' || *end || percent > OPTION_GROW_MAX)
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "grow=%s is no growth; use a number of percent "
		        "from 0 to %d",
		        value, OPTION_GROW_MAX);
	return 0;
}

static int take_iterations(struct option *o, const char *value,
                           struct cairn_err *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	o->iterations = value;
	if (*value < '0' || *value > '9' || *end || n < 2 ||
	    n > CAIRN_FOREST_MAX)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "iterations=%s is no length of a sequence of "
		                  "paths; use a number from 2 to %u",
		                  value, CAIRN_FOREST_MAX);
	return 0;
}

static int take_chains(struct option *o, const char *value,
                       struct cairn_err *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	o->chains = value;
	if (*value < '0' || *value > '9' || *end || n < 1 ||
	    n > CAIRN_CHAINS_MAX)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "chains=%s is no length of a chain of calls; "
		                  "use a number from 1 to %u",
		                  value, CAIRN_CHAINS_MAX);
	return 0;
}

/* Percent, for the plugin in millionths. */
static int take_share(struct option *o, const char *value,
                      struct cairn_err *err)
{
	char *end;
	double share = strtod(value, &end);

	if (end == value || *end || !(share > 0 && share <= 100))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "share=%s is no percentage; use one above 0 "
		                  "and up to 100",
		                  value);
	o->share = xasprintf("%lu", (unsigned long)(share * 10000));
	return 0;
}

const char *option_mode(const struct option *o)
{
	return o->paths      ? "paths"
	       : o->residual ? "residual"
	       : o->trace    ? "trace"
	       : o->record   ? "record"
	       : o->inlines  ? "inline"
	                     : "edges";
}

static int bad_detail(const struct option *o, const char *s, size_t n,
                      struct cairn_err *err)
{
	static const char always[] = "strict, nogs, weights=heuristic and "
	                             "weights=freq";

	return cairn_fail(
	        err, CAIRN_E_USAGE,
	        "--cairn=%s has no option '%.*s'; it has %s%s", option_mode(o),
	        (int)n, s,
	        o->paths      ? "prefer=FILE, prefer=function:NAME, "
	                        "prefer=line:FILE:LINE, top=N, "
	                        "share=PERCENT, others, overlap, overlap=K, "
	                        "iterations=K, chains=D, memory=SIZE, calls=D, "
	                        "grow=PERCENT, "
	        : o->residual ? "tested=FILE, calls=D, grow=PERCENT, "
	        : o->inlines  ? "calls=D, grow=PERCENT, prefer=FILE, "
	        : o->trace    ? "witness, paths, "
	                      : "slow, all, ",
	        o->trace ? "last=SIZE, memory=SIZE, "
	                   "weights=heuristic and weights=freq"
	                 : always);
}

/* A degree, or which pairs. */
static int take_overlap(struct option *o, const char *value,
                        struct cairn_err *err)
{
	unsigned long k;
	char *end;

	errno = 0;
	k = strtoul(value, &end, 10);
	if (strcmp(value, "auto") && strcmp(value, "max") &&
	    strcmp(value, "loops") &&
	    (*value < '0' || *value > '9' || *end || errno ||
	     k > CAIRN_DEGREE_LIMIT))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "overlap=%s is no degree; use a number up to "
		                  "%d, auto, max, or loops for no pairs across "
		                  "calls",
		                  value, CAIRN_DEGREE_LIMIT);
	o->overlap = true;
	o->degree = xasprintf("=%s", value);
	return 0;
}

/* What --cairn=paths and --cairn=residual have; *taken says whether it is. */
static int take_path_detail(struct option *o, const char *s, size_t n,
                            bool *taken, struct cairn_err *err)
{
	const char *value;

	*taken = true;
	if ((o->paths || o->residual || o->inlines) &&
	    (value = detail_value(s, n, "calls")))
		return take_calls(o, value, err);
	if ((o->paths || o->residual || o->inlines) &&
	    (value = detail_value(s, n, "grow")))
		return take_grow(o, value, err);
	if (o->inlines && (value = detail_value(s, n, "prefer")))
		return take_interest(o, "prefer", value, err);
	if (o->paths && (value = detail_value(s, n, "prefer")))
		return take_prefer(o, value, err);
	if (o->residual && (value = detail_value(s, n, "tested")))
		return take_interest(o, "tested", value, err);
	if (o->paths && (value = detail_value(s, n, "top")))
		return take_top(o, value, err);
	if (o->paths && (value = detail_value(s, n, "share")))
		return take_share(o, value, err);
	if (o->paths && (value = detail_value(s, n, "overlap")))
		return take_overlap(o, value, err);
	if (o->paths && (value = detail_value(s, n, "iterations")))
		return take_iterations(o, value, err);
	if (o->paths && (value = detail_value(s, n, "chains")))
		return take_chains(o, value, err);
	*taken = o->paths && (is(s, n, "others") || is(s, n, "overlap"));
	o->others |= *taken && is(s, n, "others");
	o->overlap |= *taken && is(s, n, "overlap");
	return 0;
}

/* A size with K, M or G, for the plugin in bytes. */
static int take_size(const char *name, const char *value, const char **size,
                     struct cairn_err *err)
{
	static const char units[] = "KMG";
	const char *unit;
	unsigned shift = 0;
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(value, &end, 10);
	if (*end && (unit = strchr(units, *end))) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (*value < '0' || *value > '9' || *end || errno ||
	    n > UINT64_MAX >> shift || n << shift > OPTION_SIZE_MAX)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s=%s is no size; use a number with K, M "
		                  "or G, as in %s=64M, up to 1024G",
		                  name, value, name);
	n <<= shift;
	if (n < OPTION_SIZE_MIN)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s=%s is too little; use at least %s=1M",
		                  name, value, name);
	*size = xasprintf("%" PRIu64, n);
	return 0;
}

static int take_detail(struct option *o, const char *s, size_t n,
                       struct cairn_err *err)
{
	bool is_edges = !o->paths && !o->residual && !o->trace && !o->inlines;
	bool taken;
	const char *value;

	CAIRN_TRY(take_path_detail(o, s, n, &taken, err));
	if (taken)
		return 0;
	if (is(s, n, "slow") && is_edges)
		o->slow = true;
	else if (is(s, n, "strict") && !o->trace)
		o->strict = true;
	else if (is(s, n, "all") && is_edges)
		o->all = true;
	else if (is(s, n, "nogs") && !o->trace)
		o->nogs = true;
	else if (is(s, n, "log") && o->trace)
		o->log = true;
	else if (is(s, n, "witness") && o->trace)
		o->witness = true;
	else if (is(s, n, "paths") && o->trace)
		o->path_ids = true;
	else if (o->trace && (value = detail_value(s, n, "last")))
		return take_size("last", value, &o->last, err);
	else if ((o->trace || o->paths) &&
	         (value = detail_value(s, n, "memory")))
		return take_size("memory", value, &o->memory, err);
	else if (is(s, n, "weights=heuristic"))
		o->weights = "heuristic";
	else if (is(s, n, "weights=freq"))
		o->weights = "freq";
	else
		return bad_detail(o, s, n, err);
	return 0;
}

static int take_record_detail(struct option *o, const char *s, size_t n,
                              struct cairn_err *err)
{
	const char *value = detail_value(s, n, "last");

	if (value)
		return take_size("last", value, &o->last, err);
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "--cairn=record has no option '%.*s'; it has "
	                  "last=SIZE",
	                  (int)n, s);
}

/* The same for overlap, */
static int check_pairs(const struct option *o, struct cairn_err *err)
{
	if (o->overlap && o->sets)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "prefer=function: and prefer=line: are about "
		                  "paths; with overlap use prefer=FILE, an "
		                  "earlier profile");
	if (o->overlap && (o->top || o->others))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "top= and others are about paths; with "
		                  "overlap use prefer=FILE,share=PERCENT");
	return 0;
}

/* and for iterations=. */
static int check_windows(const struct option *o, struct cairn_err *err)
{
	if (o->paths && o->memory && !o->iterations && !o->chains)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=paths,memory= is about iterations= "
		                  "and chains=, which are not there");
	if (o->iterations && o->overlap)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "overlap counts pairs, and iterations= has "
		                  "those in loops, too; choose one");
	if (o->iterations && o->calls)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "iterations= counts which paths follow each "
		                  "other, and calls= goes into calls; choose "
		                  "one");
	if (o->iterations && (o->interest || o->sets))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=paths,iterations= counts all paths; "
		                  "leave out prefer=");
	return 0;
}

/* The same for chains=. */
static int check_chains(const struct option *o, struct cairn_err *err)
{
	if (o->chains && (o->iterations || o->overlap || o->calls))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "chains= counts paths with their callers, "
		                  "and %s counts something else; choose one",
		                  o->iterations ? "iterations="
		                  : o->overlap  ? "overlap"
		                                : "calls=");
	if (o->chains && (o->interest || o->sets))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=paths,chains= counts all paths; "
		                  "leave out prefer=");
	return 0;
}

/* What does not go together. */
static int check_details(const struct option *o, struct cairn_err *err)
{
	if (o->slow && o->all)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=edges,slow counts blocks and all "
		                  "counts edges; choose one");
	if (o->witness && o->path_ids)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=trace writes witnesses or paths, "
		                  "not both; choose one");
	if (o->last && (o->witness || o->path_ids))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=trace,last= has an encoding of its "
		                  "own; leave out witness and paths");
	if (o->last && o->memory)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=trace,last= is the memory that it "
		                  "takes; leave out memory=");
	if (o->inlines && (!o->calls || !o->interest))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=inline needs calls=D and "
		                  "prefer=FILE, which say what to inline");
	if (o->grow && !o->calls)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "grow=%s is about calls=D, which is not "
		                  "there",
		                  o->grow);
	if (o->calls && strtoul(o->calls, NULL, 10) && !o->interest)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "calls=%s: which calls to go into a FILE "
		                  "says; make one of a trace with cairn "
		                  "segments --list, and add %s=FILE",
		                  o->calls, o->residual ? "tested" : "prefer");
	if (o->calls && o->sets)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "calls=%s: prefer=function: and prefer=line: "
		                  "are about paths that end at no call; leave "
		                  "one of them out",
		                  o->calls);
	if (o->calls && o->overlap)
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "overlap counts pairs across calls, and calls= "
		        "goes into them; choose one");
	if (o->calls && o->strict)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "strict ends paths at every call, and calls= "
		                  "goes into them; choose one");
	if (o->residual && !o->interest)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=residual needs tested=FILE, the "
		                  "merged path profiles of the tests");
	if (o->others && !o->interest && !o->sets)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=paths: others is about prefer=, "
		                  "which is not there");
	CAIRN_TRY(check_pairs(o, err));
	CAIRN_TRY(check_windows(o, err));
	CAIRN_TRY(check_chains(o, err));
	if ((o->top || o->share) && !o->interest)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn=paths: top and share choose from a "
		                  "profile, prefer=FILE, which is not there");
	return 0;
}

int option_check(struct option *o, struct cairn_err *err)
{
	/* who wants the fastest program wants no marks in it, unless he says
	 * so */
	o->none |= o->use && !o->has_mode;
	if (o->use && o->source_stage)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--cairn-use is for the build after the one "
		                  "with --cairn-stage=source; choose one");
	if (o->source_stage && o->record)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "what is recorded is the optimized program; "
		                  "leave out --cairn-stage=source");
	if (o->source_stage &&
	    (o->inlines || o->paths || o->residual || o->trace))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "paths are those of the optimized program; "
		                  "leave out --cairn-stage=source");
	return 0;
}

/* MODE[,detail...]: the whole value replaces an earlier one. */
static int take_value(struct option *o, const char *value,
                      struct cairn_err *err)
{
	size_t n = strcspn(value, ",");

	o->has_mode = true;
	o->slow = o->strict = o->all = o->nogs = false;
	o->weights = NULL;
	o->paths = o->residual = o->trace = o->log = o->others = o->overlap =
	        false;
	o->record = false;
	o->witness = o->path_ids = false;
	o->interest = o->sets = o->top = o->share = o->calls = NULL;
	o->grow = NULL;
	o->last = o->memory = o->iterations = o->chains = NULL;
	o->degree = "";
	CAIRN_TRY(take_mode(o, value, n, err));
	while (value[n]) {
		value += n + 1;
		n = strcspn(value, ",");
		if (o->none)
			return cairn_fail(err, CAIRN_E_USAGE,
			                  "--cairn=none takes no options");
		if (o->record) {
			CAIRN_TRY(take_record_detail(o, value, n, err));
			continue;
		}
		CAIRN_TRY(take_detail(o, value, n, err));
	}
	return check_details(o, err);
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

static int take_use(struct option *o, const char *path, struct cairn_err *err)
{
	o->use = realpath(path, NULL);
	if (!o->use)
		return cairn_fail(
		        err, CAIRN_E_ABSENT,
		        "--cairn-use=%s: %s; name a .cairn file that "
		        "a program compiled with --cairn-stage=source "
		        "wrote",
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
	if (strcmp(word, "--cairn-help") == 0 ||
	    strcmp(word, "--cairn-help-all") == 0) {
		o->help = true;
		o->help_all |= strcmp(word, "--cairn-help-all") == 0;
		return 0;
	}
	if ((value = value_of(word, "--cairn")))
		return take_value(o, value, err);
	if ((value = value_of(word, "--cairn-feedback")))
		return take_feedback(o, value, err);
	if ((value = value_of(word, "--cairn-use")))
		return take_use(o, value, err);
	if ((value = value_of(word, "--cairn-stage")))
		return take_stage(o, value, err);
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "'%s' is no option of cairn-cc; it has --cairn=MODE, "
	                  "--cairn-feedback=FILE, --cairn-stage=STAGE, "
	                  "--cairn-use=FILE, --cairn-verbose and "
	                  "--cairn-help, which explains them",
	                  word);
}
