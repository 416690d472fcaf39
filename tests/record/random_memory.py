# SPDX-License-Identifier: Apache-2.0
"""Random C programs about memory that they share with libc.

Blocks are allocated, freed and come back with what malloc, free and the program
left in them; fields are used that nobody set; structures with padding, unions
and bit-fields are copied; arrays are filled and added up, through restrict
pointers; libc reads, sorts and splits what the program wrote, and the other way
round.  Functions call themselves and each other, by name and by pointer, before
they look at memory and after.  spin() turns what was found into ticks, so that
a replay that finds something else diverges.
"""
import random

HEAD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HIDE __attribute__((noinline))
struct inner { char c; short s; long l; unsigned a : 3, b : 17, c2 : 7; };
struct node {
	unsigned long use;
	unsigned long next, other;
	union { unsigned long l; double d; char text[24]; unsigned v[5]; } u;
	struct inner in[2];
	unsigned bits : 5, more : 11;
	char last;
};
#define N 64
#define A all[i % N]
#define B all[j % N]
static struct node *all[N];
static int fuel = FUEL;
static unsigned long sum;
static FILE *file;
HIDE static void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n % 11; i++)
		__asm__ volatile("");
}
HIDE static void put(unsigned i, int how)
{
	struct node *n;
	if (how == 0) {
		free(all[i]);
		n = malloc(sizeof *n + i % 5 * 100);
	} else if (how == 1) {
		free(all[i]);
		n = calloc(1, sizeof *n);
	} else {
		n = realloc(all[i], sizeof *n + (unsigned)how * 8);
	}
	all[i] = n;
	n->next = i * 7;
	n->other = i + 1;
}
HIDE static void dirty(unsigned n, unsigned seed)
{
	char *p = malloc(n);
	for (unsigned i = 0; i + 8 < n; i += 8)
		*(unsigned long *)(p + i) = i * seed;
	free(p);
}
static int by_byte(const void *a, const void *b)
{
	const unsigned char *x = a, *y = b;
	if (*x % 3 == 0)
		spin(*x);
	return *x - *y;
}
"""
MAIN = r"""
int main(void)
{
	file = tmpfile();
	for (unsigned i = 0; i < 300; i++)
		dirty(24 + i * 37 % 900, i * 2654435761u);
	for (unsigned i = 0; i < N; i++)
		put(i, 0);
	for (unsigned i = 0; fuel > 0 && i < 4000; i++) {
		f[i % COUNT](i * 5 % N, i * 11 % N, 1 + i % 7);
		put(i * 13 % N, (int)(i % 4));
		for (unsigned k = 0; k < N; k += 7)
			spin(all[k]->use + (unsigned char)all[k]->last);
	}
	puts("done");
	return 0;
}
"""
STATEMENTS = (
    "A->use++;",
    "B->use += A->use >> 3;",
    "spin(B->use);",
    "sum += (unsigned char)B->last;",
    "A->bits++; B->more += A->bits;",
    "A->in[{0}].a ^= 1; B->in[0].b += A->in[1].c2;",
    "B->in[{0}] = A->in[1];",
    "{{ struct inner t = A->in[{0}]; B->in[1] = t; spin(t.b); }}",
    "*B = *A;",
    "memmove(B->u.text, A->u.text + {1}, 12);",
    "memcpy(&B->in, &A->in, sizeof A->in);",
    "memset(A->u.v, {1}, {1});",
    "A->u.l += sum; B->u.v[{0}] = A->u.v[1];",
    "if (B->u.l & 4) sum++; else sum += 3;",
    "for (int k = 0; k < 5; k++) B->u.v[k] += A->u.v[4 - k];",
    "for (int k = 0; k < 24; k++) sum += (unsigned char)B->u.text[k];",
    "{{ long v[16]; for (int k = 0; k < 16; k++) v[k] = (long)sum + k; "
    "add_up(B->u.v, A->u.v, 5); sum += (unsigned long)v[{1}]; }}",
    "spin(all[A->other % N]->use & 7);",
    "A->other = j; all[B->next % N]->use ^= 5;",
    "snprintf(B->u.text, sizeof B->u.text, \"%lu\", sum % 1000);",
    "A->u.text[{1}] = 0; sum += strlen(A->u.text);",
    "sum += (unsigned long)(memcmp(A->u.text, B->u.text, {1}) > 0);",
    "sum += strchr(\"abcdef\", 'a' + (int)(B->use & 7)) != 0;",
    "qsort(B->u.text, 20, 1, by_byte); sum ^= (unsigned char)B->u.text[3];",
    "rewind(file); fwrite(A, 1, sizeof *A, file); rewind(file); "
    "if (fread(B->u.text, 1, {1} + 3, file) > 2) spin(B->u.v[0] & 15);",
    "{{ char t[] = \"1 22 333\", *q = 0; for (char *s = strtok_r(t, \" \", &q);"
    " s; s = strtok_r(0, \" \", &q)) B->last += *s; }}",
    "put((unsigned)(sum % N), {0}); i = {1}; j = {1} + 9;",
    "dirty((unsigned)(sum % 700) + 16, {1} + 5);",
)
CALLS = (
    "if (depth) f{0}(A->next, i, depth - 1);",
    "if (depth > 1 && B->use & 1) f{0}(j, i, depth - 2);",
    "if (depth) f[{0}](j, A->other, depth - 1);",
    "if (depth) sum += g{0}(j, depth - 1);",
)


def body(chance, count, nstatements):
    lines = ["\tif (fuel-- < 0) return;"]
    for _ in range(nstatements):
        call = chance.random() < 0.3
        text = chance.choice(CALLS if call else STATEMENTS)
        lines.append("\t" + text.format(
            chance.randrange(count if call else 2), chance.randrange(1, 9)))
    return "\n".join(lines)


def generate(seed, fuel=30000):
    """The source of a program."""
    chance = random.Random(seed)
    count = chance.randrange(2, 6)
    parts = [HEAD.replace("FUEL", str(fuel))]
    parts.append("typedef void function(unsigned, unsigned, unsigned);"
                 "")
    for i in range(count):
        parts.append(f"static function f{i};")
        parts.append(f"static unsigned g{i}(unsigned, unsigned);")
    names = ", ".join(f"f{i}" for i in range(count))
    parts.append("static function *const f[] = {" + names + "};")
    parts.append(
        "HIDE static void add_up(unsigned *restrict to, const unsigned *restrict from,"
        " int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\tto[i] += from[i];\n}")
    for i in range(count):
        hide = "HIDE " if chance.random() < 0.7 else ""
        parts.append(f"{hide}static void f{i}(unsigned i, unsigned j,"
                     " unsigned depth)\n{\n" +
                     body(chance, count, chance.randrange(3, 9)) + "\n}")
        parts.append(f"HIDE static unsigned g{i}(unsigned i, unsigned "
                     "depth)\n{\n\tunsigned n = 1;\n\n"
                     "\tif (depth && fuel-- > 0)\n"
                     f"\t\tn = g{(i + 1) % count}(A->next, depth"
                     " - 1);\n\tn += (unsigned)A->use;\n"
                     "\tA->use += n;\n\treturn n & 15;\n}")
    parts.append(MAIN.replace("COUNT", str(count)))
    return "\n".join(parts)
