/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_TAILS_H
#define CAIRN_PLUGIN_TAILS_H

#include <llvm-c/Core.h>

struct ptrmap;

/*
 * Adds the tail calls that may follow each other without end: those of
 * functions that call each other by tail calls, by name within the module or
 * through pointers.  If they became calls, the stack would overflow.
 */
void tails_find_deep(LLVMModuleRef module, struct ptrmap *deep);

#endif /* CAIRN_PLUGIN_TAILS_H */
