"""airbearing linearize and modes: closed forms through the whole program, and one line for every mistake."""
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

MODELS = pathlib.Path(os.environ.get("AIRBEARING_MODELS", harness.ROOT / "../shared/reference/models"))
G = 9.81

# A mass on a spring that gravity cannot move.
SPRING = """name: spring
bodies:
  - name: mass
    joint: {type: prismatic, axis: 1 0 0, stiffness: 50 N/m, damping: %g N s/m}
    mass: 2 kg
    inertia: 1 1 1 kg m^2
"""
# Two rods about y that hang down: mass 2 and 1 kg, 0.4 and 0.3 m below their hinges, 0.9 m apart.
DOUBLE = """<robot name="double">
  <link name="world"/>
  <link name="a"><inertial><origin xyz="0 0 -0.4"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="b"><inertial><origin xyz="0 0 -0.3"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="upper" type="continuous">
    <parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint>
  <joint name="lower" type="continuous"><origin xyz="0 0 -0.9"/>
    <parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>
"""
J1, J2, ARM, G1, G2 = 0.1 + 2 * 0.16, 0.1 + 0.09, 0.9 * 0.3, (2 * 0.4 + 0.9) * G, 0.3 * G
# A panel on a hinge along x, on a bus that flies: 0.4 m from the bus's centre, its own 0.5 m further.
PANEL = """name: panel
bodies:
  - name: bus
    joint: free
    mass: 40 kg
    inertia: 2 3 4 kg m^2
  - name: panel
    parent: bus
    joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m, stiffness: 30 N m/rad, damping: %g N m s/rad}
    mass: 2 kg
    center: 0 0.5 0 m
    inertia: 0.167 0.060 0.227 kg m^2
"""
BODY = """<robot name="body"><link name="body"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1.7" izz="2.2"/></inertial></link></robot>
"""
# The second joint slides along an arm that the first turns about the vertical.
BEAD = """<robot name="bead">
  <link name="world"/>
  <link name="rod"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="bead"><inertial><mass value="0.8"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="world"/><child link="rod"/><axis xyz="0 0 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="rod"/><child link="bead"/><axis xyz="1 0 0"/></joint>
</robot>
"""


def double_pendulum_hz():
    """Both frequencies of DOUBLE: (m11 m22 - m12^2) s^2 - (m11 k22 + m22 k11 - 2 m12 k12) s + det k = 0."""
    m11, m12, m22 = J1 + 0.81 + J2 + 2 * ARM, J2 + ARM, J2
    k11, k12, k22 = G1 + G2, G2, G2
    a, b, c = m11 * m22 - m12 * m12, m11 * k22 + m22 * k11 - 2 * m12 * k12, k11 * k22 - k12 * k12
    root = math.sqrt(b * b - 4 * a * c)
    return [math.sqrt((b - s * root) / (2 * a)) / (2 * math.pi) for s in (1, -1)]


def panel_inertia():
    """What the spring of PANEL turns: two bodies that turn against each other about parallel axes."""
    reduced_mass = 40 * 2 / 42
    m11 = 2 + 0.167 + reduced_mass * 0.9 * 0.9
    m12 = 0.167 + reduced_mass * 0.9 * 0.5
    m22 = 0.167 + reduced_mass * 0.5 * 0.5
    return m22 - m12 * m12 / m11


class Linear(harness.Case):
    def file(self, name, content):
        path = self.dir / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def ask(self, command, text, *options, at=None):
        """The answer of one command that must succeed."""
        point = () if at is None else ("--at", self.file("at.json", at))
        model = text if isinstance(text, pathlib.Path) else self.file("model", text)
        code, out, err = self.call(command, model, "--json", *point, *options)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def refused(self, text, at, *parts, command="linearize"):
        path = self.file("at.json", at)
        code, out, err = self.call(command, self.file("model", text), "--at", path)
        self.assertEqual((code, out), (2, ""), err)
        self.assert_one_line(err, *parts)
        return err

    def assert_close(self, got, want, places=12):
        self.assertEqual(len(got), len(want))
        for g, w in zip(got, want):
            if isinstance(w, list):
                self.assert_close(g, w, places)
            else:
                self.assertAlmostEqual(g, w, places)


