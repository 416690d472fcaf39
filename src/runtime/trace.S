/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that code which writes a trace makes (abi/trace.h): room where
 * there is none, and histories of more than a byte.  As those of slow.S.
 */
#include "runtime/save.inc"

#define TRACE_AT 16		/* of __cairn_thread */
#define TRACE_LIMIT 24
#define WORD 0x80
#define FULL 0x90

/* %rax: a place at or behind the limit; returns another. */
	.macro	ROOM
	SAVE_ALL
	movq	SAVED_RAX, %rdi
	call	cairn_module_trace_room
	movq	%rax, SAVED_RAX
	RESTORE_ALL
	ret
	.endm

	.text
	.globl	__cairn_trace_room
	.hidden	__cairn_trace_room
	.type	__cairn_trace_room, @function
__cairn_trace_room:
	.cfi_startproc
	STEPPED
	ROOM
	.cfi_endproc
	.size	__cairn_trace_room, .-__cairn_trace_room

/* The same for those below. */
	.type	room, @function
room:
	.cfi_startproc
	ROOM
	.cfi_endproc
	.size	room, .-room

/*
 * Writes the history %rax with its length before it: exactly so many bytes,
 * since what follows may be somebody else's by then.
 */
	.macro	HISTORY name, kind
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	STEPPED
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	bsrq	%rax, %rcx
	shrl	$3, %ecx
	incl	%ecx
	leal	1(%rcx), %edx
	movq	__cairn_thread@gottpoff(%rip), %rsi
	xaddq	%rdx, %fs:TRACE_AT(%rsi)
	cmpq	%fs:TRACE_LIMIT(%rsi), %rdx
	jae	3f
1:	leal	\kind(%rcx), %esi
	movb	%sil, (%rdx)
	cmpl	$4, %ecx
	jb	2f
	movl	%eax, 1(%rdx)
	leaq	-3(%rdx,%rcx), %rdx
	leal	-32(,%rcx,8), %ecx
	shrq	%cl, %rax
	movl	%eax, (%rdx)
	jmp	4f
2:	movb	%al, 1(%rdx)
	cmpl	$2, %ecx
	jb	4f
	movb	%ah, 2(%rdx)
	je	4f
	shrl	$16, %eax
	movb	%al, 3(%rdx)
4:	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 24
3:	movq	%rax, %rsi
	movq	%rdx, %rax
	call	room
	movq	%rax, %rdx
	movq	%rsi, %rax
	jmp	1b
	.cfi_endproc
	.size	\name, .-\name
	.endm

	HISTORY	__cairn_trace_word, WORD
	HISTORY	__cairn_trace_full, FULL

/* The call of the core, as in calls.S, where it has no place: only programs
 * that write a trace have it.  0 if the core knows nothing of traces. */
	.globl	__cairn_core_trace_room
	.hidden	__cairn_core_trace_room
	.type	__cairn_core_trace_room, @function
__cairn_core_trace_room:
	.cfi_startproc
	cmpb	$0, __cairn_executable(%rip)
	jne	core_trace_room
	movq	__cairn_thread@gottpoff(%rip), %r11
	movq	%fs:8(%r11), %r11
	movq	64(%r11), %r11
	testq	%r11, %r11
	jz	5f
	jmp	*%r11
5:	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	__cairn_core_trace_room, .-__cairn_core_trace_room

	.section .note.GNU-stack, "", @progbits
