/* SPDX-License-Identifier: Apache-2.0 */
// After seccomp's strict mode only read, write and exit are left; whoever
// makes another system call is killed.
// modes: -trace
// check: * C2 C4 F1
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int digits(int n)
{
	int d = 0;

	while (n) {
		d += n % 10;
		n /= 10;
	}
	return d;
}

int main(void)
{
	char text[2] = {'0', '\n'};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 1;
	text[0] = (char)('0' + digits(1203));
	if (write(1, text, 2) != 2)
		return 2;
	syscall(SYS_exit, 0);
	return 3;
}
