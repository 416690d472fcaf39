#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cairn report says of a program that keeps its own books.

    run.py             all of it
    run.py --keep DIR  leave programs and what was made of them in DIR
    CAIRN_BIN          directory of cairn and cairn-cc

The program is built in every mode, and all modes must tell the same: counts of
lines, ways of branches, calls, copies.  Then the text of the report, and its
page (page.py).
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "programs")]
import page  # noqa: E402
from checks import equal, on_terminal, suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX, call  # noqa: E402

MODES = ["edges", "edges,strict", "paths", "trace", "record"]

HALF = """static inline int half(int x)
{
	if (x & 1)
		return -1;
	return x / 2;
}
"""
HALF_TOP = """#include "inc/half.h"
int low(int n);
int main(void)
{
	int s = 0;
	for (int i = 0; i < 10; i++)
		s += half(i);
	return s + low(4) > 100;
}
"""
HALF_LOW = """#include "../inc/half.h"
int low(int n)
{
	int s = 0;
	while (n--)
		s += half(n);
	return s;
}
"""

# Two files in two directories, a header with code in both, calls by name and
# through a pointer; NAME:COUNT in a comment is what the program must do.
SHARED = """static inline int twice(int x)
{
	volatile int v = 2 * x;
	if (v < 0)
		v = 7;
	return v + 1;
}
"""
MAIN = """#include <stdio.h>
#include "shared.h"
int work(int n);
static int helper(int i) __attribute__((noinline));
static int helper(int i)
{
	volatile int sink = i;
	return sink * 3;
}
static int first(int i) { volatile int v = i; return v; }
static int second(int i) { volatile int v = i; return v + 1; }
int (*volatile table[2])(int) = {first, second};
int main(int argc, char **argv)
{
	volatile int sum = 0;
	for (volatile int i = 0; i < 100; i++) {
		if (i % 4 == 0)
			sum += helper(i);	/* 25 */
		else if (argc > 90)
			sum += helper(2);	/* 0 */
		sum += twice(i);
		sum += table[i & 1](i);
	}
	for (volatile int i = 0; i < 7; i++)
		sum += work(i);			/* 7 */
	printf("%d %s\\n", sum, argv[0]);
	return 0;
}
"""
WORK = """#include "shared.h"
static int helper(int i) __attribute__((noinline));
static int helper(int i)
{
	volatile int sink = i;
	return sink + 5;
}
int work(int n)
{
	volatile int s = 0;
	switch (n) {
	case 0: s += helper(n); break;
	case 1: s += 4; break;
	case 2: s -= 9; break;
	case 9: s *= 3; break;
	default: s += twice(n); break;
	}
	return s;
}
"""
CXX = """#include <cstdio>
namespace shop {
template <typename T> __attribute__((noinline)) T pick(T a, T b)
{
	volatile T v = a;
	if (v < b)
		v = b;
	return v;
}
}
int main()
{
	volatile int i = 1;
	volatile double d = 2;
	int n = 0;
	for (int k = 0; k < 3; k++)
		n += shop::pick<int>(i, k) > 0;
	for (int k = 0; k < 5; k++)
		n += shop::pick<double>(d, k) > 0;
	std::printf("%d\\n", n);
}
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def line_of(text, part):
    return next(i for i, line in enumerate(text.splitlines(), 1)
                if part in line)


def run_program(exe, profile):
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run([exe], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, CAIRN_OUT=profile))


def build(work, mode):
    """Builds the program in a mode and runs it; returns its profile."""
    name = "prog-" + mode.replace(",", "-")
    exe = os.path.join(work, name)
    call([CAIRN_CC, "--cairn=" + mode, "-g", "-O2", "-Iinc",
          "src/main.c", "src/deep/work.c", "-o", exe], cwd=work)
    run_program(exe, exe + ".cairn")
    return exe + ".cairn"


def report(*arguments):
    return call([CAIRN, "report", *arguments])


def lines_of(data, name):
    for source in data["sources"]:
        if os.path.basename(source["file"]) == name:
            return {line["line"]: line for line in source["lines"]}
    raise KeyError(name)


def calls_of(data):
    """Calls by caller, file of the call and callee."""
    calls = {}
    for f in data["functions"]:
        for c in f["calls"]:
            key = f["name"], os.path.basename(c.get("file", "")), c["callee"]
            calls[key] = calls.get(key, 0) + c["count"]
    return calls


# --- what all modes tell -----------------------------------------------------

def check_counts(name, data):
    calls = calls_of(data)
    equal(f"{name}: calls of helper", calls.get(("main", "main.c", "helper")),
          25)
    equal(f"{name}: calls of the other helper",
          calls.get(("work", "work.c", "helper")), 1)
    equal(f"{name}: calls of work", calls.get(("main", "main.c", "work")), 7)
    equal(f"{name}: calls through pointers",
          calls.get(("main", "main.c", None)), 100)
    equal(f"{name}: calls of printf", calls.get(("main", "main.c", "printf")),
          1)
    lines = lines_of(data, "main.c")
    at = line_of(MAIN, "i % 4 == 0")
    ways = sorted(b["taken"] for b in lines[at]["branches"])
    equal(f"{name}: ways of a branch", ways, [25, 75])
    never = lines[line_of(MAIN, "argc > 90")]["branches"]
    equal(f"{name}: a way that was never taken",
          sorted((b["taken"], b["total"]) for b in never), [(0, 75), (75, 75)])
    ways = lines_of(data, "work.c")[line_of(WORK, "switch (n)")]["branches"]
    equal(f"{name}: a switch", sum(b["taken"] for b in ways), 7)


def check_copies(name, data):
    """twice() is in main and in work: its lines have both."""
    lines = lines_of(data, "shared.h")
    at = lines[line_of(SHARED, "2 * x")]
    equal(f"{name}: a line of two copies", at["count"], 100 + 4)
    equal(f"{name}: says from where",
          sorted((c["function"], c["inlined"], c["count"])
                 for c in at["copies"]),
          [("main", "twice", 100), ("work", "twice", 4)])
    equal(f"{name}: where it was called", sorted(
        c["call_line"] for c in at["copies"]),
        sorted([line_of(MAIN, "sum += twice"), line_of(WORK, "s += twice")]))
    for source in data["sources"]:
        for line in source["lines"]:
            if "copies" in line and line["count"] != sum(
                    c["count"] for c in line["copies"]):
                test(f"{name}: copies add up", False, str(line))
                return
    test(f"{name}: copies add up", True)


def check_instructions(name, data):
    """Instructions of lines are those of blocks, but for such without one."""
    lines = sum(line["instructions"] for source in data["sources"]
                for line in source["lines"])
    blocks = sum(b["count"] * b["instructions"] for f in data["functions"]
                 for b in f["blocks"])
    test(f"{name}: instructions of lines", 0.8 * blocks < lines <= blocks,
         f"{lines} of {blocks}")


def check_modes(work):
    reports = {}
    for mode in MODES:
        profile = build(work, mode)
        data = reports[mode] = json.loads(report("--json", profile))
        check_counts(mode, data)
        check_copies(mode, data)
        check_instructions(mode, data)
    # the IR of a recording is not that of the others: not all lines are there
    for mode in MODES[1:-1]:
        for name in ("main.c", "work.c", "shared.h"):
            keys = ("count", "instructions")
            equal(f"{mode}: lines of {name} as in edges",
                  *([(n, *[line[k] for k in keys])
                     for n, line in lines_of(data, name).items()]
                    for data in (reports[mode], reports["edges"])))
        equal(f"{mode}: calls as in edges", calls_of(reports[mode]),
              calls_of(reports["edges"]))
    return os.path.join(work, "prog-edges.cairn")


# --- the text ----------------------------------------------------------------

def source_line(text, number, part):
    """The line of the source and what stands below it."""
    rows = text.splitlines()
    for i, row in enumerate(rows):
        if re.match(rf" *[\d#~?]* +{number}  ", row) and part in row:
            below = []
            for other in rows[i + 1:]:
                if not re.match(r" +\| ", other):
                    break
                below.append(other.split("|", 1)[1].strip())
            return row, below
    return "", []


def check_text(work, profile):
    text = report("--function", "main", profile)
    at = line_of(MAIN, "i % 4 == 0")
    row, below = source_line(text, at, "i % 4")
    test("count in front", row.startswith("           100 "), row)
    equal("percentages", below, [f"25.0 % to {at + 1}, 75.0 % to {at + 2}"])
    row, below = source_line(text, at + 2, "argc > 90")
    test("never", len(below) == 1 and f"never to {at + 3}" in below[0] and
         "100.0 %" in below[0], str(below))
    row, _ = source_line(text, at + 3, "helper(2)")
    test("a line that never ran", row.startswith("         ##### "), row)
    test("no other function", "\nwork " not in text)
    plain = report("--function", "main", "--no-branches", profile)
    test("--no-branches", "never" not in plain and "25.0 % to" not in plain)
    text = report("--function", "twice", profile)
    test("an inlined function", "2 copies add up" in text and
         f"100 inlined into main, line {line_of(MAIN, 'sum += twice')}" in text
         and f"4 inlined into work, line {line_of(WORK, 's += twice')}" in text,
         text)
    text = report("--lines", "--copies", "--file", "shared.h", profile)
    row, below = source_line(text, line_of(SHARED, "2 * x"), "2 * x")
    equal("--copies", [x.split(",")[0] for x in below],
          ["100 inlined into main", "4 inlined into work"])
    _, below = source_line(report("--function", "work", profile),
                           line_of(WORK, "switch (n)"), "switch")
    test("a switch", len(below) == 1 and "57.1 %" in below[0] and
         "1 of 5 ways never" in below[0], str(below))


def check_tables(work, profile):
    text = report("--files", "--no-source", profile)
    rows = {}
    for row in text[text.index("directory"):].splitlines()[1:]:
        found = re.match(r" +(\d+) of (\d+) +[\d.]+ .* (\S+)$", row)
        if found:
            rows[found[3]] = int(found[1]), int(found[2])
    parts = {"src": ["main.c"], "deep": ["work.c"], "inc": ["shared.h"]}
    data = json.loads(report("--json", profile))
    for directory, files in parts.items():
        path = next(p for p in rows if p.endswith("/" + directory))
        want = [lines_of(data, f).values() for f in files]
        equal(f"total of {directory}", rows[path],
              (sum(x["count"] > 0 for f in want for x in f),
               sum(len(f) for f in want)))
        for f in files:
            equal(f"total of {f}", rows[os.path.join(path, f)], rows[path])
    totals = re.search(r"^lines +(\d+) of (\d+)", text, re.M)
    equal("directories add up to the program",
          tuple(sum(rows[p][i] for p in rows if not p.endswith((".c", ".h")))
                for i in (0, 1)), (int(totals[1]), int(totals[2])))
    shares = [float(row.split()[2]) for row in
              report("--threshold", "10", "--no-source", profile).split("\n\n")
              [1].splitlines()[1:-1]]
    test("--threshold", shares and min(shares) >= 10, str(shares))


def check_colours(profile):
    argv = [CAIRN, "report", profile]
    test("no colours in a pipe", "\033" not in report(profile))
    test("colours on a terminal",
         b"\033[31m" in on_terminal(argv, TERM="xterm", NO_COLOR=""))
    test("no colours on a dumb one",
         b"\033" not in on_terminal(argv, TERM="dumb", NO_COLOR=""))
    test("NO_COLOR", b"\033" not in on_terminal(argv, TERM="xterm",
                                                NO_COLOR="1"))
    test("--color always", "\033[1m" in report("--color", "always", profile))
    clean = re.sub(r"\033\[[\d;]*m", "", report("--color=always", profile))
    equal("colours are all that differs", clean, report(profile))


def check_sources(work, profile):
    """Source that has changed, was only touched, or is not there."""
    source = os.path.join(work, "src", "main.c")
    future = os.stat(source).st_mtime + 100000
    with open(source, encoding="utf-8") as f:
        before = f.read()
    with open(source, "a", encoding="utf-8") as f:
        f.write("/* changed */\n")
    text = report("--function", "main", profile)
    test("changed source", "main.c is not the text that was compiled" in text
         and "i % 4 == 0" in text)
    with open(source, "w", encoding="utf-8") as f:
        f.write(before)
    os.utime(source, (future, future))
    text = report("--function", "main", profile)
    test("touched source", "moved" not in text and "i % 4 == 0" in text)
    os.rename(source, source + ".away")
    text = report("--function", "main", profile)
    test("missing source", "cannot read" in text and
         "25.0 % to" in text, text)
    os.rename(source + ".away", source)
    os.utime(source, (future - 100000, future - 100000))
    test("fresh source", "newer" not in report("--function", "main", profile))


def check_cxx(work):
    write(os.path.join(work, "t.cc"), CXX)
    exe = os.path.join(work, "t")
    call([CAIRN_CXX, "-g", "-O1", "t.cc", "-o", exe], cwd=work)
    run_program(exe, exe + ".cairn")
    text = report("--function", "*pick*", exe + ".cairn")
    test("C++ names", "int shop::pick<int>(int, int)" in text and
         "double shop::pick<double>(double, double)" in text, text)
    at = line_of(CXX, "if (v < b)")
    row, _ = source_line(text, at, "if (v < b)")
    test("instances of a template add up", row.split()[:1] == ["8"], row)
    test("and say from where", "2 copies add up" in text and re.search(
        r"5 in double shop::pick<double>\(", text), text)
    test("--no-demangle", "_ZN4shop4pickIiEET_S1_S1_" in
         report("--no-demangle", exe + ".cairn"))
    return exe + ".cairn"


def check_names(work):
    """A header that two files find in two ways is one file."""
    write(os.path.join(work, "ways", "inc", "half.h"), HALF)
    write(os.path.join(work, "ways", "top.c"), HALF_TOP)
    write(os.path.join(work, "ways", "sub", "low.c"), HALF_LOW)
    for mode in ("edges", "paths"):
        exe = os.path.join(work, "ways", mode)
        call([CAIRN_CC, "--cairn=" + mode, "-g", "-O0", "top.c",
              "sub/low.c", "-o", exe], cwd=os.path.join(work, "ways"))
        run_program(exe, exe + ".cairn")
        data = json.loads(report("--json", exe + ".cairn"))
        found = [s for s in data["sources"] if "half.h" in s["file"]]
        test(mode + ": one header, one file",
             [s["file"] for s in found] ==
             [os.path.join(work, "ways", "inc", "half.h")],
             [s["file"] for s in data["sources"]])
        equal(mode + ": its lines add up",
              {x["line"]: x["count"] for x in found[0]["lines"]},
              {3: 14, 4: 7, 5: 7, 6: 14})
    # A name that a build in another directory has for it.
    text = call([CAIRN, "paths", "--line", "../inc/half.h:4", exe + ".cairn"])
    test("--line by a name with ..", "half" in text, text)


def check_mistakes(profile):
    for argv, says in ((["--threshold", "many"], "--threshold"),
                       (["--threshold", "1", "--json"], "--threshold"),
                       (["--lines", "--format", "lcov"], "--lines"),
                       (["--threshold", "101"], "--threshold"),
                       (["--color", "red"], "--color"),
                       (["--sort", "size"], "--sort")):
        done = subprocess.run([CAIRN, "report", *argv, profile],
                              capture_output=True, text=True, check=False)
        test(" ".join(argv), done.returncode == 2 and says in done.stderr and
             done.stderr.count("\n") == 1 and not done.stdout, done.stderr)


def run(work):
    write(os.path.join(work, "inc", "shared.h"), SHARED)
    write(os.path.join(work, "src", "main.c"), MAIN)
    write(os.path.join(work, "src", "deep", "work.c"), WORK)
    profile = check_modes(work)
    check_text(work, profile)
    check_tables(work, profile)
    check_colours(profile)
    check_sources(work, profile)
    page.check_names(sys.modules[__name__], work, check_cxx(work))
    check_names(work)
    check_mistakes(profile)
    page.check(sys.modules[__name__], work, profile)
    page.check_large(sys.modules[__name__], work)


if __name__ == "__main__":
    sys.exit(suite(run))
