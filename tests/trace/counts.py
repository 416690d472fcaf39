#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts from traces are those of builds that count.

    counts.py [--keep DIR] [--seeds N] [TEST...]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)
    QUICK=1      only at -O2, fewer random programs, and long programs without
                 the second decoder

Programs of the other tests, and random ones (csmith), are built with
--cairn=edges, --cairn=paths and --cairn=trace.  Each has to print what the
plain build prints.  What `cairn report` and `cairn paths` say of the trace must
be what they say of the others: entries of all functions, blocks and edges of
those with the same graph, counts of lines, and the numbers and counts of paths
of those with the same hash.  How many functions were so compared, and how many
have another graph, since marks keep the optimizer from something, is on a line
of its own.

Then what is made of traces: `merge` of two is twice the counts, `pack` and
`pack --best` keep them, and tools/decode.py, the second decoder, has them, too.
And the other encodings, trace,witness and trace,paths, must have the same counts
of blocks, lines and paths, and the same path traces (twpp), as trace has, for
those programs that are not long.
One line for each failure; the last line counts.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "programs"))
sys.path.insert(0, os.path.join(TESTS, "csmith"))
from profiles import (Broken, CAIRN, CAIRN_CC, CAIRN_CXX, ROOT,  # noqa: E402
                      call, check, counts_differ, lines, read)
import run as csmith  # noqa: E402

PROGRAMS = {
    "control": ["programs/control.c"],
    "interpreter": ["programs/interpreter.c"],
    "jumps": ["programs/jumps.c"],
    "leaves": ["programs/leaves.c"],
    "musttail": ["programs/musttail.c"],
    "trips": ["programs/trips.c"],
    "gotos": ["programs/gotos.c"],
    "shapes": ["programs/shapes_main.cpp", "programs/shapes.cpp", "-pthread"],
    "irreducible": ["paths/irreducible.c"],
    "nest": ["paths/nest.c"],
    "recursion": ["paths/recursion.c"],
    "throw": ["paths/throw.cpp"],
    "exit_callee": ["battery/exit_callee.c", "battery/battery.c"],
    "longjmp_loop": ["battery/longjmp_loop.c", "battery/battery.c"],
    "setjmp_loop": ["battery/setjmp_loop.c", "battery/battery.c"],
    "rethrow": ["battery/rethrow.cpp", "battery/battery.c"],
    "unwind_dtor": ["battery/unwind_dtor.cpp", "battery/battery.c"],
    "tail_recursion": ["battery/tail_recursion.c", "battery/battery.c"],
}
LACKS = (2, 99)  # status of programs that lack a file, or their environment
QUICK = os.environ.get("QUICK", "0") not in ("", "0")
LEVELS = ("-O2",) if QUICK else ("-O2", "-O0", "-O1")
MODES = ("edges", "paths", "trace")
ENCODINGS = ("trace,witness", "trace,paths")
LONG = ("trips", "musttail", "tail_recursion", "threads")
SEEDS = 4 if QUICK else 12


class Compared:
    """How many functions that ran were compared, by edges and by paths, and
    how many have another graph than in the edges build."""

    def __init__(self):
        self.edges = self.paths = self.other = 0

    def add(self, other):
        self.edges += other.edges
        self.paths += other.paths
        self.other += other.other


def build(compiler, words, directory, mode):
    exe = os.path.join(directory, mode)
    flags = ["--cairn=" + mode] if mode != "plain" else []
    sources = [w if w[0] in "-/" else os.path.join(TESTS, w) for w in words]
    objects = []
    for i, source in enumerate(s for s in sources if s[0] == "/"):
        objects.append("%s.%d.o" % (exe, i))
        as_cxx = source.endswith(".cpp")
        call([compiler[as_cxx], *flags, *[s for s in sources if s[0] == "-"],
              "-w", "-c", source, "-o", objects[-1]])
    any_cxx = any(s.endswith(".cpp") for s in sources)
    call([compiler[any_cxx], *flags, *[s for s in sources if s[0] == "-"],
          *objects, "-o", exe])
    return exe


