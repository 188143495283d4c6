"""A person flies the Shuttle's arm: a scripted operator and a browser, in real time, and what they did replays."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

RMS = harness.SCENARIOS / "rms.yaml"
# Others may keep this machine busy for longer than an operator would be silent.
PATIENT = ["--set", "links.hand.lost_after=5 s"]


class Arm(harness.Case):
    limit_s = 590  # a whole flight, and its replay

    def setUp(self):
        super().setUp()
        if not shutil.which("node") or not (harness.PEERS / "node_modules" / "ws").is_dir():
            self.skipTest("node or tools/peers/node_modules is missing; tools/test installs them")
        self.log, self.report = self.dir / "run.mcap", self.dir / "report.json"

    def fly(self, script, *arguments, scenario=RMS, kind="ws", timeout=280):
        """What the script printed of its flight, and the report of the run."""
        run = self.start("run", scenario, "--serve", "0", "--seconds", "600", "--log", self.log, "--report",
                         self.report, *PATIENT)
        try:
            address = re.search(r"live on http(://\S+)", next(line for line in run.stderr if "live on" in line))
            done = subprocess.run([*harness.NODE, harness.ROOT / "tests/scenario" / script, kind + address[1],
                                   *arguments], capture_output=True, text=True, timeout=timeout)
        finally:
            run.terminate()
            out, err = run.communicate(timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr + err)
        self.assertIn("interrupted by SIG", out)
        return json.loads(done.stdout), self.read_report(self.report)

    def assert_replays(self, report):
        code, out, err = self.call("replay", self.log)
        self.assertEqual(code, 0, out + err)
        compared, frames = map(int, re.search(r"(\d+) of (\d+) frames compared, all identical", out).groups())
        self.assertEqual(frames, report["frames"])
        self.assertGreaterEqual(compared + report["log"]["dropped"], frames)  # a busy disk may lose some, and counts
        self.assertIn(report["state_hash"], out)

    def test_a_scripted_operator_picks_the_satellite_and_places_it(self):
        saw, report = self.fly("arm/arm_operator.mjs")
        print("flight", json.dumps(saw))
        self.assertLess(saw["gap"]["reach"], 0.1)
        self.assertGreater(saw["carried"], 0.5)
        arm = report["arm"]
        self.assertEqual((arm["grapples"], arm["releases"], arm["refused"]), (1, 1, 0))
        self.assertIn("satellite", arm["latched"])
        self.assertGreater(report["loop_latency_ns"]["count"], 50)
        self.assert_replays(report)

    def test_a_person_at_the_page_takes_the_satellite_and_lets_it_go(self):
        if not harness.HAS_BROWSER:
            self.skipTest("chromium, node or playwright-core is missing; tools/test installs them")
        saw, report = self.fly("live/cockpit_fly.mjs", self.dir / "shot.png", kind="http")
        print("delays", json.dumps(saw["delays"]))
        self.assertEqual(saw["complaints"], [])
        moved = [b - a for a, b in zip(saw["start"]["pose"], saw["there"]["pose"])]
        self.assertLess(moved[2], -0.4)  # the hand's x points down
        self.assertLess(abs(moved[0]) + abs(moved[1]), 0.05)
        lifted = [b - a for a, b in zip(saw["taken"]["pose"], saw["lifted"]["pose"])]
        self.assertGreater(lifted[2], 0.4)
        self.assertLess(abs(lifted[0]) + abs(lifted[1]), 0.05 + 0.1 * lifted[2])
        self.assertGreater(saw["colours"], 200, "orbiter, arm and satellite are in the picture")
        self.assertGreater(saw["delays"]["picture"]["count"], 2)
        self.assertGreater(saw["delays"]["motion"]["count"], 2)
        for event in ("grappled satellite", "released satellite", "the arm is safed"):
            self.assertTrue(any(event in line for line in saw["events"]), f"{event}: {saw['events']}")
        arm = report["arm"]
        self.assertEqual((arm["grapples"], arm["releases"], arm["latched"]), (1, 1, ["module"]))
        self.assert_replays(report)


if __name__ == "__main__":
    harness.main()
