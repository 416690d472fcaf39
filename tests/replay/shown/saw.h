/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs say what cairn has to show: SAW(expressions, format of their values)
 * at its own line, WAS(variable, format) for the line above it, when that was
 * executed.
 */
#include <stdio.h>

#define SAW(names, ...) \
	(printf("print|%d|%s|", __LINE__, names), printf(__VA_ARGS__), puts(""))
#define WAS(name, ...)                                                     \
	(printf("values|%d|%s|", __LINE__ - 1, name), printf(__VA_ARGS__), \
	 puts(""))
