"""check, eval, linearize and modes: all that they say of shipped and of synthetic models, and every refusal."""
import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import test_eval
import test_linear

golden.ABSOLUTE = 1e-9  # shapes have zeros that are not quite
# One of each joint, with springs, dampers and a mode; nothing is square to anything.
MIXED = """name: mixed
rate: 1 kHz
seconds: 1 s
bodies:
  - {name: bus, joint: free, mass: 40 kg, inertia: 2 3 4 kg m^2, center: 0.01 0.02 -0.03 m}
  - {name: ball, parent: bus, joint: {type: spherical, at: 0.1 0.2 0.3 m, damping: 0.1 0.1 0.1}, mass: 3 kg,
     inertia: 0.1 0.2 0.25 kg m^2, center: 0 0.2 -0.3 m}
  - {name: hinge, parent: bus, joint: {type: revolute, axis: 1 0.2 0, at: 0 0.4 0 m, stiffness: 30 N m/rad,
     damping: 0.4 N m s/rad}, mass: 2 kg, center: 0 0.5 0 m, inertia: 0.167 0.060 0.227 kg m^2}
  - {name: slide, parent: hinge, joint: {type: prismatic, axis: 0 0.6 0.8, at: 0 0.2 0.1 m, stiffness: 90 N/m},
     mass: 1 kg, inertia: 0.02 0.03 0.04 kg m^2}
"""
# The base does not turn: its rate would be three modes at once, whose shapes are anybody's.
AT = {"q": [1, 2, 3, 0.5, 0.5, -0.5, 0.5, 0.7, 0.1, -0.5, 0.5, 0.4, 0.05],
      "v": [0, 0, 0, 1, 2, -1, 0.2, -0.4, 0.6, 0.7, -0.3], "tau": [3, 1, -2, 5, 40, 2, 1, -1, 0.5, 2, 3],
      "gravity": [0.1, 1, -9]}
SMALL = """name: small
rate: 200 Hz
seconds: 2 s
integrator: {method: rk4, substeps: 3}
bodies:
  - {name: bus, joint: free, mass: 40 kg, inertia: 2 3 4 kg m^2}
  - {name: panel, parent: bus, joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m, stiffness: 30 N m/rad}, mass: 2 kg,
     center: 0 0.5 0 m, inertia: 0.167 0.060 0.227 kg m^2}
devices:
  - {name: gyro, type: gyro, body: bus, rate: 100 Hz}
  - {name: tracker, type: star_tracker, body: bus, rate: 20 Hz, boresight: 0 0 1}
links:
  - {name: board, listen: 127.0.0.1:14560, body: bus}
"""


class Words(golden.Case):
    def file(self, name, text):
        path = self.dir / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path


