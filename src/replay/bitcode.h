/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_BITCODE_H
#define CAIRN_REPLAY_BITCODE_H

#include <stddef.h>

#include <llvm-c/Types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The module of a unit, as LLVM's rules have it; NULL if it is none, about
 * which nothing is printed.  Requires: the bytes outlive it. */
LLVMModuleRef bitcode_parse(LLVMContextRef context,
                            const unsigned char *bitcode, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_REPLAY_BITCODE_H */
