#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion in bash and zsh, and help that fits a screen.

Every command that cairn --help names, and every option in the --help of each,
has to be completed; so has every mode of cairn-cc and every option of a mode.
Values of options that take one of a few words are those that the tools name
when they get another.  bash runs the function as its readline would; zsh is
interactive, on a terminal of ours, with compadd made to write down what it is
given.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "programs")]
from checks import equal, finish, test  # noqa: E402

BIN = os.environ.get("CAIRN_BIN", os.path.join(ROOT, "build", "bin"))
CAIRN, CC = os.path.join(BIN, "cairn"), os.path.join(BIN, "cairn-cc")
BASH = os.path.join(ROOT, "completions", "cairn.bash")
ENVIRONMENT = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], LC_ALL="C")
# a screen
LINES, COLUMNS = 40, 80
# options that take one of a few words: command, option, an input it reads first
WORDS = [("report", "--format"), ("report", "--sort"), ("report", "--color"),
         ("diff", "--sort"), ("diff", "--color"), ("paths", "--sort"),
         ("trace", "--export"), ("trace", "--clock"), ("output", "--fd")]


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr


# --- what there is to complete -------------------------------------------------

def commands():
    return re.findall(r"^  ([a-z][a-z-]*) ", output(CAIRN, "--help"), re.M)


def options(text):
    """{option: the value it takes, or ""}: whatever begins a line of a help
    text, or stands behind a comma there."""
    found = {}
    for line in re.findall(r"^  (-.*)", text, re.M):
        for part in re.split(r"\s\s+", line)[0].split(", "):
            m = re.match(r"(--?[a-z][a-z-]*)(?: (\S+))?", part)
            found[m[1]] = m[2] or ""
    return found


def modes(text):
    return re.findall(r"^  --cairn=([a-z]+)", text, re.M)


def details(text, mode):
    """Names of the options of a mode, with a = if they take a value."""
    found = set()
    for heading, body in re.findall(r"^Options of (.*):\n((?:  .*\n)*)", text,
                                    re.M):
        if mode in re.split(r", | and ", heading):
            for line in re.findall(r"^  ([a-z].*)", body, re.M):
                for part in re.split(r"\s\s+", line)[0].split(", "):
                    found.add(re.match(r"[a-z]+=?", part)[0])
    own = re.search(rf"^  --cairn={mode},(\S+)", text, re.M)
    for part in own[1].split(",") if own else []:
        found.add(part.split("=")[0] + "=")
    return found


def named_values(command, option):
    """The words that the tool names when it gets another."""
    text = output(CAIRN, command, option, "nonsense", "/dev/null")
    found = re.search(r"(?:takes|is) ([a-z0-9, -]+?)(?:, not|$|;)", text, re.M)
    return re.split(r", | or ", found[1]) if found else [text]


# --- bash ----------------------------------------------------------------------

def bash(*words):
    """What the last word may become."""
    function = "_cairn" if words[0] == "cairn" else "_cairn_cc"
    script = (f'. "{BASH}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              f'{function}; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=ROOT,
                          capture_output=True, text=True, check=False,
                          env=ENVIRONMENT)
    return [line for line in done.stdout.splitlines() if line]


def check_bash(helps, cc_help):
    equal("bash: commands", sorted(bash("cairn", "")),
          sorted(list(helps) + ["help", "--help", "--version"]))
    equal("bash: cairn help", sorted(bash("cairn", "help", "me")), ["merge"])
    for command, text in helps.items():
        want = options(text)
        equal(f"bash: options of {command}",
              sorted(bash("cairn", command, "-")), sorted(want))
        for option, kind in want.items():
            if kind in ("FILE", "PATH", "OUT", "TESTED"):
                equal(f"bash: file of {command} {option}",
                      bash("cairn", command, option, "LICEN"), ["LICENSE"])
    for command, option in WORDS:
        want = named_values(command, option)
        equal(f"bash: values of {command} {option}",
              bash("cairn", command, option, ""), want)
        equal(f"bash: values of {command} {option}=",
              bash("cairn", command, option, "=", want[0][:2]),
              [v for v in want if v.startswith(want[0][:2])])
    equal("bash: a file", bash("cairn", "report", "LICEN"), ["LICENSE"])
    equal("bash: a number", bash("cairn", "report", "--top", "L"), [])
    for tool in ("cairn-cc", "cairn-c++"):
        equal(f"bash: modes of {tool}", bash(tool, "--cairn", "=", ""),
              modes(cc_help))
    for mode in modes(cc_help):
        got = {re.match(r"[a-z]+=?", word.split(",", 1)[1])[0]
               for word in bash("cairn-cc", "--cairn", "=", mode + ",")}
        equal(f"bash: options of {mode}", sorted(got),
              sorted(details(cc_help, mode)))
    equal("bash: options of cairn-cc", set(bash("cairn-cc", "--cairn-")),
          {o for o in re.findall(r"--cairn-[a-z-]+=?", cc_help)})
    equal("bash: stages", bash("cairn-cc", "--cairn-stage", "=", ""),
          ["late", "source"])
    equal("bash: clang's options", bash("cairn-cc", "-fno-excep"),
          ["-fno-exceptions"])
    equal("bash: a profile", bash("cairn-cc", "--cairn", "=", "paths,prefer",
                                  "=", "LICEN"), ["LICENSE"])


