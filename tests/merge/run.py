#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums of many profiles: cairn merge, CAIRN_OUT=NAME,merge and cairn pack.

    run.py [--keep DIR]
    CAIRN_BIN                directory of cairn and cairn-cc
    FILES=N                  profiles to merge (500)

The sum of many files at a time is that of the same files in small groups; the
file that runs add to is the sum of the files that the same runs write.  What
was killed is beside it, and nothing is counted twice.
"""
import collections
import concurrent.futures
import fcntl
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "tests/programs"),
                os.path.join(ROOT, "tools")]
import checks  # noqa: E402
from checks import equal, test  # noqa: E402
from decode import crc32c  # noqa: E402
from profiles import CAIRN, CAIRN_CC  # noqa: E402

DECODE = os.path.join(ROOT, "tools/decode.py")
FILES = int(os.environ.get("FILES", "500"))
BUILDS = ["edges", "paths", "paths,overlap"]
WAYS = ["threads", "fork", "exec", "badexec", "deep", "abort", "dlopen",
        "plain"]
RUNS = 200  # at the same time: JOBS
JOBS = 8


def run(*words, ok=True, out=None, **more):
    if out:
        more["env"] = dict(os.environ, CAIRN_OUT=out)
    r = checks.run(*words, **more)
    if ok and r.returncode:
        raise RuntimeError("%s: %s" % (" ".join(words), r.stderr[-2000:]))
    return r


def build(mode, source, to, *flags):
    run(CAIRN_CC, "--cairn=" + mode, "-g", "-O1",
        os.path.join(HERE, source), "-o", to, *flags)


def contents(path):
    """All that is counted in a profile, whatever its name."""
    folder = tempfile.mkdtemp(dir=".")
    name = os.path.join(folder, "x.cairn")
    run(CAIRN, "merge", "-q", "-o", name, path)
    report = run(CAIRN, "report", "--json", "--stable", "x.cairn", cwd=folder)
    paths = run(CAIRN, "paths", "--json", "x.cairn", cwd=folder, ok=False)
    shutil.rmtree(folder)
    return json.loads(report.stdout), paths.stdout


def same(what, a, b):
    a, b = contents(a), contents(b)
    for files in (a[0]["files"], b[0]["files"]):
        for f in files:
            # of one run alone these are its own
            for key in ("ended", "threads_at_once"):
                f.pop(key, None)
    test(what + ": counts", a[0] == b[0])
    test(what + ": paths", a[1] == b[1])


def entries(path, function="main"):
    return [f["entries"] for f in contents(path)[0]["functions"]
            if f["name"] == function][0]


# --- cairn merge --------------------------------------------------------------
def make_many(mode, n, folder):
    os.mkdir(folder)
    program = "./work-" + mode

    def one(i):
        run(program, str(i % 61), "deep" if i % 5 else "threads",
            out="%s/%05d.cairn" % (folder, i))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(n)))
    return sorted(os.path.join(folder, f) for f in os.listdir(folder))


def merge_many(mode, n):
    folder = "many-" + mode
    files = make_many(mode, n, folder)
    total = "total.cairn"
    run(CAIRN, "merge", "-o", total, folder)
    # groups so small that one thread reads them
    groups = []
    for i in range(0, n, 25):
        groups.append("group%d.cairn" % i)
        run(CAIRN, "merge", "-o", groups[-1], *files[i:i + 25])
    run(CAIRN, "merge", "-o", "groups.cairn", *groups[:20])
    same("%s: %d files at a time" % (mode, n), total, "groups.cairn")
    with open("list", "w", encoding="ascii") as f:
        f.write("\n".join(files) + "\n\n")
    data = open(total, "rb").read()
    for what, words, more in (
            ("names", files, {}), ("@LIST", ["@list"], {}),
            ("--list", ["--list", "list"], {}),
            ("--list -", ["--list", "-"], {"stdin": open("list")}),
            ("half a directory", files[:n // 2] + ["@list2"], {})):
        with open("list2", "w", encoding="ascii") as f:
            f.write("\n".join(files[n // 2:]))
        run(CAIRN, "merge", "-o", "again.cairn", *words, **more)
        test("%s: %s" % (mode, what), open("again.cairn", "rb").read() == data)
    # the sum of a directory that it is in
    run(CAIRN, "merge", "-o", folder + "/sum.cairn", folder)
    run(CAIRN, "merge", "-o", folder + "/sum.cairn", folder)
    test("%s: a sum is not part of itself" % mode,
         open(folder + "/sum.cairn", "rb").read() == data)
    os.remove(folder + "/sum.cairn")
    return files


def counts_of(document, what):
    """Of each window or chain, whatever else is said of it."""
    found = collections.Counter()
    for entry in document[what]:
        key = {k: v for k, v in entry.items() if k not in ("count", "share")}
        found[json.dumps(key, sort_keys=True)] += int(entry["count"])
    return found


def merge_windows(mode, option, what):
    """Sequences of paths, or chains, of many files, by two threads and by
    one."""
    name = "work-" + what
    build(mode, "work.c", name, "-lpthread", "-ldl")
    files = make_many(what, 40, "many-" + what)
    run(CAIRN, "merge", "-o", "all.cairn", *files)
    groups = ["%s%d.cairn" % (what, i) for i in range(4)]
    for i, group in enumerate(groups):
        run(CAIRN, "merge", "-o", group, *files[i::4])
    run(CAIRN, "merge", "-o", "some.cairn", *groups)

    def read(path):
        data = json.loads(run(CAIRN, "paths", *option, "--json", path).stdout)
        return {k: v for k, v in data.items() if k != "files"}

    whole = read("all.cairn")
    test(what + ": all at a time", whole == read("some.cairn"))
    parts = sum((counts_of(read(f), what) for f in files),
                collections.Counter())
    test(what + ": the sum of all files", counts_of(whole, what) == parts and
         sum(parts.values()) > 0)
    stays(what, "use cairn merge", "./" + name, what + "-sum.cairn")


def refuse(what, said, *words, status=2):
    r = run(CAIRN, *words, ok=False)
    lines = r.stderr.splitlines()
    test(what + ": status", r.returncode == status, r.returncode)
    test(what + ": one sentence", len(lines) == 1, r.stderr)
    for text in said:
        test(what + ": says " + text, text in r.stderr, r.stderr)


def merge_refuses(files):
    """Whatever is wrong in the middle, it is said as if it was alone."""
    other = "many-edges/other.cairn"
    run("./work-paths", "3", out=os.path.abspath(other))
    names = files[:300] + [other] + files[300:]
    refuse("another build", [other, files[0], "another build"],
           "merge", "-o", "no.cairn", *names)
    os.remove(other)
    cut = "cut.cairn"
    with open(cut, "wb") as f:
        f.write(open(files[7], "rb").read()[:9000])
    refuse("a cut file", [cut, "truncated"], "merge", "-o", "no.cairn",
           *files[:7], cut, *files[8:])
    refuse("twice", [files[3], "twice"], "merge", "-o", "no.cairn", *files,
           files[3])
    refuse("no such list", ["nolist"], "merge", "-o", "no.cairn", "@nolist")
    os.mkdir("empty")
    refuse("an empty directory", ["empty", "no .cairn file"], "merge", "-o",
           "no.cairn", "empty")
    refuse("no such file in a list", ["gone.cairn"], "merge", "-o", "no.cairn",
           "gone.cairn", *files[:100])
    test("nothing was written", not os.path.exists("no.cairn"))


# --- CAIRN_OUT=NAME,merge -----------------------------------------------------
def beside(name):
    """Files of runs beside a sum."""
    stem = os.path.basename(name)[:-6] + "."
    folder = os.path.dirname(name) or "."
    return sorted(os.path.join(folder, f) for f in os.listdir(folder)
                  if f.startswith(stem) and f != os.path.basename(name)
                  and not f.endswith(".c"))


def add_up(mode, ways, killed):
    program = "./work-" + mode
    folder = tempfile.mkdtemp(dir=".")
    sum_, alone = folder + "/sum.cairn", folder + "/alone"
    os.mkdir(alone)

    def one(i):
        how = "kill" if killed and i % 10 == 3 else ways[i % len(ways)]
        said = ""
        for out in (sum_ + ",merge", alone + "/%p.cairn"):
            said += run(program, str(i), how, os.path.abspath("plug.so"),
                        out=out, ok=False).stderr
        return said

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        said = "".join(pool.map(one, range(RUNS)))
    test("%s: nothing is said" % mode, not said, said[:500])
    left = beside(sum_)
    test("%s: who is killed stays beside" % mode,
         len(left) == (RUNS // 10 if killed else 0), left)
    total = folder + "/total.cairn"
    run(CAIRN, "merge", "-o", total, sum_, *left)
    run(CAIRN, "merge", "-o", alone + "/total.cairn", alone)
    same("%s: runs that add up" % mode, total, alone + "/total.cairn")
    r = run(CAIRN, "check", total, ok=False)
    alike = run(CAIRN, "check", alone + "/total.cairn", ok=False)
    test("%s: cairn check" % mode, r.returncode == alike.returncode, r.stdout)
    said = run(CAIRN, "report", sum_).stderr
    test("%s: what is beside is said" % mode,
         ("beside it" in said) == bool(left), said)
    with open("report.json", "w", encoding="utf-8") as f:
        f.write(run(CAIRN, "report", "--json", sum_).stdout)
    r = run(DECODE, "--compare", "report.json", sum_, ok=False)
    test("%s: decode.py" % mode, r.returncode == 0, r.stdout + r.stderr)
    return sum_, left


def remove_added(sum_, left):
    before = entries(sum_)
    run(CAIRN, "merge", "--remove", "-o", sum_, sum_, *left)
    test("--remove removes", not beside(sum_), beside(sum_))
    test("--remove adds", entries(sum_) == before + len(left))
    run("./work-edges", "5", out=sum_ + ",merge")
    test("runs add to what cairn merge wrote",
         entries(sum_) == before + len(left) + 1)
    test("... and have no file", not beside(sum_))


def running(sum_):
    """A process that still runs keeps its file."""
    env = dict(os.environ, CAIRN_OUT=sum_ + ",merge")
    p = subprocess.Popen(["./work-edges", "100000000", "sleep"], env=env,
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    left = beside(sum_)
    test("a run has a file", len(left) == 1, left)
    refuse("--remove of a run", left + ["may still run"], "merge", "--remove",
           "-o", sum_, sum_, *left)
    test("it is still there", beside(sum_) == left)
    p.kill()
    p.wait()
    p.stdout.close()
    os.remove(left[0])


def added_twice(sum_):
    """Who is killed between adding its file and removing it."""
    one = "one.prof"
    run("./work-edges", "9", out=one)
    run("./work-edges", "9", out=sum_ + ",merge")
    with open(sum_, "rb") as f:
        pid, start = struct.unpack("<I4xQ", f.read(4096)[40:56])
    with open(one, "rb") as f:
        data = bytearray(f.read())
    data[20:24] = struct.pack("<I", pid)
    data[32:40] = struct.pack("<Q", start)
    data[124:128] = struct.pack("<I", crc32c(data[:124]))
    own = "%s.%d.cairn" % (sum_[:-6], pid)
    with open(own, "wb") as f:
        f.write(data)
    before = entries(sum_)
    r = run(CAIRN, "merge", "-o", "twice.cairn", own, sum_)
    test("it is not counted again", entries("twice.cairn") == before)
    test("... which is said", own in r.stderr and "already" in r.stderr,
         r.stderr)
    said = run(CAIRN, "report", sum_).stderr
    test("it is not missing", not said, said)
    run("./work-edges", "9", out=sum_ + ",merge")
    test("the next run removes it", not beside(sum_), beside(sum_))
    test("... and adds itself", entries(sum_) == before + 1)
    os.remove(one)


def killed_anywhere(n):
    """SIGKILL at any moment: a run that has begun is counted once."""
    folder = tempfile.mkdtemp(dir=".")
    sum_ = folder + "/sum.cairn"
    env = dict(os.environ, CAIRN_OUT=sum_ + ",merge")
    random.seed(7)

    def one(i):
        p = subprocess.Popen(["./work-edges,strict", "1"], env=env,
                             stdout=subprocess.PIPE)
        has_begun = bool(p.stdout.readline())
        time.sleep(random.random() * 0.004)
        if i % 4:
            p.kill()
        p.wait()
        p.stdout.close()
        return has_begun

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        begun = sum(pool.map(one, range(n)))
    left = [f for f in beside(sum_) if f.endswith(".cairn")]
    run(CAIRN, "merge", "-o", "killed.cairn", sum_, *left)
    test("all were begun", begun == n, begun)
    test("each is counted once", entries("killed.cairn") == n,
         (entries("killed.cairn"), n))
    test("... and is one run", contents("killed.cairn")[0]["runs"] == n)


def after_the_end():
    """What is counted after the exit handlers is in a file of its own."""
    folder = tempfile.mkdtemp(dir=".")
    sum_ = folder + "/sum.cairn"
    for _ in range(3):
        run("./work-edges", "5", "late", out=sum_ + ",merge")
        run("./work-edges", "5", "late", out=folder + "/%p.one")
    left = beside(sum_)
    test("late: files beside", len(left) == 3, left)
    run(CAIRN, "merge", "-o", "late.cairn", sum_, *left)
    ones = [os.path.join(folder, f) for f in os.listdir(folder)
            if f.endswith(".one")]
    run(CAIRN, "merge", "-o", "ones.cairn", *ones)
    same("late", "late.cairn", "ones.cairn")


def own_memcpy():
    """A program's own memcpy, which libc may call after the end."""
    with open("own.c", "w", encoding="ascii") as f:
        f.write("""#include <stddef.h>
#include <stdio.h>
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char volatile *)to)[i] = ((const char *)from)[i];
	return to;
}
int main(int argc, char **argv)
{
	char text[64];

	memcpy(text, argv[0], (size_t)argc);
	printf("%.*s", argc, text);
	return 0;
}
""")
    run(CAIRN_CC, "--cairn=edges", "-g", "-O1",
        "-fno-builtin", "own.c", "-o", "own")
    for _ in range(3):
        run("./own", out="own.cairn,merge")
        run("./own", out="own-%p.one")
    left = beside("own.cairn")
    there = [f for f in ["own.cairn"] if os.path.exists(f)]
    run(CAIRN, "merge", "-o", "owns.cairn", *there, *left)
    ones = [f for f in os.listdir(".") if f.endswith(".one")]
    run(CAIRN, "merge", "-o", "ones.cairn", *ones)
    same("own memcpy", "owns.cairn", "ones.cairn")


