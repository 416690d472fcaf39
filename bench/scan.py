# SPDX-License-Identifier: Apache-2.0
"""Finding one function's traces: in a raw trace, in a grammar, and in the
timestamped form (scan.c)."""

import json
import os
import pathlib
import random
import sys

from corpus import HERE, ROOT, BenchError, run_quiet

sys.dont_write_bytecode = True

LIBRARIES = ("analysis", "walk", "graph", "format", "base")
GIGABYTE = 10**9
LIMIT = 1_100_000_000  # bytes of a raw trace, where one is cut
SAMPLE = 20  # functions that are searched for
SEED = 2001


class Scan:
    """scan.c, compiled with the libraries of the build in use."""

    def __init__(self, cairn, folder):
        libraries = pathlib.Path(
            os.environ.get("CAIRN_LIB") or cairn.bin.parent)
        self.cairn = cairn
        self.tool = folder / "scan"
        run_quiet(
            ["clang-19", "-std=c17", "-D_GNU_SOURCE", "-O2", "-Wall",
             f"-I{ROOT / 'src'}", HERE / "scan.c",
             *(libraries / f"libcairn_{name}.a" for name in LIBRARIES),
             "-lzstd", "-o", self.tool]
        )

    def call(self, *args):
        return json.loads(run_quiet([self.tool, *args]))

    def raw(self, folder, traces, limit=LIMIT):
        """Searches in a raw trace of the beginning of some traces, and in
        the timestamped form of the same."""
        raw, twpp = folder / "raw", folder / "raw.twpp"
        try:
            return Found(self, raw, twpp, self.call("raw", raw, twpp, limit,
                                                    *traces))
        finally:
            raw.unlink(missing_ok=True)

    def grammar(self, folder, trace, twpp):
        """Searches in a grammar of a whole trace; twpp is its timestamped
        form.  Its sizes, and what was found."""
        file = folder / "grammar"
        try:
            return (self.call("grammar", file, trace),
                    self.call("extract", file, *sample(twpp)))
        finally:
            file.unlink(missing_ok=True)


def sample(twpp):
    """Functions that were called: all, or some that a seed selects."""
    called = [f["function"] for f in twpp["functions"] if f["calls"]]
    if len(called) > SAMPLE:
        called = random.Random(SEED).sample(sorted(called), SAMPLE)
    return called


class Found:
    """Times of one function's traces, in ms: raw (of a sample), and with the
    timestamped form (of all functions)."""

    def __init__(self, scan, raw, file, written):
        self.bytes, self.is_cut = written["bytes"], written["is_cut"]
        self.twpp = json.loads(
            scan.cairn.tool("twpp", "--json", "--access", file))
        self.functions = scan.call("find", raw, *sample(self.twpp))
        self.check()
        times = [f["ms"] for f in self.functions]
        self.mean, self.worst = sum(times) / len(times), max(times)
        self.access = self.twpp["access_ms"]

    def check(self):
        """Both searches must have found as many calls."""
        calls = {f["function"]: f["calls"] for f in self.twpp["functions"]}
        for f in self.functions:
            if f["calls"] != calls[f["function"]]:
                raise BenchError(
                    f"function {f['function']}: {f['calls']} calls in the "
                    f"raw trace, {calls[f['function']]} in its timestamped "
                    "form"
                )

    @property
    def speedup(self):
        return self.mean / self.access["mean"]

    @property
    def ratio(self):
        return self.twpp["raw_bytes"] / self.twpp["file_bytes"]["total"]
