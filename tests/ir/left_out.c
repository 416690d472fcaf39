/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file whose functions are all left out has a map that says so, in all modes.
 *
 * RUN: for m in edges edges,all paths trace record; do cairn-cc --cairn=$m -O1
 * -w %s -o %t; CAIRN_OUT=%t.$m %t; cairn report %t.$m | grep -q ", 1 not
 * covered"; done RUN: cairn-cc --cairn=edges --cairn-stage=source -O1 %s -o %t;
 * CAIRN_OUT=%t.early %t; cairn report %t.early | grep -q ", 1 not covered"
 */
int main(void)
{
	__asm__ goto("jmp %l0" : : : : out);
	return 1;
out:
	return 0;
}
