# SPDX-License-Identifier: Apache-2.0
"""The page of cairn report in Chromium: files, branches, calls, blocks.

check(t, work, profile): what the page shows against the JSON report.
check_large(t, work): a page about 200 000 lines draws what is in sight.
Paths, and the page without a browser, are for tests/html.
"""
import importlib.util
import json
import os
import re
import resource
import struct
import subprocess
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE_LINES = 200000
LARGE_FUNCTIONS = 800


def browser():
    """tests/html/run.py, for its way to ask a page."""
    path = os.path.join(os.path.dirname(HERE), "html", "run.py")
    spec = importlib.util.spec_from_file_location("html_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines_of(data, name):
    return next(source["lines"] for source in data["sources"]
                if os.path.basename(source["file"]) == name)


def check_tree(t, seen, data):
    names = {node["name"].strip("\u25be "): node["lines"]
             for node in seen["tree"]}
    for name in ("main.c", "work.c", "shared.h"):
        lines = lines_of(data, name)
        t.equal(f"page: total of {name}", names.get(name),
                f"{sum(x['count'] > 0 for x in lines)} of {len(lines)}")
    total = data["totals"]
    t.equal("page: total of all files",
            seen["tree"][0]["lines"],
            f"{total['lines_executed']} of {total['lines']}")
    t.equal("page: filter of files", seen["found"], ["work.c"])
    t.equal("page: a file shows its function",
            [seen["fileShown"], seen["fileFunction"]], ["work.c", "work"])
    t.equal("page: sorted by the last column", seen["sortedBy"],
            "instructions")
    for key in ("closed", "opened", "backToFunctions", "help", "printed"):
        t.test(f"page: {key}", seen[key])
    t.test("page: address of the list", "list=files" in seen["filesHash"])


def percent(taken, total):
    return "never" if not taken else f"{100 * taken / total:.1f} %"


def check_branches(t, seen, data):
    compared = 0
    for line in lines_of(data, "main.c"):
        reached = [b for b in line.get("branches", []) if b["total"]]
        bar = seen["bars"].get(str(line["line"]))
        if not reached:
            t.equal(f"page: no bar at {line['line']}", bar, None)
            continue
        told = re.findall(r"never|[\d.]+ %", bar["title"])
        t.equal(f"page: ways at {line['line']}", told,
                [percent(b["taken"], b["total"]) for b in reached])
        never = {b["branch"] for b in reached if not b["taken"]}
        t.equal(f"page: never at {line['line']}", bar["never"],
                min(4, len(never)))
        compared += 1
    t.test("page: compared branches", compared > 2, str(compared))


def check_calls(t, seen, data):
    tables = {table["title"]: table["rows"] for table in seen["calls"]}
    main = next(f for f in data["functions"] if f["name"] == "main")
    want = {}
    for c in main["calls"]:
        name = c["callee"] or "through pointers"
        want[name] = want.get(name, 0) + c["count"]
    t.equal("page: calls", {row[0]: int(row[1]) for row in tables["calls"]},
            want)
    t.equal("page: who calls main", [row[:2] for row in tables["called by"]],
            [["through pointers, or from outside", "1"]])
    t.test("page: inlined", "twice" in [row[0] for row in
                                        tables["inlined here"]])
    t.equal("page: source of inlined code", seen["inlinedSource"],
            "shared.h")


def check_links(t, seen, data):
    main = next(f for f in data["functions"] if f["name"] == "main")
    line = seen["line"]["line"]
    at = {b["id"] for b in main["blocks"] for r in b["lines"]
          if r["file"].endswith("main.c") and r["first"] <= line <= r["last"]}
    picked = set(seen["line"]["picked"])
    t.test("page: blocks of a line", picked and picked <= at,
           f"{picked} of {at}")
    t.test("page: a line in the address", f":{line}" in seen["line"]["hash"])
    t.test("page: branches of a line in words",
           re.search(r"[\d.]+ % (to|way) \d+", seen["line"]["detail"]),
           seen["line"]["detail"])
    block = seen["block"]["block"]
    t.test("page: from the line to a block", block in picked)
    t.test("page: and back", line in seen["block"]["lines"],
           str(seen["block"]))
    count = next(b["count"] for b in main["blocks"] if b["id"] == block)
    t.test("page: count of the block",
           f"count{count}" in seen["block"]["detail"].replace(" ", ""),
           seen["block"]["detail"])
    t.test("page: ways back are marked", 0 < seen["back"] < seen["edges"],
           f"{seen['back']} of {seen['edges']}")
    never = [x["line"] for x in lines_of(data, "main.c") if not x["count"]]
    t.test("page: what never ran", seen["never"] in never,
           f"{seen['never']} of {never}")


def brightness(path):
    """Mean of all bytes of the picture: a PNG of 8 bits without interlace."""
    with open(path, "rb") as file:
        data = file.read()
    width, height = struct.unpack(">II", data[16:24])
    size = {2: 3, 6: 4}[data[25]]
    packed, at = b"", 8
    while at < len(data):
        n, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + n]
        at += n + 12
    raw, stride = zlib.decompress(packed), width * size + 1
    before, total = bytearray(stride - 1), 0
    for y in range(height):
        row = bytearray(raw[y * stride + 1:(y + 1) * stride])
        how = raw[y * stride]
        for i in range(len(row) if how else 0):
            left = row[i - size] if i >= size else 0
            up, corner = before[i], before[i - size] if i >= size else 0
            p = left + up - corner
            paeth = min((left, up, corner), key=lambda v: abs(p - v))
            row[i] = (row[i] + (0, left, up, (left + up) // 2,
                                paeth)[how]) & 255
        total += sum(row[0::size])
        before = row
    return total / (width * height)


