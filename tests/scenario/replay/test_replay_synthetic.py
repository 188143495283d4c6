"""Replay of synthetic runs: with commands of no real board, acts, forged records and gaps."""
import json
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import synthetic_log
import synthetic_run
import raw_log

PERIOD = 1_000_000
FRAMES = 50
COMMAND, LOSS, RESET = range(3)
PAUSE, RESUME, STEP, START_OVER, CHECKPOINT, RESTORE, FAULT, TUNE, SAFE = range(9)
SCENARIO = """name: replayed
rate: 1 kHz
seconds: 2 s
bodies:
  - name: bus
    joint: {type: free, rate: 0.5 30 0.2 deg/s}
    mass: 40 kg
    inertia: 2.0 3.0 4.0 kg m^2
  - name: panel
    parent: bus
    joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m, angle: 2 deg, stiffness: 30 N m/rad}
    mass: 2 kg
    center: 0 0.5 0 m
    inertia: 0.167 0.060 0.227 kg m^2
devices:
  - {name: gyro, type: gyro, body: bus, noise: 0.01 deg/s/sqrt(Hz)}
  - {name: accelerometer, type: accelerometer, body: bus, rate: 250 Hz, noise: 80 ug0/sqrt(Hz)}
  - {name: wheel_x, type: wheel, body: bus, axis: 1 0 0, inertia: 0.02 kg m^2, max_torque: 0.2 N m,
     max_speed: 6000 rpm, command: {link: board, control: 0}}
  - {name: wheel_y, type: wheel, body: bus, axis: 0 1 0, inertia: 0.02 kg m^2, max_torque: 0.2 N m,
     max_speed: 6000 rpm, command: {link: board, control: 2}}
links:
  - {name: board, protocol: mavlink, bus: udp, listen: 127.0.0.1:14560, body: bus}
tunable: [devices.gyro.bias, devices.wheel_x.coulomb]
faults:
  - {name: gyro-bias, device: gyro, type: bias, value: 0.5 deg/s, when: operator}
"""
NQ, NV = 8, 7


def masked(text):
    return re.sub(r"(?<=hash |ayed )[0-9a-f]{16}\b", "HASH", text)


def act(frame, number, what, index=0, value=0.0):
    return struct.pack("<QQQdIB", frame, number, frame, value, index, what)


