#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what cairn trace shows the same, whatever way it is asked for?

Programs are built with --cairn=trace and run.  All events, as JSON, are then
the truth for what is selected by function, depth, thread or moment, for the
same backwards, for the exports and for cairn match-path.  An index beside the
file changes nothing, nor does one that is damaged or of another run.  A file
that is cut at any byte, or damaged, ends in a sentence, never in a crash; one
of a program that was killed is read to its end.  So in all encodings of a trace.
Other commands say the same of a trace as of counts.

    view.py [NAME...]
    BUILD   the build directory (default: build); SEED=n other random moments

Ends with "N passed, M failed".
"""
import concurrent.futures
import glob
import importlib.util
import json
import os
import random
import re
import resource
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
TIMEOUT = 600
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
    if os.path.exists(trace):  # a run overwrites no file
        os.unlink(trace)
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
            a, b = sorted((rng.randrange(last + 1), rng.randrange(last + 2)))
            a = min(a, last)
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
        check_says(f"{name} --from behind the end", 1, "behind the end",
                   "trace", "--thread", str(thread), "--from",
                   f"{times[-1] + 1}ns", trace)


def check_says(name, status, text, *words):
    """A command that prints nothing but this sentence."""
    result = call(CAIRN, *words)
    said = result.stderr.decode(errors="replace")
    return judge(name, result.returncode == status and not result.stdout
                 and said.startswith("cairn: ") and said.count("\n") == 1
                 and text in said,
                 f"status {result.returncode}, {len(result.stdout)} bytes, "
                 f"{said}")


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
    elsewhere = trace + ".other"
    with open(elsewhere, "wb") as f:
        f.write(b"as it was")
    os.symlink(elsewhere, index)
    must(CAIRN, "trace", "--index", "--summary", trace)
    with open(elsewhere, "rb") as f:
        judge(f"{name} a link for the index", f.read() == b"as it was",
              "what it leads to was written")
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
                judge(f"{name} {form}", len(data) > 0, "empty")
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
            said = {v["thread"] for v in found["list"]}
            judge(f"{name} match-path {expression}: threads",
                  said <= set(truth), f"{said} of {set(truth)}")


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
        said = result.stderr
        note = f"cairn: {bad}: ends at byte ".encode()
        if result.stdout:  # of what is there
            judge(f"{name} --partial cut at {cut}: a note",
                  said.startswith(note), said.decode())
            result.stderr = said.partition(b"\n")[2]
        judge(f"{name} --partial cut at {cut}", is_sentence(result)
              and b"--cairn=trace" not in said,
              f"{result.returncode} {said.decode()}")
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


ENDS = """
#include <signal.h>
#include <stdlib.h>
volatile unsigned sink;
__attribute__((noinline)) void leaf(unsigned n)
{
	sink += n & 2 ? n * 3 : n + 1;
}
int main(int argc, char **argv)
{
	unsigned h = 1;
	for (int i = 0; i < atoi(argv[1]); i++) {
		h ^= h << 13;
		h ^= h >> 17;
		h ^= h << 5;
		if (h & 64)
			leaf(h);
	}
	return argc > 2 ? raise(SIGKILL) : 0;
}
"""
# Everything that reads a trace; report and check say more.
READERS = (("trace", "--summary"), ("trace", "--hash"), ("wpp",), ("twpp",),
           ("twpp", "--function", "main"), ("match-path",), ("trace",),
           ("trace", "--open"), ("trace", "--interleave"),
           ("trace", "--export", "folded"))


def check_incomplete(directory):
    """All say in a line what is missing of a trace; if nothing is, nothing."""
    source = os.path.join(directory, "ends.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(ENDS)
    program = build(directory, "ends", source, "-O2")
    size = 1 << 20
    for name, text, limit, readers, *words in (
            ("fine", "", -1, READERS, "100"),
            ("killed", "killed", -1, READERS, "100", "kill"),
            ("full", "disk full", size, READERS[:6], "8000000")):
        trace = os.path.join(directory, name + ".cairn")
        call(program, *words, env=dict(os.environ, CAIRN_OUT=trace),
             preexec_fn=lambda n=limit: resource.setrlimit(
                 resource.RLIMIT_FSIZE, (n, n)))
        for reader in readers:
            more = ["main"] if reader[0] == "match-path" else []
            said = call(CAIRN, *reader, trace, *more).stderr.decode()
            judge(f"{name}: {' '.join(reader)}",
                  said.count("\n") == 1 and text in said
                  and said.startswith(f"cairn: {trace}: ")
                  if text else not said, said)


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
    for command in ("report", "check"):
        said = call(CAIRN, command, trace).stdout
        judge(f"{name} killed: {command}", b"last wrote to the trace" in said
              and b"strict" not in said, said.decode()[:500])
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


def counted(items):
    """{function: {block: executions}} of pairs with their number."""
    counts = {}
    for function, block, n in items:
        blocks = counts.setdefault(function, {})
        blocks[block] = blocks.get(block, 0) + n
    return counts


def check_numbers(name, trace):
    """A block has one number in reports and traces, and reports say which
    number its first part has where parts of blocks are numbered."""
    functions = json.loads(must(CAIRN, "report", "--json", trace))["functions"]
    reported = counted((f["name"], b["id"], b["count"]) for f in functions
                       for b in f["blocks"] if b["count"])
    shown = [e for e in events(trace, "--no-demangle", "--blocks")
             if e["event"] in ("block", "land") and "id" in e]
    got = counted((e["function"], e["id"], 1) for e in shown
                  if not e.get("part"))
    landed = {(e["function"], e["id"]) for e in shown if e["event"] == "land"}
    judge(f"{name}: numbers of blocks", got == reported,
          f"{got}, not {reported}")
    judge(f"{name}: numbers of parts", all(
        e["id"] in reported[e["function"]] for e in shown))
    by_part = {f["name"]: {b["part"]: b["count"] for b in f["blocks"]
                           if b["count"] and (f["name"], b["id"]) not in landed}
               for f in functions if f["entries"]}
    for function, parts in by_part.items():
        file = json.loads(must(CAIRN, "twpp", "--no-demangle", "--json",
                               "--function", function, "--top", "0", trace))
        split = counted((function, b, t["calls"] * n["count"])
                        for t in file["traces"] for n in t["nodes"]
                        for b in n["blocks"])[function]
        judge(f"{name}: parts of {function}",
              all(split.get(p) == n for p, n in parts.items()),
              f"{split}, not {parts}")


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


# --- other commands -----------------------------------------------------------

LIBRARY = r"""
int half(int n) { int s = 0; while (n > 1) { n /= 2; s++; } return s; }
"""
CALLER = r"""
int half(int n);
int main(int argc, char **argv) { return argc > 1 ? half(1000) != 9 : 0; }
"""


def runs(program, *arguments):
    """A run each, with file names that do not tell programs apart."""
    files = []
    for argument in arguments:
        files.append(os.path.join(os.path.dirname(program),
                                  f"run{argument}.cairn"))
        must(program, argument, env=dict(os.environ, CAIRN_OUT=files[-1]))
    return files


def check_comparisons(directory, source):
    """tests, drift and residual say the same of a trace as of paths."""
    said = {}
    for mode in ("trace", "paths"):
        folder = os.path.join(directory, mode)
        os.mkdir(folder)
        program = build(folder, "prog", source, "-O2", f"--cairn={mode}")
        few, many = runs(program, "0", "9")
        for command in (("tests", "--failed", many, few, many),
                        ("drift", few, many),
                        ("residual", "--tested", few, many)):
            result = call(CAIRN, command[0], "--json", "--stable",
                          *command[1:])
            said.setdefault(command[0], []).append(
                result.stdout.replace(folder.encode(), b"")
                + result.stderr)
        said.setdefault("residual across", []).append(
            call(CAIRN, "residual", "--json", "--stable", "--tested", few,
                 os.path.join(directory, "trace", "run9.cairn")
                 ).stdout.replace(few.encode(), b"few"))
    for command, (ours, others) in said.items():
        judge(f"{command} of a trace", ours == others and b'"paths"' in ours,
              f"{ours[:300]} instead of {others[:300]}")


def check_threads(trace):
    """Threads have the numbers of cairn trace; none is empty."""
    threads = sorted(by_thread(events(trace)))
    text = must(CAIRN, "twpp", "--expand", trace).decode()
    found = [int(line.split()[1]) for line in text.splitlines()
             if line.startswith("thread ")]
    judge("twpp numbers threads", found == threads, f"{found}")
    ids = [e["value"] for e in events(trace) if e["event"] == "start"]
    for form, key in (("speedscope", "profiles"), ("chrome", "traceEvents")):
        shown = json.loads(must(CAIRN, "trace", "--export", form, trace))[key]
        if form == "speedscope":
            judge("speedscope has threads",
                  [p["name"] for p in shown] == [f"thread {i}" for i in ids]
                  and all(p["events"] for p in shown),
                  str([(p["name"], len(p["events"])) for p in shown]))
        else:
            judge("chrome has threads",
                  {e["tid"] for e in shown if "tid" in e} == set(ids),
                  str({e["tid"] for e in shown if "tid" in e}))


def check_refusals(trace):
    for options in (("--function", "main"), ("--from", "1"), ("--to", "9"),
                    ("--thread", "1"), ("--depth", "2"), ("--times",)):
        check_says(f"--summary {options[0]}", 2, "--summary", "trace",
                   "--summary", *options, trace)
    check_says("--function of nothing", 1, "no function matches nosuch",
               "trace", "--function", "nosuch", trace)
    check_says("--from behind the end", 1, "behind the end", "trace",
               "--from", "1000000000", trace)
    check_says("--interleave --from behind the end", 1, "behind the end",
               "trace", "--interleave", "--from", "1000000s", trace)
    check_says("--to before --from", 2, "--to is before --from", "trace",
               "--from", "10", "--to", "5", trace)
    check_says("--to before --from, in time", 1, "--to is before --from",
               "trace", "--from", "10", "--to", "1ns", trace)


def check_missing(directory):
    """Without a map of every module nothing of a trace can be read."""
    folder = os.path.join(directory, "modules")
    os.mkdir(folder)
    for name, text in (("half.c", LIBRARY), ("caller.c", CALLER)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    library = os.path.join(folder, "libhalf.so")
    must(os.path.join(BIN, "cairn-cc"), "--cairn=trace", "-g", "-shared",
         "-fPIC", os.path.join(folder, "half.c"), "-o", library)
    caller = os.path.join(folder, "caller.c")
    program = build(folder, "caller", caller, library)
    trace = record(program, "call")
    plain = build(folder, "plain", caller, "--cairn=none", library)
    ran = os.path.join(folder, "ran.cairn")
    must(plain, "call", env=dict(os.environ, CAIRN_OUT=ran))
    idle = record(plain)
    check_says("nothing was traced", 2, "no function ran that writes one",
               "trace", idle)
    for files in ((idle,), (idle, ran), (ran, idle)):
        result = call(CAIRN, "check", *files)
        judge("nothing was traced: check", result.returncode == 0,
              result.stdout.decode() + result.stderr.decode())
        result = call(CAIRN, "report", "--json", *files)
        rows = json.loads(result.stdout or b"{}").get("functions", [])
        judge("nothing was traced: report",
              [f["entries"] for f in rows] == [len(files) - 1],
              f"{str(rows)[:300]} {result.stderr.decode()}")
    os.rename(library, library + ".away")
    for command in (("trace",), ("wpp",), ("twpp",), ("report",), ("check",)):
        check_says(f"{command[0]} without a map", 2, library, *command,
                   "--skip-missing", trace)
        check_says(f"{command[0]} without a map: remedy", 2, "--exe",
                   *command, "--skip-missing", trace)
    os.rename(library + ".away", library)


NAMES = """
__attribute__((noinline)) static int help(volatile int n)
{
	return n ? n + SIZE : 0;
}
int CALL(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += help(i);
	return sum;
}
"""
NAMES_MAIN = """
extern "C" int a(int n), b(int n);
namespace n { __attribute__((noinline)) int f(volatile int x) { return x; } }
int main(void) { return a(3) + b(5) + n::f(0) == 99; }
"""


def check_names(directory):
    """twpp tells functions of one name apart, and knows C++ names."""
    folder = os.path.join(directory, "names")
    os.mkdir(folder)
    objects = []
    for name in ("a", "b", "main"):
        source = os.path.join(folder, name + (".cpp" if name == "main"
                                              else ".c"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(NAMES_MAIN if name == "main" else NAMES)
        objects.append(os.path.join(folder, name + ".o"))
        must(os.path.join(BIN, "cairn-cc"), "--cairn=trace", "-g", "-O1",
             f"-DCALL={name}", f"-DSIZE={len(objects)}", "-c", source, "-o",
             objects[-1])
    program = os.path.join(folder, "program")
    must(os.path.join(BIN, "cairn-c++"), "--cairn=trace", *objects, "-o",
         program)
    trace = record(program)
    saved = os.path.join(folder, "saved")
    must(CAIRN, "twpp", "--save", saved, trace)
    for file in (trace, saved):
        text = must(CAIRN, "twpp", file).decode()
        judge("twpp shows the file", all(
            name in text for name in ("a.c:help", "b.c:help", " n::f(int)")),
            text)
        for name, calls in (("a.c:help", ["3"]), ("b.c:help", ["5"]),
                            ("help", ["5", "3"]), ("n::f", ["1"]),
                            ("n::f(int)", ["1"]), ("_ZN1n1fEi", ["1"])):
            text = call(CAIRN, "twpp", "--function", name, file)
            judge(f"twpp --function {name}", re.findall(
                r"^calls +(\d+)$", text.stdout.decode(), re.M) == calls,
                text.stdout.decode() + text.stderr.decode())
            found = call(CAIRN, "twpp", "--find", f'"{name}":b1', file)
            said = found.stderr.decode()
            number = f"occurrences: {sum(map(int, calls))}\n"
            judge(f"twpp --find {name}", number.encode() in found.stdout and (
                "a.c:help" in said and "b.c:help" in said
                if len(calls) > 1 else not said),
                found.stdout.decode() + said)
        for option in ("--function", "--find"):
            check_says(f"twpp {option} nosuch", 1, "'nosuch'", "twpp", option,
                       "nosuch", file)
        check_says("twpp --save over its input", 2, "--save", "twpp", "--save",
                   file, file)


def check_cut(trace):
    """What is missing of a file that is cut, and why."""
    with open(trace, "rb") as f:
        good = f.read()
    bad = trace + ".cut"
    seen = set()
    for cut in range(4096, len(good), max(4096, len(good) // 200)):
        with open(bad, "wb") as f:
            f.write(good[:cut])
        results = [call(CAIRN, *words, "--partial", bad)
                   for words in (("trace", "--hash"), ("trace", "--summary"),
                                 ("trace", "--open"), ("wpp",), ("twpp",),
                                 ("check",))]
        is_read = results[0].returncode == 0
        seen.add(is_read)
        for result in results[:-1]:
            said = result.stderr.decode()
            judge(f"cut at {cut}", said.count("\n") == 1 and
                  ("ends at byte" if is_read else "truncated before") in said,
                  said)
        said = (results[-1].stdout + results[-1].stderr).decode()
        judge(f"cut at {cut}: check", " M3 " not in said and " F4 " not in said
              and (" F5 " in said) == is_read, said)
    judge("cut before and behind the first part", len(seen) == 2, str(seen))
    os.unlink(bad)


def check_recorder(directory, source):
    """A flight recorder that dropped nothing has nothing to say."""
    program = build(directory, "recorder", source, "-O2",
                    "--cairn=trace,last=1M")
    for turns, drops in (("5", False), ("200000", True)):
        trace = record(program, turns)
        for command in (("trace", "--hash"), ("report",)):
            said = call(CAIRN, *command, trace).stderr
            judge(f"recorder {turns} {command[0]}",
                  (b"flight recorder" in said) == drops, said.decode())
    os.unlink(trace)
    trace = program + ".killed.cairn"
    with subprocess.Popen([program, "50", "forever"],
                          stdout=subprocess.DEVNULL,
                          env=dict(os.environ, CAIRN_OUT=trace)) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
    for command in ("report", "check"):
        said = call(CAIRN, command, trace).stdout
        judge(f"recorder killed: {command}", b"behind its last branch" in said
              and b"thread did since it last wrote" not in said,
              said.decode()[:500])
    os.unlink(trace)


NAPS = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

static __attribute__((noinline)) void late(void)
{
	sink = 1;
}

static void *nap(void *arg)
{
	late();
	usleep(200000);
	late();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	pthread_create(&t, NULL, nap, NULL);
	if (strcmp(argv[1], "kill") && strcmp(argv[1], "exit"))
		pthread_join(t, NULL);
	usleep(100000);
	if (!strcmp(argv[1], "kill"))
		raise(SIGKILL);
	late();
	if (!strcmp(argv[1], "abort"))
		abort();
	if (!strcmp(argv[1], "_exit"))
		_exit(0);
	return 0;
}
"""


