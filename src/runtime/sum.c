/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum of two .cairn files, in the program that wrote one of them.
 *
 * It is what `cairn merge` makes of them, without the maps, which are not
 * there: counters of the same module of the same build add up; so do paths of
 * tables, frames and pairs of paths across calls, which are sorted for it. What
 * depends on where a module was loaded is put in terms that all runs share, but
 * for path registers of frames: only a map says which of them are addresses.
 * They keep the load bias beside them (PLACED frames), and the reader does it.
 * So frames with registers do not add up if the modules were loaded elsewhere.
 *
 * Invariant: nothing of a file is believed before it was checked; what was
 * checked is not read again from the file but by us, under its lock.
 * Cost: O(n) for the counters, O(n log n) for the rest; memory for twice the
 * bytes of both files.
 */
#include "runtime/sum.h"

#include <errno.h>

#include "abi/file.h"
#include "runtime/crc.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define NUMBERS (CAIRN_FRAME_MODULE_MASK + 1)
#define FRAME_SLOT 24u
#define SLACK ((uint64_t)1 << 20) /* for heads of chunks */

/* A module of the sum. */
struct entry {
	const unsigned char *chunk; /* its MODULE chunk */
	const unsigned char *map;   /* its MAP chunk, or NULL */
	uint32_t of;                /* the file that had it first */
	bool has_counts;
};

/* What is summed after it was sorted. */
struct record {
	uint64_t a, b, c, count;
};

/* One of the files. */
struct input {
	const unsigned char *mem, *end, *program;
	bool is_ours;
	const unsigned char *module[NUMBERS]; /* MODULE chunks, by number */
	uint16_t number[NUMBERS];             /* in the sum */
};

struct work {
	struct input input[2];
	uint32_t ninputs;
	struct entry entries[NUMBERS]; /* from 1 on */
	uint32_t nentries;
	struct record *records;
	uint64_t nrecords, records_room;
	struct sum *out;
};

/* --- chunks of a file ----------------------------------------------------- */

static uint32_t type_of(const unsigned char *k)
{
	return rt_get32(k + CAIRN_CHK_TYPE);
}

static uint64_t n_of(const unsigned char *k)
{
	return rt_get64(k + CAIRN_CHK_N);
}

static uint32_t module_of(const unsigned char *k)
{
	return rt_get32(k + CAIRN_CHK_MODULE);
}

static const unsigned char *payload_of(const unsigned char *k)
{
	return k + CAIRN_CHUNK_HEADER_SIZE;
}

static uint64_t size_of(const unsigned char *k)
{
	return rt_get64(k + CAIRN_CHK_LENGTH) - CAIRN_CHUNK_HEADER_SIZE;
}

static const unsigned char *first_chunk(const struct input *in)
{
	return in->mem + CAIRN_FILE_HEADER_SIZE;
}

static const unsigned char *next_chunk(const unsigned char *k)
{
	return k + rt_get64(k + CAIRN_CHK_LENGTH);
}

/* --- checks --------------------------------------------------------------- */

static bool is_header_right(const unsigned char *h)
{
	return rt_same(h, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE) &&
	       rt_get32(h + CAIRN_HDR_VERSION) == CAIRN_FILE_VERSION &&
	       rt_get32(h + CAIRN_HDR_SIZE) == CAIRN_FILE_HEADER_SIZE &&
	       rt_get32(h + CAIRN_HDR_KIND) == CAIRN_KIND_PROFILE &&
	       rt_get32(h + CAIRN_HDR_CRC) == crc_of(h, CAIRN_HDR_CRC) &&
	       rt_get32(h + CAIRN_HDR_STATE) == CAIRN_STATE_CLOSED &&
	       rt_get32(h + CAIRN_HDR_STATE_CRC) ==
	               crc_of(h + CAIRN_HDR_STATE,
	                      CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE);
}

/* Do n elements of so many bytes fit? */
static bool holds(const unsigned char *k, uint64_t each)
{
	return n_of(k) <= size_of(k) / each;
}

/* The end of the text that begins at `at`; NULL if it has none. */
static const unsigned char *skip_text(const unsigned char *at,
                                      const unsigned char *end)
{
	while (at && at < end)
		if (!*at++)
			return at;
	return NULL;
}