class Models(Words):
    def test_linearize_and_modes_of_shipped_models(self):
        self.assert_says("modes-satellite-board.txt", "modes", harness.SATELLITE)
        self.assert_says("modes-satellite-board.json", "modes", harness.SATELLITE, "--json")
        self.assert_says("linearize-arm7.txt", "linearize", harness.SCENARIOS / "arm7.urdf")
        self.assert_says("linearize-arm7.json", "linearize", harness.SCENARIOS / "arm7.urdf", "--json")

    def test_linearize_and_modes_of_a_body_with_every_joint(self):
        model, at = self.file("mixed.yaml", MIXED), self.file("at.json", AT)
        for command in ("linearize", "modes"):
            self.assert_says(f"{command}-mixed.txt", command, model, "--at", at)
            self.assert_says(f"{command}-mixed.json", command, model, "--at", at, "--json")

    def test_points_of_every_kind(self):
        model = self.file("mixed.yaml", MIXED)
        said = []
        for point, options in (({"tau": "hold"}, ()), ({"q": AT["q"], "tau": "hold", "gravity": [0, 0, -9]}, ()),
                               ({"base_acceleration": [0.1, 0.2, 0.3, 1, 2, 3]}, ()),
                               ({"locked": ["slide", "ball"]}, ()), ({"locked": ["bus"]}, ("--gravity", "1,2,3")),
                               ({"prescribed": {"hinge": {"v": 0.5, "a": 0.25}}}, ("--gravity", "0,0,-9.81")),
                               ({"locked": ["bus"], "prescribed": {"hinge": {}}, "v": AT["v"]}, ())):
            for command in ("linearize", "modes") if "locked" in point else ("modes",):
                code, out, err = self.call(command, model, "--at", self.file("at.json", point), *options)
                self.assertEqual((code, err), (0, ""), point)
                said.append(f"== {command} {json.dumps(point)} {options}\n{out}")
        self.assert_golden("points.txt", "".join(said))

    def test_urdf_bases_and_gravity(self):
        said = []
        for options in (("--base", "fixed", "--gravity", "0,1,0"), ("--gravity=-1,-2.5,-3e0",)):
            for command in ("linearize", "modes"):
                code, out, err = self.call(command, self.file("double.urdf", test_linear.DOUBLE), *options)
                self.assertEqual((code, err), (0, ""), options)
                said.append(f"== {command} {options}\n{out}")
        self.assert_golden("points-urdf.txt", "".join(said))

    def test_modes_that_grow_decay_and_stand(self):
        said = []
        for name, text, at in (("spring", test_linear.SPRING % 0, {}), ("damped", test_linear.SPRING % 3, {}),
                               ("overdamped", test_linear.SPRING % 52, {}),
                               ("upside down", test_eval.PENDULUM, {"q": [-math.pi / 2]}),
                               ("panel", test_linear.PANEL % 0.5, {}), ("double", test_linear.DOUBLE, {})):
            for options in ((), ("--json",)):
                code, out, err = self.call("modes", self.file("model", text), "--at", self.file("at.json", at), *options)
                self.assertEqual((code, err), (0, ""), name)
                said.append(f"== {name} {options}\n{out}")
        self.assert_golden("modes-kinds.txt", "".join(said))

    def test_eval_of_every_joint(self):
        said = []
        for text, states in ((MIXED, [AT, {**AT, "v": [0] * 11}, {"q": AT["q"], "v": AT["v"], "tau": [0] * 11}]),
                             (test_linear.DOUBLE, [{"q": [0.3, -0.7], "v": [1, 2], "tau": [0.5, -0.25]}])):
            model = self.file("model", text)
            lines = "".join(json.dumps({**s, "a": [0.1 * i for i in range(len(s["v"]))], "more": [1]}) + "\n"
                            for s in states)
            for options in ((), ("--algorithm", "crba"), ("--inverse",), ("--gravity", "1,-2,3"),
                            ("--gravity", "1,-2,3", "--inverse")):
                code, out, err = self.call("eval", model, *options, input=lines)
                self.assertEqual((code, err), (0, ""), options)
                said.append(f"== {options}\n{out}")
        self.assert_golden("eval.txt", "".join(said))

    def test_eval_of_shipped_models(self):
        said = []
        for name, nq, nv, options in (("arm7.urdf", 7, 7, ()), ("arm7.urdf", 14, 13, ("--base", "free")),
                                      ("satellite-board.yaml", 13, 12, ()), ("satellite-board.yaml", 13, 12, ("--inverse",))):
            q = [0.1 * (i + 1) for i in range(nq)]
            if nq != nv:
                q[3:7] = [0.5, 0.5, -0.5, 0.5]
            if name[0] == "s":
                q[7:] = [1e-3 * i for i in range(nq - 7)]
            state = {"q": q, "v": [0.3 - 0.05 * i for i in range(nv)], "tau": [1.0 - 0.2 * i for i in range(nv)],
                     "a": [0.02 * i for i in range(nv)]}
            code, out, err = self.call("eval", harness.SCENARIOS / name, *options, input=json.dumps(state) + "\n")
            self.assertEqual((code, err), (0, ""), name)
            said.append(f"== {name} {options}\n{out}")
        self.assert_golden("eval-shipped.txt", "".join(said))


