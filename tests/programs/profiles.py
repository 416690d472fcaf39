# SPDX-License-Identifier: Apache-2.0
"""Profiles as the tests see them: the only place that knows cairn's JSON.

A test that needs counts calls read() or lines(); one that needs to know
whether two builds of the same program counted the same calls differences().
"""
import collections
import dataclasses
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CAIRN_BIN = os.path.abspath(
    os.environ.get("CAIRN_BIN", os.path.join(
        ROOT, os.environ.get("BUILD", "build"), "bin")))
CAIRN = os.path.join(CAIRN_BIN, "cairn")
CAIRN_CC = os.path.join(CAIRN_BIN, "cairn-cc")
CAIRN_CXX = os.path.join(CAIRN_BIN, "cairn-c++")


class Broken(Exception):
    """A tool failed or the counts are wrong; the message says how."""


@dataclasses.dataclass
class Function:
    name: str
    covered: bool
    exact: bool
    entries: int
    blocks: list     # count of each block, None if not known
    edges: list      # (source, target, kind, count) of each edge


def call(argv, timeout=600, **more):
    """Runs a tool and returns its stdout; it must succeed."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True,
                              timeout=timeout, check=False, **more)
    except subprocess.TimeoutExpired:
        raise Broken("%s does not end" % os.path.basename(argv[0])) from None
    if done.returncode:
        raise Broken("%s: status %d: %s" % (
            " ".join([os.path.basename(argv[0])] + argv[1:3]),
            done.returncode, essence(done.stderr.strip() or done.stdout)))
    return done.stdout


def essence(text):
    """The lines of a tool's complaint that say most."""
    lines_ = text.strip().splitlines()
    best = [s for s in lines_ if re.search(r"error:|ERROR|undefined|ssert", s)]
    return " | ".join((best or lines_[-3:])[:3])


def check(path):
    """`cairn check` must call the profile sound."""
    call([CAIRN, "check", path])


def findings(path):
    """{rule: [where, ...]} of `cairn check`, whatever its verdict."""
    done = subprocess.run([CAIRN, "check", "--json", path], check=False,
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise Broken("cairn check: status %d: %s" % (
            done.returncode, essence(done.stderr)))
    rules = {}
    for finding in json.loads(done.stdout)[0]["findings"]:
        rules.setdefault(finding["rule"], []).append(finding["where"])
    return rules


def is_exact(path):
    """Does the report vouch for every count?"""
    return json.loads(call([CAIRN, "report", "--json", path]))["exact"]


def read(path):
    """{(module, name, file, line, which): Function}; `which` tells apart
    functions that agree in the rest, in the order of the report."""
    document = json.loads(call([CAIRN, "report", "--json", path]))
    functions = {}
    seen = collections.Counter()
    for f in document["functions"] + document["uncovered"]:
        # ThinLTO renames local functions, by a hash of the module.
        name = re.sub(r"\.llvm\.\d+$", "", f["name"])
        head = (f["module"], name, f["file"], f["line"])
        covered = "blocks" in f
        functions[head + (seen[head],)] = Function(
            f["name"], covered, f.get("exact", False), f.get("entries"),
            [b["count"] for b in f.get("blocks", ())],
            [(e["source"], e["target"], e["kind"], e["count"])
             for e in f.get("edges", ())])
        seen[head] += 1
    return functions


def lines(path):
    """{(base name of the source, line): count}, as the lcov report has it."""
    return parse_lcov(call([CAIRN, "report", "--lcov", path]))


def doubtful_lines(path):
    """{(base name of the source, line)} that the report does not vouch for."""
    document = json.loads(call([CAIRN, "report", "--json", path]))
    return {(os.path.basename(source["file"]), line["line"])
            for source in document["sources"] for line in source["lines"]
            if not line.get("consistent", True)}


def parse_lcov(text):
    """{(base name of the source, line): count} of the DA records."""
    counts = collections.Counter()
    source = ""
    for record in text.splitlines():
        if record.startswith("SF:"):
            source = os.path.basename(record[3:])
        elif m := re.match(r"DA:(\d+),(\d+)", record):
            counts[source, int(m.group(1))] += int(m.group(2))
    return counts


def differences(some, full, varying=()):
    """What differs between a build with few counters and one with all, as
    sentences.  Functions named in `varying` may differ in their counts."""
    said = ["%s is in one build only" % key[1]
            for key in some.keys() ^ full.keys()]
    for key in some.keys() & full.keys():
        a, b = some[key], full[key]
        if a.covered != b.covered:
            said.append("%s is covered in one build only" % a.name)
        elif not a.covered:
            continue
        elif not a.exact or (not b.exact and a.name not in varying):
            said.append("%s is not exact" % a.name)
        elif len(a.blocks) != len(b.blocks) or len(a.edges) != len(b.edges):
            said.append("%s has another CFG" % a.name)
        elif a.name not in varying:
            said += counts_differ(a, b)
    return sorted(said)


def counts_differ(a, b):
    if a.entries != b.entries:
        return ["%s: %s entries, not %s" % (a.name, a.entries, b.entries)]
    for i, (x, y) in enumerate(zip(a.blocks, b.blocks)):
        if x != y:
            return ["%s: block #%d has %s, not %s" % (a.name, i, x, y)]
    for x, y in zip(a.edges, b.edges):
        if x != y:
            return ["%s: edge %s -> %s (%s) has %s, not %s" % (
                a.name, *x[:4], y[3])]
    return []
