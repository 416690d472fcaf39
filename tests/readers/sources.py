#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stands at the paths that a profile names: which text is shown.

    sources.py [--keep DIR]
    CAIRN_BIN          directory of cairn and cairn-cc

A FIFO, a device, a file without end, a link to a secret at the path of a
source: no command waits, none takes memory without bound, none shows the
secret.  The text that was compiled is shown whatever leads to it, and one that
has changed is shown with a note.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../programs"),
                os.path.join(HERE, "../../tools")]
import decode  # noqa: E402
from checks import suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC  # noqa: E402

LIMIT = 10       # seconds
MEMORY = 1 << 20  # KiB of address space
TEXT = "int main(void)\n{\n\t/* MARK */\n\treturn 0;\n}\n"
SECRET = "root:$6$TOPSECRET:19000:0:99999:7:::\n"


def limited(*words, **more):
    """Status, stdout and stderr; None if it does not end."""
    command = ["sh", "-c", 'ulimit -v %d; exec "$@"' % MEMORY, "sh", *words]
    try:
        r = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=LIMIT,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           **more)
    except subprocess.TimeoutExpired:
        return None, "", "does not end"
    return (r.returncode, r.stdout.decode(errors="replace"),
            r.stderr.decode(errors="replace"))


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def build(name, source="main.c", flags=("-g",)):
    """Compiles and runs it; the profile."""
    for words in ([CAIRN_CC, *flags, source, "-o", name], ["./" + name]):
        subprocess.run(words, check=True,
                       env=dict(os.environ, CAIRN_OUT=name + ".cairn"))
    return name + ".cairn"


def shown(profile):
    """Where the text of a source can come out: {command: (status, text)}."""
    results = {}
    for name, words in {
            "report": ["report"], "lines": ["report", "--lines"],
            "page": ["report", "--html", "-"],
            "pack": ["pack", "--sources", "-o", "packed.cairn"]}.items():
        results[name] = limited(CAIRN, *words, profile)
    results["diff"] = limited(CAIRN, "diff", "--changed", profile, profile)
    if results["pack"][0] == 0:
        status, out, err = limited(CAIRN, "report", "--lines", "packed.cairn")
        results["packed"] = status, out, results["pack"][2] + err
    return results


def hidden(what, profile, secret, why):
    """The text is not shown, commands end, and the report says why."""
    for name, (status, out, err) in shown(profile).items():
        test("%s: %s ends" % (what, name), status == 0, err)
        test("%s: %s does not show it" % (what, name), secret not in out)
    status, out, err = limited(CAIRN, "report", profile)
    test("%s: report says why" % what, why in out, out[-600:])


def fresh(name):
    os.makedirs(name)
    os.chdir(name)


def special_files():
    fresh("special")
    write("main.c", TEXT)
    profile = build("main")
    os.remove("main.c")
    os.mkfifo("main.c")
    hidden("FIFO", profile, "MARK", "is not a regular file")
    os.remove("main.c")
    os.symlink("/dev/zero", "main.c")
    hidden("device", profile, "MARK", "is not a regular file")
    os.remove("main.c")
    with open("main.c", "w") as f:
        f.truncate(3 << 30)
    hidden("huge file", profile, "MARK", "more than 64 MiB")
    os.remove("main.c")
    os.mkdir("main.c")
    hidden("directory", profile, "MARK", "is not a regular file")
    os.chdir("..")


def links():
    fresh("links")
    write("main.c", TEXT)
    profile = build("main")
    write("secret", SECRET)
    write("secret.c", SECRET)
    for name in ["secret", "secret.c"]:
        os.remove("main.c")
        os.symlink(name, "main.c")
        hidden("link to " + name, profile, "TOPSECRET", "symbolic link")
    os.remove("main.c")
    write("elsewhere", TEXT)
    os.symlink("elsewhere", "main.c")
    for name, (status, out, err) in shown(profile).items():
        test("link to what was compiled: " + name, status == 0 and
             (name in ("pack", "diff") or "MARK" in out), out + err)
    os.chdir("..")


