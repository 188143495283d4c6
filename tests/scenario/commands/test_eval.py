"""airbearing eval: closed forms through the whole program, and one line for every mistake."""
import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

INERTIAL = '<inertial><origin xyz="{x} 0 0"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
# A pendulum about y, its mass 0.5 m along x: (1 + 2 * 0.5^2) a = tau + 2 * 9.81 * 0.5 cos q - d v.
PENDULUM = f"""<robot name="pendulum">
  <link name="world"/>
  <link name="bob">{INERTIAL.format(x=0.5)}</link>
  <joint name="pivot" type="continuous">
    <parent link="world"/><child link="bob"/><axis xyz="0 2 0"/><dynamics damping="0.25"/>
  </joint>
</robot>
"""
BALL = f'<robot name="ball"><link name="ball">{INERTIAL.format(x=0)}</link></robot>'
# The joint that stands first in the file hangs on the one that stands second.
SWAPPED = f"""<robot name="swapped">
  <link name="world"/><link name="a">{INERTIAL.format(x=0)}</link>
  <link name="b">{INERTIAL.format(x=0)}</link>
  <joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
  <joint name="turn" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
</robot>
"""


# A disc on a table tilted by a quarter turn about y: its normal is the world's x, and the joint's x,
# along which it slides first, the world's -z.
TABLE = f"""<robot name="table">
  <link name="world"/><link name="disc">{INERTIAL.format(x=0)}</link>
  <joint name="plane" type="planar"><origin rpy="0 {math.pi / 2} 0"/>
    <parent link="world"/><child link="disc"/><axis xyz="0 0 1"/></joint>
</robot>
"""
# A ball in a socket 2 m up, its mass 0.5 m below: the inertia about the socket is 1.5 1.5 1.
SOCKET = """
name: socket
bodies:
  - name: ball
    joint: {type: spherical, at: 0 0 2, damping: 3 0 0}
    mass: 2
    center: 0 0 -0.5
    inertia: 1 1 1
"""
# A lift that draws a sledge: (2 + 2^2 2) a = tau - 2 * 9.81, whatever it slides on.
LIFT = f"""<robot name="lift">
  <link name="world"/><link name="lift">{INERTIAL.format(x=0)}</link>
  <link name="sledge">{INERTIAL.format(x=0)}</link>
  <joint name="draw" type="prismatic"><parent link="world"/><child link="sledge"/>
    <axis xyz="1 0 0"/><mimic joint="rise" multiplier="-2" offset="1"/></joint>
  <joint name="rise" type="prismatic"><parent link="world"/><child link="lift"/>
    <axis xyz="0 0 1"/></joint>
</robot>
"""


