#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cairn overlap finds the pairs of paths that programs had.

    run.py [--full] [--csmith N] [--drawn N] [--keep DIR] [TEST...]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)

Programs that keep books of their own pairs (books.h), in loops, calls, threads
and frames that die: cairn overlap must have as many different pairs of each
kind and of each two functions, and each as often.  So it must from the other
encodings of traces, which must give the same document, from recordings, and
from builds that count pairs.

Then other programs (--full: without optimization, too), and N random ones
(csmith): every pair must be within its bounds, from plain paths and at each
degree; no bound may get worse with the degree; at the highest degree all is
exact.  Pairs of loops and what is excluded must be as many as `cairn paths` has
paths that end with a back edge, and those of calls as many as `cairn report`
has entries.  N random C++ programs whose frames die (--drawn, generate.py): a
build that counts pairs has those of a trace, and leaves out the same.
One line for each failure; the last line counts.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "programs"))
sys.path.insert(0, os.path.join(TESTS, "csmith"))
from profiles import (Broken, CAIRN, CAIRN_CC, CAIRN_CXX, call,  # noqa: E402
                      read)
import generate  # noqa: E402
import run as csmith  # noqa: E402

BOOKS = {
    "loops": ["overlap/loops.c"],
    "calls": ["overlap/calls.c", "-pthread"],
    "deaths": ["overlap/deaths.cpp"],
    "tails": ["overlap/tails.c"],
}
OTHERS = {
    "invokes": ["overlap/invokes.cpp"],
    "exits": ["overlap/exits.c", "-pthread"],
    "control": ["programs/control.c"],
    "jumps": ["programs/jumps.c"],
    "musttail": ["programs/musttail.c"],
    "gotos": ["programs/gotos.c"],
    "shapes": ["programs/shapes_main.cpp", "programs/shapes.cpp", "-pthread"],
    "irreducible": ["paths/irreducible.c"],
    "nest": ["paths/nest.c"],
    "recursion": ["paths/recursion.c"],
    "throw": ["paths/throw.cpp"],
    "longjmp_loop": ["battery/longjmp_loop.c", "battery/battery.c"],
    "setjmp_loop": ["battery/setjmp_loop.c", "battery/battery.c"],
    "unwind_dtor": ["battery/unwind_dtor.cpp", "battery/battery.c"],
}
ENCODINGS = ("trace", "trace,witness", "trace,paths", "record",
             "paths,overlap")
COUNTED = "paths,overlap"  # few tail calls, and it sees no code without marks
LEAVE = ("tails",)  # pairs of what it calls so are not counted
TAILS = (BOOKS["tails"], OTHERS["musttail"])  # no trace has these return
LACKS = (2, 99)  # status of programs that lack a file, or their environment
EXCLUDED = ("irreducible", "entered", "unfinished_call", "unfinished_return")
CALL_FOREIGN = ("calls", "deaths")  # functions that no compiler knows
KINDS = ("loop", "call", "return", "all")
LEAVES = ("return", "noreturn", "resume", "stop")


def build(words, exe, mode, level):
    sources = [w if w[0] in "-/" else os.path.join(TESTS, w) for w in words]
    cxx = any(s.endswith(".cpp") for s in sources)
    objects = []
    for i, source in enumerate(s for s in sources if s[0] == "/"):
        objects.append("%s.%d.o" % (exe, i))
        compiler = CAIRN_CXX if source.endswith(".cpp") else CAIRN_CC
        call([compiler, "--cairn=" + mode, level, "-g", "-w",
              *[s for s in sources if s[0] == "-"], "-c", source, "-o",
              objects[-1]])
    call([CAIRN_CXX if cxx else CAIRN_CC, "--cairn=" + mode,
          *[s for s in sources if s[0] == "-"], *objects, "-o", exe])


def execute(exe, folder, *words):
    """What it printed, and its profile."""
    profile = exe + ".cairn"
    if os.path.exists(profile):
        os.remove(profile)
    done = subprocess.run([exe, *words], capture_output=True, text=True, timeout=600,
                          errors="replace", cwd=folder, check=False,
                          env=dict(os.environ, CAIRN_OUT=profile,
                                   PATHS_LOG=exe + ".log",
                                   BATTERY_TRUTH=folder))
    if done.returncode in LACKS:
        raise Broken("%s: status %d: %s" % (exe, done.returncode, done.stderr))
    return done.stdout, profile


