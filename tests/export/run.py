#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are exports of control flow what their consumers want, and what happened?

proof_export feeds random control flow to all writers and keeps a log; each file
is checked here against the rules that its consumer enforces, and against what
the log says: the same frames, at the same times, and the same time per stack.
check_FORMAT(text) raises ValueError for a file that its consumer would refuse.
Ends with "N passed, M failed".  N=count runs more, SEED=first other ones.

`run.py FORMAT FILE` checks the rules for one file, whoever wrote it.
"""
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
SCHEMA = "https://www.speedscope.app/file-format-schema.json"
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds",
         "bytes"}
MAX_DEPTH = 1000  # of folded stacks
DEEPER = "[deeper]"


def need(condition, what):
    if not condition:
        raise ValueError(what)


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def parse(data):
    """JSON as browsers take it: UTF-8, no NaN, no key twice."""
    def no_constant(name):
        raise ValueError(f"{name} is not JSON")

    def pairs(items):
        keys = [key for key, _ in items]
        need(len(keys) == len(set(keys)), f"a key twice: {keys}")
        return dict(items)

    return json.loads(data.decode("utf-8"), parse_float=Decimal,
                      parse_constant=no_constant, object_pairs_hook=pairs)


# --- rules of the consumers: each returns [(thread, [(what, name, time)])] ---

def check_chrome(data):
    """Trace Event format: JSON object form, duration and metadata events."""
    trace = parse(data)
    need(isinstance(trace, dict), "not an object")
    need(trace.get("displayTimeUnit") in ("ms", "ns"), "displayTimeUnit")
    need(isinstance(trace.get("traceEvents"), list), "no traceEvents")
    threads = collections.OrderedDict()
    stacks = collections.defaultdict(list)
    last = {}
    for event in trace["traceEvents"]:
        need(isinstance(event, dict), "an event is no object")
        phase = event.get("ph")
        need(phase in ("B", "E", "M"), f"phase {phase}")
        need(isinstance(event.get("name"), str), "name")
        for key in ("pid", "tid"):
            need(isinstance(event.get(key), int), key)
        thread = event["pid"], event["tid"]
        if phase == "M":
            need(event["name"] in ("process_name", "thread_name"), "metadata")
            need(isinstance(event["args"]["name"], str), "metadata name")
            continue
        need(is_number(event.get("ts")), "ts")
        need(event["ts"] >= last.get(thread, 0), "ts goes back")
        last[thread] = event["ts"]
        if phase == "B":
            stacks[thread].append(event["name"])
        else:
            need(stacks[thread], "an end without a beginning")
            need(stacks[thread].pop() == event["name"], "ends another frame")
        threads.setdefault(thread, []).append(
            (phase == "B", event["name"], event["ts"]))
    need(not any(stacks.values()), "a frame does not end")
    return list(threads.items())


def check_events(profile, frames):
    """The events of one speedscope profile: its importer throws for these."""
    stack, last, events = [], profile["startValue"], []
    for event in profile["events"]:
        need(set(event) == {"type", "frame", "at"}, f"event {event}")
        need(isinstance(event["frame"], int) and
             0 <= event["frame"] < len(frames), "no such frame")
        need(is_number(event["at"]) and event["at"] >= last, "at goes back")
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            need(event["type"] == "C", "type of event")
            need(stack and stack.pop() == event["frame"], "closes another")
        events.append((event["type"] == "O", frames[event["frame"]]["name"],
                       event["at"]))
    need(not stack, "a frame is not closed")
    need(last <= profile["endValue"], "endValue")
    return events


def check_speedscope(data):
    """file-format-schema.json, and what the importer asks beyond it."""
    file = parse(data)
    need(isinstance(file, dict) and file.get("$schema") == SCHEMA, "$schema")
    need(set(file) <= {"$schema", "shared", "profiles", "name",
                       "activeProfileIndex", "exporter"}, f"keys {set(file)}")
    frames = file["shared"]["frames"]
    for frame in frames:
        need(isinstance(frame.get("name"), str), "name of a frame")
        need(set(frame) <= {"name", "file", "line", "col"}, "keys of a frame")
        need(isinstance(frame.get("file", ""), str), "file of a frame")
        need(is_number(frame.get("line", 1)), "line of a frame")
    need(file["profiles"], "no profile")
    need(0 <= file.get("activeProfileIndex", 0) < len(file["profiles"]),
         "activeProfileIndex")
    threads = []
    for profile in file["profiles"]:
        need(set(profile) == {"type", "name", "unit", "startValue", "endValue",
                              "events"}, f"keys {set(profile)}")
        need(profile["type"] == "evented", "type")
        need(isinstance(profile["name"], str), "name of a profile")
        need(profile["unit"] in UNITS, "unit")
        need(is_number(profile["startValue"]) and
             is_number(profile["endValue"]), "values")
        threads.append(((profile["name"], profile["startValue"],
                         profile["endValue"]), check_events(profile, frames)))
    return threads


def check_folded(data):
    """Lines "a;b;c COUNT", as flamegraph.pl splits them; it adds those of
    one stack.  Returns the weight of each."""
    weights = collections.Counter()
    text = data.decode("utf-8")
    need(not text or text.endswith("\n"), "no end of the last line")
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(r"([^\x00-\x1f\x7f]+) ([1-9][0-9]*)", line)
        need(match, f"not a stack and its weight: {line!r}")
        names = tuple(match[1].split(";"))
        need(all(names), f"empty name: {line!r}")
        weights[names] += int(match[2])
    return dict(weights)


# --- what happened, from the log ----------------------------------------------

def read_log(path):
    """(clock, functions, [(tid, begin, end, [(is_enter, function, time)])])"""
    clock, functions, threads, stack, now = None, [], [], [], 0
    with open(path, encoding="ascii") as log:
        for line in log:
            word, *rest = line.split()
            if word == "clock":
                clock = rest[0]
            elif word == "function":
                functions.append(bytes.fromhex("".join(rest)))
            elif word == "thread":
                now = int(rest[1])
                threads.append([int(rest[0]), now, None, []])
            elif word == "enter":
                now = max(now, int(rest[1]))
                stack.append(int(rest[0]))
                threads[-1][3].append((True, stack[-1], now))
            elif word == "leave":
                now = max(now, int(rest[0]))
                threads[-1][3].append((False, stack.pop(), now))
            else:
                now = max(now, int(rest[0]))
                while stack:
                    threads[-1][3].append((False, stack.pop(), now))
                threads[-1][2] = now
    return clock, functions, threads


def text_of(name, replacement=lambda byte: "\ufffd"):
    """A name as JSON has it: each byte that is not UTF-8 replaced."""
    if not name:
        return "[no name]"
    text = ""
    while name:
        for size in range(1, 5):
            try:
                text += name[:size].decode("utf-8")
                name = name[size:]
                break
            except UnicodeDecodeError:
                continue
        else:
            text += replacement(name[0])
            name = name[1:]
    return text


def folded_of(functions, threads):
    """Time per stack of the log."""
    def name_of(function):
        text = text_of(functions[function], lambda byte: f"\\x{byte:02x}")
        return "".join(shown(c) for c in text)

    def shown(c):
        if c in ";\n\t\r":
            return {";": ":", "\n": "\\n", "\t": "\\t", "\r": "\\r"}[c]
        if c < " " or c == "\x7f":
            return f"\\x{ord(c):02x}"
        if re.match("[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e"
                    "\u2066-\u2069]", c):
            return f"\\u{ord(c):04x}"
        return c

    weights = collections.Counter()
    for _, begin, _, events in threads:
        stack, last = [], begin
        for is_enter, function, time in events:
            if stack and time > last:
                names = [name_of(f) for f in stack[:MAX_DEPTH]]
                if len(stack) > MAX_DEPTH:
                    names.append(DEEPER)
                weights[tuple(names)] += time - last
            last = time
            if is_enter:
                stack.append(function)
            else:
                stack.pop()
    return dict(weights)


def compare(folder):
    clock, functions, threads = read_log(os.path.join(folder, "log"))
    read = {}
    for name in ("chrome", "speedscope", "folded"):
        with open(os.path.join(folder, name), "rb") as file:
            read[name] = file.read()
    names = [text_of(name) for name in functions]
    scale = Decimal(1000) if clock == "nanoseconds" else Decimal(1)

    wanted = [(tid, [(e, names[f], t) for e, f, t in events])
              for tid, _, _, events in threads if events]
    got = [(thread[1], [(e, n, t * scale) for e, n, t in events])
           for thread, events in check_chrome(read["chrome"])]
    need(wanted == got, "chrome: another control flow")

    wanted = [((begin, end), [(e, names[f], t) for e, f, t in events])
              for _, begin, end, events in threads]
    got = [(thread[1:], events)
           for thread, events in check_speedscope(read["speedscope"])]
    need(wanted == got, "speedscope: another control flow")

    need(check_folded(read["folded"]) == folded_of(functions, threads),
         "folded: other times")


# --- the checks themselves have to find what is wrong ------------------------

def speedscope(events):
    return (f'{{"$schema":"{SCHEMA}","shared":{{"frames":[{{"name":"f"}},'
            '{"name":"g"}]},"profiles":[{"type":"evented","name":"t","unit":'
            f'"none","startValue":0,"endValue":9,"events":[{events}]}}]}}'
            ).encode()


RIGHT = [
    ("chrome", b'{"displayTimeUnit":"ns","traceEvents":[{"ph":"B","pid":1,'
     b'"tid":1,"ts":1,"name":"f"},{"ph":"E","pid":1,"tid":1,"ts":1.5,'
     b'"name":"f"}]}'),
    ("speedscope", speedscope('{"type":"O","frame":1,"at":5},'
                              '{"type":"C","frame":1,"at":9}')),
    ("folded", b"a;b 1\n"),
]
WRONG = [
    ("chrome", b'{"displayTimeUnit":"ns","traceEvents":[{"ph":"B","pid":1,'
     b'"tid":1,"ts":1,"name":"f"}]}'),
    ("chrome", b'{"displayTimeUnit":"ns","traceEvents":[{"ph":"E","pid":1,'
     b'"tid":1,"ts":1,"name":"f"}]}'),
    ("chrome", b'{"displayTimeUnit":"ns","traceEvents":[{"ph":"B","pid":1,'
     b'"tid":1,"ts":2,"name":"f"},{"ph":"E","pid":1,"tid":1,"ts":1,'
     b'"name":"f"}]}'),
    ("chrome", b'{"displayTimeUnit":"ns","traceEvents":[],}'),
    ("speedscope", speedscope('{"type":"O","frame":0,"at":5}')),
    ("speedscope", speedscope('{"type":"C","frame":0,"at":5}')),
    ("speedscope", speedscope('{"type":"O","frame":2,"at":5},'
                              '{"type":"C","frame":2,"at":5}')),
    ("speedscope", speedscope('{"type":"O","frame":0,"at":5},'
                              '{"type":"C","frame":1,"at":6}')),
    ("speedscope", speedscope('{"type":"O","frame":0,"at":6},'
                              '{"type":"C","frame":0,"at":5}')),
    ("speedscope", speedscope('{"type":"O","frame":0,"at":5},'
                              '{"type":"C","frame":0,"at":10}')),
    ("folded", b"a;b\n"),
    ("folded", b"a;;b 1\n"),
    ("folded", b"a\xff 1\n"),
    ("folded", b"a 1"),
    ("folded", b"a 0\n"),
]

CHECKS = {"chrome": check_chrome, "speedscope": check_speedscope,
          "folded": check_folded}


def finds(name, data):
    try:
        CHECKS[name](data)
    except (ValueError, KeyError):
        return True
    return False


def run_one(seed):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run([os.path.join(BUILD, "tests/proof_export"),
                            str(seed), folder], check=True)
            compare(folder)
        except (ValueError, KeyError, subprocess.CalledProcessError) as error:
            return str(error)
    return None


def main():
    if len(sys.argv) == 3 and sys.argv[1] in CHECKS:
        with open(sys.argv[2], "rb") as file:
            CHECKS[sys.argv[1]](file.read())
        return 0
    if len(sys.argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    first, n = int(os.environ.get("SEED", "1")), int(os.environ.get("N", "60"))
    passed = failed = 0
    for name, data, is_wrong in [(*case, False) for case in RIGHT] + \
            [(*case, True) for case in WRONG]:
        if finds(name, data) == is_wrong:
            passed += 1
        else:
            print(f"FAIL {name} {'passes' if is_wrong else 'fails'}: {data}")
            failed += 1
    seeds = range(first, first + n)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for seed, wrong in zip(seeds, pool.map(run_one, seeds)):
            passed += wrong is None
            failed += wrong is not None
            if wrong is not None:
                print(f"FAIL seed {seed}: {wrong}")
                print(f"rerun: SEED={seed} N=1 tests/export/run.py")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