static bool is_module_right(const unsigned char *k)
{
	const unsigned char *at = payload_of(k), *end = next_chunk(k);
	uint64_t n = n_of(k);

	if (!module_of(k) || module_of(k) >= NUMBERS || size_of(k) < 4 ||
	    rt_get32(at) > size_of(k) - 4 || n > UINT64_MAX / 16)
		return false;
	return skip_text(at + 4 + rt_get32(at), end) != NULL;
}

/* Are tables whole? */
static bool are_tables_right(const unsigned char *k)
{
	const unsigned char *at = payload_of(k);
	uint64_t left = n_of(k), slots;

	while (left >= CAIRN_TABLE_HEAD && rt_get64(at)) {
		slots = rt_get64(at + CAIRN_TABLE_SLOTS);
		left -= CAIRN_TABLE_HEAD;
		if (slots > left / CAIRN_TABLE_SLOT)
			return false;
		left -= slots * CAIRN_TABLE_SLOT;
		at += CAIRN_TABLE_HEAD + slots * CAIRN_TABLE_SLOT;
	}
	return true;
}

/* 0 or a negative errno. */
static int check_payload(const unsigned char *k)
{
	bool right = true;

	switch (type_of(k)) {
	case CAIRN_CHUNK_STREAM:
	case CAIRN_CHUNK_PACKED:
	case CAIRN_CHUNK_FOREST:
	case CAIRN_CHUNK_NODES:
	case CAIRN_CHUNK_WINDOWS:
		return -EPROTO;
	case CAIRN_CHUNK_PROGRAM:
		right = skip_text(payload_of(k), next_chunk(k)) != NULL;
		break;
	case CAIRN_CHUNK_MODULE:
		right = is_module_right(k);
		break;
	case CAIRN_CHUNK_COUNTS:
		right = holds(k, 8);
		break;
	case CAIRN_CHUNK_FRAMES:
		right = holds(k, FRAME_SLOT);
		break;
	case CAIRN_CHUNK_PLACED:
		right = holds(k, CAIRN_PLACED_SLOT);
		break;
	case CAIRN_CHUNK_CALLS:
		right = holds(k, CAIRN_CALLS_SLOT);
		break;
	case CAIRN_CHUNK_PATHS:
		right = holds(k, 1) && are_tables_right(k);
		break;
	case CAIRN_CHUNK_RUNS:
		right = holds(k, 8);
		break;
	case CAIRN_CHUNK_MAP:
		break;
	default:
		right = type_of(k) & CAIRN_CHUNK_OPTIONAL;
	}
	return right ? 0 : -EBADMSG;
}

static bool is_chunk_right(const struct input *in, const unsigned char *k)
{
	uint64_t left = (uint64_t)(in->end - k), length;

	if (left < CAIRN_CHUNK_HEADER_SIZE ||
	    rt_get32(k + CAIRN_CHK_MAGIC) != CAIRN_CHUNK_MAGIC ||
	    rt_get32(k + CAIRN_CHK_HEADER_CRC) != crc_of(k, CAIRN_CHK_FLAGS))
		return false;
	length = rt_get64(k + CAIRN_CHK_LENGTH);
	if (length < CAIRN_CHUNK_HEADER_SIZE || length % 8 || length > left)
		return false;
	return in->is_ours ||
	       rt_get32(k + CAIRN_CHK_FLAGS) == CAIRN_CHUNK_LIVE ||
	       rt_get32(k + CAIRN_CHK_PAYLOAD_CRC) ==
	               crc_of(payload_of(k), size_of(k));
}

static bool is_declared(const struct input *in, const unsigned char *k)
{
	uint32_t type = type_of(k), number = module_of(k);

	if (type != CAIRN_CHUNK_COUNTS && type != CAIRN_CHUNK_PATHS &&
	    type != CAIRN_CHUNK_MAP)
		return true;
	if (number >= NUMBERS || !in->module[number])
		return false;
	return type != CAIRN_CHUNK_COUNTS ||
	       n_of(k) == n_of(in->module[number]);
}

