#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs print what they compute, and cairn values and print show the same.

Each program in shown/ says in its output which expressions have which values
at which line, whenever it comes there (saw.h).  At -O0 all of them have to be
shown; at -O2 some may be optimized out, but none may be wrong, and the line is
executed as often.  Then options, and mistakes, which are one sentence each.
Ends with "N passed, M failed".
"""
import collections
import glob
import json
import os
import re
import sys
import tempfile

import recorded
from recorded import cairn, compile_program, HERE, recordings, ROOT
from checks import check, finish, run

LEVELS = os.environ.get("LEVELS", "-O0 -O2").split()
GONE = ("<optimized out>", "<not in memory>")
LEAST_KNOWN = 0.75  # of all values at -O2


def record(folder, program):
    """What it printed, and its recording."""
    out, file = recorded.record(folder, program)
    return out.stdout, file


def expected(output, lines):
    """{(command, line, names): rows of values}, in order."""
    found = collections.OrderedDict()
    for line in output.splitlines():
        command, number, names, *values = line.split("|")
        number = int(number)
        while command == "print" and "SAW(" not in lines[number - 1]:
            number -= 1  # __LINE__ is where the macro's arguments end
        found.setdefault((command, number, names), []).append(values)
    return found


def question(folder, file, source, key):
    """Rows of values that cairn shows."""
    command, line, names = key
    at = ["--at", f"{os.path.basename(source)}:{line}", "--json"]
    if command == "values":
        out = cairn(folder, "values", file, "--var", names, *at)
    else:
        out = cairn(folder, "print", names, file, *at)
    if out.returncode not in (0, 1) or out.stderr:
        raise ValueError(out.stderr)
    return [[value["value"] for value in row["values"]]
            for row in json.loads(out.stdout)["executions"]]


def is_same(mine, theirs):
    return len(mine) == len(theirs) and all(
        a == b or b in GONE for a, b in zip(mine, theirs))


def compare(level, rows, shown, count):
    if len(rows) != len(shown):
        return f"{len(rows)} executions, shown {len(shown)}: {shown}"
    for mine, theirs in zip(rows, shown):
        count["all"] += len(theirs)
        gone = sum(theirs.count(text) for text in GONE)
        count["gone"] += gone
        if not is_same(mine, theirs) or (level == "-O0" and gone):
            return f"{mine}, shown {theirs}"
    return None


def try_program(source, level):
    name = os.path.basename(source)
    count = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        compile_program(source, program, level, "-g")
        output, file = record(folder, program)
        with open(source, encoding="ascii") as stream:
            lines = stream.readlines()
        for key, rows in expected(output, lines).items():
            try:
                shown = question(folder, file, source, key)
                problem = compare(level, rows, shown, count)
            except ValueError as error:
                problem = error
            check(f"{name} {level} {key[0]} {key[1]} {key[2]}", problem)
    known = 1 - count["gone"] / max(count["all"], 1)
    check(f"{name} {level} known", known < LEAST_KNOWN and f"{known:.2f}")


SMALL = """\
#include <stdio.h>
#include <stdlib.h>
static int table[100];
static void one_line(int n) { for (int i = 0; i < n; i++) table[i] = i; }
int main(int argc, char **argv)
{
	int gone = argc, sum = 0;
	char text[32] = "text";

	for (int i = 0; i < 5; i++) {
		sum += i;
		printf("%d\\n", sum);
	}
	one_line(3);
	text[1] = 0;
	fflush(stdout);
	exit(sum + text[0] + gone);
}
"""


def answer(out):
    """Lines without their ticks."""
    return [re.sub(r"^\[(\d+):\d+\]", r"[\1]", line)
            for line in out.stdout.splitlines()]


def options():
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "small.c")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(SMALL)
        program = os.path.join(folder, "small")
        compile_program(source, program, "-O0", "-g")
        file = record(folder, program)[1]

        def ask(*args):
            return cairn(folder, *args)

        out = ask("values", file, "--at", "small.c:11")
        check("all variables", not out.stdout.splitlines()[4].endswith(
            ", gone = 1, sum = 10, text = \"text\", i = 4") and out)
        check("text", 'text = "text"' not in out.stdout and out)
        out = ask("values", file, "--at", "small.c:11", "--var", "sum")
        check("values", answer(out) != [f"[1] sum = {n}"
                                        for n in (0, 1, 3, 6, 10)] and out)
        ticks = [int(tick) for tick in re.findall(r":(\d+)\]", out.stdout)]
        check("ticks", sorted(set(ticks)) != ticks and out)
        out = ask("print", "sum", file, "--at", "small.c:11")
        check("before", answer(out) != [f"[1] sum = {n}"
                                        for n in (0, 0, 1, 3, 6)] and out)
        out = ask("print", file, "sum, i", "--at", "small.c:11", "--if",
                  "i % 2")
        check("--if", answer(out) != ["[1] sum = 0, i = 1",
                                      "[1] sum = 3, i = 3"] and out)
        out = ask("print", "i", file, "--at", "small.c:11", "--limit", "2")
        check("--limit", answer(out) != ["[1] i = 0", "[1] i = 1"] and out)
        out = ask("print", "i", file, "--at", "small.c:11", "--if", "i > 9")
        check("never", (out.returncode, out.stdout, out.stderr) !=
              (1, "", f"cairn: {file}: small.c:11 was executed 5 times, but "
               "the condition never held\n") and out)
        out = ask("values", file, "--at", "small.c:11", "--context", "1",
                  "--from", "1000000")
        check("not there", (out.returncode, out.stdout, out.stderr) !=
              (1, "", f"cairn: {file}: small.c:11 was never executed in "
               "context 1 between these ticks\n") and out)
        out = ask("print", "i", file, "--at", "small.c:11", "--context", "1",
                  "--no-cache")
        check("--context", len(answer(out)) != 5 and out)
        # once when it is entered, and after each of its turns
        out = ask("print", "n, table[0]", file, "--at", "small.c:4")
        check("loop in a line", len(answer(out)) != 4 and out)
        out = ask("print", "table", file, "--at", "small.c:15")
        check("repeats", answer(out) !=
              ["[1] table = {0, 1, 2, 0 <repeats 97 times>}"] and out)
        out = ask("print", "text", file, "--at", "small.c:16")
        check("text with zeros", answer(out) !=
              ['[1] text = "t\\000xt"'] and out)
        mistakes(ask, file)
        without_debug(folder, ask, source)


def mistakes(ask, file):
    def sentence(name, words, *args):
        out = ask(*args)
        check(name, (out.returncode != 2 or out.stdout or
                     out.stderr.count("\n") != 1 or
                     words not in out.stderr) and out)

    at = ("--at", "small.c:11")
    sentence("member", "column 5", "print", "sum.x", file, *at)
    sentence("unknown", "column 7: there is no variable nope here; known are",
             "print", "sum + nope", file, *at)
    sentence("unknown variable", "known are i, ", "values", file, *at, "--var",
             "nope")
    sentence("condition", "column 1", "print", "sum", file, *at, "--if", "nope")
    sentence("aggregate", "column 5: a condition", "print", "sum", file, *at,
             "--if", "argv, 1")
    for text in ("sum +", "(sum", "sum 3", "sum = 3", "main(1)", "*sum", "'",
                 "sum[0]", "&3", "", "1e", "(struct x *)sum", "!(", "?", "0x",
                 "99999999999999999999", "(" * 1000, "argv + argv"):
        sentence(f"mistake {text[:20]}", ", column ", "print", text, file, *at)
    sentence("no code", "small.c:9: no code; lines 8 and 10 have", "values",
             file, "--at", "small.c:9")
    sentence("behind the end", "line 17 has", "values", file, "--at",
             "small.c:99")
    sentence("no file", "no code of the program comes from a file other.c",
             "values", file, "--at", "other.c:11")
    sentence("no line", "FILE:LINE", "values", file, "--at", "small.c")
    sentence("no context", "has no context 7", "values", file, *at,
             "--context", "7")
    sentence("no recording", "cannot open", "values", file + "x", *at)


def without_debug(folder, ask, source):
    os.remove(recordings(folder)[0])
    program = os.path.join(folder, "small")
    compile_program(source, program, "-O0")
    out = ask("values", record(folder, program)[1], "--at", "small.c:11")
    check("no -g", (out.returncode != 2 or "-g" not in out.stderr) and out)


FORKS = """\
#include <unistd.h>
#include <sys/wait.h>
int sum = 4;
static void work(int n)
{
	sum += n;
}
int main(void)
{
	work(1);
	if (!fork()) {
		work(10);
		return 0;
	}
	wait(NULL);
	work(100);
	return 0;
}
"""


def lengths():
    """What would need the length of an array before the program runs."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "lengths")
        compile_program(os.path.join(HERE, "shown/lengths.c"), program, "-O0", "-g")
        file = record(folder, program)[1]
        for text in ("sizeof a", "c[1][1]", "c + 1", "*(c + 1)"):
            out = cairn(folder, "print", text, file, "--at", "lengths.c:18")
            check(f"length of {text}", (
                out.returncode != 2 or
                "the size of int [] is not known" not in out.stderr) and out)


