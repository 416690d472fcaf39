/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the parser of map sections, as they are and with their checksums put
 * right.
 */
#include "mend.h"

#include "base/err.h"
#include "format/map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *data, size_t size)
{
	struct cairn_err err;
	struct map *m;

	if (!map_parse(data, size, "input", &m, &err))
		map_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	parse(data, size);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	mend_map(copy, size);
	parse(copy, size);
	free(copy);
	return 0;
}
