# SPDX-License-Identifier: Apache-2.0
"""Chunks of a container, its head, and what chunks have in them."""
import struct

from container import (BINDINGS, CALLS, CHECKPOINT, COUNTS, FOREST, FRAMES,
                       MAP, MODULE, NODES, ORDER, PACKED, PATHS, PLACED,
                       PROGRAM as PROGRAM_CHUNK, SOURCES, STREAM, WINDOWS,
                       Chunk, Cursor, put32, put64, sv, u32, u64, uv)
from mutants import BOTH, PROFILE, mutation
from values import LIMITS, damage, number, text

# Of arrays in a payload: where they begin, and the bytes of an element.
SLOTS = {COUNTS: (0, 8), FRAMES: (0, 24), PLACED: (0, 32), CALLS: (0, 32),
         FOREST: (0, 48), NODES: (0, 24), ORDER: (16, 16), BINDINGS: (0, 16),
         PATHS: (32, 16)}


def any_chunk(m, types=None):
    chunks = [c for c in m.file.chunks if types is None or c.type in types]
    return m.rng.choice(chunks) if chunks else None


@mutation(PROFILE)
def delete(m, rng):
    if not m.file.chunks:
        return None
    chunk = m.file.chunks.pop(rng.randrange(len(m.file.chunks)))
    return f"{chunk.name}-delete"


@mutation(PROFILE)
def duplicate(m, rng):
    chunk = any_chunk(m)
    if not chunk:
        return None
    m.file.chunks.insert(rng.randrange(len(m.file.chunks) + 1), chunk.copy())
    return f"{chunk.name}-duplicate"


@mutation(PROFILE)
def swap(m, rng):
    if len(m.file.chunks) < 2:
        return None
    i, j = rng.sample(range(len(m.file.chunks)), 2)
    chunks = m.file.chunks
    chunks[i], chunks[j] = chunks[j], chunks[i]
    return "chunks-swap"


@mutation(PROFILE)
def insert(m, rng):
    """One of another seed, or of any type."""
    other = rng.choice(m.seed.others)
    chunks = other.container().chunks if other.is_container else []
    if chunks and rng.randrange(3):
        chunk = rng.choice(chunks).copy()
        kind = f"{chunk.name}-of-another-file"
    else:
        chunk = Chunk(b"CHK1" + bytes(60), bytes(rng.randrange(9) * 8))
        chunk.type = rng.choice((0, 7, 12, *range(1, 19), 0x80000000,
                                 0x80000013, SOURCES, ORDER, 0xFFFFFFFF))
        chunk.n = rng.choice(LIMITS)
        chunk.flags = 2
        kind = "chunk-made-up"
    m.file.chunks.insert(rng.randrange(len(m.file.chunks) + 1), chunk)
    return kind


@mutation(PROFILE, 6)
def field(m, rng):
    chunk = any_chunk(m)
    if not chunk:
        return None
    name = rng.choice(Chunk.FIELDS)
    old = getattr(chunk, name)
    setattr(chunk, name, number(rng, old, len(chunk.payload)))
    return f"{chunk.name}-{name}"


@mutation(PROFILE, 2)
def length(m, rng):
    chunk = any_chunk(m)
    if not chunk:
        return None
    chunk.is_resized = True
    chunk.length = number(rng, chunk.length, 64)
    return f"{chunk.name}-length"


@mutation(PROFILE, 2)
def resize(m, rng):
    """The payload is shorter or longer, N stays."""
    chunk = any_chunk(m)
    if not chunk:
        return None
    n = rng.randrange(len(chunk.payload) + 1)
    if rng.randrange(4):
        del chunk.payload[n:]
    else:
        chunk.payload += bytes(8 * rng.randrange(1, 100))
    return f"{chunk.name}-resize"


