# SPDX-License-Identifier: Apache-2.0
"""Random C++ programs whose frames die: they throw, catch and throw again, jump
away and call through pointers, in loops and out of them.

Every decision is a bit of one state, so that a program does the same in every
build.  Fuel ends it: without it no call is made and no loop turns.
"""
import random

HEAD = """\
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static uint64_t state = %dull;
static unsigned fuel = %d;
static volatile unsigned sink;
struct jump { jmp_buf env; jump *up; };
static jump *top;

static unsigned pick(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return fuel ? fuel--, unsigned(state >> 33) %% n : 0;
}

struct guard {
	unsigned n;
	~guard() { sink = sink + n; }
};
"""

MAIN = """\
int main()
{
	for (int i = 0; i < %d && fuel; i++) {
		try {
			f%d(i);
		} catch (...) {
			sink = sink + 1;
		}
	}
	std::printf("%%u\\n", sink);
	%s
}
"""


class Program:
    """One program; `jumps`: with longjmp, and nothing that it would skip."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.jumps = self.rng.random() < 0.3
        self.nfunctions = self.rng.randint(3, 7)
        self.lines = [HEAD % (self.rng.getrandbits(60),
                              self.rng.choice((300, 2000, 8000)))]

    def add(self, depth, text):
        self.lines.append("\t" * depth + text)

    def call(self, depth):
        rng = self.rng
        argument = "n + %d" % rng.randint(0, 9)
        if rng.random() < 0.2:
            self.add(depth, "if (pick(3)) sink = sink + table[pick(%d)](%s);" % (
                self.nfunctions, argument))
        else:
            self.add(depth, "if (pick(3)) sink = sink + f%d(%s);" % (
                rng.randrange(self.nfunctions), argument))

    def leave(self, depth):
        """A way out that is not a return, now and then."""
        rng = self.rng
        often = rng.choice((3, 5, 9))
        if self.jumps:
            self.add(depth, "if (pick(%d) == 1 && top) std::longjmp("
                     "top->env, 1);" % often)
        elif rng.random() < 0.1:
            self.add(depth, "if (pick(%d) == 1) std::exit(0);" % (9 * often))
        else:
            self.add(depth, "if (pick(%d) == 1) throw %s;" % (
                often, rng.choice(("1", "2u", "3.0"))))

    def statement(self, depth, nest):
        rng = self.rng
        kinds = ["sink", "call", "call", "leave", "if"]
        if nest < 2:
            kinds += ["if", "loop", "loop", "switch", "try", "try"]
        kind = rng.choice(kinds)
        if kind == "sink":
            self.add(depth, "sink = sink + %d;" % rng.randint(1, 99))
        elif kind == "call":
            self.call(depth)
        elif kind == "leave":
            self.leave(depth)
        elif kind == "if":
            self.add(depth, "if (pick(%d)) {" % rng.randint(2, 4))
            self.block(depth + 1, nest + 1)
            if rng.random() < 0.5:
                self.add(depth, "} else {")
                self.block(depth + 1, nest + 1)
            self.add(depth, "}")
        elif kind == "loop":
            self.loop(depth, nest)
        elif kind == "switch":
            self.add(depth, "switch (pick(4)) {")
            for i in range(rng.randint(2, 4)):
                self.add(depth, "case %d:" % i)
                self.block(depth + 1, nest + 1)
                if rng.random() < 0.7:
                    self.add(depth + 1, "break;")
            self.add(depth + 1, ";")
            self.add(depth, "}")
        elif self.jumps:
            self.catch_jump(depth, nest)
        else:
            self.catch(depth, nest)

    def loop(self, depth, nest):
        rng = self.rng
        if rng.random() < 0.5:
            self.add(depth, "while (fuel && pick(%d)) {" % rng.randint(2, 6))
        else:
            self.add(depth, "for (unsigned k = 0; k < %d && fuel; k++) {" %
                     rng.randint(1, 5))
        self.block(depth + 1, nest + 1)
        if rng.random() < 0.3:
            self.add(depth + 1, "if (pick(4) == 1) %s;" % rng.choice(
                ("break", "continue")))
        self.add(depth, "}")

    def catch(self, depth, nest):
        rng = self.rng
        self.add(depth, "try {")
        if rng.random() < 0.3:
            self.add(depth + 1, "guard g{n};")
        self.block(depth + 1, nest + 1)
        self.add(depth, "} catch (%s) {" % rng.choice(
            ("int", "unsigned", "...", "...")))
        self.block(depth + 1, nest + 1)
        if rng.random() < 0.2:
            self.add(depth + 1, "if (pick(2)) throw;")
        self.add(depth, "}")

    def catch_jump(self, depth, nest):
        self.add(depth, "{")
        self.add(depth + 1, "jump j;")
        self.add(depth + 1, "j.up = top;")
        self.add(depth + 1, "if (setjmp(j.env) == 0) {")
        self.add(depth + 2, "top = &j;")
        self.block(depth + 2, nest + 1)
        self.add(depth + 1, "}")
        self.add(depth + 1, "top = j.up;")
        self.add(depth, "}")

    def block(self, depth, nest):
        for _ in range(self.rng.randint(1, 2 if nest else 3)):
            self.statement(depth, nest)

    def text(self):
        rng = self.rng
        for i in range(self.nfunctions):
            self.add(0, "static unsigned f%d(unsigned n);" % i)
        self.add(0, "static unsigned (*table[])(unsigned) = {%s};" % ", ".join(
            "f%d" % i for i in range(self.nfunctions)))
        for i in range(self.nfunctions):
            self.add(0, "%sstatic unsigned f%d(unsigned n)" % (
                "__attribute__((noinline)) " if rng.random() < 0.8 else "",
                i))
            self.add(0, "{")
            self.block(1, 0)
            self.add(1, "return n & 7;")
            self.add(0, "}")
        self.add(0, MAIN % (rng.randint(1, 40), self.nfunctions - 1,
                            rng.choice(("return 0;", "std::exit(0);"))))
        return "\n".join(self.lines)


def write(seed):
    return Program(seed).text()