def overlap(profile, *options):
    return json.loads(call([CAIRN, "overlap", "--json", "--top", "0",
                            *options, profile]))


def plain_name(name):
    return name.split("(")[0]


def compare_books(printed, document):
    """What is wrong with the pairs that a program has in its books."""
    said = [] if printed else ["it has no books"]
    for line in printed.splitlines():
        kind, first, second, *counts = line.split()
        want = sorted(map(int, counts))
        got = sorted(p["count"] for p in document["pairs"]
                     if p["kind"] == kind and
                     plain_name(p["from"]["function"]) == first and
                     plain_name(p["to"]["function"]) == second)
        if got != want:
            said.append("%s %s to %s: %d pairs, %d in all, not %d, %d" % (
                kind, first, second, len(got), sum(got), len(want),
                sum(want)))
    return said


def check_sums(sums):
    said = []
    for before, now in zip(sums, sums[1:]):
        for kind in KINDS:
            a, b = before[kind], now[kind]
            if not b["definite"] <= b["tight_definite"] <= b["real"] <= \
                    b["potential"]:
                said.append("%s at %s: %s" % (kind, now["degree"], b))
            if b["potential"] > a["potential"] or \
                    b["tight_definite"] < a["tight_definite"] or \
                    b["exact"] < a["exact"]:
                said.append("%s gets worse at %s" % (kind, now["degree"]))
    last = sums[-1]["all"]
    if not last["definite"] == last["real"] == last["potential"] or \
            last["exact"] != last["pairs"]:
        said.append("the highest degree is not exact: %s" % last)
    return said


def check_bounds(document):
    said = check_sums([document["plain"], *document["degrees"]])
    for p in document["pairs"]:
        if not p["lower"] <= p["tight_lower"] <= p["count"] <= p["upper"] or \
                not p["plain_lower"] <= p["plain_tight_lower"] <= \
                p["count"] <= p["plain_upper"]:
            said.append("a pair is out of bounds: %s" % p)
    for kind in KINDS[:-1]:
        total = sum(p["count"] for p in document["pairs"]
                    if p["kind"] == kind)
        if total != document["plain"][kind]["real"]:
            said.append("%s: pairs sum up to %d" % (kind, total))
    return said


def check_flow(document, profile):
    """Pairs and what is excluded are all there is."""
    excluded, plain = document["excluded"], document["plain"]
    paths = json.loads(call([CAIRN, "paths", "--json", profile]))
    ends = {}
    for function in paths["functions"]:
        for p in function["paths"]:
            kind = p["end"]["kind"]
            ends[kind] = ends.get(kind, 0) + p["count"]
    loops = plain["loop"]["real"] + excluded["unfinished_loop"]
    # other ends of paths may enter a loop, which is no pair
    least = ends.get("back", 0)
    most = sum(n for kind, n in ends.items() if kind not in LEAVES)
    said = []
    if excluded["irreducible"]:
        said.append("%d turns of loops with several entries are in no pair"
                    % excluded["irreducible"])
    if not least <= loops <= most:
        said.append("%d pairs of loops for %s" % (loops, ends))
    entries = sum(f.entries for f in read(profile).values() if f.covered)
    calls = plain["call"]["real"] + excluded["unfinished_call"] + \
        excluded["entered"]
    if calls != entries:
        said.append("%d calls for %d entries" % (calls, entries))
    return said


def check_excluded(document, first, keys):
    """What a build says it leaves out is what the trace has."""
    return ["excluded: %s: %d, in the trace %d" % (
                key, document["excluded"][key], first["excluded"][key])
            for key in keys
            if document["excluded"][key] != first["excluded"][key]]


def pair_key(p):
    return (p["kind"], *((p[half]["function"], tuple(p[half]["blocks"]))
                         for half in ("from", "to")))


