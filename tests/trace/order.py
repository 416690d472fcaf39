#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads in one order: `cairn trace --interleave` against what programs say.

order.c and order.cpp have threads that wait for each other in every way there
is.  Each calls section() where it alone may; how many sections there were before
it writes down, and look() does the same where nobody may call section().  In
the trace there must be as many before each of these calls.  Both also say how
often their thread has called work() by then, which is between these.

    order.py [--keep DIR] [HOW...]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)

One line for each failure; the last line counts.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "programs"))
from profiles import Broken, CAIRN, CAIRN_CC, CAIRN_CXX, call  # noqa: E402

TIMEOUT = 600
BOUND = 64 << 20             # bytes of buffers, as src/runtime/trace.h has it
CALLS = ("section", "look", "work")
# How each program is built, and which of its ways are run so (None: all).
BUILDS = (
    ("c", "order.c", ("-O2",), None),
    ("c0", "order.c", ("-O0",), ("lock", "cond", "tree", "pool", "cancel")),
    ("cstatic", "order.c", ("-O2", "-static"),
     ("lock", "timedlock", "sem", "cond", "cnd", "mtx", "rwlock", "barrier",
      "join", "thrd_join", "once", "cancel", "exit", "queue_sem")),
    ("cxx", "order.cpp", ("-O2", "-std=c++17"), None),
    ("cxx0", "order.cpp", ("-O0", "-std=c++17"), ("condition", "async")),
    ("cxxstatic", "order.cpp", ("-O2", "-std=c++17", "-static"),
     ("mutex", "condition", "join", "async", "once", "throw")),
)


def build(directory, name, source, flags):
    program = os.path.join(directory, name)
    compiler = CAIRN_CXX if source.endswith(".cpp") else CAIRN_CC
    call([compiler, "--cairn=trace", "-g", "-pthread", "-D_GNU_SOURCE", *flags,
          os.path.join(HERE, source), "-o", program])
    return program


def run(program, trace, *arguments, **more):
    if os.path.exists(trace):
        os.unlink(trace)
    done = subprocess.run(
        [program, *arguments], env=dict(os.environ, CAIRN_OUT=trace),
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TIMEOUT, check=False, **more)
    if done.returncode or done.stderr:
        raise Broken("%s: status %d %s" % (
            " ".join(arguments), done.returncode, done.stderr.strip()[-200:]))
    return done.stdout


def read(trace, *options):
    """Events, but for the paths in between, which are many."""
    text = call([CAIRN, "trace", "--json", *options, trace])
    return [json.loads(line) for line in text.splitlines()
            if '"event":"path"' not in line]


def notes(text):
    """Kernel id -> what the thread wrote down, in its order."""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        what, tid, before, worked = line.split()
        found[int(tid)].append((what, int(before), int(worked)))
    return found


def compare(events, said):
    """Each call of section() and look() with what its thread said then."""
    tids, worked, seen = {}, collections.Counter(), collections.Counter()
    nsections = 0
    for e in events:
        if e["event"] == "start":
            tids[e["thread"]] = e["value"]
            worked[e["thread"]] = 0
        function = e.get("function", "").split("(")[0]
        if e["event"] != "enter" or function not in CALLS:
            continue
        if function == "work":
            worked[e["thread"]] += 1
            continue
        tid = tids[e["thread"]]
        if seen[tid] == len(said[tid]):
            raise Broken("thread %d calls more than it says" % tid)
        note = said[tid][seen[tid]]
        is_one = (function[0], nsections, worked[e["thread"]])
        if note != is_one:
            raise Broken(
                "call %d of thread %d is %s, with %d sections before and %d "
                "times work, not %s, %d and %d" % (seen[tid], tid, *is_one,
                                                   *note))
        seen[tid] += 1
        nsections += function == "section"
    for tid, items in said.items():
        if seen[tid] != len(items):
            raise Broken("thread %d calls %d times, not %d" % (
                tid, seen[tid], len(items)))
    if not nsections:
        raise Broken("nothing happened")


def by_thread(events):
    threads = collections.defaultdict(list)
    for e in events:
        threads[e["thread"]].append(e)
    return threads


