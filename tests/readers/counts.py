#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts that no program has: every command that reads them ends well.

    counts.py [--keep DIR]
    CAIRN_BIN          directory of cairn and cairn-cc
    FILES=N            spoiled profiles (120)
    SEED=S             the first of them (1)

spoil.py makes profiles with right checksums and impossible counts.  A command
that reads one refuses it in one sentence with status 2, or marks what is not
exact; it does not abort, run on, or ask for memory without bound.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../programs")]
sys.dont_write_bytecode = True
import spoil  # noqa: E402
from checks import suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC  # noqa: E402

FILES = int(os.environ.get("FILES", "120"))
SEED = int(os.environ.get("SEED", "1"))
LIMIT = 20        # seconds
MEMORY = 2 << 20  # KiB of address space
SOURCE = os.path.join(HERE, "loops.c")
MODES = ["edges", "edges,strict", "paths", "paths,strict", "paths,overlap",
         "paths,iterations=4", "paths,chains=3", "trace", "trace,last=1M"]
FORMATS = ["text", "json", "lcov", "cobertura", "gcovr", "callgrind", "pprof",
           "speedscope", "folded", "dot", "llvm-sample"]
MARKS = re.compile(r"cairn check|doubt|~|not exact")


def build(mode):
    name = re.sub(r"\W", "", mode)
    subprocess.run([CAIRN_CC, "--cairn=" + mode, "-g", "-O1", SOURCE, "-o",
                    name], check=True)
    subprocess.run(["./" + name], check=True,
                   env=dict(os.environ, CAIRN_OUT=name + ".cairn"))
    if "trace" in mode:
        return [name + ".cairn"]
    cairn("merge", "-o", name + "-sum.cairn", name + ".cairn")
    return [name + ".cairn", name + "-sum.cairn"]