@mutation(PROFILE)
def checksum(m, rng):
    chunk = any_chunk(m)
    wrong = rng.randrange(1, 4)
    if chunk and rng.randrange(4):
        chunk.wrong = wrong
        return f"{chunk.name}-checksum"
    m.file.wrong = wrong
    return "head-checksum"


@mutation(PROFILE, 2)
def head(m, rng):
    fields = (("version", 8, 4), ("size", 12, 4), ("kind", 16, 4),
              ("pid", 20, 4), ("nruns", 28, 4), ("start", 32, 8),
              ("last-pid", 40, 4), ("last-start", 48, 8), ("state", 128, 4),
              ("flags", 132, 4), ("length", 136, 8), ("end", 144, 8),
              ("how", 152, 4), ("signal", 156, 4), ("unwalked", 160, 4),
              ("cut", 192, 8), ("pending", 208, 8))
    name, at, size = rng.choice(fields)
    put, get = (put32, u32) if size == 4 else (put64, u64)
    m.file.is_resized |= name == "length"
    old = get(m.file.head, at)
    new = 1 << rng.randrange(10) ^ old if name == "flags" else \
        number(rng, old, 4096)
    put(m.file.head, at, new)
    return f"head-{name}"


@mutation(PROFILE, 5)
def word(m, rng):
    """A number in the payload, aligned."""
    chunk = any_chunk(m, SLOTS)
    if not chunk or len(chunk.payload) < 8:
        return None
    used = chunk.payload.rstrip(b"\0")
    at = rng.randrange(max(len(used), 8)) & ~7
    if at + 8 > len(chunk.payload):
        return None
    if rng.randrange(4):
        put64(chunk.payload, at, number(rng, u64(chunk.payload, at)))
    else:
        put32(chunk.payload, at, number(rng, u32(chunk.payload, at)))
    return f"{chunk.name}-word"


@mutation(PROFILE)
def counters(m, rng):
    """All that are not 0 get as large as can be."""
    chunk = any_chunk(m, (COUNTS, PATHS, CALLS, FOREST))
    if not chunk:
        return None
    top = rng.choice(((1 << 64) - 1, 1 << 63, (1 << 63) - 1, 1 << 53))
    begin, size = SLOTS[chunk.type]
    for at in range(begin, len(chunk.payload) - size + 1, size):
        end = at + size - 8
        if u64(chunk.payload, end):
            put64(chunk.payload, end, top - rng.randrange(3))
    return f"{chunk.name}-huge"


@mutation(PROFILE, 3)
def slots(m, rng):
    """Elements of an array taken out, done twice or exchanged; N stays right
    or not."""
    chunk = any_chunk(m, SLOTS)
    if not chunk:
        return None
    begin, size = SLOTS[chunk.type]
    n = (len(chunk.payload.rstrip(b"\0")) - begin + size - 1) // size
    if n < 1:
        return None
    i, j = (begin + size * rng.randrange(n) for _ in range(2))
    p, how = chunk.payload, rng.randrange(3)
    if how == 0:
        del p[i:i + size]
    elif how == 1:
        p[i:i] = p[j:j + size]
    else:
        p[i:i + size], p[j:j + size] = p[j:j + size], p[i:i + size]
    if rng.randrange(2):
        chunk.n += (-1, 1, 0)[how]
    return f"{chunk.name}-slot-{('delete', 'duplicate', 'swap')[how]}"


@mutation(PROFILE, 2)
def texts(m, rng):
    """Paths and command lines: PROGRAM, MODULE."""
    chunk = any_chunk(m, (PROGRAM_CHUNK, MODULE))
    if not chunk:
        return None
    begin = 0
    if chunk.type == MODULE:
        begin = min(4 + u32(chunk.payload, 0), len(chunk.payload))
    texts_ = bytes(chunk.payload[begin:]).rstrip(b"\0").split(b"\0")
    i = rng.randrange(len(texts_))
    texts_[i] = text(rng, texts_[i], m.canary)
    chunk.payload[begin:] = b"\0".join(texts_) + b"\0"
    if rng.randrange(8) == 0:
        chunk.payload = chunk.payload.rstrip(b"\0")     # without an end
        chunk.payload += b"x" * (-len(chunk.payload) % 8)
    return f"{chunk.name}-text"


