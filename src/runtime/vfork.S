/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pid_t vfork(void), as glibc's, but that it notes where the parent goes on:
 * vfork_state of vfork.c.  The child overwrites the stack below its caller's
 * frame, so the return address is kept in a register over the system call.
 *
 * In a recording it is fork: what such a child does would be in the log, the
 * shadow and the cells of its parent.
 */
#define MAX_VFORKS 8

	.text
	.hidden	__cairn_recording
	.globl	vfork, __vfork
	.type	vfork, @function
	.type	__vfork, @function
vfork:
__vfork:
	.cfi_startproc
	cmpb	$0, __cairn_recording(%rip)
	jne	4f
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movq	vfork_state@gottpoff(%rip), %rsi
	movq	%fs:(%rsi), %rcx
	incq	%fs:(%rsi)
	cmpq	$MAX_VFORKS, %rcx
	jae	1f
	shlq	$4, %rcx
	movq	%rsp, %fs:8(%rsi, %rcx)
	movq	%rdi, %fs:16(%rsi, %rcx)
1:	movl	$58, %eax
	syscall
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8
	testq	%rax, %rax
	jz	2f
	/* the parent, or nobody was made: it is over */
	decq	%fs:(%rsi)
	cmpq	$-4095, %rax
	jae	3f
2:	ret
3:	negl	%eax
	movl	%eax, %edi
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	cairn_set_errno
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
4:	jmp	*fork@GOTPCREL(%rip)
	.cfi_endproc
	.size	vfork, . - vfork
	.size	__vfork, . - __vfork

	.section .note.GNU-stack,"",@progbits
