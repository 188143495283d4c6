#!/usr/bin/env python3
"""airbearing eval against answers that five other engines agree on.

    test_eval.py AIRBEARING MODELS_DIR

MODELS_DIR holds NAME.urdf with NAME.jsonl, one state a line: q, v, tau, a in the joint order of the
file.  Skipped (exit 77) where it does not exist.
"""
import json
import pathlib
import subprocess
import sys

FREE = {"talos", "spacecraft22"}
ERROR_MAX = 1e-10


def worst_error(airbearing, path, key, *options):
    """Of all states, relative to the largest number of each."""
    answers = path.with_suffix(".jsonl")
    base = ("--base", "free") if path.stem in FREE else ()
    with answers.open() as states:
        run = subprocess.run([airbearing, "eval", path, *base, *options], stdin=states, text=True,
                             capture_output=True, check=True)
    wanted = [json.loads(line)[key] for line in answers.open()]
    got = [json.loads(line)[key] for line in run.stdout.splitlines()]
    assert [len(row) for row in got] == [len(row) for row in wanted], "answers are missing"
    return max(max(abs(x - y) for x, y in zip(w, g)) / max(map(abs, w)) for w, g in zip(wanted, got))


def main():
    airbearing, models = sys.argv[1], pathlib.Path(sys.argv[2])
    paths = sorted(p for p in models.glob("*.urdf") if p.with_suffix(".jsonl").exists())
    if not paths:
        print(f"skipped: no models with answers in {models}")
        return 77
    bad = 0
    for path in paths:
        errors = (worst_error(airbearing, path, "a"),
                  worst_error(airbearing, path, "a", "--algorithm", "crba"),
                  worst_error(airbearing, path, "tau", "--inverse"))
        print(f"{path.stem:14} aba, crba, inverse error: %.2g %.2g %.2g" % errors)
        bad += not max(errors) < ERROR_MAX
    return int(bad != 0)


if __name__ == "__main__":
    sys.exit(main())