def forks():
    """A child has what its parent did, up to the fork."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "forks.c")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(FORKS)
        program = os.path.join(folder, "forks")
        compile_program(source, program, "-O1", "-g", "-fno-inline")
        for name in ("%n.%p.cairn", "rec-%p"):
            files = os.path.join(folder, name[-1])
            os.mkdir(files)
            run(program, cwd=folder, env=dict(
                os.environ, CAIRN_OUT=os.path.join(files, name)))
            found = sorted(answer(cairn(folder, "values", file, "--at",
                                        "forks.c:6", "--var", "sum"))
                           for file in glob.glob(os.path.join(files, "*"))
                           if os.path.isfile(file))  # no checkpoints
            check(f"forks {name}", found != [
                ["[1] sum = 5", "[1] sum = 105"],
                ["[1] sum = 5", "[1] sum = 15"]] and found)


def threads():
    """What threads do under a lock is shown in the order of the lock."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "counter")
        compile_program(os.path.join(ROOT, "tests/record/counter.c"), program, "-O0",
              "-g")
        file = record(folder, program)[1]
        ask = ("print", "counter.value - 0xc0ffee0000000000", file, "--at",
               "counter.c:24")
        rows = json.loads(cairn(folder, *ask, "--json").stdout)["executions"]
        seen = [row["values"][0]["value"] for row in rows]
        check("threads in order",
              seen != [str(i + 1) for i in range(2000)] and seen[:20])
        check("all threads", len({row["context"] for row in rows}) != 4)
        out = cairn(folder, *ask, "--limit", "7")
        check("the first of all threads", [
            line.split(" = ")[1] for line in out.stdout.splitlines()
        ] != list("1234567") and out)


