#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One program, any mode: the same behaviour, and the same counts.

    run.py [--levels=-O0,-O2] [--jobs N] [--keep DIR] [PROGRAM...]
    run.py --quick       what `make check` runs: some programs, each at one of
                         its levels, in four modes
    run.py --proof       all programs, levels and real programs, csmith
    run.py --csmith N    N programs of csmith, spread over the levels
    run.py --real        the programs of the benchmarks, tiny inputs
    CAIRN_BIN            directory of cairn and cairn-cc (default: build/bin)
    COUNT=N              how many of csmith --proof takes (default: 500)
    QUICK=1              --proof with 10 of csmith and one real program

Each program is built by clang alone and with each mode of MODES (program.py),
at the same level.  Every build has to print and end as clang's; `cairn check`
must find its profile sound, or say what the program's first lines announce; a
recording has to replay identically.  And all modes have to report the same:
entries, blocks, edges, calls, ways of branches, and lines (counts.py).

One line for each mismatch, with the command that tries it again.  The last
lines are RESULT identity, and "N passed, M failed", where one is a program at
a level in a mode; --proof ends with RESULT mend.
"""
import argparse
import collections
import concurrent.futures
import glob
import itertools
import os
import re
import shlex
import shutil
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
for place in ("bench", "tests/programs", "tests/identity"):
    sys.path.insert(0, os.path.join(ROOT, place))
import counts  # noqa: E402
import others  # noqa: E402
from program import (LEVELS, QUICK_MODES, Program,  # noqa: E402
                     Wrong, command, must)
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX  # noqa: E402

PLAIN = ("clang-19", "clang++-19")
MARKED = (CAIRN_CC, CAIRN_CXX)
THERE = "frames of it were there before"  # and counts are exact
SHOWN = 5  # mismatches of one mode
IDENTICAL = re.compile(r"replayed \d+ ticks( in \d+ contexts)?, identical")


class Asked:
    """A folder with the profiles of a run, and questions to them."""

    def __init__(self, folder, files):
        self.folder, self.files = folder, files
        self.env = dict(os.environ, XDG_CACHE_HOME=folder)

    def cairn(self, words):
        return command([CAIRN, *words], env=self.env, cwd=self.folder)

    def answer(self, words):
        return must([CAIRN, *words], env=self.env, cwd=self.folder).decode()

    def check(self, rules):
        """Finds nothing but what is announced."""
        for file in self.files:
            done = self.cairn(["check", file])
            said = (done.stdout + done.stderr).decode(errors="replace")
            if done.returncode not in (0, 1):
                raise Wrong(f"check: status {done.returncode}: {said[:400]}")
            here = set(re.findall(r"\b([FMC]\d+)\b", said))
            if done.returncode and not here <= rules:
                raise Wrong("check: " + said[:400].replace("\n", " | "))

    def replay(self):
        for file in self.files:
            said = self.answer(["replay", file])
            if not IDENTICAL.search(said):
                raise Wrong("replay: " + said[:400])

    def read(self):
        return counts.read(self.files, self.answer)


class Trial:
    """A program at a level: what came of each mode."""

    def __init__(self, program, level, folder):
        self.program, self.level, self.folder = program, level, folder
        self.results, self.runs, self.shapes = {}, {}, 0
        self.asked = {}

    def attempt(self):
        """{mode: sentences}; what fails at first has no reference."""
        plain = self.build(PLAIN, None).run()
        if not self.program.ends(plain[0]):
            raise Wrong(f"plain build: status {plain[0]}, {plain[2][-300:]}")
        for mode in self.program.modes():
            try:
                self.results[mode] = self.try_mode(mode, plain)
            except Wrong as wrong:
                self.results[mode] = [str(wrong)]
        self.compare_all()
        for text in self.program.all("same"):
            self.ask_both(*(part.strip() for part in text.split("|")))
        return self.results

    def build(self, compilers, mode):
        build = self.program.build(
            self.level, os.path.join(self.folder,
                                     (mode or "plain").replace(",", "-")),
            compilers, mode)
        build.make()
        return build

    def try_mode(self, mode, plain):
        refusals = self.program.of_mode("refuses", mode)
        if refusals:
            return self.refused(mode, shlex.split(refusals[0])[0])
        build = self.build(MARKED, mode)
        ours = build.run()
        if ours != plain:
            return ["status, stdout and stderr are "
                    f"{tuple(str(x)[-300:] for x in ours)}, not "
                    f"{tuple(str(x)[-300:] for x in plain)}"]
        asked = Asked(build.folder, build.profiles())
        if not asked.files:
            return ["no profile was written"]
        self.asked[mode] = asked
        rules = set(" ".join(self.program.of_mode("check", mode)).split())
        said = []
        for step in ([asked.replay] if mode == "record" else []) + [
                lambda: asked.check(rules), lambda: self.read(mode, asked)]:
            try:
                step()
            except Wrong as wrong:
                said.append(str(wrong))
        return said + self.questions(mode, asked)

    def read(self, mode, asked):
        self.runs[mode] = asked.read()

    def refused(self, mode, sentence):
        """By one sentence, of the compiler or of the program."""
        try:
            build = self.build(MARKED, mode)
            status, _, said = build.run()
            said = said.decode(errors="replace")
        except Wrong as wrong:
            status, said = 1, str(wrong)
        if not status or sentence not in said:
            return [f"not refused by \"{sentence}\": status {status}, {said}"]
        return []

    def questions(self, mode, asked):
        said = []
        for text in self.program.of_mode("ask", mode):
            status, words, want = (p.strip() for p in
                                   text.lstrip("| ").split("|", 2))
            for file in asked.files[:1]:
                words = words.replace("{file}", file)
                done = asked.cairn(shlex.split(words))
                out = (done.stdout + done.stderr).decode(errors="replace")
                if done.returncode != int(status) or \
                        not re.search(want, out, re.M):
                    said.append(f"cairn {words}: status {done.returncode}, "
                                f"{out[:300]!r} does not match {want}")
        return said

    def ask_both(self, modes, words):
        one, other = modes.split()
        if one not in self.asked or other not in self.asked:
            return
        said = []
        for mode in (one, other):
            asked = self.asked[mode]
            done = asked.cairn(shlex.split(words.replace(
                "{file}", asked.files[0])))
            said.append((done.returncode, re.sub(
                r"thread \d+", "thread", done.stdout.decode(
                    errors="replace").replace(asked.files[0], "FILE"))))
        if said[0] != said[1]:
            self.results[other].append(f"cairn {words}: {said[1]!r}, in {one} "
                                       f"{said[0]!r}"[:700])

    def compare_all(self):
        """With the first mode that can be read."""
        modes = [m for m in self.program.modes() if m in self.runs]
        for mode in modes[1:]:
            self.results[mode] += counts.differences(
                self.runs[mode], self.runs[modes[0]], "strict" in mode,
                self.varying(mode, modes[0]),
                " ".join(self.program.of_mode("uncovered", mode)).split(),
                " ".join(self.program.of_mode("graph", mode)).split())
        for mode in modes:
            self.results[mode] += self.unsure(mode)

    def varying(self, *modes):
        """Functions that depend on chance, or of which it is announced that
        their counts are not exact."""
        names = set(self.program.words("varies"))
        for mode in modes:
            for text in self.program.of_mode("differs", mode):
                names |= set(text.split())
            if self.program.of_mode("check", mode):
                names |= {key[0] for key in self.runs[mode].inexact}
        return names

    def unsure(self, mode):
        """Functions that are not exact, and nothing announces it."""
        run = self.runs[mode]
        names = {k[0] for k in run.inexact
                 if not str(run.reasons.get(k)).startswith(THERE)}
        if self.program.of_mode("check", mode):
            names = ()
        return [f"{name}: not exact" for name in sorted(names)]


class Tally:
    """What the last lines say."""

    def __init__(self):
        self.comparisons = self.mismatches = self.passed = 0
        self.programs, self.wrong = set(), set()
        self.hostile, self.defects = set(), collections.defaultdict(bool)

    def add(self, job, results):
        """Whether there was something to compare."""
        program, level = job
        if not results:
            if program.missing():
                print(f"skip {program.name}: no {program.missing()}")
            return False
        self.programs.add(program.name)
        if program.hostile:
            self.hostile.add(program.name)
        failed = False
        for mode, said in results.items():
            self.comparisons += 1
            said = self.judge_known(program, mode, said)
            self.passed += not said
            self.mismatches += bool(said)
            failed |= bool(said)
            if len(said) > SHOWN:
                said = [*said[:SHOWN], f"and {len(said) - SHOWN} more"]
            for sentence in said:
                print(f"FAIL {program.name} {level} {mode}: "
                      f"{sentence[:900]}; rerun: tests/identity/run.py "
                      f"--levels={level} {program.rerun}", flush=True)
        for number in program.words("defect"):
            self.defects[number] |= failed
        return True

    @staticmethod
    def judge_known(program, mode, said):
        known = program.of_mode("known", mode)
        if not known:
            return said
        return [] if said else [f"is mended: take `known: {mode} {known[0]}` "
                                "out of it"]

    def report(self):
        print(f"RESULT identity programs={len(self.programs)} "
              f"comparisons={self.comparisons} mismatches={self.mismatches}")
        print(f"{self.passed} passed, {self.mismatches} failed")

    def report_mend(self):
        mended = sum(not bad for bad in self.defects.values())
        print(f"RESULT mend defects={len(self.defects)} mended={mended} "
              f"hostile_programs={len(self.hostile)} "
              f"identity_programs={len(self.programs)} "
              f"identity_mismatches={self.mismatches}")


def own_programs():
    for source in sorted(glob.glob(os.path.join(HERE, "programs", "*.c*"))):
        name = os.path.splitext(os.path.basename(source))[0]
        program = Program(name, [source])
        program.hostile = True
        yield program


def level_of(program):
    """One of its levels, the same in every run."""
    levels = list(program.levels())
    return levels[zlib.crc32(program.name.encode()) % len(levels)]


def jobs(options):
    """(program, level) of all that is to be tried."""
    programs = [*own_programs(), *others.small_programs()]
    if options.quick:
        programs = [p for p in programs if others.is_quick(p)]
        for program in programs:
            program.all_modes = QUICK_MODES
    wanted = options.levels.split(",") if options.levels else LEVELS
    for program in programs:
        if options.program and program.name not in options.program:
            continue
        if options.quick and not options.levels:
            yield program, level_of(program)
            continue
        for level in program.levels():
            if level in wanted:
                yield program, level


def one(job, scratch, keep):
    program, level = job
    folder = os.path.join(scratch, program.name + level)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        if program.missing() or not program.prepare(folder):
            return job, {}
        return job, Trial(program, level, folder).attempt()
    except Wrong as wrong:
        return job, {"plain": [str(wrong)]}
    except (KeyError, TypeError, ValueError) as error:
        return job, {"report": [f"{type(error).__name__}: {error}"]}
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(description="Cross-mode identity.")
    parser.add_argument("--levels", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--proof", action="store_true")
    parser.add_argument("--csmith", type=int, default=0, metavar="N")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("program", nargs="*")
    return parser.parse_args()


def todo(options):
    quick = os.environ.get("QUICK", "0") not in ("", "0")
    if options.proof:
        options.real = True
        options.csmith = int(os.environ.get("COUNT", "10" if quick else "500"))
    if options.proof or not (options.real or options.csmith):
        yield from jobs(options)
    if options.real:
        yield from others.real_programs(options.program, quick)


def try_all(options, scratch, tally):
    def attempt(job):
        return one(job, scratch, options.keep)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(attempt, job) for job in todo(options)]):
            tally.add(*done.result())
        more = others.random_programs(options.program)
        left = options.csmith
        while left > 0:
            for result in pool.map(attempt, itertools.islice(more, left)):
                left -= tally.add(*result)


def main():
    options = arguments()
    scratch = os.path.abspath(options.keep) if options.keep else \
        tempfile.mkdtemp(prefix="cairn-identity-")
    tally = Tally()
    try:
        try_all(options, scratch, tally)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    tally.report()
    if options.proof:
        tally.report_mend()
    return 1 if tally.mismatches or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