def stays(what, said, program, sum_, *words, status=0):
    """The run cannot be added: its file stays and its status is its own."""
    before = open(sum_, "rb").read() if os.path.isfile(sum_) else None
    r = run(program, "3", *words, out=sum_ + ",merge", ok=False)
    left = beside(sum_)
    lines = r.stderr.splitlines()
    test(what + ": status", r.returncode == status, r.returncode)
    test(what + ": one sentence", len(lines) == 1 and said in r.stderr,
         r.stderr)
    test(what + ": names both files", len(left) == 1 and
         os.path.basename(left[0]) in r.stderr and
         os.path.basename(sum_) in r.stderr, (left, r.stderr))
    if before is not None:
        test(what + ": the sum is as it was",
             open(sum_, "rb").read() == before)
    run(CAIRN, "check", left[0])
    for f in left:
        os.remove(f)


def runs_refuse(sum_):
    stays("another build", "another build", "./work-paths", sum_)
    stays("a trace", "do not add up", "./work-trace", sum_)
    stays("a recording", "do not add up", "./work-record", sum_)
    os.mkdir("folder.cairn")
    stays("a directory", "is a directory", "./work-edges", "folder.cairn")
    data = bytearray(open(sum_, "rb").read())
    data[-9] ^= 1
    with open("bad.cairn", "wb") as f:
        f.write(data)
    stays("a damaged sum", "damaged", "./work-edges", "bad.cairn")
    with open("text.cairn", "wb") as f:
        f.write(b"no profile\n" * 1000)
    stays("no profile", "no profile", "./work-edges", "text.cairn")
    os.symlink("text.cairn", "link.cairn")
    stays("a link", "symbolic link", "./work-edges", "link.cairn")
    run("./work-trace", "3", out="trace.cairn")
    stays("a trace there", "use cairn merge", "./work-edges",
          "trace.cairn")


