#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page that --html writes.

    run.py             all of it
    run.py --keep DIR  leave pages and programs in DIR
    CAIRN_BIN          directory of cairn and cairn-cc
    CHROMIUM, NODE     programs to use instead of those in PATH; empty: none

Without a browser: the page is well-formed, loads nothing, and what is in it is
what the JSON reports say: counts of blocks, edges and lines, every path with
its blocks, edges and lines, the text of the source whatever bytes it has.
With Chromium, if there is one: the page is opened, clicked and typed into, and
what it then shows is compared with the same.  Pages about lists (cairn
residual, cairn tests) are for lists.py, words about branches and preferred
paths for ways.py.  With node, if there is one: the
layout of random graphs.
"""
import concurrent.futures
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "programs")]
import lists  # noqa: E402
import ways  # noqa: E402
from checks import equal, suite, test  # noqa: E402
from profiles import CAIRN, CAIRN_CC, CAIRN_CXX, call  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM", shutil.which("chromium"))
NODE = os.environ.get("NODE", shutil.which("node"))
LIMIT = 200                  # paths of a function on a page
VOID = {"meta", "input", "br", "hr", "img", "link"}

# Everything that could end an element, a string or a decoder's patience.
NASTY = b"""#include <cstdio>\r
#include <cstdlib>
#include <stdexcept>
/* </script><evil>x</evil><!-- <script> ]]> \\u003c \\" ' & &lt; */
// Latin-1 \xe9, no UTF-8 \xff, nothing \x00, separators \xe2\x80\xa8\xe2\x80\xa9
template <typename T, char C> struct Box {
	T v;
	T get(const char *why) const
	{
		if (v > C)
			throw std::runtime_error(why);
		return v < 3 ? v : -v;
	}
};
struct Less { bool operator<(const Less &) const; int k; };
__attribute__((noinline)) bool Less::operator<(const Less &o) const
{
	return k < o.k;
}
__attribute__((noinline)) static void leave(int status)
{
	if (status >= 0)
		std::exit(status);
}
int main(int argc, char **)
{
	int sum = 0;
	for (int i = 0; i < 50; i++) {
		try {
			sum += Box<int, '<'>{i + 20}.get("</script>");
			sum += Less{i} < Less{argc};
		} catch (const std::exception &e) {
			sum++;
		}
	}
	std::printf("%d\\n", sum);
	leave(argc - 1);
	std::puts("never");
	return 1;
}
"""


# --- programs ----------------------------------------------------------------

def many_paths(path):
    """256 paths through one function, and a function of over 400 blocks."""
    lines = ["static int sink;",
             "__attribute__((noinline)) int many(unsigned n)", "{",
             "\tint s = 0;"]
    lines += [f"\tif (n & {1 << i})\n\t\ts += {i};\n\telse\n"
              "\t\ts -= sink;" for i in range(8)]
    lines += ["\treturn s;", "}",
              "__attribute__((noinline)) int large(unsigned n)", "{",
              "\tint s = 0;", "\tfor (unsigned i = 0; i < n; i++)",
              "\t\tswitch (i % 450) {"]
    lines += [f"\t\tcase {i}:\n\t\t\ts += sink * {i + 3};\n\t\t\tbreak;"
              for i in range(440)]
    lines += ["\t\t}", "\treturn s;", "}", "int main(void)", "{",
              "\tfor (unsigned i = 0; i < 600; i++)",
              "\t\tsink += many(i % 256);", "\treturn large(900) & 0;", "}"]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def build(work, name, source, compiler, *options):
    """Builds and runs a program; returns its profile."""
    exe = os.path.join(work, name)
    call([compiler, "-g", *options, source, "-o", exe], cwd=work)
    profile = exe + ".cairn"
    if os.path.exists(profile):
        os.unlink(profile)       # of an earlier run with --keep
    subprocess.run([exe], cwd=work, check=False, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, CAIRN_OUT=profile))
    return profile


# --- the page ----------------------------------------------------------------

class Markup(html.parser.HTMLParser):
    """A page taken apart: data by id, and what is wrong with its markup."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.stack, self.faults, self.data, self.code = [], [], {}, []
        self.inside = None
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.text = self.bytes.decode("utf-8")       # it must be
        self.feed(self.text)
        self.close()
        if self.stack:
            self.faults.append(f"{self.stack} left open")

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for key in ("src", "href", "action", "srcset", "onload", "onclick"):
            if key in attrs:
                self.faults.append(f"<{tag} {key}>")
        if tag == "script":
            self.inside = attrs.get("id", "")
            if self.inside and attrs.get("type") != "application/json":
                self.faults.append(f"script {self.inside} would run")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.data[self.inside] = self.data.get(self.inside, "") + data
        elif self.inside == "" or self.stack[-1:] == ["style"]:
            self.code.append(data)


