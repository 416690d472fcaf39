#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a replay walks over is what direct builds of the same source count.

    walk.py [--csmith N]

Each program is built with --cairn=record, edges, paths and trace.  From its
recording come the same counts of blocks and edges, the same paths and pairs of
them, and the same blocks in the same order, thread by thread, as from the other
three.  (Numbers
of blocks may differ, since calls split blocks in other places; what is compared
is that they are the same but for their names.)  Programs of csmith, too, and
each process of forked.c.  Ends with "N passed, M failed".
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "csmith"))
import run as csmith  # noqa: E402
from recorded import cairn, CAIRN, compile_program, recordings  # noqa: E402
from checks import check, finish  # noqa: E402
from profiles import Broken, call  # noqa: E402

MODES = ("record", "edges", "paths", "trace")
ENDS = ("exec", "search", "file", "at", "handler", "fail", "fail-handler",
        "fail-threads", "spawn", "_exit", "quick", "exit", "abort", "term")
PROGRAMS = ("walk.c", "walk.cpp", "throws.cpp", "calls.c")


def build(source, level, mode, work, flags=()):
    os.mkdir(work)
    return compile_program(source, os.path.join(work, "p"), level, "-g",
                           *flags, mode=mode)


def build_all(source, level, folder, flags=()):
    """File of each mode, of a run of each."""
    files = {}
    for mode in MODES:
        work = os.path.join(folder, mode)
        exe = build(source, level, mode, work, flags)
        with open(os.path.join(work, "input"), "w", encoding="ascii") as file:
            file.write("what it reads\n" * 50)
        subprocess.run([exe], cwd=work, timeout=600, check=False,
                       capture_output=True)
        files[mode] = recordings(work)[0]
    return files


def name_of(function):
    return function["name"], os.path.basename(function["file"] or "")


def counts(file, has_open_frames=False):
    """With frames that were there before, a trace does not know all paths: that
    is its reason, and its counts are right."""
    report = json.loads(call([CAIRN, "report", "--json", file]))
    return {name_of(f): ([b["count"] for b in f["blocks"]],
                         [(e["source"], e["target"], e["count"])
                          for e in f["edges"]])
            for f in report["functions"]
            if has_open_frames or f["reason"] is None}


def paths(file):
    report = json.loads(call([CAIRN, "paths", "--top", "0", "--json", file]))
    return {name_of(f): collections.Counter(
        {tuple(p["edges"]): p["count"] for p in f["paths"]})
            for f in report["functions"]}


def pairs(file):
    """Of paths across turns and calls, how many there are of each kind.  A
    trace leaves out calls that it knows to call nothing, a recording none."""
    report = json.loads(call([CAIRN, "overlap", "--top", "0", "--json", file]))
    found = collections.Counter(
        (p["kind"], p["from"]["function"], p["to"]["function"], p["count"])
        for p in report["pairs"])
    excluded = {kind: n for kind, n in report["excluded"].items()
                if kind not in ("unmarked", "all")}
    return {**found, "paths": report["paths"], "excluded": excluded}


def blocks(file):
    """Per thread: what it did, without the parts of blocks.  Threads of a
    trace that came one after the other can be in one stream."""
    threads = []
    for line in call([CAIRN, "trace", "--json", "--blocks", file]).splitlines():
        event = json.loads(line)
        kind = event["event"]
        if kind == "start":
            threads.append([])
        elif kind in ("enter", "leave", "death"):
            threads[-1].append((kind, event["function"]))
        elif kind == "block" and not event.get("part"):
            threads[-1].append((event["function"], event["id"]))
    return dict(enumerate(threads))


def first_difference(one, other):
    for key in sorted(set(one) | set(other), key=str):
        if one.get(key) != other.get(key):
            return f"{key}: {one.get(key)} and {other.get(key)}"
    return None


def same_but_for_names(one, other):
    there, back = {}, {}
    for thread in sorted(set(one) | set(other)):
        a, b = one.get(thread, []), other.get(thread, [])
        for i, (x, y) in enumerate(zip(a, b)):
            same = x[0] == y[0] and (
                x[1] == y[1] if isinstance(x[1], str) else
                there.setdefault(x, y) == y and back.setdefault(y, x) == x)
            if not same:
                return f"thread {thread}, event {i}: {x} and {y}"
        if len(a) != len(b):
            return f"thread {thread}: {len(a)} and {len(b)} events"
    return None


def drop_split(edges, traced):
    """A call that comes back twice splits a block, but not of edges."""
    for function in edges:
        if (function in traced and
                len(edges[function][0]) != len(traced[function][0])):
            edges[function] = traced[function]


