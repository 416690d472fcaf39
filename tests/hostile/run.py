#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that mean harm, and every reading command on them.

    run.py [--count N] [--seed S] [--first K] [--mutant K] [--seeds] [--worker]
           [--plain] [--cpu SECONDS] [--keep] [--all]

Makes N mutants (300) of profiles, traces, recordings, sums and programs of all
modes, runs a few reading commands on each, and judges how these ended: no
crash, no hang, nothing outside changed, and one sentence if a file is refused.
--mutant K makes that one mutant again and runs all commands of its kind that
it chose; its files stay in the folder that is printed.  --seeds runs all
commands on the seeds, too.  --worker takes a cairn-replay with a sanitizer, not
only a cairn with some; --plain takes the readers of the build itself.  --cpu
says when a command counts as hanging (60 s), --keep keeps all files, --all
shows all failures.

Before that, commands that do such things on purpose have to be found out.

The last lines are "N passed, M failed", over mutants and these, and

    RESULT hostile mutants=N crashes=0 hangs=0 escapes=0 kinds=K
"""
import argparse
import collections
import fcntl
import filecmp
import functools
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import judge  # noqa: E402
import mutate_chunks  # noqa: E402,F401
import mutate_logs  # noqa: E402,F401
import mutate_maps  # noqa: E402,F401
import mutate_programs  # noqa: E402,F401
import plants  # noqa: E402
import seeds  # noqa: E402
from commands import FAMILIES, WITHOUT_EXE, fill, lines_of  # noqa: E402
from found import FOUND  # noqa: E402
from mutants import Mutant  # noqa: E402

BUILD = os.path.abspath(os.path.join(ROOT, os.environ.get("BUILD", "build")))
COMMANDS = 3
SHOWN = 40
SANITIZERS = "detect_leaks=0:allocator_may_return_null=1:" \
    "max_allocation_size_mb=2048:hard_rss_limit_mb=3072:" \
    "detect_stack_use_after_return=1:max_malloc_fill_size=16777216:" \
    "malloc_fill_byte="
REPLAY_SECONDS = "5"  # a log may say that its program ran for years
FILLS = 0xA5, 0x3C                   # of memory that is allocated
MEASURES = "--access"                # an option: time is in the output


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)


class Place:
    """Folders: what a command may write to, and what it may not."""

    def __init__(self, root, cairn_bin):
        self.root = root
        self.home, self.canary, self.tmp, self.cache, self.mutants = (
            os.path.join(root, n)
            for n in ("home", "canary", "tmp", "cache", "mutants"))
        os.makedirs(self.mutants)
        os.makedirs(self.cache)
        self.tools = [os.path.join(os.path.dirname(cairn_bin), n)
                      for n in ("bin", "lib")]
        self.lay_out()

    def lay_out(self):
        for folder in (self.home, self.canary, self.tmp):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
        os.makedirs(os.path.join(self.canary, "folder"))
        for name in ("file", "folder/1.1", "folder/kept"):
            with open(os.path.join(self.canary, name), "w",
                      encoding="ascii") as f:
                f.write("not yours\n")
        with open(os.path.join(self.home, ".profile"), "w",
                  encoding="ascii") as f:
            f.write("# home\n")

    def outside(self, inputs):
        return judge.snapshot(self.tmp, self.home, self.canary, *self.tools,
                              *inputs)


class Run:
    def __init__(self, options, cairn_bin, all_seeds, place):
        self.options, self.bin, self.seeds = options, cairn_bin, all_seeds
        self.place = place
        self.order = [s for s in all_seeds for _ in range(s.weight)]
        random.Random(options.seed).shuffle(self.order)
        self.secret = secrets.token_hex(16)
        self.kinds, self.ran = collections.Counter(), collections.Counter()
        self.found = collections.Counter()
        self.statuses = collections.Counter()
        self.failed = self.judged = self.commands = 0

    def environment(self, cache, fill=FILLS[0]):
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC",
                "HOME": self.place.home, "TMPDIR": self.place.tmp,
                "XDG_CACHE_HOME": cache, "CAIRN_SECRET": self.secret,
                "MALLOC_PERTURB_": str(fill),
                "CAIRN_REPLAY_SECONDS": REPLAY_SECONDS,
                "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
                "ASAN_OPTIONS": f"{SANITIZERS}{fill}"}

    def write(self, seed, profile, program, links, folder):
        """The files of a mutant: where its profile is, and its program, if that
        is another one."""
        file = os.path.join(folder, "mutant.cairn")
        if seed.family == "index":
            trace = next(s for s in seed.others if s.name == "trace")
            shutil.copy2(trace.profile_path, file)
            put(file + ".index", profile)
        else:
            put(file, profile)
        path = os.path.join(folder, "program") if program else None
        if program:
            put(path, program)
            os.chmod(path, 0o755)
        for name, target in links:
            if not os.path.lexists(file + name):
                os.symlink(os.path.join(self.place.canary, target),
                           file + name)
        return file, path

    def choose(self, mutant, number):
        """The first command takes turns, so that each gets its own."""
        known = FAMILIES[mutant.seed.family]
        turn = number // len(self.order)
        first = known[turn * 7 % len(known)]
        return [first] + mutant.rng.choices(known, k=COMMANDS - 1)

    def files(self, name, seed, files, commands):
        """Runs commands on files: (profile, program or None, links).  Returns
        what was wrong: (words, (kind, what))."""
        folder = os.path.join(self.place.mutants, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        file, program = self.write(seed, *files, folder)
        cache = self.place.cache
        if program:                  # its code is not for others
            cache = os.path.join(folder, "cache")
            os.makedirs(cache)
        problems = []
        for i, words in enumerate(commands):
            words = fill(words, seed, file, os.path.join(folder, "out"),
                         None if seed.family in WITHOUT_EXE else program)
            problem = self.command(words, folder, (file, program, cache), seed,
                                   not i)
            if problem:
                problems.append((words, problem))
        if not self.options.keep and self.options.mutant is None:
            shutil.rmtree(folder)
        return problems

    def one(self, number):
        seed = self.order[number % len(self.order)]
        mutant = Mutant(self.options.seed, number, seed, self.place.canary)
        if self.options.mutant is not None:
            print(f"seed {seed.name}, {', '.join(mutant.kinds)}: "
                  f"{os.path.join(self.place.mutants, str(number))}")
        problems = self.files(
            str(number), seed, (mutant.profile, mutant.program, mutant.links),
            self.choose(mutant, number))
        self.kinds.update(mutant.kinds)
        self.tell(f"mutant {number} of {seed.name} "
                  f"({', '.join(mutant.kinds)})", problems,
                  f"tests/hostile/run.py --seed {self.options.seed} --mutant "
                  f"{number}{' --plain' * self.options.plain}"
                  f"{' --worker' * self.options.worker}")

    def known(self):
        """What was found once, and all commands on the seeds."""
        by_name = {s.name: s for s in self.seeds}
        for i, (name, of, make, commands) in enumerate(FOUND):
            seed = by_name[of]
            self.tell(name, self.files(f"found{i}", seed, make(seed),
                                       lines_of("\n".join(commands))),
                      "tests/hostile/run.py --count 0")
        for seed in self.seeds if self.options.seeds else ():
            self.tell(f"seed {seed.name}", self.files(
                seed.name, seed, (seed.profile, None, ()),
                FAMILIES[seed.family]),
                "tests/hostile/run.py --seeds --count 0")

    def command(self, words, folder, files, seed, is_first):
        file, program, cache = files
        inputs = [p for p in (file, program, seed.path) if p]
        before = self.place.outside(inputs)
        limit = functools.partial(judge.limit, self.options.cpu)
        outcome = judge.run([os.path.join(self.bin, "cairn"), *words], folder,
                            self.environment(cache), limit)
        self.commands += 1
        self.ran[seed.family, words[0]] += 1
        self.statuses[outcome.status] += 1
        problem = judge.judge(outcome, self.secret.encode())
        changed = judge.changes(before, self.place.outside(inputs))
        if changed:
            self.place.lay_out()
            problem = "escape", "changed outside: " + ", ".join(changed[:5])
        if self.options.mutant is not None:
            print("$ cairn", " ".join(words), "->", outcome.status,
                  outcome.stderr.decode(errors="replace")[-2000:])
        if not problem and outcome.status != 2 and MEASURES not in words and (
                is_first or words[0] == "output"):
            again = judge.run([os.path.join(self.bin, "cairn"), *words],
                              folder, self.environment(cache, FILLS[1]), limit)
            if again.stdout != outcome.stdout:
                problem = "escape", "the output depends on what the reader " \
                    "has in its memory, and where"
        return problem

    def tell(self, what, problems, again):
        self.judged += 1
        self.failed += bool(problems)
        for words, (kind, how) in problems:
            self.found[kind] += 1
            if sum(self.found.values()) <= SHOWN or self.options.all:
                print(f"FAIL {what}: {kind}: {how}\n"
                      f"  cairn {' '.join(words)}\n  rerun: {again}",
                      flush=True)

    def all(self):
        start = time.monotonic()
        missed = len(plants.PLANTS) - plants.found(
            self.place, self.environment(self.place.cache),
            self.secret.encode())
        self.failed += missed
        self.judged += len(plants.PLANTS)
        if self.options.mutant is None:
            self.known()
        for number in range(self.options.first,
                            self.options.first + self.options.count):
            self.one(number)
        took = time.monotonic() - start
        print(f"{self.commands} commands of {len(self.ran)} kinds on "
              f"{len(self.seeds)} seeds in {took:.0f} s; exit status 0: "
              f"{self.statuses[0]}, 1: {self.statuses[1]}, 2: "
              f"{self.statuses[2]}")
        print(f"{self.judged - self.failed} passed, {self.failed} failed")
        print(f"RESULT hostile mutants={self.options.count} "
              f"crashes={self.found['crash']} hangs={self.found['hang']} "
              f"escapes={self.found['escape']} kinds={len(self.kinds)}")


def build_tree(name, sanitizers, target):
    tree = os.path.join(BUILD, name)
    for words in (["cmake", "--preset", "hostile", "-B", tree,
                   f"-DCAIRN_SANITIZE={sanitizers}"],
                  ["cmake", "--build", tree, "-j", os.environ.get("JOBS", "2"),
                   "--target", target]):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise SystemExit(f"hostile: {done.stdout[-3000:]}{done.stderr}")
    return tree


def build_readers(has_worker):
    """cairn with sanitizers, and beside it the cairn-replay of the build, or
    one with UndefinedBehaviorSanitizer alone: it needs the addresses that
    AddressSanitizer takes for itself.  Returns the folder of cairn."""
    tree = build_tree("hostile", "address,undefined", "cairn")
    cairn = os.path.join(tree, "bin", "cairn")
    if has_worker:
        tree = build_tree("hostile-worker", "undefined", "cairn-replay")
        renew(os.path.join(tree, "bin", "cairn"), cairn)
    else:
        renew(os.path.join(tree, "lib", "cairn", "cairn-replay"),
              os.path.join(BUILD, "lib", "cairn", "cairn-replay"))
    return os.path.join(tree, "bin")


def renew(path, source):
    """Makes it a copy, unless it is one: other runs may use it."""
    if os.path.exists(path) and not os.path.islink(path) and \
            filecmp.cmp(path, source, False):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy2(source, path + ".new")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutant", type=int)
    parser.add_argument("--cpu", type=int, default=judge.CPU_SECONDS)
    parser.add_argument("--seeds", action="store_true")
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if options.mutant is not None:
        options.first, options.count = options.mutant, 1
    plain = os.path.join(BUILD, "bin")
    work = os.path.join(BUILD, "hostile-run")
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tested = plain if options.plain else build_readers(options.worker)
        all_seeds = seeds.load(plain, os.path.join(work, "seeds"))
    judge.become_subreaper()
    place = Place(tempfile.mkdtemp(prefix="place-", dir=work), tested)
    run = Run(options, tested, all_seeds, place)
    run.all()
    if not options.keep and options.mutant is None:
        shutil.rmtree(place.root)
    return 1 if run.failed else 0


sys.exit(main())
