/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The algebra of turns, for the test of the class G* (gstar.c).
 *
 * Description i of a set stands for first direction i & 1 (0 with the edges, 1
 * against them) and i >> 1 turns.  The last direction follows: it is the first
 * one, flipped once per turn.  Read from the other end, order and directions
 * are reversed.
 *
 * Invariant: a cycle turns an even number of times; a directed cycle never, a
 * diamond twice.
 * Cost: at most 36 steps per operation.
 */
#include "graph/turns.h"

enum { TURNS_KINDS = 6, TURNS_LIMIT = 2 };

static unsigned turns_first(unsigned kind)
{
	return kind & 1;
}

static unsigned turns_last(unsigned kind)
{
	return (kind ^ (kind >> 1)) & 1;
}

static unsigned turns_number(unsigned kind)
{
	return kind >> 1;
}

static turns_set turns_bit(unsigned first, unsigned number)
{
	return (turns_set)(1u << (number << 1 | first));
}

turns_set turns_reverse(turns_set s)
{
	turns_set result = 0;

	for (unsigned i = 0; i < TURNS_KINDS; i++)
		if (s >> i & 1)
			result |= turns_bit(!turns_last(i), turns_number(i));
	if (s & TURNS_EDGE_WITH)
		result |= TURNS_EDGE_AGAINST;
	if (s & TURNS_EDGE_AGAINST)
		result |= TURNS_EDGE_WITH;
	return result;
}

turns_set turns_join(turns_set s, turns_set t, bool *over)
{
	turns_set result = 0;

	for (unsigned i = 0; i < TURNS_KINDS; i++) {
		for (unsigned k = 0; k < TURNS_KINDS; k++) {
			unsigned n = turns_number(i) + turns_number(k);

			if (!(s >> i & 1) || !(t >> k & 1))
				continue;
			n += turns_last(i) != turns_first(k);
			if (n > TURNS_LIMIT)
				*over = true;
			else
				result |= turns_bit(turns_first(i), n);
		}
	}
	return result;
}

/* Walk i there and walk k back: where they meet, equal directions turn. */
static unsigned turns_of_cycle(unsigned i, unsigned k)
{
	return turns_number(i) + turns_number(k) +
	       (turns_first(i) == turns_first(k)) +
	       (turns_last(i) == turns_last(k));
}

bool turns_agree(turns_set s, turns_set t)
{
	if (s & t & (TURNS_EDGE_WITH | TURNS_EDGE_AGAINST))
		return false;
	for (unsigned i = 0; i < TURNS_KINDS; i++)
		for (unsigned k = 0; k < TURNS_KINDS; k++)
			if ((s >> i & 1) && (t >> k & 1) &&
			    turns_of_cycle(i, k) > TURNS_LIMIT)
				return false;
	return true;
}