static int check_chunks(struct input *in)
{
	int r;

	for (const unsigned char *k = first_chunk(in); k != in->end;
	     k = next_chunk(k)) {
		if (!is_chunk_right(in, k))
			return -EBADMSG;
		r = check_payload(k);
		if (r < 0)
			return r;
		if (type_of(k) == CAIRN_CHUNK_PROGRAM)
			in->program = k;
		if (type_of(k) == CAIRN_CHUNK_MODULE)
			in->module[module_of(k)] = k;
	}
	for (const unsigned char *k = first_chunk(in); k != in->end;
	     k = next_chunk(k))
		if (!is_declared(in, k))
			return -EBADMSG;
	return 0;
}

static int check_file(struct input *in, const struct sum_file *f)
{
	uint64_t length;

	if (f->size < CAIRN_FILE_HEADER_SIZE || !is_header_right(f->mem))
		return -EBADMSG;
	length = rt_get64(f->mem + CAIRN_HDR_LENGTH);
	if (length < CAIRN_FILE_HEADER_SIZE || length > f->size)
		return -EBADMSG;
	if (rt_get32(f->mem + CAIRN_HDR_FLAGS) & CAIRN_FILE_RECORDING)
		return -EPROTO;
	in->mem = f->mem;
	in->end = f->mem + length;
	in->is_ours = f->is_ours;
	return check_chunks(in);
}

/* --- modules -------------------------------------------------------------- */

static uint32_t id_size(const unsigned char *k)
{
	return rt_get32(payload_of(k));
}

static const char *path_of(const unsigned char *k)
{
	return (const char *)payload_of(k) + 4 + id_size(k);
}

static bool same_text(const char *a, const char *b)
{
	size_t n = rt_strlen(a);

	return n == rt_strlen(b) && rt_same(a, b, n);
}

static bool same_id(const unsigned char *a, const unsigned char *b)
{
	return id_size(a) == id_size(b) &&
	       rt_same(payload_of(a) + 4, payload_of(b) + 4, id_size(a));
}

static bool same_counters(const unsigned char *a, const unsigned char *b)
{
	return n_of(a) == n_of(b) &&
	       (!n_of(a) ||
	        rt_get64(a + CAIRN_CHK_AUX0) == rt_get64(b + CAIRN_CHK_AUX0));
}

static bool same_module(const unsigned char *a, const unsigned char *b)
{
	return same_id(a, b) &&
	       (id_size(a) ||
	        (same_text(path_of(a), path_of(b)) && same_counters(a, b)));
}

/* The entry of a module, a new one if need be; 0: there is another build of it,
 * or no more room. */
static uint32_t enter_module(struct work *w, const unsigned char *k,
                             uint32_t input)
{
	bool is_other = false;

	for (uint32_t i = 1; i <= w->nentries; i++) {
		const struct entry *e = &w->entries[i];

		if (same_module(e->chunk, k))
			return same_counters(e->chunk, k) ? i : 0;
		is_other |= e->of != input &&
		            same_text(path_of(e->chunk), path_of(k));
	}
	if (is_other || w->nentries == NUMBERS - 1)
		return 0;
	w->entries[++w->nentries] = (struct entry){.chunk = k, .of = input};
	return w->nentries;
}

/* The module of the program itself, NULL if it does not count. */
static const unsigned char *main_module(const struct input *in)
{
	const char *path =
	        in->program ? (const char *)payload_of(in->program) : "";

	for (uint32_t i = 1; i < NUMBERS; i++)
		if (in->module[i] && same_text(path_of(in->module[i]), path))
			return in->module[i];
	return NULL;
}

static bool same_program(const struct input *x, const struct input *y)
{
	const unsigned char *a = main_module(x), *b = main_module(y);

	if (a && b && id_size(a) && id_size(b))
		return same_id(a, b);
	return x->program && y->program &&
	       same_text((const char *)payload_of(x->program),
	                 (const char *)payload_of(y->program));
}

static int enter_modules(struct work *w, uint32_t input)
{
	struct input *in = &w->input[input];

	for (uint32_t i = 1; i < NUMBERS; i++) {
		if (!in->module[i])
			continue;
		in->number[i] = (uint16_t)enter_module(w, in->module[i], input);
		if (!in->number[i])
			return -ENOEXEC;
	}
	for (const unsigned char *k = first_chunk(in); k != in->end;
	     k = next_chunk(k)) {
		struct entry *e =
		        &w->entries[in->number[module_of(k) % NUMBERS]];

		if (type_of(k) == CAIRN_CHUNK_COUNTS)
			e->has_counts = true;
		if (type_of(k) == CAIRN_CHUNK_MAP && !e->map)
			e->map = k;
	}
	return 0;
}