class Page(Markup):
    """A page of a report."""

    def __init__(self, path):
        super().__init__(path)
        self.index = json.loads(self.data["i0"])
        self.functions = [json.loads(self.data[f"f{i}"])
                          for i in range(len(self.index["functions"]))]
        self.sources = [json.loads(self.data[f"s{i}"])
                        for i in range(len(self.index["sources"]))]

    def find(self, name):
        """A function by its linkage name: its row and its data."""
        for row, data in zip(self.index["functions"], self.functions):
            if name in (row[0], row[1]):
                return row, data
        raise KeyError(name)


def blocks_of(data, path):
    """The blocks of a path, as the page finds them."""
    first, start, end, edges = path[5:9]
    steps = [first] + [data["edges"][e][1] for e in edges]
    return steps[start:end]


def segments_of(data, block):
    """Lines of the segments of a block: [(source, line), ...] each."""
    return [[(data["places"][place][0], line) for place, *lines in segment
             for line in lines] for segment in data["blocks"][block - 1][3:]]


def lines_of(page, data, path):
    lines = []
    blocks = blocks_of(data, path)
    for i, block in enumerate(blocks):
        segments = segments_of(data, block)
        if len(path) > 9 and i + 1 == len(blocks):
            segments = segments[:path[9] + 1]
        lines += [(page.index["sources"][s], line)
                  for segment in segments for s, line in segment]
    return lines


def ranges(lines):
    out = []
    for file, line in lines:
        if out and out[-1]["file"] == file and \
                out[-1]["first"] <= line <= out[-1]["last"] + 1:
            out[-1]["last"] = max(out[-1]["last"], line)
        else:
            out.append({"file": file, "first": line, "last": line})
    return out


def check_markup(name, page):
    equal(f"{name}: markup", page.faults, [])
    code = "\n".join(page.code).replace("http://www.w3.org/2000/svg", "")
    found = re.findall(r"https?://|@import|url\(|\bfetch\(|XMLHttp|WebSocket|"
                       r"innerHTML|outerHTML|insertAdjacent|document\.write|"
                       r"\beval\(", code)
    equal(f"{name}: loads nothing, makes no markup of text", found, [])
    test(f"{name}: has code", len(page.code) == 2 and "function" in code)
    test(f"{name}: policy", "default-src 'none'" in page.text)
    equal(f"{name}: elements of data", len(page.data),
          1 + len(page.functions) + len(page.sources))
    for key, value in page.data.items():
        if "<" in value:
            test(f"{name}: {key} is escaped", False)
            return
    test(f"{name}: data are escaped", True)


