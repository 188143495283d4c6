"""The arm of rms.yaml as a whole run: after a stop its tip swings as `airbearing modes` says, empty and loaded."""
import json
import math
import operator
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log
from test_hand_controller import tape

RMS = harness.SCENARIOS / "rms.yaml"
ARM = ["shoulder_yaw", "shoulder_pitch", "elbow_pitch", "wrist_pitch", "wrist_yaw", "end_effector"]
BASE, SAFE = 1 << 3, 1 << 10  # buttons
# The satellite in the hand from the start, as a grapple would leave it there.
SATELLITE = ("parent: orbiter\n    joint: {type: free, position: 5.6 0 0.6 m}",
             "parent: end_effector\n    joint: {type: free, position: 1.91 0 0 m, "
             "attitude: [0, 0.7071067811865476, 0, -0.7071067811865476]}")
# /plant: the base's 7, an angle each, the payloads' 7; behind the angle of each boom its six modes.
COORDINATES, MODAL = 7 + 6 + 12 + 3 * 7, [*range(9, 15), *range(16, 22)]
FITTED = 6  # modes, the slowest


def picture(buttons=0, y=0.0, z=0.0):
    """As io/protocol/hand.h has it."""
    return b"HAND" + struct.pack("<II24f", 1, buttons, 0.0, y, z, *[0.0] * 21)


def solve(A, b):
    """x of A x = b, by elimination."""
    n = len(b)
    rows = [A[i] + [b[i]] for i in range(n)]
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for k in range(i + 1, n):
            share = rows[k][i] / rows[i][i]
            rows[k] = [x - share * y for x, y in zip(rows[k], rows[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][k] * x[k] for k in range(i + 1, n))) / rows[i][i]
    return x


def least_squares(rows, values):
    """x that makes rows x most like the values."""
    columns = list(zip(*rows))
    return solve([[sum(map(operator.mul, a, b)) for b in columns] for a in columns],
                 [sum(map(operator.mul, a, values)) for a in columns])


def fit(samples, poles):
    """Decaying oscillations (cosine, sine, decay, frequency; 1/s and rad/s) and a constant that make up the
    samples, sought from near these poles on; of those that hardly swing only the size."""
    times, values = [t - samples[0][0] for t, _ in samples], [value for _, value in samples]

    def wave(decay, omega, t):
        return math.exp(-decay * t) * math.cos(omega * t), math.exp(-decay * t) * math.sin(omega * t)

    linear = least_squares([[1.0] + [x for pole in poles for x in wave(*pole, t)] for t in times], values)
    constant, terms = linear[0], [[*linear[1 + 2 * k:3 + 2 * k], *pole] for k, pole in enumerate(poles)]
    most = max(math.hypot(a, b) for a, b, *_ in terms)
    wide = [4 if math.hypot(a, b) > 0.02 * most else 2 for a, b, *_ in terms]
    for _ in range(8):
        rows, left = [], []
        for t, value in zip(times, values):
            row, rest = [1.0], value - constant
            for (a, b, decay, omega), count in zip(terms, wide):
                c, s = wave(decay, omega, t)
                rest -= a * c + b * s
                row += [c, s, -t * (a * c + b * s), t * (b * c - a * s)][:count]
            rows.append(row)
            left.append(rest)
        step = least_squares(rows, left)
        constant += step.pop(0)
        for term, count in zip(terms, wide):
            for k in range(count):
                term[k] += step.pop(0)
    return terms


class Rms(harness.Case):
    def write_scenario(self, name, loaded):
        text = RMS.read_text()
        if loaded:
            text = text.replace(*SATELLITE).replace("{body: satellite, fixture", "{body: satellite, bay: orbiter, fixture")
            self.assertIn("bay: orbiter", text)
        start = text.index("    bus: cockpit\n")
        text = text[:start] + f"    bus: tape\n    device: {self.dir / name}.tape\n" + text[start + len("    bus: cockpit\n"):]
        path = self.dir / f"{name}.yaml"
        path.write_text(text)
        return path

    def start_flight(self, name, loaded, seconds):
        """Up and aside at full speed, then the brakes, while it swings.  The tape runs while the program sets
        up, and presses before the first frame do not count: nothing is pressed for some seconds."""
        stop = 9.0 if not loaded else 12.0
        (self.dir / f"{name}.tape").write_bytes(tape(
            [(0.0, picture()), (4.2, picture(BASE)), (4.3, picture(y=-0.7, z=1.0)), (stop, picture(SAFE)),
             (1000.0, picture())]))
        return self.start("run", self.write_scenario(name, loaded), "--seconds", str(seconds), "--pace", "real",
                          "--log", self.dir / f"{name}.mcap", "--set", "log.every=10")

    def read_flight(self, name):
        """The hand's places since the brakes hold, and q at the end."""
        samples, q = [], None
        for topic, time_ns, _, record in raw_log.stamped(self.dir / f"{name}.mcap"):
            if topic == "/plant":
                q = list(struct.unpack_from(f"<{COORDINATES}d", record))
            elif topic == "/arm":
                flags, *brakes = struct.unpack_from("<I6B", record, 448)
                if flags & 16 == 0 or brakes != [2] * 6:
                    samples = []
                else:
                    samples.append((time_ns * 1e-9, struct.unpack_from("<3d", record, 208)))
        rigid = [value for k, value in enumerate(q) if k not in MODAL]
        return samples, rigid + [0.0] * len(MODAL)  # unbent; there modes come last

    def modes_at(self, name, q):
        at = self.dir / f"{name}.json"
        at.write_text(json.dumps({"q": q, "locked": ARM + ["satellite", "module"]}))
        code, out, err = self.call("modes", self.dir / f"{name}.yaml", "--at", at, "--json")
        self.assertEqual(code, 0, err)
        return [mode for mode in json.loads(out)["modes"] if mode["kind"] == "oscillating"]

    def judge(self, name):
        samples, q = self.read_flight(name)
        self.assertGreater(samples[-1][0] - samples[0][0], 20.0, name)
        modes = self.modes_at(name, q)[:FITTED]
        poles = [(-mode["eigenvalue"][0], abs(mode["eigenvalue"][1])) for mode in modes]
        # The oscillation, and the axis, that swings most.
        size, (_, _, decay, omega), expected = max(
            ((math.hypot(*term[:2]), term, mode) for axis in range(3)
             for term, mode in zip(fit([(t, p[axis]) for t, p in samples[::5]], poles), modes)),
            key=lambda found: found[0])
        frequency, damping = math.hypot(decay, omega) / (2 * math.pi), decay / math.hypot(decay, omega)
        print(f"{name}: {1000 * size:.1f} mm; measured {frequency:.5f} Hz, {100 * damping:.4f} %; "
              f"modes {expected['frequency_hz']:.5f} Hz, {100 * expected['damping']:.4f} %")
        self.assertGreater(size, 2e-3)
        self.assertAlmostEqual(frequency / expected["frequency_hz"], 1.0, delta=0.02)
        self.assertAlmostEqual(damping / expected["damping"], 1.0, delta=0.02)

    def test_after_a_stop_the_tip_swings_as_modes_says(self):
        runs = {"empty": self.start_flight("empty", False, 38), "loaded": self.start_flight("loaded", True, 56)}
        for name, run in runs.items():
            out, err = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, out + err)
        for name in runs:
            with self.subTest(name):
                self.judge(name)


if __name__ == "__main__":
    harness.main()
