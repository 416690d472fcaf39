/* SPDX-License-Identifier: Apache-2.0 */
/* Marks in a loop without calls count from a register that is made before the
 * loop; those in a loop with calls need none.
 *
 * RUN: cairn-cc -O2 -S %s -o %t
 * RUN: FileCheck-19 %s <%t
 */
int work(int);

/* CHECK-LABEL: quiet:
 * CHECK-DAG:     leaq .Lcairn_cnt0.{{[0-9a-f]+}}(%rip)
 * CHECK-DAG:     addq %fs:__cairn_delta@TPOFF
 * CHECK:         incq {{[0-9]*}}(%r{{[a-z0-9]+}})
 * CHECK:       .Lfunc_end0:
 */
unsigned quiet(const unsigned *p, unsigned n)
{
	unsigned sum = 0;

	for (; n; n = p[n])
		sum = n & 4 ? sum * 31 + n : p[sum];
	return sum;
}

/* CHECK-LABEL: busy:
 * CHECK-NOT:     leaq .Lcairn_cnt1
 * CHECK:         incq %gs:.Lcairn_cnt1
 * CHECK-NOT:     leaq .Lcairn_cnt1
 * CHECK:       .Lfunc_end1:
 */
unsigned busy(const unsigned *p, unsigned n)
{
	unsigned sum = 0;

	for (; n; n = p[n])
		sum = n & 4 ? (unsigned)work((int)n) : p[sum];
	return sum;
}
