# SPDX-License-Identifier: Apache-2.0
"""Options that the benchmarks share."""

import argparse
import os
import pathlib
import sys

from corpus import ROOT
import programs

sys.dont_write_bytecode = True


class Options:
    """The command line, and the environment: QUICK, REPS, BENCH_WORK."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("--markdown", metavar="FILE",
                            help="write the tables into FILE as well")
        parser.add_argument("--programs", metavar="A,B",
                            help="only these programs")
        parser.add_argument("--keep", action="store_true",
                            help="leave builds and profiles in BENCH_WORK")
        arguments = parser.parse_args()
        self.quick = os.environ.get("QUICK", "0") not in ("", "0")
        self.markdown = arguments.markdown
        self.keep = arguments.keep
        self.reps = int(os.environ.get("REPS") or (3 if self.quick else 5))
        self.builds = 1 if self.quick else 3
        self.size = "test" if self.quick else "ref"
        self.other = "tiny" if self.quick else "test"
        self.work = pathlib.Path(
            os.environ.get("BENCH_WORK") or ROOT / "build" / "bench"
        ).resolve()
        names = [p.name for p in programs.PROGRAMS]
        if self.quick:
            names = programs.QUICK
        if arguments.programs:
            names = arguments.programs.split(",")
        self.programs = programs.select(names)


def markdown_table(header, rows):
    """Rows of strings as a table; the first column is a name."""
    lines = ["| " + " | ".join(header) + " |",
             "| --- |" + " ---: |" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def text_table(header, rows):
    """The same, in columns."""
    rows = [header, *rows]
    widths = [max(len(r[i]) for r in rows) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        )
        for row in rows
    )
