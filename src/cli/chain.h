/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_CHAIN_H
#define CAIRN_CLI_CHAIN_H

#include <stdio.h>

struct sequences;

/* Paths with the calls that led to them; requires: s is of chains. */
void chains_text(const struct sequences *s, FILE *out);
void chains_json(const struct sequences *s, FILE *out);

#endif /* CAIRN_CLI_CHAIN_H */