def named():
    """Paths that #line names: no checksum is known."""
    fresh("named")
    write("secret", SECRET)
    write("text.c", TEXT)
    os.symlink("secret", "link.c")
    for path, why in [("secret", "no name of a source"),
                      ("link.c", "no name of a source"),
                      ("/proc/self/environ", "no name of a source"),
                      ("/etc/shadow", "")]:
        write("main.c", '#line 1 "%s"\n%s' % (path, TEXT))
        hidden("#line " + path, build("main"), "TOPSECRET", why)
        os.remove("main.cairn")
    write("main.c", '#line 1 "text.c"\n' + TEXT)
    status, out, err = limited(CAIRN, "report", build("main"))
    test("#line of a source is shown", "MARK" in out, out + err)
    os.chdir("..")


def changed():
    fresh("changed")
    write("main.c", TEXT)
    profile = build("main")
    later = os.stat("main").st_mtime + 100
    os.utime("main.c", (later, later))
    text = limited(CAIRN, "report", profile)[1]
    test("touched, not changed", "MARK" in text and "moved" not in text, text)
    write("main.c", "\n" + TEXT)
    os.utime("main.c", (0, 0))
    text = limited(CAIRN, "report", profile)[1]
    test("changed, and old: shown with a note", "MARK" in text and
         "main.c is not the text that was compiled: lines may have moved"
         in text, text)
    page = limited(CAIRN, "report", "--html", "-", profile)[1]
    test("changed: note on the page", "not the text that was compiled" in page)
    limited(CAIRN, "pack", "--sources", "-o", "packed.cairn", profile)
    text = limited(CAIRN, "report", "packed.cairn")[1]
    test("changed: packed with a note", "MARK" in text and
         "lines may have moved" in text, text)
    with open("main.c", "ab") as f:
        f.write(b"\0")
    hidden("changed, with a NUL", profile, "MARK", "is not text")
    write("main.c", TEXT)
    profile = build("old", flags=("-gdwarf-4",))
    later = os.stat("old").st_mtime + 100
    os.utime("main.c", (later, later))
    text = limited(CAIRN, "report", profile)[1]
    test("no checksum: by time", "MARK" in text and
         "main.c is newer than the program" in text, text)
    os.chdir("..")


def trees():
    """Build trees of links, and headers."""
    fresh("trees")
    os.makedirs("src/inc")
    write("src/inc/half.h", "static inline int half(int n)\n{\n"
          "\treturn n / 2; /* HALF */\n}\n")
    write("src/main.c", '#include "inc/half.h"\nint main(int n, char **v)\n'
          "{\n\treturn half(n) + !v; /* MARK */\n}\n")
    os.makedirs("out")
    os.symlink("../src", "out/src")
    os.symlink("../src/main.c", "out/alone.c")
    profile = build("in-tree", "out/src/main.c", ("-g", "-O1"))
    text = limited(CAIRN, "report", "--lines", profile)[1]
    test("directory that is a link", "MARK" in text and "HALF" in text, text)
    profile = build("alone", "out/alone.c", ("-g", "-O0", "-Isrc"))
    text = limited(CAIRN, "report", "--lines", profile)[1]
    test("file that is a link", "MARK" in text, text)
    os.chdir("..")


def sources_of(program):
    with open(program, "rb") as f:
        data = f.read()
    map_, = [body for name, _, body in decode.elf_sections(data)
             if name == ".cairn.map"]
    return decode.read_map(map_).sources


