/* SPDX-License-Identifier: Apache-2.0 */
/* What was counted of pairs of paths. */
#include "analysis/overlap.h"

#include <stdlib.h>

void overlap_profile_release(struct overlap_profile *p)
{
	free(p->sites);
	free(p->paths);
	free(p->calls);
	free(p->counts);
	*p = (struct overlap_profile){0};
}

uint64_t overlap_excluded_sum(const struct overlap_excluded *x)
{
	uint64_t sum = x->nirreducible + x->nunmarked + x->nentered;

	for (int i = 0; i < OVERLAP_NKINDS; i++)
		sum += x->nunfinished[i];
	return sum;
}
