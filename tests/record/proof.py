#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of random and of real programs: same behaviour, exact replay.

    proof.py [--csmith N] [--first SEED] [--programs A,B] [--keep DIR]
    CAIRN_BIN     directory of cairn and cairn-cc (default: build/bin)
    CAIRN_CORPUS  the sources of the programs, as for bench/trace
    QUICK=1       what fits into `make check`: small programs of csmith, and
                  the CI set

Each program is built with clang-19 and with --cairn=record, at the same level,
and runs in the same folder.  Both have to write the same to stdout, stderr and
files, and end with the same status.  Then its world goes: the inputs and the
folder of the run are removed, the environment is another one, and elsewhere.c
moves the clock of whoever replays, its process number and random bytes.  `cairn
replay` has to say of the recording of each process that it was identical, to
the last tick and event of every thread.

Programs of csmith print the checksum of each variable.  One that is not over
after PLAIN_SECONDS seconds, plain, or ends without checksum loops forever, which
lets the optimizer do anything; one that csmith cannot write says nothing, too:
the next seed takes its place.  One that is over in time plain but not recorded
has failed.  Real programs are those of bench/programs.py, on tiny inputs.

If a program of csmith writes something else when it is recorded clang's
sanitizers are asked: one whose behaviour is undefined may do so, and has to
replay all the same.

One line for each failure.  The last line is RESULT record_proof programs=N
identical=N refused=N diverged=N.  Refused: it could not be built, recorded or
replayed, and somebody said so; diverged: it did something else.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("bench", "tests/programs", "tests/csmith"):
    sys.path.insert(0, str(ROOT / folder))

import corpus  # noqa: E402
import measure  # noqa: E402
import programs as table  # noqa: E402
from profiles import (CAIRN, CAIRN_CC, CAIRN_CXX,  # noqa: E402
                      Broken, call)
import run as csmith  # noqa: E402

QUICK = os.environ.get("QUICK", "0") not in ("", "0")
COUNT = 300
# What the other suites of make check have, and floating point.
CI = ("ncompress", "csparse", "cliquer")
PROGRAMS = CI if QUICK else tuple(p.name for p in table.PROGRAMS)
PLAIN_SECONDS = 1 if QUICK else 2   # of processor time
RECORD_LIMIT = 600
REPLAY_LIMIT = 600
FETCHING = threading.Lock()  # programs share packages
IDENTICAL = re.compile(r"replayed \d+ ticks( in \d+ contexts)?, identical\n")


class Useless(Exception):
    """There is no such program; the message says why."""


class Refused(Exception):
    """It could not be built, recorded or replayed."""


class Diverged(Exception):
    """It did something else."""


class Elsewhere:
    """A replayer in another world."""

    def __init__(self, scratch):
        library = scratch / "elsewhere.so"
        call(["clang-19", "-O2", "-shared", "-fPIC", "-o", str(library),
              str(HERE / "elsewhere.c")])
        self.env = {"PATH": os.environ["PATH"], "HOME": "/nowhere",
                    "TZ": "Pacific/Kiritimati", "LC_ALL": "C",
                    "LD_PRELOAD": str(library)}
        year = [call(["date", "-u", "+%Y"], env=env)
                for env in (self.env, os.environ)]
        if int(year[0]) - int(year[1]) not in (19, 20):
            sys.exit("elsewhere.c does not move the clock: %s" % year)

    def replay(self, file):
        """Raises unless it is identical."""
        try:
            done = subprocess.run(
                [CAIRN, "replay", "--no-cache", str(file)], cwd="/",
                check=False, capture_output=True, text=True, env=self.env,
                timeout=REPLAY_LIMIT)
        except subprocess.TimeoutExpired:
            raise Diverged("the replay does not end") from None
        said = "%s: status %d: %s%s" % (file.name, done.returncode,
                                        done.stdout, done.stderr[-400:])
        if done.returncode == 2:
            raise Refused(said)
        if done.returncode or not IDENTICAL.fullmatch(done.stdout):
            raise Diverged(said)


