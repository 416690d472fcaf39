// SPDX-License-Identifier: Apache-2.0
#ifndef WEAK_H
#define WEAK_H

extern "C" {
int taken(int x); // weak here; another takes its place
int kept(int x);  // weak, and nobody does
int varied(int n, ...);
int by_alias(int x); // the weak one of `taken`, under another name
}

int sum(int x);

#endif // WEAK_H
