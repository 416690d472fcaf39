/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that asks for the runtime only in its machine code, as code
 * that is marked at link time does: the linker finds out after LTO. */
void lib_work(void);

void lib_work(void)
{
	long delta;

	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
	                 "call __cairn_link_with_cairn_cc\n\t"
	                 "leaq 128(%%rsp), %%rsp"
	                 : "=a"(delta)
	                 :
	                 : "memory", "cc");
	(void)delta;
}
