#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exactness battery: every way a program can end, jump, fork or thread.

Each case is a program that keeps its own books (battery.h): how often every
line with a HIT() was executed.  This script builds the case with cairn-cc at
-O0 and -O2, and with clang's and gcc's coverage at -O2, runs it, and compares
line by line.  A tool is right about a case only if the program behaved as it
does without the tool and every line count is equal, process by process for
Cairn, summed over processes for its peers (they cannot tell them apart).

Cairn is tried in two modes, edges and paths.  Line counts that follow from
paths have to be as exact, but that a signal may stop a frame on a path that nobody
knows: the report then says which function misses one.  Over the whole battery
the path of at least 99 % of the frames that left one unfinished is known; the
line `unfinished known=K unknown=U` counts them, as tools/decode.py finds them.

    run.py [--keep DIR] [--list] [--tools NAMES] [CASE...]
    QUICK=1      without the peers, and -O2 only
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)

The last line is RESULT battery passed=N of=N paths=K clang_pgo=K gcov=K; N
counts every case once for each mode.  Exit status 0 if Cairn is right about
every case, 1 if not, 2 if the battery cannot run.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "programs"))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import decode  # noqa: E402
from profiles import (Broken, CAIRN, CAIRN_CC, CAIRN_CXX,  # noqa: E402
                      call, check, doubtful_lines, findings, is_exact, lines,
                      parse_lcov)

QUICK = os.environ.get("QUICK", "") not in ("", "0")
TIMEOUT = 600

# battery.h has the same numbers.
LINES, UNITS, MARKS = 256, 32, 32


@dataclasses.dataclass
class Case:
    """One program and what is expected of it."""
    name: str
    status: int = 0           # exit status, or minus the signal
    sources: tuple = ()       # default: NAME.c
    other: tuple = ()         # a second program, in NAME.d/
    libraries: int = 0        # dlopen_lib.c, built this many times
    mode: str = "edges"       # of cairn-cc
    bound: int = 0            # how far off a count may be (frames killed)
    path_bound: int = 0       # the same where paths are counted: strict or
                              # not, nobody sees the last one of a frame
    partial: int = 0          # lines of a block that a fault cut short may
                              # be this much too high
    kill: int = 0             # signal to send once the program says "ready"
    fsize: int = 0            # ulimit -f, in bytes
    disk: str = ""            # "full" or "filling": a small file system
    stdout: str = ""

    def files(self):
        return self.sources or (self.name + ".c",)

    def main_source(self):
        return self.files()[0]

    def all_sources(self):
        library = ("dlopen_lib.c",) if self.libraries else ()
        return self.files() + self.other + library


def cpp(name, **more):
    return Case(name, sources=(name + ".cpp",), **more)


