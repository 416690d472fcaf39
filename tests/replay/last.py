#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of which only the newest part is kept.

Programs are recorded and trimmed to sizes that chance decides.  What is left
replays identically, to the tick where the whole one ends; values and output
are those of the whole recording from the checkpoint on; it can be trimmed
again; what needs the beginning, and files that are damaged or another version's,
are refused with a sentence.  SEED=n repeats a run.  Ends with "N passed, M
failed".
"""
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.path.join(ROOT, os.environ.get("BUILD", "build")))
BIN = os.environ.get("CAIRN_BIN", os.path.join(BUILD, "bin"))
PROGRAMS = ["reader.c", "callbacks.c", "setjmps.c", "jumps.c", "threads.c",
            "throws.cpp", "faults.c"]
NLINES = 2
SEED = int(os.environ.get("SEED", str(int(time.time()) % 100000)))
CHECKPOINT = 13
HEADER, HEAD = 64, 64
passed = failed = 0


def check(name, problem):
    global passed, failed
    if problem:
        print(f"FAIL {name}: {str(problem)[:600]}", flush=True)
        failed += 1
    else:
        passed += 1


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True,
                          errors="replace", timeout=300, check=False,
                          **options)


def compile_program(source, folder, *flags, mode="record"):
    cxx = source.endswith(".cpp")
    program = os.path.join(folder, "program")
    out = run(os.path.join(BIN, "cairn-c++" if cxx else "cairn-cc"),
              "--cairn=" + mode, "-g", "-w", "-pthread",
              "-std=c++20" if cxx else "-std=gnu17", *flags, source, "-o",
              program, "-lm")
    if out.returncode:
        raise ValueError(out.stderr)
    return program


class Recording:
    """A program, recorded in a folder of its own."""

    def __init__(self, source, level, *flags):
        self.name = f"{os.path.basename(source)} {level}"
        self.source = source
        self.folder = tempfile.mkdtemp()
        program = compile_program(source, self.folder, level, *flags)
        with open(os.path.join(self.folder, "input"), "w",
                  encoding="ascii") as file:
            for i in range(6000):
                file.write(f"{random.randrange(1 << 30) if i % 3 else i}\n")
        run(program, "input", cwd=self.folder)
        self.files = sorted(glob.glob(os.path.join(self.folder, "*.cairn")))
        self.file = self.files[0]

    def cairn(self, command, *args, file=None):
        return run(os.path.join(BIN, "cairn"), command, *args,
                   file or self.file,
                   env=dict(os.environ, XDG_CACHE_HOME=self.folder))

    def close(self):
        shutil.rmtree(self.folder)


def chunks(data):
    """(type, id, offset of the payload, size of it) of a file."""
    at = 4096
    end, = struct.unpack_from("<Q", data, 136)
    while at < end:
        _, kind, length, ident = struct.unpack_from("<IIQI", data, at)
        yield kind, ident, at + HEADER, length - HEADER
        at += length


def moments(path):
    """Where contexts begin: {context: tick}; those without checkpoint at 0."""
    with open(path, "rb") as file:
        data = file.read()
    found = {}
    for kind, ident, at, _ in chunks(data):
        if kind in (8, 9) and ident:
            found.setdefault(ident, 0)
        if kind == CHECKPOINT and ident:
            found[ident], = struct.unpack_from("<Q", data, at + 56)
    return found


def ticks_of(out):
    match = re.match(r"replayed (\d+) ticks", out.stdout)
    return int(match.group(1)) if match else 0


def log_size(out):
    match = re.search(r"kept (\d+) of (\d+) bytes", out.stdout)
    return [int(k) for k in match.groups()] if match else [0, 0]


def is_kept(line, begin):
    match = re.match(r"\[(\d+):(\d+)\]", line)
    return match and int(match.group(1)) in begin and \
        int(match.group(2)) >= begin[int(match.group(1))]


def compare_values(r, cut):
    """At some lines that have code: all that is kept, and nothing else."""
    begin = moments(cut)
    with open(r.source, encoding="utf-8") as file:
        nlines = len(file.readlines())
    asked = 0
    for line in random.sample(range(1, nlines + 1), nlines):
        at = f"{os.path.basename(r.source)}:{line}"
        whole = r.cairn("values", "--at", at)
        if whole.returncode == 2 or len(whole.stdout) > 1 << 20:
            continue
        some = "".join(k for k in whole.stdout.splitlines(True)
                       if is_kept(k, begin))
        out = r.cairn("values", "--at", at, file=cut)
        if "thread-local" in out.stderr:
            continue
        check(f"{r.name} values at {line}", out.stdout != some and
              f"{out.stderr}{first_difference(some, out.stdout)}")
        asked += 1
        if asked == NLINES:
            break


def first_difference(a, b):
    for x, y in zip(a.splitlines() + [""], b.splitlines() + [""]):
        if x != y:
            return f"{x!r}, cut {y!r}"
    return "lengths"


def compare_output(r, cut):
    begin = moments(cut)
    whole, out = (r.cairn("output", "--json", file=k) for k in (r.file, cut))
    if not whole.stdout:
        return
    some = [k for k in json.loads(whole.stdout)["pieces"]
            if k["context"] in begin and k["tick"] >= begin[k["context"]]]
    try:
        check(f"{r.name} output", json.loads(out.stdout)["pieces"] != some and
              out.stdout[:300])
    except ValueError:
        check(f"{r.name} output", out)


def compare_ticks(r, cut, out):
    """The kept contexts end where those of the whole recording do."""
    begin = moments(cut)
    all_of = ticks_of(r.cairn("replay"))
    if list(begin) == [1] and len(moments(r.file)) == 1:
        check(f"{r.name} ticks", ticks_of(out) + begin[1] != all_of and
              f"{out.stdout} of {all_of}")
    else:
        check(f"{r.name} ticks", not 0 < ticks_of(out) <= all_of and out)


def trim(r, size, source, cut):
    out = r.cairn("trim", "--last", str(size), "-o", cut, file=source)
    check(f"{r.name} trim to {size}", out.returncode and out)
    if out.returncode:
        return False
    again = r.cairn("replay", file=cut)
    check(f"{r.name} trimmed to {size}", "identical" not in again.stdout and
          again)
    return "identical" in again.stdout


def try_program(source, level, *flags):
    r = Recording(os.path.join(HERE, source), level, *flags)
    cut, twice = (os.path.join(r.folder, k) for k in ("cut", "twice"))
    size = log_size(r.cairn("trim", "--last", "1G", "-o", cut))[1]
    check(f"{r.name} nothing to trim", moments(cut) != moments(r.file) and
          moments(cut))
    n = max(1, int(size * random.choice((.2, .3, .5, .8))))
    if trim(r, n, r.file, cut):
        compare_ticks(r, cut, r.cairn("replay", file=cut))
        compare_values(r, cut)
        compare_output(r, cut)
    if trim(r, max(1, size // 10), cut, twice):
        compare_output(r, twice)
    print(f"{r.name}: {size} bytes of log, {moments(cut)}", flush=True)
    r.close()


def exact_size():
    """A reader's log is what it reads: the file shrinks as it should."""
    r = Recording(os.path.join(HERE, "reader.c"), "-O1")
    cut = os.path.join(r.folder, "cut")
    kept, size = log_size(r.cairn("trim", "--last", "5K", "-o", cut))
    check("reader, kept", not 2500 < kept <= 5120 and (kept, size))
    for command in ("writes", "trace", "report"):
        args = ["--var", "sum"] if command == "writes" else []
        out = r.cairn(command, *args, file=cut)
        check(f"reader, {command}", "beginning was dropped" not in out.stderr
              and out)
    before = os.path.getsize(r.file)
    out = r.cairn("trim", "--last", "5K")
    check("reader, in place", (out.returncode or not moments(r.file)[1] or
                               os.path.getsize(r.file) >= before) and out)
    leftovers = [k for k in os.listdir(r.folder) if "checkpoint" in k]
    check("reader, leftovers", leftovers)
    r.close()


