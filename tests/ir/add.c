/* SPDX-License-Identifier: Apache-2.0 */
/* A counter is one instruction; the prologue is two.  In a shared object, and
 * with nogs, nothing of ours touches %gs.
 *
 * RUN: cairn-cc -O2 -S %s -o %t
 * RUN: FileCheck-19 %s <%t
 * RUN: cairn-cc -O2 -fPIC -S %s -o %t
 * RUN: FileCheck-19 --check-prefix=TABLE %s <%t
 * RUN: cairn-cc -O2 --cairn=edges,nogs -S %s -o %t
 * RUN: FileCheck-19 --check-prefix=TABLE %s <%t
 */

/* CHECK-LABEL: branches:
 * CHECK:         cmpq $0, %fs:__cairn_delta@TPOFF
 * CHECK-NEXT:    je
 * CHECK-NOT:     {{add|sub|mov|lea}}q {{.*}}Lcairn_cnt0
 * CHECK-NOT:     lock
 * CHECK:         incq %gs:.Lcairn_cnt0.{{[0-9a-f]+}}(%rip)
 * CHECK-NOT:     lock
 * CHECK-NOT:     {{add|sub|mov|lea}}q {{.*}}Lcairn_cnt0
 * CHECK:         __cairn_link_with_cairn_cc
 * CHECK:       .Lfunc_end0:
 *
 * TABLE-LABEL: branches:
 * TABLE-NOT:     %gs
 * TABLE-DAG:     __cairn_thread@{{(GOT)?}}TPOFF
 * TABLE-DAG:     leaq .Lcairn_cnt0.{{[0-9a-f]+}}(%rip), [[BASE:%r[a-z0-9]+]]
 * TABLE-NOT:     %gs
 * TABLE-NOT:     lock
 * TABLE:         incq {{[0-9]*}}([[BASE]]
 * TABLE-NOT:     %gs
 * TABLE:         __cairn_link_with_cairn_cc
 * TABLE:       .Lfunc_end0:
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
