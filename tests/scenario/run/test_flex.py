"""Bodies that bend, as a whole run: read back, logged, replayed."""
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

TEXT = """
name: bent
rate: 1 kHz
bodies:
- {name: bus, joint: {type: free, rate: 0 0.1 0.2 rad/s}, mass: 100, inertia: 50 50 50}
- name: boom
  parent: bus
  joint: {type: revolute, axis: 0 1 0, at: 1 0 0, stiffness: 100}
  flex:
    type: beam
    length: 4 m
    mass: 3 kg
    bend_y: {modes: 2, frequency: 0.8 Hz}
    bend_z: {modes: 2, frequency: 0.5 Hz}
    damping: 0.5 %
    start: 0.01 0 0.02 0
    nodes: [{name: tip, x: 4 m}]
- {name: camera, parent: boom, joint: {type: fixed, node: tip}, mass: 1, inertia: 0.1 0.1 0.1}
"""

BULK = """BEGIN BULK
GRID,1,,0.0,0.0,0.0
GRID,2,,2.0,0.0,0.0
CONM2,7,2,,0.5
ENDDATA
"""

PUNCH = """$EIGENVECTOR                                                                   1
$EIGENVALUE =  0.4000000E+03  MODE =     1                                     2
         1       G      0.000000E+00      0.000000E+00      0.000000E+00       3
-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00       4
         2       G      0.000000E+00      1.000000E+00      0.000000E+00       5
-CONT-                  0.000000E+00      0.000000E+00      5.000000E-01       6
"""

FE_TEXT = """
name: fe
rate: 1 kHz
bodies:
- name: panel
  joint: {type: free, rate: 0 0 0.1 rad/s}
  mass: 5
  inertia: 5 5 5
  flex: {type: nastran, bulk: panel.bdf, punch: panel.pch, modes: 1, start: 0.01}
"""

# A beam at 1 Hz that is spun up at 0.5 rad/s^2.
ROTOR_TEXT = """
name: rotor
rate: 1 kHz
bodies:
- name: hub
  joint: {type: fixed}
  mass: 1
  inertia: 1 1 1
- name: rotor
  parent: hub
  joint: {type: revolute, axis: 0 0 1, prescribed: 0.5 rad/s^2}
  flex: {type: beam, fidelity: ruthless, length: 1 m, mass: 1 kg, bend_y: {modes: 1, frequency: 1 Hz}}
"""


