#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every instruction of a program as its last one.

A signal may end a program anywhere, also right before or behind a mark, and no
count may be off by it: where a frame was, its address has to tell.  Here a
debugger's breakpoint (stop_at.c) ends programs at instructions of theirs, one
run for each; then `cairn check` must find that the flow adds up.  The builds
have a counter on every edge and in every block, so that every error shows; or
paths, where the path of a stopped frame is not known and rule C4 says so.  It
says so, too, if the count of a loop was in a register; and if nobody knows the
block (code that two blocks share), which must be rare.

    run.py [--seed N] [--most N] [--csmith N] [TEST...]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)

--most is for each build, the choice is --seed's; the last line counts.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.environ.get("CAIRN_BIN", os.path.join(ROOT, "build", "bin"))
CSMITH = "/usr/include/csmith"
NOT_REACHED = 3
TIMEOUT = 600
UNKNOWN = "does not say which block"
UNKNOWN_MOST = 0.03      # of the stops

# source, arguments ("@": a scratch file), optimization and what to count
PROGRAMS = {
    "stopped": ("stopped.c", ["@", "4000"]),
    "control": ("control.c", []),
    "interpreter": ("interpreter.c", []),
    "jumps": ("jumps.c", []),
    "setjmps": ("../replay/setjmps.c", []),
    "steps": ("../stops/steps.c", []),
    "turns": ("../stops/turns.c", ["@"]),
}
BUILDS = [("-O0", "edges,all"), ("-O1", "edges,all"), ("-O2", "edges,all"),
          ("-Os", "edges,all"), ("-O0", "paths"), ("-O2", "paths"),
          ("-O2", "edges,all,nogs"), ("-O2", "edges")]
CHECKED = {("stopped", *b) for b in BUILDS} | {
    (p, "-O2", "edges,all") for p in PROGRAMS} | {
    ("interpreter", "-O0", "edges,all"), ("control", "-Os", "edges,all"),
    ("steps", "-O2", "paths"), ("steps", "-O1", "paths")} | {
    ("turns", o, m) for o in ("-O1", "-O2")
    for m in ("edges", "paths", "paths,strict")}


class Broken(Exception):
    pass


def call(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          timeout=TIMEOUT, **more)
    if done.returncode:
        raise Broken("%s: status %d: %s" % (
            words[0], done.returncode, (done.stderr or done.stdout)[-300:]))
    return done.stdout


def instructions(exe, counted):
    """Addresses in functions that count: of marks and calls of the runtime, and
    of the rest."""
    inside, marks, others = False, [], []
    for line in call(["objdump", "-d", "--no-show-raw-insn", exe]).split("\n"):
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        code = re.match(r" +([0-9a-f]+):\t(.*)", line)
        if head:
            inside = head.group(1) in counted
        elif inside and code:
            is_mark = re.match(r"(incq|add[q ].*%gs:|addq +\$0x1,|lea +-?0x80\(%rsp\),%rsp|"
                               r"call .*<__cairn)", code.group(2))
            (marks if is_mark else others).append(code.group(1))
    return marks, others


