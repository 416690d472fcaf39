/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that generated code makes: inline assembly, so that a leaf function
 * stays one, with no frame and its red zone in use (the caller steps over it).
 * They change no register but the flags, and rax if it returns something.
 */
#include "runtime/save.inc"

	.text
	.globl	__cairn_link_with_cairn_cc
	.hidden	__cairn_link_with_cairn_cc
	.type	__cairn_link_with_cairn_cc, @function
__cairn_link_with_cairn_cc:
	.cfi_startproc
	STEPPED
	SAVE_ALL
	call	cairn_module_slow
	movq	%rax, SAVED_RAX
	RESTORE_ALL
	ret
	.cfi_endproc
	.size	__cairn_link_with_cairn_cc, .-__cairn_link_with_cairn_cc

/*
 * Counts path %rsi in the table of the words at %rdi (abi/rt.h, paths.c) if it
 * is in there, without C and with three registers.  If it is not, or if this
 * was the last miss before somebody is to look at the table, C goes on.
 *
 * The number of slots is taken from the table itself: a handler may replace the
 * table between any two instructions, and the search must end.  A multiplier
 * of the wrong table may miss the path, never find a wrong one.
 */
#define WORDS_MULTIPLIER 0
#define WORDS_OFFSET 16
#define WORDS_KEY 24
#define TABLE_SHIFT 36
#define IS_OFF 8		/* paths.c */
#define HEAD_SLOTS -24		/* from the first slot */
#define HEAD_MISSES -8

	.globl	__cairn_count_path
	.hidden	__cairn_count_path
	.type	__cairn_count_path, @function
__cairn_count_path:
	.cfi_startproc
	STEPPED
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movq	WORDS_MULTIPLIER(%rdi), %rax
	imulq	%rsi, %rax
	shrq	$TABLE_SHIFT, %rax
	movq	WORDS_OFFSET(%rdi), %rdx
	testq	%rdx, %rdx
	jz	.Lnot_there
	cmpq	$IS_OFF, %rdx
	je	.Ldone
	leaq	WORDS_KEY(%rdi,%rdx), %rdx
	movq	HEAD_SLOTS(%rdx), %rcx
	decq	%rcx
	shlq	$4, %rcx
.Lnext:
	andq	%rcx, %rax
	cmpq	%rsi, (%rdx,%rax)
	je	.Lfound
	cmpq	$0, (%rdx,%rax)
	je	.Lnot_there
	addq	$16, %rax
	jmp	.Lnext
.Lfound:
	incq	8(%rdx,%rax)
	decq	HEAD_MISSES(%rdx)
	jle	.Llook
.Ldone:
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 24
.Lnot_there:
	call	count_in_c
	jmp	.Ldone
.Llook:
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	xorl	%esi, %esi		/* it is counted */
	call	count_in_c
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	jmp	.Ldone
	.cfi_endproc
	.size	__cairn_count_path, .-__cairn_count_path

	.type	count_in_c, @function
count_in_c:
	.cfi_startproc
	SAVE_ALL
	call	cairn_module_count_path
	RESTORE_ALL
	ret
	.cfi_endproc
	.size	count_in_c, .-count_in_c

/*
 * Counts a pair of paths across a call (call_pairs.c): (%rsi, %rdx, %rcx) in the
 * table of the thread, if it is in one of eight slots.  A handler may replace the
 * table between any two instructions, by a larger one: a mask of the smaller one
 * finds slots of the larger, and perhaps not the right one; C then looks again.
 */
#define CALLS_TABLE 96		/* abi/rt.h */
#define CALLS_MASK 104
#define PROBES 8

	.globl	__cairn_count_call
	.hidden	__cairn_count_call
	.type	__cairn_count_call, @function
__cairn_count_call:
	.cfi_startproc
	STEPPED
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	call	find_call
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	__cairn_count_call, .-__cairn_count_call

/* The same, and changes %rax, %r8 and %r9. */
	.type	find_call, @function
