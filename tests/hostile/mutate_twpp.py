# SPDX-License-Identifier: Apache-2.0
"""Files of cairn twpp (docs/FORMAT.md, section 12): numbers in their index, in
the graph and in the blocks of functions, with the sums right again."""
from container import MASK, Cursor, Damaged, ZSTD, put32, put64, u64, uv
from values import LIMITS, damage, number, text

K = 0x9E3779B97F4A7C15
HEAD = 36
NUMBERS = 13                         # of the index, before its functions


def sum_of(data):
    h = len(data) * K & MASK
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        h = (h ^ u64(data, at)) * K & MASK
        h ^= h >> 29
    for byte in data[whole:]:
        h = (h ^ byte) * K & MASK
    h ^= h >> 32
    h = h * K & MASK
    h ^= h >> 29
    return (h ^ h >> 32) & 0xFFFFFFFF


def unpack(part):
    """What is in a part; where it ends."""
    c = Cursor(part)
    word = c.uv()
    if not word & 1:
        return bytearray(c.take(word >> 1)), c.at
    return bytearray(ZSTD.decompress(c.take(c.uv()), word >> 1)), c.at


def pack(rng, raw):
    if rng.randrange(2):
        return uv(len(raw) << 1) + bytes(raw)
    frame = ZSTD.compress(raw)
    return uv(len(raw) << 1 | 1) + uv(len(frame)) + frame


class Entry:
    """A function in the index, with its block."""

    def __init__(self, c):
        self.number, self.name = c.uv(), c.str()
        self.sizes = [c.uv(), c.uv()]            # of its CFG
        self.calls, self.block = c.uv(), None
        if self.calls:
            self.traces, self.size = c.uv(), c.uv()
            self.dictionaries = c.uv()
            c.take(4)

    def encode(self):
        out = uv(self.number) + uv(len(self.name)) + self.name + \
            b"".join(map(uv, self.sizes)) + uv(self.calls)
        if self.block is None:
            return out
        return out + uv(self.traces) + uv(len(self.block)) + \
            uv(min(self.dictionaries, len(self.block))) + \
            sum_of(self.block).to_bytes(4, "little")


class Saved:
    def __init__(self, data):
        self.head = bytearray(data[:HEAD])
        n, m = u64(data, 20), u64(data, 28)
        index, _ = unpack(data[HEAD:HEAD + n])
        self.graph, _ = unpack(data[HEAD + n:HEAD + n + m])
        c = Cursor(index)
        self.totals = [c.uv() for _ in range(NUMBERS)]
        self.entries = [Entry(c) for _ in range(c.uv())]
        at = HEAD + n + m
        for entry in self.entries:
            if entry.calls:
                entry.block = bytearray(data[at:at + entry.size])
                at += entry.size
        if c.at != len(index) or at != len(data):
            raise Damaged("bytes are left")
        self.index = None            # bytes, if they are not of the entries

    def make_index(self):
        return bytearray(b"".join(map(uv, self.totals)) +
                         uv(len(self.entries)) +
                         b"".join(e.encode() for e in self.entries))

    def encode(self, rng):
        head, parts = bytearray(self.head), []
        for at, raw in ((20, self.index or self.make_index()),
                        (28, self.graph)):
            parts.append(pack(rng, raw))
            put64(head, at, len(parts[-1]))
        put32(head, 12, sum_of(parts[0]))
        put32(head, 16, sum_of(parts[1]))
        return bytes(head) + b"".join(parts) + b"".join(
            e.block for e in self.entries if e.block is not None)


def numbers_of(data):
    """Of bytes that are read as uv, one after the other."""
    c, found = Cursor(data), []
    while c.at < len(data):
        begin = c.at
        try:
            found.append((begin, c.uv(), c.at))
        except Damaged:
            break
    return found


def change_number(rng, data):
    found = numbers_of(data)
    if not found:
        return
    begin, value, end = rng.choice(found)
    data[begin:end] = uv(number(rng, value, len(data)))


def change_block(rng, saved, function):
    """One of the three parts of a block."""
    entry = rng.choice([e for e in saved.entries if e.block])
    parts, at = [], 0
    while at < len(entry.block):
        raw, n = unpack(entry.block[at:])
        parts.append(raw)
        at += n
    i = rng.randrange(len(parts))
    parts[i] = function(rng, parts[i]) or parts[i]
    packed = [pack(rng, raw) for raw in parts]
    entry.block = bytearray(b"".join(packed))
    entry.dictionaries = len(packed[0])


def change(rng, data, canary):
    """(bytes, kind)"""
    saved = Saved(data)
    how = rng.choice(("index", "graph", "block", "block", "index-bytes",
                      "graph-bytes", "block-bytes", "totals", "name", "entry",
                      "sizes", "cut"))
    entry = rng.choice([e for e in saved.entries if e.block])
    if how in ("index", "index-bytes"):
        saved.index = saved.make_index()
    if how in ("index", "graph"):
        change_number(rng, getattr(saved, how))
    elif how == "index-bytes":
        saved.index = damage(rng, saved.index)
    elif how == "graph-bytes":
        saved.graph = damage(rng, saved.graph)
    elif how.startswith("block"):
        change_block(rng, saved, change_number if how == "block" else damage)
    elif how == "totals":
        i = rng.randrange(NUMBERS)
        saved.totals[i] = rng.choice((*LIMITS, number(rng, saved.totals[i])))
    elif how == "name":
        entry.name = text(rng, entry.name, canary)
    elif how == "entry":
        name = rng.choice(("number", "calls", "traces", "dictionaries"))
        setattr(entry, name, number(rng, getattr(entry, name)))
    out = bytearray(saved.encode(rng))
    if how == "sizes":
        at = rng.choice((20, 28))
        put64(out, at, number(rng, u64(out, at), len(out)))
    elif how == "cut":
        del out[rng.randrange(len(out)):]
    return bytes(out), f"twpp-{how}"
