#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Formats of cairn report, each read by the tool that it is for.

    formats.py             all of it
    formats.py --keep DIR  leave files in DIR
    CAIRN_BIN              directory of cairn and cairn-cc

The program is that of run.py.  What a consumer says of a file must be what the
JSON report says.  A consumer that is not installed is skipped, and said so;
tools/install-deps check has all of them.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import run as t  # noqa: E402
from checks import suite  # noqa: E402
from profiles import CAIRN, CAIRN_CC, call  # noqa: E402

MODES = ["edges", "paths", "trace"]


def tool(name, *places):
    """A consumer's path, or None: then its part is skipped."""
    found = shutil.which(name) or next(
        (p for place in places for p in sorted(glob.glob(place))), None)
    if not found:
        print(f"skipped: no {name}")
    return found


def export(work, profile, form, *options):
    path = os.path.join(work, f"{os.path.basename(profile)}.{form}")
    call([CAIRN, "report", "--format", form, "-o", path, *options, profile])
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def own_lines(data, work):
    """{(name, line): entry} of the program's own files."""
    return {(os.path.basename(s["file"]), line["line"]): line
            for s in data["sources"] if s["file"].startswith(work)
            for line in s["lines"]}


def instructions(data):
    return sum(f["instructions"] for f in data["functions"])


# --- coverage ----------------------------------------------------------------

def check_lcov(work, profile, data):
    path = export(work, profile, "lcov")
    genhtml, lcov = tool("genhtml"), tool("lcov")
    if genhtml:
        out = os.path.join(work, "genhtml")
        done = subprocess.run(
            [genhtml, "--branch-coverage", "-o", out, path],
            capture_output=True, text=True, check=False)
        t.test("lcov: genhtml", done.returncode == 0 and
               os.path.exists(os.path.join(out, "index.html")),
               done.stderr[-300:])
    if lcov:
        text = call([lcov, "--summary", path, "--rc",
                     "lcov_branch_coverage=1"])
        total = data["totals"]
        for what, (hit, found) in {
                "lines": (total["lines_executed"], total["lines"]),
                "branches": (total["branches_taken"],
                             total["branches"])}.items():
            told = re.search(rf"{what}\.+: [\d.]+% \((\d+) of (\d+)", text)
            t.equal(f"lcov: {what}", told and (int(told[1]), int(told[2])),
                    (hit, found))


def cobertura_lines(path):
    root = ElementTree.parse(path).getroot()
    return {(os.path.basename(c.get("filename")), int(line.get("number"))):
            (int(line.get("hits")), line.get("condition-coverage"))
            for c in root.iter("class") for line in c.find("lines")}


def check_cobertura(work, profile, data):
    path = export(work, profile, "cobertura")
    if tool("xmllint"):
        done = subprocess.run(
            ["xmllint", "--noout", "--nonet", "--dtdvalid",
             os.path.join(HERE, "cobertura.dtd"), path],
            capture_output=True, text=True, check=False)
        t.test("cobertura: valid", done.returncode == 0, done.stderr[-300:])
    lines = own_lines(data, work)
    got = cobertura_lines(path)
    t.equal("cobertura: hits", {k: v[0] for k, v in got.items()},
            {k: v["count"] for k, v in lines.items()})
    want = {k: (sum(b["taken"] > 0 for b in v["branches"]),
                len(v["branches"])) for k, v in lines.items()
            if "branches" in v}
    t.equal("cobertura: conditions",
            {k: v[1] for k, v in got.items() if v[1]},
            {k: f"{100 * a // b}% ({a}/{b})" for k, (a, b) in want.items()})
    root = ElementTree.parse(path).getroot()
    names = sorted(c.get("filename") for c in root.iter("class"))
    source = root.find("sources/source").text
    t.test("cobertura: files are where it says", all(os.path.exists(
        os.path.join(source, name)) for name in names) and names == [
            "inc/shared.h", "src/deep/work.c", "src/main.c"],
           f"{source} {names}")
    t.equal("cobertura: packages", sorted(
        p.get("name") for p in root.iter("package")),
        ["inc", "src", "src/deep"])
    return got


