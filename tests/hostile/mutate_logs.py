# SPDX-License-Identifier: Apache-2.0
"""Events in the log of a recording."""
from container import PACKED, STREAM, put64, u64, uv
from logs import (BACK, BEGIN, CALLBACK, CAME, END, ENV, FORGET, FORK, HALT,
                  HASHED, HAS_ADDRESS, HAS_BYTES, IN, LEFT, OTHER, OUT, STACK,
                  STOP, SYNC, TURN, WHAT, ZERO, Event, decode, encode)
from mutants import PROFILE, mutation
from values import LIMITS, address, number

NUMBERS = {STACK, ZERO, HALT, LEFT}  # they have addresses
SIZES = (0, 1, 7, 8, 9, 64, 4096, 4097, 65536, 1 << 20)


class Part:
    """A chunk with a part of a log."""

    def __init__(self, m):
        chunks = [c for c in m.file.chunks if c.type in (STREAM, PACKED)
                  and c.aux0 and len(c.payload) > 8]
        self.chunk = m.rng.choice(chunks) if chunks else None
        self.is_good = bool(chunks) and m.file.is_recording()
        if self.is_good:
            raw = self.chunk.unpack()
            if self.chunk.type == STREAM:
                self.word, raw = u64(raw, 0), raw[8:8 + (u64(raw, 0) >> 1)]
            self.events = decode(raw)
            self.is_good = bool(self.events)

    def known(self):
        """Addresses that the log has."""
        return [n for e in self.events if e.kind == OTHER
                for n in e.values if n >> 20]

    def write(self, log):
        if self.chunk.type == STREAM:
            room = len(self.chunk.payload)
            payload = bytearray(8) + log
            put64(payload, 0, len(log) << 1 | self.word & 1)
            payload += bytes(max(room - len(payload), 0))
            self.chunk.payload = payload
        else:
            self.chunk.pack(log)


def of_log(function, weight):
    """Registers what changes the events of a part."""
    def change(m, rng):
        part = Part(m)
        if not part.is_good:
            return None
        kind = function(part, rng)
        if kind:
            part.write(encode(part.events))
        return kind
    mutation(PROFILE, weight)(change)
    return function


def log(weight):
    return lambda function: of_log(function, weight)


def pick(part, rng, what=None, kind=OTHER):
    found = [e for e in part.events
             if (e.kind == kind and (what is None or e.what == what))]
    return rng.choice(found) if found else None


def place(part, rng, event):
    """Puts an event in, at the tick of the one that it comes after: often one
    in a call of foreign code, where such events are looked for."""
    inside = [i for i, e in enumerate(part.events) if e.kind == OTHER
              and e.what in (OUT, HASHED, ZERO, ENV, SYNC)]
    i = rng.choice(inside) if inside and rng.randrange(4) else \
        rng.randrange(len(part.events))
    event.tick = part.events[i].tick
    part.events.insert(i + 1, event)


@log(3)
def move(part, rng):
    events = part.events
    i, j = rng.randrange(len(events)), rng.randrange(len(events))
    how = rng.choice(("delete", "duplicate", "swap", "reverse"))
    kind = events[i].name
    if how == "delete":
        del events[i]
    elif how == "duplicate":
        events.insert(j, events[i].copy())
    elif how == "swap":
        events[i], events[j] = events[j], events[i]
    else:
        i, j = min(i, j), min(max(i, j), min(i, j) + 20)
        events[i:j] = events[i:j][::-1]
        kind = "events"
    return f"log-{kind}-{how}"


@log(2)
def ticks(part, rng):
    event = rng.choice(part.events)
    by = rng.choice((1, 2, 100, 1 << 31, 1 << 40, 1 << 61))
    at = event.tick
    for e in part.events:
        if e.tick >= at:
            e.tick += by
    return "log-tick"


@log(3)
def cell(part, rng):
    event = rng.choice([e for e in part.events if e.cell is not None] or [None])
    if not event:
        return None
    event.cell = rng.choice((number(rng, event.cell), event.cell + 1,
                             event.cell - 1, event.cell + (1 << 32),
                             rng.choice(part.events).cell or 0))
    return f"log-{event.name}-cell"


@log(4)
def in_offset(part, rng):
    event = pick(part, rng, kind=IN)
    if not event:
        return None
    event.values = [rng.choice((address(rng, part.known()), number(rng, 8),
                                -8, 8, 4096))]
    return "log-in-offset"