class Random:
    """A program of csmith."""

    def __init__(self, seed):
        self.seed, self.name = seed, "csmith-%d" % seed
        self.cxx = seed % 6 == 5

    def write(self):
        """Other kinds of programs than those of tests/csmith, too."""
        size = (3, 3) if QUICK else (3 + self.seed % 4, 5 + self.seed % 7)
        options = ["--seed", str(self.seed), "--output", str(self.source),
                   "--max-block-depth", str(size[0]),
                   "--max-funcs", str(size[1])]
        # floats of csmith are no C++
        options += ["--float"] if self.seed % 4 == 1 and not self.cxx else []
        options += ["--builtins"] if self.seed % 5 == 2 else []
        options += ["--inline-function"] if self.seed % 7 == 3 else []
        options += ["--no-volatiles"] if self.seed % 3 == 0 else []
        options += ["--lang-cpp", "--cpp11"] if self.cxx else []
        try:
            # csmith leaves a file platform.info where it runs
            subprocess.run(["csmith", *options], check=True, timeout=600,
                           capture_output=True, cwd=self.source.parent)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            raise Useless("csmith fails") from None

    def execute(self, compiler, name, prepare=None):
        flags = [csmith.LEVELS[self.seed % len(csmith.LEVELS)],
                 "-mcrc32", *csmith.include_flags()]
        flags += ["-g"] if self.seed % 2 else []
        flags += ["-Wno-narrowing"] if self.cxx else []
        exe = self.source.parent / name
        csmith.build(compiler, flags, str(self.source), str(exe))
        env = dict(os.environ, CAIRN_OUT=str(exe.parent / "%p.cairn"))
        done = subprocess.run([exe, "1"], capture_output=True, check=False,
                              timeout=RECORD_LIMIT, env=env, cwd=exe.parent,
                              preexec_fn=prepare)
        return done.returncode, done.stdout, done.stderr

    def plain(self, directory):
        self.source = directory / ("program.cpp" if self.cxx else "program.c")
        self.write()
        try:
            self.expected = self.execute(
                ["clang++-19" if self.cxx else "clang-19"], "plain",
                csmith.at_most(PLAIN_SECONDS))
        except Broken:
            raise Useless("clang refuses it") from None
        if csmith.is_too_long(self.expected[0]):
            raise Useless("too long")
        if b"checksum = " not in self.expected[1]:
            raise Useless("no checksum")

    def is_undefined(self):
        """Does it do what no compiler has to do the same twice?  With --float
        and --builtins csmith turns numbers into integers that have no place for
        them, and counts the zeros before the first one of 0."""
        try:
            errors = self.execute(
                ["clang++-19" if self.cxx else "clang-19",
                 "-fsanitize=undefined,float-cast-overflow,address"],
                "sanitized")[2]
        except (Broken, subprocess.TimeoutExpired):
            return False
        return b"runtime error: " in errors or b"ERROR: " in errors

    def record(self, directory):
        try:
            found = self.execute([CAIRN_CXX if self.cxx else CAIRN_CC,
                                  "--cairn=record"], "program")
        except Broken as broken:
            raise Refused(str(broken)) from None
        except subprocess.TimeoutExpired:
            raise Diverged("recorded it does not end") from None
        if found != self.expected and not self.is_undefined():
            raise Diverged("status, stdout, stderr are %.200r, not %.200r" % (
                found, self.expected))
        self.source.unlink()
        return list(directory.glob("*.cairn"))


