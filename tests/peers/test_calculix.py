#!/usr/bin/env python3
"""Real modes from CalculiX, through tools/frd2punch, as config/nastran reads them.

    test_calculix.py NASTRAN_MODES FRD2PUNCH

A cantilever of every solid element is held against Euler and Bernoulli's closed forms and against
the participation factors that CalculiX prints itself.  Skipped (exit 77) where there is no ccx.
"""
import itertools
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NASTRAN_MODES, FRD2PUNCH = sys.argv[1:3] if len(sys.argv) == 3 else (None, None)

LENGTH, WIDTH, HEIGHT = 1.0, 0.02, 0.01
E, POISSON, DENSITY = 7e10, 0.3, 2700.0
MASS = DENSITY * LENGTH * WIDTH * HEIGHT
CELLS = (20, 2, 2)  # one across, C3D20R has modes without strain (hourglasses)
MODES = 4
BETA_L = (1.8751040687, 4.6940911330)  # cos b cosh b = -1
TIP_SLOPE = 1.3765  # phi'(L) L / phi(L) of the first mode
TIP = 1  # the grid at the free end, where the mesh begins to be numbered

# Corners of a brick's parts, and edges in the order of CalculiX's input, which is not that of .frd.
HEX = ((0, 1, 2, 3, 4, 5, 6, 7),)
WEDGES = ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))
TETS = ((0, 1, 2, 6), (0, 5, 1, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 4, 5, 6), (0, 7, 4, 6))
HEX_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4),
             (0, 4), (1, 5), (2, 6), (3, 7))
WEDGE_EDGES = ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5))
TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
ELEMENTS = {
    "C3D20R": (HEX, HEX_EDGES), "C3D15": (WEDGES, WEDGE_EDGES), "C3D10": (TETS, TET_EDGES),
    "C3D8": (HEX, ()), "C3D6": (WEDGES, ()), "C3D4": (TETS, ()),
}
QUADRATIC = ("C3D20R", "C3D15", "C3D10")


