/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_SAID_H
#define CAIRN_IR_SAID_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How many bytes of a message of LLVM can stand within a sentence of ours: its
 * first line, without the full stop or exclamation mark at its end.
 */
size_t ir_said(const char *message);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_IR_SAID_H */
