/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_BINDINGS_H
#define CAIRN_RUNTIME_BINDINGS_H

#include <stdint.h>

/*
 * Writes where calls by name have led from a module that is loaded, or from all
 * of them, if the process writes a trace and its file is not sealed.
 * Requires: lock held.
 */
void bindings_write(uint32_t module);
void bindings_write_all(void);

#endif /* CAIRN_RUNTIME_BINDINGS_H */