def names():
    """%p and %n, other extensions, and a comma that means nothing."""
    run("./work-edges", "1", out="%n-sum.cairn,merge")
    run("./work-edges", "1", out="%n-sum.cairn,merge")
    test("%n", entries("work-edges-sum.cairn") == 2)
    run("./work-edges", "1", out="sum.prof,merge")
    test("another extension", entries("sum.prof") == 1)
    run("./work-edges", "1", out="x,merged.cairn")
    test("a comma", entries("x,merged.cairn") == 1)


# --- runs that ended too early, or are there twice ----------------------------
def killed_early(n, mode="edges"):
    """A run that is killed between the header of its file and its modules."""
    if not os.path.exists("killer"):
        run("clang-19", "-O1", os.path.join(ROOT, "tests/runtime/killer.c"),
            "-o", "killer")
    name = "early%d-%s.cairn" % (n, mode)
    stop = 0
    while not os.path.exists(name) and stop < 1000:
        stop += 1
        run("./killer", str(stop), "./work-" + mode, "1", out=name, ok=False)
    return name


def empty_runs():
    """It is no run of another build: it is named, and left out."""
    early = [killed_early(0), killed_early(1)]
    os.mkdir("early")
    run("./work-edges", "3", out="early/9.cairn")
    run("./work-edges", "4", out="early/8.cairn")
    for i, name in enumerate(early):
        shutil.copy(name, "early/%d.cairn" % i)
    said = "empty run"
    r = run(CAIRN, "merge", "-o", "rest.cairn", "early")
    test("empty runs are named", said in r.stderr and
         all("early/%d.cairn" % i in r.stderr for i in (0, 1)) and
         len(r.stderr.splitlines()) == 1, r.stderr)
    r = run(CAIRN, "merge", "-o", "both.cairn", "early/8.cairn",
            "early/9.cairn")
    same("empty runs do not count", "rest.cairn", "both.cairn")
    r = run(CAIRN, "report", early[0], "early/8.cairn")
    test("report leaves it out", said in r.stderr and early[0] in r.stderr,
         r.stderr)
    r = run(CAIRN, "check", early[0], ok=False)
    test("cairn check calls it empty", r.returncode == 1 and
         "F7" in r.stdout and said in r.stdout, r.stdout + r.stderr)
    for mode in ("edges", "trace", "record"):
        one = killed_early(2, mode)
        for words in (["report"], ["paths"], ["diff", "early/8.cairn"],
                      ["drift"], ["tests"], ["trace"],
                      ["match-path"], ["wpp"], ["twpp"], ["overlap"],
                      ["segments"], ["merge", "-o", "no.cairn"],
                      ["pack", "-o", "no.cairn"], ["replay"], ["output"],
                      ["values", "--at", "work.c:1"],
                      ["print", "1", "--at", "work.c:1"],
                      ["trim", "--last", "1M", "-o", "no.cairn"]):
            last = {"match-path": ["f"],
                    "drift": ["early/8.cairn"]}.get(words[0], [])
            refuse("an empty run, %s, cairn %s" % (mode, words[0]),
                   [one, said], *words, one, *last)
    test("nothing was written", not os.path.exists("no.cairn"))
    # --remove: not as long as the process may still begin
    data = bytearray(open(early[0], "rb").read())
    data[20:24] = struct.pack("<I", os.getpid())
    data[124:128] = struct.pack("<I", crc32c(data[:124]))
    with open("early/2.cairn", "wb") as f:
        f.write(data)
    run(CAIRN, "merge", "--remove", "-o", "rest.cairn", "early")
    equal("--remove keeps what may still begin", os.listdir("early"),
          ["2.cairn"])


