/* SPDX-License-Identifier: Apache-2.0 */
/* Tail calls stay tail calls, also those that share a return.
 *
 * RUN: cairn-cc -O2 -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O2 --cairn=edges,all -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O2 --cairn=edges,strict -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O2 -g --cairn=edges,slow -S %s -o - | FileCheck-19 %s
 */
int one(int), two(int);

/* CHECK-LABEL: choose:
 * CHECK-NOT:     callq {{one|two}}
 * CHECK-DAG:     jmp one@PLT # TAILCALL
 * CHECK-DAG:     jmp two@PLT # TAILCALL
 * CHECK:       .Lfunc_end0:
 */
int choose(int a, int b)
{
	if (a > 3)
		return one(a);
	if (b > 7 && a < 2)
		return two(b);
	return 3;
}
