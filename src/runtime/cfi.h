/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_CFI_H
#define CAIRN_RUNTIME_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* How to find a caller's register: DWARF 5, section 6.4.1. */
enum cfi_kind {
	CFI_SAME = 0,
	CFI_UNDEFINED,
	CFI_OFFSET,     /* saved at cfa + value */
	CFI_VAL_OFFSET, /* is cfa + value */
	CFI_REGISTER,   /* is in register `value` */
	CFI_EXPRESSION, /* saved at the address the expression gives */
	CFI_VAL_EXPRESSION,
};

#define CFI_REGS 17 /* 16 is the return address */
#define CFI_RA 16

/* Kept small: walks run on the stacks of signal handlers. */
struct cfi_row {
	union {
		int64_t number;
		const unsigned char *expression; /* its length first */
	} value[CFI_REGS], cfa;
	uint8_t kind[CFI_REGS]; /* enum cfi_kind */
	uint8_t cfa_reg;
	bool has_cfa_expression; /* else cfa is register + number */
};

/* One function's description. */
struct cfi_fde {
	uintptr_t start, end;
	const unsigned char *program, *program_end;
	const unsigned char *initial, *initial_end;
	uint64_t code_align;
	int64_t data_align;
	bool is_signal_frame;
};

/* Finds pc in the table behind PT_GNU_EH_FRAME.  False if not there. */
bool cfi_find(const unsigned char *eh_frame_hdr, uintptr_t pc,
              struct cfi_fde *fde);

/* The row that is valid at pc.  False if the program is not understood. */
bool cfi_row_at(const struct cfi_fde *fde, uintptr_t pc, struct cfi_row *row);

/* Reads a word of the stack; false if it cannot be read. */
typedef bool cfi_reader(void *context, uintptr_t at, uint64_t *value);

/* Evaluates an expression over the registers `reg`; `cfa` is pushed first if
 * it is not NULL. */
bool cfi_evaluate(const unsigned char *expression, const uint64_t *reg,
                  const uint64_t *cfa, cfi_reader *read, void *context,
                  uint64_t *result);

#endif /* CAIRN_RUNTIME_CFI_H */
