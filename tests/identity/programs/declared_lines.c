/* SPDX-License-Identifier: Apache-2.0 */
// Lines of declarations of arrays, closing braces, empty statements, lines of
// macros, and an if whose copies run differently often.
// defect: 12
#include <stdio.h>
#include <string.h>

#define BOTH(a, b)             \
	do {                   \
		(a)++;         \
		if ((a) > 3)   \
			(b)--; \
	} while (0)

static int look(const char *s)
{
	char copy[64];
	int table[4] = {1, 2, 3, 4};
	struct {
		int x, y;
	} pair;
	int n = 0;

	strcpy(copy, s);
	pair.x = 3;
	pair.y = 0;
	for (char *p = copy; *p; p++) {
		int here[3];

		here[0] = *p;
		here[1] = here[0] & 3;
		here[2] = table[here[1]];
		if (here[2] > 2) {
			n += here[2];
		} else {
			;
		}
		BOTH(pair.x, pair.y);
	}
	return n + pair.x + pair.y;
}

int main(int argc, char **argv)
{
	const char *all[] = {
	        "alpha",
	        "beta",
	        "gamma delta",
	};
	int sum = 0;

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s!", all[i]);
		sum += look(name);
	}
	printf("%d\n", sum);
	return 0;
}
