#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cairn diff against two reports of cairn report.

    run.py             all of it
    run.py --keep DIR  leave programs, profiles and pages in DIR
    CAIRN_BIN          directory of cairn and cairn-cc
    CHROMIUM           the browser; empty: none

What the comparison says of every line, way of a branch and function is derived
here from the two reports, for one build in every mode, and for two builds whose
lines are matched by text, by a patch, or by number.  Then limits, selection,
what is not known, bad input, and the page, also in Chromium.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "programs"),
                os.path.join(ROOT, "tests", "report")]
import page as report_page  # noqa: E402
from checks import equal, suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX, call  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM", shutil.which("chromium"))
MODES = ["edges", "paths", "trace", "record"]
FATES = ["same", "changed", "new", "lost", "added", "removed", "unknown"]

# No two lines with code have the same text: contents tell lines apart.
HEADER = """static inline int twist(int x)
{
	volatile int v = x;
	if (v > 90)
		v = 91;	/* </script> */
	return v;
}
"""
MAIN = """#include <stdlib.h>
#include "twist.h"
int other(int n);
__attribute__((noinline)) static int rare(int n)
{
	volatile int r = n;
	return r + 1;
}
__attribute__((noinline)) static int step(int n)
{
	volatile int s = n;
	if (s & 1)
		s += 3;
	else
		s -= 2;
	return s;
}
int main(int argc, char **argv)
{
	volatile int sum = 0;
	int times = atoi(argv[1]);
	for (int i = 0; i < times; i++)
		sum += step(argc > 2 ? i : 2 * i);
	if (argc > 3)
		sum += rare(times);
	sum += twist(times);
	sum += other(times);
	return sum & 0;
}
/*
 * Far from all differences.
 *
 *
 *
 *
 */
"""
OTHER = """#include "twist.h"
__attribute__((noinline)) static int step(int n)
{
	volatile int t = n * 5;
	return t;
}
int other(int n)
{
	volatile int o = step(n);
	switch (n) {
	case 3:
		o += 33;
		break;
	case 4:
		o += 44;
		break;
	default:
		o += 55;
	}
	return o + twist(n + 1);
}
"""
# A function moved, lines came and went, one changed.
EDITS = [("__attribute__((noinline)) static int rare",
          "/* What is new:\n * lines. */\n"
          "__attribute__((noinline)) static int fresh(int n)\n{\n"
          "\tvolatile int f = n;\n\tif (f > 1000)\n\t\tf = 17;\n"
          "\treturn f * 9;\n}\n__attribute__((noinline)) static int rare"),
         ("\tsum += twist(times);\n", ""),
         ("\t\ts += 3;\n", "\t\ts += 4;\n"),
         ("\treturn sum & 0;", "\tsum += fresh(argc);\n\treturn sum & 0;")]


# --- programs ----------------------------------------------------------------

def write(folder, **texts):
    os.makedirs(folder, exist_ok=True)
    for name, text in texts.items():
        path = os.path.join(folder, name.replace("_", "."))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def edited():
    text = MAIN
    for old, new in EDITS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def build(folder, *options):
    call([CAIRN_CC, "-g", "-O1", *options, "main.c", "other.c", "-o", "prog"],
         cwd=folder)


def run(folder, profile, *words):
    profile = os.path.abspath(profile)
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run(["./prog", *words], cwd=folder, check=True,
                   env=dict(os.environ, CAIRN_OUT=profile))
    return profile


def diff(*words, status=0, stdin=None):
    """What it prints, and its complaints."""
    done = subprocess.run([CAIRN, "diff", *words], capture_output=True,
                          text=True, check=False, input=stdin)
    if done.returncode != status:
        test(f"diff {' '.join(map(os.path.basename, words))}", False,
             f"exit {done.returncode}, want {status}: {done.stderr}")
    return done.stdout, done.stderr


def compare(*words, **more):
    return json.loads(diff("--json", *words, **more)[0])


def report(path):
    return json.loads(call([CAIRN, "report", "--json", path]))


# --- what the comparison has to say ------------------------------------------