/* --- records -------------------------------------------------------------- */

static bool is_before(const struct record *x, const struct record *y)
{
	if (x->a != y->a)
		return x->a < y->a;
	if (x->b != y->b)
		return x->b < y->b;
	return x->c < y->c;
}

static void sink(struct record *r, uint64_t at, uint64_t n)
{
	struct record x = r[at];
	uint64_t child;

	while ((child = 2 * at + 1) < n) {
		if (child + 1 < n && is_before(&r[child], &r[child + 1]))
			child++;
		if (!is_before(&x, &r[child]))
			break;
		r[at] = r[child];
		at = child;
	}
	r[at] = x;
}

static void sort(struct record *r, uint64_t n)
{
	for (uint64_t i = n / 2; i-- > 0;)
		sink(r, i, n);
	for (uint64_t i = n; i-- > 1;) {
		struct record x = r[0];

		r[0] = r[i];
		r[i] = x;
		sink(r, 0, i);
	}
}

/* Sorts the records and adds up equal ones; sums of 0 go. */
static void settle(struct work *w)
{
	struct record *r = w->records;
	uint64_t kept = 0;

	sort(r, w->nrecords);
	for (uint64_t i = 0, next; i < w->nrecords; i = next) {
		struct record x = r[i];

		for (next = i + 1;
		     next < w->nrecords && !is_before(&x, &r[next]); next++)
			x.count += r[next].count;
		if (x.count)
			r[kept++] = x;
	}
	w->nrecords = kept;
}

static void note(struct work *w, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t count)
{
	if (count && w->nrecords < w->records_room)
		w->records[w->nrecords++] = (struct record){a, b, c, count};
}

/* --- the chunks of the sum ------------------------------------------------ */

/* A chunk of zeros at the end: its payload. */
static unsigned char *begin_chunk(struct work *w, uint32_t type, uint64_t size)
{
	unsigned char *k = w->out->mem + w->out->size;

	if (size > w->out->room - w->out->size - 2 * CAIRN_CHUNK_HEADER_SIZE)
		return NULL;
	size = (size + 7) & ~(uint64_t)7;
	rt_put32(k + CAIRN_CHK_MAGIC, CAIRN_CHUNK_MAGIC);
	rt_put32(k + CAIRN_CHK_TYPE, type);
	rt_put64(k + CAIRN_CHK_LENGTH, CAIRN_CHUNK_HEADER_SIZE + size);
	return k + CAIRN_CHUNK_HEADER_SIZE;
}

/* Its header is complete but for the checksums. */
static void end_chunk(struct work *w)
{
	unsigned char *k = w->out->mem + w->out->size;

	rt_put32(k + CAIRN_CHK_PAYLOAD_CRC, crc_of(payload_of(k), size_of(k)));
	rt_put32(k + CAIRN_CHK_HEADER_CRC, crc_of(k, CAIRN_CHK_FLAGS));
	w->out->size += rt_get64(k + CAIRN_CHK_LENGTH);
}

/* The same chunk, as one of module `number` that was loaded at 0. */
static int copy_chunk(struct work *w, const unsigned char *from,
                      uint32_t number)
{
	unsigned char *to = begin_chunk(w, type_of(from), size_of(from)), *k;

	if (!to)
		return -ENOMEM;
	k = to - CAIRN_CHUNK_HEADER_SIZE;
	rt_copy(to, payload_of(from), size_of(from));
	rt_put32(k + CAIRN_CHK_MODULE, number);
	rt_put64(k + CAIRN_CHK_N, n_of(from));
	rt_put64(k + CAIRN_CHK_AUX0, rt_get64(from + CAIRN_CHK_AUX0));
	end_chunk(w);
	return 0;
}

static void add_words(unsigned char *to, const unsigned char *from, uint64_t n)
{
	for (uint64_t i = 0; i < 8 * n; i += 8)
		rt_put64(to + i, rt_get64(to + i) + rt_get64(from + i));
}

