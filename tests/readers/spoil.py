# SPDX-License-Identifier: Apache-2.0
"""Profiles whose counts no program has: sound files with impossible numbers.

    spoiled = spoil(data, random.Random(seed))

What counts (COUNTS, FRAMES, PATHS, CALLS, FOREST, NODES, WINDOWS, ORDER), and
what a trace has written, is changed in one to eight places: numbers at the ends of their ranges, sums that
overflow, numbers of paths that do not exist, words of other slots.  Checksums
are right again, so that no reader can refuse the file for them.  Written from
docs/FORMAT.md, sections 2 to 4.
"""
import os
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../../tools"))
from decode import crc32c, u32, u64  # noqa: E402

COUNTS, FRAMES, PATHS, CALLS, PLACED = 3, 4, 6, 10, 11
FOREST, NODES, WINDOWS, ORDER = 13, 14, 15, 1 << 31 | 7
STREAM, PACKED, BINDINGS = 8, 9, 1 << 31 | 18
COUNTING = (COUNTS, FRAMES, PATHS, CALLS, PLACED, FOREST, NODES, WINDOWS, ORDER,
            STREAM, PACKED, BINDINGS)
BYTES = (WINDOWS, STREAM, PACKED)  # numbers of any length
LIVE = 1
SMALL = 1 << 16  # bytes of which a checksum is quickly made
ENDS = [0, 1, 2, 3, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 47, 1 << 60,
        (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 2, (1 << 64) - 1]


def chunks(data):
    """(offset, type, length) of each that counts something."""
    at, found = 4096, []
    while at < u64(data, 136):
        kind, length = u32(data, at + 4), u64(data, at + 8)
        if kind in COUNTING and length > 64:
            found.append((at, kind, length))
        at += length
    return found


def heads(data):
    """Offsets of all chunks."""
    at, found = 4096, []
    while at < u64(data, 136):
        found.append(at)
        at += u64(data, at + 8)
    return found


def words(data, chunk):
    """Offsets of the words of a chunk that are in use, and what they are."""
    at, kind, length = chunk
    n, begin, end = u64(data, at + 24), at + 64, at + length
    size = {COUNTS: 8, FRAMES: 24, PLACED: 32, CALLS: 32, FOREST: 48,
            NODES: 24, BINDINGS: 16}.get(kind)
    if kind in BYTES:
        while end > begin and not data[end - 1]:
            end -= 1
        return list(range(begin, end - 7))
    if kind == PATHS:
        return tables(data, begin, begin + n)
    if kind == ORDER:
        return list(range(begin, min(end, begin + 16 + 16 * n), 8))
    # the key of a frame says little: most others are refused
    skip = {FRAMES: 8, PLACED: 8}.get(kind, 0)
    return [w for slot in range(begin, min(end, begin + size * n), size)
            if kind == COUNTS or any(data[slot:slot + size])
            for w in range(slot + skip, slot + size, 8)]


def tables(data, at, end):
    """Words of the slots of tables that are in use, and some that are not."""
    found = []
    while at + 32 <= end and u64(data, at):
        slots = u64(data, at + 8)
        used = [w for w in range(at + 32, at + 32 + 16 * slots, 16)
                if u64(data, w)]
        free = [w for w in range(at + 32, at + 32 + 16 * slots, 16)
                if not u64(data, w)][:2]
        found += [w + k for w in used + free for k in (0, 8)]
        at += 32 + 16 * slots
    return found


def seal(data, chunk):
    """Right checksums."""
    at, kind, length = chunk
    if length > SMALL and kind not in (WINDOWS, PACKED):
        struct.pack_into("<I", data, at + 48, LIVE)
    elif u32(data, at + 48) != LIVE:
        struct.pack_into("<I", data, at + 52, crc32c(data[at + 64:at + length]))
    struct.pack_into("<I", data, at + 56, crc32c(data[at:at + 48]))


def number(data, at, pool, rng):
    old, way = u64(data, at), rng.randrange(7)
    if way == 6:  # with another one it makes 0
        return -u64(data, rng.choice(pool)) & (1 << 64) - 1
    if way == 0:
        return rng.choice(ENDS)
    if way == 1:
        return old + rng.choice([-1, 1, 2, 7]) & (1 << 64) - 1
    if way == 2:
        return u64(data, rng.choice(pool))
    if way == 3:
        return old ^ 1 << rng.randrange(64)
    if way == 4:
        return rng.getrandbits(rng.randrange(1, 65))
    return (1 << 64) - 1 - rng.randrange(1000)


def spoil(data, rng):
    data = bytearray(data)
    found = [(c, w) for c in chunks(data) for w in [words(data, c)] if w]
    if not found:
        return bytes(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        chunk, pool = rng.choice(found)
        if rng.random() < 0.7:
            pool = [w for w in pool if u64(data, w)] or pool
        if rng.random() < 0.08:  # everything
            for at in pool[:4096]:
                if chunk[1] in (COUNTS,):
                    struct.pack_into("<Q", data, at,
                                     number(data, at, pool, rng))
        at = rng.choice(pool)
        if chunk[1] in BYTES and rng.random() < 0.7:
            data[at] = rng.randrange(256)
        else:
            struct.pack_into("<Q", data, at, number(data, at, pool, rng))
    if rng.random() < 0.1:  # how many there are, and which
        at = rng.choice(heads(data)) + rng.choice([24, 32, 40])
        struct.pack_into("<Q", data, at, number(data, at, [at], rng))
    for at in heads(data):
        struct.pack_into("<I", data, at + 56, crc32c(data[at:at + 48]))
    for chunk, _ in found:
        seal(data, chunk)
    if rng.random() < 0.1:  # as SIGKILL leaves it
        struct.pack_into("<I", data, 128, 0)
    return bytes(data)
