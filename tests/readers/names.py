#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, paths and source text that terminals and line formats would obey.

    names.py [--keep DIR]
    CAIRN_BIN          directory of cairn and cairn-cc

The names of a program's functions and files hold escape sequences, newlines,
bells, bytes that are not UTF-8, characters that change the direction of text,
and markup.  Whatever cairn writes about it has none of these as they are: a
terminal shows each, and each record of a line format is one line.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../programs")]
from checks import on_terminal, run, suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC  # noqa: E402

# Each: how C says it, what a terminal is shown, and what it is.
EVIL = [
    (r"title\033]0;taken\007", r"title\x1b]0;taken\x07"),
    (r"forged\nSF:/etc/passwd", r"forged\nSF:/etc/passwd"),
    (r"back\r\bspace", r"back\r\x08space"),
    (r"c1\302\2332J", r"c1\u009b2J"),
    (r"raw\2332J", r"raw\x9b2J"),
    (r"bidi\342\200\256gpj.c", r"bidi\u202egpj.c"),
    (r"line\342\200\250end", r"line\u2028end"),
    (r"tab\tdel\177", r"tab\tdel\x7f"),
    (r"</script><b>", r"</script><b>"),
    (r"q\\\";", r"q\";"),
]
# What must not come out: control characters but newline, C1, separators and
# marks of direction.  TAB is for source lines.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f"
                    "\u2028-\u202e\u2066-\u2069]")
FILES = [r"f\033[31m.c", r"new\nline.c", r"b\342\200\256.c", r"x\2332.c"]

LINES = {
    "lcov": r"(TN:|SF:|FN:|FNDA:|FNF:|FNH:|BRDA:|BRF:|BRH:|DA:|LF:|LH:|"
            r"end_of_record$)",
    "callgrind": r"($|#|[a-z]+=|[a-z]+: |\d+ \d+$|\d+$)",
    "folded": r".* \d+$",
    "llvm-sample": r"( *\d+: .+|.+:\d+:\d+)$",
}


def source():
    """Functions of evil names, in files of evil names."""
    parts = []
    for i, (name, _) in enumerate(EVIL):
        parts.append('#line %d "%s"' % (10 + i, FILES[i % len(FILES)]))
        parts.append('__attribute__((noinline)) int f%d(int) '
                     '__asm__("%s"); int f%d(int n) { volatile int m = n; '
                     'return m > 2 ? m * 3 : m; }' % (i, name, i))
    calls = " + ".join("f%d(i)" % i for i in range(len(EVIL)))
    parts.append("int puts(const char *);")
    parts.append('#line 1 "main\\033[5m.c"')
    parts.append("int main(void) { int s = 0; for (int i = 0; i < 9; i++) "
                 "s += %s; puts(\"\\033[2J\\302\\2332J\"); "
                 "return s == 1; }" % calls)
    return "\n".join(parts) + "\n"


def is_harmless(data, tabs=False):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return not OBEYED.search(text if tabs else text.replace("\t", "\x1b"))


