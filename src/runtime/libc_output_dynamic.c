/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables that are recorded only, unless linked statically.)  Hooks of
 * output by libc's own names, for shared objects as well; what is behind them
 * is looked up at the start.
 */
#include "runtime/output.h"

#include <dlfcn.h>

#include "runtime/exe.h"

/* weak: a program may have its own */
#define SHOWN __attribute__((visibility("default"), weak))
#define HIDDEN __attribute__((visibility("hidden")))

#define DECLARE(name)                       \
	SHOWN extern __typeof__(name) name; \
	static __typeof__(name) *real_##name;
#define HOOK(type, name, parameters) type name parameters
#define REAL(name) real_##name

/* clang-format off: they are declarations */
OUTPUT_HOOKS(DECLARE)
/* clang-format on */

#include "runtime/libc_output.inc"

/* The driver asks for this member by this name. */
extern HIDDEN const char __cairn_output_dynamic;
HIDDEN const char __cairn_output_dynamic = 1;

void cairn_output_start(void)
{
	void *p;

#define LOOK_UP(name)                \
	p = dlsym(RTLD_NEXT, #name); \
	__builtin_memcpy(&real_##name, &p, sizeof(p));
	OUTPUT_HOOKS(LOOK_UP)
}
