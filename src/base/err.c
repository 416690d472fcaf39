/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sentence per failure.  See err.h for the rules.
 */
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cairn_fail(struct cairn_err *err, int code, const char *format, ...)
{
	if (err) {
		va_list args;

		err->code = code;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return code;
}

int cairn_fail_in(struct cairn_err *err, const char *file,
                  const struct cairn_err *what)
{
	if (err && !strncmp(what->text, file, strlen(file)))
		*err = *what;
	else if (err)
		cairn_fail(err, what->code, "%s: %s", file, what->text);
	return what->code;
}

int cairn_corrupt(struct cairn_err *err, const char *file, uint64_t offset,
                  const char *format, ...)
{
	if (err) {
		char what[512];
		va_list args;

		va_start(args, format);
		vsnprintf(what, sizeof(what), format, args);
		va_end(args);
		err->code = CAIRN_E_CORRUPT;
		snprintf(err->text, sizeof(err->text),
		         "%s: damaged at byte %" PRIu64 ": %s", file, offset,
		         what);
	}
	return CAIRN_E_CORRUPT;
}
