#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tutorial and the recipes do what they say?

    run.py [GUIDE...]  docs/tutorial.md and docs/recipes.md, or only these
    UPDATE=1           rewrites what commands print with what came out

A guide is gone through from top to bottom, in one directory.  A block behind
<!-- file: NAME --> is written to that file; a command of a ```console block is
run, and has to print what stands below it.  The scripts of the two CI files of
the tutorial are run as the services run them, in clones of a repository with a
base and two changes: one that breaks the limits, and one that keeps them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "programs")]
from checks import finish, test  # noqa: E402

BIN = os.environ.get("CAIRN_BIN", os.path.join(ROOT, "build", "bin"))
UPDATE = os.environ.get("UPDATE") == "1"
ENVIRONMENT = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], LC_ALL="C",
                   TZ="UTC", GIT_CONFIG_GLOBAL="/dev/null",
                   GIT_CONFIG_SYSTEM="/dev/null", GIT_AUTHOR_NAME="a",
                   GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
                   GIT_COMMITTER_EMAIL="a@b", MAKEFLAGS="")
BLOCK = re.compile(r"(?:^<!-- file: (\S+) -->\n)?^```(\w+)\n(.*?)^```$",
                   re.M | re.S)


def shell(command, work, *more, **variables):
    return subprocess.run(
        ["bash", *more, "-c", command], cwd=work, timeout=600, check=False,
        env=dict(ENVIRONMENT, **variables), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def commands_of(block):
    """The commands of a session; one may go on behind a backslash."""
    return re.findall(r"^\$ ((?:.*\\\n)*.*)", block, re.M)


def run_block(block, work):
    """The session with the output that its commands have today."""
    lines = []
    for command in commands_of(block):
        text = shell(command, work).stdout.replace(work, "/tmp")
        lines += [f"$ {command}"] + text.splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


def check_guide(name, work):
    path = os.path.join(ROOT, "docs", name + ".md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    sessions = 0
    for file, kind, block in BLOCK.findall(text):
        if file:
            write(os.path.join(work, file), block)
        elif kind == "console":
            sessions += 1
            now = run_block(block, work)
            if UPDATE:
                text = text.replace(block, now)
            else:
                test(f"{name}: session {sessions}", now == block,
                     "prints\n" + now + "instead of\n" + block)
    test(f"{name}: has sessions", sessions > 3)
    if UPDATE:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


# --- CI ------------------------------------------------------------------------

def gitlab_script(path):
    """The commands below script:, and the pattern of coverage:."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    script = re.search(r"^  script:\n((?:    - .*\n)+)", text, re.M)[1]
    pattern = re.search(r"^  coverage: '/(.*)/'$", text, re.M)[1]
    return re.findall(r"^    - (.*)", script, re.M), pattern


def github_steps(path):
    """The text of each run:, in order."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [re.sub(r"^ {10}", "", block, flags=re.M) for block in
            re.findall(r"^        run: \|\n((?: {10}.*\n)+)", text, re.M)]


def git(work, command):
    done = shell(command, work)
    if done.returncode:
        test(command, False, done.stdout)
    return done.stdout


def make_repository(work, guide):
    """A base, a change that breaks the limits, and one that keeps them."""
    os.makedirs(work)
    for name in ("words.c", "words.txt"):
        shutil.copy(os.path.join(ROOT, "examples", name), work)
    shutil.copy(os.path.join(guide, "Makefile"), work)
    write(os.path.join(work, "tests", "twice.txt"), "cairn cairn\n")
    shutil.copy(os.path.join(work, "words.txt"),
                os.path.join(work, "tests", "text.txt"))
    git(work, "git init -q -b main . && git add -A && git commit -q -m base")
    git(work, f"git checkout -q -b bad && patch -s -p1 "
              f"<{guide}/change.patch && git rm -q tests/text.txt && "
              "git add -A && git commit -q -m bad")
    git(work, "git checkout -q main && git checkout -q -b good && "
              "sed -i 's/print_top(&table, 5)/print_top(\\&table, 6)/' words.c "
              "&& git add -A && git commit -q -m good")


def check_gitlab(work, guide, branch, status):
    folder = os.path.join(work, "gitlab-" + branch)
    git(work, f"git clone -q -b {branch} project {folder}")
    base = git(folder, "git rev-parse origin/main").strip()
    script, pattern = gitlab_script(os.path.join(guide, ".gitlab-ci.yml"))
    done = shell("\n".join(script), folder, "-e", "-o", "pipefail",
                 CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    test(f"gitlab, {branch}: exit status", done.returncode == status,
         done.stdout[-2000:])
    found = [m[1] for line in done.stdout.splitlines()
             if (m := re.search(pattern, line))]
    lcov = shell("cairn report --lcov head.cairn", folder).stdout
    counts = [int(n) for n in re.findall(r"^DA:\d+,(\d+)", lcov, re.M)]
    want = 100 * sum(n > 0 for n in counts) / max(1, len(counts))
    test(f"gitlab, {branch}: coverage", found and
         abs(float(found[-1]) - want) < 2, f"{found}, lcov has {want:.1f}")
    with open(os.path.join(folder, "cobertura.xml"), encoding="utf-8") as file:
        test(f"gitlab, {branch}: a file below the root",
             'filename="words.c"' in file.read())
    test(f"gitlab, {branch}: page", os.path.exists(
        os.path.join(folder, "diff.html")))


def check_github(work, guide, branch, status):
    folder = os.path.join(work, "github-" + branch)
    git(work, f"git clone -q -b {branch} project {folder}")
    summary = os.path.join(folder, "summary.md")
    path = os.path.join(guide, ".github", "workflows", "coverage.yml")
    for step in github_steps(path):
        done = shell(step, folder, "-e", "-o", "pipefail",
                     GITHUB_BASE_REF="main", GITHUB_STEP_SUMMARY=summary)
        if done.returncode:
            break
    test(f"github, {branch}: exit status", done.returncode == status and
         step.startswith("cairn diff --html"), done.stdout[-2000:])
    with open(summary, encoding="utf-8") as file:
        text = file.read()
    test(f"github, {branch}: summary", text.startswith("```\nA ") and
         text.endswith("```\n") and "lines matched by text" in text, text)
    for name in ("lcov.info", "diff.html"):
        test(f"github, {branch}: {name}",
             os.path.exists(os.path.join(folder, name)))


def check_ci(work, guide):
    make_repository(os.path.join(work, "project"), guide)
    for branch, status in (("bad", 1), ("good", 0)):
        check_gitlab(work, guide, branch, status)
        check_github(work, guide, branch, status)


def main():
    wanted = sys.argv[1:] or ["tutorial", "recipes"]
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name in wanted:
            work = os.path.join(folder, name)
            os.makedirs(work)
            for file in ("words.c", "words.txt"):
                shutil.copy(os.path.join(ROOT, "examples", file), work)
            check_guide(name, work)
            if name == "tutorial":
                check_ci(os.path.join(folder), work)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
