#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces against a log of all blocks, whatever happens to the program.

Each case is a program that is built with `--cairn=trace,log` and log.c, where
it writes down every block that it executes, by thread.  It runs, and
proof_walked regenerates the trace of each of its processes and compares the
blocks of each thread with its log.  The programs are those of the battery, with
every way to end, jump, fork or thread, and those beside this script.  Many are
also built with `trace,witness` and `trace,paths`, all with --full; then `cairn
check` has to find the witnesses of every function that was compiled sufficient
(theorem 4.2 of the 1994 paper), too.

    run.py [--keep DIR] [--list] [--full] [--encoding WORD] [CASE...]
    CAIRN_BIN    directory of cairn and cairn-cc (default: build/bin)
    CAIRN_BUILD  the build tree, with tests/proof_walked (default: build)

A CASE is a name of the table, or the beginning of one.  Without --full the
cases that take longest are left out, or are at one level only.  A line says what
was left out, if there are no names.  One line for each failure; the last line
counts.
"""
import argparse
import concurrent.futures
import dataclasses
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
BATTERY = os.path.join(TESTS, "battery")
PROGRAMS = os.path.join(TESTS, "programs")
sys.path.insert(0, PROGRAMS)
from profiles import (Broken, CAIRN, CAIRN_BIN, CAIRN_CC,  # noqa: E402
                      CAIRN_CXX, call)

WALKED = os.path.join(
    os.environ.get("CAIRN_BUILD", os.path.dirname(CAIRN_BIN)), "tests",
    "proof_walked")
TIMEOUT = 600
NO_BOUND = 1 << 60
TRUNCATED = 8                # CAIRN_FILE_TRUNCATED of abi/file.h
NOBODY = 65534


@dataclasses.dataclass
class Case:
    """A program, how it is built and run, and what the trace must have."""
    name: str
    sources: tuple = ()      # default: NAME.c of the battery or from here
    how: str = "exact"       # of proof_walked
    status: int = 0          # exit status, or minus the signal
    opts: tuple = ("-O0", "-O2")
    flags: tuple = ()
    other: tuple = ()        # a second program, in NAME.d/
    libraries: int = 0       # dlopen_lib.c, built this many times
    kill: int = 0            # signal to send once the program says "ready"
    after: tuple = ()        # ... and then so many seconds: one run for each
    lag: int = 0             # blocks that the log may have more
    arguments: tuple = ()
    limits: tuple = ()       # (resource, value) ...
    env: tuple = ()          # (name, value) ...
    judge: str = ""          # a method of Run that looks at more
    log: bool = True         # is there a log to compare with?
    disk: str = ""           # a file system of this size for the trace
    alone: bool = False      # there may be no other thread
    full: bool = False       # only with --full
    long: bool = False       # at the last level; at the others with --full
    mixed: bool = False      # each source in another encoding
    # the same as lag with witnesses: what is bound to happen behind the last
    # one the walk has taken when a handler jumps out of it
    lag_witness: int = 0

    def files(self):
        if self.sources:
            return [find(s) for s in self.sources]
        return [find(self.name + ".c") or find(self.name + ".cpp")]


# also in the other encodings, at their last level
OTHERS = {
    "return", "inline_lines", "recursion", "longjmp_loop", "setjmp_loop",
    "builtin_jump", "throw", "rethrow", "unwind_dtor", "pthread_cancel",
    "thrd_create", "fork", "vfork_exec", "siglongjmp", "computed_goto",
    "exit_callee", "exit_thread", "terminate", "segv", "sigkill", "throw_c",
    "deep", "forks", "callbacks", "last_calls", "leaps", "own_malloc", "turns",
    "callbacks_lto", "forks_static", "interpreter", "gotos", "jumps",
    "leaves", "control", "coroutine", "full_threads_1m"}


def find(name):
    for folder in (HERE, BATTERY, PROGRAMS):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def cases():
    """The table."""
    abort, segv, term, kill = (-signal.SIGABRT, -signal.SIGSEGV,
                               -signal.SIGTERM, -signal.SIGKILL)
    rows = [Case(name) for name in (
        "return", "inline_lines", "recursion",
        "longjmp_loop", "setjmp_loop", "builtin_jump", "throw",
        "rethrow", "unwind_dtor", "static_ctor", "pthread_exit",
        "pthread_cancel", "thrd_create",
        "fork", "fork_thread", "daemon", "vfork_exec",
        "posix_spawn")]
    rows += [
        Case("tail_recursion", long=True),
        Case("threads", long=True),
        Case("many_threads", long=True),
        Case("siglongjmp", how="cut", lag=100, lag_witness=400),
        Case("computed_goto", status=13),
        Case("exit_callee", status=3),
        Case("exit_recursion", status=8),
        Case("exit_thread", status=12),
        Case("exit_handler", status=21),
        Case("quick_exit", status=4),
        Case("underscore_exit", status=5),
        Case("atexit", status=14),
        Case("abort", status=abort),
        Case("terminate", status=abort),
        Case("throw_c", sources=("throw_c.cpp", "throw_c_middle.c")),
        Case("segv", status=segv, how="prefix", lag=64),
        Case("stack_overflow", status=segv, how="prefix", lag=1024),
        Case("signal_handler", how="counts", full=True),
        Case("hot_loop_signal", how="counts", full=True),
        Case("signal_loop", how="counts", opts=("-O2",)),
        Case("timer_thread", how="order"),
        # one turns in a loop, whose turns are in a register
        Case("threads_alive", how="prefix", lag=NO_BOUND),
        Case("sigterm", status=term, kill=signal.SIGTERM, how="prefix",
             lag=64),
        Case("sigkill", status=kill, how="prefix", lag=64),
        Case("sigkill_between", status=kill, how="prefix", lag=64),
        Case("sigkill_threads", status=kill, kill=signal.SIGKILL,
             how="prefix", lag=4096),
        Case("hot_loop_kill", status=kill, kill=signal.SIGKILL,
             sources=("hot_loop.c",), how="prefix", lag=4096),
        Case("hot_loop_term", status=term, kill=signal.SIGTERM,
             sources=("hot_loop.c",), how="prefix", lag=4096),
        Case("raw_exit", status=6, how="prefix", lag=64),
        Case("exec_other", other=("exec_target.c",)),
        Case("dlopen_many", libraries=300, opts=("-O2",), full=True),
        Case("dlclose", libraries=4, full=True),
        Case("reload", libraries=4),
    ]
    return rows + here() + ways() + blocked() + synchronised()


def here():
    """The programs beside this script."""
    kill = -signal.SIGKILL
    deep = ((resource.RLIMIT_STACK, 128 << 20),)
    return [
        Case("deep", limits=deep, opts=("-O0", "-O1")),
        Case("forks", opts=("-O0", "-O2", "-O3")),
        Case("forks_async", how="cut", lag=NO_BOUND),
        Case("execs"),
        Case("callbacks", opts=("-O0", "-O1", "-O2", "-O3")),
        Case("own_malloc"),
        Case("passed_on", sources=("passed_on.cpp",),
             opts=("-O0", "-O1", "-O2")),
        Case("by_value", sources=("by_value.c", "by_value2.c"),
             opts=("-O0", "-O2")),
        Case("last_calls"),
        Case("leaps", opts=("-O0", "-O1", "-O2", "-O3")),
        Case("far_jumps", how="cut", lag=300 * 256, long=True),
        Case("turns", arguments=("turns", "200", "50")),
        Case("turns_at_once", sources=("turns.c",),
             arguments=("once", "32", "20000"), long=True),
        Case("turns_many", sources=("turns.c",), opts=("-O2",),
             arguments=("gate", "600", "20")),
        Case("ticks", how="order", arguments=("1000", "2"), long=True),
        Case("ticks_long", sources=("ticks.c",), how="order",
             arguments=("20", "300")),
        Case("stuck", status=kill, kill=signal.SIGKILL, how="prefix",
             lag=4096, after=(0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2)),
    ]


def ways():
    """Ways to build, with programs that do a bit of everything."""
    rows = []
    for name, flags in (("lto", ("-flto",)), ("static", ("-static",)),
                        ("static_pie", ("-static-pie",)),
                        ("nopie", ("-no-pie", "-fno-pie"))):
        for program in ("forks.c", "leaps.c", "callbacks.cpp"):
            rows.append(Case("%s_%s" % (program.split(".")[0], name),
                             sources=(program,), flags=flags, opts=("-O2",),
                             how="counts" if name == "lto" else "exact"))
    for program in ("interpreter", "gotos", "jumps", "leaves", "musttail"):
        rows.append(Case(program, sources=(program + ".c",),
                         opts=("-O0", "-O1", "-O3")))
    rows.append(Case("control", status=9, opts=("-O0", "-O1", "-O3")))
    rows.append(Case("shapes", sources=("shapes_main.cpp", "shapes.cpp"),
                     status=3, opts=("-O0", "-O2"), long=True))
    for name, sources in (
            ("shapes", ("shapes_main.cpp", "shapes.cpp")),
            ("throw_c", ("throw_c.cpp", "throw_c_middle.c"))):
        rows.append(Case("mixed_" + name, sources=sources, mixed=True,
                         status=3 if name == "shapes" else 0, opts=("-O2",)))
    rows.append(Case("coroutine", sources=("coroutine.cpp",),
                     flags=("-std=c++20",), opts=("-O0", "-O2")))
    return rows


def synchronised():
    """Who waits for whom is in the trace."""
    return [Case("sync_" + how, sources=("sync.c",), arguments=(how,),
                 opts=("-O2",), judge="judge_sync")
            for how in ("mutex", "condition", "semaphore", "barrier", "11",
                        "rwlock", "lock", "join")]


def blocked():
    """The trace cannot be written, or not by a thread of its own."""
    return [
        Case("full_limit", sources=("full.c",), how="prefix", lag=NO_BOUND,
             opts=("-O2",), log=False, judge="judge_full",
             limits=((resource.RLIMIT_FSIZE, 1 << 20),)),
        Case("full_disk", sources=("full.c",), how="prefix", lag=NO_BOUND,
             opts=("-O2",), log=False, judge="judge_full", disk="1m"),
        *(Case("full_threads_" + size, sources=("full_threads.c",),
               how="prefix", lag=NO_BOUND, opts=("-O2",), log=False,
               judge="judge_full", disk=size, after=(0,) * 8)
          for size in ("1m", "2m")),
        Case("full_alone", sources=("full.c",), opts=("-O2",), alone=True),
    ]


# --- building and running -------------------------------------------------

ENCODINGS = ("", "witness", "paths")   # of trace
PLAIN = []                             # objects that are in every program


def build_plain(directory):
    for source in (os.path.join(HERE, "log.c"),
                   os.path.join(BATTERY, "battery.c")):
        PLAIN.append(os.path.join(
            directory, os.path.basename(source)[:-1] + "o"))
        call(["clang-19", "-O2", "-fPIC", "-D_GNU_SOURCE", "-c", source,
              "-o", PLAIN[-1]])


def is_alive(pid):
    """False for a process that has ended, waited for or not."""
    try:
        with open("/proc/%s/stat" % pid, encoding="ascii",
                  errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Run:
    def __init__(self, case, opt, encoding, directory):
        self.case, self.opt, self.dir = case, opt, directory
        self.encoding = encoding
        self.program = os.path.join(directory, case.name)
        self.flags = [opt, "-g", "-pthread", "-D_GNU_SOURCE", "-I", BATTERY,
                      *case.flags]

    def mode(self, n=0):
        """What the n-th source is compiled with."""
        word = ENCODINGS[n % 3] if self.case.mixed else self.encoding
        return "--cairn=trace,log" + ("," + word if word else "")

    def compile(self, source, obj, *more, n=0):
        cc = CAIRN_CXX if source.endswith(".cpp") else CAIRN_CC
        call([cc, *self.flags, self.mode(n), *more, "-c", source,
              "-o", obj], cwd=self.dir)
        return obj

    def link(self, sources, output, *more):
        cxx = any(s.endswith(".cpp") for s in sources)
        objects = [self.compile(s, os.path.join(
            self.dir, os.path.basename(s).replace(".", "_") + ".o"), n=n)
            for n, s in enumerate(sources)]
        call([CAIRN_CXX if cxx else CAIRN_CC, *self.flags, self.mode(),
              *objects, *more, "-o", output], cwd=self.dir)

    def build(self):
        os.makedirs(self.program + ".d")
        more = ["-rdynamic"] if self.case.libraries else []
        self.link(self.case.files(), self.program, *PLAIN, *more)
        for source in self.case.other:
            self.link([find(source)], os.path.join(
                self.program + ".d", source[:-2]), *PLAIN, "-rdynamic")
        for n in range(1, 1 + self.case.libraries):
            obj = self.compile(find("dlopen_lib.c"), "lib%d.o" % n, "-fPIC",
                               "-DLIBRARY=%d" % n)
            call([CAIRN_CC, *self.flags, self.mode(), "-shared", obj,
                  "-o", os.path.join(self.program + ".d", "lib%d.so" % n)],
                 cwd=self.dir)

    def folder(self, name):
        path = os.path.join(self.dir, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    def traces(self):
        """The directory of the traces, empty."""
        if not self.case.disk:
            return self.folder("out")
        path = os.path.join(self.dir, "disk")
        for name in os.listdir(path):
            os.remove(os.path.join(path, name))
        return path

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for what, value in self.case.limits:
            resource.setrlimit(what, (value, value))
        if self.case.alone:
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            os.setuid(NOBODY)

    def start(self):
        env = dict(os.environ, CAIRN_LOG=self.folder("log"),
                   BATTERY_TRUTH=self.folder("truth"),
                   CAIRN_OUT=os.path.join(self.traces(), "%p.cairn"),
                   **dict(self.case.env))
        if not self.case.log:
            del env["CAIRN_LOG"]
        if self.case.alone:
            for name in (".", "log", "truth", "out"):
                os.chmod(os.path.join(self.dir, name), 0o777)
        return subprocess.Popen(
            [self.program, *self.case.arguments], env=env, cwd=self.dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=self.limit)

    def run(self, after):
        child = self.start()
        try:
            if self.case.kill:
                child.stdout.readline()
                time.sleep(after)
                child.send_signal(self.case.kill)
            out, err = child.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise Broken("it does not end") from None
        self.out, self.err = out.decode(), err.decode()
        if child.returncode != self.case.status:
            raise Broken("status %d, not %d: %s" % (
                child.returncode, self.case.status, self.err.strip()[-200:]))
        self.wait()

    def wait(self):
        """Children may live longer: until all files are closed."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end and any(map(is_alive, self.pids())):
            time.sleep(0.02)

    def pids(self):
        return {os.path.basename(p).split(".")[0]
                for p in glob.glob(os.path.join(self.dir, "log", "*"))}

    def judge_full(self):
        """The program did not notice, and the file and stderr say so."""
        if not self.out.startswith("done "):
            raise Broken("it printed " + self.out[:80])
        said = self.err.splitlines()
        if len(said) != 1 or not re.match(r"cairn: .*\btrace\b.* lost",
                                          said[0].replace(self.dir, "")):
            raise Broken("the runtime said: " + (self.err.strip() or "nothing"))
        if not any(f & TRUNCATED for f in self.flags_of()):
            raise Broken("the trace does not say that something is missing")

    def judge_hashes(self):
        """cairn trace --hash has what proof_walked computed; in an exact case
        that is the hash of the log."""
        walked = sorted(t for t in re.findall(
            r"^ok thread (\d+) blocks=(\d+) hash=([0-9a-f]{16})",
            "\n".join(self.lines), re.M) if t[:2] != ("0", "0"))
        found = []
        for trace, _ in self.images().values():
            threads = json.loads(call([CAIRN, "trace", "--hash", "--json",
                                       trace]))["threads"]
            found += [(str(t["kernel_id"]), str(t["blocks"]), t["hash"])
                      for t in threads]
        if sorted(found) != walked:
            raise Broken("--hash has %s, the log %s" % (
                sorted(found)[:3], walked[:3]))

    def judge_sync(self):
        """The threads called section() in the order that they say."""
        for trace, _ in self.images().values():
            text = call([WALKED, "sections", trace])
            walked = re.findall(r"^section (\d+)$", text, re.M)
            if walked != self.out.split():
                raise Broken("the order of threads is another one")

    # --- what is left ------------------------------------------------------

    def images(self):
        """(pid, image) -> trace, logs"""
        found = {}
        for path in glob.glob(os.path.join(self.dir, "log", "*")):
            pid, image, _ = os.path.basename(path).split(".")
            found.setdefault((pid, image), [None, []])[1].append(path)
        for path in glob.glob(os.path.join(
                self.dir, "disk" if self.case.disk else "out", "*")):
            m = re.match(r"(\d+)(?:\.(\d+))?\.cairn$", os.path.basename(path))
            if not m:
                raise Broken("a file named " + os.path.basename(path))
            found.setdefault((m[1], m[2] or "0"), [None, []])[0] = path
        return found

    def compare(self):
        self.lines = []
        for (pid, image), (trace, logs) in sorted(self.images().items()):
            who = "process %s, image %s: " % (pid, image)
            if not trace:
                raise Broken(who + "no trace")
            how = self.case.how if self.case.log else "read"
            done = subprocess.run(
                [WALKED, how, trace, *sorted(logs)], check=False,
                capture_output=True, text=True, timeout=TIMEOUT)
            self.lines += done.stdout.splitlines()
            if done.returncode:
                bad = [s for s in done.stdout.splitlines() if "FAIL" in s]
                raise Broken(who + "; ".join(bad[:3] or [
                    "proof_walked: status %d %s" % (done.returncode,
                                                    done.stderr[-200:])]))
        for lag in self.numbers("lag"):
            if abs(lag) > max(self.case.lag, self.encoding == "witness" and
                              self.case.lag_witness):
                raise Broken("%d blocks are missing" % lag)

    def check_witnesses(self):
        """Theorem 4.2, for every function that was compiled."""
        for trace, _ in self.images().values():
            done = subprocess.run(
                [CAIRN, "check", "--partial", "--json", trace], check=False,
                capture_output=True, text=True, timeout=TIMEOUT)
            if not done.stdout:
                raise Broken("cairn check: " + done.stderr.strip()[-200:])
            if not json.loads(done.stdout)[0]["witnessed_functions"]:
                raise Broken("cairn check looked at no witnesses")

    def numbers(self, name):
        return [int(n) for s in self.lines
                for n in re.findall(r"\b%s=(-?\d+)" % name, s)]

    def flags_of(self):
        return [int(n, 16) for s in self.lines
                for n in re.findall(r"flags=(0x[0-9a-f]+|0)", s)]

    def attempt(self):
        self.build()
        for after in self.case.after or (0,):
            self.run(after)
            self.compare()
            if self.case.log and not sum(self.numbers("blocks") +
                                         self.numbers("enters")):
                raise Broken("the trace is empty")
            if self.encoding == "witness":
                self.check_witnesses()
            if self.case.judge:
                getattr(self, self.case.judge)()
            elif "cairn:" in self.err:
                raise Broken("the runtime said: " + self.err.strip())
            elif any(f & TRUNCATED for f in self.flags_of()):
                raise Broken("the trace says that something is missing")
            if self.case.log and self.case.how == "exact":
                self.judge_hashes()


