/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_LOCATION_H
#define CAIRN_REPLAY_LOCATION_H

#include <stddef.h>
#include <stdint.h>

#include "replay/value.h"

struct debug_variable;

/* Memory for values until a place is done with; {0} is an empty one. */
struct location_room {
	void **blocks;
	size_t n, cap;
};

void *location_room_take(struct location_room *r, size_t n); /* zeros */
void location_room_clear(struct location_room *r); /* keeps its own memory */
void location_room_release(struct location_room *r);

/*
 * The value of a local variable, from the words that a place handed over.
 * Memory: that of room, until it is cleared.
 */
void location_value(const struct debug_variable *v, const uint64_t *words,
                    const struct value_memory *m, struct location_room *room,
                    struct value *out);

#endif /* CAIRN_REPLAY_LOCATION_H */
