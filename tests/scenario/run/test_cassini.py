"""A spacecraft with a flexible bus, nine appendages and 22 hinges, in closed loop with its board."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

CASSINI = harness.SCENARIOS / "cassini.yaml"
HINGES = {"universal": 2, "general": 3}


class Cassini(harness.Case):
    def run_cassini(self, *options):
        """The scenario on a port of its own, its board with the gains of the file."""
        address = f"127.0.0.1:{harness.free_port()}"
        report = self.run_scenario(CASSINI, "--set", f"links.board.listen={address}", "--set",
                                   f"controller.command.2={address}", *options)
        self.assertGreater(report["io"]["commands"], 0)
        self.assertEqual(report["not_finite"], 0)
        self.assertEqual(set(report["out_of_range"].values()), {0})
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)
            self.assertEqual(report["page_faults_after_seal"], 0)
        return report

    def test_it_is_a_flexible_bus_with_nine_appendages_and_22_hinges(self):
        code, out, err = self.call("check", CASSINI)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"\n  bus  .*\n    bends: 7 modes")
        joints = re.findall(r"^    \w+ +(universal|general) ", out, re.MULTILINE)
        self.assertEqual(len(joints), 9)
        self.assertEqual(sum(HINGES[joint] for joint in joints), 22)
        self.assertEqual(sum(map(int, re.findall(r"bends: (\d+) modes", out))), 24)

    def test_the_board_points_it(self):
        seconds = "5" if harness.SANITIZED else "60"
        report = self.run_cassini("--pace", "lockstep", "--seconds", seconds)
        verdict = "not reached" if harness.SANITIZED else "met"
        self.assertEqual([e["verdict"] for e in report["expect"]], [verdict, verdict])

    def test_a_run_in_real_time_replays(self):
        log = self.dir / "run.mcap"
        report = self.run_cassini("--seconds", "3", "--log", log)
        self.assertEqual(report["frames"], 3000)
        self.assertEqual(report["wall_ns"],
                         (report["frames"] + report["missed"]) * report["period_ns"])
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("3000 of 3000 frames compared, all identical", out)
        self.assertIn(report["state_hash"], out)

    def test_a_run_by_the_implicit_integrator_replays_and_points_in_the_same_direction(self):
        errors = []
        for method in ("rk4", "ros2"):
            log = self.dir / f"{method}.mcap"
            # A reply that a busy machine delays is waited for: one that is missed turns the vehicle.
            report = self.run_cassini("--pace", "lockstep", "--seconds", "5", "--log", log, "--set",
                                      f"integrator={method}", "--set", "links.board.wait_limit=60 s")
            code, out, err = self.call("replay", log)
            self.assertEqual(code, 0, out + err)
            errors.append(report["attitude_error_rad"])
        self.assertAlmostEqual(errors[0] / errors[1], 1, delta=0.01)


if __name__ == "__main__":
    harness.main()