CASES = [
    Case("return"),
    Case("inline_lines"),
    Case("recursion"),
    Case("tail_recursion"),
    Case("computed_goto", status=13),
    Case("exit_callee", status=3),
    Case("exit_recursion", status=8),
    Case("exit_thread", status=12),
    Case("exit_handler", status=21),
    Case("quick_exit", status=4),
    Case("underscore_exit", status=5),
    Case("atexit", status=14),
    Case("abort", status=-signal.SIGABRT),
    Case("segv", status=-signal.SIGSEGV),
    # The last frame faults before it is done with its first block.
    Case("stack_overflow", status=-signal.SIGSEGV, partial=1),
    Case("longjmp_loop"),
    Case("setjmp_loop"),
    Case("builtin_jump"),
    Case("siglongjmp"),
    Case("left_before_return"),
    Case("left_before_return_strict", sources=("left_before_return.c",),
         mode="edges,strict"),
    Case("ended_before_return", status=7),
    Case("left_by_fault", status=-signal.SIGSEGV),
    Case("left_by_fault_strict", status=-signal.SIGSEGV,
         sources=("left_by_fault.c",), mode="edges,strict"),
    cpp("left_by_throw"),
    cpp("throw"),
    Case("throw_c", sources=("throw_c.cpp", "throw_c_middle.c")),
    cpp("rethrow"),
    cpp("unwind_dtor"),
    cpp("terminate", status=-signal.SIGABRT),
    cpp("static_ctor"),
    Case("pthread_exit"),
    Case("pthread_cancel"),
    Case("threads"),
    Case("many_threads"),
    Case("hot_loop_signal"),
    Case("threads_alive"),
    Case("thrd_create"),
    Case("timer_thread"),
    Case("signal_handler"),
    Case("signal_loop"),
    Case("sigterm", status=-signal.SIGTERM, kill=signal.SIGTERM),
    Case("sigkill", status=-signal.SIGKILL, bound=1),
    Case("sigkill_strict", status=-signal.SIGKILL, sources=("sigkill.c",),
         mode="edges,strict", path_bound=1),
    Case("sigkill_between", status=-signal.SIGKILL, bound=1,
         path_bound=65537),
    Case("sigkill_between_strict", status=-signal.SIGKILL,
         sources=("sigkill_between.c",), mode="edges,strict", path_bound=1),
    Case("sigkill_threads", status=-signal.SIGKILL, kill=signal.SIGKILL,
         bound=3),
    Case("sigkill_threads_strict", status=-signal.SIGKILL,
         kill=signal.SIGKILL, sources=("sigkill_threads.c",),
         mode="edges,strict", path_bound=3),
    # A count may wait in a register for 65536 iterations.
    Case("hot_loop_kill", status=-signal.SIGKILL, kill=signal.SIGKILL,
         sources=("hot_loop.c",), bound=65537),
    Case("hot_loop_term", status=-signal.SIGTERM, kill=signal.SIGTERM,
         sources=("hot_loop.c",), bound=65537),
    # Nobody is told of this one either: the bound of SIGKILL holds.
    Case("raw_exit", status=6, bound=1),
    Case("raw_exit_strict", status=6, sources=("raw_exit.c",),
         mode="edges,strict", path_bound=1),
    Case("fork"),
    Case("fork_thread"),
    Case("daemon"),
    Case("vfork_exec"),
    Case("posix_spawn"),
    Case("exec_other", other=("exec_target.c",)),
    Case("dlopen_many", libraries=300),
    Case("dlclose", libraries=4),
    Case("ulimit_none", sources=("full_output.c",), fsize=1024,
         stdout="sum 18150\n"),
    Case("ulimit_some", sources=("full_output.c",), fsize=64 * 1024,
         stdout="sum 18150\n"),
    Case("disk_full", sources=("full_output.c",), disk="full",
         stdout="sum 18150\n"),
    Case("disk_filling", sources=("fill_disk.c",), disk="filling",
         stdout="sum 18150\n"),
]


# --- the program's own books ----------------------------------------------

def marked_lines(source):
    """The unit of a source file, and (line, slot) of its HIT() and MARK()."""
    with open(os.path.join(HERE, source), encoding="utf-8") as f:
        text = f.read().splitlines()
    unit = 0
    hits = []
    for number, line in enumerate(text, 1):
        if m := re.match(r"#define BATTERY_UNIT (\d+)", line):
            unit = int(m.group(1))
        if re.search(r"\bHIT(_ALONE)?\(\);", line):
            hits.append((number, number))
        if m := re.search(r"\bMARK\((\d+)\);", line):
            hits.append((number, LINES - 1 - int(m.group(1))))
    assert hits and number < LINES - MARKS and unit < UNITS
    return unit, hits


def read_truth(case, directory):
    """pid -> {(source, line): count}, summed over the images of a process."""
    marks = [(s,) + marked_lines(s) for s in case.all_sources()]
    truth = {}
    for path in glob.glob(os.path.join(directory, "*")):
        with open(path, "rb") as f:
            slots = struct.unpack("<%dQ" % (LINES * UNITS), f.read())
        books = truth.setdefault(slots[0], collections.Counter())
        for source, unit, hits in marks:
            for line, slot in hits:
                books[source, line] += slots[unit * LINES + slot]
    return truth


def total(truth):
    """The books of all processes together; lines never executed stay in."""
    books = collections.Counter()
    for one in truth.values():
        books.update(one)
    return books


def compare(truth, counts, bound, partial, who=""):
    """Both map (source, line) to a count; a line the tool has no code for
    was not executed."""
    bad = ["%s:%d is %d, not %d" % (s, n, counts.get((s, n), 0), count)
           for (s, n), count in sorted(truth.items())
           if not -bound <= counts.get((s, n), 0) - count
           <= max(bound, partial)]
    if bad:
        raise Broken("%s%s%s" % (who, "; ".join(bad[:4]),
                                "; ..." if len(bad) > 4 else ""))


# --- the tools -------------------------------------------------------------

