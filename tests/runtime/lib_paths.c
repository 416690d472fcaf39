/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that counts paths in a table, with a path register. */
#define SHARED_MARKS
#include "marks.h"

TABLE(lib_table);

uint64_t slow_calls __attribute__((visibility("hidden")));

void lib_count(uint64_t path);
/* Calls next with its path register, value, in %rbx. */
void lib_frame(uint64_t value, void (*next)(void));

void lib_count(uint64_t path)
{
	ENTER();
	COUNT_PATH(lib_table, path);
}

__asm__(".text\n.globl lib_frame\n.type lib_frame, @function\nlib_frame:\n\t"
        ".cfi_startproc\n\tpushq %rbx\n\t.cfi_def_cfa_offset 16\n\t"
        ".cfi_offset %rbx, -16\n\tmovq %rdi, %rbx\n\tcall *%rsi\n77:\n\t"
        "popq %rbx\n\t.cfi_def_cfa_offset 8\n\tret\n\t.cfi_endproc\n"
        ".size lib_frame, .-lib_frame\n"
        ".pushsection cairn_regs,\"ao\",@progbits,.text\n\t.balign 8\n\t"
        ".long 77b - .\n\t.long 3 + 16\n\t.popsection\n");
