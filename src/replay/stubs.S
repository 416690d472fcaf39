/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What replay code calls on its rare ways: with the calling convention
 * preserve_most (number 14 of LLVM), which leaves all general registers but r11
 * alone, so that the common way keeps its values in registers.
 */
	.text

	.macro	stub name, target
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	call	\target
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	stub	replay_stub_arm, engine_arm
	stub	replay_stub_in, engine_in
	stub	replay_stub_steps, engine_take_steps

	.section .note.GNU-stack, "", @progbits
