/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_PACKET_H
#define CAIRN_REPLAY_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends one, with up to two descriptors; false: nobody gets it. */
bool packet_send(int fd, void *data, size_t size, const int *fds, size_t nfds);

/* Asks, with a descriptor if payload is not -1, and waits for the answer and
 * its descriptor, or -1.  False: there is no answer. */
bool packet_ask(int fd, void *question, size_t nquestion, int payload,
                void *answer, size_t nanswer, int *out);
/* Answers, on the first descriptor of a question, which need not be one; out: a
 * descriptor, or -1. */
void packet_answer(int fd, void *data, size_t size, int out);

/* Waits for one.  Returns its bytes, 0 if nobody can send any more; fds[2]: the
 * descriptors that came with it, or -1. */
ssize_t packet_receive(int fd, void *data, size_t size, int *fds);
/* The same of one that is there; less than 0: none is, any more. */
ssize_t packet_receive_now(int fd, void *data, size_t size, int *fds);

#endif /* CAIRN_REPLAY_PACKET_H */