def cairn(*words, status=0):
    r = subprocess.run([CAIRN, *words], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if r.returncode != status and status is not None:
        raise RuntimeError("%s: %s" % (" ".join(words), r.stderr))
    return r


def harmless(what, *words, status=0, tabs=False):
    r = cairn(*words, status=status)
    test(what + " is harmless", is_harmless(r.stdout, tabs) and
         is_harmless(r.stderr), repr(r.stdout[:800] + r.stderr[:400]))
    return r.stdout.decode(errors="replace")


def build(mode, name, *flags):
    r = run(CAIRN_CC, "--cairn=" + mode, "-g", "-O1", "evil.c", "-o", name,
            *flags)
    if r.returncode:
        raise RuntimeError(r.stderr)
    env = dict(os.environ, CAIRN_OUT=name + ".cairn")
    subprocess.run(["./" + name], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    return name + ".cairn"


def all_names(text):
    """All evil names, shown."""
    return all(shown in text for _, shown in EVIL)


def formats(profile):
    for name, line in LINES.items():
        text = harmless(name, "report", "--all-files", "--format", name,
                        profile)
        bad = [x for x in text.splitlines() if not re.match(line, x)]
        test(name + ": every line is a record", not bad, bad[:5])
    text = harmless("dot", "report", "--format", "dot", profile)
    if shutil.which("dot"):
        r = subprocess.run(["dot", "-Tcanon"], input=text.encode(),
                           stdout=subprocess.DEVNULL)
        test("dot reads it", r.returncode == 0)
    text = harmless("cobertura", "report", "--format", "cobertura",
                    "--all-files", profile)
    xml.dom.minidom.parseString(text)
    for name in ["gcovr", "speedscope"]:
        json.loads(harmless(name, "report", "--format", name, profile))
    r = cairn("report", "--format", "pprof", "-o", "x.pb", profile)
    data = open("x.pb", "rb").read()
    test("pprof has harmless strings", b"\x1b]0" not in data and
         b"title\\x1b]0" in data and b"\x9b2J" not in data)


def texts(profile):
    text = harmless("report", "report", "--top", "0", "--lines",
                    "--all-files", profile)
    test("report shows all names", all_names(text), text)
    text = harmless("report of lines", "report", "--copies", "--files",
                    "--lines", profile, tabs=True)
    r = json.loads(harmless("JSON", "report", "--json", profile))
    names = {f["name"] for f in r["functions"]}
    test("JSON has the names as they are", "title\x1b]0;taken\x07" in names
         and "forged\nSF:/etc/passwd" in names, names)
    harmless("check", "check", profile)
    harmless("diff", "diff", profile, profile)
    harmless("diff as JSON", "diff", "--json", profile, profile)
    page = harmless("page", "report", "--html", "-", profile, tabs=True)
    test("page ends no script of its own", "</script><b>" not in page)


def source_text():
    """The text of a source file, and of one with CR LF."""
    with open("main.c", "wb") as f:
        f.write(b"int main(void)\r\n{\r\n\t/* \x1b[2J \xff \xe2\x80\xae */ "
                b"return 0;\r\n}\r\n")
    run(CAIRN_CC, "-g", "-O0", "main.c", "-o", "main")
    env = dict(os.environ, CAIRN_OUT="main.cairn")
    subprocess.run(["./main"], env=env, check=True)
    text = harmless("source", "report", "main.cairn", tabs=True)
    test("source is shown",
         "\t/* \\x1b[2J \\xff \\u202e */ return 0;\n" in text, text)
    text = harmless("source of both sides", "diff", "--changed", "main.cairn",
                    "main.cairn", tabs=True)
    shown = on_terminal([CAIRN, "report", "--color", "always", "main.cairn"])
    test("colours stay", b"\x1b[" in shown and b"\x1b[2J" not in shown, shown)


def paths(profile):
    harmless("paths", "paths", profile)
    harmless("paths, all of them", "paths", "--blocks", "--top", "0", profile,
             status=None)
    harmless("overlap", "overlap", profile, status=None)
    harmless("residual", "residual", "--tested", profile, profile, status=None)
    harmless("tests", "tests", profile, status=None)
    harmless("drift", "drift", profile, profile, status=None)


def traces(profile):
    harmless("trace", "trace", profile)
    harmless("trace, open", "trace", "--open", profile)
    harmless("segments", "segments", profile, status=None)
    harmless("wpp", "wpp", profile)
    harmless("twpp", "twpp", profile)
    harmless("match-path", "match-path", profile, "\"f*\" main", status=None)
    for name in ["folded", "chrome", "speedscope"]:
        harmless(name, "trace", "--export", name, "-o", "-", profile)


def recordings(profile):
    harmless("values", "values", profile, "--at", "main\x1b[5m.c:1")
    harmless("values nowhere", "values", profile, "--at", "main\x1b[6m.c:1",
             status=2)
    text = harmless("output", "output", profile)
    test("output is quoted", r'"\033[2J\302\2332J\n"' in text, text)
    test("raw output is as it was", cairn("output", "--raw", profile).stdout ==
         b"\x1b[2J\xc2\x9b2J\n")


def errors():
    """What is wrong is said of files with names as bad."""
    evil = "no\x1b]0;x\x07\nsuch.cairn"
    harmless("no file", "report", evil, status=2)
    harmless("unknown option", "report", "--\x1b[31m", status=2)
    with open(evil, "wb") as f:
        f.write(b"nonsense")
    harmless("not a profile", "report", evil, status=2)
    harmless("not a profile, checked", "check", evil, status=None)
    harmless("not a recording", "replay", evil, status=2)
    with open("list", "wb") as f:
        f.write(b"\x1b[31m evil \x9b2J\n")
    for flag in ["--cairn=paths,prefer=list", "--cairn=paths,prefer=" + evil,
                 "--cairn-use=" + evil, "--cairn-feedback=" + evil]:
        r = run(CAIRN_CC, flag, "main.c", "-o", "x", text=False)
        test("cairn-cc is harmless: " + repr(flag), r.returncode != 0 and
             is_harmless(r.stderr), r.stderr)


def check_all(work):
    os.chdir(work)
    with open("evil.c", "w", encoding="utf-8") as f:
        f.write(source())
    profile = build("edges", "evil\x1b[1m")
    formats(profile)
    texts(profile)
    paths(build("paths,overlap", "paths"))
    traces(build("trace", "trace"))
    recordings(build("record", "record"))
    source_text()
    errors()


if __name__ == "__main__":
    sys.exit(suite(check_all))
