#!/usr/bin/env python3
"""Print the newest model in npm's geomagnetism package as a WMM.COF file.

    write_wmm.py LOCK PACKAGE        PACKAGE is what npm pack fetched, LOCK our package-lock.json
    write_wmm.py --version LOCK      only the version that is locked

The package must be the one that the lock file names, byte for byte.
"""
import base64
import hashlib
import json
import pathlib
import re
import sys
import tarfile

NAME = "geomagnetism"
DATA = re.compile(r"package/data/wmm-[0-9v]+\.json")


def locked(path):
    """The lock file's entry of the package."""
    return json.loads(pathlib.Path(path).read_text())["packages"][f"node_modules/{NAME}"]


def is_intact(package, integrity):
    algorithm, _, digest = integrity.partition("-")
    found = hashlib.new(algorithm, pathlib.Path(package).read_bytes()).digest()
    return found == base64.b64decode(digest)


def newest(package):
    """The model with the latest epoch, and of those the one that was issued last."""
    with tarfile.open(package) as archive:
        members = [m for m in archive.getmembers() if DATA.fullmatch(m.name)]
        models = [json.load(archive.extractfile(member)) for member in members]
    return max(models, key=lambda model: (model["epoch"], model["start_date"]))


def lines(model):
    year, month, day = model["start_date"][:10].split("-")
    yield f"{model['epoch']:10.1f}{model['name']:>20}{month:>7}/{day}/{year}"
    keys = "main_field_coeff_g", "main_field_coeff_h", "secular_var_coeff_g", "secular_var_coeff_h"
    for n in range(1, model["n_max"] + 1):
        for m in range(n + 1):
            # All digits that there are: a model with more of them is not to be rounded.
            g, h, g_rate, h_rate = (repr(float(model[key][n * (n + 1) // 2 + m])) for key in keys)
            yield f"{n:3}{m:3} {g:>9} {h:>9} {g_rate:>10} {h_rate:>10}"
    yield "9" * 48
    yield "9" * 48


def main():
    if sys.argv[1] == "--version":
        print(locked(sys.argv[2])["version"])
        return 0
    lock, package = sys.argv[1:]
    if not is_intact(package, locked(lock)["integrity"]):
        print(f"{package}: not the package that {lock} names", file=sys.stderr)
        return 1
    print("\n".join(lines(newest(package))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
