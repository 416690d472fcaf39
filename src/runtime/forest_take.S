/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More memory for a forest (forest.h): whoever makes a step has saved general
 * registers only, which do for all but this.
 */
#include "runtime/save.inc"

	.text
	.globl	forest_take_saved
	.hidden	forest_take_saved
	.type	forest_take_saved, @function
forest_take_saved:
	.cfi_startproc
	SAVE_ALL
	movq	-24(%rbp), %rdx		/* which it changes, and rcx */
	movq	-16(%rbp), %rcx
	call	forest_take
	movq	%rax, SAVED_RAX
	RESTORE_ALL
	ret
	.cfi_endproc
	.size	forest_take_saved, .-forest_take_saved

	.section .note.GNU-stack,"",@progbits