def compare(name, files):
    recorded, traced = counts(files["record"]), counts(files["trace"])
    edges = counts(files["edges"])
    drop_split(edges, traced)
    check(name + " counts of a trace", first_difference(recorded, traced))
    check(name + " counts", first_difference(recorded, edges))
    check(name + " paths", first_difference(paths(files["record"]),
                                            paths(files["paths"])))
    check(name + " pairs", first_difference(pairs(files["record"]),
                                            pairs(files["trace"])))
    check(name + " blocks", same_but_for_names(blocks(files["record"]),
                                               blocks(files["trace"])))


def compare_child(name, files, has_handler):
    """Below a call that does not come back a trace loses its frames."""
    recorded = counts(files["record"], True)
    traced = counts(files["trace"], True)
    edges = counts(files["edges"], True)
    drop_split(edges, traced)
    check(name + " counts", first_difference(recorded, edges))
    if "last" in name:
        return
    check(name + " counts of a trace", first_difference(recorded, traced))
    if not has_handler:  # a context of its own; of a trace in its thread
        check(name + " blocks", same_but_for_names(blocks(files["record"]),
                                                   blocks(files["trace"])))


def try_forks(level, *arguments):
    """All processes of forked.c, by the names that they print."""
    roles = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            work = os.path.join(folder, mode)
            exe = build(os.path.join(HERE, "forked.c"), level, mode, work)
            said = call([exe, *arguments], cwd=work, env=dict(
                os.environ, CAIRN_OUT=os.path.join(work, "%p.cairn")))
            for role, pid in map(str.split, said.splitlines()):
                roles[role][mode] = os.path.join(work, pid + ".cairn")
        check(f"forked.c {level} processes", len(roles) != 6 and roles)
        for role, files in roles.items():
            compare_child(f"forked.c {level} {role}", files, arguments)


def end(exe, work, arguments):
    """The status, and the file, of a run that ends in an unusual way."""
    for file in recordings(work):
        os.remove(os.path.join(work, file))
    status = subprocess.run([exe, *arguments], cwd=work, timeout=600,
                            check=False, capture_output=True).returncode
    return status, recordings(work)[0]


def try_ends(level):
    """Frames are there, in branches, when exec or _exit ends them; handlers
    may have run before.  Everything is in the counts, and nothing is lost."""
    with tempfile.TemporaryDirectory() as folder:
        exes = {mode: build(os.path.join(HERE, "ended", "ends.c"), level, mode,
                            os.path.join(folder, mode)) for mode in MODES}
        for way in ENDS:
            for more in ((), ("handler",)):
                name = " ".join(["ends", level, way, *more])
                ends = {mode: end(exe, os.path.dirname(exe), (way, *more))
                        for mode, exe in exes.items()}
                files = {mode: file for mode, (_, file) in ends.items()}
                found = {mode: counts(file, True)
                         for mode, file in files.items()}
                check(name + " status", len(
                    {status for status, _ in ends.values()}) > 1 and ends)
                for mode in MODES[1:]:
                    check(f"{name} counts of {mode}",
                          first_difference(found["record"], found[mode]))
                for command, words in (("check", ": sound"),
                                       ("replay", ", identical\n")):
                    out = cairn(folder, command, files["record"])
                    check(f"{name} {command}", words not in out.stdout
                          and out)


def try_source(name, source, level, flags=()):
    with tempfile.TemporaryDirectory() as folder:
        try:
            compare(name, build_all(source, level, folder, flags))
        except (Broken, ValueError) as error:
            check(name, error)


def try_random(seed):
    """False if the program does not suit."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "random.c")
        try:
            csmith.generate(seed, source)
            files = build_all(source, csmith.LEVELS[seed % 2], folder,
                              csmith.include_flags())
        except (ValueError, subprocess.TimeoutExpired):
            return False
        if os.path.getsize(files["trace"]) > 1 << 20:
            return False  # too many blocks to compare them as text
        try:
            compare("csmith %d" % seed, files)
        except (Broken, ValueError) as error:
            check("csmith %d" % seed, error)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--csmith", type=int, default=2)
    options = parser.parse_args()
    for source in PROGRAMS:
        for level in ("-O0", "-O2"):
            try_source(f"{source} {level}", os.path.join(HERE, source), level)
    for level in ("-O0", "-O1", "-O2"):
        files = os.path.join(HERE, "files")
        try_source(f"files {level}", os.path.join(files, "one.cpp"), level,
                   [os.path.join(files, "two.cpp")])
    for level in ("-O0", "-O2"):
        try_forks(level)
    try_forks("-O2", "handler")
    for level in ("-O0", "-O2"):
        try_ends(level)
    seed = left = 1
    left = options.csmith
    while left > 0:
        left -= try_random(seed)
        seed += 1
    return finish()


sys.exit(main())