def check_tails(document, first):
    """A build has no pairs of tail calls, and says how many there were; all
    that it has are in the trace."""
    listed = {pair_key(p): p["count"] for p in first["pairs"]}
    said = ["not in the trace: %s, %d" % (pair_key(p), p["count"])
            for p in document["pairs"]
            if p["count"] != listed.get(pair_key(p))]
    for kind, key in (("call", "entered"), ("return", "unfinished_return")):
        a, b = (d["plain"][kind]["real"] + d["excluded"][key]
                for d in (document, first))
        if a != b or document["plain"][kind]["real"] >= \
                first["plain"][kind]["real"]:
            said.append("%s: %d in all, in the trace %d" % (kind, a, b))
    return said


def test_deep(name, folder, level):
    """Tail calls that would not fit on the stack stay what they are, in a
    build that makes calls of others."""
    plain = os.path.join(folder, "plain")
    source = os.path.join(HERE, name + ".c")
    call(["clang-19", level, "-w", source, "-o", plain])
    expected, _ = execute(plain, folder)
    exe = os.path.join(folder, name)
    build([source], exe, COUNTED, level)
    printed, profile = execute(exe, folder)
    if not printed or printed != expected:
        return ["printed %r, not %r" % (printed, expected)]
    document = overlap(profile, "--degree", "all")
    said = check_bounds(document)
    if not any(p["kind"] == "return" and p["from"]["function"] == "last" and
               p["to"]["function"] == "once" for p in document["pairs"]):
        said.append("no return of last to once")
    return said


def test_degrees(words, folder, level):
    """overlap=K is the degree that is shown, unless another one is asked
    for."""
    said = []
    for value, want in (("0", 0), ("2", 2), ("max", None), ("auto", "auto"),
                        ("loops", "auto")):
        exe = os.path.join(folder, value)
        build(words, exe, "paths,overlap=" + value, level)
        _, profile = execute(exe, folder)
        document = overlap(profile)
        if want is None:
            want = document["maximum_degree"]
        if want == "auto":
            want = overlap(profile, "--degree", "auto")["degree"]
        if document["degree"] != want or \
                overlap(profile, "--degree", "1")["degree"] != 1:
            said.append("overlap=%s: degree %s" % (value, document["degree"]))
        calls = document["plain"]["call"]["real"]
        if bool(calls) == (value == "loops"):
            said.append("overlap=%s: %d calls" % (value, calls))
    return said


def test_books(name, folder, level):
    said, first = [], None
    for mode in ENCODINGS:
        exe = os.path.join(folder, mode.replace(",", "-"))
        build(BOOKS[name], exe, mode, level)
        printed, profile = execute(exe, folder)
        document = overlap(profile, "--degree", "all")
        if mode == COUNTED and name in LEAVE:
            said += check_bounds(document) + check_tails(document, first)
            continue
        said += ["%s: %s" % (mode, s) for s in
                 compare_books(printed, document) + check_bounds(document)]
        if mode == "record":
            continue
        if mode == COUNTED:
            said += check_excluded(document, first, EXCLUDED)
            # not those of functions that the compiler knows to have no marks
            unmarked = document["excluded"]["unmarked"]
            if unmarked > first["excluded"]["unmarked"] or \
                    bool(unmarked) != (name in CALL_FOREIGN):
                said.append("unmarked: %d" % unmarked)
            if document["pairs"] != first["pairs"]:
                said.append("%s: not the pairs that the trace has" % mode)
            continue
        said += ["%s: %s" % (mode, s) for s in check_flow(document, profile)]
        document.pop("program")
        first = first or document
        if document != first:
            said.append("%s: not what the trace has" % mode)
    return said


def place_of(p):
    """Where a pair is joined: a loop's head, or a call and who it is of."""
    start, behind = p["from"], p["to"]
    if p["kind"] == "loop":
        return "loop", behind["function"], behind["blocks"][0]
    if p["kind"] == "call":
        return ("call", start["function"], start["blocks"][-1],
                behind["function"])
    return "return", behind["function"], behind["blocks"][0], start["function"]


def pairs_by_place(document):
    places = {}
    for p in document["pairs"]:
        name = json.dumps([p["kind"], p["from"], p["to"]])
        pairs = places.setdefault(place_of(p), {})
        pairs[name] = pairs.get(name, 0) + p["count"]
    return places


