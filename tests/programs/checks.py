# SPDX-License-Identifier: Apache-2.0
"""Checks of a suite: each is counted, those that fail are printed.

    from checks import equal, suite, test
    ...
    if __name__ == "__main__":
        sys.exit(suite(run))

suite() calls run(folder) with a scratch folder, or that of --keep DIR, which
stays.
"""
import argparse
import os
import pty
import subprocess
import tempfile
import threading

from profiles import Broken

LIMIT = 300                  # characters of a value that is printed
LONG_LIMIT = 600             # and of a problem
passed = failed = 0
LOCK = threading.Lock()      # of these


def test(name, fine, what=""):
    global passed, failed
    with LOCK:
        if fine:
            passed += 1
        else:
            failed += 1
            print(f"FAIL {name}{': ' if what else ''}{what}", flush=True)


def equal(name, got, want):
    test(name, got == want,
         f"got {str(got)[:LIMIT]}, want {str(want)[:LIMIT]}")


def check(name, problem):
    """Fails if there is a problem: whatever tells most about it."""
    test(name, not problem, str(problem)[:LONG_LIMIT])


def run(*command, **options):
    """What a command did, whatever that is; with text=False in bytes."""
    if options.setdefault("text", True):
        options.setdefault("errors", "replace")
    options.setdefault("timeout", 300)
    return subprocess.run(command, capture_output=True, check=False,
                          **options)


def on_terminal(argv, cwd=None, stdout=None, **environment):
    """What a program writes to a terminal; its stdout may be a file."""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(environment)
        if cwd:
            os.chdir(cwd)
        if stdout:
            os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.execv(argv[0], argv)
    text = b""
    try:
        while chunk := os.read(fd, 65536):
            text += chunk
    except OSError:
        pass                     # the other side is closed
    os.waitpid(pid, 0)
    return text


def finish():
    """The last line of a suite, and its exit status."""
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def suite(run):
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as work:
        if keep:
            os.makedirs(keep, exist_ok=True)
            work = os.path.abspath(keep)
        try:
            run(work)
        except Broken as error:
            test("cannot go on", False, str(error))
    return finish()
