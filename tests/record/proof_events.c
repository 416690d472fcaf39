/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a recording, as tools/decode.py does, in lines: what the C reader
 * finds has to be the same.
 *
 * proof_events FILE
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "format/recording.h"

static void print_place(uint64_t cell)
{
	printf(" %" PRIu64 " %" PRIu64, cell >> CAIRN_CELL_BITS,
	       cell & (((uint64_t)1 << CAIRN_CELL_BITS) - 1));
}

static void print_other(const struct recording_event *e)
{
	static const char *const names[CAIRN_NOTHERS] = {
	        "END",  "STACK",  "SYNC", "BEGIN", "STOP",
	        "FORK", "FORGET", "ZERO", "ENV",   "OUT",
	        "OUT",  "TURN",   "CAME", "HALT",  "LEFT",
	};
	static const unsigned n[CAIRN_NOTHERS] = {0, 1, 1, 3, 0, 3, 0, 2,
	                                          1, 4, 4, 2, 3, 2, 2};

	printf(" %s", names[e->what]);
	if (recording_has_cell(e))
		print_place(e->cell);
	for (unsigned i = 0; i < n[e->what]; i++)
		printf(" %" PRIu64, e->value[i]);
	if (e->what != CAIRN_OTHER_OUT)
		return;
	printf(" %zu ", e->nbytes);
	for (size_t i = 0; e->bytes && i < e->nbytes; i++)
		printf("%02x", e->bytes[i]);
}

static void print_event(const struct recording_event *e)
{
	printf("%" PRIu64, e->tick);
	switch (e->kind) {
	case CAIRN_EVENT_IN:
		printf(" IN");
		print_place(e->cell);
		printf(" %" PRIu64 " ", e->offset);
		for (size_t i = 0; i < e->nbytes; i++)
			printf("%02x", e->bytes[i]);
		break;
	case CAIRN_EVENT_CALLBACK:
		printf(" CALLBACK");
		print_place(e->cell);
		break;
	case CAIRN_EVENT_BACK:
		printf(" BACK");
		print_place(e->cell);
		printf(" %" PRIu64, e->frame);
		break;
	case CAIRN_EVENT_OTHER:
		print_other(e);
		break;
	}
	printf("\n");
}

static int print_context(const struct recording *r,
                         const struct recording_context *c,
                         struct cairn_err *err)
{
	struct recording_event e;
	struct recording_log l;
	int rc;

	printf("context %" PRIu32 " kind %" PRIu32 " thread %" PRIu32
	       " tid %" PRIu32 "\n",
	       c->number, c->kind, c->thread, c->tid);
	recording_log_init(&l, r, c);
	while ((rc = recording_next_event(&l, &e, err)) > 0)
		print_event(&e);
	recording_log_release(&l);
	return rc;
}

static int print_recording(const struct recording *r, struct cairn_err *err)
{
	for (size_t i = 0; i < r->nmodules; i++)
		printf("module %" PRIu32 " %s %" PRIu64 " %" PRIu64 " %" PRIu64
		       "\n",
		       r->modules[i].number, r->modules[i].path,
		       r->modules[i].cells, r->modules[i].ncells,
		       r->modules[i].bias);
	for (size_t i = 0; i < r->ncontexts; i++)
		CAIRN_TRY(print_context(r, &r->contexts[i], err));
	return 0;
}

int main(int argc, char **argv)
{
	struct recording r;
	struct cairn_err err;
	int rc;

	if (argc != 2)
		return 2;
	rc = recording_open(&r, argv[1], CONTAINER_WHOLE, &err);
	if (rc == 0) {
		rc = print_recording(&r, &err);
		recording_release(&r);
	}
	if (rc < 0)
		fprintf(stderr, "%s\n", err.text);
	return rc < 0;
}
