/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_MAP_H
#define CAIRN_FORMAT_MAP_H

#include "abi/map.h" /* flags and kinds are part of this interface */
#include "abi/record.h"
#include "format/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

#define MAP_NONE UINT32_MAX

/* A source line that a segment contains. */
struct map_line {
	uint32_t instance; /* 0: the function itself, else an inlined copy */
	uint32_t file;     /* in map->strings */
	uint32_t line;
	uint32_t ninstructions;        /* of the segment; 0: not known */
	uint32_t first_place, nplaces; /* in map->places: CAIRN_PLACE_* */
};

/* A copy of a function that was inlined. */
struct map_instance {
	uint32_t name, file, line; /* of the definition; MAP_NONE, 0: unknown */
	uint32_t parent;           /* the instance it is in, 0: the function */
	uint32_t call_line;        /* the line of the call there, 0: unknown */
};

/* A function that is called by name. */
struct map_callee {
	uint32_t name, file, line; /* of the definition; MAP_NONE, 0: unknown */
};

/* A call in the code.  It runs as often as its segment. */
struct map_outcall {
	uint32_t block, segment;
	uint32_t callee; /* in map->callees; MAP_NONE: through a pointer */
	uint32_t instance, file, line; /* where; MAP_NONE, 0: unknown */
};

/* A part of a block that runs whole once it is entered. */
struct map_segment {
	uint32_t first_line, nlines; /* in map->lines */
};

struct map_block {
	uint32_t flags; /* CAIRN_BLOCK_* */
	uint32_t ninstructions;
	uint32_t counter;                  /* MAP_NONE if it has none */
	uint32_t first_segment, nsegments; /* in map->segments */
	uint32_t branch; /* in map->lines: of its branch; MAP_NONE: unknown */
	uint32_t first_origin, norigins; /* in map->origins */
};

struct map_edge {
	uint32_t src, dst;
	uint32_t kind;    /* enum cairn_edge_kind */
	uint32_t counter; /* MAP_NONE if it has none */
	uint64_t weight;
};

#define MAP_NO_SUM UINT64_MAX

/* A call that may not return: offset is its return address in the function.
 * In a function that counts paths, `value` belongs to KNOWN and REGISTER. */
struct map_site {
	uint32_t offset, block, segment;
	uint32_t pending; /* enum cairn_pending */
	uint64_t value;
	uint32_t cell; /* PAIRS: 0, or 1 + its cell */
	bool left_out; /* PAIRS: it would have one, but for prefer= */
	/* PAIRS: rows of counters, nrows 0: none.  Sums are in map->row_sums,
	 * MAP_NO_SUM if a row is for nothing. */
	uint32_t nrows, first_row, row_counter;
	uint32_t
	        radix; /* PAIRS: of its digit in tags (graph/tags.h), 0: none */
	uint64_t callee; /* its address, which may be in no map */
};

/* A call in code that was marked before inlining: pc is its return address,
 * and function is one of those that are active there. */
struct map_far_site {
	uint64_t pc, counters;
	uint32_t function, block, segment, id;
	uint32_t pending; /* as in struct map_site */
	uint64_t value;
};

/* Machine code that is no function of the map's, marked before inlining. */
struct map_code {
	uint64_t address;
	uint32_t size;
};

/* What the code from here on is: abi/map.h has the numbers. */
struct map_probe {
	uint32_t offset, what;
	uint32_t order; /* the later one of two at the same place counts */
};

/* A call in a trace: histories end before it. */
struct map_call {
	uint32_t edge;
	uint32_t kind;   /* enum cairn_calls */
	uint64_t callee; /* its address, unless it may be anything */
};

/* A function that was inlined into another, or is called there.  `block` of the
 * copy `parent` ends in the call. */
struct map_copy {
	uint32_t parent, block;
	uint32_t name, file; /* in map->strings; "" unless it is local */
	uint64_t hash;       /* of a copy */
};

/* What a block was: one of a copy, 0 is the function itself. */
struct map_origin {
	uint32_t copy, block;
};

struct map_function {
	uint64_t address, counters, hash;
	uint32_t ncounters, code_size, flags;
	uint32_t paths;         /* enum cairn_paths */
	uint64_t nfirst;        /* PAIRS: paths that begin at the entry */
	uint32_t ncells;        /* PAIRS: sites whose calls are counted */
	uint32_t nrow_counters; /* PAIRS: before the cells */
	uint32_t degree;        /* PAIRS: enum cairn_degree */
	uint32_t rows;          /* PAIRS: enum cairn_rows */
	bool pairs; /* its counters and keys are those of graph/pairs.h */
	uint64_t npaths;
	uint32_t name, reason; /* in map->strings */
	uint32_t first_alias, naliases;
	uint32_t file, line; /* of the definition; file MAP_NONE if unknown */
	/* ranges of the map's vectors; blocks include the outside */
	uint32_t first_block, nblocks;
	uint32_t first_edge, nedges;
	uint32_t first_site, nsites;
	uint32_t first_probe, nprobes;
	uint32_t first_call, ncalls; /* sites by their number in the blob */
	uint32_t first_cut, ncuts;   /* edges of the function */
	uint32_t first_turn, nturns; /* loops that count their turns */
	uint32_t turn_counter;       /* that of the first turn of the first */
	/* PAIRS: blocks; no pair is counted of a path that begins there */
	uint32_t first_left_out, nleft_out;
	uint32_t first_slot, nslots;    /* interesting paths */
	uint32_t slots_size;            /* counters for them */
	uint32_t first_traced, ntraced; /* traced: calls that end histories */
	uint32_t first_witness, nwitnesses; /* WITNESS: slots, ascending */
	uint32_t unit, unit_index; /* RECORD: in map->units, and which of the
	                              functions that it defines */
	uint32_t first_instance, ninstances; /* instance 1 is the first */
	uint32_t first_outcall, noutcalls;
	/* SEGMENTS: copy 1 is the first; calls that were not inlined */
	uint32_t first_copy, ncopies, first_left, nlefts;
	uint64_t traced_hash;       /* SEGMENTS: as traces have it */
	size_t record, record_size; /* where the section has it */
};

