/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the core.  Every module that marks are in has a copy of the core,
 * and all modules of a process use one of them: the one whose CAIRN_RT_THREAD
 * the dynamic linker has chosen, since what that points at is the core's.  So
 * that variable also says where the functions are.  If they were found by name
 * a library could end up with one core's functions and another one's threads:
 * linked with -Bsymbolic-functions or --dynamic-list it binds its own functions
 * itself, but not its variables.
 *
 * An executable's variable comes before all others, so that its core is its
 * own, which it calls at once: also while it is loaded, in what a resolver of
 * an ifunc calls, when pointers are not ready yet.
 *
 * Invariant: the order is that of struct core (rt.h).
 * Cost: two instructions in an executable, five elsewhere.
 */
	.macro	CALL name, at
	.globl	__cairn_core_\name
	.hidden	__cairn_core_\name
	.type	__cairn_core_\name, @function
__cairn_core_\name:
	.cfi_startproc
	cmpb	$0, __cairn_executable(%rip)
	jne	core_\name
	movq	__cairn_thread@gottpoff(%rip), %r11
	movq	%fs:8(%r11), %r11
	jmp	*\at(%r11)
	.cfi_endproc
	.size	__cairn_core_\name, .-__cairn_core_\name
	.endm

	.text
	CALL	slow, 0
	CALL	load, 8
	CALL	unload, 16
	CALL	dying, 24
	CALL	register, 32
	CALL	count_path, 40
	CALL	unhooked, 48
	CALL	jump, 56
	CALL	count_call, 96
	CALL	forest_find, 104
	CALL	forest_make, 112
	CALL	chain_find, 120
	CALL	chain_make, 128

	.section .note.GNU-stack, "", @progbits