class Modes(Linear):
    def hz(self, answer):
        return [mode["frequency_hz"] for mode in answer["modes"]]

    def test_a_mass_on_a_spring(self):
        answer = self.ask("modes", SPRING % 0)
        self.assert_close(self.hz(answer), [5 / (2 * math.pi)], 14)
        mode = answer["modes"][0]
        self.assertEqual((mode["damping"], mode["kind"], mode["shape"]), (0, "oscillating", [[1, 0]]))
        self.assertEqual((answer["x"], answer["rigid"], answer["zero_eigenvalues"], answer["growing"]),
                         (["mass.q"], 0, 0, 0))

    def test_a_damper_damps(self):
        mode = self.ask("modes", SPRING % 3)["modes"][0]
        self.assertAlmostEqual(mode["frequency_hz"], 5 / (2 * math.pi), 14)
        self.assertAlmostEqual(mode["damping"], 3 / (2 * math.sqrt(50 * 2)), 14)
        self.assert_close(mode["eigenvalue"], [-0.75, math.sqrt(25 - 0.75 ** 2)], 13)

    def test_an_overdamped_mass_has_two_decays(self):
        answer = self.ask("modes", SPRING % 52)  # s^2 + 26 s + 25
        self.assert_close([mode["eigenvalue"] for mode in answer["modes"]], [[-1, 0], [-25, 0]], 11)
        self.assertEqual([(m["kind"], m["damping"]) for m in answer["modes"]], [("decaying", 1)] * 2)

    def test_a_critically_damped_mass_has_its_decay_twice(self):
        for stiffness, damping, rate in ((50, 20, 5), (8, 8, 2)):  # (s + rate)^2
            answer = self.ask("modes", (SPRING % damping).replace("50 N/m", f"{stiffness} N/m"))
            found = self.eigenvalues(answer)  # rounding may have made a pair of them
            self.assertEqual((len(found), answer["zero_eigenvalues"], answer["growing"]), (2, 0, 0))
            for value in found:
                self.assertLess(abs(value + rate), 1e-6)

    def test_a_double_pendulum(self):
        answer = self.ask("modes", DOUBLE)
        self.assert_close(self.hz(answer), double_pendulum_hz(), 13)
        self.assertEqual([mode["damping"] for mode in answer["modes"]], [0, 0])

    def test_a_pendulum_upside_down_grows(self):
        answer = self.ask("modes", DOUBLE, at={"q": [math.pi, 0], "locked": ["lower"]})
        inertia = J1 + 0.81 + J2 + 2 * ARM
        rate = math.sqrt((G1 + G2) / inertia)
        self.assert_close([m["eigenvalue"] for m in answer["modes"]], [[-rate, 0], [rate, 0]])
        self.assertEqual([m["kind"] for m in answer["modes"]], ["decaying", "growing"])
        self.assertEqual((answer["growing"], answer["x"]), (1, ["upper.q"]))

    def test_a_panel_on_a_bus_that_flies(self):
        for gravity in ("0,0,0", "3,-2,9.81"):  # everything falls alike
            answer = self.ask("modes", PANEL % 0, "--gravity", gravity)
            self.assert_close(self.hz(answer), [math.sqrt(30 / panel_inertia()) / (2 * math.pi)], 12)
            self.assertEqual((answer["rigid"], answer["zero_eigenvalues"]), (6, 12))

    def test_rigid_motions_are_distinguished_from_damped_modes(self):
        rate, damping = math.sqrt(30 / panel_inertia()), 0.5 / (2 * math.sqrt(30 * panel_inertia()))
        answer = self.ask("modes", PANEL % 0.5)
        self.assert_close(self.hz(answer), [rate / (2 * math.pi)], 12)
        self.assertAlmostEqual(answer["modes"][0]["damping"], damping, 12)
        self.assertEqual((answer["rigid"], answer["zero_eigenvalues"]), (6, 12))

    def test_a_shape_keeps_the_angular_momentum(self):
        mode = self.ask("modes", PANEL % 0, "--gravity", "0,0,0")["modes"][0]
        reduced_mass = 40 * 2 / 42
        share = (0.167 + reduced_mass * 0.9 * 0.5) / (2 + 0.167 + reduced_mass * 0.9 * 0.9)
        self.assert_close(mode["shape"], [[-share, 0]] + [[0, 0]] * 4 + mode["shape"][5:6] + [[1, 0]])

    def test_damping_changes_no_rigid_mode_of_a_joint_without_spring(self):
        answer = self.ask("modes", (PANEL % 0.5).replace("stiffness: 30", "stiffness: 0"))
        self.assert_close([m["eigenvalue"] for m in answer["modes"]], [[-0.5 / panel_inertia(), 0]])
        self.assertEqual((answer["rigid"], answer["zero_eigenvalues"]), (7, 13))

    def test_a_spinning_body_nutates(self):
        answer = self.ask("modes", BODY, "--base", "free", "--gravity", "0,0,0",
                          at={"v": [0, 0, 2, 0, 0, 0]})
        nutation = 2 * math.sqrt((2.2 - 1) * (2.2 - 1.7) / (1 * 1.7)) / (2 * math.pi)
        self.assertAlmostEqual(min(self.hz(answer)), min(nutation, 1 / math.pi), 7)
        self.assertTrue(any(abs(f - nutation) < 1e-12 for f in self.hz(answer)))
        self.assertEqual(answer["growing"], 0)
        middle = self.ask("modes", BODY, "--base", "free", at={"v": [0, 2, 0, 0, 0, 0]})
        self.assertEqual(middle["growing"], 1)  # the middle axis does not hold

    def eigenvalues(self, answer):
        """All of them, conjugates and zeros as well."""
        out = [0j] * answer["zero_eigenvalues"]
        for mode in answer["modes"]:
            value = complex(*mode["eigenvalue"])
            out += [value] if value.imag == 0 else [value, value.conjugate()]
        return out

    def test_a_torque_on_a_body_at_rest_makes_no_mode(self):
        for kind, count in (("free", 6), ("spherical", 3)):
            text = f"name: s\nbodies:\n  - {{name: s, joint: {{type: {kind}}}, mass: 3, inertia: 2 2 2}}\n"
            answer = self.ask("modes", text, at={"tau": [1] + [0] * (count - 1), "gravity": [0, 0, 0]})
            self.assertEqual((answer["modes"], answer["zero_eigenvalues"], answer["rigid"]), ([], 2 * count, count))
            self.assertAlmostEqual(answer["equilibrium"]["largest"], 0.5, 14)

    def test_modes_are_the_eigenvalues_of_linearize(self):
        """Power sums of the eigenvalues are the traces of the powers of A, where the point moves too."""
        ball = (PANEL % 0.2).replace("joint: free", "joint: {type: spherical, at: 0 0 0 m}").replace(
            "inertia: 2 3 4 kg m^2", "inertia: 2 3 4 kg m^2\n    center: 0.1 0.2 -0.3 m")
        turn = [0.5, 0.5, -0.5, 0.5]
        for text, at in (
            (PANEL % 0, {"tau": [3, 1, -2, 5, 40, 2, 1]}),
            (PANEL % 0.3, {"q": [1, 2, 3, *turn, 0.4], "v": [0.3, -0.2, 0.5, 1, 2, -1, 0.7],
                           "tau": [3, 1, -2, 5, 40, 2, 1], "gravity": [0, 1, -9]}),
            (ball, {"q": [*turn, -0.3], "tau": [3, 1, -2, 1], "gravity": [0, 1, -9]}),
            (ball, {"q": [*turn, -0.3], "v": [1, -2, 0.5, 1], "tau": [3, 1, -2, 1], "gravity": [0, 1, -9]}),
        ):
            A = self.ask("linearize", text, at=at)["A"]
            answer = self.ask("modes", text, at=at)
            self.assertGreater(answer["equilibrium"]["largest"], 0.1)
            values = self.eigenvalues(answer)
            self.assertEqual(len(values), len(A))
            power, size = A, max(abs(x) for x in values)
            for k in range(1, len(A) + 1):
                trace = sum(power[i][i] for i in range(len(A)))
                total = sum(x ** k for x in values)
                self.assertLess(abs(trace - total), 1e-10 * len(A) * max(size, 1) ** k, (at, k))
                power = [[sum(a * b for a, b in zip(row, column)) for column in zip(*A)] for row in power]

    def test_a_body_in_orbit_does_not_grow(self):
        text = ("name: s\nbodies:\n  - {name: s, joint: {type: free}, mass: 3, center: 0.3 0.2 0.1, "
                "inertia: 2 2 3}\n")
        for v in ([0, 0, 0.001, 7500, 0, 0], [0, 0, 0.001, 3000, -7000, 10]):
            answer = self.ask("modes", text, at={"v": v, "gravity": [0, 0, 0]})
            self.assertEqual((answer["growing"], answer["zero_eigenvalues"]), (0, 4), v)
            for got, want in zip(self.hz(answer), (0.5, 1, 1, 1), strict=True):  # it nutates, its axes turn
                self.assertAlmostEqual(got * 2 * math.pi / 0.001, want, 4)

    def test_gravity_is_no_matter_to_what_falls(self):
        v = [2e-3, -1e-3, 3e-3, 5, 6, 7, 1e-3]
        answers = [self.ask("modes", PANEL % 0.1, at={"v": v, "gravity": g}) for g in ([0, 0, 0], [1, 2, -9])]
        self.assertEqual(*[[mode["eigenvalue"] for mode in a["modes"]] for a in answers])
        self.assertAlmostEqual(answers[1]["equilibrium"]["largest"], 9, 1)
        bound = {"gravity": [0, 0, -9], "locked": ["bus"]}
        self.assertNotEqual(*[self.ask("modes", PANEL % 0.1, at={**bound, "q": [0, 0, 0, 1, 0, 0, 0, q]})["modes"]
                              for q in (0, 1)])

    def test_rounding_is_no_mode_of_a_long_chain(self):
        """Stretched out, the weight of the links has no slope: 30 hinges without stiffness."""
        parts = ['<robot name="chain"><link name="l0"/>']
        for i in range(30):
            parts.append(f"""<link name="l{i + 1}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
                <inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
                <joint name="j{i}" type="continuous"><origin xyz="{0.2 * (i > 0)} 0 0"/>
                <parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 {i % 2} {1 - i % 2}"/></joint>""")
        answer = self.ask("modes", "\n".join(parts + ["</robot>"]), at={"tau": "hold"})
        self.assertEqual((answer["modes"], answer["rigid"], answer["zero_eigenvalues"], answer["growing"]),
                         ([], 30, 60, 0))

    def test_a_model_that_cannot_move_has_no_modes(self):
        answer = self.ask("modes", BODY)
        self.assertEqual((answer["modes"], answer["rigid"], answer["x"]), ([], 0, []))

    def test_people_get_a_table(self):
        code, out, err = self.call("modes", self.file("model", PANEL % 0))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("panel.q 1.00, bus.rx -0.", out)
        self.assertIn("rigid-body motions: 6 (12 zero eigenvalues)", out)
        self.assertIn("growing modes: 0", out)


