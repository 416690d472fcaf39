#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--cairn-use: what the optimizer is told, and what is refused.

    run.py             all of it
    run.py --keep DIR  leave programs and what was made of them in DIR
    CAIRN_BIN          directory of cairn and cairn-cc

Weights in the IR must be the counts of programs whose counts are known; code
must come to lie where its counts say; a function that changed must be left
alone, with a warning; a file that cannot serve must be refused in one sentence.
Then the sessions of docs/pgo.md.
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "programs")]
from checks import equal, suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX, call  # noqa: E402

SOURCE = "--cairn-stage=source"

# function -> weights of its branches, in their order
KNOWN = {
    "two_ways": [[100, 900]],
    # default, then 0, 1 and 2: the first two share 250
    "many_ways": [[625, 125, 125, 125]],
    "loop": [[700, 7]],
    # codes 0001012 seven times: the one goto, with all its ways in
    "jumps": [[28, 14, 7]],
    "leaves": [[250, 750]],
    # of 1000 entries 250 left in the call
    "left": [[250, 500]],
    "never": [None],
    "main": [[1000, 1], [250, 1000], [7, 1], [0, 1]],
}
ENTRIES = {"two_ways": 1000, "many_ways": 1000, "loop": 7, "jumps": 7,
           "leaves": 1000, "left": None, "never": 0, "main": 1}


def compiler(source):
    return CAIRN_CXX if source.endswith(".cpp") else CAIRN_CC


def train(work, name, sources, *flags, arguments=()):
    """Builds, runs and merges: the path of a profile."""
    exe = os.path.join(work, name)
    call([compiler(sources[0]), "-O2", "-w", SOURCE, *flags, *sources, "-o",
          exe])
    out = os.path.join(work, name + ".cairn")
    if os.path.exists(out):
        os.remove(out)
    call([exe, *arguments], env=dict(os.environ, CAIRN_OUT=out))
    call([CAIRN, "check", out])
    return out


def ir_of(work, source, *flags):
    """The IR that the optimizer leaves."""
    out = os.path.join(work, os.path.basename(source) + ".ll")
    call([compiler(source), "-O2", "-w", *flags, "-S", "-emit-llvm", source,
          "-o", out])
    with open(out, encoding="utf-8") as file:
        return file.read()


def functions(ir):
    """name -> (entry count or None, [weights of each branch, or None])."""
    nodes = dict(re.findall(r"^(![\d]+) = (?:distinct )?!\{(.*)\}$", ir, re.M))

    def numbers(node):
        return [int(n) for n in re.findall(r"i(?:32|64) (\d+)", nodes[node])]

    found = {}
    for head, name, body in re.findall(
            r"^(define [^\n]*?@([\w.$]+)\([^\n]*)\n(.*?)^\}", ir, re.M | re.S):
        count = re.search(r"!prof (!\d+)", head)
        branches = []
        for text in re.findall(
                r"^ +(br i1 [^\n]*|switch [^\[]*\[.*?\][^\n]*|"
                r"indirectbr [^\n]*|(?:%\S+ = )?invoke [^\n]*\n[^\n]*)",
                body, re.M | re.S):
            prof = re.search(r"!prof (!\d+)", text)
            branches.append(numbers(prof.group(1)) if prof else None)
        found[name] = (numbers(count.group(1))[0] if count else None, branches)
    return found


def check_known(work):
    source = os.path.join(HERE, "known.c")
    for name, flags in (("plain", ()), ("strict", ("--cairn=edges,strict",)),
                        ("all", ("--cairn=edges,all",)),
                        ("nogs", ("--cairn=edges,nogs",)),
                        ("lto", ("-flto", "-fuse-ld=lld")),
                        ("lines", ("-g",))):
        profile = train(work, f"known-{name}", [source], *flags)
        ir = ir_of(work, source, f"--cairn-use={profile}",
                   *(f for f in flags if f == "-g"))
        found = functions(ir)
        for function, weights in KNOWN.items():
            equal(f"{name}: {function}", found[function][1], weights)
        for function, count in ENTRIES.items():
            if count is not None:
                equal(f"{name}: entries of {function}", found[function][0],
                      count)
        test(f"{name}: summary", "ProfileSummary" in ir and
             '"MaxFunctionCount", i64 1000' in ir, "not there")
    test("no use, no weights", all(
        weights is None for entry in functions(ir_of(
            work, source, "--cairn=none")).values() for weights in entry[1]),
        "there are some")


