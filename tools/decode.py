#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second decoder of .cairn profiles, written from docs/FORMAT.md alone.

usage: decode.py [--exe FILE]... PROFILE

Prints the counts of all covered functions as JSON: a list of objects with
"name", "module", "exact", "consistent", "entries", "blocks" (counts from block
1 on), "segments" (a list per block), "edges", "paths" (null, or for a function
that counts them: "possible", "counts" by number, "unfinished" as lists of
block, segment, sum and frames, "lost", "unknown"), under "lines" the counts of
source lines and, under "order", null or in which order paths of tables were
first taken: "left_out" and "paths", as lists of module, function and number;
under "windows" sequences of paths, the oldest first, each a function and a
number, or chains, where all but the last are calls: the caller, the sum of its
path and the link of the call; whether something may have been before them that is not in the list, and
a count.
Of a trace it regenerates what ran, and counts that; "paths" are null then.  Of
a recording it prints "modules" (number, path, build id, address of the cells,
load bias) and "contexts", each with its events in order.  It
shares no code with the C reader and is meant to be read beside the
specification; `decode.py --compare REPORT.json PROFILE` compares
with `cairn report --json`, `--compare-paths PATHS.json` with `cairn paths
--json`, `--compare-windows WINDOWS.json` with `cairn paths --iterations N
--json` or `--chains N --json`, `--compare-order RESIDUAL.json` with `cairn
residual --json` of this file alone, and all say where they differ.  A count that is not known is null.
Only Python's standard library is used; maps inside the file need the program
zstd.
"""
import collections
import json
import struct
import subprocess
import sys


class Damaged(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Damaged(what)


# --- section 1: conventions -------------------------------------------------
def make_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = make_table()


def crc32c(data, crc=0):
    """Of what follows on bytes with this one."""
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def signed(n):
    n &= (1 << 64) - 1
    return n - (1 << 64) if n >> 63 else n


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        need(n <= len(self.data) - self.at, "ends early")
        self.at += n
        return self.data[self.at - n : self.at]

    def uv(self):
        value = 0
        for shift in range(0, 70, 7):
            need(self.at < len(self.data), "ends early")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                need(value < 1 << 64, "number too large")
                return value
        raise Damaged("number too long")

    def sv(self):
        value = self.uv()
        return value >> 1 ^ -(value & 1)

    def str(self):
        return self.take(self.uv()).decode("utf-8", "replace")

    def text(self):
        end = self.data.index(b"\0", self.at)
        return self.take(end + 1 - self.at)[:-1].decode("utf-8", "replace")


# --- sections 2 to 4: the container -----------------------------------------
ORDER = 1 << 31 | 7
BINDINGS = 1 << 31 | 18
STREAM, PACKED, CALLS = 8, 9, 10
FOREST, NODES, WINDOWS = 13, 14, 15
CHAINS = 256  # AUX1 of these, and how many calls a chain has
CHECKPOINT = 16
ROW = 16  # counters of a row, one for a path of the callee
MASK32 = (1 << 32) - 1


class Chunk:
    def __init__(self, data, at):
        need(len(data) >= at + 64, "chunk header cut")
        head = data[at : at + 64]
        need(head[:4] == b"CHK1", "no chunk")
        need(crc32c(head[:48]) == u32(head, 56), "chunk header checksum")
        self.type = u32(head, 4)
        self.length = u64(head, 8)
        self.id, self.module = u32(head, 16), u32(head, 20)
        self.n, self.aux0, self.aux1 = (u64(head, i) for i in (24, 32, 40))
        need(self.length >= 64 and self.length % 8 == 0, "chunk length")
        need(at + self.length <= len(data), "chunk cut")
        self.payload = data[at + 64 : at + self.length]
        if u32(head, 48) != 1:
            need(crc32c(self.payload) == u32(head, 52), "chunk checksum")


def read_chunks(data):
    need(data[:8] == b"\x89CAIRN\r\n", "no .cairn file")
    need(u32(data, 8) == 2, "unknown version")
    need(crc32c(data[:124]) == u32(data, 124), "header checksum")
    if u32(data, 128) == 1:
        need(crc32c(data[128:188]) == u32(data, 188), "state checksum")
    length = u64(data, 136)
    need(length <= len(data), "truncated")
    at, chunks = 4096, []
    while at < length:
        chunk = Chunk(data[:length], at)
        if not chunk.type >> 31:
            need(1 <= chunk.type <= 6 or 8 <= chunk.type <= 11 or
                 FOREST <= chunk.type <= CHECKPOINT,
                 "unknown chunk type")
        if not chunk.type >> 31 or chunk.type in (ORDER, BINDINGS):
            chunks.append(chunk)
        at += chunk.length
    return chunks


def unzstd(payload, size):
    packed = payload.rstrip(b"\0")
    # zeros may belong to the frame: try the shortest end that unpacks
    for end in range(len(packed), len(payload) + 1):
        run = subprocess.run(
            ["zstd", "-dcq"], input=payload[:end], capture_output=True
        )
        if run.returncode == 0 and len(run.stdout) == size:
            return run.stdout
    raise Damaged("the map does not unpack")


# --- section 16: recordings --------------------------------------------------
RECORDING = 128
OTHERS = ["END", "STACK", "SYNC", "BEGIN", "STOP", "FORK", "FORGET",
          "ZERO", "ENV", "OUT", "HASHED", "TURN", "CAME", "HALT",
          "LEFT"]
OTHER_VALUES = [0, 1, 1, 3, 0, 3, 0, 2, 1, 0, 0, 0, 3, 2, 2]


def read_begins(chunks):
    """{context: (part, offset, tick, cell)} of those with checkpoints."""
    return {c.id: (c.aux0, c.aux1, u64(c.payload, 32), u64(c.payload, 40))
            for c in chunks if c.type == 13 and c.id}


def read_logs(data, chunks):
    """{context: bytes of its log}."""
    parts, begins = {}, read_begins(chunks)
    for c in chunks:
        if c.type == STREAM and c.aux0:
            n = u64(c.payload, 0) >> 1
            need(n <= len(c.payload) - 8, "length of a part")
            parts.setdefault(c.id, {}).setdefault(c.aux0, c.payload[8:8 + n])
        elif c.type == PACKED:
            parts.setdefault(c.id, {})[c.aux0] = unzstd(
                c.payload[:c.aux1], c.n)
    logs = {}
    for context, of in parts.items():
        log, (i, skip, _, _) = b"", begins.get(context, (1, 0, 0, 0))
        while i <= max(of):
            if i not in of:
                need(u32(data, 132) & 8, "a part is missing")
                break
            log += of[i]
            i += 1
        logs[context] = log[skip:]
    return logs


def out_hash(data):
    """Of what goes out by its address."""
    h = len(data)
    for at in range(0, len(data), 8):
        h ^= int.from_bytes(data[at:at + 8], "little")
        h = h * 0x9e3779b97f4a7c15 & 0xffffffffffffffff
        h ^= h >> 32
    return h & 0xffffffff or 1


def read_out(c, is_hashed):
    """Flags, pending, address, hash (0: none), length and bytes of OUT."""
    word = c.uv()
    n = word >> 6
    pending = c.uv() if word & 8 else 0
    address = c.uv() if word & 4 else 0
    need(n <= 4096 and (not n or word & 6), "length of a piece")
    bytes_ = c.take(n).hex() if word & 2 else ""
    hash_ = int.from_bytes(c.take(4), "little") if is_hashed else 0
    need(not is_hashed or (hash_ and not bytes_), "hash of a piece")
    return [word & 63, pending, address, hash_, n, bytes_]


def read_event(c, tick, cell):
    """An event as a list, and the cell."""
    word = c.uv()
    tick += word >> 2
    if word & 3 == 3:
        what = c.uv()
        need(what < len(OTHERS), "kind of an event")
        values = [c.uv() for _ in range(OTHER_VALUES[what])]
        if what in (9, 10):
            return [tick, "OUT", *read_out(c, what == 10)], cell
        if what == 11:
            cell += c.sv()
            values = [cell >> 32, cell & 0xFFFFFFFF, c.uv(), c.uv()]
        return [tick, OTHERS[what], *values], cell
    cell += c.sv()
    place = [cell >> 32, cell & 0xFFFFFFFF]
    if word & 3 == 0:
        n = c.uv()
        offset = c.uv() if n & 1 else 0
        return [tick, "IN", *place, offset, c.take(n >> 1).hex()], cell
    if word & 3 == 1:
        return [tick, "CALLBACK", *place], cell
    return [tick, "BACK", *place, c.uv()], cell


def decode_recording(data):
    chunks = read_chunks(data)
    modules = [Module(c) for c in chunks if c.type == 2]
    contexts = []
    begins = read_begins(chunks)
    for context, log in sorted(read_logs(data, chunks).items()):
        _, _, tick, cell = begins.get(context, (0, 0, 0, 0))
        c, events = Cursor(log), []
        while c.at < len(log):
            event, cell = read_event(c, tick, cell)
            tick = event[0]
            events.append(event)
        contexts.append({"number": context, "bytes": len(log),
                         "events": events})
    return {
        "modules": [{"number": m.number, "path": m.path,
                     "build_id": m.build_id.hex(), "cells": m.base,
                     "ncells": len(m.counts), "bias": m.bias}
                    for m in modules],
        "contexts": contexts,
    }


def print_recording(result):
    """JSON with an event in a line: what json writes with an indent it writes
    in Python, value by value."""
    print('{"modules":', json.dumps(result["modules"]) + ",")
    print('"contexts": [', end="")
    for i, c in enumerate(result["contexts"]):
        print("," if i else "")
        print(f'{{"number": {c["number"]}, "bytes": {c["bytes"]}, "events": [')
        print(",\n".join(map(json.dumps, c["events"])) + "]}", end="")
    print("]}")


class Module:
    def __init__(self, chunk):
        c = Cursor(chunk.payload)
        self.number = chunk.module
        self.base, self.bias = chunk.aux0, chunk.aux1
        self.biases = [self.bias]  # of a trace: where else it was loaded
        self.build_id = c.take(struct.unpack("<I", c.take(4))[0])
        self.path = c.text()
        self.counts = [0] * chunk.n
        self.frames = {}  # (kind, address, register word, bias) -> count
        self.tables = {}  # address of first counter -> {word: count}
        self.bindings = {}  # of a trace: hash of a name -> modules, or None
        self.map = None


def read_doubts(data):
    """(counts are missing, frames are missing), as the header says."""
    state, flags, unwalked = (u32(data, at) for at in (128, 132, 160))
    return bool(flags & 8), state != 1 or bool(flags & (4 | 16) or unwalked)


def read_tables(chunk, tables):
    at = 0
    need(chunk.n <= len(chunk.payload), "tables of paths cut")
    while at + 32 <= chunk.n and u64(chunk.payload, at):
        owner, slots = u64(chunk.payload, at), u64(chunk.payload, at + 8)
        need(16 * slots <= chunk.n - at - 32, "table of paths cut")
        table = tables.setdefault(owner, {})
        for i in range(at + 32, at + 32 + 16 * slots, 16):
            word, count = u64(chunk.payload, i), u64(chunk.payload, i + 8)
            if count:
                table[word] = table.get(word, 0) + count
        at += 32 + 16 * slots


class Order:
    """Paths of tables as they were first taken, and how many had no room."""

    def __init__(self, chunks, modules):
        self.paths, room = [], 0  # module number, address of counters, path
        records = {}
        chunks = [c for c in chunks if c.type == ORDER]
        self.is_there = any(c.aux0 == 0 for c in chunks)
        asked = 0
        for c in chunks:
            need(16 + 16 * c.n <= len(c.payload), "order cut")
            room += c.n
            if c.aux0 == 0:
                asked = u64(c.payload, 0)
            for i in range(c.n):
                place, path = struct.unpack_from("<QQ", c.payload, 16 + 16 * i)
                if path:
                    need(c.aux0 + i not in records, "order twice")
                    need(place >> 48 in modules, "order of no module")
                    key = (place >> 48, place & (1 << 48) - 1, path - 1)
                    records[c.aux0 + i] = key
        for _, key in sorted(records.items()):
            if key not in self.paths:
                self.paths.append(key)
        self.left_out = max(0, asked - room)

    def json(self, names):
        if not self.is_there:
            return None
        return {
            "left_out": self.left_out,
            "paths": [[m, names[m, at], n] for m, at, n in self.paths],
        }


class Windows:
    """Sequences of elements, the oldest first, and how often they were
    counted: {(elements, is anchored): count}."""

    def __init__(self, chunks, modules):
        self.modules, self.counts, self.of_chains = modules, {}, False
        self.nodes = {(c.id, c.aux0 + i): c.payload[24 * i : 24 * i + 24]
                      for c in chunks if c.type == NODES for i in range(c.n)}
        for c in chunks:
            if c.type in (FOREST, WINDOWS):
                need(2 <= c.aux1 <= 16 or CHAINS < c.aux1 <= CHAINS + 16,
                     "length of windows")
                self.of_chains = c.aux1 > CHAINS
            if c.type == FOREST:
                for i in range(c.n):
                    self.read_slot(c.id, c.payload[48 * i : 48 * i + 48])
            elif c.type == WINDOWS:
                self.read_list(c)

    def add(self, elements, anchored, count):
        key = tuple(elements), bool(anchored)
        self.counts[key] = self.counts.get(key, 0) + count

    def element(self, owner, id_):
        need(id_, "an element without a number")
        link, owner = owner >> 48, owner & (1 << 48) - 1
        need(not link or self.of_chains, "a call in a sequence of paths")
        for m in self.modules:
            if 0 <= owner - m.bias - m.base < 8 * len(m.counts):
                return m.number, owner - m.bias, id_ - 1, link
        raise Damaged("an element of no module")

    def read_slot(self, thread, slot):
        key, owner, count = struct.unpack_from("<3Q", slot)
        if not key or not count:
            return
        elements = [self.element(owner, key & 0xFFFFFFFF)]
        node, anchored = key >> 32, key >> 32 == 0
        if self.of_chains:  # the upper bits are the runtime's
            node &= (1 << 24) - 1
        if node > 1:
            left, anchored = self.nodes[thread, node][20:22]
            need(1 <= left <= 15 + self.of_chains, "length of a node")
            for _ in range(left):
                owner, node, id_ = struct.unpack_from(
                    "<QII", self.nodes[thread, node])
                elements.insert(0, self.element(owner, id_))
        self.add(elements, anchored, count)

    def read_list(self, chunk):
        c = Cursor(chunk.payload)
        elements = [(c.uv(), c.uv(), c.uv(), c.uv() if self.of_chains else 0)
                    for _ in range(c.uv())]
        for _ in range(chunk.n):
            head, count = c.uv(), c.uv()
            window = [elements[c.uv()] for _ in range(head >> 1)]
            self.add(reversed(window), head & 1, count)

    def json(self, names):
        return [[[[names.get((m, at)), n] + [link - 1] * bool(link)
                  for m, at, n, link in window], not anchored, count]
                for (window, anchored), count in sorted(self.counts.items())]


class Calls:
    """Pairs of paths across calls: {(module and address of the site's cell,
    is it a return, of the callee's counters, two numbers): count}."""

    def __init__(self, chunks, modules, maps):
        self.modules, self.counts = modules, {}
        self.maps = {m.number: of for m, of in zip(modules, maps)}
        for c in chunks:
            if c.type == CALLS:
                need(32 * c.n <= len(c.payload), "calls cut")
                for i in range(c.n):
                    self.read_slot(c.aux0, *struct.unpack_from(
                        "<4Q", c.payload, 32 * i))
        for m in modules:
            for f in self.maps[m.number].functions:
                if f.nrows:
                    self.read_rows(m, f)
                for path in f.tagged:
                    self.read_tag(m, f, *path)

    def add(self, site, is_return, callee, pair, count):
        key = site, is_return, callee, pair
        self.counts[key] = self.counts.get(key, 0) + count

    def place(self, has_numbers, at):
        """Number of the module, and link-time address."""
        for m in self.modules:
            if has_numbers and at >> 48 != m.number:
                continue
            address = at & (1 << 48) - 1 if has_numbers else at - m.bias
            if 0 <= address - m.base < 8 * len(m.counts):
                return m.number, address
        raise Damaged("a call that no module makes")

    def function(self, place):
        for f in self.maps[place[0]].functions:
            if 0 <= place[1] - f.counters < 8 * f.ncounters:
                return f
        raise Damaged("a call that no function makes")

    def read_slot(self, has_numbers, site, callee, pair, count):
        if not site or not count:
            return
        module, at = self.place(has_numbers, site & ~1)
        f = self.function((module, at))
        index = (at - f.counters) // 8
        if index < f.first_cell:  # a row, of a call
            row = next((x for x in f.rows if index in x.sums), None)
            need(row and not site & 1 and pair >> 32 == 0, "no such row")
            at = f.cell_at(row.cell)
            pair |= row.sums[index] << 32
        self.add((module, at), bool(site & 1),
                 self.place(has_numbers, callee), (pair >> 32, pair & MASK32),
                 count)

    def read_rows(self, m, f):
        first = (f.counters - m.base) // 8
        for row in f.rows:
            for at, total in row.sums.items():
                for k in range(ROW):
                    if m.counts[first + at + k]:
                        self.add((m.number, f.cell_at(row.cell)), False,
                                 (m.number,
                                  self.callee(m, row.callee).counters),
                                 (total, k), m.counts[first + at + k])

    def read_tag(self, m, f, number, until, tag, count):
        """The callee's last path, and its first if that begins at its entry:
        otherwise the callee has counted it."""
        for site, total, path in calls_of_tag(f, number, until, tag):
            cell = f.cells[site]
            row = next(row for row in f.rows if row.cell == cell)
            callee = self.callee(m, row.callee)
            key = (m.number, f.cell_at(cell)), (m.number, callee.counters)
            if path < callee.nfirst:
                self.add(key[0], False, key[1], (total, path), count)
            if until is None:
                self.add(key[0], True, key[1], (path, number - total), count)

    def callee(self, m, address):
        """Of two functions there, those that call mean the greater."""
        found = [f for f in self.maps[m.number].functions
                 if f.address == address and f.in_rows]
        need(found, "a row of no callee")
        return max(found, key=lambda f: f.in_rows)

    def json(self):
        listed = []
        for (site, is_return, to, pair), count in sorted(self.counts.items()):
            f = self.function(site)
            cell = (site[1] - f.counters) // 8 - f.first_cell + 1
            need(cell in f.cells, "a call at no site")
            callee = self.function(to)
            need(callee.counters == to[1], "a call of no function")
            listed.append(["return" if is_return else "call", f.name,
                           *f.sites[f.cells.index(cell)], callee.name, *pair,
                           count])
        return listed


def read_bindings(chunk, modules):
    """Where names have led from a module: by their hashes, all that are known;
    None has no marks."""
    need(chunk.module in modules, "bindings of no module")
    need(16 * chunk.n <= len(chunk.payload), "bindings cut")
    bindings = modules[chunk.module].bindings
    for i in range(chunk.n):
        name, to = struct.unpack_from("<QQ", chunk.payload, 16 * i)
        need(not to or to in modules, "binding to no module")
        bindings.setdefault(name, set()).add(to or None)


def read_profile(data, exes):
    chunks = read_chunks(data)
    modules = {c.module: Module(c) for c in chunks if c.type == 2}
    for c in chunks:
        if c.type == 3:
            counts = modules[c.module].counts
            for i in range(c.n):
                counts[i] += u64(c.payload, 8 * i)
        elif c.type in (4, 11):
            each = 24 if c.type == 4 else 32
            for i in range(c.n):
                slot = c.payload[each * i : each * (i + 1)]
                key, word, count = struct.unpack("<QQq", slot[:24])
                if key:
                    module = modules[key >> 48 & 0xFFF]
                    bias = u64(slot, 24) if each == 32 else module.bias
                    place = (key >> 60, key & (1 << 48) - 1, word, bias)
                    frames = module.frames
                    frames[place] = frames.get(place, 0) + count
        elif c.type == 5:
            modules[c.module].map = unzstd(c.payload, c.aux0)
        elif c.type == 6:
            read_tables(c, modules[c.module].tables)
        elif c.type == BINDINGS:
            read_bindings(c, modules)
    for m in modules.values():
        if m.map is None:
            m.map = find_map(m, exes + [m.path])
    merged = []
    for m in modules.values():
        same = [x for x in merged if not m.counts and not x.counts
                and m.build_id and x.build_id == m.build_id]
        if same:
            same[0].biases.append(m.bias)
        else:
            merged.append(m)
    return merged


# --- section 5: maps --------------------------------------------------------
def elf_sections(data):
    need(data[:6] == b"\x7fELF\x02\x01", "no ELF file")
    at, (size, n, names) = u64(data, 40), struct.unpack_from("<HHH", data, 58)
    heads = [
        struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(n)
    ]
    strings = heads[names][4]
    for name, kind, _, _, offset, length in heads:
        end = data.index(b"\0", strings + name)
        body = b"" if kind == 8 else data[offset : offset + length]
        yield data[strings + name : end].decode(), kind, body


def find_map(module, paths):
    for path in paths:
        try:
            with open(path, "rb") as f:
                sections = list(elf_sections(f.read()))
        except (OSError, Damaged):
            continue
        ids = [b[16:] for n, _, b in sections if n == ".note.gnu.build-id"]
        maps = [b for n, _, b in sections if n == ".cairn.map"]
        if maps and (ids[0] if ids else b"") == module.build_id:
            return maps[0]
    raise Damaged("no map for " + module.path)


class Rows:
    """A call of a known function: ROW counters for each sum of the caller's
    paths, and the radix of its digit in tags."""

    def __init__(self, cell, sums, first, radix):
        self.cell, self.radix, self.callee = cell, radix, None
        self.sums = {first + ROW * i: total - 1
                     for i, total in enumerate(sums) if total}
        self.end = first + ROW * len(sums)

    def move(self, by):
        self.sums = {at + by: total for at, total in self.sums.items()}


class Function:
    rows, nrows, in_rows, tagged = (), 0, 0, ()

    def __init__(self, record):
        self.address, self.counters = u64(record, 8), u64(record, 16)
        self.ncounters = u32(record, 24)
        nblob, nsites, nprobes = (u32(record, i) for i in (32, 36, 40))
        self.code_size = u32(record, 44)
        blob = record[48 : 48 + nblob]
        need(crc32c(blob) == u32(record, 28), "map checksum")
        if self.address or self.counters:
            self.read_blob(Cursor(blob))
            self.read_tables(record, 48 + nblob, nsites, nprobes)

    def read_blob(self, c):
        version = c.uv()
        need(version in (2, 3, 4, 5, 6, 7), "unknown map version")
        self.flags = c.uv()
        self.name, self.reason = c.str(), c.str()
        c.take(8)
        self.parts = {0: False}  # blocks that are the rest of one before
        files = [c.str() for _ in range(c.uv())]

        def definition(name, file, line):
            return name, files[file - 1] if file else "", line

        self.definition = definition(self.name, c.uv(), c.uv())
        self.instances = [(None, 0)]  # the definition, and the one it is in
        for _ in range(c.uv()):
            name = c.str()
            if version > 2:
                self.instances.append((definition(name, c.uv(), c.uv()),
                                       c.uv()))
                c.uv()
            else:
                self.instances.append((definition(name, 0, 0), 0))
        self.block_counter, self.segments = [None], [[]]
        self.held = [False]
        line = 0
        for b in range(1, c.uv()):
            flags = c.uv()
            self.held.append(bool(flags & 4))
            self.parts[b] = bool(flags & 8)
            c.uv()
            counter = c.uv()
            self.block_counter.append(counter - 1 if counter else None)
            self.segments.append([])
            for _ in range(c.uv()):
                lines = []
                for _ in range(c.uv()):
                    instance, file = c.uv(), c.uv()
                    line += c.sv()
                    if version > 2:
                        c.uv()
                    places = [c.uv() for _ in range(c.uv())] \
                        if version > 5 else []
                    lines.append((instance, files[file], line, places))
                self.segments[-1].append(lines)
            if version > 5:
                c.uv()
        self.edges, self.kinds = [], []
        for _ in range(c.uv()):
            src, dst, kind, counter, _weight = (c.uv() for _ in range(5))
            self.edges.append((src, dst, counter - 1 if counter else None))
            self.kinds.append(kind)
        self.sites = [(c.uv(), c.uv()) for _ in range(c.uv())]
        if version > 2:
            self.read_outcalls(c)
        self.read_paths(c, version)
        if self.flags & 256:
            self.read_copies(c)
        need(c.at == len(c.data), "bytes left in the map")

    def read_outcalls(self, c):
        callees = [(c.str(), c.uv(), c.uv()) for _ in range(c.uv())]
        self.outcalls, line = [], 0
        for _ in range(c.uv()):
            block, segment, callee, _instance, file = (c.uv() for _ in range(5))
            line += c.sv() if file else 0
            need(callee <= len(callees), "an outcall of nothing")
            self.outcalls.append((block, segment, callee and callees[callee - 1],
                                  line if file else 0))

    def read_copies(self, c):
        """What it was before calls were inlined into it."""
        c.take(8)
        self.copies = []
        for _ in range(c.uv()):
            self.copies.append((c.uv(), c.uv(), c.str(), c.str(), c.take(8)))
            need(self.copies[-1][0] < len(self.copies), "a copy in a later one")
        for _ in range(c.uv()):
            need(c.uv() <= len(self.copies), "a call in no copy")
            c.uv(), c.str(), c.str()
        for _ in self.segments[1:]:
            for _ in range(c.uv()):
                need(c.uv() <= len(self.copies), "a block of no copy")
                c.uv()

    def read_paths(self, c, version):
        self.how, self.calls = c.uv(), []
        self.left_out, self.left_sites = set(), set()
        if not self.how:
            return
        self.has_pairs = self.how in (9, 10)  # as 1 and 2
        self.how -= 8 * self.has_pairs
        need(self.how in (1, 2, 3, 4, *TRACED), "unknown way to count paths")
        if self.how == WITNESS:
            self.witnesses, slot = [], 0
            for _ in range(c.uv()):
                slot += c.uv()
                self.witnesses.append(slot)
            self.calls = [(c.uv(), c.uv()) for _ in range(c.uv())]
            return
        self.possible = c.uv()
        self.cuts = [c.uv() for _ in range(c.uv())]
        self.turns = [c.uv() for _ in range(c.uv())]
        self.slots, self.nslots, number = [], 0, 0
        if self.how == 3:
            self.nslots = c.uv()
            for _ in range(c.uv()):
                number += c.uv()
                self.slots.append((number, c.uv()))
        if self.has_pairs:
            need(version > 4, "pairs of an old version")
            c.uv()  # the degree that was asked for
            self.nfirst = c.uv()  # paths that begin at the entry
            rows = c.uv()  # does it count in rows of its callers?
            need(rows & 3 < 3 and rows < 7, "unknown kind of rows")
            self.in_rows = rows & 3
            if rows & 4:  # beginnings of paths, and sites, without pairs
                self.left_out = {c.uv() for _ in range(c.uv())}
                self.left_sites = {c.uv() for _ in range(c.uv())}
        self.cells = [c.uv() for _ in self.sites] if self.has_pairs else []
        self.read_rows(c)
        self.pending = []  # per site: what is unfinished, and its number
        for _ in self.sites:
            what = c.uv()
            need(what <= 4, "unknown kind of site")
            number = c.sv() if what >= 2 else c.uv() if what else 0
            self.pending.append((what, number))
        if self.how in TRACED:
            self.calls = [(c.uv(), c.uv()) for _ in range(c.uv())]

    def read_rows(self, c):
        """Rows of call sites, and where they are: before the cells."""
        self.rows, self.nrows = [], 0
        for cell in self.cells:
            if not cell:
                continue
            sums = [c.uv() for _ in range(c.uv())]
            row = Rows(cell, sums, self.nrows, c.uv())
            self.nrows = row.end
            if sums or row.radix:
                self.rows.append(row)
        self.first_cell = self.ncounters - max(self.cells, default=0)
        for row in self.rows:
            row.move(self.first_cell - self.nrows)

    def cell_at(self, cell):
        return self.counters + 8 * (self.first_cell + cell - 1)

    def read_tables(self, record, at, nsites, nprobes):
        self.site_at, self.probes = [], []
        for i in range(nsites):
            offset, site = u32(record, at + 8 * i), u32(record, at + 8 * i + 4)
            self.site_at.append((offset, (*self.sites[site], site)))
        at += 8 * nsites
        for i in range(nprobes):
            self.probes.append(
                (u32(record, at + 8 * i), u32(record, at + 8 * i + 4))
            )
        self.probes.sort(key=lambda p: p[0])
        at += 8 * nprobes
        for row in self.rows:
            row.callee = u64(record, at)
            at += 8
        self.callees = {}  # edge -> address
        for edge, what in self.calls:
            if what:
                self.callees[edge] = u64(record, at)
                at += 8


class Place:
    """Where a frame was: at a site, or by a probe."""

    def __init__(self, f, block, segment, site=None, to_come=False, edge=None):
        self.f, self.block, self.segment = f, block, segment
        self.site = site  # its number in the blob
        self.to_come = to_come  # what counts the block is not behind it yet,
        self.edge = edge  # and that of this edge neither


class Map:
    """Functions, and what their machine code is."""

    def __init__(self):
        self.functions = []
        self.codes = []  # (address, size) of CFS1 records
        self.far = []  # (return address, site, counters)
        self.sites = {}  # return address -> [Place]
        self.sources = {}  # path -> {MD5}

    def add_function(self, record, seen):
        f = Function(record)
        if not (f.address or f.counters) or (f.ncounters and record in seen):
            return
        seen.add(record)
        self.functions.append(f)

    def add_sources(self, record):
        c = Cursor(record[16:])
        need(crc32c(record[16:]) == u32(record, 12), "sources checksum")
        for _ in range(u32(record, 8)):
            path = c.str()
            self.sources.setdefault(path, set()).add(c.take(16).hex())
        need(c.at == len(c.data), "sources too long")

    def add_sites(self, record):
        code, n, size = u64(record, 8), u32(record, 16), u32(record, 20)
        need(24 + 16 * n <= len(record), "map record size")
        if not code:
            return
        self.codes.append((code, size))
        for at in range(24, 24 + 16 * n, 16):
            pc = code + u32(record, at)
            self.far.append((pc, u32(record, at + 4), u64(record, at + 8)))

    def index_sites(self):
        for f in self.functions:
            for offset, place in f.site_at:
                at = self.sites.setdefault(f.address + offset, [])
                at.append(Place(f, *place))
        owner = {f.counters: f for f in self.functions if f.ncounters}
        for pc, site, counters in self.far:
            need(counters in owner, "a site of no function")
            f = owner[counters]
            place = Place(f, *f.sites[site], site)
            self.sites.setdefault(pc, []).append(place)

    def function_at(self, pc):
        for f in self.functions:
            if 0 <= pc - f.address < f.code_size:
                return f
        return None


def read_map(data):
    at, seen, found = 0, set(), Map()
    while at < len(data):
        if not data[at]:
            at += 1
            continue
        magic, size = data[at : at + 4], u32(data, at + 4)
        need(magic in (b"CFN1", b"CFS1", b"CSR1"), "no map record")
        need(24 <= size <= len(data) - at, "map record size")
        record = bytes(data[at : at + size])
        at += size
        if magic == b"CFS1":
            found.add_sites(record)
        elif magic == b"CSR1":
            found.add_sources(record)
        else:
            need(size >= 48, "map record size")
            found.add_function(record, seen)
    found.index_sites()
    return found


# --- section 6: what the counts mean ----------------------------------------
NOT_COVERED, STRICT, SOURCE, NOTES_LAST = 1, 2, 8, 1024
INDIRECT, ABNORMAL, CALL = 9, 13, 14  # kinds of edges
ANYWHERE = 0xFFFFFFFF  # a probe behind which the block is not known


def spot_at(f, offset):
    """What the probes say of an address: the block (0: none), the offset of
    the probe, whether the block's counter and which edge's are to come."""
    before = [p for p in f.probes if p[0] <= offset]
    if not before:
        return 0, 0, False, None
    probe, what = before[-1]
    n = len(f.segments)
    if what == ANYWHERE:
        return None, probe, False, None
    if what >= 2 * n:
        spot = f.edges[what - 2 * n][1], probe, True, what - 2 * n
    else:
        spot = what % n, probe, what >= n, None
    return spot if f.how or not spot[0] else behind_calls(f, spot, offset)


def behind_calls(f, spot, offset):
    """A call that is a block of its own came back behind the probe."""
    for at, (block, _, _) in f.site_at:
        fall = next((e for e, (src, _, _) in enumerate(f.edges)
                     if src == block and f.kinds[e] == FALL), None)
        if fall is None or not spot[1] < at <= offset:
            continue
        _, dst, counter = f.edges[fall]
        spot = (dst, at,
                counter is not None or f.block_counter[dst] is not None,
                fall if counter is not None else None)
    return spot


def ends_activation(f, block):
    """Does nothing follow a call of the block but a way out?"""
    targets = [dst for src, dst, _ in f.edges if src == block]
    if len(targets) != 1 or targets[0] == 0:
        return len(targets) == 1
    return not any(src == targets[0] and dst for src, dst, _ in f.edges)


def place_between(f, pc):
    """At most one place, by probes; a doubtful one marks the function."""
    if f.flags & NOT_COVERED:
        return []
    if f.flags & STRICT and not f.how:
        return [Place(f, 0, 0)]  # anywhere between calls
    offset = pc - f.address
    block, probe, to_come, edge = spot_at(f, offset)
    if not f.probes or block is None:
        f.consistent = False
        f.unlocated += 1
        return []
    if not block:
        return []
    leaves = f.how and edge is not None and f.edges[edge][0]
    if f.held[block] or (leaves and f.held[leaves]):
        f.consistent = False
    if to_come:
        return [Place(f, block, 0, None, True, edge)]
    segment = 0
    for at, (b, s, _) in f.site_at:
        if b == block and probe <= at <= offset:
            segment = max(segment, s + 1)
    return [Place(f, block, min(segment, len(f.segments[block]) - 1))]


def place_call(of_map, pc):
    if pc in of_map.sites:
        return of_map.sites[pc]
    f = of_map.function_at(pc - 1)
    if not f:
        return []
    if f.flags & STRICT:
        return [] if f.how else [Place(f, 0, 1)]  # in any call
    block = spot_at(f, pc - 1 - f.address)[0]
    if block == 0:
        return []
    if not (f.flags & NOTES_LAST and f.probes) and \
            block and ends_activation(f, block):
        return []
    return place_between(f, pc - 1)


def place_async(of_map, pc):
    f = of_map.function_at(pc)
    if f:
        return place_between(f, pc)
    if any(0 <= pc - code < size for code, size in of_map.codes):
        for g in of_map.functions:
            if g.flags & SOURCE and not g.flags & STRICT:
                g.consistent = False
    return []


def place_frames(of_map, module):
    for f in of_map.functions:
        f.extra_in, f.extra_out, f.consistent = {}, {}, True
        f.late = []  # (edge or None, block, frames its counters lack)
        f.stopped = []  # of a function that counts paths: (place, register
        #                 or None, frames that began, frames that died)
        f.unlocated = 0
        f.is_strict = bool(f.flags & STRICT and f.how)
    for (kind, pc, word, bias), count in module.frames.items():
        if not count:
            continue
        place = place_call if kind in (1, 3) else place_async
        ins, outs = (count, 0) if kind in (3, 4) else (0, count)
        for at in place(of_map, pc):
            f, key = at.f, (at.block, at.segment)
            if f.how in TRACED:
                continue  # the walk sees them
            if f.how:
                is_flag = at.site is not None and f.pending[at.site][0] == 4
                register = word - 1
                if f.how == 1 and not is_flag:
                    register -= bias
                f.stopped.append((at, register if word else None, ins, outs))
                continue
            if at.to_come:
                f.late.append((at.edge, at.block, outs - ins))
            for extra, n in ((f.extra_in, ins), (f.extra_out, outs)):
                if n:
                    extra[key] = extra.get(key, 0) + n


def block_sum(extra, block):
    return sum(n for (b, _), n in extra.items() if b == block)


def solve(f, counter):
    """Fills f.edge, f.entered: None where the equations leave it open.
    Returns whether those without an unknown hold."""
    f.edge = [None if c is None else counter(c) for _, _, c in f.edges]
    f.entered = [None if c is None else counter(c) for c in f.block_counter]
    for edge, block, by in f.late:
        if edge is not None and f.edge[edge] is not None:
            f.edge[edge] += by
        if f.entered[block] is not None:
            f.entered[block] += by
    ins = [[] for _ in f.segments]
    outs = [[] for _ in f.segments]
    for e, (src, dst, _) in enumerate(f.edges):
        outs[src].append(e)
        ins[dst].append(e)
    surplus = [
        block_sum(f.extra_in, b) - block_sum(f.extra_out, b)
        for b in range(len(f.segments))
    ]
    # every block but the outside: entered = ins, entered + surplus = outs
    equations = []
    for b in range(1, len(f.segments)):
        equations += [(b, ins[b], 0), (b, outs[b], surplus[b])]
    changed = True
    while changed:
        changed = False
        for b, edges, extra in equations:
            open_edges = [e for e in edges if f.edge[e] is None]
            known = sum(f.edge[e] for e in edges if f.edge[e] is not None)
            if f.entered[b] is None and not open_edges:
                f.entered[b] = known - extra
                changed = True
            elif f.entered[b] is not None and len(open_edges) == 1:
                f.edge[open_edges[0]] = f.entered[b] + extra - known
                changed = True
    balanced = True
    for b, edges, extra in equations:
        values = [f.edge[e] for e in edges]
        if f.entered[b] is not None and None not in values:
            balanced &= sum(values) == f.entered[b] + extra
    return balanced


def solve_strict(f, counter, frames_missing):
    """The same where every edge is counted, but for one way out per block.
    None if that is not so."""
    f.edge = [None if c is None else counter(c) for _, _, c in f.edges]
    f.entered = [None] * len(f.segments)
    allowed = float("inf") if frames_missing else (
        block_sum(f.extra_in, 0) + block_sum(f.extra_out, 0))
    balanced = True
    for b in range(1, len(f.segments)):
        ins = [e for e, x in enumerate(f.edges) if x[1] == b]
        outs = [e for e, x in enumerate(f.edges) if x[0] == b]
        left = [e for e in outs if f.edges[e][2] is None]
        if any(f.edges[e][2] is None for e in ins) or len(left) > 1 or any(
                f.edges[e][1] for e in left):
            return None
        c = f.block_counter[b]
        entered = sum(f.edge[e] for e in ins)
        f.entered[b] = entered if c is None else counter(c)
        rest = entered - sum(f.edge[e] for e in outs if e not in left)
        if left:
            f.edge[left[0]] = rest
        elif 0 <= rest <= allowed:
            allowed -= rest
        else:
            balanced = False
    return balanced


def allow_second_returns(f):
    """Calls that came back more often than they were made."""
    negative = [e for e, n in enumerate(f.edge) if n is not None and n < 0]
    if all(f.kinds[e] == 13 for e in negative):
        for e in negative:
            f.edge[e] = 0


def known(n):
    return n if n is not None and n >= 0 else None


def count_function(f, module, frames_missing):
    if f.how in TRACED:
        balanced = count_traced(f) or not f.consistent or frames_missing
        f.consistent &= balanced
        count_segments(f)
        return
    first = (f.counters - module.base) // 8

    def counter(c):
        return signed(module.counts[first + c])

    if f.how:
        count_paths(f, module.tables.get(f.counters, {}), counter)
        balanced = add_paths(f) or not f.consistent or frames_missing
        if f.is_partial:
            forget_edges(f)
            balanced = True
    else:
        balanced = None
        if f.flags & STRICT:
            balanced = solve_strict(f, counter, frames_missing)
            f.is_strict = balanced is not None
            f.consistent &= f.is_strict or not (
                f.extra_in.get((0, 0), 0) + f.extra_out.get((0, 0), 0))
        if balanced is None:
            balanced = solve(f, counter)
    if balanced:
        allow_second_returns(f)
    f.consistent &= balanced
    if any(n is not None and n < 0 for n in f.edge):
        f.consistent &= bool(f.how and frames_missing)
    count_segments(f)


def count_segments(f):
    f.blocks, f.segment_counts = [], []
    for b in range(1, len(f.segments)):
        n = f.entered[b]
        block = None if n is None else n + block_sum(f.extra_in, b)
        f.blocks.append(known(block))
        counts = []
        for s in range(len(f.segments[b])):
            counts.append(known(n) if known(block) is not None else None)
            if n is not None:
                n += f.extra_in.get((b, s), 0) - f.extra_out.get((b, s), 0)
        f.segment_counts.append(counts)


# --- section 6: paths -------------------------------------------------------
START = 0


class Numbering:
    """The acyclic graph of a function's paths, and the value of its edges.

    edges are (source, target), kinds may be short: what is missing is of no
    kind that matters.  Steps are (kind, which, target, value): "edge" and
    "end" (that of an edge that ends the path) name an edge, "begin",
    "gather", "scatter" and "stop" a block."""

    def __init__(self, nblocks, edges, kinds=(), cuts=()):
        kinds = list(kinds) + [4] * (len(edges) - len(kinds))
        self.edges, self.kinds = edges, kinds
        self.end, self.hub = nblocks, nblocks + 1
        outs = [[] for _ in range(nblocks)]
        for e, (src, _) in enumerate(edges):
            if kinds[e] != ABNORMAL:
                outs[src].append(e)
        self.asked = {e for e, k in enumerate(kinds) if k in (INDIRECT, CALL)}
        order, self.ended = self.walk(outs)
        self.ended |= set(cuts)
        reached = set(order)
        begins = {edges[e][1] for e in self.ended if edges[e][0] in reached}
        self.steps = [[] for _ in range(nblocks + 2)]
        for b in order:
            self.add_steps(b, outs[b])
        for b in sorted(begins):
            self.steps[START].append(["begin", b, b, 0])
        targets = {edges[e][1] for e, k in enumerate(kinds) if k == INDIRECT}
        for b in sorted(targets & begins):
            self.steps[self.hub].append(["scatter", b, self.end, 0])
        self.order = order + [self.hub]
        self.number(self.order)

    def add_steps(self, b, outs):
        for e in outs:
            dst = self.edges[e][1]
            if e not in self.ended:
                self.steps[b].append(["edge", e, dst or self.end, 0])
            elif self.kinds[e] != INDIRECT:
                self.steps[b].append(["end", e, self.end, 0])
        if any(self.kinds[e] == INDIRECT for e in outs):
            self.steps[b].append(["gather", b, self.hub, 0])
        if b != START and not self.steps[b]:
            self.steps[b].append(["stop", b, self.end, 0])

    def walk(self, outs):
        """Reached blocks, each before those that its steps lead to, and the
        edges that end paths."""
        ways = [[(e, self.edges[e][1]) for e in out if e not in self.asked]
                for out in outs]
        for e in sorted(self.asked):
            ways[START].append((None, self.edges[e][1]))
        done, ended = [], set(self.asked)
        state = {START: 1}  # 1: on the stack, 2: done
        stack = [(START, iter(ways[START]))]
        while stack:
            b, rest = stack[-1]
            for e, dst in rest:
                if dst == START:
                    continue
                if dst not in state:
                    state[dst] = 1
                    stack.append((dst, iter(ways[dst])))
                    break
                if state[dst] == 1:
                    ended.add(e)
            else:
                state[b] = 2
                done.append(b)
                stack.pop()
        return done[::-1], ended

    def number(self, order):
        self.n = [0] * self.end + [1, 0]
        for v in reversed(order):
            for step in self.steps[v]:
                step[3] = self.n[v]
                self.n[v] += self.n[step[2]]

    def step(self, v, kind, which):
        """The step out of a vertex, None if there is none."""
        for step in self.steps[v]:
            if step[:2] == [kind, which]:
                return step
        return None

    def begin(self, b):
        """The sum with which paths begin at a block, None if none do."""
        step = self.step(START, "begin", b)
        return step and step[3]

    def route(self, number, until=None):
        """The steps of a path, or of its part up to a block; None if there
        is no such path, or if it does not come to the block."""
        v, steps = START, []
        if not 0 <= number < self.n[START]:
            return None
        while v != until and v != self.end:
            step = max((s for s in self.steps[v] if s[3] <= number
                        and self.n[s[2]]), key=lambda s: s[3])
            number -= step[3]
            steps.append(step)
            v = step[2]
        if until is None:
            return steps if number == 0 else None
        return steps if v == until and number == 0 else None

    def edges_of(self, steps):
        """The edges of such a part; None if a computed goto does not lead
        where it says."""
        edges, gather = [], None
        for kind, which, _, _ in steps:
            if kind in ("edge", "end"):
                edges.append(which)
            elif kind == "gather":
                gather = which
            elif kind == "scatter":
                for e, edge in enumerate(self.edges):
                    if edge == (gather, which) and self.kinds[e] == INDIRECT:
                        edges.append(e)
                        break
                else:
                    return None
        return edges

    def path(self, number):
        steps = self.route(number)
        return None if steps is None else self.edges_of(steps)

    def prefix(self, total, block):
        """Prefixes go on along edges of value 0."""
        steps = self.route(total, block)
        return None if steps is None else self.edges_of(steps)

    def only_prefix(self, block):
        """The sum up to a block, if only one way leads there."""
        total, v = 0, block
        while v != START:
            ways = [(u, step) for u in range(self.end)
                    for step in self.steps[u] if step[2] == v]
            if len(ways) != 1:
                return None
            v, step = ways[0]
            total += step[3]
        return total


def weigh_tags(f):
    """What a step of each site's digit adds to tags; returns how many tags
    there are."""
    most, ntags = collections.defaultdict(lambda: 1), 1
    f.weights = {}
    radix = {row.cell: row.radix for row in f.rows if row.radix}
    for v in f.numbering.order:
        for site, (block, _) in enumerate(f.sites):
            if block == v and radix.get(f.cells[site]):
                f.weights[site] = most[v]
                most[v] *= radix[f.cells[site]]
        ntags = max(ntags, most[v])
        for step in f.numbering.steps[v]:
            most[step[2]] = max(most[step[2]], most[v])
    return ntags


def calls_of_tag(f, number, until, tag):
    """(site, sum up to it, path of the callee) of each call of a path, or of
    its part up to a block."""
    total, blocks = 0, []
    for _, _, v, value in f.numbering.route(number, until):
        total += value
        blocks.append((v, total))
    for v, total in reversed(blocks):
        for site in sorted(f.weights, reverse=True):
            if f.sites[site][0] != v:
                continue
            digit, tag = divmod(tag, f.weights[site])
            if digit:
                yield site, total, digit - 1
    need(tag == 0, f.name + ": a tag of no path")


def number_function(f):
    edges = [e[:2] for e in f.edges]
    return Numbering(len(f.segments), edges, f.kinds, f.cuts)


def loop_of(numbering, head):
    """Numbers of the paths that the turns of a loop are, None for those that
    leave it."""
    edges = numbering.edges
    back = [e for e in numbering.ended if edges[e][1] == head
            and numbering.kinds[e] not in (INDIRECT, CALL)]
    inside, work = {head}, [edges[e][0] for e in back]
    while work:
        b = work.pop()
        if b not in inside:
            inside.add(b)
            work += [src for src, dst in edges if dst == b and src != START]
    name = {b: i for i, b in enumerate(sorted(inside), 1)}
    of = [e for e, (src, _) in enumerate(edges) if src in inside]
    own = [(START, name[head])]
    for e in of:
        src, dst = edges[e]
        own.append((name[src], START if dst == head else name.get(dst, START)))
    turns = Numbering(len(inside) + 1, own)
    for turn in range(turns.n[START]):
        way = [of[e - 1] for e in turns.path(turn)[1:]]
        if edges[way[-1]][1] != head:
            yield None
            continue
        total = numbering.begin(head)
        for e in way:
            kind = "end" if e in numbering.ended else "edge"
            total += numbering.step(edges[e][0], kind, e)[3]
        yield total


def count_paths(f, table, counter):
    """Fills f.counts (by number), f.prefixes (sum, block, segment: [frames
    that began, that died]), f.lost and f.unknown."""
    f.numbering = number_function(f)
    need(f.numbering.n[START] == f.possible, f.name + ": number of paths")
    f.counts, f.prefixes, f.unknown = {}, {}, 0
    f.is_partial = f.how == 4
    f.lost = table.get(0, 0)
    f.consistent &= not f.lost
    f.pairs, f.tagged = {}, []
    ncells = max(f.cells, default=0) + f.nrows
    if f.has_pairs:
        ntags = weigh_tags(f)
        need(f.nfirst == first_of(f), f.name + ": paths from the entry")
    if f.how == 1:
        n = f.ncounters - ncells if f.has_pairs else f.possible
        found = [(i, counter(i)) for i in range(n)]
        need(not f.has_pairs or n == numbers_of(f) * ntags,
             f.name + ": number of counters")
    else:
        found = [(word - 1, n) for word, n in table.items() if word]
        at = 5
        for head in f.turns:
            turns = list(loop_of(f.numbering, head))
            has_pairs = f.has_pairs and head not in f.left_out
            for before in turns if has_pairs else (None,):
                for number in turns:
                    if has_pairs and counter(at):
                        number = number_of_pair(f, before, number)
                    found.append((number, counter(at)))
                    at += 1
        if f.how == 3:
            found += [(number, counter(at + i)) for number, i in f.slots]
            at += f.nslots + 1
            f.is_partial = counter(at - 1) != 0
        if f.ncounters or f.how != 4:
            need(at == f.ncounters - ncells, f.name + ": number of counters")
    for number, n in found:
        if n:
            add_path(f, number, n)
    for at, register, ins, outs in f.stopped:
        add_frame(f, at, register, ins, outs)


def columns_of(f):
    """How many paths there are that do not begin at the entry; none count if
    no pairs are counted of any."""
    if all(step[1] in f.left_out for step in f.numbering.steps[START]
           if step[0] == "begin"):
        return 0
    return f.possible - first_of(f)


def first_of(f):
    """How many do."""
    return min((step[3] for step in f.numbering.steps[START]
                if step[0] == "begin"), default=f.possible)


def number_of_pair(f, before, number):
    if before is None or number is None:
        return None
    columns = columns_of(f)
    return f.possible + before * columns + number - (f.possible - columns)


def numbers_of(f):
    """Of paths and pairs, without tags."""
    return f.possible * (1 + columns_of(f))


def add_path(f, number, n):
    tag = 0
    if f.has_pairs and number is not None:
        tag, number = divmod(number, numbers_of(f))
    if f.has_pairs and number is not None and number >= f.possible:
        columns = columns_of(f)
        before, number = divmod(number - f.possible, columns)
        number += f.possible - columns
        if f.numbering.path(before) is None:
            number = None
        else:
            key = "%d %d" % (before, number)
            f.pairs[key] = f.pairs.get(key, 0) + n
    if number is None or f.numbering.path(number) is None:
        f.consistent = False
    else:
        f.counts[number] = f.counts.get(number, 0) + n
        if tag:
            f.tagged.append((number, None, tag, n))


def add_frame(f, at, register, ins, outs):
    total = None
    if at.site is not None:
        what, number = f.pending[at.site]
        if what == 4 and register == 0:
            return
        if what == 1:
            total = number
        elif what == 3 and register is not None:
            total = (register + number) % modulus_of(f)
        elif what == 2 and register is not None:
            total = sum_of(f, register) + number
        elif what in (2, 3):
            total = f.numbering.only_prefix(at.block)
    elif at.edge is not None:
        what, total = 1, take_edge(f, at.edge, outs - ins)
    else:
        what = 1
        total = (f.numbering.begin(at.block) if at.to_come
                 else f.numbering.only_prefix(at.block))
    if what and total is None:
        f.unknown += ins + outs
        f.consistent = False
        return
    if what:
        total &= (1 << 64) - 1
        tag = 0
        if f.has_pairs:
            tag, total = divmod(total, numbers_of(f))
        if f.numbering.prefix(total, at.block) is None:
            f.consistent = False
            return
        if tag:
            f.tagged.append((total, at.block, tag, outs - ins))
    both = f.prefixes.setdefault((total, at.block, at.segment), [0, 0])
    both[0] += ins
    both[1] += outs


def modulus_of(f):
    return 1 << max(f.possible - 1, 0).bit_length()


def sum_of(f, register):
    if f.how != 1:
        return register - 1
    offset = signed(register - f.counters)
    return offset // 8 if offset % 8 == 0 else -1


def take_edge(f, e, n):
    """The sum behind an edge that was not taken yet, None if not known."""
    src, dst = f.edges[e][:2]
    numbering = f.numbering
    total = numbering.only_prefix(src)
    if total is None or f.kinds[e] in (INDIRECT, ABNORMAL):
        return None
    kind = "end" if e in numbering.ended else "edge"
    total += numbering.step(src, kind, e)[3]
    if e in numbering.ended:
        add_path(f, total, n)
        return numbering.begin(dst)
    return total


def add_paths(f):
    """Fills f.edge and f.entered.  Returns whether all blocks are in
    balance."""
    f.edge, rest = [0] * len(f.edges), [0] * len(f.segments)
    for number, n in f.counts.items():
        for e in f.numbering.path(number):
            f.edge[e] += n
    for (total, block, segment), (ins, outs) in f.prefixes.items():
        for e in f.numbering.prefix(total, block) if total is not None else ():
            f.edge[e] += outs - ins
        rest[block] += ins - outs
        for extra, n in ((f.extra_in, ins), (f.extra_out, outs)):
            key = (block, segment)
            extra[key] = extra.get(key, 0) + n
    for (src, dst, _), n in zip(f.edges, f.edge):
        rest[src] -= n
        rest[dst] += n
    for e, (src, _, _) in enumerate(f.edges):
        if f.kinds[e] == ABNORMAL:
            f.edge[e], rest[src] = rest[src], 0
    f.entered = [0] * len(f.segments)
    for (_, dst, _), n in zip(f.edges, f.edge):
        f.entered[dst] += n
    return not any(rest[1:])


def forget_edges(f):
    """Not all paths were counted: nobody knows how often an edge ran."""
    f.edge, f.entered = [None] * len(f.edges), [None] * len(f.segments)


def paths_json(f):
    if not f.how or f.how in TRACED:
        return None
    unfinished = [[block, segment, total, outs - ins] for
                  (total, block, segment), (ins, outs) in f.prefixes.items()
                  if total is not None and ins != outs]
    return {
        "possible": f.possible,
        "counts": {str(k): n for k, n in sorted(f.counts.items()) if n},
        "pairs": dict(sorted(f.pairs.items())) if f.has_pairs else None,
        "unfinished": sorted(unfinished),
        "lost": f.lost,
        "unknown": f.unknown,
    }


# --- section 15: traces ------------------------------------------------------
ONE_BY_ONE, WITNESS = 6, 7  # how a function writes a trace
TRACED = 5, ONE_BY_ONE, WITNESS
FALL, NORETURN = 12, 2
KNOWN, MAYBE = 1, 2  # calls
ENTER, DEATH, LAND, FRAME, TIME, BEGINS, SYNC, PAD, CUT = range(0xF0, 0xF9)
LOST, COUNT, PART, HEAD, HELD, RESUME, STACK = range(0xF9, 0x100)
PASSED_ON = 3  # kind of an edge: an exception leaves
TAILS = 64
LAST = 64  # flag of a file: the oldest parts may be missing
HAS_HEAD = (1 << 64) - 1


def item_size(byte):
    """Bytes behind the first one of an item."""
    if byte < 0x80 or byte == PAD:
        return 0
    if byte < 0xF0:
        return byte & 15
    return {TIME: 8, SYNC: 8, COUNT: 8, RESUME: 8, HELD: 12,
            HEAD: 63}.get(byte, 4)


def has_history(data, at, end):
    while at < end:
        if 0 < data[at] < 0xF0:
            return True
        at += 1 + item_size(data[at])
    return False


def open_history(data):
    """What the last head of a part says that was not written yet."""
    at, head = 0, None
    while at < len(data):
        if data[at] == HEAD and len(data) - at >= 64:
            head = at
        at += 1 + item_size(data[at])
    if head is None:
        return 0
    history, begun, base = (int.from_bytes(
        data[head + i:head + i + 8], "little") for i in (8, 16, 24))
    begun = head + (begun - base) % (1 << 64)
    if has_history(data, begun, len(data)):
        return 0
    return history


class Loop:
    """A loop that counts its turns: one way around, without calls."""

    def __init__(self, f, kinds, head):
        self.edges, self.kinds, self.head = f.edges, kinds, head
        ins = [e for e, x in enumerate(f.edges) if x[1] == head]
        for self.back in ins:
            if self.collect() and self.list_ways():
                return
        raise Damaged("no loop begins there")

    def is_free(self, e):
        return self.kinds[e] not in (INDIRECT, CALL, ABNORMAL)

    def collect(self):
        """The edges around, from the head on."""
        self.around, self.blocks = [self.back], []
        b = self.edges[self.back][0]
        if not self.is_free(self.back):
            return False
        while b and b not in self.blocks:
            self.blocks.append(b)
            if b == self.head:
                return True
            ins = [e for e, x in enumerate(self.edges) if x[1] == b]
            if len(ins) != 1 or not self.is_free(ins[0]):
                return False
            self.around.insert(0, ins[0])
            b = self.edges[ins[0]][0]
        return False

    def list_ways(self):
        inside = set(self.blocks)
        self.entries = [e for e, x in enumerate(self.edges)
                        if x[1] in inside and x[0] not in inside]
        self.exits = [e for e, x in enumerate(self.edges)
                      if x[0] in inside and x[1] not in inside]
        again = [e for e, x in enumerate(self.edges)
                 if x[0] in inside and x[1] == self.head and e != self.back]
        self.bits = max(len(self.exits) - 1, 0).bit_length()
        return (self.entries and self.exits and not again and
                all(self.edges[e][0] for e in self.entries) and
                all(self.edges[e][1] and self.is_free(e)
                    for e in self.exits))

    def turn(self):
        return self.around

    def leave(self, i):
        need(i < len(self.exits), "no such exit")
        src = self.edges[self.exits[i]][0]
        way = []
        for e in self.around:
            if self.edges[e][0] == src:
                break
            way.append(e)
        return way + [self.exits[i]]


class Codes:
    """The codes of the paths of a function: what histories are made of."""

    def __init__(self, f):
        kinds = [CALL if e in f.callee else k for e, k in enumerate(f.kinds)]
        for e, (_, dst, _) in enumerate(f.edges):
            if dst == 0 and e in f.callee:
                kinds[e] = f.kinds[e]
        edges = [e[:2] for e in f.edges]
        self.f = f
        self.loops = {head: Loop(f, kinds, head) for head in f.turns}
        for loop in self.loops.values():
            for e in loop.entries + loop.exits + [loop.back]:
                kinds[e] = CALL
        self.numbering = Numbering(len(f.segments), edges, kinds, f.cuts)
        need(self.numbering.n[START] == f.possible, f.name + ": paths")
        self.begins = {s[1]: s for s in self.numbering.steps[START]
                       if s[0] == "begin"}
        self.begins[0] = next(s for s in self.numbering.steps[START]
                              if s[0] == "edge")
        self.heard = self.hear()
        self.known = {}

    def ends_history(self, step):
        """Does a step to the end end the history with the path?"""
        return (step[0] in ("edge", "stop") or self.f.how == ONE_BY_ONE or
                step[0] == "end" and step[1] in self.f.callee)

    def hear(self):
        """Vertices that a history with bits, or a loud one, comes by."""
        steps, end = self.numbering.steps, self.numbering.end
        work = [s[2] for b, s in self.begins.items() if s[2] != end and
                (self.numbering.n[s[2]] > 1 or (b and b in self.f.loud))]
        heard = set(work)
        while work:
            for step in steps[work.pop()]:
                to = step[2]
                if to == end:
                    if self.ends_history(step):
                        continue
                    to = (self.f.edges[step[1]][1] if step[0] == "end"
                          else step[1])
                if to not in heard:
                    heard.add(to)
                    work.append(to)
        return heard

    def width(self, first):
        if first in self.loops:
            return 8 + self.loops[first].bits
        n = self.numbering.n[self.begins[first][2]]
        return (n - 1).bit_length()

    def path(self, first, code):
        """Edges of the path from a block (0: that enters) with this code, and
        what becomes of the history: "on", "written" or "silent"."""
        if (first, code) not in self.known:
            begin = self.begins[first]
            steps = self.numbering.route(begin[3] + code)
            need(steps and steps[0][:2] == begin[:2], "no such path")
            edges = self.numbering.edges_of(steps)
            need(edges is not None, "no such path")
            last = steps[-1]
            v = steps[-2][2] if len(steps) > 1 else START
            end = "on"
            if self.ends_history(last):
                end = "written" if v in self.heard else "silent"
            self.known[first, code] = edges, end
        return self.known[first, code]


class Witnesses:
    """The witnesses of a function.  A place is a vertex: ("in", block) before
    its head, ("at", block) behind it; ("at", 0) is the entry, ("in", 0) the
    exit, ("call", edge) is in a call."""

    def __init__(self, f):
        self.f, self.out, self.into, self.ways = f, {}, {}, {}
        self.arc_of = {}  # slot -> arc: source, slot, edge, target
        self.make_arcs()
        need(all(s in self.arc_of for s in f.witnesses),
             f.name + ": a witness where none fits")
        self.assign()

    def make_arcs(self):
        f, indirect = self.f, set()
        call_blocks = {f.edges[e][1] for e, k in enumerate(f.kinds)
                       if k == CALL}
        heads = (f.loud - call_blocks) | {
            f.edges[e][1] for e, k in enumerate(f.kinds) if k == INDIRECT}
        for e, (src, dst, _) in enumerate(f.edges):
            if f.kinds[e] == INDIRECT and e not in f.callee:
                if (src, dst) not in indirect:
                    self.add(("at", src), None, e, ("in", dst))
                indirect.add((src, dst))
            elif e in f.callee and src and dst:
                self.add(("at", src), e, e, ("call", e))
                self.add(("call", e), None, None, ("in", dst))
            elif f.kinds[e] != ABNORMAL:
                self.add(("at", src), e, e, ("in", dst))
        for b in range(1, len(f.segments)):
            slot = len(f.edges) + b if b in heads else None
            self.add(("in", b), slot, None, ("at", b))

    def add(self, *arc):
        self.out.setdefault(arc[0], []).append(arc)
        self.into.setdefault(arc[3], []).append(arc)
        if arc[1] is not None:
            self.arc_of[arc[1]] = arc

    def assign(self):
        """The first code that nothing else has that the same root sees."""
        self.code = dict.fromkeys(self.f.witnesses)
        used = {}  # root -> codes
        for slot in self.f.witnesses:
            roots = self.roots(self.arc_of[slot][0])
            code = 1
            while any(code in used.setdefault(r, set()) for r in roots):
                code += 1
            for r in roots:
                used[r].add(code)
            self.code[slot] = code
        if any(code > 127 for code in self.code.values()):
            for i, slot in enumerate(self.f.witnesses):
                self.code[slot] = 1 + i

    def roots(self, vertex):
        """Vertices above without an arc into them that writes nothing."""
        work, seen, found = [vertex], {vertex}, []
        while work:
            v = work.pop()
            above = {arc[0] for arc in self.into.get(v, [])
                     if arc[1] not in self.code and v[0] != "call"}
            if not above:
                found.append(v)
            work += above - seen
            seen |= above
        return found

    def paths(self, place):
        """{code: (edges, place behind)}; under 0 if nothing is written."""
        if place not in self.ways:
            self.ways[place] = self.look(place)
        return self.ways[place]

    def look(self, place):
        found, work = {}, [(place, [])]
        while work:
            v, edges = work.pop()
            out = self.out.get(v, [])
            if v[0] == "call" or not out:
                need(0 not in found, "two ways without a witness")
                found[0] = edges, out[0][3] if out else v
                continue
            for _, slot, e, to in out:
                way = edges + [e] if e is not None else edges
                if slot not in self.code:
                    work.append((to, way))
                    continue
                need(self.code[slot] not in found, "one witness of two ways")
                if to[0] == "call":
                    to = self.out[to][0][3]
                found[self.code[slot]] = way, to
        need(0 not in found or len(found) == 1, "a way without a witness")
        return found


class Activation:
    """A frame while a stream is walked."""

    def __init__(self, f):
        self.f = f
        self.next = 0  # the block where its next path begins; 0: enters
        self.inside = False  # it is in the middle of that block
        self.past_head = False  # it is behind the witness at its head
        self.state = "ready"  # or in a call of anything: "waiting", or in one
        #                       that does not come back: "away"
        self.part = self.behind = None  # where it is, for the counts
        self.in_call = self.has_left = False
        self.ahead = 0  # bits of its next history that were taken already
        self.place = None  # where it "resumes"


class Trace:
    def __init__(self, chunks, modules, maps):
        self.functions, self.code, self.sites = [], [], {}
        for module, of_map in zip(modules, maps):
            for f in of_map.functions:
                if f.how in TRACED:
                    self.add_function(f, module.biases)
        for f in self.functions:
            self.resolve(f)
        self.streams = {}  # thread -> {number of the part: chunk}
        for c in chunks:
            if c.type not in (STREAM, PACKED):
                continue
            number, thread = c.aux0, c.id
            if c.type == STREAM and number == HAS_HEAD:
                number = int.from_bytes(c.payload[32:40], "little")
                thread = int.from_bytes(c.payload[40:44], "little")
            if number:
                parts = self.streams.setdefault(thread, {})
                if c.type == PACKED or number not in parts:
                    parts[number] = c
        self.skips = False  # the beginning of a part, for who knows it
        self.has_lost = False

    def add_function(self, f, biases):
        f.bases = [f.address + bias for bias in biases]
        f.bias = biases[0]
        f.taken = [0] * len(f.edges)
        f.begun, f.died, f.is_doubtful, f.is_begun = {}, {}, False, False
        self.functions.append(f)

    def function_at(self, address):
        for f in self.functions:
            for base in f.bases:
                if (address - base) % (1 << 32) < f.code_size:
                    return f
        return None

    def resolve(self, f):
        f.callee, f.loud = {}, set()  # edge -> function, None: anything
        for edge, what in f.calls:
            callee = None
            if what:
                callee = self.function_at(f.callees[edge] + f.bias)
                need(callee or what == MAYBE, "a callee that is not there")
            f.callee[edge] = callee
            if what != KNOWN or not callee or callee.flags & TAILS:
                f.loud.add(f.edges[edge][1])
        for offset, (block, _, _) in f.site_at:
            at, inside = block, True
            for edge in f.callee:
                if f.edges[edge][0] == block and f.kinds[edge] == FALL:
                    at, inside = f.edges[edge][1], False
            for base in f.bases:
                self.sites[(base + offset) % (1 << 32)] = f, at, inside
        f.codes = None

    def items(self, thread):
        """(kind, value) of each item: histories with their number, and
        whether they go on; marks."""
        parts = self.streams[thread]
        first = 1
        if self.flags & LAST:
            first = max(parts)
            while first - 1 in parts:
                first -= 1
        if self.flags & 8 and not self.flags & LAST:  # ends at a gap
            n = 0
            while n + 1 in parts:
                n += 1
            parts = {k: parts[k] for k in range(1, n + 1)}
        need(self.flags & LAST or
             sorted(parts) == list(range(1, len(parts) + 1)), "part missing")
        data = b""
        for number in range(first, max(parts, default=0) + 1):
            c = parts[number]
            data = c.payload
            if c.type == PACKED:
                data = unzstd(data[:c.aux1], c.n)
            at = 0
            while at < len(data):
                byte, n = data[at], 0
                at += 1
                if byte in (0, PAD):
                    continue
                n = item_size(byte)
                value = byte
                if n:
                    if n > len(data) - at:
                        return
                    value = int.from_bytes(data[at:at + n], "little")
                at += n
                if byte == HEAD:
                    continue
                if byte == PART:
                    yield PART, number == first
                    at += value if self.skips else 0
                    continue
                if byte == HELD:
                    back, value = value >> 64, value & (1 << 64) - 1
                    start = at - 13 - back
                    if start >= 0 and not has_history(data, start, at - 13):
                        yield HELD, value
                    continue
                if byte >= 0xF0:
                    yield byte, value
                    continue
                need(byte < 0xA0, "impossible item")
                if value:  # 0: a signal came, and the frame never went on
                    yield ("full" if byte & 0xF0 == 0x90 else "history"), value
        yield "last", open_history(data)

    def walk(self):
        for thread in sorted(self.streams):
            Walk(self, self.items(thread)).run()


class Walk:
    def __init__(self, trace, items):
        self.trace, self.items, self.peeked = trace, items, []
        self.frames = []
        self.history = None  # its number, and how many bits are left
        self.is_full = False
        self.turns = None  # of a loop: how many are left, the exit, and the
        #                    bits of the history behind it
        self.is_lost = False
        self.resyncs = False
        self.idle = 0

    def run(self):
        while self.step():
            pass
        if self.trace.is_open and self.frames:
            top = self.frames[-1]
            top.f.is_doubtful |= not top.has_left
        self.end_frames()

    def next_item(self):
        return self.peeked.pop() if self.peeked else next(self.items, None)

    def may_go_on(self):
        """Without reading: not behind the last item of a killed process."""
        if not self.trace.was_killed:
            return True
        if not self.peeked:
            self.peeked = [next(self.items, None)]
        if self.peeked[0] is None or self.peeked[0][0] != "last":
            return self.peeked[0] is not None
        # a history that is not written yet: of a frame that this leads to
        return self.peeked[0][1].bit_length() - 1 > self.frames[-1].ahead

    def codes(self, f):
        f.codes = f.codes or Codes(f)
        return f.codes

    def step_witness(self, top):
        """A step of a function with witnesses; False: an item is needed."""
        f = top.f
        f.codes = f.codes or Witnesses(f)
        paths = f.codes.paths(("at" if top.past_head or not top.next else "in",
                               top.next))
        code = 0
        if self.history is not None:
            code = self.history[0]
            need(not self.is_full and code in paths,
                 "a witness that nobody writes")
            self.history = None
        elif top.state != "ready" or 0 not in paths or \
                self.idle > 100000 or not self.may_go_on():
            return False
        self.idle += 1
        edges, behind = paths[code]
        top.state = "ready"
        if edges:
            self.take_path(top, edges, "on")
        top.past_head = behind[0] == "at"
        return True

    def step(self):
        top = self.frames[-1] if self.frames else None
        if top and top.f.how == WITNESS:
            if self.step_witness(top):
                return True
        elif self.history is None and top and top.state == "ready":
            codes = self.codes(top.f)
            if codes.width(top.next) == 0:
                edges, end = codes.path(top.next, 0)
                self.idle += 1
                if end != "written" and self.idle < 100000 and \
                        self.may_go_on():
                    self.take_path(top, edges, end)
                    return True
        elif self.history is not None:
            codes = self.codes(top.f)
            if top.next in codes.loops:
                self.take_turn(top, codes.loops[top.next])
                return True
            number, left = self.history
            left -= codes.width(top.next)
            need(left >= 0, "a history that is too short")
            code = number >> left & (1 << codes.width(top.next)) - 1
            self.history = number, left
            top.state = "ready"
            self.take_path(top, *codes.path(top.next, code))
            return True
        item = self.next_item()
        if item is None:
            return False
        self.idle = 0
        kind, value = item
        if kind == "last":
            self.take_held(value)
        elif kind in ("history", "full"):
            if self.is_lost and (not top or top.state == "away"):
                return True
            need(top and top.state != "away", "a history of nobody")
            self.history = value, value.bit_length() - 1 - top.ahead
            self.is_full = kind == "full"
            need(self.history[1] >= 0, "a history that is shorter now")
            top.ahead = 0
            if top.state == "resumes":
                self.resume(top)
            elif self.is_full and not self.history[1]:
                self.history = None
        else:
            self.take_mark(kind, value)
        return True

    def take_held(self, value):
        """The innermost frame has come so far on its next history."""
        top = self.frames[-1] if self.frames else None
        nbits = value.bit_length() - 1
        if value < 2 or not top or top.state in ("away", "resumes") or \
                nbits <= top.ahead:
            return
        self.history, self.is_full = (value, nbits - top.ahead), True
        top.ahead = nbits

    def take_part(self, is_first):
        """What the frames are: for who does not know it."""
        is_lost = self.is_lost and not self.frames
        self.trace.skips = not is_first and not is_lost
        self.resyncs = not is_first and is_lost

    def take_resume(self, value):
        place, address = value >> 32, value & 0xFFFFFFFF
        kind, where = place >> 24, place & 0xFFFFFF
        f = self.trace.function_at(address - 1)
        if not f or kind > 2:
            self.lose()
            return
        if self.frames:
            self.find_callee(self.frames[-1], f)
        self.frames.append(Activation(f))
        self.arrive(f.edges[where][0] if kind == 0 else where, True)
        f.is_begun = True
        self.frames[-1].state, self.frames[-1].place = "resumes", (kind, where)

    def resume(self, top):
        """Behind a history that began before the part."""
        kind, where = top.place
        top.state = "ready"
        self.history = self.history[0], 0
        if kind == 0:
            self.take_path(top, [where], "on" if self.is_full else "written")
            return
        self.history = None
        if kind == 1:
            top.state, top.has_left = "away", True

    def take_turn(self, top, loop):
        number, left = self.history
        if self.turns is None:
            left -= 8 + loop.bits
            need(left >= 0, "a history that is too short")
            n = number >> left + loop.bits & 255
            if n == 255:
                need(self.is_full and left == 0, "too many turns")
                item = self.next_item()
                if item is None:
                    self.history = None
                    return
                need(item[0] == COUNT, "no number of turns")
                n = item[1]
            self.turns = n, number >> left & (1 << loop.bits) - 1, left
        n, way, left = self.turns
        top.state = "ready"
        if n:
            self.turns = n - 1, way, left
            self.history = number, left + 1  # not used up yet
            self.take_path(top, loop.turn(), "on")
        else:
            self.turns = None
            self.history = number, left
            self.take_path(top, loop.leave(way), "on")

    def take_path(self, top, edges, end):
        f = top.f
        for e in edges:
            f.taken[e] += 1
        if end == "on":
            if self.history and self.is_full and self.history[1] == 0:
                self.history = None
        else:
            need((self.history is not None) == (end == "written") and not (
                self.history and (self.is_full or self.history[1])),
                "a history of another length")
            self.history = None
        top.inside = False
        last = edges[-1]
        src, dst = f.edges[last][:2]
        top.part = top.behind = top.next = dst
        top.in_call = last in f.callee
        top.has_left = dst == 0
        if top.in_call and f.kinds[last] == FALL:
            top.part = src
        if dst == 0 and f.kinds[last] == NORETURN:
            top.state = "away"
        elif dst == 0:
            self.leave(f.kinds[last] == PASSED_ON)
        elif top.in_call and f.callee[last]:
            self.frames.append(Activation(f.callee[last]))
        elif top.in_call:
            top.state = "waiting"

    def leave(self, resumes):
        """Of an exception that is passed on the caller is still in its call."""
        f = self.frames.pop().f
        if not self.frames:
            return
        top = self.frames[-1]
        if (f.flags & TAILS or resumes) and top.state == "ready":
            top.state = "waiting"
        if top.state == "ready":
            top.part, top.in_call = top.behind, False

    def take_mark(self, kind, value):
        if kind in (TIME, SYNC):
            return
        need(kind != COUNT, "turns of no loop")
        if kind == HELD:
            self.take_held(value)
            return
        if kind == PART:
            self.take_part(value)
            return
        if kind == BEGINS:
            if not self.resyncs:
                self.end_frames()
            self.is_lost = self.resyncs = False
            return
        if kind == RESUME:
            self.take_resume(value)
            return
        if self.frames and self.frames[-1].state == "resumes":
            self.lose()
        if kind == LOST:
            if not value or self.trace.function_at(value):
                self.lose()
            return
        if not value:  # a signal came, and the frame never went on
            return
        if kind in (ENTER, CUT):
            f, at, inside = self.trace.function_at(value), None, None
        else:
            before = self.trace.function_at(value - 1)
            f, at, inside = self.trace.sites.get(value, (before, None, None))
        if not f:  # code that writes no trace
            need(kind != ENTER, "a mark of no function")
            return
        if kind == ENTER:
            self.frames.append(Activation(f))
        elif kind == FRAME and at is None:
            self.lose()
        elif kind == STACK and at is None and f.flags & TAILS:
            sources = {e[0] for e in f.edges}
            if NORETURN in f.kinds or any(
                    b not in sources for b in range(1, len(f.segments))):
                self.lose()
        elif kind == STACK and at is None:
            self.frames.append(Activation(f))
            self.frames[-1].state, self.frames[-1].has_left = "away", True
        elif kind in (FRAME, STACK):
            if self.frames:
                self.find_callee(self.frames[-1], f)
            self.frames.append(Activation(f))
            self.arrive(at, inside)
            f.is_begun = True
        elif kind == LAND and not self.frames and self.is_lost:
            self.frames.append(Activation(f))
            self.arrive(at, inside)
            f.is_begun = True
        elif kind == LAND:
            while self.frames and self.frames[-1].f is not f:
                self.end_frame(self.frames.pop())
            need(self.frames, "a landing of nobody")
            top = self.frames[-1]
            need(top.f is f, "a landing in another function")
            if top.has_left or not top.in_call or top.behind != at:
                self.end_frame(top)
                self.arrive(at, inside)
            top.next, top.inside, top.state = at, inside, "waiting"
            top.past_head = False
        else:
            self.die(f, kind, at)

    def lose(self):
        """Nobody knows where the frames are."""
        for frame in self.frames:
            frame.f.is_doubtful |= not frame.has_left
        self.end_frames()
        self.is_lost = True

    def find_callee(self, top, f):
        """A frame found in a known call is not waiting."""
        for e, callee in top.f.callee.items():
            if callee is f and top.next and top.f.edges[e][1] == top.next:
                top.state = "ready"

    def arrive(self, at, inside):
        top = self.frames[-1]
        top.next, top.inside, top.state = at, inside, "waiting"
        top.past_head = False
        top.part, top.behind = at if inside else at - 1, at
        top.in_call, top.has_left = True, False
        top.f.begun[top.part] = top.f.begun.get(top.part, 0) + 1

    def die(self, f, kind, at):
        if not self.frames and self.is_lost:
            return
        need(self.frames, "nobody dies")
        top = self.frames[-1]
        if top.f is not f:
            top.state = "waiting"
            # one in its last call has left
            self.trace.has_lost |= kind == CUT or at is not None
            return
        if kind == CUT:
            top.part, top.in_call = top.behind, False
        self.end_frame(self.frames.pop())
        if self.frames:
            self.frames[-1].state = "waiting"

    def end_frame(self, frame):
        f = frame.f
        if frame.has_left:
            return
        if frame.part is not None:
            f.died[frame.part] = f.died.get(frame.part, 0) + 1
        f.is_doubtful |= not frame.in_call

    def end_frames(self):
        while self.frames:
            self.end_frame(self.frames.pop())
        self.history = None


def join_parts(f):
    """Parts of blocks become blocks: fills f.whole (block and segment of each
    part)."""
    f.whole, last = [(0, 0)], None
    for b in range(1, len(f.segments)):
        what = None
        if f.parts[b]:
            came = {f.kinds[e] for e, (s, d, _) in enumerate(f.edges)
                    if (s, d) == (b - 1, b)}
            goes = {f.kinds[e] for e, (s, _, _) in enumerate(f.edges)
                    if s == b}
            what = "next" if CALL not in came else (
                "twice" if FALL in goes else "invoke")
        block, segment = f.whole[-1]
        if what == "invoke":
            f.whole.append((block, segment))
        elif what == "next" and last != "twice":
            f.whole.append((block, segment + 1))
        else:
            f.whole.append((block + 1, 0))
        last = what


def count_traced(f):
    """Counts of the joined blocks and their edges, in the place of those of
    the parts.  Returns whether all blocks are in balance."""
    join_parts(f)
    segments = [[] for _ in range(f.whole[-1][0] + 1)]
    for (block, segment), lists in list(zip(f.whole, f.segments))[1:]:
        while len(segments[block]) <= segment:
            segments[block].append([])
        for lines in lists:
            segments[block][segment] += lines
    edges, kinds, f.edge = [], [], []
    for e, (src, dst, _) in enumerate(f.edges):
        a, b = f.whole[src][0], f.whole[dst][0]
        if a == b and dst == src + 1 and f.kinds[e] in (FALL, CALL):
            continue
        edges.append((a, b, None))
        kinds.append(f.kinds[e])
        f.edge.append(f.taken[e])
    f.edges, f.kinds, f.segments = edges, kinds, segments
    for extra, of in ((f.extra_in, f.begun), (f.extra_out, f.died)):
        for part, n in of.items():
            key = f.whole[part]
            extra[key] = extra.get(key, 0) + n
    f.consistent &= not f.is_doubtful
    f.entered = [0] * len(segments)
    rest = [block_sum(f.extra_in, b) - block_sum(f.extra_out, b)
            for b in range(len(segments))]
    for (src, dst, _), n in zip(edges, f.edge):
        f.entered[dst] += n
        rest[dst] += n
        rest[src] -= n
    return not any(rest[1:])


ASIDE = 0xfffffffe  # it cleans up after an exception: no place


def line_count(runs):
    """runs: of each segment its count, and the places of the line there."""
    sums = {}
    for n, (count, places) in enumerate(runs):
        for place in places:
            key = place or -1 - n
            sums[key] = sums.get(key, 0) + count
    return max(sums.values(), default=0) or max(count for count, _ in runs)


class Copies:
    """Copies of lines: what was inlined and ran may lack some."""

    def __init__(self):
        self.of_line = {}  # file, line: definition and instance of each copy
        self.ran, self.instances = set(), {}

    def add(self, f, instance, file, line, ran):
        definition, key = f.definition, (id(f), instance)
        if instance:
            definition = f.instances[instance][0]
        copies = self.of_line.setdefault((file, line), [])
        copies.append((definition, key if instance else None))
        while ran and instance and (id(f), instance) not in self.ran:
            self.ran.add((id(f), instance))
            self.instances.setdefault(f.instances[instance][0], set()).add(
                (id(f), instance))
            instance = f.instances[instance][1]

    def doubt(self, lines):
        for key, copies in self.of_line.items():
            here = {instance for _, instance in copies}
            if lines[key] == 0 and any(
                    self.instances.get(definition, set()) - here
                    for definition, _ in copies):
                lines[key] = None


def add_lines(f, lines, copies):
    runs = {}
    for b, counts in enumerate(f.segment_counts, 1):
        for s, count in enumerate(counts):
            here = {}
            for *key, places in f.segments[b][s]:
                if key[2] and places != [ASIDE]:
                    here.setdefault(tuple(key), set()).update(places)
            for key, places in here.items():
                runs.setdefault(key, []).append((count, places))
    for (instance, file, line), found in runs.items():
        copies.add(f, instance, file, line, any(count for count, _ in found))
        old = lines.get((file, line), 0)
        bad = old is None or any(count is None for count, _ in found)
        lines[file, line] = None if bad else old + line_count(found)


def decode(data, exes):
    functions, lines, names, copies = [], {}, {}, Copies()
    counts_missing, frames_missing = read_doubts(data)
    modules = read_profile(data, exes)
    maps = [read_map(module.map) for module in modules]
    order = Order(read_chunks(data), {m.number for m in modules})
    for module, of_map in zip(modules, maps):
        for f in of_map.functions:
            if f.ncounters:
                names[module.number, f.counters] = f.name
        place_frames(of_map, module)
    trace = Trace(read_chunks(data), modules, maps)
    trace.is_open = u32(data, 128) != 1 or bool(u32(data, 132) & 16)
    trace.flags = u32(data, 132)
    trace.was_killed = trace.is_open or trace.flags & 8 or (u32(data, 152) == 2 and any(
        kind == 2 for m in modules for kind, _, _, _ in m.frames))
    trace.walk()
    frames_missing |= trace.has_lost
    for module, of_map in zip(modules, maps):
        for f in of_map.functions:
            if f.flags & NOT_COVERED or len(f.segments) < 2:
                continue
            count_function(f, module, frames_missing)
            add_lines(f, lines, copies)
            doubt = counts_missing or (
                frames_missing and not f.is_strict
            ) or (f.is_begun if f.how in TRACED else f.how and f.is_partial)
            functions.append(
                {
                    "name": f.name,
                    "module": module.path,
                    "exact": bool(f.consistent and not doubt),
                    "consistent": f.consistent,
                    "entries": known(f.edge[0]),
                    "blocks": f.blocks,
                    "segments": f.segment_counts,
                    "edges": [known(e) for e in f.edge],
                    "paths": paths_json(f),
                }
            )
    copies.doubt(lines)
    calls = Calls(read_chunks(data), modules, maps)
    return {
        "functions": functions,
        "calls": calls.json(),
        "lines": [[f, n, c] for (f, n), c in sorted(lines.items())],
        "order": order.json(names),
        "windows": Windows(read_chunks(data), modules).json(names),
    }


# --- against the C reader ---------------------------------------------------
def simplify(report):
    functions = []
    for f in report["functions"]:
        functions.append(
            {
                "name": f["name"],
                "module": report["modules"][f["module"]]["path"],
                "exact": f["exact"],
                "consistent": f["consistent"],
                "entries": f["entries"],
                "blocks": [b["count"] for b in f["blocks"]],
                "segments": [b["segments"] for b in f["blocks"]],
                "edges": [e["count"] for e in f["edges"]],
            }
        )
    lines = [
        [s["file"], n["line"], n["count"]]
        for s in report["sources"]
        for n in s["lines"]
    ]
    return {"functions": functions, "lines": sorted(lines, key=str)}


def compare_lists(part, mine, theirs):
    differences = 0
    a = sorted(json.dumps(x, sort_keys=True) for x in mine)
    b = sorted(json.dumps(x, sort_keys=True) for x in theirs)
    for x in sorted(set(a) ^ set(b)):
        print("decode.py" if x in a else "cairn", part, x)
        differences += 1
    if len(a) != len(b):
        print(f"{part}: {len(a)} against {len(b)}")
        differences += 1
    return differences


def compare(result, report):
    mine, theirs = [], simplify(report)
    for f in result["functions"]:
        mine.append({key: f[key] for key in f if key != "paths"})
    result["lines"].sort(key=str)
    return compare_lists("functions", mine, theirs["functions"]) + (
        compare_lists("lines", result["lines"], theirs["lines"])
    )


def simplify_paths(listed):
    functions = []
    for f in listed["functions"]:
        unfinished = [
            [u["block"], u["segment"], int(u["sum"]), int(u["frames"])]
            for u in f["unfinished"]
        ]
        counts = {str(p["number"]): int(p["count"]) for p in f["paths"]}
        functions.append(
            {
                "name": f["name"],
                "exact": f["exact"],
                "possible": int(f["possible"]),
                "counts": counts,
                "pairs": {"%s %s" % (p["before"], p["number"]):
                          int(p["count"]) for p in f["pairs"]}
                         if "pairs" in f else None,
                "unfinished": sorted(unfinished),
                "lost": f["lost"],
                "unknown": f["unknown"],
            }
        )
    return functions


def compare_paths(result, listed):
    """Functions that ran no path need not be in the list."""
    mine = []
    for f in result["functions"]:
        paths = f["paths"]
        if paths and (paths["counts"] or paths["unfinished"]):
            mine.append({"name": f["name"], "exact": f["exact"], **paths})
    theirs = [f for f in simplify_paths(listed)
              if f["counts"] or f["unfinished"]]
    calls = [[c["kind"], c["caller"], c["block"], c["segment"], c["callee"],
              *((c["path"], c["rest"]) if c["kind"] == "return" else
                (c["prefix"], c["path"])), int(c["count"])]
             for c in listed.get("calls", ())]
    return compare_lists("paths", mine, theirs) + (
        compare_lists("calls", result["calls"], calls))


def compare_order(result, listed):
    """Places among the untested paths, of functions by name."""
    untested = {(p["function"]["name"], int(p["number"])): p
                for p in listed["untested"] if not p["unfinished"]}
    order = result["order"] or {"left_out": None, "paths": []}
    mine, theirs = [], []
    for _, name, number in order["paths"]:
        if (name, number) in untested and [name, number] not in mine:
            mine.append([name, number])
    for (name, number), p in untested.items():
        theirs += [[x["number"], name, number] for x in p["order"]]
    differences = compare_lists(
        "order", [[i, *x] for i, x in enumerate(mine, 1)], theirs)
    for key, n in (("ordered_paths", len(mine) if result["order"] else None),
                   ("order_left_out", order["left_out"])):
        if listed["files"][0][key] != n:
            print(f"{key}: {n} against {listed['files'][0][key]}")
            differences += 1
    return differences


def compare_windows(result, listed):
    """Of the length that the list has, and how many are shorter."""
    n = listed["length"] + ("chains" in listed)
    mine, first, lost = {}, 0, 0
    for window, is_open, count in result["windows"]:
        if len(window) >= n:
            key = json.dumps(window[-n:])
            mine[key] = mine.get(key, 0) + count
        elif is_open:
            lost += count
        else:
            first += count
    theirs = {}
    for c in listed.get("chains", ()):
        key = json.dumps([*([e["function"], e["sum"], e["link"]]
                            for e in c["callers"]),
                          [c["function"], c["path"]]])
        theirs[key] = theirs.get(key, 0) + c["count"]
    for s in listed.get("sequences", ()):
        key = json.dumps([[e["function"], e["path"]] for e in s["elements"]])
        theirs[key] = theirs.get(key, 0) + s["count"]
    differences = compare_lists(
        "windows", list(mine.items()), list(theirs.items()))
    if first != listed["first"] or lost > listed["lost"]:
        print(f"first, lost: {first}, {lost} against {listed['first']}, "
              f"{listed['lost']}")
        differences += 1
    return differences


def main(args):
    exes, comparisons = [], []
    kinds = {"--compare": compare, "--compare-paths": compare_paths,
             "--compare-order": compare_order,
             "--compare-windows": compare_windows}
    while args and args[0].startswith("--"):
        option, value, *args = args if len(args) > 1 else args + [None]
        if option == "--exe":
            exes.append(value)
        elif option in kinds:
            comparisons.append((kinds[option], value))
        else:
            args = []
    if len(args) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(args[0], "rb") as f:
            data = f.read()
        if len(data) >= 4096 and u32(data, 132) & RECORDING:
            result = decode_recording(data)
        else:
            result = decode(data, exes)
    except (OSError, Damaged, ValueError, KeyError, struct.error) as e:
        print(f"decode.py: {args[0]}: {e}", file=sys.stderr)
        return 2
    if not comparisons and "contexts" in result:
        print_recording(result)
        return 0
    if not comparisons:
        json.dump(result, sys.stdout, indent=1)
        print()
        return 0
    differences = 0
    for how, path in comparisons:
        with open(path) as f:
            differences += how(result, json.load(f))
    print(f"{len(result['functions'])} functions, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
