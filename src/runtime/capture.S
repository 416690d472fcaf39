/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little that C cannot say: the registers of the caller, the trampoline
 * behind a signal handler, and vfork, which returns twice on one stack.
 */
	.text

/* void unwind_capture(struct unwind *): the registers as they are in the
 * caller when this returns.  Order: struct unwind, DWARF numbers. */
	.globl	unwind_capture
	.hidden	unwind_capture
	.type	unwind_capture, @function
unwind_capture:
	.cfi_startproc
	movq	%rbx, 24(%rdi)
	movq	%rbp, 48(%rdi)
	leaq	8(%rsp), %rax
	movq	%rax, 56(%rdi)
	movq	%r12, 96(%rdi)
	movq	%r13, 104(%rdi)
	movq	%r14, 112(%rdi)
	movq	%r15, 120(%rdi)
	movq	(%rsp), %rax
	movq	%rax, 128(%rdi)
	ret
	.cfi_endproc
	.size	unwind_capture, . - unwind_capture

/* The kernel returns from a handler to this; unwinders know it by its bytes. */
	.p2align 4
	nop
	.globl	cairn_restore_rt
	.hidden	cairn_restore_rt
	.type	cairn_restore_rt, @function
cairn_restore_rt:
	movq	$15, %rax
	syscall
	.size	cairn_restore_rt, . - cairn_restore_rt

	.section .note.GNU-stack,"",@progbits