class Tool:
    """How to build with a tool, and how to read its counts."""
    name = ""
    c, cxx = "clang-19", "clang++-19"
    plain_c = "clang-19"
    flags = ()

    def __init__(self, case, opt, directory):
        self.case = case
        self.dir = directory
        self.program = os.path.join(directory, case.name)
        self.base = ["-g", opt, "-pthread", "-D_GNU_SOURCE", *self.flags]
        self.out = os.path.join(directory, "out")
        os.makedirs(self.out)
        os.makedirs(self.program + ".d")

    def compile(self, source, obj, *more):
        call([self.cxx if source.endswith(".cpp") else self.c, *self.base,
            *more, "-c", os.path.join(HERE, source), "-o", obj], cwd=self.dir)
        return obj

    def link(self, objects, output, *more):
        cxx = any(s.endswith(".cpp") for s in self.case.files())
        call([self.cxx if cxx else self.c, *self.base, *objects, "-o", output,
            *more], cwd=self.dir)

    def build(self):
        books = os.path.join(self.dir, "battery.o")
        call([self.plain_c, "-O2", "-fPIC", "-D_GNU_SOURCE", "-c",
            os.path.join(HERE, "battery.c"), "-o", books])
        for sources, output in ((self.case.files(), self.program),
                                (self.case.other, self.other())):
            objects = [self.compile(s, os.path.join(
                self.dir, s.replace(".", "_") + ".o")) for s in sources]
            if objects:
                self.link(objects + [books], output, "-rdynamic")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.library, range(1, 1 + self.case.libraries)))

    def other(self):
        return os.path.join(self.program + ".d",
                            (self.case.other or ("none",))[0][:-2])

    def library(self, n):
        stem = os.path.join(self.dir, "lib%d" % n)
        obj = self.compile("dlopen_lib.c", stem + ".o", "-fPIC",
                           "-DLIBRARY=%d" % n)
        self.link([obj], self.library_path(n), "-shared")

    def library_path(self, n):
        return os.path.join(self.program + ".d", "lib%d.so" % n)

    def binaries(self):
        others = [self.other()] if self.case.other else []
        return [self.program] + others + [
            self.library_path(n) for n in range(1, 1 + self.case.libraries)]

    def env(self):
        return {}

    def judge(self, run):
        """Raises Broken unless the counts are those of run.truth."""
        raise NotImplementedError


class Cairn(Tool):
    name = "cairn"
    c, cxx = CAIRN_CC, CAIRN_CXX

    def __init__(self, case, opt, directory):
        self.flags = ("--cairn=" + self.mode_of(case),)
        super().__init__(case, opt, directory)

    def mode_of(self, case):
        return case.mode

    def env(self):
        return {"CAIRN_OUT": os.path.join(self.out, "%p.cairn")}

    def files(self):
        """pid -> its profiles: one per image."""
        found = {}
        for path in sorted(glob.glob(os.path.join(self.out, "*.cairn*"))):
            pid = int(re.match(r"\d+", os.path.basename(path)).group())
            found.setdefault(pid, []).append(path)
        return found

    def judge(self, run):
        if self.case.fsize or self.case.disk:
            self.judge_blocked(run)
            return
        said = [s for s in run.stderr.splitlines() if "cairn" in s.lower()]
        if said:
            raise Broken("the runtime said: " + said[0])
        self.judge_counts(run)

    def judge_counts(self, run):
        files = self.files()
        missing = sorted(set(run.truth) - set(files))
        if missing:
            raise Broken("no profile of process %d (of %d)" %
                        (missing[0], len(run.truth)))
        for pid, paths in sorted(files.items()):
            counts = collections.Counter()
            for path in paths:
                counts.update(lines(path))
                if not self.case.bound:
                    self.check(path)
            who = "process %d: " % pid if len(files) > 1 else ""
            truth = run.truth.get(pid, {})
            self.compare(paths, truth, counts, who)

    def check(self, path):
        check(path)

    def compare(self, paths, truth, counts, who):
        if any(map(is_exact, paths)):
            compare(truth, counts, 0, self.case.partial, who)
        compare(truth, counts, self.bound(), self.case.partial, who)

    def bound(self):
        return self.case.bound

    def judge_blocked(self, run):
        """The output could not grow.  Either the counts are exact all the
        same, or the runtime said so, once, and no tool calls them sound."""
        said = [s for s in run.stderr.splitlines() if "cairn" in s.lower()]
        if len(run.stderr.splitlines()) > 1:
            raise Broken("more than one line on stderr: " + run.stderr)
        try:
            self.judge_counts(run)
        except Broken:
            if not said:
                raise
            for path in sum(self.files().values(), []):
                done = subprocess.run(
                    [CAIRN, "check", path], capture_output=True, check=False)
                if done.returncode == 0:
                    raise