STOPS = """#include <signal.h>
#include <unistd.h>
__attribute__((noinline, optnone)) int two_ways(int i)
{
	if (i % 10 == 0)
		return 3;
	return i;
}
__attribute__((noinline, optnone)) int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += two_ways(i);
	if (argc > 1)
		kill(getpid(), SIGKILL);
	*(volatile int *)0 = sum;
	return 0;
}
"""


def check_stops(work):
    """A run that ends by a signal has counts all the same."""
    source = write(work, "stops.c", STOPS)
    exe = os.path.join(work, "stops")
    call([CAIRN_CC, "-O2", SOURCE, source, "-o", exe])
    # nobody looked where main was when SIGKILL came, and its flow is off
    for name, arguments, status, doubted in (("crash", (), -11, 0),
                                             ("kill", ("x",), -9, 1)):
        out = os.path.join(work, f"stops-{name}.cairn")
        done = subprocess.run([exe, *arguments], check=False,
                              env=dict(os.environ, CAIRN_OUT=out))
        equal(f"{name}: status", done.returncode, status)
        found = functions(ir_of(work, source, f"--cairn-use={out}"))
        equal(f"{name}: two_ways", found["two_ways"], (1000, [[100, 900]]))
        done = compile_by(work, source, f"--cairn-use={out}")
        said = warnings(done)
        equal(f"{name}: warnings", (done.returncode, len(said)), (0, doubted))
        test(f"{name}: says what", all(
            f"the counts of {doubted} of 2 functions of" in s for s in said),
            said)


def check_names(work):
    sources = [os.path.join(HERE, f"same{i}.c") for i in (1, 2)]
    profile = train(work, "same", sources)
    for source, weights in zip(sources, ([30, 70], [60, 40])):
        ir = ir_of(work, source, f"--cairn-use={profile}")
        equal(f"{os.path.basename(source)}: pick", functions(ir)["pick"][1],
              [weights])


def check_throws(work):
    source = os.path.join(HERE, "throws.cpp")
    profile = train(work, "throws", [source])
    found = functions(ir_of(work, source, f"--cairn-use={profile}"))
    equal("throws: the invoke", found["_Z6caughti"][1][0], [800, 200])


HOT = """#include <stdlib.h>
int hot(int *v, int n);
__attribute__((noinline)) int rare(int i) { return i * 7 / (i + 3); }
__attribute__((noinline)) int never(int i) { return i * 5 / (i + 9); }
__attribute__((noinline)) int hot(int *v, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		if (v[i] % 1000 == 0)
			sum += rare(v[i]);
		else
			sum ^= v[i] + i;
	return sum;
}
int main(int argc, char **argv)
{
	static int v[100000];
	for (int i = 0; i < 100000; i++)
		v[i] = i;
	if (argc > 1)
		return never(argc);
	return hot(v, 100000) == 1;
}
"""


