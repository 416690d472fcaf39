# SPDX-License-Identifier: Apache-2.0
"""What a sender who means harm would write: numbers, addresses, texts."""

TOP = (1 << 64) - 1
LIMITS = [0, 1, 2, 7, 0x7F, 0xFF, 0x100, 0xFFFF, (1 << 31) - 1, 1 << 31,
          (1 << 32) - 1, 1 << 32, (1 << 60) - 1, (1 << 63) - 1, 1 << 63,
          (1 << 64) - 8, (1 << 64) - 1]


def number(rng, old, room=0):
    """Another number in place of an old one; `room`: how many there are of
    what it counts or is an index of, if that is known."""
    near = [old + 1, old - 1, old * 2, old ^ 1 << rng.randrange(64), -old]
    of = [room, room - 1, room + 1] if room else []
    return rng.choice(LIMITS + near + of * 4) & (1 << 64) - 1


# A replay has what a program has at p at p - DISTANCE (src/abi/record.h).
DISTANCE = 0x40000001540


def address(rng, known=()):
    """One at which a replayer may have something, or at which the program's
    memory is where the replayer has something."""
    return place(rng, known) + rng.choice((0, DISTANCE, -DISTANCE)) & TOP


def place(rng, known):
    pages = [rng.randrange(1 << 8) << 12, 0x10000000 + rng.randrange(1 << 16),
             0x10000000 + rng.randrange(1 << 20),
             0x10000000 + rng.randrange(1 << 24),
             0x20000000 + rng.randrange(1 << 28),
             0x70000000 + rng.randrange(1 << 28),
             0x550000000000 + rng.randrange(1 << 40),
             0x560000000000 + rng.randrange(1 << 36),
             0x7F0000000000 + rng.randrange(1 << 40),
             0x7FFC00000000 + rng.randrange(1 << 33),
             rng.randrange(1 << 47), (1 << 47) - 8, 1 << 47,
             1 << 63, (1 << 64) - 1, (1 << 64) - 4096, 0, 8]
    around = [a + rng.choice((0, 8, -8, 4096, -4096, 1 << 20))
              for a in known]
    return rng.choice(pages + around * 2)


def text(rng, old, canary):
    """Names and paths."""
    return rng.choice([
        b"", b"A" * 70000, b"../" * 40 + canary.lstrip("/").encode(),
        canary.encode(), b"/", b".", b"..", b"/proc/self/mem",
        b"/nonexistent/" + old[-40:], b"%s%n%s%n%x", b"\xff\xfe\xc0\x80\xed",
        b"\x1b]0;title\x07\x1b[31m" + old[-40:], b"line\nSF:/x\nDA:1,1\n",
        b"<script>alert(1)</script>\"'&", b"a\\\"},{\"b\":1", b"$(id)`id`;id",
        old + b"\0" + old, old[:1], old * 2, old[::-1],
        rng.randbytes(rng.randrange(1, 40))])


def damage(rng, data):
    """Bytes of it changed, taken out, put in, or done twice."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        if not data:
            return data
        at = rng.randrange(len(data))
        n = min(rng.choice((1, 1, 2, 4, 8, 64)), len(data) - at)
        how = rng.randrange(6)
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at:at + n] = rng.randbytes(n)
        elif how == 2:
            data[at:at + n] = b"\xff" * n
        elif how == 3:
            del data[at:at + n]
        elif how == 4:
            data[at:at] = data[at:at + n]
        else:
            data[at:at + n] = bytes(n)
    return data