def children():
    """Each begins at a checkpoint of its own, without its parents; one that
    was not trimmed goes on from what was kept of its parent, or says that it
    was not."""
    r = Recording(os.path.join(HERE, "forked.c"), "-O1")
    before = {k: r.cairn("replay", file=k).stdout for k in r.files}
    alone = os.path.join(r.folder, "alone")
    os.mkdir(alone)
    for path in r.files[1:]:
        cut = os.path.join(alone, os.path.basename(path))
        if trim(r, 1 << 20, path, cut):
            (context, tick), *_ = moments(cut).items()
            check(f"child {context}", not tick and "no checkpoint")
    r.cairn("trim", "--last", "150")
    for path in r.files[1:]:
        out = r.cairn("replay", file=path)
        check("of a trimmed parent", out.stdout != before[path] and
              "from tick" not in out.stdout and
              "not kept there" not in out.stderr and out)
    r.close()


def crc32c(data, crc=0):
    crc ^= 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def damage():
    """Whatever is wrong with a checkpoint, no replay begins there."""
    r = Recording(os.path.join(HERE, "calls.c"), "-O1")
    cut = os.path.join(r.folder, "cut")
    size = log_size(r.cairn("trim", "--last", "1G", "-o", cut))[1]
    trim(r, size // 2, r.file, cut)
    with open(cut, "rb") as file:
        whole = file.read()
    at, n = next((at, n) for kind, ident, at, n in chunks(whole)
                 if kind == CHECKPOINT and ident)

    def attempt(name, data, sentence):
        path = os.path.join(r.folder, "wrong")
        with open(path, "wb") as file:
            file.write(data)
        out = r.cairn("replay", file=path)
        check(name, (out.returncode != 2 or sentence not in out.stderr or
                     out.stderr.count("\n") != 1) and out)

    def with_sums(data, own):
        """What damages it on purpose puts the checksums right."""
        if own:
            first = at + HEAD
            length, = struct.unpack_from("<Q", data, at - HEADER + 24)
            crc = crc32c(data[first + 224:first + length])
            crc = crc32c(data[first + 12:first + 224], crc)
            struct.pack_into("<I", data, first + 8, crc)
        struct.pack_into("<I", data, at - HEADER + 52,
                         crc32c(data[at:at + n]))
        return data

    data = bytearray(whole)
    data[at + n // 2] ^= 16
    attempt("damaged", data, "checksum")
    attempt("damaged inside", with_sums(data, False), "is damaged")
    data = bytearray(whole)
    data[at + HEAD + 16] ^= 1
    attempt("another version", with_sums(data, True), "another version")
    data = bytearray(whole)
    data[at + HEAD + 216] ^= 1
    attempt("other modules", with_sums(data, True), "other modules")
    attempt("cut off", whole[:at + n // 2], "truncated")
    for _ in range(8):
        data = bytearray(whole)
        data[random.randrange(at + HEAD + 16, at + HEAD + 184)] ^= \
            1 << random.randrange(8)
        path = os.path.join(r.folder, "wrong")
        with open(path, "wb") as file:
            file.write(with_sums(data, True))
        out = r.cairn("replay", file=path)
        check("a wrong head", out.returncode not in (0, 1, 2) and out)
    r.close()


def main():
    random.seed(SEED)
    print(f"SEED={SEED}", flush=True)
    for source in PROGRAMS:
        try_program(source, random.choice(["-O0", "-O1", "-O2"]))
    exact_size()
    children()
    damage()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
