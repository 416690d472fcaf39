/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of paths as JSON. */
#include "cli/overlap.h"

#include "base/json.h"
#include "cli/trace_input.h"
#include "format/profile.h"

#include <string.h>

static const char *const kinds[] = {"loop", "call", "return"};

static void put_number(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_totals(struct json *j, const char *key,
                       const struct overlap_totals *t, bool is_plain)
{
	json_key(j, key);
	json_begin(j, '{');
	put_number(j, "pairs", t->npairs);
	json_key(j, "real");
	json_count(j, t->real, !is_plain);
	put_number(j, "definite", t->definite);
	put_number(j, "tight_definite", t->tight_definite);
	put_number(j, "potential", t->potential);
	put_number(j, "exact", t->nexact);
	put_number(j, "tight_exact", t->ntight);
	json_end(j, '}');
}

static void put_sums(struct json *j, const struct overlap_bounds *b)
{
	bool is_plain = b->margins->profile->is_plain;

	json_begin(j, '{');
	if (b->degree != OVERLAP_PLAIN)
		put_number(j, "degree", (uint64_t)b->degree);
	for (int k = 0; k < OVERLAP_NKINDS; k++)
		put_totals(j, kinds[k], &b->all[k], is_plain);
	put_totals(j, "all", &b->sum, is_plain);
	json_end(j, '}');
}

static void put_excluded(struct json *j, const struct overlap_view *v)
{
	const struct overlap_excluded *x = &v->profile->excluded;

	json_key(j, "excluded");
	json_begin(j, '{');
	put_number(j, "irreducible", x->nirreducible);
	put_number(j, "unmarked", x->nunmarked);
	put_number(j, "entered", x->nentered);
	put_number(j, "cut", x->ncut);
	for (int k = 0; k < OVERLAP_NKINDS; k++) {
		char key[32] = "unfinished_";

		strncat(key, kinds[k], sizeof(key) - sizeof("unfinished_"));
		put_number(j, key, x->nunfinished[k]);
	}
	put_number(j, "all", overlap_excluded_sum(x));
	json_end(j, '}');
	json_key(j, "cut_functions");
	json_begin(j, '[');
	for (uint32_t i = 0; i < v->profile->nfunctions; i++)
		if (overlap_view_is_cut(v, i))
			json_string(j, trace_input_name(v->in, i));
	json_end(j, ']');
}

static void put_left_out(struct json *j, const struct overlap_left_out *x)
{
	json_key(j, "not_marked");
	json_begin(j, '{');
	put_number(j, "loop", x->nloops);
	put_number(j, "call", x->ncalls);
	put_number(j, "return", x->ncalls);
	put_number(j, "all", overlap_left_out_sum(x));
	json_end(j, '}');
}

static void put_degrees(struct json *j, const struct overlap_view *v)
{
	json_key(j, "degrees");
	json_begin(j, '[');
	for (uint32_t k = 0; k <= v->maximum; k++) {
		struct overlap_bounds b;

		overlap_bounds_init(&b, &v->margins, (int32_t)k);
		put_sums(j, &b);
		overlap_bounds_release(&b);
	}
	json_end(j, ']');
}

static void put_functions(struct json *j, const struct overlap_view *v)
{
	json_key(j, "functions");
	json_begin(j, '[');
	for (size_t i = 0; i < v->nfunctions && i < v->options.top; i++) {
		struct overlap_totals plain =
		        overlap_view_sum(&v->plain, v->functions[i]);
		struct overlap_totals bounds =
		        overlap_view_sum(&v->bounds, v->functions[i]);
		uint32_t line;
		const char *file =
		        trace_input_file(v->in, v->functions[i], &line);

		json_begin(j, '{');
		json_key(j, "name");
		json_string(j, trace_input_name(v->in, v->functions[i]));
		json_key(j, "file");
		json_string(j, file);
		put_number(j, "line", line);
		put_totals(j, "plain", &plain, v->profile->is_plain);
		put_totals(j, "bounds", &bounds, v->profile->is_plain);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_half(struct json *j, const struct overlap_view *v,
                     const char *key, const struct overlap_shown *s)
{
	json_key(j, key);
	json_begin(j, '{');
	json_key(j, "function");
	json_string(j, trace_input_name(v->in, s->function));
	json_key(j, "lines");
	json_string(j, s->lines);
	json_key(j, "blocks");
	json_begin(j, '[');
	for (uint32_t i = 0; i < s->nblocks; i++)
		json_u64(j, s->blocks[i]);
	json_end(j, ']');
	json_end(j, '}');
}

static void put_pair(struct json *j, const struct overlap_view *v,
                     const struct overlap_row *row)
{
	struct overlap_bound plain =
	        overlap_bounds_pair(&v->plain, row->kind, row->joint);
	struct overlap_bound b =
	        overlap_bounds_pair(&v->bounds, row->kind, row->joint);
	struct overlap_shown from, to;

	json_begin(j, '{');
	json_key(j, "kind");
	json_string(j, kinds[row->kind]);
	json_key(j, "count");
	json_count(j, row->joint->to.count, !v->profile->is_plain);
	put_number(j, "lower", b.lower);
	put_number(j, "tight_lower", b.tight_lower);
	put_number(j, "upper", b.upper);
	put_number(j, "plain_lower", plain.lower);
	put_number(j, "plain_tight_lower", plain.tight_lower);
	put_number(j, "plain_upper", plain.upper);
	overlap_view_halves(v, row, &from, &to);
	put_half(j, v, "from", &from);
	put_half(j, v, "to", &to);
	overlap_shown_release(&from);
	overlap_shown_release(&to);
	json_end(j, '}');
}

void overlap_json(const struct overlap_view *v, FILE *out)
{
	struct json j = {.out = out, .flat_below = 3};
	const struct overlap_profile *p = v->profile;

	json_begin(&j, '{');
	put_number(&j, "version", 1);
	json_key(&j, "program");
	json_string(&j, v->in->profile->program);
	put_number(&j, "findings", v->nfindings);
	put_number(&j, "paths", v->npaths);
	put_number(&j, "paths_in_loops", p->nin_loops);
	json_key(&j, "paths_in_calls");
	json_count(&j, p->nin_calls, p->knows_in_calls);
	put_number(&j, "maximum_degree", v->maximum);
	put_number(&j, "degree", v->degree);
	put_excluded(&j, v);
	put_left_out(&j, &p->left_out);
	json_key(&j, "plain");
	put_sums(&j, &v->plain);
	if (!v->options.plain) {
		json_key(&j, "bounds");
		put_sums(&j, &v->bounds);
	}
	if (v->options.choice == OVERLAP_EACH)
		put_degrees(&j, v);
	put_functions(&j, v);
	json_key(&j, "pairs");
	json_begin(&j, '[');
	for (size_t i = 0; i < v->nrows && i < v->options.top; i++)
		put_pair(&j, v, &v->rows[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	fprintf(out, "\n");
}
