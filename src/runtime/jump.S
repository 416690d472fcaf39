/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps: counting them, and doing what the C library does not do.
 *
 * void jump_commit(struct jump *j): counts the entries of a planned jump, then
 * calls j->then(j).  In assembly so that a walk that finds this frame on the
 * stack knows from pc and %rbx how far it came: an add at jump_commit_added is
 * done though `done` does not say so yet.
 */
#define J_DONE 0
#define J_N 8
#define J_ENTRY 24
#define J_THEN (J_ENTRY + 32 * 16)

	.text
	.globl	jump_commit, jump_commit_ready
	.globl	jump_commit_added, jump_commit_end
	.hidden	jump_commit, jump_commit_ready
	.hidden	jump_commit_added, jump_commit_end
	.type	jump_commit, @function
jump_commit:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movq	%rdi, %rbx
jump_commit_ready:
.Lnext:
	movq	J_DONE(%rbx), %rcx
	cmpq	J_N(%rbx), %rcx
	jae	.Ldone
	shlq	$4, %rcx
	movq	J_ENTRY(%rbx, %rcx), %rax
	movq	J_ENTRY+8(%rbx, %rcx), %rdx
	addq	%rdx, (%rax)
jump_commit_added:
	incq	J_DONE(%rbx)
	jmp	.Lnext
.Ldone:
	movq	%rbx, %rdi
	call	*J_THEN(%rbx)
jump_commit_end:
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	jump_commit, . - jump_commit

/*
 * void jump_builtin(void *env): the jump itself of __builtin_longjmp.  As in
 * the C library's longjmp, the unwind table says that the frame it goes to is
 * the caller once its registers are loaded.
 */
	.globl	jump_builtin
	.hidden	jump_builtin
	.type	jump_builtin, @function
jump_builtin:
	.cfi_startproc
	movq	16(%rdi), %r8
	movq	(%rdi), %r9
	movq	8(%rdi), %rdx
	.cfi_def_cfa %rdi, 0
	.cfi_register %rsp, %r8
	.cfi_register %rbp, %r9
	.cfi_register %rip, %rdx
	movq	%r8, %rsp
	movq	%r9, %rbp
	jmp	*%rdx
	.cfi_endproc
	.size	jump_builtin, . - jump_builtin

/*
 * void jump_below(const void *env, int value, void (*f)(void *, int), void *to,
 * size_t n): calls f, which does not return, with a copy of env, n words, at
 * `to`, on the stack below that.  The caller's frame may be there.
 */
	.globl	jump_below
	.hidden	jump_below
	.type	jump_below, @function
jump_below:
	.cfi_startproc
	.cfi_undefined %rip
	movl	%esi, %r9d
	movq	%rdi, %rsi
	movq	%rcx, %rdi
	movq	%rcx, %r10
	movq	%r8, %rcx
	cld
	rep movsq
	movq	%r10, %rsp
	movq	%r10, %rdi
	movl	%r9d, %esi
	call	*%rdx
	ud2
	.cfi_endproc
	.size	jump_below, . - jump_below

	.section .note.GNU-stack,"",@progbits
