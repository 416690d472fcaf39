#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads .cairn files of the runtime, checks them, and prints what each says:
state, flags, then one line per counter and per frame, by symbol name; for each
table of paths how many counts there are, of how many paths, and the sum of all
path numbers counted; for frames with path registers the sum of those."""
import struct
import subprocess
import sys

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = crc >> 8 ^ TABLE[(crc ^ b) & 255]
    return crc ^ 0xFFFFFFFF


class Bad(Exception):
    pass


def fail(text):
    raise Bad(text)


KNOWN = {}  # symbols of a module, by path


def symbols(path):
    if path not in KNOWN:
        KNOWN[path] = read_symbols(path)
    return KNOWN[path]


def read_symbols(path):
    out = subprocess.run(["nm", path], capture_output=True, text=True).stdout
    code, counters = [], {}
    for line in out.splitlines():
        f = line.split()
        if len(f) != 3:
            continue
        if f[2].startswith("cnt_"):
            counters[int(f[0], 16)] = f[2][4:]
        elif f[1] in "tT":
            code.append((int(f[0], 16), f[2]))
    return sorted(code), counters


def read_paths(data, module, paths):
    """Adds the tables of a PATHS payload up: name -> path -> count."""
    at = 0
    while at + 32 <= len(data):
        owner, slots = struct.unpack_from("<QQ", data, at)
        if not owner:
            break
        if owner not in module[3] or at + 32 + 16 * slots > len(data):
            fail("table at %d of owner %x" % (at, owner))
        into = paths.setdefault(module[3][owner], {})
        words = struct.unpack_from("<%dQ" % (2 * slots), data, at + 32)
        for key, count in zip(words[::2], words[1::2]):
            if count and not key:
                fail("count without path")
            if count:
                into[key - 1] = into.get(key - 1, 0) + count
        at += 32 + 16 * slots


def show(name):
    data = open(name, "rb").read()
    if data[:8] != b"\x89CAIRN\r\n" or crc32c(data[:124]) != struct.unpack_from("<I", data, 124)[0]:
        fail("header")
    state, flags, length, end, how, sig, unwalked = struct.unpack_from("<IIQQIII", data, 128)
    if state == 1 and crc32c(data[128:188]) != struct.unpack_from("<I", data, 188)[0]:
        fail("state checksum")
    if length > len(data):
        fail("length")
    at, modules, counts, frames, nthreads = 4096, {}, {}, {}, set()
    tables, paths, registers = [], {}, {}
    while at < length:
        magic, kind, size, ident, module, n, a0, a1, cf, pc, hc, z = struct.unpack_from("<IIQIIQQQIIII", data, at)
        if magic != 0x314B4843 or crc32c(data[at:at + 48]) != hc or z:
            fail("chunk at %d" % at)
        payload = data[at + 64:at + size]
        if cf != 1 and crc32c(payload) != pc:
            fail("payload at %d type %d" % (at, kind))
        if state == 1 and cf == 1:
            print("unsealed", kind)
        if kind == 2:
            nid = struct.unpack_from("<I", payload)[0]
            path = payload[4 + nid:].split(b"\0")[0].decode()
            modules[module] = (path, a0) + symbols(path)
        elif kind == 3:
            nthreads.add(ident)
            path, first, code, names = modules[module]
            for i, v in enumerate(struct.unpack_from("<%dQ" % n, payload)):
                key = names.get(first + 8 * i, "?")
                counts[key] = counts.get(key, 0) + v
        elif kind == 4:
            tables += [struct.unpack_from("<QQq", payload, 24 * i) for i in range(n)]
        elif kind == 6:
            nthreads.add(ident)
            read_paths(payload[:n], modules[module], paths)
        at += size
    for key, reg, v in tables:
        if not v or not key:
            continue
        m, pc = key >> 48 & 0xFFF, key & 0xFFFFFFFFFFFF
        fn = "?"
        for a, s in modules[m][2]:
            if a < pc + (key >> 60 in (2, 4)):
                fn = s
        k = ("", "OUT", "OUT_ASYNC", "IN", "IN_ASYNC")[key >> 60] + " " + fn
        frames[k] = frames.get(k, 0) + v
        if reg:
            registers[k] = registers.get(k, 0) + (reg - 1) * v
    print("state", "closed" if state else "open", "how", how, "signal", sig, "flags", flags, "unwalked", unwalked)
    print("threads", len(nthreads), "modules", len(modules))
    for k in sorted(counts):
        print("count", k, counts[k])
    for k in sorted(frames):
        print("frame", k, frames[k])
    for k in sorted(registers):
        print("register", k, registers[k])
    for k in sorted(paths):
        p = paths[k]
        print("paths", k, sum(p.values()), len(p),
              sum(a * b for a, b in p.items()) % 2**64)


def main(names):
    status = 0
    for name in names:
        if len(names) > 1:
            print("file", name)
        try:
            show(name)
        except Bad as bad:
            print("BAD", bad)
            status = 1
    return status


sys.exit(main(sys.argv[1:]))