def mesh(kind):
    """Nodes by place, in steps of half a cell, and elements as lists of nodes."""
    parts, pairs = ELEMENTS[kind]
    nodes = {(2 * CELLS[0], 0, 0): TIP}
    elements = []

    def node(place):
        return nodes.setdefault(place, len(nodes) + 1)
    for cell in itertools.product(*map(range, CELLS)):
        brick = [tuple(2 * (c + step) for c, step in zip(cell, corner)) for corner in
                 ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0),
                  (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))]
        for part in parts:
            corners = [brick[i] for i in part]
            middles = [tuple((a + b) // 2 for a, b in zip(corners[i], corners[j]))
                       for i, j in pairs]
            elements.append([node(place) for place in corners + middles])
    return nodes, elements


def write_input(path, kind):
    nodes, elements = mesh(kind)
    size = [length / 2 / cells for length, cells in zip((LENGTH, WIDTH, HEIGHT), CELLS)]
    lines = ["*NODE, NSET=ALL"]
    lines += [", ".join([str(number)] + [f"{n * s:.9f}" for n, s in zip(place, size)])
              for place, number in nodes.items()]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=BEAM"]
    for number, element in enumerate(elements, 1):
        words = [str(n) for n in [number] + element]
        lines += [", ".join(words[k:k + 10]) + ("," if k + 10 < len(words) else "")
                  for k in range(0, len(words), 10)]
    lines += ["*NSET, NSET=ROOT"] + [f"{n}," for place, n in nodes.items() if place[0] == 0]
    lines += ["*MATERIAL, NAME=ALUMINIUM", "*ELASTIC", f"{E}, {POISSON}", "*DENSITY", f"{DENSITY}",
              "*SOLID SECTION, ELSET=BEAM, MATERIAL=ALUMINIUM", "*BOUNDARY", "ROOT, 1, 3",
              "*STEP", "*FREQUENCY", f"{MODES}", "*NODE FILE", "U", "*END STEP"]
    path.write_text("\n".join(lines) + "\n")


def participation(dat):
    """What CalculiX says of each mode's momentum along x, y, z."""
    table = dat.split("P A R T I C I P A T I O N")[1].split("E F F E C T I V E")[0]
    rows = re.findall(r"^ +\d+((?: +\S+){6})$", table, re.MULTILINE)
    return [[float(word) for word in row.split()[:3]] for row in rows]


def frequency(order, depth):
    """Of a cantilever that bends across `depth`, in rad/s."""
    return BETA_L[order] ** 2 * math.sqrt(E * depth ** 2 / 12 / DENSITY) / LENGTH ** 2


class Calculix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.answers, cls.factors = {}, {}
        for kind in ELEMENTS:
            job = pathlib.Path(cls.folder.name) / kind
            write_input(job.with_suffix(".inp"), kind)
            subprocess.run(["ccx", job.name], cwd=job.parent, stdout=subprocess.DEVNULL, check=True)
            subprocess.run([FRD2PUNCH, "--density", str(DENSITY), job.with_suffix(".frd")],
                           stdout=subprocess.DEVNULL, check=True)
            run = subprocess.run([NASTRAN_MODES, f"{job}.bdf", f"{job}.pch", str(MODES), str(TIP)],
                                 capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stderr
            cls.answers[kind] = json.loads(run.stdout)
            cls.factors[kind] = participation(job.with_suffix(".dat").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_near(self, wanted, got, share, what):
        self.assertLessEqual(abs(got - wanted), share * abs(wanted), f"{what}: {got} for {wanted}")

    def test_no_mass_is_lost(self):
        for kind, body in self.answers.items():
            self.assert_near(MASS, body["mass"], 1e-8, kind)
            for wanted, got in zip((LENGTH / 2, WIDTH / 2, HEIGHT / 2), body["center"]):
                self.assert_near(wanted, got, 2e-3, kind)

    def test_lumped_modes_have_a_mass_of_one_and_share_none(self):
        for kind in QUADRATIC:
            for mode in self.answers[kind]["modes"]:
                self.assert_near(1.0, mode["mass"], 0.01, kind)
                self.assertLess(mode["shared"], 0.01, kind)

    def test_lumps_of_linear_elements_are_coarser(self):
        for kind in set(ELEMENTS) - set(QUADRATIC):
            for mode in self.answers[kind]["modes"]:
                self.assert_near(1.0, mode["mass"], 0.05, kind)
                self.assertLess(mode["shared"], 0.02, kind)

    def test_frequencies_are_those_of_the_closed_form(self):
        wanted = sorted(frequency(order, depth) for order in (0, 1) for depth in (WIDTH, HEIGHT))
        for kind in QUADRATIC:
            for omega, mode in zip(wanted, self.answers[kind]["modes"]):
                self.assert_near(omega, math.sqrt(mode["eigenvalue"]), 0.01, kind)

    def test_effective_mass_is_that_of_the_closed_form(self):
        axes = (2, 1, 2, 1)  # HEIGHT is along z, and the beam is softer that way
        for kind in QUADRATIC:
            for axis, mode, wanted in zip(axes, self.answers[kind]["modes"],
                                          (0.6131, 0.6131, 0.1883, 0.1883)):
                effective = mode["momentum"][axis] ** 2 / mode["mass"] / MASS
                self.assert_near(wanted, effective, 0.02, kind)

    def test_momentum_is_what_calculix_says(self):
        for kind, body in self.answers.items():
            self.assertEqual(MODES, len(self.factors[kind]))
            for mode, factors in zip(body["modes"], self.factors[kind]):
                for got, wanted in zip(mode["momentum"], factors):
                    self.assertLess(abs(got - wanted), 0.005 * math.sqrt(MASS), kind)

    def test_turns_are_the_slope_of_the_bending_line(self):
        for kind in QUADRATIC:
            first, second = self.answers[kind]["modes"][:2]
            self.assert_near(TIP_SLOPE, -first["theta"][1] / first["psi"][2] * LENGTH, 0.01, kind)
            self.assert_near(TIP_SLOPE, second["theta"][2] / second["psi"][1] * LENGTH, 0.01, kind)


if __name__ == "__main__":
    if shutil.which("ccx") is None:
        print("skipped: no ccx; apt-get install calculix-ccx")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
