/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all subcommands share: input options, errors, output.  Results go to
 * stdout and nothing else does; a file named with -o is written whole or not
 * at all.
 */
#include "cli/cli.h"

#include "base/alloc.h"
#include "base/err.h"
#include "format/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const struct cairn_err *err)
{
	fprintf(stderr, "cairn: %s\n", err->text);
	return CLI_ERROR;
}

int cli_usage(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "cairn: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see cairn %s%s--help\n", command,
	        *command ? " " : "");
	return CLI_ERROR;
}

bool cli_input_option(struct cli_inputs *in, int option, const char *arg)
{
	struct profile_options *o = &in->options;

	switch (option) {
	case CLI_OPT_EXE:
		VEC_RESERVE(in->exes, o->nexes, in->exes_cap);
		in->exes[o->nexes++] = arg;
		o->exes = in->exes;
		return true;
	case CLI_OPT_PARTIAL:
		o->partial = true;
		return true;
	case CLI_OPT_SKIP:
		o->skip_missing = true;
		return true;
	default:
		return false;
	}
}

void cli_inputs_release(struct cli_inputs *in)
{
	free(in->exes);
	*in = (struct cli_inputs){0};
}

struct profile *cli_open(struct cli_inputs *in, char **paths, int npaths)
{
	struct profile *p;
	struct cairn_err err;

	if (profile_open(&p, (const char *const *)paths, (size_t)npaths,
	                 &in->options, &err)) {
		cli_fail(&err);
		return NULL;
	}
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].missing)
			fprintf(stderr, "cairn: left out: %s\n",
			        p->modules[i].missing);
	return p;
}

void cli_output_begin(struct cli_output *o, const char *path)
{
	*o = (struct cli_output){.path = path};
	o->stream = path ? open_memstream(&o->data, &o->size) : stdout;
	if (!o->stream) {
		fprintf(stderr, "cairn: out of memory\n");
		exit(CLI_ERROR);
	}
}

int cli_output_end(struct cli_output *o, int status)
{
	struct cairn_err err = {0};

	if (!o->path) {
		if (!fflush(stdout) && !ferror(stdout))
			return status;
		cairn_fail(&err, CAIRN_E_SYSTEM,
		           "stdout: cannot write: %s; make room, or name a "
		           "file with -o",
		           strerror(errno));
		return cli_fail(&err);
	}
	fclose(o->stream);
	if (writer_replace(o->path, o->data, o->size, &err))
		status = cli_fail(&err);
	free(o->data);
	return status;
}
