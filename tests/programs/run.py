#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that cover the languages, the compiler flags and the linkers.

Every test builds a program three times with the same flags: plain, with
`--cairn=MODE` and with `--cairn=MODE,all`, a counter on every edge.  The
instrumented ones must print and return what the plain one does, `cairn check`
must call their profiles sound, and the few counters must give the same count
for every block and edge as the many.  With `--cairn=paths` the other build is
still `--cairn=edges,all`: the edge counts that follow from paths must be its
own where the graph is the same, and the counts of all functions and lines in
any case.  LLVM verifies what the plugin made of the
module.  A few tests kill a program while it runs and look at what is left.
Several tests that compare with the same build share it.

    run.py [--keep DIR] [--list] [--full] [TEST...]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)

A TEST is a name of the table, or the beginning of one.  Without --full the
table leaves out the rows that cost most.  One line for each failure; the last
line counts.
"""
import argparse
import concurrent.futures
import dataclasses
import glob
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from profiles import (Broken, CAIRN_CC, CAIRN_CXX, call, check, counts_differ,
                      differences, doubtful_lines, findings, is_exact, lines,
                      read)

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 600


@dataclasses.dataclass
class Program:
    sources: tuple
    flags: tuple = ()
    library: tuple = ()      # sources that may go into a shared object
    varying: tuple = ()      # functions whose counts depend on time

    def cxx(self):
        return any(s.endswith(".cpp") for s in self.sources)


PROGRAMS = {
    "control": Program(("control.c",)),
    "interpreter": Program(("interpreter.c",)),
    "jumps": Program(("jumps.c",)),
    "builtins": Program(("builtins.c",), library=("builtins_far.c",)),
    "leaves": Program(("leaves.c",)),
    "spin": Program(("spin.c",), varying=("forever",)),
    "assembly": Program(("assembly.c",)),
    "musttail": Program(("musttail.c",)),
    "trips": Program(("trips.c",)),
    "opens": Program(("opens.c",)),
    "gotos": Program(("gotos.c",)),
    "ifunc": Program(("ifunc.c",)),
    "linkage": Program(("linkage_a.c", "linkage_b.c"), ("-pthread",)),
    "library": Program(("library_main.c",), library=("library.c",)),
    "ends": Program(("ends_main.c",), library=("ends.c",)),
    "shapes": Program(("shapes_main.cpp", "shapes.cpp"), ("-pthread",)),
    "coroutine": Program(("coroutine.cpp",), ("-std=c++20",)),
    "huge": Program(("huge.c",)),
    "wide": Program(("wide.c",)),
}


@dataclasses.dataclass
class Test:
    program: str
    flags: tuple = ("-O2", "-g")
    way: str = "objects"     # how it is built: a method of Build
    mode: str = "edges"
    stage: tuple = ()
    label: str = ""
    full: bool = False       # only with --full

    def attempt(self, directory, generated):
        if self.mode.startswith("paths"):
            attempt_paths(self, directory, generated)
        else:
            attempt(self, directory, generated)

    def name(self):
        words = [self.program, *self.flags]
        words += [self.label or self.way] if self.way != "objects" else []
        words += [self.mode] if self.mode != "edges" else []
        return "/".join(w.lstrip("-") for w in words + list(self.stage))


# Levels other than -O0 and -O2: these programs have them all, the others with
# --full.
MORE_LEVELS = ("-O1", "-O3", "-Os", "-Og")
AT_ALL_LEVELS = ("control", "jumps", "trips")
SOURCE = ("--cairn-stage=source",)
# The plugin's option, as the driver passes others: where no plugin is loaded
# (the assembler, the linker) nobody sees it.
VERIFY = ("--start-no-unused-arguments", "-Xclang", "-mllvm", "-Xclang",
          "-cairn-verify", "--end-no-unused-arguments")
LLD = "-fuse-ld=lld"


def is_more(program, opt):
    return opt in MORE_LEVELS and program not in AT_ALL_LEVELS


def tests():
    """The table.  C programs take about a second, those in C++ five."""
    rows = []
    small = ["control", "interpreter", "jumps", "builtins", "spin",
             "assembly", "linkage", "library"]
    for p in small:
        for opt in ("-O0", "-O1", "-O2", "-O3", "-Os", "-Og"):
            rows.append(Test(p, (opt, "-g"), full=is_more(p, opt)))
        rows.append(Test(p, ("-O2",)))
        rows.append(Test(p, ("-O0",), full=True))
        rows.append(Test(p, ("-O2", "-flto", LLD)))
        rows.append(Test(p, ("-O2", "-g"), mode="edges,strict"))
        rows.append(Test(p, ("-O2", "-g"), stage=SOURCE))
        rows.append(Test(p, ("-O0", "-g"), stage=SOURCE, full=True))
    for opt in ("-O0", "-O1", "-O2", "-O3"):
        rows.append(Test("musttail", (opt, "-g"),
                         full=is_more("musttail", opt)))
    for opt in ("-O0", "-O1", "-O2", "-O3", "-Os"):
        rows.append(Test("gotos", (opt, "-g"), full=is_more("gotos", opt)))
    for opt in ("-O0", "-O2"):
        rows.append(Test("leaves", (opt, "-g")))
        rows.append(Test("leaves", (opt, "-g"), stage=SOURCE))
    for flags in (("-O0",), ("-O1", "-g"), ("-O2",), ("-O3", "-g"), ("-Os",),
                  ("-Og",), ("-O2", "-fno-unroll-loops", "-fno-vectorize"),
                  ("-O2", "-fwrapv", "-DWRAPV"), ("-O2", "-fPIC"),
                  ("-O2", "-flto", LLD), ("-O1", "-fsanitize=address")):
        rows.append(Test("trips", flags))
        if "-DWRAPV" not in flags:
            rows.append(Test("opens", flags, full=len(flags) < 3 and
                             "-fsanitize=address" not in flags and
                             is_more("opens", flags[0])))
    rows.append(Test("trips", ("-O2", "-g"), mode="edges,strict"))
    rows.append(Test("trips", ("-O2", "-g"), stage=SOURCE))
    rows += deaths()
    rows += loading()
    rows += ends()
    rows += c_ways()
    rows += cxx_rows()
    rows += path_rows()
    rows += [Test("huge", ("-O0",)), Test("huge", ("-O1", "-g")),
             Test("huge", ("-O2",), full=True),
             Test("wide", ("-O0",)), Test("wide", ("-O2", "-g"))]
    return rows


def c_ways():
    rows = []
    for p in ("control", "linkage"):
        rows += [
            Test(p, ("-O2", "-flto=thin", LLD)),
            Test(p, ("-O2", "-static")),
            Test(p, ("-O2", "-static-pie", "-fPIE")),
            Test(p, ("-O2", "-fPIC")),
            Test(p, ("-O2", "-fno-pie", "-no-pie")),
            Test(p, ("-O2", "-ffunction-sections", "-fdata-sections",
                     "-Wl,--gc-sections")),
            Test(p, ("-O2", "-ffunction-sections", "-Wl,--gc-sections",
                     LLD)),
            Test(p, ("-O2", "-fuse-ld=bfd")),
            Test(p, ("-O2", "-fuse-ld=gold")),
            Test(p, ("-O2", LLD)),
            Test(p, ("-O1", "-fsanitize=address")),
            Test(p, ("-O1", "-fsanitize=undefined")),
            Test(p, ("-O0", "-fsanitize=address,undefined"), full=True),
            Test(p, ("-O2",), way="one_command"),
            Test(p, ("-O2",), way="through_ll"),
            Test(p, ("-O2",), way="through_bc"),
            Test(p, ("-O2",), way="plain_ll"),
            Test(p, ("-O0",), way="plain_bc"),
            Test(p, ("-O2",), way="assembler"),
            Test(p, ("-O2",), way="relocatable"),
            Test(p, ("-O2",), way="archive"),
            Test(p, ("-O2", "-fvisibility=hidden", "-fno-plt")),
            Test(p, ("-O2", "-fomit-frame-pointer",
                     "-fno-asynchronous-unwind-tables")),
            Test(p, ("-O2", "-fstack-protector-all",
                     "-fno-omit-frame-pointer"), full=True),
        ]
        rows.append(Test(p, ("-O2", "-g"), mode="edges,nogs"))
    rows.append(Test("trips", ("-O2",), mode="edges,nogs"))
    rows.append(Test("control", ("-O2", "-mcmodel=large"), full=True))
    rows += [Test("builtins", flags) for flags in (
        ("-O2", "-static"), ("-O2", "-static-pie", "-fPIE"), ("-O2", "-fPIC"),
        ("-O1", "-fsanitize=address"))]
    rows.append(Test("builtins", ("-O2", "-g"), mode="edges,nogs"))
    rows += [Test("builtins", (opt,), way="shared") for opt in ("-O0", "-O2")]
    rows += [Test("ifunc", flags) for flags in (
        ("-O0",), ("-O2", "-g"), ("-O2", "-static"),
        ("-O2", "-static-pie", "-fPIE"), ("-O2", "-fno-pie", "-no-pie"))]
    for flags in (("-O0",), ("-O2",), ("-O2", LLD), ("-O2", "-fuse-ld=gold"),
                  ("-O2", "-flto", LLD), ("-O2", "-flto=thin", LLD),
                  ("-O2", "-ffunction-sections", "-Wl,--gc-sections")):
        rows.append(Test("library", flags, way="shared"))
    return rows


def cxx_rows():
    rows = [Test("shapes", (opt, "-g")) for opt in ("-O0", "-O2")]
    rows += [Test("shapes", (opt,), full=opt not in ("-O1",))
             for opt in ("-O1", "-O3", "-Os", "-Og")]
    rows += [
        Test("shapes", ("-O2", "-flto", LLD)),
        Test("shapes", ("-O2", "-flto=thin", LLD)),
        Test("shapes", ("-O1", "-static", LLD)),
        Test("shapes", ("-O1", "-ffunction-sections",
                        "-Wl,--gc-sections", "-fuse-ld=gold")),
        Test("shapes", ("-O1", "-fsanitize=address,undefined"), full=True),
        Test("shapes", ("-O1", "-g"), mode="edges,strict"),
        Test("shapes", ("-O1", "-g"), stage=SOURCE),
        Test("shapes", ("-O1",), way="through_bc", full=True),
        Test("coroutine", ("-O0", "-g")),
        Test("coroutine", ("-O2",)),
        Test("coroutine", ("-O1", "-g"), stage=SOURCE, full=True),
    ]
    return rows


def path_rows():
    """All with line numbers: a graph that has blocks of its own for targets of
    computed gotos, and for calls that end paths, is compared by lines."""
    rows = []
    for p in ("control", "interpreter", "jumps", "builtins", "leaves", "spin",
              "assembly", "linkage", "library", "gotos", "musttail"):
        for opt in ("-O0", "-O2"):
            rows.append(Test(p, (opt, "-g"), mode="paths"))
        for opt in ("-O1", "-O3", "-Os", "-Og"):
            rows.append(Test(p, (opt, "-g"), mode="paths",
                             full=is_more(p, opt)))
        rows.append(Test(p, ("-O2", "-flto", LLD), mode="paths"))
        rows.append(Test(p, ("-O2", "-g"), mode="paths,strict"))
    for flags in (("-O0", "-g"), ("-O2", "-g"), ("-O3",), ("-Os",),
                  ("-O2", "-flto", LLD), ("-O2", "-fPIC")):
        rows.append(Test("trips", flags, mode="paths"))
        rows.append(Test("opens", flags, mode="paths"))
    for p in ("control", "linkage"):
        for flags in (("-O2", "-flto=thin", LLD), ("-O2", "-static"),
                      ("-O2", "-static-pie", "-fPIE"), ("-O2", "-fPIC"),
                      ("-O2", "-fno-pie", "-no-pie"),
                      ("-O2", "-ffunction-sections", "-Wl,--gc-sections", LLD),
                      ("-O2", "-fuse-ld=gold"),
                      ("-O2", "-fomit-frame-pointer",
                       "-fno-asynchronous-unwind-tables"),
                      ("-O1", "-fsanitize=address"),
                      ("-O1", "-fsanitize=undefined")):
            rows.append(Test(p, flags, mode="paths"))
        rows.append(Test(p, ("-O2", "-g"), mode="paths,nogs"))
        rows += [Test(p, ("-O2",), way=way, mode="paths") for way in
                 ("one_command", "through_bc", "assembler", "relocatable")]
    for flags in (("-O0", "-g"), ("-O2", "-g"), ("-O2", "-flto", LLD)):
        rows.append(Test("library", flags, way="shared", mode="paths"))
    rows += [Test("ifunc", ("-O2", "-g"), mode="paths"),
             Test("shapes", ("-O0", "-g"), mode="paths"),
             Test("shapes", ("-O2", "-g"), mode="paths"),
             Test("shapes", ("-O2", "-flto=thin", LLD), mode="paths",
                  full=True),
             Test("shapes", ("-O1", "-g"), mode="paths,strict", full=True),
             Test("coroutine", ("-O0", "-g"), mode="paths"),
             Test("coroutine", ("-O2", "-g"), mode="paths"),
             Test("huge", ("-O0",), mode="paths"),
             Test("huge", ("-O1", "-g"), mode="paths", full=True),
             Test("wide", ("-O0",), mode="paths"),
             Test("wide", ("-O2", "-g"), mode="paths")]
    for row in rows:
        row.flags += ("-g",) if "-g" not in row.flags else ()
    return rows


# --- generated sources -----------------------------------------------------

def huge(path):
    """One function of more than 5000 blocks."""
    with open(path, "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\n"
                "static unsigned huge(unsigned x, unsigned n)\n{\n"
                "\tunsigned s = 0;\n\twhile (n--) {\n")
        for i in range(1700):
            f.write("\t\tx = x * 1664525u + 1013904223u;\n"
                    "\t\tif (x >> %d & 1)\n\t\t\ts += x ^ %du;\n"
                    "\t\telse if (s %% %d == 1)\n\t\t\ts ^= x >> 7;\n"
                    % (i % 17 + 8, i, i % 29 + 2))
            if i % 400 == 399:
                f.write("\t\tif (s %% 1000 == %d)\n\t\t\tbreak;\n" % i)
        f.write("\t}\n\treturn s;\n}\n"
                "int main(void)\n{\n"
                "\tprintf(\"%u %u\\n\", huge(1, 7), huge(2, 5));\n"
                "\treturn 0;\n}\n")


def wide(path):
    """A switch with 1500 cases and 40 targets, and nests 60 deep."""
    with open(path, "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\n"
                "static int wide(int x)\n{\n\tswitch (x) {\n")
        for target in range(40):
            for i in range(target, 1500, 40):
                f.write("\tcase %d:\n" % (i * 7 if i % 3 else i))
            f.write("\t\tx += %d;\n%s" % (target,
                                          "\t\tbreak;\n" if target % 4
                                          else "\t\t/* fallthrough */\n"))
        f.write("\tdefault:\n\t\tx ^= 3;\n\t}\n\treturn x;\n}\n")
        f.write("static int nest(int n)\n{\n\tint s = 0;\n")
        for i in range(60):
            f.write("if (n %% %d != 1) { s += %d;\n" % (i + 2, i))
        f.write("s ^= 5;\n")
        for i in range(60):
            f.write("} else s -= %d;\n" % i)
        f.write("\treturn s;\n}\n"
                "int main(void)\n{\n\tlong s = 0;\n"
                "\tfor (int i = 0; i < 12000; i++)\n"
                "\t\ts += wide(i) + nest(i);\n"
                "\tprintf(\"%ld\\n\", s);\n\treturn 0;\n}\n")


GENERATED = {"huge.c": huge, "wide.c": wide}


# --- building and running --------------------------------------------------

class Build:
    """One build of one program in one directory."""

    def __init__(self, test, mode, directory, generated):
        self.test, self.mode, self.dir = test, mode, directory
        self.program = PROGRAMS[test.program]
        self.generated = generated
        self.ours = (["--cairn=" + mode, *test.stage, *VERIFY] if mode
                     else [])
        self.exe = os.path.join(directory, "program")
        os.makedirs(directory, exist_ok=True)

    def compiler(self, plain=False):
        if self.program.cxx():
            name = CAIRN_CXX if self.ours and not plain else "clang++-19"
        else:
            name = CAIRN_CC if self.ours and not plain else "clang-19"
        flags = [] if plain else self.ours
        return [name, *flags, "-D_GNU_SOURCE", *self.program.flags,
                *self.test.flags]

    def source(self, name):
        where = self.generated if name in GENERATED else HERE
        return os.path.join(where, name)

    def run(self, *words, plain=False):
        call([*self.compiler(plain), *words], cwd=self.dir)

    def each(self, sources, *flags, suffix=".o", plain=False, inputs=None):
        """Compiles every source (or the file that stands for it)."""
        outputs = []
        for i, name in enumerate(sources):
            outputs.append(os.path.join(self.dir, name + suffix))
            self.run(*flags, inputs[i] if inputs else self.source(name),
                     "-o", outputs[-1], plain=plain)
        return outputs

    def all(self):
        return self.program.sources + self.program.library

    def objects(self):
        self.run(*self.each(self.all(), "-c"), "-o", self.exe)

    def one_command(self):
        self.run(*[self.source(s) for s in self.all()], "-o", self.exe)

    def through(self, suffix, plain, *flags):
        """Source to an intermediate file, that to an object, link."""
        middle = self.each(self.all(), *flags, suffix=suffix, plain=plain)
        self.run(*self.each(self.all(), "-c", inputs=middle), "-o", self.exe)

    def through_ll(self):
        self.through(".ll", False, "-S", "-emit-llvm")

    def through_bc(self):
        self.through(".bc", False, "-c", "-emit-llvm")

    def plain_ll(self):
        self.through(".ll", True, "-S", "-emit-llvm")

    def plain_bc(self):
        self.through(".bc", True, "-c", "-emit-llvm")

    def assembler(self):
        self.through(".s", False, "-S")

    def relocatable(self):
        joined = os.path.join(self.dir, "joined.o")
        self.run("-r", *self.each(self.all(), "-c"), "-o", joined)
        self.run(joined, "-o", self.exe)

    def archive(self):
        first, *rest = self.each(self.all(), "-c")
        library = os.path.join(self.dir, "librest.a")
        call(["llvm-ar-19", "rcs", library, *rest])
        self.run(first, "-L" + self.dir, "-lrest", "-o", self.exe)

    def shared(self):
        library = os.path.join(self.dir, "libshared.so")
        self.run("-fPIC", "-shared", *[self.source(s) for s in
                                       self.program.library], "-o", library)
        self.run(*self.each(self.program.sources, "-c"), "-L" + self.dir,
                 "-lshared", "-Wl,-rpath," + self.dir, "-o", self.exe)

    def build(self):
        getattr(self, self.test.way)()

    def execute(self):
        """(status, stdout), and exactly one profile if it is to have one."""
        env = dict(os.environ, CAIRN_OUT=os.path.join(self.dir, "out.cairn"))
        try:
            done = subprocess.run([self.exe], capture_output=True, env=env,
                                  timeout=TIMEOUT, cwd=self.dir, check=False)
        except subprocess.TimeoutExpired:
            raise Broken("the program does not end") from None
        profiles = glob.glob(os.path.join(self.dir, "*.cairn*"))
        if len(profiles) != (1 if self.ours else 0):
            raise Broken("%d profiles were written (status %d, %s)" % (
                len(profiles), done.returncode,
                done.stderr.decode(errors="replace").strip()[-300:]))
        return done.returncode, done.stdout, done.stderr

    def profile(self):
        return os.path.join(self.dir, "out.cairn")


class Reference:
    """A build that others are compared with, and what it did.  There is one
    for all tests that would build the same; of a plain one -g changes
    nothing."""
    lock = threading.Lock()
    known = {}

    def __init__(self, test, mode, generated):
        self.making = threading.Lock()
        flags = test.flags
        if not mode:
            flags = tuple(flag for flag in flags if flag != "-g")
        self.key = (test.program, flags, test.way, test.stage, mode)
        self.build = self.result = self.broken = None
        self.make = lambda: Build(
            dataclasses.replace(test, flags=flags), mode,
            tempfile.mkdtemp(prefix="reference-", dir=generated), generated)

    def finish(self):
        """Builds and runs it, if nobody has; raises what that said."""
        with self.making:
            if not self.build:
                self.build = self.make()
                try:
                    self.build.build()
                    self.result = self.build.execute()
                except Broken as broken:
                    self.broken = broken
        if self.broken:
            raise self.broken

    @classmethod
    def of(cls, test, mode, generated):
        new = cls(test, mode, generated)
        with cls.lock:
            one = cls.known.setdefault(new.key, new)
        one.finish()
        return one


def builds_of(test, modes, directory, generated):
    """Of each mode: it, its profile; after it has done what the plain build
    does.  The last one is a reference."""
    plain = Reference.of(test, "", generated)
    for mode in modes[:-1]:
        build = Build(test, mode, os.path.join(
            directory, mode.replace(",", "-")), generated)
        build.build()
        same_behaviour(plain.result, build.execute(), mode)
        yield mode, build.profile()
    other = Reference.of(test, modes[-1], generated)
    same_behaviour(plain.result, other.result, modes[-1])
    yield modes[-1], other.build.profile()


def own_functions(functions):
    """Functions of the program that ran.  Which copy of a library template
    runs, ours or the one in libstdc++, is up to the inliner once marks are in
    before it; and it drops inline functions that nobody needs any more."""
    return {key: f for key, f in functions.items()
            if f.entries != 0 and not (key[2] or "").startswith("/usr/")}


# --- deaths ----------------------------------------------------------------

CHUNK = 65536                # turns that a loop may hold in a register
HELD_RULE = "C4"             # of docs/INVARIANTS.md: it did


@dataclasses.dataclass
class Death:
    """held.c, ended by a signal in a loop that counts itself."""
    way: str                 # the program's argument
    signal: int
    mode: str = "edges"
    full: bool = False

    def name(self):
        return "held/%s/%s" % (self.way, self.mode)

    def attempt(self, directory, _generated):
        os.makedirs(directory)
        exe = os.path.join(directory, "held")
        profile = os.path.join(directory, "out.cairn")
        turns = os.path.join(directory, "turns")
        source = os.path.join(HERE, "held.c")
        call([CAIRN_CC, "--cairn=" + self.mode, *VERIFY, "-O2", "-g",
              "-D_GNU_SOURCE", source, "-o", exe])
        self.run([exe, turns, self.way], dict(os.environ, CAIRN_OUT=profile))
        self.judge(profile, count_turns(turns), lines(profile)[
            "held.c", line_with(source, "/* a turn */")])

    def run(self, argv, env):
        with subprocess.Popen(argv, stdout=subprocess.PIPE, env=env,
                              cwd=os.path.dirname(argv[0])) as process:
            if process.stdout.readline() != b"ready\n":
                raise Broken("the program does not get ready")
            if self.signal == signal.SIGKILL:
                time.sleep(0.2)
                process.kill()
            try:
                status = process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Broken("the program does not end") from None
        if status != -self.signal:
            raise Broken("status %d, not %d" % (status, -self.signal))

    def judge(self, profile, truth, count):
        """One turn may be under way that left no byte yet."""
        if self.signal == signal.SIGKILL:
            if not -1 <= truth - count <= CHUNK + 1:
                raise Broken("%d turns, counted %d" % (truth, count))
            said = {"F1"}
        elif self.mode != "edges,strict":
            most = 1 if self.mode == "paths,strict" else CHUNK
            if not -1 <= truth - count <= most:
                raise Broken("%d turns, counted %d" % (truth, count))
            said = {HELD_RULE}
        else:
            if count != truth + 1:
                raise Broken("%d turns, counted %d" % (truth + 1, count))
            said = set()
        self.judge_report(profile, said)

    def judge_report(self, profile, said):
        rules = findings(profile)
        if self.signal == signal.SIGKILL:
            # a frame that nobody saw may make a derived count negative
            rules = {rule: rules[rule] for rule in said & set(rules)}
        if set(rules) != said:
            raise Broken("cairn check finds %s, not %s" % (
                sorted(rules), sorted(said)))
        if HELD_RULE in rules and rules[HELD_RULE] != ["fill"]:
            raise Broken("%s is about %s" % (HELD_RULE, rules[HELD_RULE]))
        if is_exact(profile) != (not said):
            raise Broken("the report says exact = %s" % (not said))
        if self.signal != signal.SIGKILL:
            inexact = [f.name for f in read(profile).values() if not f.exact]
            if inexact != (["fill"] if said else []):
                raise Broken("not exact: %s" % inexact)


@dataclasses.dataclass
class Stop:
    """stopped.c, ended by a timer wherever it is: no count may be off."""
    opt: str
    mode: str = "edges"
    threads: bool = False    # by the first thread: its counts must add up
    full: bool = False

    RUNS = 15

    def name(self):
        return "stopped/%s/%s%s" % (self.opt.strip("-"), self.mode,
                                    "/threads" if self.threads else "")

    def attempt(self, directory, _generated):
        os.makedirs(directory)
        exe = os.path.join(directory, "stopped")
        source = os.path.join(HERE, "stopped.c")
        call([CAIRN_CC, "--cairn=" + self.mode, *VERIFY, self.opt, "-g",
              "-D_GNU_SOURCE", "-pthread", source, "-o", exe])
        with open(source, encoding="utf-8") as f:
            places = [n for n, line in enumerate(f, 1) if "HERE(" in line][1:]
        for i in range(self.RUNS):
            if self.threads:
                self.run_threads(directory, exe, 61 * i)
            else:
                self.run(directory, exe, 2000 + 137 * i, places)

    def run_threads(self, directory, exe, moment):
        profile = os.path.join(directory, "%d.cairn" % moment)
        call([exe, os.path.join(directory, "own"), str(moment), "threads"],
             env=dict(os.environ, CAIRN_OUT=profile))
        self.check(profile)

    def check(self, profile):
        """A stopped frame may have been on a path that nobody knows."""
        if self.mode.startswith("paths"):
            check_paths(profile, {f.name for f in read(profile).values()})
        else:
            check(profile)

    def run(self, directory, exe, moment, places):
        own = os.path.join(directory, "own")
        profile = os.path.join(directory, "%d.cairn" % moment)
        status = subprocess.run([exe, own, str(moment)], timeout=TIMEOUT,
                                env=dict(os.environ, CAIRN_OUT=profile),
                                check=False).returncode
        if status != -signal.SIGALRM:
            raise Broken("status %d, not a timer's" % status)
        self.check(profile)
        with open(own, "rb") as f:
            truth = struct.unpack("<%dq" % len(places),
                                  f.read(8 * len(places)))
        counts = lines(profile)
        found = [counts["stopped.c", line] for line in places]
        doubts = doubtful_lines(profile)
        # the block that it was in may not have got to its own count
        ahead = [a - b for a, b, line in zip(found, truth, places)
                 if ("stopped.c", line) not in doubts]
        if min(ahead, default=0) < 0 or sum(ahead) > 1:
            raise Broken("after %d us: counts %s, kept %s, doubts %s" % (
                moment, found, list(truth), sorted(doubts)))
        # nor may those be off by more than a frame, or a loop held
        held = CHUNK if self.opt != "-O0" else 1
        wrong = [(a, b) for a, b in zip(found, truth)
                 if not -held <= a - b <= 1]
        if wrong:
            raise Broken("after %d us: counted %d, kept %d" % (
                moment, *wrong[0]))


@dataclasses.dataclass
class Loading:
    """loading.c, much of which runs before the runtime can: it prints how
    often, and so does its child."""
    flags: tuple
    mode: str = "edges"
    stage: tuple = ()
    shared: bool = False     # the second file is a shared object
    full: bool = False

    def name(self):
        words = ["loading", *self.flags, self.mode, *self.stage]
        words += ["shared"] if self.shared else []
        return "/".join(w.lstrip("-") for w in words)

    def compile(self, directory, *words):
        call([CAIRN_CC, "--cairn=" + self.mode, *self.stage, *VERIFY, "-g",
              "-D_GNU_SOURCE", "-pthread", "-fno-builtin", *self.flags,
              *words], cwd=directory)

    def attempt(self, directory, _generated):
        os.makedirs(directory)
        exe = os.path.join(directory, "loading")
        far = os.path.join(HERE, "loading_far.c")
        if self.shared:
            library = os.path.join(directory, "libfar.so")
            self.compile(directory, "-fPIC", "-shared", far, "-o", library)
            far = library
        self.compile(directory, os.path.join(HERE, "loading.c"), far, "-o",
                     exe)
        child = os.path.join(directory, "child")
        try:
            done = subprocess.run(
                [exe, child], capture_output=True, text=True, check=False,
                env=dict(os.environ, CAIRN_OUT=os.path.join(directory, "%p")),
                timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Broken("the program does not end") from None
        if done.returncode or done.stderr:
            raise Broken("status %d: %s" % (done.returncode,
                                            done.stderr[-300:]))
        with open(child, encoding="utf-8") as f:
            self.judge(directory, [done.stdout, f.read()])

    def judge(self, directory, books):
        """Which profile is the parent's, the number of its process tells."""
        profiles = sorted(glob.glob(os.path.join(directory, "[0-9]*")),
                          key=lambda path: int(os.path.basename(path)))
        if len(profiles) != len(books):
            raise Broken("%d profiles were written" % len(profiles))
        for who, profile, text in zip(("parent", "child"), profiles, books):
            check(profile)
            truth = {(m[1], int(m[2])): int(m[3]) for m in re.finditer(
                r"^(\w+\.c):(\d+) (\d+)$", text, re.M)}
            counts = lines(profile)
            for place in sorted(here_lines()):
                if counts.get(place, 0) != truth.get(place, 0):
                    raise Broken("%s: %s:%d is %d, not %d" % (
                        who, *place, counts.get(place, 0),
                        truth.get(place, 0)))


