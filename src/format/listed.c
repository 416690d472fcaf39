/* SPDX-License-Identifier: Apache-2.0 */
/* How a list of path segments is told from a profile: docs/FORMAT.md, 17. */
#include "format/listed.h"

#include "base/regular.h"

#include <stdio.h>
#include <string.h>

bool listed_is_one(const char *path)
{
	char start[sizeof(LISTED_MAGIC)] = "";
	FILE *f = regular_stream(path, "name a list", NULL);

	if (!f)
		return false;
	if (!fgets(start, sizeof(start), f))
		*start = 0;
	fclose(f);
	return strcmp(start, LISTED_MAGIC) == 0;
}
