# SPDX-License-Identifier: Apache-2.0
"""Sources of the benchmark programs: Debian source packages.

They are fetched with `apt-get source` and a private list of sources, so that
the machine's own configuration of apt stays as it is, and unpacked (with
Debian's patches) into CAIRN_CORPUS/src, which lies outside of what git
tracks.  A package that is there already is not fetched again.

The table of programs is in programs.py.  As a program:

    python3 bench/corpus.py [PACKAGE...]     fetch these (default: all)
"""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


class BenchError(Exception):
    """Something that ends the run: one sentence for the user."""


def corpus_dir():
    """The cache: CAIRN_CORPUS, or build/corpus of this tree."""
    return pathlib.Path(
        os.environ.get("CAIRN_CORPUS") or ROOT / "build" / "corpus"
    ).resolve()


def run_quiet(argv, **kwargs):
    """Runs a helper command; its output is shown only if it fails."""
    done = subprocess.run(
        [str(a) for a in argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        check=False,
        **kwargs,
    )
    if done.returncode != 0:
        tail = done.stdout.decode(errors="replace")[-2000:]
        raise BenchError(
            f"{' '.join(str(a) for a in argv)[:200]} failed with status "
            f"{done.returncode}:\n{tail}"
        )
    return done.stdout


class SourceList:
    """A private apt state that knows only source packages of this system's
    Debian mirrors.  Use as a context manager."""

    def __init__(self):
        self.state = None

    def __enter__(self):
        self.state = pathlib.Path(tempfile.mkdtemp(prefix="cairn-apt-"))
        (self.state / "lists" / "partial").mkdir(parents=True)
        (self.state / "parts").mkdir()
        self._write_sources()
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.state, ignore_errors=True)

    def _write_sources(self):
        """Turns every Debian entry of the machine into a deb-src one.  Other
        vendors' entries stay out: we need nothing from them."""
        count = 0
        for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
            stanzas = pathlib.Path(path).read_text().split("\n\n")
            kept = [s for s in stanzas if "debian-archive-keyring" in s]
            text = "\n\n".join(
                "\n".join(
                    "Types: deb-src" if l.startswith("Types:") else l
                    for l in stanza.splitlines()
                )
                for stanza in kept
            )
            if text:
                count += 1
                out = self.state / "parts" / f"{count}.sources"
                out.write_text(text + "\n")
        old = pathlib.Path("/etc/apt/sources.list")
        lines = old.read_text().splitlines() if old.exists() else []
        lines = ["deb-src" + l[3:] for l in lines if l.startswith("deb ")]
        if lines:
            count += 1
            text = "\n".join(lines) + "\n"
            (self.state / "parts" / f"{count}.list").write_text(text)
        if count == 0:
            raise BenchError(
                "no Debian mirror found in /etc/apt: the benchmark programs "
                "come from Debian source packages"
            )

    def apt(self, *args, cwd=None):
        options = [
            "Dir::Etc::sourcelist=/dev/null",
            f"Dir::Etc::sourceparts={self.state / 'parts'}",
            f"Dir::State::lists={self.state / 'lists'}",
            f"Dir::Cache={self.state}",
            "APT::Get::List-Cleanup=0",
            "APT::Sandbox::User=root",
        ]
        argv = ["apt-get", "-q"]
        for option in options:
            argv += ["-o", option]
        return run_quiet(argv + list(args), cwd=cwd)


def fetch(packages, say=print):
    """Makes CAIRN_CORPUS/src/PACKAGE exist for each package."""
    src = corpus_dir() / "src"
    src.mkdir(parents=True, exist_ok=True)
    missing = [p for p in packages if not (src / p).is_dir()]
    if not missing:
        return src
    with SourceList() as sources:
        say(f"fetching {len(missing)} source packages into {src}")
        sources.apt("update")
        for package in missing:
            fetch_one(sources, src, package)
            say(f"  {package}")
    return src


def fetch_one(sources, src, package):
    part = src / (package + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    sources.apt("source", "--only-source", package, cwd=part)
    trees = [p for p in part.iterdir() if p.is_dir()]
    if len(trees) != 1:
        raise BenchError(f"apt-get source {package} left {len(trees)} trees")
    os.rename(trees[0], src / package)
    shutil.rmtree(part)


def main():
    names = sys.argv[1:]
    if not names:
        import programs  # not at the top: programs imports this module

        names = sorted({p.package for p in programs.PROGRAMS})
    fetch(names)


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"bench: {error}")