def compare_preferred(document, whole, name):
    """A place has all of its pairs, or none, and these are said to be
    missing."""
    said, places = [], pairs_by_place(document)
    all_places, left_out = pairs_by_place(whole), document["not_marked"]
    for place, pairs in all_places.items():
        if places.pop(place, pairs) != pairs:
            said.append("%s: not the pairs that all marks have" % (place,))
    said += ["%s: has pairs, and should have none" % (p,) for p in places]
    for kind, others in (("loop", ("irreducible", "unfinished_loop")),
                         ("call", ("entered",))):
        a, b = (d["plain"][kind]["real"] + d["not_marked"][kind] +
                sum(d["excluded"][key] for key in others)
                for d in (document, whole))
        if a != b:
            said.append("%s: %d in all, not %d" % (kind, a, b))
    if whole["not_marked"]["all"]:
        said.append("all marks, and some are not: %s" % whole["not_marked"])
    if name not in CALL_FOREIGN and left_out["call"] != \
            whole["plain"]["call"]["real"] - document["plain"]["call"]["real"]:
        said.append("calls: %d not marked" % left_out["call"])
    return said


def test_preferred(name, folder, level):
    """Marks only where an earlier run, of this build or of one without pairs,
    had many pairs."""
    said, whole, nleft = [], None, 0
    for first, share in (("paths,overlap", "100"), ("paths,overlap", "80"),
                         ("paths", "95"), ("edges", "60")):
        exe = os.path.join(folder, first.replace(",", "-"))
        build(BOOKS[name], exe, first, level)
        profile = execute(exe, folder)[1]
        whole = whole or overlap(profile, "--degree", "all")
        exe += share
        build(BOOKS[name], exe, "paths,overlap,share=%s,prefer=%s" % (
            share, profile), level)
        document = overlap(execute(exe, folder)[1], "--degree", "all")
        nleft += document["not_marked"]["all"]
        said += ["%s, %s %%: %s" % (first, share, s) for s in
                 check_bounds(document) +
                 compare_preferred(document, whole, name)]
        if share == "100" and document["not_marked"]["all"]:
            said.append("all is to be marked: %s" % document["not_marked"])
        text = call([CAIRN, "overlap", exe + ".cairn"])
        if document["not_marked"]["all"] and "not marked by prefer: %d," % (
                document["not_marked"]["all"]) not in text:
            said.append("the text does not say it")
    if not nleft:
        said.append("all is marked")
    return said


def test_other(words, folder, level):
    exe = os.path.join(folder, "traced")
    build(words, exe, "trace", level)
    _, profile = execute(exe, folder)
    document = overlap(profile, "--degree", "all")
    return check_bounds(document) + check_flow(document, profile)


def by_halves(pairs, *keys):
    """Sums over pairs with the same halves."""
    sums = {}
    for p in pairs:
        halves = (p["kind"], *((h["function"], tuple(h["blocks"]))
                               for h in (p["from"], p["to"])))
        old = sums.get(halves, (0,) * len(keys))
        sums[halves] = tuple(a + p[k] for a, k in zip(old, keys))
    return sums


def compare_same(words, folder, level):
    """What is wrong with the pairs of a build, compared with those of a trace,
    and the documents of both.  Of functions whose paths were cut some may be
    missing; a cut behind a loop may have completed a pair of its turns."""
    documents, said = [], []
    for mode in ("trace", COUNTED):
        exe = os.path.join(folder, mode)
        build(words, exe, mode, level)
        _, profile = execute(exe, folder)
        call([CAIRN, "check", profile])
        documents.append(overlap(profile, "--degree", "all"))
        said += ["%s: %s" % (mode, s) for s in check_bounds(documents[-1])]
    traced, counted = (by_halves(d["pairs"], "count") for d in documents)
    cut = documents[1]["cut_functions"]
    for key in traced.keys() | counted.keys():
        a, = traced.get(key, (0,))
        b, = counted.get(key, (0,))
        is_cut = {half[0] for half in key[1:]} & set(cut)
        if a != b and (not is_cut or (a < b and key[0] != "loop")):
            said.append("%s: %s, not %s" % (key, b, a))
    return said, documents


def test_same(words, folder, level):
    """A build that counts pairs has those of a trace."""
    return compare_same(words, folder, level)[0]


