/* SPDX-License-Identifier: Apache-2.0 */
/* A leaf function keeps no frame: the call that it makes once per thread saves
 * what it has to itself.
 *
 * RUN: cairn-cc -O2 -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O2 -fPIC -S %s -o - | FileCheck-19 %s
 */

/* CHECK-LABEL: leaf:
 * CHECK-NOT:     push
 * CHECK-NOT:     subq {{.*}}, %rsp
 * CHECK:         incq
 * CHECK-NOT:     push
 * CHECK:         ret
 * CHECK-NOT:     push
 * CHECK:         leaq -128(%rsp), %rsp
 * CHECK-NEXT:    callq __cairn_link_with_cairn_cc
 * CHECK-NEXT:    leaq 128(%rsp), %rsp
 * CHECK-NOT:     push
 * CHECK:       .Lfunc_end0:
 */
int leaf(int a, int *p)
{
	if (a > *p)
		*p = a;
	return a * 5;
}
