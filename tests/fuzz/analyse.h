/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_ANALYSE_H
#define CAIRN_TESTS_ANALYSE_H

/* Everything that reports do with a .cairn file, short of printing. */
#include "analysis/bodies.h"
#include "analysis/callgraph.h"
#include "analysis/check.h"
#include "analysis/counts.h"
#include "analysis/inclusive.h"
#include "analysis/lines.h"
#include "analysis/totals.h"
#include "base/err.h"
#include "format/profile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void analyse(const uint8_t *data, size_t size)
{
	struct profile_options o = {.partial = true, .skip_missing = true};
	struct cairn_err err;
	struct profile *p;
	const char *path;
	char name[64];
	int fd = memfd_create("input", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	path = name;
	if (!profile_open(&p, &path, 1, &o, &err)) {
		struct counts *c = counts_new(p);
		struct lines *l = lines_new(c);
		struct totals *t = totals_new(c, l);
		struct bodies *b = bodies_new(c);
		struct callgraph *k = callgraph_new(c);
		struct inclusive *x = inclusive_new(c, k);
		struct findings f;

		check_profile(&f, c);
		findings_release(&f);
		inclusive_free(x);
		callgraph_free(k);
		bodies_free(b);
		totals_free(t);
		lines_free(l);
		counts_free(c);
		profile_free(p);
	}
	close(fd);
}

#endif /* CAIRN_TESTS_ANALYSE_H */
