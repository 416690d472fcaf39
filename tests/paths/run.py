#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Path counts against a log of all blocks.

    run.py                   the programs beside this, and 200 random functions
    run.py --count N         N random functions
    run.py --seed S          others
    run.py --keep DIR        leave everything in DIR
    CAIRN_BIN                directory of cairn and cairn-cc

A program writes down every block that it executes (log.h).  This script takes
the control-flow graph from the map, finds the edges that each activation took
from block to block, groups them into paths as docs/FORMAT.md defines these, by
the code of tools/decode.py, and compares with `cairn paths --json`: number,
count, blocks and edges of every path, and the prefix of every path that was
left unfinished.  For that programs are not optimized: every line of the log is
in one block.

The same programs, optimized in several ways, must have the edge counts of an
`edges` build.  The last lines say how much was compared.
"""
import argparse
import array
import collections
import concurrent.futures
import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import generate

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "programs"))
sys.path.insert(0, os.path.join(os.path.dirname(TESTS), "tools"))
import decode  # noqa: E402
from profiles import (Broken, CAIRN, CAIRN_CC, CAIRN_CXX, call,  # noqa: E402
                      check, findings, read)

PROGRAMS = ("nest.c", "turns.c", "gotos.c", "irreducible.c", "recursion.c",
            "leave.c", "threads.c", "throw.cpp", "chains.c")
LONGEST = 5                  # window that is compared
DEEPEST = 4                  # chain that is
BATCH = 50                   # random functions in one program
# Not optimized, but the plugin may take it for optimized: it then lets loops
# count their turns, and holds counts in registers.
OPTIMIZABLE = ("-O0", "-Xclang", "-disable-O0-optnone")
LEVELS = ("-O1", "-O2", "-Os", "-O3")
TIMEOUT = 600

# log.h has the same numbers.
RETURN, RESUME, AGAIN, TAIL, ANEW = range(1 << 30, (1 << 30) + 5)
FRAME = 1 << 31
OUTSIDE = 0
KIND_RETURN, KIND_NORETURN, KIND_RESUME = 1, 2, 3  # of edges: docs/FORMAT.md


class Graph:
    """A function of the map, and how the log becomes edges of it."""

    def __init__(self, of_map, listed, source, lines):
        self.name, self.listed = of_map.name, listed
        self.edges = [e[:2] for e in of_map.edges]
        self.kinds = of_map.kinds
        self.numbering = decode.number_function(of_map)
        self.nloops = len(of_map.turns)
        # without marks: beginnings of paths, and blocks with calls, of which
        # some or all have none
        self.left_out = of_map.left_out
        sites = list(enumerate(of_map.sites))
        self.some_left = {s[0] for i, s in sites if i in of_map.left_sites}
        self.all_left = self.some_left - {
            s[0] for i, s in sites if of_map.cells and of_map.cells[i]}
        self.block_of = self.find_lines(of_map, source, lines)
        self.speaking = {OUTSIDE, *self.block_of.values()}
        self.first_line = {}                     # of each such block
        for line in sorted(self.block_of, reverse=True):
            self.first_line[self.block_of[line]] = line
        self.outs = collections.defaultdict(list)
        for e, (src, _) in enumerate(self.edges):
            self.outs[src].append(e)
        self.ways = {}
        self.counts = collections.Counter()      # by number
        self.pairs = collections.Counter()       # by numbers
        self.windows = collections.Counter()     # by numbers, up to LONGEST
        self.chains = collections.Counter()      # by calls and number
        self.routes = {}                         # number: (begin, edges)
        self.unfinished = collections.Counter()  # by block and sum
        self.nunmarked = 0                       # ends without pairs

    def find_lines(self, of_map, source, lines):
        """The block of each line that logs."""
        block_of = {}
        for block, segments in enumerate(of_map.segments):
            for _, file, line, *_ in (x for s in segments for x in s):
                if os.path.basename(file) != source or line not in lines:
                    continue
                if block_of.setdefault(line, block) != block:
                    raise Broken("%s: line %d is in several blocks" % (
                        self.name, line))
        return block_of

    def way(self, src, dst, last=None):
        """The edges from one block of the log to the next, through blocks
        that log nothing: the only such way."""
        key = (src, dst, last)
        if key not in self.ways:
            found = [w for w in self.silent(src, dst, ())
                     if last is None or self.kinds[w[-1]] == last]
            if len(found) != 1:
                raise Broken("%s: %d ways from block %d to block %d" % (
                    self.name, len(found), src, dst))
            self.ways[key] = found[0]
        return self.ways[key]

    def silent(self, src, dst, so_far):
        for e in self.outs[src]:
            to = self.edges[e][1]
            if to == dst:
                yield [*so_far, e]
            elif to not in self.speaking and len(so_far) < 20:
                yield from self.silent(to, dst, (*so_far, e))


class Activation:
    """One run of a function, as the log tells it."""

    deepest = DEEPEST

    def __init__(self, graph, caller=None, calls=None, chain=()):
        self.graph, self.chain = graph, chain
        self.block, self.total = OUTSIDE, 0
        # pairs across calls: where they are counted, where the call was, what
        # has come back since the path began, and what is to be handed on
        self.calls, self.back, self.last = calls, [], None
        self.caller, self.first = caller, caller and (
            "call", caller.graph.name, caller.block, graph.name, caller.total)
        self.begin, self.edges, self.is_over = OUTSIDE, [], False
        self.before = None  # the path that led to where this one began
        self.stream = []    # it and those before it

    def chain_of_callee(self):
        """The calls that lead to whom it calls here, the nearest last."""
        here = self.graph.name, self.block, self.total
        return (*self.chain, here)[-self.deepest:]

    def take(self, e):
        numbering = self.graph.numbering
        src, dst = self.graph.edges[e]
        self.edges.append(e)
        self.block = dst
        if e not in numbering.ended:
            self.total += numbering.step(src, "edge", e)[3]
            if dst == OUTSIDE:
                self.finish()
            return
        if self.graph.kinds[e] == decode.INDIRECT:
            self.total += numbering.step(src, "gather", src)[3]
            self.total += numbering.step(numbering.hub, "scatter", dst)[3]
        else:
            self.total += numbering.step(src, "end", e)[3]
        self.finish()
        self.before = self.total
        if self.graph.kinds[e] == decode.CALL:
            self.before, self.stream = None, []
        elif dst in self.graph.left_out:
            self.before = None
            self.graph.nunmarked += 1
        self.start(dst)

    def start(self, block):
        self.begin, self.edges = block, []
        self.block, self.total = block, self.graph.numbering.begin(block)

    def finish(self):
        graph = self.graph
        graph.counts[self.total] += 1
        if self.before is not None:
            graph.pairs[self.before, self.total] += 1
        self.stream = [*self.stream[1 - LONGEST:], self.total]
        for n in range(1, len(self.stream) + 1):
            graph.windows[tuple(self.stream[-n:])] += 1
        graph.chains[self.chain, self.total] += 1
        if self.first:
            self.calls[(*self.first, self.total)] += 1
            self.first = None
        for block, callee, path, total in self.back:
            self.calls["return", graph.name, block, callee, path,
                       self.total - total] += 1
        self.back, self.last = [], self.total
        if self.total not in graph.routes:
            graph.routes[self.total] = self.begin, tuple(self.edges)

    def die(self, frames=1):
        self.graph.unfinished[self.block, self.total] += frames

    def event(self, what):
        graph = self.graph
        if what in (RETURN, RESUME, TAIL):
            kind = KIND_RESUME if what == RESUME else KIND_RETURN
            way = graph.way(self.block, OUTSIDE, kind)
            self.is_over = True
            for e in way:
                self.take(e)
            if what == RETURN and self.caller:
                self.caller.back.append((self.caller.block, graph.name,
                                         self.last, self.caller.total))
            return
        elif what == AGAIN:
            # the frame of the setjmp is not where it was, and is there again
            self.die()
            (block,) = {graph.edges[e][1] for e, kind in enumerate(graph.kinds)
                        if kind == decode.CALL}
            self.before = self.first = None
            self.back, self.stream = [], []
            self.start(block)
            self.die(-1)
            return
        else:
            block = graph.block_of[what]
            if what != graph.first_line[block] and block == self.block:
                return
            way = graph.way(self.block, block)
        for e in way:
            self.take(e)

    def end(self):
        """No more of it in the log: it died, or in a call that the compiler
        knows not to return."""
        if self.is_over:
            return
        outs = self.graph.outs[self.block]
        if len(outs) == 1 and self.graph.kinds[outs[0]] == KIND_NORETURN:
            self.take(outs[0])
        else:
            self.die()


def read_log(path):
    """Per thread: [(activation, what), ...]"""
    threads = []
    size = os.path.getsize(path) // 8
    with open(path, "rb") as f:
        for thread in range(8):
            f.seek(thread * size)
            threads.append([])
            while block := f.read(1 << 16):
                words = array.array("I", block)
                for i in range(0, len(words), 2):
                    if not words[i]:
                        break
                    threads[-1].append((words[i], words[i + 1]))
                else:
                    continue
                break
    return threads


def group(graphs, threads):
    """Fills counts and unfinished of all functions from the log; returns the
    pairs of paths across calls."""
    owner = {line: g for g in graphs for line in g.block_of}
    calls = collections.Counter()
    for events in threads:
        lives, stack = {}, []
        frame, anew, tail = {}, set(), None
        for number, what in events:
            if what & FRAME:
                frame[number] = what
                continue
            if what == ANEW:
                anew.add(number)
                continue
            if number not in lives:
                # frames below this one, or in its place, are gone
                while stack and (stack[-1].frame - frame[number]) % FRAME \
                        > FRAME // 2 or stack and \
                        stack[-1].frame == frame[number]:
                    stack.pop()
                caller = stack[-1] if stack else None
                chain = caller.chain_of_callee() if caller else ()
                if tail is not None:
                    caller, chain, tail = None, tail, None
                if number in anew:
                    caller, chain = None, ()
                lives[number] = Activation(owner[what], caller, calls, chain)
                lives[number].frame = frame[number]
                stack.append(lives[number])
            me = lives[number]
            while stack[-1] is not me:  # they are gone
                stack.pop()
            if what == TAIL:
                tail = me.chain_of_callee()
            me.event(what)
            if me.is_over:
                stack.pop()
        for life in lives.values():
            life.end()
    return calls


def compare_calls(calls, listed, graphs):
    """Sentences about what differs; functions without a log are left out."""
    names = {g.name: g for g in graphs}
    found = collections.Counter()
    for c in listed:
        if c["caller"] in names and c["callee"] in names:
            first, second = (("path", "rest") if c["kind"] == "return"
                             else ("prefix", "path"))
            found[c["kind"], c["caller"], c["block"], c["callee"], c[first],
                  c[second]] += int(c["count"])
    return ["%s of %s in block %d, callee %s, %d then %d: %d, counted %d" % (
                *key, calls[key], found[key])
            for key in sorted(found.keys() | calls.keys())
            if found[key] not in allowed(calls[key], names[key[1]], key[2])]


def allowed(count, graph, block):
    """How often a pair of a call may be counted.  A block of several calls, of
    which some have no marks, does not say which of them it was."""
    return ((0,) if block in graph.all_left else
            (0, count) if block in graph.some_left else (count,))


def windows_of(profile, n):
    """What cairn says of windows of n paths, and decode.py has to agree."""
    text = call([CAIRN, "paths", "--json", "--iterations", str(n), profile])
    with open(profile, "rb") as f:
        result = decode.decode(f.read(), [])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if decode.compare_windows(result, json.loads(text)):
            raise Broken("decode.py: " + out.getvalue().split("\n")[0])
    return json.loads(text)


def against_bound(tally, source, exe, flags, mode, killed):
    """Windows of a memory that is too small for them: nothing is counted that
    was not there, and what is lost is the rest."""
    profile, log = build(source, mode, flags, exe, ("killed",) * killed,
                         -signal.SIGKILL if killed else 0)
    graphs, _ = find_graphs(source, profile)
    group(graphs, read_log(log))
    os.remove(log)
    by_name, said = {g.name: g for g in graphs}, []
    for n in (1, 2, LONGEST):
        listed = windows_of(profile, n)
        if listed["known"] + listed["first"] + listed["lost"] != \
                listed["executions"] or listed["exceeds"]:
            said.append("windows of %d do not add up" % n)
        if listed["executions"] != sum(sum(g.counts.values())
                                       for g in graphs if g.name != "main"):
            said.append("paths that ran are missing")
        for s in listed["sequences"]:
            g = by_name[s["elements"][0]["function"]]
            w = tuple(e["path"] for e in s["elements"])
            if s["count"] > g.windows[w] or (
                    s["count"] != g.windows[w] and
                    (n == 1 or g.name == "again")):
                said.append("%s: paths %s came %d times, counted %d" % (
                    g.name, w, g.windows[w], s["count"]))
    listed = windows_of(profile, 16)
    (ways,) = [f for f in listed["functions"] if f["name"] == "ways"]
    if not ways["lost"] or not ways["known"]:
        said.append("the memory is not too small")
    tally.numbers["lost"] += ways["lost"]
    return said


def compare_windows(tally, profile, graphs, longest):
    """The same for windows of the stream of paths, of all lengths."""
    said = []
    for n in range(1, longest + 1):
        found = collections.Counter()
        listed = windows_of(profile, n)
        names = {f["name"] for f in listed["functions"]}
        if listed["lost"] or any(f["exceeds"] for f in listed["functions"]):
            said.append("windows of %d are lost" % n)
        for f in listed["functions"]:
            if f["known"] + f["first"] + f["lost"] != f["executions"]:
                said.append("windows of %s do not add up" % f["name"])
        for s in listed["sequences"]:
            name = s["elements"][0]["function"]
            found[name, tuple(e["path"] for e in s["elements"])] = s["count"]
        for g in graphs:
            ours = {w: count for w, count in g.windows.items() if len(w) == n}
            theirs = {w: count for (name, w), count in found.items()
                      if name == g.name}
            if n == 1 and g.name not in names:
                continue  # each activation is one path
            tally.numbers["windows"] += len(ours)
            said += ["%s: paths %s came %d times, counted %d" % (
                         g.name, w, ours.get(w, 0), theirs.get(w, 0))
                     for w in sorted(ours.keys() | theirs.keys())
                     if ours.get(w) != theirs.get(w)]
    return said


def chains_of(profile, n):
    """What cairn says of chains of n calls, and decode.py has to agree."""
    text = call([CAIRN, "paths", "--json", "--chains", str(n), profile])
    with open(profile, "rb") as f:
        result = decode.decode(f.read(), [])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if decode.compare_windows(result, json.loads(text)):
            raise Broken("decode.py: " + out.getvalue().split("\n")[0])
    compare_text(profile, n, json.loads(text))
    return json.loads(text)


def compare_text(profile, n, document):
    """Text has the same counts, and a line for each call."""
    text = call([CAIRN, "paths", "--top", "0", "--chains", str(n), profile])
    counts = [int(line.split()[0]) for line in text.splitlines()
              if re.fullmatch(r" *\d+ +[\d.]+", line)]
    if counts != [c["count"] for c in document["chains"]] or \
            text.count("call in  ") != n * len(counts):
        raise Broken("--chains %d: text is not what JSON is" % n)


def sum_chains(listed, names):
    """{(name, calls, path): count} of those that the log has whole.  Calls of
    one block are one."""
    found = collections.Counter()
    for c in listed["chains"]:
        calls = tuple((e["function"], e["block"], e["sum"])
                      for e in c["callers"])
        if names.issuperset({c["function"], *(e[0] for e in calls)}):
            found[c["function"], calls, c["path"]] += c["count"]
    return found


def logged_chains(graphs, n):
    """The same of the log, for n calls."""
    found = collections.Counter()
    for g in graphs:
        for (calls, path), count in g.chains.items():
            if len(calls) >= n:
                found[g.name, calls[len(calls) - n:], path] += count
    return found


def adds_up(listed, graphs):
    """Sentences about sums that do not fit each other, or the log."""
    said = []
    for f in [listed, *listed["functions"]]:
        if f["exceeds"] or \
                f["known"] + f["first"] + f["lost"] != f["executions"]:
            said.append("chains of %d do not add up" % listed["length"])
    executions = {f["name"]: f["executions"] for f in listed["functions"]}
    for g in graphs:
        if executions.get(g.name, 0) != sum(g.counts.values()):
            said.append("paths of %s are missing" % g.name)
    return said


def compare_chains(tally, profile, graphs, deepest):
    """Chains of all lengths against the log."""
    said, names = [], {g.name for g in graphs}
    for n in range(deepest + 1):
        listed = chains_of(profile, n)
        said += adds_up(listed, graphs)
        if listed["lost"]:
            said.append("chains of %d are lost" % n)
        found, logged = sum_chains(listed, names), logged_chains(graphs, n)
        tally.numbers["chains"] += len(logged)
        said += ["%s: calls %s, path %d came %d times, counted %d" % (
                     *key, logged[key], found[key])
                 for key in sorted(found.keys() | logged.keys())
                 if found[key] != logged[key]]
    return said


def chains_in_bound(tally, source, exe, flags, mode, killed):
    """Chains of a memory that is too small for them: nothing is counted that
    was not there, and what is missing is at most what is lost."""
    profile, log = build(source, mode, flags, exe, ("killed",) * killed,
                         -signal.SIGKILL if killed else 0)
    graphs, _ = find_graphs(source, profile)
    Activation.deepest = 16
    group(graphs, read_log(log))
    Activation.deepest = DEEPEST
    os.remove(log)
    names, said = {g.name for g in graphs}, []
    for n in (0, 1, 3, 8, 16):
        listed = chains_of(profile, n)
        said += adds_up(listed, graphs)
        lost = {f["name"]: f["lost"] for f in listed["functions"]}
        found, logged = sum_chains(listed, names), logged_chains(graphs, n)
        missing = collections.Counter()
        for key in found.keys() | logged.keys():
            missing[key[0]] += logged[key] - found[key]
            if found[key] > logged[key] or (
                    found[key] != logged[key] and
                    (n == 0 or key[0] == "again")):
                said.append("%s: calls %s, path %d came %d times, counted %d"
                            % (*key, logged[key], found[key]))
        said += ["%s: %d are missing, %d are lost" % (g, k, lost[g])
                 for g, k in missing.items() if k > lost[g]]
        if n == 16 and not (listed["lost"] and lost["down"] and
                            listed["known"]):
            said.append("the memory is not too small")
        tally.numbers["lost_chains"] += lost["down"]
    return said


def by_function(profile, option, n):
    """{name: (executions, known, first, lost)} of chains or sequences."""
    listed = json.loads(call([CAIRN, "paths", "--json", option, str(n),
                              profile]))
    return {f["name"]: tuple(f[k] for k in (
                "executions", "known", "first", "lost"))
            for f in listed["functions"] if not f["exceeds"]}


# forked.c: of functions with frames that went on elsewhere, for 1 and 2 calls:
# in the parent, in the child, and on another thread.
ELSEWHERE = {
    "parent": ({"outer": (1, 1, 0, 0), "forks": (1, 1, 0, 0),
                "leaf": (2, 2, 0, 0)},
               {"outer": (1, 0, 1, 0), "forks": (1, 1, 0, 0),
                "leaf": (2, 2, 0, 0)}),
    "child": ({"outer": (1, 0, 0, 1), "forks": (1, 0, 0, 1),
               "leaf": (2, 2, 0, 0)},
              {"outer": (1, 0, 0, 1), "forks": (1, 0, 0, 1),
               "leaf": (2, 0, 0, 2)}),
    "thread": ({"routine": (1, 0, 1, 0), "leaves": (1, 0, 0, 1),
                "leaf": (2, 2, 0, 0)},
               {"routine": (1, 0, 1, 0), "leaves": (1, 0, 0, 1),
                "leaf": (2, 0, 1, 1)}),
}


def run_forking(exe, *args):
    """The profiles of a process and its child: by "parent" and "child"."""
    scratch = tempfile.mkdtemp(dir=os.path.dirname(exe))
    env = dict(os.environ, CAIRN_OUT=os.path.join(scratch, "%p.cairn"))
    with subprocess.Popen([exe, *args], env=env) as process:
        process.wait(TIMEOUT)
    first = "%d.cairn" % process.pid
    return {"parent" if name == first else "child":
            os.path.join(scratch, name) for name in os.listdir(scratch)}


def turns_elsewhere(_, source, exe):
    """Windows of a frame that goes on in the child of a fork."""
    call([CAIRN_CC, "--cairn=paths,iterations=2", "-O1", "-g", source, "-o",
          exe])
    files = run_forking(exe)
    said = []
    # activations that began there, and what is lost
    for who, wanted in {"parent": (2, 0), "child": (2, 1)}.items():
        found = by_function(files[who], "--iterations", 2).get("turns")
        if not found or found[2:] != wanted:
            said.append("%s: turns has %s, not %s" % (who, found, wanted))
    return said


def frames_elsewhere(_, source, exe):
    """Chains of frames that a fork, or another thread, has taken over."""
    call([CAIRN_CC, "--cairn=paths,chains=3", "-O1", "-g", "-pthread", source,
          "-o", exe])
    files = run_forking(exe)
    files["thread"] = run_forking(exe, "thread")["parent"]
    said = []
    for who, wanted in ELSEWHERE.items():
        for n, functions in enumerate(wanted, 1):
            found = by_function(files[who], "--chains", n)
            said += ["%s: %s has %s, not %s" % (who, name, found.get(name), f)
                     for name, f in functions.items() if found.get(name) != f]
    return said


def chains_before_tails(_, source, exe):
    """Each tail call is in a chain, with a sum that its caller can have."""
    call([CAIRN_CC, "--cairn=paths,chains=2", "-O1", source, "-o", exe])
    done = subprocess.run([exe], capture_output=True, text=True, check=True,
                          env=dict(os.environ, CAIRN_OUT=exe + ".cairn"))
    document = json.loads(call([CAIRN, "paths", "--json", "--chains", "1",
                                exe + ".cairn"]))
    sums = collections.Counter()
    for c in document["chains"]:
        if c["function"] == "called":
            sums[c["callers"][0]["sum"]] += c["count"]
    if sorted(sums.values()) != sorted(map(int, done.stdout.split())):
        return ["calls by sum: %s, not %s" % (dict(sums), done.stdout)]
    return []


def modules_reloaded(_, source, exe, option, kind):
    """What is counted at addresses of another module is lost, not wrong."""
    for name in ("one", "two"):
        call([CAIRN_CC, "--cairn=paths," + kind, "-O1", "-g", "-fPIC",
              "-shared", "-DLIBRARY", "-DRUN=" + name, source, "-o",
              "%s-%s.so" % (exe, name)])
    call([CAIRN_CC, "--cairn=paths," + kind, "-O1", "-g", source, "-o", exe])
    env = dict(os.environ, CAIRN_OUT=exe + ".cairn")
    said = subprocess.run([exe, exe + "-one.so", exe + "-two.so"], env=env,
                          timeout=TIMEOUT, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()
    if said[0] != said[1] or said[0] == said[2]:
        return ["the libraries are not where they should be: %s" % said]
    found = by_function(exe + ".cairn", option, 1)
    # a path for each turn; "one" is known where it was first
    wanted = {"one": (10 + 1000, 1000), "two": (100, 100)}
    return ["%s: %s, not %s of which %s are lost" % (
                name, found.get(name), n, lost)
            for name, (n, lost) in wanted.items()
            if name not in found or (found[name][0], found[name][3]) !=
            (n, lost)]


def describe(graph, begin, edges):
    """Blocks of a path, as the JSON has them."""
    blocks = [begin] if begin != OUTSIDE else []
    for e in edges[:-1]:
        blocks.append(graph.edges[e][1])
    return blocks


def compare_function(graph):
    """Sentences about what differs."""
    listed, said = graph.listed, []
    if not listed["exact"] or listed["lost"] or listed["unknown"]:
        said.append("is not exact: %s" % listed["reason"])
    if int(listed["possible"]) != graph.numbering.n[0]:
        said.append("has %d paths, not %s" % (
            graph.numbering.n[0], listed["possible"]))
    theirs = {int(p["number"]): p for p in listed["paths"]}
    for number in sorted(theirs.keys() | graph.counts.keys()):
        count = int(theirs[number]["count"]) if number in theirs else 0
        if count != graph.counts[number]:
            said.append("path %d ran %d times, counted %d" % (
                number, graph.counts[number], count))
            continue
        begin, edges = graph.routes[number]
        if tuple(theirs[number]["edges"]) != edges or (
                theirs[number]["blocks"] != describe(graph, begin, edges)):
            said.append("path %d: edges %s, not %s" % (
                number, theirs[number]["edges"], list(edges)))
    if "pairs" in listed:
        pairs = {(int(p["before"]), int(p["number"])): int(p["count"])
                 for p in listed["pairs"]}
        for key in pairs.keys() | graph.pairs.keys():
            if pairs.get(key, 0) != graph.pairs[key]:
                said.append("path %d came %d times behind %d, counted %d" % (
                    key[1], graph.pairs[key], key[0], pairs.get(key, 0)))
    found = collections.Counter()
    for u in listed["unfinished"]:
        found[u["block"], int(u["sum"])] += int(u["frames"])
    for key in found.keys() | graph.unfinished.keys():
        if found[key] != graph.unfinished[key]:
            said.append("block %d, sum %d: %d unfinished, counted %d" % (
                *key, graph.unfinished[key], found[key]))
    return ["%s: %s" % (graph.name, s) for s in said]


class Tally:
    def __init__(self):
        self.passed = self.failed = 0
        self.numbers = collections.Counter()

    def result(self, name, said):
        if said:
            self.failed += 1
            print("FAIL %s: %s%s" % (name, "; ".join(said[:3]),
                                     "; ..." if len(said) > 3 else ""),
                  flush=True)
        else:
            self.passed += 1

    def join(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.numbers.update(other.numbers)

    def add(self, graphs):
        n = self.numbers
        for g in graphs:
            n["functions"] += 1
            n["hashed"] += g.listed["table"] == "hashed"
            n["cut"] += bool(g.listed["cuts"])
            n["loops"] += g.nloops
            n["pairs"] += "pairs" in g.listed and len(g.pairs)
            n["unmarked"] += g.nunmarked
            n["sites_unmarked"] += len(g.all_left)
            n["sites_mixed"] += len(g.some_left - g.all_left)
            n["paths"] += len(g.counts)
            n["executions"] += sum(g.counts.values())
            n["unfinished"] += sum(abs(k) for k in g.unfinished.values())


def build(source, mode, flags, exe, args=(), wanted=0):
    compiler = CAIRN_CXX if source.endswith(".cpp") else CAIRN_CC
    call([compiler, "--cairn=" + mode, *flags, "-g", "-w", "-pthread",
          "-D_GNU_SOURCE", source, "-o", exe])
    profile, log = exe + ".cairn", exe + ".log"
    if os.path.exists(profile):
        os.remove(profile)
    env = dict(os.environ, CAIRN_OUT=profile, PATHS_LOG=log)
    try:
        status = subprocess.run([exe, *args], env=env, timeout=TIMEOUT,
                                check=False).returncode
    except subprocess.TimeoutExpired:
        raise Broken("the program does not end") from None
    if status != wanted:
        raise Broken("%s: status %d" % (mode, status))
    if not wanted:  # else it was never closed
        check(profile)
    return profile, log


def find_graphs(source, profile):
    """The functions of the map that log their blocks."""
    listed = json.loads(call([CAIRN, "paths", "--json", profile]))
    by_name = {f["name"]: f for f in listed["functions"]}
    with open(source, encoding="ascii") as f:
        lines = {n for n, text in enumerate(f, 1) if re.search(r"\bAT;", text)}
    with open(profile, "rb") as f:
        (module,) = decode.read_profile(f.read(), [])
    graphs = [Graph(f, by_name.get(f.name), os.path.basename(source), lines)
              for f in decode.read_map(module.map).functions if f.how]
    return [g for g in graphs if g.block_of], listed


def against_log(tally, source, exe, flags=("-O0",), mode="paths"):
    profile, log = build(source, mode, flags, exe)
    graphs, listed = find_graphs(source, profile)
    calls = group(graphs, read_log(log))
    os.remove(log)
    graphs = [g for g in graphs if g.listed or g.counts or g.unfinished]
    said = ["%s is not in the list" % g.name for g in graphs if not g.listed]
    if said:
        return said
    tally.add(graphs)
    said = [s for g in graphs for s in compare_function(g)]
    if "overlap" in mode:
        tally.numbers["calls"] += len(calls)
        said += compare_calls(calls, listed.get("calls", ()), graphs)
    if "iterations" in mode:
        said += compare_windows(tally, profile, graphs, int(
            re.search("iterations=([0-9]+)", mode).group(1)))
    if "chains" in mode:
        said += compare_chains(tally, profile, graphs, int(
            re.search("chains=([0-9]+)", mode).group(1)))
    return said


def against_log_preferred(tally, source, exe, flags, first, mode):
    """The same where a profile of another build says what to count."""
    profile, log = build(source, first, flags, exe + "-first")
    os.remove(log)
    return against_log(tally, source, exe, flags,
                       mode.replace("FILE", profile))


def change_chunk(data, kind, change):
    """A copy of a profile in which `change` has had its way with the payload of
    a chunk of this type, the first in which it finds what it wants."""
    data, at = bytearray(data), 4096
    while at < decode.u64(data, 136):
        length = decode.u64(data, at + 8)
        payload = data[at + 64:at + length]
        if decode.u32(data, at + 4) == kind and change(payload):
            data[at + 64:at + length] = payload
            data[at + 52:at + 56] = decode.crc32c(payload).to_bytes(4, "little")
            return data
        at += length
    raise Broken("nothing to change in chunks of type %d" % kind)


def add_to_slot(size, count, offset, by):
    """Adds to a word of the first slot whose count is not 0."""
    def change(payload):
        for at in range(0, len(payload) - size + 1, size):
            old = decode.u64(payload, at + offset)
            if decode.u64(payload, at + count):
                payload[at + offset:at + offset + 8] = \
                    ((old + by) % (1 << 64)).to_bytes(8, "little")
                return True
        return False
    return change


def take_pair_apart(of_map, base):
    """Counts an execution of a path as if nothing were before it."""
    def change(payload):
        for f in of_map.functions:
            if f.how != 1 or not f.has_pairs:
                continue
            f.numbering = decode.number_function(f)
            columns = decode.columns_of(f)
            for k in range(f.possible * columns):
                pair = f.counters - base + 8 * (f.possible + k)
                count = decode.u64(payload, pair)
                if not count:
                    continue
                alone = f.counters - base + 8 * (
                    f.possible - columns + k % columns)
                payload[pair:pair + 8] = (count - 1).to_bytes(8, "little")
                payload[alone:alone + 8] = (1 + decode.u64(
                    payload, alone)).to_bytes(8, "little")
                return True
        return False
    return change


def against_damage(tally, source, exe, mode):
    """cairn check finds pairs and sequences that are not those of the paths."""
    profile, log = build(source, mode, OPTIMIZABLE, exe)
    os.remove(log)
    with open(profile, "rb") as f:
        data = f.read()
    (module,) = decode.read_profile(data, [])
    jobs = [("C10", 13, add_to_slot(48, 16, 16, 1)),
            ("C10", 13, add_to_slot(48, 16, 16, -1)),
            ("C10", 13, add_to_slot(48, 16, 0, 1))]
    if "overlap" in mode:
        jobs = [("C9", 10, add_to_slot(32, 24, 24, 1000)),
                ("C9", 3, take_pair_apart(decode.read_map(module.map),
                                          module.base))]
    said = []
    for i, (rule, kind, change) in enumerate(jobs):
        damaged = "%s-damaged%d.cairn" % (exe, i)
        with open(damaged, "wb") as f:
            f.write(change_chunk(data, kind, change))
        if rule not in findings(damaged):
            said.append("%d: not found by %s: %s" % (i, rule,
                                                     findings(damaged)))
    return said


def against_edges(tally, source, exe, flags):
    """Edge counts of the two builds, function by function; those that the
    optimizer treats differently, once paths are counted, cannot be
    compared."""
    profiles = []
    for mode in ("paths", "edges"):
        profile, log = build(source, mode, flags, "%s-%s" % (exe, mode))
        os.remove(log)
        profiles.append(read(profile))
    said, compared, theirs = [], 0, profiles[1]
    for key, f in profiles[0].items():
        if not f.exact:
            said.append(f.name + " is not exact")
        g = theirs.get(key)
        if not g or [e[:3] for e in f.edges] != [e[:3] for e in g.edges]:
            continue
        compared += bool(f.entries)
        if f.edges != g.edges:
            x, y = next((x, y) for x, y in zip(f.edges, g.edges) if x != y)
            said.append("%s: edge %d -> %d (%s) has %s, not %s" % (
                f.name, *x, y[3]))
    if not compared:
        said.append("no function could be compared")
    tally.numbers["against_edges"] += compared
    return said


def attempt(job):
    """The tally of one job: its name, against_log or against_edges, and what
    these need."""
    name, how, *args = job
    tally = Tally()
    try:
        said = how(tally, *args)
    except Broken as broken:
        said = [str(broken)]
    tally.result(name, said)
    return tally


def worthwhile(name, mode, flags, whole):
    """chains.c has calls that never return, which are in no pair.  turns.c is
    about registers that count turns, has a long log, and takes a while."""
    if name == "chains.c":
        return "overlap" not in mode
    return whole or name != "turns.c" or (
        "nogs" not in mode and flags == OPTIMIZABLE)


def programs(scratch, whole):
    for name in PROGRAMS:
        source = os.path.join(HERE, name)
        exe = os.path.join(scratch, name.replace(".", "_"))
        for i, (mode, flags) in enumerate((
                ("paths", ("-O0",)), ("paths", OPTIMIZABLE),
                ("paths,nogs", ("-O0",)), ("paths,overlap", ("-O0",)),
                ("paths,overlap", OPTIMIZABLE),
                ("paths,overlap,nogs", OPTIMIZABLE),
                ("paths,iterations=2", ("-O0",)),
                ("paths,iterations=5", ("-O0",)),
                ("paths,iterations=5", OPTIMIZABLE),
                ("paths,iterations=3,nogs", OPTIMIZABLE),
                ("paths,chains=1", ("-O0",)),
                ("paths,chains=4", ("-O0",)),
                ("paths,chains=4", OPTIMIZABLE),
                ("paths,chains=3,nogs", ("-fPIC", *OPTIMIZABLE)))):
            if worthwhile(name, mode, flags, whole):
                yield ("/".join((name, mode, *flags)), against_log, source,
                       "%s%d" % (exe, i), flags, mode)
        for i, (first, mode, flags) in enumerate((
                ("paths,overlap", "paths,overlap,prefer=FILE", ("-O0",)),
                ("paths,overlap", "paths,overlap,prefer=FILE,share=70",
                 OPTIMIZABLE),
                ("paths", "paths,overlap,prefer=FILE,share=50", OPTIMIZABLE),
                ("edges", "paths,overlap,prefer=FILE,share=90,nogs",
                 OPTIMIZABLE))):
            if worthwhile(name, mode, flags, whole):
                yield ("/".join((name, mode, *flags)), against_log_preferred,
                       source, "%s-p%d" % (exe, i), flags, first, mode)
        yield name + "/-O2", against_edges, source, exe + "-O2", ("-O2",)
    for mode in ("paths,overlap,nogs", "paths,iterations=3"):
        yield ("damage/" + mode, against_damage,
               os.path.join(HERE, "recursion.c"),
               os.path.join(scratch, "damage" + mode[6:8]), mode)
    yield ("forked", frames_elsewhere, os.path.join(HERE, "forked.c"),
           os.path.join(scratch, "forked"))
    yield ("forked_turns", turns_elsewhere,
           os.path.join(HERE, "forked_turns.c"),
           os.path.join(scratch, "forked_turns"))
    yield ("tails", chains_before_tails, os.path.join(HERE, "tails.c"),
           os.path.join(scratch, "tails"))
    for option, kind in (("--chains", "chains=2"),
                         ("--iterations", "iterations=2")):
        yield ("reload/" + kind, modules_reloaded,
               os.path.join(HERE, "reload.c"),
               os.path.join(scratch, "reload" + option), option, kind)
    for killed in (False, True):
        exe = os.path.join(scratch, "windows%d" % killed)
        yield (os.path.basename(exe), against_bound,
               os.path.join(HERE, "windows.c"), exe, OPTIMIZABLE,
               "paths,iterations=16,memory=1M", killed)
        exe = os.path.join(scratch, "contexts%d" % killed)
        yield (os.path.basename(exe), chains_in_bound,
               os.path.join(HERE, "contexts.c"), exe, OPTIMIZABLE,
               "paths,chains=16,memory=1M", killed)


def random_functions(count, seed, scratch):
    for i in range(0, count, BATCH):
        source = os.path.join(scratch, "random%d.c" % i)
        with open(source, "w", encoding="ascii") as f:
            f.write(generate.write(seed * 1000003 + i, min(BATCH, count - i),
                                   os.path.join(HERE, "log.h")))
        name = "random/%d..%d" % (i, min(i + BATCH, count) - 1)
        exe = os.path.join(scratch, "random%d" % i)
        yield name, against_log, source, exe
        yield (name + "/loops", against_log, source, exe + "-loops",
               OPTIMIZABLE)
        yield (name + "/overlap", against_log, source, exe + "-overlap",
               OPTIMIZABLE, "paths,overlap")
        yield (name + "/prefer", against_log_preferred, source,
               exe + "-prefer", OPTIMIZABLE, "paths",
               "paths,overlap,prefer=FILE,share=%d" % (40 + i % 60))
        yield (name + "/iterations", against_log, source, exe + "-windows",
               OPTIMIZABLE, "paths,iterations=4")
        yield (name + "/chains", against_log, source, exe + "-chains",
               OPTIMIZABLE, "paths,chains=4")
        level = LEVELS[i // BATCH % len(LEVELS)]
        yield (name + "/" + level, against_edges, source, exe + level,
               (level,))


def main():
    parser = argparse.ArgumentParser(description="Path counts and block logs.")
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    scratch = options.keep or tempfile.mkdtemp(prefix="cairn-paths-")
    os.makedirs(scratch, exist_ok=True)
    os.environ["TMPDIR"] = scratch  # what a crashing compiler leaves
    tally = Tally()
    try:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for one in pool.map(attempt, [
                    *programs(scratch, options.count > BATCH),
                    *random_functions(
                        options.count, options.seed, scratch)]):
                tally.join(one)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    for key in ("against_edges", "calls", "chains", "cut", "hashed", "loops",
                "lost", "lost_chains", "pairs", "sites_unmarked",
                "unfinished", "unmarked", "windows"):
        if not tally.numbers[key]:
            tally.result("coverage", ["nothing was compared of: " + key])
    print("compared: " + " ".join("%s=%d" % item for item in
                                  sorted(tally.numbers.items())))
    print("paths-log: %d passed, %d failed" % (tally.passed, tally.failed))
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