def check_gcovr(work, profile, data, cobertura):
    path = export(work, profile, "gcovr")
    gcovr = tool("gcovr")
    if not gcovr:
        return
    argv = [gcovr, "-r", work, "--add-tracefile", path]
    summary = json.loads(call(argv + ["--json-summary"]))
    lines = own_lines(data, work)
    branches = [b["taken"] for x in lines.values()
                for b in x.get("branches", [])]
    t.equal("gcovr: totals", [summary[k] for k in (
        "line_total", "line_covered", "branch_total", "branch_covered",
        "function_total", "function_covered")],
        [len(lines), sum(x["count"] > 0 for x in lines.values()),
         len(branches), sum(b > 0 for b in branches),
         len({(f["file"], f["name"]) for f in data["functions"]}),
         len({(f["file"], f["name"]) for f in data["functions"]
              if f["entries"]})])
    xml = os.path.join(work, "gcovr.xml")
    call(argv + ["--xml", xml])
    t.equal("gcovr: its Cobertura is as ours",
            {k: v[0] for k, v in cobertura_lines(xml).items()},
            {k: v[0] for k, v in cobertura.items()})


# --- profilers ---------------------------------------------------------------

def check_callgrind(work, profile, data):
    path = export(work, profile, "callgrind")
    text = read(path)
    jumps = re.findall(r"^jcnd=(\d+)/(\d+) (\d+)\n(\d+)$", text, re.M)
    at = t.line_of(t.MAIN, "i % 4 == 0")
    t.test("callgrind: jumps", ("25", "100", str(at + 1), str(at)) in jumps and
           ("75", "100", str(at + 2), str(at)) in jumps, str(jumps))
    calls = re.findall(r"^cfn=(\w+)\ncalls=(\d+) (\d+)\n(\d+) \d+$", text,
                       re.M)
    helper = next(f["line"] for f in data["functions"]
                  if f["name"] == "helper" and f["file"].endswith("main.c"))
    t.test("callgrind: calls", ("helper", "25", str(helper), str(at + 1)) in
           calls, str(calls))
    annotate = tool("callgrind_annotate")
    if not annotate:
        return
    total = instructions(data)
    for inclusive in ("no", "yes"):
        told = call([annotate, "--auto=no", f"--inclusive={inclusive}",
                     "--threshold=100", path], cwd="/")
        found = re.search(r"^ *([\d,]+) .*PROGRAM TOTALS", told, re.M)
        t.equal(f"callgrind: total, inclusive {inclusive}",
                found and int(found[1].replace(",", "")), total)
        # what was inlined stands there as its file and the function
        main = re.findall(r"^ *([\d,]+) .*[/ ](?:main\.c|shared\.h):main\b",
                          told, re.M)
        want = next(f["instructions"] for f in data["functions"]
                    if f["name"] == "main")
        cost = sum(int(n.replace(",", "")) for n in main)
        if inclusive == "no":
            t.equal("callgrind: cost of main", cost, want)
        else:
            t.test("callgrind: main with callees", want < cost <= total,
                   f"{want} {cost} {total}")
    auto = call([annotate, "--auto=yes", "--threshold=100", path], cwd="/")
    t.test("callgrind: source", "if (i % 4 == 0)" in auto)


