/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ABI_FILE_H
#define CAIRN_ABI_FILE_H

/*
 * The .cairn container: what the runtime writes and every reader reads.
 * docs/FORMAT.md is the specification; these are its numbers.
 *
 * A file is one header page and then chunks, back to back.  Everything is
 * little-endian.  The runtime maps the file and counts in it, so a file whose
 * program was killed is as readable as one that was closed; only a closed one
 * carries checksums over what kept changing while the program ran.
 *
 * This header is included by the runtime: constants only, no libc.
 */

#define CAIRN_FILE_MAGIC \
	"\x89"           \
	"CAIRN\r\n"
#define CAIRN_FILE_MAGIC_SIZE 8
#define CAIRN_FILE_VERSION 2u
#define CAIRN_FILE_HEADER_SIZE 4096u

/* Offsets in the header page.  Bytes 0..127 never change after creation. */
#define CAIRN_HDR_MAGIC 0   /* 8 bytes */
#define CAIRN_HDR_VERSION 8 /* u32 */
#define CAIRN_HDR_SIZE 12   /* u32: CAIRN_FILE_HEADER_SIZE */
#define CAIRN_HDR_KIND 16   /* u32: enum cairn_file_kind */
#define CAIRN_HDR_PID 20    /* u32: 0 in a merged file */
#define CAIRN_HDR_PPID 24   /* u32 */
#define CAIRN_HDR_NRUNS 28  /* u32: runs merged into this file, 1 if raw */
#define CAIRN_HDR_START 32  /* u64: ns since the epoch */
/* Of a sum that runs add to (CAIRN_OUT=NAME,merge): PID and START of the file
 * that was added last, which may still be there; else 0. */
#define CAIRN_HDR_LAST_PID 40   /* u32 */
#define CAIRN_HDR_LAST_START 48 /* u64 */
#define CAIRN_HDR_CRC 124       /* u32: crc32c of bytes 0..123 */
/* Bytes 128..191: state, rewritten while the program runs. */
#define CAIRN_HDR_STATE 128  /* u32: enum cairn_file_state */
#define CAIRN_HDR_FLAGS 132  /* u32: CAIRN_FILE_* flags */
#define CAIRN_HDR_LENGTH 136 /* u64: bytes of the file in use */
#define CAIRN_HDR_END 144    /* u64: ns since the epoch, 0 while open */
#define CAIRN_HDR_HOW 152    /* u32: enum cairn_file_how */
#define CAIRN_HDR_SIGNAL 156 /* u32: signal number if HOW is SIGNAL */
#define CAIRN_HDR_UNWALKED                                                     \
	160                     /* u32: threads or frames nobody could look at \
	                         */
#define CAIRN_HDR_STATE_CRC 188 /* u32: crc32c of 128..187, once closed */

/* Behind what readers look at. */
#define CAIRN_HDR_FORKS 192   /* u32: of a recording, forks that were tried */
#define CAIRN_HDR_BEAT 196    /* u32: whoever cuts it counts here, as a clock */
#define CAIRN_HDR_DROPPED 200 /* u64: bytes of it that are holes */
/* u32 each, of stdout and stderr: bytes of OUTs that were still in libc's
 * buffer when it was last looked at, for the case that the program is killed */
#define CAIRN_HDR_PENDING 208
#define CAIRN_PENDING_PERHAPS \
	0x80000000u /* lines: libc may have written them */

enum cairn_file_kind {
	CAIRN_KIND_PROFILE = 1, /* counts of an edges build */
};

enum cairn_file_state {
	CAIRN_STATE_OPEN = 0,   /* the program runs, or was killed */
	CAIRN_STATE_CLOSED = 1, /* frames recorded, checksums in place */
};

/* How the process ended, as far as the runtime could see. */
enum cairn_file_how {
	CAIRN_HOW_UNKNOWN = 0,
	CAIRN_HOW_EXIT = 1,   /* exit, return from main, quick_exit, _exit */
	CAIRN_HOW_SIGNAL = 2, /* a fatal signal, abort included */
	CAIRN_HOW_EXEC = 3,   /* replaced by exec */
	CAIRN_HOW_UNLOAD = 4, /* our only module was unloaded */
	CAIRN_HOW_MERGED = 5, /* written by cairn merge */
};

/* Header flags. */
#define CAIRN_FILE_NOT_KILL_SAFE 1u /* was kept in memory, written at exit */
#define CAIRN_FILE_FORKED 2u        /* a fork child: frames were inherited */
#define CAIRN_FILE_FRAMES_LOST 4u   /* frames died that could not be recorded */
#define CAIRN_FILE_TRUNCATED \
	8u /* disk or a limit stopped growth: see UNWALKED */
