#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Path segments of builds against those of traces of the same run.

    run.py [--keep DIR] [--csmith N] [--seed S]
    CAIRN_BIN                directory of cairn and cairn-cc

A program is traced; the segments of the trace make a list, the program is built
with calls=D and that list, and runs again.  The counts of all segments have to
be those of the trace, as a build counts them that has inlined the same calls
(`cairn segments --like`), and what it prints has to be the same.

Then it is built as a residual of the same run, by both schemes of section 3.5.2
of the thesis: nothing may be untested.  All of that once more with grow=0, where
nothing is inlined and all calls of a function share one copy of it: where the
same calls are gone into, the counts are those of the first build.  calls.c, throws.cpp and jumps.c are
there for all ways to call and to come back, and programs of csmith for all
others.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../programs"))
import checks  # noqa: E402
from checks import finish, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX  # noqa: E402

VERIFY = ["-Xclang", "-mllvm", "-Xclang", "-cairn-verify"]
PROGRAMS = ["calls.c", "throws.cpp", "jumps.c", "ends.c"]
LEVELS = ["-O0", "-O1", "-O2"]
TIMEOUT = 600
PLAIN_SECONDS = 2  # of processor time, for programs of csmith


def run(*words, ok=True, **more):
    r = checks.run(*words, **more)
    if ok and r.returncode:
        raise RuntimeError("%s: %s" % (" ".join(words), r.stderr[-2000:]))
    return r


class Program:
    """One program at one level of optimization, in a directory."""

    def __init__(self, source, flags, work):
        self.source, self.flags, self.work = source, flags, work
        self.name = "%s %s" % (os.path.basename(source), " ".join(
            f for f in flags if f.startswith("-O")))
        self.warnings = ""

    def path(self, name):
        return os.path.join(self.work, name)

    def build(self, mode, name):
        cc = CAIRN_CXX if self.source.endswith(".cpp") else CAIRN_CC
        r = run(cc, "--cairn=" + mode, "-g",
                *self.flags, *VERIFY, self.source, "-o", self.path(name))
        self.warnings = r.stderr

    def execute(self, name, *args):
        """What it prints; its profile is name.cairn."""
        if os.path.exists(self.path(name + ".cairn")):
            os.remove(self.path(name + ".cairn"))
        r = subprocess.run([self.path(name), *args], stdout=subprocess.PIPE,
                           timeout=TIMEOUT, check=False,
                           stdin=subprocess.DEVNULL, env=dict(
                               os.environ, CAIRN_OUT=self.path(name) +
                               ".cairn"))
        return r.stdout, r.returncode

    def segments(self, *words):
        r = run(CAIRN, "segments", "--all", "--json", *words, cwd=self.work)
        return json.loads(r.stdout)

    def write_list(self, name, *words):
        run(CAIRN, "segments", "--list", *words, "-o", name, cwd=self.work)


def counts(report):
    return {(s["path"], s["end"]): s["count"] for s in report["segments"]}


def compare(what, built, traced):
    a, b = counts(built), counts(traced)
    wrong = [(k, a.get(k, 0), b.get(k, 0)) for k in sorted(set(a) | set(b))
             if a.get(k, 0) != b.get(k, 0)]
    test("%s: counts of %d segments" % (what, len(a)), not wrong,
         "%d differ, as (build, trace): %s" % (len(wrong), wrong[:3]))


def untested(p, name):
    return counts(p.segments(name + ".cairn"))


def check_preferred(p, depth, trace_says, more=""):
    """prefer=LIST counts what the trace has."""
    what = "%s depth %d%s" % (p.name, depth, more)
    p.write_list("list", "--depth", str(depth), "trace.cairn")
    p.build("paths,calls=%d,prefer=%s%s" % (depth, p.path("list"), more),
            "paths")
    test(what + ": does the same", p.execute("paths") == trace_says)
    sound = run(CAIRN, "check", p.path("paths.cairn"), ok=False)
    test(what + ": is sound", sound.returncode == 0, sound.stdout)
    built = p.segments("paths.cairn")
    compare(what, built, p.segments("--like", "paths.cairn", "trace.cairn"))
    return built


def check_first_scheme(p, depth, more=""):
    """Tested is what the trace of the tests has: nothing is untested."""
    what = "%s depth %d%s, first scheme" % (p.name, depth, more)
    p.write_list("tested", "--like", "paths.cairn", "trace.cairn")
    p.build("residual,calls=%d,tested=%s%s" % (depth, p.path("tested"), more),
            "residual")
    p.execute("residual")
    left = untested(p, "residual")
    test(what, not left, "untested: %s" % list(left.items())[:3])


