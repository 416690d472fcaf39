/* SPDX-License-Identifier: Apache-2.0 */
/* What libatomic has, for one thread. */
#include <stdbool.h>
#include <string.h>

typedef unsigned __int128 wide;

wide load(const volatile void *p) __asm__("__atomic_load_16");
void store(volatile void *p, wide v) __asm__("__atomic_store_16");
wide add(volatile void *p, wide v) __asm__("__atomic_fetch_add_16");
wide exchange(volatile void *p, wide v) __asm__("__atomic_exchange_16");
bool compare(volatile void *p, wide *old,
             wide v) __asm__("__atomic_compare_exchange_16");
void generic_load(size_t n, const void *p, void *to) __asm__("__atomic_load");
bool generic_compare(size_t n, void *p, void *old,
                     const void *v) __asm__("__atomic_compare_exchange");

wide load(const volatile void *p)
{
	return *(const volatile wide *)p;
}

void store(volatile void *p, wide v)
{
	*(volatile wide *)p = v;
}

wide exchange(volatile void *p, wide v)
{
	wide old = load(p);

	store(p, v);
	return old;
}

wide add(volatile void *p, wide v)
{
	return exchange(p, load(p) + v);
}

bool compare(volatile void *p, wide *old, wide v)
{
	wide now = load(p);

	if (now != *old) {
		*old = now;
		return false;
	}
	store(p, v);
	return true;
}

void generic_load(size_t n, const void *p, void *to)
{
	memcpy(to, p, n);
}

bool generic_compare(size_t n, void *p, void *old, const void *v)
{
	if (!memcmp(p, old, n)) {
		memcpy(p, v, n);
		return true;
	}
	memcpy(old, p, n);
	return false;
}
