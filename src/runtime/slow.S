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

	.section .note.GNU-stack,"",@progbits
