/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a process first took the paths that are in its tables: of
 * a residual build (thesis of 2007, section 3.3) those are the paths that no
 * test took.
 *
 * The list is in the mapped file, as all counts are.  One atomic addition hands
 * out the places, so that all threads share one order; a record is complete
 * when its path is written, which is last.  The list has two parts, since most
 * runs take few untested paths: a page, and when that is full the rest.  After
 * MAX records nothing is appended, and the first word of the list goes on
 * saying how many were asked for.
 *
 * Each thread has tables of its own, and each puts a path into them: a hash of
 * what is in the list (open addressing, private memory) keeps all but the first
 * out.  Two threads that come at the same moment may both append the path: for
 * readers the first record counts.
 *
 * Invariant: a path is in the list before it is in a table, unless the list is
 * full.  So whoever counts a path without coming here, a signal handler too,
 * took it after the record was made; and a signal handler that comes here while
 * a record is being made gets a later place.
 * Breaks when: two threads end paths at the same moment: which one of them is
 * first is then as good as chance, as it is on the machine.
 * Cost: about 40 instructions per (thread, path), in a call that has saved all
 * vector state; 4 KB of the file, 68 KB from the 252nd path on, and 32 KB of
 * memory.
 */
#include "runtime/order.h"

#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define PARTS 2
#define MAX 4096u
#define PAGE_RECORDS                                                   \
	((RT_PAGE - CAIRN_CHUNK_HEADER_SIZE - CAIRN_ORDER_HEAD_SIZE) / \
	 CAIRN_ORDER_RECORD)
#define SEEN_BITS 14
#define SEEN (1u << SEEN_BITS)

_Static_assert(SEEN >= 2 * MAX && MAX < UINT16_MAX, "every search ends");

struct record {
	uint64_t place; /* as in the key of a frame, without a kind */
	uint64_t path;  /* 0: not complete */
};

_Static_assert(sizeof(struct record) == CAIRN_ORDER_RECORD &&
                       offsetof(struct record, path) == CAIRN_ORDER_PATH,
               "abi/file.h");

/* Pointers to what a fork may take away, not to chunks: code that a handler
 * interrupted goes on with them, in the child too. */
static struct {
	uint64_t *asked;            /* NULL: there is no list */
	struct record *part[PARTS]; /* NULL: not made yet */
	uint16_t *seen;             /* 1 + number of a record, 0: free */
	bool is_off, has_no_second; /* there was no memory */
} order;

/* --- the parts ------------------------------------------------------------ */

static uint64_t first_of(unsigned part)
{
	return part ? PAGE_RECORDS : 0;
}

static uint64_t size_of(unsigned part)
{
	return part ? MAX - PAGE_RECORDS : PAGE_RECORDS;
}

/* Requires: lock held. */
static unsigned char *new_part(unsigned part)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_ORDER,
	        .n = size_of(part),
	        .aux0 = first_of(part),
	        .payload = CAIRN_ORDER_HEAD_SIZE +
	                   size_of(part) * CAIRN_ORDER_RECORD,
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (!c)
		return NULL;
	out_publish(c);
	return out_payload(c);
}

static struct record *records_of(unsigned char *payload)
{
	return (struct record *)(payload + CAIRN_ORDER_HEAD_SIZE);
}

void order_begin(void)
{
	unsigned char *payload;

	if (order.asked || order.is_off)
		return;
	if (!order.seen)
		order.seen = sys_map_zeros(SEEN * sizeof(*order.seen));
	payload = order.seen ? new_part(0) : NULL;
	if (!payload) {
		order.is_off = true;
		return;
	}
	order.part[0] = records_of(payload);
	__atomic_store_n(&order.asked, (uint64_t *)payload, __ATOMIC_RELEASE);
}

/* Unless it is there already, or there is no memory. */
static void make_second_part(void)
{
	unsigned char *payload;
	uint64_t mask;

	if (__atomic_load_n(&order.part[1], __ATOMIC_ACQUIRE))
		return;
	rt_enter_running(&mask);
	if (order.asked && !order.part[1] && !order.has_no_second) {
		payload = new_part(1);
		order.has_no_second = !payload;
		if (payload)
			__atomic_store_n(&order.part[1], records_of(payload),
			                 __ATOMIC_RELEASE);
	}
	rt_leave(&mask);
}

bool order_is_part(const struct chunk *c)
{
	return rt_get32(c->mem + CAIRN_CHK_TYPE) == CAIRN_CHUNK_ORDER;
}

/* --- the records ---------------------------------------------------------- */

/* What has a checksum must not change. */
static void unseal(void)
{
	uint64_t mask;

	if (!process.is_sealed)
		return;
	rt_enter_running(&mask);
	if (process.is_sealed)
		out_unseal();
	rt_leave(&mask);
}

/* Record n; NULL if its part is not there. */
static struct record *record_at(uint64_t n)
{
	unsigned i = n < PAGE_RECORDS ? 0 : 1;
	struct record *part = __atomic_load_n(&order.part[i], __ATOMIC_ACQUIRE);

	return part ? part + (n - first_of(i)) : NULL;
}

/* Appends a record; 1 + its number, 0 if there is no room. */
static uint16_t append(uint64_t place, uint64_t r)
{
	uint64_t *asked = __atomic_load_n(&order.asked, __ATOMIC_ACQUIRE), n;
	struct record *record;

	if (!asked)
		return 0;
	unseal();
	n = __atomic_fetch_add(asked, 1, __ATOMIC_RELAXED);
	if (n >= MAX)
		return 0;
	if (n >= PAGE_RECORDS)
		make_second_part();
	record = record_at(n);
	if (!record)
		return 0;
	rt_put64(&record->place, place);
	rt_put64(&record->path, r);
	return (uint16_t)(n + 1);
}

static bool is_record(uint16_t number, uint64_t place, uint64_t r)
{
	const struct record *record = record_at(number - 1u);

	return record && record->path == r && record->place == place;
}

static uint32_t hash(uint64_t place, uint64_t r)
{
	uint64_t h = (place ^ r * 0xbf58476d1ce4e5b9u) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> (64 - SEEN_BITS));
}

void order_note(uint32_t module, uint64_t owner, uint64_t r)
{
	uint64_t place = (uint64_t)module << CAIRN_FRAME_MODULE_SHIFT | owner;
	uint16_t *seen = order.seen, mine = 0, there;

	if (!__atomic_load_n(&order.asked, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0, at = hash(place, r); i < SEEN;
	     i++, at = (at + 1) & (SEEN - 1)) {
		there = __atomic_load_n(&seen[at], __ATOMIC_ACQUIRE);
		if (!there) {
			if (!mine)
				mine = append(place, r);
			if (!mine ||
			    __atomic_compare_exchange_n(&seen[at], &there, mine,
			                                false, __ATOMIC_ACQ_REL,
			                                __ATOMIC_ACQUIRE))
				return;
		}
		if (is_record(there, place, r))
			return;
	}
}

/* --- fork ----------------------------------------------------------------- */

void order_fork(bool keeps_tables)
{
	order.asked = NULL;
	order.part[0] = order.part[1] = NULL;
	order.has_no_second = false;
	order.is_off = keeps_tables;
	if (order.seen && !order.is_off)
		rt_zero(order.seen, SEEN * sizeof(*order.seen));
}
