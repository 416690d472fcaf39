# SPDX-License-Identifier: Apache-2.0
"""Real programs of the benchmarks, so that two of their builds do the same.

That is so only if nothing depends on where things are, or on names: they run
in folders and as executables with the same names, where no address is random
(WRAP).  Lua hashes addresses of what is in its executable, which differ from
build to build: here it takes 0 for all of them (and its seed is fixed,
bench/programs.py).
"""
import dataclasses
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))), "bench"))
import programs as table  # noqa: E402

WRAP = ("setarch", "-R")
NO_ADDRESSES = {"src/llimits.h": ("((unsigned int)((size_t)(p) & UINT_MAX))",
                                  "((unsigned int)((p), 0))")}


def lua(flags, **options):
    return table.configured(table.LUA_HEADERS, table.copied(
        table.LUA, edits=NO_ADDRESSES, flags=flags + table.LUA_FLAGS,
        libs="-lm", **options))


BUILDS = {"lua": lua("-std=gnu99 ", exe="lua"),
          "luacxx": lua("-x c++ ", exe="luacxx", cxx=True)}


def alone(command):
    """zstd without threads, which take turns as it comes."""
    return command.replace("-T2 -B2MiB", "--single-thread").replace(
        "./zstd", "./zstd --no-asyncio")


def steady(program):
    commands = program.commands
    if program.name == "zstd":
        commands = lambda v: [alone(c) for c in program.commands(v)]  # noqa
    return dataclasses.replace(
        program, commands=commands,
        build=BUILDS.get(program.name, program.build))
