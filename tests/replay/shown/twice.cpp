// SPDX-License-Identifier: Apache-2.0
// Variables of one name that clang says are in one scope: what catch declares,
// and static ones of a function.
#include "saw.h"

struct Fault {
	int code = 9;
};

struct Entry {
	int depth = 4;
};

__attribute__((noinline)) static void kinds(int k)
{
	try {
		if (k)
			throw k;
		throw 2.5;
	} catch (int e) {
		SAW("e", "%d", e);
	} catch (double e) {
		SAW("e", "%g", e);
	}
}

// clang-format off
__attribute__((noinline)) static void inTurn(int k)
{
	try { throw k; } catch (int e) {
		SAW("e", "%d", e);
	}
	try { throw k + 100; } catch (int e) {
		SAW("e", "%d", e);
	}
}
// clang-format on

__attribute__((noinline)) static void fail(int k)
{
	if (k)
		throw Fault();
}

// One that catch hides.
__attribute__((noinline)) static void hidden(int k)
{
	int e = k + 30;

	try {
		fail(k);
	} catch (const Fault &e) {
		SAW("e.code", "%d", e.code);
	}
	SAW("e", "%d", e);
	for (int i = 0; i < 2; i++) {
		int e = i + 50;
		SAW("e", "%d", e);
	}
}

// One that is declared behind it.
__attribute__((noinline)) static void behind(int k)
{
	try {
		fail(k);
	} catch (const Fault &e) {
		SAW("e.code", "%d", e.code);
	}
	Entry e;
	for (int i = 0; i < 2; i++) {
		e.depth *= k + 2;
		SAW("e.depth", "%d", e.depth);
	}
	SAW("e.depth", "%d", e.depth);
}

__attribute__((noinline)) static void statics(int k)
{
	if (k) {
		static int count = 100;
		count++;
		SAW("count", "%d", count);
		fflush(stdout); // or both would be one at -O2
	} else {
		static int count = 200;
		count += 2;
		SAW("count", "%d", count);
	}
}

int limit = 5;

// One that the optimizer makes a constant of.
__attribute__((noinline)) static void constants(int k)
{
	static int limit = 77;

	SAW("k, limit", "%d|%d", k, limit);
}

int main()
{
	for (int k = 0; k < 3; k++) {
		kinds(k);
		inTurn(k);
		hidden(k);
		behind(k);
		statics(k);
		limit += k;
		constants(k);
	}
	return 0;
}
