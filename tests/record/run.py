#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs with marks by hand: is the log what it has to be?

The programs print what they expect (hand.c); tools/decode.py says what there
is.  Ends with "N passed, M failed".
"""
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from decode import decode_recording  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
CC = os.path.join(os.environ.get("CAIRN_BIN", os.path.join(BUILD, "bin")),
                  "cairn-cc")
passed = failed = 0


def check(name, problem):
    global passed, failed
    if problem:
        print(f"FAIL {name}: {str(problem)[:300]}")
        failed += 1
    else:
        passed += 1


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True,
                          timeout=600, **options)


def decode(path):
    with open(path, "rb") as f:
        return decode_recording(f.read())


def read_with_c(path):
    """{context: lines of its events}, as the C reader has them."""
    out = run(os.path.join(BUILD, "tests/proof_events"), path)
    if out.returncode:
        raise ValueError(out.stderr)
    contexts = {}
    for line in out.stdout.splitlines():
        if line.startswith("context "):
            lines = contexts.setdefault(int(line.split()[1]), [])
        elif not line.startswith("module "):
            lines.append(line)
    return contexts


def check_readers(name, path, result):
    mine = {c["number"]: [" ".join(map(str, e)) for e in c["events"]]
            for c in result["contexts"]}
    check(name + " by the C reader", mine != read_with_c(path) and "differs")


def is_like(expected, event):
    return len(expected) == len(event) and all(
        x in ("any", str(y)) for x, y in zip(expected, event))


def compare(lines, events, must_end=True):
    """The first difference between what was expected and what there is."""
    at, skips = 0, False
    events = [e for e in events if e[1] != "OUT"]  # what it prints for us
    for line in lines:
        if line.startswith("FAIL"):
            return line
        if not line.startswith("= "):
            continue
        expected = line[2:].split()
        if expected == ["any"]:
            skips = True
            continue
        while skips and at < len(events) and not is_like(expected, events[at]):
            at += 1
        skips = False
        if at >= len(events):
            return f"no event {at}, expected {line}"
        if not is_like(expected, events[at]):
            return (f"event {at}: {str(events[at])[:120]}, "
                    f"expected {line[:120]}")
        at += 1
    if must_end and at < len(events):
        return f"event {at}: {events[at]}, expected nothing"
    return None


def make(folder, name, *options, mode="record", out=None):
    """Compiled and linked as a recording."""
    program = os.path.join(folder, out or name)
    done = run(CC, "--cairn=" + mode, "-O2", "-g", "-pthread",
               os.path.join(HERE, name + ".c"), "-o", program, *options)
    if done.returncode:
        raise ValueError(done.stderr)
    return program


def record(folder, program, *args, **more):
    """What it did, and the file names of its recordings."""
    for name in os.listdir(folder):
        if name.endswith(".cairn"):
            os.remove(os.path.join(folder, name))
    out = run(program, *args,
              env=dict(os.environ, CAIRN_OUT=os.path.join(folder, "%p.cairn")),
              **more)
    return out, sorted(os.path.join(folder, name)
                       for name in os.listdir(folder)
                       if name.endswith(".cairn"))


def replay(name, file, *options, cut=False):
    """Is the same executed again?"""
    out = run(os.path.join(os.path.dirname(CC), "cairn"), "replay", *options,
              file)
    check(name + " replayed", (out.returncode or "identical" not in out.stdout
                               or ("cut off" in out.stdout) != cut) and
          out.stdout + out.stderr)


def ends(result):
    """How many contexts end how."""
    count = {}
    for c in result["contexts"]:
        last = c["events"][-1][1]
        count[last] = count.get(last, 0) + 1
    return count


def threads(folder):
    for options in ((), ("-static",)):
        threads_of(folder, make(folder, "threads", *options), *options)


def threads_of(folder, program, *options):
    for how, status, expected in (
            ("return", 0, {"END": 42}), ("exit", 4, {"END": 42, "STOP": 4}),
            ("abort", -signal.SIGABRT, {"END": 41, "HALT": 1, "STOP": 4}),
            ("term", -signal.SIGTERM, {"END": 41, "HALT": 1, "STOP": 4}),
            ("kill", -signal.SIGKILL, None)):
        out, files = record(folder, program, "40", "4", how)
        name = " ".join(("threads", how, *options))
        check(name + " status", out.returncode != status and out.returncode)
        check(name + " output", out.stdout != "4040\n" and out.stdout)
        result = decode(files[0])
        check(name + " ends", expected and ends(result) != expected and
              ends(result))
        check_readers(name, files[0], result)
        syncs = [e[2] for c in result["contexts"] for e in c["events"]
                 if e[1] == "SYNC"]
        check(name + " order", len(set(syncs)) != len(syncs) and "twice")
        replay(name, files[0], cut=how == "kill")
    out, files = record(folder, program, "640", "64", "return")
    check("threads many", out.stdout != "64640\n" and out.stderr)


def signals(folder):
    program = make(folder, "signals")
    for args in (("count", "200"), ("count", "200", "alt"),
                 ("jump", "200"), ("jump", "200", "alt"),
                 ("late", "100"), ("late", "100", "alt")):
        name = " ".join(("signals", *args))
        out, files = record(folder, program, *args)
        check(name, (out.returncode or out.stdout != "1 1\n") and
              f"{out.returncode} {out.stdout} {out.stderr}")
        result = decode(files[0])
        kinds = [c["events"][0][2] for c in result["contexts"]]
        check(name + " kinds", (kinds[0] or set(kinds[1:]) != {1}) and kinds)
        check(name + " main", result["contexts"][0]["events"][-1][1] != "END"
              and result["contexts"][0]["events"][-1])
        replay(name, files[0])
        check_readers(name, files[0], result)


def forks(folder):
    program = make(folder, "forks")
    for how, status, number in (("fork", 7, 3), ("exec", 5, 4)):
        out, files = record(folder, program, how)
        # the last: vfork is fork, and what its child writes is not seen
        check(f"forks {how}", out.stdout.split("\n")[1:] !=
              [f"parent 1 {status}", "parent 1 6", ""] and out.stdout)
        check(f"forks {how} files", len(files) != number and files)
        results = [decode(file) for file in files]
        check(f"forks {how} ends", any(ends(r) != {"END": 1}
                                       for r in results) and "not all")
        children = [e for r in results for e in r["contexts"][0]["events"]
                    if e[1] == "FORK"]
        check(f"forks {how} child", len(children) != 2 and children)
        for file in files:
            replay(f"forks {how} {file}", file)
    family(folder, program)


def family(folder, program):
    """Children go on from their parents' logs, wherever those are."""
    out, files = record(folder, program, "family")
    check("family", (out.returncode or len(files) != 7) and (out, files))
    for file in files:
        replay("family " + file, file)
    (first,) = [f for f in files if decode(f)["contexts"][0]["events"][1][1]
                == "STACK"]
    away = os.path.join(folder, "elsewhere", "parent")
    os.mkdir(os.path.dirname(away))
    os.rename(first, away)
    files.remove(first)
    cairn = os.path.join(os.path.dirname(CC), "cairn")
    for file in files:
        out = run(cairn, "replay", file)
        check("family without parent", (
            out.returncode != 2 or out.stderr.count("\n") != 1 or
            "--parent" not in out.stderr) and out)
        replay("family --parent " + file, file, "--parent", away)


