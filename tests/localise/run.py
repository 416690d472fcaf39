#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often does cairn tests --failed find a planted bug?

run.py [--source DIR] [--keep DIR] [--only N,N]

Plants each bug of bugs.txt in tcc, one at a time, builds it with --cairn=paths,
and lets it compile tcc's own tests (tests/tests2).  What they print, built by a
correct tcc, is what they have to print; a test that prints something else has
failed.  Then cairn tests ranks all lines of tcc, and the place of the planted
one counts.  Lines with equal scores are in the order of the file: `best` and
`worst` are the first and the last place that the line could have among them.
`lines` is its place by the score of lines alone, `paths` by that of paths.

Without --source, tools/fetch-source gets the source package from Debian.  It
takes a few minutes, so it is no part of make check.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = Path(os.environ.get("CAIRN_BIN", ROOT / "build" / "bin"))
CLANG = os.environ.get("CC", "clang-19")
FLAGS = ["-O0", "-g", "-w", "-DONE_SOURCE=1", "-DTCC_TARGET_X86_64",
         '-DCONFIG_TRIPLET="x86_64-linux-gnu"', "-I."]
CONFIG = """#define TCC_VERSION "0.9.27"
#define CONFIG_TCCDIR "."
#define GCC_MAJOR 12
"""
TIMEOUT = 10


def read_bugs():
    """(file, function, which, before, after) for each paragraph."""
    text = "".join(line for line in (HERE / "bugs.txt").open()
                   if not line.startswith("#"))
    bugs = []
    for paragraph in text.strip().split("\n\n"):
        place, before, after = paragraph.split("\n")
        file, function, *which = place.split(":")
        bugs.append((file, function, int(which[0]) if which else 0,
                     before, after))
    return bugs


def find_line(lines, function, which, before):
    """The number of the line, from 1 on.  It has to be the only one, unless
    the bug says which of several it is."""
    start = next(i for i, line in enumerate(lines)
                 if re.match(r"[\w* ]*\b%s\(" % function, line) and
                 not line.rstrip().endswith(";"))
    end = next(i for i in range(start, len(lines)) if lines[i].rstrip() == "}")
    found = [i for i in range(start, end) if before in lines[i]]
    if not found or (not which and len(found) > 1):
        sys.exit(f"{function}: '{before}' is there {len(found)} times")
    return found[which - 1 if which else 0] + 1


def plant(tree, bug):
    file, function, which, before, after = bug
    lines = (tree / file).read_text(errors="surrogateescape").split("\n")
    number = find_line(lines, function, which, before)
    lines[number - 1] = lines[number - 1].replace(before, after)
    (tree / file).write_text("\n".join(lines), errors="surrogateescape")
    return number


