#!/usr/bin/env python3
"""Fail when a static library needs more than memset, memcpy and libm, or can be written to.

    check_symbols.py LIBRARY

That is what makes dynamics pure: no allocation, no clock, no I/O can be called, and with no
writable data there is nowhere to keep a state but in the arguments.
"""
import pathlib
import re
import subprocess
import sys

LIBC = {"memset", "memcpy"}
LIBM = {
    name + suffix
    for name in (
        "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh exp exp2 expm1 fabs fdim"
        " floor fma fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 lrint lround modf"
        " nearbyint nextafter pow remainder rint round scalbn sin sincos sinh sqrt tan tanh trunc"
    ).split()
    for suffix in ("", "f")
}
# Position-independent code names its own table; it is the linker's, not ours.
LINKER = {"_GLOBAL_OFFSET_TABLE_"}
# Weak and plain references, in nm's letters.
NEEDED = "Uwv"
# .data.rel.ro (a constant table of pointers) is read-only once the loader has filled it.
WRITABLE = re.compile(r"\.(data|bss|tdata|tbss)\b(?!\.rel\.ro)|\*COM\*")


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library):
    """Yield (letter, name) of each symbol in the library."""
    for line in lines_of("nm", "--format=posix", library):
        fields = line.split()
        if len(fields) >= 2:
            yield fields[1], fields[0]


def writable_sections(library):
    """Yield (name, bytes) of each section that holds writable data; common symbols count as one."""
    for line in lines_of("size", "-A", "--common", library):
        fields = line.split()
        if len(fields) == 3 and WRITABLE.match(fields[0]) and int(fields[1]) > 0:
            yield fields[0], int(fields[1])


def violations(library):
    listed = list(symbols(library))
    defined = {name for letter, name in listed if letter not in NEEDED}
    needed = {name for letter, name in listed if letter in NEEDED}
    if not defined:
        yield "defines nothing"
    for name in sorted(needed - defined - LIBC - LIBM - LINKER):
        yield f"needs {name}"
    for name, count in writable_sections(library):
        yield f"{count} bytes of {name} can be written"


def main():
    library = pathlib.Path(sys.argv[1])
    wrong = list(violations(library))
    for sentence in wrong:
        print(f"{library.name}: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