def test_drawn(seed, folder, level):
    """The same of a random C++ program whose frames die; and it leaves out what
    the trace leaves out."""
    source = os.path.join(folder, "drawn.cpp")
    with open(source, "w", encoding="utf-8") as out:
        out.write(generate.write(seed))
    said, (traced, counted) = compare_same([source], folder, level)
    if not counted["cut_functions"]:
        said += check_excluded(counted, traced, (
            *EXCLUDED, "unfinished_loop", "cut"))
    return said


def test_cuts(words, folder, level):
    """Halves of turns are no turns: what paths were cut in is left out, and
    said."""
    said, (traced, counted) = compare_same(words, folder, level)
    for kind in ("loop", "call"):
        a, b = (d["plain"][kind]["real"] for d in (traced, counted))
        if not b < a:
            said.append("%s: %d of %d" % (kind, b, a))
    if counted["cut_functions"] != ["many"]:
        said.append("cut: %s" % counted["cut_functions"])
    return said


def test_plain(words, folder, level):
    """From paths alone: what a trace counts is within the bounds, and the sums
    are those that the trace has where it has the same calls."""
    said, documents = [], []
    for mode in ("paths", "trace"):
        exe = os.path.join(folder, mode)
        build(words, exe, mode, level)
        _, profile = execute(exe, folder)
        documents.append(overlap(profile))
    plain, traced = documents
    counts = by_halves(traced["pairs"], "count")
    bounds = by_halves(plain["pairs"], "lower", "tight_lower", "upper")
    for halves, (lower, tight, upper) in bounds.items():
        count, = counts.get(halves, (0,))
        if not lower <= tight <= count <= upper and not (
                halves[0] == "return" and words in TAILS):
            said.append("%s: %d is not in [%d, %d]" % (halves, count, tight,
                                                       upper))
    loops = [d["plain"]["loop"] for d in documents]
    loops[0]["real"] = loops[1]["real"] if loops[0]["real"] is None else -1
    if loops[0] != loops[1]:
        said.append("loops: %s, in the trace %s" % tuple(loops))
    if not bounds or any(p["count"] is not None for p in plain["pairs"]):
        said.append("%d pairs" % len(bounds))
    return said


def test_weak(words, folder, level):
    """Calls are of the function that was linked, not of the weak one."""
    exe, said = os.path.join(folder, "weak"), []
    build(words, exe, COUNTED, level)
    _, profile = execute(exe, folder)
    ways = {}
    for p in overlap(profile)["pairs"]:
        if p["kind"] == "call" and p["to"]["function"] == "chosen":
            way = tuple(p["to"]["blocks"])
            ways[way] = ways.get(way, 0) + p["count"]
    if sorted(ways.values()) != [33, 33, 33]:
        said.append("calls by way: %s" % ways)
    return said


def test_wrapped(words, folder, level):
    """Whom --wrap puts in the place of a function is no other.  The map of lld
    would say so: it is refused, unless there are no pairs across calls."""
    exe = os.path.join(folder, "wrapped")
    build([*words, "-fuse-ld=bfd"], exe, COUNTED, level)
    printed, profile = execute(exe, folder)
    said = compare_books(printed, overlap(profile))
    build([*words, "-fuse-ld=lld"], exe, COUNTED + "=loops", level)
    try:
        build([*words, "-fuse-ld=lld"], exe, COUNTED, level)
        said.append("lld is not refused")
    except Broken as why:
        if "lld and --wrap=called: pairs" not in str(why):
            said.append(str(why))
    return said


def test_shared(words, folder, level):
    """Tail calls that share a return have their own callees."""
    said = []
    for mode in ("trace", "trace,witness", "record"):
        exe = os.path.join(folder, mode)
        build(words, exe, mode, level)
        printed, profile = execute(exe, folder)
        said += compare_books(printed, overlap(profile))
    return said


