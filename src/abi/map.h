/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ABI_MAP_H
#define CAIRN_ABI_MAP_H

/*
 * The map: one record per function, in the section CAIRN_MAP_SECTION of the
 * object file, the executable or the shared object.  The section is not
 * loaded: it costs nothing at run time.  The plugin writes it, readers of
 * profiles read it.  docs/FORMAT.md is the specification.
 *
 * A record is a fixed head, a blob that describes the function's CFG, and the
 * addresses of its call sites and probes, which only the assembler knows.
 * Records follow each other without padding; a linker may put zero bytes
 * between those of two object files, which readers skip.
 */

#include <stdint.h>

#define CAIRN_MAP_SECTION ".cairn.map"
#define CAIRN_COUNTERS_SECTION "cairn_cnts"
#define CAIRN_REGISTERS_SECTION "cairn_regs"
/* Nobody reads it: for the linker, see plugin/sections.cpp. */
#define CAIRN_ENTRIES_SECTION "cairn_plt"

/* Record head, little-endian. */
#define CAIRN_MAP_MAGIC 0x314e4643u /* "CFN1" */
#define CAIRN_MAP_HEAD_SIZE 48u
#define CAIRN_REC_MAGIC 0      /* u32 */
#define CAIRN_REC_SIZE 4       /* u32: whole record */
#define CAIRN_REC_FUNC 8       /* u64: link-time address of the function */
#define CAIRN_REC_COUNTERS 16  /* u64: link-time address of its counters */
#define CAIRN_REC_NCOUNTERS 24 /* u32 */
#define CAIRN_REC_BLOB_CRC 28  /* u32: crc32c of the blob */
#define CAIRN_REC_NBLOB 32     /* u32: bytes of the blob */
#define CAIRN_REC_NSITES                                    \
	36 /* u32: (u32 pc - func, u32 site) after the blob \
	    */
#define CAIRN_REC_NPROBES                                                \
	40 /* u32: (u32 pc - func, u32 what) after the sites; then, in a \
	    * trace, a u64 for every callee that the blob has */
#define CAIRN_REC_CODE_SIZE 44 /* u32: bytes of machine code */

/*
 * What a probe says of the code behind it, in a function of n blocks:
 *     0            nothing was counted yet, or nothing is left to count
 *     b < n        block b, behind the marks at its top
 *     n + b        on the way into block b, before the block's own counter
 *     2 n + e      on edge e, before its counter (and that of its target)
 *     UNKNOWN      somewhere in the function
 * In a function that counts paths:
 *     n + b        a path has just begun at block b
 *     2 n + e      before what belongs to edge e
 */
#define CAIRN_PROBE_UNKNOWN 0xffffffffu

/*
 * A second kind of record, with --cairn-stage=source: the sites of one piece of
 * machine code.  There a call can belong to several functions at once, since
 * functions are inlined after they were marked; each entry names one of them
 * by the address of its counters.
 */
#define CAIRN_SITES_MAGIC 0x31534643u /* "CFS1" */
#define CAIRN_SITES_HEAD_SIZE 24u
#define CAIRN_SITES_SIZE 4         /* u32: whole record */
#define CAIRN_SITES_FUNC 8         /* u64: link-time address of the code */
#define CAIRN_SITES_N 16           /* u32: number of entries */
#define CAIRN_SITES_CODE_SIZE 20   /* u32: bytes of machine code */
#define CAIRN_SITES_ENTRY_SIZE 16u /* u32 pc - func, u32 site, u64 counters */

/*
 * A third kind, one for each unit of translation whose debug information has
 * checksums (DWARF 5): the MD5 of the source files that its records name.
 */
#define CAIRN_SOURCES_MAGIC 0x31525343u /* "CSR1" */
#define CAIRN_SOURCES_SIZE 4            /* u32: whole record */
#define CAIRN_SOURCES_N 8               /* u32: number of files */
#define CAIRN_SOURCES_CRC 12        /* u32: crc32c of what follows the head */
#define CAIRN_SOURCES_HEAD_SIZE 16u /* per file: str path, 16 bytes */
#define CAIRN_SOURCES_MD5_SIZE 16u

