/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delta of code that runs while the program is loaded: the same for all
 * threads, 0 until the module has a shard for it (core.c).
 *
 * A member of its own in the archive: only such code names the word and so
 * brings it in, and with it what module.c has a weak version of.
 */
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int64_t __cairn_common;

HIDDEN int64_t *cairn_common_word(void);

int64_t *cairn_common_word(void)
{
	return &__cairn_common;
}
