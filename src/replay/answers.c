/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of several contexts in one order.
 *
 * Contexts are replayed one after the other.  What they say is kept in a file
 * without a name and shown by the number of the last SYNC or TURN before it
 * (engine_order), as pieces.c and changes.c do: no two answers are inverted of
 * which one happened before the other.  Between two of these numbers, contexts
 * stand by their own.
 *
 * Invariant: the items of a context stand in its order, and so do the numbers.
 * Cost: 32 bytes of memory per answer; its text is on disk.
 */
#include "replay/answers.h"

#include "base/alloc.h"
#include "base/err.h"
#include "replay/broker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void answers_release(struct answers *a)
{
	if (a->file)
		fclose(a->file);
	free(a->items);
	*a = (struct answers){0};
}

static void note_error(struct answers *a)
{
	if (!a->error)
		a->error = errno ? errno : EIO;
}

FILE *answers_begin(struct answers *a)
{
	errno = 0;
	if (!a->file)
		a->file = broker_scratch_file();
	if (!a->file)
		note_error(a);
	return a->file;
}

void answers_end(struct answers *a, uint32_t context, uint64_t order)
{
	const struct answer *last = a->n ? &a->items[a->n - 1] : NULL;
	uint64_t at = last ? last->at + last->n : 0;
	off_t end = a->file ? ftello(a->file) : -1;

	if (end < 0 || ferror(a->file)) {
		note_error(a);
		return;
	}
	VEC_RESERVE(a->items, a->n, a->cap);
	a->items[a->n++] = (struct answer){context, order, at,
	                                   (size_t)((uint64_t)end - at)};
}

/* Of a context, what was added first has the smaller place in the file. */
static int by_order(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void show_one(struct answers *a, const struct answer *x,
                     void (*show)(void *context, const char *text, size_t n),
                     void *context)
{
	char *text = xmalloc(x->n + 1);

	errno = 0;
	if (pread(fileno(a->file), text, x->n, (off_t)x->at) == (ssize_t)x->n)
		show(context, text, x->n);
	else
		note_error(a);
	free(text);
}

int answers_show(struct answers *a, uint64_t limit,
                 void (*show)(void *context, const char *text, size_t n),
                 void *context, struct cairn_err *err)
{
	errno = 0;
	if (a->file && fflush(a->file))
		note_error(a);
	if (a->n)
		qsort(a->items, a->n, sizeof(*a->items), by_order);
	for (size_t i = 0; i < a->n && (!limit || i < limit); i++)
		if (!a->error)
			show_one(a, &a->items[i], show, context);
	if (!a->error)
		return 0;
	return cairn_fail(
	        err, CAIRN_E_SYSTEM,
	        "the answers of several threads do not fit into the "
	        "directory of temporary files: %s; ask with --context "
	        "or --limit",
	        strerror(a->error));
}
