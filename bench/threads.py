# SPDX-License-Identifier: Apache-2.0
"""Are counts exact with several threads, and at what price?

in/threads.c counts its own calls.  "Exact" means all of these:

  - with four threads, the profile's entry counts of follow, halve and triple
    are what the program printed;
  - every block of these functions has the same count with four threads as
    with one, on the same numbers;
  - the profile doctor finds nothing in any of the profiles, nor in those of
    the corpus's own programs with threads (a failed check there ends their
    row of the table).

The price is the ratio of two ratios: CPU time of the edges build over that of
the plain build with four threads, over the same with one.
"""

import subprocess
import sys

from cairn import block_counts, entry_counts
from corpus import HERE, BenchError, run_quiet
from measure import Variant, cpu_time, environment, median

sys.dont_write_bytecode = True

WATCHED = ("follow", "halve", "triple")
NUMBERS = "2000000"


class Threads:
    def __init__(self, bench):
        self.cairn = bench.cairn
        self.dir = bench.options.work / "threads"
        self.dir.mkdir(parents=True, exist_ok=True)
        self.failures = []
        self.exact = False
        self.summary = "not measured"
        try:
            self.measure(bench.options.reps)
        except BenchError as error:
            self.failures.append(f"threads: {error}")

    def measure(self, reps):
        plain = Variant("plain", "clang-19", "clang++-19", ("-O2",))
        builds = {
            "plain": self.build(plain),
            "edges": self.build(self.cairn.variant("edges")),
        }
        truth, four = self.profile(builds["edges"], 4)
        _, one = self.profile(builds["edges"], 1)
        self.compare(truth, four, one)
        seconds = {}
        for _ in range(reps):
            for name, exe in builds.items():
                for n in (1, 4):
                    times = seconds.setdefault((name, n), [])
                    times.append(self.run(exe, n)[0])
        cost = {
            n: median(seconds["edges", n]) / median(seconds["plain", n])
            for n in (1, 4)
        }
        self.summary = (
            f"edges costs {cost[1]:.3f} with one thread, {cost[4]:.3f} with "
            f"four: {cost[4] / cost[1]:.3f} times the single-thread cost; "
            f"counts are {'exact' if self.exact else 'WRONG'}"
        )

    def build(self, variant):
        exe = self.dir / variant.name
        run_quiet(
            [variant.cc, *variant.flags, "-pthread",
             HERE / "in" / "threads.c", "-o", exe],
            cwd=self.dir,
            env=environment(self.dir),
        )
        return exe

    def run(self, exe, nthreads):
        """(seconds, output) of one run; its profile is in self.dir."""
        for old in self.dir.glob("*.cairn"):
            old.unlink()
        with open(self.dir / "out", "wb") as out:
            seconds, status = cpu_time(
                [exe, str(nthreads), NUMBERS], environment(self.dir),
                self.dir, stdout=out, stderr=subprocess.DEVNULL,
            )
        if status != 0:
            raise BenchError(f"{exe} ended with status {status}")
        return seconds, (self.dir / "out").read_text()

    def profile(self, exe, nthreads):
        _, text = self.run(exe, nthreads)
        merged = self.dir / f"{nthreads}.profile"
        self.cairn.merge(self.dir, merged)
        self.cairn.check(merged)
        pairs = (line.split() for line in text.splitlines())
        truth = {name: int(count) for name, count in pairs}
        return truth, self.cairn.report(merged)

    def compare(self, truth, four, one):
        entries = entry_counts(four, WATCHED)
        if entries != truth:
            self.failures.append(
                f"threads: entries {entries}, but the program counted {truth}"
            )
        elif block_counts(four, WATCHED) != block_counts(one, WATCHED):
            self.failures.append(
                "threads: block counts with four threads and with one differ"
            )
        else:
            self.exact = True