/*
 * The blob, in order.  uv: unsigned LEB128.  sv: zigzag, then uv.  str: uv
 * length, bytes.
 *
 *   uv  CAIRN_BLOB_VERSION
 *   uv  flags, CAIRN_FN_*
 *   str linkage name
 *   if flags has ALIASES: uv number of other names; str each
 *   str reason why the function is not covered (empty if it is)
 *   u64 structural hash of the CFG (8 bytes, little-endian)
 *   uv  number of source files; str each, absolute where known
 *   uv  1 + index of the file of the definition, 0 if unknown;  uv line
 *   uv  number of inlined instances; per instance: str linkage name of the
 *       function, uv 1 + index of the file of its definition or 0, uv line of
 *       its definition, uv instance that it was inlined into, uv line of the
 *       call there.  Instance 0 is the function itself and is not in the list;
 *       the list starts with 1, and an instance comes behind what it is in.
 *   uv  number of blocks, the outside (block 0) included
 *   per block from 1 on:
 *       uv  flags, CAIRN_BLOCK_*
 *       uv  number of IR instructions
 *       uv  0, or 1 + counter that counts this block
 *       uv  number of segments (at least 1): calls that may not return split
 *           a block; a frame that died in such a call did not execute the rest
 *       per segment: uv number of lines; per line: uv instance, uv file, sv
 *           line minus the previous line of this function (first: minus 0),
 *           uv number of IR instructions of the segment that are of this line,
 *           uv number of places; uv each: CAIRN_PLACE_ALONE, or above.  Places
 *           above of one line and instance are equal in segments whose counts
 *           add up
 *       uv  0, or 1 + the line of the last segment that its branch is on
 *   uv  number of edges; edge 0 is outside -> entry
 *   per edge: uv source, uv target, uv kind (enum cairn_edge_kind),
 *       uv 0 or 1 + counter that counts this edge, uv weight
 *   uv  number of sites; per site: uv block, uv segment that ends in the call
 *   uv  number of callees; per callee: str linkage name, uv 1 + index of the
 *       file of its definition or 0, uv line of its definition or 0
 *   uv  number of outcalls, calls of whatever kind but those of assembly; per
 *       outcall: uv block, uv segment it is in, uv 1 + index of its callee, 0:
 *       through a pointer; uv instance, uv 1 + index of its file or 0; if not
 *       0: sv line minus that of the outcall before that has one (first: 0)
 *   uv  enum cairn_paths: how paths are counted
 *   if RECORD: 16 bytes, the id of its unit; uv its index among the functions
 *       that the unit defines
 *   if neither NONE nor WITNESS:
 *       uv  number of paths
 *       uv  number of cuts; per cut: uv edge (graph/paths.h: options.cuts).
 *           Edges of kind INDIRECT and CALL end paths as well, those of kind
 *           ABNORMAL are no part of any; those of kind SITE are among the cuts
 *       uv  number of loops that count their turns themselves; per loop: uv
 *           its head (graph/local.h).  HASHED, PREFERRED and TRACE only; as
 * many counters as it has turns follow the words of the table, in this order
 *       PREFERRED only: uv number of slots; uv number of interesting paths;
 *           per path, ascending: uv its number less that of the one before
 *           (first: less 0), uv its slot.  The slots' counters follow those of
 *           the loops, and one counter more: of all other paths, if they are
 *           not in a table
 *       PAIRS and PAIRS_DIRECT: uv enum cairn_degree; uv number of paths that
 *           begin at the entry: the first ones; uv enum cairn_rows, plus
 *           CAIRN_ROWS_LEFT_OUT: then uv number of blocks;
 *           per block, ascending: uv its number: no pair is counted of a path
 *           that begins there; uv number of sites; per site, ascending: uv its
 *           number: none of a call there is.  Then per site uv 0, or 1 + its
 *           cell; then per cell: uv number of rows; per row uv 0, or 1 + the
 *           sum of the path up to the site that it is for; uv 0, or the radix
 *           of its digit in tags (graph/tags.h): 0 is nobody, k path k - 1 of
 *           the callee.  The last counters are the cells; before them are, per
 *           site, CAIRN_ROW_PATHS counters for each row (the callee's first
 *           path).  Addresses of the callees of sites with rows or a radix are
 *           behind the probes
 *       per site: uv enum cairn_pending, then for KNOWN uv the sum of the
 *           values of the path so far (graph/increments.h), for REGISTER sv
 *           what to add to the register to get it, for SHARED sv 0
 *   if WITNESS: uv number of witnesses; per witness: uv its slot
 *       (graph/slots.h) less that of the one before (first: less 0)
 *   if TRACE, TRACE_PATHS, WITNESS or RECORD: uv number of calls that end
 *       histories;
 *       per call: uv its edge; uv enum cairn_calls: unless ANYTHING, the
 *       address of the callee is the next of those behind the probes
 *   if flags has SEGMENTS: what it was before calls were inlined into it, in
 *       terms of blocks that traces have (parts of blocks are blocks)
 *       u64 structural hash of that graph
 *       uv  number of copies of functions in it; per copy: uv parent (0: the
 *           function itself, k: copy k from 1 on), uv block that ends in the
 *           call, str linkage name, str file if it is local, u64 hash
 *       uv  number of calls of known functions that are left; per call: uv
 *           copy, uv block, str linkage name, str file if it is local
 *       per block from 1 on: uv number of blocks that it was; per block: uv
 *           copy, uv block
 *
 * A function that is not covered has 0 blocks, edges, sites and counters.
 */