# Who calls whom, in placed.c and given.c, and how often.
IN_LIBRARY = {("given", "helps"): 30, ("given", "aids"): 30}
CALLED = {("uses", "given"): 30, **IN_LIBRARY}
PLACED = {
    # name: what the executable, the library and the one in its place are built
    # with (None: there is none); calls of functions with marks
    "called": ([], [], None, CALLED),
    "one": ([], [], [], IN_LIBRARY),
    "all": ([], [], ["-DALL"], {}),
    "symbolic": ([], ["-Wl,-Bsymbolic-functions"], ["-DALL"],
                 IN_LIBRARY),
    "protected": ([], ["-fvisibility=protected"], ["-DALL"], IN_LIBRARY),
    "local": ([], ["-fno-semantic-interposition"], ["-DALL"], IN_LIBRARY),
    "fixed": (["-fno-pic", "-no-pie"], [], None, CALLED),
    "fixed-one": (["-fno-pic", "-no-pie"], [], [], IN_LIBRARY),
    "lld": (["-fuse-ld=lld"], ["-fuse-ld=lld"], [], IN_LIBRARY),
    "lld-fixed": (["-fuse-ld=lld", "-fno-pic", "-no-pie"], ["-fuse-ld=lld"],
                  None, CALLED),
    "gold": (["-fuse-ld=gold"], ["-fuse-ld=gold"], None, CALLED),
    "gold-fixed": (["-fuse-ld=gold", "-fno-pic", "-no-pie"], [], [],
                   IN_LIBRARY),
    "weak": (["-DSHARED"], ["-DSHARED"], [], {
        **IN_LIBRARY, ("given", "shared"): 30, ("main", "shared"): 1}),
    "now": (["-Wl,-z,now"], ["-Wl,-z,now"], [], IN_LIBRARY),
    "lto": (["-flto", "-fuse-ld=lld"], ["-flto", "-fuse-ld=lld"], [],
            IN_LIBRARY),
}


def calls_by_name(document):
    sums = {}
    for p in document["pairs"]:
        if p["kind"] == "call":
            key = p["from"]["function"], p["to"]["function"]
            sums[key] = sums.get(key, 0) + p["count"]
    return sums


def build_placed(folder, mode, options, level):
    """An executable, and libraries that it is given: the first goes before."""
    in_exe, in_library, in_place, _ = options
    exe = os.path.join(folder, "placed-" + mode)
    files = [os.path.join(folder, "lib%s-%s.so" % (name, mode))
             for name in ("between", "given", "late")]
    for path in files[1:]:
        call([CAIRN_CC, "--cairn=" + mode, level, "-g", "-w", "-fPIC",
              *in_library, *(["-DLATE"] if path == files[2] else []),
              "-shared", os.path.join(HERE, "given.c"), "-o", path])
    call(["clang-19", level, "-w", "-fPIC", "-shared", *(in_place or []),
          os.path.join(HERE, "between.c"), "-o", files[0]])
    first = files[:1] if in_place is not None else []
    call([CAIRN_CC, "--cairn=" + mode, level, "-g", "-w", *in_exe,
          os.path.join(HERE, "placed.c"), "-Wl,--no-as-needed", *first,
          files[1], "-Wl,-rpath," + folder, "-ldl", "-o", exe])
    return exe, files


def placed_pairs(name, is_late):
    """Calls that placed.c makes, without those of main.  The library that is
    loaded later calls what comes before it."""
    want = dict(PLACED[name][3])
    if is_late:
        for pair in (*IN_LIBRARY, ("given", "shared")):
            if pair in want:
                want[pair] += 20
        want["points", "given"] = 20
    return want


def compare_placed(document, want):
    got = calls_by_name(document)
    got.pop(("main", "uses"), None)
    got.pop(("main", "points"), None)
    return [] if got == want else ["%s, not %s" % (got, want)]


def test_placed(name, folder, level):
    """Whom a library without marks puts in the place of a function is no
    callee, though it calls that function, and all others are.  What is left out
    is told, and is the same."""
    said, told = [], {}
    for mode in ("trace", "record", COUNTED):
        if mode == "record" and ("fixed" in name or "gold" in name):
            continue  # which recordings do not take
        exe, files = build_placed(folder, mode, PLACED[name], level)
        for words in ([], [files[2]]):
            _, profile = execute(exe, folder, *words)
            call([CAIRN, "check", profile])
            document = overlap(profile)
            said += ["%s %s: %s" % (mode, words, s) for s in compare_placed(
                document, placed_pairs(name, words))]
            told.setdefault(len(words), []).append(document["excluded"])
    for first, *others in told.values():
        said += ["left out: %s, not %s" % (x, first)
                 for x in others if x != first]
    return said