# A pendulum about y, 0.5 m long, that starts out of plumb; a second one hangs on it.
PENDULUM = """name: pendulum
%s
bodies:
  - name: upper
    joint: {type: revolute, axis: 0 1 0, angle: 0.3 rad, %s}
    mass: 2 kg
    center: 0 0 -0.5 m
    inertia: 0.1 0.1 0.1 kg m^2
  - name: lower
    parent: upper
    joint: {type: prismatic, axis: 0 0 -1, position: 0.2 m, %s}
    mass: 1 kg
    inertia: 0.1 0.1 0.1 kg m^2
"""


class Start(Linear):
    """Without a point, a scenario is looked at as it begins."""
    MOON = "environment: {gravity: 0 0 -1.62 m/s^2}"
    INERTIA = 2 * 0.25 + 0.1 + 0.04 + 0.1  # about the hinge, with the mass at 0.2 m
    TORQUE = 2 * 0.5 + 0.2

    def test_gravity_and_pose_and_locks_are_those_of_the_scenario(self):
        text = PENDULUM % (self.MOON, "rate: 3 rad/s", "locked: true")
        answer = self.ask("linearize", text)
        self.assertEqual(answer["x"], ["upper.q", "upper.v"])
        self.assert_close(answer["A"], [[0, 1], [-1.62 * self.TORQUE * math.cos(0.3) / self.INERTIA, 0]])
        self.assert_close(answer["equilibrium"]["acceleration"],
                          [-1.62 * self.TORQUE * math.sin(0.3) / self.INERTIA])
        mode = self.ask("modes", text)["modes"][0]
        self.assertAlmostEqual(mode["frequency_hz"] * 2 * math.pi, math.sqrt(-answer["A"][1][0]), 13)

    def test_a_scenario_without_gravity_has_none(self):
        answer = self.ask("modes", PENDULUM % ("", "", "locked: true"))
        self.assertEqual((answer["modes"], answer["zero_eigenvalues"]), ([], 2))

    def test_a_prescribed_joint_moves_as_the_scenario_says(self):
        text = PENDULUM % ("", "rate: 3 rad/s, prescribed: 2 rad/s^2", "")
        for at in (None, {"v": [7, 0]}):
            answer = self.ask("linearize", text, at=at)
            self.assertEqual(answer["x"], ["lower.q", "lower.v"])
            self.assert_close(answer["A"], [[0, 1], [9, 0]])
            self.assert_close(answer["equilibrium"]["acceleration"], [9 * 0.2])

    def test_options_and_points_come_before_the_scenario(self):
        text = PENDULUM % (self.MOON, "", "locked: true")
        heavy = [[0, 1], [-G * self.TORQUE * math.cos(0.3) / self.INERTIA, 0]]
        self.assert_close(self.ask("linearize", text, "--gravity", "0,0,-9.81")["A"], heavy)
        self.assert_close(self.ask("linearize", text, at={"gravity": [0, 0, -9.81]})["A"], heavy)
        plumb = self.ask("linearize", text, at={"q": [0, 0.2]})
        self.assert_close(plumb["A"], [[0, 1], [-1.62 * self.TORQUE / self.INERTIA, 0]])
        self.assertEqual(self.ask("linearize", text, at={"locked": ["upper"]})["x"], ["lower.q", "lower.v"])
        self.assertEqual(len(self.ask("linearize", text, at={"locked": []})["x"]), 4)

    def test_a_free_body_starts_where_the_scenario_puts_it(self):
        text = (PANEL % 0.1).replace("joint: free", "joint: {type: free, attitude: 0.8 0 0.6 0}")
        at = {"q": [0, 0, 0, 0.8, 0, 0.6, 0, 0], "gravity": [0, 0, -3]}
        self.assertEqual(self.ask("linearize", text, "--gravity", "0,0,-3"),
                         self.ask("linearize", PANEL % 0.1, at=at))
        self.assertNotEqual(self.ask("linearize", text, "--gravity", "0,0,-3"),
                            self.ask("linearize", PANEL % 0.1, "--gravity", "0,0,-3"))

    def test_the_helps_say_so(self):
        for command in ("linearize", "modes"):
            out = self.call(command, "--help")[1]
            self.assertIn("A scenario gives the point its gravity", out)


