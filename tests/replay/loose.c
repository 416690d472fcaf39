/* SPDX-License-Identifier: Apache-2.0 */
/* As rounding.c; the language does not say which mode is in force where. */
#define LOOSE
#include "rounding.c"