def fate(a, b):
    """What became of a count; None: no code there."""
    if a is None or b is None:
        return "added" if a is None else "removed"
    if (a > 0) != (b > 0):
        return "lost" if a else "new"
    return "same" if a == b else "changed"


def lines_of(data):
    """{(base name, line): (count, [taken of its ways])}"""
    return {(os.path.basename(s["file"]), line["line"]):
            (line["count"], [w["taken"] for w in line.get("branches", [])])
            for s in data["sources"] for line in s["lines"]
            if not s["file"].startswith("/usr/")}


def told_lines(told):
    """{(base name, line in A or None, line in B or None): line}"""
    return {(os.path.basename(s["file_b"] or s["file_a"]), line["line_a"],
             line["line_b"]): line for s in told["sources"]
            for line in s["lines"]}


def check_lines(name, told, a, b, partner):
    """partner(file, line of A): its line in B, or None."""
    a, b = lines_of(a), lines_of(b)
    want = {}
    for (file, line), (count, _) in a.items():
        there = partner(file, line)
        if there is not None and (file, there) not in b:
            there = None
        want[file, line, there] = (count, b[file, there][0]
                                   if there is not None else None)
    matched = {(file, there) for file, _, there in want}
    for (file, line), (count, _) in b.items():
        if (file, line) not in matched:
            want[file, None, line] = (None, count)
    told = told_lines(told)
    equal(f"{name}: lines", sorted(map(str, told)), sorted(map(str, want)))
    for key, (x, y) in want.items():
        line = told.get(key)
        if line:
            equal(f"{name}: {key}", (line["count_a"], line["count_b"],
                                     line["fate"]), (x, y, fate(x, y)))
            check_ways(name, key, line, a, b)
    return want


def check_ways(name, key, line, a, b):
    file, line_a, line_b = key
    x = a[file, line_a][1] if line_a is not None else []
    y = b[file, line_b][1] if line_b is not None else []
    if line_a is not None and line_b is not None and len(x) == len(y):
        want = [(p, q, fate(p, q)) for p, q in zip(x, y)]
    else:
        want = [(p, None, "removed") for p in x]
        want += [(None, q, "added") for q in y]
    got = [(w["taken_a"], w["taken_b"], w["fate"])
           for w in line.get("branches", [])]
    equal(f"{name}: ways of {key}", got, want)


def check_functions(name, told, a, b):
    def counts(data):
        return {(f["name"], os.path.basename(f["file"]) if f["local"] else ""):
                (f["executions"], f["entries"]) for f in data["functions"]}
    a, b = counts(a), counts(b)
    local = {key[0] for key in list(a) + list(b) if key[1]}
    got = {(f["name"], os.path.basename(f["file"]) if f["name"] in local
            else ""): (f["executions_a"], f["executions_b"], f["entries_a"],
                       f["entries_b"], f["fate"]) for f in told["functions"]}
    want = {}
    for key in set(a) | set(b):
        x, y = a.get(key, (None, None)), b.get(key, (None, None))
        want[key] = (x[0], y[0], x[1], y[1], fate(x[0], y[0]))
    equal(f"{name}: functions", got, want)


def check_totals(name, told):
    """Totals are sums of what is listed."""
    lines = [line for s in told["sources"] for line in s["lines"]]
    ways = [way for line in lines for way in line.get("branches", [])]
    for key, items, count in (("lines", lines, "count"),
                              ("branches", ways, "taken"),
                              ("functions", told["functions"], "executions")):
        total = told["totals"][key]
        equal(f"{name}: fates of {key}", {f: total[f] for f in FATES},
              {f: sum(x["fate"] == f for x in items) for f in FATES})
        for side in "ab":
            there = [x[f"{count}_{side}"] for x in items
                     if x[f"{count}_{side}"] is not None]
            equal(f"{name}: {key} of {side}", total[side],
                  {"ran": sum(x > 0 for x in there), "all": len(there)})


def check_all(name, told, a, b, partner):
    check_lines(name, told, a, b, partner)
    check_functions(name, told, a, b)
    check_totals(name, told)


# --- one build ----------------------------------------------------------------

