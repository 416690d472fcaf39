#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs with marks by hand: is the log what it has to be?

The programs print what they expect (hand.c); tools/decode.py says what there
is.  Ends with "N passed, M failed".
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
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
                          timeout=300, **options)


def decode(path):
    out = run(sys.executable, os.path.join(ROOT, "tools/decode.py"), path)
    if out.returncode:
        raise ValueError(out.stderr)
    return json.loads(out.stdout)


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
        hand(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
