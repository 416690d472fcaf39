#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Disks without room: what a program says is what becomes of its counts.

    disk.py [--keep DIR]
    CAIRN_BIN                directory of cairn and cairn-cc

The disk is a small tmpfs, so this needs root.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "tests/programs")]
import checks  # noqa: E402
from checks import equal, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC  # noqa: E402

OUT = "disk/x.cairn"
UNLESS = "lost unless there is room when the program ends"


def build(mode):
    r = checks.run(CAIRN_CC, "--cairn=" + mode, "-g", "-O1",
                   os.path.join(HERE, "disk.c"), "-o", "./prog-" + mode)
    if r.returncode:
        raise RuntimeError(r.stderr[-2000:])


def fill():
    """Leaves no byte free."""
    with open("disk/fill", "ab", buffering=0) as f:
        try:
            while f.write(b"x" * 4096):
                pass
        except OSError:
            pass


def free():
    os.remove("disk/fill")


def run(program, *args, first=None, then=None, closed=False):
    """Does `first` before the program starts, and `then` when it runs."""
    for f in os.listdir("disk"):
        os.remove("disk/" + f)
    if first:
        first()
    p = subprocess.Popen([program, *args], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={"CAIRN_OUT": OUT}, text=True,
                         preexec_fn=(lambda: os.close(2)) if closed else None)
    p.stdout.readline()
    if then:
        then()
    said = p.communicate("\n", timeout=60)[1]
    if os.path.exists("disk/fill"):
        free()
    return p.returncode, said


def check():
    return checks.run(CAIRN, "check", OUT)


def one_line(what, said, text):
    test(what + ": one line", len(said.splitlines()) == 1 and text in said,
         said)


def full_at_the_start():
    for mode in ("edges", "paths", "trace"):
        what = "%s, a full disk" % mode
        status, said = run("./prog-" + mode, first=fill)
        equal(what + ": status", status, 0)
        one_line(what, said, UNLESS)
        equal(what + ": nothing is left", os.listdir("disk"), [])
        what = "%s, room at the end" % mode
        status, said = run("./prog-" + mode, first=fill, then=free)
        equal(what + ": status", status, 0)
        one_line(what, said, UNLESS)
        test(what + ": there is a file", os.path.exists(OUT))
        if mode != "trace":
            r = check()
            test(what + ": it is sound", r.returncode == 0,
                 r.stdout + r.stderr)


def full_later():
    args = ("threads", "32")
    for closed in (False, True):
        what = "full later" + ", stderr closed" * closed
        status, said = run("./prog-edges", *args, then=fill, closed=closed)
        equal(what + ": status", status, 0)
        if not closed:
            one_line(what, said, UNLESS)
        r = check()
        test(what + ": the file says so", r.returncode == 1 and
             "F4" in r.stdout, r.stdout + r.stderr)


def no_room_for_a_trace():
    """What a recording is read as lies in TMPDIR."""
    build("record")
    checks.run("./prog-record", stdin=subprocess.DEVNULL,
               env={"CAIRN_OUT": "recording.cairn"})
    fill()
    r = checks.run(CAIRN, "report", "recording.cairn",
                   env=dict(os.environ, TMPDIR="disk"))
    free()
    equal("no room for a trace: status", r.returncode, 2)
    one_line("no room for a trace", r.stderr, "set TMPDIR")


def modules():
    """What belongs to a module is not in the file without it."""
    r = checks.run(CAIRN_CC, "--cairn=edges", "-g", "-O1", "-shared", "-fPIC",
                   "library.c", "-o", "library0.so")
    if r.returncode:
        raise RuntimeError(r.stderr[-2000:])
    for i in range(1, 64):
        shutil.copy("library0.so", "library%d.so" % i)
    status, said = run("./prog-edges", "modules", "64")
    equal("modules: killed", status, -9)
    one_line("modules", said, UNLESS)
    r = check()
    test("modules: the file can be read", r.returncode == 1 and
         "F4" in r.stdout, r.stdout + r.stderr)


def check_all(work):
    os.chdir(work)
    os.mkdir("disk")
    with open("library.c", "w", encoding="ascii") as f:
        f.write("void library(void);\nvoid library(void)\n{\n}\n")
    for mode in ("edges", "paths", "trace"):
        build(mode)
    r = checks.run("mount", "-t", "tmpfs", "-o", "size=512k", "none", "disk")
    if r.returncode:
        test("disk: cannot run: needs root, to mount a small disk: " +
             r.stderr, False)
        return
    try:
        full_at_the_start()
        full_later()
        modules()
        no_room_for_a_trace()
    finally:
        checks.run("umount", "disk")


if __name__ == "__main__":
    sys.exit(checks.suite(check_all))
