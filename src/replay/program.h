/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_PROGRAM_H
#define CAIRN_REPLAY_PROGRAM_H

#include "abi/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct image;

#define PROGRAM_NONE UINT32_MAX

/* A function that had marks. */
struct program_function {
	char *name, *file; /* file NULL: not known */
	uint32_t line;
	uint32_t unit, index; /* of those that the unit defines */
	uint64_t address;     /* where it was */
	uint64_t cells;       /* where its cells are now; see state.h */
	uint32_t ncells;
	uint32_t nodes;      /* number of its first node, less 1: steps.h */
	void *body;          /* NULL: its unit is not loaded */
	void (*entry)(void); /* for foreign callers */
};

/* A unit of translation. */
struct program_unit {
	unsigned char id[CAIRN_UNIT_ID];
	uint32_t module;
	const unsigned char *packed; /* its bitcode, a zstd frame */
	size_t npacked;
	uint64_t nraw;   /* bytes when unpacked */
	uint64_t *table; /* where the things were that it defines */
	uint32_t ntable;
	uint32_t *functions; /* by index; PROGRAM_NONE: not there */
	uint32_t nfunctions, functions_cap;
	bool is_loaded;
};

/* An executable or a shared object of the recording. */
struct program_module {
	char *path;
	uint64_t bias;
	uint64_t link; /* link-time address of its first cell */
	uint64_t ncells;
	uint64_t cells;      /* where they are now */
	bool is_ours;        /* no log has its cells */
	struct image *image; /* its memory when it starts; NULL: not known */
	uint32_t *by_cells;  /* functions, ascending */
	uint32_t nby_cells, by_cells_cap;
};

/* What ran, with everything at the addresses that it had. */
struct program {
	struct program_module *modules;
	uint32_t nmodules, modules_cap;
	struct program_unit *units;
	uint32_t nunits, units_cap;
	struct program_function *functions;
	uint32_t nfunctions, functions_cap;
	uint32_t *hash; /* functions by their address; PROGRAM_NONE: free */
	size_t nhash;   /* a power of two */
	void **kept;
	size_t nkept, kept_cap;
};

void program_release(struct program *p);

/* Requires: an open arena.  Modules are numbered in the order of adding. */
int program_add_module(struct program *p, const char *path, uint64_t bias,
                       uint64_t link, uint64_t ncells, struct cairn_err *err);
/* u: with its id, module and bitcode, which has to outlive the program; `table`
 * has link-time addresses and is copied.  Returns its number. */
uint32_t program_add_unit(struct program *p, const struct program_unit *u,
                          const uint64_t *table, uint32_t ntable);
/* f: with link-time addresses of code and cells; names are copied. */
int program_add_function(struct program *p, const struct program_function *f,
                         struct cairn_err *err);
/* Something to free with the program. */
void program_keep(struct program *p, void *memory);
/* When all were added. */
int program_finish(struct program *p, struct cairn_err *err);

/* The function at an address, or NULL. */
struct program_function *program_find(const struct program *p,
                                      uint64_t address);
/* The cell of an id, as logs name cells; 0: there is none. */
uint64_t program_cell(const struct program *p, uint64_t id);
/* A name for any cell, or 0, that is the same in every process, and the cell of
 * a name; 0 if it is none. */
uint64_t program_name_cell(const struct program *p, uint64_t cell);
uint64_t program_named_cell(const struct program *p, uint64_t name);
/* The function that has a cell, or NULL. */
struct program_function *program_of_cell(const struct program *p,
                                         uint64_t cell);

/* The function whose replay code has an instruction at pc, or NULL. */
struct program_function *program_of_code(const struct program *p, uint64_t pc);

/* The bitcode of a unit, for the caller to free.
 * Fails: CAIRN_E_CORRUPT if it is damaged. */
int program_bitcode(const struct program *p, const struct program_unit *u,
                    unsigned char **bitcode, size_t *n, struct cairn_err *err);

/* Forgets what all cells hold. */
void program_clear_cells(struct program *p);

#endif /* CAIRN_REPLAY_PROGRAM_H */
