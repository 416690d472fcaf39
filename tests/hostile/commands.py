# SPDX-License-Identifier: Apache-2.0
"""The reading commands, for each family of seeds.

{f} is the mutant, {g} another run of its program, {t} what a residual build was
made with, {k} a profile of calls, {o} a file to write; {c} a line of the
source, {e} expressions there, {n} a function, {v} a variable.
"""
import os

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
COUNTS = """
check {f}
check --json {f}
check --partial --skip-missing {f}
report {f}
report --json --stable {f}
report --lines --all-files {f}
report --copies --function main {f}
report --files --top 0 --sort name {f}
report --html {o} {f}
report --format lcov {f}
report --format cobertura -o {o} {f}
report --format gcovr {f}
report --format callgrind {f}
report --format pprof -o {o} {f}
report --format speedscope {f}
report --format folded {f}
report --format dot {f}
report --format llvm-sample {f}
report --partial --skip-missing {f}
report {f} {g}
diff {f} {g}
diff --json {g} {f}
diff --html {o} {f} {g}
diff --changed --sort growth --max-growth 10 {g} {f}
merge -o {o} {f}
merge -o {o} {f} {g}
merge -o {o} {g} {f}
merge --partial --skip-missing -o {o} {f}
pack -o {o} {f}
pack --sources -o {o} {f}
pack --best --partial -o {o} {f}
"""
PATHS = COUNTS + """
paths {f}
paths --json {f}
paths --html {o} {f}
paths --blocks --model --unfinished --top 0 {f}
paths --line {c} {f}
paths --sort blocks {f} {g}
drift {f} {g}
drift --json {g} {f}
residual --tested {t} {f}
residual --tested {f} --json {g}
residual --tested {t} --html {o} --blocks {f}
tests {f} {g}
tests --json --failed {f} {f} {g}
tests --html {o} {g} {f}
overlap {f}
overlap --json --degree all {f}
overlap --plain {f}
overlap --lp --degree max --top 0 {f}
"""
CALLS = PATHS + """
segments {f}
segments --json --all {f}
segments --list --depth 2 {f}
"""
WINDOWS = PATHS + """
paths --iterations 2 {f}
paths --iterations 4 --json {f}
"""
CHAINS = PATHS + """
paths --chains 1 {f}
paths --chains 3 --json {f}
"""
TRACE = CALLS + """
trace {f}
trace --json {f}
trace --reverse --times {f}
trace --blocks --from 5 --to 300 {f}
trace --interleave {f}
trace --function {n} --callees --depth 2 {f}
trace --open {f}
trace --open --json {f}
trace --summary {f}
trace --hash {f}
trace --index --from 100 {f}
trace --export chrome -o {o} {f}
trace --export speedscope --clock blocks {f}
trace --export folded {f}
trace --partial --skip-missing {f}
match-path {f} {n}+
match-path --interleave --json {f} ({n})*
match-path --once {f} main({c})*
wpp {f}
wpp --json --min 2 --max 8 {f}
twpp {f}
twpp --json --top 0 {f}
twpp --save {o} {f}
twpp --expand {f}
twpp --function main {f}
twpp --find main:b1 {f}
segments --like {k} {f}
"""
REPLAY = """
replay {f}
replay --every 50 {f}
replay --every 7 --jobs 2 {f}
replay --from 100 --to 200 --no-cache {f}
replay --partial --jobs 2 {f}
values {f} --at {c}
values --json --limit 20 {f} --at {c}
print {e} {f} --at {c}
print --json {e} {f} --at {c} --if 1
output {f}
output --json {f}
output --raw --fd 1 {f}
output --partial --fd 2 {f}
writes --var {v} {f}
writes --json --last --var {v} {f}
writes --addr 0x555555558000:16 {f}
trim --last 1K -o {o} {f}
trim --last 100 --partial -o {o} {f}
"""
TWPP = """
twpp {f}
twpp --json --top 0 {f}
twpp --expand {f}
twpp --function main {f}
twpp --access {f}
twpp --find main:b1 {f}
"""
INDEX = """
trace --summary {f}
trace --from 100 --to 200 {f}
trace --reverse {f}
trace --open {f}
trace --interleave {f}
trace --json --from 300 {f}
"""


def lines_of(text):
    return [line.split() for line in text.splitlines() if line]


FAMILIES = {
    "counts": lines_of(COUNTS), "paths": lines_of(PATHS),
    "calls": lines_of(CALLS), "windows": lines_of(WINDOWS),
    "chains": lines_of(CHAINS), "trace": lines_of(TRACE),
    "recording": lines_of(REPLAY) * 3 + lines_of(TRACE),
    "trimmed": lines_of(REPLAY) + lines_of(COUNTS)[:2],
    "twpp": lines_of(TWPP), "index": lines_of(INDEX),
}
WITHOUT_EXE = ("twpp",)              # of a file that --save wrote


# The places of lines with these texts are asked for.
MARKS = {"paths.c": "new->key = key;", "contexts.c": "shared += by;"}


def line_of(source, text):
    with open(os.path.join(PROGRAMS, source), encoding="ascii") as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


LINES = {source: f"{source}:{line_of(source, text)}"
         for source, text in MARKS.items()}


def fill(words, seed, mutant, out, program):
    """The words of a command."""
    is_threads = seed.source == "contexts.c"
    names = {"f": mutant, "g": seed.partner, "t": seed.tested,
             "k": seed.calls, "o": out, "c": LINES[seed.source],
             "n": "step" if is_threads else "leaf",
             "e": "shared,by+1" if is_threads else "total,key*2,list->next",
             "v": "shared" if is_threads else "list"}
    filled = [word.format(**names) for word in words]
    if program:
        filled[1:1] = ["--exe", program]
    return filled