def interrupted(folder):
    """Where an event was cut by the fork, the child's log ends there."""
    out, files = record(folder, make(folder, "interrupted"))
    check("interrupted", (out.returncode or out.stdout != "0\n") and out)
    check("interrupted, files", len(files) != 61 and len(files))
    cairn = os.path.join(os.path.dirname(CC), "cairn")
    for file in files[::4]:
        again = run(cairn, "replay", file)
        check("interrupted " + file, (
            again.returncode or ", identical" not in again.stdout) and again)


def maps(folder):
    for options in ((), ("-static",)):
        program = make(folder, "maps", *options)
        for how, status, words in (
                ("plain", 0, ""), ("hint", 0, ""),
                ("low", 125, "MAP_32BIT"), ("fixed", 125, "MAP_FIXED"),
                ("huge", 125, "more memory"),
                ("twice again", 0, ""), ("twice plain", 125, "map it once"),
                ("twice remap", 125, "map it once"),
                ("twice attach", 125, "map it once")):
            out, files = record(folder, program, *how.split())
            if not status:
                replay(f"maps {how}", files[0])
            check(f"maps {how}", (out.returncode != status or
                                  words not in out.stderr) and
                  f"{out.returncode} {out.stderr}")
    limit = f"ulimit -v 4000000; {program} plain"
    out, _ = record(folder, "sh", "-c", limit)
    check("maps ulimit -v", (out.returncode != 125 or
                             out.stderr.count("\n") != 1) and out.stderr)


