/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that have privileges which their caller does not have: set-user-ID,
 * set-group-ID, file capabilities.  The kernel says so, by AT_SECURE.
 *
 * The caller chooses the environment and the working directory of such a
 * program, so neither may name a file that it writes.  Root names a folder, in
 * SECURE_CONFIG; without it nothing is written.
 *
 * The runtime believes what it finds in memory that is mapped from its file:
 * whoever can write the file can take over the program.  A program that is
 * set-group-ID, has capabilities, or has dropped its user id makes files that
 * belong to the caller.  It does so only in a folder that the caller cannot
 * enter; access(2) answers just that, since it looks at the real ids.
 *
 * Cost: one system call if the program is not privileged.
 */
#include "runtime/secure.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/sys.h"

bool secure_is(void)
{
	struct sys_aux aux;

	sys_read_aux(&aux);
	return aux.secure;
}

/* Can only root have written it? */
static bool is_of_root(int fd)
{
	struct stat st;

	return sys3(SYS_fstat, fd, (long)&st, 0) == 0 && S_ISREG(st.st_mode) &&
	       st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* The first line, without slashes at its end; empty if it is too long. */
static void read_line(int fd, char *to, size_t size)
{
	long n = sys3(SYS_read, fd, (long)to, (long)size);
	size_t at = 0;

	while (n > 0 && at < (size_t)n && to[at] && to[at] != '\n')
		at++;
	if (at == size)
		at = 0;
	while (at > 1 && to[at - 1] == '/')
		at--;
	to[at] = 0;
}

int secure_folder(char *to, size_t size)
{
	int fd = sys_open(
	        SECURE_CONFIG,
	        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

	to[0] = 0;
	if (fd < 0)
		return fd == -ELOOP ? -ENOTNAM : fd;
	if (is_of_root(fd))
		read_line(fd, to, size);
	sys1(SYS_close, fd);
	return to[0] == '/' ? 0 : -ENOTNAM;
}

bool secure_accepts(uint32_t owner, const char *folder)
{
	return owner != (uint32_t)sys1(SYS_getuid, 0) ||
	       sys3(SYS_access, (long)folder, X_OK, 0) < 0;
}

void secure_clean(char **env)
{
	static const char ours[] = "CAIRN_";
	char **to = env;

	for (; *env; env++)
		if (!rt_same(*env, ours, sizeof(ours) - 1))
			*to++ = *env;
	*to = NULL;
}