class Real:
    """A program of the corpus.  All of its inputs are named by links in the
    folder of its run, which goes before the replay."""

    def __init__(self, program):
        self.program, self.name = program, program.name

    def fetch(self):
        with FETCHING:
            try:
                corpus.fetch([self.program.package], say=lambda text: None)
            except corpus.BenchError:
                if QUICK:
                    raise Useless("no source of " + self.name) from None
                raise
            if self.program.prepare:
                self.program.prepare()

    def execute(self, directory, name, *compiler):
        variant = measure.Variant(name, *compiler[:2], ("-O2", *compiler[2:]))
        build = measure.Build(self.program, variant, directory / name)
        result = measure.run(build, "tiny", self.inputs, directory / "run",
                             links=True)
        errors = (directory / "run" / "data" / "stderr").read_bytes()
        return (result.statuses, result.digest,
                table.kept(self.program, errors))

    def plain(self, directory):
        self.fetch()
        self.inputs = measure.Inputs(directory / "in").make(self.program,
                                                            "tiny")
        self.expected = self.execute(directory, "plain", "clang-19",
                                     "clang++-19")

    def record(self, directory):
        try:
            found = self.execute(directory, "record", CAIRN_CC, CAIRN_CXX,
                                 "--cairn=record")
        except corpus.BenchError as error:
            raise Refused(str(error)) from None
        if found != self.expected:
            raise Diverged("statuses, output, stderr are %.300r, not %.300r" %
                           (found, self.expected))
        (directory / "run" / "data").rename(directory / "recordings")
        shutil.rmtree(directory / "run")
        shutil.rmtree(directory / "in")
        found = list((directory / "recordings").glob("*.cairn"))
        if len(found) != len(self.expected[0]):
            raise Diverged("%d recordings of %d processes" % (
                len(found), len(self.expected[0])))
        return found


def attempt(program, scratch, keep, elsewhere):
    """(verdict, what was said) of a program."""
    directory = scratch / program.name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    verdict, said = "identical", ""
    try:
        program.plain(directory)
        recordings = program.record(directory)
        if not recordings:
            raise Diverged("it left no recording")
        for file in recordings:
            elsewhere.replay(file)
    except Useless as why:
        verdict, said = "left out", str(why)
    except Refused as problem:
        verdict, said = "refused", str(problem)
    except Diverged as problem:
        verdict, said = "diverged", str(problem)
    if not keep or verdict in ("left out", "identical"):
        shutil.rmtree(directory, ignore_errors=True)
    return verdict, said


class Tally:
    def __init__(self, attempt_one):
        self.attempt = attempt_one
        self.counts = {"identical": 0, "refused": 0, "diverged": 0}
        self.left_out = collections.Counter()

    @property
    def total(self):
        return sum(self.counts.values())

    def add(self, program, result):
        verdict, said = result
        if verdict == "left out":
            self.left_out[said] += 1
            return
        self.counts[verdict] += 1
        if said:
            print("FAIL %s %s: %s" % (program.name, verdict, said),
                  flush=True)

    def all_of(self, pool, programs):
        for program, result in zip(programs, pool.map(self.attempt,
                                                      programs)):
            self.add(program, result)

    def so_many(self, pool, programs, count):
        """Attempts as many as it takes until `count` were compared."""
        wanted = self.total + count
        while self.total < wanted:
            self.all_of(pool, list(itertools.islice(
                programs, wanted - self.total)))

    def report(self):
        if self.left_out:
            print("left out: " + ", ".join(
                "%d %s" % (n, why) for why, n in self.left_out.items()))
        print("record_proof: %d passed, %d failed" % (
            self.counts["identical"], self.total - self.counts["identical"]))
        print("RESULT record_proof programs=%d " % self.total +
              " ".join("%s=%d" % c for c in self.counts.items()))
        return self.total > 0 and self.total == self.counts["identical"]


def main():
    parser = argparse.ArgumentParser(description="Recordings of programs.")
    parser.add_argument("--csmith", type=int, default=COUNT, metavar="N")
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    scratch = pathlib.Path(options.keep or
                           tempfile.mkdtemp(prefix="cairn-proof-")).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = str(scratch)  # what a crashing compiler leaves
    try:
        elsewhere = Elsewhere(scratch)
        tally = Tally(lambda program: attempt(program, scratch, options.keep,
                                              elsewhere))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tally.all_of(pool, [Real(p) for p in table.select(
                [n for n in options.programs.split(",") if n])])
            tally.so_many(pool, map(Random, itertools.count(options.first)),
                          options.csmith)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    return 0 if tally.report() else 1


if __name__ == "__main__":
    sys.exit(main())