def check_modes(work):
    folder = os.path.join(work, "one")
    write(folder, main_c=MAIN, other_c=OTHER, twist_h=HEADER)
    for mode in MODES:
        build(folder, f"--cairn={mode}")
        a = run(folder, os.path.join(work, f"{mode}-a.cairn"), "3", "x", "y")
        b = run(folder, os.path.join(work, f"{mode}-b.cairn"), "7")
        told = compare(a, b)
        test(f"{mode}: same build", told["same_build"])
        check_all(mode, told, report(a), report(b), lambda file, line: line)
        equal(f"{mode}: lost functions",
              [f["name"] for f in told["functions"] if f["fate"] == "lost"],
              ["rare"])
        test(f"{mode}: something is new",
             told["totals"]["lines"]["new"] >= 1 and
             told["totals"]["lines"]["lost"] >= 3, str(told["totals"]))
        same = compare(a, a)
        for key in ("lines", "branches", "functions"):
            total = same["totals"][key]
            equal(f"{mode}: {key} of one profile",
                  [total[f] for f in FATES if f != "same"], [0] * 6)
    return a, b


# --- two builds ---------------------------------------------------------------

def by_content(old, new):
    """{line: the line of B with the same text, None if it is gone}"""
    old, new = old.splitlines(), new.splitlines()
    moved = dict.fromkeys(range(1, len(old) + 1))
    for block in difflib.SequenceMatcher(None, old, new,
                                         False).get_matching_blocks():
        for i in range(block.size):
            moved[block.a + i + 1] = block.b + i + 1
    return moved


def check_builds(work):
    old, new = (os.path.join(work, name) for name in ("old", "new"))
    write(old, main_c=MAIN, other_c=OTHER, twist_h=HEADER)
    write(new, main_c=edited(), other_c=OTHER, twist_h=HEADER)
    build(old)
    build(new)
    a = run(old, os.path.join(work, "old.cairn"), "3", "x", "y")
    b = run(new, os.path.join(work, "new.cairn"), "7")
    one, two = report(a), report(b)
    moved = by_content(MAIN, edited())

    def partner(file, line):
        return moved[line] if file == "main.c" else line
    told = compare(a, b)
    test("text: different builds", not told["same_build"])
    equal("text: matched", {s["matched"] for s in told["sources"]}, {"text"})
    check_all("text", told, one, two, partner)
    added = [line for key, line in told_lines(told).items()
             if line["fate"] == "added"]
    test("text: new lines", any(x["count_b"] for x in added) and
         any(not x["count_b"] for x in added))

    patch = os.path.join(work, "p.diff")
    with open(patch, "w", encoding="utf-8") as file:
        subprocess.run(["diff", "-u", "old/main.c", "new/main.c"], cwd=work,
                       stdout=file, check=False)
    patched = compare("--patch", patch, a, b)
    equal("patch: matched", {s["matched"] for s in patched["sources"]},
          {"patch"})
    check_lines("patch", patched, one, two, partner)
    with open(patch, encoding="utf-8") as file:
        equal("patch: from stdin",
              compare("--patch", "-", a, b, stdin=file.read()), patched)

    # built again in the same place: the old text is gone
    packed = os.path.join(work, "packed.cairn")
    call([CAIRN, "pack", "-o", packed, a])
    whole = os.path.join(work, "whole.cairn")
    call([CAIRN, "pack", "--sources", "-o", whole, a])
    write(old, main_c=edited())
    build(old)
    c = run(old, os.path.join(work, "again.cairn"), "7")
    told = compare(packed, c)
    test("number: matched", "number" in {s["matched"]
                                         for s in told["sources"]})
    test("number: is said", any("--patch" in note for note in told["notes"]),
         str(told["notes"]))
    check_lines("number", told, one, report(c), lambda file, line: line)
    told = compare(whole, c)
    equal("text in the pack: matched", {s["matched"] for s in told["sources"]},
          {"text"})
    check_lines("text in the pack", told, one, report(c), partner)
    told = compare("--patch", patch, packed, c)
    check_lines("rebuilt, patch", told, one, report(c), partner)
    check_renamed(work, packed, one)
    check_flags(work)
    return a, b