def execute(exe, directory, prepare=None):
    done = subprocess.run([exe], capture_output=True, timeout=csmith.TIMEOUT,
                          preexec_fn=prepare,
                          env=dict(os.environ, CAIRN_OUT=exe + ".cairn",
                                   PATHS_LOG=exe + ".log",
                                   BATTERY_TRUTH=directory),
                          cwd=directory, check=False)
    if done.returncode in LACKS:
        raise Broken("%s: status %d: %s" % (exe, done.returncode, done.stderr))
    return done.returncode, done.stdout


def paths(profile):
    """{(name, file, hash): ({number: count}, unfinished frames)}"""
    document = json.loads(call([CAIRN, "paths", "--json", profile]))
    return {(f["name"], f["file"], f["hash"]):
            ({p["number"]: p["count"] for p in f["paths"]},
             sorted((u["block"], u["sum"], u["frames"])
                    for u in f["unfinished"]))
            for f in document["functions"]}


def compare_edges(edges, trace, compared):
    said = ["%s is in one build only" % key[1]
            for key in edges.keys() ^ trace.keys()]
    for key in edges.keys() & trace.keys():
        a, b = trace[key], edges[key]
        if not a.covered or not b.covered:
            if a.covered != b.covered:
                said.append("%s is covered in one build only" % a.name)
        elif not a.exact or not b.exact:
            said.append("%s is not exact" % a.name)
        elif [e[:3] for e in a.edges] == [e[:3] for e in b.edges]:
            compared.edges += bool(a.entries)
            said += counts_differ(a, b)
        else:
            compared.other += bool(a.entries)
            if a.entries != b.entries:
                said.append("%s: %s entries, not %s" % (a.name, a.entries,
                                                        b.entries))
    return said


def compare_paths(a, b, compared):
    said = []
    for key in a.keys() & b.keys():
        compared.paths += 1
        if a[key] != b[key]:
            said.append("%s: paths are %r, not %r" % (key[0], b[key], a[key]))
    return said


def times(counts, factor):
    return {key: (factor * (f.entries or 0),
                  [factor * (n or 0) for n in f.blocks])
            for key, f in counts.items()}


def check_tools(profile, directory, counts):
    """merge, pack and pack --best."""
    other = profile + ".2"
    shutil.move(profile, other)
    execute(profile[:-len(".cairn")], directory)
    out = os.path.join(directory, "out.cairn")
    call([CAIRN, "merge", "-o", out, profile, other])
    check(out)
    if times(read(out), 1) != times(counts, 2):
        raise Broken("merge: counts are not twice those of one")
    for option in ([], ["--best"]):
        call([CAIRN, "pack", *option, "-o", out, profile])
        check(out)
        if times(read(out), 1) != times(counts, 1):
            raise Broken("pack %s: other counts" % " ".join(option))
        again = os.path.join(directory, "again.cairn")
        call([CAIRN, "pack", "-o", again, out])
        if times(read(again), 1) != times(counts, 1):
            raise Broken("pack of pack %s: other counts" % " ".join(option))


def check_decoder(profile):
    """tools/decode.py, which knows docs/FORMAT.md only, counts the same."""
    report = profile + ".json"
    with open(report, "w", encoding="utf-8") as f:
        f.write(call([CAIRN, "report", "--json", profile]))
    call([sys.executable, os.path.join(ROOT, "tools", "decode.py"),
          "--compare", report, profile])