def check_naps(directory):
    """Threads that do little and sleep: the times are those of the run."""
    source = os.path.join(directory, "naps.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(NAPS)
    for flags in ((), ("-static",), ("--cairn=trace,last=1M",)):
        program = build(directory, "naps", source, "-O2", *flags)
        # the least that main and the other thread take, in ms
        for how, ends in (("join", (300, 200)), ("exit", (100, 100)),
                          ("abort", (300, 200)), ("_exit", (300, 200))):
            trace = program + ".cairn"
            if os.path.exists(trace):
                os.unlink(trace)
            took = -time.monotonic()
            call(program, how, env=dict(os.environ, CAIRN_OUT=trace))
            took += time.monotonic()
            found = [max(e["ns"] for e in t) / 1e6
                     for _, t in sorted(by_thread(
                         events(trace, "--times")).items())]
            judge(f"naps {flags} {how}", len(found) == 2 and all(
                a <= b < took * 1e3 for a, b in zip(ends, found)), str(found))
        judge(f"naps {flags} --from", events(trace, "--from", "250ms"))
    build(directory, "naps", source, "-O2")
    os.unlink(trace)
    call(program, "kill", env=dict(os.environ, CAIRN_OUT=trace))
    said = call(CAIRN, "trace", "--export", "folded", "--clock", "time", trace)
    judge("naps, nothing takes time", not said.stdout and
          said.stderr.count(b"\n") == 2 and b"--clock blocks" in said.stderr
          and b"was never closed" in said.stderr,
          said.stderr.decode())
    os.unlink(trace)


def check_commands(directory, program):
    source = os.path.join(directory, "small.c")
    trace = record(program, "5")
    check_comparisons(directory, source)
    check_threads(trace)
    check_refusals(trace)
    check_missing(directory)
    check_names(directory)
    check_cut(trace)
    check_recorder(directory, source)
    check_naps(directory)
    check_says("--thread of nothing", 2, "no thread 99", "trace", "--thread",
               "99", trace)
    result = call(os.path.join(BIN, "cairn-cc"),
                  f"--cairn=residual,tested={trace}", "-c", source, "-o",
                  os.devnull)
    judge("tested= of a trace", result.returncode == 2
          and b"cairn merge" in result.stderr, result.stderr.decode())


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
    check_numbers(name, trace)


SMALLS = {
    "small": (("-O2",), "10"),
    "small0": (("-O0",), "3"),
    "small_witness": (("-O2", "--cairn=trace,witness"), "10"),
    "small_paths": (("-O2", "--cairn=trace,paths"), "3"),
}


def do_small(directory, name, *checks):
    source = os.path.join(directory, "small.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(SMALL)
    flags, turns = SMALLS[name]
    program = build(directory, name, source, *flags)
    for check in checks:
        check(name, program, turns)


def do_words(directory):
    words = os.path.join(ROOT, "examples", "words")
    program = build(directory, "words", words + ".c", "-O2")
    check_program("words", program, words + ".txt")


def do_invokes(directory):
    for source in ("overlap/invokes.cpp", "trace/passed_on.cpp"):
        for level in ("-O0", "-O2"):
            name = os.path.basename(source).partition(".")[0] + level
            program = build(directory, name,
                            os.path.join(ROOT, "tests", source), level)
            check_numbers(name, record(program))


def do_commands(directory):
    check_crash(directory)
    check_incomplete(directory)
    check_lost(directory)
    do_small(directory, "small",
             lambda name, program, _: check_commands(directory, program))


def damaged(name, program, _):
    check_damage(name, record(program, "5"), random.Random(SEED))


def indexed(name, program, turns):
    trace = record(program, turns)
    check_index(name, program, trace, by_thread(events(trace)),
                random.Random(SEED))
    check_killed(name, program)


# What can be asked for, in parts that share nothing; the longest first.
PARTS = (
    ("small", do_small, "small", damaged),
    ("small_witness", do_small, "small_witness", damaged),
    ("small", do_commands),
    ("words", do_words),
    ("invokes", do_invokes),
    ("small", do_small, "small", check_program, indexed),
    ("small_witness", do_small, "small_witness", check_program, indexed),
    ("small0", do_small, "small0", check_program),
    ("small_paths", do_small, "small_paths", check_program),
)


def attempt(n):
    """(passed, failed) of a part."""
    global passed, failed
    passed = failed = 0
    _, do, *arguments = PARTS[n]
    directory = tempfile.mkdtemp(prefix="cairn-view-")
    try:
        do(directory, *arguments)
    finally:
        shutil.rmtree(directory)
    return passed, failed


def main():
    wanted = sys.argv[1:]
    total = wrong = 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for good, bad in pool.map(attempt, [
                n for n, part in enumerate(PARTS)
                if not wanted or part[0] in wanted]):
            total += good
            wrong += bad
    print(f"{total} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