def check_renamed(work, packed, one):
    """A file with another name, which only the patch knows."""
    folder = os.path.join(work, "renamed")
    write(folder, start_c=MAIN.replace("s -= 2", "s -= 1"), other_c=OTHER,
          twist_h=HEADER)
    call([CAIRN_CC, "-g", "-O1", "start.c", "other.c", "-o", "prog"],
         cwd=folder)
    b = run(folder, os.path.join(work, "renamed.cairn"), "3", "x", "y")
    told = compare(packed, b)
    names = {(os.path.basename(s["file_a"] or "-"),
              os.path.basename(s["file_b"] or "-")) for s in told["sources"]}
    test("renamed: two files", {("main.c", "-"), ("-", "start.c")} <= names,
         str(names))
    test("renamed: a note", any(
        n.startswith("files of A alone: 1, of B alone: 1; ")
        for n in told["notes"]), str(told["notes"]))
    text, _ = diff("--file", "*.c", "--stable", packed, b)
    test("renamed: said first", "\nnote       files of A alone: 1" in text,
         text)
    lone = os.path.join(work, "lone")
    write(lone, lone_c="int main(void)\n{\n\treturn 0;\n}\n")
    call([CAIRN_CC, "-g", "-O1", "lone.c", "-o", "prog"], cwd=lone)
    other = run(lone, os.path.join(work, "lone.cairn"))
    text, _ = diff("--stable", packed, other)
    test("no file in both: no lines matched", "\nbuilds     different\n"
         in text, text)
    patch = ("--- a/main.c\n+++ b/start.c\n@@ -16 +16 @@\n-\t\ts -= 2;\n"
             "+\t\ts -= 1;\n")
    told = compare("--patch", "-", packed, b, stdin=patch)
    names = {(os.path.basename(s["file_a"] or "-"),
              os.path.basename(s["file_b"] or "-")) for s in told["sources"]}
    test("renamed: one file", ("main.c", "start.c") in names, str(names))
    test("renamed: no note then", not any("alone" in n for n in told["notes"]),
         str(told["notes"]))
    equal("renamed: fates", {key[1:] for key, line in told_lines(told).items()
                             if line["fate"] in ("added", "removed")},
          {(16, None), (None, 16)} if any(
              line["line"] == 16 for s in one["sources"]
              if s["file"].endswith("main.c") for line in s["lines"])
          else set())
    test("renamed: static functions", all(
        f["fate"] not in ("added", "removed") for f in told["functions"]),
         str(told["functions"]))


def check_flags(work):
    """The same source, built twice: both programs are there, so the one text
    is that of both."""
    folder = os.path.join(work, "flags")
    write(folder, main_c=MAIN, other_c=OTHER, twist_h=HEADER)
    profiles = []
    for level in ("-O0", "-O2"):
        build(folder, level)
        os.rename(os.path.join(folder, "prog"),
                  os.path.join(folder, "prog" + level))
        profile = os.path.join(work, f"flags{level}.cairn")
        if os.path.exists(profile):
            os.unlink(profile)
        subprocess.run([f"./prog{level}", "5"], cwd=folder, check=True,
                       env=dict(os.environ, CAIRN_OUT=profile))
        profiles.append(profile)
    told = compare(*profiles)
    equal("flags: matched", {s["matched"] for s in told["sources"]}, {"text"})
    check_lines("flags", told, *map(report, profiles),
                lambda file, line: line)
    os.utime(os.path.join(folder, "main.c"))
    stamp = os.stat(os.path.join(folder, "main.c")).st_mtime
    os.utime(os.path.join(folder, "main.c"), (stamp + 5, stamp + 5))
    told = compare(*profiles)
    equal("flags: a touched source is the same text",
          {s["matched"] for s in told["sources"]}, {"text"})
    with open(os.path.join(folder, "main.c"), "a", encoding="utf-8") as f:
        f.write("/* changed */\n")
    told = compare(*profiles)
    equal("flags: a changed source is by number",
          {s["matched"] for s in told["sources"]
           if s["file_b"].endswith("main.c")}, {"number"})


# --- limits, selection, what is not known --------------------------------------

