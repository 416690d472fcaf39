/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that generated code makes: inline assembly, so that a leaf function
 * stays one, with no frame and its red zone in use (the caller steps over it).
 * They change no register but the flags, and rax if it returns something.
 *
 * All vector state is saved, not only xmm0-15: the first thing a function
 * does is ask for its delta, and its arguments may be in wider registers,
 * which code of libc that we call may clear.
 *
 * A walk that comes through one of these frames goes on in its caller, whose
 * unwind tables know nothing of the step: STEPPED says that the caller's stack
 * pointer is the CFA plus 128.
 */

	.macro	STEPPED
	.cfi_escape 0x15, 7, 0x70	/* DW_CFA_val_offset_sf rsp, 128 */
	.endm

/* Saves what C code may change.  Then %rsp is aligned, and %rbx in use: 0 if
 * the state was saved by xsave. */
	.macro	SAVE_ALL
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	.cfi_offset %rbx, -24
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rax
	subq	$2688, %rsp		/* what the states below take */
	andq	$-64, %rsp
	movzbl	cairn_xsave(%rip), %ebx
	testl	%ebx, %ebx
	jnz	5f
	movl	$1, %eax		/* cpuid takes microseconds in a VM */
	cpuid
	movl	$2, %ebx
	btl	$27, %ecx		/* does the system use xsave? */
	sbbl	$0, %ebx
	movb	%bl, cairn_xsave(%rip)
5:	decl	%ebx
	jnz	1f
	xorl	%eax, %eax
	movq	%rax, 512(%rsp)		/* the header has to be zero */
	movq	%rax, 520(%rsp)
	movq	%rax, 528(%rsp)
	movq	%rax, 536(%rsp)
	movq	%rax, 544(%rsp)
	movq	%rax, 552(%rsp)
	movq	%rax, 560(%rsp)
	movq	%rax, 568(%rsp)
	movl	$0xe7, %eax		/* x87, SSE, AVX, AVX-512 */
	xorl	%edx, %edx
	xsave64	(%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
2:	cld
	.endm

/* The saved %rax, which a result may replace. */
#define SAVED_RAX -80(%rbp)

	.macro	RESTORE_ALL
	testl	%ebx, %ebx
	jnz	3f
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	4f
3:	fxrstor64 (%rsp)
4:	leaq	-80(%rbp), %rsp
	popq	%rax
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	.cfi_same_value %rbx
	popq	%rbp
	.cfi_same_value %rbp
	.cfi_def_cfa %rsp, 8
	.endm

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

	.bss
	.local	cairn_xsave
	.comm	cairn_xsave, 1		/* 0: not asked yet, 1: yes, 2: no */
	.section .note.GNU-stack,"",@progbits
