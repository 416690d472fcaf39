#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Preferred and residual paths against the plain path profile.

A program runs long and briefly in a paths build.  Built to prefer the paths of
either run, the long run must give the same counts, path by path, as far as
they are preferred, and all others together must be the rest; built with
`others`, all of them.  A residual build must count exactly the paths that the
tested run had not.

prefer_set.c is built to prefer all paths through a line, or all of a function.
Then the paths that `cairn paths --line` shows of a plain build must have their
counts, and no others of a function with preferred paths, unless a loop counts
its turns.  BUILD names the build folder.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "bin")
CAIRN, CC = os.path.join(BIN, "cairn"), os.path.join(BIN, "cairn-cc")
LONG, BRIEF = "200", "20"
SETS = "prefer_set.c"

passed, failed = 0, []


def check(what, ok, said=""):
    global passed
    if ok:
        passed += 1
    else:
        failed.append("FAIL %s: %s" % (what, said))


class Profile:
    """Counts by (function, path number), and the functions."""

    def __init__(self, path, *options):
        out = subprocess.run([CAIRN, "paths", "--json", "--top", "0",
                              *options, path],
                             check=True, capture_output=True).stdout
        self.functions = {f["name"]: f for f in json.loads(out)["functions"]}
        self.counts = {(name, int(p["number"])): int(p["count"])
                       for name, f in self.functions.items()
                       for p in f["paths"]}

    def tables(self):
        return {f["table"] for f in self.functions.values()}

    def of(self, keys):
        return {k: n for k, n in self.counts.items() if k in keys}


class Build:
    def __init__(self, folder, flags, mode, source="prefer.c", debug="-g"):
        self.exe = os.path.join(folder, "prog-%d" % len(os.listdir(folder)))
        result = subprocess.run(
            [CC, "--cairn=" + mode, "-mllvm", "-cairn-verify", debug, *flags,
             os.path.join(HERE, source), "-o", self.exe],
            check=True, capture_output=True)
        self.warned = result.stderr.decode()
        self.printed = result.stdout.decode()

    def run(self, length):
        self.file = "%s.%s.cairn" % (self.exe, length)
        self.said = subprocess.run(
            [self.exe, length], check=True, capture_output=True,
            env=dict(os.environ, CAIRN_OUT=self.file)).stdout
        subprocess.run([CAIRN, "check", self.file], check=True,
                       capture_output=True)
        return Profile(self.file)


def try_list(folder, flags, name, whole):
    """A list of the numbers of paths instead of a profile."""
    chosen = sorted((n for f, n in whole.counts if f == "many"),
                    key=lambda n: -whole.counts["many", n])[:3]
    file = os.path.join(folder, "list")
    with open(file, "w", encoding="utf-8") as f:
        f.write("# the hottest\nmany %s  # three\n" %
                " ".join(map(str, chosen)))
    got = Build(folder, flags, "paths,prefer=" + file).run(LONG)
    keys = {("many", n) for n in chosen}
    check(name + ": a list", got.of(keys) == whole.of(keys))
    check(name + ": no more than the list",
          got.functions["many"]["prefer"]["n"] == 3)
    for text in ("many 99999999999999", "many x", "many"):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        try:
            Build(folder, flags, "paths,prefer=" + file)
            check(name + ": refuses " + text, False, "it did not")
        except subprocess.CalledProcessError as e:
            check(name + ": refuses " + text, b"list" in e.stderr or
                  b"has no path" in e.stderr, e.stderr)


def untested_when_ended(build, tested, at):
    """What cairn residual lists of a run that ends in the middle."""
    file = "%s.ended%s.cairn" % (build.exe, at)
    subprocess.run([build.exe, LONG, at], check=True, capture_output=True,
                   env=dict(os.environ, CAIRN_OUT=file))
    out = subprocess.run([CAIRN, "residual", "--json", "--top", "0",
                          "--tested", tested, file], check=False,
                         capture_output=True).stdout
    said = json.loads(out)
    return sorted(json.dumps({k: v for k, v in p.items() if k != "order"},
                             sort_keys=True) for p in said["untested"])


