#!/usr/bin/env python3
"""Fail when nobody can tell where a source is tested, or what it is.

    check_tested.py ROOT

A source of more than 150 lines has a test of its name below tests/ (test_NAME.c or test_NAME.py), or a
line in the comment at its head, or at the head of its header, that says `Tested by tests/...`, and what
stands there exists.  A test has at most 1000 lines, and a source of the program at most 600.  The README
of a room names every module of it.
"""
import fnmatch
import pathlib
import re
import sys

ROOMS = ("rt", "dynamics", "io", "config", "tools")
DESCRIBED = ("rt/executive", "rt", "dynamics", "io", "config")  # the first that holds a file has its README
SMALL = 150
SOURCE_MAX = 600
TEST_MAX = 1000
HEAD = re.compile(r"\A/\*(.*?)\*/", re.DOTALL)
TESTED = re.compile(r"Tested by\s+(.*)", re.DOTALL)
NAMED = re.compile(r"(?:tests/)?[\w/*-]+\*?\.(?:c|py|mjs)")


def sources(root, *folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*.[ch]")):
            if "node_modules" not in path.parts and "subprojects" not in path.parts:
                yield path


def head_of(path):
    """The comment at the head of a file, without the stars of its lines."""
    if not path.is_file():
        return ""
    found = HEAD.match(path.read_text(encoding="utf-8"))
    return re.sub(r"\s*\n \*\s*", " ", found.group(1)) if found else ""


def tests_named(path):
    """The tests that the head of a source, or of its header, names."""
    for file in (path, path.with_suffix(".h")):
        found = TESTED.search(head_of(file))
        if found:
            return NAMED.findall(found.group(1))
    return []


def complaints(root):
    names = {path.name for path in (root / "tests").rglob("*")}
    for path in sources(root, *ROOMS):
        lines = path.read_text(encoding="utf-8").count("\n")
        shown = path.relative_to(root)
        if lines > SOURCE_MAX:
            yield f"{shown}: {lines} lines, and {SOURCE_MAX} are the most; cut it along its seams"
        if path.suffix != ".c" or lines <= SMALL:
            continue
        if {f"test_{path.stem}.c", f"test_{path.stem}.py"} & names:
            continue
        named = tests_named(path)
        if not named:
            yield f"{shown}: {lines} lines and no test of its name; say in its head where it is tested"
        for test in named:
            if not any(fnmatch.fnmatch(name, pathlib.PurePath(test).name) for name in names):
                yield f"{shown}: there is no {test}, by which it is tested"
    for path in sources(root, "tests"):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > TEST_MAX:
            yield f"{path.relative_to(root)}: {lines} lines, and {TEST_MAX} are the most; split it"


def undescribed(root):
    """Yield a sentence for each module that the README of its room does not name."""
    seen = set()
    for room in DESCRIBED:
        readme = root / room / "README.md"
        words = set(re.findall(r"\w+", readme.read_text(encoding="utf-8"))) if readme.is_file() else set()
        for path in sources(root, room):
            module = path.with_suffix("")
            if module not in seen and path.stem not in words:
                yield f"{path.relative_to(root)}: {room}/README.md does not name it"
            seen.add(module)


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = list(complaints(root)) + list(undescribed(root))
    for sentence in wrong:
        print(sentence)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
