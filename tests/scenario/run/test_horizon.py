"""A horizon sensor on a tumbling CubeSat: it runs, it is logged, and what it says is where the Earth is."""
import csv
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

SCENARIO = """
name: horizon
rate: 20 Hz
seconds: 120 s
pace: fast
environment:
  world: orbit
  date: 2026-06-21T12:00:00Z
  orbit: {altitude: 500 km, inclination: 97.4 deg, node: 30 deg}
bodies:
  - {name: cube, joint: {type: free, rate: 6 -7 5 deg/s}, mass: 1.3 kg, inertia: 2.1 2.2 2.3 g m^2}
devices:
  - {name: horizon, type: horizon_sensor, body: cube, rate: 10 Hz, boresight: 0 0 1, view: 60 deg%s}
%s
"""


def turned_back(q, v):
    """v, of world axes, in the axes of a body of attitude q (w x y z)."""
    w, x, y, z = q
    return ((1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y + w * z) * v[1] + 2 * (x * z - w * y) * v[2],
            2 * (x * y - w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z + w * x) * v[2],
            2 * (x * z + w * y) * v[0] + 2 * (y * z - w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2])


class Horizon(harness.Case):
    def fly(self, keys="", rest=""):
        """By log time: what the sensor says, and the Earth's true direction in body axes."""
        path, log, folder = self.dir / "horizon.yaml", self.dir / "horizon.mcap", self.dir / "csv"
        path.write_text(SCENARIO % (keys, rest))
        self.assertEqual(0, self.call("run", path, "--log", log)[0])
        self.assertEqual(0, self.call("log", "export", log, "--csv", folder)[0])
        self.assertEqual(0, self.call("replay", log)[0])
        said, truth = {}, {}
        for row in csv.DictReader((folder / "device.horizon.csv").read_text().splitlines()):
            said[row["log_time (ns)"]] = [float(row[f"direction[{i}]"]) for i in range(3)], float(row["seen"])
        plant = csv.reader((folder / "plant.csv").read_text().splitlines())
        head = next(plant)
        first = next(i for i, name in enumerate(head) if name.startswith("q[0]"))
        for row in plant:
            q = [float(number) for number in row[first:first + 7]]
            length = math.hypot(*q[:3])
            truth[row[0]] = turned_back(q[3:], [-each / length for each in q[:3]])
        return said, truth

    def test_it_says_where_the_earth_is_while_that_is_in_its_view(self):
        said, truth = self.fly()
        self.assertEqual(1200, len(said))
        seen = [at for at, (_, mark) in said.items() if mark == 1]
        self.assertTrue(100 < len(seen) < 1100, len(seen))
        for at, (direction, mark) in said.items():
            in_view = truth[at][2] >= math.cos(math.radians(60))
            self.assertEqual(in_view, mark == 1)
            for i in range(3):
                self.assertAlmostEqual(truth[at][i] if mark else 0.0, direction[i], delta=1e-12)

    def test_it_is_late_by_its_delay(self):
        said, truth = self.fly(", delay: 300 ms")
        self.assertEqual(1197, len(said))
        for at, (direction, mark) in said.items():
            before = truth[str(int(at) - 300_000_000)]
            for i in range(3):
                self.assertAlmostEqual(before[i] if mark else 0.0, direction[i], delta=1e-12)

    def test_a_bias_turns_what_it_says(self):
        said, truth = self.fly(", noise: 0", "faults: [{device: horizon, type: bias, at: 0, value: 1 deg, axes: [0]}]")
        turned = 0
        for at, (direction, mark) in said.items():
            if mark:
                x, y, z = truth[at]
                across = math.hypot(y, z)  # a turn about x moves what is across it
                moved = math.dist(truth[at], direction)
                self.assertAlmostEqual(math.radians(1) * across, moved, delta=1e-5)
                turned += 1
        self.assertGreater(turned, 100)


if __name__ == "__main__":
    harness.main()