def try_ends(name, plain, residual, tested):
    """Frames that die leave unfinished paths: in both builds the same."""
    unfinished = 0
    for at in ("1", "4", "9", "25", "60"):
        want = untested_when_ended(plain, tested, at)
        got = untested_when_ended(residual, tested, at)
        check("%s: residual, ended in call %s" % (name, at), got == want,
              (got, want))
        unfinished += sum(json.loads(p)["unfinished"] for p in want)
    check(name + ": unfinished paths are untested", unfinished)


def try_flags(flags):
    name = " ".join(flags)
    with tempfile.TemporaryDirectory() as folder:
        plain = Build(folder, flags, "paths")
        brief = plain.run(BRIEF)
        tested = plain.file
        whole = plain.run(LONG)
        truth, said = plain.file, plain.said
        preferred = set(brief.counts)
        check(name + ": something is new", set(whole.counts) - preferred)
        check(name + ": many paths", "hashed" in whole.tables())

        def long_run(mode):
            build = Build(folder, flags, mode)
            profile = build.run(LONG)
            check("%s %s: output" % (name, mode.split("=")[0]),
                  build.said == said)
            return profile

        got = long_run("paths,prefer=" + truth)
        check(name + ": all preferred", got.counts == whole.counts)
        check(name + ": slots", "preferred" in got.tables(), got.tables())
        got = long_run("paths,prefer=" + tested)
        check(name + ": those of another run",
              got.of(preferred) == whole.of(preferred))
        other = sum(f["prefer"]["other"] for f in got.functions.values()
                    if "prefer" in f)
        check(name + ": the rest together", other + sum(got.counts.values())
              == sum(whole.counts.values()), other)
        check(name + ": there is a rest", other > 0)
        got = long_run("paths,others,prefer=" + tested)
        check(name + ": others", got.counts == whole.counts)
        got = long_run("paths,top=3,prefer=" + truth)
        check(name + ": top", sum(f["prefer"]["n"]
                                  for f in got.functions.values()
                                  if "prefer" in f) <= 3)
        try_list(folder, flags, name, whole)
        got = long_run("residual,tested=" + tested)
        check(name + ": residual", got.counts == whole.of(
            set(whole.counts) - preferred))
        try_ends(name, plain, Build(folder, flags, "residual,tested="
                                    + tested), tested)
        got = long_run("residual,tested=" + truth)
        check(name + ": nothing residual", not got.counts, got.counts)
        check(name + ": residual tables", got.tables() == {"residual"})


def line_of(name):
    with open(os.path.join(HERE, SETS), encoding="utf-8") as f:
        return 1 + [name in line for line in f].index(True)


def is_turn(path):
    """Does it lead from the head of a loop back to it?"""
    return (path["begin"]["kind"] == "loop" and path["end"]["kind"] == "back"
            and path["begin"]["block"] == path["end"]["block"])


