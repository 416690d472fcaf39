/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between library_main.c and library.c. */
#ifndef CAIRN_TESTS_LIBRARY_H
#define CAIRN_TESTS_LIBRARY_H

int library_walk(int n, int (*visit)(int));
int library_twice(int n);

#endif /* CAIRN_TESTS_LIBRARY_H */
