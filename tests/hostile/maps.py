# SPDX-License-Identifier: Apache-2.0
"""Maps (docs/FORMAT.md, section 5): records, and the blob of a function as a
list of tokens that know what they are."""
import struct

from container import Cursor, Damaged, crc32c, put32, sv, u32, uv

FUNCTION, CODE, UNIT, SOURCES = b"CFN1", b"CFS1", b"CTU1", b"CSR1"
FIELDS = {  # of the head of a record: name, offset, size
    FUNCTION: (("size", 4, 4), ("func", 8, 8), ("counters", 16, 8),
               ("ncounters", 24, 4), ("blob-crc", 28, 4), ("nblob", 32, 4),
               ("nsites", 36, 4), ("nprobes", 40, 4), ("code-size", 44, 4)),
    CODE: (("size", 4, 4), ("func", 8, 8), ("n", 16, 4), ("code-size", 20, 4)),
    UNIT: (("size", 4, 4), ("id", 8, 8), ("n", 24, 4), ("nlinked", 28, 4)),
    SOURCES: (("size", 4, 4), ("n", 8, 4), ("crc", 12, 4)),
}
HEAD = {FUNCTION: 48, CODE: 24, UNIT: 32, SOURCES: 16}


class Token:
    def __init__(self, kind, value, name):
        self.kind, self.value, self.name, self.extra = kind, value, name, 0

    def encode(self):
        if self.kind == "uv":
            return uv(self.value, self.extra)
        if self.kind == "sv":
            return sv(self.value, self.extra)
        if self.kind == "str":
            return uv(len(self.value), self.extra) + self.value
        return self.value


class Blob:
    """Reads a blob of version 6, the one that this build writes."""

    def __init__(self, data):
        self.c, self.tokens, self.nblocks = Cursor(data), [], 0
        self.read()
        if self.c.at != len(data):
            raise Damaged("bytes are left in the map")

    def uv(self, name):
        self.tokens.append(Token("uv", self.c.uv(), name))
        return self.tokens[-1].value

    def sv(self, name):
        self.tokens.append(Token("sv", self.c.sv(), name))

    def str(self, name):
        self.tokens.append(Token("str", self.c.str(), name))

    def raw(self, n, name):
        self.tokens.append(Token("raw", self.c.take(n), name))

    def times(self, name):
        return range(self.uv(name + "-count"))

    def read(self):
        if self.uv("version") != 7:
            raise Damaged("another version of the map")
        flags = self.uv("flags")
        self.str("name")
        if flags & 512:
            for _ in self.times("alias"):
                self.str("name")
        self.str("reason")
        self.raw(8, "hash")
        for _ in self.times("file"):
            self.str("path")
        self.uv("file")
        self.uv("line")
        for _ in self.times("instance"):
            self.str("name")
            for name in ("file", "line", "instance", "line"):
                self.uv(name)
        self.nblocks = self.uv("block-count")
        for _ in range(1, self.nblocks):
            self.read_block()
        for _ in self.times("edge"):
            for name in ("source", "target", "kind", "counter", "weight"):
                self.uv("edge-" + name)
        nsites = 0
        for nsites in self.times("site"):
            self.uv("site-block")
            self.uv("site-segment")
        nsites = self.last_count("site-count")
        for _ in self.times("callee"):
            self.str("name")
            self.uv("file")
            self.uv("line")
        self.read_outcalls()
        self.read_paths(nsites)
        if flags & 256:
            self.read_copies()

    def last_count(self, name):
        return next(t.value for t in reversed(self.tokens) if t.name == name)

    def read_block(self):
        for name in ("flags", "instructions", "counter"):
            self.uv("block-" + name)
        for _ in self.times("segment"):
            for _ in self.times("line"):
                self.uv("instance")
                self.uv("file")
                self.sv("line")
                self.uv("instructions")
                for _ in self.times("place"):
                    self.uv("place")
        self.uv("branch-line")

    def read_outcalls(self):
        for _ in self.times("outcall"):
            for name in ("block", "segment", "callee", "instance"):
                self.uv("outcall-" + name)
            if self.uv("file"):
                self.sv("line")

    def read_paths(self, nsites):
        how = self.uv("how")
        if how in (0, 7):
            if how:
                for _ in self.times("witness"):
                    self.uv("witness-slot")
                self.read_calls()
            return
        if how == 8:
            self.raw(16, "unit-id")
            self.uv("unit-index")
        self.uv("paths-possible")
        for _ in self.times("cut"):
            self.uv("cut")
        for _ in self.times("loop"):
            self.uv("loop-head")
        if how == 3:
            self.uv("slots")
            for _ in self.times("preferred"):
                self.uv("preferred")
                self.uv("preferred-slot")
        if how in (9, 10):
            self.read_pairs(nsites)
        for _ in range(nsites):
            what = self.uv("pending")
            if what >= 2:
                self.sv("pending-add")
            elif what:
                self.uv("pending-sum")
        if how in (5, 6, 8):
            self.read_calls()

    def read_pairs(self, nsites):
        self.uv("degree")
        self.uv("paths-first")
        if self.uv("rows-kind") & 4:
            for name in ("left-block", "left-site"):
                for _ in self.times(name):
                    self.uv(name)
        cells = [self.uv("cell") for _ in range(nsites)]
        for cell in cells:
            if cell:
                for _ in self.times("row"):
                    self.uv("row-sum")
                self.uv("radix")

    def read_calls(self):
        for _ in self.times("call"):
            self.uv("call-edge")
            self.uv("call-kind")

    def read_copies(self):
        self.raw(8, "hash")
        for _ in self.times("copy"):
            self.uv("copy")
            self.uv("copy-block")
            self.str("name")
            self.str("path")
            self.raw(8, "hash")
        for _ in self.times("left-call"):
            self.uv("copy")
            self.uv("copy-block")
            self.str("name")
            self.str("path")
        for _ in range(1, self.nblocks):
            for _ in self.times("was-block"):
                self.uv("copy")
                self.uv("copy-block")

    def encode(self):
        return b"".join(token.encode() for token in self.tokens)


