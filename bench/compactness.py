# SPDX-License-Identifier: Apache-2.0
"""How many counters the interesting paths of functions take: figures 3.17 and
3.20 of the thesis.  A function is (interesting paths, counters, ...)."""

import math
import sys

import plot
from measure import median
from options import markdown_table

sys.dont_write_bytecode = True

BUCKETS = ((1, 3), (4, 10), (11, 30), (31, 100), (101, 300),
           (301, float("inf")))


def deltas(functions):
    """Counters per interesting path; 1 is the best."""
    return [f[1] / f[0] for f in functions]


def percentile(values, percent):
    """The least value that so many percent of all do not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def bucket_name(low, high):
    return f"{low} to {high}" if high < float("inf") else f"{low} and more"


def table(functions):
    """By the number of interesting paths."""
    lines = []
    for low, high in BUCKETS:
        delta = deltas(f for f in functions if low <= f[0] <= high)
        if delta:
            lines.append([
                bucket_name(low, high), f"{len(delta)}",
                f"{sum(d == 1 for d in delta)}", f"{median(delta):.3f}",
                f"{percentile(delta, 95):.3f}", f"{max(delta):.3f}",
            ])
    return markdown_table(
        ["interesting paths", "functions", "delta 1", "median", "95 %",
         "largest"], lines
    )


def figure(title, functions):
    """Counters over interesting paths; on the line delta is 1."""
    return plot.points(
        title,
        plot.Log([f[0] for f in functions], "interesting paths"),
        plot.Log([f[1] for f in functions], "counters"),
        {"functions": [f[:2] for f in functions]},
        diagonal=True,
    )