#define CAIRN_BLOB_VERSION 7u
/* Before 7 there were no records of sources; blobs are as they were. */
/* The first whose lines have places, and blocks the lines of branches. */
#define CAIRN_BLOB_VERSION_PLACES 6u
/* The first whose rows of pairs are as they are now. */
#define CAIRN_BLOB_VERSION_ROWS 5u
/* Of these instances have a name only, lines no instructions, and there are
 * neither callees nor outcalls. */
#define CAIRN_BLOB_VERSION_OLD 2u

/* A place of a line in one segment only. */
#define CAIRN_PLACE_ALONE 0u
/* The only place of a line in a segment that says nothing of how often the line
 * ran: the segment cleans up after an exception, or chooses its handler. */
#define CAIRN_PLACE_ASIDE 0xfffffffeu

/*
 * How a function counts its paths.  DIRECT: counter k counts path k, and the
 * path register is the link-time address of counter k plus the load bias.
 * HASHED: the first counters are the words of a table (abi/rt.h), counts are in
 * PATHS chunks, and the register is 1 + k.  Counter i of a loop that counts its
 * turns counts the path that begins at its head and is turn i.
 * PREFERRED: as HASHED, but interesting paths have counters, their slots.
 * RESIDUAL: as HASHED, but only paths that no test had are counted; no loop has
 * counters, and where all are tested there are no words.
 * PAIRS_DIRECT and PAIRS: as DIRECT and HASHED, but counters and keys are those
 * of graph/pairs.h, of paths and of pairs of a path and the one before it; a
 * loop that counts its turns has a counter for each pair of them, by rows,
 * unless these are left out.  A path whose beginning is left out is counted
 * alone; if all are, there are no counters and keys for pairs.  To each such
 * number its path's tag is added (graph/tags.h), times how many numbers there
 * are; so it is to the sum in the register of a site.
 * TRACE: none is counted; the function writes its histories (graph/codes.h).
 * TRACE_PATHS: the same, but a history has one path.
 * WITNESS: the same, but it writes witnesses (graph/witness.h).
 * RECORD: none is counted; its counters are the cells of abi/record.h.  Who
 * replays it can write its histories, as of a TRACE.
 */
enum cairn_paths {
	CAIRN_PATHS_NONE = 0,
	CAIRN_PATHS_DIRECT = 1,
	CAIRN_PATHS_HASHED = 2,
	CAIRN_PATHS_PREFERRED = 3,
	CAIRN_PATHS_RESIDUAL = 4,
	CAIRN_PATHS_TRACE = 5,
	CAIRN_PATHS_TRACE_PATHS = 6,
	CAIRN_PATHS_WITNESS = 7,
	CAIRN_PATHS_RECORD = 8,
	CAIRN_PATHS_PAIRS_DIRECT = 9,
	CAIRN_PATHS_PAIRS = 10,
	CAIRN_NPATHS_KINDS
};

/* Pairs: the degree of overlapping paths that was asked for.  Whole pairs are
 * counted, whatever it is. */
enum cairn_degree {
	CAIRN_DEGREE_NONE = 0,
	CAIRN_DEGREE_AUTO = 1,
	CAIRN_DEGREE_MAX = 2,
	CAIRN_DEGREE_FIRST = 3, /* and more: this is degree 0 */
};
#define CAIRN_DEGREE_LIMIT 1000000

/* Pairs across calls: does the function count in rows of its callers?  Of two
 * at the same address the one of the higher number is there. */
enum cairn_rows {
	CAIRN_ROWS_NONE = 0,
	CAIRN_ROWS_WEAK = 1, /* in a section that the linker keeps once */
	CAIRN_ROWS_STRONG = 2,
	CAIRN_NROWS_KINDS,
};
/* In the map beside it: some pairs are not counted (prefer=). */
#define CAIRN_ROWS_LEFT_OUT 4u

/* Pairs across calls: paths of a callee that rows have counters for, 0 and
 * more. */
#define CAIRN_ROW_PATHS 16
/* ... and that digits of tags have at most. */
#define CAIRN_TAG_PATHS 128

/* Does it write a trace, instead of counting? */
#define CAIRN_PATHS_ARE_TRACED(paths)                                          \
	((paths) == CAIRN_PATHS_TRACE || (paths) == CAIRN_PATHS_TRACE_PATHS || \
	 (paths) == CAIRN_PATHS_WITNESS || (paths) == CAIRN_PATHS_RECORD)

