/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: memory that is copied or filled as a whole (abi/record.h).
 *
 * A copy first brings the shadow of its source up to date and logs what was not
 * known; then it copies the shadow, which nobody else writes, to both: so what
 * arrives is what the log says, whatever other threads do meanwhile.  What is
 * known, up to the first byte that is not, is copied at once: most is.  A copy
 * upwards writes over nothing of its source that is still to be read, so the
 * rest is what it was.
 *
 * Cost: one pass over the bytes, 16 at a time; three over what is not known.
 */
#include "runtime/record.h"

#include "runtime/sys.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define GAP 16u /* so many equal bytes end a run */

typedef long long v2 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t u4 __attribute__((aligned(1), may_alias));
typedef char v16 __attribute__((vector_size(16)));

HIDDEN void __cairn_record_copy(void *cell, void *dst, const void *src,
                                size_t n);
HIDDEN void __cairn_record_set(void *dst, int c, size_t n);

/* --- what the source has that the shadow has not ----------------------------
 */

/* Which bytes of two vectors differ. */
static inline unsigned differing(v2 a, v2 b)
{
	return ~(unsigned)__builtin_ia32_pmovmskb128((v16)((v16)a == (v16)b)) &
	       0xffff;
}

static inline v2 load16(const unsigned char *p)
{
	return *(const volatile v2 *)p;
}

static inline v2 shadow16(const unsigned char *p)
{
	return *(const RECORD_GS v2 *)(uintptr_t)p;
}

static inline bool differs16(const unsigned char *p)
{
	return differing(load16(p), shadow16(p)) != 0;
}

static inline bool differs4(const unsigned char *p)
{
	return *(const volatile u4 *)p != *(const RECORD_GS u4 *)(uintptr_t)p;
}

static inline bool differs8(const unsigned char *p)
{
	return record_load(p) != record_get(p);
}

/* Of up to 16 bytes; of fewer than 4, maybe. */
static inline bool differs(const unsigned char *p, size_t n)
{
	if (n == 16)
		return differs16(p);
	if (n >= 8)
		return differs8(p) || differs8(p + n - 8);
	return n < 4 || differs4(p) || differs4(p + n - 4);
}

/* Corrects 16 bytes; how many of them up to the last that was wrong. */
static inline size_t correct16(const unsigned char *p)
{
	v2 v = load16(p);
	unsigned wrong = differing(v, shadow16(p));

	*(RECORD_GS v2 *)(uintptr_t)p = v;
	return wrong ? 32 - (size_t)__builtin_clz(wrong) : 0;
}

/* The same of up to 16. */
static size_t correct(const unsigned char *p, size_t n)
{
	size_t upto = 0;

	if (n == 16)
		return correct16(p);
	for (size_t i = 0; i < n; i++) {
		unsigned char v = ((const volatile unsigned char *)p)[i];

		if (v == record_get1(p + i))
			continue;
		record_put1(p + i, v);
		upto = i + 1;
	}
	return upto;
}

bool record_correct(const unsigned char *p, size_t n)
{
	bool was_wrong = false;

	for (size_t i = 0; i < n; i += 16) {
		size_t k = n - i < 16 ? n - i : 16;

		if (differs(p + i, k) && correct(p + i, k))
			was_wrong = true;
	}
	return was_wrong;
}

/* Logs the runs of bytes that differ, from byte `first` on, each at its offset.
 */
static void look(const void *cell, const unsigned char *p, size_t first,
                 size_t n)
{
	/* the run that is open, if not empty */
	size_t from = first, upto = first;

	for (size_t i = first; i < n; i += 16) {
		size_t k = n - i < 16 ? n - i : 16, wrong;

		if (!differs(p + i, k))
			continue;
		wrong = correct(p + i, k);
		if (!wrong)
			continue;
		if (upto > from && i > upto + GAP) {
			record_bytes(cell, p, from, upto - from);
			from = upto = i;
		}
		if (upto == from)
			from = i;
		upto = i + wrong;
	}
	if (upto > from)
		record_bytes(cell, p, from, upto - from);
}

/* --- copies -----------------------------------------------------------------
 */

/* To p and its shadow, upwards or, where that would overwrite what is still to
 * be read, downwards. */
static void copy_up(unsigned char *to, const unsigned char *from, size_t n)
{
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		v2 v = *(const RECORD_GS v2 *)(uintptr_t)(from + i);

		*(v2 *)(to + i) = v;
		*(RECORD_GS v2 *)(uintptr_t)(to + i) = v;
	}
	if (i + 8 <= n) {
		uint64_t v = record_get(from + i);

		((struct record_word *)(to + i))->v = v;
		record_put(to + i, v);
		i += 8;
	}
	for (; i < n; i++) {
		unsigned char v = record_get1(from + i);

		to[i] = v;
		record_put1(to + i, v);
	}
}

static void copy_down(unsigned char *to, const unsigned char *from, size_t n)
{
	for (; n >= 16; n -= 16) {
		v2 v = *(const RECORD_GS v2 *)(uintptr_t)(from + n - 16);

		*(v2 *)(to + n - 16) = v;
		*(RECORD_GS v2 *)(uintptr_t)(to + n - 16) = v;
	}
	if (n >= 8) {
		uint64_t v = record_get(from + n - 8);

		((struct record_word *)(to + n - 8))->v = v;
		record_put(to + n - 8, v);
		n -= 8;
	}
	while (n--) {
		unsigned char v = record_get1(from + n);

		to[n] = v;
		record_put1(to + n, v);
	}
}

/* Copies what the shadow has already, upwards, by 16; how many bytes.  What is
 * copied is what was compared. */
static size_t copy_known(unsigned char *to, const unsigned char *from, size_t n)
{
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		v2 v = load16(from + i);

		if (differing(v, shadow16(from + i)))
			break;
		*(v2 *)(to + i) = v;
		*(RECORD_GS v2 *)(uintptr_t)(to + i) = v;
	}
	return i;
}

void __cairn_record_copy(void *cell, void *dst, const void *src, size_t n)
{
	bool is_up = (uintptr_t)dst - (uintptr_t)src >= n;
	size_t i = is_up ? copy_known(dst, src, n) : 0;

	look(cell, src, i, n);
	if (dst == src)
		return;
	if (is_up)
		copy_up((unsigned char *)dst + i,
		        (const unsigned char *)src + i, n - i);
	else
		copy_down(dst, src, n);
}

void __cairn_record_set(void *dst, int c, size_t n)
{
	unsigned char *p = dst;
	v16 bytes = (v16){0} + (char)c;
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		*(v2 *)(p + i) = (v2)bytes;
		*(RECORD_GS v2 *)(uintptr_t)(p + i) = (v2)bytes;
	}
	if (i + 8 <= n) {
		uint64_t v = (uint64_t)((v2)bytes)[0];

		((struct record_word *)(p + i))->v = v;
		record_put(p + i, v);
		i += 8;
	}
	for (; i < n; i++) {
		p[i] = (unsigned char)c;
		record_put1(p + i, (unsigned char)c);
	}
}