def check_limits(a, b):
    total = compare(a, b)["totals"]
    lost = total["lines"]["lost"]
    share = {side: 100 * total["lines"][side]["ran"] /
             total["lines"][side]["all"] for side in "ab"}
    ways = 100 * total["branches"]["b"]["ran"] / total["branches"]["b"]["all"]
    new = 100 * total["lines"]["added_ran"] / total["lines"]["added"]
    drop = share["a"] - share["b"]
    test("limits: the example has a drop", drop > 1 and lost and new < 100,
         f"{drop} {lost} {new}")
    growth = max(100 * f["executions_b"] / f["executions_a"] - 100
                 for f in compare(a, b)["functions"]
                 if f["executions_a"] and f["executions_b"])
    cases = [("--fail-under-lines", share["b"], -1),
             ("--fail-under-branches", ways, -1),
             ("--fail-under-new", new, -1), ("--max-drop", drop, 1),
             ("--max-lost-lines", lost, 1),
             ("--max-lost-branches", total["branches"]["lost"], 1),
             ("--max-lost-functions", total["functions"]["lost"], 1),
             ("--max-growth", growth, 1)]
    for option, value, sign in cases:
        whole = isinstance(value, int)
        step = 1 if whole else 0.01
        within, beyond = value + sign * step, value - sign * step
        shown = (lambda v: str(v)) if whole else (lambda v: f"{v:.6f}")
        out, err = diff(option, shown(within), a, b)
        test(f"{option}: within", not err and f"{option} " in out and
             ": kept: " in out, err)
        out, err = diff(option, shown(beyond), a, b, status=1)
        test(f"{option}: beyond", err.count("\n") == 1 and
             ": broken: " in out and f"cairn: {option}" in err, err)
        told = compare(option, shown(beyond), a, b, status=1)["limits"]
        test(f"{option}: in JSON", len(told) == 1 and told[0]["broken"] and
             abs(told[0]["value"] - value) < 0.01, str(told))
        if whole:
            diff(option, str(value), a, b)
    diff("--max-lost-lines", "0", "--fail-under-lines", "0", a, b, status=1)
    # limits are about what is selected
    diff("--max-lost-lines", "0", "--file", "other.c", "--function", "step",
         a, b)


def check_selection(a, b):
    told = compare("--function", "rare", a, b)
    equal("--function", [f["name"] for f in told["functions"]], ["rare"])
    told_files = {os.path.basename(s["file_b"]): len(s["lines"])
                  for s in told["sources"]}
    test("--function: lines", told_files.get("main.c", 0) in range(2, 6) and
         not told_files.get("other.c"), str(told_files))
    check_totals("--function", told)
    told = compare("--file", "other.c", a, b)
    equal("--file", [os.path.basename(s["file_b"]) for s in told["sources"]],
          ["other.c"])
    equal("--file: functions", sorted(f["name"] for f in told["functions"]),
          ["other", "step"])
    check_totals("--file", told)
    names = [f["name"] for f in compare("--sort", "name", a, b)["functions"]]
    equal("--sort name", names, sorted(names))
    for key, value in (("executions", lambda f: max(f["executions_a"] or 0,
                                                    f["executions_b"] or 0)),
                       ("change", lambda f: abs((f["executions_b"] or 0) -
                                                (f["executions_a"] or 0))),
                       ("entries", lambda f: max(f["entries_a"] or 0,
                                                 f["entries_b"] or 0))):
        values = [value(f) for f in compare("--sort", key, a, b)["functions"]]
        equal(f"--sort {key}", values, sorted(values, reverse=True))
    all_of = compare(a, b)["functions"]
    told = compare("--threshold", "30", a, b)["functions"]
    test("--threshold", 0 < len(told) < len(all_of))
    text = diff("--top", "1", a, b)[0]
    test("--top", "more; --top N shows them" in text, text)
    test("--no-source", "\tvolatile" not in diff("--no-source", a, b)[0])
    test("--changed", diff("--changed", "--top", "0", a, b)[0].count(" * ") >
         diff("--top", "0", a, b)[0].count(" * "))
    test("--color", "\033[" in diff("--color", "always", a, b)[0] and
         "\033[" not in diff(a, b)[0])
    _, err = diff("--function", "absent", a, b, status=1)
    test("no match", "no function matches absent" in err, err)


