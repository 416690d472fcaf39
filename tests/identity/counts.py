# SPDX-License-Identifier: Apache-2.0
"""What the reports of a run say, and how two of them differ.

A run leaves one profile per process and image; they are summed.  Blocks and
edges are compared one by one where both builds have the same graph, numbers
included: whoever reads two reports takes block 3 of the one for block 3 of the
other.  `strict` splits blocks at calls, and says so; there the rest is
compared: entries, calls, lines, and the ways that branches of a line take.
"""
import collections
import json
import os
import re


class Counts:
    """Sums over the profiles of a run."""

    def __init__(self):
        self.functions = {}
        self.inexact, self.reasons = set(), {}
        self.uncovered = set()
        self.lines = collections.Counter()
        self.branches = collections.Counter()

    def add_report(self, report):
        seen = collections.Counter()
        for f in report["functions"] + report["uncovered"]:
            head = (re.sub(r"\.llvm\.\d+$", "", f["name"]),
                    os.path.basename(f.get("file") or ""), f.get("line"))
            key = (*head, seen[head])
            seen[head] += 1
            if "blocks" not in f:
                self.uncovered.add(key)
                continue
            if not f["exact"]:
                self.inexact.add(key)
                self.reasons[key] = f["reason"]
            self.add_function(key, f)
        for source in report["sources"]:
            for line in source["lines"]:
                self.add_branches(os.path.basename(source["file"]), line)

    def add_function(self, key, f):
        shape = ([b["id"] for b in f["blocks"]],
                 [(e["source"], e["target"], e["kind"]) for e in f["edges"]])
        mine = self.functions.setdefault(
            key, {"entries": 0, "shape": shape, "blocks": collections.Counter(),
                  "edges": collections.Counter(),
                  "calls": collections.Counter()})
        if mine["shape"] != shape:
            mine["shape"] = None
        mine["entries"] += f["entries"] or 0
        for b in f["blocks"]:
            mine["blocks"][b["id"]] += b["count"] or 0
        for i, e in enumerate(f["edges"]):
            mine["edges"][i, e["source"], e["target"], e["kind"]] += \
                e["count"] or 0
        for c in f["calls"]:
            place = c["callee"], os.path.basename(c.get("file") or ""), c.get("line")
            mine["calls"][place] += c["count"] or 0

    def add_branches(self, file, line):
        for b in line.get("branches", ()):
            key = file, line["line"], b.get("to")
            self.branches[key] += b["taken"] or 0

    def add_lcov(self, text):
        file = ""
        for record in text.splitlines():
            if record.startswith("SF:"):
                file = os.path.basename(record[3:])
            elif m := re.match(r"DA:(\d+),(\d+)", record):
                self.lines[file, int(m[1])] += int(m[2])


def read(files, answer):
    """The sum over files; answer(words) is what cairn prints."""
    counts = Counts()
    for file in files:
        counts.add_report(json.loads(answer(["report", "--json", file])))
        counts.add_lcov(answer(["report", "--format", "lcov", file]))
    return counts


def first(one, other, what):
    """Where two maps of counts differ; an entry that is missing does."""
    wrong = [k for k in set(one) | set(other) if one.get(k) != other.get(k)]
    if not wrong:
        return []
    key = min(wrong, key=str)
    more = f" ({len(wrong)} of {len(set(one) | set(other))})" \
        if len(wrong) > 1 else ""
    return [f"{what} {':'.join(map(str, key)) if isinstance(key, tuple) else key}"
            f": {one.get(key)}, not {other.get(key)}{more}"]


def function_differs(key, one, other):
    name = key[0]
    if one["entries"] != other["entries"]:
        return [f"{name}: {one['entries']} entries, not {other['entries']}"]
    found = []
    if one["shape"] and one["shape"] == other["shape"]:
        found += first(one["blocks"], other["blocks"], f"{name}: block")
        found += first(one["edges"], other["edges"], f"{name}: edge")
    return found + first(one["calls"], other["calls"], f"{name}: call of")


def other_shapes(one, other):
    """Functions that ran whose graphs are not the same."""
    return [key[0] for key in one.functions.keys() & other.functions.keys()
            if one.functions[key]["entries"] and
            one.functions[key]["shape"] != other.functions[key]["shape"]]


def differences(one, other, may_differ=False, varies=(), uncovered=(),
                graphs=()):
    """Sentences.  may_differ: the graphs, by splitting of blocks, or those of
    the functions in `graphs`."""
    if "*" in varies:
        return []
    skip = {*varies, *uncovered}
    found = [f"{key[0]}: covered in one build only"
             for key in sorted(one.functions.keys() ^ other.functions.keys(),
                               key=str) if key[0] not in skip]
    for key in sorted(one.functions.keys() & other.functions.keys(), key=str):
        if key[0] not in varies:
            found += function_differs(key, one.functions[key],
                                      other.functions[key])
    if not may_differ:
        found += [f"{name}: another graph"
                  for name in sorted(other_shapes(one, other))
                  if name not in skip and name not in graphs]
    if not skip:
        found += first(one.lines, other.lines, "line")
        found += first(one.branches, other.branches, "way from line")
    return found