class Flex(harness.Case):
    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def assert_replays(self, log, report):
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("all identical", out)
        self.assertIn(report["state_hash"], out)

    def test_check_reports_how_a_body_bends(self):
        code, out, err = self.call("check", self.write("s.yaml", TEXT))
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"bends: 4 modes, 0\.5 to 5\.014 Hz held at the joint, "
                              r"with \d\d\.\d % of its mass or inertia, consistent")

    def test_runs_of_every_fidelity_and_integrator_replay_and_differ(self):
        scenario = self.write("s.yaml", TEXT)
        hashes = []
        for fidelity in ("rigid", "ruthless", "consistent", "inconsistent"):
            for method in ("semi-implicit-euler", "rk4", "ros2"):
                with self.subTest(fidelity=fidelity, method=method):
                    log = self.dir / "run.mcap"
                    report = self.run_scenario(
                        scenario, "--seconds", "0.5", "--pace", "fast", "--log", log, "--set",
                        f"integrator={method}", "--set", f"bodies.boom.flex.fidelity={fidelity}")
                    self.assert_replays(log, report)
                    hashes.append(report["state_hash"])
        self.assertEqual(len(set(hashes)), 12)

    def test_modes_too_fast_for_the_step_are_refused_with_the_remedy(self):
        scenario = self.write("s.yaml", TEXT)
        stiff = ["--set", "bodies.boom.flex.bend_y.frequency=200 Hz"]
        code, _, err = self.call("run", scenario, *stiff)
        self.assertEqual(code, 2)
        self.assert_one_line(err, 'the modes of "boom" reach', "rk4 with steps of 1 ms",
                             "substeps, fewer modes or integrator: ros2")
        self.run_scenario(scenario, "--seconds", "0.1", "--pace", "fast", *stiff, "--set",
                          "integrator=ros2")

    def test_frames_beyond_the_range_of_a_model_are_counted_and_the_body_is_named(self):
        report = self.run_scenario(self.write("s.yaml", ROTOR_TEXT), "--seconds", "2", "--pace", "fast")
        w = 2 * math.pi  # of the mode, which has 0.9706 of the turning of a clamped beam and swings against it
        rate = [0.5 * k / 1000 - 0.5 * 0.9706 / w * math.sin(w * k / 1000) for k in range(2000)]
        beyond = sum(r > 0.1 * w for r in rate)  # frames in which the whole turns at a tenth of the frequency
        self.assertAlmostEqual(report["out_of_range"]["rate"], beyond, delta=2)
        self.assertEqual(report["out_of_range"]["deflection"], 0)
        self.assertEqual(report["out_of_range"]["stiffness"], 0)
        self.assertIn('"rotor" first: by rate in %d frames' % report["out_of_range"]["rate"], self.out)
        self.assertIn("; fidelity: consistent has no rate limit\n", self.out)

    def test_modes_without_psi2_have_a_limit_of_rate_even_where_the_joint_has_its_own(self):
        self.write("panel.bdf", BULK), self.write("panel.pch", PUNCH)
        for rate, frames in ((1.9, 0), (2.1, 100)):  # of 20 rad/s
            report = self.run_scenario(self.write("s.yaml", FE_TEXT), "--seconds", "0.1", "--pace", "fast",
                                       "--set", "bodies.panel.flex.joint=1",
                                       "--set", f"bodies.panel.joint.rate=0 0 {rate} rad/s")
            self.assertEqual(report["out_of_range"], {"rate": frames, "deflection": 0, "stiffness": 0, "inertia": 0})
        self.assertIn("; its modes have no psi2 and therefore no geometric stiffness\n", self.out)
        self.assertNotIn("knows no limit", self.out)

    def test_a_model_that_stiffens_as_it_spins_knows_no_limit_of_rate(self):
        report = self.run_scenario(self.write("s.yaml", ROTOR_TEXT), "--seconds", "2", "--pace", "fast",
                                   "--set", "bodies.rotor.flex.fidelity=consistent")
        self.assertEqual(set(report["out_of_range"].values()), {0})
        self.assertNotIn("left the range", self.out)

    def test_a_log_carries_the_files_that_its_scenario_names(self):
        scenario = self.write("s.yaml", FE_TEXT)
        files = [self.write("panel.bdf", BULK), self.write("panel.pch", PUNCH)]
        log = self.dir / "run.mcap"
        report = self.run_scenario(scenario, "--seconds", "0.5", "--pace", "fast", "--log", log)
        for file in files:
            file.unlink()
        self.assert_replays(log, report)
        code, _, err = self.call("run", scenario)
        self.assertEqual(code, 2)
        self.assert_one_line(err, "s.yaml:9:31:", "panel.bdf: there is no such file")

    def file_hashes(self, scenario):
        log, certificate = self.dir / "run.mcap", self.dir / "certificate.json"
        self.run_scenario(scenario, "--seconds", "0.1", "--pace", "fast", "--log", log)
        self.call("timing", log, "--certificate", certificate)
        return json.loads(certificate.read_text())["hashes"]["files"]

    def test_a_certificate_names_the_files_of_the_model_by_their_hashes(self):
        scenario = self.write("s.yaml", FE_TEXT)
        self.write("panel.bdf", BULK), self.write("panel.pch", PUNCH)
        before = self.file_hashes(scenario)
        self.write("panel.pch", PUNCH.replace("0.4000000E+03", "0.4000001E+03"))
        after = self.file_hashes(scenario)
        self.assertEqual(set(before), {"panel.bdf", "panel.pch"})
        self.assertEqual(before["panel.bdf"], after["panel.bdf"])
        self.assertNotEqual(before["panel.pch"], after["panel.pch"])


if __name__ == "__main__":
    harness.main()