def check_second_scheme(p, depth, more=""):
    """Call sites that ran are inlined, the tests run again."""
    what = "%s depth %d%s, second scheme" % (p.name, depth, more)
    p.build("paths,calls=0", "first")
    p.execute("first")
    p.write_list("plan", "--depth", str(depth), "first.cairn")
    p.build("paths,calls=%d,prefer=%s%s" % (depth, p.path("plan"), more),
            "second")
    p.execute("second")
    compare(what, p.segments("second.cairn"),
            p.segments("--like", "second.cairn", "trace.cairn"))
    p.build("residual,calls=%d,tested=%s%s" % (
        depth, p.path("second.cairn"), more), "third")
    p.execute("third")
    left = untested(p, "third")
    test(what + ": residual", not left,
         "untested: %s" % list(left.items())[:3])


def check_untested(keep):
    """What another run does, and the tests did not, is all that is counted."""
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(os.path.join(HERE, "calls.c"), ["-O1"], work)
    p.build("trace", "trace")
    p.execute("trace")
    p.write_list("list", "--depth", "2", "trace.cairn")
    mode = "calls=2,prefer=" + p.path("list")
    p.build("paths,%s,others" % mode, "paths")
    p.execute("paths")
    tested = counts(p.segments("paths.cairn"))
    p.write_list("tested", "--like", "paths.cairn", "trace.cairn")
    p.build("residual,calls=2,tested=" + p.path("tested"), "residual")
    for seed in ("5", "77"):
        p.execute("paths", seed)
        field = counts(p.segments("paths.cairn"))
        p.execute("residual", seed)
        new = {k: n for k, n in field.items() if k not in tested}
        found = untested(p, "residual")
        test("seed %s has %d untested segments" % (seed, len(new)),
             new and found == new, "%s, not %s" % (found, new))
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


def check_program(source, flags, depths, keep):
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(source, flags, work)
    try:
        p.build("trace", "trace")
        says = p.execute("trace")
        for depth in depths:
            inlined = check_preferred(p, depth, says)
            check_first_scheme(p, depth)
            check_second_scheme(p, depth)
            shared = check_preferred(p, depth, says, ",grow=0")
            if inlined["calls"] == shared["calls"]:
                compare("%s depth %d: shared and inlined" % (p.name, depth),
                        shared, inlined)
            check_first_scheme(p, depth, ",grow=0")
            check_second_scheme(p, depth, ",grow=0")
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        test(p.name, False, str(e))
    finally:
        if not keep:
            shutil.rmtree(work, ignore_errors=True)


# --- single things ------------------------------------------------------------
def check_ends(keep):
    """Roots say how they end, in traces and builds, as cairn paths does."""
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(os.path.join(HERE, "ends.c"), ["-O2"], work)
    p.build("trace", "trace")
    p.execute("trace")
    p.write_list("list", "--depth", "1", "trace.cairn")
    p.build("paths,calls=1,prefer=%s" % p.path("list"), "paths")
    p.execute("paths")
    for name in ("trace", "paths"):
        ends = collections.defaultdict(set)
        for s in p.segments(name + ".cairn")["segments"]:
            ends[s["root"]].add(s["end"])
        test("ends of " + name, ends.get("tailer") == {"tail", "return"} and
             "noreturn" in ends.get("main", ()) and
             "return" not in ends.get("main", ()), ends)
    said = run(CAIRN, "paths", "--json", p.path("paths.cairn")).stdout
    test("ends of cairn paths", '"tail"' in said and '"noreturn"' in said,
         said[:2000])
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