def twice():
    """A run counts once, by whatever name, and if a sum has it already."""
    folder = tempfile.mkdtemp(dir=".")
    os.chdir(folder)
    for i in range(4):
        run("../work-edges", str(i), out="%d.cairn" % i)
        run("../work-edges", str(i), out="sum.cairn,merge")
    run(CAIRN, "merge", "-o", "01.cairn", "0.cairn", "1.cairn")
    run(CAIRN, "merge", "-o", "12.cairn", "1.cairn", "2.cairn")
    run(CAIRN, "pack", "-o", "packed.cairn", "0.cairn")
    shutil.copy("0.cairn", "copy.cairn")
    shutil.copy("01.cairn", "copy01.cairn")
    shutil.copy("sum.cairn", "copy-sum.cairn")
    run(CAIRN, "merge", "-o", "tools.cairn", "sum.cairn", "01.cairn")
    for what, left_out, *names in (
            ("a copy", ["copy.cairn"], "0.cairn", "copy.cairn", "1.cairn"),
            ("a packed copy", ["packed.cairn"], "0.cairn", "1.cairn",
             "packed.cairn"),
            ("a run of a sum", ["0.cairn"], "0.cairn", "01.cairn"),
            ("runs of a sum", ["0.cairn", "copy.cairn"], "01.cairn",
             "0.cairn", "copy.cairn"),
            ("a copy of a sum", ["copy01.cairn"], "01.cairn",
             "copy01.cairn")):
        r = run(CAIRN, "merge", "-o", "out.cairn", *names)
        same("twice: " + what, "out.cairn", "01.cairn")
        lines = r.stderr.splitlines()
        test("twice: %s is named" % what, len(lines) == len(left_out) and
             all("%s: is in " % f in line and "not counted again" in line
                 for f, line in zip(left_out, lines)), r.stderr)
    for what, big, small in (
            ("a copy of what runs add to", "sum.cairn", "copy-sum.cairn"),
            ("what tools made of it", "tools.cairn", "sum.cairn"),
            ("a sum in it", "tools.cairn", "01.cairn")):
        r = run(CAIRN, "merge", "-o", "out.cairn", small, big)
        same("twice: " + what, "out.cairn", big)
        test("twice: %s is named" % what, "not counted again" in r.stderr,
             r.stderr)
    refuse("sums with a run in common", ["01.cairn", "12.cairn", "1 run "],
           "merge", "-o", "no.cairn", "01.cairn", "12.cairn")
    refuse("... in a report", ["01.cairn", "12.cairn"], "report", "01.cairn",
           "12.cairn")
    # runs go on adding to what has a list of runs, and extend it
    run("../work-edges", "7", out="tools.cairn,merge")
    shutil.copy("tools.cairn", "more.cairn")
    run("../work-edges", "7", out="tools.cairn,merge")
    r = run(CAIRN, "merge", "-o", "out.cairn", "more.cairn", "tools.cairn")
    same("twice: runs go on adding", "out.cairn", "tools.cairn")
    equal("twice: 8 runs", contents("out.cairn")[0]["runs"], 8)
    r = run(CAIRN, "report", "0.cairn", "copy.cairn")
    test("twice: a report names it", "copy.cairn: is in" in r.stderr, r.stderr)
    os.chdir("..")