def check_pictures(t, work, page, web):
    """It is drawn, dark and light."""
    mean = {}
    for theme in ("light", "dark"):
        path = os.path.join(work, f"page-{theme}.png")
        subprocess.run(
            [web.CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars",
             "--user-data-dir=" + os.path.join(work, "home"),
             "--window-size=900,500", "--virtual-time-budget=5000",
             "--screenshot=" + path, f"file://{page}#f=main&theme={theme}"],
            capture_output=True, timeout=600, check=False)
        mean[theme] = brightness(path) if os.path.exists(path) else -1
    t.test("page: a picture, dark and light", 190 < mean["light"] < 254.5 and
           15 < mean["dark"] < 80, str(mean))


def check(t, work, profile):
    page = os.path.join(work, "page.html")
    t.report("--html", page, profile)
    web = browser()
    if not web.CHROMIUM:
        print("skipped: no chromium, so no page was opened")
        return
    seen, errors = web.browse(page, "f=main", os.path.join(HERE, "page.js"))
    t.equal("page: errors", errors, [])
    if seen is None:
        return
    data = json.loads(t.report("--json", profile))
    check_tree(t, seen, data)
    check_branches(t, seen, data)
    check_calls(t, seen, data)
    check_links(t, seen, data)
    t.equal("page: requests", seen["requests"], 0)
    check_pictures(t, work, page, web)


SHORT = {
    "main": "main",
    "int fact<5>()": "fact<5>",
    "void f<unsigned int>(unsigned int)": "f<unsigned int>",
    "geo::Box<int>::twice() const": "geo::Box<int>::twice",
    "bool operator<(A, B)": "operator<",
    "auto main::$_0::operator()<int>(int) const":
        "main::$_0::operator()<int>",
    "bool std::operator< <char, std::char_traits<char> >(A const&)":
        "std::operator< <>",
    "std::map<std::basic_string<char>, int>::operator[](int&&)":
        "std::map<>::operator[]",
    "a<b<c>, d>::k<char const*>(int) [clone .cold]":
        "a<b<c>, d>::k<char const*> [clone .cold]",
    "(anonymous namespace)::g(int)": "{anonymous}::g",
}


def check_names(t, work, profile):
    """Instances of a template can be told apart in the table."""
    page = os.path.join(work, "names.html")
    t.report("--html", page, profile)
    web = browser()
    if not web.CHROMIUM:
        return
    seen, errors = web.browse(page, "", os.path.join(HERE, "names.js"))
    t.equal("names: errors", errors, [])
    if seen is None:
        return
    t.test("names: instances", {"shop::pick<int>", "shop::pick<double>"} <=
           set(seen["rows"]), str(seen["rows"]))
    t.equal("names: short", seen["short"], SHORT)


def write_large(path):
    """A program of LARGE_LINES lines, most of them comments, as in life."""
    each = LARGE_LINES // LARGE_FUNCTIONS
    with open(path, "w", encoding="ascii") as file:
        file.write("int sink;\n")
        for i in range(LARGE_FUNCTIONS):
            file.write(f"__attribute__((noinline)) int f{i}(int n)\n{{\n"
                       "\tif (n & 1)\n\t\tsink += n;\n\treturn sink;\n}\n")
            file.write("/* what one writes about a function */\n" * (each - 7))
            file.write("\n")
        file.write("int main(void)\n{\n")
        file.write("".join(f"\tf{i}({i});\n" for i in range(LARGE_FUNCTIONS)))
        file.write("\treturn 0;\n}\n")


def processor_time():
    """Of all commands so far, in seconds; whatever else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check_large(t, work):
    source = os.path.join(work, "large.c")
    write_large(source)
    with open(source, encoding="ascii") as file:
        lines = len(file.readlines())
    exe = os.path.join(work, "large")
    t.call([t.CAIRN_CC, "-g", "-O1", source, "-o", exe], cwd=work)
    t.run_program(exe, exe + ".cairn")
    page = os.path.join(work, "large.html")
    begin = processor_time()
    t.report("--html", page, exe + ".cairn")
    spent = processor_time() - begin
    t.test("large: the page is made in time", spent < 10,
           f"{spent:.1f} s of processor time")
    web = browser()
    if not web.CHROMIUM:
        return
    seen, errors = web.browse(page, "", os.path.join(HERE, "large.js"))
    t.equal("large: errors", errors, [])
    if seen is None:
        return
    t.test("large: lines", lines >= LARGE_LINES)
    t.equal("large: all lines can be reached", [seen["lines"], seen["last"]],
            [lines, lines])
    t.test("large: only rows in sight", 0 < seen["rows"] < 200 and
           0 < seen["atEnd"] < 200, str(seen))
    t.test("large: a line far down", seen["shown"] and seen["blocks"] > 0,
           str(seen))
    t.equal("large: filter", sorted(seen["found"]), sorted(
        f"f{i}" for i in range(LARGE_FUNCTIONS) if "f77" in f"f{i}"))
    t.test("large: few elements", seen["elements"] < 4000,
           str(seen["elements"]))