static int put_counts(struct work *w, uint32_t number)
{
	uint64_t n = n_of(w->entries[number].chunk);
	unsigned char *to = begin_chunk(w, CAIRN_CHUNK_COUNTS, 8 * n), *head;

	if (!to)
		return -ENOMEM;
	head = to - CAIRN_CHUNK_HEADER_SIZE;
	rt_put32(head + CAIRN_CHK_MODULE, number);
	rt_put64(head + CAIRN_CHK_N, n);
	for (uint32_t i = 0; i < w->ninputs; i++) {
		const struct input *in = &w->input[i];

		for (const unsigned char *k = first_chunk(in); k != in->end;
		     k = next_chunk(k))
			if (type_of(k) == CAIRN_CHUNK_COUNTS &&
			    in->number[module_of(k)] == number)
				add_words(to, payload_of(k), n);
	}
	end_chunk(w);
	return 0;
}

static void note_tables(struct work *w, const unsigned char *k)
{
	const unsigned char *at = payload_of(k), *end = at + n_of(k);

	while (end - at >= CAIRN_TABLE_HEAD && rt_get64(at)) {
		uint64_t owner = rt_get64(at);
		uint64_t slots = rt_get64(at + CAIRN_TABLE_SLOTS);

		at += CAIRN_TABLE_HEAD;
		for (; slots; slots--, at += CAIRN_TABLE_SLOT)
			note(w, owner, rt_get64(at), 0, rt_get64(at + 8));
	}
}

/* The table that begins with record i; returns the first one behind it. */
static uint64_t put_table(const struct work *w, uint64_t i, unsigned char **at)
{
	const struct record *r = w->records;
	unsigned char *head = *at;
	uint64_t first = i, owner = r[i].a;

	*at += CAIRN_TABLE_HEAD;
	for (; i < w->nrecords && r[i].a == owner; i++) {
		rt_put64(*at, r[i].b);
		rt_put64(*at + 8, r[i].count);
		*at += CAIRN_TABLE_SLOT;
	}
	rt_put64(head + CAIRN_TABLE_OWNER, owner);
	rt_put64(head + CAIRN_TABLE_SLOTS, i - first);
	return i;
}

static uint64_t tables_size(const struct work *w)
{
	uint64_t size = w->nrecords * CAIRN_TABLE_SLOT;

	for (uint64_t i = 0; i < w->nrecords; i++)
		if (!i || w->records[i].a != w->records[i - 1].a)
			size += CAIRN_TABLE_HEAD;
	return size;
}

static int put_paths(struct work *w, uint32_t number)
{
	unsigned char *at, *head;
	uint64_t size;

	w->nrecords = 0;
	for (uint32_t i = 0; i < w->ninputs; i++) {
		const struct input *in = &w->input[i];

		for (const unsigned char *k = first_chunk(in); k != in->end;
		     k = next_chunk(k))
			if (type_of(k) == CAIRN_CHUNK_PATHS &&
			    in->number[module_of(k)] == number)
				note_tables(w, k);
	}
	settle(w);
	if (!w->nrecords)
		return 0;
	size = tables_size(w);
	at = begin_chunk(w, CAIRN_CHUNK_PATHS, size);
	if (!at)
		return -ENOMEM;
	head = at - CAIRN_CHUNK_HEADER_SIZE;
	rt_put32(head + CAIRN_CHK_MODULE, number);
	rt_put64(head + CAIRN_CHK_N, size);
	for (uint64_t i = 0; i < w->nrecords;)
		i = put_table(w, i, &at);
	end_chunk(w);
	return 0;
}

/* --- frames --------------------------------------------------------------- */

/* Frames of modules that nobody declared are damage. */
static int note_frame(struct work *w, const struct input *in,
                      const unsigned char *slot, bool is_placed)
{
	uint64_t key = rt_get64(slot), reg = rt_get64(slot + 8), bias = 0;
	uint32_t number = (uint32_t)(key >> CAIRN_FRAME_MODULE_SHIFT) &
	                  CAIRN_FRAME_MODULE_MASK;
	const uint64_t mask = (uint64_t)CAIRN_FRAME_MODULE_MASK
	                      << CAIRN_FRAME_MODULE_SHIFT;

	if (!key || !rt_get64(slot + 16))
		return 0;
	if (!in->module[number])
		return -EBADMSG;
	if (reg)
		bias = is_placed
		               ? rt_get64(slot + FRAME_SLOT)
		               : rt_get64(in->module[number] + CAIRN_CHK_AUX1);
	key &= ~mask;
	key |= (uint64_t)in->number[number] << CAIRN_FRAME_MODULE_SHIFT;
	note(w, bias, key, reg, rt_get64(slot + 16));
	return 0;
}