find_call:
	.cfi_startproc
	movq	__cairn_thread@gottpoff(%rip), %r9
	movabsq	$0x9e3779b97f4a7c15, %r8
	leaq	(%rsi,%rdx,8), %rax
	imulq	%r8, %rax
	addq	%rcx, %rax
	imulq	%r8, %rax
	shrq	$27, %rax
	andq	%fs:CALLS_MASK(%r9), %rax	/* before the table */
	movq	%fs:CALLS_TABLE(%r9), %r8
	cmpq	$1, %r8
	jb	.Lcall_in_c
	je	.Lcall_done
	addq	%rax, %r8
	movl	$PROBES, %eax
.Lcall_next:
	cmpq	%rsi, (%r8)
	jne	.Lcall_other
	cmpq	%rcx, 16(%r8)
	jne	.Lcall_other
	cmpq	%rdx, 8(%r8)
	jne	.Lcall_other
	incq	24(%r8)
.Lcall_done:
	ret
.Lcall_other:
	cmpq	$0, (%r8)
	je	.Lcall_in_c
	addq	$32, %r8
	decl	%eax
	jnz	.Lcall_next
.Lcall_in_c:
	SAVE_ALL			/* changes rcx and rdx */
	movq	-32(%rbp), %rdi		/* rsi */
	movq	-24(%rbp), %rsi		/* rdx */
	movq	-16(%rbp), %rdx		/* rcx */
	call	cairn_module_count_call
	RESTORE_ALL
	ret
	.cfi_endproc
	.size	find_call, .-find_call

/*
 * Counts the pair of a function's first path and its caller (abi/rt.h).  A site
 * with rows is the address of the number of one, behind those before it, the
 * address of the first row and whom the site calls; any other one is its cell
 * + 1, and is known to have called.
 */
#define ROW_SHIFT 7		/* 8 * CAIRN_ROW_PATHS */
#define ROW_PATHS 16

	.globl	__cairn_count_first_anywhere
	.hidden	__cairn_count_first_anywhere
	.type	__cairn_count_first_anywhere, @function
__cairn_count_first_anywhere:
	.cfi_startproc
	STEPPED
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	xorl	%eax, %eax
	jmp	.Lfirst
	.cfi_endproc
	.size	__cairn_count_first_anywhere, .-__cairn_count_first_anywhere

	.globl	__cairn_count_first
	.hidden	__cairn_count_first
	.type	__cairn_count_first, @function
__cairn_count_first:
	.cfi_startproc
	STEPPED
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movl	$ROW_PATHS, %eax
.Lfirst:
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	testb	$1, %sil
	jnz	.Lfirst_of_cell
	movq	(%rsi), %r8
	leaq	(,%r8,8), %r9
	subq	%r9, %rsi
	cmpq	%rdi, -16(%rsi)
	jne	.Lfirst_done
	shlq	$ROW_SHIFT, %r8
	movq	-8(%rsi), %rsi
	addq	%r8, %rsi
	cmpq	%rax, %rcx
	jae	.Lfirst_in_table
	incq	%gs:(%rsi,%rcx,8)
	jmp	.Lfirst_done
.Lfirst_of_cell:
	decq	%rsi
	addq	%r8, %rcx
.Lfirst_in_table:
	call	find_call
.Lfirst_done:
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	__cairn_count_first, .-__cairn_count_first

	.globl	__cairn_count_returns
	.hidden	__cairn_count_returns
	.type	__cairn_count_returns, @function
__cairn_count_returns:
	.cfi_startproc
	STEPPED
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	movq	%rdx, %r10
	movq	%rsi, %r11
.Lreturns_next:
	movl	(%rsp), %ecx
	movq	%r10, %rax
	subq	24(%rdi), %rax
	shrq	%cl, %rax
	addq	16(%rdi), %rax
	movq	%rax, %rcx
	movq	(%rdi), %rsi
	movq	8(%rdi), %rdx
	call	find_call
	addq	$32, %rdi
	cmpq	%r11, %rdi
	jb	.Lreturns_next
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	popq	%r11
	.cfi_adjust_cfa_offset -8
	popq	%r10
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	__cairn_count_returns, .-__cairn_count_returns

	.section .note.GNU-stack,"",@progbits
