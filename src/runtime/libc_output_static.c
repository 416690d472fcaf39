/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Static executables that are recorded only.)  Hooks of output as the linker
 * puts them in place: the driver links with --wrap of each name, since libc has
 * some of them where it needs them itself.
 */
#include "runtime/output.h"

#define HIDDEN __attribute__((visibility("hidden")))

#define DECLARE(name)                          \
	HIDDEN __typeof__(name) __wrap_##name; \
	__typeof__(name) __real_##name;
#define HOOK(type, name, parameters) type __wrap_##name parameters
#define REAL(name) __real_##name

/* clang-format off: they are declarations */
OUTPUT_HOOKS(DECLARE)
/* clang-format on */

#include "runtime/libc_output.inc"

/* The driver asks for this member by this name. */
extern HIDDEN const char __cairn_output_static;
HIDDEN const char __cairn_output_static = 1;