@mutation(PROFILE)
def build_id(m, rng):
    chunk = any_chunk(m, (MODULE,))
    if not chunk or len(chunk.payload) < 8:
        return None
    if rng.randrange(2):
        put32(chunk.payload, 0, number(rng, u32(chunk.payload, 0),
                                       len(chunk.payload) - 4))
        return "module-build-id-size"
    chunk.payload[4] ^= 1
    return "module-build-id"


@mutation(PROFILE, 2)
def frame(m, rng):
    """The zstd frame in a chunk, without a look at what is in it."""
    chunk = any_chunk(m, (MAP, SOURCES, PACKED))
    if not chunk:
        return None
    chunk.payload = damage(rng, chunk.payload)
    return f"{chunk.name}-frame"


@mutation(PROFILE, 2)
def content(m, rng):
    """What is in it, packed again."""
    chunk = any_chunk(m)
    if not chunk:
        return None
    used = chunk.unpack().rstrip(b"\0")
    n = len(chunk.payload) - len(used)
    raw = damage(rng, used)
    plain = chunk.type not in (MAP, SOURCES, PACKED)
    chunk.pack(raw + bytes(n if plain else 0))
    return f"{chunk.name}-content"


@mutation(PROFILE)
def bomb(m, rng):
    """A frame that unpacks to more, or less, than the header says."""
    chunk = any_chunk(m, (MAP, SOURCES, PACKED))
    if not chunk:
        return None
    raw = chunk.unpack()
    size, n = chunk.aux0, chunk.n
    chunk.pack(raw + bytes(rng.choice((1, 4096, 1 << 20, 1 << 24))))
    if rng.randrange(2):
        chunk.aux0, chunk.n = (chunk.aux0, n) if chunk.type == PACKED else \
            (size, chunk.n)
    return f"{chunk.name}-bomb"


@mutation(PROFILE, 2)
def windows(m, rng):
    """WINDOWS is numbers, one after the other."""
    chunk = any_chunk(m, (WINDOWS,))
    if not chunk:
        return None
    used = bytes(chunk.payload).rstrip(b"\0")
    c, numbers = Cursor(used + b"\0"), []
    while c.at < len(used):
        numbers.append(c.uv())
    i = rng.randrange(len(numbers))
    how = rng.randrange(4)
    extra = 0
    if how == 0:
        del numbers[i]
    elif how == 1:
        numbers.insert(i, rng.choice(LIMITS))
    elif how == 2:
        numbers[i] = number(rng, numbers[i], len(numbers))
    else:
        extra = rng.randrange(1, 12)
    chunk.payload = bytearray(b"".join(
        uv(n, extra if i == at else 0) for at, n in enumerate(numbers)))
    return "windows-" + ("delete", "insert", "number", "overlong")[how]


@mutation(PROFILE, 2)
def sources(m, rng):
    chunk = any_chunk(m, (SOURCES,))
    if not chunk:
        return None
    c, files = Cursor(chunk.unpack()), []
    while c.at < len(c.data):
        files.append([c.str(), c.uv(), c.str()])
    i = rng.randrange(len(files))
    how = rng.randrange(4)
    if how == 0:
        files[i][0] = text(rng, files[i][0], m.canary)
    elif how == 1:
        files.append(list(files[i]))
    elif how == 2:
        files[i][2] = text(rng, files[i][2][:100], m.canary)
    else:
        files[i][1] = number(rng, files[i][1])
    out = b""
    for path, flags, content_ in files:
        out += uv(len(path)) + path + uv(flags) + uv(len(content_)) + content_
    if rng.randrange(4) == 0:
        out = out[:rng.randrange(len(out))]
    chunk.pack(out)
    if how == 1:
        chunk.n += 1
    return "sources-" + ("path", "duplicate", "text", "flags")[how]


