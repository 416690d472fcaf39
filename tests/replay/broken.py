#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is broken is said in one sentence of ours, with exit status 2.

IR that is damaged, or needs what no replay has; cairn-replay
that is not there, does not start, is of another version, crashes, is killed, or
has too little memory.  (What it says when it crashes: tests/unit/test_fatal.c.)  Ends with "N passed, M failed".
"""
import os
import re
import resource
import shutil
import sys
import tempfile

from recorded import CAIRN, HERE, cairn, compile_program, record
from checks import check, finish, run

READ = (("check",), ("report",), ("trace", "--summary"), ("paths",), ("wpp",))
ASK = (("replay",), ("output",))
TOOL = os.path.join(os.path.dirname(os.path.dirname(CAIRN)), "lib", "cairn",
                    "cairn-replay")
# C has it, and neither libgcc of gcc 12 nor this program, for the replay.
HELPER = """
__bf16 __truncsfbf2(float x)
{ union { float f; struct { __bf16 low, high; }; } v = {x}; return v.high; }
__attribute__((noinline)) static __bf16 add(__bf16 a, float b)
{ return (__bf16)((float)a + b); }
int main(int argc, char **argv)
{ return (float)add((__bf16)1.5f, argc) != 2.5f; }
"""


def is_sentence(out, *words):
    return out.returncode == 2 and out.stderr.count("\n") == 1 and \
        out.stderr.startswith("cairn: ") and "LLVM ERROR" not in out.stderr \
        and all(word in out.stderr for word in words)


def ask_all(folder, name, file, *words):
    for command in READ + ASK:
        out = cairn(folder, *command, file)
        check(f"{name} {command[0]}", not is_sentence(out, *words) and out)


def damaged(folder):
    """One bit of the IR, anywhere in it."""
    program = compile_program(os.path.join(HERE, "calls.c"),
                              os.path.join(folder, "calls"), "-O1", "-g")
    _, file = record(folder, program)
    head = run("readelf", "-SW", program).stdout
    at, size = (int(n, 16) for n in re.search(
        r"\.cairn\.ir +PROGBITS +\w+ (\w+) (\w+)", head).groups())
    with open(program, "rb") as stream:
        code = stream.read()
    for k in range(1, 8):
        bad = bytearray(code)
        bad[at + 40 + (size - 40) * k // 8] ^= 16
        os.remove(program)
        with open(program, "wb") as stream:
            stream.write(bad)
        os.chmod(program, 0o755)
        out = cairn(folder, "check", file)
        check(f"damaged {k}",
              not is_sentence(out, program, "IR", "build the program again")
              and out)
    ask_all(folder, "damaged", file, program, "build the program again")
    os.remove(program)


def unresolved(folder):
    """The replay code calls what there is not."""
    source = os.path.join(folder, "helper.c")
    with open(source, "w", encoding="ascii") as stream:
        stream.write(HELPER)
    program = compile_program(source, os.path.join(folder, "helper"), "-O1",
                              "-g")
    out, file = record(folder, program)
    check("helper", (out.returncode or out.stderr.count("\n") > 1) and out)
    if "identical" not in cairn(folder, "replay", file).stdout:
        ask_all(folder, "unresolved", file, program, "helper.c",
                "__truncsfbf2", "clang instead of cairn-cc")


class Installation:
    """A cairn of its own, whose cairn-replay is a script."""

    def __init__(self, folder):
        self.folder = folder
        self.cairn = os.path.join(folder, "bin", "cairn")
        self.tool = os.path.join(folder, "lib", "cairn", "cairn-replay")
        os.makedirs(os.path.dirname(self.cairn))
        os.makedirs(os.path.dirname(self.tool))
        shutil.copy(CAIRN, self.cairn)

    def write(self, script):
        with open(self.tool, "w", encoding="ascii") as stream:
            stream.write("#!/bin/bash\n" + script)
        os.chmod(self.tool, 0o755)

    def ask_all(self, name, file, *words):
        for command in READ + ASK:
            out = run(self.cairn, *command, file)
            out.stderr = out.stderr.replace("shell says so\n", "")
            check(f"{name} {command[0]}", not is_sentence(out, *words) and out)


def workers(folder, file):
    here = Installation(os.path.join(folder, "installed"))
    here.ask_all("missing", file, "cannot execute", "install cairn again")
    here.write("echo half; kill -SEGV $$\n")
    here.ask_all("crashed", file, "signal 11", "report this")
    here.write("echo half; kill -KILL $$\n")
    here.ask_all("killed", file, "was killed", "--jobs 1")
    here.write("echo shell says so >&2; exit 127\n")
    here.ask_all("not started", file, "does not start", "libllvm19")
    here.write('exec -a "${0##*/}" false\n')
    out = run(here.cairn, "check", file)
    check("says nothing", not is_sentence(out) and out)
    for name in ("replay", "replay/0.0.1", "walk/9"):
        out = run("bash", "-c", f"exec -a {name} {TOOL} {file} {file}")
        check(f"version {name}",
              not is_sentence(out, "belong together", "install") and out)


def short_of_memory(folder, file):
    """Too little to start is the loader's sentence; then it is ours."""
    for megabytes in (300, 500, 800, 1200, 2000):
        limit = megabytes << 20
        for command in ("check", "replay"):
            out = run(CAIRN, command, "-q", file, cwd=folder,
                      env=dict(os.environ, XDG_CACHE_HOME=os.path.join(
                          folder, f"cache{megabytes}{command}")),
                      preexec_fn=lambda: resource.setrlimit(
                          resource.RLIMIT_AS, (limit, limit)))
            fine = out.returncode == 0 and not out.stderr
            check(f"{megabytes} MB {command}",
                  not (fine or is_sentence(out)) and out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        damaged(folder)
        unresolved(folder)
        program = compile_program(os.path.join(HERE, "calls.c"),
                                  os.path.join(folder, "calls"), "-O1", "-g")
        _, file = record(folder, program)
        workers(folder, file)
        short_of_memory(folder, file)
    return finish()


sys.exit(main())