class Replayed(golden.Case):
    plain = None  # the log of a run that has been made already

    def seed(self, scenario=SCENARIO, frames=FRAMES, **metadata):
        """A log with a scenario, and nothing happens in it."""
        log = synthetic_log.Log()
        values = {"isa": "sse2", "seconds": str(frames / 1000), "set.0": "log={parts: true}", **metadata}
        log.metadata({key: value for key, value in values.items() if value is not None})
        if scenario:
            log.attach("scenario.yaml", scenario.encode(), "application/yaml")
        log.channel("/frame", synthetic_run.DEFINITIONS["/frame"])
        for topic in ("/input", "/operator", "/state"):
            log.channel(topic, "uint8 x\n")
        return log

    def base(self, *options):
        """The log of a run of that scenario in which no board spoke; without options it is always the same."""
        seed, log = self.seed().write(self.dir / "seed.mcap"), self.dir / "base.mcap"
        if not options and Replayed.plain:
            log.write_bytes(Replayed.plain)
            return log
        code, out, err = self.call("replay", seed, "--continue-at", "0", "--log", log, *options)
        self.assertEqual((code, err), (0, ""), out)
        if not options:
            Replayed.plain = log.read_bytes()
        return log

    def replay(self, log, *options, given=None):
        done = subprocess.run([harness.AIRBEARING, "replay", log, *options], input=given, capture_output=True,
                              text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def say(self, name, log, *options, code=0, given=None):
        done, out, err = self.replay(log, *options, given=given)
        self.assertEqual((done, err), (code, ""), out)
        self.assert_golden(name, masked(out))
        return out

    def refuse(self, log, said, *options):
        self.assertEqual(self.replay(log, *options), (2, "", f"{log}: {said}\n"))

    def with_inputs(self, inputs, acts=(), frames=FRAMES):
        """A log with these, and the one frame record that it takes: the last, with the hash that comes out."""
        for state_hash in (0, None):
            log = self.seed(frames=frames)
            for number, (frame, controls, kind) in enumerate(inputs):
                log.message("/input", frame * PERIOD, synthetic_run.command(frame, number, frame, controls, kind))
            for number, (frame, *what) in enumerate(acts):
                log.message("/operator", frame * PERIOD, act(frame, number, *what))
            given = found if state_hash is None else 0
            log.message("/frame", (frames - 1) * PERIOD, struct.pack("<QQQQQIBBxxI", frames - 1, 0, 0, 0, given, 0, 0, 0, 0))
            path = log.write(self.dir / "made.mcap")
            if state_hash == 0:
                code, out, err = self.replay(path)
                self.assertEqual((code, err), (1, ""), out)
                found = int(re.search(r"replayed ([0-9a-f]{16})", out).group(1), 16)
        return path

    def drives(self, log):
        """What came out of the two wheels' drives, by frame."""
        out = {"/device/wheel_x": {}, "/device/wheel_y": {}}
        for topic, at, _, payload in raw_log.stamped(log):
            if topic in out:
                out[topic][at // PERIOD] = struct.unpack_from("<d", payload)[0]
        return list(out.values())


class Good(Replayed):
    def test_a_run_without_its_board(self):
        log = self.base()
        code, out, err = self.replay(log)
        self.assertRegex(out, r"^replay: 50 of 50 frames compared, all identical; hash [0-9a-f]{16}\n$")
        self.assertEqual((code, err), (0, ""))

    def test_until(self):
        log = self.base()
        for when in ("20", "0.02s", "0.02 s", "19.6"):
            self.say("replay-until.txt", log, "--until", when)
        code, out, err = self.replay(log, "--until", "1000")
        self.assertRegex(out.split("\n")[0], r"^replay: 50 of 50 frames compared, all identical; hash [0-9a-f]{16}$")
        self.assertIn("next frame 50, simulated 0.050000 s", out)
        self.refuse(log, "the log holds no /frame record", "--until", "0")
        for when in ("x", "", "-1", "1e15", "20 ms", "20sec", "nan"):
            self.refuse(log, "--until needs a frame, e.g. 1500, or a time, e.g. 1.5s", "--until", when)

    def test_step_by_step(self):
        log = self.base()
        self.say("replay-step.txt", log, "--step",
                 given="print\n\nstep\nstep 5\nstep x\ngo 0.02s\r\np\ngo 30\ngo 10\nwhat\nstep 100\nstep\nq\nprint\n")
        self.assertEqual(self.replay(log, "--step", given="quit\n"), (0, "", ""))
        code, out, err = self.replay(log, "--step", given="")
        self.assertEqual((code, out, err), (0, "", ""))

    def test_a_log_that_was_cut_off(self):
        data = self.base().read_bytes()
        end = next(at for at, opcode in self.places(data) if opcode == synthetic_log.DATA_END)
        cut = self.dir / "cut.mcap"
        cut.write_bytes(data[:end])
        code, out, err = self.replay(cut)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^replay: 50 of 50 frames compared, all identical; hash .*; the log was cut off after that\n$")

    @staticmethod
    def places(data):
        at = 8
        while at + 9 <= len(data) and data[at:at + 8] != synthetic_log.MAGIC:
            opcode, size = struct.unpack_from("<BQ", data, at)
            yield at, opcode
            at += 9 + size

    def test_frames_without_a_record_are_run_all_the_same(self):
        log, few = self.base(), self.dir / "few.mcap"
        synthetic_log.changed(log, few, lambda topic, index, at, payload:
                         payload if topic != "/frame" or index % 7 == 3 else None)
        code, out, err = self.replay(few)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("replay: 7 of 46 frames compared, all identical", out)

    def test_commands_reach_their_drives(self):
        log = self.with_inputs([(5, [0.5, 0.0, -0.25], COMMAND), (20, [0.25, 1.0, 0.75], COMMAND), (20, [], LOSS),
                                (30, [1.0, 1.0, 1.0], COMMAND)], frames=40)
        code, out, err = self.replay(log)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("1 of 40 frames compared, all identical", out)
        for frame in (5, 6, 20, 21, 31):
            with self.subTest(frame):
                self.assert_state(log, frame)

    def assert_state(self, log, frame):
        code, out, err = self.replay(log, "--step", given=f"go {frame}\nprint\n")
        self.assertEqual((code, err), (0, ""), out)
        self.assert_golden(f"replay-frame-{frame}.txt", masked(out))

    def test_acts_are_carried_out_before_their_frame(self):
        log = self.with_inputs([], [(10, FAULT, 0, 1.0), (20, FAULT, 0, 0.0), (25, TUNE, 0, 0.25),
                                    (25, TUNE, 3, 0.001), (27, PAUSE, 9), (30, START_OVER)], frames=40)
        self.say("replay-acts.txt", log, "--step",
                 given="go 10\np\ngo 11\np\ngo 21\np\ngo 26\np\ngo 31\np\ngo 40\n")

    def test_a_restored_state_is_that_of_the_log(self):
        point = self.dir / "point"
        log = self.base("--act", f"0.01s:checkpoint {point}", "--act", "0.02s:tune devices.gyro.bias.x=0.1",
                        "--act", f"0.03s:restore {point}", "--act", f"0.04s:restore {point}", "--act",
                        "0.045s:fault gyro-bias on", "--act", "0.047s:reset")
        code, out, err = self.replay(log)
        self.assertRegex(out, r"^replay: 50 of 50 frames compared, all identical; hash [0-9a-f]{16}\n$")
        self.say("replay-restored.txt", log, "--step", given="go 31\np\ngo 41\np\ngo 48\np\n")


class GoingOn(Replayed):
    def test_inputs_are_held_or_zeroed(self):
        log = self.with_inputs([(5, [0.5, 0.0, -0.25], COMMAND)], frames=20)
        for inputs, said, (x, y) in ((("--inputs", "held"), "held", (0.1, -0.05)), ((), "held", (0.1, -0.05)),
                                     (("--inputs", "safe"), "safe", (0.0, 0.0))):
            with self.subTest(inputs=inputs):
                on, report = self.dir / "on.mcap", self.dir / "on.json"
                on.unlink(missing_ok=True)
                code, out, err = self.call("replay", log, "--continue-at", "10", *inputs, "--log", on, "--report",
                                           report, "--seconds", "0.03")
                self.assertEqual((code, err), (0, ""), out)
                self.assertRegex(out.split("\n")[0], "^replay: identical up to frame 10, hash [0-9a-f]{16}; from there "
                                                     f"on without a board, its inputs {said}$")
                self.assertEqual(json.loads(report.read_text())["frames"], 30)
                wheels = [set(wheel.values()) for wheel in self.drives(on)]
                self.assertEqual(wheels, [{x}, {y}])
                code, out, err = self.replay(on)
                self.assertEqual((code, err), (0, ""), out)
                self.assertIn("30 of 30 frames compared, all identical", out)

    def test_it_lasts_to_the_end_of_the_run(self):
        log, report = self.base(), self.dir / "on.json"
        for at, frames in (("20", 30), ("0.04s", 10)):
            code, out, err = self.call("replay", log, "--continue-at", at, "--report", report)
            self.assertEqual((code, err), (0, ""), out)
            self.assertEqual(json.loads(report.read_text())["frames"], frames)

    def test_acts_of_the_past_are_past(self):
        log = self.with_inputs([], [(10, TUNE, 0, 0.25)], frames=20)
        on = self.dir / "on.mcap"
        code, out, err = self.call("replay", log, "--continue-at", "10", "--log", on, "--act",
                                   "0.005s:tune devices.gyro.bias.y=0.5")
        self.assertEqual((code, err), (0, ""), out)
        code, out, err = self.replay(on, "--until", "8")
        self.assertIn("  devices.gyro.bias.x 0.25 rad/s\n  devices.gyro.bias.y 0.5 rad/s\n", out)

    def test_beyond_the_end(self):
        log = self.base()
        self.refuse(log, "the log ends before --continue-at", "--continue-at", "51")
        self.refuse(log, "--continue-at needs a frame, e.g. 1500, or a time, e.g. 1.5s", "--continue-at", "soon")


class Differing(Replayed):
    """The first frame that differs is named, with what the log has of it."""

    def differ(self, *places, frame=11, drop=()):
        """What is said of other values at (topic, number of a double or word, value) of one frame's records."""
        log, forged = self.base(), self.dir / "forged.mcap"

        def change(topic, index, at, payload):
            if topic == "/frame":
                return payload[:32] + b"\1" * 8 + payload[40:] if index == frame else payload
            if at != (frame + 1) * PERIOD:
                return payload
            for where, number, value in places:
                if topic == where:
                    payload = payload[:8 * number] + value + payload[8 * number + 8:]
            return None if topic in drop else payload

        synthetic_log.changed(log, forged, change)
        code, out, err = self.replay(forged)
        self.assertEqual((code, err), (1, ""))
        head, _, named = out.partition("\n")
        self.assertRegex(head, rf"^replay: frame {frame} differs: recorded hash 0101010101010101, replayed [0-9a-f]{{16}}$")
        return named

    NOTHING = ("  no logged variable of this frame differs; the difference is in state that the log does not hold (noise, delay\n"
               "  lines, faults, links, parameters); log: {parts: true} would name it\n")

    def test_nothing_that_is_recorded(self):
        self.assertEqual(self.differ(), self.NOTHING)
        self.assertEqual(self.differ(drop=("/plant", "/part", "/device/gyro", "/device/wheel_x")), self.NOTHING)

    def test_a_variable(self):
        odd = struct.pack("<d", 0.125)
        said = [self.differ((topic, number, odd)) for topic, number in (
            ("/device/wheel_x", 0), ("/device/wheel_y", 0), ("/plant", 0), ("/plant", NQ - 1), ("/plant", NQ),
            ("/plant", NQ + NV - 1), ("/plant", NQ + NV + 1), ("/device/gyro", 2), ("/device/accelerometer", 1))]
        self.assert_golden("replay-variables.txt", "".join(said))

    def test_the_first_of_many(self):
        odd = struct.pack("<d", 0.125)
        said = [self.differ(*((topic, 0, odd) for topic in ("/device/wheel_x", "/plant", "/device/gyro"))),
                self.differ(("/plant", 2, odd), ("/plant", 1, odd), ("/device/gyro", 0, odd)),
                self.differ(("/device/accelerometer", 0, odd), ("/device/gyro", 1, odd))]
        self.assert_golden("replay-first.txt", "".join(said))

    def test_a_part_of_the_run_state(self):
        count, odd = self.parts(), bytes(8)
        said = [self.differ(("/part", 1 + number, odd)) for number in range(count)]
        said += [self.differ(*(("/part", 1 + number, odd) for number in range(count))),
                 self.differ(("/part", count, odd), ("/part", 2, odd)),
                 self.differ(("/part", count, odd), ("/device/wheel_x", 0, struct.pack("<d", 0.125)))]
        self.assert_golden("replay-parts.txt", "".join(said))

    def parts(self):
        """How many parts the log has."""
        return int(re.search(rb"uint64\[(\d+)\] hash", self.base().read_bytes()).group(1))

    def test_a_frame_of_another_length_is_not_compared(self):
        log, forged = self.base(), self.dir / "forged.mcap"
        synthetic_log.changed(log, forged, lambda topic, index, at, payload:
                         payload[:32] + b"\1" * 8 + payload[40:] if topic == "/frame" and index == 11
                         else payload[:-8] if topic in ("/plant", "/part", "/device/gyro") else payload)
        code, out, err = self.replay(forged)
        self.assertEqual((code, out.partition("\n")[2], err), (1, self.NOTHING, ""))


class Refused(Replayed):
    """Logs that cannot be replayed, each with its line."""

    def test_what_the_log_must_have(self):
        for what, said in ((dict(scenario=None), "the log holds no scenario.yaml; only logs of airbearing run can be replayed"),
                           (dict(isa=None), "the log does not name the instruction set that it was recorded with"),
                           (dict(isa="neon"), "recorded with the instruction set \"neon\", which does not run here; "
                                              "replay it on a machine that has it"),
                           ({"set.1": "name=" + "x" * 251}, "a recorded --set value is too long"),
                           ({"set.1": "rate=never"}, None), (dict(scenario="nonsense"), None)):
            with self.subTest(said=said):
                log = self.seed(**what).write(self.dir / "bad.mcap")
                if said:
                    self.refuse(log, said)
                    continue
                code, out, err = self.replay(log)
                self.assertEqual((code, out), (2, ""))
                self.assert_one_line(err, f"{log}: ")
        log = self.seed(**{"set.1": "name=" + "x" * 40, "set.2": "rate=500 Hz", "set.4": "rate=never"})
        self.refuse(log.write(self.dir / "bad.mcap"), "the log holds no /frame record")
        (self.dir / "no").write_bytes(b"no log")
        for path in ("no", "absent"):
            code, out, err = self.replay(self.dir / path)
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, path)

    def test_another_layout_of_the_state(self):
        """One sentence, and never a difference at frame 0."""
        log = self.seed(state_layout="0123456789abcdef", version="0.0.9").write(self.dir / "bad.mcap")
        code, out, err = self.replay(log)
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "the log was recorded with another layout of the run state (0123456789abcdef, and this "
                                  "program has ")
        self.assert_one_line(err, "); replay it with the program that recorded it, version 0.0.9")

    def test_how_long_it_lasted(self):
        """A second in the scenario; what the log says of it counts if it can be."""
        for seconds, frames in (("0.02", 20), ("0", 2000), ("-1", 2000), ("1e7", 2000), ("x", 2000), (None, 2000)):
            log = self.seed(seconds=seconds)
            log.message("/frame", frames * PERIOD, synthetic_run.Frame(frames).record())
            self.refuse(log.write(self.dir / "bad.mcap"),
                        f"the log has a record of frame {frames}, and the run had {frames} frames")

    def test_frame_records_that_a_run_cannot_have_written(self):
        log, forged = self.base(), self.dir / "forged.mcap"

        def forge(index, offset, value, at=None):
            def change(topic, number, time_ns, payload):
                if topic != "/frame" or number != index:
                    return payload
                return (time_ns if at is None else at), payload[:offset] + struct.pack("<Q", value) + payload[offset + 8:]
            return synthetic_log.changed(log, forged, change)

        self.refuse(forge(20, 0, 19), "the /frame records are not in order")
        self.refuse(forge(20, 0, 50), "the log has a record of frame 50, and the run had 50 frames")
        self.refuse(forge(20, 0, 21), "the record of frame 21 has the time 20000000 ns, which is another frame's")
        self.refuse(forge(20, 0, 20, at=20_000_001),
                    "the record of frame 20 has the time 20000001 ns, which is another frame's")
        synthetic_log.changed(log, forged, lambda topic, number, at, payload:
                         payload[:51] if topic == "/frame" and number == 3 else payload)
        self.refuse(forged, "a /frame record is too short")
        log = self.seed(seconds="1000")
        log.message("/frame", 600_001 * PERIOD, synthetic_run.Frame(600_001).record())
        self.refuse(log.write(forged), "between frame 0 and frame 600001 nothing is recorded; the gap is too long to "
                                       "be replayed without a comparison")

    def test_inputs_that_are_missing_or_malformed(self):
        said = "input {} is missing or malformed, so the run cannot be repeated beyond it"
        good = [synthetic_run.command(5, 0, 5, [1.0]), synthetic_run.command(5, 1, 5, [1.0])]
        for inputs, number in (([good[1]], 0), ([good[0], good[0]], 1), ([good[0], good[1][:-1]], 1),
                               ([synthetic_run.command(5, 0, 5, [1.0], link=1)], 0)):
            log = self.seed()
            for data in inputs:
                log.message("/input", 5 * PERIOD, data)
            self.refuse(log.write(self.dir / "bad.mcap"), said.format(number))
        log = self.seed()
        for data in good:
            log.message("/input", 5 * PERIOD, data)
        self.refuse(log.write(self.dir / "bad.mcap"), "the log holds no /frame record")

    def test_acts_that_the_scenario_does_not_bear(self):
        said = "act of the operator {} is missing or malformed, so the run cannot be repeated beyond it"
        good = act(5, 0, PAUSE)
        bad = [(act(5, 1, PAUSE),), (good, good), (good[:-1],), (act(5, 0, FAULT, 1),), (act(5, 0, RESTORE, 2),),
               (act(5, 0, SAFE),), (act(5, 0, TUNE, 4),), (act(5, 0, 9),), (act(5, 0, TUNE, 0, float("nan")),),
               (act(5, 0, TUNE, 3, -0.001),), (act(5, 0, TUNE, 0, float("inf")),),
               (act(5, 0, TUNE, 0, -float("inf")),)]
        for acts in bad:
            log = self.seed()
            for data in acts:
                log.message("/operator", 5 * PERIOD, data)
            self.refuse(log.write(self.dir / "bad.mcap"), said.format(len(acts) - 1))
        for data in (act(5, 0, FAULT), act(5, 0, TUNE, 3), act(5, 0, CHECKPOINT, 9)):
            log = self.seed()
            log.message("/operator", 5 * PERIOD, data)
            self.refuse(log.write(self.dir / "bad.mcap"), "the log holds no /frame record")

    def test_an_arm_alone_can_be_stopped(self):
        scenario = (harness.SCENARIOS / "rms.yaml").read_text()
        for index, said in ((0, "the log holds no /frame record"),
                            (99, "act of the operator 0 is missing or malformed, so the run cannot be repeated beyond it")):
            log = self.seed(scenario=scenario)
            log.message("/operator", 0, act(0, 0, SAFE, index))
            self.refuse(log.write(self.dir / "bad.mcap"), said)

    def test_states_that_are_missing_or_malformed(self):
        point, forged = self.dir / "point", self.dir / "forged.mcap"
        log = self.base("--act", f"0.01s:checkpoint {point}", "--act", f"0.03s:restore {point}")

        def forge(change):
            return synthetic_log.changed(log, forged, lambda topic, index, at, payload:
                                    change(index, payload) if topic == "/state" else payload)

        malformed = "restored state {} is missing or malformed, so the run cannot be repeated beyond it"
        gone = "a restored state is missing, so the run cannot be repeated beyond it"
        self.refuse(forge(lambda index, payload: payload[:-1]), malformed.format(0))
        self.refuse(forge(lambda index, payload: payload + b"\0" if index == 1 else payload), malformed.format(1))
        self.refuse(forge(lambda index, payload: payload[:24] + b"\xff" * (len(payload) - 24) if index == 1 else payload),
                    malformed.format(1))
        self.refuse(forge(lambda index, payload: None), gone)
        self.refuse(forge(lambda index, payload: payload if index == 0 else None), gone)
        self.refuse(forge(lambda index, payload: payload[:8] + b"\7" + payload[9:] if index == 1 else payload), gone)
        code, out, err = self.replay(forge(lambda index, payload: payload))
        self.assertEqual((code, err), (0, ""), out)

    def test_usage(self):
        log = self.base()
        tells = "; see airbearing replay --help\n"
        with_continue = f"airbearing replay: this option needs \"--continue-at\"{tells}"
        for options, said in ((("--inputs", "soft"), f"airbearing replay: --inputs is held or safe, not \"soft\"{tells}"),
                              (("--seconds", "0"), f"airbearing replay: --seconds needs a positive number, not \"0\"{tells}"),
                              (("--seconds", "1e7"),
                               f"airbearing replay: --seconds needs a positive number, not \"1e7\"{tells}"),
                              (("--seconds", "2x"),
                               f"airbearing replay: --seconds needs a positive number, not \"2x\"{tells}"),
                              (("--pace", "slow"), f"airbearing replay: --pace is real or fast, not \"slow\"{tells}"),
                              (("--seconds", "1"), with_continue), (("--log", "x"), with_continue),
                              (("--report", "x"), with_continue), (("--act", "1s:pause"), with_continue),
                              (("--until", "3", "--step"),
                               f"airbearing replay: give only one of \"--until, --step, --continue-at\"{tells}"),
                              (("--until", "3", "--continue-at", "3"),
                               f"airbearing replay: give only one of \"--until, --step, --continue-at\"{tells}"),
                              (("--step", "--continue-at", "3"),
                               f"airbearing replay: give only one of \"--until, --step, --continue-at\"{tells}"),
                              (("--continue-at", "3", *("--act", "1s:pause") * 65),
                               f"airbearing replay: too many --act, at \"1s:pause\"{tells}")):
            with self.subTest(options=options[:4]):
                self.assertEqual(self.replay(log, *options), (64, "", said))
        for arguments in ((), (log, log)):
            code, out, err = self.call("replay", *arguments)
            self.assertEqual((code, out), (64, ""))
            self.assertIn("usage: airbearing replay LOG", err)
        code, out, err = self.call("replay", log, "--nonsense")
        self.assertEqual((code, out), (64, ""))


if __name__ == "__main__":
    harness.main()
