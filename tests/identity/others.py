# SPDX-License-Identifier: Apache-2.0
"""Programs that others have: of the other tests, of csmith, of the benchmarks.
"""
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import threading
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
for place in ("bench", "tests/programs", "tests/identity"):
    sys.path.insert(0, os.path.join(os.path.dirname(TESTS), place))
import corpus  # noqa: E402
import measure  # noqa: E402
import programs as table  # noqa: E402
import steady  # noqa: E402
from profiles import Broken  # noqa: E402
from program import LEVELS, Program, Wrong  # noqa: E402

BATTERY = ("return", "inline_lines", "recursion", "tail_recursion",
           "computed_goto", "exit_callee", "exit_recursion", "exit_thread",
           "exit_handler", "quick_exit", "underscore_exit", "atexit", "abort",
           "segv", "longjmp_loop", "setjmp_loop", "builtin_jump", "siglongjmp",
           "throw.cpp", "rethrow.cpp", "unwind_dtor.cpp", "terminate.cpp",
           "static_ctor.cpp", "pthread_exit", "threads", "thrd_create",
           "fork")
# What is announced of them.
BATTERY_SAID = {
    # strict functions, and a recording has the calls of __builtin_setjmp
    "builtin_jump": {"uncovered": ["trace hold main"],
                     "differs": ["record hold main"]},
    "pthread_exit": {"uncovered": ["trace run"],
                     # counted strictly, which a recording need not be
                     "graph": ["record run"]},
    "segv": {"check": ["* C4 F1"]},
    "siglongjmp": {"check": ["* C4 F1"]},
}
# What the others are: files below tests/, and what program.py has in headers.
SMALL = {
    "control": ("programs/control.c", {"exit": ["any"]}),
    "interpreter": ("programs/interpreter.c", {}),
    "jumps": ("programs/jumps.c", {}),
    "leaves": ("programs/leaves.c", {}),
    "musttail": ("programs/musttail.c", {}),
    "trips": ("programs/trips.c", {}),
    "gotos": ("programs/gotos.c", {}),
    "coroutine": ("programs/coroutine.cpp", {"cc": ["-std=c++20"]}),
    "shapes": ("programs/shapes_main.cpp programs/shapes.cpp",
               {"cc": ["-pthread"], "exit": ["any"]}),
    "irreducible": ("paths/irreducible.c", {"env": ["PATHS_LOG={dir}/l"]}),
    "nest": ("paths/nest.c", {"env": ["PATHS_LOG={dir}/l"]}),
    "paths-recursion": ("paths/recursion.c", {"env": ["PATHS_LOG={dir}/l"]}),
    "paths-throw": ("paths/throw.cpp", {"env": ["PATHS_LOG={dir}/l"]}),
    "walk": ("replay/walk.c", {}),
    "walk-cxx": ("replay/walk.cpp", {"cc": ["-std=c++20"]}),
    "replay-throws": ("replay/throws.cpp", {"cc": ["-std=c++20"]}),
    # A recording copies structures that are passed by value: a line that only
    # reads one may be lost, so lines are not compared there (STATUS.md).
    "replay-calls": ("replay/calls.c", {"exit": ["any"],
                                        "uncovered": ["record by_value"]}),
    "replay-gotos": ("replay/gotos.c", {"ld": ["-lm"], "modes": ["record"]}),
    "replay-setjmps": ("replay/setjmps.c", {}),
    "replay-coroutines": ("replay/coroutines.cpp", {"cc": ["-std=c++20"]}),
    "replay-vectors": ("replay/vectors.c", {"ld": ["-lm"]}),
    "overlap-calls": ("overlap/calls.c", {}),
    "overlap-loops": ("overlap/loops.c", {}),
    "overlap-tails": ("overlap/tails.c", {}),
    "overlap-callbacks": ("overlap/callbacks.c", {}),
    "overlap-exits": ("overlap/exits.c", {"cc": ["-pthread"]}),
    "overlap-deaths": ("overlap/deaths.cpp", {}),
    "overlap-invokes": ("overlap/invokes.cpp", {}),
    "passed-on": ("trace/passed_on.cpp", {}),
    "replay-stacks": ("replay/stacks.c", {}),
    "replay-copies": ("replay/copies.c", {}),
    "replay-locals": ("replay/locals.cpp", {"cc": ["-pthread"]}),
    "atomics": ("replay/atomics.c", {"cc": ["-pthread"]}),
}


QUICK = ("control", "walk", "battery-longjmp_loop")
# phalanx looks at the time; functions of zstd that pass structures by value are
# inlined otherwise in recordings, which copy these before the optimizer
# (docs/STATUS.md).
REAL_SAID = {"phalanx": {"varies": ["root_search"]},
             "zstd": {"differs": ["record *"]}}
