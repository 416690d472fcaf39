#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Preferred and residual paths against the plain path profile.

A program runs long and briefly in a paths build.  Built to prefer the paths of
either run, the long run must give the same counts, path by path, as far as
they are preferred, and all others together must be the rest; built with
`others`, all of them.  A residual build must count exactly the paths that the
tested run had not.  BUILD names the build folder.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "bin")
CAIRN, CC = os.path.join(BIN, "cairn"), os.path.join(BIN, "cairn-cc")
LONG, BRIEF = "200", "20"

passed, failed = 0, []


def check(what, ok, said=""):
    global passed
    if ok:
        passed += 1
    else:
        failed.append("FAIL %s: %s" % (what, said))


class Profile:
    """Counts by (function, path number), and the functions."""

    def __init__(self, path):
        out = subprocess.run([CAIRN, "paths", "--json", "--top", "0", path],
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
    def __init__(self, folder, flags, mode):
        self.exe = os.path.join(folder, "prog-%d" % len(os.listdir(folder)))
        subprocess.run([CC, "--cairn=" + mode, "-mllvm", "-cairn-verify", "-g",
                        *flags, os.path.join(HERE, "prefer.c"), "-o",
                        self.exe], check=True, capture_output=True)

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
        got = long_run("residual,tested=" + truth)
        check(name + ": nothing residual", not got.counts, got.counts)
        check(name + ": residual tables", got.tables() == {"residual"})


def main():
    for flags in (["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-Os"],
                  ["-O2", "-fPIC"], ["-O2", "-static"],
                  ["-O2", "-flto", "-fuse-ld=lld"]):
        try:
            try_flags(flags)
        except subprocess.CalledProcessError as e:
            check(" ".join(flags), False, "%s %s" % (e, e.stderr))
    print("\n".join(failed + ["%d passed, %d failed" % (passed,
                                                        len(failed))]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
