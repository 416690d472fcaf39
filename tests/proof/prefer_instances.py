#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns path profiles into the functions that proof_prefer reads.

    prefer_instances.py [--cairn CAIRN] NAME=FILE... > FUNCTIONS

The interesting paths are all executed ones.  A function counts if it has at
most 200 of them.  What is written is the acyclic graph of the edges that they
take: a path that ends at a back edge or a cut leaves there, one that begins
behind it enters there.  Edges keep their order, which the numbering looks at.
"""
import argparse
import json
import subprocess
import sys

MAX_PATHS = 200


def keys_of(path):
    """The edges of a path as (source, kind, id, target), in their order."""
    blocks, edges = path["blocks"], path["edges"]
    enters = path["begin"]["kind"] == "entry"
    # ways in: the entry first, then the beginnings behind ended edges
    keys = [(0, 0 if enters else 1, edges[0] if enters else blocks[0],
             blocks[0])]
    inner = edges[1:] if enters else edges
    for i, block in enumerate(blocks[:-1]):
        keys.append((block, 0, inner[i], blocks[i + 1]))
    if len(inner) == len(blocks):
        keys.append((blocks[-1], 0, inner[-1], 0))
    elif len(inner) == len(blocks) - 1:
        keys.append((blocks[-1], 1, 0, 0))  # stops in a block without ways out
    else:
        sys.exit("prefer_instances: a path with too few edges")
    return keys


def write(name, paths):
    """One function: graph and paths."""
    routes = [keys_of(path) for path in paths]
    edges = sorted({key for route in routes for key in route})
    blocks = sorted({0} | {key[0] for key in edges})
    block_at = {block: i for i, block in enumerate(blocks)}
    edge_at = {key: i for i, key in enumerate(edges)}
    print(name, len(blocks), len(edges), len(routes))
    print(" ".join(f"{block_at[key[0]]} {block_at[key[3]]}" for key in edges))
    for route in routes:
        print(len(route), *(edge_at[key] for key in route))


def main():
    """Reads the profiles by `cairn paths`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", default="cairn")
    parser.add_argument("profiles", nargs="+", metavar="NAME=FILE")
    arguments = parser.parse_args()
    for profile in arguments.profiles:
        program, _, file = profile.partition("=")
        text = subprocess.run(
            [arguments.cairn, "paths", "--json", "--top", "0", file],
            stdout=subprocess.PIPE, check=True).stdout
        for function in json.loads(text)["functions"]:
            if 0 < len(function["paths"]) <= MAX_PATHS:
                write(f"{program}:{function['name']}", function["paths"])


if __name__ == "__main__":
    main()