def attempt(case, opt, encoding, keep):
    folder = "%s%s%s" % (case.name, opt, encoding)
    if keep:
        directory = os.path.join(keep, folder)
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
    else:
        directory = tempfile.mkdtemp(prefix="cairn-trace-")
    out = os.path.join(directory, "disk")
    try:
        if case.disk:
            os.makedirs(out)
            call(["mount", "-t", "tmpfs", "-o", "size=" + case.disk, "none",
                  out])
        Run(case, opt, encoding, directory).attempt()
        return None
    except (Broken, subprocess.TimeoutExpired) as problem:
        return "FAIL %s %s %s: %s" % (case.name, opt, encoding, problem)
    finally:
        if os.path.ismount(out):
            subprocess.run(["umount", out], check=False)
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--encoding", choices=ENCODINGS)
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    chosen = [c for c in cases()
              if any(c.name.startswith(w) for w in args.cases)
              or not args.cases and (args.full or not c.full)]
    rows = [(c, opt, "") for c in chosen for opt in (
        c.opts if args.full or args.cases or not c.long else c.opts[-1:])]
    rows += [(c, opt, encoding) for c in chosen
             if (args.full or args.cases or c.name in OTHERS) and not c.mixed
             for opt in (c.opts if args.full else c.opts[-1:])
             for encoding in ENCODINGS[1:]]
    if args.encoding is not None:
        rows = [row for row in rows if row[2] == args.encoding]
    if args.list:
        print("\n".join(c.name for c in cases()))
        return 0
    if args.keep:
        args.keep = os.path.abspath(args.keep)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="cairn-trace-") as directory, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        build_plain(directory)
        for said in pool.map(lambda row: attempt(*row, args.keep), rows):
            failed += said is not None
            if said:
                print(said, flush=True)
    if not args.full and not args.cases:
        print("left to --full: %s; the first levels of %s; witness and paths of "
              "all but %d cases, and these at more than one level" % (
                  " ".join(c.name for c in cases() if c.full),
                  " ".join(c.name for c in chosen if c.long), len(OTHERS)))
    print("%d passed, %d failed" % (len(rows) - failed, failed))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