def checksums():
    """The map has them, each once, and the second decoder reads them."""
    fresh("checksums")
    write("main.c", TEXT)
    build("main")
    sources = sources_of("main")
    md5 = subprocess.run(["md5sum", "main.c"], stdout=subprocess.PIPE,
                         check=True).stdout.split()[0].decode()
    test("MD5 of the source", sources == {os.path.realpath("main.c"): {md5}},
         sources)
    build("none", flags=())
    test("none without -g", not sources_of("none"))
    write("a.h", "static inline int a(void) { return 1; }\n")
    write("one.c", '#include "a.h"\nint main(void) { return a() - 1; }\n')
    write("two.c", '#include "a.h"\nint two(void) { return a(); }\n')
    for flags in (["-flto"], ["-ffunction-sections", "-Wl,--gc-sections"]):
        subprocess.run([CAIRN_CC, "-g", "-O0", *flags, "one.c", "two.c", "-o",
                        "both"], check=True)
        names = {os.path.basename(p) for p in sources_of("both")}
        test("sources of several files " + flags[0], "a.h" in names and
             "one.c" in names, names)
    os.chdir("..")


def damaged():
    """A record of checksums that is not whole."""
    fresh("damaged")
    write("main.c", TEXT)
    profile = build("main")
    with open("main", "rb") as f:
        data = bytearray(f.read())
    at = data.rindex(b"CSR1")
    data[at + 20] ^= 1
    with open("main", "wb") as f:
        f.write(data)
    status, out, err = limited(CAIRN, "report", profile)
    test("damaged checksums", status == 2 and "sources" in err and
         "build the program again" in err, err)
    os.chdir("..")


def inputs():
    """Everything else that is opened: profiles, programs, lists, patches."""
    fresh("inputs")
    write("main.c", TEXT)
    profile = build("main", flags=("-g", "--cairn=paths"))
    os.makedirs("d")
    shutil.copy(profile, "d/good.cairn")
    os.mkfifo("d/fifo.cairn")
    os.mkfifo("fifo")
    write("list", profile + "\nd/fifo.cairn\n")
    fifo = "d/fifo.cairn"
    for words in (["report", fifo], ["check", fifo], ["paths", fifo],
                  ["merge", "-o", "x.cairn", "d"],
                  ["merge", "-o", "x.cairn", "@list"],
                  ["diff", profile, fifo], ["diff", fifo, profile],
                  ["overlap", fifo], ["segments", fifo], ["trace", fifo],
                  ["wpp", fifo], ["twpp", fifo], ["match-path", fifo, "main"],
                  ["residual", "--tested", fifo, profile],
                  ["drift", fifo, profile], ["tests", fifo, profile],
                  ["pack", "-o", "x.cairn", fifo], ["replay", fifo],
                  ["values", fifo, "--at", "main.c:4"],
                  ["report", "--exe", "fifo", profile],
                  ["residual", "--tested", "/dev/zero", profile],
                  ["report", "/dev/zero"],
                  ["merge", "-o", "x.cairn", "@/dev/zero"],
                  ["diff", "--patch", "/dev/zero", profile, profile],
                  ["tests", "--diff", "/dev/zero", profile, profile]):
        status, out, err = limited(CAIRN, *words)
        name = " ".join(words)
        if "--exe" in words:  # it looks elsewhere then
            test(name + " ends", status == 0, err)
            continue
        test(name + " ends", status is not None and status <= 2, err)
        # of a directory or list, the sentence names the file
        test(name + " is refused", (status == 2 or words[0] == "check" and
             status in (1, 2)) and "cairn: " in err, (status, err))
    for mode in ["paths,prefer=fifo", "residual,tested=fifo"]:
        status, out, err = limited(CAIRN_CC, "--cairn=" + mode, "main.c", "-o",
                                   "x")
        test(mode + " is refused", status not in (None, 0), err)
    status, out, err = limited(
        "sh", "-c", 'echo %s | %s merge -o y.cairn @-' % (profile, CAIRN))
    test("a list from a pipe", status == 0, err)
    os.remove("main")
    os.mkfifo("main")
    status, out, err = limited(CAIRN, "report", profile)
    test("program that is a FIFO", status == 2 and "--exe" in err, err)
    os.chdir("..")


def check_all(work):
    os.chdir(work)
    special_files()
    links()
    named()
    changed()
    trees()
    checksums()
    damaged()
    inputs()


if __name__ == "__main__":
    sys.exit(suite(check_all))