class Linearize(Linear):
    def test_the_model_has_its_names_and_sizes(self):
        answer = self.ask("linearize", DOUBLE)
        states = ["upper.q", "lower.q", "upper.v", "lower.v"]
        self.assertEqual(answer["x"], states)
        self.assertEqual(answer["u"], ["upper.tau", "lower.tau"])
        self.assertEqual(answer["y"], states + ["upper.a", "lower.a"])
        for key, rows, columns in (("A", 4, 4), ("B", 4, 2), ("C", 6, 4), ("D", 6, 2)):
            self.assertEqual([len(row) for row in answer[key]], [columns] * rows, key)
        self.assertEqual(answer["A"][:2], [[0, 0, 1, 0], [0, 0, 0, 1]])
        self.assertEqual(answer["B"][:2], [[0, 0]] * 2)
        self.assertEqual(answer["C"][:4], [[float(r == c) for c in range(4)] for r in range(4)])
        self.assertEqual(answer["C"][4:], answer["A"][2:])
        self.assertEqual(answer["D"], [[0, 0]] * 4 + answer["B"][2:])
        self.assertLess(answer["equilibrium"]["largest"], 1e-15)

    def test_a_double_pendulum(self):
        answer = self.ask("linearize", DOUBLE)
        m11, m12, m22 = J1 + 0.81 + J2 + 2 * ARM, J2 + ARM, J2
        det = m11 * m22 - m12 * m12
        inverse = [[m22 / det, -m12 / det], [-m12 / det, m11 / det]]
        self.assert_close(answer["B"][2:], inverse)
        k = [[G1 + G2, G2], [G2, G2]]
        self.assert_close([row[:2] for row in answer["A"][2:]],
                          [[-sum(inverse[r][i] * k[i][c] for i in (0, 1)) for c in (0, 1)] for r in (0, 1)])

    def test_a_spinning_free_body(self):
        w, u, inertia = (0.3, -1.1, 0.7), (2.0, 0.5, -3.0), (1, 1.7, 2.2)
        answer = self.ask("linearize", BODY, "--base", "free", "--gravity", "0,0,0", at={"v": [*w, *u]})
        self.assertEqual(answer["x"], ["body." + s for s in
                                       "rx ry rz x y z wx wy wz vx vy vz".split()])
        self.assertEqual(answer["u"], ["body." + s for s in "mx my mz fx fy fz".split()])
        self.assertEqual(answer["y"][12:], ["body." + s for s in "dwx dwy dwz dvx dvy dvz".split()])

        def minus_cross(a):
            return [[0, a[2], -a[1]], [-a[2], 0, a[0]], [a[1], -a[0], 0]]

        def block(row, column):
            return [r[column:column + 3] for r in answer["A"][row:row + 3]]

        zero = [[0.0] * 3] * 3
        one = [[float(r == c) for c in range(3)] for r in range(3)]
        self.assert_close(block(0, 0), minus_cross(w))
        self.assert_close(block(3, 0), minus_cross(u))
        self.assert_close(block(3, 3), minus_cross(w))
        self.assert_close(block(0, 6), one)
        self.assert_close(block(3, 9), one)
        euler = [[0.0] * 3 for _ in range(3)]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            euler[i][j] = (inertia[j] - inertia[k]) * w[k] / inertia[i]
            euler[i][k] = (inertia[j] - inertia[k]) * w[j] / inertia[i]
        self.assert_close(block(6, 6), euler)
        self.assert_close(block(9, 6), [[-x for x in row] for row in minus_cross(u)])
        self.assert_close(block(9, 9), minus_cross(w))
        self.assert_close(block(6, 0), zero)
        self.assert_close(block(9, 0), zero)

    def test_forces_that_hold_make_an_equilibrium(self):
        answer = self.ask("linearize", DOUBLE, at={"q": [1.2, 0], "tau": "hold", "locked": ["lower"]})
        self.assertLess(answer["equilibrium"]["largest"], 1e-14)
        self.assertAlmostEqual(answer["A"][1][0], -(G1 + G2) * math.cos(1.2) / (J1 + 0.81 + J2 + 2 * ARM), 12)
        loose = self.ask("linearize", DOUBLE, at={"q": [1.2, 0], "locked": ["lower"]})
        self.assertAlmostEqual(loose["equilibrium"]["acceleration"][0],
                               -(G1 + G2) * math.sin(1.2) / (J1 + 0.81 + J2 + 2 * ARM), 12)

    def test_tau_is_what_the_file_says(self):
        answer = self.ask("linearize", DOUBLE, at={"tau": [0, 2], "locked": ["upper"]})
        self.assertAlmostEqual(answer["equilibrium"]["largest"], 2 / J2, 12)

    def test_a_prescribed_joint_carries_its_motion_in(self):
        answer = self.ask("linearize", BEAD, at={"q": [0, 0.5], "v": [9, 0.1],
                                                 "prescribed": {"turn": {"v": 3, "a": 1}}})
        self.assertEqual((answer["x"], answer["u"]), (["slide.q", "slide.v"], ["slide.tau"]))
        self.assert_close(answer["A"], [[0, 1], [9, 0]])
        self.assert_close(answer["B"], [[0], [1.25]])
        self.assert_close(answer["equilibrium"]["acceleration"], [4.5])

    def test_a_locked_joint_stands_still(self):
        answer = self.ask("linearize", BEAD, at={"q": [0, 0.5], "v": [3, 0], "locked": ["turn"]})
        self.assert_close(answer["A"], [[0, 1], [0, 0]])

    def test_a_joint_that_mimics_is_part_of_its_leader(self):
        text = DOUBLE.replace('<parent link="a"/>', '<parent link="a"/><mimic joint="upper" multiplier="-2"/>')
        m11, m12, m22 = J1 + 0.81 + J2 + 2 * ARM, J2 + ARM, J2
        inertia, stiffness = m11 - 4 * m12 + 4 * m22, G1 + G2 - 4 * G2 + 4 * G2
        answer = self.ask("linearize", text)
        self.assertEqual((answer["x"], answer["u"]), (["upper.q", "upper.v"], ["upper.tau"]))
        self.assert_close(answer["A"], [[0, 1], [-stiffness / inertia, 0]])
        self.assert_close(answer["B"], [[0], [1 / inertia]])
        mode = self.ask("modes", text)["modes"][0]
        self.assertAlmostEqual(mode["frequency_hz"], math.sqrt(stiffness / inertia) / (2 * math.pi), 13)

    def test_a_lift_that_rises_adds_to_gravity(self):
        lift = self.ask("linearize", DOUBLE, at={"base_acceleration": [0, 0, 0, 0, 0, 2]})
        heavy = self.ask("linearize", DOUBLE, "--gravity", "0,0,-11.81")
        self.assert_close(lift["A"], heavy["A"])

    def test_the_option_comes_before_the_gravity_of_the_file(self):
        at = {"gravity": [0, 0, -1.5]}
        slow = self.ask("linearize", DOUBLE, at=at)
        self.assert_close(slow["A"], self.ask("linearize", DOUBLE, "--gravity", "0,0,-1.5")["A"])
        none = self.ask("linearize", DOUBLE, "--gravity", "0,0,0", at=at)
        self.assert_close([row[:2] for row in none["A"][2:]], [[0, 0]] * 2)

    def test_people_get_tables(self):
        code, out, err = self.call("linearize", self.file("model", DOUBLE))
        self.assertEqual((code, err), (0, ""))
        for title in ("A: dx/dt from x", "B: dx/dt from u", "C: y from x", "D: y from u"):
            self.assertIn(title, out)
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        code, out, err = self.call("linearize", self.file("model", BODY), "--base", "free")
        self.assertEqual((code, err), (0, ""))
        self.assertLessEqual(max(map(len, out.splitlines())), 100)

    def test_robots_change_as_eval_does(self):
        """A and B of real robots against differences of sixth order of another command."""
        if not (MODELS / "panda7.urdf").exists():
            self.skipTest(f"no models in {MODELS}")
        for name in ("panda7", "ur5", "chain10"):
            with (MODELS / f"{name}.jsonl").open() as states:
                state = json.loads(states.readline())
            self.assert_differences(MODELS / f"{name}.urdf", state)

    def assert_differences(self, path, state):
        n, h = len(state["v"]), 1e-3
        answer = self.ask("linearize", path, at={k: state[k] for k in ("q", "v", "tau")})
        steps = [(w / (60 * h), s * p * h) for p, w in ((1, 45), (2, -9), (3, 1)) for s, w in ((1, w), (-1, -w))]
        lines = []
        for key in ("q", "v", "tau"):
            for k in range(n):
                for _, step in steps:
                    moved = {name: list(state[name]) for name in ("q", "v", "tau")}
                    moved[key][k] += step
                    lines.append(json.dumps(moved))
        code, out, err = self.call("eval", path, input="\n".join(lines))
        self.assertEqual((code, err), (0, ""))
        rows = [json.loads(line)["a"] for line in out.splitlines()]
        for column in range(3 * n):
            for r in range(n):
                slope = sum(w * rows[len(steps) * column + i][r] for i, (w, _) in enumerate(steps))
                got = answer["A"][n + r][column] if column < 2 * n else answer["B"][n + r][column - 2 * n]
                size = max(abs(row[column % n]) for row in answer["A"][n:]) + abs(state["a"][r]) + 1
                self.assertLess(abs(got - slope) / size, 1e-8, (path.stem, r, column))


