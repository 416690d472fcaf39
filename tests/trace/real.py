#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of real and of random programs against a log of all their blocks.

    real.py [--keep DIR] [--programs A,B] [--csmith N] [--encodings A+B]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)
    CAIRN_BUILD  the build tree, with tests/proof_walked (default: build)
    CAIRN_CORPUS the sources of the programs, as for bench/trace
    QUICK=1      two programs and three random ones, as they are recorded
                 by default

Every program of bench/programs.py is built with `--cairn=trace,log` and log.c,
which writes down every block that it executes, and so with `trace,witness,log`
and `trace,paths,log`.  It runs on its tiny input, and proof_walked regenerates
the trace of each of its processes: block by block it has to be the log of each
thread.  Its output must be the same in all encodings.  So do programs that
csmith writes; one that does not end in time is left out, as is one without a
checksum.  With QUICK=1 a program whose source is not here and cannot be fetched
is left out, too, and a line says so.

One line for each failure.  The last line is RESULT trace_log programs=N blocks=N
mismatches=N: blocks that were compared, in all encodings together.
"""
import argparse
import concurrent.futures
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
from profiles import (Broken, CAIRN_BIN, CAIRN_CC,  # noqa: E402
                      CAIRN_CXX, call)
import run as csmith  # noqa: E402

WALKED = os.path.join(
    os.environ.get("CAIRN_BUILD", os.path.dirname(CAIRN_BIN)), "tests",
    "proof_walked")
QUICK = os.environ.get("QUICK", "0") not in ("", "0")
PROGRAMS = ("ncompress", "cliquer") if QUICK else tuple(
    p.name for p in table.PROGRAMS)
ENCODINGS = ("trace",) if QUICK else ("trace", "trace,witness", "trace,paths")
SEEDS = 3 if QUICK else 100
TIMEOUT = 600
FETCHING = threading.Lock()  # programs share packages
THREAD = re.compile(r"^ok thread \d+ blocks=(\d+) ", re.M)


class LeftOut(Exception):
    """There is no such program here."""


def compare(traces, logs):
    """How many blocks the traces of a run have, all of them as logged."""
    blocks = 0
    found = sorted(traces.glob("*.cairn"))
    for trace in found:
        pid = trace.name.split(".")[-2]
        done = subprocess.run(
            [WALKED, "exact", trace, *sorted(logs.glob(pid + ".*"))],
            check=False, capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode:
            bad = [s for s in done.stdout.splitlines() if "FAIL" in s]
            raise Broken("; ".join(bad[:3] or [
                "proof_walked: status %d %s" % (done.returncode,
                                                done.stderr[-200:])]))
        blocks += sum(map(int, THREAD.findall(done.stdout)))
    logged = {p.name.split(".")[0] for p in logs.iterdir()}
    if len(found) != len(logged):
        raise Broken("%d traces of %d processes" % (len(found), len(logged)))
    if not blocks:
        raise Broken("the trace is empty")
    return blocks


class Real:
    """A program of the corpus."""

    def __init__(self, program, log):
        self.program, self.name, self.log = program, program.name, log
        self.digests = set()

    def prepare(self, directory):
        with FETCHING:
            try:
                corpus.fetch([self.program.package], say=lambda text: None)
            except corpus.BenchError:
                if QUICK:
                    raise LeftOut from None
                raise
            if self.program.prepare:
                self.program.prepare()
        self.inputs = measure.Inputs(directory / "in").make(self.program,
                                                            "tiny")

    def attempt(self, mode, directory):
        variant = measure.Variant(
            mode, CAIRN_CC, CAIRN_CXX,
            ("-O2", "--cairn=%s,log" % mode,
             # an archive: some makefiles have the flags twice
             "-Wl,-u,cairn_log_block,%s" % self.log))
        build = measure.Build(self.program, variant, directory / "build")
        logs = directory / "log"
        logs.mkdir()
        result = measure.run(build, "tiny", self.inputs, directory / "run",
                             extra={"CAIRN_LOG": str(logs)})
        self.digests.add(result.digest)
        if len(self.digests) > 1:
            raise Broken("it printed something else")
        return compare(directory / "run" / "data", logs)


class Random:
    """A program of csmith."""

    def __init__(self, seed, log):
        self.seed, self.name, self.log = seed, "csmith-%d" % seed, log

    def execute(self, compiler, exe, prepare=None, env=None):
        csmith.build(compiler, [csmith.LEVELS[self.seed % len(csmith.LEVELS)],
                                *csmith.include_flags()], self.source, exe)
        return subprocess.run([exe], capture_output=True, env=env, check=False,
                              timeout=csmith.TIMEOUT, preexec_fn=prepare,
                              cwd=os.path.dirname(exe))

    def prepare(self, directory):
        self.source = str(directory / "program.c")
        try:
            csmith.generate(self.seed, self.source)
            self.plain = self.execute(["clang-19"], str(directory / "plain"),
                                      csmith.at_most(csmith.PLAIN_SECONDS))
        except csmith.Useless:
            raise LeftOut from None
        if b"checksum = " not in self.plain.stdout:
            raise LeftOut

    def attempt(self, mode, directory):
        folders = [directory / name for name in ("data", "log")]
        for folder in folders:
            folder.mkdir(parents=True)
        done = self.execute(
            [CAIRN_CC, "--cairn=%s,log" % mode, "-Wl,-u,cairn_log_block",
             str(self.log)],
            str(directory / "program"),
            env=dict(os.environ, CAIRN_OUT=str(folders[0] / "%p.cairn"),
                     CAIRN_LOG=str(folders[1])))
        if (done.returncode, done.stdout) != (self.plain.returncode,
                                              self.plain.stdout):
            raise Broken("it does not do what the plain build does")
        return compare(*folders)


def attempt(program, encodings, scratch, keep):
    """(blocks, what failed) of a program; None if it is left out."""
    directory = scratch / program.name
    directory.mkdir(parents=True)
    blocks, said, mode = 0, [], "plain"
    try:
        program.prepare(directory)
        for mode in encodings:
            where = directory / mode.replace(",", "-")
            blocks += program.attempt(mode, where)
            if not keep:
                shutil.rmtree(where)
    except LeftOut:
        return None
    except (Broken, corpus.BenchError, subprocess.TimeoutExpired) as problem:
        said.append("FAIL %s %s: %s" % (program.name, mode,
                                        str(problem)[-600:]))
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)
    return blocks, said


def chosen(options, log):
    names = options.programs.split(",") if options.programs else []
    return ([Real(p, log) for p in table.select(names)] +
            [Random(seed, log) for seed in range(1, options.csmith + 1)])


def main():
    parser = argparse.ArgumentParser(
        description="Traces of real programs against logs of their blocks.")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--csmith", type=int, default=SEEDS, metavar="N")
    parser.add_argument("--encodings", default="+".join(ENCODINGS),
                        metavar="A+B")
    options = parser.parse_args()
    scratch = pathlib.Path(options.keep or
                           tempfile.mkdtemp(prefix="cairn-real-"))
    scratch.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = str(scratch)  # what a crashing compiler leaves
    log = scratch / "liblog.a"
    programs = blocks = mismatches = 0
    try:
        call(["clang-19", "-O2", "-fPIC", "-D_GNU_SOURCE", "-c",
              str(HERE / "log.c"), "-o", str(scratch / "log.o")])
        call(["ar", "rc", str(log), str(scratch / "log.o")])
        rows = chosen(options, log)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for row, result in zip(rows, pool.map(lambda r: attempt(
                    r, options.encodings.split("+"), scratch, options.keep),
                    rows)):
                if not result:
                    if isinstance(row, Real):
                        print("left out: %s, no source" % row.name)
                    continue
                programs += 1
                blocks += result[0]
                mismatches += bool(result[1])
                if isinstance(row, Real) or result[1]:
                    print("\n".join(result[1] or ["%s: %d blocks" % (
                        row.name, result[0])]), flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print("trace_log: %d passed, %d failed" % (programs - mismatches,
                                               mismatches))
    print("RESULT trace_log programs=%d blocks=%d mismatches=%d" % (
        programs, blocks, mismatches))
    return 1 if mismatches or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
