/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_DEMANGLE_H
#define CAIRN_CLI_DEMANGLE_H

/* The C++ name behind a linkage name; the caller frees it.  NULL if it is no
 * C++ name or no C++ library is installed. */
char *demangle(const char *name);

#endif /* CAIRN_CLI_DEMANGLE_H */
