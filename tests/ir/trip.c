/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that counts itself has no counter in its body: the turns are added
 * when it is left.  Only the copy for long runs counts each turn.  A volatile
 * access, a call, or `strict` keep the counter where it was.
 *
 * RUN: cairn-cc -O2 -fno-discard-value-names -S -emit-llvm %s -o %t.ll
 * RUN: FileCheck-19 %s <%t.ll
 * RUN: cairn-cc -O2 --cairn=edges,strict -S -emit-llvm %s -o %t.ll
 * RUN: FileCheck-19 --check-prefix=STRICT %s <%t.ll
 */

/* CHECK-LABEL: @find(
 * CHECK:         icmp ugt i64 {{.*}}, 65536
 * CHECK:       for.body:
 * CHECK-NOT:     __cairn
 * CHECK-NOT:     addrspace(256)
 * CHECK:         br i1 {{.*}}, label %[[OUT1:.*]], label %for.inc
 * CHECK:       for.inc:
 * CHECK-NOT:     addrspace(256)
 * CHECK:         br i1 {{.*}}, label %[[OUT2:.*]], label %for.body
 * CHECK:       [[OUT1]]:
 * CHECK:         call void asm sideeffect "addq $1, %gs:$0"
 * CHECK:       [[OUT2]]:
 * CHECK:         call void asm sideeffect "addq $1, %gs:$0"
 *
 * STRICT-LABEL: @find(
 * STRICT-NOT:   65536
 * STRICT-LABEL: @loud(
 */
int find(const int *p, int n, int x)
{
	for (int i = 0; i < n; i++)
		if (p[i] == x)
			return i;
	return -1;
}

/* CHECK-LABEL: @loud(
 * CHECK-NOT:     65536
 */
int loud(volatile int *p, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += *p;
	return sum;
}
