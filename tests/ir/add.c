/* SPDX-License-Identifier: Apache-2.0 */
/* A counter is one instruction; the prologue is three.
 *
 * RUN: cairn-cc -O2 -S %s -o %t
 * RUN: FileCheck-19 %s <%t
 * RUN: test $(grep -c 'Lcairn_cnt0(%rip)' %t) = 1
 */
int work(int);

/* CHECK-LABEL: branches:
 * CHECK:         leaq .Lcairn_cnt0(%rip), [[BASE:%r[a-z0-9]+]]
 * CHECK-NEXT:    addq %fs:__cairn_delta@TPOFF, [[BASE]]
 * CHECK-NEXT:    js
 * CHECK-NOT:     {{add|sub|mov}}q {{.*}}, {{[0-9]*}}([[BASE]])
 * CHECK-NOT:     lock
 * CHECK:         incq {{[0-9]*}}([[BASE]])
 * CHECK-NOT:     lock
 * CHECK-NOT:     {{add|sub|mov}}q {{.*}}, {{[0-9]*}}([[BASE]])
 * CHECK:         __cairn_link_with_cairn_cc
 * CHECK:       .Lfunc_end0:
 */
int branches(int a, int *p)
{
	if (a > 5)
		p[a] = 1;
	else if (a == 3)
		p[7] = 2;
	else
		p[a] ^= 9;
	return *p;
}
