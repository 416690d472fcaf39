#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs are recorded, and replayed without their input.

Each is built plain and as a recording, at several levels: same output, same
exit status, and a replay that is identical to the last tick.  What cannot be
replayed has to be said in one sentence, with exit status 2.  Ends with
"N passed, M failed".
"""
import glob
import os
import random
import re
import shutil
import sys
import tempfile

from recorded import CAIRN, cairn, CAIRN_CC, CAIRN_CXX, HERE, recordings
from checks import check, finish, run

LEVELS = os.environ.get("LEVELS", "-O0 -O2").split()
# More ways to compile, which the language leaves more open in.
MORE = {"undefined": ["-O1", "-Os", "-O3 -march=native -ffast-math",
                      "-O3 -march=native -ffp-contract=fast"],
        "jumps": ["-O2 -ftrapv", "-O2 -fno-builtin"],
        "vectors": ["-O3 -march=native"]}
DIFFERENT = {"outside", "loose"}  # what they print need not be the same


def build(source, level, program, *options, objects=()):
    """Plain, if there are no options."""
    cxx = source.endswith(".cpp")
    compiler = ["clang++-19" if cxx else "clang-19"]
    if options:
        compiler = [CAIRN_CXX if cxx else CAIRN_CC,
                    *options]
    out = run(*compiler, *level.split(), "-g", "-w", "-pthread",
              "-std=c++20" if cxx else "-std=gnu17", source, *objects, "-o",
              program, "-lm")
    if out.returncode:
        raise ValueError(out.stderr)


def execute(folder, program, *args):
    """Result, and the recordings that it made."""
    with open(os.path.join(folder, "input"), "w", encoding="ascii") as file:
        file.write("what it reads\n" * 50)
    out = run(program, "input", *args, cwd=folder)
    os.remove(os.path.join(folder, "input"))
    return out, recordings(folder)


def replay(folder, *args):
    return cairn(folder, "replay", *args)


def try_program(source, level, objects=()):
    name = os.path.splitext(os.path.basename(source))[0]
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "plain")
        program = os.path.join(folder, name)
        build(source, level, plain, objects=objects)
        build(source, level, program, "--cairn=record", objects=objects)
        before, _ = execute(folder, plain)
        out, files = execute(folder, program)
        check(f"{name} {level} status", out.returncode != before.returncode
              and f"{out.returncode}, plain {before.returncode}: {out.stderr}")
        if name not in DIFFERENT:
            check(f"{name} {level} output", out.stdout != before.stdout and
                  f"{out.stdout!r}, plain {before.stdout!r}")
        check(f"{name} {level} files", len(files) != 1 and files)
        for cache in ("compiled", "cached"):
            again = replay(folder, *files)
            fine = again.returncode == 0 and re.fullmatch(
                r"replayed \d+ ticks( in \d+ contexts)?, identical\n",
                again.stdout)
            check(f"{name} {level} {cache}", not fine and
                  f"{again.returncode} {again.stdout} {again.stderr}")


def peak(folder, *args):
    """What `cairn replay` says, and how much memory it takes, in KiB."""
    with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
        pid = os.posix_spawn(
            CAIRN, [CAIRN, "replay", *args],
            dict(os.environ, XDG_CACHE_HOME=folder),
            file_actions=[(os.POSIX_SPAWN_DUP2, said.fileno(), 1)])
        usage = os.wait4(pid, 0)[2]
        said.seek(0)
        text = said.read()
    return text, usage.ru_maxrss


def deep():
    """A replay of tail calls needs no more stack than they did."""
    for source, level, steps in (("tails.c", "-O0", 300000),
                                 ("tails.c", "-O2", 300000),
                                 ("tails.cpp", "-O2", 50000)):
        name = f"deep {source} {level}"
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "tails")
            build(os.path.join(HERE, source), level, program,
                  "--cairn=record")
            used = []
            for n in (100, steps):
                out, files = execute(folder, program, str(n))
                check(f"{name} {n}", out.returncode and out)
                peak(folder, *files)  # compiles
                text, memory = peak(folder, *files)
                check(f"{name} {n} replay", "identical" not in text and text)
                used.append(memory)
                os.remove(files[0])
            check(f"{name} memory", used[1] > used[0] + 8000 and used)


def children():
    """vfork is fork in a recording: each child has one of its own."""
    source = os.path.join(HERE, "vforks.c")
    caller = os.path.join(HERE, "foreign", "vfork.c")
    for level, *options in (("-O0",), ("-O2",), ("-O2", "-static-pie")):
        name = " ".join(["vforks", level, *options])
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "vforks")
            plain = os.path.join(folder, "plain")
            foreign_object = os.path.join(folder, "vfork.o")
            run("clang-19", "-O1", "-c", "-o", foreign_object, caller)
            build(source, level, plain, objects=(foreign_object,))
            build(source, level, program, "--cairn=record", *options,
                  objects=(foreign_object,))
            before, _ = execute(folder, plain)
            out, files = execute(folder, program)
            check(f"{name} output", (out.returncode, out.stdout) != (
                before.returncode, before.stdout) and
                f"{out}, plain {before}")
            check(f"{name} files", len(files) != 11 and files)
            for file in files:
                again = replay(folder, file)
                check(f"{name} {file}",
                      not again.stdout.endswith(", identical\n") and again)


def static_threads():
    """Logs of threads end as they should in a static program, too."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "threads")
        build(os.path.join(HERE, "threads.c"), "-O2", program,
              "--cairn=record", "-static-pie")
        out, files = execute(folder, program)
        check("static threads status", out.returncode and out)
        again = replay(folder, *files)
        check("static threads", not again.stdout.endswith(", identical\n") and
              again)


