#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cairn writes: does it know what a program wrote, and where?

books.c keeps books of its own: what it prints has to be what `cairn writes`
says, for each variable, write by write, with lines and values.  Ends with
"N passed, M failed".
"""
import json
import os
import re
import shutil
import sys
import tempfile

import recorded
from recorded import cairn, compile_program, HERE, recordings
from checks import check, finish

PROGRAMS = os.path.join(HERE, "writes")


def build(folder, program, source, *options):
    compile_program(os.path.join(PROGRAMS, source),
                    os.path.join(folder, program), *options)


def record(folder, program):
    out, file = recorded.record(folder, os.path.join(folder, program))
    check(program + " status", out.returncode and out)
    return out.stdout, file


def writes(folder, *args):
    return cairn(folder, "writes", *args)


def answer(folder, *args):
    out = writes(folder, "--json", *args)
    if out.returncode:
        raise ValueError(out.stderr)
    return json.loads(out.stdout)


def read_books(text):
    """{name: [[line, old, new, how]]}."""
    books = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 4 and words[0] != "heap":
            books.setdefault(words[0], []).append(
                [int(words[1]), words[2], words[3],
                 "outside" if words[4:] else "store"])
    return books


def as_book(all_of):
    return [[w["line"], w["old"], w["new"], w["how"]]
            for w in all_of["writes"]]


def check_books(name, folder, file, books):
    for variable, book in books.items():
        if variable in ("heap[2]", "shared"):
            continue
        mine = as_book(answer(folder, "--var", variable, file))
        check(f"{name} {variable}", mine != book and f"{mine}, not {book}")
        last = as_book(answer(folder, "--var", variable, "--last", file))
        check(f"{name} {variable} --last", last != book[-1:] and last)


def check_parts(name, folder, file, books):
    """Of a whole variable, parts by their names."""
    all_of = answer(folder, "--var", "list", file)["writes"]
    mine = [["list" + w["part"], w["line"], w["old"], w["new"]]
            for w in all_of if w["how"] == "store"]
    real = [[v, *b[:3]] for v, book in books.items() for b in book
            if v.startswith("list.")]
    check(f"{name} list", sorted(map(str, mine)) != sorted(map(str, real)) and
          f"{mine}, not {real}")


def check_threads(name, folder, file, books):
    """All threads together: 1 .. 150 in order."""
    all_of = answer(folder, "--var", "shared", file)
    stores = [w["new"] for w in all_of["writes"] if w["how"] == "store"]
    check(f"{name} shared", stores != [str(i + 1) for i in range(150)] and
          stores)
    check(f"{name} shared, how many", len(books["shared"]) != 150 and
          books["shared"])
    check(f"{name} contexts", len({w["context"]
                                   for w in all_of["writes"]}) < 3 and all_of)


def check_memory(name, folder, file, text):
    """By address: heap, bytes that a copy wrote."""
    heap = int(re.search(r"^heap (\w+)", text, re.M).group(1), 16)
    line = int(re.search(r"^heap\[2\] (\d+)", text, re.M).group(1))
    (last,) = answer(folder, "--addr", f"{heap + 8:#x}:4", "--last",
                     file)["writes"]
    check(f"{name} heap", (last["old"] != "ff ff ff ff" or
                           last["new"] != "01 00 00 00" or
                           last["line"] != line) and last)
    n = len(answer(folder, "--addr", str(heap), file)["writes"])
    check(f"{name} heap: 8 bytes", n < 1 and n)
    all_of = answer(folder, "--var", "text", file)["writes"]
    now = bytearray(b"as it began".ljust(32, b"\0"))
    for w in all_of:
        new = bytes.fromhex(w["new"]) if " " in w["new"] or \
            w["part"].startswith("+") else \
            (int(w["new"]) & 255).to_bytes(1, "little")
        at = w["address"] - answer_address(folder, file)
        now[at:at + len(new)] = new
    check(f"{name} text", now[20:28] != b"m" * 8 and now)


def answer_address(folder, file):
    return answer(folder, "--var", "text", "--last", file)["address"]


def books_of(folder):
    for options in (("-O0",), ("-O2",), ("-O2", "-static-pie")):
        name = " ".join(("books", *options))
        build(folder, "books", "books.c", "-g", *options)
        text, file = record(folder, "books")
        books = read_books(text)
        check(f"{name} names", len(books) < 16 and books)
        check_books(name, folder, file, books)
        check_parts(name, folder, file, books)
        check_threads(name, folder, file, books)
        check_memory(name, folder, file, text)


def limits(folder, file):
    all_of = answer(folder, "--var", "counter", file)
    two = answer(folder, "--var", "counter", "--limit", "2", file)
    check("--limit", (two["writes"] != all_of["writes"][:2] or
                      two["total"] != all_of["total"]) and two)
    two = answer(folder, "--var", "counter", "--limit", "2", "--last", file)
    check("--limit --last", two["writes"] != all_of["writes"][-2:] and two)
    text = writes(folder, "--var", "counter", "--limit", "2", file).stdout
    check("text", "more writes" not in text or "in scalars" not in text)
    text = writes(folder, "--var", "counter", file).stdout
    check("text: outside", "by code without marks" not in text and text)


def is_refused(out, words):
    return out.returncode == 2 and out.stderr.count("\n") == 1 and \
        words in out.stderr


def kinds(folder):
    """Qualified names; values that are no words of the machine."""
    build(folder, "kinds", "kinds.cpp", "-g", "-O0")
    _, file = record(folder, "kinds")
    for name, new in (
            ("ns::P::cnt", "4"), ("P::cnt", "4"), ("::ns::P::cnt", "4"),
            ("kinds.cpp:ns::P::cnt", "4"), ("P::other", "5"), ("other", "5"),
            ("ns::hidden", "6"), ("wide", str(-(4 << 100))),
            ("high", str(2 ** 128 - 5)),
            ("precise", "0.333333333333333333342")):
        (one,) = answer(folder, "--var", name, file)["writes"]
        check("--var " + name, one["new"] != new and one)
    (one,) = answer(folder, "--var", "wide", file)["writes"]
    check("the old value of wide", one["old"] != "-5" and one)
    out = writes(folder, "--var", "cnt", file)
    check("--var cnt", not is_refused(out, "2 variables") and out)
    for name, expected in (
            ("one", [[".a", "0", "4"], [".b", "0", "-4"], [".c", "0", "1000"]]),
            ("many", [["[2].b", "0", "-1"]])):
        found = [[w["part"], w["old"], w["new"]]
                 for w in answer(folder, "--var", name, file)["writes"]]
        check("bit-fields of " + name, found != expected and found)


def names(folder):
    build(folder, "names", "main.c", "-g", "-O0",
          os.path.join(PROGRAMS, "other.c"))
    _, file = record(folder, "names")
    out = writes(folder, "--var", "twice", file)
    check("two of a name", not is_refused(out, "2 variables") and out)
    for where, new in (("main.c", "10"), ("other.c", "3")):
        (one,) = answer(folder, "--var", where + ":twice", file)["writes"]
        check(where + ":twice", one["new"] != new and one)
    (one,) = answer(folder, "--var", "inner", file)["writes"]
    check("inner", one["function"] != "other" and one)
    for name, words in (("nobody", "no global"), ("twice[0]", "no part"),
                        ("main.c:twice.x", "no part"),
                        ("each", "")):
        out = writes(folder, "--var", name, file)
        check(f"--var {name}", not is_refused(out, words) and out)
    for args in ((), ("--addr", "x"), ("--addr", "0x10:0"),
                 ("--var", "a", "--addr", "1"), ("--limit", "x")):
        out = writes(folder, *args, file)
        check(f"usage {args}", out.returncode != 2 and out)
    out = writes(folder, "--addr", "0x1000", file)
    check("nobody wrote", (out.returncode or
                           "nobody wrote" not in out.stdout) and out)
    build(folder, "bare", "main.c", "-O0", os.path.join(PROGRAMS, "other.c"))
    _, file = record(folder, "bare")
    (one,) = answer(folder, "--var", "other.inner", file)["writes"]
    check("without -g", (one["new"] != "01 00 00 00" or
                         one["function"] != "other") and one)


def main():
    folder = tempfile.mkdtemp()
    try:
        books_of(folder)
        limits(folder, recordings(folder)[0])
        names(folder)
        kinds(folder)
    finally:
        shutil.rmtree(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
