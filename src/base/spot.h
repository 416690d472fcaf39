/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_SPOT_H
#define CAIRN_BASE_SPOT_H

#include <stdbool.h>
#include <stdint.h>

/* A line of the source, as users write it: FILE:LINE. */
struct spot {
	char *file;
	uint32_t line; /* from 1 on */
};

/* False, and *s is untouched, if the text is not of this form. */
bool spot_parse(struct spot *s, const char *text);
void spot_release(struct spot *s);

/* FILE means every path that ends with it, from a slash on; . and .. in it do
 * not matter. */
bool spot_is_file(const char *path, const char *file);

#endif /* CAIRN_BASE_SPOT_H */
