#!/usr/bin/env python3
"""A hand over a link with a long delay, and the predictor that shows what it will have done."""
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
from test_hand_controller import HAND, picture, tape

PEER = harness.ROOT / "tests" / "scenario" / "live" / "live_peer.mjs"
HAS_PEERS = shutil.which("node") and (harness.PEERS / "node_modules" / "ws").is_dir()
DELAY = 0.5


def moves(seconds):
    """A hand that never rests."""
    return [(0.01 * i, picture(x=math.sin(0.05 * i), y=0.7 * math.cos(0.03 * i), twist=math.sin(0.02 * i)))
            for i in range(round(100 * seconds))]


def angle(a, b):
    """Between two attitudes, rad."""
    w = abs(sum(a[k] * b[k] for k in "wxyz"))
    return 2.0 * math.acos(min(1.0, w))


class Ghost(harness.Case):
    def options(self, seconds, *more):
        path = self.dir / "hand.tape"
        path.write_bytes(tape(moves(60)))
        return ["--set", "links.hand.bus=tape", "--set", f"links.hand.device={path}",
                "--set", f"links.hand.delay={DELAY} s", "--seconds", str(seconds), *more]

    def assert_replays(self, log, report):
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("all identical", out)
        self.assertIn(report["state_hash"], out)

    def test_what_a_hand_does_comes_later_and_replays(self):
        log = self.dir / "run.mcap"
        report = self.run_scenario(HAND, *self.options(2, "--log", log))
        self.assertEqual(report["links"][0]["delay_ns"], DELAY * 1e9)
        self.assertIsNone(report["predictor"])
        self.assert_replays(log, report)
        # Where commands are on their way for so long, most of that is waiting.
        latency = report["loop_latency_ns"]
        self.assertGreater(latency["count"], 20)
        self.assertGreater(latency["grid_wait"]["p50"], 0.9 * DELAY * 1e9)
        self.assertGreaterEqual(latency["max"], latency["grid_wait"]["max"])

    def test_the_loss_of_the_link_comes_as_much_later(self):
        path = self.dir / "short.tape"
        path.write_bytes(tape([(0.0, picture(x=1.0)), (0.2, picture(x=1.0))]))
        log = self.dir / "run.mcap"
        report = self.run_scenario(HAND, *self.options(1.5, "--log", log), "--set",
                                   f"links.hand.device={path}")
        self.assertEqual(report["links"][0]["losses"], 1)
        self.assert_replays(log, report)
        # Heard in the first frame, and gone before the first command has come.
        first, *others, loss = self.inputs(log)
        self.assertEqual((int(first["frame"]), int(first["kind"])), (500, 0))
        self.assertEqual(int(loss["kind"]), 1)
        self.assertGreater(int(loss["frame"]), 500)
        self.assertEqual([int(i["kind"]) for i in others], [0] * len(others))

    def inputs(self, log):
        path = self.dir / "input.csv"
        code, out, err = self.call("log", "export", log, "--csv", path, "--channel", "/input")
        self.assertEqual(code, 0, out + err)
        with open(path) as file:
            names = [name.split(" ")[0] for name in file.readline().strip().split(",")]
            return [dict(zip(names, row)) for row in csv.reader(file)]

    @unittest.skipUnless(HAS_PEERS, "the packages of tools/peers are not installed")
    def test_the_prediction_is_where_the_vehicle_will_be(self):
        log, port, live = self.dir / "run.mcap", harness.free_port(), self.dir / "live.jsonl"
        viewer = self.spawn([*harness.NODE, PEER, "collect", f"ws://127.0.0.1:{port}/?rate=all", live],
                            stdout=subprocess.PIPE, text=True)
        self.assertEqual(viewer.stdout.readline(), "waiting\n")
        report = self.run_scenario(HAND, *self.options(4, "--log", log), "--set", "predictor={rate: 20 Hz}",
                                   "--serve", str(port))
        self.assertEqual(viewer.wait(timeout=60), 0)
        self.check_figures(report)
        self.check_places(live)
        self.assert_replays(log, report)

    def check_figures(self, report):
        predictor = report["predictor"]
        self.assertEqual(predictor["seconds_ahead"], DELAY)
        self.assertGreater(predictor["predictions"], 10)
        self.assertEqual(predictor["cut"], 0)
        self.assertGreater(predictor["speed"], 0)
        self.assertIn("outlook", [job["name"] for job in report["jobs"]])
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)

    def decode(self, live, topic):
        done = harness.node(PEER, "decode", live, topic, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check_places(self, live):
        """By /plant, which has the attitude of every frame, and by /tf, which is drawn."""
        real = {line["time"]: dict(zip("wxyz", line["message"]["q"][3:7])) for line in self.decode(live, "/plant")}
        drawn = {line["time"]: line["message"]["transforms"][0] for line in self.decode(live, "/tf")}
        ghosts = self.decode(live, "/tf/ghost")
        checked = near = 0
        turned = []
        for line in ghosts:
            (ghost,) = line["message"]["transforms"]
            self.assertEqual((ghost["parent_frame_id"], ghost["child_frame_id"]), ("world", "bus"))
            then = line["time"] + round(DELAY * 1e9)
            if then in real:
                checked += 1
                self.assertLess(angle(ghost["rotation"], real[then]), 1e-7)
                if line["time"] in real:
                    turned.append(angle(ghost["rotation"], real[line["time"]]))
            for time, place in drawn.items():
                if abs(time - then) < 20e6: # the rate is at most some degrees a second
                    near += 1
                    self.assertLess(angle(ghost["rotation"], place["rotation"]), math.radians(1.0))
        self.assertGreater(checked, 10)
        self.assertGreater(near, 10)
        self.assertGreater(max(turned), math.radians(0.5), "nothing to predict: the satellite stood still")

    def test_check_reports_the_predictor_and_its_cost(self):
        code, out, _ = self.call("check", HAND)
        self.assertEqual(code, 0)
        self.assertNotIn("outlook", out)
        code, out, _ = self.call("check", HAND, "--set", "predictor={ahead: 1 s}")
        self.assertEqual(code, 0)
        self.assertIn("predictor 1 s ahead, 10 times a second", out)
        self.assertIn("a prediction copies it, too", out)


if __name__ == "__main__":
    harness.main()
