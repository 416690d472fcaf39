# SPDX-License-Identifier: Apache-2.0
"""A program of the suite: what its first lines say, how it is built and run.

Between the licence and the first other line a program has comments.  What is
`// KEY: VALUE` with one of these keys is a directive; a key may come again:

    cc        flags for compiling and linking
    ld        more flags, for linking only
    library   NAME [FLAGS]: a shared object, of the same source with -DLIBRARY
    plain     NAME [FLAGS]: the same with -DPLAIN, by clang alone; a name that
              ends with .o is an object that is linked into the program
    make      a command of a shell that makes what the program needs, with $CC
    buildenv  NAME=VALUE for the compiler
    env       NAME=VALUE for the program
    limits    commands of a shell before it runs, such as ulimit
    wrap      a command that runs it
    args      its arguments
    exit      its status, or minus the signal; default 0
    levels    those it is run at, if not all
    modes     those it is run in, if not all; -MODE: all but that
    check     MODE RULES: what `cairn check` may find
    refuses   MODE "SENTENCE": what is said instead of an output
    ask       MODE | STATUS | words for cairn | what its answer has to match
    same      MODE MODE | words for cairn: both answer the same
    uncovered MODE NAMES: functions that are not covered there
    graph     MODE NAMES: functions whose blocks have other numbers there
    varies    NAMES: functions whose counts depend on chance ("*": all)
    differs   MODE NAMES: functions that count otherwise there ("*": all)
    wants     a command without which there is nothing to try
    defect    the number of the point of issue 23 that it shows
    known     MODE why: it fails, and has to until somebody mends it

`{dir}` stands for the folder of the build, `{file}` for the profile.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess

LEVELS = ("-O0", "-O1", "-O2", "-O3")
MODES = ("edges", "edges,strict", "paths", "paths,overlap", "trace", "record")
KEYS = ("cc", "ld", "library", "plain", "make", "buildenv", "env", "limits",
        "wrap", "args", "exit", "levels", "modes", "check", "refuses", "ask",
        "same", "uncovered", "graph", "varies", "differs", "wants", "defect",
        "known")
QUICK_MODES = ("edges", "paths,overlap", "trace", "record")
LIMIT = 600  # seconds: far more than ten times the slowest


class Wrong(Exception):
    """The program, or what cairn says of it, is not as it should be."""


class Program:
    def __init__(self, name, sources, said=None):
        self.name = name
        self.sources = sources
        self.cxx = any(s.endswith((".cpp", ".cc")) for s in sources)
        self.said = said if said is not None else read_header(sources[0])
        self.hostile, self.rerun, self.all_modes = False, name, MODES

    def all(self, key):
        return self.said.get(key, [])

    def words(self, key):
        return [w for text in self.all(key) for w in shlex.split(text)]

    def ends(self, status):
        """Does the plain build end as it says?"""
        wanted = (self.all("exit") or ["0"])[0]
        return wanted == "any" or status == int(wanted)

    def prepare(self, folder):
        """Makes what a trial needs; false if there can be none."""
        return True

    def build(self, *arguments):
        return Build(self, *arguments)

    def levels(self):
        return self.words("levels") or LEVELS

    def modes(self):
        words = self.words("modes")
        return [m for m in self.all_modes if "-" + m not in words and (
            m in words or not words or words[0][0] == "-")]

    def of_mode(self, key, mode):
        """What a directive that begins with a mode says of this one."""
        found = []
        for text in self.all(key):
            first, _, rest = text.partition(" ")
            if first in (mode, "*"):
                found.append(rest.strip())
        return found

    def missing(self):
        """A command that is wanted and not there."""
        return next((w for w in self.words("wants") if not shutil.which(w)),
                    None)


def read_header(source):
    said = {}
    with open(source, encoding="utf-8") as text:
        for line in text:
            if not line.startswith(("//", "/* SPDX")):
                break
            found = re.match(r"// ([a-z]+): +(.*)", line)
            if not found:
                continue
            if found[1] not in KEYS:
                raise SystemExit(f"{source}: no directive {found[1]}")
            said.setdefault(found[1], []).append(found[2].strip())
    return said


def settings(words, folder):
    return {k: v.replace("{dir}", folder)
            for k, _, v in (w.partition("=") for w in words)}


def command(argv, **more):
    try:
        return subprocess.run(argv, capture_output=True, check=False,
                              timeout=LIMIT, **more)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{argv[0]} does not end within {LIMIT} s") from None


def must(argv, **more):
    done = command(argv, **more)
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise Wrong(f"{os.path.basename(argv[0])}: status {done.returncode}: "
                    + said[-400:].replace("\n", " | "))
    return done.stdout


class Build:
    """A program in a folder of its own, by clang or in a mode of cairn-cc."""

    def __init__(self, program, level, folder, compilers, mode):
        self.program, self.folder = program, folder
        self.exe = os.path.join(folder, "program")
        self.cc = compilers[program.cxx]
        self.plain_cc = ("clang-19", "clang++-19")[program.cxx]
        self.flags = ["-g", "-w", level,
                      *(w.replace("{dir}", folder)
                        for w in program.words("cc"))]
        self.mode = ["--cairn=" + mode] if mode else []
        self.env = dict(os.environ,
                        **settings(program.words("buildenv"), folder))
        os.makedirs(folder)

    def compile(self, cc, mode, source, output, flags):
        must([cc, *mode, *self.flags, *flags, "-c", source, "-o", output],
             env=self.env, cwd=self.folder)
        return output

    def shared(self, text, cc, mode, define):
        """Builds what the directives `library` and `plain` ask for."""
        name, *flags = shlex.split(text)
        flags = [define, *(f.replace("{dir}", self.folder) for f in flags)]
        output = os.path.join(self.folder, name)
        if name.endswith(".o"):
            source = (self.program.all("plainsource") or
                      self.program.sources)[0]
            if source.endswith(".c"):
                cc = cc.replace("clang++", "clang")
            self.compile(cc, mode, source, output, flags)
            return [output]
        obj = self.compile(cc, mode, self.program.sources[0], output + ".o",
                           ["-fPIC", *flags])
        links = [f for f in flags if f.startswith(("-Wl,", "-l", "-L", "-f"))]
        must([cc, *mode, *self.flags, *links, "-shared", obj, "-o", output],
             env=self.env, cwd=self.folder)
        return []

    def make(self):
        objects = []
        for text in self.program.all("library"):
            self.shared(text, self.cc, self.mode, "-DLIBRARY")
        for text in self.program.all("plain"):
            objects += self.shared(text, self.plain_cc, [], "-DPLAIN")
        for i, source in enumerate(self.program.sources):
            objects.append(self.compile(
                self.cc, self.mode, source,
                os.path.join(self.folder, f"{i}.o"), []))
        for text in self.program.all("make"):
            must(["sh", "-ec", text], cwd=self.folder,
                 env=dict(self.env, CC=" ".join([self.cc, *self.mode])))
        ld = [w.replace("{dir}", self.folder)
              for w in self.program.words("ld")]
        must([self.cc, *self.mode, *self.flags, *objects, *ld, "-o", self.exe],
             env=self.env, cwd=self.folder)

    def run(self):
        """(status, stdout, stderr)"""
        program = self.program
        argv = [*program.words("wrap"), self.exe, *program.words("args")]
        limits = "; ".join(program.all("limits"))
        if limits:
            argv = ["sh", "-ec", limits + '; exec "$@"', "sh", *argv]
        done = command(argv, cwd=self.folder, stdin=subprocess.DEVNULL,
                       env=dict(os.environ, **settings(program.words("env"),
                                                       self.folder),
                                CAIRN_OUT=os.path.join(self.folder,
                                                       "%p.cairn")))
        return done.returncode, done.stdout, done.stderr

    def profiles(self):
        return sorted(glob.glob(os.path.join(self.folder, "*.cairn*")))
