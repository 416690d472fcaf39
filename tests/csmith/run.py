#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs: same output as the plain build, same counts as all edges.

    run.py                  the fixed seeds of `make check`
    run.py SEED...          these seeds
    run.py --count N        seeds 1 to N, as `make proof` does
    run.py --keep DIR ...   leave what failed in DIR
    CAIRN_BIN               directory of cairn and cairn-cc

csmith writes a program from each seed.  It is built plain, with
--cairn=edges, with --cairn=edges,all and with --cairn=paths, at a level of
optimization that the seed selects, and run.  Edge counts that follow from
paths must be those of the edges build in every function whose graph is the
same in both; how many that were is on a line of its own.  A program whose
plain build does not end in time tells nothing and is left out, as is one that
csmith cannot write, and one that ends without its checksum: it loops forever,
which lets the optimizer do anything.
The number of programs counts those that were compared.  The last line is
RESULT csmith programs=N mismatches=M; exit status 1 unless M is 0 and N is not.
"""
import argparse
import concurrent.futures
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "programs"))
from profiles import (Broken, CAIRN_CC, call,  # noqa: E402
                      check, counts_differ, differences, read)

LEVELS = ("-O2", "-O0", "-O1", "-O3", "-Os")
SEEDS = range(1, 31)
PLAIN_SECONDS = 3            # of processor time, whatever else runs here
# Their time may grow with counters on every edge.
TIMEOUT = 600


def include_flags():
    """Where Debian keeps csmith.h."""
    for directory in ("/usr/include/csmith", "/usr/include/csmith-2.3.0"):
        if os.path.exists(os.path.join(directory, "csmith.h")):
            return ["-I" + directory]
    sys.exit("csmith: csmith.h is missing; install the package "
             "libcsmith-dev")


class Useless(Exception):
    """The seed gives no program that can be compared."""


def generate(seed, path):
    options = ["--seed", str(seed), "--output", path, "--max-block-depth",
               str(3 + seed % 4), "--max-funcs", str(5 + seed % 7)]
    if seed % 3 == 0:
        options.append("--no-volatiles")
    try:
        # csmith leaves a file platform.info where it runs.
        subprocess.run(["csmith", *options], check=True, timeout=600,
                       capture_output=True, cwd=os.path.dirname(path))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        raise Useless from None


def build(compiler, flags, source, exe):
    call([*compiler, *flags, "-w", source, "-o", exe], timeout=600)


def at_most(seconds):
    """For preexec_fn: the program may use that much processor time.  The time on
    the clock would depend on what else the machine does."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def is_too_long(status):
    return status in (-signal.SIGXCPU, -signal.SIGKILL)


def execute(exe, directory, prepare=None):
    """(status, stdout, stderr)"""
    env = dict(os.environ, CAIRN_OUT=exe + ".cairn")
    done = subprocess.run([exe], capture_output=True, timeout=TIMEOUT,
                          env=env, cwd=directory, check=False,
                          preexec_fn=prepare)
    return done.returncode, done.stdout, done.stderr


def path_differences(edges, paths):
    """What differs, as sentences, and how many functions that ran have the
    same graph in both builds, and how many another one."""
    said, same, other = [], 0, 0
    said += ["%s is in one build only" % key[1]
             for key in edges.keys() ^ paths.keys()]
    for key in edges.keys() & paths.keys():
        a, b = paths[key], edges[key]
        if not a.covered or not b.covered:
            continue
        if not a.exact:
            said.append("%s is not exact" % a.name)
        elif a.entries != b.entries:
            said.append("%s: %s entries, not %s" % (a.name, a.entries,
                                                    b.entries))
        elif [e[:3] for e in a.edges] == [e[:3] for e in b.edges]:
            same += bool(a.entries)
            said += counts_differ(a, b)
        else:
            other += bool(a.entries)
    return said, same, other


def compare(seed, directory, includes):
    """How many functions were compared by their paths, and how many not."""
    source = os.path.join(directory, "program.c")
    generate(seed, source)
    flags = [LEVELS[seed % len(LEVELS)], *includes]
    flags += ["-g"] if seed % 2 else []
    exe = os.path.join(directory, "plain")
    build(["clang-19"], flags, source, exe)
    plain = execute(exe, directory, at_most(PLAIN_SECONDS))
    if is_too_long(plain[0]) or b"checksum = " not in plain[1]:
        raise Useless
    profiles = []
    for mode in ("edges", "edges,all", "paths"):
        exe = os.path.join(directory, mode.replace(",", "-"))
        build([CAIRN_CC, "--cairn=" + mode], flags, source, exe)
        try:
            ours = execute(exe, directory)
        except subprocess.TimeoutExpired:
            raise Broken("%s: the program does not end" % mode) from None
        if ours != plain:
            raise Broken("%s: status, stdout, stderr are %r, not %r" %
                         (mode, ours, plain))
        check(exe + ".cairn")
        profiles.append(read(exe + ".cairn"))
    if not any(f.name == "main" and f.entries for f in profiles[0].values()):
        raise Broken("main was never entered")
    said = differences(*profiles[:2])
    if said:
        raise Broken("; ".join(said[:3]))
    said, same, other = path_differences(profiles[0], profiles[2])
    if said:
        raise Broken("paths: " + "; ".join(said[:3]))
    return same, other


def one(seed, scratch, keep, includes):
    """"ok", "useless" or the reason of a mismatch; functions compared by
    their paths, and not compared."""
    directory = os.path.join(scratch, str(seed))
    os.makedirs(directory)
    verdict, compared = "ok", (0, 0)
    try:
        compared = compare(seed, directory, includes)
    except Useless:
        verdict = "useless"
    except Broken as broken:
        verdict = str(broken)
    if verdict in ("ok", "useless") or not keep:
        shutil.rmtree(directory, ignore_errors=True)
    return verdict, *compared


def main():
    parser = argparse.ArgumentParser(description="csmith tests of Cairn.")
    parser.add_argument("--count", type=int, metavar="N")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("seed", nargs="*", type=int)
    options = parser.parse_args()
    seeds = options.seed or (range(1, 1 + options.count) if options.count
                             else SEEDS)
    includes = include_flags()
    scratch = options.keep or tempfile.mkdtemp(prefix="cairn-csmith-")
    os.makedirs(scratch, exist_ok=True)
    os.environ["TMPDIR"] = scratch  # what a crashing compiler leaves
    programs = mismatches = compared = others = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for seed, (verdict, same, other) in zip(seeds, pool.map(
                    lambda s: one(s, scratch, options.keep, includes),
                    seeds)):
                programs += verdict != "useless"
                compared += same
                others += other
                if verdict not in ("ok", "useless"):
                    mismatches += 1
                    print("FAIL seed %d (%s): %s" % (
                        seed, LEVELS[seed % len(LEVELS)], verdict),
                        flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print("paths: functions with the same graph=%d with another=%d" % (
        compared, others))
    print("csmith: %d passed, %d failed" % (programs - mismatches,
                                            mismatches))
    print("RESULT csmith programs=%d mismatches=%d" % (programs, mismatches))
    return 0 if programs and compared and not mismatches else 1


if __name__ == "__main__":
    sys.exit(main())
