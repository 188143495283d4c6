#!/usr/bin/env python3
"""airbearing eval against answers that five other engines agree on.

    test_eval.py AIRBEARING MODELS_DIR

MODELS_DIR holds NAME.urdf with NAME.jsonl, one state a line: q, v, tau, a in the joint order of the
file.  Skipped (exit 77) where it does not exist.  Forward dynamics by articulated bodies is asked of
each instruction set that runs.
"""
import json
import os
import pathlib
import subprocess
import sys

FREE = {"talos", "spacecraft22"}
ERROR_MAX = 1e-10


def instruction_sets(airbearing, path):
    """Those of the kernel's that run on this machine."""
    def runs(isa):
        return subprocess.run([airbearing, "eval", path], env={**os.environ, "AIRBEARING_ISA": isa},
                              stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    return [isa for isa in ("sse2", "avx2", "avx512") if runs(isa)]


def worst_error(airbearing, path, key, *options, isa=""):
    """Of all states, relative to the largest number of each."""
    answers = path.with_suffix(".jsonl")
    base = ("--base", "free") if path.stem in FREE else ()
    with answers.open() as states:
        run = subprocess.run([airbearing, "eval", path, *base, *options], stdin=states, text=True,
                             capture_output=True, check=True,
                             env={**os.environ, "AIRBEARING_ISA": isa})
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
    isas = instruction_sets(airbearing, paths[0])
    bad = 0
    for path in paths:
        errors = {f"aba {isa}": worst_error(airbearing, path, "a", isa=isa) for isa in isas}
        errors["crba"] = worst_error(airbearing, path, "a", "--algorithm", "crba")
        errors["inverse"] = worst_error(airbearing, path, "tau", "--inverse")
        print(f"{path.stem:14} error", *(f"{name} {error:.2g}" for name, error in errors.items()))
        bad += not max(errors.values()) < ERROR_MAX
    return int(bad != 0 or "sse2" not in isas)


if __name__ == "__main__":
    sys.exit(main())