def is_sentence(out, words):
    return out.returncode == 2 and out.stderr.count("\n") == 1 and \
        words in out.stderr


def refusals():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "calls")
        source = os.path.join(HERE, "calls.c")
        build(source, "-O1", program, "--cairn=record")
        (file,) = execute(folder, program)[1]
        out = replay(folder, program)
        check("no recording", not is_sentence(out, "cairn") and out)
        out = replay(folder, file + "x")
        check("no file", not is_sentence(out, "cannot open") and out)
        shutil.move(program, program + ".old")
        out = replay(folder, file)
        check("no program", not is_sentence(out, "not there any more") and out)
        check("no advice to pack", "cairn pack" in out.stderr and out)
        out = run(CAIRN, "report", file)
        check("no program to report", not is_sentence(
            out, "not there any more") and out)
        check("no advice to pack a report", "cairn pack" in out.stderr and out)
        for option in ("--exe", "--parent"):
            out = replay(folder, option, "/nope", file)
            check(option + " of nothing",
                  not is_sentence(out, option + " /nope: cannot open") and out)
        out = replay(folder, "--exe", program + ".old", file)
        check("--exe", out.returncode and out)
        other_version(folder, program + ".old", file)
        build(source, "-O2", program, "--cairn=record")
        out = replay(folder, file)
        check("another build", not is_sentence(out, "another build") and out)
        shutil.move(program + ".old", program)
        damage(folder, file)
        other_processor(folder)


def other_version(folder, program, file):
    with open(program, "rb") as stream:
        code = stream.read()
    old = program + ".version"
    with open(old, "wb") as stream:
        stream.write(re.sub(rb"CAIRNIR\d", b"CAIRNIR0", code))
    out = replay(folder, "--exe", old, file)
    check("other version", not is_sentence(out, "another version") and out)


def other_processor(folder):
    """Built for a processor with features that this one has not."""
    with open("/proc/cpuinfo", encoding="ascii") as stream:
        flags = set(stream.read().split())
    lacking = [f for f in ("xop", "amx-fp16", "avx512er") if f not in flags]
    if not lacking:
        return
    program = os.path.join(folder, "other")
    build(os.path.join(HERE, "calls.c"), "-O1", program, "--cairn=record",
          "-m" + lacking[0])
    (file,) = [f for f in execute(folder, program)[1] if "other" in f]
    out = replay(folder, file)
    check("other processor", not is_sentence(out, "was built for processors")
          and out)


def damage(folder, file):
    """Bytes that are not what they were: never a crash, never silence."""
    with open(file, "rb") as stream:
        good = stream.read()
    chance = random.Random(1)
    bad = os.path.join(folder, "bad.cairn")
    for i in range(20):
        data = bytearray(good)
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
        with open(bad, "wb") as stream:
            stream.write(data)
        out = replay(folder, bad)
        fine = out.returncode in (0, 1, 2) and \
            (out.returncode == 0) == (out.stderr == "")
        check(f"damage {i} at {at}", not fine and out)


def foreign():
    """With objects that have no marks."""
    with tempfile.TemporaryDirectory() as folder:
        catches = os.path.join(folder, "catches.o")
        out = run("clang++-19", "-O1", "-c", "-o", catches,
                  os.path.join(HERE, "foreign", "catches.cpp"))
        check("foreign", out.returncode and out)
        for level in LEVELS:
            try_program(os.path.join(HERE, "foreign", "varargs.cpp"), level,
                        (catches,))
        helpers = os.path.join(folder, "helpers.o")
        out = run("clang-19", "-O1", "-c", "-o", helpers,
                  os.path.join(HERE, "foreign", "helpers.c"))
        check("helpers", out.returncode and out)
        for level in LEVELS:
            try_program(os.path.join(HERE, "foreign", "wide.c"), level,
                        (helpers,))
            try_program(os.path.join(HERE, "foreign", "clones.c"), level)


