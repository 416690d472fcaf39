#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks, read by speedscope itself.

    speedscope.py             all of it
    speedscope.py --keep DIR  leave files in DIR
    CAIRN_BIN                 directory of cairn and cairn-cc
    SPEEDSCOPE                where its package is unpacked; else npm brings it

What its table of functions says must be what the file says: of the formats
speedscope and folded, of cairn report and of cairn trace.  Part of make proof,
since it needs npm and its registry.
"""
import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import run as t  # noqa: E402
from checks import suite  # noqa: E402
from profiles import CAIRN, call  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM", shutil.which("chromium"))
TRIES = 10      # its table is empty until the page has been laid out
ROW = re.compile(r'<td class="[^"]*">([\d,]+) \([^)]*\).*?</td>'
                 r'<td class="[^"]*">([\d,]+) \([^)]*\).*?</td>'
                 r'<td[^>]*>(?:<span[^>]*></span>)?([^<]*)</td>')


def package(work):
    """Where its page is."""
    given = os.environ.get("SPEEDSCOPE")
    if not given:
        call(["npm", "install", "--no-audit", "--no-fund", "--prefix", work,
              "speedscope"])
        given = os.path.join(work, "node_modules", "speedscope")
    return os.path.join(given, "dist", "release", "index.html")


def show(url):
    return subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--use-angle=swiftshader",
         "--enable-unsafe-swiftshader", "--allow-file-access-from-files",
         "--virtual-time-budget=8000", "--dump-dom", url],
        capture_output=True, text=True, check=False, timeout=600).stdout


def ask(page, path):
    """{function: [total, self]} of its table.

    Two functions of one name have two rows where the format has files.
    """
    script = path + ".js"
    with open(path, "rb") as file:
        text = base64.b64encode(file.read()).decode()
    name = json.dumps(os.path.basename(path))
    t.write(script, f'speedscope.loadFileFromBase64({name}, "{text}")')
    url = f"file://{page}#view=sandwich&localProfilePath={script}"
    for _ in range(TRIES):
        shown = show(url)
        rows = ROW.findall(shown)
        if rows:
            break
    t.test(f"{os.path.basename(path)}: read", rows, shown[-400:])
    seen = {}
    for *numbers, name in rows:
        of = seen.setdefault(html.unescape(name), [0, 0])
        for i, number in enumerate(numbers):
            of[i] += int(number.replace(",", ""))
    return seen


def of_folded(path):
    """The same from folded stacks."""
    seen = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            names = stack.split(";")
            for name in set(names):
                seen.setdefault(name, [0, 0])[0] += int(weight)
            seen[names[-1]][1] += int(weight)
    return seen


def run(work):
    t.write(os.path.join(work, "inc", "shared.h"), t.SHARED)
    t.write(os.path.join(work, "src", "main.c"), t.MAIN)
    t.write(os.path.join(work, "src", "deep", "work.c"), t.WORK)
    page = package(work)
    profile, trace = t.build(work, "edges"), t.build(work, "trace")
    for name, command in (
            ("report", ["report", "--format", "%s", profile]),
            ("trace", ["trace", "--clock", "blocks", "--export", "%s", trace])):
        paths = {}
        for form in ("folded", "speedscope"):
            paths[form] = os.path.join(work, f"{name}.{form}")
            call([CAIRN, *[word.replace("%s", form) for word in command],
                  "-o", paths[form]])
        want = of_folded(paths["folded"])
        for form, path in paths.items():
            t.equal(f"{name}, {form}: what speedscope shows",
                    ask(page, path), want)


if __name__ == "__main__":
    sys.exit(suite(run))
