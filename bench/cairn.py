# SPDX-License-Identifier: Apache-2.0
"""Our own tools, as the benchmarks use them, and what they leave out."""

import collections
import json
import os
import pathlib
import subprocess
import sys

from corpus import ROOT, BenchError, run_quiet
from measure import Variant
from pathprofile import Paths

sys.dont_write_bytecode = True


class Cairn:
    """cairn and cairn-cc in a folder: CAIRN_BIN, or build/bin."""

    def __init__(self):
        self.bin = pathlib.Path(
            os.environ.get("CAIRN_BIN") or ROOT / "build" / "bin"
        ).resolve()
        for name in ("cairn", "cairn-cc", "cairn-c++"):
            if not (self.bin / name).exists():
                raise BenchError(f"{self.bin / name} is missing: run make")

    def variant(self, name, mode="edges", flags=()):
        """A way to compile with our driver."""
        return Variant(
            name,
            str(self.bin / "cairn-cc"),
            str(self.bin / "cairn-c++"),
            ("-O2", f"--cairn={mode}", *flags),
        )

    def tool(self, *args):
        return run_quiet([self.bin / "cairn", *args])

    def merge(self, folder, out):
        """Sums all profiles in a folder into one file."""
        files = sorted(folder.glob("*.cairn"))
        if not files:
            raise BenchError(f"{folder}: the run left no profile")
        self.tool("merge", "-o", out, *files)

    def check(self, profile):
        """Raises if the profile doctor finds anything."""
        self.tool("check", profile)

    def report(self, profile):
        return json.loads(self.tool("report", "--json", profile))

    def paths(self, profile):
        return Paths(self.tool("paths", "--json", profile))


def defined_functions(executable):
    """The functions in an executable's symbol table: a map from address to
    the names there, of which aliases have several."""
    text = subprocess.run(
        ["nm", "--defined-only", "--format=posix", str(executable)],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    functions = collections.defaultdict(list)
    for line in text.splitlines():
        name, kind, address = line.split()[:3]
        if kind in "tTwWi":
            functions[address].append(name)
    return functions


def startup_functions(folder, variant):
    """What the linker adds to every program: the functions of one that has
    only main."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    run_quiet([variant.cc, *variant.flags, source, "-o", folder / "empty"])
    functions = defined_functions(folder / "empty").values()
    return {name for names in functions for name in names} - {"main"}


class Coverage:
    """How much of a program a profile says nothing about.

    Functions are those in the symbol table of the plain build, less what the
    linker adds to every program; a function counts as covered if the report
    has it with counts.  So neither a function that the plugin lists as left
    out nor one that it never saw is missed.  The blocks that such a function
    executed are taken from gcov, since nobody else can know them.
    """

    def __init__(self, report, plain, gcov, startup):
        # static functions of two files may share a name: each counts
        reported = collections.Counter(f["name"] for f in report["functions"])
        self.functions = 0
        self.missing = []
        for names in defined_functions(plain.exe).values():
            if startup.intersection(names):
                continue
            self.functions += 1
            found = [name for name in names if reported[name] > 0]
            if found:
                reported[found[0]] -= 1
            else:
                self.missing.append(names[0])
        self.blocks_missing = executed_blocks(gcov, set(self.missing))
        self.blocks = executed(report) + self.blocks_missing


def executed(report):
    """Blocks that ran."""
    return sum(
        1
        for function in report["functions"]
        for block in function["blocks"]
        if block["count"]
    )


def executed_blocks(gcov, names):
    """Blocks of these functions that ran, as gcov saw it."""
    if not names:
        return 0
    total = 0
    for data in gcov.dir.rglob("*.gcda"):
        text = run_quiet(["gcov", "--json-format", "--stdout", data],
                         cwd=data.parent)
        for file in json.loads(text)["files"]:
            for function in file["functions"]:
                if function["name"] in names:
                    total += function["blocks_executed"]
    return total


def entry_counts(report, names):
    return {
        f["name"]: f["entries"]
        for f in report["functions"]
        if f["name"] in names
    }


def block_counts(report, names):
    return {
        f["name"]: [block["count"] for block in f["blocks"]]
        for f in report["functions"]
        if f["name"] in names
    }