def check_report(name, page, report):
    """Functions, blocks, edges and lines against `cairn report --json`."""
    equal(f"{name}: functions", [row[1] or row[0] for row in
                                 page.index["functions"] if row[8] != 2],
          [f["name"] for f in report["functions"]])
    same = 0
    for f in report["functions"]:
        row, data = page.find(f["name"])
        counts = [b["count"] for b in f["blocks"]]
        want = [f["entries"], f["executions"], len(f["blocks"]), f["line"],
                counts,
                [[e["source"], e["target"], e["count"]] for e in f["edges"]],
                f["reason"], 0 if f["consistent"] else 1]
        got = [row[4], row[5], row[6], row[3],
               [b[0] for b in data["blocks"]],
               [[*e[:2], e[3]] for e in data["edges"]], data["reason"], row[8]]
        if got == want:
            same += 1
        else:
            equal(f"{name}: {f['name']}", got, want)
    equal(f"{name}: functions that are the same", same,
          len(report["functions"]))
    for source in report["sources"]:
        if source["file"] not in page.index["sources"]:
            test(f"{name}: has {source['file']}", False)
            continue
        data = page.sources[page.index["sources"].index(source["file"])]
        counts = data["counts"]
        equal(f"{name}: lines of {os.path.basename(source['file'])}",
              list(zip(counts[::2], counts[1::2])),
              [(x["line"], x["count"]) for x in source["lines"]])


def check_paths(name, page, paths):
    """Against `cairn paths --json`."""
    compared = 0
    for f in paths["functions"]:
        row, data = page.find(f["name"])
        equal(f"{name}: {f['name']}: numbers",
              [row[7], data["executed"], data["selected"], data["possible"],
               data["total"], data["nunfinished"], len(data["paths"])],
              [len(f["paths"]), len(f["paths"]), len(f["paths"]),
               f["possible"], sum(int(p["count"]) for p in f["paths"]),
               len(f["unfinished"]), min(LIMIT, len(f["paths"]))])
        for kind in ("paths", "unfinished"):
            for got, want in zip(data[kind], f[kind]):
                head = [want.get("number"), want.get("count",
                                                     want.get("frames"))]
                fine = got[:2] == head and \
                    got[2:5] == [want["begin"]["kind"], want["end"]["kind"],
                                 want["end"]["block"]] and \
                    blocks_of(data, got) == want["blocks"] and \
                    got[8] == want["edges"] and \
                    ranges(lines_of(page, data, got)) == want["lines"]
                if fine:
                    compared += 1
                else:
                    test(f"{name}: {f['name']}", False, f"{got} is {want}")
    test(f"{name}: compared paths", compared > 3, str(compared))
    return sum(len(f["unfinished"]) for f in paths["functions"])


def make_page(work, name, command, profile, *options):
    path = os.path.join(work, name + ".html")
    call([CAIRN, command, "--html", path, *options, profile])
    return path, Page(path)


def check_text(name, page, path):
    data = page.sources[page.index["sources"].index(path)]
    with open(path, "rb") as file:
        want = file.read().replace(b"\0", b"\xff").decode("utf-8", "replace")
    equal(f"{name}: text", data["text"], want)


def check_notes(work, profile, source):
    """Source that is not there, has changed, or is not wanted."""
    def note(name, *options):
        _, page = make_page(work, name, "report", profile, *options)
        data = page.sources[page.index["sources"].index(source)]
        return data["note"] or "", data["text"], data["counts"], page

    says, text, counts, page = note("fresh")
    test("fresh source", not says and text and counts, says)
    headers = [data for path, data in zip(page.index["sources"], page.sources)
               if path.startswith("/usr/")]
    test("system headers: no text", all(data["text"] is None and
                                        "system" in data["note"]
                                        for data in headers))
    says, text, *_ = note("nosource", "--no-source")
    test("--no-source", "--no-source" in says and text is None, says)
    future = os.stat(source).st_mtime + 100000
    os.utime(source, (future, future))
    says, text, *_ = note("touched")
    test("touched source", not says and text, says)
    with open(source, "rb") as f:
        before = f.read()
    with open(source, "wb") as f:
        f.write(before.replace(b"\0", b" ") + b"/* changed */\n")
    says, text, *_ = note("changed")
    test("changed source", "not the text that was compiled" in says and text,
         says)
    with open(source, "wb") as f:
        f.write(before)
    os.rename(source, source + ".away")
    says, text, counts, _ = note("missing")
    test("missing source", "cannot be read" in says and text is None and
         counts, says)
    os.rename(source + ".away", source)


