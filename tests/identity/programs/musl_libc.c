/* SPDX-License-Identifier: Apache-2.0 */
// Another C library: the runtime needs glibc, and cairn-cc says so.
// wants: musl-gcc
// cc: -nostdinc -isystem /usr/include/x86_64-linux-musl/
// ld: -static -nostdlib /usr/lib/x86_64-linux-musl/crt1.o
// ld: -L/usr/lib/x86_64-linux-musl/ -lc
// levels: -O1
// refuses: * "not with musl"
#include <stdio.h>
int main(void)
{
	puts("a program");
	return 0;
}
