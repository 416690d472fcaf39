# SPDX-License-Identifier: Apache-2.0
"""The benchmark programs: how each is built, fed and run.

Every program is one entry of PROGRAMS.  Commands are words as in a shell,
with `< FILE` and `> FILE` for redirection and nothing else; `{name}` in a
command or an input stands for a value of the size in use:

    ref    a few seconds of CPU time: what times are taken from
    test   well below a second, from another seed: the "other input"
    tiny   about 10^8 instructions: what callgrind can bear

All commands of a program run the executable that its build made: a profile
belongs to one executable.  `keep`
selects, by a regular expression that lines begin with, the parts of an output
that do not depend on how long the run took.  Vector units are left to the compiler: hand-written assembly
is off, so that all hot code passes through the compiler under test.
"""

import dataclasses
import os
import re
import shutil
import sys
import typing

from corpus import BenchError, corpus_dir, fetch, run_quiet

sys.dont_write_bytecode = True

SIZES = ("ref", "test", "tiny")


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    package: str
    what: str  # why it is in the set
    sizes: dict  # size -> {name: value}
    commands: typing.Callable  # values of the size -> list of commands
    outputs: tuple  # files that must be the same in all builds
    build: typing.Callable  # Build -> None
    inputs: dict = dataclasses.field(default_factory=dict)
    prepare: typing.Callable = None  # once, before the first build
    keep: str = None
    same: tuple = ()  # pairs of files that must be equal
    ok: tuple = (0,)  # exit statuses that mean success
    threads: bool = False

    @property
    def exe(self):
        """Name of the executable."""
        values = self.sizes["ref"]
        (name,) = {c.split()[0] for c in self.commands(values)}
        return name


def simple(sources, exe, flags="", libs="", cxx=False):
    """A build that compiles `sources` (patterns below the package's tree, or
    @NAME for a file of ours in in/) one by one and links them."""

    def build(b):
        files = b.find(sources)
        b.compile(files, b.expand(flags), cxx)
        b.link(exe, libs.split(), cxx)

    return build


def copied(sources, edits, **rest):
    """As simple(), on a copy of the tree with `edits` made: a map from file
    to (old, new)."""
    inner = simple(sources, **rest)

    def build(b):
        tree = b.dir / "tree"
        shutil.copytree(b.src, tree, symlinks=True)
        b.src = tree
        for name, (old, new) in edits.items():
            text = (tree / name).read_text(errors="surrogateescape")
            if old not in text:
                raise BenchError(f"{b.src / name}: nothing to edit: {old}")
            text = text.replace(old, new)
            (tree / name).write_text(text, errors="surrogateescape")
        inner(b)

    return build


def configured(headers, inner):
    """Writes generated headers into the build directory first."""

    def build(b):
        for name, text in headers.items():
            (b.dir / name).write_text(text.format(src=b.src))
        inner(b)

    return build


def build_mawk(b):
    tree = b.dir / "tree"
    shutil.copytree(b.src, tree, symlinks=True)
    b.helper(
        ["./configure", "-q", "--disable-init-srand", f"CC={b.cc}",
         f"CFLAGS={' '.join(b.flags)}"],
        cwd=tree,
    )
    b.timed(["make", "-s", "mawk"], cwd=tree)
    shutil.copy2(tree / "mawk", b.dir / "mawk")


def build_jpeg(b):
    tree = b.dir / "tree"
    b.helper(
        ["cmake", "-S", b.src, "-B", tree, "-G", "Unix Makefiles",
         "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_COMPILER={b.cc}",
         f"-DCMAKE_C_FLAGS={' '.join(b.flags)}", "-DWITH_SIMD=0",
         "-DENABLE_SHARED=0", "-DWITH_TURBOJPEG=0",
         # archives of bitcode have to have an index, too
         f"-DCMAKE_AR={shutil.which('llvm-ar-19')}",
         f"-DCMAKE_RANLIB={shutil.which('llvm-ranlib-19')}"],
    )
    b.timed(["make", "-s", "-C", tree, "cjpeg-static"])
    shutil.copy2(tree / "cjpeg-static", b.dir / "cjpeg")