def compare(words, directory, compared, tools=False, encodings=()):
    plain = execute(build(("clang-19", "clang++-19"), words, directory,
                          "plain"), directory)
    files = {}
    for mode in MODES:
        exe = build((CAIRN_CC, CAIRN_CXX), words, directory, mode)
        ours = execute(exe, directory)
        if ours != plain:
            raise Broken("%s: status and stdout are %r, not %r" % (
                mode, ours, plain))
        files[mode] = exe + ".cairn"
        check(files[mode])
    trace = read(files["trace"])
    said = compare_edges(read(files["edges"]), trace, compared)
    said += compare_paths(paths(files["paths"]), paths(files["trace"]),
                          compared)
    if not said and "-g" in words:
        a, b = lines(files["edges"]), lines(files["trace"])
        said += ["%s:%d: %d, not %d" % (*key, b[key], a[key])
                 for key in sorted(a.keys() | b.keys()) if a[key] != b[key]]
    if said:
        raise Broken("; ".join(said[:3]))
    if tools:
        check_tools(files["trace"], directory, trace)
        if encodings or not QUICK:
            check_decoder(files["trace"])
    for mode in encodings:
        compare_encoding(mode, words, directory, files["trace"], trace, tools)


def compare_encoding(mode, words, directory, trace, counts, tools):
    exe = build((CAIRN_CC, CAIRN_CXX), words, directory, mode)
    execute(exe, directory)
    other = exe + ".cairn"
    check(other)
    if times(read(other), 1) != times(counts, 1):
        raise Broken("%s: other counts of blocks" % mode)
    if paths(other) != paths(trace):
        raise Broken("%s: other counts of paths" % mode)
    if (call([CAIRN, "twpp", "--json", other]) !=
            call([CAIRN, "twpp", "--json", trace])):
        raise Broken("%s: other path traces" % mode)
    if "-g" in words and lines(other) != lines(trace):
        raise Broken("%s: other counts of lines" % mode)
    if tools:
        check_tools(other, directory, counts)
        check_decoder(other)


def random_program(seed, directory):
    source = os.path.join(directory, "program.c")
    csmith.generate(seed, source)
    words = [source, csmith.LEVELS[seed % len(csmith.LEVELS)],
             *csmith.include_flags()]
    exe = build(("clang-19", "clang++-19"), words, directory, "plain")
    status, out = execute(exe, directory,
                          csmith.at_most(csmith.PLAIN_SECONDS))
    if csmith.is_too_long(status) or b"checksum = " not in out:
        raise csmith.Useless
    return words


def tests(options):
    """(name, function from a directory to words)"""
    for name, words in PROGRAMS.items():
        for level in LEVELS:
            yield name + level, lambda _, w=words, o=level: [*w, o, "-g"]
    for seed in range(1, options.seeds + 1):
        yield "csmith-%d" % seed, lambda d, s=seed: random_program(s, d)


def attempt(name, words, scratch, keep):
    """(what was compared, None or why it failed); None if it is useless."""
    directory = os.path.join(scratch, name)
    os.makedirs(directory)
    compared = Compared()
    try:
        compare(words(directory), directory, compared,
                tools=name.endswith("-O2"),
                encodings=() if name.startswith(LONG) else ENCODINGS)
        return compared, None
    except csmith.Useless:
        return None
    except Broken as broken:
        return compared, "FAIL %s: %s" % (name, str(broken)[:600])
    finally:
        if not keep:
            shutil.rmtree(directory)


def main():
    parser = argparse.ArgumentParser(description="Counts from traces.")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N")
    parser.add_argument("test", nargs="*")
    options = parser.parse_args()
    scratch = options.keep or tempfile.mkdtemp(prefix="cairn-counts-")
    rows = [row for row in tests(options) if not options.test or
            any(row[0].startswith(t) for t in options.test)]
    compared, passed, failed = Compared(), 0, 0
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for result in pool.map(lambda row: attempt(
                    *row, scratch, options.keep), rows):
                if not result:
                    continue
                compared.add(result[0])
                passed += not result[1]
                failed += bool(result[1])
                if result[1]:
                    print(result[1], flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print("functions compared by edges=%d by paths=%d with another graph=%d" %
          (compared.edges, compared.paths, compared.other))
    print("counts: %d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