class Paths(Cairn):
    name = "paths"
    known = unknown = 0      # frames that left a path unfinished
    lock = threading.Lock()

    def mode_of(self, case):
        return case.mode.replace("edges", "paths")

    def bound(self):
        return self.case.path_bound or self.case.bound

    def judge_counts(self, run):
        super().judge_counts(run)
        if not self.case.fsize and not self.case.disk:
            for path in sum(self.files().values(), []):
                self.count_unfinished(path)

    def check(self, path):
        rules = set(findings(path)) - {"C4"}
        if rules != ({"F1"} if self.case.path_bound else set()):
            raise Broken("cairn check finds %s" % sorted(rules))

    def compare(self, paths, truth, counts, who):
        """Lines that the report has doubts about may miss a frame."""
        doubts = set().union(*map(doubtful_lines, paths))
        sure = {at: n for at, n in truth.items() if at not in doubts}
        super().compare(paths, sure, counts, who)
        compare(truth, counts, max(self.bound(), 1), self.case.partial, who)

    def count_unfinished(self, path):
        with open(path, "rb") as f:
            data = f.read()
        for module in decode.read_profile(data, []):
            of_map = decode.read_map(module.map)
            decode.place_frames(of_map, module)
            for f in of_map.functions:
                if f.how:
                    self.count_frames(f)

    def count_frames(self, f):
        f.counts, f.prefixes, f.unknown = {}, {}, 0
        f.numbering = decode.number_function(f)
        for at, register, ins, outs in f.stopped:
            if ins + outs > 0:
                decode.add_frame(f, at, register, ins, outs)
        known = sum(sum(both) for (total, _, _), both in f.prefixes.items()
                    if total is not None)
        with Paths.lock:
            Paths.known += known
            Paths.unknown += f.unknown + f.unlocated


class Clang(Tool):
    name = "clang_pgo"
    flags = ("-fprofile-instr-generate", "-fcoverage-mapping")

    def env(self):
        return {"LLVM_PROFILE_FILE": os.path.join(self.out, "%p-%m.profraw")}

    def judge(self, run):
        raw = glob.glob(os.path.join(self.out, "*.profraw"))
        if not raw:
            raise Broken("no profile")
        merged = os.path.join(self.dir, "merged.profdata")
        call(["llvm-profdata-19", "merge", "-o", merged, *raw])
        first, *rest = self.binaries()
        text = call(["llvm-cov-19", "export", "-format=lcov",
                   "-instr-profile=" + merged, first] +
                  [a for b in rest for a in ("-object", b)])
        compare(total(run.truth), parse_lcov(text), self.case.bound,
                self.case.partial)


class Gcov(Tool):
    name = "gcov"
    c, cxx, plain_c = "gcc", "g++", "gcc"
    flags = ("--coverage",)

    def env(self):
        return {"GCOV_PREFIX": self.out, "GCOV_PREFIX_STRIP": "99"}

    def judge(self, run):
        for data in glob.glob(os.path.join(self.out, "*.gcda")):
            shutil.copy(data, self.dir)
        notes = glob.glob(os.path.join(self.dir, "*.gcno"))
        text = call(["gcov", "--json-format", "--stdout", *notes],
                  cwd=self.dir)
        counts = collections.Counter()
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                source = os.path.basename(file["file"])
                for line in file["lines"]:
                    counts[source, line["line_number"]] += line["count"]
        compare(total(run.truth), counts, self.case.bound, self.case.partial)


# --- running ---------------------------------------------------------------

@dataclasses.dataclass
class Run:
    truth: dict
    stderr: str


