#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that have privileges which their caller does not have.

    secure.py [--keep DIR]
    CAIRN_BIN                directory of cairn and cairn-cc

They write nothing that their caller names, and nothing at all unless root has
named a folder in /etc/cairn/secure-output.  The last is tried in a chroot,
which has an /etc of its own.  Needs root.  Also: who may read what programs
write, and names where others have put something.
"""
import collections
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "tests/programs")]
import checks  # noqa: E402
from checks import equal, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC  # noqa: E402

SOURCE = os.path.join(HERE, "secure.c")
CONFIG = "etc/cairn/secure-output"
CALLER = 54321               # user and group that start programs
OWNER = 12345                # user and group that programs belong to
CAP_NET_RAW = 1 << 13

Kind = collections.namedtuple("Kind", "name uid gid mode caps")
KINDS = [
    Kind("setuid", OWNER, 0, 0o4755, 0),
    Kind("setuid-root", 0, 0, 0o4755, 0),
    Kind("setgid", 0, OWNER, 0o2755, 0),
    Kind("capabilities", 0, 0, 0o755, CAP_NET_RAW),
]
SETUID, SETUID_ROOT, SETGID, CAPS = KINDS


def build(to, *flags, sources=(SOURCE,), compiler=CAIRN_CC):
    r = checks.run(compiler, "-g", "-O1", *flags, *sources, "-o", to)
    if r.returncode:
        raise RuntimeError(r.stderr[-2000:])


def make_privileged(path, kind):
    """A copy of the program that is of this kind."""
    to = "%s-%s" % (path, kind.name)
    shutil.copy(path, to)
    os.chown(to, kind.uid, kind.gid)
    os.chmod(to, kind.mode)
    if kind.caps:
        os.setxattr(to, "security.capability",
                    struct.pack("<IIIII", 0x02000001, kind.caps, 0, 0, 0))
    return to


def as_caller(program, *args, folder, env=None, root=None):
    """Runs it as an unprivileged user, in this folder."""
    def enter():
        if root:
            os.chroot(root)
        os.chdir(folder)
        os.setgroups([])
        os.setresgid(CALLER, CALLER, CALLER)
        os.setresuid(CALLER, CALLER, CALLER)

    return subprocess.run([program, *args], env=env or {}, preexec_fn=enter,
                          capture_output=True, text=True, timeout=60,
                          check=False)


def mode_of(path):
    return oct(stat.S_IMODE(os.lstat(path).st_mode))


def make_folder(path, mode, uid=0, gid=0):
    os.makedirs(path, exist_ok=True)
    os.chown(path, uid, gid)
    os.chmod(path, mode)
    return path


# --- root has named no folder -------------------------------------------------
def writes_nothing(what, program, *args):
    """The caller has a folder, and names files in it."""
    folder = make_folder(tempfile.mkdtemp(dir="."), 0o755, CALLER, CALLER)
    trim = os.path.join(folder, "trim")
    with open(trim, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n: >%s\n" % os.path.abspath(folder + "/ran"))
    os.chmod(trim, 0o755)
    out = os.path.abspath(folder + "/out.cairn")
    for value in (out, out + ",merge"):
        r = as_caller(os.path.abspath(program), *args,
                      folder=os.path.abspath(folder),
                      env={"CAIRN_OUT": value,
                           "CAIRN_TRIM": os.path.abspath(trim),
                           "LD_LIBRARY_PATH": os.path.abspath(folder)})
        lines = r.stderr.splitlines()
        test(what + ": status", r.returncode == 0, (r.returncode, r.stderr))
        equal(what + ": nothing is written", os.listdir(folder), ["trim"])
        test(what + ": one line says why", len(lines) == 1 and
             "/etc/cairn/secure-output" in r.stderr, r.stderr)
    return r.stdout


def without_folder():
    for mode in ("edges", "paths", "trace", "record", "record,last=1M"):
        program = "./own-" + mode
        build(program, "--cairn=" + mode)
        for kind in KINDS if mode == "edges" else [SETUID, SETGID]:
            privileged = make_privileged(program, kind)
            said = writes_nothing("%s, %s" % (kind.name, mode), privileged)
            equal("%s, %s: what it starts does not see them"
                  % (kind.name, mode), said, "- - 9\n")
            os.remove(privileged)
    build("./own-static", "--cairn=edges", "-static")
    for kind in KINDS:
        writes_nothing(kind.name + ", static",
                       make_privileged("./own-static", kind))
        writes_nothing(kind.name + ", fork",
                       make_privileged("./own-edges", kind), "fork")
    # the program has no marks, but a library of it has
    build("./libwork.so", "--cairn=edges", "-shared", "-fPIC", "-DNO_MAIN")
    build("./foreign", "-DNO_WORK", os.path.abspath("libwork.so"),
          compiler="clang-19")
    for kind in KINDS:
        writes_nothing(kind.name + ", library",
                       make_privileged("./foreign", kind))


def exec_from():
    """A privileged program runs one that is not: not where the caller says."""
    folder = make_folder(tempfile.mkdtemp(dir="."), 0o777, CALLER, CALLER)
    out = os.path.abspath(folder + "/out.cairn")
    r = as_caller(os.path.abspath("./own-edges-setuid"), "exec",
                  os.path.abspath("./own-edges"),
                  folder=os.path.abspath(folder), env={"CAIRN_OUT": out})
    equal("exec: the second one runs", r.stdout, "- - 9\n- - 9\n")
    test("exec: its file has the name of a program that nobody told where",
         not os.path.exists(out), os.listdir(folder))
    # the same, not privileged: it is there
    r = checks.run(os.path.abspath("./own-edges"),
                   env={"CAIRN_OUT": out})
    equal("a program without privileges sees it", r.stdout, "out - 9\n")
    test("... and writes there", os.path.exists(out))


# --- root has named one -------------------------------------------------------
def configure(jail, text, uid=0, mode=0o644):
    path = os.path.join(jail, CONFIG)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chown(path, uid, 0)
    os.chmod(path, mode)


def outputs(jail, folder):
    return sorted(os.listdir(jail + folder))


def clear(jail, folder):
    for f in outputs(jail, folder):
        os.remove(os.path.join(jail + folder, f))


def in_jail(jail, program, *args):
    r = as_caller("/" + os.path.basename(program), *args, folder="/home",
                  env={"CAIRN_OUT": "/home/x.cairn"}, root=jail)
    equal("%s: nothing in the caller's folder" % program,
          outputs(jail, "/home"), [])
    return r


def written(what, jail, folder, program, uid):
    """One sound file, of the privileged user, that nobody else may read."""
    r = in_jail(jail, program)
    files = outputs(jail, folder)
    test(what + ": nothing is said", not r.stderr and not r.returncode,
         (r.returncode, r.stderr))
    test(what + ": one file", len(files) == 1 and
         files[0].startswith(os.path.basename(program) + "."), files)
    for f in files:
        path = os.path.join(jail + folder, f)
        equal(what + ": its owner", os.lstat(path).st_uid, uid)
        equal(what + ": its mode", mode_of(path), "0o600")
        c = checks.run(CAIRN, "check", "--exe", "./own-static", path)
        test(what + ": it is sound", c.returncode == 0, c.stdout + c.stderr)
    clear(jail, folder)


def refused(what, jail, folder, program, said):
    r = in_jail(jail, program)
    equal(what + ": nothing is written", outputs(jail, folder), [])
    test(what + ": one line says why", len(r.stderr.splitlines()) == 1 and
         said in r.stderr and CONFIG in r.stderr, r.stderr)
    equal(what + ": status", r.returncode, 0)


def with_folder(jail):
    program = {k: make_privileged(jail + "/prog", k) for k in KINDS}
    configure(jail, "/open\n")
    make_folder(jail + "/open", 0o1733)
    written("setuid", jail, "/open", program[SETUID], OWNER)
    written("setuid-root", jail, "/open", program[SETUID_ROOT], 0)
    # the caller would own the file, and could change what is mapped
    for kind in (SETGID, CAPS):
        refused(kind.name + ", a folder for all", jail, "/open",
                program[kind], "could change it")
    # a program that gives up its privileges goes on in the file that it has;
    # what it forks then has the caller's rights
    r = in_jail(jail, program[SETUID], "fork")
    equal("setuid, fork: two files", len(outputs(jail, "/open")), 2)
    clear(jail, "/open")
    r = in_jail(jail, program[SETUID], "drop")
    files = outputs(jail, "/open")
    equal("setuid, drop: one file", len(files), 1)
    test("setuid, drop: one line says why",
         len(r.stderr.splitlines()) == 1 and "could change it" in r.stderr,
         r.stderr)
    clear(jail, "/open")
    # a folder that only the group may enter
    configure(jail, "/group/\n")
    make_folder(jail + "/group", 0o730, 0, OWNER)
    written("setgid", jail, "/group", program[SETGID], CALLER)
    refused("setuid, a folder of others", jail, "/group", program[SETUID],
            "permission denied")


def with_proc(jail):
    """The same where there is /proc: programs find out more."""
    os.mkdir(jail + "/proc")
    r = checks.run("mount", "-t", "proc", "none", jail + "/proc")
    if r.returncode:
        test("secure: cannot run: mount of /proc: " + r.stderr, False)
        return
    try:
        configure(jail, "/open")
        written("with /proc", jail, "/open", "/prog-setuid", OWNER)
        # the caller cannot choose how the file is called
        os.symlink("prog-setuid", jail + "/alias")
        in_jail(jail, "alias")
        files = outputs(jail, "/open")
        test("another name of the program", len(files) == 1 and
             files[0].startswith("prog-setuid."), files)
        clear(jail, "/open")
        follow(jail)
    finally:
        checks.run("umount", jail + "/proc")


def follow(jail):
    """A flight recorder starts nothing beside the program."""
    with open("trim.c", "w", encoding="ascii") as f:
        f.write("#include <fcntl.h>\n#include <unistd.h>\n"
                "int main(void)\n{\n\tclose(open(NAME, "
                "O_CREAT | O_WRONLY, 0644));\n\tsleep(1);\n}\n")
    build("./own-last", "--cairn=record,last=1M")
    for line in checks.run("ldd", "./own-last").stdout.splitlines():
        path = [w for w in line.split() if w.startswith("/")]
        if path:
            os.makedirs(jail + os.path.dirname(path[0]), exist_ok=True)
            shutil.copy(path[0], jail + path[0])
    shutil.copy("./own-last", jail + "/last")
    make_privileged(jail + "/last", SETUID)
    # what would be started: it makes a file
    for name in ("first", "second"):
        build(jail + "/" + name, "-static", "-DNAME=\"/ran/%s\"" % name,
              "trim.c", compiler="clang-19", sources=())
    make_folder(jail + "/ran", 0o1777)
    r = as_caller("/last-setuid", folder="/home", root=jail,
                  env={"CAIRN_TRIM": "/first"})
    test("record,last: one line says why", "has privileges" in r.stderr and
         len(r.stderr.splitlines()) == 1, r.stderr)
    equal("record,last: a recording", len(outputs(jail, "/open")), 1)
    # without privileges it is started, beside the program
    as_caller("/last", folder="/home", root=jail,
              env={"CAIRN_TRIM": "/second", "CAIRN_OUT": "/ran/x.cairn"})
    until = time.monotonic() + 20
    while "second" not in outputs(jail, "/ran") and time.monotonic() < until:
        time.sleep(0.02)
    equal("record,last: nothing is started with privileges",
          outputs(jail, "/ran"), ["second", "x.cairn"])
    clear(jail, "/open")


def bad_configs(jail):
    program = jail + "/prog-setuid"
    for what, text, uid, mode in (
            ("of a user", "/open\n", CALLER, 0o644),
            ("writable by a group", "/open\n", 0, 0o664),
            ("writable by all", "/open\n", 0, 0o646),
            ("a relative folder", "open\n", 0, 0o644),
            ("empty", "\n", 0, 0o644),
            ("too long", "/" + "x" * 5000, 0, 0o644)):
        configure(jail, text, uid, mode)
        refused("a configuration " + what, jail, "/open", program,
                "cannot use")
    configure(jail, "/open\n")
    os.rename(os.path.join(jail, CONFIG), jail + "/etc/elsewhere")
    os.symlink("/etc/elsewhere", os.path.join(jail, CONFIG))
    refused("a configuration that is a link", jail, "/open", program,
            "cannot use")
    os.remove(os.path.join(jail, CONFIG))
    configure(jail, "/nowhere\n")
    refused("a folder that is not there", jail, "/open", program,
            "no such directory")


# --- who may read files, and what is there already ----------------------------
def modes():
    """Files of programs are their user's; those of cairn follow the umask."""
    os.mkdir("modes")
    before = os.umask(0)
    for mode in ("edges", "trace", "record"):
        path = "modes/%s.cairn" % mode
        checks.run("./own-" + mode, env={"CAIRN_OUT": path})
        equal(mode + ": only the user reads it", mode_of(path), "0o600")
    for _ in range(2):
        checks.run("./own-edges", env={"CAIRN_OUT": "modes/sum.cairn,merge"})
    equal("a sum, too", mode_of("modes/sum.cairn"), "0o600")
    os.chmod("modes/sum.cairn", 0o640)
    checks.run("./own-edges", env={"CAIRN_OUT": "modes/sum.cairn,merge"})
    equal("... unless it was changed", mode_of("modes/sum.cairn"), "0o640")
    for mask, want in ((0o022, "0o644"), (0o077, "0o600")):
        os.umask(mask)
        for command in ("merge", "pack"):
            to = "modes/%s-%o.cairn" % (command, mask)
            checks.run(CAIRN, command, "-o", to, "modes/edges.cairn")
            equal("cairn %s, umask %03o" % (command, mask), mode_of(to), want)
    os.umask(before)