class Eval(harness.Case):
    def model(self, text, name="model.urdf"):
        path = self.dir / name
        path.write_text(text)
        return path

    def eval(self, text, states, *options):
        """Answers of one command that must succeed."""
        lines = "".join(json.dumps(state) + "\n" for state in states)
        code, out, err = self.call("eval", self.model(text), *options, input=lines)
        self.assertEqual((code, err), (0, ""))
        return [json.loads(line) for line in out.splitlines()]

    def refused(self, text, line, *options):
        code, out, err = self.call("eval", self.model(text), *options, input=line)
        self.assertEqual((code, out), (2, ""), err)
        return err

    def test_a_pendulum_falls(self):
        for q, v, tau in ((0, 0, 0), (0.3, 0, 1), (-1.2, 2, 0.5)):
            (answer,) = self.eval(PENDULUM, [{"q": [q], "v": [v], "tau": [tau]}])
            self.assertAlmostEqual(answer["a"][0], (tau + 9.81 * math.cos(q) - 0.25 * v) / 1.5, 13)

    def test_inverse_gives_the_torque_back(self):
        state = {"q": [0.7], "v": [-2], "a": [3]}
        (answer,) = self.eval(PENDULUM, [state], "--inverse")
        self.assertAlmostEqual(answer["tau"][0], 4.5 - 9.81 * math.cos(0.7) - 0.5, 13)

    def test_gravity_is_an_option(self):
        state = {"q": [0], "v": [0], "tau": [0]}
        (answer,) = self.eval(PENDULUM, [state], "--gravity", "0,0,1.5", "--algorithm", "aba")
        self.assertAlmostEqual(answer["a"][0], -1, 13)

    def test_a_scenario_has_its_own_gravity(self):
        """The socket's ball: (1 + 2 * 0.5^2) a = 2 * 0.5 g about y, with g along x."""
        state = {"q": [1, 0, 0, 0], "v": [0] * 3, "tau": [0] * 3}
        for environment, gravity in (("", 0), ("environment: {gravity: 1.5 0 0}\n", 1.5)):
            for options, along in (((), gravity), (("--gravity", "-3,0,0"), -3)):
                (answer,) = self.eval(environment + SOCKET, [state], *options)
                for got, want in zip(answer["a"], (0, -along / 1.5, 0)):
                    self.assertAlmostEqual(got, want, 13)
                state = dict(state, a=answer["a"])
                (back,) = self.eval(environment + SOCKET, [state], "--inverse", *options)
                for torque in back["tau"]:
                    self.assertAlmostEqual(torque, 0, 13)

    def test_a_free_ball_falls_in_its_own_axes(self):
        half = math.sqrt(0.5)  # a quarter turn about x: the world's -z is the ball's -y
        state = {"q": [0, 0, 0, half, half, 0, 0], "v": [0] * 6, "tau": [3, 0, 0, 0, 0, 0]}
        (answer,) = self.eval(BALL, [state], "--base", "free")
        for got, want in zip(answer["a"], (3, 0, 0, 0, -9.81, 0)):
            self.assertAlmostEqual(got, want, 13)

    def test_coordinates_go_by_the_order_of_the_file(self):
        state = {"q": [0, 0], "v": [0, 0], "tau": [4, 6]}
        (answer,) = self.eval(SWAPPED, [state], "--gravity", "0,0,0")
        self.assertEqual(answer["a"], [2, 3])
        state = {"q": [0, 0], "v": [0, 0], "a": [2, 3]}
        (answer,) = self.eval(SWAPPED, [state], "--gravity", "0,0,0", "--inverse")
        self.assertEqual(answer["tau"], [4, 6])

    def test_a_planar_joint_slides_and_turns(self):
        state = {"q": [1, 2, 0.5], "v": [0, 0, 0], "tau": [4, 6, 8]}
        (answer,) = self.eval(TABLE, [state])
        for got, want in zip(answer["a"], (2 + 9.81, 3, 8)):
            self.assertAlmostEqual(got, want, 13)

    def test_a_floating_joint_is_a_free_body(self):
        text = TABLE.replace("planar", "floating")
        state = {"q": [1, 2, 3, 1, 0, 0, 0], "v": [0] * 6, "tau": [1, 2, 3, 4, 6, 8]}
        (answer,) = self.eval(text, [state])
        for got, want in zip(answer["a"], (1, 2, 3, 2 + 9.81, 3, 4)):
            self.assertAlmostEqual(got, want, 13)

    def test_a_joint_that_mimics_is_drawn_by_its_leader(self):
        for options in ((), ("--algorithm", "crba")):
            (answer,) = self.eval(LIFT, [{"q": [0.5], "v": [3], "tau": [40]}], *options)
            self.assertEqual(len(answer["a"]), 1)
            self.assertAlmostEqual(answer["a"][0], (40 - 2 * 9.81) / 10, 13)
        (answer,) = self.eval(LIFT, [{"q": [0.5], "v": [3], "a": [2]}], "--inverse")
        self.assertAlmostEqual(answer["tau"][0], 20 + 2 * 9.81, 13)

    def test_a_ball_in_a_socket_swings(self):
        half = math.sqrt(0.5)  # a quarter turn about y: the mass points to -x
        state = {"q": [half, 0, half, 0], "v": [0, 0, 0], "tau": [1.5, 0, 2]}
        (answer,) = self.eval(SOCKET, [state], "--gravity", "0,0,-9.81")
        for got, want in zip(answer["a"], (1, -9.81 * 2 * 0.5 / 1.5, 2)):
            self.assertAlmostEqual(got, want, 13)
        state = {"q": [1, 0, 0, 0], "v": [2, 0, 0], "tau": [0, 0, 0]}
        (answer,) = self.eval(SOCKET, [state])
        self.assertAlmostEqual(answer["a"][0], -3 * 2 / 1.5, 13)

    def test_the_quaternion_of_a_ball_must_be_a_unit_one(self):
        line = json.dumps({"q": [1, 0.01, 0, 0], "v": [0] * 3, "tau": [0] * 3})
        self.assert_one_line(self.refused(SOCKET, line), 'the quaternion of "ball" (numbers 1 to 4 of '
                                                         '"q") has length 1.00005, not 1')

    def test_a_scenario_falls_as_one(self):
        state = {"q": [0, 0, 0, 1, 0, 0, 0, 0], "v": [0] * 7, "tau": [0] * 7}
        code, out, err = self.call("eval", harness.TUMBLE, "--gravity", "0,0,-9.81",
                                   input=json.dumps(state))
        self.assertEqual((code, err), (0, ""))
        for got, want in zip(json.loads(out)["a"], (0, 0, 0, 0, 0, -9.81, 0)):
            self.assertAlmostEqual(got, want, 13)

    def test_numbers_have_17_digits(self):
        code, out, err = self.call("eval", self.model(PENDULUM), "--gravity", "0,0,0",
                                   input='{"q":[0],"v":[0],"tau":[1]}')
        self.assertEqual((code, out, err), (0, '{"a":[0.66666666666666663]}\n', ""))

    def test_answers_come_line_by_line(self):
        process = self.start("eval", self.model(PENDULUM), stdin=subprocess.PIPE)
        self.addCleanup(process.communicate)
        for tau in (1, 2, 3):
            process.stdin.write(json.dumps({"q": [math.pi / 2], "v": [0], "tau": [tau]}) + "\n")
            process.stdin.flush()
            self.assertAlmostEqual(json.loads(process.stdout.readline())["a"][0], tau / 1.5, 12)

    def test_blank_lines_and_other_keys_are_passed_over(self):
        lines = '\n \t\n{"q":[0],"v":[0],"tau":[0],"a":[1,2]}\n\n'
        code, out, err = self.call("eval", self.model(PENDULUM), input=lines)
        self.assertEqual((code, err, out.count("\n")), (0, "", 1))

    def test_a_model_that_cannot_move_has_no_coordinates(self):
        self.assertEqual(self.eval(BALL, [{"q": [], "v": [], "tau": []}]), [{"a": []}])

    def test_every_mistake_in_a_line_is_reported(self):
        for line, what in (
            ('{"q":[0],"v":[0]}', 'there is no "tau"'),
            ('{"q":[0,1],"v":[0],"tau":[0]}', '"q" has 2 numbers, this model needs 1'),
            ('{"q":[0],"v":[],"tau":[0]}', '"v" has 0 numbers, this model needs 1'),
            ('{"q":0,"v":[0],"tau":[0]}', '"q" needs an array of 1 numbers'),
            ('{"q":[0],"v":[0],"tau":["1"]}', 'element 1 of "tau" is not a number'),
            ('{"q":[null],"v":[0],"tau":[1]}', 'element 1 of "q" is not a number'),
            ('{"q":[0],"v":[0],"tau":[NaN]}', "JSON: "),
            ('{"q":[0],"v":[0],"tau":[1e999]}', "JSON: real number overflow"),
            ('{"q":[0],"q":[0],"v":[0],"tau":[1]}', "JSON: duplicate object key"),
            ('{"q":[0],"v":[0],"tau":[0]', "JSON: "),
            ('{"q":[0],"v":[0],"tau":[0]} x', "JSON: end of file expected"),
            ('[1]', 'a state is an object, {"q":[],"v":[],...}'),
        ):
            err = self.refused(PENDULUM, line + "\n")
            self.assert_one_line(err, what)
            self.assertRegex(err, "^<stdin>:1:[0-9]+: ")

    def test_an_answer_that_is_nan_is_reported(self):
        line = '{"q":[1,0],"v":[0,1e200],"tau":[0,0]}'
        text = SWAPPED.replace('<axis xyz="0 0 1"/></joint>\n  <joint name="turn"',
                               '<axis xyz="1 0 0"/></joint>\n  <joint name="turn"')
        self.assert_one_line(self.refused(text, line), "<stdin>:1:1: the answer is too large")

    def test_the_line_of_a_mistake_is_counted(self):
        good = '{"q":[0],"v":[0],"tau":[0]}\n'
        lines = good + "\n" + good + "x\n" + good
        code, out, err = self.call("eval", self.model(PENDULUM), input=lines)
        self.assertEqual((code, out.count("\n")), (2, 2))
        self.assert_one_line(err, "<stdin>:4:1: JSON: ")

    def test_a_quaternion_must_be_a_unit_one(self):
        def line(*quaternion):
            return json.dumps({"q": [0, 0, 0, *quaternion], "v": [0] * 6, "tau": [0] * 6})

        err = self.refused(BALL, line(1, 0.01, 0, 0), "--base", "free")
        self.assert_one_line(err, '<stdin>:1:1: the quaternion of "ball" (numbers 4 to 7 of "q") has '
                                  "length 1.00005, not 1")
        err = self.refused(BALL, line(0, 0, 0, 0), "--base", "free")
        self.assert_one_line(err, "length 0, not 1")
        code, out, err = self.call("eval", self.model(BALL), "--base", "free",
                                   input=line(1 + 5e-7, 0, 0, 0))
        self.assertEqual((code, err), (0, ""))

    def test_mistakes_in_the_model_are_reported_at_their_place(self):
        err = self.refused(PENDULUM.replace("continuous", "screw"), "")
        self.assert_one_line(err, "model.urdf:4:29: there is no joint type")
        err = self.refused(BALL.replace('"2"', '"0"'), "", "--base", "free")
        self.assert_one_line(err, 'model.urdf:1:20: link "ball": the joint carries no inertia')
        code, out, err = self.call("eval", harness.TUMBLE, "--base", "free")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "--base is for URDF")
        code, out, err = self.call("eval", self.dir / "absent.urdf")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "absent.urdf: there is no such file")

    def test_answers_that_cannot_be_written_are_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([harness.AIRBEARING, "eval", self.model(PENDULUM)], stdout=full,
                                  stderr=subprocess.PIPE, text=True, input='{"q":[0],"v":[0],"tau":[0]}')
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "cannot be written")

    def test_usage_errors_are_64(self):
        path = self.model(PENDULUM)
        for arguments in ([], [path, path], [path, "--base", "loose"], [path, "--gravity", "9.81"],
                          [path, "--gravity", "0,0,nan"], [path, "--gravity", "0,0,1,2"],
                          [path, "--algorithm", "magic"], [path, "--nonsense"]):
            code, out, err = self.call("eval", *arguments, input="")
            self.assertEqual((code, out), (64, ""), arguments)
            self.assertNotEqual(err, "")


if __name__ == "__main__":
    harness.main()
