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
import contextlib
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

from recorded import cairn, compile_program, HERE, Recording, recordings
from checks import check, finish, run
from decode import crc32c

PROGRAMS = ["reader.c", "callbacks.c", "setjmps.c", "jumps.c", "threads.c",
            "throws.cpp", "faults.c"]
NLINES = 2
SEED = int(os.environ.get("SEED", str(int(time.time()) % 100000)))
CHECKPOINT = 16
HEADER, HEAD = 64, 64


def mode_of(path):
    return os.stat(path).st_mode & 0o777


def many_numbers():
    """What programs read: so much that there is something to drop."""
    return "".join(f"{random.randrange(1 << 30) if i % 3 else i}\n"
                   for i in range(6000))


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
    r = Recording(os.path.join(HERE, source), level, *flags,
                  text=many_numbers())
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
    r = Recording(os.path.join(HERE, "reader.c"), "-O1", text=many_numbers())
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
    r = Recording(os.path.join(HERE, "forked.c"), "-O1", text=many_numbers())
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


def damage():
    """Whatever is wrong with a checkpoint, no replay begins there."""
    r = Recording(os.path.join(HERE, "calls.c"), "-O1", text=many_numbers())
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


# --- while the program runs --------------------------------------------------

WAITS = """
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int nsignals;
static void count(int signal)
{
	nsignals++;
}
int main(void)
{
	signal(SIGCHLD, count);
	for (int i = 0; i < 20; i++)
		usleep(10000);
	printf("%d %d\\n", wait(NULL), errno == ECHILD);
	printf("%d %d\\n", nsignals, dup(0));
	return 0;
}
"""


def compile_last(source, folder, level):
    return compile_program(source, os.path.join(folder, "program"), level,
                           "-g", mode="record,last=1M")


