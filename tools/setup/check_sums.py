#!/usr/bin/env python3
"""Compare files that were fetched or generated at set-up with what this tree knows of them.

    check_sums.py NAME DIRECTORY      exit 1 with one line, when they are others
    check_sums.py --print DIRECTORY   the digest of a directory

tools/setup/sums has a line `NAME DIGEST WHAT` for each state of a directory that somebody has read. The digest is
the SHA-256 over the names and contents of all C sources and headers in it; the date and the random number that
mavgen writes into headers do not count. Links, and files that are no plain files, are refused.
"""
import hashlib
import pathlib
import re
import sys

SUMS = pathlib.Path(__file__).resolve().parent / "sums"
# The day, and a hash that Python makes anew in every process.
CHANCE = re.compile(rb'(#define MAVLINK_(?:BUILD_DATE|\w+_XML_HASH)) ("[^"\n]*"|-?\d+)$', re.MULTILINE)


class Strange(Exception):
    """Something that is not a plain file."""


def digest(directory):
    """SHA-256 over all sources below the directory, in the order of their names."""
    whole = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise Strange(path)
        if path.suffix not in (".c", ".h"):
            continue
        text = CHANCE.sub(rb"\1", path.read_bytes())
        name = path.relative_to(directory).as_posix()
        whole.update(f"{name} {hashlib.sha256(text).hexdigest()}\n".encode())
    return whole.hexdigest()


def known(name):
    """Digests of the table by that name."""
    rows = [line.split(maxsplit=2) for line in SUMS.read_text(encoding="utf-8").splitlines()
            if line.strip() and not line.startswith("#")]
    return {row[1] for row in rows if row[0] == name}


def main():
    name, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    try:
        found = digest(directory)
    except Strange as strange:
        print(f"{strange} is not a plain file, so {directory} is not used", file=sys.stderr)
        return 1
    if name == "--print":
        print(found)
        return 0
    if found in known(name):
        return 0
    print(f"{directory} is not a {name} that tools/setup/sums knows; when you have read what changed, add the line "
          f"`{name} {found} VERSION` there", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
