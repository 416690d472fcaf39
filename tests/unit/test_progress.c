/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress is for terminals: one line, written over, gone at the end; nothing
 * of short work, nothing with --quiet, nothing elsewhere unless it is forced.
 */
#include "base/progress.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

static char shown[4096];

/* What the work shows on a terminal, or a pipe, that is stderr; how long it
 * has run when it tells. */
static const char *show(bool on_terminal, bool is_forced, uint64_t ns)
{
	int ends[2], saved = dup(STDERR_FILENO);
	struct progress p;
	size_t n = 0;
	ssize_t more;

	if (on_terminal) {
		ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
		assert_true(ends[0] >= 0 && !grantpt(ends[0]) &&
		            !unlockpt(ends[0]));
		ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
	} else {
		assert_int_equal(pipe(ends), 0);
	}
	assert_true(ends[1] >= 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	progress_begin(&p, "work", is_forced);
	p.begun -= ns;
	progress_tell(&p, 1, 4);
	progress_tell(&p, 1, 4);
	progress_tell(&p, 2, 4);
	progress_end(&p);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	/* a terminal hands over when the kernel gets to it; then it hangs up */
	while ((more = read(ends[0], shown + n, sizeof(shown) - 1 - n)) > 0)
		n += (size_t)more;
	shown[n] = '\0';
	close(ends[0]);
	return shown;
}

static void test_terminal(void **state)
{
	(void)state;
	assert_string_equal(show(true, false, 2 * (uint64_t)PROGRESS_LONG_NS),
	                    "\rcairn: work: 25 %\rcairn: work: 50 %\r\033[K");
}

static void test_short(void **state)
{
	(void)state;
	assert_string_equal(show(true, false, 0), "");
	assert_string_equal(show(false, true, 0), "");
}

static void test_elsewhere(void **state)
{
	(void)state;
	assert_string_equal(show(false, false, 2 * (uint64_t)PROGRESS_LONG_NS),
	                    "");
	assert_string_equal(show(false, true, 2 * (uint64_t)PROGRESS_LONG_NS),
	                    "\rcairn: work: 25 %\rcairn: work: 50 %"
	                    "\rcairn: work: done \n");
}

/* The last one: there is no way back. */
static void test_quiet(void **state)
{
	(void)state;
	progress_silence();
	assert_string_equal(show(true, false, 2 * (uint64_t)PROGRESS_LONG_NS),
	                    "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_terminal),
	        cmocka_unit_test(test_short),
	        cmocka_unit_test(test_elsewhere),
	        cmocka_unit_test(test_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