HELPER = """
__int128 __divti3(__int128 a, __int128 b)
{ int n = 0; for (; a >= b; n++) a -= b; return n; }
__attribute__((noinline)) static __int128 half(__int128 a, __int128 b)
{ return a / b; }
int main(int argc, char **argv) { return half(20 + argc, 3) != 7; }
"""


def helper():
    """A program that has what the code generator calls is not taken for one
    that is called from nowhere: it is said that it has no marks."""
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "helper.c")
            with open(source, "w", encoding="ascii") as file:
                file.write(HELPER)
            program = os.path.join(folder, "helper")
            built = run(CAIRN_CC, "--cairn=record", level, "-g", source, "-o",
                        program)
            check("helper said", (built.returncode or not re.search(
                "__divti3 is not recorded.*: the code generator", built.stderr)
            ) and built)
            out, files = execute(folder, program)
            again = replay(folder, *files)
            check(f"helper {level}", (out.returncode or not
                  again.stdout.endswith(", identical\n")) and (out, again))


TWICE = """
#include <stdio.h>
__attribute__((noinline)) static int sum(int x)
{ int s = 0; for (int i = 0; i < x; i++) s += i & 1 ? x : 1; return s; }
__attribute__((constructor)) static void begin(void) { printf("%d\\n", sum(4)); }
__attribute__((weak)) int main(void) { return 0; }
"""


def twice():
    """A file that is compiled twice and linked: two units with the same IR, and
    a function of one that takes the place of the other's."""
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "same.c")
            with open(source, "w", encoding="ascii") as file:
                file.write(TWICE)
            program = os.path.join(folder, "same")
            objects = [os.path.join(folder, name) for name in ("a.o", "b.o")]
            for name in objects:
                run(CAIRN_CC, "--cairn=record", level, "-g", "-c", source,
                    "-o", name)
            run(CAIRN_CC, "--cairn=record", *objects, "-o", program)
            out, files = execute(folder, program)
            again = replay(folder, *files)
            check(f"twice {level}", (out.stdout != "10\n10\n" or not
                  again.stdout.endswith(", identical\n")) and (out, again))
            read = cairn(folder, "check", *files)
            check(f"twice {level} check", "sound" not in read.stdout and read)


def link(folder, level, name, compilers, *options, shared=False):
    """The files of linked/, as an executable; compilers: of the others, and
    of plain.cpp."""
    def path(file):
        return os.path.join(folder, name + file)
    words = [*level.split(), "-g", "-w", *options]
    pic = ["-fPIC"] if shared else []
    for file in ("main", "known", "member", "plain"):
        compiler = compilers[file == "plain"]
        more = pic if file in ("known", "member") else []
        out = run(*compiler, *words, *more, "-c", "-o", path(file + ".o"),
                  os.path.join(HERE, "linked", file + ".cpp"))
        if out.returncode:
            raise ValueError(out.stderr)
    rest = [path("known.o"), path("member.a")]
    run("ar", "rc", path("member.a"), path("member.o"))
    if shared:
        rest = [path("lib.so")]
        out = run(*compilers[0], *words, "-shared", "-o", path("lib.so"),
                  path("known.o"), path("member.o"))
        if out.returncode:
            raise ValueError(out.stderr)
    out = run(*compilers[0], *words, path("main.o"), path("plain.o"), *rest,
              "-Wl,--wrap=turn", "-o", path(""))
    if out.returncode:
        raise ValueError(out.stderr)
    return path("")


def linked():
    """Calls between files."""
    plain = ["clang++-19"]
    record = [CAIRN_CXX, "--cairn=record"]
    gone = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    for level, *options in (("-O0",), ("-O2",), ("-O2", "-static-pie"),
                            ("-O2", "-fuse-ld=lld", *gone),
                            ("-O2", "-fuse-ld=bfd", *gone),
                            ("-O2", "-fuse-ld=bfd", "shared", *gone),
                            ("-O2", "shared")):
        name = " ".join(["linked", level, *options])
        shared = "shared" in options
        options = [option for option in options if option != "shared"]
        with tempfile.TemporaryDirectory() as folder:
            expected = run(link(folder, level, "plain", (plain, plain),
                                *options, shared=shared))
            program = link(folder, level, "record", (record, plain),
                           *options, shared=shared)
            out = run(program, cwd=folder)
            check(f"{name} output", (out.returncode, out.stdout) !=
                  (expected.returncode, expected.stdout) and
                  f"{out}, plain {expected}")
            again = replay(folder, *recordings(folder))
            check(name, not again.stdout.endswith(", identical\n") and again)
            code = run("objdump", "-d", "--disassemble=main.body",
                       program).stdout
            calls = re.findall(r"call .*<(?:__cairn_inner_)?(\w+?)(?:\.body)?>",
                               code)
            check(f"{name} known", ("_Z5knowni" in calls) == shared and calls)