UNITS = {
    "inline.h": """\
static int hidden = 1; static _Thread_local int mine = 3;
extern int counted;
static inline int add(int n)
{
	hidden += n;
	mine += n;
	return hidden + counted + mine - mine;
}
""",
    "first.c": """\
#include <stdio.h>
#include "inline.h"
int second(int n);
int main(void)
{
	int r = add(10);
	r += second(r);
	printf("%d\\n", r);
	return 0;
}
""",
    "second.c": """\
#include "inline.h"
int counted = 100;
static int only_here = 7;
int second(int n)
{
	only_here++;
	counted = n;
	return add(20) + only_here;
}
"""}


def units():
    """Lines in several units, and variables of other ones."""
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in UNITS.items():
                with open(os.path.join(folder, name), "w",
                          encoding="ascii") as stream:
                    stream.write(text)
            program = os.path.join(folder, "program")
            compile_program(os.path.join(folder, "first.c"), program, level, "-g",
                  os.path.join(folder, "second.c"))
            file = record(folder, program)[1]
            for args, lines in (
                    (("print", "n, hidden, counted", file, "--at",
                      "inline.h:5"), ["[1] n = 10, hidden = 1, counted = 100",
                                      "[1] n = 20, hidden = 1, counted = 111"]),
                    (("values", file, "--at", "inline.h:5", "--var", "hidden"),
                     ["[1] hidden = 11", "[1] hidden = 21"]),
                    (("print", "hidden, mine", file, "--at", "inline.h:7"),
                     ["[1] hidden = 11, mine = 13",
                      "[1] hidden = 21, mine = 23"]),
                    (("print", "only_here, counted, hidden", file, "--at",
                      "first.c:8"), ["[1] only_here = 8, counted = 111, "
                                     "hidden = 11"]),
                    (("print", "'second.c'::only_here", file, "--at",
                      "first.c:8"), ["[1] 'second.c'::only_here = 8"]),
                    (("values", file, "--at", "second.c:7", "--var",
                      "counted"), ["[1] counted = 111"])):
                out = cairn(folder, *args)
                check(f"units {level} {args[-1]}", answer(out) != lines and out)


CLASSES = {
    "classes.h": """\
struct A { int a = 1; };
struct B { int b = 2; };
struct C : A, B { int c = 3; C(); virtual int f(); };
struct V : virtual A { int v = 5; };
struct D1 : A {};
struct D2 : A {};
struct D : D1, D2 {};
struct Hidden;
Hidden *make();
int use(Hidden *);
""",
    "first.cpp": """\
#include "classes.h"
int main()
{
	C c;
	V v;
	D d;
	Hidden *h = make();
	return use(h) + c.f() + v.a + d.D1::a == 0;
}
""",
    "second.cpp": """\
#include "classes.h"
struct Other { int o = 40; };
struct Hidden : A, Other { int h = 41; };
Hidden *make()
{
	static Hidden one;
	one.h++;
	return &one;
}
int use(Hidden *h) { return h->h + h->o; }
C::C() {}
int C::f() { return c; }
"""}


