# SPDX-License-Identifier: Apache-2.0
"""Pages about lists: cairn residual --html and cairn tests --html.

The tables are read as they stand in the file, as a browser without JavaScript
would show them, and compared with what --json says; so are the paths that their
rows name, and the blocks, edges and lines that the page marks.  With Chromium,
every row is selected.  run.py calls check().
"""
import html.parser
import json
import os
import subprocess

# Names that could end an element or an attribute.
SOURCE = "no<te> &\"'.cpp"
PROGRAM = """#include <cstdlib>
/* </script><evil>x</evil> */
template <char C> __attribute__((noinline)) int choose(int a, int b)
{
	int sum = 0;
	if (a > 1)
		sum += C;
	else
		sum += b;
	if (b > 1)
		sum *= 2;
	else
		sum -= a;
	if (a > 8)
		sum++;
	return sum;
}
__attribute__((noinline)) static void leave(int a)
{
	if (a > 20)
		std::exit(3);
}
struct Less { int k; bool operator<(const Less &) const; };
__attribute__((noinline)) bool Less::operator<(const Less &o) const
{
	if (k > 100)
		leave(k);
	return k < o.k;
}
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 1; i + 1 < argc; i += 2) {
		int a = std::atoi(argv[i]), b = std::atoi(argv[i + 1]);
		sum += choose<'<'>(a, b) + choose<'"'>(b, a);
		sum += Less{a} < Less{b};
	}
	return sum & 1;
}
"""
TESTS = {"t<1>": "5 0", "t&2": "0 5", "t\"3": "0 0 5 0", "t'4": "0 5 0 5"}
FIELD = {"u<1>": "5 5 5 0", "u2": "5 5 9 0", "u3": "500 1"}


