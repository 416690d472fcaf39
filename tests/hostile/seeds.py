# SPDX-License-Identifier: Apache-2.0
"""Small programs, built in every mode and run: what mutants are made of.

They are kept in a folder, so that a mutant can be made again; a change of the
tools, or of what is here, makes them anew.
"""
import glob
import hashlib
import os
import shutil
import subprocess

from container import MAGIC, Container

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
INPUT = b"one\ntwo\n\nfour and five\n" * 3

# Name, family, source, mode.  Programs are run in an address space that is
# always the same.
BUILT = [
    ("edges", "counts", "paths.c", "edges"),
    ("strict", "counts", "paths.c", "edges,strict"),
    ("paths", "paths", "paths.c", "paths"),
    ("overlap", "paths", "paths.c", "paths,overlap"),
    ("calls", "calls", "paths.c", "paths,calls=0"),
    ("prefer", "calls", "paths.c", "paths,calls=2,prefer={list}"),
    ("residual", "paths", "paths.c", "residual,tested={paths}"),
    ("iterations", "windows", "paths.c", "paths,iterations=4"),
    ("chains", "chains", "paths.c", "paths,chains=3"),
    ("trace", "trace", "paths.c", "trace"),
    ("witness", "trace", "paths.c", "trace,witness"),
    ("threads", "trace", "contexts.c", "trace"),
    ("last", "trace", "paths.c", "trace,last=1M"),
    ("record", "recording", "paths.c", "record"),
    ("contexts", "recording", "contexts.c", "record"),
    ("record-last", "recording", "paths.c", "record,last=1M"),
]
# What tools make of them: name, family, seed whose program it is of, command;
# {o} is the file to write.
MADE = [
    ("sum", "paths", "paths", "merge -o {o} {paths} {paths2}"),
    ("sum-edges", "counts", "edges", "merge -o {o} {edges} {edges2}"),
    ("sum-overlap", "paths", "overlap", "merge -o {o} {overlap} {overlap2}"),
    ("sum-windows", "windows", "iterations",
     "merge -o {o} {iterations} {iterations2}"),
    ("sum-chains", "chains", "chains", "merge -o {o} {chains} {chains2}"),
    ("sum-trace", "paths", "trace", "merge -o {o} {trace} {trace2}"),
    ("pack", "paths", "paths", "pack --sources -o {o} {paths}"),
    ("pack-calls", "calls", "calls", "pack --sources -o {o} {calls}"),
    ("pack-trace", "trace", "trace", "pack --best -o {o} {trace}"),
    ("trimmed", "trimmed", "record", "trim --last 1K -o {o} {record}"),
    ("twpp", "twpp", "trace", "twpp --save {o} {trace}"),
    ("index", "index", "trace", "trace --summary --index {trace}"),
]
# How often each is taken, and how often its program is changed and not it.
WEIGHTS = {"recording": 4, "trimmed": 3, "trace": 2}
EXE_SHARE = {"recording": 0.3, "trimmed": 0.2, "counts": 0.3, "paths": 0.25,
             "trace": 0.25, "calls": 0.25, "windows": 0.15, "chains": 0.15}
HAS_MAP = ("sum", "pack")            # in the file, not in the program


class Seed:
    def __init__(self, name, family, source, profile, program):
        self.name, self.family, self.source = name, family, source
        self.path = os.path.dirname(profile)
        self.profile_path, self.program_path = profile, program
        with open(profile, "rb") as f:
            self.profile = f.read()
        self.program = None
        self.exe_share = 0
        if program and not name.startswith(HAS_MAP):
            with open(program, "rb") as f:
                self.program = f.read()
            self.exe_share = EXE_SHARE.get(family, 0)
        self.is_container = self.profile.startswith(MAGIC)
        self.weight = WEIGHTS.get(family, 1)
        self.others = []
        self.partner = self.tested = self.calls = None  # paths

    def container(self):
        return Container(self.profile)


