/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_PLAIN_H
#define CAIRN_BASE_PLAIN_H

/* The path without . and .., by its text alone; the caller frees it. */
char *plain_path(const char *path);
/* The same of a file here, if it still names that file; else only without . and
 * double slashes.  Takes path over; the caller frees what is returned. */
char *plain_file(char *path);

#endif /* CAIRN_BASE_PLAIN_H */
