# SPDX-License-Identifier: Apache-2.0
"""Programs: ELF headers, sections, notes, and the IR of recorded ones."""
import hashlib
import struct

import elf
import maps
from container import ZSTD, Damaged, put64, u64
from mutants import PROGRAM, mutation
from values import damage, number, text

IR, MAP = ".cairn.ir", ".cairn.map"
IR_HEAD = 40                         # magic, id, bytes of bitcode, of the frame


class Unit:
    def __init__(self, head, frame):
        self.head, self.frame = bytearray(head), bytes(frame)

    def bitcode(self):
        return ZSTD.decompress(self.frame, u64(self.head, 24))

    def put(self, bitcode, rng):
        """With its hash as its id, mostly: LLVM gets to read it."""
        if rng.randrange(4):
            self.head[8:24] = hashlib.sha256(bitcode).digest()[:16]
        self.set_frame(ZSTD.compress(bitcode))
        put64(self.head, 24, len(bitcode))

    def set_frame(self, frame):
        self.frame = bytes(frame)
        put64(self.head, 32, len(frame))


def units_of(data):
    out, at = [], 0
    while at < len(data):
        if not data[at]:
            at += 1
            continue
        if data[at:at + 7] != b"CAIRNIR":
            raise Damaged("no unit")
        n = u64(data, at + 32)
        out.append(Unit(data[at:at + IR_HEAD],
                        data[at + IR_HEAD:at + IR_HEAD + n]))
        at += IR_HEAD + n
    return out


def rename(program, old, new):
    """Units in the map, by their ids."""
    if len(old) != len(new) or old == new or not program.has(MAP):
        return
    records = maps.decode(program.get(MAP))
    for was, now in zip(old, new):
        for record in records:
            record.head = record.head.replace(was, now)
            record.blob = record.blob.replace(was, now)
    program.put(MAP, maps.encode(records))


def of_ir(weight):
    def register(function):
        def change(m, rng):
            if not m.elf.has(IR):
                return None
            units = units_of(m.elf.get(IR))
            ids = [bytes(unit.head[8:24]) for unit in units]
            kind = function(m, rng, units) if units else None
            if kind:
                rename(m.elf, ids, [bytes(u.head[8:24]) for u in units])
                out = bytearray()
                for unit in units:
                    out += unit.head + unit.frame
                    out += bytes(-len(out) % 8)
                m.elf.put(IR, out)
            return kind
        mutation(PROGRAM, weight)(change)
        return function
    return register


@of_ir(6)
def bitcode(m, rng, units):
    unit = rng.choice(units)
    code = bytearray(unit.bitcode())
    how = rng.choice(("flip", "flip", "damage", "cut", "empty", "zeros"))
    if how == "flip":
        for _ in range(rng.choice((1, 1, 2, 8))):
            code[rng.randrange(len(code))] ^= 1 << rng.randrange(8)
    elif how == "damage":
        code = damage(rng, code)
    elif how == "cut":
        del code[rng.randrange(len(code)):]
    elif how == "empty":
        code = bytearray()
    else:
        at = rng.randrange(len(code))
        code[at:at + 64] = bytes(len(code[at:at + 64]))
    unit.put(code, rng)
    return f"ir-bitcode-{how}"


@of_ir(3)
def bitcode_words(m, rng, units):
    """A word of bitcode, which may be a length, an id of a type or of a value,
    or an abbreviation."""
    unit = rng.choice(units)
    code = bytearray(unit.bitcode())
    at = rng.randrange(0, len(code) - 3, 4)
    struct.pack_into("<I", code, at, number(rng, struct.unpack_from(
        "<I", code, at)[0]) & 0xFFFFFFFF)
    unit.put(code, rng)
    return "ir-bitcode-word"


@of_ir(2)
def frame(m, rng, units):
    unit = rng.choice(units)
    if rng.randrange(2):
        unit.set_frame(damage(rng, unit.frame))
        return "ir-frame-damage"
    unit.set_frame(unit.frame[:rng.randrange(len(unit.frame))])
    return "ir-frame-cut"


@of_ir(2)
def sizes(m, rng, units):
    unit = rng.choice(units)
    name, at = rng.choice((("raw", 24), ("packed", 32)))
    put64(unit.head, at, number(rng, u64(unit.head, at)))
    return f"ir-size-{name}"


@of_ir(1)
def head(m, rng, units):
    unit = rng.choice(units)
    if rng.randrange(2):
        unit.head[7] = rng.choice(b"123456789\0\xff")
        return "ir-version"
    unit.head[8 + rng.randrange(16)] ^= 1 << rng.randrange(8)
    return "ir-id"


@of_ir(2)
def foreign(m, rng, units):
    """The IR of another unit, under the id of this one."""
    others = [u for s in m.seed.others if s.program
              for e in [elf.Elf(s.program)] if e.has(IR)
              for u in units_of(e.get(IR))]
    unit = rng.choice(units)
    others = [u for u in others if u.head[8:24] != unit.head[8:24]]
    if not others:
        return None
    unit.put(rng.choice(others).bitcode(), rng)
    return "ir-of-another-unit"


@of_ir(1)
def move(m, rng, units):
    i = rng.randrange(len(units))
    how = rng.choice(("delete", "duplicate"))
    if how == "delete":
        del units[i]
    else:
        units.append(units[i])
    return f"ir-unit-{how}"


@of_ir(1)
def bomb(m, rng, units):
    unit = rng.choice(units)
    unit.put(unit.bitcode() + bytes(rng.choice((1 << 20, 1 << 26))), rng)
    return "ir-bomb"


# --- ELF ---------------------------------------------------------------------
def put_number(m, rng, at, size):
    old = int.from_bytes(m.elf.data[at:at + size], "little")
    new = number(rng, old, len(m.elf.data)) & (1 << 8 * size) - 1
    m.elf.data[at:at + size] = new.to_bytes(size, "little")


@mutation(PROGRAM, 2)
def elf_head(m, rng):
    name, at, size = rng.choice(elf.HEAD_FIELDS)
    put_number(m, rng, at, size)
    return f"elf-{name}"


@mutation(PROGRAM, 3)
def section_head(m, rng):
    wanted = [s for s in m.elf.sections if "cairn" in s or "note" in s
              or s in (".shstrtab", ".debug_line", ".symtab")]
    section = rng.choice(wanted or list(m.elf.sections))
    name, at, size = rng.choice(elf.FIELDS)
    put_number(m, rng, m.elf.header(m.elf.sections[section]) + at, size)
    return f"section-{name}"


@mutation(PROGRAM, 2)
def program_head(m, rng):
    i = rng.randrange(m.elf.nprograms)
    name, at, size = rng.choice(elf.PROGRAM_FIELDS)
    put_number(m, rng, m.elf.programs + elf.PROGRAM_HEAD * i + at, size)
    return f"segment-{name}"


@mutation(PROGRAM, 2)
def section_bytes(m, rng):
    section = rng.choice([s for s in m.elf.sections if s])
    old = m.elf.get(section)
    if not old:
        return None
    m.elf.put(section, damage(rng, old))
    return "section" + section.replace(".", "-").replace("_", "-")


@mutation(PROGRAM)
def section_name(m, rng):
    names = m.elf.get(".shstrtab")
    at = names.find(b"cairn")
    if at < 0:
        return None
    new = text(rng, b"cairn", m.canary)[:8]
    names[at:at + len(new)] = new
    m.elf.put(".shstrtab", names)
    return "section-names"


@mutation(PROGRAM)
def cut(m, rng):
    del m.elf.data[rng.randrange(64, len(m.elf.data)):]
    return "elf-cut"
