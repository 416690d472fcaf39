/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block log: every block of a program that writes AT appends its line to
 * it, with the number of its activation.  run.py groups the log into paths.
 *
 * The log is a file that the program maps, so that it is whole however the
 * program ends; each thread has a part of its own.  AT has no branch and makes
 * no call: it changes neither the graph nor which loops can count themselves.
 */
#ifndef CAIRN_TESTS_PATHS_LOG_H
#define CAIRN_TESTS_PATHS_LOG_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOG_THREADS 8
#define LOG_EVENTS ((size_t)1 << 22) /* of each thread */

/* run.py has the same numbers. */
enum log_code {
	LOG_RETURN = 1 << 30, /* the activation returns */
	LOG_RESUME,           /* an exception leaves it, through a cleanup */
	LOG_AGAIN,            /* setjmp returns for the second time */
	LOG_TAIL,             /* the activation ends in a tail call */
	LOG_ANEW              /* code without marks has called it */
};

/* Or the first event of an activation: where its frame is, 16 bytes each. */
#define LOG_FRAME ((uint32_t)1 << 31)

struct log_event {
	uint32_t activation; /* 0: no more events */
	uint32_t what;       /* a line, or a log_code */
};

static struct log_event *log_all;
static __thread struct log_event *log_at;
static __thread uint32_t log_activation;

/* In each function, on a line of its first block. */
#define ENTER                           \
	uint32_t me = ++log_activation; \
	WRITE(LOG_FRAME |               \
	      (uint32_t)((uintptr_t)__builtin_frame_address(0) >> 4))
#define ENTER_ANEW \
	ENTER;     \
	WRITE(LOG_ANEW)
#define WRITE(what) (*log_at++ = (struct log_event){me, (uint32_t)(what)})
#define AT WRITE(__LINE__)
/* On the line of the return. */
#define RETURN(value) return (void)WRITE(LOG_RETURN), value
#define RETURN_VOID        \
	WRITE(LOG_RETURN); \
	return

static void log_thread(uint32_t n)
{
	log_at = log_all + n * LOG_EVENTS;
	log_activation = n << 24;
}

static void log_open(void)
{
	size_t size = LOG_THREADS * LOG_EVENTS * sizeof(struct log_event);
	const char *path = getenv("PATHS_LOG");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		perror("PATHS_LOG");
		exit(2);
	}
	log_all = (struct log_event *)mmap(NULL, size, PROT_READ | PROT_WRITE,
	                                   MAP_SHARED, fd, 0);
	if (log_all == (struct log_event *)MAP_FAILED) {
		perror("PATHS_LOG");
		exit(2);
	}
	close(fd);
	log_thread(0);
}

/* The next number after `x`, for decisions; no branch either. */
#define RANDOM(x) (((x) = (x)*1664525u + 1013904223u) >> 12)

#endif /* CAIRN_TESTS_PATHS_LOG_H */
