# SPDX-License-Identifier: Apache-2.0
"""Runs a command as a stranger's file deserves, and judges how it ended.

A command may answer (0), answer no (1) or refuse (2), with one sentence.  It
may not crash, hang, take gigabytes, or change anything but its own output.
"""
import ctypes
import os
import re
import resource
import select
import signal
import stat
import subprocess
import time

CPU_SECONDS = 60
WALL_SECONDS = 600
OUTPUT_BYTES = 1 << 30
MEMORY_KIB = 3 << 20
OUTPUT_KEPT = 4 << 20
PR_SET_CHILD_SUBREAPER = 36
CRASHES = re.compile(
    rb"AddressSanitizer(?!.*failed to allocate)|LeakSanitizer|runtime error:|"
    rb"UndefinedBehaviorSanitizer|LLVM ERROR|Assertion|"
    rb"an assumption of Cairn does not hold|cairn-replay crashed|"
    rb"ended by the signal|PLEASE submit a bug report|Stack dump")
MEMORY = re.compile(rb"out of memory|failed to allocate|rss limit exhausted|"
                    rb"allocation-size-too-big|was killed; if memory")
HANG = re.compile(rb"CPU time limit exceeded|File size limit exceeded")
HINT = re.compile(r"Try 'cairn [a-z-]+ --help' for more information\.")


def limit(cpu_seconds=CPU_SECONDS):
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def become_subreaper():
    """Processes that a command leaves behind become ours, to be seen."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid):
    """Children of a process, and theirs."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        try:
            with open(f"/proc/{one}/task/{one}/children",
                      encoding="ascii") as f:
                children = [int(word) for word in f.read().split()]
        except OSError:
            continue
        found += children
        todo += children
    return found


def resident_kib(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * 4
    except (OSError, IndexError):
        return 0


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


class Outcome:
    def __init__(self):
        self.status = self.signal = None
        self.stdout = self.stderr = b""
        self.is_late = False
        self.memory = 0              # KiB, the most that one process had
        self.seconds = 0.0
        self.left = 0                # processes that were still there


def wait(process, outcome):
    """Until it ends, or has had enough time or memory."""
    start = time.monotonic()
    watch = os.pidfd_open(process.pid)
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    while not poll.poll(500):
        family = [process.pid, *descendants(process.pid)]
        memory = max(map(resident_kib, family))
        late = time.monotonic() - start > WALL_SECONDS
        if late or memory > MEMORY_KIB:
            outcome.is_late |= late
            outcome.memory = memory
            kill(family)
    os.close(watch)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    outcome.seconds = time.monotonic() - start
    outcome.memory = max(outcome.memory, usage.ru_maxrss)
    if process.returncode < 0:
        outcome.signal = -process.returncode
    else:
        outcome.status = process.returncode


def reap_strays(outcome):
    """What is still there, 0.2 s later, was left behind."""
    for _ in range(20):
        strays = [p for p in descendants(os.getpid())]
        for pid in strays:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
        if not descendants(os.getpid()):
            return
        time.sleep(0.01)
    strays = descendants(os.getpid())
    outcome.left = len(strays)
    kill(strays)
    for pid in strays:
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass


def run(words, folder, environment, limit=limit):
    outcome = Outcome()
    names = [os.path.join(folder, n) for n in (".stdout", ".stderr")]
    with open(names[0], "wb") as out, open(names[1], "wb") as errors, \
            subprocess.Popen(words, cwd=folder, env=environment, stdout=out,
                             stderr=errors, stdin=subprocess.DEVNULL,
                             preexec_fn=limit) as process:
        wait(process, outcome)
    reap_strays(outcome)
    with open(names[0], "rb") as f:
        outcome.stdout = f.read(OUTPUT_KEPT)
    with open(names[1], "rb") as f:
        outcome.stderr = f.read(OUTPUT_KEPT)
    return outcome


def is_refusal(text):
    """Sentences of ours: notes, if there are any, and why the file is refused;
    with where help is behind them, or not."""
    lines = text.decode("utf-8", "replace").split("\n")
    said = [line for line in lines[:-1] if not HINT.fullmatch(line)]
    return not lines[-1] and said and \
        all(line.startswith("cairn") for line in said)


def judge(outcome, secret):
    """(kind of failure, what it is), or None: crash, hang, escape."""
    said = outcome.stderr
    was_killed = outcome.signal == signal.SIGKILL and \
        outcome.memory <= MEMORY_KIB
    if outcome.is_late or was_killed or HANG.search(said) or \
            outcome.signal in (signal.SIGXCPU, signal.SIGXFSZ):
        return "hang", f"{outcome.seconds:.0f} s, signal {outcome.signal}"
    if outcome.left:
        return "escape", f"{outcome.left} processes are left behind"
    if secret in outcome.stdout or secret in said:
        return "escape", "memory of the reader is in its output"
    if outcome.memory > MEMORY_KIB or MEMORY.search(said):
        return "crash", f"takes too much memory ({outcome.memory} KiB)"
    found = CRASHES.search(said)
    if found:
        line = said[said.rfind(b"\n", 0, found.start()) + 1:]
        return "crash", line.split(b"\n")[0].decode(errors="replace")[:300]
    if outcome.signal:
        return "crash", f"signal {outcome.signal}"
    if outcome.status not in (0, 1, 2):
        return "crash", f"exit status {outcome.status}"
    if outcome.status == 2 and not is_refusal(said):
        return "crash", "exit status 2 without a sentence of ours: " + \
            repr(said[:300])
    return None


# --- what is outside ---------------------------------------------------------
def snapshot(scratch, *roots):
    """All that can be seen of files, but when they were read.  In the folder
    `scratch` files may come and go."""
    seen = {}
    for root in (scratch, *roots):
        todo = [root]
        while todo:
            path = todo.pop()
            try:
                st = os.lstat(path)
            except OSError:
                seen[path] = None
                continue
            seen[path] = (st.st_mode, st.st_size, st.st_mtime_ns,
                          st.st_ctime_ns, st.st_ino, st.st_nlink)
            if path == scratch:
                seen[path] = st.st_mode, st.st_ino
            if stat.S_ISDIR(st.st_mode):
                todo += [os.path.join(path, n) for n in os.listdir(path)]
    return seen


def changes(before, after):
    """Paths that were made, changed or removed."""
    return sorted(p for p in before.keys() | after.keys()
                  if before.get(p) != after.get(p))
