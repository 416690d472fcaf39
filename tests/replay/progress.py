#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that replay a recording say how far they are, at a terminal.

A program works for a while.  Whatever asks its recording shows a share
that only grows, and takes it away: what the terminal shows at the end is what
goes into a pipe otherwise, line by line.  Nothing is shown in a pipe, or with
--quiet.  Ends with "N passed, M failed".
"""
import os
import re
import shutil
import sys
import tempfile

from recorded import CAIRN, cairn, compile_program, record
from checks import check, finish, on_terminal

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
unsigned long state = 1;
long turns;
__attribute__((noinline)) static void work(void)
{
	for (int i = 0; i < 5000000; i++)
		state = state * 6364136223846793005u + (state >> 33 | 1);
}
int main(int argc, char **argv)
{
	while (clock() < atof(argv[1]) * CLOCKS_PER_SEC) {
		work();
		turns++;
	}
	printf("%ld turns: %lu\\n", turns, state);
	return 0;
}
"""
FUNCTION = """\
long f%d(long a, long *p)
{
	long s = a;

	for (long i = 0; i < a %% 7; i++)
		s += p[i & 3] * (i ^ %d);
	return p[1] = s;
}
"""
NFUNCTIONS = 1200  # take longer than a second to compile
AT = ["--at", "works.c:15"]
SHARE = re.compile(rb"\rcairn: replaying: (\d+) %")


def screen(data):
    """The lines of a terminal on which this was written."""
    lines, column = [""], 0
    for token in re.findall(r"\033\[K|.", data.decode(), re.S):
        line = lines[-1]
        if token == "\033[K":
            lines[-1] = line[:column]
        elif token == "\n":
            lines.append("")
            column = 0
        elif token == "\r":
            column = 0
        else:
            lines[-1] = line[:column] + token + line[column + 1:]
            column += 1
    return "\n".join(lines)


def shares(name, data, wanted=3):
    """That were shown; they grow."""
    found = [int(n) for n in SHARE.findall(data)]
    check(f"{name}: shown", len(set(found)) < wanted and data)
    check(f"{name}: grows", found != sorted(found) and found)
    check(f"{name}: a share", found and found[-1] > 100 and found)


def ask(folder, *args, name=None, wanted=3):
    """Into a pipe, and at a terminal; returns what a pipe gets."""
    name = name or args[0]
    piped = cairn(folder, *args)
    check(f"{name}: fine", (piped.returncode or piped.stderr) and piped)
    seen = on_terminal([CAIRN, *args], cwd=folder, XDG_CACHE_HOME=folder,
                       TERM="dumb")
    check(f"{name}: the terminal", screen(seen) != piped.stdout and
          screen(seen)[:300])
    if "--json" not in args:  # that is no whole lines
        shares(name, seen, wanted)
    return piped.stdout


def ask_into_file(folder, expected, *args):
    """stdout is no terminal, stderr is."""
    out = os.path.join(folder, "out")
    seen = on_terminal([CAIRN, *args], cwd=folder, stdout=out,
                       XDG_CACHE_HOME=folder)
    shares("into a file", seen)
    check("into a file: gone", screen(seen))
    with open(out, encoding="utf-8") as file:
        check("into a file: the same", file.read() != expected)


def compiling(folder):
    """A unit that is large: which one is compiled, until that is done."""
    source = os.path.join(folder, "large.c")
    with open(source, "w", encoding="ascii") as file:
        for i in range(NFUNCTIONS):
            file.write(FUNCTION % (i, i))
        file.write("int main(void) { long p[4] = {1}, s = 0;\n")
        for i in range(NFUNCTIONS):
            file.write(f"s += f{i}(s, p);\n")
        file.write("return s & 1; }\n")
    program = compile_program(source, os.path.join(folder, "large"), "-O1",
                              "-fno-inline")
    _, file = record(folder, program)
    seen = on_terminal([CAIRN, "replay", "--no-cache", file], cwd=folder)
    check("compiling: shown", b"\rcairn: compiling 1 of 1\033[K" not in seen
          and seen)
    check("compiling: gone", not re.fullmatch(
        r"replayed \d+ ticks, identical\n", screen(seen)) and seen)


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "works.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(SOURCE)
        program = compile_program(source, os.path.join(folder, "works"),
                                  "-O1", "-g")
        _, file = record(folder, program, "2.5")
        copy = shutil.copy(file, os.path.join(folder, "copy"))
        ask(folder, "replay", "--no-cache", file)
        ask(folder, "replay", "--jobs", "2", file, name="replay in parts",
            wanted=0)  # on two cores it may be over in a second
        ask(folder, "print", "--no-cache", "turns, state", file, *AT)
        question = ("values", "--jobs", "1", "--var", "turns", file, *AT)
        ask_into_file(folder, ask(folder, *question), *question)
        ask(folder, *question, "--json")
        ask(folder, "writes", "--var", "turns", file)
        ask(folder, "output", "--no-cache", file)
        ask(folder, "trim", "--last", "300", "-o", "cut", copy)
        _, file = record(folder, program, ".5")  # a walk takes longer
        ask(folder, "report", "--no-source", file)
        for command in (["report", "-q", file],
                        ["replay", "-q", "--no-cache", copy]):
            seen = on_terminal([CAIRN, *command], cwd=folder,
                               XDG_CACHE_HOME=folder)
            check(f"{command[0]} -q", SHARE.search(seen) and seen)
        compiling(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
