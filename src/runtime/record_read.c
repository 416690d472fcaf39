/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: functions of libc that only read memory (abi/record.h).  What
 * they return follows from what they read, so that is what is checked, as far
 * as it matters, and no result is logged.
 *
 * Invariant: the result is a function of bytes that the shadow has, which is
 * what the replay computes it from.  Each byte of memory is loaded once, and
 * where it is not what the shadow has, the shadow is corrected first and then
 * looked at.
 * Cost: 16 bytes at a time, within a page.
 */
#include "runtime/record.h"

#include "runtime/sys.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define PAGE 4096u

typedef long long v2 __attribute__((vector_size(16), aligned(1), may_alias));
typedef char v16 __attribute__((vector_size(16)));

HIDDEN uint64_t __cairn_record_read(void *cell, uint64_t what, const void *a,
                                    uint64_t b, uint64_t n);

static inline unsigned same(v2 a, v2 b)
{
	return (unsigned)__builtin_ia32_pmovmskb128((v16)((v16)a == (v16)b));
}

static inline v2 load16(const unsigned char *p)
{
	return *(const volatile v2 *)p;
}

static inline v2 shadow16(const unsigned char *p)
{
	return *(const RECORD_GS v2 *)(uintptr_t)p;
}

/* May 16 bytes from here on be loaded, though fewer may be there? */
static inline bool is_within_page(const unsigned char *p)
{
	return ((uintptr_t)p & (PAGE - 1)) <= PAGE - 16;
}

/* Corrects the shadow of n bytes at p + at, and logs those that it had not. */
static void correct(const void *cell, const unsigned char *p, size_t at,
                    size_t n)
{
	size_t from = n, upto = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char v = ((const volatile unsigned char *)p)[at + i];

		if (v == record_get1(p + at + i))
			continue;
		record_put1(p + at + i, v);
		if (from > i)
			from = i;
		upto = i + 1;
	}
	if (from < upto)
		record_bytes(cell, p, at + from, upto - from);
}

/* How many bytes, of n, are in the page of p, and fit into an event. */
static size_t room(const unsigned char *p, size_t n)
{
	size_t most = PAGE - ((uintptr_t)p & (PAGE - 1));

	if (most > RECORD_PIECE)
		most = RECORD_PIECE;
	return most < n ? most : n;
}

/* How many of these matter, as memory is now. */
static size_t span(const unsigned char *p, unsigned char c, size_t n,
                   bool is_string)
{
	size_t most = room(p, n), i = 0;

	while (i < most && p[i] != c && (p[i] || !is_string))
		i++;
	return i < most ? i + 1 : most;
}

static size_t span_of_two(const unsigned char *a, const unsigned char *b,
                          size_t n, bool is_string)
{
	size_t most = room(a, room(b, n)), i = 0;

	while (i < most && a[i] == b[i] && (a[i] || !is_string))
		i++;
	return i < most ? i + 1 : most;
}

/* Byte i, as the shadow has it from now on. */
static unsigned char byte_at(const void *cell, const unsigned char *p, size_t i)
{
	correct(cell, p, i, 1);
	return record_get1(p + i);
}

/* The bits of bytes up to and including the first that `stops`. */
static inline unsigned upto(unsigned stops)
{
	return stops ? stops ^ (stops - 1) : 0xffff;
}

/* The first byte that is c, or 0 if a string ends there: its index, or n. */
static size_t find(const void *cell, const unsigned char *p, unsigned char c,
                   size_t n, bool is_string)
{
	v2 all = (v2)((v16){0} + (char)c), none = {0};
	size_t i = 0;

	while (i < n) {
		unsigned char v;

		if (n - i >= 16 && is_within_page(p + i)) {
			v2 m = load16(p + i);
			unsigned stops = same(m, all), matters;

			if (is_string)
				stops |= same(m, none);
			matters = upto(stops);
			if (!(~same(m, shadow16(p + i)) & matters)) {
				if (stops)
					return i + (size_t)__builtin_ctz(stops);
				i += 16;
				continue;
			}
			correct(cell, p, i, span(p + i, c, n - i, is_string));
		}
		v = byte_at(cell, p, i);
		if (v == c || (is_string && !v))
			return i;
		i++;
	}
	return n;
}

/* Byte differences, as libc's functions for this processor have them. */
static int64_t compare(const unsigned char *cell, const unsigned char *a,
                       const unsigned char *b, size_t n, bool is_string)
{
	const unsigned char *other = cell + 8;
	v2 none = {0};
	size_t i = 0, k;

	while (i < n) {
		unsigned char x, y;

		if (n - i >= 16 && is_within_page(a + i) &&
		    is_within_page(b + i)) {
			v2 s = load16(a + i), t = load16(b + i);
			unsigned stops = ~same(s, t) & 0xffff, matters;

			if (is_string)
				stops |= same(s, none);
			matters = upto(stops);
			if (!((~same(s, shadow16(a + i)) |
			       ~same(t, shadow16(b + i))) &
			      matters)) {
				if (!stops) {
					i += 16;
					continue;
				}
				i += (size_t)__builtin_ctz(stops);
				return record_get1(a + i) - record_get1(b + i);
			}
			k = span_of_two(a + i, b + i, n - i, is_string);
			correct(cell, a, i, k);
			correct(other, b, i, k);
		}
		x = byte_at(cell, a, i);
		y = byte_at(other, b, i);
		if (x != y || (is_string && !x))
			return x - y;
		i++;
	}
	return 0;
}

/* Most of what is compared differs in the first byte: the result, if the
 * context has seen both, and else 0.  (m: mujs spent 12 % in compare.) */
static inline int64_t first_difference(const unsigned char *a,
                                       const unsigned char *b)
{
	unsigned char x = *(const volatile unsigned char *)a;
	unsigned char y = *(const volatile unsigned char *)b;

	return x == record_get1(a) && y == record_get1(b) ? x - y : 0;
}

static uint64_t find_in_string(const void *cell, const unsigned char *p,
                               unsigned char c)
{
	size_t i = find(cell, p, c, SIZE_MAX, true);

	return record_get1(p + i) == c ? (uint64_t)(uintptr_t)(p + i) : 0;
}

uint64_t __cairn_record_read(void *cell, uint64_t what, const void *a,
                             uint64_t b, uint64_t n)
{
	const unsigned char *other = (const unsigned char *)(uintptr_t)b;
	int64_t d;
	size_t i;

	switch (what) {
	case CAIRN_READ_STRCMP:
		d = first_difference(a, other);
		return (uint64_t)(d ? d
		                    : compare(cell, a, other, SIZE_MAX, true));
	case CAIRN_READ_STRNCMP:
		return (uint64_t)compare(cell, a, other, n, true);
	case CAIRN_READ_MEMCMP:
		return (uint64_t)compare(cell, a, other, n, false);
	case CAIRN_READ_STRLEN:
		return find(cell, a, 0, SIZE_MAX, true);
	case CAIRN_READ_STRCHR:
		return find_in_string(cell, a, (unsigned char)b);
	default: /* CAIRN_READ_MEMCHR */
		i = find(cell, a, (unsigned char)b, n, false);
		return i < n ? (uint64_t)(uintptr_t)a + i : 0;
	}
}
