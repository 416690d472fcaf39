/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of LLVM: some are several lines, some end as sentences do.
 */
#include "ir/said.h"

#include <string.h>

size_t ir_said(const char *message)
{
	size_t n = strcspn(message, "\n");

	while (n && strchr(".! \t", message[n - 1]))
		n--;
	return n;
}
