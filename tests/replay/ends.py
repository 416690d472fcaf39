#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a program was when it ended has one answer, whoever is asked.

crashes.c ends in many ways.  Of a recording `check` finds nothing, `trace
--open` names the line that raised the signal, and `report` and `print` count
it alike.  Builds with trace and trace,last= have the same open frames; what
they do not know they say.  So it is where nobody knows: SIGKILL, assembly.

recovers.c jumps out of faults: lines and entries of functions are those of
edges, and `check` finds nothing; of a trace it says what is not known.  Ends
with "N passed, M failed".
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from recorded import CAIRN, compile_program, HERE, recordings
from checks import check, finish
from profiles import Broken, call

FRAMES = ["last"] + 3 * ["middle"] + ["main"]
MODES = ("record", "trace", "trace,last=1M")
FAULTS = ((0, "null", 4), (1, "constant", 1), (2, "wild", 1),
          (3, "strange", 1), (4, "divide", 4), (5, "trap", 1),
          (6, "protected", 5), (13, "copy", 1), (14, "length", 1),
          (19, "handled", 1), (20, "reported", 3))
CALLS = ((7, "abort"), (8, "raise"), (9, "assert"), (11, "exit"),
         (12, "_exit"), (15, "call"), (17, "foreign"))
UNKNOWN = ((10, "kill"), (16, "debug"), (18, "assembly"))


def line_of(source, name):
    with open(source, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            if f"/* {name} */" in line:
                return number
    raise ValueError(name)


def run(exe, *arguments):
    """The file of a run."""
    work = tempfile.mkdtemp(dir=os.path.dirname(exe))
    subprocess.run([exe, *arguments], cwd=work, check=False, timeout=600,
                   capture_output=True)
    return recordings(work)[0]


def is_sound(file):
    out = subprocess.run([CAIRN, "check", file], capture_output=True,
                         text=True, check=False)
    return out.returncode == 0, out.stdout + out.stderr


def open_frames(file):
    return [json.loads(line) for line in
            call([CAIRN, "trace", "--open", "--json", file]).splitlines()]


def lines(file):
    """Counts of lines, and entries of functions."""
    found = {}
    for line in call([CAIRN, "report", "--format", "lcov", file]).splitlines():
        key, _, rest = line.partition(":")
        if key == "DA":
            number, count = rest.split(",")[:2]
            found[int(number)] = int(count)
    report = json.loads(call([CAIRN, "report", "--json", file]))
    for function in report["functions"]:
        found[function["name"]] = function["entries"]
    return found


def printed(file, line):
    out = call([CAIRN, "print", "--json", "sum", file, "--at",
                f"crashes.c:{line}"])
    return len(json.loads(out)["executions"])


def same_frames(name, files):
    frames = {mode: open_frames(files[mode]) for mode in MODES}
    for mode in MODES:
        got = [frame["function"] for frame in frames[mode]]
        check(f"{name} {mode} frames", got != FRAMES and got)
    return frames["record"][0], frames


def try_fault(name, files, line, count):
    """Where the optimizer unrolls a loop lines have the count of a copy: as
    in a build with edges."""
    last, frames = same_frames(name, files)
    fine, said = is_sound(files["record"])
    check(f"{name} check", not fine and said)
    check(f"{name} line", (last.get("line"), last["in_call"],
                           last["may_be_further"]) != (line, False, False)
          and last)
    counted = lines(files["record"]).get(line)
    edges = lines(files["edges"]).get(line)
    check(f"{name} report", counted != edges and f"{counted}, not {edges}")
    if "-O0" in name:
        check(f"{name} count", counted != count and f"{counted}, not {count}")
    asked = printed(files["record"], line)
    check(f"{name} print", asked != count and f"{asked}, not {count}")
    check(f"{name} a trace does not claim to know it",
          not frames["trace"][0]["may_be_further"] and frames["trace"][0])


def try_call(name, files, line):
    last, frames = same_frames(name, files)
    for mode in MODES:
        file = files[mode]
        fine, said = is_sound(file)
        if mode == "record" or not name.startswith("call"):
            check(f"{name} {mode} check", not fine and said)
        last = frames[mode][0]
        check(f"{name} {mode} place", (last["in_call"], last["may_be_further"])
              != (True, False) and last)
        counted = lines(file).get(line)
        check(f"{name} {mode} report", counted != 1 and counted)
    asked = printed(files["record"], line)
    check(f"{name} print", asked != 1 and asked)


def try_unknown(name, files):
    last, _ = same_frames(name, files)
    check(f"{name} says so", not last["may_be_further"] and last)
    fine, _ = is_sound(files["record"])
    check(f"{name} check says so", fine and "sound")


def try_crashes(level, folder):
    source = os.path.join(HERE, "crashes.c")
    exes = {}
    for mode in (*MODES, "edges"):
        work = os.path.join(folder, mode + level)
        os.mkdir(work)
        exes[mode] = compile_program(source, os.path.join(work, "p"), level,
                                     "-g", mode=mode)

    def files(how):
        return {mode: run(exe, str(how)) for mode, exe in exes.items()}

    for how, name, count in FAULTS:
        try_fault(f"{name} {level}", files(how), line_of(source, name), count)
    for how, name in CALLS:
        try_call(f"{name} {level}", files(how), line_of(source, name))
    for how, name in UNKNOWN:
        try_unknown(f"{name} {level}", files(how))


def try_recovers(level, folder):
    exes = {}
    for mode in ("record", "edges"):
        work = os.path.join(folder, "recovers" + mode + level)
        os.mkdir(work)
        exes[mode] = compile_program(os.path.join(HERE, "recovers.c"),
                                     os.path.join(work, "p"), level, "-g",
                                     "-pthread", mode=mode)
    for what in "o", "i", "n", "r", "t", "oinrt":
        file = run(exes["record"], what)
        fine, said = is_sound(file)
        check(f"recovers.c {what} {level} check", not fine and said)
        got, edges = lines(file), lines(run(exes["edges"], what))
        different = {key: (got[key], edges[key]) for key in got
                     if key in edges and got[key] != edges[key]}
        check(f"recovers.c {what} {level} lines", different)


def try_traced(level, folder):
    """Of a trace that is left by a fault nobody knows all: which functions
    these are is said."""
    for mode in ("trace", "trace,last=1M", "trace,paths"):
        work = os.path.join(folder, "recovers" + mode + level)
        os.mkdir(work)
        exe = compile_program(os.path.join(HERE, "recovers.c"),
                              os.path.join(work, "p"), level, "-g",
                              mode=mode)
        for what, function in (("o", "fault"), ("i", "itself"),
                               ("t", "fault"), ("r", None)):
            fine, said = is_sound(run(exe, what))
            check(f"recovers.c {what} {level} {mode}",
                  fine != (function is None) or
                  (function and f"C4 {function}:" not in said) and said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O2"):
            try:
                try_crashes(level, folder)
            except (Broken, ValueError) as error:
                check("crashes.c " + level, error)
        for level in ("-O0", "-O1", "-O2", "-O3"):
            try:
                try_recovers(level, folder)
                try_traced(level, folder)
            except (Broken, ValueError) as error:
                check("recovers.c " + level, error)
    return finish()


sys.exit(main())
