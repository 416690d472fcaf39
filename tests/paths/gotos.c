/* SPDX-License-Identifier: Apache-2.0 */
/* Computed gotos, whose targets are also reached in other ways. */
#include "log.h"

static int machine(const unsigned char *code, int n)
{
	static void *const go[] = {&&add, &&twice, &&skip, &&loop, &&stop};
	ENTER;
	int sum = 0, at = 0;
	AT;
	goto *go[code[at]];
add:
	AT;
	sum += 5;
	at++;
	if (sum % 3 == 0) {
		AT;
		goto twice;
	}
	AT;
	goto *go[code[at]];
twice:
	AT;
	sum = sum * 2 % 1000;
	at++;
	goto *go[code[at]];
skip:
	AT;
	at += 2;
	if (sum % 2) {
		AT;
		goto add;
	}
	AT;
	goto *go[code[at]];
loop:
	AT;
	if (n-- > 0) {
		AT;
		at = sum % 5;
		goto *go[code[at]];
	}
	AT;
	at++;
	while (code[at] != 4) {
		AT;
		at++;
	}
	AT;
stop:
	AT;
	RETURN(sum);
}

/* A goto among few targets, inside a loop that counts without it. */
static int around(int n)
{
	static void *const go[] = {&&one, &&two};
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < n; i++) {
		AT;
		if (i % 3 == 0) {
			AT;
			goto *go[i % 2];
		}
		AT;
		sum++;
	two:
		AT;
		sum += 2;
		continue;
	one:
		AT;
		sum += 3;
	}
	AT;
	RETURN(sum);
}

int main(void)
{
	static const unsigned char code[] = {0, 1, 2, 0, 1, 0, 1, 2, 0, 3,
	                                     0, 1, 0, 2, 2, 4, 4, 4, 4};

	log_open();
	for (int i = 0; i < 200; i++)
		machine(code, i % 23), around(i % 31);
	return 0;
}
