/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_LAST_H
#define CAIRN_PLUGIN_LAST_H

#include <stdint.h>

#include <llvm-c/Core.h>

/* The program keeps so many bytes of its log. */
void last_say(LLVMModuleRef module, uint64_t size);

#endif /* CAIRN_PLUGIN_LAST_H */
