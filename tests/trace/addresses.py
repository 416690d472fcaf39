#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which addresses a trace can tell apart.

Functions without code have none of their own, and are no obstacle: every mode
counts the same.  Functions that the linker made one, and modules whose
addresses share the low 32 bits, are refused where a trace would have to tell
them apart, each in one sentence with what helps.  Ends with "N passed, M
failed".
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "replay"))
from recorded import CAIRN, compile_program, recordings  # noqa: E402
from checks import check, finish  # noqa: E402
from profiles import Broken, call  # noqa: E402

TRACES = ("trace", "trace,last=1M", "trace,witness", "trace,paths")
MODES = ("edges", "paths", "record") + TRACES
GOLD = ("-fuse-ld=gold", "-Wl,--icf=all", "-ffunction-sections")
LLD = ("-fuse-ld=lld", "-Wl,--icf=all", "-ffunction-sections")


def run(folder, name, source, mode, *flags, arguments=()):
    work = os.path.join(folder, f"{name}-{mode}")
    os.mkdir(work)
    exe = compile_program(os.path.join(HERE, source), os.path.join(work, "p"),
                          *flags, mode=mode)
    out = subprocess.run([exe, *arguments], cwd=work, check=False, timeout=600,
                         capture_output=True)
    check(f"{name} {mode} runs", out.returncode)
    return recordings(work)[0]


def entries(file):
    report = json.loads(call([CAIRN, "report", "--json", file]))
    return {f["name"]: f["entries"] for f in report["functions"]}


def try_counts(folder, source, want, *flags):
    name = source + "".join(flags)
    for mode in MODES:
        try:
            file = run(folder, name.replace("/", ""), source, mode, *flags)
            call([CAIRN, "check", file])
            got = {k: n for k, n in entries(file).items() if k in want}
            check(f"{name} {mode}", got != want and got)
        except Broken as error:
            check(f"{name} {mode}", error)


def try_refusal(name, file, *words):
    out = subprocess.run([CAIRN, "check", file], capture_output=True,
                         text=True, check=False)
    said = out.stdout + out.stderr
    fine = out.returncode == 2 and said.count("\n") == 1
    check(name, not (fine and all(word in said for word in words)) and said)


def try_modules(folder):
    """One library is put where its addresses are those of the program."""
    for mode in ("edges", "trace"):
        library = os.path.join(folder, f"{mode}.so")
        compile_program(os.path.join(HERE, "collides.c"), library, "-shared",
                        "-fPIC", mode=mode)
        file = run(folder, "collide", "collide.c", mode, arguments=[library])
        if mode == "edges":
            got = entries(file)
            check("collide edges", got != {"main": 1, "in_library": 1} and got)
        else:
            try_refusal("collide trace", file, library, "low 32 bits",
                        "setarch -R", "run it again")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O1", "-O3"):
            try_counts(folder, "empty.c", {"main": 1, "something": 5,
                                           "other": 5, "nothing": 0}, level)
        try_counts(folder, "empty.c", {"main": 1, "something": 5, "other": 5},
                   "-O2", "-ffunction-sections", "-Wl,--gc-sections")
        try_counts(folder, "folded.c", {"main": 1, "one": 4, "same": 8}, "-O2",
                   *LLD)
        for mode in TRACES:
            file = run(folder, "gold", "folded.c", mode, "-O2", *GOLD)
            try_refusal(f"gold {mode}", file, "one and same", "--icf=none")
        try_modules(folder)
    return finish()


sys.exit(main())
