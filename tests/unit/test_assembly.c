/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inline assembly: what leaves it, in the ways in which it can be written, and
 * what looks like that and does not; and what hands over to another stack.
 */
#include "ir/assembly.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_leaves(void **state)
{
	static const char *const all[] = {
	        "call f",
	        "CALL f",
	        "callq ${0:P}",
	        "\tcall *%rax",
	        "call *$0",
	        "lcall *(%rax)",
	        "nop\n\tcall f",
	        "nop; call f",
	        "nop;call f@PLT",
	        "1: call f",
	        "again:call f",
	        ".Lagain${:uid}: .Lmore: call f",
	        "notrack call *%rax",
	        "rep; ret",
	        "rep ret",
	        "{disp32} jmp f",
	        "leave\n\tretq",
	        "push $0\n\tret",
	        "lretq",
	        "iretq",
	        "jmp f",
	        "jmp *%rcx",
	        "bnd jmp f",
	        "jne f",
	        "jc,pn f",
	        "test %eax, %eax\n\tjz out\n\tnop\nother:",
	        "jmp f + 4",
	        "$(call f$|call g$)",
	        "# a comment; nop\n\tcall f",
	        "lock; addl $$0, (%rsp); jmp f",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!ir_assembly_leaves(all[i], strlen(all[i])))
			fail_msg("does not leave: %s", all[i]);
}

static void test_stays(void **state)
{
	static const char *const all[] = {
	        "",
	        "\n\t;",
	        "cpuid",
	        "rdtsc",
	        "mfence",
	        "syscall",
	        "int $$0x80",
	        "ud2",
	        "int3",
	        "lock; addl $$0, (%rsp)",
	        "rep; nop",
	        "rep stosb",
	        "pause # call",
	        "nop # a comment; call f",
	        "1: dec $0; jnz 1b",
	        "jmp 1f\n\tnop\n1:",
	        "call 1f\n1: pop $0",
	        "again${:uid}: dec $0\n\tjne again${:uid}",
	        "jmp done\n\tnop\ndone: nop",
	        "jmp done\n\tnop\nfirst: done : nop",
	        "jc,pt 2f\n2:",
	        "jmp .+2",
	        "jmp . + 2",
	        "loop 1b",
	        "xbegin 1f\n1:",
	        "testl $$1, $1\n\tjnz ${2:l}",
	        "jmp ${0:l} ",
	        "mov $0, %rax; movq %rax, callers(%rip)",
	        "$(movl %eax, %ebx$|mov ebx, eax$)",
	        ".byte 0xcc",
	        "vmovdqu32 (%rax), %zmm0 {%k1}{z}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (ir_assembly_leaves(all[i], strlen(all[i])))
			fail_msg("leaves: %s", all[i]);
}

/* The text has no end but its length. */
static void test_length(void **state)
{
	(void)state;
	assert_false(ir_assembly_leaves("nop; call f", 4));
	assert_false(ir_assembly_leaves("nop; call f", 6));
	assert_true(ir_assembly_leaves("call", 4));
	assert_false(ir_assembly_leaves("jmp 1f", 6));
	assert_true(ir_assembly_leaves("jmp 1f", 5));
}

static void test_hands_over(void **state)
{
	static const char *const all[] = {
	        "mov %rsp,(%rdi)\n\tmov %rsi,%rsp",
	        "f: push %rbx; movq %rsp, 48(%rdi); movq 48(%rsi), %rsp; ret",
	        "mov [rdi], rsp\nmov rsp, rsi",
	        "MOV %RSP, (%rdi)\nMOV %rsi, %RSP",
	        "movq %rsp, $0\n\tmovq $1, %rsp\n\tjmp *%rax",
	        "mov %rsp, saved(%rip) ; lea 1f(%rip), %rax; mov %rdx, %rsp",
	        "mov %rsp, %fs:8\nmov %fs:16, %rsp",
	        "mov %rsp,(%rdi,%rax,8)\nmov (%rsi,%rax,8),%rsp",
	        "mov %rbp,%rsp; mov %rsp,(%rdi)\n\tmov %rsi,%rsp",
	};
	static const char *const none[] = {
	        "",
	        "mov",
	        "mov %rsp",
	        "mov %rsp,%rbp; mov %rbp,%rsp",
	        "mov %rsp,%rbx; mov %rdi,%rsp; call *%rsi; mov %rbx,%rsp",
	        "mov %rsp,(%rdi); call f; mov (%rsi),%rsp",
	        "mov %rsp,48(%rdi); xor %eax,%eax; ret; g: mov 48(%rdi),%rsp",
	        "mov %rsp,(%rdi); mov %rbp,%rsp",
	        "mov %rsi,%rsp; mov %rsp,(%rdi)",
	        "mov (%rsp),%rax; mov %rax,(%rsp)",
	        "mov %rsp,(%rdi) # mov %rsi,%rsp",
	        "movabs $1, %rsp",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!ir_assembly_hands_over(all[i], strlen(all[i])))
			fail_msg("does not hand over: %s", all[i]);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (ir_assembly_hands_over(none[i], strlen(none[i])))
			fail_msg("hands over: %s", none[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_leaves),
	        cmocka_unit_test(test_stays),
	        cmocka_unit_test(test_length),
	        cmocka_unit_test(test_hands_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
