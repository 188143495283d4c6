"""How a run begins, or cannot, and how it ends when its frames do not come back; and what its ground station receives."""
import json
import pathlib
import re
import signal
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log
from live.test_viewer_messages import RMS, Viewer

SAID, ACCEPTED, NO_ANSWER = 0, 2, 255


class Begun(harness.Case):
    def refused(self, scenario, *options):
        """What is said by a run that cannot begin, and leaves nothing behind."""
        log, report = self.dir / "x.mcap", self.dir / "x.json"
        done, out, err = self.call("run", scenario, "--seconds", "0.01", "--log", log, "--report", report, *options)
        self.assertEqual((done, out), (2, ""), err)
        self.assertFalse(log.exists() or report.exists(), "nothing is left behind")
        return err

    def test_a_link_whose_port_is_taken(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            said = self.refused(harness.SATELLITE, "--set", f"links.board.listen=127.0.0.1:{port}")
        self.assertEqual(said, f"{harness.SATELLITE}: links.board.listen: port {port} is in use (another run?); choose "
                               "another port\n")

    def test_sync_pulses_without_a_device_are_refused(self):
        given = f"pulse={{device: {self.dir}/none}}"
        said = self.refused(harness.TUMBLE, "--set", given)
        self.assert_one_line(said, f"--set {given}: pulse.device: there is no device {self.dir}/none; ")
        scenario = self.dir / "pulse.yaml"
        scenario.write_text(f"{harness.TUMBLE.read_text()}\npulse:\n  device: {self.dir}/none\n")
        line = scenario.read_text().splitlines().index("pulse:") + 2
        for options in ((), ("--set", "pulse.every=2")):
            said = self.refused(scenario, *options)
            self.assert_one_line(said, f"{scenario}:{line}:3: pulse.device: there is no device {self.dir}/none; ")

    def test_what_was_there_stays_when_no_board_comes(self):
        """And what was not is not left."""
        log, report = self.dir / "x.mcap", self.dir / "x.json"
        options = ("--external-board", "--set", f"links.board.listen=127.0.0.1:{harness.free_port()}",
                   "--set", "links.board.connect_within=50 ms", "--log", log, "--report", report)
        done, _, err = self.call("run", harness.SATELLITE, *options)
        self.assertEqual(done, 3, err)
        self.assertFalse(log.exists() or report.exists())
        log.write_text("")
        report.write_text("mine")
        self.assertEqual(self.call("run", harness.SATELLITE, *options)[0], 3)
        self.assertEqual((log.read_text(), report.read_text()), ("", "mine"))

    def test_a_hand_link_whose_page_is_not_served_is_reported(self):
        done, _, err = self.call("run", RMS, "--seconds", "0.01")
        self.assertEqual(done, 0, err)
        self.assertIn("links.hand: the page that commands this link is not served; give --serve PORT\n", err)
        done, _, err = self.call("run", RMS, "--seconds", "0.01", "--serve", "0")
        self.assertEqual(done, 0, err)
        self.assertNotIn("nobody can fly it", err)

    # ---- frames that do not come back

    def hang(self, scenario, inject, *options):
        report = self.run_scenario(scenario, "--seconds", "3600", "--inject", inject, "--set", "frame.watchdog=50 ms",
                                   *options, expect=3)
        self.assertEqual(report["ended"], "hung")
        self.assertIn("verdict: the frame thread hung, or was kept off its core, after frame", self.out)
        return report

    def test_a_frame_that_is_merely_late_ends_the_run_in_order(self):
        report = self.hang(harness.TUMBLE, "late=300ms@0.02s")
        self.assertIsNotNone(report["drift_ppm"])
        self.assertLess(report["frames"], 3600000)

    def test_a_frame_that_never_ends_ends_the_run(self):
        self.hang(harness.SATELLITE, "hang@0.02s", *self.board_options())
        self.assertIn("simulator in emergency", self.out)
        self.hang(harness.TUMBLE, "hang@0.02s")

    # ---- the ground station

    def test_what_a_ground_station_sends_and_receives_is_recorded_and_reported(self):
        """The board decides when it reads the command; until then it is sent again."""
        log, port = self.dir / "run.mcap", harness.free_port()
        line = f"127.0.0.1:{harness.free_port()}"
        command = ["board", "--wire", "ardupilot", "--connect", f"127.0.0.1:{port}", "--ground", line]
        run = self.start("run", harness.SCENARIOS / "quad-ardupilot.yaml", "--pace", "lockstep", "--seconds", "3600",
                         "--serve", "0", "--log", log, "--set", f"links.board.listen=127.0.0.1:{port}",
                         "--set", f"links.board.ground_line={line}", "--set", "links.board.wait_limit=60 s",
                         "--set", f"controller.command={json.dumps(command)}", "--set",
                         "links.board.ground=[{at: 0.1 s, mode: guided}, {at: 0.2 s, arm: true}]")
        found = re.search(r"live on http://127.0.0.1:(\d+)/\?operator=(\w+)\n", run.stderr.readline())
        viewer = Viewer(int(found[1]), f"/?operator={found[2]}")
        self.addCleanup(viewer.line.connection.close)
        ends = [(2, "airbearing", "board: ground mode guided: accepted"), (2, "airbearing", "board: ground arm: accepted")]
        viewer.until(lambda: ends[1] in viewer.events)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out + err)
        told = [event for event in viewer.events if "accepted" in event[2]]
        self.assertEqual(told, ends[-len(told):])
        records = [record for topic, record in raw_log.messages(log) if topic == "/ground"]
        rows = [(int.from_bytes(record[:8], "little"), *record[8:12]) for record in records]
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        for step in (0, 1):
            mine = [row for row in rows if row[2] == step]
            frame, *first = mine[0]
            self.assertEqual(first, [0, step, SAID, NO_ANSWER])
            self.assertGreaterEqual(frame, 100 * (step + 1))
            self.assertEqual(mine[-1][1:], (0, step, ACCEPTED, 0))


if __name__ == "__main__":
    harness.main()
