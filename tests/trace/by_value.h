/* SPDX-License-Identifier: Apache-2.0 */
struct big {
	long part[3];
};

long first(int n, struct big b);
long second(int n, struct big b);
