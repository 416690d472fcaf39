# SPDX-License-Identifier: Apache-2.0
"""Books that programs keep of their variables, "variable old new" in lines,
and whether `cairn writes` has the same, in the same order."""
import json

# What each thread wrote down on its own: in no order.
EXCHANGED = ("exchanged", "pair.left", "pair.right")


def read_books(text):
    """{variable: [(old, new)]}, in order."""
    books = {}
    for line in text.splitlines():
        name, old, new = line.split()
        books.setdefault(name, []).append((old, new))
    for name in set(EXCHANGED) & set(books):
        books[name] = chained(books[name])
    return books


def chained(book):
    """As one goes on from the other, from 0 on; all values differ."""
    after = {old: (old, new) for old, new in book}
    found, at = [], "0"
    while at in after:
        found.append(after.pop(at))
        at = found[-1][1]
    return found


def what_differs(book, answer):
    """Of the JSON that cairn writes; None if nothing does."""
    writes = [(w["old"], w["new"]) for w in json.loads(answer)["writes"]
              if w["how"] == "store"]
    if writes == book:
        return None
    return next((f"write {i} is {a}, not {b}" for i, (a, b) in
                 enumerate(zip(writes, book)) if a != b),
                f"{len(writes)} writes, not {len(book)}")
