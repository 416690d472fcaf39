/* SPDX-License-Identifier: Apache-2.0 */
/* A threaded interpreter with computed goto, left by exit in an opcode. */
#include "battery.h"

#include <stdlib.h>

static NOINLINE int run(const unsigned char *code, int acc)
{
	static const void *const op[] = {&&add, &&sub, &&jump, &&call, &&halt};
	int pc = 0, loops = 0;

	goto *op[code[pc++]];
add:
	HIT();
	acc += 3;
	goto *op[code[pc++]];
sub:
	HIT();
	acc -= 2;
	goto *op[code[pc++]];
jump:
	HIT();
	if (++loops < 500) {
		HIT();
		pc = 0;
	}
	goto *op[code[pc++]];
call:
	HIT();
	if (acc == 700)
		exit(13);
	HIT();
	goto *op[code[pc++]];
halt:
	HIT();
	return acc;
}

int main(void)
{
	static const unsigned char a[] = {0, 1, 0, 3, 1, 2, 4};

	HIT();
	int first = run(a, battery_int(-5000));
	HIT();
	int second = run(a, battery_int(90));
	HIT();
	return first == second;
}
