"""A real run, closed loop with the board: the figures of the report must hold together."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

REPORT_KEYS = """frames rate_hz pace seconds_simulated seconds_wall start_error_ns busy_ns margin_ns
overruns missed lag_ns overrun_causes stolen_ns_total drift_ppm loop_latency_ns
allocations_after_seal page_faults_after_seal out_of_range io log state_hash isa realtime""".split()


class Run(harness.Case):
    def assert_sound(self, report, frames):
        for key in REPORT_KEYS:
            self.assertIn(key, report)
        self.assertEqual(report["frames"], frames)
        self.assertEqual(report["seconds_simulated"], frames * report["period_ns"] / 1e9)
        self.assertEqual(report["wall_ns"],
                         (report["frames"] + report["missed"]) * report["period_ns"])
        self.assertEqual(report["lag_ns"], report["missed"] * report["period_ns"])
        self.assertEqual(sum(report["overrun_causes"].values()), report["overruns"])
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)
            self.assertEqual(report["page_faults_after_seal"], 0)
        self.assertEqual(report["not_finite"], 0)
        self.assertEqual(set(report["out_of_range"].values()), {0})

    def assert_closed_loop(self, report):
        latency = report["loop_latency_ns"]
        self.assertGreater(latency["count"], 0)
        for part in ("wire_in", "grid_wait", "step", "hold", "wire_out"):
            self.assertEqual(latency[part]["count"], latency["count"])
        self.assertGreater(report["io"]["commands"], 0)
        self.assertEqual(report["io"]["rx_bad"], 0)
        self.assertEqual(report["log"]["dropped"], 0)

    @unittest.skipIf(harness.SANITIZED, "the short flights below show a sanitizer as much")
    def test_the_board_points_the_satellite_within_twenty_seconds(self):
        log = self.dir / "run.mcap"
        report = self.run_scenario(harness.SATELLITE, "--seconds", "16.5", "--log", log,
                                   *self.board_options())
        self.assert_sound(report, 16500)
        self.assert_closed_loop(report)
        self.assertLess(report["attitude_error_rad"], 0.1 * 3.14159 / 180)
        self.assertEqual([e["verdict"] for e in report["expect"]], ["met"])
        self.assertGreater(report["log"]["records"], 16500)
        self.assertEqual(report["log"]["bytes"], log.stat().st_size)
        self.assertIn("verdict: ok", self.out)

    def test_inline_io_closes_the_loop_too(self):
        report = self.run_scenario(harness.SATELLITE, "--seconds", "2", "--set", "io.mode=inline",
                                   *self.board_options())
        self.assert_sound(report, 2000)
        self.assert_closed_loop(report)

    def test_early_commit_closes_the_loop_too(self):
        report = self.run_scenario(harness.SATELLITE, "--seconds", "2", "--set", "commit=early",
                                   *self.board_options())
        self.assert_sound(report, 2000)
        self.assert_closed_loop(report)

    def test_lockstep_waits_for_the_board(self):
        report = self.run_scenario(harness.SATELLITE, "--seconds", "4", "--pace", "lockstep",
                                   *self.board_options())
        self.assertEqual(report["frames"], 4000)
        self.assertEqual(report["pace"], "lockstep")
        # One reply per sensor message, but for those the machine made late.
        self.assertGreater(report["io"]["commands"] + report["missed_replies"], 950)

    def test_a_run_shorter_than_an_expectation_does_not_fail_it(self):
        report = self.run_scenario(harness.SATELLITE, "--seconds", "1", *self.board_options())
        self.assertEqual([e["verdict"] for e in report["expect"]], ["not reached"])
        self.assertIsNone(report["expect"][0]["worst"])
        self.assertIn("verdict: ok so far", self.out)

    def test_a_failed_expectation_is_exit_1(self):
        report = self.run_scenario(harness.SATELLITE, "--seconds", "1", *self.board_options(),
                                   "--set", "expect=[attitude_error < 0.0001 deg after 0.5 s]",
                                   expect=1)
        self.assertEqual([e["verdict"] for e in report["expect"]], ["failed"])

    def test_require_realtime_is_never_met_by_a_kernel_that_is_not(self):
        report = self.run_scenario(harness.TUMBLE, "--seconds", "0.2", "--pace", "fast")
        if report["realtime"]["kernel_rt"]:
            self.skipTest("this kernel is PREEMPT_RT")
        report = self.run_scenario(harness.TUMBLE, "--seconds", "0.2", "--set", "require=realtime",
                                   expect=1)
        self.assertIn("require: realtime was not met", self.out)

    def test_without_privileges_it_says_what_it_could_not_get(self):
        import os
        import subprocess
        if os.geteuid() != 0:
            self.skipTest("this test drops privileges and needs root to do so")
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                               "--inh-caps=-all", "--bounding-set=-all", harness.AIRBEARING, "run",
                               harness.TUMBLE, "--seconds", "0.5"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode in (126, 127):
            self.skipTest("the build is not readable for an unprivileged user")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("frame thread:", done.stdout)
        self.assertIn("verdict: ok", done.stdout)


if __name__ == "__main__":
    harness.main()
