#!/usr/bin/env python3
"""Forward and inverse dynamics against answers that five other engines agree on.

    test_agreed.py AGREE MODELS_DIR

MODELS_DIR holds NAME.urdf with NAME.jsonl, one state a line: q, v, tau, a in the joint order of the
file.  Skipped (exit 77) where it does not exist.  The reading of URDF is this script's own, so it
also checks the program's importer when that comes.
"""
import json
import math
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

GRAVITY = (0.0, 0.0, -9.81)
FREE = {"talos", "spacecraft22"}
JOINTS = {"fixed": 0, "revolute": 1, "continuous": 1, "prismatic": 2}
FREE_JOINT = 3
ERROR_MAX = 1e-10
ALGORITHMS = ("aba", "crba")


def numbers(element, name, default):
    text = element.get(name) if element is not None else None
    return [float(word) for word in text.split()] if text else list(default)


def quaternion(rpy):
    """Fixed axes x, y, z in turn."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2), math.sin(a / 2)) for a in rpy)
    return [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]


def matrix(rpy):
    w, x, y, z = quaternion(rpy)
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def inertial(link):
    """mass, centre, inertia about it in link axes: xx yy zz xy xz yz."""
    element = link.find("inertial")
    if element is None:
        return [0.0] * 10
    origin = element.find("origin")
    R = matrix(numbers(origin, "rpy", (0, 0, 0)))
    i = {k: float(element.find("inertia").get("i" + k)) for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
    own = [[i["xx"], i["xy"], i["xz"]], [i["xy"], i["yy"], i["yz"]], [i["xz"], i["yz"], i["zz"]]]
    half = [[sum(R[r][k] * own[k][c] for k in range(3)) for c in range(3)] for r in range(3)]
    I = [[sum(half[r][k] * R[c][k] for k in range(3)) for c in range(3)] for r in range(3)]
    flat = [I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]]
    return [float(element.find("mass").get("value")), *numbers(origin, "xyz", (0, 0, 0)), *flat]


def bodies(path, free):
    """Body lines parent before child, and the position of each body's joint in the file."""
    robot = xml.parse(path).getroot()
    links = {link.get("name"): link for link in robot.iter("link")}
    joints = [j for j in robot.findall("joint")]
    children = {j.find("child").get("link") for j in joints}
    (root,) = [name for name in links if name not in children]

    lines = [[-1, FREE_JOINT if free else 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, *inertial(links[root])]]
    index, order, waiting = {root: 0}, [], list(enumerate(joints))
    while waiting:
        place, joint = next(w for w in waiting if w[1].find("parent").get("link") in index)
        waiting.remove((place, joint))
        child, origin = joint.find("child").get("link"), joint.find("origin")
        axis = numbers(joint.find("axis"), "xyz", (1, 0, 0))
        length = math.hypot(*axis) or 1.0
        lines.append([
            index[joint.find("parent").get("link")], JOINTS[joint.get("type")],
            *(a / length for a in axis), *numbers(origin, "xyz", (0, 0, 0)),
            *quaternion(numbers(origin, "rpy", (0, 0, 0))), *inertial(links[child]),
        ])
        index[child] = len(lines) - 1
        if JOINTS[joint.get("type")]:
            order.append(place)
    moving = sorted(order)
    return lines, [moving.index(place) for place in order]


def sorted_state(state, order, free):
    """The file's joint order to the order of the bodies; a free base stays in front."""
    out = []
    for key, base in (("q", 7), ("v", 6), ("tau", 6), ("a", 6)):
        base = base if free else 0
        out += state[key][:base] + [state[key][base + place] for place in order]
    return out


def text_of(path, free):
    lines, order = bodies(path, free)
    states = [json.loads(line) for line in path.with_suffix(".jsonl").open()]
    rows = [f"bodies {len(lines)}", *(" ".join(map(repr, line)) for line in lines)]
    rows += ["states %d %r %r %r" % (len(states), *GRAVITY)]
    rows += [" ".join(map(repr, sorted_state(state, order, free))) for state in states]
    return "\n".join(rows) + "\n"


def main():
    agree, models = sys.argv[1], pathlib.Path(sys.argv[2])
    paths = sorted(p for p in models.glob("*.urdf") if p.with_suffix(".jsonl").exists())
    if not paths:
        print(f"skipped: no models with answers in {models}")
        return 77
    bad = 0
    for path in paths:
        text = text_of(path, path.stem in FREE)
        for algorithm in ALGORITHMS:
            run = subprocess.run([agree, algorithm], input=text, text=True, capture_output=True)
            print(f"{path.stem:14} {algorithm:4} forward, inverse error:"
                  f" {run.stdout.strip()} {run.stderr.strip()}")
            bad += run.returncode != 0 or any(float(e) > ERROR_MAX for e in run.stdout.split())
    return int(bad != 0)


if __name__ == "__main__":
    sys.exit(main())
