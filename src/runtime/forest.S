/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step in the forest of the calling thread (abi/rt.h, forest.c): %rdi state,
 * %rsi owner, %rdx id, %rcx how.  What is there is found by C code that uses general
 * registers only, so that only these are saved.
 */
#include "runtime/save.inc"

#define SLOT_OWNER 8			/* abi/file.h */
#define SLOT_COUNT 16
#define SLOT_NEXT 24
#define SLOT_OTHER 40

	.text
	.globl	__cairn_forest_step
	.hidden	__cairn_forest_step
	.type	__cairn_forest_step, @function
__cairn_forest_step:
	.cfi_startproc
	STEPPED
	cmpq	$1, %rdi		/* does it know another slot? */
	jbe	.Lfind
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	movq	SLOT_NEXT(%rdi), %rcx
	movq	SLOT_OTHER(%rdi), %rax
	addq	%rdx, %rcx
	addq	%rdi, %rax
	cmpq	%rcx, (%rax)
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	jne	.Lfind
	cmpq	%rsi, SLOT_OWNER(%rax)
	jne	.Lfind
	incq	SLOT_COUNT(%rax)
	ret
.Lfind:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	andq	$-16, %rsp
	call	__cairn_core_forest_find
	leaq	-64(%rbp), %rsp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbp
	.cfi_same_value %rbp
	.cfi_def_cfa %rsp, 8
	cmpq	$-1, %rax
	je	.Lmake
	ret
.Lmake:
	SAVE_ALL
	movq	-24(%rbp), %rdx		/* which it changes, and rcx */
	movq	-16(%rbp), %rcx
	call	__cairn_core_forest_make
	movq	%rax, SAVED_RAX
	RESTORE_ALL
	ret
	.cfi_endproc
	.size	__cairn_forest_step, .-__cairn_forest_step

	.section .note.GNU-stack,"",@progbits