def classes():
    """Classes of other units, and casts that make no sense."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CLASSES.items():
            with open(os.path.join(folder, name), "w",
                      encoding="ascii") as stream:
                stream.write(text)
        program = os.path.join(folder, "program")
        compile_program(os.path.join(folder, "first.cpp"), program, "-O0",
                        "-g", os.path.join(folder, "second.cpp"))
        file = record(folder, program)[1]

        def ask(text):
            return cairn(folder, "print", text, file, "--at", "first.cpp:8")

        out = ask("((B *)&c)->b, c.b, h->h, ((Other *)h)->o, sizeof(Hidden), "
                  "*h, v.a")
        check("classes of other units", answer(out) != [
            "[1] ((B *)&c)->b = 2, c.b = 2, h->h = 42, ((Other *)h)->o = 40, "
            "sizeof(Hidden) = 12, *h = {<A> = {a = 1}, <Other> = {o = 40}, "
            "h = 42}, v.a = 1"] and out)
        for text, words in (
                ("(V *)(A *)&v", "virtual base"), ("d.a", "more than one"),
                ("(A *)&d", "more than one"),
                ("dynamic_cast<V *>((A *)&v)", "static_cast"),
                ("static_cast<Nope *>(h)", "no type Nope"),
                ("(A &)5", "address"), ("static_cast", "< is missing")):
            out = ask(text)
            check(f"cast {text}", (out.returncode != 2 or out.stdout or
                                   out.stderr.count("\n") != 1 or
                                   words not in out.stderr) and out)


UNCLEAR = r"""
#include <stdio.h>
int main(void)
{
	static int x = 7; for (int i = 0; i < 2; i++) { static int x; x += i + 3;
		printf("%d\n", x); }
	{ static int y = 1;
		y++; }
	static int y = 5;
	y++;
	{ y++; }
	y++;
	return x;
}
"""


PASSED = r"""
static void f(int k)
{
	int e = k + 7, sum = 0;

	{
		try {
			if (k)
				throw k;
		} catch (int e) {
			sum += e;
		}
		sum += e;
	}
}
int main()
{
	f(0);
	f(1);
}
"""


def passed():
    """Code behind a catch in an inner block sees what catch hid."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "passed.cpp")
        program = os.path.join(folder, "passed")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(PASSED)
        compile_program(source, program, "-O0", "-g")
        file = record(folder, program)[1]
        out = cairn(folder, "values", file, "--at", "passed.cpp:11", "--var", "e")
        check("in catch", (out.returncode or "e = 1" not in out.stdout) and out)
        out = cairn(folder, "values", file, "--at", "passed.cpp:13", "--var", "e")
        check("behind catch", answer(out) != ["[1] e = 7", "[1] e = 8"] and out)


def unclear():
    """Nothing says which of two variables is meant: none is shown."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "unclear.c")
        program = os.path.join(folder, "unclear")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(UNCLEAR)
        compile_program(source, program, "-O0", "-g")
        file = record(folder, program)[1]
        for line, name, words in ((6, "x", "line 5 declares x more than once"),
                                  (12, "y", "lines 7 and 9 declare y")):
            at = ("--at", f"unclear.c:{line}")
            for args in (("values", "--var", name), ("print", name),
                         ("print", f"sizeof({name})")):
                out = cairn(folder, *args, file, *at)
                check(f"unclear {args} {line}", (
                    out.returncode != 2 or out.stdout or
                    out.stderr.count("\n") != 1 or
                    words not in out.stderr) and out)
            out = cairn(folder, "values", file, *at)
            check(f"unclear in all {line}", (
                out.returncode or f"{name} =" in out.stdout) and out)
        out = cairn(folder, "values", file, "--at", "unclear.c:8", "--var", "y")
        check("clear", (out.returncode or "y = 2" not in out.stdout) and out)


def bad_address():
    """Code that notes what it sees survives a store to address 0, too."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(HERE, "jumps.c")
        program = os.path.join(folder, "jumps")
        compile_program(source, program, "-O2", "-g")
        file = record(folder, program)[1]
        with open(source, encoding="ascii") as stream:
            last = stream.read().count("\n") - 1
        out = cairn(folder, "values", file, "--at", f"jumps.c:{last}")
        check("bad address", (out.returncode or not out.stdout) and out)


def main():
    for source in sorted(glob.glob(os.path.join(HERE, "shown", "*.c*"))):
        for level in LEVELS:
            try_program(source, level)
    options()
    units()
    forks()
    threads()
    lengths()
    classes()
    unclear()
    passed()
    bad_address()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
