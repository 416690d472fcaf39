#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds that count pairs of paths have those that a trace has, in real
programs.

    real.py [--programs A,B]
    CAIRN_BIN     directory of cairn and cairn-cc (default: build/bin)
    CAIRN_CORPUS  the sources of the programs, as for bench/overlap

Each program is built with --cairn=trace and with --cairn=paths,overlap, and
runs twice on its tiny input, so that both runs do the same (programs/steady.py).
Calls stay calls: a trace has tail calls, a build that counts has none.

Then every pair must be in both, and as often.  Of functions with so many paths
that a build cuts them it may have fewer pairs, and never more, unless the trace
cuts them, too; but a cut behind a loop may complete a pair of its turns that a
frame which died did not.  One line for each failure; the last line is RESULT overlap_real programs=N pairs=N
executions=N mismatches=N.
"""
import argparse
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("bench", "tests/programs"):
    sys.path.insert(0, str(ROOT / folder))

import corpus  # noqa: E402
import measure  # noqa: E402
import programs as table  # noqa: E402
import steady  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX, call  # noqa: E402

PROGRAMS = ("lua", "bzip2", "zlib", "picosat")
FLAGS = ("-O2", "-g", "-fno-optimize-sibling-calls")


def numbers_of(profile):
    """{function: (possible paths, cuts)}"""
    listed = json.loads(call([CAIRN, "paths", "--json", str(profile)]))
    return {f["name"]: (f["possible"], tuple(f["cuts"]))
            for f in listed["functions"]}


def pairs_of(program, mode, work):
    """{(kind, function and blocks, function and blocks): count}, and the
    paths of functions that ran."""
    variant = measure.Variant("counted", CAIRN_CC, CAIRN_CXX,
                              (*FLAGS, "--cairn=" + mode))
    build = measure.Build(program, variant, work / "build")
    inputs = measure.Inputs(work / "in").make(program, "tiny")
    measure.run(build, "tiny", inputs, work / "run",
                wrap=steady.WRAP)
    pairs, numbers = {}, {}
    for profile in sorted((work / "run").rglob("*.cairn")):
        numbers.update(numbers_of(profile))
        document = json.loads(call([CAIRN, "overlap", "--json", "--top", "0",
                                    str(profile)]))
        for p in document["pairs"]:
            key = (p["kind"], *((p[half]["function"],
                                 tuple(p[half]["blocks"]))
                                for half in ("from", "to")))
            pairs[key] = pairs.get(key, 0) + p["count"]
    return pairs, numbers


def compare(program, work):
    """(pairs, executions, what differs)"""
    traced, numbers = pairs_of(program, "trace", work)
    counted, others = pairs_of(program, "paths,overlap", work)
    said = []
    for key in sorted(traced.keys() | counted.keys()):
        is_cut = any(numbers.get(name) != others.get(name)
                     for name, _ in key[1:])
        both = any(numbers.get(name, (0, ()))[1] for name, _ in key[1:])
        a, b = traced.get(key, 0), counted.get(key, 0)
        if a != b and (not is_cut or
                       (a < b and key[0] != "loop" and not both)):
            said.append("%s %s %s to %s %s: %d, in the trace %d" % (
                key[0], *key[1], *key[2], b, a))
    if not counted:
        said.append("no pairs")
    return len(counted), sum(counted.values()), said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    options = parser.parse_args()
    npairs = nexecutions = nwrong = nprograms = 0
    for program in table.select(options.programs.split(",")):
        corpus.fetch([program.package], say=lambda text: None)
        if program.prepare:
            program.prepare()
        program = steady.steady(program)
        with tempfile.TemporaryDirectory(prefix="cairn-overlap-") as scratch:
            pairs, executions, said = compare(program, pathlib.Path(scratch))
        for line in said[:3]:
            print("FAIL %s: %s" % (program.name, line[:400]), flush=True)
        nprograms += 1
        npairs += pairs
        nexecutions += executions
        nwrong += len(said)
    print("RESULT overlap_real programs=%d pairs=%d executions=%d "
          "mismatches=%d" % (nprograms, npairs, nexecutions, nwrong))
    return 1 if nwrong else 0


if __name__ == "__main__":
    sys.exit(main())
