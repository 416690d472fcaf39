#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays that begin in the middle.

Programs are recorded, and checkpoints of their replay are made, at ticks that
chance decides.  From each of them the rest replays identically; the whole does
so in parts, each of which has to end as the next begins; and a question has the
same answers from parts of any number, and from any moment, as from one replay
that uses no checkpoint.  SEED=n repeats a run.  Ends with "N passed, M failed".
"""
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import recorded
from recorded import HERE
from checks import check, finish, run
from decode import crc32c

PROGRAMS = ["callbacks.c", "calls.c", "jumps.c", "stacks.c", "threads.c",
            "throws.cpp", "coroutines.cpp", "rounding.c", "vectors.c",
            "faults.c", "tails.c", "tails.cpp"]
NCSMITH = int(os.environ.get("CSMITH", "4"))
NFROM = 4    # checkpoints of a program that are begun at
NLINES = 2   # and lines that are asked for
NTRIES = 40  # lines that may turn out to have no code, or too many answers
ALL = ["--limit", str(10 ** 15)]  # from the beginning, in one process
SEED = int(os.environ.get("SEED", str(int(time.time()) % 100000)))


class Recording(recorded.Recording):
    """With checkpoints of its replay."""

    def checkpoints(self):
        """Files of them, and their ticks, by context."""
        all_of = {}
        for path in sorted(glob.glob(self.file + ".checkpoints/*-[0-9]*")):
            context, tick = os.path.basename(path).split("-")
            all_of.setdefault(int(context), []).append((int(tick), path))
        return all_of


def ticks_of(out):
    match = re.match(r"replayed (\d+) ticks", out.stdout)
    return int(match.group(1)) if match else 0


def make_checkpoints(r, n):
    """About n of them; returns how many ticks there are, 0 if it failed."""
    whole = r.cairn("replay")
    ticks = ticks_of(whole)
    check(f"{r.name} whole", not ticks and whole)
    if not ticks:
        return 0
    every = max(1, random.randrange(ticks // (2 * n), ticks // n + 2))
    out = r.cairn("replay", "--every", str(every))
    check(f"{r.name} made", out.stdout != whole.stdout and out)
    if ticks > 1000:  # a program of a few ticks may end before the first
        check(f"{r.name} some", not r.checkpoints() and f"none, every {every}")
    for jobs in ("1", str(random.randrange(2, 6))):
        out = r.cairn("replay", "--jobs", jobs)
        check(f"{r.name} in parts", out.stdout != whole.stdout and out)
    return ticks


def begin_anywhere(r):
    """The rest, from checkpoints of the first context on."""
    ticks = [tick for tick, _ in r.checkpoints().get(1, [])]
    for tick in random.sample(ticks, min(NFROM, len(ticks))):
        out = r.cairn("replay", "--from", str(tick))
        check(f"{r.name} from {tick}", "identical" not in out.stdout and out)
        out = r.cairn("replay", "--from", str(tick), "--to",
                      str(tick + random.randrange(1, tick + 1)))
        check(f"{r.name} a part from {tick}", "identical" not in out.stdout
              and out)
    print(f"{r.name}: {len(ticks)} checkpoints", flush=True)


def in_span(line, first, last):
    match = re.match(r"\[\d+:(\d+)\]", line)
    return match and first <= int(match.group(1)) <= last


def ask(r, ticks):
    """Lines that have code, at random."""
    with open(r.source, encoding="utf-8") as file:
        nlines = len(file.readlines())
    asked = 0
    for line in random.sample(range(1, nlines + 1), min(nlines, NTRIES)):
        at = f"{os.path.basename(r.source)}:{line}"
        whole = r.cairn("values", *ALL, "--at", at)
        if whole.returncode == 2 or len(whole.stdout) > 10 << 20:
            continue
        jobs = str(random.randrange(2, 5))
        out = r.cairn("values", "--at", at, "--jobs", jobs)
        check(f"{r.name} values at {line}", (out.stdout, out.returncode) !=
              (whole.stdout, whole.returncode) and
              f"jobs {jobs}: {out.stderr}{difference(whole, out)}")
        first = random.randrange(ticks)
        last = first + random.randrange(1, ticks)
        out = r.cairn("values", "--at", at, "--from", str(first), "--to",
                      str(last))
        some = "".join(k for k in whole.stdout.splitlines(True)
                       if in_span(k, first, last))
        check(f"{r.name} values at {line} from {first} to {last}",
              out.stdout != some and f"{out.stderr}{out.stdout[:200]}")
        json = [r.cairn("values", "--json", "--at", at, *o).stdout
                for o in (ALL, ["--jobs", jobs])]
        check(f"{r.name} json at {line}", json[0] != json[1] and
              f"jobs {jobs}: {json[1][:300]}")
        asked += 1
        if asked == NLINES:
            break


def difference(a, b):
    """Of two outputs, the first line."""
    for x, y in zip(a.stdout.splitlines() + [""], b.stdout.splitlines() + [""]):
        if x != y:
            return f"{x!r}, in parts {y!r}"
    return "lengths"


def try_program(source, level, *flags):
    r = Recording(os.path.join(HERE, source), level, *flags)
    ticks = make_checkpoints(r, random.randrange(8, 40))
    if ticks:
        begin_anywhere(r)
        ask(r, ticks)
    r.close()


def every_moment():
    """Of a short program all checkpoints there can be."""
    for level in ("-O0", "-O1", "-O2"):
        r = Recording(os.path.join(HERE, "setjmps.c"), level)
        out = r.cairn("replay", "--every", "1")
        (files,) = r.checkpoints().values()
        check(f"{r.name} some", len(files) < 10 and out)
        for tick, _ in files:
            out = r.cairn("replay", "--from", str(tick))
            check(f"{r.name} from {tick}", f"from tick {tick} to tick" not in
                  out.stdout and out)
        out = r.cairn("replay", "--from", "1000000000000")
        check(f"{r.name} from behind the end", "before --from" not in
              out.stderr and out)
        out = r.cairn("replay", "--every", "0")
        check(f"{r.name} no distance", (out.returncode, "--every 0" in
                                        out.stderr) != (2, True) and out)
        out = r.cairn("replay", "--to", "0")
        check(f"{r.name} to the beginning", "from tick 0 to tick" not in
              out.stdout and out)
        r.close()


def damage():
    """Of those that are damaged or another recording's, none is used."""
    r = Recording(os.path.join(HERE, "calls.c"), "-O1")
    ticks = make_checkpoints(r, 12)
    (files,) = r.checkpoints().values()
    tick, path = files[len(files) // 2]
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[len(data) // 2] ^= 4
    with open(path, "wb") as file:
        file.write(data)
    out = r.cairn("replay", "--from", str(tick))
    first = next(t for t, _ in reversed(files) if t < tick)
    check("damaged", ticks_of(out) != ticks - first and out)
    for _, other in files:
        with open(other, "rb") as file:
            head = bytearray(file.read(24))
        with open(other, "r+b") as file:
            file.write(head[:16] + bytes([head[16] ^ 1]) + head[17:])
    out = r.cairn("replay", "--from", str(tick))
    check("another's", ticks_of(out) != ticks and out)
    r.close()


def lies():
    """Checkpoints that are whole, but not what the replay comes to: its hash
    of memory, at 184, is another."""
    r = Recording(os.path.join(HERE, "calls.c"), "-O1")
    make_checkpoints(r, 12)
    (files,) = r.checkpoints().values()
    for _, path in files:
        with open(path, "rb") as file:
            data = bytearray(file.read())
        data[184] ^= 1
        crc = crc32c(data[12:224], crc32c(data[224:]))
        data[8:12] = crc.to_bytes(4, "little")
        with open(path, "wb") as file:
            file.write(data)
    out = r.cairn("replay", "--jobs", "2")
    check("lies", (out.returncode != 1 or
                   "not that of a checkpoint" not in out.stderr) and out)
    out = r.cairn("replay", "--jobs", "1")
    check("lies, nobody believes", "identical" not in out.stdout and out)
    r.close()


EVEN = """
#include <stdio.h>
extern int odd(int n, int *count);
int even(int n, int *count)
{
	int before = *count;

	if (!n)
		return 1;
	*count += n;
	return odd(n - 1, count) && before <= *count;
}
int main(void)
{
	int count = 0;

	for (int i = 0; i < 300; i++)
		even(i % 40, &count);
	printf("%d\\n", count);
	return 0;
}
"""
ODD = """
extern int even(int n, int *count);
int odd(int n, int *count)
{
	int more = n & 3;

	if (!n)
		return 0;
	if (!even(n - 1, count))
		return 0;
	*count += more;
	return more;
}
"""


def files():
    """Calls between files, which the linker knows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("even.c", EVEN), ("odd.c", ODD)):
            with open(os.path.join(folder, name), "w",
                      encoding="ascii") as file:
                file.write(text)
        for level in ("-O0", "-O2"):
            try_program(os.path.join(folder, "even.c"), level,
                        os.path.join(folder, "odd.c"))


def csmith():
    """Random programs."""
    for _ in range(NCSMITH):
        seed = random.randrange(1 << 30)
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, f"c{seed}.c")
            out = run("csmith", "--seed", str(seed))
            with open(source, "w", encoding="ascii") as file:
                file.write(out.stdout)
            plain = os.path.join(folder, "plain")
            run("clang-19", "-O1", "-w", "-I/usr/include/csmith", source, "-o",
                plain)
            try:
                run("timeout", "0.1", plain).check_returncode()
            except subprocess.CalledProcessError:
                continue  # it does not end, or has more answers than time
            try_program(source, random.choice(["-O0", "-O1", "-O2", "-O3"]),
                        "-I/usr/include/csmith")


def main():
    random.seed(SEED)
    print(f"SEED={SEED}", flush=True)
    for source in PROGRAMS:
        try_program(source, random.choice(["-O0", "-O1", "-O2", "-O3"]))
    every_moment()
    damage()
    lies()
    files()
    csmith()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
