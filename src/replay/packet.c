/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions between processes: packets over a socket, with descriptors in them.
 * With a question goes the end of a socket for its answer, so that all children
 * of a process can ask at the same time over the socket that they share.
 */
#include "replay/packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct packet {
	struct iovec data;
	struct msghdr head;
	_Alignas(struct cmsghdr) char rights[CMSG_SPACE(2 * sizeof(int))];
};

static void packet_init(struct packet *p, void *data, size_t size)
{
	memset(p, 0, sizeof(*p));
	p->data = (struct iovec){data, size};
	p->head.msg_iov = &p->data;
	p->head.msg_iovlen = 1;
}

static bool send_as(int fd, void *data, size_t size, const int *fds,
                    size_t nfds, int flags)
{
	struct packet p;
	ssize_t n;

	packet_init(&p, data, size);
	if (nfds) {
		struct cmsghdr *c;

		p.head.msg_control = p.rights;
		p.head.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&p.head);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	do
		n = sendmsg(fd, &p.head, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

bool packet_send(int fd, void *data, size_t size, const int *fds, size_t nfds)
{
	return send_as(fd, data, size, fds, nfds, 0);
}

void packet_answer(int fd, void *data, size_t size, int out)
{
	send_as(fd, data, size, &out, out >= 0, MSG_DONTWAIT);
}

bool packet_ask(int fd, void *question, size_t nquestion, int payload,
                void *answer, size_t nanswer, int *out)
{
	int ends[2], fds[2];
	bool is_sent;
	ssize_t n = -1;

	*out = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	fds[0] = ends[1];
	fds[1] = payload;
	is_sent = packet_send(fd, question, nquestion, fds,
	                      1 + (size_t)(payload >= 0));
	close(ends[1]);
	if (is_sent)
		n = packet_receive(ends[0], answer, nanswer, fds);
	close(ends[0]);
	if (n != (ssize_t)nanswer)
		return false;
	*out = fds[0];
	return true;
}

static ssize_t receive_as(int fd, void *data, size_t size, int *fds, int flags)
{
	struct packet p;
	struct cmsghdr *c;
	ssize_t n;

	fds[0] = fds[1] = -1;
	packet_init(&p, data, size);
	p.head.msg_control = p.rights;
	p.head.msg_controllen = sizeof(p.rights);
	do
		n = recvmsg(fd, &p.head, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&p.head) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return n;
}

ssize_t packet_receive(int fd, void *data, size_t size, int *fds)
{
	return receive_as(fd, data, size, fds, 0);
}

ssize_t packet_receive_now(int fd, void *data, size_t size, int *fds)
{
	return receive_as(fd, data, size, fds, MSG_DONTWAIT);
}