# --- zsh -----------------------------------------------------------------------

ZSH = """
PROMPT='%% '
fpath=({folder} $fpath)
autoload -Uz compinit && compinit -u -D
# writes down what is offered, and offers nothing
compadd() {{
	if [[ ${{@[1,(i)(-|--)]}} = *-(O|A|D)\\ * ]]; then
		builtin compadd "$@"
		return
	fi
	typeset -a hits
	builtin compadd -A hits "$@"
	print -rl -- $hits >>{hits}
}}
ask() {{
	zle complete-word
	print -r -- . >>{hits}
	zle kill-whole-line
}}
zle -N ask
bindkey '^T' ask
unsetopt zle_bracketed_paste 2>/dev/null
print ready
"""


class Zsh:
    """An interactive zsh on a terminal of ours."""

    def __init__(self, folder):
        self.hits = os.path.join(folder, "hits")
        shutil.copy(os.path.join(ROOT, "completions", "_cairn"), folder)
        with open(os.path.join(folder, ".zshrc"), "w",
                  encoding="utf-8") as file:
            file.write(ZSH.format(folder=folder, hits=self.hits))
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.chdir(ROOT)
            os.execvpe("zsh", ["zsh", "-i"],
                       dict(ENVIRONMENT, ZDOTDIR=folder, TERM="xterm"))
        self.wait(lambda: b"ready" in self.seen)

    seen = b""

    def read(self):
        while select.select([self.terminal], [], [], 0.01)[0]:
            try:
                self.seen += os.read(self.terminal, 65536)
            except OSError:
                return

    def wait(self, done):
        end = time.monotonic() + 600
        while not done():
            self.read()
            if time.monotonic() > end:
                raise TimeoutError(self.seen[-500:])

    def offers(self, *words):
        """What the last word may become."""
        open(self.hits, "w", encoding="utf-8").close()
        os.write(self.terminal, " ".join(words).encode() + b"\x14")

        def is_done():
            with open(self.hits, encoding="utf-8") as file:
                return file.read().endswith(".\n")
        self.wait(is_done)
        with open(self.hits, encoding="utf-8") as file:
            return [line for line in file.read().splitlines()[:-1] if line]

    def close(self):
        os.write(self.terminal, b"\x15exit\n")
        self.read()
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def check_zsh(helps, cc_help):
    with tempfile.TemporaryDirectory() as folder:
        zsh = Zsh(folder)
        try:
            ask_zsh(zsh.offers, helps, cc_help)
        except TimeoutError as error:
            test("zsh answers", False, str(error))
        finally:
            zsh.close()


def ask_zsh(offers, helps, cc_help):
    equal("zsh: commands", sorted(set(offers("cairn", ""))),
          sorted(list(helps) + ["help", "--help", "--version"]))
    for command, text in helps.items():
        equal(f"zsh: options of {command}",
              sorted(set(offers("cairn", command, "-"))),
              sorted(options(text)))
    for command, option in WORDS:
        want = sorted(named_values(command, option))
        equal(f"zsh: values of {command} {option}",
              sorted(offers("cairn", command, option, "")), want)
        equal(f"zsh: values of {command} {option}=",
              sorted(offers("cairn", command, option + "=")), want)
    equal("zsh: a file", offers("cairn", "report", "LICEN")[-1:], ["LICENSE"])
    equal("zsh: a file of an option", offers("cairn", "diff", "--patch",
                                             "LICEN")[-1:], ["LICENSE"])
    for tool in ("cairn-cc", "cairn-c++"):
        equal(f"zsh: modes of {tool}", offers(tool, "--cairn="),
              modes(cc_help))
    for mode in modes(cc_help):
        got = {re.match(r"[a-z]+=?", word)[0]
               for word in offers("cairn-cc", f"--cairn={mode},")}
        equal(f"zsh: options of {mode}", sorted(got),
              sorted(details(cc_help, mode)))
    equal("zsh: options of cairn-cc", set(offers("cairn-cc", "--cairn-")),
          {o for o in re.findall(r"--cairn-[a-z-]+=?", cc_help)})
    equal("zsh: clang's options", offers("cairn-cc", "-fno-excep"),
          ["-fno-exceptions"])


# --- help ----------------------------------------------------------------------

def check_help(helps):
    texts = dict(helps, cairn=output(CAIRN, "--help"))
    texts["cairn-cc"] = output(CC, "--cairn-help")
    for name, text in texts.items():
        lines = text.splitlines()
        test(f"help of {name}: a screen", 3 < len(lines) <= LINES,
             f"{len(lines)} lines")
        widest = max(lines, key=len)
        test(f"help of {name}: as wide", len(widest) <= COLUMNS, widest)
        test(f"help of {name}: usage", text.startswith("usage: "), text[:80])


def main():
    helps = {command: output(CAIRN, command, "--help")
             for command in commands()}
    cc_help = output(CC, "--cairn-help-all")
    test("there are commands", len(helps) > 15, str(list(helps)))
    check_help(helps)
    check_bash(helps, cc_help)
    if shutil.which("zsh"):
        check_zsh(helps, cc_help)
    else:
        test("zsh", False, "there is no zsh; tools/install-deps check")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
