#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replay code that means harm changes nothing outside, whatever it does.

A replay runs what LLVM makes of a program that somebody sent, and a recording
decides what that does.  Here replay code is replaced as a whole: the objects in
the cache become ones that try to open, remove and rename files, to execute a
program, to signal others and to reach them over sockets, by system calls of
their own.  They say what the kernel answered.  Also: folders beside a recording
that lead elsewhere, and caches that others may write.  Ends with "N passed, M
failed".
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from recorded import CAIRN, HERE, cairn, compile_program, record
from checks import check, finish, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)),
                                "tools"))
from decode import crc32c  # noqa: E402

HARM = r"""
static long call(long n, long a, long b, long c)
{ long r; register long d __asm__("r10") = 0;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(d)
                   : "rcx", "r11", "memory"); return r; }
static void tell(const char *what, long r)
{ char text[64]; int n = 0;
  while (*what) text[n++] = *what++;
  text[n++] = r < 0 ? '-' : '+'; text[n++] = '\n';
  call(1, 1, (long)text, n); }
static void harm(void)
{
  static const char *const argv[] = {"/bin/touch", FOLDER "/executed", 0};
  tell("write", call(2, (long)(FOLDER "/canary"), 1, 0));
  tell("create", call(257, -100, (long)(FOLDER "/created"), 0101));
  tell("read", call(2, (long)(FOLDER "/canary"), 0, 0));
  tell("unlink", call(87, (long)(FOLDER "/canary"), 0, 0));
  tell("rename", call(82, (long)(FOLDER "/canary"), (long)(FOLDER "/x"), 0));
  tell("socket", call(41, 2, 1, 0));
  tell("kill", call(62, call(110, 0, 0, 0), 9, 0));
  tell("execve", call(59, (long)argv[0], (long)argv, 0));
  call(231, 0, 0, 0);
}
"""
TRIED = ("write", "create", "read", "unlink", "rename", "socket", "kill",
         "execve")
TEXT = "as it was\n"


def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def harmful_object(folder, name):
    """As the cached one, with each function replaced."""
    with open(name, "rb") as file:
        head, code = file.read(16), file.read()
    plain = os.path.join(folder, "plain.o")
    write(plain, code, "wb")
    symbols = [line.split()[2] for line in run("nm", plain).stdout.splitlines()
               if line.split()[-2] == "T"]
    source = f'#define FOLDER "{folder}"\n' + HARM
    for i, symbol in enumerate(symbols):
        source += f'void f{i}(void) __asm__("{symbol}");\n' \
                  f"void f{i}(void) {{ harm(); }}\n"
    write(plain + ".c", source)
    out = run("clang-19", "-O2", "-fno-pic", "-mcmodel=small",
              "-fno-asynchronous-unwind-tables", "-c", plain + ".c", "-o",
              plain)
    check("harm is built", out.returncode and out)
    with open(plain, "rb") as file:
        code = file.read()
    write(name, head[:4] + crc32c(code).to_bytes(4, "little")
          + len(code).to_bytes(8, "little") + code, "wb")
    return bool(symbols)


def harmful_code(folder, file):
    """Of all objects that any question leaves in the cache."""
    for words in (["replay"], ["output"], ["report"]):
        cairn(folder, *words, file)
    objects = glob.glob(os.path.join(folder, "cairn", "*"))
    check("objects", not objects)
    for name in objects:
        check("functions in an object", not harmful_object(folder, name))
    for words in (["replay"], ["output"], ["report"]):
        shutil.rmtree(file + ".checkpoints", ignore_errors=True)
        out = cairn(folder, *words, file)
        said = (out.stdout + out.stderr).split()
        check(f"{words[0]}: harm is done by nobody",
              [f for f in ("created", "executed", "x")
               if os.path.exists(os.path.join(folder, f))])
        check(f"{words[0]}: the canary", read(
            os.path.join(folder, "canary")) != TEXT)
        if words[0] != "report": # whose output is no text of ours
            check(f"{words[0]}: all was refused",
                  [w for w in TRIED if w + "-" not in said] and out)
    out = cairn(folder, "replay", "--no-cache", file)
    check("without the cache", "identical" not in out.stdout and out)


