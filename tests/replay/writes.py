#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cairn writes: does it know what a program wrote, and where?

books.c keeps books of its own: what it prints has to be what `cairn writes`
says, for each variable, write by write, with lines and values.  turns.c,
turns.cpp and handlers.c do so of what threads write that synchronise by
atomics, and handlers of signals: old and new values, in order; `cairn values`
and `cairn print` have to show that order, too.  found.c has what threads find
that the system, or another thread, wrote; crashes.c what was written just
before a program ended; of ../ended/ends.c, what handlers wrote before an exec.
Ends with "N passed, M failed".
"""
import json
import os
import re
import shutil
import sys
import tempfile
import time

import recorded
import turned
from recorded import cairn, compile_program, HERE, recordings
from checks import check, finish

PROGRAMS = os.path.join(HERE, "writes")
CANCELLED_RUNS = 5      # until one of them took
CANCELLED_SECONDS = 4   # less than that


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


def check_turns(name, folder, file, text):
    """All variables of which the program kept a book."""
    for variable, book in turned.read_books(text).items():
        wrong = turned.what_differs(book, writes(
            folder, "--json", "--limit", "0", "--var", variable, file).stdout)
        check(f"{name} {variable}", wrong)


def values_of(out):
    return re.findall(r"= (-?\d+)$", out.stdout, re.M)


def line_of(source, words):
    with open(os.path.join(PROGRAMS, source), encoding="ascii") as file:
        return next(i for i, line in enumerate(file, 1) if words in line)


def check_order(name, folder, file, source, words, variable, expected):
    """A line that all contexts execute, as values and print show it."""
    at = f"{source}:{line_of(source, words)}"
    for out in (cairn(folder, "values", "--var", variable, file, "--at", at),
                cairn(folder, "print", variable, file, "--at", at)):
        check(f"{name} {variable} at {at}", values_of(out) != expected and
              f"{values_of(out)}, not {expected}")


def turns(folder):
    """Threads that synchronise by atomics."""
    for source, *options in (("turns.c", "-O0"), ("turns.c", "-O2"),
                             ("turns.c", "-O2", "-static-pie"),
                             ("turns.cpp", "-O0"), ("turns.cpp", "-O2")):
        name = " ".join((source, *options))
        build(folder, "turns", source, "-g", *options)
        text, file = record(folder, "turns")
        check_turns(name, folder, file, text)
        if options == ["-O0"] and source == "turns.c":
            check_order(name, folder, file, source, "book[7][old] =", "old",
                        [str(i) for i in range(160)])


def handlers(folder):
    """Handlers of signals are where they came."""
    for options in (("-O0",), ("-O2",)):
        name = " ".join(("handlers", *options))
        build(folder, "handlers", "handlers.c", "-g", *options)
        text, file = record(folder, "handlers")
        check_turns(name, folder, file, text)
        books = turned.read_books(text)
        check(f"{name} came", len(books["shared"]) < 120 + 12 * 3 + 7 and
              books)
        check(f"{name} came in threads", len(books["counter"]) != 150 and
              books)
        if options == ("-O0",):
            check_order(name, folder, file, "handlers.c", "shared = value;",
                        "value", [new for _, new in books["shared"]])


def found(folder):
    """What no thread stored is shown, once; what one stored is not."""
    for level in ("-O0", "-O2"):
        build(folder, "found", "found.c", "-g", level)
        _, file = record(folder, "found")

        def all_of(name, *options):
            return [[w["context"], w["old"], w["new"], w["how"]]
                    for w in answer(folder, "--var", name, *options,
                                    file)["writes"]]

        mine = all_of("counted")
        check(f"{level} counted", mine[-3:] != [
            [1, "300", "0", "store"], [1, "0", "10", "outside"],
            [1, "10", "11", "store"]] and mine[-4:])
        check(f"{level} counted --last", all_of(
            "counted", "--last", "--limit", "2") != mine[-2:] and mine[-4:])
        stored = [w[2] for w in mine[:-3]]
        check(f"{level} counted by the thread", stored not in (
            [str(i + 1) for i in range(300)], ["300"]) and stored)
        mine = all_of("once")
        check(f"{level} once", mine != [
            [2, "0", "4", "outside"], [1, "4", "6", "outside"]] and mine)
        mine = all_of("raced", "--limit", "0")
        check(f"{level} raced", len(mine) < 20000 and len(mine))
        mine = [w for w in mine if w[3] == "outside"]
        check(f"{level} raced, outside", mine and mine[:5])


def cancelled(folder):
    """No thread waits for one that was cancelled in its turn.

    A wait lasts a second before the turn is taken over, so one run with waits
    takes many; on a busy machine any run may be slow, but not all of them."""
    build(folder, "cancelled", "cancelled.c", "-g", "-O0")
    took = 0
    for _ in range(CANCELLED_RUNS):
        start = time.monotonic()
        record(folder, "cancelled")
        took = time.monotonic() - start
        if took < CANCELLED_SECONDS:
            return check("cancelled: seconds", False)
    return check("cancelled: seconds", took)


# How crashes.c ends, what it wrote last.
CRASHES = (("null", 3), ("division", 4), ("trap", 5), ("wild", 6), ("copy", 7),
           ("raise", 8), ("abort", 9), ("call", 10))


def crashed(folder, level, how, last):
    """Everything up to the fault."""
    name = f"crashes {level} {how}"
    out, file = recorded.record(folder, os.path.join(folder, "crashes"), how)
    check(f"{name}: status", not out.returncode and out)
    all_of = answer(folder, "--var", "written", file)
    mine = [w["new"] for w in all_of["writes"]]
    check(f"{name}: writes", mine != ["1", "2", str(last)] and mine)
    check(f"{name}: doubtful", all_of["doubtful"])
    line = line_of("crashes.c", f"written = {last};")
    out = cairn(folder, "print", "written", file, "--at",
                f"crashes.c:{line + 1}")
    check(f"{name}: print", values_of(out) != [str(last)] and out)
    check(f"{name}: replay", cairn(folder, "replay", file).returncode)
    out = cairn(folder, "check", file)
    check(f"{name}: check", out.returncode and out)


def doubtful(folder, level, how, variable):
    """Writes that may have been made are told; no other is missing."""
    name = f"crashes {level} {how}"
    out, file = recorded.record(folder, os.path.join(folder, "crashes"), how)
    found = re.search(r"^counter (\d+)", out.stdout, re.M)
    all_of = answer(folder, "--var", variable, "--limit", "0", file)
    text = writes(folder, "--var", variable, file).stdout
    check(f"{name}: told", all_of["doubtful"] and
          f"up to {all_of['doubtful']} writes" not in text)
    if not found:
        check(f"{name}: last", all_of["writes"][-1]["new"] == "2" and
              not all_of["doubtful"])
    else:
        n = sum(w["how"] == "store" for w in all_of["writes"])
        real = int(found.group(1))
        check(f"{name}: all", not n <= real <= n + all_of["doubtful"] and
              (n, real, all_of["doubtful"]))


def recovered(folder, level):
    """What follows each jump is known, and what was before."""
    name = f"crashes {level} recover"
    out, file = recorded.record(folder, os.path.join(folder, "crashes"),
                                "recover")
    check(f"{name}: status", out.returncode and out)
    all_of = answer(folder, "--var", "written", file)
    mine = [int(w["new"]) for w in all_of["writes"] if int(w["new"]) >= 100]
    check(f"{name}: writes", mine != [to + i for i in range(6)
                                      for to in (100, 201)] and mine)
    check(f"{name}: doubtful", all_of["doubtful"] and all_of)
    out = cairn(folder, "check", file)
    check(f"{name}: check", out.returncode and out)


def crashes(folder):
    """What was written just before the end."""
    for level in ("-O0", "-O2"):
        build(folder, "crashes", "crashes.c", "-g", level)
        for how, last in CRASHES:
            # at -O2 clang knows that a quotient by zero need not be computed
            if (level, how) != ("-O2", "division"):
                crashed(folder, level, how, last)
        for how in ("jumps", "cancel"):
            doubtful(folder, level, how, "counter")
        doubtful(folder, level, "assembly", "written")
        recovered(folder, level)


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
            ("ns::hidden", "6"), ("Box< int,2 >::last", "8"), ("wide", str(-(4 << 100))),
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


def same_function(folder, file):
    """Static variables of one name in blocks of one function."""
    for name, words in (("third::turns", "third::turns@38, "),
                        ("turns", "third::turns@43,"),
                        ("turns@1", "third::turns@43,")):
        out = writes(folder, "--var", name, file)
        check(f"--var {name}", not is_refused(out, words) and out)
    for name, new in (("turns@38", "22"), ("main.c:third::turns@43", "31")):
        (one,) = answer(folder, "--var", name, file)["writes"]
        check(name, one["new"] != new and one)
    out = writes(folder, "--var", "here", file)
    found = re.findall("third::here at (0x[0-9a-f]+)", out.stderr)
    check("two of a line", len(found) != 2 and out)
    new = [answer(folder, "--addr", at + ":4", file)["writes"][-1]["new"]
           for at in found]
    check("their addresses", sorted(new) != ["02 00 00 00", "03 00 00 00"] and str(new))


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
    out = writes(folder, "--var", "count", file)
    check("two of a file", not is_refused(out, "main.c:first::count") and out)
    for name, new in (("first::count", "1"), ("main.c:second::count", "12")):
        (one,) = answer(folder, "--var", name, file)["writes"]
        check(name, one["new"] != new and one)
    same_function(folder, file)
    for name, words in (("nobody", "no global"), ("twice[0]", "no part"),
                        ("main.c:twice.x", "no part"),
                        ("main.c:twice@2", "loaded only once"),
                        ("", "no name"), ("main.c:", "no name")):
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


def parts(folder):
    """Bit-fields, members of bases, one variable in every thread."""
    for level in ("-O0", "-O2"):
        build(folder, "parts", "parts.cpp", "-g", level)
        _, file = record(folder, "parts")

        def found(name, *keys):
            return [[w[key] for key in keys]
                    for w in answer(folder, "--var", name, file)["writes"]]

        for name, expected in (
                ("fields.a", [["0", "5"]]),
                ("fields.b", [["0", "-5"], ["-5", "105"]]),
                ("fields.c", [["false", "true"]]),
                ("fields.d", [["0", str(1 << 39)]]),
                ("derived.same", [["3", "38"]]), ("own.n", [])):
            mine = found(name, "old", "new")
            if level != "-O0" and len(expected) > 1:  # one store is enough
                expected = [[expected[0][0], expected[-1][1]]]
            check(f"{level} {name}", mine != expected and mine)
        mine = found("own", "thread", "part", "old", "new")
        check(f"{level} own", mine != (
            [[2, ".list[1]", "2", "3"], [3, ".list[1]", "2", "4"],
             [3, ".list[1]", "4", "6"]] if level == "-O0" else
            [[2, ".list[1]", "2", "3"], [3, ".list[1]", "2", "6"]]) and mine)
        mine = found("hits", "thread", "new")
        check(f"{level} hits", ([n for t, n in mine if t == 1] != ["100"] or
                                [t for t, _ in mine if t > 1] not in
                                ([2, 3, 3], [2, 3])) and mine)
        mine = [part for (part,) in found("derived", "part") if "same" in part]
        check(f"{level} hidden", ".same" not in mine and mine)
        check(f"{level} hidden one", ".Base::same" not in mine and mine)
        out = writes(folder, "--var", "object.x", file)
        check(f"{level} virtual base", not is_refused(out, "virtual base") and
              out)
        out = writes(folder, "--var", "unused", file)
        check(f"{level} unused", out.returncode and out)
    out = writes(folder, "--var", "own.list[1]", file)
    check("threads by name", "own.list[1] of thread 3: " not in out.stdout and
          out)


def loads(folder):
    """A library that was loaded twice."""
    library = os.path.join(folder, "loaded.so")
    build(folder, "loaded.so", "loaded.c", "-g", "-O0", "-shared", "-fPIC")
    build(folder, "loads", "loads.c", "-g", "-O0")
    out, file = recorded.record(folder, os.path.join(folder, "loads"), library)
    check("loads", out.returncode and out)
    out = writes(folder, "--var", "counted", file)
    check("loads refused", not is_refused(out, "counted@2") and out)
    for load, new in ((1, ["13", "24"]), (2, ["23", "44"])):
        mine = [w["new"] for w in answer(folder, "--var", f"counted@{load}",
                                         file)["writes"]]
        check(f"counted@{load}", mine != new and mine)
    out = cairn(folder, "print", "counted, each", file, "--at", "loaded.c:10")
    mine = re.findall(r"counted = (\d+), each = (\d+)", out.stdout)
    check("print in both loads", mine != [
        ("13", "15"), ("24", "26"), ("23", "25"), ("44", "46")] and out)
    out = cairn(folder, "print", "counted", file, "--at", "loads.c:16")
    check("print elsewhere", not is_refused(out, "more than once") and out)


def ended(folder):
    """By exec, after handlers have run: theirs are their own."""
    build(folder, "ends", "../ended/ends.c", "-g", "-O1")
    _, file = recorded.record(folder, os.path.join(folder, "ends"), "exec",
                              "handler")
    mine = [[w["context"], w["new"], w["how"]]
            for w in answer(folder, "--var", "n", file)["writes"]]
    check("ended by exec", mine != [
        [2, "10", "store"], [2, "20", "store"], [2, "30", "store"],
        [1, "36", "store"]] and mine)


def main():
    folder = tempfile.mkdtemp()
    try:
        books_of(folder)
        limits(folder, recordings(folder)[0])
        names(folder)
        kinds(folder)
        parts(folder)
        loads(folder)
        turns(folder)
        handlers(folder)
        found(folder)
        cancelled(folder)
        crashes(folder)
        ended(folder)
    finally:
        shutil.rmtree(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
