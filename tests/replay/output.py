#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cairn output: are these the bytes that a recorded program printed?

The programs of tests/replay/output print what no replay could compute.  What
`cairn output --raw` says has to be what came out, to the byte, of stdout and of
stderr; pieces that begin with "line N" have to be from line N.  Ends with
"N passed, M failed".
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from recorded import cairn, compile_program, HERE, record, recordings
import decode
from profiles import CAIRN
from checks import check, finish, run

PROGRAMS = os.path.join(HERE, "output")


def build(folder, source, *options):
    return compile_program(
        os.path.join(PROGRAMS, source),
        os.path.join(folder, os.path.splitext(source)[0]), "-g", *options)


def output(folder, *args):
    return cairn(folder, "output", *args, text=False)


def differ(a, b):
    """Where two byte strings do, and how; None: nowhere."""
    if a == b:
        return None
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y),
              min(len(a), len(b)))
    return (f"at byte {at} of {len(a)} and {len(b)}: "
            f"{a[max(at - 20, 0):at + 40]!r}, {b[max(at - 20, 0):at + 40]!r}")


def compare(name, folder, file, out):
    """Both streams, to the byte."""
    for fd, real in (("1", out.stdout), ("2", out.stderr)):
        mine = output(folder, "--raw", "--fd", fd, file)
        check(f"{name} fd {fd}", mine.returncode and mine.stderr or
              differ(mine.stdout, real))


def pieces_of(folder, file):
    out = output(folder, "--json", file)
    return json.loads(out.stdout)["pieces"]


def compare_lines(name, folder, file, source, at_least):
    """Pieces that say which line they are from."""
    n = 0
    for piece in pieces_of(folder, file):
        words = (piece["text"] or "").lstrip("\n").split(":")[0].split()
        if len(words) != 2 or words[0] != "line" or piece["late"]:
            continue
        n += 1
        check(f"{name} line {words[1]}", (
            piece["line"] != int(words[1]) or
            os.path.basename(piece["file"]) != source) and piece)
    check(f"{name} lines", n < at_least and n)


def programs(folder):
    for options in (("-O0",), ("-O2",), ("-O2", "-static-pie"),
                    ("-O2", "-D_FORTIFY_SOURCE=2"), ("-O1", "-flto")):
        name = " ".join(("outside", *options))
        program = build(folder, "outside.c", *options)
        out, file = record(folder, program, text=False)
        check(name + " status", out.returncode and out)
        compare(name, folder, file, out)
        compare_lines(name, folder, file, "outside.c", 5)
    for options in (("-O0",), ("-O2",), ("-O2", "-static-pie")):
        program = build(folder, "streams.cpp", *options)
        for args in ((), ("unsynced",)):
            name = " ".join(("streams", *options, *args))
            out, file = record(folder, program, *args, text=False)
            check(name + " status", out.returncode and out)
            compare(name, folder, file, out)


def threads(folder):
    for options in (("-O2",), ("-O0", "-static-pie")):
        program = build(folder, "threads.c", *options)
        for i in range(10):
            name = " ".join(("threads", *options, str(i)))
            out, file = record(folder, program, text=False)
            compare(name, folder, file, out)
        compare_lines(name, folder, file, "threads.c", 1)


def forked(folder, name, program):
    """Parent and child have a file each: what they wrote themselves."""
    for old in recordings(folder):
        os.remove(old)
    real = run(program, "fork", cwd=folder, text=False).stdout
    files = sorted(recordings(folder),
                   key=lambda x: int(x.split(".")[-2]))
    check(f"{name} files", len(files) != 2 and files)
    mine = [output(folder, "--raw", file) for file in files]
    child, rest = mine[1].stdout, mine[0].stdout
    check(name, (not child.startswith(b"the child and its parent\n") or
                 sorted(child + rest) != sorted(real)) and mine)


ENDS = {"": 0, "unbuffered": 0, "lines": 0, "closed": None, "_exit": 0,
        "abort": -6, "signal": -11, "crash": -11, "exec": None, "noexec": 0,
        "quick_exit": 0, "fclose": 0}


