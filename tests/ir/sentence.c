/* SPDX-License-Identifier: Apache-2.0 */
/* What LLVM says when it gives up is a part of a sentence of ours. */

// RUN: ! cairn-cc --cairn=edges -fsplit-stack -c %s -o %t.o 2>%t.said
// RUN: grep -q "vararg functions; compile this file with clang" %t.said
// RUN: test $(wc -l <%t.said) = 1

int first(int n, ...)
{
	__builtin_va_list list;
	int x;

	__builtin_va_start(list, n);
	x = __builtin_va_arg(list, int);
	__builtin_va_end(list);
	return x;
}
