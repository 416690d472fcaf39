/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks in a stream, for those who have to know what was read of frames that
 * had left by then, of which the walk says nothing.
 *
 * Requires: what is looked at is in the part that the walk has at hand.
 */
#include "walk/marks.h"

#include "abi/trace.h"
#include "base/bytes.h"
#include "walk/walk.h"

size_t marks_next(const struct walk *w, size_t at)
{
	while (at < w->nbytes &&
	       (w->bytes[at] == 0 || w->bytes[at] == CAIRN_TRACE_PAD))
		at++;
	return at;
}

bool marks_is_end(const struct walk *w, size_t at)
{
	return at < w->nbytes && (w->bytes[at] == CAIRN_TRACE_DEATH ||
	                          w->bytes[at] == CAIRN_TRACE_CUT);
}

bool marks_call(const struct walk *w, size_t at, uint32_t *address)
{
	if (w->nbytes - at < MARKS_SIZE || w->bytes[at] != CAIRN_TRACE_DEATH)
		return false;
	*address = get_le32(w->bytes + at + 1);
	return true;
}
