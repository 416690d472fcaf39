# SPDX-License-Identifier: Apache-2.0
"""Logs of recordings (docs/FORMAT.md, section 16): a part as a list of events.

Ticks and cells of events are relative in a log; here they are absolute, from 0
at the beginning of the part, so that events can be moved and left out.
"""
from container import Cursor, Damaged, MASK, sv, uv

IN, CALLBACK, BACK, OTHER = range(4)
(END, STACK, SYNC, BEGIN, STOP, FORK, FORGET, ZERO, ENV, OUT, HASHED, TURN,
 CAME, HALT, LEFT) = range(15)
WHAT = ["end", "stack", "sync", "begin", "stop", "fork", "forget", "zero",
        "env", "out", "hashed", "turn", "came", "halt", "left"]
NVALUES = [0, 1, 1, 3, 0, 3, 0, 2, 1, None, None, 2, 3, 2, 2]
HAS_BYTES, HAS_ADDRESS, IS_PAST = 2, 4, 8


class Event:
    """values: of IN the offset if it has one, of BACK the frame; of OUT flags,
    pending, address, length, hash; else what the format says."""

    def __init__(self, tick, kind, what=None, cell=None, values=(), data=b""):
        self.tick, self.kind, self.what, self.cell = tick, kind, what, cell
        self.values, self.data = list(values), bytes(data)

    def copy(self):
        return Event(self.tick, self.kind, self.what, self.cell, self.values,
                     self.data)

    @property
    def name(self):
        return WHAT[self.what] if self.kind == OTHER else \
            ("in", "callback", "back")[self.kind]

    def __repr__(self):
        return f"{self.name}@{self.tick} {self.values} {len(self.data)}"


def read_out(c, what):
    word = c.uv()
    flags, n = word & 63, word >> 6
    pending = c.uv() if flags & IS_PAST else 0
    address = c.uv() if flags & HAS_ADDRESS else 0
    data = c.take(n) if flags & HAS_BYTES else b""
    hash_ = int.from_bytes(c.take(4), "little") if what == HASHED else 0
    return [flags, pending, address, n, hash_], data


def decode(log):
    c, events, tick, cell = Cursor(log), [], 0, 0
    while c.at < len(log):
        word = c.uv()
        tick += word >> 2
        event = Event(tick, word & 3)
        if event.kind == OTHER:
            event.what = c.uv()
            if event.what >= len(WHAT):
                raise Damaged("an unknown event")
        if event.kind != OTHER or event.what == TURN:
            cell = cell + c.sv() & MASK
            event.cell = cell
        if event.kind == IN:
            n = c.uv()
            event.values = [c.uv()] if n & 1 else []
            event.data = c.take(n >> 1)
        elif event.kind == BACK:
            event.values = [c.uv()]
        elif event.kind == OTHER and event.what in (OUT, HASHED):
            event.values, event.data = read_out(c, event.what)
        elif event.kind == OTHER:
            event.values = [c.uv() for _ in range(NVALUES[event.what])]
        events.append(event)
    return events


def encode_out(event):
    flags, pending, address, n, hash_ = event.values
    out = uv(n << 6 | flags)
    if flags & IS_PAST:
        out += uv(pending)
    if flags & HAS_ADDRESS:
        out += uv(address)
    if flags & HAS_BYTES:
        out += event.data
    if event.what == HASHED:
        out += (hash_ & 0xFFFFFFFF).to_bytes(4, "little")
    return out


def encode(events):
    out, tick, cell = bytearray(), 0, 0
    for event in events:
        step = max(event.tick - tick, 0)
        tick += step
        out += uv(step << 2 | event.kind)
        if event.kind == OTHER:
            out += uv(event.what)
        if event.cell is not None:
            by = event.cell - cell & MASK
            out += sv(by - (1 << 64) if by >> 63 else by)
            cell = event.cell & MASK
        if event.kind == IN:
            has = bool(event.values)
            out += uv(len(event.data) << 1 | has)
            out += b"".join(map(uv, event.values[:1])) + event.data
        elif event.kind == OTHER and event.what in (OUT, HASHED):
            out += encode_out(event)
        else:
            out += b"".join(map(uv, event.values))
    return bytes(out)