# --- streams of traces -------------------------------------------------------
MARKS = {0xE0: 20, 0xE1: 4, 0xE2: 4, 0xF0: 4, 0xF1: 4, 0xF2: 4, 0xF3: 4,
         0xF4: 8, 0xF5: 4, 0xF6: 8, 0xF8: 4, 0xF9: 4, 0xFA: 8, 0xFB: 4,
         0xFC: 63, 0xFD: 12, 0xFE: 8, 0xFF: 4}


def items(data):
    out, at = [], 0
    while at < len(data):
        byte = data[at]
        n = MARKS.get(byte, byte & 15 if 0x80 < byte < 0xE0 else 0)
        out.append(bytes(data[at:at + 1 + n]))
        at += 1 + n
    return out


def hostile_item(rng):
    if rng.randrange(2):
        byte = rng.choice(list(MARKS))
        n = MARKS[byte]
    else:
        n = rng.randrange(1, 9)
        byte = rng.choice((0x80, 0x90)) + n
    return bytes([byte]) + rng.choice(
        (bytes(n), b"\xff" * n, rng.randbytes(n),
         number(rng, 1).to_bytes(8, "little")[:n].ljust(n, b"\0")))


@mutation(PROFILE, 10)
def stream(m, rng):
    """Items of the stream of a thread."""
    if m.file.is_recording():
        return None
    chunk = any_chunk(m, (STREAM, PACKED))
    if not chunk:
        return None
    raw = chunk.unpack()
    used = raw.rstrip(b"\0")
    all_ = items(used)
    if not all_:
        return None
    i, j = rng.randrange(len(all_)), rng.randrange(len(all_))
    how = rng.choice(("insert", "delete", "duplicate", "swap", "value",
                      "repeat", "cut"))
    if how == "insert":
        all_.insert(i, hostile_item(rng))
    elif how == "delete":
        del all_[min(i, j):min(i, j) + rng.choice((1, 1, 5))]
    elif how == "duplicate":
        all_.insert(i, all_[j])
    elif how == "swap":
        all_[i], all_[j] = all_[j], all_[i]
    elif how == "value" and len(all_[i]) > 1:
        n = len(all_[i]) - 1
        old = int.from_bytes(all_[i][1:], "little")
        new = number(rng, old) & (1 << 8 * n) - 1
        all_[i] = all_[i][:1] + new.to_bytes(n, "little")
    elif how == "repeat":
        all_[i:i] = [all_[i]] * rng.choice((100, 3000))
    else:
        how = "cut"
        all_[i:] = [all_[i][:-1]]
    new = b"".join(all_)
    if chunk.type == STREAM and len(new) < len(raw):
        new += bytes(len(raw) - len(new))
    chunk.pack(new)
    return f"stream-{how}"


@mutation(PROFILE)
def checkpoint(m, rng):
    """What its own checksums do not cover: the head."""
    chunk = any_chunk(m, (CHECKPOINT,))
    if not chunk or len(chunk.payload) < 64:
        return None
    at = rng.randrange(0, 64, 4)
    put32(chunk.payload, at, number(rng, u32(chunk.payload, at)))
    return "checkpoint-head"


# --- beside the file ---------------------------------------------------------
@mutation(BOTH, 2)
def link(m, rng):
    """A link in the place of a file that readers keep beside it."""
    if m.links:
        return None
    names = {"recording": (".checkpoints", ".checkpoints", ".last", ".index"),
             "trimmed": (".checkpoints",)}
    name = rng.choice(names.get(m.seed.family, (".index",)))
    m.links.append((name, "folder" if name == ".checkpoints" else "file"))
    return f"link{name.replace('.', '-')}"
