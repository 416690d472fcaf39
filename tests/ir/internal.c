/* SPDX-License-Identifier: Apache-2.0 */
/* A function that only marked functions of its file call does not look whether
 * the thread has counters: its callers have.  One whose address is known
 * elsewhere does.
 *
 * RUN: cairn-cc -O2 -S %s -o - | FileCheck-19 %s
 */

/* CHECK-LABEL: outer:
 * CHECK:         cmpq $0, %fs:__cairn_delta@TPOFF
 * CHECK-NEXT:    je
 * CHECK:         __cairn_link_with_cairn_cc
 * CHECK:       .Lfunc_end0:
 * CHECK-LABEL: inner:
 * CHECK-NOT:     %fs
 * CHECK-NOT:     __cairn_link_with_cairn_cc
 * CHECK:         incq
 * CHECK-NOT:     __cairn_link_with_cairn_cc
 * CHECK:       .Lfunc_end1:
 * CHECK-LABEL: handed_out:
 * CHECK:         cmpq $0, %fs:__cairn_delta@TPOFF
 * CHECK-NEXT:    je
 * CHECK:         __cairn_link_with_cairn_cc
 * CHECK:       .Lfunc_end2:
 */
static int inner(int a);

int outer(int a)
{
	return inner(a) + inner(a + 1);
}

__attribute__((noinline)) static int inner(int a)
{
	return a > 3 ? a * a : -a;
}

__attribute__((noinline)) static int handed_out(int a)
{
	return a ^ 5;
}

int (*pointer)(int) = handed_out;
