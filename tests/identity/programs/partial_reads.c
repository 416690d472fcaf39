/* SPDX-License-Identifier: Apache-2.0 */
// Messages that come in parts, into the middle of what is used meanwhile.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct packet {
	int seen;
	char data[11];
	unsigned char sum;
};

static void fill(struct packet *p, int fd, size_t from, size_t n)
{
	ssize_t got = recv(fd, p->data + from, n, 0);

	p->seen++;
	for (ssize_t i = 0; i < got; i++)
		p->sum += (unsigned char)p->data[from + (size_t)i];
}

int main(void)
{
	struct packet p[3] = {{0}};
	char text[] = "0123456789a";
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return 1;
	for (int round = 0; round < 12; round++) {
		struct packet *one = &p[round % 3];

		text[round % 11]++;
		if (send(s[0], text, 11, 0) != 11)
			return 1;
		fill(one, s[1], 0, 3);
		one->data[10] = 'x';
		fill(one, s[1], 3, 5);
		p[(round + 1) % 3].sum ^= 5;
		fill(one, s[1], 8, 3);
	}
	for (int i = 0; i < 3; i++)
		printf("%d %d %.11s\n", p[i].seen, p[i].sum, p[i].data);
	return 0;
}