static int note_frames(struct work *w, const struct input *in,
                       const unsigned char *k)
{
	bool is_placed = type_of(k) == CAIRN_CHUNK_PLACED;
	uint64_t each = is_placed ? CAIRN_PLACED_SLOT : FRAME_SLOT;
	int r = 0;

	for (uint64_t i = 0; i < n_of(k) && r == 0; i++)
		r = note_frame(w, in, payload_of(k) + i * each, is_placed);
	return r;
}

/* Records from `from` up to `to`: without biases, or with. */
static int put_frames(struct work *w, uint64_t from, uint64_t to,
                      bool is_placed)
{
	uint64_t each = is_placed ? CAIRN_PLACED_SLOT : FRAME_SLOT;
	unsigned char *at = begin_chunk(
	        w, is_placed ? CAIRN_CHUNK_PLACED : CAIRN_CHUNK_FRAMES,
	        (to - from) * each);

	if (!at)
		return -ENOMEM;
	rt_put64(at - CAIRN_CHUNK_HEADER_SIZE + CAIRN_CHK_N, to - from);
	for (; from < to; from++, at += each) {
		rt_put64(at, w->records[from].b);
		rt_put64(at + 8, w->records[from].c);
		rt_put64(at + 16, w->records[from].count);
		if (is_placed)
			rt_put64(at + FRAME_SLOT, w->records[from].a);
	}
	end_chunk(w);
	return 0;
}

static int sum_frames(struct work *w)
{
	uint64_t plain = 0;
	int r;

	w->nrecords = 0;
	for (uint32_t i = 0; i < w->ninputs; i++)
		for (const unsigned char *k = first_chunk(&w->input[i]);
		     k != w->input[i].end; k = next_chunk(k)) {
			if (type_of(k) != CAIRN_CHUNK_FRAMES &&
			    type_of(k) != CAIRN_CHUNK_PLACED)
				continue;
			r = note_frames(w, &w->input[i], k);
			if (r < 0)
				return r;
		}
	settle(w);
	while (plain < w->nrecords && !w->records[plain].a)
		plain++;
	r = put_frames(w, 0, plain, false);
	if (r == 0 && plain < w->nrecords)
		r = put_frames(w, plain, w->nrecords, true);
	return r;
}

/* --- pairs of paths across calls ------------------------------------------ */

/* An address of counters, as a number of the sum and a link-time address; 0: it
 * is in no module. */
static uint64_t place_of(const struct input *in, uint64_t at, bool is_raw)
{
	uint64_t address = at & CAIRN_FRAME_PC_MASK;

	for (uint32_t i = 1; i < NUMBERS; i++) {
		const unsigned char *m = in->module[i];
		uint64_t base;

		if (!m || (!is_raw && at >> CAIRN_FRAME_MODULE_SHIFT != i))
			continue;
		if (is_raw)
			address = at - rt_get64(m + CAIRN_CHK_AUX1);
		base = rt_get64(m + CAIRN_CHK_AUX0);
		if (address >= base && address % 8 == 0 &&
		    (address - base) / 8 < n_of(m))
			return (uint64_t)in->number[i]
			               << CAIRN_FRAME_MODULE_SHIFT |
			       address;
	}
	return 0;
}

static int note_calls(struct work *w, const struct input *in,
                      const unsigned char *k)
{
	bool is_raw = !rt_get64(k + CAIRN_CHK_AUX0);

	for (uint64_t i = 0; i < n_of(k); i++) {
		const unsigned char *slot =
		        payload_of(k) + i * CAIRN_CALLS_SLOT;
		uint64_t site = rt_get64(slot), count = rt_get64(slot + 24);
		uint64_t at =
		        count ? place_of(in, site & ~(uint64_t)1, is_raw) : 0;
		uint64_t callee =
		        at ? place_of(in, rt_get64(slot + 8), is_raw) : 0;

		if (count && !callee)
			return -EBADMSG;
		note(w, at | (site & 1), callee, rt_get64(slot + 16), count);
	}
	return 0;
}