def run(command, **more):
    """Exit status and output; a status of its own if it takes too long."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=TIMEOUT,
                                stdin=subprocess.DEVNULL, check=False, **more)
    except subprocess.TimeoutExpired:
        return "timeout", b""
    return result.returncode, result.stdout


def must(command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False, **more)
    if result.returncode:
        sys.exit(f"{command[0]} failed:\n{result.stdout.decode()}")


def build(tree):
    must([str(BIN / "cairn-cc"), "--cairn=paths", *FLAGS, "tcc.c", "-o",
          "tcc-paths", "-lm", "-ldl", "-lpthread"], cwd=tree)


def run_test(tree, source, out):
    """What the test does: compiled by tcc, linked by clang."""
    name = source.stem
    objects = [str(out / (name + ".o")), str(out / "helper.o")]
    environment = dict(os.environ, CAIRN_OUT=str(out / (name + ".cairn")))
    compiled = run(["./tcc-paths", "-B.", "-Iinclude", "-c",
                    str(source.relative_to(tree)), "-o", objects[0]],
                   cwd=tree, env=environment)
    if compiled[0] != 0:
        return compiled
    program = out / name
    linked = run([CLANG, "-no-pie", "-w", *objects, "-o", str(program), "-lm",
                  "-lpthread"])
    if linked[0] != 0:
        return ("not linked", b"")
    # each in a directory of its own: some write files
    with tempfile.TemporaryDirectory() as work:
        result = run([str(program)], cwd=work)
    return compiled + result


def run_all(tree, out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    must([CLANG, "-O1", "-w", "-c", "lib/va_list.c", "-o",
          str(out / "helper.o")], cwd=tree)
    tests = sorted((tree / "tests" / "tests2").glob("[0-9]*.c"))
    return {test.stem: run_test(tree, test, out) for test in tests}


def rank(tree, out, file, number, tests, failed):
    command = [str(BIN / "cairn"), "tests", "--json"]
    for name in failed:
        command += ["--failed", str(out / (name + ".cairn"))]
    command += [str(out / (name + ".cairn")) for name in tests]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True,
                            cwd=tree)
    (out / "ranked.json").write_bytes(result.stdout)
    lines = json.loads(result.stdout)["lines"]

    def place(keys):
        ordered = sorted(lines, key=lambda l: [-k for k in keys(l)])
        mine = [i for i, l in enumerate(ordered) if l["line"] == number and
                os.path.basename(l["file"]) == file]
        if not mine:
            return None
        score = keys(ordered[mine[0]])
        same = [i for i, l in enumerate(ordered) if keys(l) == score]
        return same[0] + 1, mine[0] + 1, same[-1] + 1

    ours = place(lambda l: (l["score"], round(
        l["line_itself"]["ochiai"] + l["path"]["ochiai"], 6), round(
            l["line_itself"]["tarantula"] + l["path"]["tarantula"], 6)))
    alone = place(lambda l: (l["line_itself"]["ochiai"],))
    paths = place(lambda l: (l["path"]["ochiai"],))
    return ours, alone, paths, len(lines)


def try_bug(number, bug, source, work, expected):
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source, tree)
    (tree / "config.h").write_text(CONFIG)
    line = plant(tree, bug)
    build(tree)
    out = work / f"out{number}"
    results = run_all(tree, out)
    tests = [name for name in expected if (out / (name + ".cairn")).exists()]
    failed = [name for name in tests if results[name] != expected[name]]
    where = f"{bug[0]}:{line}"
    if not failed:
        print(f"{number:3} {where:20} no test fails", flush=True)
        return None
    ours, alone, paths, n = rank(tree, out, bug[0], line, tests, failed)
    if not ours:
        print(f"{number:3} {where:20} {len(failed):4} failed, the line is "
              "among no suspects", flush=True)
        return None, None, None
    print(f"{number:3} {where:20} {len(failed):4} {len(tests):5} {n:6} "
          f"{ours[1]:6} {ours[0]:6} {ours[2]:6} {alone[1]:6} {paths[1]:6}",
          flush=True)
    return ours, alone, paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only = {int(n) for n in options.only.split(",") if n}
    scratch = None if options.keep else tempfile.TemporaryDirectory()
    work = options.keep or Path(scratch.name)
    work.mkdir(exist_ok=True)
    source = options.source
    if not source:
        source = work / "tcc"
        if not source.exists():
            must([str(ROOT / "tools" / "fetch-source"), "tcc", str(source)])
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source, tree)
    (tree / "config.h").write_text(CONFIG)
    build(tree)
    expected = run_all(tree, work / "out")
    again = run_all(tree, work / "out")
    # tests that print something else each time tell nothing
    expected = {name: result for name, result in expected.items()
                if result == again[name] and result[0] != "timeout"}
    print(f"{len(expected)} tests\n")
    print(f"  # {'line':20} fail tests  lines   rank   best  worst  lines  paths",
          flush=True)
    results = [try_bug(i + 1, bug, source, work, expected)
               for i, bug in enumerate(read_bugs())
               if not only or i + 1 in only]
    seen = [r for r in results if r]

    def within(which, place, n):
        return sum(1 for r in seen if r[which] and r[which][place] <= n)

    print(f"\nRESULT localise bugs={len(results)} caught={len(seen)} "
          f"top1={within(0, 1, 1)} top5={within(0, 1, 5)} "
          f"top10={within(0, 1, 10)} top5_best={within(0, 0, 5)} "
          f"top5_worst={within(0, 2, 5)} top5_lines={within(1, 1, 5)} "
          f"top5_paths={within(2, 1, 5)}")


if __name__ == "__main__":
    main()
