/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_LISTED_H
#define CAIRN_FORMAT_LISTED_H

#include <stdbool.h>

/* A list of path segments is text, and begins so. */
#define LISTED_MAGIC "cairn-segments 1 "

/* Does the file begin as one? */
bool listed_is_one(const char *path);

#endif /* CAIRN_FORMAT_LISTED_H */