def test_placed_killed(name, folder, level):
    """Where names led a process that is killed does not say, but for what it
    has unloaded; a build knows."""
    said = []
    for mode in ("trace", COUNTED):
        exe, files = build_placed(folder, mode, PLACED[name], level)
        _, profile = execute(exe, folder, files[2], "killed")
        want = placed_pairs(name, True)
        if mode == "trace":
            want = {("points", "given"): 20,
                    **{pair: 20 for pair in PLACED[name][3]
                       if pair in IN_LIBRARY}}
        said += ["%s: %s" % (mode, s) for s in compare_placed(
            overlap(profile), want)]
    return said


def test_handlers(words, folder, level):
    """No pair is of a path of the program and one of the handler, and none is
    missing."""
    exe = os.path.join(folder, "handlers")
    build(words, exe, COUNTED, level)
    out, profile = execute(exe, folder)
    ways, counts, said = {}, {"call": 0, "return": 0}, []
    for pair in overlap(profile, "--top", "1000")["pairs"]:
        ends = {pair["from"]["function"]: pair["from"]["blocks"],
                pair["to"]["function"]: pair["to"]["blocks"]}
        if "called" in ends and len(ends) == 2:
            other = "handles" if "handles" in ends else "main"
            ways.setdefault(other, set()).add(tuple(ends["called"]))
            if other == "main":
                counts[pair["kind"]] += pair["count"]
    if len(ways) != 2 or ways["main"] & ways["handles"]:
        said.append("ways of whom both call: %s" % ways)
    if set(counts.values()) != {int(out)}:
        said.append("%s pairs of %s calls" % (counts, out.strip()))
    return said


def test_forks(words, folder, level):
    """A child ends paths that its parent began: it is refused, the parent is
    not."""
    exe, said = os.path.join(folder, "forks"), []
    build(words, exe, COUNTED, level)
    subprocess.run([exe], stdout=subprocess.DEVNULL, timeout=600, check=True,
                   env=dict(os.environ, CAIRN_OUT=exe + ".%p.cairn"))
    profiles = glob.glob(exe + ".*.cairn")
    refused = 0
    for profile in profiles:
        done = subprocess.run([CAIRN, "overlap", "--json", profile], text=True,
                              capture_output=True, check=False)
        refused += done.returncode == 2 and "child of fork" in done.stderr
        if done.returncode == 0:
            document = overlap(profile, "--degree", "all")
            said += check_bounds(document)
            left_out = document["excluded"]
            if left_out["all"] - left_out["unmarked"] > 1:  # main
                said.append("excluded: %s" % document["excluded"])
    if len(profiles) != 2 or refused != 1:
        said.append("%d of %d processes refused" % (refused, len(profiles)))
    return said


def test_text(words, folder, level):
    """The same numbers as text, and what options do to it."""
    exe = os.path.join(folder, "traced")
    build(words, exe, "trace", level)
    _, profile = execute(exe, folder)
    document, said = overlap(profile, "--degree", "0"), []

    def text(*options):
        return call([CAIRN, "overlap", *options, profile])

    def expect(what, *options):
        if what not in " ".join(text(*options).split()):
            said.append("%s lacks '%s'" % (" ".join(options), what))

    for name, options in (("plain", ["--plain"]), ("bounds", []),
                          ("bounds", ["--lp"])):
        sums = document[name]["all"]
        definite = sums["tight_definite" if options == ["--lp"]
                        else "definite"]
        expect("all %d %d %d %+.1f%%" % (
            sums["pairs"], sums["real"], definite,
            100 * (definite / sums["real"] - 1)),
            *(options if name == "plain" else ["--degree", "0", *options]))
    sums = document["bounds"]["all"]
    expect("%d +0.0%% %d +0.0%% 100.0%%" % (sums["real"], sums["real"]),
           "--degree", "max")
    hot = document["pairs"][0]
    expect("%d %s [%d, %d]" % (hot["count"], hot["kind"], hot["lower"],
                               hot["upper"]), "--degree", "0", "--top", "1")
    expect("! %s %s b%s" % (
        hot["to"]["function"], hot["to"]["lines"],
        ".b".join(map(str, hot["to"]["blocks"]))), "--top", "1")
    if " main " in text("--function", "leaf", "--top", "0"):
        said.append("--function shows others")
    for options in (["--function", "nobody"], ["--degree", "x"]):
        done = subprocess.run([CAIRN, "overlap", *options, profile],
                              capture_output=True, check=False)
        if done.returncode != 2 or done.stdout or not done.stderr:
            said.append("%s: status %d" % (options, done.returncode))
    return said


