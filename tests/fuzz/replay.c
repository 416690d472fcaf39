/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzzer over files and directories without libFuzzer, so that
 * `make check` replays every corpus with the compiler at hand.  Link with one
 * fuzz_X.c.  Prints the number of inputs; a crash is the failure.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns 1 if the file could be run. */
static unsigned run_file(const char *path, off_t size)
{
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f || !data) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		exit(2);
	}
	n = fread(data, 1, (size_t)size, f);
	fclose(f);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 1;
}

static unsigned run_path(const char *path)
{
	struct dirent **names;
	struct stat st;
	unsigned done = 0;
	int n;

	if (stat(path, &st)) {
		fprintf(stderr, "replay: cannot find %s\n", path);
		exit(2);
	}
	if (!S_ISDIR(st.st_mode))
		return run_file(path, st.st_size);
	n = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char child[4096];

		snprintf(child, sizeof(child), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			done += run_path(child);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return done;
}

int main(int argc, char **argv)
{
	unsigned done = 0;

	for (int i = 1; i < argc; i++)
		done += run_path(argv[i]);
	printf("%u inputs\n", done);
	return done ? 0 : 1;
}
