"""The same run twice: recorded inputs give identical states, and a changed one is found."""
import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

HAS_PEERS = shutil.which("node") and (harness.PEERS / "node_modules").is_dir()


class Replay(harness.Case):
    def record(self, *options, seconds="1"):
        log = self.dir / "run.mcap"
        report = self.run_scenario(harness.SATELLITE, "--seconds", seconds, "--log", log,
                                   *self.board_options(), *options)
        return log, report

    def assert_identical(self, log, report):
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("all identical", out)
        self.assertIn(report["state_hash"], out)
        self.assertIn(f"{report['frames']} of {report['frames']} frames", out)
        return out

    def test_a_real_run_replays_twice_with_every_hash_identical(self):
        log, report = self.record()
        self.assertEqual(self.assert_identical(log, report), self.assert_identical(log, report))

    def test_a_run_with_a_late_frame_and_missed_releases_replays(self):
        log, report = self.record("--inject", "late=20ms@0.5s")
        self.assertGreaterEqual(report["missed"], 19)
        self.assert_identical(log, report)

    def test_a_catch_up_run_replays(self):
        log, report = self.record("--inject", "late=8ms@0.5s", "--set", "overrun=catch-up")
        self.assertGreater(report["caught_up"], 0)
        self.assert_identical(log, report)

    def test_overrides_are_part_of_the_log(self):
        log, report = self.record("--set", "seed=77", "--set", "devices.gyro.noise=0")
        self.assert_identical(log, report)

    def test_real_and_fast_pace_give_the_same_states(self):
        real = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--pace", "real")
        fast = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--pace", "fast")
        self.assertEqual(real["state_hash"], fast["state_hash"])

    def test_a_run_by_every_integrator_replays(self):
        hashes = set()
        for method in ("semi-implicit-euler", "rk2", "rk4", "ab2", "ab3", "ab4"):
            with self.subTest(method):
                log = self.dir / f"{method}.mcap"
                report = self.run_scenario(harness.TUMBLE, "--seconds", "0.5", "--pace", "fast",
                                           "--log", log, "--set",
                                           f"integrator={{method: {method}, substeps: 2}}")
                self.assert_identical(log, report)
                hashes.add(report["state_hash"])
        self.assertEqual(len(hashes), 6)

    @unittest.skipUnless(HAS_PEERS, "node or tools/peers/node_modules is missing; tools/test installs them")
    def test_a_forged_frame_number_ends_the_replay_at_once(self):
        """Bit 0, 8, 40 or 56 of a frame's number: how far would it have to run?"""
        log, forged = self.dir / "run.mcap", self.dir / "forged.mcap"
        self.run_scenario(harness.TUMBLE, "--seconds", "0.5", "--pace", "fast", "--log", log)
        for byte, why in ((0, "another frame's|not in order"), (1, "another frame's|not in order|frames"),
                          (5, "and the run had 500 frames"), (7, "and the run had 500 frames")):
            with self.subTest(byte=byte):
                done = harness.node(harness.ROOT / "tests/scenario/replay/flip_input.mjs", log, forged, 100, "/frame", byte)
                self.assertEqual(done.returncode, 0, done.stderr)
                code, out, err = self.call("replay", forged)
                self.assertEqual((code, out), (2, ""), err)
                self.assertEqual(err.count("\n"), 1, err)
                self.assertRegex(err, why)

    def test_a_robot_replays_where_its_urdf_is_not(self):
        for name in ("arm7.yaml", "arm7.urdf"):
            shutil.copy(harness.SCENARIOS / name, self.dir)
        log = self.dir / "arm.mcap"
        report = self.run_scenario(self.dir / "arm7.yaml", "--seconds", "1",
                                   "--log", log)
        (self.dir / "arm7.urdf").unlink()
        self.assert_identical(log, report)

    def test_what_is_for_the_eye_only_changes_no_state(self):
        plain = self.run_scenario(harness.TUMBLE, "--seconds", "0.5", "--pace", "fast")
        seen = self.run_scenario(
            harness.TUMBLE, "--seconds", "0.5", "--pace", "fast",
            "--set", "bodies.0.shapes=[{type: sphere, radius: 1, color: red}]",
            "--set", "cameras=[{name: far, at: 9 0 0 m, look: -1 0 0}]")
        self.assertEqual(plain["state_hash"], seen["state_hash"])

    def test_a_real_run_by_adams_bashforth_replays(self):
        log, report = self.record("--set", "integrator={method: ab4, substeps: 2}", "--inject",
                                  "late=20ms@0.5s")
        self.assertGreater(report["io"]["rx"], 0)
        self.assert_identical(log, report)

    def test_a_run_replays_on_the_instruction_set_it_was_recorded_with(self):
        hashes = set()
        for isa in harness.instruction_sets():
            with self.subTest(isa):
                log = self.dir / f"{isa}.mcap"
                with harness.environment(AIRBEARING_ISA=isa):
                    report = self.run_scenario(harness.TUMBLE, "--seconds", "0.5", "--pace", "fast",
                                               "--log", log)
                self.assertEqual(report["isa"], isa)
                for wish in ("", *harness.instruction_sets()):
                    with harness.environment(AIRBEARING_ISA=wish):
                        self.assert_identical(log, report)
                hashes.add(report["state_hash"])
        if not harness.SANITIZED:  # without optimisation nothing fuses, and all sets may round alike
            self.assertEqual(len(hashes) > 1, len(harness.instruction_sets()) > 1)

    def test_a_log_of_an_unknown_instruction_set_is_refused_with_one_line(self):
        log = self.dir / "run.mcap"
        with harness.environment(AIRBEARING_ISA="sse2"):
            self.run_scenario(harness.TUMBLE, "--seconds", "0.1", "--pace", "fast", "--log", log)
        log.write_bytes(log.read_bytes().replace(b"sse2", b"neon"))
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 2, out)
        self.assert_one_line(err, "run.mcap", "neon", "replay it on a machine that has it")

    def test_another_seed_is_another_run(self):
        one = self.run_scenario(harness.TUMBLE, "--seconds", "0.1", "--pace", "fast")
        two = self.run_scenario(harness.TUMBLE, "--seconds", "0.1", "--pace", "fast", "--set", "seed=2")
        self.assertNotEqual(one["state_hash"], two["state_hash"])

    def test_a_flipped_bit_in_one_command_is_found_at_its_frame(self):
        if not shutil.which("node") or not (harness.PEERS / "node_modules").exists():
            self.skipTest("node or tools/peers/node_modules is missing; tools/test installs them")
        log, report = self.record()
        for ordinal in (0, 100):
            copy = self.dir / f"flipped{ordinal}.mcap"
            flip = harness.node(harness.ROOT / "tests/scenario/replay/flip_input.mjs", log, copy, ordinal)
            self.assertEqual(flip.returncode, 0, flip.stderr)
            frame = int(flip.stdout)
            code, out, err = self.call("replay", copy)
            self.assertEqual(code, 1, out + err)
            self.assertEqual(int(re.search(r"frame (\d+) differs", out).group(1)), frame)

    def test_what_is_not_a_log_is_refused_with_one_line(self):
        nonsense = self.dir / "nonsense.mcap"
        nonsense.write_bytes(b"not a log")
        for path in (nonsense, self.dir / "absent.mcap"):
            code, out, err = self.call("replay", path)
            self.assertEqual(code, 2)
            self.assert_one_line(err, path.name)


if __name__ == "__main__":
    harness.main()
