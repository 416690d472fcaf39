/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes everything behind a .cairn file: container, maps inside it, frames,
 * recovery of counts, lines, doctor.  The input is one file, taken as it is
 * and with its checksums put right.
 */
#include "analyse.h"
#include "mend.h"

#include "format/container.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct container c;
	struct cairn_err err;

	if (!container_parse(&c, "input", data, size, CONTAINER_WHOLE, &err))
		container_release(&c);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	mend_container(copy, size);
	analyse(copy, size);
	free(copy);
	return 0;
}