static int sum_calls(struct work *w)
{
	unsigned char *at;
	int r;

	w->nrecords = 0;
	for (uint32_t i = 0; i < w->ninputs; i++)
		for (const unsigned char *k = first_chunk(&w->input[i]);
		     k != w->input[i].end; k = next_chunk(k)) {
			if (type_of(k) != CAIRN_CHUNK_CALLS)
				continue;
			r = note_calls(w, &w->input[i], k);
			if (r < 0)
				return r;
		}
	settle(w);
	if (!w->nrecords)
		return 0;
	at = begin_chunk(w, CAIRN_CHUNK_CALLS, w->nrecords * CAIRN_CALLS_SLOT);
	if (!at)
		return -ENOMEM;
	rt_put64(at - CAIRN_CHUNK_HEADER_SIZE + CAIRN_CHK_N, w->nrecords);
	rt_put64(at - CAIRN_CHUNK_HEADER_SIZE + CAIRN_CHK_AUX0, 1);
	for (uint64_t i = 0; i < w->nrecords; i++, at += CAIRN_CALLS_SLOT) {
		rt_put64(at, w->records[i].a);
		rt_put64(at + 8, w->records[i].b);
		rt_put64(at + 16, w->records[i].c);
		rt_put64(at + 24, w->records[i].count);
	}
	end_chunk(w);
	return 0;
}

/* --- all of it ------------------------------------------------------------ */