class Refusals(Words):
    def say(self, *arguments, **options):
        code, out, err = self.call(*arguments, **options)
        shown = " ".join(str(a) for a in arguments)
        return f"== {shown}\nexit {code}\n{out}{err}".replace(str(harness.AIRBEARING), "airbearing")

    def test_options_of_all(self):
        model = self.file("double.urdf", test_linear.DOUBLE)
        said = []
        for command in ("eval", "linearize", "modes"):
            for arguments in ([], [model, model], [model, "--base", "loose"], [model, "--gravity", "9.81"],
                              [model, "--gravity", "1,2,x"], [model, "--gravity", "1,2,3,4"], [model, "--gravity", "1,2,nan"],
                              [model, "--nonsense"], [model, "--at"], [self.dir / "absent.urdf"], ["--help"]):
                said.append(self.say(command, *arguments, input=""))
        for arguments in ([model, "--algorithm", "magic"], [model, "--inverse", "--algorithm", "crba"],
                          [model, "--algorithm", "aba"], [harness.TUMBLE, "--base", "free"]):
            said.append(self.say("eval", *arguments, input=""))
        for command in ("linearize", "modes"):
            said.append(self.say(command, harness.TUMBLE, "--base", "free"))
        for arguments in ([], ["--help"], ["-h"], ["fly"], ["--nonsense"], ["check"], ["check", "--help"], ["check", "-h"],
                          ["check", "--nonsense"], ["check", "a", "b"], ["check", "--set"], ["bench", "--help"],
                          ["doctor", "--help"]):
            said.append(self.say(*arguments))
        self.assert_golden("usage-models.txt", "".join(said))

    def test_states_that_eval_refuses(self):
        model = self.file("double.urdf", test_linear.DOUBLE)
        good = '{"q":[0,0],"v":[0,0],"tau":[0,0]}'
        said = []
        for line in ("", "{}", "[]", "x", good[:-1], good.replace("[0,0]", "[0]", 1), good.replace("[0,0]", "[0,0,0]", 1),
                     good.replace('"v"', '"w"'), good.replace('"tau"', '"t"'), good.replace("[0,0]", '[0,"x"]', 1),
                     good.replace("[0,0]", "[0,1e999]", 1), good.replace("[0,0]", "[0,null]", 1), good + " " + good,
                     good + "\n" + good + "\n" + "{", good.replace("[0,0]", "3", 1), "\n" + good, good.replace("0", "0.5"),
                     '{"q":[0,0],"v":[0,0],"tau":[0,0],"more":{"q":[1]}}'):
            said.append(f"{line}\n" + self.say("eval", model, input=line))
            said.append(self.say("eval", model, "--inverse", input=line + "\n"))
        free = self.file("ball.urdf", test_linear.BODY)
        for q in ([0] * 7, [0, 0, 0, 2, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 1e-9, 0, 0, 0]):
            said.append(self.say("eval", free, "--base", "free", input=json.dumps({"q": q, "v": [0] * 6, "tau": [1] * 6})))
        self.assert_golden("eval-refused.txt", "".join(said))

    def test_points_that_are_refused(self):
        model = self.file("mixed.yaml", MIXED)
        said = []
        for point in ("", "[]", "{", '{"q": 1}', {"q": [0]}, {"q": [0] * 13}, {"v": [0] * 10}, {"v": ["x"] * 11}, {"tau": "drop"},
                      {"tau": [0] * 12}, {"gravity": [1, 2]}, {"gravity": "down"}, {"base_acceleration": [1, 2, 3]},
                      {"locked": "bus"}, {"locked": ["nobody"]}, {"locked": [1]}, {"prescribed": []},
                      {"prescribed": {"nobody": {}}}, {"prescribed": {"hinge": 1}}, {"prescribed": {"hinge": {"v": "x"}}},
                      {"prescribed": {"hinge": {"w": 1}}}, {"prescribed": {"bus": {"v": 1}}},
                      {"locked": ["hinge"], "prescribed": {"hinge": {}}}, {"nonsense": 1},
                      {"locked": ["bus", "ball", "hinge", "slide"]}, {"q": [1e300] * 13}):
            for command in ("linearize", "modes"):
                said.append(f"{json.dumps(point)}\n" + self.say(command, model, "--at", self.file("at.json", point)))
        said.append(self.say("modes", model, "--at", self.dir / "absent.json"))
        self.assert_golden("points-refused.txt", "".join(said))