def unmaps(folder):
    """Shadows of memory that is given back are given back."""
    plain = os.path.join(folder, "plain")
    done = run("clang-19", "-O2", "-pthread",
               os.path.join(HERE, "unmaps.c"), "-o", plain)
    if done.returncode:
        raise ValueError(done.stderr)
    for options in ((), ("-static",)):
        program = make(folder, "unmaps", *options)
        expected = run(plain, "40")
        out, files = record(folder, program, "40")
        name = " ".join(("unmaps", *options))
        check(name, (out.returncode or out.stdout != expected.stdout) and out)
        result = decode(files[0])
        zeros = [sum(e[1] == "ZERO" for e in c["events"])
                 for c in result["contexts"]]
        check(name + " in all contexts", min(zeros) < 30 and zeros)
        check_readers(name, files[0], result)
        replay(name, files[0])


def modules(folder):
    def library(mode):
        return make(folder, "lib", "-fPIC", "-shared", mode=mode, out="liblib.so")

    options = ("-L" + folder, "-llib", "-Wl,-rpath," + folder)
    library("record")
    program = make(folder, "uselib", *options)
    out, files = record(folder, program)
    replay("modules", files[0])
    result = decode(files[0])
    callbacks = {tuple(e[2:]) for e in result["contexts"][0]["events"]
                 if e[1] == "CALLBACK"}
    check("modules", (out.stdout != "1647000 10 1 1000\n" or
                      len(result["modules"]) != 2 or len(callbacks) != 2) and
          f"{out.stdout} {callbacks}")
    plain = make(folder, "uselib", *options, mode="none", out="plain")
    out, files = record(folder, plain)
    check("modules library alone", ends(decode(files[0])) != {"END": 1} and
          out.stderr)
    plain = make(folder, "uselib_signals", *options, mode="none", out="plain")
    out, files = record(folder, plain, "sync")
    check("modules handlers", out.stdout != "57000 300\n" and out)
    replay("modules handlers", files[0])
    out, files = record(folder, plain, "async")
    check("modules handlers at any moment", (
        out.returncode != 125 or out.stderr.count("\n") != 1 or
        "link the program" not in out.stderr) and out)
    edges = make(folder, "uselib", *options, mode="edges", out="edges")
    out, files = record(folder, edges)
    check("modules in an edges build", out.returncode != 125 and out.stderr)
    library("edges")
    out, files = record(folder, program)
    check("modules with an edges library", out.returncode != 125 and
          out.stderr)


def build(folder, name, *options):
    """Compiled without marks, linked as a recording."""
    program = os.path.join(folder, name)
    for command in (
            ["clang-19", "-O2", "-g", "-Wall", "-I", os.path.join(ROOT, "src"),
             "-c", os.path.join(HERE, name + ".c"), "-o", program + ".o"],
            [CC, "--cairn=record", program + ".o", "-o", program, *options]):
        out = run(*command)
        if out.returncode:
            raise ValueError(out.stderr)
    return program


def hand(folder):
    for options in ((), ("-static",)):
        program = build(folder, "hand", *options)
        for how, status, ends in (("exit", 3, True), ("return", 0, True),
                                  ("abort", -signal.SIGABRT, True),
                                  ("kill", -signal.SIGKILL, True)):
            name = " ".join(["hand", how, *options])
            file = os.path.join(folder, "hand.cairn")
            if os.path.exists(file):
                os.remove(file)
            out = run(program, how, env=dict(os.environ, CAIRN_OUT=file))
            check(name + " status", out.returncode != status and
                  f"{out.returncode} {out.stderr}")
            lines = out.stdout.splitlines()
            result = decode(file)
            check(name, compare(lines, result["contexts"][0]["events"], ends))
            check_readers(name, file, result)
            check(name + " contexts", len(result["contexts"]) != 1 and
                  len(result["contexts"]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (hand, threads, signals, forks, interrupted, maps,
                     unmaps, modules):
            test(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
