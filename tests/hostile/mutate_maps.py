# SPDX-License-Identifier: Apache-2.0
"""Maps, in a chunk or in the section of a program."""
import maps
from container import put32, put64, u32, u64
from mutants import BOTH, mutation
from values import LIMITS, damage, number, text


def of_map(weight):
    """Registers what changes the records of a map."""
    def register(function):
        def change(m, rng):
            holder = m.map_holder()
            if not holder:
                return None
            records = maps.decode(m.read_map(holder))
            kind = function(m, rng, records) if records else None
            if kind:
                m.write_map(holder, maps.encode(records))
            return kind
        mutation(BOTH, weight)(change)
        return function
    return register


def function_of(rng, records):
    """One with a blob, and that as tokens."""
    found = [r for r in records if r.magic == maps.FUNCTION and r.blob]
    if not found:
        return None, None
    record = rng.choice(found)
    return record, maps.Blob(record.blob)


@of_map(1)
def move(m, rng, records):
    i, j = rng.randrange(len(records)), rng.randrange(len(records))
    how = rng.choice(("delete", "duplicate", "swap"))
    if how == "delete":
        del records[i]
    elif how == "duplicate":
        records.insert(j, records[i])
    else:
        records[i], records[j] = records[j], records[i]
    return f"map-record-{how}"


@of_map(3)
def field(m, rng, records):
    record = rng.choice(records)
    name, at, size = rng.choice(maps.FIELDS[record.magic])
    old = u32(record.head, at) if size == 4 else u64(record.head, at)
    record.set(name, number(rng, old, len(record.blob)))
    return f"map-{record.magic.decode().lower()}-{name}"


@of_map(2)
def table(m, rng, records):
    """Sites, probes and callees behind a blob; entries of other records."""
    record = rng.choice(records)
    if len(record.tables) < 8:
        return None
    at = rng.randrange(len(record.tables) - 7) & ~3
    if rng.randrange(2):
        put32(record.tables, at, number(rng, u32(record.tables, at)))
    else:
        put64(record.tables, at, number(rng, u64(record.tables, at)))
    return f"map-{record.magic.decode().lower()}-table"


@of_map(1)
def table_size(m, rng, records):
    record = rng.choice(records)
    if rng.randrange(2):
        del record.tables[rng.randrange(len(record.tables) + 1):]
    else:
        record.tables += bytes(8 * rng.randrange(1, 50))
    return f"map-{record.magic.decode().lower()}-table-size"


@of_map(8)
def token(m, rng, records):
    """Any number or text of a blob."""
    record, blob = function_of(rng, records)
    if not record:
        return None
    t = rng.choice(blob.tokens)
    how = "value"
    if t.kind == "str":
        t.value = text(rng, t.value, m.canary)
    elif t.kind == "raw":
        t.value = rng.randbytes(len(t.value))
    elif rng.randrange(8) == 0:
        t.extra, how = rng.randrange(1, 12), "overlong"
    else:
        t.value = number(rng, t.value, blob.nblocks)
    record.blob = blob.encode()
    return f"map-{t.name}-{how}"


@of_map(4)
def graph(m, rng, records):
    """Edges that lead elsewhere: cycles, blocks without a way out, blocks that
    are not there."""
    record, blob = function_of(rng, records)
    if not record:
        return None
    ends = [t for t in blob.tokens if t.name in ("edge-source", "edge-target")]
    if not ends:
        return None
    how = rng.choice(("shuffle", "missing", "loop", "entry", "reverse"))
    if how == "shuffle":
        values = [t.value for t in ends]
        rng.shuffle(values)
        for t, value in zip(ends, values):
            t.value = value
    elif how == "missing":
        rng.choice(ends).value = blob.nblocks + rng.choice((0, 1, 1 << 31))
    elif how == "loop":
        i = 2 * rng.randrange(len(ends) // 2)
        ends[i + 1].value = ends[i].value
    elif how == "entry":
        rng.choice(ends).value = rng.choice((0, 1))
    else:
        for i in range(0, len(ends), 2):
            a, b = ends[i], ends[i + 1]
            a.value, b.value = b.value, a.value
    record.blob = blob.encode()
    return f"map-graph-{how}"


@of_map(3)
def edges(m, rng, records):
    """Whole edges taken out, done twice or exchanged, with their number."""
    record, blob = function_of(rng, records)
    if not record:
        return None
    at = [i for i, t in enumerate(blob.tokens) if t.name == "edge-source"]
    count = next(t for t in blob.tokens if t.name == "edge-count")
    if not at:
        return None
    i, j = rng.choice(at), rng.choice(at)
    how = rng.choice(("delete", "duplicate", "swap"))
    if how == "delete":
        del blob.tokens[i:i + 5]
        count.value -= 1
    elif how == "duplicate":
        blob.tokens[j:j] = blob.tokens[i:i + 5]
        count.value += 1
    else:
        a, b = blob.tokens[i:i + 5], blob.tokens[j:j + 5]
        blob.tokens[i:i + 5], blob.tokens[j:j + 5] = b, a
    record.blob = blob.encode()
    return f"map-edges-{how}"


@of_map(4)
def count(m, rng, records):
    """How many there are of something, without more or fewer of them."""
    record, blob = function_of(rng, records)
    if not record:
        return None
    t = rng.choice([t for t in blob.tokens if t.name.endswith("-count")])
    t.value = rng.choice((t.value + 1, t.value - 1, *LIMITS))
    record.blob = blob.encode()
    return f"map-{t.name}"


@of_map(3)
def paths(m, rng, records):
    """How paths are counted: cuts, loops, cells, rows, what is unfinished."""
    record, blob = function_of(rng, records)
    if not record:
        return None
    names = ("how", "paths-possible", "cut", "loop-head", "slots",
             "preferred", "preferred-slot", "degree", "paths-first",
             "rows-kind", "left-block", "left-site", "cell", "row-sum",
             "radix", "pending", "pending-add", "pending-sum", "call-edge",
             "call-kind", "witness-slot", "copy", "copy-block", "unit-index",
             "edge-kind", "block-flags", "flags")
    found = [t for t in blob.tokens if t.name in names]
    t = rng.choice(found)
    t.value = number(rng, t.value, blob.nblocks) \
        if rng.randrange(3) == 0 else rng.randrange(blob.nblocks + 2)
    record.blob = blob.encode()
    return f"map-{t.name}-value"


@of_map(1)
def tokens(m, rng, records):
    """One taken out, or done twice: all behind it is something else."""
    record, blob = function_of(rng, records)
    if not record:
        return None
    i = rng.randrange(len(blob.tokens))
    if rng.randrange(2):
        del blob.tokens[i]
        how = "delete"
    else:
        blob.tokens.insert(i, blob.tokens[i])
        how = "duplicate"
    record.blob = blob.encode()
    return f"map-token-{how}"


@of_map(1)
def bytes_of(m, rng, records):
    record = rng.choice([r for r in records if r.blob] or [None])
    if not record:
        return None
    record.blob = bytes(damage(rng, record.blob))
    return "map-blob-bytes"


@of_map(1)
def other_blob(m, rng, records):
    """The blob of another function."""
    found = [r for r in records if r.blob]
    if len(found) < 2:
        return None
    a, b = rng.sample(found, 2)
    a.blob = b.blob
    return "map-blob-of-another"
