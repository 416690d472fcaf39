/* SPDX-License-Identifier: Apache-2.0 */
// What was freed comes back from malloc with what was in it; nobody set it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell {
	long link[2];
	int count;
	char text[20];
};

__attribute__((noinline)) static int visit(struct cell *c, const char *t)
{
	c->count++;
	if (c->text[0] != t[0])
		strcpy(c->text, t);
	return c->count;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 50; i++) {
		struct cell *c = malloc(sizeof(*c));

		if (i == 0)
			memset(c, 0, sizeof(*c));
		sum += visit(c, i % 7 ? "some" : "other");
		if (c->count % 9 == 8)
			c->count += (int)strlen(c->text);
		free(c);
	}
	printf("%d\n", sum);
	return 0;
}