def check_how(directory, program, how):
    trace = os.path.join(directory, "%s.%s.cairn" % (
        os.path.basename(program), how))
    said = notes(run(program, trace, how))
    compare(read(trace, "--interleave", "--function", "[swl]*[nk]*"), said)
    if how in ("lock", "tree", "mutex"):
        check_views(trace)
    if how in ("lock", "sem", "join", "cancel"):
        check_match(trace)
    os.unlink(trace)


def check_match(trace):
    """One section at a time, in whatever thread."""
    for expression, status in (("section leave(section)", 0),
                               ("section{2} leave(section)*", 1)):
        done = subprocess.run(
            [CAIRN, "match-path", "--json", "--interleave", trace, expression],
            capture_output=True, text=True, check=False)
        if done.returncode != status:
            raise Broken("match-path %s: %s" % (
                expression, done.stderr + done.stdout[:1000]))
        found = json.loads(done.stdout)
        if not found["interleaved"] or found["threads"] < 2:
            raise Broken("match-path says %s" % done.stdout[:1000])


def check_views(trace):
    """The same events as thread by thread, all of them and of a time."""
    whole = read(trace, "--interleave", "--times")
    if by_thread(whole) != by_thread(read(trace, "--times")):
        raise Broken("--interleave has other events")
    end = max(e["ns"] for e in whole)
    for a, b in ((0.2, 0.6), (0.5, 0.501), (0.9, 2)):
        options = ("--from", "%dns" % (a * end), "--to", "%dns" % (b * end))
        part = read(trace, "--interleave", "--times", *options)
        if by_thread(part) != by_thread(read(trace, "--times", *options)):
            raise Broken("--interleave %s has other events" % (options,))
        part = [e for e in part if e["event"] not in ("open", "time")]
        keys = {json.dumps(e) for e in part}
        right = [e for e in whole if json.dumps(e) in keys]
        # pieces that begin before the range are known less exactly
        if by_thread(part) != by_thread(right):
            raise Broken("--interleave %s has other moments" % (options,))
    lines = call([CAIRN, "trace", "--interleave", trace]).splitlines()
    ended = sum(e["event"] == "leave" for e in whole)
    if sum(line.endswith(" ends") for line in lines) != ended:
        raise Broken("the text has other events")


def check_refusals(directory, program):
    trace = os.path.join(directory, "refused.cairn")
    run(program, trace, "join")
    for options in (("--reverse",), ("--summary",), ("--thread", "1"),
                    ("--export", "chrome"), ("--from", "100"),
                    ("--to", "7")):
        done = subprocess.run(
            [CAIRN, "trace", "--interleave", *options, trace],
            capture_output=True, text=True, check=False)
        if done.returncode != 2 or done.stdout or "--interleave" not in \
                done.stderr:
            raise Broken("%s: %s" % (options, done.stderr))


def check_unordered(directory):
    """Not linked with --cairn=trace: the file says so, and cairn, too."""
    obj, program, trace = (os.path.join(directory, "unordered" + end)
                           for end in (".o", "", ".cairn"))
    call([CAIRN_CC, "--cairn=trace", "-g", "-O2", "-D_GNU_SOURCE", "-c",
          os.path.join(HERE, "order.c"), "-o", obj])
    call([CAIRN_CC, "-pthread", obj, "-o", program])
    run(program, trace, "lock")
    done = subprocess.run([CAIRN, "trace", "--interleave", "--json", trace],
                          capture_output=True, text=True, check=False)
    if done.returncode or "order of time only" not in done.stderr:
        raise Broken("it says '%s'" % done.stderr)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if by_thread(events) != by_thread(
            json.loads(line) for line in call(
                [CAIRN, "trace", "--json", trace]).splitlines()):
        raise Broken("--interleave has other events")


def run_on_one_core(program, trace):
    """What it prints, and the most memory that it had.  wait4 would say what
    this process had when it made the child, if that is more."""
    def limit():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    most = 0
    if os.path.exists(trace):
        os.unlink(trace)
    with subprocess.Popen(
            [program], env=dict(os.environ, CAIRN_OUT=trace), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            preexec_fn=limit) as child:
        while child.poll() is None:
            with open("/proc/%d/status" % child.pid, encoding="ascii") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        most = max(most, int(line.split()[1]) * 1024)
            time.sleep(0.02)
        said = child.stdout.read()
    if child.returncode or not most:
        raise Broken("status %d" % child.returncode)
    return said, most