class Record:
    def __init__(self, data):
        self.magic = bytes(data[:4])
        self.head = bytearray(data[:HEAD[self.magic]])
        nblob = u32(data, 32) if self.magic == FUNCTION else 0
        at = len(self.head)
        self.blob = bytes(data[at:at + nblob])
        self.tables = bytearray(data[at + nblob:])
        self.fixed = set()           # fields of the head that were set by hand

    def set(self, name, value):
        for field, at, size in FIELDS[self.magic]:
            if field == name:
                struct.pack_into("<I" if size == 4 else "<Q", self.head, at,
                                 value & ((1 << 8 * size) - 1))
        self.fixed.add(name)

    def encode(self):
        head = bytearray(self.head)
        if "size" not in self.fixed:
            put32(head, 4, len(head) + len(self.blob) + len(self.tables))
        if self.magic == FUNCTION:
            if "nblob" not in self.fixed:
                put32(head, 32, len(self.blob))
            if "blob-crc" not in self.fixed:
                put32(head, 28, crc32c(self.blob))
        if self.magic == SOURCES and "crc" not in self.fixed:
            put32(head, 12, crc32c(self.tables))
        return bytes(head) + self.blob + bytes(self.tables)


def decode(data):
    at, records = 0, []
    while at < len(data):
        if not data[at]:
            at += 1
            continue
        magic, size = bytes(data[at:at + 4]), u32(data, at + 4)
        if magic not in HEAD or not HEAD[magic] <= size <= len(data) - at:
            raise Damaged("no record of a map")
        records.append(Record(data[at:at + size]))
        at += size
    return records


def encode(records):
    out = bytearray()
    for record in records:
        out += record.encode()
        out += bytes(-len(out) % 8)
    return bytes(out)
