# SPDX-License-Identifier: Apache-2.0
"""A mutant: what a seed has, changed in one to three ways.

A way is a function that is registered with @mutation.  It changes the mutant
and returns the name of what it did, or None where there is nothing to change;
these names are the kinds that are counted.
"""
import random
import struct

import mutate_twpp
from container import Container, Damaged, MAP, fix_checksums
from elf import Elf
from values import damage

PROFILE, PROGRAM, BOTH = "profile", "program", "both"
mutations = []                       # (target, weight, function)
TRIES = 12


def mutation(target, weight=1):
    def register(function):
        mutations.append((target, weight, function))
        return function
    return register


class Mutant:
    def __init__(self, run_seed, number, seed, canary):
        self.rng = random.Random(f"{run_seed}:{number}")
        self.number, self.seed, self.canary = number, seed, canary
        self.kinds = []
        self.file = Container(seed.profile) if seed.is_container else None
        self.elf = None
        self.program = None          # bytes, if they are others
        self.links = []              # (name of a file beside it, target)
        has_program = bool(seed.program) and self.rng.random() < seed.exe_share
        self.target = PROGRAM if has_program else PROFILE
        if has_program:
            self.elf = Elf(seed.program)
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            self.mutate()
        self.finish()

    def mutate(self):
        if not self.file:
            return
        able = [m for m in mutations if m[0] in (self.target, BOTH)]
        for _ in range(TRIES):
            _, _, function = self.rng.choices(able, [m[1] for m in able])[0]
            try:
                kind = function(self, self.rng)
            except (Damaged, IndexError, KeyError, OverflowError, ValueError,
                    struct.error):
                if not self.kinds:   # else there is no structure left
                    raise
                kind = None
            if kind:
                self.kinds.append(kind)
                return

    # --- where maps are ---------------------------------------------------
    def map_holder(self):
        """A chunk; the name of a section; or None."""
        if self.target == PROGRAM:
            return ".cairn.map" if self.elf.has(".cairn.map") else None
        chunks = [c for c in self.file.chunks if c.type == MAP]
        return self.rng.choice(chunks) if chunks else None

    def read_map(self, holder):
        return self.elf.get(holder) if isinstance(holder, str) else \
            holder.unpack()

    def write_map(self, holder, data):
        if isinstance(holder, str):
            self.elf.put(holder, data)
        else:
            holder.pack(data)

    # --- the files --------------------------------------------------------
    def finish(self):
        rng = self.rng
        self.profile = self.file.encode() if self.file else self.seed.profile
        if self.elf:
            self.program = bytes(self.elf.data)
        if self.file and self.target == PROFILE and rng.random() < 0.12:
            self.cut_or_flip()
        elif self.seed.family == "twpp" and rng.randrange(8):
            self.profile, kind = mutate_twpp.change(rng, self.profile,
                                                    self.canary)
            self.kinds.append(kind)
        elif not self.file:
            self.profile = bytes(damage(rng, self.profile))
            self.kinds.append(f"{self.seed.family}-bytes")
        if not self.kinds:
            self.profile = bytes(damage(rng, self.profile))
            self.kinds.append("bytes")

    def cut_or_flip(self):
        rng, data = self.rng, self.profile
        if rng.randrange(2):
            at = rng.randrange(len(data))
            self.profile = data[:at]
            self.kinds.append("truncated")
        elif rng.randrange(3):
            self.profile = fix_checksums(damage(rng, data))
            self.kinds.append("bytes-checksums-fixed")
        else:
            self.profile = bytes(damage(rng, data))
            self.kinds.append("bytes")