#define CAIRN_FILE_UNFINISHED \
	16u /* merged or packed from a file that was never closed */
/* a trace whose SYNC marks are missing: not linked with --cairn=trace */
#define CAIRN_FILE_UNORDERED 32u
#define CAIRN_FILE_LAST \
	64u /* a trace or recording of which only the newest is kept */
/* a recording: streams are logs of contexts (abi/record.h), not of threads */
#define CAIRN_FILE_RECORDING 128u

/* Chunk header: 64 bytes at the start of every chunk. */
#define CAIRN_CHUNK_HEADER_SIZE 64u
#define CAIRN_CHUNK_MAGIC 0x314b4843u /* "CHK1" */
#define CAIRN_CHK_MAGIC 0             /* u32 */
#define CAIRN_CHK_TYPE 4         /* u32: enum cairn_chunk_type, | OPTIONAL */
#define CAIRN_CHK_LENGTH 8       /* u64: whole chunk, a multiple of 8 */
#define CAIRN_CHK_ID 16          /* u32: thread serial, or 0 */
#define CAIRN_CHK_MODULE 20      /* u32: module index, or 0 */
#define CAIRN_CHK_N 24           /* u64: number of elements */
#define CAIRN_CHK_AUX0 32        /* u64 */
#define CAIRN_CHK_AUX1 40        /* u64 */
#define CAIRN_CHK_FLAGS 48       /* u32: CAIRN_CHUNK_* flags */
#define CAIRN_CHK_PAYLOAD_CRC 52 /* u32: of all LENGTH - 64 bytes behind */
#define CAIRN_CHK_HEADER_CRC 56  /* u32: crc32c of bytes 0..47 */
#define CAIRN_CHK_ZERO 60        /* u32: 0 */

#define CAIRN_CALLS_SLOT 32u  /* bytes of a slot of a CALLS chunk */
#define CAIRN_PLACED_SLOT 32u /* and of a PLACED chunk */

#define CAIRN_CHUNK_OPTIONAL 0x80000000u /* in TYPE: skip if unknown */
#define CAIRN_CHUNK_LIVE 1u              /* PAYLOAD_CRC counts only if SEALED */
#define CAIRN_CHUNK_SEALED 2u            /* PAYLOAD_CRC is right */

enum cairn_chunk_type {
	/* payload: three strings, each ended by NUL: path of the executable,
	 * working directory, command line (arguments joined by spaces) */
	CAIRN_CHUNK_PROGRAM = 1,
	/* MODULE its index (from 1); N counters; AUX0 link-time address of the
	 * first counter; AUX1 load bias; payload: u32 size of the build id,
	 * build id, then the path ended by NUL */
	CAIRN_CHUNK_MODULE = 2,
	/* ID thread, or 0: of all, MODULE; payload: N counters, u64 each.
	 * LIVE. */
	CAIRN_CHUNK_COUNTS = 3,
	/* ID thread; payload: N slots of (u64 key, u64 register, u64 count):
	 * see below.  LIVE. */
	CAIRN_CHUNK_FRAMES = 4,
	/* MODULE; AUX0 size before compression; payload: the module's map
	 * section, one zstd frame, padded to 8.  In packed and merged files. */
	CAIRN_CHUNK_MAP = 5,
	/* ID thread, MODULE; N bytes of payload: tables of path counts, see
	 * below.  LIVE. */
	CAIRN_CHUNK_PATHS = 6,
	/* ID thread; payload: a part of its stream (abi/trace.h), which zeros
	 * may follow; AUX0 number of the part, from 1 on; 0: nothing.  LIVE. */
	CAIRN_CHUNK_STREAM = 8,
	/* the same, complete: N bytes, in a zstd frame of AUX1 bytes */
	CAIRN_CHUNK_PACKED = 9,
	/* ID thread; payload: N slots of (u64 site, u64 callee, u64 paths, u64
	 * count), pairs of paths across calls: see below.  LIVE. */
	CAIRN_CHUNK_CALLS = 10,
	/* FRAMES of several runs: N slots of (u64 key, u64 register, u64 count,
	 * u64 load bias of the module where the register comes from) */
	CAIRN_CHUNK_PLACED = 11,
	/* Windows of streams, see below.  ID thread; AUX1: K; payload: N
	 * slots.  LIVE. */
	CAIRN_CHUNK_FOREST = 13,
	/* ID thread; AUX0 number of the first; payload: N nodes.  LIVE. */
	CAIRN_CHUNK_NODES = 14,
	/* the same, of all threads, as cairn merge writes them: AUX1: K;
	 * payload: N windows */
	CAIRN_CHUNK_WINDOWS = 15,
	/* of a recording whose oldest part was dropped; ID a context: N bytes,
	 * behind a head of CAIRN_CHECKPOINT_HEAD bytes, with which its replay
	 * begins; AUX0, AUX1 part and offset there of the first event; N 0:
	 * the context is over, and nothing of it is kept.  ID 0, without
	 * payload: N contexts that there were */
	CAIRN_CHUNK_CHECKPOINT = 16,
};

