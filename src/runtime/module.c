/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every instrumented module has of its own: the bounds of its counters,
 * the slow call, and a word to the core when it comes and goes.
 *
 * The core is found by name at load time, so that all modules of a process
 * share the executable's; nothing here is seen outside the module.
 *
 * Cost: nothing after the first call of each thread.
 */
#include "runtime/rt.h"

#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN uint64_t __start_cairn_cnts[] __attribute__((weak));
extern HIDDEN uint64_t __stop_cairn_cnts[] __attribute__((weak));
extern HIDDEN const unsigned char __ehdr_start[];

/* In delta.c, which only code of an executable asks for. */
extern HIDDEN void cairn_delta_set(int64_t delta) __attribute__((weak));

HIDDEN int64_t __cairn_module_offset;

extern HIDDEN const char __cairn_executable __attribute__((weak));

static struct cairn_module module = {
        .version = RT_VERSION,
        .counters = __start_cairn_cnts,
        .counters_end = __stop_cairn_cnts,
        .ehdr = __ehdr_start,
        .offset = &__cairn_module_offset,
        .set_delta = cairn_delta_set,
};

/* Called by the slow call, slow.S. */
HIDDEN int64_t cairn_module_slow(void);

int64_t cairn_module_slow(void)
{
	return __cairn_core_slow(&module);
}

__attribute__((constructor(101))) static void module_load(void)
{
	__cairn_core_load(&module);
}

__attribute__((destructor(101))) static void module_unload(void)
{
	/* an executable stays until the end */
	if (!&__cairn_executable)
		__cairn_core_unload(&module);
}