/* What a frame that dies at a site leaves unfinished. */
enum cairn_pending {
	CAIRN_PENDING_NOTHING = 0, /* its path was counted before the call */
	CAIRN_PENDING_KNOWN = 1,
	CAIRN_PENDING_REGISTER = 2,
	/* in the register, modulo a power of two: cairn_path_modulus */
	CAIRN_PENDING_ADDRESS = 3,
	/* a call of a copy that many calls share: if the register is 0 it was
	 * counted before a call that the copy makes, else nobody knows */
	CAIRN_PENDING_SHARED = 4,
	CAIRN_NPENDING_KINDS
};

/* Where tables of a byte per path begin: at a multiple of this, which is at
 * least as many.  Address and number of a byte are then the same modulo it. */
static inline uint64_t cairn_path_modulus(uint64_t npaths)
{
	uint64_t n = 1;

	while (n < npaths)
		n *= 2;
	return n;
}
#define CAIRN_PATH_MODULUS_MAX 4096u

/*
 * Where the path register is when a call returns: an entry of 8 bytes in
 * CAIRN_REGISTERS_SECTION, which is loaded, for every site that needs it.
 *     i32 return address minus the address of this entry
 *     u32 bits 0-3: a register, by its DWARF number; bit 4: it holds the path
 *         register, else: add the signed number in bits 5-31 for the address
 *         of it on the stack
 */
#define CAIRN_REG_ENTRY 8u
#define CAIRN_REG_NUMBER 15u
#define CAIRN_REG_IN_REGISTER 16u
#define CAIRN_REG_OFFSET_SHIFT 5

#define CAIRN_FN_NOT_COVERED 1u
#define CAIRN_FN_STRICT 2u /* edges,strict: no frame needs to be looked up */
#define CAIRN_FN_SLOW 4u   /* edges,slow: blocks are counted, not edges */
#define CAIRN_FN_SOURCE 8u /* --cairn-stage=source */
#define CAIRN_FN_LOCAL 16u /* static, or in an anonymous namespace */
#define CAIRN_FN_SHARED \
	32u /* inline or template: other files may define it too */

/* What a call in a trace calls. */
enum cairn_calls {
	CAIRN_CALLS_ANYTHING = 0,
	CAIRN_CALLS_KNOWN = 1, /* a function that does not mark its entry */
	CAIRN_CALLS_MAYBE = 2, /* the same, if the map has one there */
	CAIRN_NCALLS_KINDS
};

#define CAIRN_FN_TAILS 64u /* another function may take its place */
/* its counts were made of a trace, and so was this description of it */
#define CAIRN_FN_TRACED 128u
/* paths,calls=: its blob says what its blocks were before calls were inlined */
#define CAIRN_FN_SEGMENTS 256u
#define CAIRN_FN_ALIASES 512u /* it has other names */
/* its probes say where calls begin after which nothing follows */
#define CAIRN_FN_LAST 1024u

#define CAIRN_BLOCK_LANDING_PAD 1u
#define CAIRN_BLOCK_INDIRECT 2u /* target of a computed goto */
/* in a loop that adds up its turns when it is left: abi/map.h readers must not
 * trust the function if a frame died in such a block between calls */
#define CAIRN_BLOCK_HELD 4u
/* a part of a basic block, behind the one before it */
#define CAIRN_BLOCK_PART 8u
/* it ends with a tail call: a frame that dies in that call, where it has one,
 * has left */
#define CAIRN_BLOCK_TAIL 16u
/* a recording: it ends with a computed goto; its edges are those of a switch */
#define CAIRN_BLOCK_GOTO 32u

enum cairn_edge_kind {
	CAIRN_EDGE_ENTRY = 0,  /* outside -> first block */
	CAIRN_EDGE_RETURN = 1, /* block -> outside: ret, tail call */
	CAIRN_EDGE_NORETURN =
	        2, /* block -> outside: ends in a call that never returns */
	CAIRN_EDGE_RESUME = 3, /* block -> outside: passes an exception on */
	CAIRN_EDGE_JUMP = 4,
	CAIRN_EDGE_TRUE = 5,
	CAIRN_EDGE_FALSE = 6,
	CAIRN_EDGE_CASE = 7, /* one or more cases of a switch */
	CAIRN_EDGE_DEFAULT = 8,
	CAIRN_EDGE_INDIRECT = 9,  /* computed goto */
	CAIRN_EDGE_NORMAL = 10,   /* invoke: returned */
	CAIRN_EDGE_UNWIND = 11,   /* invoke: threw */
	CAIRN_EDGE_FALL = 12,     /* strict: the call fell through */
	CAIRN_EDGE_ABNORMAL = 13, /* strict: the call did not come back */
	CAIRN_EDGE_CALL = 14,     /* to a call that is a block; paths end */
	CAIRN_EDGE_SITE = 15,     /* paths,calls=: the same, but loops stay */
	CAIRN_NEDGE_KINDS
};

#endif /* CAIRN_ABI_MAP_H */