def check_text(a, b):
    """Lines of the text are those of the JSON."""
    told = told_lines(compare(a, b))
    text = diff("--top", "0", a, b)[0]
    text = text[text.index("             A             B\n"):]
    shown = re.findall(r"^ *(\d*) +(\d*) ([-+>]) +(\d+)  ", text, re.M)
    want = [(str(line["count_a"]) if line["line_a"] is not None else "",
             str(line["count_b"]), {"new": "+", "lost": "-",
                                    "added": ">"}[line["fate"]],
             str(line["line_b"])) for line in told.values()
            if line["fate"] in ("new", "lost", "added")]
    got = [(x if y else "", y or x, sign, line)
           for x, y, sign, line in shown]
    equal("text: lines", sorted(got), sorted(want))


def check_unknown(work):
    """A function that counts some of its paths only is not lost."""
    folder = os.path.join(work, "one")
    build(folder, "--cairn=paths")
    a = os.path.join(work, "known.cairn")
    call([CAIRN, "pack", "-o", a, run(folder, os.path.join(
        work, "unpacked.cairn"), "3", "x", "y")])
    build(folder, f"--cairn=residual,tested={a}")
    b = run(folder, os.path.join(work, "partial.cairn"), "3", "x", "y")
    told = compare(a, b)
    equal("unknown: lost", [told["totals"][k]["lost"] for k in
                            ("lines", "branches", "functions")], [0, 0, 0])
    test("unknown: lines", told["totals"]["lines"]["unknown"] > 5)
    test("unknown: is said", any("nobody knows" in note
                                 for note in told["notes"]),
         str(told["notes"]))
    diff("--max-lost-lines", "0", a, b)


def check_bad(work, a, b):
    plain = os.path.join(work, "plain")
    write(plain, main_c=MAIN, other_c=OTHER, twist_h=HEADER)
    call([CAIRN_CC, "-O1", "main.c", "other.c", "-o", "prog"], cwd=plain)
    c = run(plain, os.path.join(work, "plain.cairn"), "3")
    cases = [((), "two profiles, not 0"), ((a,), "two profiles, not 1"),
             ((a, b, a), "two profiles, not 3"), ((a, "absent"), "absent"),
             ((__file__, b), "run.py"), ((a, c), "build it with -g"),
             (("--sort", "x", a, b), "--sort takes change"),
             (("--max-lost-lines", "-1", a, b), "--max-lost-lines takes"),
             (("--max-drop", "x", a, b), "--max-drop takes"),
             (("--fail-under-lines", "101", a, b), "from 0 to 100"),
             (("--max-growth", "nan", a, b), "--max-growth takes"),
             (("--patch", __file__, a, b), "no hunk"),
             (("--patch", "absent", a, b), "absent: cannot open"),
             (("--json", "--html", "x", a, b), "exclude each other"),
             (("-o", a, a, b), "would overwrite the profile")]
    for words, sentence in cases:
        out, err = diff(*words, status=2)
        test(f"bad: {' '.join(map(os.path.basename, words))}",
             not out and err.count("\n") == 1 and sentence in err, err)
    # git says nothing if nothing changed
    compare("--patch", "-", a, b, stdin="")


# --- C++ ----------------------------------------------------------------------

def check_cxx(work):
    folder = os.path.join(work, "cxx")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "t.cpp"), "w", encoding="utf-8") as file:
        file.write("#include <cstdlib>\n"
                   "template <typename T> __attribute__((noinline)) T "
                   "half(T x)\n{\n\tvolatile T v = x;\n\treturn v / 2;\n}\n"
                   "int main(int argc, char **argv)\n{\n"
                   "\tint n = std::atoi(argv[1]);\n"
                   "\tfor (int i = 0; i < n; i++)\n\t\thalf<int>(i);\n"
                   "\tif (argc > 2)\n\t\thalf<double>(n);\n\treturn 0;\n}\n")
    call([CAIRN_CXX, "-g", "-O1", "t.cpp", "-o", "prog"], cwd=folder)
    a = run(folder, os.path.join(work, "cxx-a.cairn"), "4", "x")
    b = run(folder, os.path.join(work, "cxx-b.cairn"), "9")
    told = compare(a, b)
    check_all("C++", told, report(a), report(b), lambda file, line: line)
    fates = {f["demangled"] or f["name"]: f["fate"] for f in told["functions"]}
    equal("C++: names", fates, {"int half<int>(int)": "changed", "main":
                                "changed", "double half<double>(double)":
                                "lost"})
    test("C++: text", "half<double>(double)" in diff(a, b)[0])
    test("C++: --function", len(compare("--function", "*half<*", a,
                                        b)["functions"]) == 2)