class Check(Words):
    def check(self, *arguments):
        with harness.environment(AIRBEARING_ISA="sse2"):
            code, out, err = self.call("check", *arguments)
        self.assertEqual((code, err), (0, ""), arguments)
        return out

    def mask(self, out):
        """Without what the machine and the clock decide, and sizes that change with every new field."""
        out = re.sub(r" +\d+ ns$", " # ns", out, flags=re.M)
        out = re.sub(r"work per frame \d+ ns on average, \d+ ns at most", "work per frame # ns, # ns", out)
        out = re.sub(r"\d+ bytes, \d+ ns here", "# bytes, # ns here", out)
        out = re.sub(r"(plant, devices and schedule )\d+( bytes; run state )\d+ bytes: .*", r"\1#\2#", out)
        return re.sub(r"\ncores\n.*", "\ncores\n", out, flags=re.S)

    def test_a_small_scenario(self):
        path = self.file("small.yaml", SMALL)
        self.assert_golden("check-small.txt", self.mask(self.check(path)))
        self.assert_golden("check-small-set.txt", self.mask(self.check(
            path, "--set", "rate=100 Hz", "--set", "integrator.method=ab4", "--set", "bodies.panel.mass=3 kg")))

    def assert_adds_up(self, out):
        """Average and longest frame are those of the jobs as they are printed."""
        jobs = [tuple(map(int, job)) for job in
                re.findall(r"^  .{16} +\S+ Hz   every (\d+), phase (\d+) +(\d+) ns$", out, re.M)]
        pattern, mean, most, period = map(int, re.search(
            r"pattern repeats after (\d+) frames; work per frame (\d+) ns on average, (\d+) ns at most, of (\d+) ns",
            out).groups())
        self.assertEqual(pattern, math.lcm(*(every for every, _, _ in jobs)))
        self.assertAlmostEqual(mean, sum(ns / every for every, _, ns in jobs), delta=1)
        self.assertEqual(most, max(sum(ns for every, phase, ns in jobs if frame % every == phase)
                                   for frame in range(pattern)))
        total, state, plant, drives, instruments, faults, links, world, schedule, parameters, arm = map(int, re.search(
            r"schedule (\d+) bytes; run state (\d+) bytes: plant (\d+), drives (\d+), instruments (\d+), faults (\d+), "
            r"links (\d+), world (\d+), schedule (\d+), parameters (\d+), arm (\d+)\n", out).groups())
        parts = (plant, drives, instruments, faults, links, world, schedule, parameters, arm)
        self.assertLess(sum(parts), state + 1)
        self.assertGreater(sum(parts), state - 64 * len(parts))
        self.assertGreater(total, state)
        copied, ns = map(int, re.search(r"between two frames: (\d+) bytes, (\d+) ns here", out).groups())
        self.assertEqual(copied, state)
        self.assertLess(ns, 1e9)
        return period, jobs, dict(zip(("plant", "drives", "instruments", "faults", "links", "world", "schedule",
                                       "parameters", "arm"), parts))

    def test_figures_add_up(self):
        period, jobs, parts = self.assert_adds_up(self.check(self.file("small.yaml", SMALL)))
        self.assertEqual((period, parts["drives"], parts["arm"], parts["faults"]), (5000000, 0, 0, 0))
        self.assertGreater(parts["instruments"], 0)
        two = SMALL + "  - {name: other, listen: 127.0.0.1:14570, body: bus}\n"
        self.assertEqual(self.assert_adds_up(self.check(self.file("two.yaml", two)))[2]["links"], 2 * parts["links"])
        self.assertGreater(min(ns for _, _, ns in jobs), 0)
        for name in ("cubesat-detumble", "rms", "fault-campaign", "satellite-board"):
            out = self.check(harness.SCENARIOS / f"{name}.yaml")
            period, jobs, parts = self.assert_adds_up(out)
            self.assertEqual(parts["arm"] > 0, name == "rms")
            self.assertEqual(parts["drives"] > 0, name != "rms")

    def test_the_cores_are_those_of_a_run(self):
        out = self.check(self.file("small.yaml", SMALL))
        self.assertRegex(out, r"\ncores\n  frame \d+, I/O \d+ \((polls|blocks)\), housekeeping \d+\n  The frame has core \d+;")
        out = self.check(self.file("small.yaml", SMALL), "--set", "io.mode=inline")
        self.assertRegex(out, r"\ncores\n  frame \d+, I/O -1 \(inline, inside the frame\), housekeeping \d+\n  The frame")

    def test_overrides_have_a_limit(self):
        path = self.file("small.yaml", SMALL)
        code, out, err = self.call("check", path, *(["--set", "seconds=1 s"] * 1000))
        self.assertEqual((code, out), (64, ""))


if __name__ == "__main__":
    harness.main()
