# SPDX-License-Identifier: Apache-2.0
"""Commands that do what no reader may, so that the judge is seen to notice."""
import functools
import os

import judge

PLANTS = [
    ("crash", "kill -SEGV $$"),
    ("crash", "kill -ABRT $$"),
    ("crash", "echo 'x.c:1:2: runtime error: index 9' >&2; exit 1"),
    ("crash", "echo '==1==ERROR: AddressSanitizer: overflow' >&2; exit 1"),
    ("crash", "echo 'LLVM ERROR: bad' >&2; exit 2"),
    ("crash", "echo 'cairn: x: an assumption of Cairn does not hold' >&2; "
              "exit 2"),
    ("crash", "echo 'cairn: out of memory (asked for 8 bytes)' >&2; exit 2"),
    ("crash", "exit 3"),
    ("crash", "exit 2"),
    ("crash", "echo 'a line of a file' >&2; exit 2"),
    ("crash", "printf 'cairn: a sentence without an end' >&2; exit 2"),
    ("hang", "while :; do :; done"),
    ("hang", "echo 'cairn: ended by the signal 24 (CPU time limit exceeded)' "
             ">&2; exit 2"),
    ("escape", "sleep 60 & exit 0"),
    ("escape", "setsid sleep 60 & exit 0"),
    ("escape", "echo $CAIRN_SECRET"),
    ("escape", "echo \"cairn: $CAIRN_SECRET\" >&2; exit 2"),
    ("escape", "echo changed >>{canary}/file"),
    ("escape", "echo new >{canary}/folder/new"),
    ("escape", "rm {canary}/folder/kept"),
    ("escape", "ln -s / {canary}/link"),
    ("escape", "mkdir -p $HOME/.cache/cairn"),
    ("escape", "echo left >$TMPDIR/cairn.x"),
    ("escape", "chmod 777 {canary}/file"),
    ("escape", "echo appended >>{input}"),
    (None, "exit 0"),
    (None, "echo 'cairn: it says no'; exit 1"),
    (None, "echo 'cairn: a note' >&2; echo 'cairn: x: is damaged' >&2; exit 2"),
    (None, "touch {folder}/out"),
    (None, "t=$(mktemp) && rm $t"),
]


def found(place, environment, secret):
    """How many are judged as they should be; prints those that are not."""
    folder = os.path.join(place.mutants, "plants")
    file = os.path.join(folder, "mutant.cairn")
    os.makedirs(folder)
    good = 0
    for want, script in PLANTS:
        with open(file, "w", encoding="ascii") as f:
            f.write("a mutant\n")
        before = place.outside([file])
        words = script.format(canary=place.canary, folder=folder,
                              input=file)
        outcome = judge.run(["/bin/sh", "-c", words], folder, environment,
                            functools.partial(judge.limit, 1))
        problem = judge.judge(outcome, secret)
        if judge.changes(before, place.outside([file])):
            problem = "escape", "changed outside"
            place.lay_out()
        if (problem[0] if problem else None) == want:
            good += 1
        else:
            print(f"FAIL the judge says {problem} of: {script}")
    return good
