#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions of all benchmark programs, for proof_prefer.

    prefer_corpus.py [--programs A,B] > FUNCTIONS

Builds every program of bench/programs.py with --cairn=paths, runs it on its
small input and writes what its executed functions look like, in the form of
prefer_instances.py.  CAIRN_BIN and CAIRN_CORPUS as for bench/edges.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))

import corpus
import measure
import programs

BIN = pathlib.Path(os.environ.get("CAIRN_BIN", ROOT / "build" / "bin"))


def profile(program, work):
    """Builds and runs it; returns the sum of its processes' profiles."""
    corpus.fetch([program.package], say=lambda text: None)
    if program.prepare:
        program.prepare()
    variant = measure.Variant("paths", str(BIN / "cairn-cc"),
                              str(BIN / "cairn-c++"),
                              ("-O2", "--cairn=paths"))
    build = measure.Build(program, variant, work / "build")
    inputs = measure.Inputs(work / "in").make(program, "test")
    measure.run(build, "test", inputs, work / "run")
    total = work / "total.cairn"
    files = [str(f) for f in (work / "run").rglob("*.cairn")]
    subprocess.run([BIN / "cairn", "merge", "-o", total, *files], check=True,
                   stdout=subprocess.DEVNULL)
    return total


def main():
    """One program after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs")
    options = parser.parse_args()
    chosen = (programs.select(options.programs.split(","))
              if options.programs else programs.PROGRAMS)
    script = ROOT / "tests" / "proof" / "prefer_instances.py"
    for program in chosen:
        print(f"prefer_corpus: {program.name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="cairn-prefer-") as scratch:
            total = profile(program, pathlib.Path(scratch))
            subprocess.run([sys.executable, script, "--cairn", BIN / "cairn",
                            f"{program.name}={total}"], check=True)


if __name__ == "__main__":
    main()