class Case:
    def __init__(self, name, source, args, opt, mode):
        self.name = "%s/%s/%s" % (name, opt.strip("-"), mode)
        self.source, self.args = source, args
        self.opt, self.mode = opt, mode

    def build(self, directory, exe):
        call([os.path.join(BIN, "cairn-cc"), "--cairn=" + self.mode, self.opt,
              "-w", "-g", "-D_GNU_SOURCE", "-pthread", "-I" + CSMITH,
              self.source, "-o", exe], cwd=directory)

    def stop(self, tool, directory, exe, address):
        """Is the block of the frame unknown?  None if not reached."""
        profile = os.path.join(directory, "stop.cairn")
        for old in (profile, os.path.join(directory, "own")):
            if os.path.exists(old):
                os.remove(old)
        done = subprocess.run(
            [tool, address, exe, *self.words(directory)], timeout=TIMEOUT,
            capture_output=True, check=False,
            env=dict(os.environ, CAIRN_OUT=profile))
        if done.returncode == NOT_REACHED:
            return None
        if done.returncode or not os.path.exists(profile):
            raise Broken("at %s: status %d: %s" % (
                address, done.returncode, done.stderr.decode()[-200:]))
        said = subprocess.run([os.path.join(BIN, "cairn"), "check", profile],
                              capture_output=True, text=True, check=False,
                              timeout=TIMEOUT)
        if said.returncode > 1:
            raise Broken("at %s: %s" % (address, said.stderr[-200:]))
        rules = re.findall(r"^\S+: ([A-Z]\d) ", said.stdout, re.M)
        if set(rules) - {"C4"}:
            raise Broken("at %s: %s" % (address, said.stdout[:300]))
        if not rules:
            self.compare(profile, address, directory)
        return UNKNOWN in said.stdout

    def compare(self, profile, address, directory):
        """With what the program counted itself, if it did."""
        with open(self.source, encoding="utf-8") as f:
            found = [n for n, line in enumerate(f, 1) if "/* truth */" in line]
        if not found:
            return
        truth = 0
        if os.path.exists(os.path.join(directory, "own")):
            with open(os.path.join(directory, "own"), "rb") as f:
                truth = int.from_bytes(f.read(8), "little")
        said = call([os.path.join(BIN, "cairn"), "report", "--lcov", profile])
        count = int(re.search(r"^DA:%d,(\d+)" % found[0], said, re.M).group(1))
        if not 0 <= count - truth <= 1:  # it may be about to count
            raise Broken("at %s: %d turns, counted %d" % (
                address, truth, count))

    def functions(self, directory, exe):
        """Those that run when nothing stops the program."""
        profile = os.path.join(directory, "whole.cairn")
        if os.path.exists(profile):
            os.remove(profile)
        subprocess.run([exe, *self.words(directory)], timeout=TIMEOUT,
                       capture_output=True, check=False,
                       env=dict(os.environ, CAIRN_OUT=profile))
        said = json.loads(call([os.path.join(BIN, "cairn"), "report", "--json",
                                profile]))
        return {f["name"] for f in said["functions"] if f["entries"]}

    def words(self, directory):
        return [os.path.join(directory, "own") if a == "@" else a
                for a in self.args]

    def attempt(self, tool, directory, chosen, most):
        exe = os.path.join(directory, "program")
        self.build(directory, exe)
        marks, others = instructions(exe, self.functions(directory, exe))
        chosen.shuffle(marks)
        chosen.shuffle(others)
        places = marks[:most // 2]
        places += others[:most - len(places)]
        stops = unknown = 0
        for address in places:
            is_unknown = self.stop(tool, directory, exe, address)
            if is_unknown is None:
                continue
            stops += 1
            unknown += is_unknown
        if self.mode.startswith("paths"):
            unknown = 0
        if unknown > 1 + UNKNOWN_MOST * stops:
            raise Broken("%d of %d stops are in code of no known block" % (
                unknown, stops))
        return stops, unknown


def generated(number, seed, directory):
    """Programs of csmith that end soon."""
    chosen = random.Random(seed)
    while number:
        at = chosen.randrange(1 << 30)
        source = os.path.join(directory, "csmith%d.c" % at)
        with open(source, "w", encoding="utf-8") as f:
            f.write(call(["csmith", "--seed", str(at), "--max-funcs", "6"],
                         cwd=directory))
        exe = os.path.join(directory, "plain")
        call(["clang-19", "-O1", "-w", "-I" + CSMITH, source, "-o", exe])
        try:
            subprocess.run([exe], timeout=2, capture_output=True, check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            continue
        number -= 1
        yield Case("csmith%d" % at, source, [], *chosen.choice(BUILDS))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=120)
    parser.add_argument("--csmith", type=int, default=0)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    passed = failed = stops = unknown = 0
    with tempfile.TemporaryDirectory(prefix="cairn-stops-") as scratch:
        tool = os.path.join(scratch, "stop_at")
        call(["clang-19", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra",
              "-Werror", "-O1", os.path.join(HERE, "stop_at.c"), "-o", tool])
        cases = [Case(p, os.path.join(ROOT, "tests", "programs",
                                      PROGRAMS[p][0]), PROGRAMS[p][1], o, m)
                 for p, o, m in sorted(CHECKED)]
        if options.csmith:
            cases = generated(options.csmith, options.seed, scratch)
        for case in cases:
            if options.tests and not case.name.startswith(tuple(options.tests)):
                continue
            try:
                s, u = case.attempt(tool, scratch, random.Random(options.seed),
                                    options.most)
                stops += s
                unknown += u
                passed += 1
            except (Broken, subprocess.TimeoutExpired) as e:
                print("FAIL %s: %s" % (case.name, e))
                failed += 1
    print("RESULT stops programs=%d stops=%d unknown=%d failed=%d" % (
        passed + failed, stops, unknown, failed))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
