/* SPDX-License-Identifier: Apache-2.0 */
// Live data between the parts of what somebody else writes: in a row of
// records one field each is read from outside, the others are counted by the
// program, one of them without ever having been set.
// defect: 11
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct node {
	int count; // never set: the heap's zero, or what was freed there
	char name[5];
	short turns;
	char tail[3];
};

int main(void)
{
	int fds[2];
	struct node *nodes = malloc(40 * sizeof(*nodes));
	struct iovec part[2];
	long sum = 0;

	if (pipe(fds))
		return 1;
	for (int i = 0; i < 40; i++)
		nodes[i].turns = 0;
	for (int round = 0; round < 30; round++) {
		struct node *n = &nodes[round % 40], *m = &nodes[39 - round];
		n->count++;
		m->turns += 2;
		part[0].iov_base = n->name, part[0].iov_len = 4;
		part[1].iov_base = m->tail, part[1].iov_len = 3;
		if (write(fds[1], "abcdefg", 7) != 7 ||
		    readv(fds[0], part, 2) != 7)
			return 2;
		m->count += n->name[round % 4];
		n->turns++;
		memmove(&nodes[5].name, &nodes[6].name, 5);
	}
	for (int i = 0; i < 30; i++)
		sum += nodes[i].turns * (i + 1) + nodes[i].name[0];
	printf("%ld\n", sum);
	return 0;
}
