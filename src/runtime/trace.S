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
#define COUNT 0xfa

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
	.globl	__cairn_trace_word
	.hidden	__cairn_trace_word
	.type	__cairn_trace_word, @function
__cairn_trace_word:
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
1:	leal	WORD(%rcx), %esi
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
	.size	__cairn_trace_word, .-__cairn_trace_word

/* The same for one that is full: always eight bytes. */
	.globl	__cairn_trace_full
	.hidden	__cairn_trace_full
	.type	__cairn_trace_full, @function
__cairn_trace_full:
	.cfi_startproc
	STEPPED
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movq	__cairn_thread@gottpoff(%rip), %rcx
	movl	$9, %edx
	xaddq	%rdx, %fs:TRACE_AT(%rcx)
	cmpq	%fs:TRACE_LIMIT(%rcx), %rdx
	jae	3f
1:	movb	$FULL + 8, (%rdx)
	movq	%rax, 1(%rdx)
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 16
3:	movq	%rax, %rcx
	movq	%rdx, %rax
	call	room
	movq	%rax, %rdx
	movq	%rcx, %rax
	jmp	1b
	.cfi_endproc
	.size	__cairn_trace_full, .-__cairn_trace_full

/* The same for a history in %rax, and a number %rdx behind it. */
	.globl	__cairn_trace_count
	.hidden	__cairn_trace_count
	.type	__cairn_trace_count, @function
__cairn_trace_count:
	.cfi_startproc
	STEPPED
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	movq	__cairn_thread@gottpoff(%rip), %rsi
	movl	$18, %ecx
	xaddq	%rcx, %fs:TRACE_AT(%rsi)
	cmpq	%fs:TRACE_LIMIT(%rsi), %rcx
	jae	3f
1:	movb	$FULL + 8, (%rcx)
	movq	%rax, 1(%rcx)
	movb	$COUNT, 9(%rcx)
	movq	%rdx, 10(%rcx)
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 16
3:	movq	%rax, %rsi
	movq	%rcx, %rax
	call	room
	movq	%rax, %rcx
	movq	%rsi, %rax
	jmp	1b
	.cfi_endproc
	.size	__cairn_trace_count, .-__cairn_trace_count

	.section .rodata
	.balign	8
	.globl	__cairn_trace_most
	.hidden	__cairn_trace_most
__cairn_trace_most:
	.quad	1 << 51
	.text

/* The call of the core, as in calls.S, where it has no place: only programs
 * that write a trace have it.  0 if the core knows nothing of traces. */
	CORE_CALL core_trace_room, 64
	CORE_CALL core_trace_sync, 72	/* sync.c */
	CORE_CALL core_trace_closed, 80	/* sync_dl.c */

	.section .note.GNU-stack, "", @progbits