def check_dot(work, profile, data):
    dot = tool("dot")
    if not dot:
        return
    plain = call([dot, "-Tplain", export(work, profile, "dot")])
    names = dict(re.findall(r"^node (f\d+) .*? \"(\w+)\\n", plain, re.M))
    edges = [(names[a], names[b], label) for a, b, label in re.findall(
        r"^edge (f\d+) (f\d+) .* (\d+) [-\d.]+ [-\d.]+ \w+ \S+$", plain, re.M)]
    t.test("dot: calls", ("main", "helper", "25") in edges and
           ("main", "work", "7") in edges, str(edges))
    path = export(work, profile, "dot", "--function", "work")
    plain = call([dot, "-Tplain", path])
    f = next(f for f in data["functions"] if f["name"] == "work")
    t.equal("dot: blocks and edges",
            [len(re.findall(r"^node g0b", plain, re.M)),
             len(re.findall(r"^edge ", plain, re.M))],
            [len(f["blocks"]), len(f["edges"])])
    call([dot, "-Tsvg", path, "-o", os.path.join(work, "flow.svg")])


def check_stacks(work, profile, data):
    stacks = {}
    for line in read(export(work, profile, "folded")).splitlines():
        stack, weight = line.rsplit(" ", 1)
        t.test(f"folded: {stack} once", stack not in stacks)
        stacks[stack] = int(weight)
    total = instructions(data)
    t.equal("folded: total", sum(stacks.values()), total)
    # main calls work and is its only caller; first is called by a pointer
    t.test("folded: one caller", "main;work;helper" in stacks and
           "main;work;twice" in stacks and "main;twice" in stacks and
           "first" in stacks, str(stacks))
    scope = json.loads(read(export(work, profile, "speedscope")))
    t.equal("speedscope: schema", scope["$schema"],
            "https://www.speedscope.app/file-format-schema.json")
    p = scope["profiles"][0]
    frames = [f["name"] for f in scope["shared"]["frames"]]
    t.equal("speedscope: the same stacks", {
        ";".join(frames[i] for i in stack): weight
        for stack, weight in zip(p["samples"], p["weights"])}, stacks)
    t.equal("speedscope: values", [p["type"], p["startValue"], p["endValue"],
                                   len(p["samples"])],
            ["sampled", 0, total, len(p["weights"])])


def check_pprof(work, profile, data):
    path = export(work, profile, "pprof")
    pprof = tool("pprof", "/usr/lib/go*/pkg/tool/*/pprof")
    if not pprof:
        return
    top = call([pprof, "-top", "-nodefraction=0", "-nodecount=100", path])
    flat = {name: int(value) for value, name in re.findall(
        r"^ *(\d+) +[\d.]+% +[\d.]+% +\d+ +[\d.]+% +(\S+)", top, re.M)}
    total = re.search(r"of (\d+) total", top)
    t.equal("pprof: total", total and int(total[1]), instructions(data))
    t.equal("pprof: functions add up", sum(flat.values()), instructions(data))
    t.test("pprof: inlined code", flat.get("twice", 0) > 0 and
           "twice (inline)" in top, top)
    listing = call([pprof, "-list", "^main$", path])
    t.test("pprof: source", "if (i % 4 == 0)" in listing, listing[:300])


# --- the compiler ------------------------------------------------------------

def branch_weights(ir):
    return {tuple(map(int, pair)) for pair in re.findall(
        r'"branch_weights", i32 (\d+), i32 (\d+)}', ir)}


