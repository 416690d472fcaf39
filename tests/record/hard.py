#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of what never happens twice in the same way, again and again.

    hard.py [--full] [--seed N]
    CAIRN_BIN   directory of cairn and cairn-cc (default: build/bin)

order    four threads count under a lock (counter.c): the logs of all, merged
         by the numbers of their locks, show each value once, in order
turns    threads that synchronise by atomics alone, and handlers of signals
         (../replay/writes/turns.c, turns.cpp, handlers.c): `cairn writes` shows
         what they wrote in the order that their own books have
races    threads that race, timers, handlers (../replay/races.c, threads.c):
         every thread replays identically
kills    a program is killed by SIGKILL at random moments (endless.c): its
         recording replays up to there
damage   of such recordings, bytes are changed and ends cut off: an answer or
         one sentence, never a crash, never a replay without end

A few times each; with --full hundreds, as `make proof` does.  Ends with
"N passed, M failed".
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")
BIN = pathlib.Path(os.environ.get("CAIRN_BIN", BUILD / "bin")).resolve()
MARK = 0xc0ffee0000000000  # of counter.c
COUNT = 2000
CUT = "identical up to where the log was cut off\n"

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/replay"))
import turned  # noqa: E402


class Wrong(Exception):
    """What was expected did not come."""


class Hard:
    def __init__(self, folder, chance):
        self.folder, self.chance = folder, chance
        self.passed = self.failed = 0

    def again(self, name, times, attempt):
        """`attempt` so many times; those that raise have failed."""
        for i in range(times):
            try:
                attempt(i)
                self.passed += 1
            except (Wrong, subprocess.TimeoutExpired) as problem:
                self.failed += 1
                print(f"FAIL {name} {i}: {str(problem)[:400]}", flush=True)

    def build(self, source, *flags):
        exe = self.folder / source.stem
        cxx = source.suffix == ".cpp"
        done = subprocess.run(
            [BIN / ("cairn-c++" if cxx else "cairn-cc"), "--cairn=record",
             "-g", "-w", "-pthread", "-std=c++20" if cxx else "-std=gnu17",
             *(flags or ("-O2",)), source, "-o", exe, "-lm"],
            capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"hard.py: {source}: {done.stderr}")
        return exe

    def environment(self, **more):
        return dict(os.environ, XDG_CACHE_HOME=str(self.folder),
                    CAIRN_OUT=str(self.folder / "%n.cairn"), **more)

    def run(self, *command, limit=600):
        return subprocess.run(
            [str(word) for word in command], capture_output=True, text=True,
            errors="replace", timeout=limit, check=False, cwd=self.folder,
            env=self.environment())

    def record(self, exe):
        file = self.folder / (exe.name + ".cairn")
        file.unlink(missing_ok=True)
        done = self.run(exe)
        if done.returncode or done.stderr:
            raise Wrong(f"{exe.name}: status {done.returncode}: "
                        f"{done.stderr}")
        return file, done.stdout

    def replay(self, *args):
        return self.run(BIN / "cairn", "replay", *args)

    def must_replay(self, file, end):
        done = self.replay(file)
        if done.returncode or done.stderr or not done.stdout.endswith(end):
            raise Wrong(f"status {done.returncode}: {done.stdout}"
                        f"{done.stderr}")

    # --- order -----------------------------------------------------------

    def try_order(self, exe):
        file, said = self.record(exe)
        if said != f"{COUNT}\n":
            raise Wrong(f"it counted {said}")
        done = self.run(sys.executable, ROOT / "tools/decode.py", file)
        if done.returncode:
            raise Wrong(done.stderr)
        seen = []
        for context in json.loads(done.stdout)["contexts"][1:]:
            seen += locked(context["events"])
        values = [value for _, value in sorted(seen)]
        if values != list(range(COUNT)):
            raise Wrong("values in the order of locks: " + str(next(
                (i, v) for i, v in enumerate(values + [None]) if i != v)))
        self.must_replay(file, "identical\n")

    def order(self, times):
        exe = self.build(HERE / "counter.c")
        self.again("order", times, lambda i: self.try_order(exe))

    # --- turns -----------------------------------------------------------

    def try_turns(self, exe):
        file, said = self.record(exe)
        for variable, book in turned.read_books(said).items():
            done = self.run(BIN / "cairn", "writes", "--json", "--limit", 0,
                            "--var", variable, file)
            if done.returncode:
                raise Wrong(done.stderr)
            wrong = turned.what_differs(book, done.stdout)
            if wrong:
                raise Wrong(f"{variable}: {wrong}")
        self.must_replay(file, "identical\n")

    def turns(self, times):
        for name in ("turns.c", "turns.cpp", "handlers.c"):
            exe = self.build(ROOT / "tests/replay/writes" / name)
            self.again(name, times, lambda i: self.try_turns(exe))

    # --- races -----------------------------------------------------------

    def races(self, times):
        for name in ("races", "threads"):
            exe = self.build(ROOT / "tests/replay" / (name + ".c"))
            self.again(name, times, lambda i: self.must_replay(
                self.record(exe)[0], "identical\n"))

    # --- kills -----------------------------------------------------------

    def kill(self, exe):
        """The recording of a run that was killed at a random moment."""
        file = self.folder / (exe.name + ".cairn")
        file.unlink(missing_ok=True)
        with subprocess.Popen([exe], stdout=subprocess.PIPE, text=True,
                              env=self.environment(),
                              cwd=self.folder) as program:
            if program.stdout.readline() != "begun\n":
                raise Wrong(f"status {program.wait()}, it did not begin")
            time.sleep(self.chance.random() ** 2 * 0.3)
            program.kill()
        return file

    def try_kill(self, exe):
        self.must_replay(self.kill(exe), CUT)

    def kills(self, times):
        exe = self.build(HERE / "endless.c")
        self.again("kills", times, lambda i: self.try_kill(exe))
        return exe

    # --- damage ----------------------------------------------------------

    def spoil(self, data):
        """Some bytes are others, or the end is missing."""
        kind = self.chance.randrange(4)
        at = self.chance.randrange(len(data))
        if kind == 0:
            return data[:at]
        bad = bytearray(data)
        if kind == 1:
            bad[at] ^= 1 << self.chance.randrange(8)
        elif kind == 2:
            bad[at:at + 8] = self.chance.randbytes(len(bad[at:at + 8]))
        else:
            other = self.chance.randrange(len(data))
            bad[at:at + 300] = data[other:other + 300]
        return bytes(bad)

    def try_damage(self, good, options):
        bad = self.folder / "bad.cairn"
        bad.write_bytes(self.spoil(good))
        done = self.replay(*options, bad)
        fine = (done.returncode == 0 and not done.stderr) or (
            done.returncode in (1, 2) and done.stderr.startswith("cairn: ") and
            done.stderr.count("\n") == 1 and not done.stdout)
        if not fine:
            kept = bad.with_name(f"damage-{self.failed}.cairn")
            bad.rename(kept)
            raise Wrong(f"{kept}: status {done.returncode}: {done.stdout} "
                        f"{done.stderr}")

    def damage(self, times, endless):
        exe = self.folder / "counter"
        for name, file in (("ended", self.record(exe)[0]),
                           ("killed", self.kill(endless))):
            good = file.read_bytes()
            self.again("damage of what " + name, times, lambda i: self.
                       try_damage(good, ["--partial"] if i % 2 else []))


