/* SPDX-License-Identifier: Apache-2.0 */
// Everything that runs before and after main: arrays, priorities, exit
// handlers of a library that is loaded late.
// library: late.so
// ld: -ldl -rdynamic
#include <stdio.h>
#include <stdlib.h>
int note(int c);
#ifdef LIBRARY
static void at_end(void)
{
	note('E');
}

__attribute__((constructor)) static void begin(void)
{
	note('L');
	atexit(at_end);
}

__attribute__((destructor)) static void end(void)
{
	note('D');
}
#else
#include <dlfcn.h>
static char text[40];
static int used;

int note(int c)
{
	if (used < 30)
		text[used++] = (char)c;
	return used;
}

static void in_array(int argc, char **argv, char **env)
{
	note('0' + argc);
}

__attribute__((section(".init_array"),
               used)) static void (*first)(int, char **, char **) = in_array;

__attribute__((constructor(101))) static void c1(void)
{
	note('a');
}

__attribute__((constructor(65535))) static void c2(void)
{
	note('b');
}

__attribute__((destructor(101))) static void d1(void)
{
	note('.');
	puts(text);
}

__attribute__((destructor)) static void d2(void)
{
	note('y');
}

int main(void)
{
	note('m');
	return dlopen("./late.so", RTLD_NOW) ? 0 : 1;
}
#endif
