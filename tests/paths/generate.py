# SPDX-License-Identifier: Apache-2.0
"""Random control-flow graphs as C programs that log their blocks (log.h).

Decisions are made without branches, so that the graph of a function, built
without optimization, is the one that was drawn: a label and its line for each
block, and another line for each way out of a decision.  Every block has one way
that leads on towards the end, which it takes once the fuel is used up.
"""
import random

HEAD = """\
#include "%s"

#include <setjmp.h>

static jmp_buf top;
static int fuel, until_jump;
static uint32_t x;

/* One of n ways, each as likely; the last once there is no fuel. */
#define PICK(n) (fuel -= fuel > 0, (fuel > 0) \\
	* (int)(RANDOM(x) %% (n)) + (fuel <= 0) * ((n) - 1))
/* The second of two ways, in one of n cases. */
#define RARELY(n) (fuel -= fuel > 0, (fuel > 0) & (RANDOM(x) %% (n) == 0))

static void nothing(int depth)
{
	(void)depth;
}

static void leave(int depth)
{
	if (depth >= 0 && --until_jump == 0)
		longjmp(top, 1);
}

typedef void function(int depth);
"""


class Writer:
    """Lines of a program."""

    def __init__(self):
        self.lines = []

    def add(self, *lines):
        self.lines += lines


def draw(rng, n, gotos):
    """Ways out of each block: a kind and the targets, the last of which leads
    on; n is the end."""
    blocks = []
    near = rng.choice((2, 4, n))
    for b in range(n):
        kind = rng.choices(("jump", "if", "switch", "goto"),
                           (2, 6, 2, 3 if gotos else 0))[0]
        count = {"jump": 1, "if": 2, "switch": rng.randint(2, 5),
                 "goto": rng.randint(2, 4)}[kind]
        ways = [b + 1]
        while len(ways) < count:
            if rng.random() < 0.3:
                to = rng.randint(max(0, b - near), b)
            else:
                to = rng.randint(b + 1, min(n, b + near))
            ways.insert(0, to)
        blocks.append((kind, ways))
    return blocks


def ladder(rng, steps, inner):
    """A loop around many decisions in a row; with `inner`, some of them are
    loops of their own that make no call."""
    blocks = []
    for _ in range(steps):
        b = len(blocks)
        if inner and rng.random() < 0.15:
            turns = [("if", [b + 2, b + 1]), ("jump", [b + 3]),
                     ("jump", [b + 3]), ("if", [b, b + 4])]
            blocks += turns
        else:
            blocks += [("rarely", [b + 1, b + 2]), ("jump", [b + 2])]
    blocks.append(("if", [0, len(blocks) + 1]))
    return blocks


def write_calls(w, rng, calls, nfunctions):
    """Calls of a block: those that are not to happen call `nothing`."""
    if rng.random() >= calls:
        return
    if rng.random() < 0.2:
        w.add("\tleave(depth);")
    else:
        w.add("\t(*functions[(depth > 0 & fuel > 0) * %d])(depth - 1);" %
              rng.randint(1, nfunctions))


def write_ways(w, rng, name, b, kind, ways):
    def to(target):
        return "AT; goto %s%d;" % (name, target)

    if kind == "jump":
        w.add("\tgoto %s%d;" % (name, ways[0]))
    elif kind in ("if", "rarely"):
        chance = ("RARELY(%d)" % rng.choice((2, 8, 30)) if kind == "rarely"
                  else "PICK(2) == 0")
        w.add("\tif (%s) {" % chance, "\t\t" + to(ways[0]), "\t}",
              "\t" + to(ways[-1]))
    elif kind == "goto":
        w.add("\tgoto *%s_%d[PICK(%d)];" % (name, b, len(ways)))
    else:
        w.add("\tswitch (PICK(%d)) {" % len(ways))
        for i, target in enumerate(ways[:-1]):
            w.add("\tcase %d:" % i)
            if i + 2 == len(ways) or rng.random() < 0.7:
                w.add("\t\t" + to(target))  # else two ways share a block
        w.add("\tdefault:", "\t\t" + to(ways[-1]), "\t}")


def write_function(w, rng, name, blocks, calls, nfunctions):
    n = len(blocks)
    w.add("static void %s(int depth)" % name, "{")
    for b, (kind, ways) in enumerate(blocks):
        if kind == "goto":
            w.add("\tstatic void *const %s_%d[] = {%s};" % (
                name, b, ", ".join("&&%s%d" % (name, t) for t in ways)))
    w.add("\tENTER; AT;")
    reached = {0} | {t for _, ways in blocks for t in ways}
    if 0 in {t for _, ways in blocks for t in ways}:
        w.add("\tgoto %s0;" % name)
    for b, (kind, ways) in enumerate(blocks):
        if b in reached:
            w.add("%s%d:" % (name, b), "\tAT;")
            write_calls(w, rng, calls, nfunctions)
            write_ways(w, rng, name, b, kind, ways)
    w.add("%s%d:" % (name, n), "\tAT; (void)depth; WRITE(LOG_RETURN);", "}", "")


def shapes(rng, count):
    """(blocks, share of blocks that call) of each function."""
    for i in range(count):
        if i % 40 == 7:  # more than 2^60 paths
            yield ladder(rng, 70, rng.random() < 0.5), 0
        elif i % 10 == 3:  # more than 32768, mostly
            yield ladder(rng, rng.randint(15, 30), True), rng.choice((0, 0.1))
        else:
            calls = rng.choice((0, 0, 0.1, 0.3))
            yield draw(rng, rng.randint(4, 59), rng.random() < 0.25), calls


def write(seed, count, header):
    """A program of `count` functions, as text."""
    rng = random.Random(seed)
    w = Writer()
    w.add("/* functions of seed %d */" % seed, *(HEAD % header).splitlines())
    w.add("static function %s;" % ", ".join("f%d" % i for i in range(count)))
    w.add("static function *const functions[] = {nothing, %s};" % ", ".join(
        "f%d" % i for i in range(count)), "")
    for i, (blocks, calls) in enumerate(shapes(rng, count)):
        write_function(w, rng, "f%d" % i, blocks, calls, count)
    w.add("int main(void)", "{", "\tlog_open();", "\tx = %d;" % (seed + 1),
          "\tfor (volatile int i = 1; i <= %d; i++)" % count,
          "\t\tfor (volatile int k = 0; k < 6; k++) {",
          "\t\t\tfuel = 60 << k << (i == 4 & k == 5) * 7;",
          "\t\t\tuntil_jump = k & 1 ? 3 + k : 0;",
          "\t\t\tif (!setjmp(top))",
          "\t\t\t\tfunctions[i](k % 4);",
          "\t\t}", "\treturn 0;", "}")
    return "\n".join(w.lines) + "\n"
