/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_BINDINGS_H
#define CAIRN_FORMAT_BINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binding;
struct profile;
struct streams;

/* Where calls by name have led in a trace. */
struct bindings {
	struct binding *items; /* sorted by module and name */
	size_t n, cap;
	bool *is_complete; /* per module of the profile: all that are to be
	                      listed are */
};

/* Requires: profile and streams are of the same file. */
void bindings_init(struct bindings *b, const struct profile *p,
                   const struct streams *s);
void bindings_release(struct bindings *b);

/*
 * Has a call by this name in the module `from` led to the one that the module
 * `to` has?  False if nobody knows.  Modules are those of the profile.
 */
bool bindings_lead(const struct bindings *b, uint32_t from, const char *name,
                   uint32_t to);

#endif /* CAIRN_FORMAT_BINDINGS_H */
