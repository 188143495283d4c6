#!/usr/bin/env python3
"""Write a file as a C array: embed.py NAME OUTPUT [FILE].  Without FILE the array is empty."""
import pathlib
import sys

name, output = sys.argv[1], sys.argv[2]
data = pathlib.Path(sys.argv[3]).read_bytes() if len(sys.argv) > 3 else b""
# A char is signed here.
rows = [", ".join(str(byte - 256 if byte > 127 else byte) for byte in data[i : i + 24]) for i in range(0, len(data), 24)]
pathlib.Path(output).write_text(
    "#include <stddef.h>\n"
    f"extern const char {name}[];\nextern const size_t {name}_size;\n"
    f"const char {name}[] = {{" + ",\n".join(rows + ["0"]) + "};\n"
    f"const size_t {name}_size = {len(data)};\n"
)