/* The head of a CHECKPOINT chunk: what the first events of the context said,
 * and what the event before the first one was at. */
#define CAIRN_CHECKPOINT_KIND 0      /* u32, of BEGIN */
#define CAIRN_CHECKPOINT_THREAD 4    /* u32 */
#define CAIRN_CHECKPOINT_TID 8       /* u32 */
#define CAIRN_CHECKPOINT_FORKED 12   /* u32: 1 if there was a FORK: */
#define CAIRN_CHECKPOINT_PID 16      /* u32 */
#define CAIRN_CHECKPOINT_CONTEXT 20  /* u32 */
#define CAIRN_CHECKPOINT_AT 24       /* u64 */
#define CAIRN_CHECKPOINT_TICK 32     /* u64, of the event before */
#define CAIRN_CHECKPOINT_CELL 40     /* u64 */
#define CAIRN_CHECKPOINT_POSITION 48 /* u64: bytes of the log before */
#define CAIRN_CHECKPOINT_MOMENT 56   /* u64: tick where the replay begins */
#define CAIRN_CHECKPOINT_HEAD 64u

/*
 * AUX1 of a STREAM chunk of a recording: its payload begins with a u64, twice
 * the number of bytes that follow and are complete (bit 0 is the runtime's).
 */
#define CAIRN_STREAM_COUNTED 1u
#define CAIRN_STREAM_COUNT_SIZE 8u

/*
 * A forest (--cairn=paths,iterations=K): how often each sequence of up to K
 * elements occurred, which are paths of one activation; or (chains=D) a path
 * and before it the last D calls that led to its activation, the one that is
 * nearest last.  AUX1 is K, or CAIRN_CHAINS + D.  A slot of a FOREST
 * chunk is a window: a node (upper half of KEY) and the element behind
 * it, of an id (lower half) and an owner; KEY 0: it is not in use.  Node 0
 * stands for the beginning of a stream, node 1 for no element, and that there
 * may have been others before.  The elements of another node are its own and
 * those of PREV, of the node before, until there are LEN of them; it is
 * ANCHORED if nothing was before the first.
 *
 * The owner of an element is the address of the function's counters as it was
 * in the process, its id is 1 + the number of the path.  A call has the address
 * of its caller's counters, plus 2^CAIRN_LINK_SHIFT times 1 + its link, and 1 +
 * the sum of the caller's path up to the block of the call.  The link of a call
 * is the number of its site; of one that has none it is the number of sites,
 * plus its block.  The upper bits of a node in a key of
 * chains, from CAIRN_NODE_BITS on, are the runtime's.
 */
#define CAIRN_CHAINS 256u
#define CAIRN_CHAINS_MAX 16u /* D */
#define CAIRN_LINK_SHIFT 48
#define CAIRN_LINKS_MAX 65535u
#define CAIRN_NODE_BITS 24
#define CAIRN_FOREST_MAX 16u /* K */
#define CAIRN_FOREST_MULTIPLIER 0x9e3779b97f4a7c15u
#define CAIRN_FOREST_SLOT 48u
#define CAIRN_SLOT_KEY 0    /* u64 */
#define CAIRN_SLOT_OWNER 8  /* u64 */
#define CAIRN_SLOT_COUNT 16 /* u64 */
#define CAIRN_SLOT_NEXT 24  /* u64: for the runtime */
#define CAIRN_SLOT_SUCC 32  /* u64: for the runtime */
#define CAIRN_SLOT_OTHER 40 /* u64: for the runtime */
#define CAIRN_NODE_SIZE 24u
#define CAIRN_NODE_OWNER 0     /* u64 */
#define CAIRN_NODE_PREV 8      /* u32 */
#define CAIRN_NODE_ID 12       /* u32 */
#define CAIRN_NODE_LEN 20      /* u8 */
#define CAIRN_NODE_ANCHORED 21 /* u8: 0 or 1 */