def amalgamation():
    """SQLite in one file, as its own build makes it; made once."""
    tree = corpus_dir() / "sqlite3-amalgamation"
    if (tree / "done").exists():
        return tree
    fetch(["sqlite3"], say=lambda text: None)  # tcc compiles it, too
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    env = dict(os.environ, CC="cc", CFLAGS="-O0")
    configure = corpus_dir() / "src" / "sqlite3" / "configure"
    run_quiet([configure, "--disable-tcl"], cwd=tree, env=env)
    run_quiet(["make", "sqlite3.c", "shell.c"], cwd=tree, env=env)
    (tree / "done").touch()
    return tree


def build_sqlite(b):
    b.src = amalgamation()
    simple(
        "sqlite3.c shell.c",
        flags="-I{src} -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION",
        libs="-lm",
        exe="sqlite3",
    )(b)


LUA = "src/l*.c !src/luac.c"
# The seed of string hashes would be an address and the time of day.
LUA_FLAGS = "-DLUA_USE_POSIX -Dluai_makeseed(L)=1 -I{dir}"
# Debian's patch wants what its debian/rules would generate.
LUA_HEADERS = {
    "lua5.4-deb-multiarch.h": '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n'
}
ZLIB = "adler32.c compress.c crc32.c deflate.c gzclose.c gzlib.c gzread.c " \
    "gzwrite.c infback.c inffast.c inflate.c inftrees.c trees.c uncompr.c " \
    "zutil.c test/minigzip.c"
PHALANX = "phalanx.c bcreate.c search.c io.c data.c evaluate.c genmoves.c " \
    "moving.c hash.c static.c levels.c book.c killers.c endgame.c learn.c " \
    "easy.c"
ZSTD = "lib/common/*.c lib/compress/*.c lib/decompress/*.c " \
    "lib/dictBuilder/*.c programs/*.c"