# --- the page -----------------------------------------------------------------

def check_page(work, a, b):
    path = os.path.join(work, "diff.html")
    diff("--html", path, "--max-lost-lines", "0", a, b, status=1)
    told = compare(a, b)
    web = report_page.browser()
    page = web.Markup(path)
    equal("page: markup", page.faults, [])
    index = json.loads(page.data["i0"])
    equal("page: files", [os.path.basename(f[0]) for f in index["files"]],
          [os.path.basename(s["file_b"] or s["file_a"])
           for s in told["sources"]])
    for i, source in enumerate(told["sources"]):
        data = json.loads(page.data[f"s{i}"])
        got = [(x[0] or None, x[1], x[2] or None, x[3], FATES[x[4]])
               for x in data["lines"]]
        want = [(x["line_a"], x["count_a"], x["line_b"], x["count_b"],
                 x["fate"]) for x in source["lines"]]
        equal(f"page: lines of {i}", got, want)
        with open(source["file_b"], encoding="utf-8") as file:
            equal(f"page: text of {i}", data["text"], file.read())
    equal("page: functions", [(f[1] or f[0], f[4], f[5], FATES[f[8]])
                              for f in index["functions"]],
          [(f["name"], f["executions_a"], f["executions_b"], f["fate"])
           for f in told["functions"]])
    if not CHROMIUM:
        print("skipped: no chromium, so no page was opened")
        return
    check_browser(web, path, told)


def check_browser(web, path, told):
    source = next(s for s in told["sources"]
                  if s["file_b"].endswith("main.c"))
    seen, errors = web.browse(path, "file=" + source["file_b"],
                              os.path.join(HERE, "page.js"))
    equal("browser: errors", errors, [])
    if seen is None:
        return
    want = [[str(x["count_a"]) if x["line_a"] is not None else "",
             str(x["count_b"]) if x["line_b"] is not None else "",
             str(x["line_b"]) if x["line_b"] is not None else
             f"({x['line_a']})", x["fate"]] for x in source["lines"]]
    equal("browser: whole file", seen["whole"], want)
    near = [x for x in want if x[3] in ("new", "lost", "added", "removed")]
    equal("browser: differences", [x for x in seen["near"] if x[3] in
                                   ("new", "lost", "added", "removed")], near)
    added, removed = seen["colours"]
    test("browser: colours are those of the legend", added[1] and removed[1]
         and added[0] == added[1] and removed[0] == removed[1] and
         added[0] != removed[0], str(seen["colours"]))
    test("browser: fewer rows", seen["nearRows"] < seen["wholeRows"],
         f"{seen['nearRows']} of {seen['wholeRows']}")
    equal("browser: functions", sorted(seen["functions"]),
          sorted(f["name"] for f in told["functions"]))
    equal("browser: filter", seen["found"], ["rare"])
    test("browser: limit", any("broken" in text for text in seen["limits"]),
         str(seen["limits"]))
    test("browser: dark", seen["dark"] and seen["light"])
    test("browser: next difference", seen["seek"])
    test("browser: a function selects its file",
         seen["ofFunction"] == "other.c", seen["ofFunction"])
    test("browser: address", seen["hash"].startswith("#f="), seen["hash"])


def check(work):
    a, b = check_modes(work)
    check_selection(a, b)
    a, b = check_builds(work)
    # check_builds has built "old" again: of it the pack is left
    a = os.path.join(work, "packed.cairn")
    check_limits(a, b)
    check_text(a, b)
    check_unknown(work)
    check_bad(work, a, b)
    check_cxx(work)
    check_page(work, a, b)


if __name__ == "__main__":
    sys.exit(suite(check))
