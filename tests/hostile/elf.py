# SPDX-License-Identifier: Apache-2.0
"""Sections of an ELF file: where they are, and one put in place of another.

A section that changes moves to the end of the file, so that nothing else does:
those of Cairn are not loaded.
"""
import struct

from container import Damaged, u32, u64, put64

SECTION_HEAD = 64
# Name, offset in the header of a section, size.
FIELDS = (("name", 0, 4), ("type", 4, 4), ("flags", 8, 8), ("addr", 16, 8),
          ("offset", 24, 8), ("size", 32, 8), ("link", 40, 4), ("info", 44, 4),
          ("align", 48, 8), ("entsize", 56, 8))
HEAD_FIELDS = (("type", 16, 2), ("machine", 18, 2), ("entry", 24, 8),
               ("phoff", 32, 8), ("shoff", 40, 8), ("phentsize", 54, 2),
               ("phnum", 56, 2), ("shentsize", 58, 2), ("shnum", 60, 2),
               ("shstrndx", 62, 2))
PROGRAM_FIELDS = (("type", 0, 4), ("flags", 4, 4), ("offset", 8, 8),
                  ("vaddr", 16, 8), ("filesz", 32, 8), ("memsz", 40, 8),
                  ("align", 48, 8))
PROGRAM_HEAD = 56


class Elf:
    def __init__(self, data):
        if data[:4] != b"\x7fELF":
            raise Damaged("not an ELF file")
        self.data = bytearray(data)
        self.table = u64(data, 40)
        self.programs = u64(data, 32)
        self.nprograms, _, self.n, names = struct.unpack_from("<4H", data, 56)
        names_at = u64(data, self.header(names) + 24)
        self.sections = {}
        for i in range(self.n):
            at = names_at + u32(data, self.header(i))
            self.sections[bytes(data[at:data.index(b"\0", at)]).decode()] = i

    def header(self, i):
        return self.table + SECTION_HEAD * i

    def has(self, name):
        return name in self.sections

    def get(self, name):
        at = self.header(self.sections[name])
        start = u64(self.data, at + 24)
        return bytearray(self.data[start:start + u64(self.data, at + 32)])

    def put(self, name, content):
        at = self.header(self.sections[name])
        self.data += bytes(-len(self.data) % 16)
        put64(self.data, at + 24, len(self.data))
        put64(self.data, at + 32, len(content))
        self.data += content