def feed(program, folder, nlines, env=None, stop=None):
    """Runs a reader on so many numbers; stop(process) is called in the
    middle."""
    numbers = random.Random(1)
    with open(os.path.join(folder, "out"), "wb") as out, subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=out,
            stderr=subprocess.PIPE, cwd=folder,
            env=dict(os.environ, XDG_CACHE_HOME=folder, **env or {})) as p:
        try:
            for i in range(nlines // 1000):
                p.stdin.write("".join(
                    f"{numbers.randrange(1 << 60)}\n"
                    for _ in range(1000)).encode())
                if stop and i == nlines // 2000:
                    p.stdin.flush()
                    stop(p)
            p.stdin.close()
        except BrokenPipeError:
            with contextlib.suppress(BrokenPipeError):
                p.stdin.close()  # what it holds nobody reads
        said = p.stderr.read().decode()
    (path,) = recordings(folder)
    return path, said


def followers(path):
    """Who follows a recording."""
    found = []
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(name, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0] == b"follow" and path.encode() in words:
            found.append(int(name.split("/")[2]))
    return found


def settle(paths, seconds=200):
    """Until nobody follows any more."""
    for _ in range(seconds * 10):
        if not any(followers(p) for p in paths):
            return
        time.sleep(.1)
    check("settled", f"{paths} are followed for more than {seconds} s")


def compare_tail(name, folder, path):
    """Identical, and what it wrote is the end of what it wrote."""
    out = cairn(folder, "replay", path)
    check(f"{name} replays", not re.search(r"from tick \d+, identical",
                                           out.stdout) and out)
    tail = cairn(folder, "output", "--raw", path).stdout
    with open(os.path.join(folder, "out"), encoding="ascii") as file:
        said = file.read()
    check(f"{name} output", (not tail or not said.endswith(tail)) and
          (tail[-200:], said[-200:]))


def in_flight():
    """The newest megabyte of a program that reads more; its end, SIGKILL, a
    follower that is killed, none at all."""
    source = os.path.join(HERE, "reader.c")
    with tempfile.TemporaryDirectory() as top:
        program = compile_last(source, top, "-O1")

        def folder(name):
            path = os.path.join(top, name)
            os.mkdir(path)
            return path

        here = folder("end")
        path, said = feed(program, here, 300000)
        check("end, says", said)
        settle([path])
        compare_tail("end", here, path)
        check("end, only the user reads it", mode_of(path) != 0o600 and
              oct(mode_of(path)))
        check("end, kept", not moments(path)[1] or glob.glob(path + ".*"))
        check("end, size", os.path.getsize(path) > 4 << 20 and
              os.path.getsize(path))

        here = folder("killed")
        path, _ = feed(program, here, 300000, stop=lambda p: p.kill())
        settle([path])
        out = cairn(here, "replay", path)
        check("killed", "identical up to where" not in out.stdout and out)

        here = folder("follower")

        def kill_follower(p):
            for _ in range(600):
                files = recordings(here)
                if files and glob.glob(files[0] + ".last"):
                    break
                time.sleep(.1)
            for pid in followers(files[0]):
                os.kill(pid, 9)

        path, _ = feed(program, here, 300000, stop=kill_follower)
        check("follower killed, FILE.last", not os.path.exists(path + ".last")
              and "none")
        for name in (path, path + ".last"):
            check("follower killed, only the user reads " + name[-5:],
                  mode_of(name) != 0o600 and oct(mode_of(name)))
        compare_tail("follower killed", here, path)
        os.rename(path + ".last", path + ".away")
        out = cairn(here, "replay", path)
        check("without FILE.last", "is not there; put" not in out.stderr and
              out)

        here = folder("none")
        path, said = feed(program, here, 30000, {"CAIRN_TRIM": "/nowhere"})
        check("none, says", ("cannot execute /nowhere" not in said or
                             said.count("\n") != 1) and said)
        out = cairn(here, "replay", path)
        check("none, whole", ("identical" not in out.stdout or
                              "from" in out.stdout) and out)


def crowd():
    """Threads log more than is kept, faster than it can be replayed: they wait,
    and the file stays small."""
    with tempfile.TemporaryDirectory() as folder:
        program = compile_last(os.path.join(HERE, "last", "crowd.c"), folder,
                               "-O2")
        most = 0
        with subprocess.Popen([program], cwd=folder,
                              stdout=subprocess.DEVNULL,
                              env=dict(os.environ,
                                       XDG_CACHE_HOME=folder)) as p:
            for _ in range(2000):
                if p.poll() is not None:
                    break
                used = sum(os.stat(k).st_blocks * 512 for k in
                           recordings(folder))
                most = max(most, used)
                time.sleep(.1)
            check("crowd, ends", p.poll() != 0 and "it does not")
            if p.poll() is None:
                p.kill()
        (path,) = recordings(folder)
        settle([path])
        check("crowd, disk", most > 20 << 20 and most)
        out = cairn(folder, "replay", path)
        check("crowd, replays", "kept on, identical" not in out.stdout and out)


def unseen():
    """The program has no child that it did not make, and no descriptor; and
    those that fork have children that can be replayed."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "waits.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(WAITS)
        program = compile_last(source, folder, "-O1")
        out = run(program, cwd=folder, stdin=subprocess.DEVNULL)
        check("waits", out.stdout != "-1 1\n0 3\n" and out)
        files = recordings(folder)
        settle(files)
        out = cairn(folder, "replay", *files)
        check("waits, replayed", "identical" not in out.stdout and out)
    with tempfile.TemporaryDirectory() as folder:
        program = compile_last(os.path.join(HERE, "forked.c"), folder, "-O1")
        run(program, cwd=folder,
            env=dict(os.environ, XDG_CACHE_HOME=folder))
        files = recordings(folder)
        check("forked", len(files) < 3 and files)
        settle(files)
        for path in files:
            out = cairn(folder, "replay", path)
            check("forked, replayed", "identical" not in out.stdout and out)


def main():
    random.seed(SEED)
    print(f"SEED={SEED}", flush=True)
    for source in PROGRAMS:
        try_program(source, random.choice(["-O0", "-O1", "-O2"]))
    exact_size()
    children()
    damage()
    in_flight()
    crowd()
    unseen()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
