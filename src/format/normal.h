/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_NORMAL_H
#define CAIRN_FORMAT_NORMAL_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_err;
struct profile_frame;
struct profile_module;

/*
 * Takes what only one run could understand out of a module, once its map is
 * known: words of tables become 0.
 *
 * Fails: CAIRN_E_CORRUPT if a table belongs to no function that has any.
 */
int normal_module(struct profile_module *m, struct cairn_err *err);

/* The sites of a module where the path register counts, by address. */
struct normal_site {
	uint64_t pc;
	bool is_known;    /* false: nobody can tell whose it is */
	bool is_address;  /* of a counter */
	uint64_t modulus; /* 0, or that of an address that is the sum */
};

struct normal_sites {
	struct normal_site *items;
	uint32_t n;
};

/* m may have no map: then there are none. */
void normal_sites_init(struct normal_sites *s, const struct profile_module *m);
void normal_sites_release(struct normal_sites *s);

/* Takes the load bias out of a frame's register, or the register away where
 * it says nothing. */
void normal_frame(const struct normal_sites *s, struct profile_frame *f,
                  uint64_t bias);

#endif /* CAIRN_FORMAT_NORMAL_H */
