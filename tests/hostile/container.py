# SPDX-License-Identifier: Apache-2.0
"""The container of docs/FORMAT.md, sections 1 to 4, for reading and writing.

Whatever is not written to stays as it was, byte for byte; what is written gets
its lengths and checksums anew, unless they were set by hand.
"""
import ctypes
import struct

MAGIC = b"\x89CAIRN\r\n"
HEAD = 4096
CHUNK_HEAD = 64
RECORDING = 128
(PROGRAM, MODULE, COUNTS, FRAMES, MAP, PATHS) = range(1, 7)
(STREAM, PACKED, CALLS, PLACED) = range(8, 12)
(FOREST, NODES, WINDOWS, CHECKPOINT) = range(13, 17)
SOURCES, ORDER, GAP, BINDINGS = 0x8000000C, 0x80000007, 0x80000011, 0x80000012
NAMES = {1: "program", 2: "module", 3: "counts", 4: "frames", 5: "map",
         6: "paths", 8: "stream", 9: "packed", 10: "calls", 11: "placed",
         13: "forest", 14: "nodes", 15: "windows", 16: "checkpoint",
         SOURCES: "sources", ORDER: "order", GAP: "gap", BINDINGS: "bindings"}
SIZE_MAX = 1 << 20                   # of what a frame of a seed has
MASK = (1 << 64) - 1


def make_tables():
    """For a byte, and for two at a time."""
    single = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        single.append(n)
    return single, [single[n & 255] >> 8 ^ single[(single[n & 255] ^ n >> 8)
                                                  & 255]
                    for n in range(65536)]


SINGLE, DOUBLE = make_tables()


def crc32c(data):
    crc, table = 0xFFFFFFFF, DOUBLE
    even = len(data) & ~1
    for word in memoryview(bytes(data[:even])).cast("H"):
        crc = crc >> 16 ^ table[(crc ^ word) & 0xFFFF]
    for byte in data[even:]:
        crc = crc >> 8 ^ SINGLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def put32(data, at, value):
    struct.pack_into("<I", data, at, value & 0xFFFFFFFF)


def put64(data, at, value):
    struct.pack_into("<Q", data, at, value & MASK)


def uv(value, extra=0):
    """LEB128; `extra` makes it that many bytes longer than it has to be."""
    value &= MASK
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    for _ in range(extra):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def sv(value, extra=0):
    return uv(value << 1 ^ value >> 63, extra)


