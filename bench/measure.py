# SPDX-License-Identifier: Apache-2.0
"""Builds programs with a compiler under test, runs them, and measures.

CPU time is user plus system time of the command and of the children it
waited for, as the kernel reports it to wait4.  Instructions come from
callgrind, loaded size from the program headers of the executable.
"""

import dataclasses
import hashlib
import math
import os
import pathlib
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import time
import sys

from corpus import HERE, BenchError, corpus_dir, run_quiet
import programs

sys.dont_write_bytecode = True


@dataclasses.dataclass(frozen=True)
class Variant:
    """A way to compile: compilers, and flags for compiling and linking."""

    name: str
    cc: str
    cxx: str
    flags: tuple


def environment(scratch, extra=None):
    """What every build step and every run sees: fixed locale and time zone,
    and a place inside `scratch` for whatever instrumentation writes."""
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("CAIRN", "LLVM_PROFILE", "GCOV", "CFLAGS",
                             "LDFLAGS", "CPPFLAGS", "CXXFLAGS", "MAKE"))
    }
    env.update(
        LC_ALL="C",
        TZ="UTC",
        CAIRN_OUT=str(scratch / "%n.%p.cairn"),
        LLVM_PROFILE_FILE=str(scratch / "%p.profraw"),
    )
    env.update(extra or {})
    return env


def bytes_read(pid):
    """What a child read(2) until it ended; waits for that, and leaves its
    status to the caller."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    text = pathlib.Path(f"/proc/{pid}/io").read_text()
    return int(re.search(r"rchar: (\d+)", text).group(1))


def cpu_time(argv, env, cwd, stdin=None, stdout=None, stderr=None,
             reads=None):
    """Runs a command; returns (seconds of CPU time, exit status).  Appends to
    the list `reads` how much it read."""
    child = subprocess.Popen(
        [str(a) for a in argv],
        env=env,
        cwd=cwd,
        stdin=stdin or subprocess.DEVNULL,
        stdout=stdout or subprocess.DEVNULL,
        stderr=stderr or subprocess.STDOUT,
    )
    if reads is not None:
        reads.append(bytes_read(child.pid))
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, child.returncode


class Build:
    """One program compiled by one variant, in a directory of its own."""

    def __init__(self, program, variant, directory):
        self.program = program
        self.variant = variant
        self.cc = variant.cc
        # -w: these are other people's warnings
        self.flags = [*variant.flags, "-w"]
        self.dir = pathlib.Path(directory)
        self.src = corpus_dir() / "src" / program.package
        self.seconds = 0.0
        self.objects = []
        shutil.rmtree(self.dir, ignore_errors=True)
        self.scratch = self.dir / "scratch"
        self.scratch.mkdir(parents=True)
        self.env = environment(self.scratch)
        program.build(self)

    def expand(self, flags):
        return [f.format(src=self.src, dir=self.dir) for f in flags.split()]

    def find(self, patterns):
        """Source files; ! before a name takes it away, @ means in/."""
        found = []
        for pattern in patterns.split():
            if pattern.startswith("!"):
                found.remove(self.src / pattern[1:])
            elif pattern.startswith("@"):
                found.append(HERE / "in" / pattern[1:])
            else:
                matches = sorted(self.src.glob(pattern))
                if not matches:
                    raise BenchError(f"{self.src}: no {pattern}")
                found += matches
        return found

    def helper(self, argv, cwd=None):
        """A step that is no compilation, such as configure."""
        run_quiet(argv, cwd=cwd or self.dir, env=self.env)

    def timed(self, argv, cwd=None):
        """A step whose CPU time counts as compile time."""
        log = self.dir / "log"
        with open(log, "wb") as out:
            seconds, status = cpu_time(
                argv, self.env, cwd or self.dir, stdout=out
            )
        if status != 0:
            said = log.read_text(errors="replace")[:1000]
            raise BenchError(
                f"{self.program.name}: {self.variant.name}: "
                f"{' '.join(str(a) for a in argv)} failed:\n{said}"
            )
        self.seconds += seconds

    def compiler(self, cxx):
        return self.variant.cxx if cxx else self.variant.cc

    def compile(self, files, flags, cxx):
        for source in files:
            name = f"{len(self.objects)}-{source.stem}.o"
            self.objects.append(name)
            self.timed(
                [self.compiler(cxx), *self.flags, *flags, "-c", source, "-o",
                 name]
            )

    def link(self, exe, libs, cxx):
        self.timed(
            [self.compiler(cxx), *self.flags, *self.objects, *libs, "-o", exe]
        )

    @property
    def exe(self):
        return self.dir / self.program.exe


class Inputs:
    """Generated inputs, one directory per program and size."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.dir.mkdir(parents=True, exist_ok=True)
        self.gen = self.dir / "gen"
        run_quiet(["clang-19", "-std=c17", "-O2", HERE / "gen.c", "-o",
                   self.gen])

    def make(self, program, size):
        where = self.dir / program.name / size
        where.mkdir(parents=True, exist_ok=True)
        values = program.sizes[size]
        for name, recipe in program.inputs.items():
            if callable(recipe):
                (where / name).write_text(recipe(values))
                continue
            with open(where / name, "wb") as out:
                subprocess.run(
                    [self.gen, *recipe.format(**values).split()],
                    stdout=out,
                    check=True,
                )
        return where