# A bus that flies, with a boom to either side: 0.5 m from its centre on a hinge along the boom, 3 m long, 4 kg.
BOOMS = """name: booms
bodies:
- {name: bus, joint: free, mass: 40 kg, inertia: 20 20 20 kg m^2}
""" + "".join(f"""- name: {name}
  parent: bus
  joint: {{type: revolute, axis: 1 0 0, at: {at} 0 0 m, attitude: {{yaw: {yaw} deg}}}}
  flex:
    type: beam
    length: 3 m
    mass: 4 kg
    roll_inertia: 0.5 kg m^2
    fidelity: FIDELITY
    bend_y: {{modes: 3, frequency: 0.5 Hz}}
    bend_z: {{modes: 2, frequency: 0.8 Hz}}
    damping: DAMPING
    nodes: [{{name: tip, x: 3 m}}]
""" for name, at, yaw in (("left", 0.5, 0), ("right", -0.5, 180)))
# Roots of cos x cosh x = -1.
CLAMPED = (1.8751040687119611, 4.6940911329741746, 7.8547574382376126)


def booms(fidelity="consistent", damping="0"):
    return BOOMS.replace("FIDELITY", fidelity).replace("DAMPING", damping)


def clamped_hz(first):
    return [first * (x / CLAMPED[0]) ** 2 for x in CLAMPED]