def write(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def sections(work, source, *flags):
    """function -> the section that its code is in."""
    out = os.path.join(work, "layout.s")
    call([CAIRN_CC, "-O2", "-w", *flags, "-S", source, "-o", out])
    found, section = {}, ".text"
    for line in open(out, encoding="utf-8"):
        words = line.replace(",", " ").split()
        if words[:1] == [".text"]:
            section = ".text"
        elif words[:1] == [".section"]:
            section = words[1]
        elif re.match(r"[\w.]+:", line):
            found[line.split(":")[0]] = section
    return found


def check_layout(work):
    source = write(work, "hot.c", HOT)
    profile = train(work, "hot", [source])
    plain = sections(work, source, "--cairn=none")
    used = sections(work, source, f"--cairn-use={profile}")
    equal("plain layout", {plain[n] for n in ("hot", "never", "main")},
          {".text"})
    test("hot code", used["hot"].startswith(".text.hot"), used["hot"])
    test("cold code", used["never"].startswith(".text.unlikely"),
         used["never"])
    return source, profile


def warnings(done):
    return [line for line in done.stderr.splitlines() if "cairn:" in line]


def compile_by(work, source, *flags):
    return subprocess.run(
        [compiler(source), "-O2", *flags, "-c", source, "-o",
         os.path.join(work, "out.o")], capture_output=True, text=True,
        check=False)


def check_changes(work, profile):
    changed = write(work, "hot.c", HOT.replace(
        "return i * 7", "if (i == 77) return 1;\n\treturn i * 7"))
    done = compile_by(work, changed, f"--cairn-use={profile}")
    said = warnings(done)
    equal("changed: status", done.returncode, 0)
    equal("changed: one warning", len(said), 1)
    test("changed: counts them", said and re.search(
        r"cairn: 1 of 4 functions of \S+ changed since \S+ was made: they are "
        r"compiled without it \(rare\)", said[0]), said)
    found = functions(ir_of(work, changed, f"--cairn-use={profile}"))
    equal("changed: no count", found["rare"][0], None)
    test("changed: others have theirs", found["hot"][0] == 1, found["hot"])
    write(work, "hot.c", HOT.replace("int main(", "int added(int i) { return "
                                     "i > 3 ? 7 : i; }\nint main("))
    done = compile_by(work, changed, f"--cairn-use={profile}")
    equal("added: no warning", (done.returncode, warnings(done)), (0, []))
    write(work, "hot.c", HOT)
    done = compile_by(work, changed, f"--cairn-use={profile}")
    equal("same: no warning", (done.returncode, warnings(done)), (0, []))


def refused(name, text, work, source, *flags):
    done = compile_by(work, source, *flags)
    lines = done.stderr.splitlines()
    test(f"refused: {name}", done.returncode == 2 and len(lines) == 1 and
         text in lines[0], f"status {done.returncode}, {lines[:3]}")


def check_refusals(work, source, profile):
    use = f"--cairn-use={profile}"
    refused("missing file", "No such file", work, source,
            f"--cairn-use={work}/none.cairn")
    refused("no profile", "--cairn-use", work, source, f"--cairn-use={source}")
    refused("with source stage", "choose one", work, source, use, SOURCE)
    for word in ("-fprofile-use=x", "-fprofile-instr-use=x",
                 "-fprofile-sample-use=x", "-fauto-profile=x"):
        refused(word, "leave out", work, source, use, word)
    refused("no passes", "leave out", work, source, use, "-Xclang",
            "-disable-llvm-passes")
    exe = os.path.join(work, "late")
    late = exe + ".cairn"
    call([CAIRN_CC, "-O2", source, "-o", exe])
    call([exe], env=dict(os.environ, CAIRN_OUT=late))
    refused("optimized code", SOURCE, work, source, f"--cairn-use={late}")
    other = compile_by(work, os.path.join(HERE, "known.c"), use)
    test("another program", other.returncode == 1 and
         "the profile of another program" in other.stderr, other.stderr[-300:])
    new = write(work, "new.c", "int f(int i) { return i > 2 ? i : 3; }\n")
    done = compile_by(work, new, use)
    said = warnings(done)
    test("a new file", done.returncode == 0 and len(said) == 1 and
         "has none of the 1 functions of" in said[0], done.stderr[-300:])
    exe = os.path.join(work, "hot")
    shutil.move(exe, exe + ".gone")
    refused("map is gone", "--cairn-use", work, source, use)
    shutil.move(exe + ".gone", exe)
    packed = os.path.join(work, "packed.cairn")
    call([CAIRN, "pack", "-o", packed, profile])
    shutil.move(exe, exe + ".gone")
    done = compile_by(work, source, f"--cairn-use={packed}")
    equal("packed: needs no program", (done.returncode, warnings(done)),
          (0, []))
    shutil.move(exe + ".gone", exe)


def check_idle(work):
    """A profile in which nothing was counted says nothing."""
    main = write(work, "idle.c", "int main(void) { return 0; }\n")
    library = write(work, "idlelib.c", "int f(int i) { return i > 2 ? i : 3; }"
                                       "\n")
    shared = os.path.join(work, "libidle.so")
    exe = os.path.join(work, "idle")
    call([CAIRN_CC, "-O2", SOURCE, "-shared", "-fPIC", library, "-o", shared])
    call([CAIRN_CC, "-O2", main, shared, "-Wl,-rpath," + work,
          "-Wl,--no-as-needed", "-o", exe])
    out = exe + ".cairn"
    call([exe], env=dict(os.environ, CAIRN_OUT=out))
    done = compile_by(work, library, f"--cairn-use={out}")
    test("nothing ran", done.returncode == 1 and
         "has no count to go by" in done.stderr,
         done.stderr[-300:])


def check_builds(work, source, profile):
    use = f"--cairn-use={profile}"
    deps = os.path.join(work, "hot.d")
    call([CAIRN_CC, "-O2", use, "-MD", "-MF", deps, "-c", source, "-o",
          os.path.join(work, "hot.o")])
    with open(deps, encoding="utf-8") as file:
        test("dependency file", os.path.basename(profile) in file.read(),
             "names no profile")
    plain = os.path.join(work, "used")
    call([CAIRN_CC, "-O2", use, source, "-o", plain])
    before = set(os.listdir(work))
    call([plain], cwd=work)
    equal("no marks: no profile", set(os.listdir(work)), before)
    # both: optimized by a profile, and counted
    for mode in ("edges", "paths", "trace", "record"):
        out = os.path.join(work, f"both-{mode}.cairn")
        if os.path.exists(out):
            os.remove(out)
        call([CAIRN_CC, "-O2", f"--cairn={mode}", use, source, "-o", plain])
        call([plain], env=dict(os.environ, CAIRN_OUT=out))
        call([CAIRN, "check", out])
        text = call([CAIRN, "report", "--json", out])
        entries = {f["name"]: f["entries"]
                   for f in json.loads(text)["functions"]}
        equal(f"{mode}: counts", entries["rare"], 100)
    # link-time optimization: counts travel in the bitcode
    lto = os.path.join(work, "lto")
    call([CAIRN_CC, "-O2", "-flto", "-fuse-ld=lld", use, source, "-o", lto])
    call([lto])
    ir = ir_of(work, source, use, "-flto")
    equal("lto: entries", functions(ir)["rare"][0], 100)


CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def check_document(work):
    """Every session of docs/pgo.md, in one folder with examples/."""
    with open(os.path.join(ROOT, "docs", "pgo.md"), encoding="utf-8") as file:
        blocks = CONSOLE.findall(file.read())
    test("docs/pgo.md has sessions", len(blocks) > 0)
    folder = os.path.join(work, "document")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "examples"), folder)
    path = os.path.dirname(CAIRN) + ":" + os.environ["PATH"]
    for block in blocks:
        now = []
        for command in re.findall(r"^\$ (.*)$", block, re.M):
            done = subprocess.run(
                ["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, check=False,
                env=dict(os.environ, PATH=path, LC_ALL="C", TZ="UTC"))
            said = done.stdout.decode().replace(folder + "/", "")
            now += ["$ " + command, *said.splitlines()]
        text = "".join(line.rstrip() + "\n" for line in now)
        test("docs/pgo.md: session", text == block, "prints now:\n" + text)


def check(work):
    check_known(work)
    check_stops(work)
    check_names(work)
    check_throws(work)
    source, profile = check_layout(work)
    check_changes(work, profile)
    check_refusals(work, source, profile)
    check_idle(work)
    check_builds(work, source, profile)
    check_document(work)


if __name__ == "__main__":
    sys.exit(suite(check))