class Tables(html.parser.HTMLParser):
    """The sections of a page: tables as lists of rows, and their text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.sections, self.section, self.cell, self.row = {}, None, None, None
        self.depth = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "div" and attrs.get("id") == "tables":
            self.depth = 1
        elif self.depth and tag == "section":
            self.section = {"rows": [], "text": ""}
            self.sections[attrs["id"]] = self.section
        elif self.section is not None and tag == "tr":
            self.row = {"cells": [], **{k[5:]: int(v) for k, v in
                                        attrs.items()}}
            self.section["rows"].append(self.row)
        elif self.section is not None and tag in ("td", "th"):
            self.row["cells"].append("")
            self.cell = tag

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        elif tag == "section":
            self.section = None

    def handle_data(self, data):
        if self.section is None:
            return
        self.section["text"] += data
        if self.cell:
            self.row["cells"][-1] += data

    def listed(self, section):
        """Rows that select something."""
        return [row for row in self.sections[section]["rows"] if "f" in row]


def plain(cell):
    return cell.replace("\u202f", "")


def build(work, call, compiler):
    folder = os.path.join(work, "lists")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, SOURCE), "w", encoding="ascii") as file:
        file.write(PROGRAM)
    exe = os.path.join(folder, "program")
    call([compiler, "--cairn=paths", "-O0", "-g", SOURCE, "-o", exe],
         cwd=folder)
    for name, args in {**TESTS, **FIELD}.items():
        profile = os.path.join(folder, name + ".cairn")
        if os.path.exists(profile):
            os.unlink(profile)
        subprocess.run([exe, *args.split()], check=False,
                       env=dict(os.environ, CAIRN_OUT=profile))
    return folder


def place(t, page, row):
    """What a row names: index row, data, and the path."""
    function = page.index["functions"][row["f"]]
    data = page.functions[row["f"]]
    return function, data, (data["paths"] + data["unfinished"])[row["p"]]


def same_path(t, page, row, want):
    """Does a row of a table name the path that --json has there?"""
    _, data, path = place(t, page, row)
    return t.blocks_of(data, path) == want["blocks"] and \
        path[8] == want["edges"] and \
        t.ranges(t.lines_of(page, data, path)) == want["lines"]


def check_residual(t, folder, tested, field):
    command = [t.CAIRN, "residual", "--tested", tested, *field]
    page_path = os.path.join(folder, "residual.html")
    done = subprocess.run([*command, "--html", page_path], cwd=folder,
                          check=False, capture_output=True, text=True)
    t.equal("residual: status, output", [done.returncode, done.stdout,
                                         done.stderr], [1, "", ""])
    done = subprocess.run([*command, "--json"], cwd=folder, check=False,
                          capture_output=True, text=True)
    want = json.loads(done.stdout)
    page = t.Page(page_path)
    t.check_markup("residual", page)
    tables = Tables(page.text)
    rows = tables.listed("untested")
    paths = want["untested"]
    t.test("residual: has what it is about", len(paths) > 4 and
           any(p["hidden"] for p in paths) and
           any(p["untested_edges"] for p in paths) and
           any(p["unfinished"] for p in paths))
    t.equal("residual: rows", len(rows), len(paths))
    for row, p in zip(rows, paths):
        function, data, path = place(t, page, row)
        cells = [plain(cell) for cell in row["cells"]]
        count = p.get("count", p.get("frames"))
        t.equal("residual: cells", cells[1:8],
                [str(p["users"]), str(count), str(p["untested_edges"]),
                 str(p["untested_pairs"]), str(len(p["blocks"])),
                 ", ".join(["no untested edge"] * p["hidden"] +
                           ["died"] * p["unfinished"]),
                 p["function"]["demangled"] or p["function"]["name"]])
        t.test("residual: place", SOURCE in cells[8], cells[8])
        t.equal("residual: function", function[1] or function[0],
                p["function"]["name"])
        t.test("residual: path", same_path(t, page, row, p) and
               path[1] == count, f"{path} {p}")
        t.equal("residual: untested edges",
                len([e for e in path[8] if e in data["untested_edges"]]),
                p["untested_edges"])
    check_tested(t, folder, tested, page)
    text = tables.sections["summary"]["text"]
    for file in field:
        t.test(f"residual: names {file}", file in text)
    total = want["totals"]
    numbers = [plain(row["cells"][1])
               for row in tables.sections["summary"]["rows"][1:8]]
    t.equal("residual: totals", numbers, [str(total[key]) for key in (
        "untested_paths", "untested_executions",
        "functions_with_untested_paths", "untested_edges",
        "functions_with_untested_edges",
        "untested_paths_in_functions_without_untested_edges",
        "untested_paths_without_untested_edges")])
    return page_path, page, rows


def check_tested(t, folder, tested, page):
    """Marked as untested is what has no count in the tests."""
    report = json.loads(t.call([t.CAIRN, "report", "--json", tested],
                               cwd=folder))
    counts = {f["name"]: f for f in report["functions"]}
    marked = 0
    for function, data in zip(page.index["functions"], page.functions):
        f = counts[function[1] or function[0]]
        blocks = [b["id"] for b in f["blocks"] if not b["count"]]
        edges = [i for i, e in enumerate(f["edges"]) if not e["count"]]
        t.equal("residual: untested blocks", data["untested_blocks"], blocks)
        t.equal("residual: all untested edges", data["untested_edges"], edges)
        marked += len(blocks) + len(edges)
    t.test("residual: marks", marked)


def score_cells(score):
    return [f"{score['ochiai']:.4f}", f"{score['tarantula']:.4f}",
            str(score["failed"]), str(score["passed"])]


def check_tests(t, folder, tests, failed):
    command = [t.CAIRN, "tests", *tests, "--failed", failed]
    page_path = os.path.join(folder, "tests.html")
    t.call([*command, "--html", page_path], cwd=folder)
    want = json.loads(t.call([*command, "--json"], cwd=folder))
    page = t.Page(page_path)
    t.check_markup("tests", page)
    tables = Tables(page.text)
    lines, paths = tables.listed("lines"), tables.listed("suspects")
    t.equal("tests: rows", [len(lines), len(paths)],
            [len(want["lines"]), len(want["paths"])])
    t.test("tests: has what it is about", len(lines) > 5 and len(paths) > 2)
    for row, line in zip(lines, want["lines"]):
        _, data, path = place(t, page, row)
        cells = row["cells"]
        t.equal("tests: line", cells[1:9],
                [f"{line['score']:.4f}", *score_cells(line["line_itself"]),
                 *score_cells(line["path"])[:2],
                 f"{SOURCE}:{line['line']}"])
        t.equal("tests: source of a line",
                [page.index["sources"][row["s"]], row["l"]],
                [line["file"], line["line"]])
        t.test("tests: path through a line",
               (line["file"], line["line"]) in t.lines_of(page, data, path))
    for row, path in zip(paths, want["paths"]):
        t.equal("tests: path", [plain(c) for c in row["cells"][1:5]],
                score_cells(path["score"]))
        t.test("tests: blocks of a path", same_path(t, page, row, path))
    scores = {}
    for name, data in zip(page.index["sources"], page.sources):
        pairs = data["scores"]
        for line, score in zip(pairs[::2], pairs[1::2]):
            scores[name, line] = score
    t.equal("tests: scores beside the source", scores,
            {(l["file"], l["line"]): l["score"] for l in want["lines"]})
    check_order(t, tables, want)
    return page_path, page, want


def check_order(t, tables, want):
    rows = tables.sections["tests"]["rows"][1:]
    by_file = {test["file"]: test for test in want["tests"]}
    t.equal("tests: order", [[plain(c) for c in row["cells"][1:]]
                             for row in rows],
            [[step["file"],
              "failed" if by_file[step["file"]]["failed"] else "passed",
              str(by_file[step["file"]]["paths"]),
              str(by_file[step["file"]]["alone"]), str(step["added"]),
              "yes" if step["file"] in want["smallest"]["tests"] else "",
              "" if by_file[step["file"]]["alone"] else "adds no path"]
             for step in want["order"]])
    t.test("tests: some add no path, some do",
           0 < sum(not f["alone"] for f in want["tests"]) < len(rows))


def check_few(t, folder, tested, tests, field):
    """--top, nothing to list, and a build that counts untested paths only."""
    page_path = os.path.join(folder, "few.html")

    def sections(status, *argv):
        done = subprocess.run([t.CAIRN, *argv, "--html", page_path],
                              cwd=folder, check=False, capture_output=True,
                              text=True)
        t.equal(f"{argv[0]}: status", [done.returncode, done.stderr],
                [status, ""])
        return t.Page(page_path), Tables(t.Page(page_path).text)

    page, tables = sections(1, "residual", "--top", "2", "--tested", tested,
                            *field)
    t.test("--top of residual", len(tables.listed("untested")) == 2 and
           "more are not on this page; --top 0" in
           tables.sections["untested"]["text"] and
           sum(len(f["paths"] + f["unfinished"])
               for f in page.functions) == 2)
    page, tables = sections(0, "tests", "--top", "1", "--failed", tests[1],
                            *tests)
    t.equal("--top of tests", [len(tables.listed("lines")),
                               len(tables.listed("suspects")),
                               len(tables.sections["tests"]["rows"])],
            [1, 1, 1 + len(tests)])
    page, tables = sections(0, "residual", "--tested", tested, tests[0])
    t.equal("nothing untested", [page.functions, list(tables.sections)],
            [[], ["summary"]])
    page, tables = sections(0, "tests", *tests)
    t.equal("nothing failed", [page.functions, list(tables.sections)],
            [[], ["tests"]])
    return page_path


def check_partial(t, folder, tested):
    t.call([t.CAIRN_CXX, "--cairn=residual,tested=" + tested, "-O0", "-g",
            SOURCE, "-o", "shipped"], cwd=folder)
    profile = os.path.join(folder, "shipped.cairn")
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run(["./shipped", "5", "5", "5", "0"], cwd=folder, check=False,
                   env=dict(os.environ, CAIRN_OUT=profile))
    page_path = os.path.join(folder, "shipped.html")
    command = [t.CAIRN, "residual", "--tested", tested, profile]
    done = subprocess.run([*command, "--html", page_path], cwd=folder,
                          check=False, capture_output=True, text=True)
    want = json.loads(subprocess.run(
        [*command, "--json"], cwd=folder, check=False, capture_output=True,
        text=True).stdout)
    page = t.Page(page_path)
    tables = Tables(page.text)
    t.test("residual build: page", done.returncode == 1 and
           tables.listed("untested") and
           "did not count all" in tables.sections["summary"]["text"] and
           "not known" in tables.sections["summary"]["text"])
    t.equal("residual build: order of first occurrence",
            [plain(row["cells"][9]) for row in tables.listed("untested")],
            [str(min((o["number"] for o in p["order"]), default="-"))
             for p in want["untested"]])
    t.test("residual build: unknown is not 0", all(
        function[5] is None for function in page.index["functions"]))


def check_usage(t, folder, tested, tests, field):
    out = os.path.join(folder, "usage.html")
    residual = ("residual", "--tested", tested, field[0])
    for argv, says in (
            ((*residual, "--html"), "needs a value"),
            ((*residual, "--html", ""), "no output"),
            ((*residual, "--html", out, "--json"), "exclude"),
            ((*residual, "--html", out, "-o", out), "name one"),
            ((*residual, "--html", field[0]), "overwrite"),
            ((*residual, "--html", tested), "overwrite"),
            ((*residual, "--html", os.path.join(out, "x")), "x"),
            (("tests", tests[0], "--html"), "needs a value"),
            (("tests", tests[0], "--html", ""), "no output"),
            (("tests", tests[0], "--html", out, "--json"), "exclude"),
            (("tests", tests[0], "--html", out, "--html", out), "name one"),
            (("tests", tests[0], "--html", tests[0]), "overwrite"),
            (("tests", "--html", out), "no test")):
        done = subprocess.run([t.CAIRN, *argv], cwd=folder, check=False,
                              capture_output=True, text=True)
        t.test(f"usage {argv}", done.returncode == 2 and not done.stdout and
               says in done.stderr and done.stderr.count("\n") == 1,
               done.stderr)
    t.test("no page after a mistake", not os.path.exists(out))


# --- in a browser ------------------------------------------------------------

def own_lines(t, page, row):
    function, data, path = place(t, page, row)
    own = page.index["sources"][row.get("s", function[2])]
    return sorted({line for file, line in t.lines_of(page, data, path)
                   if file == own})


def check_rows(t, name, page, rows, seen):
    """Each row of a list, selected."""
    t.equal(f"{name}: rows in the browser", len(seen), len(rows))
    for i, (row, saw) in enumerate(zip(rows, seen)):
        function, data, path = place(t, page, row)
        where = f"{name} row {i + 1}"
        t.equal(f"{where}: function", saw["f"], function[1] or function[0])
        t.equal(f"{where}: blocks", saw["blocks"],
                sorted(set(t.blocks_of(data, path))))
        t.equal(f"{where}: edges", saw["edges"], sorted(set(path[8])))
        t.equal(f"{where}: lines", saw["lines"], own_lines(t, page, row))
        t.equal(f"{where}: selected, by keys", [saw["selected"], saw["step"]],
                [[i], [i]])
        if "l" in row:
            t.equal(f"{where}: blocks of the line", saw["picked"],
                    [b for b in range(1, len(data["blocks"]) + 1)
                     if (row["s"], row["l"]) in
                     sum(t.segments_of(data, b), [])])


def check_seen(t, name, seen, errors, tabs):
    t.equal(f"{name}: errors in the browser", errors, [])
    if seen is None:
        return False
    t.equal(f"{name}: tabs", [[tab["id"], tab["shown"], tab["function"]]
                              for tab in seen["tabs"]],
            [[tab, [] if tab == "function" else [tab], tab == "function"]
             for tab in tabs])
    t.equal(f"{name}: text is no markup, no requests",
            [seen["evil"], seen["requests"]], [0, 0])
    t.test(f"{name}: keys, view", seen["right"] and seen["left"] and
           seen["functions"])
    return True


def browse_residual(t, path, page, rows):
    seen, errors = t.browse(path, "", "lists.js")
    if not check_seen(t, "residual", seen, errors,
                      ["untested", "summary", "function"]):
        return
    t.equal("residual: starts with the first", seen["start"]["selected"], [0])
    check_rows(t, "residual", page, rows, seen["rows"]["untested"])
    for row, saw in zip(rows, seen["rows"]["untested"]):
        function, data, _ = place(t, page, row)
        t.equal("residual: marked blocks",
                [saw["untested"], saw["diamonds"]],
                [data["untested_blocks"]] * 2)
        t.equal("residual: marked edges", saw["untestedEdges"],
                data["untested_edges"])
        by_line = {}
        for b in range(1, len(data["blocks"]) + 1):
            for source, line in sum(t.segments_of(data, b), []):
                if source == function[2]:
                    by_line.setdefault(line, []).append(
                        b in data["untested_blocks"])
        t.equal("residual: marked lines", sorted(map(int, saw["marks"])),
                sorted(line for line, all_of in by_line.items()
                       if all(all_of)))
    t.test("residual: a block leads to the paths of the function",
           seen["block"]["tab"] == "function" and
           "block" in seen["block"]["chip"] and seen["block"]["rows"] > 0)
    t.test("residual: legend, headline", "no test ran it" in seen["legend"]
           and seen["headline"].startswith("untested paths: "))


def browse_tests(t, path, page, want):
    seen, errors = t.browse(path, "", "lists.js")
    tables = Tables(page.text)
    if not check_seen(t, "tests", seen, errors,
                      ["lines", "suspects", "tests", "function"]):
        return
    for section in ("lines", "suspects"):
        check_rows(t, section, page, tables.listed(section),
                   seen["rows"][section])
    t.equal("tests: scores in the browser", seen["rows"]["lines"][0]["marks"],
            {str(l["line"]): f"{l['score']:.3f}" for l in want["lines"]})
    address = seen["rows"]["lines"][1]
    again, errors = t.browse(path, address["hash"][1:], "lists.js")
    t.equal("tests: the address leads back", errors or
            [again["start"][key] for key in ("f", "tab", "blocks", "picked",
                                             "selected")],
            [address[key] for key in ("f", "tab", "blocks", "picked",
                                      "selected")])


def browse_few(t, path):
    seen, errors = t.browse(path, "", "lists.js")
    check_seen(t, "nothing failed", seen, errors, ["tests"])


def check(work, t):
    """All that needs no browser.  Returns what does: functions and arguments,
    that may be called at once."""
    folder = build(work, t.call, t.CAIRN_CXX)
    tests = [name + ".cairn" for name in TESTS]
    field = [name + ".cairn" for name in FIELD]
    tested = "all<tests>.cairn"
    t.call([t.CAIRN, "merge", "-o", tested, *tests], cwd=folder)
    residual = check_residual(t, folder, tested, field)
    trial = check_tests(t, folder, tests, tests[1])
    check_partial(t, folder, tested)
    check_usage(t, folder, tested, tests, field)
    few = check_few(t, folder, tested, tests, field)
    return [(browse_residual, t, *residual), (browse_tests, t, *trial),
            (browse_few, t, few)]
