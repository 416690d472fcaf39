/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_IPS_BLOCKS_H
#define CAIRN_CLI_IPS_BLOCKS_H

#include <stdint.h>

struct ips_blocks;
struct map;
struct map_function;
struct map_line;
struct segments_step;

/* Where the blocks of copies are, in functions that have these inlined. */
struct ips_blocks *ips_blocks_new(void);
void ips_blocks_free(struct ips_blocks *b);
/* A function of a map, whose copies are these: copy[0] is itself. */
void ips_blocks_add(struct ips_blocks *b, const struct map *map,
                    const struct map_function *f, const uint32_t *copy);

/* Calls visit for the lines of the block that has this one in it, as
 * trace_input_lines. */
void ips_blocks_lines(const struct ips_blocks *b,
                      const struct segments_step *step,
                      void (*visit)(void *context, const char *file,
                                    const struct map_line *line),
                      void *context);

/* How the function is left there; ips_way_out of the block that has this one in
 * it. */
const char *ips_blocks_way_out(const struct ips_blocks *b,
                               const struct segments_step *step);
/* "return", "tail", "noreturn" or "resume": of a block from which a way leads
 * out of the function. */
const char *ips_way_out(const struct map *map, const struct map_function *f,
                        uint32_t block);

#endif /* CAIRN_CLI_IPS_BLOCKS_H */
