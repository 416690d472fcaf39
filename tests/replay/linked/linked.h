// SPDX-License-Identifier: Apache-2.0
#ifndef LINKED_H
#define LINKED_H

struct large {
	long a[6];
};

int known(int x);
large by_value(large v, int i);
int weakly(int x);
int also(int x); // an alias of known
int throws(int x);
int member(int x); // in an archive
int deep(int n);   // calls back_again
int back_again(int n);
int timed(int n); // calls timed_again
int timed_again(int n);
__attribute__((visibility("hidden"))) int hidden(int x);
extern "C" int turn(int x);                      // --wrap
extern "C" int plain(int x, int (*call)(int x)); // has no marks
int called_back(int x);

#endif // LINKED_H
