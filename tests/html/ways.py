# SPDX-License-Identifier: Apache-2.0
"""Where branches go, and what is not counted one by one.

A third opinion: from the lines of the blocks on a page, what cairn paths has to
say about each branch of a path, as text and on the page.  And a page about a
build that prefers some paths: shares are of all executions.
"""
import json
import os
import re
import subprocess


def ends(lib, data, block):
    """The first and the last line of a block: (source, line) or None."""
    lines = [at for segment in lib.segments_of(data, block) for at in segment]
    return (lines[0], lines[-1]) if block and lines else (None, None)


def way_of(lib, data, branch):
    """Words, and the line that says where a branch goes or None."""
    kind, target = branch["way"], branch["target"]
    word = "" if kind in ("true", "false") else kind
    if not target or kind == "returned":
        return word, None
    to, start = ends(lib, data, target)[0], ends(lib, data, branch["block"])[1]
    others = [ends(lib, data, e[1])[0] for e in data["edges"]
              if e[0] == branch["block"] and e[1] not in (0, target)]
    word = (word + " to ").lstrip()
    if not to or to == start or to in others:
        return f"{word}block {target}", None
    return word, to


def place(page, at, home):
    """A line, with the name of its file unless that is `home`."""
    if at is None:
        return "?"
    source, line = at
    name = os.path.basename(page.index["sources"][source])
    return str(line) if source == home else f"{name}:{line}"


def on_page(lib, page, row, data, path):
    """Where the branches of a path go, in the words of the page."""
    out = []
    for branch in path["branches"]:
        word, at = way_of(lib, data, branch)
        out.append(word + (place(page, at, row[2]) if at else ""))
    return out


def in_text(lib, page, data, path):
    """The same in those of cairn paths."""
    out = []
    for branch in path["branches"]:
        word, at = way_of(lib, data, branch)
        start = ends(lib, data, branch["block"])[1]
        home = start[0] if start else None
        out.append(f"{place(page, start, None)} {word}" +
                   (place(page, at, home) if at else ""))
    return ", ".join(out) or "none"


def check_text(lib, name, page, paths, profile):
    """The text of cairn paths: a branch never just says true or false."""
    text = lib.call([lib.CAIRN, "paths", "--no-demangle", "--top", "0",
                     "--blocks", profile])
    got = re.findall(r"^#\d+ (.*), path (\d+) of .*\n.*\n    branches (.*)$",
                     text, re.M)
    want, wrong = {}, []
    for f in paths["functions"]:
        _, data = page.find(f["name"])
        for p in f["paths"]:
            want[f["name"], str(p["number"])] = in_text(lib, page, data, p)
            for b in p["branches"]:
                first = ends(lib, data, b["target"])[0]
                if b["target_line"] != (first and first[1]):
                    wrong.append([f["name"], b, first])
    lib.equal(f"{name}: lines of targets", wrong, [])
    lib.equal(f"{name}: branches as text",
              {(f, number): words for f, number, words in got}, want)


WIDE = ["#include <stdlib.h>",
        "__attribute__((noinline)) int wide(int v)", "{", "\tint n = 0;"] + \
       [f"\tif (v >> {i} & 1)\n\t\tn += {i};" for i in range(20)] + \
       ["\treturn n;", "}", "int main(int argc, char **argv)", "{",
        "\tint n = 0;", "\tfor (int i = 1; i < argc; i++)",
        "\t\tn += wide(atoi(argv[i]));", "\treturn n == 999;", "}"]


def run_wide(lib, work, name, mode, *arguments):
    exe = os.path.join(work, name)
    profile = exe + ".cairn"
    lib.call([lib.CAIRN_CC, "-g", "-O0", mode,
              os.path.join(work, "wide.c"), "-o", exe], cwd=work)
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run([exe, *arguments], cwd=work, check=True,
                   env=dict(os.environ, CAIRN_OUT=profile))
    return profile


def check_prefer(lib, work):
    """A build with preferred paths, and what its page says of the others."""
    with open(os.path.join(work, "wide.c"), "w", encoding="ascii") as file:
        file.write("\n".join(WIDE) + "\n")
    train = run_wide(lib, work, "train", "--cairn=paths", "1", "2", "300")
    profile = run_wide(lib, work, "prefer", "--cairn=paths,prefer=" + train,
                       "1", "2", "2", "7", "77", "777", "7777", "77777")
    path, page = lib.make_page(work, "prefer", "paths", profile)
    paths = json.loads(lib.call([lib.CAIRN, "paths", "--json", profile]))
    lib.check_markup("prefer", page)
    want = next(f for f in paths["functions"] if f["name"] == "wide")
    _, data = page.find("wide")
    lib.equal("prefer: numbers",
              [data[k] for k in ("other", "total", "preferred", "counters")],
              [5, 8, want["prefer"]["n"], want["prefer"]["size"]])
    lib.equal("prefer: delta", want["prefer"]["delta"],
              round(want["prefer"]["size"] / want["prefer"]["n"], 6))
    lib.equal("prefer: executions", [
        paths["path_executions"], paths["other_executions"],
        page.index["totals"]["path_executions"],
        page.index["totals"]["other_executions"]], [17, 5, 17, 5])
    if not lib.CHROMIUM:
        return
    seen, errors = lib.browse(path, "f=wide")
    lib.equal("prefer: errors in the browser", errors, [])
    lib.equal("prefer: shares", seen and seen["start"]["shares"],
              ["25.00 %", "12.50 %"])
    note = seen["start"]["pathNote"] if seen else ""
    for words in ("5 of these executions", "62.50 %", "delta 1.33"):
        lib.test(f"prefer: note has {words}", words in note, note)
    notes = seen["start"]["notes"] if seen else ""
    for words in ("some of their paths", "not preferred: 5 of 17"):
        lib.test(f"prefer: notes have {words}", words in notes, notes)
