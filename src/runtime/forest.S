/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step in the forest of the calling thread (abi/rt.h, forest.c): %rdi state,
 * %rsi owner, %rdx id, %rcx how.  What the thread's cache has not is found, or
 * made, by C code that uses general registers only, so that only these are
 * saved.
 *
 * A path or a call of a call chain: the same registers; changes %r8 and %r9.
 *
 * What the cache has is right: keys and owners of slots never change.
 */
#include "runtime/save.inc"

#define SLOT_OWNER 8			/* abi/file.h */
#define SLOT_COUNT 16
#define SLOT_NEXT 24
#define SLOT_OTHER 40
#define CHAIN_CACHE 144			/* abi/rt.h */
#define CHAIN_MASK 152

/* \name_find does it, with general registers only; if it cannot \name_make does.
 * Returns. */
	.macro	FIND_OR_MAKE name
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
	call	__cairn_core_\name\()_find
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
	je	.Lmake\@
	ret
.Lmake\@:
	SAVE_ALL
	movq	-24(%rbp), %rdx		/* which it changes, and rcx */
	movq	-16(%rbp), %rcx
	call	__cairn_core_\name\()_make
	movq	%rax, SAVED_RAX
	RESTORE_ALL
	ret
	.endm

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
	jne	.Lcached
	cmpq	%rsi, SLOT_OWNER(%rax)
	jne	.Lcached
	popq	%rcx
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	incq	SLOT_COUNT(%rax)
	ret
.Lcached:
	.cfi_restore_state
	cmpq	$0, (%rdi)		/* no slot of this process */
	je	.Labsent
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	movq	__cairn_thread@gottpoff(%rip), %r8
	leaq	(%rcx,%rsi,8), %rax
	imulq	.Lmultiplier(%rip), %rax
	shrq	$48, %rax
	andq	%fs:CHAIN_MASK(%r8), %rax	/* before the cache */
	movq	%fs:CHAIN_CACHE(%r8), %r8
	movq	8(%r8,%rax), %rax
	addq	%r8, %rax
	popq	%r8
	.cfi_adjust_cfa_offset -8
	cmpq	%rcx, (%rax)
	jne	.Labsent
	cmpq	%rsi, SLOT_OWNER(%rax)
	jne	.Labsent
	incq	SLOT_COUNT(%rax)
	movq	%rax, %rcx
	subq	%rdi, %rcx
	movq	%rcx, SLOT_OTHER(%rdi)
	popq	%rcx
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	ret
.Labsent:
	.cfi_restore_state
	popq	%rcx
	.cfi_adjust_cfa_offset -8
.Lfind:
	FIND_OR_MAKE forest
	.cfi_endproc
	.size	__cairn_forest_step, .-__cairn_forest_step

	.macro	CHAIN what
	.globl	__cairn_chain_\what
	.hidden	__cairn_chain_\what
	.type	__cairn_chain_\what, @function
__cairn_chain_\what:
	.cfi_startproc
	STEPPED
	movq	__cairn_thread@gottpoff(%rip), %r9
	leaq	(%rdi,%rdx), %rax
	leaq	(%rax,%rsi,8), %r8
	imulq	.Lmultiplier(%rip), %r8
	shrq	$48, %r8
	andq	%fs:CHAIN_MASK(%r9), %r8	/* before the cache */
	movq	%fs:CHAIN_CACHE(%r9), %r9
	movq	8(%r9,%r8), %r8
	addq	%r9, %r8
	cmpq	%rax, (%r8)
	jne	.Labsent\@
	cmpq	%rsi, SLOT_OWNER(%r8)
	jne	.Labsent\@
	.ifc	\what, path
	incq	SLOT_COUNT(%r8)
	.else
	movq	SLOT_NEXT(%r8), %rax
	.endif
	ret
.Labsent\@:
	FIND_OR_MAKE chain
	.cfi_endproc
	.size	__cairn_chain_\what, .-__cairn_chain_\what
	.endm

	CHAIN	path
	CHAIN	call

	.section .rodata
	.balign	8
.Lmultiplier:
	.quad	0x9e3779b97f4a7c15

	.section .note.GNU-stack,"",@progbits
