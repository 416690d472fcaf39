/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_BUILTINS_H
#define CAIRN_TESTS_BUILTINS_H

/* Jumps to the buffer, from n frames further down. */
void far_jump(void **buffer, int n);
/* Jumps out of n frames to itself; none if n is 0. */
int far_catch(int i, int n);

#endif /* CAIRN_TESTS_BUILTINS_H */
