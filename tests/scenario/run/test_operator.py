"""The operator of a run: an act happens before its frame, is in the log, and happens again in a replay."""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

TUNABLE = """
faults:
  - {name: lean, device: gyro, type: bias, when: operator, value: 1 deg/s}
  - {device: gyro, type: noise, at: 0.3 s, for: 0.4 s, value: 1 deg/s}
tunable: [devices.gyro.bias, {of: environment.gravity, low: -20, high: 20}, bodies.panel.joint.stiffness]
"""
EVERYTHING = ["0.1s:tune devices.gyro.bias.x=0.5 deg/s", "0.2s:fault lean on", "0.25s:pause",
              "0.27s:step 3", "0.3s:resume", "0.4s:fault lean off", "0.5s:tune environment.gravity.z=3.7",
              "0.9s:reset", "1.1s:tune bodies.panel.joint.stiffness=50 N m/rad"]


def acts(*texts):
    return [word for text in texts for word in ("--act", text)]


class Operator(harness.Case):
    def setUp(self):
        super().setUp()
        self.scenario = self.dir / "tumble.yaml"
        self.scenario.write_text(harness.TUMBLE.read_text() + TUNABLE)
        self.log = self.dir / "run.mcap"
        self.checkpoint = self.dir / "run.checkpoint"

    def fast(self, *options, seconds="1.5", **rest):
        """A run without a clock."""
        return self.run_scenario(self.scenario, "--pace", "fast", "--seconds", seconds, *options, **rest)

    def assert_replays(self, log, report):
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn(report["state_hash"], out)
        self.assertIn(f"{report['frames']} of {report['frames']} frames compared, all identical", out)

    def flip(self, ordinal, topic, offset):
        """The log with one bit changed, and the frame of the record that has it."""
        if not shutil.which("node") or not (harness.PEERS / "node_modules").exists():
            self.skipTest("node or tools/peers/node_modules is missing; tools/test installs them")
        copy = self.dir / "flipped.mcap"
        done = harness.node(harness.ROOT / "tests/scenario/replay/flip_input.mjs", self.log, copy, ordinal, topic, offset)
        self.assertEqual(done.returncode, 0, done.stderr)
        return copy, int(done.stdout)

    # ---- over the wire

    def test_an_operator_may_do_all_of_it_and_it_replays(self):
        if not shutil.which("node") or not (harness.PEERS / "node_modules" / "ws").is_dir():
            self.skipTest("node or tools/peers/node_modules is missing; tools/test installs them")
        port = harness.free_port()
        run = self.start("run", self.scenario, "--seconds", "3600", "--serve", str(port), "--log", self.log,
                         "--operator-token", "sesame", "--report", self.dir / "report.json", cwd=self.dir)
        peer = subprocess.run([*harness.NODE, harness.ROOT / "tests/scenario/run/operator_peer.mjs",
                               f"ws://127.0.0.1:{port}/?operator=sesame", "wire.checkpoint"],
                              capture_output=True, text=True, timeout=120)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(peer.returncode, 0, peer.stderr + out + err)
        said = json.loads(peer.stdout)
        self.assertEqual(said["info"]["metadata"]["fault.0"], "lean")
        self.assertEqual([p["name"] for p in said["parameters"]][0], "devices.gyro.bias.x")
        self.assertEqual((said["set"][0]["name"], said["set"][0]["value"]), ("devices.gyro.bias.x", 0.01))
        for name in ("fault", "checkpoint", "pause", "step", "resume", "restore", "reset"):
            self.assertTrue(said["answers"][name]["success"], said["answers"][name])
        for name in ("outside", "nonsense"):
            self.assertFalse(said["answers"][name]["success"])
        self.assertFalse((self.dir.parent / "wire.checkpoint").exists())
        report = json.loads((self.dir / "report.json").read_text())
        self.assertGreater(report["paused"], 0)
        self.assertEqual(report["operator"]["checkpoints"], 1)
        self.assert_replays(self.log, report)

    # ---- pause and step

    def test_the_grid_goes_on_in_a_pause_and_time_is_kept(self):
        report = self.run_scenario(self.scenario, "--pace", "real", "--seconds", "0.6", "--log", self.log,
                                   *acts("0.2s:pause", "0.4s:step 10", "0.5s:resume"))
        self.assertEqual(report["frames"], 600)
        self.assertGreaterEqual(report["paused"], 290)
        self.assertEqual(report["wall_ns"],
                         (report["frames"] + report["missed"] + report["paused"]) * report["period_ns"])
        self.assertLess(abs(report["drift_ppm"]), 1000)
        self.assert_replays(self.log, report)
        code, out, err = self.call("timing", self.log, "--json")
        figures = json.loads(out)
        self.assertEqual((figures["missed"], figures["paused"]), (report["missed"], report["paused"]), err)

    def test_a_pause_changes_nothing_of_the_motion(self):
        paused = self.fast(*acts("0.2s:pause", "0.25s:step 7", "0.3s:resume"))
        self.assertEqual(paused["paused"], 93)
        self.assertEqual(self.fast()["state_hash"], paused["state_hash"])

    def test_a_board_is_not_lost_in_a_pause(self):
        report = self.run_scenario(harness.SATELLITE, "--seconds", "1", "--log", self.log,
                                   *self.board_options(), *acts("0.5s:pause", "1.5s:resume"))
        self.assertGreaterEqual(report["paused"], 900)
        self.assertEqual(report["ended"], "complete")
        if report["missed"] < 100:
            self.assertEqual(report["io"]["losses"], 0)
        self.assert_replays(self.log, report)

    def test_a_pause_without_an_end_is_refused(self):
        code, out, err = self.call("run", self.scenario, "--pace", "fast", *acts("0.2s:pause"))
        self.assertEqual(code, 2)
        self.assert_one_line(err, "add a resume")

    # ---- checkpoints

    def test_a_checkpoint_goes_on_in_a_new_process_in_every_bit(self):
        first = self.fast("--log", self.log, *acts(f"0.5s:checkpoint {self.checkpoint}"))
        plain = self.fast()
        self.assertEqual(plain["state_hash"], first["state_hash"])  # nothing was disturbed
        again = self.dir / "again.mcap"
        second = self.fast("--restore", self.checkpoint, "--log", again, seconds="1")
        self.assertEqual(first["state_hash"], second["state_hash"])
        self.assertEqual(first["operator"]["checkpoints"], 1)
        self.assertEqual(self.checkpoint.stat().st_size, first["operator"]["checkpoint_bytes"] + 128)
        self.assert_replays(self.log, first)
        self.checkpoint.unlink()
        self.assert_replays(again, second)

    def test_a_restore_in_the_middle_goes_on_from_there(self):
        first = self.fast(seconds="1")
        report = self.fast("--log", self.log, *acts(f"0.4s:checkpoint {self.checkpoint}",
                                                   f"0.9s:restore {self.checkpoint}"))
        self.assertEqual(report["state_hash"], first["state_hash"])
        self.checkpoint.unlink()
        self.assert_replays(self.log, report)

    def test_a_reset_begins_anew(self):
        first = self.fast(seconds="0.5")
        report = self.fast("--log", self.log, *acts("0.3s:tune devices.gyro.bias.y=0.1", "1s:reset"))
        self.assertEqual(report["state_hash"], first["state_hash"])
        self.assert_replays(self.log, report)

    def test_a_lockstep_run_with_a_board_restores_and_replays(self):
        address = f"127.0.0.1:{harness.free_port()}"
        command = json.dumps(["board", "--wire", "px4", "--vehicle", "quad", "--connect", address])
        report = self.run_scenario(
            harness.SCENARIOS / "quad-px4-lockstep.yaml", "--seconds", "2", "--log", self.log,
            "--set", f"links.board.listen={address}", "--set", f"controller.command={command}",
            "--set", "tunable=[environment.wind]",
            *acts(f"0.5s:checkpoint {self.checkpoint}", "0.6s:pause", "0.65s:resume",
                  "0.7s:tune environment.wind.x=6", f"1.2s:restore {self.checkpoint}"), expect=None)
        self.assertEqual(report["frames"], 2000)
        self.checkpoint.unlink()
        self.assert_replays(self.log, report)

    def test_a_checkpoint_that_does_not_fit_is_refused_with_the_reason(self):
        self.fast(*acts(f"0.5s:checkpoint {self.checkpoint}"))
        good = self.checkpoint.read_bytes()
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 4
        other = self.dir / "other.yaml"
        other.write_text(self.scenario.read_text().replace("2 kg", "3 kg"))
        isas = harness.instruction_sets()
        for what, content, scenario, isa, options in (
                ("cut off", good[:-9], self.scenario, "", ()),
                ("no checkpoint", b"", self.scenario, "", ()),
                ("checksum", bytes(flipped), self.scenario, "", ()),
                ("another scenario", good, other, "", ()),
                ("other --set", good, self.scenario, "", ("--set", "seed=7")),
                ("instruction set", good, self.scenario, isas[0], ())):
            if isa and len(isas) < 2:
                continue
            with self.subTest(what), harness.environment(AIRBEARING_ISA=isa):
                self.checkpoint.write_bytes(content)
                code, out, err = self.call("run", scenario, "--pace", "fast", "--restore", self.checkpoint,
                                           *options)
                self.assertEqual(code, 2, out + err)
                self.assert_one_line(err, "run.checkpoint", what)

    def test_an_act_that_fails_is_reported_and_the_run_ends_with_1(self):
        report = self.fast(*acts(f"0.5s:restore {self.dir}/absent"), expect=1)
        self.assertEqual(report["operator"]["failed"], 1)
        self.assertIn("absent: No such file", self.out)
        self.assertEqual(report["frames"], 1500)

    # ---- what is wrong

    def test_mistakes_are_reported_where_they_are(self):
        for act, what in (("0.1s:tune devices.gyro.bios.x=1", 'did you mean "devices.gyro.bias.x"'),
                          ("0.1s:tune devices.gyro.bias.x=1 kg", "rad/s"),
                          ("0.1s:tune environment.gravity.z=21", "from -20 to 20"),
                          ("0.1s:fault leen on", 'did you mean "lean"'), ("0.1s:fault lean", "on"),
                          ("0.1s:stop", "step"), ("0.1s:safe", "there is no arm"), ("pause", "TIME:WHAT"), ("-1s:pause", "time"),
                          ("0.1s:checkpoint", "give the name of a file"), ("0.1s:step 0.5", "number of frames")):
            with self.subTest(act):
                code, out, err = self.call("run", self.scenario, "--pace", "fast", "--act", act)
                self.assertEqual(code, 2, out)
                self.assert_one_line(err, "--act " + act, what)
        for tunable, what in (("[devices.gyroo.bias]", 'no device "gyroo"; did you mean "gyro"?'),
                              ("[devices.gyro.rate]", "does not change"), ("[nothing]", "devices.gyro.bias"),
                              ("[devices.gyro.bias.w]", "x, y and z"), ("[devices.gyro.noise.x]", "one number"),
                              ("[bodies.bus.joint.damping]", "hinge or slide"),
                              ("[{of: devices.gyro.bias, low: 1 m}]", "rad/s"),
                              ("[{of: devices.gyro.bias, low: 1 rad/s}]", "widen"),
                              ("[devices.gyro.bias, devices.gyro.bias.x]", "already"),
                              ("[environment.gust.sigma]", "no gusts")):
            with self.subTest(tunable):
                self.scenario.write_text(harness.TUMBLE.read_text() + f"tunable: {tunable}\n")
                code, out, err = self.call("check", self.scenario)
                self.assertEqual(code, 2, out)
                line = self.scenario.read_text().count("\n")
                self.assert_one_line(err, f"tumble.yaml:{line}:", what)

    # ---- replay

    def test_everything_he_does_replays(self):
        report = self.fast("--log", self.log, *acts(*EVERYTHING))
        self.assertEqual(report["operator"]["acts"], len(EVERYTHING))
        self.assertGreater(report["faults"][1]["hits"], 0)
        self.assert_replays(self.log, report)

    def test_a_bad_day_replays(self):
        """Dropped packets, a late frame, faults, parameters and a restore, with a board, in real time."""
        report = self.run_scenario(
            harness.SATELLITE, "--seconds", "2", "--log", self.log, *self.board_options(),
            "--inject", "late=15ms@1s", "--set", "log.parts=true",
            "--set", "tunable=[devices.gyro.bias, devices.wheel_x.max_torque]",
            "--set", "faults=[{link: board, type: dropout, value: 0.3, when: operator, for: 1 s}, "
                     "{device: wheel_y, type: stuck, when: operator}]",
            *acts("0.2s:fault dropout of board on", "0.4s:tune devices.gyro.bias.x=0.2 deg/s", "0.5s:fault stuck of wheel_y on",
                  f"0.6s:checkpoint {self.checkpoint}", "0.8s:tune devices.wheel_x.max_torque=0.05",
                  f"1.2s:restore {self.checkpoint}"))
        self.assertGreaterEqual(report["missed"], 14)
        self.assertEqual(report["operator"]["failed"], 0)
        self.assertGreater(report["faults"][0]["hits"], 0)
        self.checkpoint.unlink()
        self.assert_replays(self.log, report)
        again = self.dir / "again.mcap"
        code, out, err = self.call("replay", self.log, "--continue-at", "0.7s", "--seconds", "0.5", "--inputs",
                                   "safe", "--log", again, "--act", "0.1s:tune devices.gyro.bias.x=0")
        self.assertEqual(code, 0, out + err)
        code, out, err = self.call("replay", again)
        self.assertIn("500 of 500 frames compared, all identical", out, err)

    def test_a_flipped_bit_in_an_act_is_found_at_its_frame(self):
        self.fast("--log", self.log, "--set", "log.parts=true", *acts(*EVERYTHING))
        for ordinal, job in ((0, "job latch, part of the run state: parameters"), (6, "job step, variable plant.v")):
            copy, frame = self.flip(ordinal, "/operator", 24)  # the value
            code, out, err = self.call("replay", copy)
            self.assertEqual(code, 1, out + err)
            self.assertEqual(int(re.search(r"frame (\d+) differs", out).group(1)), frame)
            self.assertIn(job, out)

    def test_a_flipped_bit_in_a_restored_state_is_found_at_its_frame(self):
        self.fast("--log", self.log, *acts(f"0.4s:checkpoint {self.checkpoint}", f"0.9s:restore {self.checkpoint}"))
        copy, frame = self.flip(0, "/state", 24 + 8)
        code, out, err = self.call("replay", copy)
        self.assertEqual(code, 1, out + err)
        self.assertEqual(int(re.search(r"frame (\d+) differs", out).group(1)), frame)
        self.assertIn("job step, variable plant.q[1]", out)

    def test_a_restored_state_that_cannot_be_is_refused(self):
        report = self.fast("--log", self.log, *acts("0.1s:tune environment.gravity.z=9.81",
                                                    f"0.4s:checkpoint {self.checkpoint}",
                                                    f"0.9s:restore {self.checkpoint}"))
        # Gravity is the sixth of eight numbers in the last line: 2^16 times as much is out of its limits.
        copy, _ = self.flip(0, "/state", 24 + report["operator"]["checkpoint_bytes"] - 64 + 5 * 8 + 7)
        code, out, err = self.call("replay", copy)
        self.assertEqual(code, 2, out)
        self.assert_one_line(err, "restored state 0 is missing or malformed")

    def test_an_act_that_the_log_lost_is_noticed(self):
        self.fast("--log", self.log, *acts(*EVERYTHING))
        copy, _ = self.flip(3, "/operator", 8)  # the ordinal
        code, out, err = self.call("replay", copy)
        self.assertEqual(code, 2, out)
        self.assert_one_line(err, "act of the operator 3 is missing or malformed")

    def test_a_replay_stops_steps_and_prints(self):
        report = self.fast("--log", self.log, *acts("0.9s:reset"))
        code, out, err = self.call("replay", self.log, "--until", "0.5s")
        self.assertEqual(code, 0, err)
        self.assertIn("500 of 500 frames compared, all identical", out)
        self.assertIn("next frame 500, simulated 0.500000 s", out)
        commands = "\nstep 9\nprint\ngo 1s\nprint\nnonsense\ngo 99s\nquit\n"
        code, out, err = self.call("replay", self.log, "--step", input=commands)
        self.assertEqual(code, 0, err)
        for part in ("next frame 1,", "next frame 10,", "simulated 0.010000 s", "next frame 1000, simulated 0.100000 s",
                     "step [N], go WHEN", "the end", report["state_hash"]):
            self.assertIn(part, out)

    def test_what_if_goes_on_as_it_was_unless_something_is_changed(self):
        first = self.fast("--log", self.log, *acts(*EVERYTHING))
        code, out, err = self.call("replay", self.log, "--continue-at", "1200", "--report", self.dir / "on.json")
        self.assertEqual(code, 0, out + err)
        report = json.loads((self.dir / "on.json").read_text())
        self.assertEqual(report["state_hash"], first["state_hash"])
        again = self.dir / "again.mcap"
        code, out, err = self.call("replay", self.log, "--continue-at", "1200", "--log", again, "--report",
                                   self.dir / "on.json", "--act", "0.1s:tune environment.gravity.x=1")
        other = json.loads((self.dir / "on.json").read_text())
        self.assertNotEqual(other["state_hash"], first["state_hash"])
        self.assert_replays(again, other)
        code, out, err = self.call("replay", self.log, "--continue-at", "9s")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "the log ends before --continue-at")


if __name__ == "__main__":
    harness.main()
