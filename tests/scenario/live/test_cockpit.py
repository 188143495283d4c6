#!/usr/bin/env python3
"""The cockpit in a real browser: it shows the run, and the run does what it is asked."""
import json
import os
import re
import signal
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

HAS_PAGE = (harness.ROOT / "tools" / "cockpit" / "node_modules").is_dir()


@unittest.skipUnless(harness.HAS_BROWSER, "no Chromium, or the packages of tools/peers are missing")
@unittest.skipUnless(HAS_PAGE, "the cockpit is not in this program: run tools/setup/cockpit")
class Cockpit(harness.Case):
    def look(self, scenario, *options):
        """What a browser saw, and the report of the run."""
        port = harness.free_port()
        run = self.start("run", scenario, "--serve", str(port), "--report", self.dir / "report.json", "--operator-token",
                         "sesame", *options, cwd=self.dir)
        self.addCleanup(run.kill)
        shot = pathlib.Path(os.environ.get("SCREENSHOTS", self.dir)) / f"{self._testMethodName}.png"
        look = subprocess.run([*harness.NODE, harness.ROOT / "tests/scenario/live/cockpit.mjs",
                               f"http://127.0.0.1:{port}/?operator=sesame", shot],
                              capture_output=True, text=True, timeout=280,
                              env={**os.environ, "CHROMIUM": harness.CHROMIUM})
        self.assertEqual(look.returncode, 0, look.stdout + look.stderr)
        run.terminate()
        out, err = run.communicate(timeout=60)
        self.assertIn(run.returncode, (0, 1, 130), out + err)  # over by itself, perhaps too early for an expectation
        saw = json.loads(look.stdout)
        print("seconds", json.dumps(saw["took"]))
        return saw, json.loads((self.dir / "report.json").read_text())

    def check_panel(self, panel):
        """What a vehicle without an arm shows of itself."""
        for text in panel["angles"]:
            self.assertRegex(text, r"^−?\d+\.\d°$")
        self.assertEqual(len(panel["angles"]), 3)
        self.assertEqual(len(panel["rates"]), 3)
        self.assertEqual(panel["links"][0], "board heard")
        self.assertFalse(panel["hands"], "nobody's hands fly this")
        self.assertEqual(panel["small"], 0, "main numbers are 22 px or more")

    def check_page(self, saw):
        """What is so whatever flies."""
        self.assertEqual(saw["complaints"], [])
        self.assertEqual(saw["clutter"], [])
        self.assertGreater(saw["colours"], 20, "an empty view has one or two")
        self.assertEqual(saw["mayPress"], 0, "who may only watch finds nothing to press")
        self.check_panel(saw["panel"])

    def test_a_satellite_is_drawn_and_obeys(self):
        saw, report = self.look(harness.SATELLITE, "--seconds", "600", *self.board_options())
        self.check_page(saw)
        self.assertRegex(saw["figures"], "start error.*busy.*least margin")
        self.assertGreater(saw["signals"], 10)
        self.assertGreater(saw["charts"], 0)
        self.assertEqual(saw["acts"], ["Pause", "Resume", "Step", "Reset", "Checkpoint", "Restore"])
        self.assertTrue(saw["held"], "simulated time goes on in a pause")
        self.assertGreater(report["paused"], 0)
        self.assertEqual(saw["faults"], 2)
        self.assertEqual(len(saw["panel"]["wheels"]), 3)
        for text in saw["panel"]["wheels"]:
            self.assertRegex(text, r"wheel_[xyz]−?\d+ rpm")

    def test_a_quadcopter_is_drawn(self):
        port = harness.free_port()
        command = ["board", "--wire", "px4-hitl", "--connect", f"127.0.0.1:{port}"]
        saw, _ = self.look(harness.SCENARIOS / "quad-px4-hitl.yaml", "--seconds", "600",
                           "--set", f"links.board.listen=127.0.0.1:{port}",
                           "--set", f"controller.command={json.dumps(command)}")
        self.check_page(saw)
        self.assertEqual(len(saw["panel"]["motors"]), 4)
        self.assertEqual(saw["panel"]["wheels"], [])

    def test_how_the_run_came_out_stands_on_the_page(self):
        """Its controller is killed while a viewer is connected."""
        port, board = harness.free_port(), harness.free_port()
        scenario = self.dir / "mine.yaml"
        scenario.write_text(re.sub(r"\n *on_loss:[^\n]*", "", harness.SATELLITE.read_text()))
        note = self.dir / "pid"
        script = f"echo $$ >{note}; exec {harness.AIRBEARING.parent / 'board'} --connect 127.0.0.1:{board}"
        run = self.start("run", scenario, "--serve", str(port), "--seconds", "3600", "--set",
                         f"links.board.listen=127.0.0.1:{board}", "--set",
                         f"controller.command={json.dumps(['sh', '-c', script])}")
        self.assertIsNotNone(harness.begun(run))
        look = self.spawn([*harness.NODE, harness.ROOT / "tests/scenario/live/cockpit_end.mjs", f"http://127.0.0.1:{port}/"],
                          stdout=subprocess.PIPE, text=True, env={**os.environ, "CHROMIUM": harness.CHROMIUM})
        self.assertEqual(look.stdout.readline(), "looking\n")
        os.kill(int(note.read_text()), signal.SIGKILL)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3, out + err)
        saw = json.loads(look.communicate(timeout=150)[0])
        self.assertIn("controller ended, SIGKILL", saw["events"])
        self.assertTrue(any(line.startswith("verdict: controller ended, SIGKILL; the run stopped at frame")
                            for line in saw["events"]), saw)
        self.assertIn("controller ended, SIGKILL", saw["pill"])
        self.assertIn("bad", saw["kind"])


@unittest.skipUnless(harness.HAS_BROWSER, "no Chromium, or the packages of tools/peers are missing")
@unittest.skipUnless(HAS_PAGE, "the cockpit's packages are missing: run tools/setup/cockpit")
class Arm(harness.Case):
    limit_s = 590  # every control of the page

    def test_the_types_of_the_page_are_right(self):
        """The bundler drops them unread."""
        cockpit = harness.ROOT / "tools" / "cockpit"
        check = subprocess.run([*harness.NODE, cockpit / "node_modules/typescript/bin/tsc", "--noEmit", "-p", cockpit],
                               capture_output=True, text=True, timeout=300)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_every_control_of_an_arm_sends_what_it_should(self):
        """Against a server of its own, which keeps what the page sends."""
        shots = os.environ.get("SCREENSHOTS", self.dir)
        look = subprocess.run([*harness.NODE, harness.ROOT / "tests/scenario/live/cockpit_arm.mjs", shots],
                              capture_output=True, text=True, timeout=580,
                              env={**os.environ, "CHROMIUM": harness.CHROMIUM})
        self.assertEqual(look.returncode, 0, look.stdout + look.stderr)
        print(look.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