def state_of(folder):
    return sorted((path, os.lstat(path).st_size)
                  for path in glob.glob(os.path.join(folder, "**"),
                                        recursive=True))


def folders(folder, file):
    """Beside the recording, and the cache."""
    elsewhere = os.path.join(folder, "elsewhere")
    os.mkdir(elsewhere)
    write(os.path.join(elsewhere, "1-whole"), TEXT)
    for name in (file + ".checkpoints", os.path.join(folder, "cairn")):
        shutil.rmtree(name, ignore_errors=True)
        os.symlink(elsewhere, name)
        before = state_of(elsewhere)
        out = cairn(folder, "replay", "--every", "100", file)
        check(f"{name}: a link", state_of(elsewhere) != before or
              "identical" not in out.stdout and out)
        check(f"{name}: is said", "is not used" not in out.stderr and out)
        if name.endswith("cairn"):
            out = cairn(folder, "report", file)
            check("report: is said", "is not used" not in out.stderr and out)
        os.unlink(name)
        os.mkdir(name)
        os.chmod(name, 0o777)
        out = cairn(folder, "replay", "--every", "100", file)
        check(f"{name}: open to all", os.listdir(name) or
              "is not used" not in out.stderr and out)
        os.rmdir(name)


def who_is_left(folder, file):
    """No process of a replay outlives it."""
    cairn(folder, "replay", file)
    for _ in range(600):
        left = run("pgrep", "-f", folder).stdout
        if not left:
            break
        time.sleep(.1)
    check("a process is left", left)


def lost_output(folder, file):
    """What cannot be written is said, by whoever writes it."""
    for command in ("replay", "output", "values"):
        words = [CAIRN, command, file] + (
            ["--at", "calls.c:15"] if command == "values" else [])
        for place in ("/dev/full", None):
            out = subprocess.run(
                words, stdout=open(place, "w") if place else None,
                stderr=subprocess.PIPE, text=True, cwd=folder,
                preexec_fn=None if place else lambda: os.close(1))
            check(f"{command} to {place}", "stdout: cannot write: " not in
                  out.stderr and out)
            check(f"{command} to {place}: status", out.returncode != 2 and out)


def signals(folder, file):
    """Who ignores a signal has a replay that does."""
    for number, ignored in ((signal.SIGHUP, True), (signal.SIGHUP, False)):
        child = subprocess.Popen(
            [CAIRN, "replay", "--no-cache", "--jobs", "1", file], cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, preexec_fn=lambda: signal.signal(
                number, signal.SIG_IGN if ignored else signal.SIG_DFL))
        while child.poll() is None and len(run(
                "pgrep", "-g", str(child.pid)).stdout.split()) < 2:
            time.sleep(.01)
        os.killpg(child.pid, number)
        said = child.communicate()[0]
        # one that is not ignored may come too late
        check(f"signal, ignored {ignored}", child.returncode not in (
            (0,) if ignored else (0, -number)) and (child.returncode, said))


def broken_stderr(folder, file):
    """What stderr takes has no say in how a command ends."""
    words = [CAIRN, "output", file]
    want = subprocess.run(words, cwd=folder, capture_output=True)
    with open("/dev/full", "w") as full:
        got = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE,
                             stderr=full)
    check("stderr is full", (want.returncode, want.stdout) !=
          (got.returncode, got.stdout) and got)
    out = cairn(folder, "output", "--no\033[31m", file)
    check("an option that is none", "\033" in out.stderr and out)


def main():
    folder = tempfile.mkdtemp(prefix="cairn-harm-")
    try:
        program = compile_program(os.path.join(HERE, "calls.c"),
                                  os.path.join(folder, "calls"), "-O1", "-g")
        _, file = record(folder, program)
        write(os.path.join(folder, "canary"), TEXT)
        harmful_code(folder, file)
        folders(folder, file)
        who_is_left(folder, file)
        lost_output(folder, file)
        signals(folder, file)
        broken_stderr(folder, file)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
