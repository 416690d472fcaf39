/* SPDX-License-Identifier: Apache-2.0 */
/* Code that runs while the program is loaded uses no thread-local memory, does
 * not call the runtime and locks its counters; other code does as ever.
 *
 * RUN: cairn-cc -O2 -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O2 -fPIC -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O0 -S %s -o - | FileCheck-19 %s
 * RUN: cairn-cc -O2 --cairn-stage=source -S %s -o - | FileCheck-19 %s
 */
static int one(void)
{
	return 1;
}

/* CHECK-LABEL: resolve:
 * CHECK-NOT:     %fs
 * CHECK-NOT:     %gs
 * CHECK-NOT:     __cairn_link_with_cairn_cc
 * CHECK:         lock addq
 * CHECK-NOT:     %fs
 * CHECK-NOT:     %gs
 * CHECK-NOT:     __cairn_link_with_cairn_cc
 * CHECK:       .Lfunc_end
 */
__attribute__((used)) int (*resolve(void))(void)
{
	return one;
}

int chosen(void) __attribute__((ifunc("resolve")));

/* CHECK-LABEL: user:
 * CHECK-NOT:     lock
 * CHECK:         __cairn_link_with_cairn_cc
 */
int user(void)
{
	return chosen();
}
