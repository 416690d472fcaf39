/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes random control flow in every format of export, and as a plain log, for
 * run.py to compare: proof_export SEED DIRECTORY.
 *
 * The log has a line per function (its name as hexadecimal bytes), and per
 * event: "thread TID TIME [NAME]", "enter FUNCTION TIME", "leave TIME", "end
 * TIME".  The log tells what was fed, open frames and odd times included.
 */
#include "words.h"

/* The sources of cairn are no library. */
#include "cli/export.c"
#include "cli/export_chrome.c"
#include "cli/export_folded.c"
#include "cli/export_speedscope.c"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NFORMATS 3
#define PID 4711

static const struct export_format *const formats[NFORMATS] = {
        &export_chrome, &export_speedscope, &export_folded};

/* What names may be made of: all that has to be escaped somewhere. */
static const char *const pieces[] = {"f",    "main",     "operator()",
                                     ";",    " ",        "\"",
                                     "\\",   "\n",       "\t",
                                     "<",    "\x7f",     "\x01",
                                     "\xff", "</a>",     "\xc3\xbc",
                                     "",     "\xe2\x82", "7",
                                     "{}",   "%s",       "\xf0\x9f\x98\x80"};

struct feed {
	FILE *log;
	struct export_writer writers[NFORMATS];
	FILE *files[NFORMATS];
	uint64_t seed;
	size_t depth;
	uint64_t time;
};

static void *must(void *p)
{
	if (!p) {
		perror("proof_export");
		exit(2);
	}
	return p;
}

static void add_function(struct feed *f)
{
	char name[64] = "";
	unsigned n = words_below(&f->seed, 5);

	for (unsigned i = 0; i < n; i++)
		strcat(name,
		       pieces[words_below(&f->seed,
		                          sizeof(pieces) / sizeof(*pieces))]);
	fprintf(f->log, "function ");
	for (const char *s = name; *s; s++)
		fprintf(f->log, "%02x", (unsigned char)*s);
	fprintf(f->log, "\n");
	for (unsigned i = 0; i < NFORMATS; i++)
		export_add_function(&f->writers[i], name,
		                    n % 2 ? "dir/a\"b.c" : NULL, n);
}

static void enter(struct feed *f, uint32_t function)
{
	fprintf(f->log, "enter %" PRIu32 " %" PRIu64 "\n", function, f->time);
	for (unsigned i = 0; i < NFORMATS; i++)
		export_enter(&f->writers[i], function, f->time);
	f->depth++;
}

static void leave(struct feed *f)
{
	fprintf(f->log, "leave %" PRIu64 "\n", f->time);
	for (unsigned i = 0; i < NFORMATS; i++)
		export_leave(&f->writers[i], f->time);
	f->depth--;
}

/* A clock of blocks goes on between any two calls and returns; another one may
 * stand still, or be a little behind. */
static void pass(struct feed *f)
{
	unsigned what = words_below(&f->seed, 8);

	if (f->writers[0].clock == EXPORT_BLOCKS)
		f->time += 1 + words_below(&f->seed, 50);
	else if (what < 5)
		f->time += words_below(&f->seed, 3000);
	else if (what == 5 && f->time > 10)
		f->time -= words_below(&f->seed, 10);
}

static void run_thread(struct feed *f, uint64_t tid, unsigned nevents)
{
	static const char *const names[] = {NULL, "main", "wor\"k\ner"};
	const char *name = names[words_below(&f->seed, 3)];
	uint32_t nfunctions = f->writers[0].nfunctions;
	unsigned ups = 1 + words_below(&f->seed, 3);

	f->time = words_below(&f->seed, 1000000);
	f->depth = 0;
	fprintf(f->log, "thread %" PRIu64 " %" PRIu64 " %d\n", tid, f->time,
	        !!name);
	for (unsigned i = 0; i < NFORMATS; i++)
		export_begin_thread(&f->writers[i], tid, name, f->time);
	for (unsigned i = 0; i < nevents; i++) {
		pass(f);
		if (!f->depth || words_below(&f->seed, 4) < ups)
			enter(f, words_below(&f->seed, nfunctions));
		else
			leave(f);
	}
	pass(f);
	fprintf(f->log, "end %" PRIu64 "\n", f->time);
	for (unsigned i = 0; i < NFORMATS; i++)
		export_end_thread(&f->writers[i], f->time);
}

static FILE *create(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *file = must(fopen(path, "w"));

	free(path);
	return file;
}

int main(int argc, char **argv)
{
	struct feed f = {0};
	enum export_clock clock;

	if (argc != 3) {
		fprintf(stderr, "usage: proof_export SEED DIRECTORY\n");
		return 2;
	}
	f.seed = strtoull(argv[1], NULL, 0);
	clock = words_below(&f.seed, 2) ? EXPORT_NANOSECONDS : EXPORT_BLOCKS;
	f.log = create(argv[2], "log");
	fprintf(f.log, "clock %s\n",
	        clock == EXPORT_NANOSECONDS ? "nanoseconds" : "blocks");
	for (unsigned i = 0; i < NFORMATS; i++) {
		f.files[i] = create(argv[2], formats[i]->name);
		export_begin(&f.writers[i], formats[i], f.files[i], clock,
		             "pro\"gram", PID);
	}
	for (unsigned n = 1 + words_below(&f.seed, 12); n; n--)
		add_function(&f);
	for (unsigned i = 0, n = 1 + words_below(&f.seed, 3); i < n; i++)
		run_thread(&f, PID + i,
		           words_below(&f.seed,
		                       words_below(&f.seed, 10) ? 200 : 5000));
	for (unsigned i = 0; i < NFORMATS; i++) {
		export_end(&f.writers[i]);
		if (fclose(f.files[i]))
			must(NULL);
	}
	if (fclose(f.log))
		must(NULL);
	return 0;
}