REAL = ("bzip2", "lua", "zlib", "minisat", "csparse")
FETCHING = threading.Lock()  # programs share packages


def path(name):
    return os.path.join(TESTS, *name.split("/"))


def module(name, file):
    """What another test is written in, though all of them are run.py."""
    spec = importlib.util.spec_from_file_location(name, file)
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


csmith = module("run_csmith", path("csmith/run.py"))


def battery():
    """Without their books (books.h)."""
    cases = {c.name: c for c in
             module("run_battery", path("battery/run.py")).CASES}
    for name in BATTERY:
        case = cases[name.partition(".")[0]]
        yield Program("battery-" + case.name,
                      [path("battery/" + f) for f in case.files()],
                      {"cc": ["-pthread -D_GNU_SOURCE -include " +
                              path("identity/books.h")],
                       "plain": ["books.o"],
                       "plainsource": [path("identity/books.c")],
                       "exit": [str(case.status)],
                       **BATTERY_SAID.get(case.name, {})})


def small_programs():
    for name, (files, said) in SMALL.items():
        yield Program(name, [path(f) for f in files.split()], said)
    yield from battery()


def is_quick(program):
    """All that show a defect that there was, a third of the rest."""
    if program.words("defect") or program.name in QUICK:
        return True
    return program.hostile and zlib.crc32(program.name.encode()) % 3 == 0


class Random(Program):
    """A program of csmith."""

    def __init__(self, seed):
        super().__init__(f"csmith-{seed}", [""], {
            "cc": [*csmith.include_flags()], "exit": ["any"]})
        self.seed, self.rerun = seed, f"--csmith 1 csmith-{seed}"

    def levels(self):
        return [LEVELS[self.seed % len(LEVELS)]]

    def prepare(self, folder):
        """False if it is none that can be compared."""
        self.sources = [os.path.join(folder, "program.c")]
        try:
            csmith.generate(self.seed, self.sources[0])
            csmith.build(["clang-19"], [*self.levels(), *self.words("cc")],
                         self.sources[0], os.path.join(folder, "a"))
            return b"checksum = " in csmith.execute(
                os.path.join(folder, "a"), folder,
                csmith.at_most(csmith.PLAIN_SECONDS))[1]
        except (csmith.Useless, Broken, subprocess.TimeoutExpired):
            return False


def random_programs(names):
    """(program, level) without end: whoever asks knows when to stop."""
    for seed in itertools.count(1):
        program = Random(seed)
        if not names or program.name in names:
            yield program, program.levels()[0]


class Named(measure.Build):
    """Its executable is called by another name."""
    alias = None

    @property
    def exe(self):
        return self.alias or super().exe


class RealBuild:
    """A program of the benchmarks, in the place of Build.  All builds of one run
    under the same names (programs/steady.py)."""

    def __init__(self, program, level, folder, compilers, mode):
        self.program, self.folder = program, os.path.join(folder, "run")
        self.common = pathlib.Path(folder).parent
        flags = ["-g", level, *(["--cairn=" + mode] if mode else [])]
        self.variant = measure.Variant(mode or "plain", *compilers,
                                       tuple(flags))
        self.where = pathlib.Path(folder)

    def make(self):
        try:
            self.build = Named(self.program.real, self.variant, self.where)
        except corpus.BenchError as error:
            raise Wrong(str(error)[-600:]) from None

    def name(self):
        """Gives the executable the name that all of them have."""
        link = self.common / "exe" / pathlib.Path(self.build.exe).name
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(self.build.exe)
        self.build.alias = link

    def run(self):
        scratch = self.common / "run"
        self.name()
        try:
            result = measure.run(self.build, "tiny", self.program.inputs,
                                 scratch, links=True, wrap=steady.WRAP)
        except corpus.BenchError as error:
            raise Wrong(str(error)[-600:]) from None
        scratch = scratch.rename(self.where / "run")
        said = (scratch / "data" / "stderr").read_bytes()
        return (0, result.digest.encode(),
                table.kept(self.program.real, said))

    def profiles(self):
        return sorted(str(p) for p in
                      (self.where / "run" / "data").glob("*.cairn*"))


class Real(Program):
    def __init__(self, real):
        super().__init__(real.name, [""], REAL_SAID.get(real.name, {}))
        self.real, self.rerun = steady.steady(real), f"--real {real.name}"

    def prepare(self, folder):
        with FETCHING:
            corpus.fetch([self.real.package], say=lambda text: None)
            if self.real.prepare:
                self.real.prepare()
        self.inputs = measure.Inputs(os.path.join(folder, "in")).make(
            self.real, "tiny")
        return True

    def build(self, *arguments):
        return RealBuild(self, *arguments)


def real_programs(names, few):
    for real in table.PROGRAMS:
        if real.name in (names or (REAL[:1] if few else
                                   [p.name for p in table.PROGRAMS])):
            yield Real(real), "-O2"
