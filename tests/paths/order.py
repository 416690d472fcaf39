#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of untested paths against a log of all blocks.

    order.py [--keep DIR]
    CAIRN_BIN                directory of cairn and cairn-cc

A program runs in a paths build; half of its paths, by lot, are then said to be
tested, and it is built to record the others.  It writes down every block that
it executes (log.h), which run.py groups into paths: when each untested path
was first taken follows from that, and has to be what the file says, by
tools/decode.py and by `cairn residual --json`.

order.c ends in different ways: killed, forked, in signal handlers, with more
paths than are recorded, with threads, of which each has a log of its own.  What
a thread took alone comes after what it had taken before.
"""
import argparse
import array
import concurrent.futures
import glob
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import generate
import run
from profiles import findings

HERE = os.path.dirname(os.path.abspath(__file__))
DECODE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tools",
                      "decode.py")
CAIRN, CAIRN_CC = run.CAIRN, run.CAIRN_CC
MAX = 4096       # records, as runtime/order.c has it
FORKED = 2       # flag of a file
HEADER = 4096
COUNTS, PATHS = 3, 6  # chunks

passed, failed = 0, []


def check(what, ok, said=""):
    global passed
    if ok:
        passed += 1
    else:
        failed.append("FAIL %s%s" % (what, ": %s" % (said,) if said else ""))


# --- what is tested ---------------------------------------------------------
def count_places(data, at):
    """Where the counts of the tables of a chunk are."""
    end = at + 64 + struct.unpack_from("<Q", data, at + 24)[0]
    at += 64
    while at < end:
        slots = struct.unpack_from("<Q", data, at + 8)[0]
        for i in range(slots):
            yield at + 32 + 16 * i + 8
        at += 32 + 16 * slots


def thin(profile, to, rng):
    """The same profile, with about half of its counts 0."""
    run.call([CAIRN, "pack", "-o", to, profile])
    with open(to, "rb") as f:
        data = bytearray(f.read())
    at = HEADER
    while at < len(data):
        kind, length = struct.unpack_from("<IQ", data, at + 4)
        counts = []
        if kind == COUNTS:
            counts = range(at + 64, at + length, 8)
        elif kind == PATHS:
            counts = count_places(data, at)
        for i in counts:
            if rng.random() < 0.5:
                data[i:i + 8] = bytes(8)
        crc = run.decode.crc32c(bytes(data[at + 64:at + length]))
        struct.pack_into("<I", data, at + 52, crc)
        at += length
    with open(to, "wb") as f:
        f.write(data)


# --- what the log says ------------------------------------------------------
class Ordered(run.Activation):
    """An activation that says in which order paths are finished."""

    def __init__(self, graph, finished):
        super().__init__(graph)
        self.finished = finished

    def finish(self):
        super().finish()
        self.finished.append((self.graph.name, self.total))


def read_parts(log):
    """The events of each thread."""
    size = os.path.getsize(log) // 8
    with open(log, "rb") as f:
        for thread in range(8):
            f.seek(thread * size)
            events = []
            while block := f.read(1 << 16):
                words = array.array("I", block)
                new = list(zip(words[::2], words[1::2]))
                if (0, 0) in new:
                    events += new[:new.index((0, 0))]
                    break
                events += new
            yield events


def first_paths(graphs, log):
    """Per thread, the paths in the order in which it first took them."""
    owner = {line: g for g in graphs for line in g.block_of}
    parts = []
    for events in read_parts(log):
        live, finished = {}, []
        for activation, what in events:
            if what & run.FRAME:
                continue
            if activation not in live:
                live[activation] = Ordered(owner[what], finished)
            live[activation].event(what)
        parts.append(list(dict.fromkeys(finished)))
    return parts


# --- what the file says -----------------------------------------------------
class Recorded:
    """The order in a file, of functions that log."""

    def __init__(self, profile, graphs):
        with open(profile, "rb") as f:
            data = f.read()
        self.is_forked = bool(run.decode.u32(data, 132) & FORKED)
        order = run.decode.decode(data, [])["order"]
        names = {g.name for g in graphs}
        self.is_there = order is not None
        self.left_out = order["left_out"] if order else 0
        self.all = [tuple(p[1:]) for p in order["paths"]] if order else []
        self.paths = [p for p in self.all if p[0] in names]


class Program:
    """A program that was run once, and half of which is tested."""

    def __init__(self, source, exe, flags, rng, mode=""):
        self.source, self.exe, self.flags = source, exe, flags
        self.mode = mode
        self.tested = exe + ".tested.cairn"
        plain, log = run.build(source, "paths" + mode, flags, exe + "-plain")
        os.remove(log)
        thin(plain, self.tested, rng)
        self.known = counted(self.tested)
        run.call([CAIRN_CC, "--cairn=residual,tested=" + self.tested + mode,
                  *flags, "-g", "-w", "-pthread", "-D_GNU_SOURCE", source,
                  "-o", exe])

    def run(self, *args, status=0):
        """Returns the untested paths of each thread, and the files."""
        log = self.exe + ".log"
        for old in glob.glob(self.exe + ".run-*"):
            os.remove(old)
        env = dict(os.environ, CAIRN_OUT=self.exe + ".run-%p.cairn",
                   PATHS_LOG=log)
        got = subprocess.run([self.exe, *args], env=env, check=False,
                             timeout=run.TIMEOUT).returncode
        if got != status:
            raise run.Broken("status %d, not %d" % (got, status))
        files = sorted(glob.glob(self.exe + ".run-*.cairn"))
        graphs, _ = run.find_graphs(self.source, files[0])
        parts = [[p for p in part if p not in self.known]
                 for part in first_paths(graphs, log)]
        os.remove(log)
        return parts, [(f, Recorded(f, graphs)) for f in files]

    def against_cairn(self, what, profile, rules=()):
        """cairn check finds nothing but what these rules do, and cairn
        residual and decode.py agree on the order."""
        found = findings(profile)
        check(what + ": sound", set(found) <= set(rules), found)
        done = subprocess.run(
            [CAIRN, "residual", "--json", "--tested", self.tested, profile],
            check=False, capture_output=True, text=True)
        listed = self.exe + ".json"
        with open(listed, "w", encoding="utf-8") as f:
            f.write(done.stdout)
        got = subprocess.run([DECODE, "--compare-order", listed, profile],
                             check=False, capture_output=True, text=True)
        check(what + ": cairn residual", got.returncode == 0,
              got.stdout[-500:] + got.stderr[-500:] + done.stderr)
        return json.loads(done.stdout)


def same_order(what, expected, got):
    """One thread: exactly this."""
    at = next((i for i, (x, y) in enumerate(zip(expected, got)) if x != y),
              min(len(expected), len(got)))
    check(what, expected == got, "%d paths, not %d; number %d is %s, not %s" % (
        len(got), len(expected), at + 1, got[at:at + 1], expected[at:at + 1]))


def fits_threads(what, parts, got):
    """Several threads: each path once, and what one of them took alone is
    behind all that it had taken before."""
    place = {p: i for i, p in enumerate(got)}
    takers = {}
    for part in parts:
        for p in part:
            takers[p] = takers.get(p, 0) + 1
    check(what + ": each path once", len(place) == len(got))
    check(what + ": all paths", set(place) == set(takers),
          sorted(set(place) ^ set(takers))[:5])
    ncompared, wrong = 0, []
    for part in parts:
        last = -1
        for p in part:
            at = place.get(p, -1)
            if takers[p] == 1:
                ncompared += 1
                if at <= last:
                    wrong.append(p)
            last = max(last, at)
    check(what + ": order of each thread", not wrong, wrong[:5])
    return ncompared


# --- the tests --------------------------------------------------------------
def whole_program(source, exe, i, flags, mode):
    """How many paths were compared."""
    what = "/".join((os.path.basename(source), *flags[:1],
                     ("one", "loops", "nogs")[i]))
    try:
        program = Program(source, exe, flags, random.Random(what), mode)
        parts, [(file, got)] = program.run()
    except run.Broken as broken:
        check(what, False, broken)
        return 0
    same_order(what, parts[0], got.paths)
    program.against_cairn(what, file)
    return len(got.paths)


def whole_programs(scratch):
    sources = [os.path.join(HERE, name) for name in (
        "nest.c", "gotos.c", "irreducible.c", "recursion.c", "order.c")]
    source = os.path.join(scratch, "random.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(generate.write(random.Random(1).randrange(1 << 30), run.BATCH,
                               os.path.join(HERE, "log.h")))
    for source in [*sources, source]:
        for i, (flags, mode) in enumerate((
                (("-O0",), ""), (run.OPTIMIZABLE, ""), (("-O0",), ",nogs"))):
            exe = os.path.join(scratch, "%s%d" % (
                os.path.basename(source).replace(".", "_"), i))
            yield whole_program, source, exe, i, flags, mode


def ends(program):
    parts, [(file, got)] = program.run("kill", status=-signal.SIGKILL)
    same_order("killed", parts[0], got.paths)
    check("killed: something", len(got.paths) > 200, len(got.paths))
    program.against_cairn("killed", file, ["F1"])

    parts, [(file, got)] = program.run("late")
    same_order("in an exit handler", parts[0], got.paths)
    program.against_cairn("in an exit handler", file)

    parts, files = program.run("fork")
    check("fork: two files", len(files) == 2)
    for file, got in files:
        what = "fork, child" if got.is_forked else "fork, parent"
        same_order(what, parts[1 if got.is_forked else 0], got.paths)
        program.against_cairn(what, file)


def counted(profile):
    """All paths of a file."""
    listed = json.loads(run.call([CAIRN, "paths", "--json", "--top", "0",
                                  profile]))
    return {(f["name"], int(p["number"]))
            for f in listed["functions"] for p in f["paths"]}


def full(program):
    parts, [(file, got)] = program.run("full")
    same_order("full", parts[0][:len(got.paths)], got.paths)
    check("full: records", len(got.all) == MAX, len(got.all))
    check("full: left out", got.left_out == len(
        counted(file) - set(got.all)) > 1000, got.left_out)
    listed = program.against_cairn("full", file)
    row = listed["files"][0]
    check("full: row", row["untested_paths"] - row["ordered_paths"] ==
          row["order_left_out"] == got.left_out, row)
    text = subprocess.run([CAIRN, "residual", "--tested", program.tested, file],
                          check=False, capture_output=True, text=True).stdout
    check("full: said", "first occurrence: %d; it was full" % got.left_out
          in text)


def handlers(program):
    parts, [(file, got)] = program.run("handler")
    check("handler: compared", fits_threads("handler", parts, got.paths) > 20)
    program.against_cairn("handler", file)
    parts, files = program.run("handler-fork")
    check("fork in a handler: two files", len(files) == 2)
    for file, got in files:
        if got.is_forked:
            check("fork in a handler: the child has no order",
                  not got.is_there)
        else:
            fits_threads("fork in a handler", parts, got.paths)
        # a frame that begins where the handler interrupted it
        program.against_cairn("fork in a handler", file, ["C4"])


def threads(program):
    parts, [(file, got)] = program.run("threads")
    check("threads: compared", fits_threads("threads", parts, got.paths) > 100)
    program.against_cairn("threads", file)
    _, [(file, got)] = program.run("crowd")
    program.against_cairn("crowd", file)
    check("crowd: each path once", len(got.all) == len(set(got.all)))
    check("crowd: all paths", set(got.all) == counted(file))
    check("crowd: room", got.left_out == 0, got.left_out)


def written(program):
    """Packed and merged files."""
    _, [(file, got)] = program.run("late")
    pack, merge = program.exe + ".pack.cairn", program.exe + ".merge.cairn"
    run.call([CAIRN, "pack", "-o", pack, file])
    with open(pack, "rb") as f:
        order = run.decode.decode(f.read(), [])["order"]
    check("packed", [tuple(p[1:]) for p in order["paths"]] == got.all)
    program.against_cairn("packed", pack)
    _, [(other, _)] = program.run("late")
    run.call([CAIRN, "merge", "-o", merge, pack, other])
    with open(merge, "rb") as f:
        check("merged: no order",
              run.decode.decode(f.read(), [])["order"] is None)
    program.against_cairn("merged", merge)


def all_ends(exe, flags):
    program = Program(os.path.join(HERE, "order.c"), exe, flags,
                      random.Random(1))
    for test in (ends, full, handlers, threads, written):
        try:
            test(program)
        except run.Broken as broken:
            check(test.__name__, False, broken)
    return 0


def attempt(job):
    """How much passed, what failed, and how many paths were compared."""
    global passed, failed
    passed, failed = 0, []
    total = job[0](*job[1:])
    return passed, failed, total


def main():
    global passed
    parser = argparse.ArgumentParser(description="Order of untested paths.")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    scratch = options.keep or tempfile.mkdtemp(prefix="cairn-order-")
    os.makedirs(scratch, exist_ok=True)
    jobs = [(all_ends, os.path.join(scratch, "ends%d" % i), flags)
            for i, flags in enumerate((("-O0",), run.OPTIMIZABLE))]
    jobs += whole_programs(scratch)
    total = 0
    try:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for good, bad, compared in pool.map(attempt, jobs):
                passed += good
                failed.extend(bad)
                total += compared
        check("enough was compared", total > 500, total)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(failed + ["order: %d passed, %d failed" % (
        passed, len(failed))]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
