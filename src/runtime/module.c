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
/* lld defines it only for those who ask before LTO has run. */
extern HIDDEN const unsigned char __ehdr_start[] __attribute__((weak));

/*
 * In delta.c, which only code of an executable asks for, in common.c and in
 * exe.c there is another definition, which is not weak.  A weak reference would
 * not do: in a shared object gold gives one that is hidden the address of the
 * ELF header.
 */
HIDDEN bool cairn_delta_set(int64_t delta);
extern HIDDEN const char __cairn_executable;
HIDDEN int64_t *cairn_common_word(void);

__attribute__((weak)) bool cairn_delta_set(int64_t delta)
{
	(void)delta;
	return true;
}

__attribute__((weak)) int64_t *cairn_common_word(void)
{
	return NULL;
}

__attribute__((weak)) const char __cairn_executable = 0;

HIDDEN int64_t __cairn_module_offset;

HIDDEN struct cairn_module cairn_module = {
        .version = RT_VERSION,
        .counters = __start_cairn_cnts,
        .counters_end = __stop_cairn_cnts,
        .ehdr = __ehdr_start,
        .offset = &__cairn_module_offset,
        .set_delta = cairn_delta_set,
        .common_word = cairn_common_word,
        .is_executable = &__cairn_executable,
};

/* Called by the slow call, slow.S. */
HIDDEN int64_t cairn_module_slow(void);

int64_t cairn_module_slow(void)
{
	return __cairn_core_slow(&cairn_module);
}

__attribute__((constructor(101))) static void module_load(void)
{
	__cairn_core_load(&cairn_module);
}

__attribute__((destructor(101))) static void module_unload(void)
{
	/* an executable stays until the end */
	if (!__cairn_executable)
		__cairn_core_unload(&cairn_module);
}