/* N records; AUX0 number of the first of them in the whole list: in which order
 * a process first took the paths of its tables, see below.  LIVE. */
#define CAIRN_CHUNK_ORDER (7u | CAIRN_CHUNK_OPTIONAL)

/* N source files; AUX0 size before compression; payload: one zstd frame, padded
 * to 8: path, flags, text of each (docs/FORMAT.md).  In packed files.
 */
#define CAIRN_CHUNK_SOURCES (12u | CAIRN_CHUNK_OPTIONAL)
#define CAIRN_SOURCE_NEWER 1u /* than the program, when it was packed */

/* MODULE; of a trace: where calls by name have led from there.  N times (u64
 * hash of the name, cairn_name_hash in abi/trace.h; u64 number of the module,
 * 0: of one without marks, or nowhere).  A name that is not listed has led to
 * the module itself, if that has it, or to a module without marks. */
#define CAIRN_CHUNK_BINDINGS (18u | CAIRN_CHUNK_OPTIONAL)
#define CAIRN_BINDING 16u /* bytes of one */

/* Of a sum: N times CAIRN_RUN_ID, one of each run in it that is known. */
#define CAIRN_CHUNK_RUNS (19u | CAIRN_CHUNK_OPTIONAL)
/* What tells a run from all others: PID and START of its file; not if that is
 * before the year 2000, as where nobody has set the clock. */
#define CAIRN_RUN_START_MIN 946684800000000000u
#define CAIRN_RUN_ID(pid, start) \
	((uint64_t)(start) ^ (uint64_t)(pid)*0x9e3779b97f4a7c15u)

/* Nothing any more: parts of a recording were here that are not kept. */
#define CAIRN_CHUNK_GAP (17u | CAIRN_CHUNK_OPTIONAL)

/*
 * Tables of path counts, back to back from the start of a PATHS payload; a
 * table whose first word is 0 is the last.  A head of CAIRN_TABLE_HEAD bytes,
 * then SLOTS slots of (u64 path, u64 count).  `path` is 1 + the number of the
 * path, 0 in an empty slot.  A path may be in several slots and several tables
 * of one function: counts add up.
 */
/* u64: link-time address of the function's words */
#define CAIRN_TABLE_OWNER 0
#define CAIRN_TABLE_SLOTS 8   /* u64 */
#define CAIRN_TABLE_KEYS 16   /* u64: for the runtime */
#define CAIRN_TABLE_MISSES 24 /* u64: for the runtime */
#define CAIRN_TABLE_HEAD 32u
#define CAIRN_TABLE_SLOT 16u

/*
 * The payload of an ORDER chunk is a head and its records.  The head of the
 * chunk with record 0 begins with a u64: how many records were asked for, those
 * included for which there is no room.  Records are numbered through all
 * chunks, and appended in this order; if a path is in several, the first
 * counts.
 */
#define CAIRN_ORDER_HEAD_SIZE 16u
#define CAIRN_ORDER_RECORD 16u
/* u64: module and link-time address of the function's words, as in a frame's
 * key, whose kind is 0 here */
#define CAIRN_ORDER_PLACE 0
#define CAIRN_ORDER_PATH 8 /* u64: 1 + its number; 0: never completed */

/*
 * Keys of the frames table.  A key says where a frame was when it died (OUT)
 * or began in the middle (IN: fork, second return of setjmp or vfork), and the
 * count says how often; it is a two's complement number, since a recorded
 * death can be taken back (an exec that failed).  0 is an empty slot.
 *
 * The second word of a slot is 1 + the path register of the frame, where the
 * function has one there (abi/map.h), and else 0.  A slot of which only the
 * first word was written counts nothing.
 */
#define CAIRN_FRAME_KIND_SHIFT 60
#define CAIRN_FRAME_MODULE_SHIFT 48
#define CAIRN_FRAME_MODULE_MASK 0xfffu
#define CAIRN_FRAME_PC_MASK 0xffffffffffffull /* link-time address */

enum cairn_frame_kind {
	CAIRN_FRAME_OUT = 1,       /* died in a call: pc is a return address */
	CAIRN_FRAME_OUT_ASYNC = 2, /* died between calls: pc is where it was */
	CAIRN_FRAME_IN = 3,        /* continued after a call it did not make */
	CAIRN_FRAME_IN_ASYNC =
	        4, /* continued between calls (fork in a handler) */
};

#endif /* CAIRN_ABI_FILE_H */