class Sets:
    """prefer_set.c in one set of flags: what a plain build counts of it."""

    def __init__(self, folder, flags):
        self.folder, self.flags = folder, flags
        self.name = " ".join(flags) + ": "
        plain = self.build("paths")
        self.brief = plain.run(BRIEF)
        self.tested = plain.file
        self.whole = plain.run(LONG)
        self.truth, self.said = plain.file, plain.said

    def build(self, mode, **more):
        return Build(self.folder, self.flags, mode, SETS, **more)

    def list(self, *lines):
        file = os.path.join(self.folder, "list")
        with open(file, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        return file

    def through(self, line):
        """The paths that ran through this line, in the plain build."""
        spot = "%s:%d" % (SETS, line_of(line))
        return set(Profile(self.truth, "--line", spot).counts)

    def expect(self, what, mode, keys, function):
        """That mode prefers these paths of the function, and no others."""
        build = self.build(mode)
        got = build.run(LONG)
        what = self.name + what
        check(what + ": output", build.said == self.said)
        check(what + ": no warning", not build.warned, build.warned)
        check(what + ": something ran", keys)
        check(what + ": counts", got.of(keys) == self.whole.of(keys))
        f = got.functions[function]
        check(what + ": table", f["table"] == "preferred", f["table"])
        more = [p["number"] for p in f["paths"] if not is_turn(p) and
                (function, int(p["number"])) not in keys]
        check(what + ": no others", not more, more)
        total = sum(got.counts.values()) + sum(
            g["prefer"]["other"] for g in got.functions.values()
            if "prefer" in g)
        check(what + ": the rest together",
              total == sum(self.whole.counts.values()), total)
        return build, f.get("prefer", {}).get("n")


def of_function(keys, name):
    return {k for k in keys if k[0] == name}


def try_lines(s):
    for line, function in (("LINE rare */", "sift"), ("LINE rarer */", "sift"),
                           ("LINE turn */", "churn")):
        spot = "%s:%d" % (SETS, line_of(line))
        keys = s.through(line)
        build, n = s.expect(line[:-3], "paths,prefer=line:" + spot, keys,
                            function)
        check(s.name + line + ": in its report",
              Profile(build.file, "--line", spot).counts == s.whole.of(keys))
        listed = s.expect(line[:-3] + " in a list", "paths,prefer=" +
                          s.list("# one", "paths/%s *" % spot), keys,
                          function)[1]
        check(s.name + line + ": the same in a list", n == listed, listed)
    both = s.through("LINE rare */") | s.through("LINE turn */")
    mode = "paths" + "".join(",prefer=line:%s:%d" % (SETS, line_of(line))
                             for line in ("LINE rare */", "LINE turn */"))
    for function in ("sift", "churn"):
        s.expect("two lines", mode, both, function)


def try_unions(s):
    """Lines, a list and a profile together."""
    rare = s.through("LINE rare */")
    spot = "%s:%d" % (SETS, line_of("LINE rare */"))
    hot = max(of_function(s.whole.counts, "sift") - rare,
              key=lambda key: s.whole.counts[key])
    s.expect("a list of both", "paths,prefer=" +
             s.list("%s *" % spot, "%s %d" % hot), rare | {hot}, "sift")
    s.expect("a profile and a line",
             "paths,prefer=%s,prefer=line:%s" % (s.tested, spot),
             rare | set(s.brief.counts), "sift")
    got = s.build("paths,others,prefer=line:" + spot).run(LONG)
    check(s.name + "a line and others", got.counts == s.whole.counts)


def try_functions(s):
    got = s.build("paths,prefer=function:middling").run(LONG)
    check(s.name + "a function", got.counts == s.whole.counts)
    check(s.name + "a function that fits", s.whole.functions["middling"]
          ["table"] == "hashed" and got.functions["middling"]["table"] ==
          "direct")
    for mode in ("paths,prefer=function:sift",
                 "paths,prefer=" + s.list("sift *"),
                 "paths,prefer=line:%s:%d" % (SETS,
                                              line_of("LINE common */"))):
        build = s.build(mode)
        got = build.run(LONG)
        possible = s.whole.functions["sift"]["possible"]
        check(s.name + mode + " is too much", "of the %s paths of sift" %
              possible in build.warned and "warning: " in build.warned and
              build.warned.count("cairn:") == 1, build.warned)
        check(s.name + mode + " counts all", got.counts == s.whole.counts)
    build = s.build("paths,prefer=function:few,prefer=line:%s:%d" %
                    (SETS, line_of("LINE few */")))
    check(s.name + "few paths", not build.warned and
          build.run(LONG).counts == s.whole.counts, build.warned)


def try_remarks(s, spot):
    """--cairn-verbose says what was found."""
    flags, s.flags = s.flags, s.flags + ["--cairn-verbose"]
    build = s.build("paths,prefer=%s,prefer=function:elsewhere" % spot)
    s.flags = flags
    said = build.warned + build.printed
    check(s.name + "found", re.search(
        r"cairn: prefer=%s: \d+ paths of 1 function in " % spot, said), said)
    check(s.name + "found nothing",
          "cairn: prefer=function:elsewhere: nothing in " in said, said)


def try_nothing(s):
    """What finds nothing, and what is no list."""
    line = line_of("LINE rare */")
    build = s.build("paths,prefer=function:elsewhere,"
                    "prefer=line:other.c:12,prefer=line:set.c:%d" % line)
    check(s.name + "not in this file", not build.warned, build.warned)
    check(s.name + "not in this file, all counted",
          build.run(LONG).counts == s.whole.counts)
    spot = "line:%s:%d" % (SETS, line)
    warned = s.build("paths,prefer=" + spot, debug="-g0").warned
    check(s.name + "without -g", "with -g" in warned, warned)
    warned = s.build("paths,prefer=line:%s:2" % SETS).warned
    # a program of several files is known by none of them
    check(s.name + "a line without code", "-flto" in s.flags or
          "prefer=line:%s:2: no path" % SETS in warned, warned)
    try_remarks(s, spot)
    for text in ("sift * 1", "sift 1 *", "sift **", "%s:1" % SETS,
                 "%s:1 2" % SETS, "*"):
        try:
            s.build("paths,prefer=" + s.list(text))
            check(s.name + "refuses " + text, False, "it did not")
        except subprocess.CalledProcessError as e:
            check(s.name + "refuses " + text, b"no list either" in e.stderr,
                  e.stderr)


CUT = """
#include <stdlib.h>
static unsigned word[64];
__attribute__((noinline)) static unsigned vast(unsigned n)
{
	unsigned s = 0;
	%s
	for (unsigned j = 0; j < n; j++) {
		if (word[j & 7] %% 5 == 0) {
			s++;
			__asm__ volatile("nop" : "+r"(s)); /* LINE cut */
			continue;
		}
		%s
	}
	return s;
}
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1, s = 0;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < 64; k++)
			word[k] = word[k] * (2 * k + 5) / 3 + i %% (k + 2);
		s += vast(i & 3);
	}
	return s == 1;
}
"""
FORK = """
	if (word[%d] & 1)
		__asm__ volatile("nop" : "+r"(s));
	else
		__asm__ volatile("" : "+r"(s));"""


def try_cut(flags):
    """In a function that is cut, the paths through a line are not."""
    name = " ".join(flags) + ": a cut function: "
    text = CUT % tuple("".join(FORK % k for k in range(n)) for n in (10, 56))
    spot = "cut.c:%d" % (1 + ["LINE cut" in line for line in
                              text.split("\n")].index(True))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "cut.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        kinds = []
        for mode in ("paths", "paths,prefer=line:" + spot):
            build = Build(folder, flags, mode, source)
            whole = build.run(LONG).functions["vast"]
            shown = Profile(build.file, "--line", spot).functions["vast"]
            check(name + "cuts", whole["cuts"], mode)
            kinds.append((whole["table"], {p["begin"]["kind"]
                                           for p in shown["paths"]},
                          sum(p["count"] for p in shown["paths"])))
        check(name + "plainly, paths end in between", kinds[0][0] == "hashed"
              and "entry" not in kinds[0][1], kinds)
        check(name + "preferred, they do not", kinds[1][0] == "preferred"
              and {"entry", "loop"} == kinds[1][1], kinds)
        check(name + "the line runs as often", kinds[0][2] == kinds[1][2] > 0,
              kinds)


def try_sets(flags):
    with tempfile.TemporaryDirectory() as folder:
        s = Sets(folder, flags)
        try_lines(s)
        try_unions(s)
        try_functions(s)
        try_nothing(s)


def try_all(flags):
    """How much passed, and what failed, with these flags."""
    global passed, failed
    passed, failed = 0, []
    try:
        try_flags(flags)
        try_sets(flags)
        try_cut(flags)
    except subprocess.CalledProcessError as e:
        check(" ".join(flags), False, "%s %s" % (e, e.stderr))
    return passed, failed


def main():
    total, wrong = 0, []
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for good, bad in pool.map(try_all, (
                ["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-Os"],
                ["-O2", "-fPIC"], ["-O2", "-static"],
                ["-O2", "-flto", "-fuse-ld=lld"])):
            total += good
            wrong += bad
    print("\n".join(wrong + ["%d passed, %d failed" % (total, len(wrong))]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
