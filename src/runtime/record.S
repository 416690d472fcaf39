/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that the marks of a recording make (abi/record.h).  As those of
 * slow.S, but C code that runs each time is compiled for general registers
 * only, so that the others need not be saved.
 */
#include "runtime/save.inc"

	.macro	PUSH reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.endm

	.macro	POP reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.endm

/* All that such C code may change, but %rax. */
	.macro	PUSH_ALL
	STEPPED
	PUSH_REST
	.endm

	.macro	PUSH_REST
	PUSH	%rcx
	PUSH	%rdx
	PUSH	%rsi
	PUSH	%rdi
	PUSH	%r8
	PUSH	%r9
	PUSH	%r10
	PUSH	%r11
	cld
	.endm

	.macro	POP_ALL
	POP	%r11
	POP	%r10
	POP	%r9
	POP	%r8
	POP	%rdi
	POP	%rsi
	POP	%rdx
	POP	%rcx
	.endm

	.macro	FUNCTION name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
/* The caller has pushed the address; behind the call stand two nops, of which
 * one has the distance from there to the cell, the other the length.  Its stack
 * pointer is the CFA plus 136. */
	FUNCTION __cairn_record_in
	.cfi_escape 0x15, 7, 0x6f	/* DW_CFA_val_offset_sf rsp, 136 */
	PUSH_REST
	PUSH	%rax
	movq	72(%rsp), %rax
	movslq	3(%rax), %rdi
	leaq	3(%rax,%rdi), %rdi
	movl	10(%rax), %edx
	movq	80(%rsp), %rsi
	call	cairn_record_in
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_in

	FUNCTION __cairn_record_enter
	PUSH_ALL
	movq	%rax, %rdi
	call	cairn_record_enter
	POP_ALL
	ret
	END	__cairn_record_enter

	FUNCTION __cairn_record_leave
	PUSH_ALL
	PUSH	%rax
	movq	%rax, %rdi
	call	cairn_record_leave
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_leave

	FUNCTION __cairn_record_land
	PUSH_ALL
	PUSH	%rax
	movq	%rax, %rdi
	xorl	%esi, %esi
	call	cairn_record_back
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_land

	FUNCTION __cairn_record_env
	PUSH_ALL
	PUSH	%rax
	call	cairn_record_env
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_env

	FUNCTION __cairn_record_again
	PUSH_ALL
	PUSH	%rax
	movq	%rax, %rdi
	movq	%rdx, %rsi
	call	cairn_record_back
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_again

	FUNCTION __cairn_record_turn
	PUSH_ALL
	PUSH	%rax
	movq	%rax, %rdi
	call	cairn_record_turn
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_turn

	FUNCTION __cairn_record_turned
	PUSH_ALL
	PUSH	%rax
	call	cairn_record_turned
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_turned

	FUNCTION __cairn_record_note
	PUSH_ALL
	PUSH	%rax
	movq	%rax, %rdi
	movq	%rdx, %rsi
	call	cairn_record_note
	POP	%rax
	POP_ALL
	ret
	END	__cairn_record_note

/* For that C code: a call that changes no register at all. */
	FUNCTION cairn_record_slow
	SAVE_ALL
	call	cairn_module_record_slow
	RESTORE_ALL
	ret
	END	cairn_record_slow

	CORE_CALL core_record, 88

	.section .note.GNU-stack, "", @progbits
