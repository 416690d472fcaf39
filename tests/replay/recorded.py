# SPDX-License-Identifier: Apache-2.0
"""Programs that are recorded, and questions to their recordings."""
import glob
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "programs"),
                os.path.join(ROOT, "tools")]
from checks import run  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX  # noqa: E402


def compile_program(source, program, *options, mode="record"):
    """Of the source and those that are options; without -g, if that is none.
    Returns the program."""
    cxx = any(word.endswith(".cpp") for word in (source, *options))
    out = run(CAIRN_CXX if cxx else CAIRN_CC, "--cairn=" + mode, "-w",
              "-pthread", "-std=c++20" if cxx else "-std=gnu17", *options,
              source, "-o", program, "-lm")
    if out.returncode:
        raise ValueError(out.stderr)
    return program


def recordings(folder):
    return sorted(glob.glob(os.path.join(folder, "*.cairn")))


def record(folder, program, *args, **options):
    """What it did, and its recording, which is the only one of the folder."""
    for name in recordings(folder):
        os.remove(name)
    out = run(program, *args, cwd=folder, **options)
    (file,) = recordings(folder)
    return out, file


def cairn(folder, *args, **options):
    """A subcommand, with its cache in the folder."""
    return run(CAIRN, *args, cwd=folder,
               env=dict(os.environ, XDG_CACHE_HOME=folder), **options)


class Recording:
    """A program, recorded in a folder of its own, with what it reads."""

    def __init__(self, source, level, *flags, text="what it reads\n" * 50):
        self.name = f"{os.path.basename(source)} {level}"
        self.source = source
        self.folder = tempfile.mkdtemp()
        program = compile_program(source, os.path.join(self.folder, "program"),
                                  level, "-g", *flags)
        with open(os.path.join(self.folder, "input"), "w",
                  encoding="ascii") as file:
            file.write(text)
        run(program, "input", cwd=self.folder)
        self.files = recordings(self.folder)
        self.file = self.files[0]

    def cairn(self, command, *args, file=None):
        return cairn(self.folder, command, *args, file or self.file)

    def close(self):
        shutil.rmtree(self.folder)
