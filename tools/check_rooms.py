#!/usr/bin/env python3
"""Fail when a file includes what its room may not know.

    check_rooms.py ROOT

Rooms are the top folders. rt and dynamics are leaves; io sees rt and, of dynamics, the vectors
only; config sees all three; nobody sees tools and tests. A header of ours is named by its room,
so a bare "ring.h" is refused too: it would hide who depends on whom.
"""
import pathlib
import re
import sys

ROOMS = {
    "rt": ("rt/",),
    "dynamics": ("dynamics/",),
    "io": ("io/", "rt/", "dynamics/spatial.h"),
    "config": ("config/", "io/", "rt/", "dynamics/"),
    "tools": ("tools/", "config/", "io/", "rt/", "dynamics/"),
    "tests": ("tests/", "tools/", "config/", "io/", "rt/", "dynamics/"),
}
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

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def allowed(room, quote, header):
    if quote == "<":
        return room not in SYSTEM_HEADERS or header in SYSTEM_HEADERS[room]
    return header.startswith(ROOMS[room]) or room in FOREIGN.get(header, ())


def violations(root):
    """Yield `file:line: what` for each include that leaves its room."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]")):
            if "node_modules" in path.parts or "subprojects" in path.parts:
                continue
            text = path.read_text(encoding="utf-8")
            for include in INCLUDE.finditer(text):
                quote, header = include.groups()
                if not allowed(room, quote, header):
                    line = text.count("\n", 0, include.start(1)) + 1
                    yield f"{path.relative_to(root)}:{line}: {room} may not include {header}"


def main():
    root = pathlib.Path(sys.argv[1])
    absent = [room for room in ROOMS if not (root / room).is_dir()]
    wrong = [f"{room}/ is not there" for room in absent] + list(violations(root))
    for sentence in wrong:
        print(sentence)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