@dataclasses.dataclass
class Result:
    seconds: float  # CPU time of all commands
    statuses: tuple
    digest: str
    instructions: int = 0
    wall: float = 0.0  # time on the clock, the threads of traces included
    reads: list = dataclasses.field(default_factory=list)  # bytes, by command


def places(program, links):
    """Where commands find what is no generated input; by links in the folder
    `links`, if there is one."""
    found = {"src": corpus_dir() / "src" / program.package,
             "corpus": corpus_dir(), "scripts": HERE / "in"}
    if not links:
        return found
    links.mkdir()
    for name, path in found.items():
        os.symlink(path, links / name)
    return {name: links / name for name in found}


def run(build, size, inputs, scratch, callgrind=False, extra=None,
        links=False, wrap=()):
    """Runs a program's commands in a fresh directory `scratch`, with `extra`
    in its environment, by the command `wrap`.  What the instrumentation writes
    is in scratch/data afterwards.  With `links`, no path outside of scratch is
    named."""
    program = build.program
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "data").mkdir(parents=True)
    for name in program.inputs:
        os.symlink(inputs / name, scratch / name)
    values = dict(program.sizes[size],
                  **places(program, links and scratch / "places"))
    extra = dict(extra or {})
    if callgrind:
        # memset by `rep stosb` counts as one instruction or as thousands,
        # depending on the processor: keep glibc from using it
        extra["GLIBC_TUNABLES"] = (
            "glibc.cpu.x86_rep_stosb_threshold=1000000000:"
            "glibc.cpu.x86_rep_movsb_threshold=1000000000"
        )
    env = environment(scratch / "data", extra)
    total = Result(0.0, (), "")
    log = scratch / "data" / "callgrind.log"
    if callgrind:
        wrap = ["valgrind", "--tool=callgrind", f"--log-file={log}",
                "--callgrind-out-file=/dev/null"]
    for command in program.commands(program.sizes[size]):
        words = [w.format(**values) for w in shlex.split(command)]
        run_command(build, words, scratch, env, wrap, total)
        if callgrind:
            total.instructions += collected(log)
    check(program, scratch, total)
    return total


def redirected(command):
    """(words, file for stdin, file for stdout) of a command."""
    argv, files = [], {"<": None, ">": None}
    words = iter(command)
    for word in words:
        if word in files:
            files[word] = next(words)
        else:
            argv.append(word)
    return argv, files["<"], files[">"]


def run_command(build, command, scratch, env, wrap, total):
    argv, stdin, stdout = redirected(command)
    stdin = stdin and open(scratch / stdin, "rb")
    stdout = stdout and open(scratch / stdout, "wb")
    with open(scratch / "data" / "stderr", "ab") as errors:
        begun = time.monotonic()
        seconds, status = cpu_time([*wrap, build.exe, *argv[1:]], env, scratch,
                                   stdin, stdout, errors, total.reads)
        total.wall += time.monotonic() - begun
    for stream in (stdin, stdout):
        if stream:
            stream.close()
    if status not in build.program.ok:
        text = (scratch / "data" / "stderr").read_text(errors="replace")
        raise BenchError(
            f"{build.program.name}: {build.variant.name}: status {status} "
            f"from {' '.join(command)}\n{text[-1000:]}"
        )
    total.seconds += seconds
    total.statuses += (status,)


def collected(log):
    found = re.search(r"Collected : (\d+)", log.read_text(errors="replace"))
    if not found:
        raise BenchError(f"{log}: callgrind printed no count")
    return int(found.group(1))


def check(program, scratch, total):
    """Fills in the digest of the outputs; checks pairs that must agree."""
    digest = hashlib.sha256()
    for pattern in program.outputs:
        files = sorted(scratch.glob(pattern))
        if not files:
            raise BenchError(f"{program.name}: no output {pattern}")
        for file in files:
            data = programs.kept(program, file.read_bytes())
            digest.update(f"{file.name} {len(data)}\n".encode())
            digest.update(data)
    for a, b in program.same:
        if (scratch / a).read_bytes() != (scratch / b).read_bytes():
            raise BenchError(f"{program.name}: {a} and {b} differ")
    total.digest = digest.hexdigest()[:16]


PT_LOAD = 1
PF_X = 1


def loaded_size(executable, flags=0):
    """Sum of the memory sizes of an executable's PT_LOAD segments, of those
    that have all of `flags`."""
    data = pathlib.Path(executable).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise BenchError(f"{executable}: no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    total = 0
    for i in range(count):
        at = offset + i * size
        kind, has = struct.unpack_from("<II", data, at)
        if kind == PT_LOAD and has & flags == flags:
            total += struct.unpack_from("<Q", data, at + 40)[0]
    return total


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def median(values):
    return statistics.median(values)
