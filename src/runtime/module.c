/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every instrumented module has of its own: the bounds of its counters and
 * of its places of path registers, the slow calls, and a word to the core when
 * it comes and goes.
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
/* Only where paths are counted; else both are 0 (gold: both the same). */
extern HIDDEN const unsigned char __start_cairn_regs[] __attribute__((weak));
extern HIDDEN const unsigned char __stop_cairn_regs[] __attribute__((weak));
/* lld defines it only for those who ask before LTO has run. */
extern HIDDEN const unsigned char __ehdr_start[] __attribute__((weak));

/*
 * In delta.c, which only code of an executable asks for, in common.c and in
 * exe.c there is another definition, which is not weak.  A weak reference would
 * not do: in a shared object gold gives one that is hidden the address of the
 * ELF header.
 */
HIDDEN bool cairn_delta_set(int64_t delta);
extern HIDDEN const char __cairn_executable, __cairn_recording;
extern HIDDEN struct record_turns *__cairn_record_turns;
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
__attribute__((weak)) const char __cairn_recording = 0; /* record.c */
/* record_turns.c */
__attribute__((weak)) struct record_turns *__cairn_record_turns = NULL;

HIDDEN int64_t __cairn_module_offset;

HIDDEN struct cairn_module cairn_module = {
        .version = RT_VERSION,
        .counters = __start_cairn_cnts,
        .counters_end = __stop_cairn_cnts,
        .ehdr = __ehdr_start,
        .offset = &__cairn_module_offset,
        .set_delta = cairn_delta_set,
        .regs = __start_cairn_regs,
        .regs_end = __stop_cairn_regs,
        .common_word = cairn_common_word,
        .is_executable = &__cairn_executable,
        .is_recording = &__cairn_recording,
        .turns = &__cairn_record_turns,
};

/* Called by the slow calls, slow.S. */
HIDDEN int64_t cairn_module_slow(void);
HIDDEN void cairn_module_count_call(uint64_t site, uint64_t callee,
                                    uint64_t paths);
HIDDEN void cairn_module_count_path(uint64_t *words, uint64_t r);

int64_t cairn_module_slow(void)
{
	return __cairn_core_slow(&cairn_module);
}

void cairn_module_count_call(uint64_t site, uint64_t callee, uint64_t paths)
{
	__cairn_core_count_call(site, callee, paths);
}

void cairn_module_count_path(uint64_t *words, uint64_t r)
{
	__cairn_core_count_path(&cairn_module, words, r);
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
