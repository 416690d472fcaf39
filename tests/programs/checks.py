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
import tempfile
import threading

from profiles import Broken

LIMIT = 300                  # characters of a value that is printed
passed = failed = 0
LOCK = threading.Lock()      # of these


def test(name, fine, what=""):
    global passed, failed
    with LOCK:
        if fine:
            passed += 1
        else:
            failed += 1
            print(f"FAIL {name}{': ' if what else ''}{what}")


def equal(name, got, want):
    test(name, got == want,
         f"got {str(got)[:LIMIT]}, want {str(want)[:LIMIT]}")


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