def check_options(work, profile):
    out = os.path.join(work, "options.html")

    def status(*argv):
        done = subprocess.run([CAIRN, *argv], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr

    for argv, want, says in (
            (("paths", "--html"), 2, "needs a value"),
            (("paths", "--html", out), 2, "no profile"),
            (("paths", "--html", "", profile), 2, "no output"),
            (("paths", "--html", profile, profile), 2, "--html"),
            (("paths", "--html", out, "--json", profile), 2, "exclude"),
            (("paths", "--html", out, "-o", out, profile), 2, "name one"),
            (("report", "--html", out, "--json", profile), 2, "excludes"),
            (("report", "--html", out, "--lcov", profile), 2, "excludes"),
            (("report", "--html", out, "-o", out, profile), 2, "name one"),
            (("report", "--html", profile, profile), 2, "overwrite"),
            (("paths", "--html", os.path.join(work, "no", "x"), profile), 2,
             "no"),
            (("paths", "--html", out, "--function", "zz*", profile), 1,
             "matches"),
            (("paths", "--html", out, "--line", "zz.c:3", profile), 1,
             "goes through")):
        code, error = status(*argv)
        test(f"{' '.join(argv[:1] + argv[1:4:2])}", code == want and
             says in error and error.count("\n") == 1, f"{code} {error}")
    test("no page after an error", not os.path.exists(out))


def check_selection(work, profile, source):
    _, page = make_page(work, "line", "paths", profile, "--line",
                        f"{os.path.basename(source)}:6")
    _, data = page.find("many")
    test("--line", data["selected"] == 128 and data["executed"] == 256 and
         page.index["line"].endswith(":6"), str(data["selected"]))
    _, page = make_page(work, "function", "report", profile, "--function",
                        "larg*")
    equal("--function", [row[0] for row in page.index["functions"]],
          ["large"])


def check_stable(work, exe):
    pages = []
    for i in (1, 2):
        profile = os.path.join(work, f"stable{i}.cairn")
        if os.path.exists(profile):
            os.unlink(profile)
        subprocess.run([exe], cwd=work, check=False,
                       stdout=subprocess.DEVNULL,
                       env=dict(os.environ, CAIRN_OUT=profile))
        path, _ = make_page(work, f"stable{i}", "paths", profile, "--stable")
        with open(path, "rb") as file:
            pages.append(file.read())
    test("--stable: equal runs, equal pages", pages[0] == pages[1])
    test("--stable: no path of this machine",
         work.encode() not in pages[0])


def check_corpus(work):
    """Profiles of runs that ended badly: marked as the other reports do."""
    doubts = []
    folder = os.path.join(ROOT, "tests", "fuzz", "corpus", "container")
    for name in sorted(os.listdir(folder)):
        profile = os.path.join(folder, name)
        done = subprocess.run([CAIRN, "report", "--json", profile],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            continue
        report = json.loads(done.stdout)
        path, page = make_page(work, name, "report", profile)
        check_markup(name, page)
        check_report(name, page, report)
        equal(f"{name}: note", page.index["note"], report["note"])
        if any(not f["consistent"] for f in report["functions"]):
            doubts.append(path)
    test("corpus: counts in doubt", doubts)
    return doubts


# --- in a browser ------------------------------------------------------------

def browse(page, fragment, name="page.js"):
    """What the script saw in the page, and its errors."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        script = file.read()
    text = text.replace(
        "<head>", "<head><script>window.pageErrors = [];"
        "addEventListener('error', (e) => pageErrors.push(String(e.message)));"
        "addEventListener('securitypolicyviolation', (e) => "
        "pageErrors.push(e.violatedDirective));</script>", 1)
    text = text.replace("</body>", f"<script>{script}</script></body>")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "browsed.html")
        home = os.path.join(folder, "home")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-quic", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update",
             "--disable-dev-shm-usage", "--user-data-dir=" + home,
             "--window-size=1600,1000", "--virtual-time-budget=20000",
             "--dump-dom", f"file://{path}#{fragment}"],
            capture_output=True, text=True, timeout=600, check=False)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.S)
    if not found:
        return None, [f"no answer: {done.stdout[-300:]} {done.stderr[-300:]}"]
    result = json.loads(html.unescape(found.group(1)))
    return result["seen"], result["errors"]


def check_browser(name, path, page, paths, function):
    """The page against `cairn paths --json`, function selected by address."""
    want = next(f for f in paths["functions"] if f["name"] == function)
    third = want["paths"][min(2, len(want["paths"]) - 1)]
    seen, errors = browse(path, f"f={function}&path={third['number']}")
    equal(f"{name}: errors in the browser", errors, [])
    if seen is None:
        return
    for f in paths["functions"]:
        equal(f"{name}: {f['name']} in the browser", seen["paths"][f["name"]],
              [{"blocks": p["blocks"], "lines": p["lines"],
                "branches": [[b["block"], b["way"], b["target"]]
                             for b in p["branches"]],
                "ways": ways.on_page(sys.modules[__name__], page,
                                     *page.find(f["name"]), p)}
               for p in f["paths"][:LIMIT] + f["unfinished"][:LIMIT]])
    row, data = page.find(function)
    own = page.index["sources"][row[2]]

    def lines(p):
        return sorted({line for r in p["lines"] if r["file"] == own
                       for line in range(r["first"], r["last"] + 1)})

    def shown(state, p, what):
        equal(f"{name}: {what}: blocks", state["blocks"],
              sorted(set(p["blocks"])))
        equal(f"{name}: {what}: edges", state["edges"], len(set(p["edges"])))
        equal(f"{name}: {what}: selected", state["selected"], 1)
        told = ways.on_page(sys.modules[__name__], page, row, data, p)
        equal(f"{name}: {what}: branches", [
            w.split(" ", 1)[1].strip() for w in state["told"]], told)
        test(f"{name}: {what}: no true or false", not re.search(
            r"\b(true|false|T|F)\b", " ".join(state["told"] +
                                              state["labels"])))
        if lines(p):
            equal(f"{name}: {what}: lines", state["lines"], lines(p))

    listed = len(data["paths"]) + len(data["unfinished"])
    equal(f"{name}: function of the address", seen["start"]["f"], function)
    shown(seen["address"], third, "path of the address")
    equal(f"{name}: Escape", [seen["escaped"][k] for k in
                              ("selected", "blocks", "edges", "rows")],
          [0, [], 0, listed])
    shown(seen["first"], want["paths"][0], "first path")
    if len(want["paths"]) > 1:
        shown(seen["second"], want["paths"][1], "arrow to the second")
    equal(f"{name}: counts", seen["escaped"]["counts"][:len(data["paths"])],
          [str(p["count"]) for p in want["paths"]][:LIMIT])
    note = seen["escaped"]["pathNote"]
    equal(f"{name}: says what is left off", "hottest" in note,
          len(want["paths"]) > LIMIT)
    hits = [p for p in data["paths"] + data["unfinished"]
            if seen["block"]["id"] in blocks_of(data, p)]
    equal(f"{name}: paths through a block", seen["block"]["rows"], len(hits))
    equal(f"{name}: block", seen["block"]["picked"], [seen["block"]["id"]])
    place = (own, seen["line"]["line"])
    hits = [p for p in data["paths"] + data["unfinished"]
            if place in lines_of(page, data, p)]
    equal(f"{name}: paths through a line", seen["line"]["rows"], len(hits))
    nblocks = len(data["blocks"])
    test(f"{name}: blocks that are drawn", seen["escaped"]["drawn"] == nblocks
         if nblocks <= 400 else 0 < seen["escaped"]["drawn"] <= 200 and
         str(nblocks) in seen["escaped"]["graphNote"],
         str(seen["escaped"]["drawn"]))
    for key in ("zoomed", "themed", "sorted", "stepped", "drawn", "printed"):
        test(f"{name}: {key}", seen[key])
    equal(f"{name}: filter", [seen["filtered"], seen["names"] > 0], [0, True])
    equal(f"{name}: text is no markup", seen["evil"], 0)
    equal(f"{name}: requests", seen["requests"], 0)


def check_doubt(page):
    seen, errors = browse(page, "")
    test("doubt is marked", not errors and
         seen["start"]["marks"][0].startswith("~") and
         "cairn check" in seen["start"]["notes"], str(errors or seen))


def check_address(page):
    seen, errors = browse(page, "f=large&block=4")
    equal("edges: errors in the browser", errors, [])
    test("edges: block of the address", seen and
         seen["start"]["picked"] == [4] and seen["drawn"])


def run(work):
    nasty = os.path.join(work, "nasty.cpp")
    many = os.path.join(work, "many.c")
    with open(nasty, "wb") as file:
        file.write(NASTY)
    many_paths(many)
    cases = []
    for name, source, compiler, options, function in (
            ("nasty", nasty, CAIRN_CXX, ("-O1", "--cairn=paths"), "main"),
            ("many", many, CAIRN_CC, ("-O0", "--cairn=paths"), "many"),
            ("large", many, CAIRN_CC, ("-O0", "--cairn=paths"), "large"),
            ("edges", many, CAIRN_CC, ("-O1",), None)):
        profile = build(work, name, source, compiler, *options)
        report = json.loads(call([CAIRN, "report", "--json", profile]))
        path, page = make_page(work, name, "report", profile)
        check_markup(name, page)
        check_report(name, page, report)
        check_text(name, page, source)
        if not function:
            test("edges: no paths", all("paths" not in f
                                        for f in page.functions))
            continue
        paths = json.loads(call([CAIRN, "paths", "--json", profile]))
        unfinished = check_paths(name, page, paths)
        ways.check_text(sys.modules[__name__], name, page, paths, profile)
        if source == nasty:
            test("nasty: exit left paths unfinished", unfinished)
        _, other = make_page(work, name + "2", "paths", profile)
        equal(f"{name}: cairn paths makes the same page", other.text,
              page.text)
        cases.append((name, path, page, paths, function))
    check_notes(work, os.path.join(work, "nasty.cairn"), nasty)
    check_options(work, os.path.join(work, "many.cairn"))
    check_selection(work, os.path.join(work, "many.cairn"), many)
    check_stable(work, os.path.join(work, "many"))
    doubts = check_corpus(work)
    in_browser = lists.check(work, sys.modules[__name__])
    in_browser += [(check_browser, *case) for case in cases]
    in_browser += [(check_doubt, doubts[0]),
                   (check_address, os.path.join(work, "edges.html"))]
    if not CHROMIUM:
        print("skipped: no chromium, so no page was opened")
    jobs = [(ways.check_prefer, sys.modules[__name__], work)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: job[0](*job[1:]),
                      jobs + in_browser if CHROMIUM else jobs))
    if NODE:
        done = subprocess.run(
            [NODE, os.path.join(HERE, "layout.js"),
             os.path.join(ROOT, "src", "cli", "assets", "layout.js")],
            capture_output=True, text=True, check=False)
        test("layout", done.returncode == 0, done.stdout + done.stderr)
    else:
        print("skipped: no node, so no random graph was drawn")


if __name__ == "__main__":
    sys.exit(suite(run))