def swinging_hz(m, parts, first):
    """Where m + sum h^2 w^2 / (w_p^2 - w^2) is zero: a root behind each frequency w_p of the clamped beam."""
    squares = [f * f for f in clamped_hz(first)[:len(parts)]]
    roots = []
    for low, high in zip(squares, squares[1:] + [1e3 * squares[-1]]):
        for _ in range(200):
            middle = (low + high) / 2
            left = m + sum(h * h * middle / (s - middle) for h, s in zip(parts, squares)) < 0
            low, high = (middle, high) if left else (low, middle)
        roots.append(math.sqrt(low))
    return roots


class Flexible(Linear):
    def hz(self, answer):
        return [mode["frequency_hz"] for mode in answer["modes"]]

    def test_modes_have_names(self):
        answer = self.ask("linearize", booms(), at={"locked": ["bus"]})
        sides = ("left", "right")

        def named(joint, mode):  # all joints, then the modes body by body
            return [f"{side}.{joint}" for side in sides] + [f"{side}.{mode}{p}" for side in sides for p in range(1, 6)]

        self.assertEqual(answer["x"], named("q", "eta") + named("v", "xi"))
        self.assertEqual(answer["u"], named("tau", "force"))
        self.assertEqual(answer["y"], answer["x"] + named("a", "dxi"))
        shapes = self.ask("modes", booms(), at={"locked": ["bus"]})
        self.assertEqual(shapes["x"], named("q", "eta"))
        code, out, err = self.call("modes", self.file("model", booms()))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("left.eta1 1.00", out)

    def test_locked_joints_leave_the_frequencies_of_the_clamped_beam(self):
        answer = self.ask("modes", booms(damping="0.5 %"), at={"locked": ["bus", "left", "right"]})
        want = sorted(2 * (clamped_hz(0.5) + clamped_hz(0.8)[:2]))
        self.assert_close(self.hz(answer), want, 6)
        self.assert_close([mode["damping"] for mode in answer["modes"]], [0.005] * 10, 8)
        self.assertEqual((answer["rigid"], answer["growing"]), (0, 0))

    def test_a_bus_with_two_booms_swings_against_them(self):
        """Booms that swing to one side turn the bus, those that swing apart push it along."""
        for fidelity in ("consistent", "inconsistent", "ruthless"):
            answer = self.ask("modes", booms(fidelity), at={"locked": ["left", "right"]})
            turn = 20 + 2 * 4 * (0.5 ** 2 + 0.5 * 3 + 3 ** 2 / 3)
            want = []
            for first, count in ((0.5, 3), (0.8, 2)):
                pull, lever = [], []
                for x in CLAMPED[:count]:
                    sigma = (math.cosh(x) + math.cos(x)) / (math.sinh(x) + math.sin(x))
                    # int phi = 2 sigma / x and int x phi = 2 / x^2 of a unit beam, both booms at once
                    pull.append(math.sqrt(2 * 4) * 2 * sigma / x)
                    lever.append(0.5 * pull[-1] + math.sqrt(2 * 4) * 3 * 2 / x ** 2)
                want += swinging_hz(turn, lever, first) + swinging_hz(48, pull, first)
            self.assert_close(self.hz(answer), sorted(want), 5)
            self.assertEqual((answer["rigid"], answer["zero_eigenvalues"], answer["growing"]), (6, 12, 0))

    def test_stiff_damped_modes_do_not_blur_the_rigid_motions(self):
        """Hinges four decades slower than the modes: with damping, as many rigid motions as without."""
        text = booms(damping="DAMPING").replace("frequency: 0.5 Hz", "frequency: 40 Hz").replace(
            "axis: 1 0 0", "axis: 1 0 0, stiffness: 0.0005")
        text = text.replace("bodies:", "integrator: ros2\nbodies:")
        answers = [self.ask("modes", text.replace("DAMPING", damping)) for damping in ("0", "0.5 %")]
        for answer in answers:
            self.assertEqual((answer["rigid"], answer["zero_eigenvalues"], answer["growing"]), (6, 12, 0))
        slow = [self.hz(answer)[:2] for answer in answers]
        self.assertLess(max(slow[0]), 0.01)
        self.assert_close(slow[1], slow[0], 6)

    def test_a_bent_body_returns_unless_held(self):
        text = booms().replace("    damping: 0", "    start: 0.5 0 0 0 0\n    damping: 0")
        locked = {"locked": ["bus", "left", "right"]}
        self.assertGreater(self.ask("modes", text, at=locked)["equilibrium"]["largest"], 1)
        held = self.ask("modes", text, at={**locked, "tau": "hold"})
        self.assertLess(held["equilibrium"]["largest"], 1e-12)
        self.assert_close(self.hz(held), sorted(2 * (clamped_hz(0.5) + clamped_hz(0.8)[:2])), 6)

    def test_a_spinning_bus_stiffens_its_booms(self):
        """Out of the plane of the spin the lowest square grows by 1.193 W^2, and 1.571 W^2 per hub radius."""
        at = {"prescribed": {"bus": {"v": [0, 0, 1, 0, 0, 0]}}, "locked": ["left", "right"]}

        def lowest(fidelity):
            shapes = self.ask("modes", booms(fidelity), at=at)["modes"]
            flap = [m["frequency_hz"] for m in shapes if abs(complex(*m["shape"][3])) > 0.99]
            return (2 * math.pi * min(flap)) ** 2

        rest = (2 * math.pi * 0.8) ** 2
        self.assertAlmostEqual(lowest("ruthless"), rest, 4)
        self.assertAlmostEqual(lowest("inconsistent"), rest, 4)
        grown = lowest("consistent") - rest
        self.assertAlmostEqual(grown, 1.193 + 1.571 * 0.5 / 3, 2)

    def test_booms_change_as_eval_does(self):
        """With the bus on a hinge, and a camera on a node: q has as many numbers as v."""
        text = booms(damping="1 %").replace("joint: free", "joint: {type: revolute, axis: 0 0 1}") + (
            "- {name: camera, parent: left, joint: {type: revolute, axis: 0 1 0, node: tip}, mass: 2, "
            "center: 0.1 0.2 0.3, inertia: 1 1 1}\nenvironment: {gravity: 0 0 -9.81}\n")
        n = 14
        for fidelity in ("consistent", "inconsistent", "ruthless"):
            path = self.file("booms.yaml", text.replace("consistent", fidelity))
            state = {"q": [0.1 * math.sin(k) for k in range(n)], "v": [0.5 * math.cos(3 * k) for k in range(n)],
                     "tau": [math.sin(2 * k) for k in range(n)], "a": [1] * n}
            Linearize.assert_differences(self, path, state)