def test_random(seed, folder, level):
    """None if the seed gives no program that ends."""
    source = os.path.join(folder, "random.c")
    try:
        csmith.generate(seed, source)
        return test_other([source, *csmith.include_flags()], folder, level)
    except (csmith.Useless, subprocess.TimeoutExpired):
        return None


def tests(options):
    for level in ("-O0", "-O2"):
        for name in BOOKS:
            yield name + level, test_books, name, level
        yield "preferred-loops" + level, test_preferred, "loops", level
        yield "preferred-calls" + level, test_preferred, "calls", level
    yield "preferred-deaths-O1", test_preferred, "deaths", "-O1"
    yield "preferred-tails-O2", test_preferred, "tails", "-O2"
    yield "deep-O2", test_deep, "deep", "-O2"
    for level in ("-O0", "-O2"):
        for name, words in OTHERS.items():
            if options.full or level == "-O2":
                yield name + level, test_other, words, level
    for level in ("-O1", "-O2", "-O3"):
        yield "same-invokes" + level, test_same, OTHERS["invokes"], level
    for level in ("-O0", "-O2"):
        yield "same-callbacks" + level, test_same, [
            "overlap/callbacks.c", "-fno-optimize-sibling-calls"], level
    yield "same-aliases", test_same, [
        "overlap/aliases.cpp", "overlap/alias.cpp"], "-O2"
    for level in ("-O0", "-O2"):
        yield "same-headers" + level, test_same, [
            "overlap/headers.cpp", "overlap/header.cpp",
            "-fno-optimize-sibling-calls"], level
    yield "shared", test_shared, ["overlap/shared.c"], "-O2"
    yield "wrapped", test_wrapped, [
        "overlap/wrapped.c", "overlap/wraps.c", "-Wl,--wrap=called"], "-O0"
    for name in PLACED:
        yield "placed-" + name, test_placed, name, "-O2"
    for name in ("called", "one", "fixed-one"):
        yield "placed-%s-O0" % name, test_placed, name, "-O0"
    for name in ("called", "one", "all"):
        yield "placed-%s-killed" % name, test_placed_killed, name, "-O1"
    yield "same-exits", test_same, [
        *OTHERS["exits"], "-fno-optimize-sibling-calls"], "-O1"
    yield "handlers", test_handlers, ["overlap/handlers.c"], "-O2"
    yield "forks", test_forks, ["overlap/forks.c"], "-O1"
    yield "cuts", test_cuts, ["overlap/cuts.c"], "-O1"
    yield "weak", test_weak, ["overlap/weak.c", "overlap/strong.c"], "-O1"
    yield "degrees", test_degrees, BOOKS["calls"], "-O1"
    yield "text", test_text, BOOKS["calls"], "-O1"
    for name, words in (BOOKS | OTHERS).items():
        yield "plain-" + name, test_plain, words, "-O2"
    for level in ("-O0", "-O2"):
        yield "many" + level, test_plain, ["overlap/many.c"], level
    for seed in range(1, options.drawn + 1):
        yield ("drawn-%d" % seed, test_drawn, seed,
               ("-O1", "-O2", "-O0")[seed % 3])
    for seed in range(1, options.csmith + 1):
        yield "csmith-%d" % seed, test_random, seed, "-O2"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--csmith", type=int, default=2, metavar="N")
    parser.add_argument("--drawn", type=int, default=8, metavar="N")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="cairn-overlap-") as work:
        for name, test, what, level in tests(options):
            if options.tests and name not in options.tests:
                continue
            folder = os.path.join(options.keep or work, name)
            os.makedirs(folder, exist_ok=True)
            try:
                said = test(what, folder, level)
            except (Broken, subprocess.TimeoutExpired) as error:
                said = [str(error)]
            if said is None:
                continue
            for line in said[:3]:
                print("FAIL %s: %s" % (name, line[:400]), flush=True)
            passed += not said
            failed += bool(said)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
