# SPDX-License-Identifier: Apache-2.0
"""Mutants that readers once did not survive, made by hand: they are run before
the drawn ones, with every command that is named beside them."""
import maps
from container import Container
from elf import Elf
from logs import HAS_ADDRESS, OTHER, OUT, Event, decode, encode
from values import DISTANCE

ARENA, PAGE, PAGES = 0x10000000, 4096, 64


def without_lines(blob, block):
    """Takes the lines from a block of a function."""
    starts = [i for i, t in enumerate(blob.tokens) if t.name == "block-flags"]
    at = starts[block - 1]
    ends = [i for i, t in enumerate(blob.tokens)
            if t.name in ("block-flags", "edge-count") and i > at]
    counts = ("line-count", "place-count")
    kept = ("instance", "file", "line", "instructions", "place", *counts)
    inside = []
    for t in blob.tokens[at:ends[0]]:
        if t.name == "line-count":
            t.value = 0
        elif t.name in kept:
            continue
        inside.append(t)
    blob.tokens[at:ends[0]] = inside


def circle_of_parts(seed):
    """A branch leads to a block without lines, which is its own next part."""
    elf = Elf(seed.program)
    records = maps.decode(elf.get(".cairn.map"))
    for record in records:
        if record.magic != maps.FUNCTION:
            continue
        blob = maps.Blob(record.blob)
        at = [i for i, t in enumerate(blob.tokens) if t.name == "edge-source"]
        edges = [blob.tokens[i:i + 5] for i in at]
        branches = [e for e in edges if e[2].value in (5, 6, 7) and e[1].value]
        others = [e for e in edges if e[2].value == 4]
        if not branches or not others:
            continue
        block = branches[0][1].value
        others[0][0].value = others[0][1].value = block
        others[0][2].value = 12
        without_lines(blob, block)
        record.blob = blob.encode()
    elf.put(".cairn.map", maps.encode(records))
    return seed.profile, bytes(elf.data), ()


def as_it_is(seed):
    return seed.profile, None, ()


def memory_of_replayer(seed):
    """Output that is at addresses where the replayer has its tables."""
    file = Container(seed.profile)
    for chunk in file.chunks:
        events = decode(chunk.unpack()) if chunk.name == "packed" and \
            chunk.aux0 else []
        at = next((i for i, e in enumerate(events) if e.name == "out"), None)
        if at is not None:
            events[at:at] = [
                Event(events[at].tick, OTHER, OUT, None,
                      [HAS_ADDRESS, 0, ARENA + DISTANCE + PAGE * i, PAGE, 0])
                for i in range(PAGES)]
            chunk.pack(encode(events))
    return file.encode(), None, ()


def checkpoints_elsewhere(seed):
    """A link is where checkpoints are kept."""
    return seed.profile, None, ((".checkpoints", "folder"),)


def index_elsewhere(seed):
    """A link is where an index is kept."""
    return seed.profile, None, ((".index", "file"),)


def function_nowhere(seed):
    """The first function of a map is where no code can be, so that those of
    the unit are others."""
    elf = Elf(seed.program)
    records = maps.decode(elf.get(".cairn.map"))
    next(r for r in records if r.magic == maps.FUNCTION).set("func", 1 << 63)
    elf.put(".cairn.map", maps.encode(records))
    return seed.profile, bytes(elf.data), ()


# Name, seed, what makes (profile, program or None, links beside the profile),
# commands.
FOUND = [
    ("a circle of parts without lines", "edges", circle_of_parts,
     ["report --format gcovr {f}", "report --lines {f}", "check {f}"]),
    ("a page about no function", "residual", as_it_is,
     ["report --format cobertura {f}", "report --html {o} {f}"]),
    ("output that is memory of the replayer", "record", memory_of_replayer,
     ["output {f}", "output --raw {f}", "output --json {f}", "replay {f}"]),
    ("checkpoints behind a link", "record", checkpoints_elsewhere,
     ["replay --every 50 {f}", "values {f} --at {c}", "replay {f}"]),
    ("an index behind a link", "trace", index_elsewhere,
     ["trace --index {f}", "trace --index --from 100 {f}"]),
    ("frames of other functions", "trimmed", function_nowhere,
     ["output {f}", "values {f} --at {c}", "replay {f}"]),
]
