/* SPDX-License-Identifier: Apache-2.0 */
/* Path segments as JSON; docs/FORMAT.md has the schema. */
#include "cli/ips.h"

#include "base/json.h"

#include <stdlib.h>

#define JSON_VERSION 1

static void put_row(struct ips *x, struct json *j, const struct ips_row *row)
{
	struct segments_one one;
	char *text;

	ips_read(x, row, &one);
	json_begin(j, '{');
	json_key(j, "root");
	json_string(j, x->names[ips_root(x, &one)]);
	json_key(j, "count");
	json_u64(j, row->count);
	json_key(j, "depth");
	json_u64(j, row->depth);
	json_key(j, "end");
	json_string(j, ips_end_name(x, &one));
	json_key(j, "chosen");
	json_bool(j, row->is_chosen);
	text = ips_path(x, &one, false);
	json_key(j, "path");
	json_string(j, text);
	free(text);
	text = ips_lines(x, &one);
	json_key(j, "lines");
	json_string(j, text);
	free(text);
	json_end(j, '}');
}

static void put_copy(const struct ips *x, struct json *j, uint32_t copy)
{
	const struct segments_copy *c = &x->s.copies[copy];

	json_begin(j, '{');
	json_key(j, "root");
	json_string(j, x->names[c->root]);
	json_key(j, "in");
	json_string(j, x->names[x->s.copies[c->parent].function]);
	json_key(j, "block");
	json_u64(j, c->site);
	json_key(j, "calls");
	json_string(j, x->names[c->function]);
	json_key(j, "depth");
	json_u64(j, c->depth);
	json_end(j, '}');
}

void ips_json(struct ips *x, FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};

	json_begin(&j, '{');
	json_key(&j, "version");
	json_u64(&j, JSON_VERSION);
	json_key(&j, "program");
	json_string(&j, x->program);
	json_key(&j, "planned");
	json_bool(&j, x->s.is_planned);
	json_key(&j, "executions");
	json_u64(&j, x->executions);
	json_key(&j, "other_executions");
	json_u64(&j, x->nother);
	json_key(&j, "lost_executions");
	json_u64(&j, x->nlost);
	json_key(&j, "calls");
	json_begin(&j, '[');
	for (uint32_t i = x->nfunctions; i < x->s.ncopies; i++)
		put_copy(x, &j, i);
	json_end(&j, ']');
	json_key(&j, "segments");
	json_begin(&j, '[');
	for (size_t i = 0; i < x->nrows; i++)
		put_row(x, &j, &x->rows[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	fputc('\n', out);
}