def build_weak(folder, level, compilers, shared):
    """The files of weak/, each with a compiler of its own."""
    program = os.path.join(folder, "weak")
    objects = {}
    for file, compiler in compilers.items():
        pic = ["-fPIC"] if shared and file == "weak" else []
        objects[file] = os.path.join(folder, file + ".o")
        run(*compiler, level, "-g", *pic, "-c", "-o", objects[file],
            os.path.join(HERE, "weak", file + ".cpp"))
    if shared:
        library = os.path.join(folder, "weak.so")
        run(*compilers["weak"], "-shared", "-o", library, objects["weak"])
        objects["weak"] = library
    out = run(*compilers["main"], "-o", program, objects["main"],
              objects["weak"], objects["strong"])
    if out.returncode:
        raise ValueError(out.stderr)
    return program


def replaced():
    """Functions with marks whose place others take, of the same link or of
    the program that uses the library."""
    plain = ["clang++-19"]
    record = [CAIRN_CXX, "--cairn=record"]
    for level in LEVELS:
        for strong in (plain, record):
            for shared in (False, True):
                name = f"replaced {level} {len(strong)} {shared}"
                with tempfile.TemporaryDirectory() as folder:
                    compilers = dict.fromkeys(("main", "weak", "strong"),
                                              plain)
                    before = run(build_weak(folder, level, compilers, shared))
                    compilers = {"main": record, "weak": record,
                                 "strong": strong}
                    out = run(build_weak(folder, level, compilers, shared),
                              cwd=folder)
                    check(f"{name} output", (out.returncode, out.stdout) !=
                          (0, before.stdout) and f"{out}, plain {before}")
                    again = replay(folder, *glob.glob(
                        os.path.join(folder, "*.cairn")))
                    check(name, not again.stdout.endswith(", identical\n")
                          and again)


def name_tails(folder, compile_here):
    """Guaranteed tail calls that cannot be recorded, each with a reason."""
    source = os.path.join(folder, "tail.c")
    head = "#define TAIL __attribute__((musttail))\n"
    cases = {"calls setjmp, and makes a guaranteed tail call":
             "#include <setjmp.h>\n"
             "jmp_buf b; int g(int n);\n"
             "int f(int n) { if (setjmp(b)) return 1; TAIL return g(n); }\n",
             "a structure in memory":
             "struct s { long v[9]; }; int g(struct s x);\n"
             "int f(struct s x) { TAIL return g(x); }\n"}
    for reason, text in cases.items():
        with open(source, "w", encoding="ascii") as file:
            file.write(head + text)
        out = compile_here(source)
        check("not a tail: " + reason, (out.returncode or not re.search(
            "f is not recorded.*: .*" + reason, out.stderr) or
            out.stderr.count("is not recorded") != 1) and out)


def left_out():
    """No function of these programs is; a naked one is, and is named."""
    def compile_here(source):
        cxx = source.endswith(".cpp")
        return run(CAIRN_CXX if cxx else CAIRN_CC,
                   "--cairn=record", "-O1", "-pthread", "-c", "-o",
                   "/dev/null", "-std=c++20" if cxx else "-std=gnu17", source)
    for source in sorted(glob.glob(os.path.join(HERE, "*.c*"))):
        out = compile_here(source)
        check("left out " + os.path.basename(source),
              "is not recorded" in out.stderr and out.stderr)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "naked.c")
        with open(source, "w", encoding="ascii") as file:
            file.write('__attribute__((naked)) int f(void)\n'
                       '{ __asm__("ret"); }\n'
                       'int g(void) { return f(); }\n')
        out = compile_here(source)
        name_tails(folder, compile_here)
        check("naked", (out.returncode or not re.search(
            r"f is not recorded.*: naked function", out.stderr) or
            out.stderr.count("is not recorded") != 1) and out)


def checks():
    """How often the function again() of seen.c compares with the shadow."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "seen")
        build(os.path.join(HERE, "seen.c"), "-O2", program, "--cairn=record")
        code = run("objdump", "-d", program).stdout
        code = re.search(r"<(__cairn_inner_again|again\.body)>:\n(.+\n)+",
                         code)[0]
        check("checks", len(re.findall(r"cmp .*%gs:", code)) != 1 and code)
        check("loads", not re.search(r"(mov|add) +%gs:", code) and code)


def main():
    for source in sorted(glob.glob(os.path.join(HERE, "*.c*"))):
        name = os.path.splitext(os.path.basename(source))[0]
        if name in ("forked", "vforks"):
            continue  # several processes: walk.py and children() have them
        for level in LEVELS + MORE.get(name, []):
            try_program(source, level)
    deep()
    foreign()
    helper()
    twice()
    children()
    linked()
    replaced()
    left_out()
    checks()
    static_threads()
    refusals()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