def others():
    """A folder that all may write to, as /tmp."""
    folder = make_folder("sticky", 0o1777)
    with open("precious", "w", encoding="ascii") as f:
        f.write("precious\n")
    os.symlink(os.path.abspath("precious"), folder + "/x.cairn")
    os.lchown(folder + "/x.cairn", CALLER, CALLER)
    checks.run("./own-edges", env={"CAIRN_OUT": folder + "/x.cairn"})
    equal("a link is not followed", open("precious").read(), "precious\n")
    test("... the file is beside it", os.path.exists(folder + "/x.1.cairn"),
         os.listdir(folder))
    for mode in (0o666, 0o600):
        sum_ = "%s/sum%o.cairn" % (folder, mode)
        checks.run("./own-edges", env={"CAIRN_OUT": sum_ + ",merge"})
        os.chown(sum_, CALLER, CALLER)
        os.chmod(sum_, mode)
        before = open(sum_, "rb").read()
        r = checks.run("./own-edges", env={"CAIRN_OUT": sum_ + ",merge"})
        what = "a sum of another user, %o" % mode
        test(what, len(r.stderr.splitlines()) == 1 and
             "it belongs to another user" in r.stderr, r.stderr)
        equal(what + ": it stays", open(sum_, "rb").read(), before)
        equal(what + ": owner", os.lstat(sum_).st_uid, CALLER)


def check_all(work):
    os.chmod(work, 0o755)
    os.chdir(work)
    if os.geteuid() != 0:
        test("secure: cannot run: needs root, to make privileged programs",
             False)
        return
    if os.path.lexists("/" + CONFIG):
        test("secure: cannot run: this machine has /" + CONFIG, False)
        return
    if os.statvfs(work).f_flag & os.ST_NOSUID:
        test("secure: cannot run: %s is mounted with nosuid; set TMPDIR"
             % work, False)
        return
    without_folder()
    exec_from()
    modes()
    others()
    jail = make_folder(os.path.abspath("jail"), 0o755)
    make_folder(jail + "/home", 0o755, CALLER, CALLER)
    make_folder(jail + "/etc", 0o755)
    shutil.copy("./own-static", jail + "/prog")
    with_folder(jail)
    bad_configs(jail)
    with_proc(jail)


if __name__ == "__main__":
    sys.exit(checks.suite(check_all))
