/* SPDX-License-Identifier: Apache-2.0 */
/* Bitcode that is marked already is not marked again, at either stage.
 *
 * RUN: cairn-cc -O2 -S -emit-llvm %s -o %t.ll
 * RUN: cairn-cc -O2 -S %t.ll -o %t.late.s
 * RUN: FileCheck-19 %s <%t.late.s
 * RUN: cairn-cc -O2 -S %s -o %t.direct.s
 * RUN: FileCheck-19 %s <%t.direct.s
 * RUN: cairn-cc -O2 --cairn-stage=source -S -emit-llvm %s -o %t.ll
 * RUN: cairn-cc -O2 --cairn-stage=source -S %t.ll -o %t.source.s
 * RUN: FileCheck-19 %s <%t.source.s
 */

/* CHECK-LABEL: once:
 * CHECK-COUNT-1: incq
 * CHECK-NOT:     incq
 * CHECK:       .Lfunc_end0:
 */
void once(int *p)
{
	*p = 3;
}