def locked(events):
    """[(number of a lock, what the counter was)] of a thread: the log has its
    value if another thread changed it."""
    seen, value = [], 0
    # the first number is that of the thread itself
    begin = next(i for i, e in enumerate(events) if e[1] == "CALLBACK")
    for event in events[begin:]:
        if event[1] == "SYNC":
            seen.append((event[2], value))
            value += 1
        elif event[1] == "IN" and seen and len(event[5]) >= 16:
            found = int.from_bytes(bytes.fromhex(event[5][:16]), "little")
            if found >> 32 == MARK >> 32:
                value = found - MARK
                seen[-1] = (seen[-1][0], value)
                value += 1
    return seen[:-1]  # the last number is that of the thread's end


def main():
    parser = argparse.ArgumentParser(description="Recordings, again and "
                                     "again.")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    times = {"order": 100, "turns": 100, "races": 200, "kills": 200,
             "damage": 1000} if options.full else \
        {"order": 5, "turns": 3, "races": 5, "kills": 8, "damage": 25}
    with tempfile.TemporaryDirectory(prefix="cairn-hard-") as folder:
        hard = Hard(pathlib.Path(folder), random.Random(options.seed))
        hard.order(times["order"])
        hard.turns(times["turns"])
        hard.races(times["races"])
        endless = hard.kills(times["kills"])
        hard.damage(times["damage"], endless)
    print(f"{hard.passed} passed, {hard.failed} failed")
    return 1 if hard.failed or not hard.passed else 0


if __name__ == "__main__":
    sys.exit(main())
