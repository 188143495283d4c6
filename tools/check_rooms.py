#!/usr/bin/env python3
"""Fail when a file includes what its room may not know, or when modules include each other in a circle.

    check_rooms.py ROOT

Rooms are the top folders, and rt/executive, which is a room of its own.  rt and dynamics are leaves; io
sees rt and, of dynamics, the vectors only; rt/executive sees these three; config sees rt/executive, too,
but what reads text and imports models (config/yaml, config/import) does not: it is linked without an
executive.  Nobody sees tools and tests.  A header of ours is named by its room, so a bare "ring.h" is
refused as well: it would hide who depends on whom.

A module is a header and the source of the same name, with the header NAME_private.h that its own files
share.  Two modules that need each other are one module with two names; CIRCLES names by their first
module those that may, with the reason.
"""
import pathlib
import re
import sys

ROOMS = {
    "rt": ("rt/",),
    "rt/executive": ("rt/", "dynamics/", "io/"),
    "dynamics": ("dynamics/",),
    "io": ("io/", "rt/", "dynamics/math/spatial.h"),
    "config": ("config/", "rt/", "dynamics/", "io/"),
    "config/yaml": ("config/yaml/", "rt/", "dynamics/"),
    "config/import": ("config/import/", "config/yaml/", "rt/", "dynamics/"),
    "tools": ("tools/", "config/", "io/", "rt/", "dynamics/"),
    "tests": ("tests/", "tools/", "config/", "io/", "rt/", "dynamics/"),
}
# Below rt/ lies a room that is no leaf: these do not see it.
WITHOUT_EXECUTIVE = {"rt", "io", "config/yaml", "config/import"}
# Pure functions need no more of C than this; a clock, a file or a thread starts with a header.
SYSTEM_HEADERS = {
    "dynamics": {
        "cpuid.h",
        "float.h",
        "immintrin.h",
        "math.h",
        "stdbool.h",
        "stddef.h",
        "stdint.h",
        "string.h",
    },
}
# Third-party headers that are not system headers, and who may use them.
FOREIGN = {"unity.h": {"tests"}}
# Modules that may include each other, and why.
CIRCLES = {
    "io/bus/bus": "bus.c is the table of the kinds of buses, and each kind implements bus.h",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(name):
    """The innermost room that a path lies in."""
    return max((room for room in ROOMS if name.startswith(room + "/")), key=len)


def sources(root):
    """(path from root, text) of every C file of ours, room by room."""
    for top in sorted({room.partition("/")[0] for room in ROOMS}):
        for path in sorted((root / top).rglob("*.[ch]")):
            if "node_modules" not in path.parts and "subprojects" not in path.parts:
                yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def allowed(room, quote, header):
    if quote == "<":
        return room not in SYSTEM_HEADERS or header in SYSTEM_HEADERS[room]
    if header.startswith("rt/executive/") and room in WITHOUT_EXECUTIVE:
        return False
    return header.startswith(ROOMS[room]) or room.partition("/")[0] in FOREIGN.get(header, ())


def violations(files):
    """Yield `file:line: what` for each include that leaves its room."""
    for name, text in files:
        room = room_of(name)
        for include in INCLUDE.finditer(text):
            quote, header = include.groups()
            if not allowed(room, quote, header):
                line = text.count("\n", 0, include.start(1)) + 1
                yield f"{name}:{line}: {room} may not include {header}"


def module(name):
    return name.rsplit(".", 1)[0].removesuffix("_private")


def graph(files):
    """For each module of ours the modules that it includes."""
    needs = {}
    for name, _ in files:
        needs.setdefault(module(name), set())
    for name, text in files:
        for quote, header in INCLUDE.findall(text):
            if quote == '"' and module(header) in needs and module(header) != module(name):
                needs[module(name)].add(module(header))
    return needs


def circles(needs):
    """Sets of modules that all need each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(needs[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(tuple(sorted(stack[at:])))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(needs):
        if node not in index:
            visit(node)
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = [f"{room}/ is not there" for room in ROOMS if not (root / room).is_dir()]
    files = list(sources(root))
    wrong += violations(files)
    wrong += [f"{circle[0]}: includes itself by way of {', '.join(circle[1:])}"
              for circle in circles(graph(files)) if circle[0] not in CIRCLES]
    for sentence in wrong:
        print(sentence)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
