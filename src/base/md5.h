/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_MD5_H
#define CAIRN_BASE_MD5_H

#include <stddef.h>

#define MD5_SIZE 16

/* The MD5 of n bytes (RFC 1321), which compilers put into debug information.
 * It tells texts apart that changed; it is no proof against an adversary. */
void md5(const void *data, size_t n, unsigned char digest[MD5_SIZE]);

#endif /* CAIRN_BASE_MD5_H */
