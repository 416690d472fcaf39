/* SPDX-License-Identifier: Apache-2.0 */
// A child answers what its parent asks, over sockets, with descriptors handed
// over and shared memory that both change in turn.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct request {
	char op;
	int a, b;
};

static void serve(int s, int *shared)
{
	struct request r;
	int answer;

	while (recv(s, &r, sizeof(r), 0) == sizeof(r)) {
		switch (r.op) {
		case '+':
			answer = r.a + r.b;
			break;
		case '*':
			answer = r.a * r.b;
			break;
		default:
			shared[1] = shared[0] * 2;
			answer = shared[1] > 10;
		}
		if (send(s, &answer, sizeof(answer), 0) != sizeof(answer))
			break;
	}
	_exit(answer & 7);
}

int main(void)
{
	int s[2], sum = 0, status, answer;
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s))
		return 1;
	child = fork();
	if (!child) {
		close(s[0]);
		serve(s[1], shared);
	}
	close(s[1]);
	for (int i = 0; i < 12; i++) {
		struct request r = {"+*x"[i % 3], i, i + 2};

		shared[0] = i;
		if (send(s[0], &r, sizeof(r), 0) < 0 ||
		    recv(s[0], &answer, sizeof(answer), 0) < 0)
			return 2;
		if (i % 3 == 2 && shared[1] != i * 2)
			return 3;
		sum += answer;
	}
	close(s[0]);
	waitpid(child, &status, 0);
	printf("%d %d\n", sum, WEXITSTATUS(status));
	return 0;
}
