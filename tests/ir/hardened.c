/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that LLVM cannot both harden and note the return of stay hardened; a
 * trace leaves their functions out. */

// RUN: cairn-cc --cairn=edges -O2 -fcf-protection=full -c %s -o %t.o
// RUN: objdump -d %t.o | grep -q notrack
// RUN: cairn-cc --cairn=trace -O2 -fcf-protection=full -c %s -o %t.o
// RUN: objdump -d %t.o | grep -q notrack
// RUN: cairn-cc --cairn=paths -O2 -fsanitize=kcfi -c %s -o %t.o
// RUN: objdump -d %t.o | grep -q ud2
// RUN: cairn-cc --cairn=trace -O2 -mretpoline %s -o %t
// RUN: CAIRN_OUT=%t.cairn %t
// RUN: cairn report %t.cairn | grep -q "indirect: LLVM cannot note"
// RUN: cairn report %t.cairn | grep -q "functions 2 of 2 executed"

__attribute__((noinline, nocf_check)) static int one(int x)
{
	return x - 1;
}

static int (*volatile f)(int) __attribute__((nocf_check)) = one;

__attribute__((noinline)) static int indirect(int x)
{
	return 2 * f(x);
}

int main(void)
{
	return indirect(1);
}