def drafts():
    """What a killed process has not completed: the next one removes it."""
    folder = tempfile.mkdtemp(dir=".")
    sum_ = folder + "/sum.cairn"
    run("./work-edges", "1", out=folder + "/one.cairn")
    old = [sum_ + ".abc123.draft", sum_ + ".adding.draft"]
    for name in old + [sum_ + ".held12.draft", sum_ + ".notes.draft"]:
        with open(name, "wb") as f:
            f.write(b"half a file")
    with open(sum_ + ".held12.draft", "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run(CAIRN, "merge", "-o", sum_, folder + "/one.cairn")
        left = sorted(os.listdir(folder))
    equal("drafts of dead processes are removed", left,
          ["one.cairn", "sum.cairn", "sum.cairn.held12.draft",
           "sum.cairn.notes.draft"])
    # killed in the middle of it, wherever that is
    for stop in range(1, 2000):
        r = run("./killer", str(stop), CAIRN, "merge", "-q", "-o", sum_,
                folder + "/one.cairn", ok=False)
        if r.returncode == 1 or any(".draft" in f and "held" not in f and
                                    "notes" not in f
                                    for f in os.listdir(folder)):
            break
    test("a killed merge leaves a draft", r.returncode == 0, stop)
    run(CAIRN, "merge", "-o", sum_, folder + "/one.cairn")
    equal("... which the next one removes", len(os.listdir(folder)), 3)
    # the same of runs that add to it
    before = entries(sum_)
    for name in old[1:]:
        with open(name, "wb") as f:
            f.write(b"half a file")
    run("./work-edges", "1", out=sum_ + ",merge")
    equal("a run removes that of the run before", sorted(os.listdir(folder)),
          ["one.cairn", "sum.cairn", "sum.cairn.notes.draft"])
    equal("... and is counted", entries(sum_), before + 1)
    # other files that a command writes
    run("./work-trace", "1", out=folder + "/trace.prof")
    text = folder + "/lines"
    for name in (".abc123.draft", ".notes.draft"):
        with open(text + name, "wb") as f:
            f.write(b"half a file")
    run(CAIRN, "trace", "--export", "folded", "-o", text,
        folder + "/trace.prof")
    equal("cairn trace -o removes an old draft, too",
          sorted(f for f in os.listdir(folder) if f.startswith("lines")),
          ["lines", "lines.notes.draft"])
    # others in a directory that is summed are named
    for name in ("/x.cairn.new", "/y.cairn.abc123.draft"):
        with open(folder + name, "wb") as f:
            f.write(b"half a file")
    r = run(CAIRN, "merge", "-o", "all.cairn", folder)
    test("drafts in a directory are named", "x.cairn.new" in r.stderr and
         "y.cairn.abc123.draft" in r.stderr and
         "not completed" in r.stderr, r.stderr)


# --- cairn pack ---------------------------------------------------------------
def body(r):
    """Source with counts, and not the lines about files above it."""
    return r.stdout[r.stdout.index("block executions"):]


def packed_sources():
    folder = tempfile.mkdtemp(dir=".")
    source = os.path.join(folder, "moved.c")
    shutil.copy(os.path.join(HERE, "work.c"), source)
    program = os.path.join(folder, "work")
    run(CAIRN_CC, "--cairn=edges", "-g", "-O1",
        os.path.abspath(source), "-o", program)
    one = os.path.join(folder, "one.cairn")
    run(program, "7", out=one)
    run(CAIRN, "pack", "-o", folder + "/bare.cairn", one)
    run(CAIRN, "pack", "--sources", "-o", folder + "/full.cairn", one)
    there = body(run(CAIRN, "report", "--function", "main", one))
    page = os.path.join(folder, "page.html")
    os.rename(source, source + ".gone")
    os.remove(program)
    shutil.move(folder + "/full.cairn", one)
    here = body(run(CAIRN, "report", "--function", "main", one))
    test("pack --sources: the same text", here == there)
    run(CAIRN, "report", "--html", page, one)
    test("pack --sources: the page has it",
         "Its last call is after all exit handlers" in open(page).read())
    bare = run(CAIRN, "report", "--function", "main",
               folder + "/bare.cairn").stdout
    test("pack: without them it is said", "cannot read" in bare, bare[-500:])
    # it survives merge, and runs that add to it
    run(CAIRN, "merge", "-o", folder + "/sum.cairn", one)
    test("merge keeps them", here == body(run(
        CAIRN, "report", "--function", "main", folder + "/sum.cairn")))
    return folder


def newer_source():
    """That a source is newer than the program is known where it was packed.
    The debug information has no checksum: time is all that there is."""
    folder = tempfile.mkdtemp(dir=".")
    source = os.path.join(folder, "moved.c")
    shutil.copy(os.path.join(HERE, "work.c"), source)
    program = os.path.join(folder, "work")
    run(CAIRN_CC, "--cairn=edges", "-gdwarf-4", "-O1",
        os.path.abspath(source), "-o", program)
    one, two = folder + "/one.cairn", folder + "/two.cairn"
    run(program, "7", out=one)
    os.utime(source, (time.time() + 100, time.time() + 100))
    said = "is newer than the program"
    test("a newer source", said in run(CAIRN, "report", "--function", "main",
                                       one).stdout)
    run(CAIRN, "pack", "--sources", "-o", two, one)
    os.remove(source)
    os.remove(program)
    test("a newer source, packed",
         said in run(CAIRN, "report", "--function", "main", two).stdout)
    run(CAIRN, "report", "--html", folder + "/page.html", two)
    test("... on the page",
         "newer than the program" in open(folder + "/page.html").read())
    r = run(CAIRN, "pack", "--sources", "-o", folder + "/three.cairn", two)
    test("what is packed is packed again", not r.stderr and said in run(
        CAIRN, "report", "--function", "main",
        folder + "/three.cairn").stdout)


def missing_source():
    folder = tempfile.mkdtemp(dir=".")
    source = os.path.join(folder, "moved.c")
    shutil.copy(os.path.join(HERE, "work.c"), source)
    run(CAIRN_CC, "--cairn=edges", "-g", "-O1",
        os.path.abspath(source), "-o", folder + "/work")
    run(folder + "/work", "7", out=folder + "/one.cairn")
    os.remove(source)
    r = run(CAIRN, "pack", "--sources", "-o", folder + "/two.cairn",
            folder + "/one.cairn")
    test("pack says which source is missing",
         "moved.c" in r.stderr and len(r.stderr.splitlines()) == 1, r.stderr)


def damaged_sources():
    folder = packed_sources()
    data = bytearray(open(folder + "/one.cairn", "rb").read())
    at = data.rindex(b"CHK1")
    size = struct.unpack_from("<Q", data, at + 32)[0]
    struct.pack_into("<Q", data, at + 32, size + 1)
    struct.pack_into("<I", data, at + 56, crc32c(data[at:at + 48]))
    with open("sources.cairn", "wb") as f:
        f.write(data)
    refuse("damaged sources", ["sources.cairn"], "report", "sources.cairn")


def check_all(work):
    os.chdir(work)
    for mode in BUILDS + ["edges,strict", "trace", "record"]:
        build(mode, "work.c", "work-" + mode, "-lpthread", "-ldl")
    build("edges", "work.c", "work-static", "-static", "-lpthread")
    build("edges", "plug.c", "plug.so", "-shared", "-fPIC")
    files = merge_many("edges", FILES)
    merge_many("paths", FILES // 4)
    merge_many("paths,overlap", FILES // 4)
    merge_windows("paths,iterations=4", ["--iterations", "3"], "sequences")
    merge_windows("paths,chains=2", ["--chains", "1"], "chains")
    merge_refuses(files)
    sum_, left = add_up("edges", WAYS, True)
    remove_added(sum_, left)
    running(sum_)
    added_twice(sum_)
    runs_refuse(sum_)
    add_up("paths", WAYS, True)
    # a child of fork is refused where pairs are counted
    add_up("paths,overlap", ["threads", "deep", "plain"], False)
    add_up("static", [w for w in WAYS if w != "dlopen"], False)
    killed_anywhere(120)
    after_the_end()
    own_memcpy()
    names()
    empty_runs()
    twice()
    drafts()
    damaged_sources()
    newer_source()
    missing_source()


if __name__ == "__main__":
    sys.exit(checks.suite(check_all))