def check_bound(directory, name, bound, *flags):
    """Eight threads that write more than the writer can take, on one core."""
    program = build(directory, name, "flood.c", ("-O2", *flags))
    trace = os.path.join(directory, name + ".cairn")
    said, most = run_on_one_core(program, trace)
    summary = json.loads(call([CAIRN, "trace", "--summary", "--json", trace]))
    right = sorted([1] + [int(n) + 1 for n in said.split()])
    found = sorted(t["calls"] for t in summary["threads"])
    if found != right:
        raise Broken("%s calls, not %s" % (found, right))
    # threads that have a buffer each share half of the bound, and take more if
    # nothing comes back; the buffers are holes in the file now
    held = os.stat(trace).st_size - 512 * os.stat(trace).st_blocks
    if summary["bytes"] < 2 * bound or held < bound // 2 - (1 << 20):
        raise Broken("%d bytes, %d of buffers: the bound was not reached" % (
            summary["bytes"], held))
    if held > bound or most > bound + (16 << 20):
        raise Broken("%d bytes of buffers, %d of memory" % (held, most))
    os.unlink(trace)


def check_full(directory):
    """A thread that waited for one whose trace could not be written: what it
    did then is not shown, or behind that."""
    program = build(directory, "full_sync", "full_sync.c",
                    ("-O2", "-I" + os.path.join(ROOT, "tests", "battery")))
    disk = os.path.join(directory, "disk")
    trace = os.path.join(disk, "full_sync.cairn")
    os.makedirs(disk)
    call(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk])
    try:
        done = subprocess.run(
            [program], env=dict(os.environ, CAIRN_OUT=trace),
            capture_output=True, text=True, timeout=TIMEOUT, check=False)
        if done.returncode or done.stdout != "done\n":
            raise Broken("status %d %s" % (done.returncode, done.stdout))
        events = read(trace, "--interleave", "--function", "behind*")
        said = subprocess.run([CAIRN, "check", trace], capture_output=True,
                              text=True, check=False).stdout
    finally:
        subprocess.run(["umount", disk], check=False)
    shown = [i for i, e in enumerate(events)
             if e.get("function", "").startswith("behind")]
    late = [i for i, e in enumerate(events) if e["thread"] == 2]
    if not late:
        raise Broken("there is no other thread")
    if shown and shown[0] < late[-1]:
        raise Broken("%s stands before what it waited for" % events[shown[0]])
    if " F4 " not in said or "trace ended before" not in said or \
            " F3 " in said or "not counted" in said:
        raise Broken("check says " + said)


def attempt(name, check, *arguments):
    try:
        check(*arguments)
        return None
    except (Broken, subprocess.TimeoutExpired, KeyError) as problem:
        return "FAIL %s: %r" % (name, problem)


def jobs(directory, wanted):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        programs = list(pool.map(lambda row: build(directory, *row[:3]),
                                 BUILDS))
    for (name, _, _, only), program in zip(BUILDS, programs):
        for how in call([program]).split():
            if (only is None or how in only) and (
                    not wanted or how in wanted):
                yield "%s %s" % (name, how), check_how, directory, program, how
        if name == "c" and not wanted:
            yield "refusals", check_refusals, directory, program
            yield "unordered", check_unordered, directory
    if not wanted or "bound" in wanted:
        yield "bound", check_bound, directory, "flood", BOUND
        yield ("bound, small", check_bound, directory, "flood2", 2 << 20,
               "--cairn=trace,memory=2M", "-DROUNDS=300000u")
        yield ("bound, large", check_bound, directory, "flood96", 96 << 20,
               "--cairn=trace,memory=96M")
    if not wanted or "full" in wanted:
        yield "full", check_full, directory


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep")
    parser.add_argument("how", nargs="*")
    args = parser.parse_args()
    directory = args.keep or tempfile.mkdtemp(prefix="cairn-order-")
    os.makedirs(directory, exist_ok=True)
    total = failed = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for said in pool.map(lambda job: attempt(*job),
                                 list(jobs(directory, args.how))):
                total += 1
                if said:
                    failed += 1
                    print(said, flush=True)
    finally:
        if not args.keep:
            shutil.rmtree(directory)
    print("%d passed, %d failed" % (total - failed, failed))
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
