# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of run time share: one row per program, one build per
way to compile it, and runs in turn that must all behave alike."""

import collections
import os
import platform
import shutil
import sys
from concurrent import futures

import corpus
import measure
from cairn import Cairn
from corpus import BenchError
from measure import Build, Variant, geomean, median

sys.dont_write_bytecode = True


def note(text):
    """Progress; results alone go to stdout."""
    print(text, file=sys.stderr, flush=True)


def clang(name, *flags):
    return Variant(name, "clang-19", "clang++-19", ("-O2", *flags))


def machine():
    """The processor, for the document."""
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return platform.machine()


class Row:
    """One program: its builds and what was measured on them."""

    def __init__(self, bench, program):
        self.bench = bench
        self.cairn = bench.cairn
        self.program = program
        self.dir = bench.options.work / program.name
        self.builds = {}
        self.inputs = {}
        self.compile = collections.defaultdict(list)
        self.seconds = collections.defaultdict(list)
        self.instructions = {}
        self.expected = {}  # size -> (digest, statuses) of the plain build

    def prepare(self, *sizes):
        """What must be there before the first build and the first run."""
        if self.program.prepare:
            self.program.prepare()
        self.inputs = {
            size: self.bench.inputs.make(self.program, size) for size in sizes
        }

    def build(self, variant):
        where = self.dir / variant.name
        build = Build(self.program, variant, where)
        self.builds[variant.name] = build
        self.compile[variant.name].append(build.seconds)

    def build_all(self, *variants):
        """Builds whose compile time nobody asks for, side by side."""
        with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.build, variants))

    def run(self, name, size, callgrind=False, wrap=()):
        """One run of one build, which must do what the first one did."""
        result = measure.run(
            self.builds[name], size, self.inputs[size], self.dir / "run",
            callgrind, wrap=wrap,
        )
        found = (result.digest, result.statuses)
        wanted = self.expected.setdefault(size, found)
        if found != wanted:
            raise BenchError(
                f"{self.program.name}: {name}: output {found[0]} and status "
                f"{found[1]}, but the first build gave {wanted[0]} and "
                f"{wanted[1]}"
            )
        return result

    def profile(self, name, size):
        """The merged profile of a run of a build of ours, and a check of
        it."""
        if size not in self.expected:
            self.run("plain", size)
        self.run(name, size)
        merged = self.dir / f"{name}.{size}.cairn"
        self.cairn.merge(self.dir / "run" / "data", merged)
        self.cairn.check(merged)
        return merged

    def time(self, names):
        options = self.bench.options
        for i in range(options.reps):
            # another one goes first each time
            turn = i % len(names)
            for name in names[turn:] + names[:turn]:
                result = self.run(name, options.size)
                self.seconds[name].append(result.seconds)

    def count(self, names):
        for name in names:
            result = self.run(name, "tiny", callgrind=True)
            self.instructions[name] = result.instructions

    def ratio(self, name, base="plain"):
        return median(self.seconds[name]) / median(self.seconds[base])

    def instruction_ratio(self, name, base):
        return self.instructions[name] / self.instructions[base]

    def loaded(self, name):
        return measure.loaded_size(self.builds[name].exe)

    def code(self, name):
        return measure.loaded_size(self.builds[name].exe, measure.PF_X)


class Bench:
    """All rows.  A benchmark says of which class they are (`row_class`) and
    what to show of one (`cells`)."""

    row_class = Row

    def __init__(self, options):
        self.options = options
        self.cairn = Cairn()
        self.rows = []
        self.failures = []
        options.work.mkdir(parents=True, exist_ok=True)
        corpus.fetch(sorted({p.package for p in options.programs}), say=note)
        self.inputs = measure.Inputs(options.work / "in")

    def cells(self, row):
        """One line of the main table."""
        raise NotImplementedError

    def run(self):
        for program in self.options.programs:
            note(f"{program.name}: {program.what}")
            row = self.row_class(self, program)
            try:
                row.measure()
                self.rows.append(row)
                note("  " + " ".join(self.cells(row)[1:]))
            except BenchError as error:
                self.failures.append(str(error))
                note(f"  FAILED: {error}")
            if not self.options.keep:
                shutil.rmtree(row.dir, ignore_errors=True)
                shutil.rmtree(self.inputs.dir / program.name,
                              ignore_errors=True)

    def mean(self, name, base="plain"):
        return geomean(row.ratio(name, base) for row in self.rows)
