/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes everything behind a .cairn file: container, maps inside it, frames,
 * recovery of counts, lines, doctor.  The input is one file.
 */
#include "analysis/check.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/err.h"
#include "format/container.h"
#include "format/profile.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void analyse(const struct profile *p)
{
	struct counts *c = counts_new(p);
	struct lines *l = lines_new(c);
	struct findings f;

	check_profile(&f, c);
	findings_release(&f);
	lines_free(l);
	counts_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_options o = {.partial = true, .skip_missing = true};
	struct container c;
	struct cairn_err err;
	struct profile *p;
	const char *path;
	char name[64];
	int fd;

	if (!container_parse(&c, "input", data, size, CONTAINER_WHOLE, &err))
		container_release(&c);
	fd = memfd_create("input", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	path = name;
	if (!profile_open(&p, &path, 1, &o, &err)) {
		analyse(p);
		profile_free(p);
	}
	close(fd);
	return 0;
}
