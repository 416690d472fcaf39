# SPDX-License-Identifier: Apache-2.0
"""What path profiles say: paths and edges by function, what one run did that
others did not, and how many updates called the runtime."""

import array
import collections
import dataclasses
import json
import struct
import sys

from corpus import BenchError

sys.dont_write_bytecode = True

# --- cairn paths --json -----------------------------------------------------


class Function:
    """One function: counts and edges of its executed paths by number."""

    def __init__(self, record):
        self.name = record["name"]
        self.table = record["table"]
        self.possible = int(record["possible"])
        self.ncuts = len(record["cuts"])
        self.prefer = record.get("prefer")
        self.counts = {p.number: p.count for p in record["paths"]}
        self.edges_of = {p.number: p.edges for p in record["paths"]}
        self.at_cuts = sum(p.count for p in record["paths"]
                           if p.end == "cut")
        self.edges = set()
        for edges in (*self.edges_of.values(), *record["unfinished"]):
            self.edges.update(edges)

    def span(self):
        """How many numbers the executed paths lie among."""
        return max(self.counts) - min(self.counts) + 1


@dataclasses.dataclass
class Path:
    number: int
    count: int
    end: str
    edges: array.array


def shrink(record):
    """Keeps of each JSON object what we use: a list can have a million of
    paths."""
    if "way" in record or "last" in record:
        return None
    if "kind" in record:
        return record["kind"]
    if "number" in record:
        return Path(int(record["number"]), int(record["count"]),
                    record["end"], array.array("I", record["edges"]))
    if "frames" in record:
        # frames that began in the middle did not come this way
        ran = int(record["frames"]) > 0
        return array.array("I", record["edges"] if ran else [])
    if "possible" in record:
        return Function(record)
    return record


class Paths:
    """All functions of a profile."""

    def __init__(self, text):
        record = json.loads(text, object_hook=shrink)
        self.executions = int(record["path_executions"])
        self.functions = {}
        seen = collections.Counter()
        for function in record["functions"]:
            # static functions of two files may share a name
            seen[function.name] += 1
            self.functions[function.name, seen[function.name]] = function

    def distinct(self):
        return sum(len(f.counts) for f in self.functions.values())

    def at_cuts(self):
        return sum(f.at_cuts for f in self.functions.values())


def check_same(a, b):
    """Both are of the same functions."""
    other = a.functions.keys() ^ b.functions.keys()
    if other:
        name, _ = min(other)
        raise BenchError(f"of two profiles of a program, one lacks {name}")


# --- residual paths ---------------------------------------------------------


class Untested:
    """The columns of table 3.1 of the thesis: what `field` did and `tested`
    did not, both of one build."""

    def __init__(self, tested, field):
        self.paths = self.freq = self.edges = 0
        self.path_functions = self.edge_functions = 0
        self.old_functions = 0  # paths in functions without untested edges
        self.old_edges = 0  # paths of which every edge was tested
        self.all_paths = field.distinct()
        self.executions = field.executions
        check_same(tested, field)
        for key, function in field.functions.items():
            self.add(tested.functions[key], function)

    def add(self, tested, field):
        paths = field.counts.keys() - tested.counts.keys()
        edges = field.edges - tested.edges
        self.paths += len(paths)
        self.freq += sum(field.counts[number] for number in paths)
        self.path_functions += bool(paths)
        self.edges += len(edges)
        self.edge_functions += bool(edges)
        self.old_functions += 0 if edges else len(paths)
        self.old_edges += sum(
            edges.isdisjoint(field.edges_of[number]) for number in paths
        )


# --- tables of path counts (docs/FORMAT.md, src/runtime/paths.c) ------------

FILE_HEADER = 4096
FILE_LENGTH = 136
CHUNK_HEADER = 64
CHUNK_PATHS = 6
TABLE_HEAD = 32
HOME_SHIFT = 40
WORD = (1 << 64) - 1


def multiplier(number):
    """The runtime's: the finalizer of splitmix64, made odd."""
    z = (number + 1) * 0x9E3779B97F4A7C15 & WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return (z ^ z >> 31) | 1


class Table:
    def __init__(self, data, at):
        self.owner, self.nslots, state, _ = struct.unpack_from("<4Q", data,
                                                               at)
        self.nkeys = state & 0xFFFFFFFF
        self.rebuilds = state >> 32 & 0xFF
        self.multiplier = multiplier(state >> 40 & 0xFF)
        self.end = at + TABLE_HEAD + 16 * self.nslots
        slots = array.array("Q")
        slots.frombytes(data[at + TABLE_HEAD : self.end])
        self.slots = [
            (i, key, slots[2 * i + 1])
            for i, key in enumerate(slots[::2]) if key
        ]

    def keys(self):
        return {key for _, key, _ in self.slots}

    def calls(self, before):
        """Calls of the runtime that this table saw.  `before` is the table
        that it replaced, or None.

        Generated code counts in a path's home and else calls, so all counts
        away from home are calls; so is the first count of a path that was
        not in the table, even at home.  The paths of a table are put into
        the next one without a call, all but the coldest if it has no room;
        those that came back are taken to be at home: the result is exact, or
        too large by less than their number.
        """
        old = before.keys() if before else set()
        away = fresh = new = 0
        for i, key, count in self.slots:
            home = (key * self.multiplier & WORD) >> HOME_SHIFT
            is_new = key not in old
            new += is_new
            if home & self.nslots - 1 != i:
                away += count
            elif is_new and count:
                fresh += 1
        put = min(len(old), self.nslots // 4)
        return away + fresh + max(0, self.nkeys - put - new)


def read_tables(data):
    """All tables of a profile as the runtime left it, by thread, module and
    function."""
    (length,) = struct.unpack_from("<Q", data, FILE_LENGTH)
    found = collections.defaultdict(list)
    at = FILE_HEADER
    while at < length:
        _, kind, size, thread, module = struct.unpack_from("<IIQII", data, at)
        if kind == CHUNK_PATHS:
            read_arena(data, at + CHUNK_HEADER, at + size, thread, module,
                       found)
        at += size
    return found


def read_arena(data, at, end, thread, module, found):
    while end - at > TABLE_HEAD and struct.unpack_from("<Q", data, at)[0]:
        table = Table(data, at)
        found[thread, module, table.owner].append(table)
        at = table.end


def calls(folder):
    """Calls made to count paths in the runs whose profiles, as the runtime
    left them, are in a folder.  The child of a fork begins with the tables of
    its parent, so each path that it executes may count as one call too
    many."""
    total = 0
    for file in sorted(folder.glob("*.cairn")):
        for tables in read_tables(file.read_bytes()).values():
            # none follows a larger one, nor one built anew more often
            tables.sort(key=lambda t: (t.nslots, t.rebuilds))
            for before, table in zip([None, *tables], tables):
                total += table.calls(before)
    return total
