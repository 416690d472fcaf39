#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of what programs do with memory, under all limits.

    memory.py [--random N] [--seed S]

memory.c gets, uses and loses memory in all ways there are, with its mappings
where Linux puts them for each limit of the stack and personality: it prints
what the plain build prints, and each replay is identical; or the recorder
refuses it, in one sentence.  Random programs use memory that they have not set,
or that libc wrote (random_memory.py): `make proof` has more of them.  Ends with
"N passed, M failed".
"""
import argparse
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "replay"))
from recorded import cairn, compile_program, recordings  # noqa: E402
from checks import check, finish, run  # noqa: E402
import random_memory  # noqa: E402

# Where mappings are: by the shell, and by what starts the program.
PLACES = {"usual": ("", ""),
          "unlimited": ("ulimit -s unlimited; ", ""),
          "fixed": ("", "setarch -R "),
          "legacy": ("", "setarch -L "),
          "fixed, unlimited": ("ulimit -s unlimited; ", "setarch -R "),
          "little stack": ("ulimit -s 100; ", "")}
# Words of the sentence.
REFUSED = {"far": "at an address of its own choice",
           "low": "at an address of its own choice",
           "twice": "the same memory at two addresses",
           "attached-twice": "the same memory at two addresses",
           "too-large": "more memory than a recording can follow"}
FEW = ("moved", "again", "child", "stack", "grown")
LEVELS = ("-O0", "-O1", "-O2", "-O3")
IDENTICAL = re.compile(r"replayed \d+ ticks( in \d+ contexts)?, identical\n")


def execute(program, place, case, folder):
    shell, start = PLACES[place]
    return run("sh", "-c", f"{shell}exec {start}{program} {case}", cwd=folder)


def forget(folder):
    for file in recordings(folder):
        os.remove(file)


def check_replays(name, folder):
    files = recordings(folder)
    check(f"{name} files", not files)
    for file in files:
        again = cairn(folder, "replay", file)
        check(f"{name} replay", not IDENTICAL.fullmatch(again.stdout) and
              again)
    forget(folder)


def check_case(folder, program, plain, place, case):
    name = f"{case}, {place}"
    out = execute(program, place, case, folder)
    if case in REFUSED:
        check(name, (out.returncode != 125 or REFUSED[case] not in out.stderr
                     or out.stderr.count("\n") != 1) and out)
        forget(folder)
        return
    before = execute(plain, place, case, folder)
    check(f"{name} output", (out.returncode, out.stdout, out.stderr) !=
          (before.returncode, before.stdout, before.stderr) and
          f"{out}, plain {before}")
    check_replays(name, folder)


def in_all_places(folder):
    source = os.path.join(HERE, "memory.c")
    plain = compile_program(source, os.path.join(folder, "plain"), "-O1",
                            mode="none")
    program = compile_program(source, os.path.join(folder, "memory"), "-O1",
                              "-g")
    static = compile_program(source, os.path.join(folder, "static"), "-O2",
                             "-static-pie")
    cases = run(plain).stdout.split()
    check("cases", len(cases) < 20 and cases)
    for place in PLACES:
        for case in cases:
            if case in FEW or place in ("usual", "unlimited"):
                check_case(folder, program, plain, place, case)
    for place in ("usual", "unlimited"):
        for case in FEW:
            check_case(folder, static, plain, place, case)
    limits(folder, program, plain)


def limits(folder, program, plain):
    """One sentence, with a remedy."""
    out = run("sh", "-c", f"ulimit -v 4000000; exec {program} moved",
              cwd=folder)
    check("ulimit -v", (out.returncode != 125 or out.stderr.count("\n") != 1 or
                        "lift ulimit -v" not in out.stderr) and out)
    forget(folder)
    # mappings may be just where a replay notes what was seen elsewhere
    out = run("sh", "-c", f"ulimit -s 4294967296; exec {program} stack",
              cwd=folder)
    if out.returncode == 125:
        check("ulimit -s 4 TiB", "ulimit -s 8192" not in out.stderr and out)
        forget(folder)
        return
    before = run(plain, "stack")
    check("ulimit -s 4 TiB output", out.stdout != before.stdout and out)
    check_replays("ulimit -s 4 TiB", folder)


def at_random(folder, seed):
    level = random.Random(seed).choice(LEVELS)
    name = f"random {seed} {level}"
    source = os.path.join(folder, "random.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(random_memory.generate(seed))
    program = compile_program(source, os.path.join(folder, "random"), level,
                              "-g")
    out = run(program, cwd=folder)
    check(f"{name} status", (out.returncode or out.stdout != "done\n") and out)
    check_replays(name, folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.random <= 12:
            in_all_places(folder)
        for seed in range(options.seed, options.seed + options.random):
            at_random(folder, seed)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
