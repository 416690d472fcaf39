/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_TRACE_FUNCTION_H
#define CAIRN_PLUGIN_TRACE_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/codes.h"
#include "graph/increments.h"
#include "graph/witness.h"

/* What trace.c has chosen for a function, and trace_code.c makes code of. */

/* What stands at a place: an operation on the history, or a witness. */
struct trace_op {
	enum increment_place place;
	uint32_t where; /* edge or block */
	const struct codes_op *op;
	uint32_t witness; /* if there is no op */
};

/* It has codes or a witness; the other one is {0}. */
struct function_trace {
	bool has_witness;
	struct codes codes;
	struct codes_ops codes_ops;
	struct witness witness;
	struct trace_op *ops;
	uint32_t nops;
	const struct trace_op **on_edge; /* per edge, or NULL */
};

#endif /* CAIRN_PLUGIN_TRACE_FUNCTION_H */
