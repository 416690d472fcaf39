#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what cairn trace shows the same, whatever way it is asked for?

Programs are built with --cairn=trace and run.  All events, as JSON, are then
the truth for what is selected by function, depth, thread or moment, for the
same backwards, for the exports and for cairn match-path.  An index beside the
file changes nothing, nor does one that is damaged or of another run.  A file
that is cut at any byte, or damaged, ends in a sentence, never in a crash; one
of a program that was killed is read to its end.  So in all encodings of a trace.

    view.py [NAME...]
    BUILD   the build directory (default: build); SEED=n other random moments

Ends with "N passed, M failed".
"""
import glob
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "bin")
CAIRN = os.path.join(BIN, "cairn")
SEED = int(os.environ.get("SEED", "1"))
TIMEOUT = 120
MOMENTS = 12

SMALL = r"""
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf out;
static volatile int sink;
__attribute__((noinline)) static int leaf(int n) { sink += n; return n & 3; }
__attribute__((noinline)) static int rec(int n)
{
	return n ? rec(n - 1) + leaf(n) : leaf(7);
}
__attribute__((noinline)) static void jump(int n)
{
	if (n == 5)
		longjmp(out, 1);
	sink += leaf(n);
}
static int by(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
static void *work(void *p)
{
	for (int i = 0; i < 20; i++)
		sink += rec(i % 5);
	return p;
}
int main(int argc, char **argv)
{
	int v[] = {5, 3, 9, 1, 7, 2}, turns = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t t;
	for (int i = 0; i < turns; i++) {
		if (!setjmp(out))
			for (int k = 0; k < 8; k++)
				jump(k);
		sink += rec(i % 7);
		qsort(v, 6, sizeof(*v), by);
	}
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	printf("%d\n", sink);
	while (argc > 2)
		sink += rec(3);
	return 0;
}
"""

passed = failed = 0


def judge(name, condition, why=""):
    global passed, failed
    passed += bool(condition)
    failed += not condition
    if not condition:
        print(f"FAIL {name}: {why}", flush=True)
    return condition


def call(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT,
                          check=False, **more)


def must(*words, **more):
    result = call(*words, **more)
    if result.returncode:
        raise RuntimeError(f"{' '.join(words)}: status {result.returncode}: "
                           f"{result.stderr.decode(errors='replace')}")
    return result.stdout


def build(directory, name, source, *flags):
    program = os.path.join(directory, name)
    compiler = "cairn-c++" if source.endswith(".cpp") else "cairn-cc"
    must(os.path.join(BIN, compiler), "--cairn=trace", "-g", *flags, source,
         "-o", program, "-lpthread", "-lm")
    return program


def record(program, *arguments):
    trace = program + ".cairn"
    must(program, *arguments, env=dict(os.environ, CAIRN_OUT=trace))
    return trace


def events(trace, *options):
    text = must(CAIRN, "trace", "--json", *options, trace)
    return [json.loads(line) for line in text.splitlines()]


def by_thread(items):
    threads = {}
    for item in items:
        threads.setdefault(item["thread"], []).append(item)
    return threads


def length(event):
    return len(event.get("ids", ())) if event["event"] == "path" else 0


# --- selections ---------------------------------------------------------------

def select(items, wanted, callees, depth):
    """Events of frames that the options select."""
    stack, result = [], []
    for e in items:
        kind = e["event"]
        if kind in ("enter", "frame"):
            level = stack[-1] if stack else 0
            if wanted and not callees:
                level = 1 if e["function"] in wanted else 0
                if depth and e["depth"] >= depth:
                    level = 0
            elif level or not wanted or e["function"] in wanted:
                level += 1
            stack.append(level)
        if kind == "start":
            result.append(e)
            stack = []
        elif kind in ("time", "sync"):
            if not wanted and not depth:
                result.append(e)
        elif stack and stack[-1] and not (depth and stack[-1] > depth):
            result.append(e)
        if kind in ("leave", "death"):
            stack.pop()
    return result


def check_selections(name, trace, truth):
    functions = sorted({e["function"] for t in truth.values() for e in t
                        if "function" in e})
    for wanted, callees, depth in (
            (functions[0], False, 0), (functions[-1], True, 0),
            (functions[-1], True, 2), (functions[0], False, 2),
            (None, False, 1), (None, False, 3)):
        options = []
        if wanted:
            options += ["--function", wanted]
        if callees:
            options.append("--callees")
        if depth:
            options += ["--depth", str(depth)]
        found = by_thread(events(trace, *options))
        for thread, items in truth.items():
            right = select(items, {wanted} if wanted else None, callees, depth)
            judge(f"{name} {' '.join(options)}",
                  found.get(thread, []) == right,
                  f"thread {thread}: {len(found.get(thread, []))} events, "
                  f"not {len(right)}")


def place(items, block):
    """The event that executes a block, or the end."""
    for i, e in enumerate(items):
        if e["block"] + length(e) > block:
            return i
    return len(items)


def check_moments(name, trace, truth, rng):
    for thread, items in truth.items():
        last = items[-1]["block"] + length(items[-1])
        for _ in range(MOMENTS):
            a, b = sorted(rng.randrange(last + 2) for _ in range(2))
            options = ["--thread", str(thread), "--from", str(a),
                       "--to", str(b)]
            right = items[place(items, a):place(items, b)]
            got = [e for e in events(trace, *options)
                   if e["event"] != "open"]
            judge(f"{name} {' '.join(options)}", got == right,
                  f"{len(got)} events, not {len(right)}")
            got = [e for e in events(trace, "--reverse", *options)
                   if e["event"] != "open"]
            judge(f"{name} --reverse {' '.join(options)}",
                  got == right[::-1], "not the same backwards")


def check_open(name, trace, truth, rng):
    """The frames that are open at a moment."""
    for thread, items in truth.items():
        last = items[-1]["block"] + length(items[-1])
        block = rng.randrange(last + 1)
        stack = []
        for e in items[:place(items, block)]:
            if e["event"] in ("enter", "frame"):
                stack.append(e["function"])
            elif e["event"] in ("leave", "death"):
                stack.pop()
            elif e["event"] == "start":
                stack = []
        got = [e["function"]
               for e in events(trace, "--thread", str(thread), "--from",
                               str(block), "--to", str(block))]
        judge(f"{name} open frames at {block}", got == stack,
              f"{got}, not {stack}")


def check_reverse(name, trace, truth):
    for thread, items in by_thread(events(trace, "--reverse")).items():
        items = [e for e in items if e["event"] != "open"]
        judge(f"{name} --reverse", items == truth[thread][::-1],
              f"thread {thread} is not the same backwards")


def check_times(name, trace, truth):
    timed = by_thread(events(trace, "--times"))
    for thread, items in timed.items():
        times = [e.pop("ns") for e in items]
        judge(f"{name} --times", items == truth[thread], "other events")
        judge(f"{name} --times", times == sorted(times), "time goes back")
        got = [e for e in events(trace, "--thread", str(thread), "--from",
                                 f"{times[-1] + 1}ns") if e["event"] != "open"]
        judge(f"{name} --from behind the end", not any(map(length, got)),
              f"{len(got)} events")


def check_text(name, trace, truth):
    text = must(CAIRN, "trace", trace).decode()
    entered = sum(e["event"] == "enter" for t in truth.values() for e in t)
    ended = sum(e["event"] == "leave" for t in truth.values() for e in t)
    lines = text.splitlines()
    judge(f"{name} text", sum(line.endswith(" ends") for line in lines)
          == ended, "other returns")
    blocks = must(CAIRN, "trace", "--blocks", trace).decode().splitlines()
    count = sum(len(line.split()) > 1 and line.split()[0].isdigit()
                and line.split()[1][:1] == "b"
                and line.split()[1][1:].isdigit() for line in blocks)
    executed = sum(length(e) for t in truth.values() for e in t)
    judge(f"{name} --blocks", count == executed,
          f"{count} blocks, not {executed}")
    summary = json.loads(must(CAIRN, "trace", "--summary", "--json", trace))
    judge(f"{name} --summary", summary["blocks"] == executed
          and summary["calls"] == entered, str(summary))


# --- the index ----------------------------------------------------------------

def check_index(name, program, trace, truth, rng):
    index = trace + ".index"
    judge(f"{name} no index", not os.path.exists(index),
          "it is there unasked")
    must(CAIRN, "trace", "--index", "--summary", trace)
    if not judge(f"{name} --index", os.path.exists(index), "it is not there"):
        return
    check_reverse(f"{name} with index", trace, truth)
    with open(index, "rb") as f:
        good = f.read()
    for _ in range(20):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        with open(index, "wb") as f:
            f.write(bad[:rng.choice((len(bad), rng.randrange(len(bad))))])
        check_reverse(f"{name} with a damaged index", trace, truth)
    with open(index, "wb") as f:
        f.write(good)
    record(program, "3")
    items = by_thread(events(trace))
    check_reverse(f"{name} with the index of another run", trace, items)
    os.unlink(index)


# --- exports and expressions --------------------------------------------------

def exporters():
    path = os.path.join(ROOT, "tests", "export", "run.py")
    spec = importlib.util.spec_from_file_location("export_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_exports(name, trace, truth):
    checker = exporters()
    entered = sum(e["event"] in ("enter", "frame")
                  for t in truth.values() for e in t)
    for form in ("chrome", "speedscope", "folded"):
        for clock in (["--clock", "time"], ["--clock", "blocks"], []):
            out = trace + ".export"
            must(CAIRN, "trace", "--export", form, *clock, "-o", out, trace)
            with open(out, "rb") as f:
                data = f.read()
            try:
                found = getattr(checker, "check_" + form)(data)
            except ValueError as error:
                judge(f"{name} {form}", False, str(error))
                continue
            if form == "folded":
                judge(f"{name} {form}", len(data) > 0 or "time" in clock,
                      "empty")
            else:
                count = sum(bool(what) for _, items in found
                            for what, *_ in items)
                judge(f"{name} {form}", count == entered,
                      f"{count} frames, not {entered}")


def check_match(name, trace, truth):
    entered = [e["function"] for t in truth.values() for e in t
               if e["event"] == "enter"]
    for function in sorted(set(entered)):
        for expression, violations in (
                (f"{function}*", 0),
                (f"{function}{{0}}", None)):
            result = call(CAIRN, "match-path", "--json", trace, expression)
            found = json.loads(result.stdout)
            judge(f"{name} match-path {expression}",
                  found["events"] == entered.count(function)
                  and (found["violations"] > 0) == (result.returncode == 1)
                  and (violations is None) == (found["violations"] > 0),
                  f"{found['events']} events, {found['violations']} "
                  "violations")


# --- damage -------------------------------------------------------------------

def is_sentence(result):
    text = result.stderr.decode(errors="replace")
    return (result.returncode in (0, 2)
            and (result.returncode == 0 or text.startswith("cairn: "))
            and text.count("\n") <= 1)


def check_damage(name, trace, rng):
    with open(trace, "rb") as f:
        good = f.read()
    bad = trace + ".bad"
    cuts = set(range(0, len(good), max(1, len(good) // 300)))
    cuts |= {rng.randrange(len(good)) for _ in range(100)}
    for cut in sorted(cuts):
        with open(bad, "wb") as f:
            f.write(good[:cut])
        result = call(CAIRN, "trace", bad)
        judge(f"{name} cut at {cut}",
              result.returncode == 2 and is_sentence(result)
              and b".bad" in result.stderr, result.stderr.decode())
        result = call(CAIRN, "trace", "--partial", "--reverse", bad)
        judge(f"{name} --partial cut at {cut}", is_sentence(result),
              f"{result.returncode} {result.stderr.decode()}")
    for _ in range(200):
        copy = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            copy[rng.randrange(len(copy))] = rng.randrange(256)
        with open(bad, "wb") as f:
            f.write(copy)
        results = [call(CAIRN, "trace", *options, bad)
                   for options in ((), ("--reverse", "--json"))]
        for result in results:
            judge(f"{name} damaged", is_sentence(result),
                  f"{result.returncode} {result.stderr.decode()}")
        judge(f"{name} damaged, backwards",
              results[0].stderr == results[1].stderr,
              f"{results[0].stderr} {results[1].stderr}")


def check_killed(name, program):
    trace = program + ".killed.cairn"
    with subprocess.Popen([program, "50", "forever"],
                          stdout=subprocess.DEVNULL,
                          env=dict(os.environ, CAIRN_OUT=trace)) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
    result = call(CAIRN, "trace", "--summary", "--json", trace)
    blocks = json.loads(result.stdout)["blocks"] if result.stdout else 0
    judge(f"{name} killed", result.returncode == 0 and blocks > 1000,
          f"{blocks} blocks, {result.stderr.decode()}")
    if not blocks:
        return
    back = call(CAIRN, "trace", "--json", "--reverse", "--from",
                str(blocks - 500), "--thread", "1", trace)
    items = [json.loads(line) for line in back.stdout.splitlines()]
    right = events(trace, "--from", str(blocks - 500), "--thread", "1")
    judge(f"{name} killed, backwards",
          [e for e in items if e["event"] != "open"][::-1]
          == [e for e in right if e["event"] != "open"], "not the same")
    os.unlink(trace)


def check_lost(directory):
    """Children of a fork in a handler: where the frames are nobody knows."""
    tests = os.path.join(ROOT, "tests")
    program = build(directory, "lost",
                    os.path.join(tests, "trace", "forks_async.c"), "-O0",
                    "-D_GNU_SOURCE", "-I", os.path.join(tests, "battery"),
                    os.path.join(tests, "battery", "battery.c"))
    must(program, env=dict(os.environ, BATTERY_TRUTH=directory,
                           CAIRN_OUT=os.path.join(directory,
                                                  "lost.%p.cairn")))
    nlost = 0
    for trace in glob.glob(os.path.join(directory, "lost.*.cairn")):
        truth = by_thread(events(trace))
        check_reverse("lost", trace, truth)
        for items in truth.values():
            depth, wrong = 0, []
            for e in items:
                if e["event"] in ("enter", "frame"):
                    wrong += [e] if e["depth"] != depth else []
                    depth += 1
                elif e["event"] in ("leave", "death"):
                    depth -= 1
                elif e["event"] == "lost":
                    wrong += [e] if e["value"] != depth else []
                    nlost += 1
                if e["event"] in ("lost", "start"):
                    depth = 0
            judge("lost: depth", not wrong, str(wrong[:1]))
        for command in (("report",), ("wpp",), ("twpp", "--function", "inner"),
                        ("trace", "--export", "chrome"),
                        ("trace", "--interleave")):
            result = call(CAIRN, *command, trace)
            judge(f"lost: {command[0]}", result.returncode == 0,
                  result.stderr.decode())
        result = call(CAIRN, "match-path", "--json", trace,
                      "inner leave(inner)")
        # a handler may come while inner runs, and call it: 1
        judge("lost: match-path", result.returncode in (0, 1),
              result.stdout.decode() + result.stderr.decode())
    judge("lost: some are", nlost, "none is")


def blocks_of(trace):
    """Of each function what its blocks and segments executed."""
    report = json.loads(must(CAIRN, "report", "--json", trace))
    return {f["name"]: [b["segments"] for b in f["blocks"]]
            for f in report["functions"]}


def check_crash(directory):
    """Frames that a crash leaves are open, and have done no more."""
    source = os.path.join(ROOT, "tests", "trace", "crash.c")
    found = {}
    for word in ("edges", "trace", "trace,last=1M", "trace,paths"):
        name = "crash-" + re.sub(r"\W", "", word)
        program = build(directory, name, source, "-O1", "--cairn=" + word)
        trace = os.path.join(directory, name + ".cairn")
        call(program, env=dict(os.environ, CAIRN_OUT=trace))
        found[word] = blocks_of(trace)
        if word == "edges":
            continue
        frames = [json.loads(line)["function"] for line in must(
            CAIRN, "trace", "--open", "--json", trace).splitlines()]
        judge(f"{name}: open frames", sorted(frames) ==
              ["crash", "main", "middle"], str(frames))
        for f in ("middle", "main", "fine"):
            judge(f"{name}: {f}", found[word][f] == found["edges"][f],
                  f"{found[word][f]}, not {found['edges'][f]}")


# --- all ----------------------------------------------------------------------

def check_program(name, program, *arguments):
    rng = random.Random(SEED)
    trace = record(program, *arguments)
    truth = by_thread(events(trace))
    judge(f"{name} has threads", truth, "no events")
    check_reverse(name, trace, truth)
    check_selections(name, trace, truth)
    check_moments(name, trace, truth, rng)
    check_open(name, trace, truth, rng)
    check_times(name, trace, truth)
    check_text(name, trace, truth)
    check_exports(name, trace, truth)
    check_match(name, trace, truth)


def programs(directory):
    small = os.path.join(directory, "small.c")
    with open(small, "w", encoding="utf-8") as f:
        f.write(SMALL)
    words = os.path.join(ROOT, "examples", "words")
    yield "small", small, ("-O2",), ("10",)
    yield "small0", small, ("-O0",), ("3",)
    yield "small_witness", small, ("-O2", "--cairn=trace,witness"), ("10",)
    yield "small_paths", small, ("-O2", "--cairn=trace,paths"), ("3",)
    yield "words", words + ".c", ("-O2",), (words + ".txt",)


def main():
    wanted = sys.argv[1:]
    directory = tempfile.mkdtemp(prefix="cairn-view-")
    rng = random.Random(SEED)
    try:
        for name, source, flags, arguments in programs(directory):
            if wanted and name not in wanted:
                continue
            program = build(directory, name, source, *flags)
            if name == "small":
                check_crash(directory)
                check_lost(directory)
            check_program(name, program, *arguments)
            if name in ("small", "small_witness"):
                trace = record(program, "5")
                check_damage(name, trace, rng)
                record(program, "10")
                check_index(name, program, trace, by_thread(events(trace)),
                            rng)
                check_killed(name, program)
    finally:
        shutil.rmtree(directory)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