class Damaged(Exception):
    """The seed is not what this code takes it for."""


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Damaged("ends early")
        self.at += n
        return bytes(self.data[self.at - n:self.at])

    def uv(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & MASK

    def sv(self):
        value = self.uv()
        return value >> 1 ^ -(value & 1)

    def str(self):
        return self.take(self.uv())


class Zstd:
    """libzstd, which cairn needs anyway."""

    def __init__(self):
        self.lib = ctypes.CDLL("libzstd.so.1")
        for name in ("compress", "decompress", "compressBound"):
            getattr(self.lib, "ZSTD_" + name).restype = ctypes.c_size_t

    def compress(self, data):
        data = bytes(data)
        room = self.lib.ZSTD_compressBound(ctypes.c_size_t(len(data)))
        out = ctypes.create_string_buffer(room)
        n = self.lib.ZSTD_compress(out, ctypes.c_size_t(room), data,
                                   ctypes.c_size_t(len(data)), 3)
        return out.raw[:n]

    def decompress(self, frame, size):
        frame = bytes(frame)
        if size > SIZE_MAX:
            raise Damaged("more than any seed has")
        out = ctypes.create_string_buffer(size or 1)
        find = self.lib.ZSTD_findFrameCompressedSize
        find.restype = ctypes.c_size_t
        used = find(frame, ctypes.c_size_t(len(frame)))
        if used > len(frame):
            raise Damaged("not a zstd frame")
        n = self.lib.ZSTD_decompress(out, ctypes.c_size_t(size), frame,
                                     ctypes.c_size_t(used))
        if n != size:
            raise Damaged("a zstd frame of another size")
        return out.raw[:n]


ZSTD = Zstd()


class Chunk:
    """The fields of its header by name, and the payload."""
    FIELDS = ("type", "id", "module", "n", "aux0", "aux1", "flags")

    def __init__(self, head, payload):
        (self.magic, self.type, self.length, self.id, self.module, self.n,
         self.aux0, self.aux1, self.flags) = struct.unpack_from(
             "<4sIQIIQQQI", head)
        self.payload = bytearray(payload)
        self.old = bytes(head), bytes(payload)
        self.payload_crc = u32(head, 52)
        self.is_resized = False      # LENGTH was set by hand
        self.wrong = 0               # checksums: 1 header's, 2 payload's

    @property
    def name(self):
        return NAMES.get(self.type, "unknown")

    def copy(self):
        other = Chunk(*self.old)
        other.__dict__.update(self.__dict__)
        other.payload = bytearray(self.payload)
        return other

    def encode(self):
        payload = bytes(self.payload)
        if not self.is_resized:
            payload += bytes(-len(payload) % 8)
            self.length = CHUNK_HEAD + len(payload)
        crc = self.payload_crc
        if payload != self.old[1]:
            crc = crc32c(payload)
        head = bytearray(CHUNK_HEAD)
        struct.pack_into("<4sIQIIQQQII", head, 0, self.magic,
                         self.type & 0xFFFFFFFF,
                         self.length & MASK, self.id & 0xFFFFFFFF,
                         self.module & 0xFFFFFFFF, self.n & MASK,
                         self.aux0 & MASK, self.aux1 & MASK,
                         self.flags & 0xFFFFFFFF, crc ^ (self.wrong >> 1 & 1))
        put32(head, 56, crc32c(head[:48]) ^ (self.wrong & 1))
        return bytes(head) + payload

    # What is packed in it: SOURCES, MAP and PACKED are zstd frames.
    def unpack(self):
        if self.type in (MAP, SOURCES):
            return bytearray(ZSTD.decompress(self.payload, self.aux0))
        if self.type == PACKED:
            return bytearray(ZSTD.decompress(self.payload[:self.aux1], self.n))
        return bytearray(self.payload)

    def pack(self, raw):
        if self.type not in (MAP, SOURCES, PACKED):
            self.payload = bytearray(raw)
            return
        frame = ZSTD.compress(raw)
        self.payload = bytearray(frame)
        if self.type == PACKED:
            self.n, self.aux1 = len(raw), len(frame)
        else:
            self.aux0 = len(raw)


class Container:
    def __init__(self, data):
        if data[:8] != MAGIC:
            raise Damaged("not a container")
        self.head = bytearray(data[:HEAD])
        self.is_resized = False      # LENGTH was set by hand
        self.wrong = 0               # checksums: 1 header's, 2 state's
        length, at = u64(data, 136), HEAD
        self.chunks = []
        while at < length:
            n = u64(data, at + 8)
            if data[at:at + 4] != b"CHK1" or at + n > length:
                raise Damaged("no chunk")
            self.chunks.append(Chunk(data[at:at + CHUNK_HEAD],
                                     data[at + CHUNK_HEAD:at + n]))
            at += n

    def is_recording(self):
        return bool(u32(self.head, 132) & RECORDING)

    def encode(self):
        body = b"".join(chunk.encode() for chunk in self.chunks)
        head = bytearray(self.head)
        if not self.is_resized:
            put64(head, 136, HEAD + len(body))
        put32(head, 124, crc32c(head[:124]) ^ (self.wrong & 1))
        put32(head, 188, crc32c(head[128:188]) ^ (self.wrong >> 1 & 1))
        return bytes(head) + body


def fix_checksums(data):
    """Of a file in which bytes were changed, as far as its chunks go."""
    data = bytearray(data)
    if len(data) < HEAD:
        return bytes(data)
    put32(data, 124, crc32c(data[:124]))
    put32(data, 188, crc32c(data[128:188]))
    at, end = HEAD, min(u64(data, 136), len(data))
    while end - at >= CHUNK_HEAD and data[at:at + 4] == b"CHK1":
        n = u64(data, at + 8)
        put32(data, at + 56, crc32c(data[at:at + 48]))
        if not CHUNK_HEAD <= n <= end - at:
            break
        put32(data, at + 52, crc32c(data[at + CHUNK_HEAD:at + n]))
        at += n
    return bytes(data)