def check_two_counts(keep):
    """A callee at two sites has two counts; what is refused is said."""
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(os.path.join(HERE, "calls.c"), ["-O1"], work)
    p.build("trace", "trace")
    built = check_preferred(p, 1, p.execute("trace"))
    test("what is refused is said", "calls.c:110: the call of by_value in "
         "main is not inlined" in p.warnings, p.warnings)
    test("recursion", any(c["root"] == c["calls"] == "deep"
                          for c in built["calls"]), "")
    plain = p.path("inlined")
    p.build("inline,calls=1,prefer=%s" % p.path("list"), "inlined")
    test("inline alone does the same", p.execute("inlined")[0] ==
         p.execute("trace")[0])
    test("inline alone has no marks", "cairn_cnts" not in run(
        "readelf", "-SW", plain).stdout)
    p.write_list("top", "--depth", "1", "--top", "2", "trace.cairn")
    with open(p.path("top"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    test("two are chosen", sum(" * " in l for l in lines) == 2, lines)
    test("of three call sites", sum(l.startswith("c ")
                                    for l in lines) == 3, lines)
    p.build("paths,calls=1,prefer=%s" % p.path("top"), "twice")
    p.execute("twice")
    found = {path: n for (path, _), n in
             counts(p.segments("twice.cairn")).items()}
    test("two sites, two counts", found.get(
        "twice 1 (1 leaf 1) 2 (2 leaf 1) 3 .") == 200, found)
    p.write_list("list2", "--depth", "2", "trace.cairn")
    p.build("paths,calls=2,prefer=%s" % p.path("list2"), "deep")
    p.execute("deep")
    sites = collections.Counter(
        (c["root"], c["block"]) for c in p.segments("deep.cairn")["calls"]
        if c["in"] == "indirect")
    test("a pointer that calls three functions", 3 in sites.values(), sites)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


def check_others(keep):
    """Segments that a list does not name are counted together: so many are
    missing in the rows, and that is said."""
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(os.path.join(HERE, "others.c"), ["-O1"], work)
    p.build("trace", "trace")
    p.execute("trace")
    p.write_list("top", "--depth", "1", "--top", "2", "trace.cairn")
    p.build("paths,calls=1,prefer=%s" % p.path("top"), "paths")
    p.execute("paths")
    built = p.segments("paths.cairn")
    traced = p.segments("--like", "paths.cairn", "trace.cairn")
    test("others are said", built["other_executions"] ==
         traced["executions"] - built["executions"] > 0 and
         not traced["other_executions"], built)
    text = run(CAIRN, "segments", p.path("paths.cairn")).stdout
    test("others are said in the text", "other: %d executions" %
         built["other_executions"] in text, text)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


# How dies.c ends; is the path known that it was on then, in a shared copy?
DEATHS = {"returns": True, "exits": True, "jumps": True, "faults": False,
          "faults first": False, "last call": False, "forks": True}


def check_deaths(level, keep):
    """Frames that die in a shared copy: counts are those of an inlined one,
    and what is lost is said."""
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(os.path.join(HERE, "dies.c"), [level], work)
    p.build("trace", "trace")
    p.execute("trace")
    p.write_list("list", "--depth", "1", "trace.cairn")
    p.build("paths,calls=1,prefer=%s" % p.path("list"), "inlined")
    p.build("paths,calls=1,prefer=%s,grow=0" % p.path("list"), "paths")
    copies = [l for l in run("nm", p.path("paths")).stdout.splitlines()
              if l.endswith(".cairn")]
    test("%s has a shared copy" % p.name, any(
        l.endswith(" callee.cairn") for l in copies), copies)
    for how, (name, is_known) in enumerate(DEATHS.items()):
        what = "%s %s" % (p.name, name)
        # without optimization it is a call as any, and ends a path
        is_known |= name == "last call" and level == "-O0"
        says = p.execute("inlined", str(how))
        test(what + ": does the same", p.execute("paths", str(how)) == says)
        compare(what, p.segments("paths.cairn"), p.segments("inlined.cairn"))
        sound = run(CAIRN, "check", p.path("paths.cairn"), ok=False)
        test(what + ": what is lost is said", ("C4 root:" in sound.stdout) !=
              is_known and (sound.returncode == 0) == is_known, sound.stdout)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


BAD = [
    ("f", "paths,calls=1", "which calls to go into a FILE says"),
    ("f", "paths,calls=x", "is no depth of calls"),
    ("f", "paths,calls=17", "is no depth of calls"),
    ("f", "paths,calls=1,prefer={bad}", "bad:2: is no line of a list"),
    ("f", "paths,calls=1,prefer={other}", "is neither a list of cairn "
     "segments nor a profile"),
    ("f", "paths,prefer={some}", "which calls=D is for; add it"),
    ("f", "residual,calls=1,tested={some}", "has not all segments"),
    ("f", "paths,calls=0,strict", "choose one"),
    ("f", "paths,calls=0,grow=x", "is no growth"),
    ("f", "paths,grow=5", "is about calls=D"),
    ("f", "inline,calls=1", "needs calls=D and prefer=FILE"),
]


def check_bad(keep):
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    files = {"bad": "cairn-segments 1 depth 1 all\nnonsense\n",
             "other": "what is this\n",
             "some": "cairn-segments 1 depth 1 some\n", "f.c": "int f;\n"}
    for name, text in files.items():
        with open(os.path.join(work, name), "w", encoding="utf-8") as f:
            f.write(text)
    places = {n: os.path.join(work, n) for n in files}
    for _, mode, sentence in BAD:
        r = run(CAIRN_CC, "--cairn=" +
                mode.format(**places), "-c", places["f.c"], "-o",
                os.path.join(work, "f.o"), ok=False)
        test("bad: " + mode, r.returncode and sentence in r.stderr, r.stderr)
    for words, sentence in [(["--depth", "99"], "--depth takes a number"),
                            (["--top", "0"], "--top takes a number"),
                            ([], "no trace or profile given"),
                            ([places["other"]], "other")]:
        r = run(CAIRN, "segments", *words, ok=False)
        test("bad: segments %s" % words, r.returncode == 2 and
             sentence in r.stderr, r.stderr)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


# Builds whose paths are no segments, and what would take them for such.
NOT_SEGMENTS = ["paths", "paths,overlap", "paths,iterations=2",
                "paths,chains=1", "edges"]
TAKE_SEGMENTS = ["residual,calls=1,tested", "paths,calls=1,prefer",
                 "paths,calls=0,prefer", "inline,calls=1,prefer"]
TAKE_PATHS = ["residual,tested", "paths,prefer"]


def check_other_builds(keep):
    """Profiles of builds without calls= are refused; those of one are not."""
    work = tempfile.mkdtemp(prefix="segments.", dir=keep)
    p = Program(os.path.join(HERE, "calls.c"), ["-O1"], work)
    for made in [*NOT_SEGMENTS, "paths,calls=0"]:
        p.build(made, "other")
        p.execute("other")
        profile = p.path("other.cairn")
        for mode in TAKE_SEGMENTS:
            r = run(CAIRN_CC, "--cairn=%s=%s" % (mode, profile), "-O1", "-g",
                    "-c", p.source, "-o", p.path("other.o"), ok=False)
            sentence = "%s: %s: is the profile of a build without calls=" % (
                mode.split(",")[-1], profile)
            refused = r.returncode != 0 and sentence in r.stderr
            test("%s of a build with %s" % (mode, made),
                 refused if made in NOT_SEGMENTS else not r.returncode,
                 r.stderr)
    for mode in TAKE_PATHS:  # of the last one, which has calls=
        r = run(CAIRN_CC, "--cairn=%s=%s" % (mode, profile), "-O1", "-g", "-c",
                p.source, "-o", p.path("other.o"), ok=False)
        test("%s of a build with %s" % (mode, made), r.returncode and
             "is the profile of a build with calls=" in r.stderr, r.stderr)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)


def csmith(seed, work):
    """A program that ends; None: that of the seed does not, or not soon."""
    path = os.path.join(work, "c%d.c" % seed)
    plain = os.path.join(work, "plain")
    run("csmith", "--seed", str(seed), "--max-funcs", "8",
        "--max-block-depth", "3", "--no-argc", "-o", path)
    run("clang-19", "-w", "-O1", "-I/usr/include/csmith", path, "-o", plain)
    done = subprocess.run(
        [plain], stdout=subprocess.DEVNULL, check=False,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CPU, (PLAIN_SECONDS, PLAIN_SECONDS)))
    return path if done.returncode >= 0 else None


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--keep")
    args.add_argument("--csmith", type=int,
                      default=4 if os.environ.get("QUICK") else 30)
    args.add_argument("--seed", type=int, default=1)
    args = args.parse_args()
    work = tempfile.mkdtemp(prefix="segments.")
    random.seed(args.seed)
    quick = os.environ.get("QUICK")
    jobs = [(os.path.join(HERE, n), [level], [2] if quick else [1, 2, 3])
            for n in PROGRAMS for level in LEVELS]
    for i in range(args.csmith):
        source = csmith(args.seed + i, work)
        if not source:
            continue
        jobs.append((source, [LEVELS[i % 3], "-w", "-I/usr/include/csmith"],
                     [1 + i % 3]))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = [pool.submit(check_program, *j, args.keep) for j in jobs]
        for d in done:
            d.result()
    for level in LEVELS:
        check_deaths(level, args.keep)
    check_two_counts(args.keep)
    check_ends(args.keep)
    check_untested(args.keep)
    check_others(args.keep)
    check_bad(args.keep)
    check_other_builds(args.keep)
    shutil.rmtree(work, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
