/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_PROGRESS_H
#define CAIRN_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Work that takes longer than this shows how far it is. */
#define PROGRESS_LONG_NS 1000000000u

/* Says on stderr how far long work is; {0} at first. */
struct progress {
	const char *what;
	bool is_forced, is_shown;
	unsigned percent;
	uint64_t begun; /* ns */
};

/* is_forced: even if stderr is no terminal. */
void progress_begin(struct progress *p, const char *what, bool is_forced);
void progress_tell(struct progress *p, uint64_t done, uint64_t all);
/* Another line, on a terminal alone. */
void progress_say(struct progress *p, const char *text);
/* Takes the line away; the next thing that is told shows it again. */
void progress_end(struct progress *p);
/* The same for those who call back: context is a struct progress. */
void progress_call(void *context, uint64_t done, uint64_t all);
/* ns since it began. */
uint64_t progress_time(const struct progress *p);
/* From here on only what is forced is shown (--quiet). */
void progress_silence(void);
/* Another terminal than stderr. */
void progress_show_on(int fd);
/* Where it is shown; */
int progress_place(void);
/* that is a terminal, or a pipe to one. */
void progress_know(bool is_terminal);
/* Is there a terminal, and no --quiet? */
bool progress_is_wanted(void);

#endif /* CAIRN_BASE_PROGRESS_H */
