#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What lines count, at every level and in every mode.

In lines.c and lines.cpp a line that ends with "counts N" is executed N times
and has to say so, whatever the optimizer made of it; "no code" has no count.
Of these and of the programs of tests/identity that are about lines all modes
have to report the same lines, counts and branches (lcov).
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "programs"))
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX  # noqa: E402

MODES = ("edges", "edges,strict", "edges,all", "paths", "paths,overlap",
         "trace", "trace,witness", "record")
LEVELS = ("-O0", "-O1", "-O2", "-O3")
IDENTITY = os.path.join(os.path.dirname(HERE), "identity", "programs")
PROGRAMS = [os.path.join(HERE, "lines.c"), os.path.join(HERE, "lines.cpp"),
            os.path.join(IDENTITY, "optimized_lines.c"),
            os.path.join(IDENTITY, "optimized_lines_cxx.cpp"),
            os.path.join(IDENTITY, "declared_lines.c")]

passed = failed = 0


def test(name, ok, text=""):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print(f"FAIL {name}: {text}")


def build_and_run(source, level, mode, folder):
    """The records of its lcov file: {(file, line): count}, and of branches."""
    compiler = CAIRN_CC if source.endswith(".c") else CAIRN_CXX
    profile = os.path.join(folder, "run.cairn")
    program = os.path.join(folder, "prog")
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run([compiler, f"--cairn={mode}", level, "-g", source, "-o",
                    program], check=True)
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, CAIRN_OUT=profile))
    text = subprocess.run([CAIRN, "report", "--format", "lcov", profile],
                          check=True, capture_output=True, text=True).stdout
    lines, branches, file = {}, {}, ""
    for record in text.splitlines():
        if record.startswith("SF:"):
            file = record[3:]
        elif found := re.match(r"DA:(\d+),(\d+)", record):
            lines[file, int(found[1])] = int(found[2])
        elif found := re.match(r"BRDA:(\d+),(.*),([^,]*)$", record):
            branches[file, int(found[1]), found[2]] = found[3]
    return lines, branches


def wanted(source):
    """{line: count, or None: no code}"""
    found = {}
    with open(source, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if said := re.search(r"/\* counts (\d+) \*/$", line):
                found[number] = int(said[1])
            elif line.endswith("/* no code */\n"):
                found[number] = None
    return found


def first(one, other):
    wrong = [k for k in one.keys() | other.keys() if one.get(k) != other.get(k)]
    if not wrong:
        return ""
    key = min(wrong, key=str)
    return f"{key}: {one.get(key)}, not {other.get(key)} ({len(wrong)} differ)"


def check(source, level, folder):
    name = f"{os.path.basename(source)} {level}"
    lines, branches = build_and_run(source, level, MODES[0], folder)
    own = {line: n for (file, line), n in lines.items() if file == source}
    for line, count in wanted(source).items():
        test(f"{name}: line {line}", own.get(line) == count,
             f"{own.get(line)}, not {count}")
    for mode in MODES[1:]:
        other = build_and_run(source, level, mode, folder)
        test(f"{name} {mode}: lines", other[0] == lines,
             first(other[0], lines))
        test(f"{name} {mode}: branches", other[1] == branches,
             first(other[1], branches))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for source in PROGRAMS:
            for level in LEVELS:
                check(source, level, folder)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
