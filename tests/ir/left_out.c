/* SPDX-License-Identifier: Apache-2.0 */
/* A file whose functions are all left out has a map that says so, in all
 * modes. */

// RUN: cairn-cc --cairn=edges -O1 -w %s -o %t
// RUN: CAIRN_OUT=%t.edges %t
// RUN: cairn report %t.edges | grep -q ", 1 not covered"
// RUN: cairn-cc --cairn=edges,all -O1 -w %s -o %t
// RUN: CAIRN_OUT=%t.all %t
// RUN: cairn report %t.all | grep -q ", 1 not covered"
// RUN: cairn-cc --cairn=paths -O1 -w %s -o %t
// RUN: CAIRN_OUT=%t.paths %t
// RUN: cairn report %t.paths | grep -q ", 1 not covered"
// RUN: cairn-cc --cairn=trace -O1 -w %s -o %t
// RUN: CAIRN_OUT=%t.trace %t
// RUN: cairn report %t.trace | grep -q ", 1 not covered"
// RUN: cairn-cc --cairn=record -O1 -w -DNAKED %s -o %t
// RUN: CAIRN_OUT=%t.record %t
// RUN: cairn report %t.record | grep -q ", 1 not covered"
// RUN: cairn-cc --cairn=edges --cairn-stage=source -O1 -w %s -o %t
// RUN: CAIRN_OUT=%t.early %t
// RUN: cairn report %t.early | grep -q ", 1 not covered"

#ifdef NAKED /* asm goto is recorded */
__attribute__((naked)) int main(void)
{
	__asm__("xorl %eax, %eax\n\tret");
}
#else
int main(void)
{
	__asm__ goto("jmp %l0" : : : : out);
	return 1;
out:
	return 0;
}
#endif