PROGRAMS = (
    Program(
        name="bzip2",
        package="bzip2",
        what="compressor, loops within loops",
        build=simple(
            "blocksort.c huffman.c crctable.c randtable.c compress.c "
            "decompress.c bzlib.c bzip2.c",
            flags="-D_FILE_OFFSET_BITS=64",
            exe="bzip2",
        ),
        sizes={
            "ref": {"n": 34000000, "seed": 7},
            "test": {"n": 2000000, "seed": 11},
            "tiny": {"n": 300000, "seed": 13},
        },
        inputs={"in": "mixed {n} 1 {seed}"},
        commands=lambda v: [
            "./bzip2 -9 -c in > out.bz2",
            "./bzip2 -dc out.bz2 > back",
        ],
        outputs=("out.bz2",),
        same=(("in", "back"),),
    ),
    Program(
        name="ncompress",
        package="ncompress",
        what="compressor, one hot loop",
        build=simple(
            "compress42.c",
            flags="-DUSERMEM=800000 -DDIRENT=1 -DUTIME_H -DNOFUNCDEF",
            exe="compress",
        ),
        sizes={
            "ref": {"n": 170000000, "seed": 7},
            "test": {"n": 10000000, "seed": 11},
            "tiny": {"n": 1500000, "seed": 13},
        },
        inputs={"in": "mixed {n} 1 {seed}"},
        commands=lambda v: [
            "./compress -c -f < in > out.Z",
            "./compress -d -c < out.Z > back",
        ],
        outputs=("out.Z",),
        same=(("in", "back"),),
    ),
    Program(
        name="zlib",
        package="zlib",
        what="compressor, function pointers",
        build=simple(
            ZLIB,
            flags="-DHAVE_UNISTD_H -DHAVE_STDARG_H -D_LARGEFILE64_SOURCE=1 "
            "-I{src}",
            exe="minigzip",
        ),
        sizes={
            "ref": {"n": 60000000, "seed": 7},
            "test": {"n": 3000000, "seed": 11},
            "tiny": {"n": 500000, "seed": 13},
        },
        inputs={"in": "text {n} 1 {seed}"},
        commands=lambda v: [
            "./minigzip -9 < in > out.gz",
            "./minigzip -d < out.gz > back",
        ],
        outputs=("out.gz",),
        same=(("in", "back"),),
    ),
    Program(
        name="lua",
        package="lua5.4",
        what="interpreter, computed goto, longjmp",
        build=configured(
            LUA_HEADERS,
            simple(
                LUA,
                flags="-std=gnu99 " + LUA_FLAGS,
                libs="-lm",
                exe="lua",
            ),
        ),
        sizes={
            "ref": {"n": 120, "seed": 7},
            "test": {"n": 4, "seed": 11},
            "tiny": {"n": 1, "seed": 13},
        },
        commands=lambda v: ["./lua {scripts}/work.lua {n} {seed} > out"],
        outputs=("out",),
    ),
    Program(
        name="luacxx",
        package="lua5.4",
        what="the same as C++: every error is a throw",
        build=configured(
            LUA_HEADERS,
            simple(
                LUA,
                flags="-x c++ " + LUA_FLAGS,
                libs="-lm",
                cxx=True,
                exe="luacxx",
            ),
        ),
        sizes={
            "ref": {"n": 55, "seed": 7},
            "test": {"n": 4, "seed": 11},
            "tiny": {"n": 1, "seed": 13},
        },
        commands=lambda v: ["./luacxx {scripts}/throw.lua {n} {seed} > out"],
        outputs=("out",),
    ),
    Program(
        name="mujs",
        package="mujs",
        what="interpreter, setjmp for every try, garbage collection",
        build=simple(
            "js*.c utf.c regexp.c main.c",
            flags="-std=gnu99 -DJS_STACKSIZE=4096",
            libs="-lm",
            exe="mujs",
        ),
        sizes={
            "ref": {"n": 110, "seed": 7},
            "test": {"n": 6, "seed": 11},
            "tiny": {"n": 1, "seed": 13},
        },
        commands=lambda v: ["./mujs {scripts}/work.js {n} {seed} > out"],
        outputs=("out",),
    ),
    Program(
        name="mawk",
        package="mawk",
        what="interpreter, regular expressions; configure and make",
        build=build_mawk,
        sizes={
            "ref": {"n": 80000000, "seed": 7},
            "test": {"n": 3000000, "seed": 11},
            "tiny": {"n": 400000, "seed": 13},
        },
        inputs={"in": "text {n} 1 {seed}"},
        commands=lambda v: ["./mawk -f {scripts}/work.awk in > out"],
        outputs=("out",),
    ),
    Program(
        name="phalanx",
        package="phalanx",
        what="chess, recursion",
        # upstream reads moves that nobody wrote: start from zeros
        build=copied(
            PHALANX,
            edits={
                "evaluate.c": (
                    "tmove m[256]; int n;",
                    "tmove m[256] = {{0}}; int n = 0;",
                )
            },
            flags="-std=gnu89 -D_GNU_SOURCE -DGNUFUN",
            exe="phalanx",
        ),
        sizes={
            "ref": {"depth": 10, "moves": 12},
            "test": {"depth": 8, "moves": 6},
            "tiny": {"depth": 6, "moves": 3},
        },
        inputs={
            "in": lambda v: "nopost\ndepth {depth}\n".format(**v)
            + "go\n" * v["moves"]
            + "quit\n"
        },
        commands=lambda v: ["./phalanx -b- -l- -o- -p- -t 4096 < in > out"],
        outputs=("out",),
        keep=r"(my move|move).*",
    ),
    Program(
        name="ijpeg",
        package="libjpeg-turbo",
        what="image codec, many short processes; cmake",
        build=build_jpeg,
        sizes={
            "ref": {"w": 2800, "h": 1900, "seed": 7,
                    "q": (30, 40, 50, 60, 70, 75, 80, 85, 90, 95)},
            "test": {"w": 1200, "h": 800, "seed": 11, "q": (45, 75)},
            "tiny": {"w": 700, "h": 500, "seed": 13, "q": (75,)},
        },
        inputs={"in.ppm": "image {w} {h} {seed}"},
        commands=lambda v: [
            f"./cjpeg -quality {q} {how} -outfile {q}{how}.jpg in.ppm"
            for q in v["q"]
            for how in ("-baseline", "-progressive")
        ],
        outputs=("*.jpg",),
    ),
    Program(
        name="sqlite3",
        package="sqlite3",
        what="database, one very large switch",
        prepare=amalgamation,
        build=build_sqlite,
        sizes={
            "ref": {"n": 420000, "seed": 7},
            "test": {"n": 20000, "seed": 11},
            "tiny": {"n": 2500, "seed": 13},
        },
        inputs={"orders.csv": "table {n} 1 {seed}"},
        commands=lambda v: ["./sqlite3 :memory: < {scripts}/work.sql > out"],
        outputs=("out",),
    ),
    Program(
        name="tcc",
        package="tcc",
        what="parser and compiler, compiling SQLite",
        prepare=amalgamation,
        build=configured(
            {
                "config.h": '#define TCC_VERSION "0.9.27"\n'
                '#define CONFIG_TCCDIR "{src}"\n'
                "#define GCC_MAJOR 12\n"
            },
            simple(
                "tcc.c",
                flags="-DONE_SOURCE=1 -DTCC_TARGET_X86_64 -I{dir} -I{src} "
                "-DCONFIG_TRIPLET=\"x86_64-linux-gnu\"",
                libs="-lm -ldl -lpthread",
                exe="tcc",
            ),
        ),
        sizes={
            "ref": {"n": 36, "file": "sqlite3.c"},
            "test": {"n": 1, "file": "shell.c"},
            "tiny": {"n": 1, "file": "shell.c"},
        },
        commands=lambda v: [
            "./tcc -B{src} -I{src}/include -I{corpus}/sqlite3-amalgamation "
            f"-c -o {i}.o {{corpus}}/sqlite3-amalgamation/{{file}}"
            for i in range(v["n"])
        ],
        outputs=("*.o",),
    ),
    Program(
        name="picosat",
        package="picosat",
        what="SAT solver, pointer chasing",
        build=configured(
            {
                "config.h": '#define PICOSAT_CC "cc"\n'
                '#define PICOSAT_CFLAGS ""\n'
                '#define PICOSAT_VERSION "965"\n'
            },
            simple(
                "picosat.c app.c main.c version.c",
                flags="-DNDEBUG -DNALARM -I{dir} -I{src}",
                exe="picosat",
            ),
        ),
        sizes={
            "ref": {"v": 280, "c": 1220, "seed": 5},
            "test": {"v": 200, "c": 870, "seed": 11},
            "tiny": {"v": 150, "c": 650, "seed": 13},
        },
        inputs={"in.cnf": "sat {v} {c} {seed}"},
        commands=lambda v: ["./picosat -v in.cnf > out"],
        outputs=("out",),
        keep=r"[sv] .*|c .*(conflicts|decisions|propagations|fixed)$",
        ok=(10, 20),
    ),
    Program(
        name="minisat",
        package="minisat2",
        what="SAT solver, C++ templates",
        build=simple(
            "minisat/core/Main.cc minisat/core/Solver.cc "
            "minisat/utils/Options.cc minisat/utils/System.cc",
            flags="-std=gnu++98 -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS "
            "-I{src}",
            libs="-lz",
            cxx=True,
            exe="minisat",
        ),
        sizes={
            "ref": {"v": 250, "c": 1085, "seed": 7},
            "test": {"v": 210, "c": 910, "seed": 11},
            "tiny": {"v": 160, "c": 690, "seed": 13},
        },
        inputs={"in.cnf": "sat {v} {c} {seed}"},
        commands=lambda v: ["./minisat -verb=1 in.cnf result > log"],
        outputs=("result", "log"),
        keep=r"(UN)?SAT.*|-?\d.*|"
        r"(restarts|conflicts|decisions|propagations) *: \d+",
        ok=(10, 20),
    ),
    Program(
        name="csparse",
        package="suitesparse",
        what="sparse linear algebra, floating point",
        build=simple(
            "CSparse/Source/*.c @sparse.c",
            flags="-ffp-contract=off -I{src}/CSparse/Include",
            libs="-lm",
            exe="sparse",
        ),
        sizes={
            "ref": {"side": 90, "steps": 60000},
            "test": {"side": 50, "steps": 3000},
            "tiny": {"side": 25, "steps": 1500},
        },
        commands=lambda v: ["./sparse {side} {steps} > out"],
        outputs=("out",),
    ),
    Program(
        name="fann",
        package="libfann",
        what="neural network, dense floating point loops",
        build=simple(
            "src/floatfann.c @neural.c",
            flags="-ffp-contract=off -I{src}/src/include",
            libs="-lm",
            exe="neural",
        ),
        sizes={
            "ref": {"epochs": 7000, "seed": 7},
            "test": {"epochs": 350, "seed": 11},
            "tiny": {"epochs": 40, "seed": 13},
        },
        commands=lambda v: ["./neural {epochs} {seed} > out"],
        outputs=("out",),
    ),
    Program(
        name="cliquer",
        package="cliquer",
        what="combinatorial search, recursion, callbacks",
        build=simple(
            "cl.c cliquer.c graph.c reorder.c", exe="cl",
        ),
        sizes={
            "ref": {"n": 220, "p": 70, "seed": 7},
            "test": {"n": 160, "p": 70, "seed": 11},
            "tiny": {"n": 130, "p": 70, "seed": 13},
        },
        inputs={"in.g": "graph {n} {p} {seed}"},
        commands=lambda v: ["./cl -q -q -u in.g > out"],
        outputs=("out",),
    ),
    Program(
        name="zstd",
        package="libzstd",
        what="compressor, several threads",
        build=simple(
            ZSTD,
            flags="-DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -pthread "
            "-DXXH_NAMESPACE=ZSTD_ -DZSTD_LEGACY_SUPPORT=0 -I{src}/lib "
            "-I{src}/lib/common",
            libs="-pthread",
            exe="zstd",
        ),
        sizes={
            "ref": {"n": 50000000, "level": 12, "seed": 7},
            "test": {"n": 6000000, "level": 9, "seed": 11},
            "tiny": {"n": 2000000, "level": 5, "seed": 13},
        },
        inputs={"in": "mixed {n} 1 {seed}"},
        commands=lambda v: [
            "./zstd -q -{level} -T2 -B2MiB -c < in > out.zst",
            "./zstd -q -d -c out.zst > back",
        ],
        outputs=("out.zst",),
        same=(("in", "back"),),
        threads=True,
    ),
)

QUICK = ("ncompress", "lua", "phalanx", "minisat")


def select(names):
    """The programs of these names, in the order of the table."""
    known = {p.name for p in PROGRAMS}
    unknown = sorted(set(names) - known)
    if unknown:
        raise BenchError(
            f"unknown program {unknown[0]}: know {', '.join(sorted(known))}"
        )
    return [p for p in PROGRAMS if p.name in names]


def kept(program, data):
    """The part of an output that must be the same in all builds."""
    if program.keep is None:
        return data
    wanted = re.compile(program.keep.encode())
    matches = (wanted.match(line) for line in data.split(b"\n"))
    return b"\n".join(m.group(0) for m in matches if m)