def here_lines():
    """The lines of loading.c and loading_far.c that count themselves."""
    for name in ("loading.c", "loading_far.c"):
        with open(os.path.join(HERE, name), encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                if re.match(r"\s+HERE\(", line):
                    yield name, n


def loading():
    own = "-DOWN_MEMCPY"
    rows = [Loading((opt,), full=is_more("loading", opt))
            for opt in ("-O0", "-O1", "-O2", "-O3", "-Os")]
    rows += [Loading(("-O2", *flags)) for flags in (
        ("-fno-pie", "-no-pie"), ("-fPIC",), ("-static",),
        ("-static-pie", "-fPIE"), (LLD,), ("-fuse-ld=gold",),
        ("-flto", LLD), ("-flto=thin", LLD), ("-Wl,-z,now",), (own,),
        ("-static", own), ("-static-pie", "-fPIE", own),
        ("-ffunction-sections", "-Wl,--gc-sections", LLD))]
    rows += [Loading((opt, "-DCALLS_FAR", *flags)) for opt, flags in (
        ("-O0", ()), ("-O2", ()), ("-O2", ("-fno-pie", "-no-pie")),
        ("-O2", (LLD,)), ("-O2", ("-static", "-flto", LLD)))]
    rows += [Loading(("-O0", "-static", own)),
             Loading(("-O2", "-static", own), "edges,nogs"),
             Loading(("-O2", "-static", own), "edges,strict"),
             Loading(("-O2", "-static", own), "edges,slow"),
             Loading(("-O2", "-static", own), "edges,all"),
             Loading(("-O2", "-static", own), stage=SOURCE),
             Loading(("-O2",), "edges,nogs"), Loading(("-O2",), stage=SOURCE)]
    rows += [Loading((opt, *flags), mode, shared=True) for opt, flags, mode in (
        ("-O0", (), "edges"), ("-O2", (), "edges"), ("-O2", (), "edges,nogs"),
        ("-O2", ("-Wl,-z,now",), "edges"), ("-O2", (LLD,), "edges"),
        ("-O0", (), "paths"), ("-O2", (), "paths"))]
    rows += [Loading(flags, mode) for flags, mode in (
        (("-O0",), "paths"), (("-O2",), "paths"), (("-O2",), "paths,nogs"),
        (("-O0", "-static", own), "paths"), (("-O2", "-static", own), "paths"),
        (("-O2", "-DCALLS_FAR"), "paths"))]
    return rows


@dataclasses.dataclass
class Foreign:
    """A program without marks and the library ends.c with them: no hook sees
    what the library's calls do to frames, and the profile has to say so."""
    end: int                 # ends_main.c
    rule: str                # of docs/INVARIANTS.md
    flags: tuple
    mode: str = "edges"
    full: bool = False

    def name(self):
        words = ["ends", "foreign", *self.flags, "END=%d" % self.end, self.mode]
        return "/".join(w.lstrip("-") for w in words)

    def attempt(self, directory, _generated):
        os.makedirs(directory)
        profile = os.path.join(directory, "out.cairn")
        said = []
        for who, compiler in enumerate((
                ["clang-19"], [CAIRN_CC, "--cairn=" + self.mode, *VERIFY])):
            library = os.path.join(directory, "libends%d.so" % who)
            exe = os.path.join(directory, "program%d" % who)
            call([*compiler, "-O2", "-g", "-fPIC", "-shared", *self.flags,
                  os.path.join(HERE, "ends.c"), "-o", library])
            call(["clang-19", "-O2", "-DEND=%d" % self.end,
                  os.path.join(HERE, "ends_main.c"), library, "-o", exe])
            done = subprocess.run([exe], capture_output=True, timeout=TIMEOUT,
                                  env=dict(os.environ, CAIRN_OUT=profile),
                                  check=False)
            said.append((done.returncode, done.stdout, done.stderr))
        same_behaviour(*said, self.mode)
        if self.rule not in findings(profile):
            raise Broken("cairn check finds %s, not %s" % (
                sorted(findings(profile)), self.rule))
        if is_exact(profile):
            raise Broken("the report passes for exact")


def ends():
    """Calls that executables have hooks for, made by a shared object."""
    bfd, lto = "-fuse-ld=bfd", ("-flto", LLD)
    rows = [Test("ends", ("-O2", "-g", "-DEND=%d" % end, *flags), way, mode)
            for mode in ("edges", "paths") for way, flags in (
                ("shared", (bfd,)), ("shared", (LLD,)), ("shared", lto))
            for end in (0, 1, 2)]
    rows += [Test("ends", flags, "shared", mode) for flags, mode in (
        (("-O0", "-g"), "edges"), (("-O0", "-g"), "paths"),
        (("-O2", "-fuse-ld=gold"), "edges"), (("-O2", "-fPIC"), "edges"),
        (("-O2", "-flto=thin", LLD), "edges"),
        (("-O2", "-D_FORTIFY_SOURCE=2"), "edges"),
        (("-O2", "-Wl,-z,now", "-Wl,--no-undefined"), "edges"),
        (("-O2", "-fno-pie", "-no-pie", bfd), "edges"),
        (("-O2", "-g"), "edges,strict"), (("-O2", "-g"), "paths,strict"))]
    rows += [Test("ends", ("-O2", "-g"), mode=mode)
             for mode in ("edges", "paths")]
    rows += [Foreign(0, "F2", flags, mode) for mode in ("edges", "paths")
             for flags in ((bfd,), (LLD,), lto)]
    rows += [Foreign(end, "F1", (flag,)) for end in (1, 2)
             for flag in (bfd, LLD)]
    return rows


def deaths():
    segv, kill = signal.SIGSEGV, signal.SIGKILL
    return [*(Stop(opt, "edges,all", True) for opt in ("-O0", "-O2")),
            *(Stop(opt, mode, full=is_more("stopped", opt))
              for opt in ("-O0", "-O1", "-O2", "-O3")
              for mode in ("edges", "edges,all", "edges,nogs")),
            Death("short", segv), Death("long", segv),
            Death("short", segv, "edges,strict"),
            Death("runs", kill), Death("run", kill),
            *(Stop(opt, "paths", True) for opt in ("-O0", "-O2")),
            *(Stop(opt, mode, full=is_more("stopped", opt))
              for opt in ("-O0", "-O1", "-O2", "-O3")
              for mode in ("paths", "paths,strict", "paths,nogs")),
            *(Death(way, segv, mode) for way in ("short", "long")
              for mode in ("paths", "paths,strict")),
            Death("runs", kill, "paths"), Death("run", kill, "paths")]


def count_turns(path):
    """Bytes of the file before the first that is zero."""
    turns = 0
    with open(path, "rb") as f:
        while block := f.read(1 << 16):
            end = block.find(0)
            if end >= 0:
                return turns + end
            turns += len(block)
    return turns


def line_with(path, text):
    with open(path, encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if text in line)


# --- tests -----------------------------------------------------------------

def same_behaviour(plain, ours, mode):
    for what, a, b in zip(("status", "stdout", "stderr"), plain, ours):
        if a != b:
            raise Broken("%s: %s is %r, not %r" % (
                mode, what, b if what == "status" else b[-300:],
                a if what == "status" else a[-300:]))


def is_unlocated(test):
    """A signal stops code that was marked before inlining: nobody can say
    in which function that was."""
    return test.stage == SOURCE and PROGRAMS[test.program].varying


def check_unlocated(path, redundant):
    rules = set(findings(path)) - ({"C1"} if redundant else set())
    if rules != {"C4"}:
        raise Broken("cairn check finds %s, not C4 alone" % sorted(rules))
    if any(f.exact for f in read(path).values() if f.covered):
        raise Broken("a function passes for exact")


def attempt(test, directory, generated):
    varying = PROGRAMS[test.program].varying
    profiles = []
    for mode, profile in builds_of(test, (test.mode, test.mode + ",all"),
                                   directory, generated):
        # A frame that a signal stops between two redundant counters leaves
        # them one apart: no flow equation holds then, and none is needed.
        redundant = mode.endswith(",all")
        if is_unlocated(test):
            check_unlocated(profile, redundant)
        elif not (varying and redundant):
            check(profile)
        profiles.append(read(profile))
    if is_unlocated(test):
        return
    if test.stage == SOURCE:
        profiles = [own_functions(p) for p in profiles]
    said = differences(*profiles, varying)
    if said:
        raise Broken("%d differences from %s,all: %s" % (
            len(said), test.mode, "; ".join(said[:3])))
    ran = [f for f in profiles[0].values() if f.covered and f.entries]
    if not any(f.name == "main" for f in ran):
        raise Broken("main was never entered")


def check_paths(path, varying):
    """Sound, but that a signal may have stopped one of the varying functions
    on a path that nobody knows."""
    rules = findings(path)
    where = set(rules.get("C4", ())) - set(varying)
    if set(rules) - {"C4"} or where:
        raise Broken("cairn check finds %s %s" % (sorted(rules),
                                                  sorted(where)))


def path_differences(paths, edges, varying):
    """As sentences: edges where the graph is the same, entries elsewhere."""
    said = ["%s is in one build only" % key[1]
            for key in paths.keys() ^ edges.keys()]
    for key in paths.keys() & edges.keys():
        a, b = paths[key], edges[key]
        if a.covered != b.covered:
            said.append("%s is covered in one build only" % a.name)
        if not a.covered or a.name in varying:
            continue
        if not a.exact or not b.exact:
            said.append("%s is not exact" % a.name)
        elif a.entries != b.entries:
            said.append("%s: %s entries, not %s" % (a.name, a.entries,
                                                    b.entries))
        elif [e[:3] for e in a.edges] == [e[:3] for e in b.edges]:
            said += counts_differ(a, b)
    return sorted(said)


def attempt_paths(test, directory, generated):
    varying = PROGRAMS[test.program].varying
    profiles = []
    for mode, profile in builds_of(
            test, (test.mode, test.mode.replace("paths", "edges") + ",all"),
            directory, generated):
        if not (varying and mode.endswith(",all")):
            check_paths(profile, varying)
        profiles.append(profile)
    said = path_differences(*map(read, profiles), varying)
    if said:
        raise Broken("%d differences from edges: %s" % (
            len(said), "; ".join(said[:3])))
    ours, theirs = map(lines, profiles)
    if not varying and (ours != theirs or not any(ours.values())):
        wrong = ["%s:%d is %d, not %d" % (*at, ours[at], theirs[at])
                 for at in sorted(ours.keys() | theirs.keys())
                 if ours[at] != theirs[at]]
        raise Broken("lines: " + "; ".join(wrong[:3]))


def run_one(test, scratch, generated):
    """None, or why the test failed."""
    directory = os.path.join(scratch, re.sub(r"[^\w=-]", "_", test.name()))
    try:
        test.attempt(directory, generated)
    except Broken as broken:
        return str(broken)
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(directory, ignore_errors=True)
    return None


def select(options):
    rows = tests()
    if options.test:
        rows = [t for t in rows
                if any(t.name().startswith(n) for n in options.test)]
        if not rows:
            sys.exit("programs: no test has such a name; --list has them")
    elif not options.full:
        rows = [t for t in rows if not t.full]
    return rows


def main():
    parser = argparse.ArgumentParser(description="Program tests of Cairn.")
    parser.add_argument("--keep", metavar="DIR",
                        help="build there and leave everything in place")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("test", nargs="*")
    options = parser.parse_args()
    rows = select(options)
    if options.list:
        print("\n".join(t.name() for t in rows))
        return 0
    scratch = options.keep or tempfile.mkdtemp(prefix="cairn-programs-")
    os.makedirs(scratch, exist_ok=True)
    os.environ["TMPDIR"] = scratch  # what a crashing compiler leaves
    if options.keep:
        os.environ["KEEP"] = "1"
    for name, make in GENERATED.items():
        make(os.path.join(scratch, name))
    failed = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for test, why in zip(rows, pool.map(
                    lambda t: run_one(t, scratch, scratch), rows)):
                if why:
                    failed += 1
                    print("FAIL %s: %s" % (test.name(), why), flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    if not options.full and not options.test:
        left = [t.name() for t in tests() if t.full]
        print("left to --full: %d rows: %s" % (len(left), " ".join(left)))
    print("programs: %d passed, %d failed" % (len(rows) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