@log(3)
def in_bytes(part, rng):
    event = pick(part, rng, kind=IN)
    if not event:
        return None
    n = rng.choice(SIZES)
    how = rng.randrange(3)
    if how == 0:
        event.data = bytes(n)
    elif how == 1:
        event.data = b"".join(
            address(rng, part.known()).to_bytes(8, "little")
            for _ in range(min(n, 4096) // 8 + 1))[:max(n, 1)]
    else:
        event.data = bytes(b ^ 1 << rng.randrange(8) for b in event.data)
    return "log-in-" + ("size", "pointers", "flip")[how]


@log(2)
def in_insert(part, rng):
    model = pick(part, rng, kind=IN)
    if not model:
        return None
    event = model.copy()
    if rng.randrange(2):
        event.values = [address(rng, part.known())]
    event.data = rng.randbytes(rng.choice(SIZES[:6]))
    place(part, rng, event)
    return "log-in-insert"


@log(4)
def out_insert(part, rng):
    data = rng.randbytes(rng.choice((1, 8, 64, 4096)))
    flags = rng.choice((HAS_ADDRESS, HAS_ADDRESS | HAS_BYTES, HAS_BYTES, 0, 63))
    what = rng.choice((OUT, OUT, HASHED))
    if what == HASHED:
        flags = flags & ~HAS_BYTES | HAS_ADDRESS
    n = rng.choice((len(data), len(data), 0, 4097, 1 << 58))
    if flags & HAS_BYTES:
        n = len(data)
    place(part, rng, Event(0, OTHER, what, None, [
        flags | rng.randrange(2), number(rng, 8), address(rng, part.known()),
        n, rng.choice((1, 0, 0xFFFFFFFF))], data))
    return f"log-{WHAT[what]}-insert"


@log(4)
def out_change(part, rng):
    event = pick(part, rng, rng.choice((OUT, HASHED)))
    if not event:
        return None
    how = rng.choice(("address", "length", "flags", "pending", "bytes"))
    values = event.values
    if how == "address":
        values[0] |= HAS_ADDRESS
        values[2] = address(rng, part.known())
    elif how == "length":
        values[3] = number(rng, values[3]) & (1 << 58) - 1
    elif how == "flags":
        values[0] = rng.randrange(64)
    elif how == "pending":
        values[0] |= 8
        values[1] = number(rng, values[1])
    else:
        event.data = rng.randbytes(len(event.data))
    return f"log-{event.name}-{how}"


@log(6)
def number_of(part, rng):
    """A value of an event that is a number or an address."""
    event = rng.choice([e for e in part.events if e.values and (
        e.kind == BACK or e.kind == OTHER and e.what not in (OUT, HASHED))]
        or [None])
    if not event:
        return None
    i = rng.randrange(len(event.values))
    if event.kind == OTHER and event.what in NUMBERS and rng.randrange(2):
        event.values[i] = address(rng, part.known())
    else:
        event.values[i] = number(rng, event.values[i])
    return f"log-{event.name}-value"


@log(5)
def insert(part, rng):
    what = rng.choice((END, STACK, SYNC, BEGIN, STOP, FORK, FORGET, ZERO, ZERO,
                       ENV, TURN, CAME, HALT, LEFT))
    count = {END: 0, STOP: 0, FORGET: 0, STACK: 1, SYNC: 1, ENV: 1, ZERO: 2,
             TURN: 2, CAME: 3, HALT: 2, LEFT: 2, BEGIN: 3, FORK: 3}[what]
    known = part.known()
    values = [rng.choice((address(rng, known), rng.choice(LIMITS)))
              for _ in range(count)]
    event = Event(0, OTHER, what, None, values)
    if what == TURN:
        event.cell = rng.choice([e.cell for e in part.events
                                 if e.cell is not None] or [1 << 32])
    place(part, rng, event)
    return f"log-{WHAT[what]}-insert"


@log(2)
def call(part, rng):
    """Foreign code calls a function, or a landing pad is reached."""
    cells = [e.cell for e in part.events if e.cell is not None] or [1 << 32]
    kind = rng.choice((CALLBACK, BACK))
    values = [rng.choice((0, address(rng, part.known())))] \
        if kind == BACK else []
    place(part, rng, Event(0, kind, None, rng.choice(cells) +
                           rng.choice((0, 0, 1, -1, 1000)), values))
    return "log-call-insert"


@log(1)
def orders(part, rng):
    """Numbers of SYNC and TURN are exchanged, or all the same."""
    marks = [e for e in part.events if e.kind == OTHER
             and e.what in (SYNC, TURN)]
    if len(marks) < 2:
        return None
    numbers = [e.values[0] for e in marks]
    if rng.randrange(2):
        rng.shuffle(numbers)
    else:
        numbers = [rng.choice(numbers)] * len(numbers)
    for event, n in zip(marks, numbers):
        event.values[0] = n
    return "log-order"


@log(1)
def repeat(part, rng):
    event = rng.choice(part.events)
    i = part.events.index(event)
    part.events[i:i] = [event.copy() for _ in range(rng.choice((10, 2000)))]
    return f"log-{event.name}-repeat"


@mutation(PROFILE, 3)
def raw(m, rng):
    """Bytes of a log: numbers that are too long, or end early."""
    part = Part(m)
    if not part.is_good:
        return None
    data = bytearray(encode(part.events))
    at = rng.randrange(len(data))
    how = rng.choice(("overlong", "cut", "flip", "number"))
    if how == "overlong":
        data[at:at] = uv(0, rng.randrange(1, 14))
    elif how == "cut":
        del data[at:]
    elif how == "flip":
        data[at] ^= 1 << rng.randrange(8)
    else:
        data[at:at + 1] = uv(rng.choice(LIMITS))
    part.write(bytes(data))
    return f"log-bytes-{how}"