class Disk:
    """A file system of 256 KiB, unmounted at the end."""

    def __init__(self, kind, at):
        self.kind, self.at = kind, at

    def __enter__(self):
        if self.kind:
            call(["mount", "-t", "tmpfs", "-o", "size=256k", "cairn-battery",
                self.at])
            if self.kind == "full":
                self.fill()
        return self

    def fill(self):
        with open(os.path.join(self.at, "filler"), "wb", 0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError:
                pass

    def __exit__(self, *ignored):
        if self.kind:
            call(["umount", "-l", self.at])


def start(tool, truth_dir):
    case = tool.case
    env = dict(os.environ, BATTERY_TRUTH=truth_dir, **tool.env())
    env["BATTERY_FILL"] = os.path.join(tool.out, "filler")
    if case.fsize:
        env["BATTERY_FILE"] = os.path.join(truth_dir, "0.0")
        with open(env["BATTERY_FILE"], "wb") as f:
            f.truncate(LINES * UNITS * 8)

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if case.fsize:
            resource.setrlimit(resource.RLIMIT_FSIZE,
                               (case.fsize, case.fsize))
    return subprocess.Popen([tool.program], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=env,
                            cwd=tool.out, preexec_fn=limit)


def finish(process, case):
    """Waits for the end, or brings it about, and returns both outputs."""
    if case.kill:
        watchdog = threading.Timer(TIMEOUT, process.kill)
        watchdog.start()
        word = process.stdout.readline()
        watchdog.cancel()
        if word != "ready\n":
            process.kill()
            raise Broken("did not get ready")
        time.sleep(0.1)
        process.send_signal(case.kill)
    try:
        return process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Broken("hangs (%d s)" % TIMEOUT) from None


def execute(tool):
    truth_dir = os.path.join(tool.dir, "truth")
    os.makedirs(truth_dir)
    process = start(tool, truth_dir)
    stdout, stderr = finish(process, tool.case)
    if process.returncode != tool.case.status:
        raise Broken("status %d, not %d: %s" % (
            process.returncode, tool.case.status, stderr.strip()[-200:]))
    if stdout != tool.case.stdout:
        raise Broken("wrong output: %r" % stdout[:100])
    return Run(read_truth(tool.case, truth_dir), stderr)


def attempt(kind, case, opt, scratch):
    """None if the tool is right about the case, else why not."""
    directory = os.path.join(scratch, case.name, kind.name + opt)
    try:
        os.makedirs(directory)
        tool = kind(case, opt, directory)
        tool.build()
        with Disk(case.disk, tool.out):
            tool.judge(execute(tool))
    except Broken as broken:
        return str(broken)
    return None


def test(case, kinds, opts, scratch):
    """kind -> None or the reason of the first failure."""
    verdict = {}
    for kind in kinds:
        verdict[kind.name] = None
        for opt in opts if issubclass(kind, Cairn) else ("-O2",):
            why = attempt(kind, case, opt, scratch)
            if why and not verdict[kind.name]:
                verdict[kind.name] = opt + ": " + why
    return verdict


def select(names):
    known = {case.name: case for case in CASES}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit("battery: no case is called %s; --list has their names" %
                 unknown[0])
    return [known[name] for name in names] or CASES


def table(cases, kinds, opts, scratch):
    right = {kind.name: 0 for kind in kinds}
    reasons = []
    print("%-24s" % "case" + "".join("%-11s" % k.name for k in kinds),
          flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, verdict in zip(cases, pool.map(
                lambda case: test(case, kinds, opts, scratch), cases)):
            cells = ["wrong" if verdict[k.name] else "right" for k in kinds]
            print("%-24s" % case.name + "".join("%-11s" % c for c in cells),
                  flush=True)
            for kind in kinds:
                right[kind.name] += not verdict[kind.name]
                if verdict[kind.name]:
                    reasons.append((kind.name, case.name,
                                    verdict[kind.name]))
    return right, reasons


def main():
    parser = argparse.ArgumentParser(
        description="The exactness battery of Cairn.")
    parser.add_argument("--keep", metavar="DIR",
                        help="build there and leave everything in place")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tools", metavar="NAMES",
                        help="some of cairn,paths,clang_pgo,gcov")
    parser.add_argument("case", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.name for case in CASES))
        return 0
    cases = select(options.case)
    names = (options.tools or
             ("cairn,paths" if QUICK else
              "cairn,paths,clang_pgo,gcov")).split(",")
    kinds = [k for k in (Cairn, Paths, Clang, Gcov) if k.name in names]
    opts = ("-O2",) if QUICK else ("-O0", "-O2")
    scratch = options.keep or tempfile.mkdtemp(prefix="cairn-battery-")
    os.makedirs(scratch, exist_ok=True)
    os.environ["TMPDIR"] = scratch  # what a crashing compiler leaves
    try:
        right, reasons = table(cases, kinds, opts, scratch)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    for kind, case, why in reasons:
        if kind in ("cairn", "paths") or options.tools:
            print("FAIL %s: %s: %s" % (case, kind, why))
    ours = [k for k in kinds if issubclass(k, Cairn)]
    passed = sum(right[k.name] for k in ours)
    print("unfinished known=%d unknown=%d" % (Paths.known, Paths.unknown))
    known = Paths.known >= 99 * Paths.unknown
    if not known:
        print("FAIL unfinished: the path of less than 99 % is known")
    print("RESULT battery passed=%d of=%d" % (
        passed, len(ours) * len(cases)) + "".join(
        " %s=%d" % (k.name, right[k.name]) for k in kinds if k is not Cairn))
    return 0 if known and passed == len(ours) * len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