static uint32_t add_up(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

/* What the second file says goes into the header beside what is there. */
static void fill_header(struct work *w)
{
	unsigned char *h = w->out->mem;
	uint32_t runs = 0, flags = 0, unwalked = 0;
	uint64_t start = UINT64_MAX, end = 0;
	const unsigned char *from = NULL;

	for (uint32_t i = 0; i < w->ninputs; i++) {
		from = w->input[i].mem;
		runs = add_up(runs, rt_get32(from + CAIRN_HDR_NRUNS));
		flags |= rt_get32(from + CAIRN_HDR_FLAGS);
		unwalked =
		        add_up(unwalked, rt_get32(from + CAIRN_HDR_UNWALKED));
		if (rt_get64(from + CAIRN_HDR_START) < start)
			start = rt_get64(from + CAIRN_HDR_START);
		if (rt_get64(from + CAIRN_HDR_END) > end)
			end = rt_get64(from + CAIRN_HDR_END);
	}
	rt_copy(h, CAIRN_FILE_MAGIC, CAIRN_FILE_MAGIC_SIZE);
	rt_put32(h + CAIRN_HDR_VERSION, CAIRN_FILE_VERSION);
	rt_put32(h + CAIRN_HDR_SIZE, CAIRN_FILE_HEADER_SIZE);
	rt_put32(h + CAIRN_HDR_KIND, CAIRN_KIND_PROFILE);
	rt_put32(h + CAIRN_HDR_NRUNS, runs);
	rt_put64(h + CAIRN_HDR_START, start);
	rt_put32(h + CAIRN_HDR_LAST_PID, rt_get32(from + CAIRN_HDR_PID));
	rt_put64(h + CAIRN_HDR_LAST_START, rt_get64(from + CAIRN_HDR_START));
	rt_put32(h + CAIRN_HDR_CRC, crc_of(h, CAIRN_HDR_CRC));
	rt_put32(h + CAIRN_HDR_STATE, CAIRN_STATE_CLOSED);
	rt_put32(h + CAIRN_HDR_FLAGS, flags);
	rt_put64(h + CAIRN_HDR_LENGTH, w->out->size);
	rt_put64(h + CAIRN_HDR_END, end);
	rt_put32(h + CAIRN_HDR_HOW, CAIRN_HOW_MERGED);
	rt_put32(h + CAIRN_HDR_UNWALKED, unwalked);
	rt_put32(h + CAIRN_HDR_STATE_CRC,
	         crc_of(h + CAIRN_HDR_STATE,
	                CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE));
}

/* The ids that a file has: of its run, or in the list of a sum.  Writes them,
 * unless `to` is NULL; returns how many they are. */
static uint64_t run_ids(const struct input *in, unsigned char *to)
{
	uint32_t pid = rt_get32(in->mem + CAIRN_HDR_PID);
	uint64_t start = rt_get64(in->mem + CAIRN_HDR_START), n = 0;

	if (pid && start >= CAIRN_RUN_START_MIN) {
		if (to)
			rt_put64(to, CAIRN_RUN_ID(pid, start));
		n++;
	}
	for (const unsigned char *k = first_chunk(in); k != in->end;
	     k = next_chunk(k)) {
		if (type_of(k) != CAIRN_CHUNK_RUNS)
			continue;
		if (to)
			rt_copy(to + 8 * n, payload_of(k), 8 * n_of(k));
		n += n_of(k);
	}
	return n;
}

/* Which runs are in the sum. */
static int put_runs(struct work *w)
{
	unsigned char *at;
	uint64_t n = 0;

	for (uint32_t i = 0; i < w->ninputs; i++)
		n += run_ids(&w->input[i], NULL);
	if (!n)
		return 0;
	at = begin_chunk(w, CAIRN_CHUNK_RUNS, 8 * n);
	if (!at)
		return -ENOMEM;
	rt_put64(at - CAIRN_CHUNK_HEADER_SIZE + CAIRN_CHK_N, n);
	for (uint32_t i = 0; i < w->ninputs; i++)
		at += 8 * run_ids(&w->input[i], at);
	end_chunk(w);
	return 0;
}

static int put_module(struct work *w, uint32_t number)
{
	const struct entry *e = &w->entries[number];
	int r = copy_chunk(w, e->chunk, number);

	if (r == 0 && e->has_counts)
		r = put_counts(w, number);
	if (r == 0)
		r = put_paths(w, number);
	if (r == 0 && e->map)
		r = copy_chunk(w, e->map, number);
	return r;
}

static int put_all(struct work *w)
{
	const unsigned char *program = w->input[0].program;
	int r = program ? copy_chunk(w, program, 0) : 0;

	if (r == 0)
		r = put_runs(w);
	for (uint32_t i = 1; i <= w->nentries && r == 0; i++)
		r = put_module(w, i);
	for (const unsigned char *k = first_chunk(&w->input[0]);
	     k != w->input[0].end && r == 0; k = next_chunk(k))
		if (type_of(k) == CAIRN_CHUNK_SOURCES)
			r = copy_chunk(w, k, 0);
	if (r == 0)
		r = sum_frames(w);
	if (r == 0)
		r = sum_calls(w);
	if (r == 0)
		fill_header(w);
	return r;
}

static int read_all(struct work *w, const struct sum_file *const *files)
{
	int r = 0;

	for (uint32_t i = 0; i < w->ninputs && r == 0; i++)
		r = check_file(&w->input[i], files[i]);
	if (r == 0 && w->ninputs == 2 &&
	    !same_program(&w->input[0], &w->input[1]))
		r = -ENOEXEC;
	for (uint32_t i = 0; i < w->ninputs && r == 0; i++)
		r = enter_modules(w, i);
	return r;
}

static int make(struct work *w, const struct sum_file *const *files)
{
	uint64_t bytes = 0;
	int r = read_all(w, files);

	for (uint32_t i = 0; i < w->ninputs; i++)
		bytes += files[i]->size;
	if (r < 0)
		return r;
	w->records_room = bytes / CAIRN_TABLE_SLOT;
	w->out->room = 2 * bytes + SLACK;
	w->records = sys_map_zeros(w->records_room * sizeof(*w->records));
	w->out->mem = sys_map_zeros(w->out->room);
	w->out->size = CAIRN_FILE_HEADER_SIZE;
	r = w->records && w->out->mem ? put_all(w) : -ENOMEM;
	if (w->records)
		sys3(SYS_munmap, (long)w->records,
		     (long)(w->records_room * sizeof(*w->records)), 0);
	return r;
}

int sum_make(struct sum *s, const struct sum_file *old,
             const struct sum_file *ours)
{
	const struct sum_file *const files[2] = {old ? old : ours, ours};
	struct work *w = sys_map_zeros(sizeof(*w));
	int r;

	rt_zero(s, sizeof(*s));
	if (!w)
		return -ENOMEM;
	w->ninputs = old ? 2 : 1;
	w->out = s;
	r = make(w, files);
	sys3(SYS_munmap, (long)w, sizeof(*w), 0);
	if (r < 0)
		sum_release(s);
	return r;
}

void sum_release(struct sum *s)
{
	if (s->mem)
		sys3(SYS_munmap, (long)s->mem, (long)s->room, 0);
	rt_zero(s, sizeof(*s));
}
