#!/usr/bin/env python3
"""The cockpit in a real browser: it shows the run, and the run does what it is asked."""
import json
import os
import pathlib
import subprocess
import unittest

import harness

HAS_PAGE = (harness.ROOT / "tools" / "cockpit" / "node_modules").is_dir()


@unittest.skipUnless(harness.HAS_BROWSER, "no Chromium, or the packages of tools/peers are missing")
@unittest.skipUnless(HAS_PAGE, "the cockpit is not in this program: run tools/setup/cockpit")
class Cockpit(harness.Case):
    def look(self, scenario, *options):
        """What a browser saw, and the report of the run."""
        port = harness.free_port()
        run = self.start("run", scenario, "--serve", str(port), "--report", self.dir / "report.json", *options,
                         cwd=self.dir)
        self.addCleanup(run.kill)
        shot = pathlib.Path(os.environ.get("SCREENSHOTS", self.dir)) / f"{self._testMethodName}.png"
        look = subprocess.run(["node", harness.ROOT / "tests/scenario/cockpit.mjs",
                               f"http://127.0.0.1:{port}/", shot],
                              capture_output=True, text=True, timeout=280,
                              env={**os.environ, "CHROMIUM": harness.CHROMIUM})
        self.assertEqual(look.returncode, 0, look.stdout + look.stderr)
        run.terminate()
        out, err = run.communicate(timeout=60)
        self.assertIn(run.returncode, (0, 1), out + err)  # an expectation may not be met so early
        return json.loads(look.stdout), json.loads((self.dir / "report.json").read_text())

    def test_a_satellite_is_shown_and_obeys(self):
        saw, report = self.look(harness.SATELLITE, "--seconds", "600", *self.board_options())
        self.assertEqual(saw["complaints"], [])
        self.assertRegex(saw["figures"], "start error.*busy.*least margin")
        self.assertGreater(saw["signals"], 10)
        self.assertGreater(saw["charts"], 0)
        self.assertGreater(saw["colours"], 20, "an empty view has one or two")
        self.assertEqual(saw["acts"], ["Pause", "Resume", "Step", "Reset", "Checkpoint", "Restore"])
        self.assertTrue(saw["held"], "simulated time goes on in a pause")
        self.assertGreater(report["paused"], 0)

    def test_a_quadcopter_is_shown(self):
        port = harness.free_port()
        command = ["board", "--wire", "px4-hitl", "--connect", f"127.0.0.1:{port}"]
        saw, _ = self.look(harness.SCENARIOS / "quad-px4-hitl.yaml", "--seconds", "600",
                           "--set", f"links.board.listen=127.0.0.1:{port}",
                           "--set", f"controller.command={json.dumps(command)}")
        self.assertEqual(saw["complaints"], [])
        self.assertGreater(saw["colours"], 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