def ends(folder):
    for options in (("-O2",), ("-O0", "-static-pie")):
        program = build(folder, "ends.c", *options)
        for how, status in ENDS.items():
            name = " ".join(("ends", *options, how))
            out, file = record(folder, program, how, text=False)
            if how == "exec":  # what that prints is no output of ours
                out.stdout = out.stdout.replace(b"another program\n", b"")
            if how == "closed":
                continue
            check(name + " status",
                  status is not None and out.returncode != status and out)
            compare(name, folder, file, out)
        forked(folder, " ".join(("fork", *options)), program)
        out, file = record(folder, program, "wide", text=False)
        check("wide", out.stdout != b"wide\n" and out)


def kill(folder, program, *args, enough=0, tty=False):
    """Kills it once it is asleep; what came out until then, and the file."""
    for old in glob.glob(os.path.join(folder, "*.cairn")):
        os.remove(old)
    ours, its = os.openpty() if tty else os.pipe()
    with subprocess.Popen([program, *args], cwd=folder, stdout=its,
                          stdin=subprocess.PIPE) as process:
        os.close(its)
        out = b""
        while len(out) < enough:
            out += os.read(ours, 1 << 16)
        while True:  # it calls pause
            with open(f"/proc/{process.pid}/syscall", "rb") as state:
                if state.read().split()[0] == b"34":
                    break
            time.sleep(0.01)
        process.kill()
    os.set_blocking(ours, False)
    try:
        out += os.read(ours, 1 << 20)
    except OSError:
        pass  # nothing
    os.close(ours)
    (file,) = glob.glob(os.path.join(folder, "*.cairn"))
    return out, file


def hashes(folder):
    """What goes out by its address is compared."""
    for options in (("-O0",), ("-O2", "-static-pie")):
        name = " ".join(("hashed", *options))
        program = build(folder, "hashed.c", *options)
        out, file = kill(folder, program, enough=101)
        with open(file, "rb") as stream:
            data = stream.read()
        hash_ = decode.out_hash(out).to_bytes(4, "little")
        check(name + " hash", data.count(hash_) != 1 and data.count(hash_))
        check(name, run(CAIRN, "replay", file,
                        cwd=folder).returncode)
        with open(file, "wb") as stream:
            stream.write(data.replace(hash_, bytes((hash_[0] ^ 1,)) +
                                      hash_[1:]))
        bad = run(CAIRN, "replay", file, cwd=folder, text=False)
        check(name + " other", (bad.returncode != 1 or
              b"in function main" not in bad.stderr or
              b"it writes out other bytes" not in bad.stderr) and bad)


def kills(folder):
    """Of what was in libc's buffer nothing came out."""
    for options in (("-O2",), ("-O0", "-static-pie")):
        program = build(folder, "killed.c", *options)
        for how in ("buffered", "flushed", "closed", "direct", "unbuffered",
                    "large"):
            name = " ".join(("killed", *options, how))
            out, file = kill(folder, program, how)
            mine = output(folder, "--raw", file)
            check(name, mine.returncode or mine.stderr or
                  differ(mine.stdout, out))
        text = output(folder, file).stdout
        check(f"{name} text", b"bytes were never written out" not in text and
              text)
        out, file = kill(folder, program, "buffered", tty=True)
        mine = output(folder, "--raw", file)
        check("a terminal", (out != b"first\r\n" or
              mine.stdout != b"first\nsecond" or
              b"the last 6 bytes of stdout may not" not in mine.stderr) and
              (out, mine))


def others(folder):
    """What is said to who asks for something else."""
    program = build(folder, "ends.c", "-O2")
    _, file = record(folder, program, text=False)
    text = output(folder, file).stdout.decode()
    check("text", 'ends.c:' not in text and text)
    check("text: a piece", '"three"' not in text and text)
    check("text: late", "or before" not in text and text)
    late = [p for p in pieces_of(folder, file) if p["late"]]
    check("late", "".join(p["text"] for p in late) != "x\ny!" and late)
    out = output(folder, "--fd", "3", file)
    check("--fd 3", out.returncode != 2 and out)
    out = output(folder, "--raw", "--json", file)
    check("--raw --json", out.returncode != 2 and out)
    silent = os.path.join(folder, "silent.c")
    with open(silent, "w", encoding="ascii") as source:
        source.write("int main(void) { return 0; }\n")
    program = build(folder, silent)
    _, file = record(folder, program, text=False)
    out = output(folder, file)
    check("nothing", (out.returncode or out.stdout or
                      b"has no output" not in out.stderr) and out)


def main():
    folder = tempfile.mkdtemp()
    try:
        for test in (programs, threads, ends, hashes, kills, others):
            test(folder)
    finally:
        shutil.rmtree(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
