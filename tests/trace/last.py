#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flight recorders (`trace,last=SIZE`) against the log of all blocks.

Each case is a program that is built with `--cairn=trace,last=SIZE,log` and
log.c.  It runs, ends in some way, and what proof_walked regenerates must be the
end of the log: all blocks up to the last branch of every thread that is there.
The file must not be larger than SIZE, one buffer per thread and what else is in
it; `cairn check` and the commands that read traces must take it.

    last.py [--keep DIR] [--full] [CASE...]
    CAIRN_BIN, CAIRN_BUILD  as for run.py

A CASE is a name, or the beginning of one.  Without --full or a name each runs at
its last level only.  One line for each failure; the last line counts.
"""
import argparse
import concurrent.futures
import dataclasses
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import run
from profiles import Broken, CAIRN_BIN, CAIRN_CC, CAIRN_CXX, call

CAIRN = os.path.join(CAIRN_BIN, "cairn")
BUFFER = 256 << 10
SIZES = {"1M": 1 << 20, "3M": 3 << 20}
LONGEST = 64                 # blocks between two branches


@dataclasses.dataclass
class Case(run.Case):
    last: str = "1M"
    threads: int = 1         # that have a buffer at once
    drops: bool = True       # more was written than is kept
    reads: bool = False      # every command that reads it is tried


def cases():
    abort, segv, kill = -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGKILL
    times = tuple(random.uniform(0, 0.6) for _ in range(6))
    rec = {"sources": ("recorder.cpp",), "how": "last", "lag": LONGEST}
    rows = [
        Case("rec_return", arguments=("2500", "return"), reads=True, **rec),
        Case("rec_large", arguments=("6000", "return"), last="3M", **rec),
        Case("rec_abort", arguments=("2500", "abort"), status=abort, **rec),
        Case("rec_segv", arguments=("2500", "segv"), status=segv, reads=True,
             **rec),
        Case("rec_kill", arguments=("2500", "kill"), status=kill, reads=True,
             **rec),
        Case("rec_random", arguments=("0", "forever"), status=kill,
             kill=signal.SIGKILL, after=times, drops=False, **rec),
        Case("rec_threads", arguments=("2000", "return", "threads"),
             threads=4, last="3M", **rec),
        Case("rec_threads_kill", arguments=("2000", "kill", "threads"),
             status=kill, threads=4, **rec),
        Case("rec_ticks", arguments=("2500", "return", "ticks"),
             sources=("recorder.cpp",), how="tail", lag=LONGEST),
        Case("rec_ticks_kill", arguments=("2500", "kill", "ticks"),
             sources=("recorder.cpp",), how="tail", lag=LONGEST, status=kill),
    ]
    more = [("tail_recursion", 1), ("threads", 5), ("many_threads", 2000),
            ("execs", 4), ("musttail", 1), ("throw", 1),
            ("longjmp_loop", 1), ("fork", 1), ("pthread_exit", 20),
            ("computed_goto", 1), ("coroutine", 1), ("leaps", 1)]
    for name, threads in more:
        rows.append(Case(name, how="last", lag=LONGEST, threads=threads,
                         drops=name in ("tail_recursion", "musttail"),
                         status=13 if name == "computed_goto" else 0,
                         sources=("coroutine.cpp",)
                         if name == "coroutine" else (),
                         flags=("-std=c++20",) if name == "coroutine" else (),
                         full=name in ("many_threads", "threads")))
    return rows


class Run(run.Run):
    def __init__(self, case, opt, directory):
        self.case, self.opt, self.dir = case, opt, directory
        self.encoding = ""
        self.word = "--cairn=trace,last=%s,log" % case.last
        self.program = os.path.join(directory, case.name)
        self.flags = [opt, "-g", "-pthread", "-D_GNU_SOURCE", "-I",
                      run.BATTERY, *case.flags]

    def build(self):
        objects = list(run.PLAIN)
        os.makedirs(self.program + ".d")
        compiler = CAIRN_CC
        for source in self.case.files():
            cc = CAIRN_CXX if source.endswith(".cpp") else CAIRN_CC
            compiler = CAIRN_CXX if cc == CAIRN_CXX else compiler
            objects.append(os.path.join(
                self.dir, os.path.basename(source).replace(".", "_") + ".o"))
            call([cc, *self.flags, self.word, "-c", source, "-o",
                  objects[-1]], cwd=self.dir)
        call([compiler, *self.flags, self.word, *objects, "-o", self.program],
             cwd=self.dir)

    def check_size(self):
        """No file is larger than it may be."""
        most = SIZES[self.case.last] + (self.case.threads + 1) * BUFFER
        for path in glob.glob(os.path.join(self.dir, "out", "*.cairn")):
            if os.path.getsize(path) > most:
                raise Broken("the file has %d bytes" % os.path.getsize(path))

    def check_commands(self):
        """Who reads traces reads this one."""
        for path in glob.glob(os.path.join(self.dir, "out", "*.cairn")):
            text = call([CAIRN, "trace", "--summary", path])
            if self.case.drops != ("dropped" in text):
                raise Broken("--summary says: " + text[-200:])
            if self.case.status == 0:
                call([CAIRN, "check", path])
            self.check_decoded(path)
            call([CAIRN, "paths", path])
            call([CAIRN, "trace", "--export", "folded", path])
            call([CAIRN, "wpp", path])
            call([CAIRN, "match-path", path, "(sort_some|recurse)*"])
            self.check_open(path)
            self.check_reverse(path)

    def check_decoded(self, path):
        """The second decoder counts the same."""
        report = os.path.join(self.dir, "report.json")
        with open(report, "w", encoding="utf-8") as out:
            out.write(call([CAIRN, "report", "--json", path]))
        call([sys.executable, os.path.join(os.path.dirname(run.TESTS), "tools",
                                           "decode.py"),
              "--compare", report, path])

    def check_open(self, path):
        """The way to the crash is known, frame by frame."""
        text = call([CAIRN, "trace", "--open", path])
        frames = re.findall(r"^#\d+ +(\w+)\(", text, re.M)
        if self.case.name != "rec_segv":
            return
        with open(run.find("recorder.cpp"), encoding="utf-8") as source:
            line = 1 + source.read().split("*nowhere = 1")[0].count("\n")
        if frames[:41] != 41 * ["fall"] or not re.search(
                r"in recorder.cpp:%d\b" % line, text):
            raise Broken("--open says: " + text[:300])

    def check_reverse(self, path):
        """Backwards is forwards, and a packed one has the same blocks."""
        lines = call([CAIRN, "trace", "--json", path]).splitlines()
        back = call([CAIRN, "trace", "--json", "--reverse",
                     path]).splitlines()
        back = [s for s in back if '"event": "open"' not in s]
        if lines != back[::-1]:
            raise Broken("backwards it is another one")
        packed = path + ".packed"
        for best in ([], ["--best"]):
            call([CAIRN, "pack", *best, "-o", packed, path])
            ours, others = (call([run.WALKED, "read", p]) and
                            call([CAIRN, "trace", "--summary", p]).split()
                            for p in (path, packed))
            if ours[ours.index("all") + 1] != others[others.index("all") + 1]:
                raise Broken("packed it has other blocks")
            os.remove(packed)

    def attempt(self):
        self.build()
        for i, after in enumerate(self.case.after or (0,)):
            self.run(after)
            self.compare()
            self.check_size()
            if "cairn:" in self.err:
                raise Broken("the runtime said: " + self.err.strip())
            if i == 0 and self.case.reads and self.opt == "-O2":
                self.check_commands()


def attempt(case, opt, keep):
    if keep:
        directory = os.path.join(keep, case.name + opt)
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
    else:
        directory = tempfile.mkdtemp(prefix="cairn-last-")
    try:
        Run(case, opt, directory).attempt()
        return None
    except (Broken, subprocess.TimeoutExpired) as problem:
        return "FAIL %s %s: %s" % (case.name, opt, problem)
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def check_options():
    """Sizes that are none are refused, with a sentence."""
    failed = 0
    for word in ("last=0", "last=12X", "last=", "last", "last=-1M",
                 "last=1023K", "last=64MB", "last=99999999999G", "last=M"):
        done = subprocess.run(
            [CAIRN_CC, "--cairn=trace," + word, "-c", "-x", "c", "/dev/null",
             "-o", "/dev/null"], check=False, capture_output=True, text=True)
        if done.returncode == 0 or "last" not in done.stderr or \
                len(done.stderr.strip().splitlines()) != 1:
            print("FAIL %s: %s" % (word, done.stderr.strip()))
            failed += 1
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    rows = [(c, opt) for c in cases() for opt in c.opts
            if any(c.name.startswith(w) for w in args.cases)
            or not args.cases and (args.full or not c.full and
                                   opt == c.opts[-1])]
    if args.keep:
        args.keep = os.path.abspath(args.keep)
    failed = 0 if args.cases else check_options()
    with tempfile.TemporaryDirectory(prefix="cairn-last-") as directory, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        run.build_plain(directory)
        results = list(pool.map(lambda row: attempt(*row, args.keep), rows))
    for said in results:
        failed += said is not None
        if said:
            print(said, flush=True)
    print("%d passed, %d failed" % (len(rows) - failed, failed))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