class Maker:
    def __init__(self, cairn_bin, folder):
        self.bin, self.folder = cairn_bin, folder
        self.paths, self.programs = {}, {}

    def tool(self, *words, cwd=None, **more):
        env = dict(os.environ, XDG_CACHE_HOME=os.path.join(
            self.folder, "cache"), LC_ALL="C")
        done = subprocess.run(words, cwd=cwd or self.folder, env=env,
                              capture_output=True, check=False, timeout=300,
                              **more)
        if done.returncode not in (0, 1):
            raise SystemExit(f"hostile: cannot make a seed: {' '.join(words)}:"
                             f" {done.stderr.decode(errors='replace')[:500]}")
        return done.stdout

    def cairn(self, words):
        return self.tool(os.path.join(self.bin, "cairn"), *words)

    def run(self, name, program, number):
        """One run; its only file."""
        folder = os.path.join(self.folder, name)
        file = os.path.join(folder, f"{number or 1}.cairn")
        env = dict(os.environ, CAIRN_OUT=file)
        with open(os.path.join(folder, "input"), "wb") as f:
            f.write(INPUT)
        subprocess.run(["setarch", "-R", program, "input"], cwd=folder,
                       env=env, capture_output=True, check=True, timeout=60)
        return file

    def build(self, name, source, mode):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        program = os.path.join(folder, "program")
        if "{list}" in mode:
            self.paths["list"] = self.list_of_calls()
        mode = mode.format(**self.paths)
        self.tool(os.path.join(self.bin, "cairn-cc"), f"--cairn={mode}", "-w",
                  "-O1", "-g", "-pthread", os.path.join(PROGRAMS, source),
                  "-o", program)
        self.programs[name] = program
        self.paths[name] = self.run(name, program, 0)
        self.paths[name + "2"] = self.run(name, program, 2)

    def list_of_calls(self):
        path = os.path.join(self.folder, "calls.list")
        self.cairn(["segments", "--list", "--depth", "2", "-o", path,
                    self.paths["calls"]])
        return path

    def make(self, name, command):
        out = os.path.join(self.folder, name + ".made")
        self.cairn([w.format(o=out, **self.paths) for w in command.split()])
        if name == "index":
            os.rename(self.paths["trace"] + ".index", out)
        self.paths[name] = out

    def all(self):
        for name, _, source, mode in BUILT:
            self.build(name, source, mode)
        for name, _, _, command in MADE:
            self.make(name, command)


def stamp(cairn_bin):
    """Of the tools and of what is here."""
    lib = os.path.join(os.path.dirname(cairn_bin), "lib", "cairn")
    total = hashlib.sha256()
    for path in sorted(glob.glob(f"{lib}/*") + glob.glob(f"{PROGRAMS}/*") +
                       [os.path.abspath(__file__),
                        os.path.join(cairn_bin, "cairn-cc"),
                        os.path.join(cairn_bin, "cairn")]):
        with open(path, "rb") as f:
            total.update(hashlib.sha256(f.read()).digest())
    return total.hexdigest()


def load(cairn_bin, folder):
    mark = os.path.join(folder, "stamp")
    want = stamp(cairn_bin)
    try:
        with open(mark, encoding="ascii") as f:
            is_there = f.read() == want
    except OSError:
        is_there = False
    maker = Maker(cairn_bin, folder)
    if not is_there:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        maker.all()
        with open(mark, "w", encoding="ascii") as f:
            f.write(want)
    return all_of(folder)


def all_of(folder):
    seeds, source_of = [], {}
    for name, family, source, _ in BUILT:
        source_of[name] = source
        own = os.path.join(folder, name)
        seeds.append(Seed(name, family, source, os.path.join(own, "1.cairn"),
                          os.path.join(own, "program")))
        seeds[-1].partner = os.path.join(own, "2.cairn")
    for name, family, of, _ in MADE:
        own = os.path.join(folder, of)
        seeds.append(Seed(name, family, source_of[of],
                          os.path.join(folder, name + ".made"),
                          os.path.join(own, "program")))
        seeds[-1].partner = os.path.join(own, "2.cairn")
    paths = {s.name: s.profile_path for s in seeds}
    for seed in seeds:
        seed.others = [s for s in seeds if s is not seed]
        seed.tested = paths["paths"] if seed.name == "residual" else \
            seed.partner
        seed.calls = paths["calls"]
    return seeds