def cairn(*words):
    """Status (None if it does not end), stdout, stderr."""
    try:
        r = subprocess.run(
            ["sh", "-c", 'ulimit -v %d; exec "$@"' % MEMORY, "sh", CAIRN,
             *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, "", "does not end"
    return (r.returncode, r.stdout.decode(errors="replace"),
            r.stderr.decode(errors="replace"))


def commands(mode, bad, good, rng):
    """All that read such a profile; of the slower ones, some."""
    yield from ([["report", "--format", f, bad]
                 for f in rng.sample(FORMATS, 3)])
    yield from (["report", "--lines", bad], ["check", "--json", bad],
                ["report", "--html", os.devnull, bad],
                ["diff", "--json", bad, good],
                ["merge", "-o", "out.cairn", bad, good],
                ["pack", "-o", "out.cairn", bad])
    if "trace" in mode:
        yield from (["segments", bad], ["trace", "--times", bad], ["trace", "--open", bad],
                    ["trace", "--interleave", bad], ["trace", "--reverse", bad],
                    ["trace", "--hash", bad], ["wpp", bad], ["twpp", bad],
                    ["match-path", bad, "main (leaf|pick)* end"],
                    ["trace", "--export", "folded", "-o", os.devnull, bad])
    if "trace" in mode or "paths" in mode:
        yield from (["paths", "--top", "0", "--unfinished", bad],
                    ["overlap", "--top", "0", bad],
                    ["overlap", "--json", "--top", "0", bad],
                    ["drift", good, bad],
                    ["residual", "--tested", good, bad],
                    ["residual", "--json", "--tested", bad, good],
                    ["tests", "--json", bad, good])
    if "iterations" in mode:
        yield ["paths", "--iterations", "2", "--top", "0", bad]
        yield ["paths", "--iterations", "4", "--json", bad]
    if "chains" in mode:
        yield ["paths", "--chains", "1", "--top", "0", bad]
        yield ["paths", "--chains", "3", "--json", bad]


def is_sentence(err):
    """Of the last line: the file, what is wrong, and what to do."""
    lines = [x for x in err.splitlines() if x.startswith("cairn: ")]
    return bool(lines) and ".cairn" in lines[-1] and (
        "; " in lines[-1] or ": build it again" in lines[-1] or
        "build the program" in lines[-1])


def unmarked(bad, mode):
    """Commands that show counts of which check says that they contradict each
    other, and nobody can see that."""
    status, out, _ = cairn("check", "--json", bad)
    if status != 1 or not any(f["rule"][0] == "C"
                              for f in json.loads(out)[0]["findings"]):
        return
    for words in (["report", bad], ["report", "--lcov", bad],
                  ["paths", "--top", "0", bad]):
        if words[0] == "paths" and "edges" in mode:
            continue
        status, out, err = cairn(*words)
        if status == 0 and not MARKS.search(out + err):
            yield " ".join(words), "is not marked", out[:200]


def spoiled(profiles):
    for seed in range(SEED, SEED + FILES):
        rng = random.Random(seed)
        mode = rng.choice(MODES)
        good = rng.choice(profiles[mode])
        with open(good, "rb") as f:
            data = spoil.spoil(f.read(), rng)
        with open("bad.cairn", "wb") as f:
            f.write(data)
        wrong = []
        for words in commands(mode, "bad.cairn", good, rng):
            status, _, err = cairn(*words)
            if (status not in (0, 1, 2) or "out of memory" in err or
                    "ssertion" in err or (status == 2 and
                                          not is_sentence(err))):
                wrong.append((" ".join(words), status, err[:300]))
        wrong += unmarked("bad.cairn", mode)
        test("seed %d, %s" % (seed, mode), not wrong,
             "%s; rerun: SEED=%d FILES=1" % (wrong[:2], seed))


def words_of(data, kind):
    """Offsets of the words that are not 0 in chunks of a kind."""
    return [w for c in spoil.chunks(data) if c[1] == kind
            for w in spoil.words(data, c) if spoil.u64(data, w)]


def store(data, name):
    for c in spoil.chunks(data):
        spoil.seal(data, c)
    with open(name, "wb") as f:
        f.write(data)
    return name


def pairs_without_paths(sums):
    """Pairs of paths whose paths add up to nothing, modulo 2^64."""
    with open(sums, "rb") as f:
        good = f.read()
    marked = refused = 0
    words = words_of(good, spoil.COUNTS)
    for i in range(12):
        data = bytearray(good)
        rng = random.Random(i)
        for _ in range(6):
            a, b = rng.sample(words, 2)
            struct.pack_into("<Q", data, a, -spoil.u64(data, b) & 2**64 - 1)
        name = store(data, "pairs.cairn")
        found = json.loads(cairn("check", "--json", name)[1])[0]["findings"]
        status, out, err = cairn("overlap", "--top", "0", name)
        test("overlap of pairs %d" % i, status in (0, 2), err)
        if status == 0 and any(f["rule"][0] == "C" for f in found):
            test("overlap marks them %d" % i, "findings of cairn check" in out,
                 out[:400])
            text = cairn("overlap", "--json", name)[1]
            test("so does its JSON %d" % i, json.loads(text or "{}").get("findings", 0) > 0)
            marked += 1
        refused += status == 2
    test("some are marked", marked > 0, (marked, refused))


def contradictions(paths):
    """What check finds in a profile whose paths are left alone, all say."""
    said = 0
    for seed in range(8):
        rng = random.Random(seed)
        with open(paths, "rb") as f:
            data = bytearray(f.read())
        chunk, = [c for c in spoil.chunks(data) if c[1] == spoil.WINDOWS]
        at = rng.choice(spoil.words(data, chunk))
        struct.pack_into("<Q", data, at, spoil.u64(data, at) + 3)
        name = store(data, "contradictions.cairn")
        if cairn("report", name)[0] or not cairn("check", name)[0]:
            continue  # nobody reads it, or it is as good as before
        for words in (["report"], ["report", "--json"], ["paths"],
                      ["report", "--format", "lcov"], ["diff", paths],
                      ["drift", paths]):
            status, out, err = cairn(*words, name)
            test("%s says it, seed %d" % (" ".join(words), seed),
                 MARKS.search(out + err), (status, err))
        said += 1
    test("some contradict each other", said > 0)


def negative(profile):
    """A derived count below zero is marked wherever it comes from."""
    with open(profile, "rb") as f:
        data = bytearray(f.read())
    for at in words_of(data, spoil.COUNTS):
        struct.pack_into("<Q", data, at, (1 << 64) - 5)
    name = store(data, "negative.cairn")
    test("check finds it", cairn("check", name)[0] == 1)
    for words in (["report", name], ["diff", profile, name],
                  ["report", "--lcov", name],
                  ["report", "--format", "callgrind", name]):
        status, out, err = cairn(*words)
        test(" ".join(words) + " marks it",
             status == 0 and MARKS.search(out + err), (out + err)[:400])


def sequence_of_nobody(profile):
    """A sequence with a path of a function that no map has."""
    with open(profile, "rb") as f:
        good = f.read()
    chunk, = [c for c in spoil.chunks(good) if c[1] == spoil.WINDOWS]
    shown = 0
    for at in spoil.words(good, chunk)[:60]:
        data = bytearray(good)
        data[at] ^= 4
        name = store(data, "nobody.cairn")
        for form in ([], ["--json"]):
            status, out, err = cairn("paths", "--iterations", "2", "--top",
                                     "0", *form, name)
            test("sequences, byte %d" % at, status in (0, 2), (status, err))
            shown += "a function without a map" in out
    test("one is shown as such", shown > 0)


def huge_module(profile):
    """A module that claims as many counters as no memory holds."""
    with open(profile, "rb") as f:
        good = f.read()
    for n in (1 << 28, 1 << 40, 1 << 60):
        data = bytearray(good)
        for at in spoil.heads(data):
            if spoil.u32(data, at + 4) in (2, spoil.COUNTS):
                struct.pack_into("<Q", data, at + 24, n)
                struct.pack_into("<I", data, at + 56,
                                 spoil.crc32c(data[at:at + 48]))
        with open("huge.cairn", "wb") as f:
            f.write(data)
        for words in (["check"], ["report"], ["pack", "-o", "out.cairn"]):
            status, _, err = cairn(*words, "huge.cairn")
            test("%d counters: %s" % (n, words[0]), status == 2 and
                 "out of memory" not in err and is_sentence(err), err)


def check_all(work):
    os.chdir(work)
    profiles = {mode: build(mode) for mode in MODES}
    spoiled(profiles)
    pairs_without_paths("pathsoverlap-sum.cairn")
    negative("edges-sum.cairn")
    contradictions("pathsiterations4-sum.cairn")
    sequence_of_nobody("pathsiterations4-sum.cairn")
    huge_module("edges.cairn")


if __name__ == "__main__":
    sys.exit(suite(check_all))