def check_sample(work, profile, data):
    path = export(work, profile, "llvm-sample")
    profdata = tool("llvm-profdata-19") or tool("llvm-profdata")
    if profdata:
        text = call([profdata, "merge", "--sample", "--text", path, "-o", "-"])
        heads = dict((name, int(n)) for name, n in
                     re.findall(r"^(\w+):\d+:(\d+)$", text, re.M))
        want = {}
        for f in data["functions"]:
            if f["executions"]:
                want[f["name"]] = want.get(f["name"], 0) + f["entries"]
        t.equal("sample: entries, as llvm-profdata has them", heads, want)
        at = t.line_of(t.MAIN, "sum += helper(i)") - \
            t.line_of(t.MAIN, "int main(")
        t.test("sample: calls", re.search(rf"^ {at}: 25 helper:25$", text,
                                          re.M), text)
        t.test("sample: inlined code", re.search(
            r"^ \d+: twice:\d+\n(  \d+: 100\n)+", text, re.M), text)
    clang = tool("clang-19")
    if not clang:
        return
    done = subprocess.run(
        [clang, "-O2", "-gline-tables-only", "-fprofile-sample-use=" + path,
         "-Iinc", "-S", "-emit-llvm", "src/main.c", "-o", "-"], cwd=work,
        capture_output=True, text=True, check=False)
    t.test("sample: clang takes it", done.returncode == 0 and not done.stderr,
           done.stderr[-300:])
    counts = set(re.findall(r'"function_entry_count", i64 (\d+)', done.stdout))
    # one more than there were; two functions of one name are one
    t.test("sample: entries in the IR", {"2", "27"} <= counts, str(counts))
    ratios = {round(max(a, b) / (a + b), 2) for a, b in
              branch_weights(done.stdout)}
    t.test("sample: weights of a branch", ratios & {0.74, 0.75, 0.76},
           str(ratios))


# --- all of them -------------------------------------------------------------

def check_modes(work):
    """What was counted in one way or another is the same in every format."""
    profiles = {mode: t.build(work, mode) for mode in MODES}
    for form in ("lcov", "cobertura", "gcovr", "callgrind", "folded",
                 "llvm-sample", "dot"):
        texts = {mode: read(export(work, p, form, "--stable")).replace(
            f"prog-{mode}", "prog") for mode, p in profiles.items()}
        for mode in MODES[1:]:
            t.equal(f"{form}: {mode} as edges", texts[mode], texts["edges"])
    return profiles["edges"]


def check_mistakes(work, profile):
    bare = os.path.join(work, "bare")
    call([CAIRN_CC, "-Iinc", "src/main.c", "src/deep/work.c", "-o", bare],
         cwd=work)
    t.run_program(bare, bare + ".cairn")
    for argv, says in (
            (["--format", "xml", profile], "--format takes"),
            (["--format", "lcov", "--json", profile], "exclude"),
            (["--format", "lcov", "--format", "dot", profile], "exclude"),
            (["--format", "dot", "--html", "x", profile], "excludes"),
            (["--format", "dot", "-o", work + "/no/x", profile], "no/x"),
            (["--format", "callgrind", work + "/none.cairn"], "none.cairn"),
            (["--format", "callgrind", work + "/src/main.c"], "main.c"),
            *[(["--format", form, bare + ".cairn"], "-g") for form in
              ("lcov", "cobertura", "gcovr", "llvm-sample")]):
        done = subprocess.run([CAIRN, "report", *argv], capture_output=True,
                              text=True, check=False)
        t.test(f"mistake: {' '.join(argv[:3])}", done.returncode == 2 and
               says in done.stderr and done.stderr.count("\n") == 1 and
               not done.stdout, f"{done.returncode} {done.stderr}")
    for form in ("callgrind", "dot", "folded", "speedscope", "pprof"):
        call([CAIRN, "report", "--format", form, "-o", work + "/bare.out",
              bare + ".cairn"])
        t.test(f"{form} without -g", os.path.getsize(work + "/bare.out") > 40)


def run(work):
    t.write(os.path.join(work, "inc", "shared.h"), t.SHARED)
    t.write(os.path.join(work, "src", "main.c"), t.MAIN)
    t.write(os.path.join(work, "src", "deep", "work.c"), t.WORK)
    profile = check_modes(work)
    data = json.loads(t.report("--json", profile))
    check_lcov(work, profile, data)
    cobertura = check_cobertura(work, profile, data)
    check_gcovr(work, profile, data, cobertura)
    check_callgrind(work, profile, data)
    check_dot(work, profile, data)
    check_stacks(work, profile, data)
    check_pprof(work, profile, data)
    check_sample(work, profile, data)
    check_mistakes(work, profile)


if __name__ == "__main__":
    sys.exit(suite(run))
