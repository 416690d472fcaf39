/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow call, as generated code makes it: inline assembly, so that a leaf
 * function stays one, with no frame and its red zone in use (the caller steps
 * over it).  It changes no register but rax, which returns the delta.
 *
 * All vector state is saved, not only xmm0-15: the first thing a function
 * does is ask for its delta, and its arguments may be in wider registers,
 * which code of libc that we call may clear.
 */
	.text
	.globl	__cairn_link_with_cairn_cc
	.hidden	__cairn_link_with_cairn_cc
	.type	__cairn_link_with_cairn_cc, @function
__cairn_link_with_cairn_cc:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	subq	$2688, %rsp		/* what the states below take */
	andq	$-64, %rsp
	movl	$1, %eax
	cpuid
	xorl	%ebx, %ebx
	btl	$27, %ecx		/* does the system use xsave? */
	jnc	1f
	movl	$1, %ebx
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
	call	cairn_module_slow
	movq	%rax, %rsi
	testl	%ebx, %ebx
	jz	3f
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	4f
3:	fxrstor64 (%rsp)
4:	movq	%rsi, %rax
	leaq	-72(%rbp), %rsp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	__cairn_link_with_cairn_cc, .-__cairn_link_with_cairn_cc
	.section .note.GNU-stack,"",@progbits