/* Its counters but for the cells of sites and rows before them. */
static inline uint32_t map_path_counters(const struct map_function *f)
{
	return f->ncounters - f->ncells - f->nrow_counters;
}

/* An interesting path and the counter it has, from the first slot on. */
struct map_slot {
	uint64_t number;
	uint32_t slot;
};

/* A unit of translation of a recording: where the linker put what it defines,
 * variables, functions, aliases; 0: nowhere. */
struct map_unit {
	unsigned char id[CAIRN_UNIT_ID];
	uint32_t first_address, naddresses; /* in map->addresses */
	uint32_t nlinked; /* the last of them: functions of others */
};

/* The checksum of a source file when it was compiled.  Units may have compiled
 * different texts of one path. */
struct map_source {
	uint32_t path; /* string */
	unsigned char md5[CAIRN_SOURCES_MD5_SIZE];
};

/* The map of one module: vectors of all functions, one after the other.  Empty
 * vectors are not NULL. */
struct map {
	struct strtab strings;
	struct map_function *functions;
	struct map_block *blocks;
	struct map_segment *segments;
	struct map_line *lines;
	struct map_edge *edges;
	struct map_site *sites;
	struct map_probe *probes;
	struct map_site *calls; /* offset 0: the machine code decides */
	struct map_far_site *far_sites;
	struct map_code *codes;
	struct map_instance *instances;
	struct map_callee *callees;
	uint64_t *row_sums;
	struct map_outcall *outcalls;
	uint32_t *cuts;     /* where paths are cut: edges of the function */
	uint32_t *turns;    /* heads of loops that count their turns */
	uint32_t *left_out; /* beginnings of paths of which no pairs are */
	uint32_t *places;
	uint32_t *aliases; /* linkage names of functions, in strings */
	struct map_slot *slots;
	struct map_call *traced;
	uint32_t *witnesses; /* slots that write: graph/slots.h */
	struct map_unit *units;
	struct map_source *sources; /* by path */
	uint32_t nsources;
	uint32_t sources_cap;
	uint64_t *addresses;
	struct map_copy *copies, *lefts;
	struct map_origin *origins;
	uint32_t nfunctions, nblocks, nsegments, nlines, nedges, nsites,
	        nprobes, ninstances, ncalls, nfar_sites, ncodes, ncuts, nturns,
	        nslots, ntraced, nwitnesses, nunits, naddresses, ncallees,
	        noutcalls, ncopies, nlefts, norigins, nrow_sums, nleft_out,
	        naliases, nplaces;
	uint32_t functions_cap, blocks_cap, segments_cap, lines_cap, edges_cap,
	        sites_cap, probes_cap, instances_cap, calls_cap, far_sites_cap,
	        codes_cap, cuts_cap, turns_cap, slots_cap, traced_cap,
	        witnesses_cap, units_cap, addresses_cap, callees_cap,
	        outcalls_cap, copies_cap, lefts_cap, origins_cap, row_sums_cap,
	        left_out_cap, aliases_cap, places_cap;
};

/*
 * Parses a map section.  `name` stands in error sentences.
 *
 * Ensures: all indices are in range; edge 0 of a covered function leaves the
 *          outside and is the only one of kind ENTRY; records that say the
 *          same twice are there once; counters of two functions never overlap.
 *          A function that counts paths has at least as many counters as its
 *          kind of table wants, and none of them belongs to an edge or a
 *          block; that `npaths`, cuts and turns are right is for those to see
 *          who number the paths.
 * Fails:   CAIRN_E_CORRUPT, CAIRN_E_VERSION; *out is then NULL.
 */
int map_parse(const unsigned char *data, size_t size, const char *name,
              struct map **out, struct cairn_err *err);
void map_free(struct map *m);

/* The checksums that a source file had where it was compiled, n of them; NULL
 * if none is known. */
const struct map_source *map_sources_of(const struct map *m, const char *path,
                                        uint32_t *n);

/* A string of the map; MAP_NONE gives "". */
const char *map_string(const struct map *m, uint32_t string);

#endif /* CAIRN_FORMAT_MAP_H */