class Mistakes(Linear):
    def test_every_mistake_in_a_point_is_reported_at_its_place(self):
        for at, place, what in (
            ('{"q": [0]}', "1:7", '"q" has 1 numbers, this model needs 2'),
            ('{"q": 0}', "1:7", '"q" needs a list of 2 numbers'),
            ('{\n "v": [0,\n  "fast"]}', "3:3", '"v" needs numbers'),
            ('{"q": [0,\n "1"]}', "2:2", '"q" needs numbers'),
            ('{"prescribed": {"upper": {"a": "3"}}}', "1:32", '"a" needs numbers'),
            ('{"v": [0, null]}', "1:11", '"v" needs numbers'),
            ('{"v": [0, 1e999]}', "1:", "JSON: real number overflow"),
            ('{"tau": "drop"}', "1:9", '"tau" needs a list'),
            ('{"gravity": [0, 0]}', "1:13", "needs 3"),
            ('{"base_acceleration": [0]}', "1:23", "needs 6"),
            ('{"locked": "upper"}', "1:12", "list of joints"),
            ('{"locked": ["uper"]}', "1:13", 'did you mean "upper"?'),
            ('{"locked": [[]]}', "1:13", "names of joints"),
            ('{"prescribed": []}', "1:16", '"prescribed" needs'),
            ('{"prescribed": {"x": {}}}', "1:17", 'no joint that moves is called "x"'),
            ('{"prescribed": {"upper": 3}}', "1:26", "a prescribed joint needs"),
            ('{"prescribed": {"upper": {"w": 3}}}', "1:27", 'no "w"'),
            ('{"prescribed": {"upper": {"v": [1, 2]}}}', "1:32", "needs 1"),
            ('{"locked": ["upper"], "prescribed": {"upper": {}}}', "1:38", "locked as well"),
            ('{"gravty": []}', "1:2", "did you mean gravity"),
            ('{"turn": []}', "1:2", 'there is no key "turn"; see --help'),
            ('{"q": [0, 0], "q": [0, 0]}', "1:15", "q"),
            ("", "1:", "JSON: "),
            ("q: [0, 0]", "1:", "JSON: "),
            ('{"v": [0,\n 1', "2:", "JSON: "),
            ("[1]", "1:1", "a point is an object"),
        ):
            for command in ("linearize", "modes"):
                err = self.refused(DOUBLE, at, what, command=command)
                self.assertIn(f"at.json:{place}", err)

    def test_a_joint_may_have_a_number_for_a_name(self):
        answer = self.ask("linearize", DOUBLE.replace('"upper"', '"1"'), at={"locked": ["1"]})
        self.assertEqual(answer["x"], ["lower.q", "lower.v"])

    def test_a_quaternion_must_be_a_unit_one(self):
        path = self.file("at.json", {"q": [0, 0, 0, 1, 0.01, 0, 0]})
        code, out, err = self.call("modes", self.file("model", BODY), "--base", "free", "--at", path)
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "at.json:1:7: the quaternion of", "(numbers 4 to 7", "length 1.00005")

    def test_a_joint_that_mimics_cannot_be_held(self):
        text = DOUBLE.replace('<parent link="a"/>', '<parent link="a"/><mimic joint="upper"/>')
        self.refused(text, {"locked": ["lower"]}, "at.json:1:13: joint \"lower\" mimics another")
        self.refused(text, {"prescribed": {"lower": {}}}, "at.json:1:17: joint \"lower\" mimics another")

    def test_files_that_are_not_there_are_reported(self):
        for command in ("linearize", "modes"):
            code, out, err = self.call(command, self.dir / "absent.urdf")
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, "absent.urdf: there is no such file")
            code, out, err = self.call(command, self.file("model", DOUBLE), "--at", self.dir / "absent.json")
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, "absent.json: there is no such file")

    def test_an_answer_that_is_nan_is_reported(self):
        for command in ("linearize", "modes"):
            self.refused(BEAD, {"v": [1e200, 1e200]}, "the answer is too large", command=command)

    def test_answers_that_cannot_be_written_are_reported(self):
        for command in ("linearize", "modes"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([harness.AIRBEARING, command, self.file("model", DOUBLE)], stdout=full,
                                      stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assert_one_line(done.stderr, "cannot be written")

    def test_usage_errors_are_64(self):
        path = self.file("model", DOUBLE)
        for command in ("linearize", "modes"):
            for arguments in ([], [path, path], [path, "--base", "loose"], [path, "--gravity", "9.81"],
                              [path, "--nonsense"], [path, "--at"]):
                code, out, err = self.call(command, *arguments)
                self.assertEqual((code, out), (64, ""), arguments)
                self.assertNotEqual(err, "")
            code, out, err = self.call(command, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertIn(f"usage: airbearing {command} MODEL", out)


if __name__ == "__main__":
    harness.main()
