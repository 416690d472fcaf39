/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Shared objects only.)  Calls that leave frames, or come back twice: the
 * hooks of an instrumented executable see them, and if the executable is not
 * instrumented nobody does.  Then the file has to say so.
 *
 * The driver links shared objects with --wrap of these names.  Each tells the
 * core, then goes on to what the dynamic linker found, the executable's hook
 * or the C library's function, with registers and stack as they were: to the
 * caller of vfork its frame must still be the last one.
 *
 * Weak: the user may have wrapped one for himself.
 * Cost: about ten instructions per call.
 */
	.text

	.macro	UNHOOKED name
	.weak	__wrap_\name
	.hidden	__wrap_\name
	.type	__wrap_\name, @function
__wrap_\name:
	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	__cairn_core_unhooked
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*__real_\name@GOTPCREL(%rip)
	.cfi_endproc
	.size	__wrap_\name, . - __wrap_\name
	.endm

	UNHOOKED longjmp
	UNHOOKED _longjmp
	UNHOOKED siglongjmp
	UNHOOKED __longjmp_chk
	UNHOOKED vfork
	UNHOOKED __vfork

	.section .note.GNU-stack,"",@progbits
