"""How a run ends, and that it says so: its controller is gone, its board fell silent, it was interrupted."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import harness

BOARD = harness.AIRBEARING.parent / "board"
LOCKSTEP = harness.SCENARIOS / "quad-px4-lockstep.yaml"
# A machine that stands still for a second keeps the board from its reply for as long.
PATIENT = ("--set", "links.board.wait_limit=20 s")


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Endings(harness.Case):
    def controller(self, *command, port):
        return ["--set", f"links.board.listen=127.0.0.1:{port}",
                "--set", f"controller.command={json.dumps([str(word) for word in command])}"]

    def board(self, wire, port, *options):
        kind = ("--wire", "px4", "--vehicle", "quad") if wire == "px4" else ()
        return [BOARD, *kind, "--connect", f"127.0.0.1:{port}", *options]

    def without_loss(self, name):
        """A shipped scenario whose links do not say what a loss means."""
        text = (harness.SCENARIOS / name).read_text()
        path = self.dir / name
        path.write_text(re.sub(r"\n *on_loss:[^\n]*", "", text))
        return path

    def test_a_controller_that_exits_ends_the_run(self):
        port = harness.free_port()
        script = f"{subprocess.list2cmdline(map(str, self.board('px4', port, '--die-after', '1')))}; exit 7"
        report = self.run_scenario(LOCKSTEP, "--seconds", "60", *PATIENT,
                                   *self.controller("sh", "-c", script, port=port), expect=3)
        self.assertEqual(report["ended"], "controller_ended")
        self.assertEqual(report["controller"]["ended"], "controller ended, status 7")
        self.assertIn("verdict: controller ended, status 7; the run stopped at frame", self.out)
        self.assertLess(report["frames"], 60000)
        # It did not creep on, a reply that does not come after the other.
        self.assertLessEqual(report["missed_replies"], 1)

    def test_a_controller_that_is_killed_is_named_by_its_signal_in_real_time_too(self):
        port = harness.free_port()
        script = (f"{subprocess.list2cmdline(map(str, self.board('satellite', port)))} & "
                  "sleep 2; kill -9 $!; kill -9 $$")
        report = self.run_scenario(self.without_loss("satellite-board.yaml"), "--seconds", "60",
                                   *self.controller("sh", "-c", script, port=port), expect=3)
        self.assertEqual(report["ended"], "controller_ended")
        self.assertEqual(report["controller"]["ended"], "controller ended, SIGKILL")
        self.assertLess(report["frames"], 60000)

    def test_where_the_file_says_what_a_loss_means_the_run_goes_on_without_creeping(self):
        port = harness.free_port()
        begin = time.monotonic()
        report = self.run_scenario(LOCKSTEP, "--seconds", "20", "--set", "links.board.on_loss=safe",
                                   "--set", "links.board.wait_limit=2 s", "--set", "expect=[]",
                                   *self.controller(*self.board("px4", port, "--die-after", "1"), port=port))
        took = time.monotonic() - begin
        self.assertEqual(report["frames"], 20000)
        self.assertEqual(report["ended"], "complete")
        self.assertTrue(report["controller"]["died_early"])
        [outage] = report["links"][0]["outages"]
        self.assertIsNone(outage["heard_frame"])
        self.assertIn("board: lost at frame", self.out)
        # A wait of two seconds for each of 4500 replies would take hours.
        self.assertLessEqual(report["missed_replies"], 3)
        print(f"{report['seconds_simulated']:g} s in {took:.1f} s")

    def test_a_controller_that_exits_after_the_last_reply_is_no_loss(self):
        port = harness.free_port()
        # It answers until it hears the farewell, and is then gone at once.
        report = self.run_scenario(LOCKSTEP, "--seconds", "0.5", *PATIENT,
                                   *self.controller(*self.board("px4", port), port=port))
        self.assertEqual(report["ended"], "complete")

    def test_what_a_controller_has_started_ends_with_it(self):
        port, notes = harness.free_port(), self.dir / "pids"
        board = subprocess.list2cmdline(map(str, self.board("px4", port)))
        # One of its group, one of a session of its own, one whose parent is gone: all would stay for an hour.
        script = (f"sleep 3600 & echo $! >{notes}; setsid sh -c 'echo $$ >>{notes}; exec sleep 3600' & "
                  f"(setsid sh -c 'echo $$ >>{notes}; exec sleep 3600' &); {board}; exit 0")
        self.run_scenario(LOCKSTEP, "--seconds", "1", *PATIENT, "--set", "expect=[]",
                          *self.controller("sh", "-c", script, port=port), expect=None)
        pids = [int(word) for word in notes.read_text().split()]
        self.assertEqual(len(pids), 3)
        left = [pid for pid in pids if is_alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [])

    def silence(self, scenario, pace, *options):
        """A run with a board of somebody else's that stands still for a while; its report."""
        port, log, path = harness.free_port(), self.dir / "run.mcap", self.dir / "report.json"
        wire = "px4" if scenario == LOCKSTEP else "satellite"
        run = self.start("run", scenario, "--seconds", "3600", "--pace", pace, "--external-board", "--log", log,
                         "--report", path, "--set", f"links.board.listen=127.0.0.1:{port}", "--set",
                         "links.board.lost_after=200 ms", "--set", "links.board.wait_limit=300 ms",
                         "--set", "expect=[]", *options)
        board = self.spawn(self.board(wire, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(harness.wait_until(lambda: log.exists() and log.stat().st_size > 300000))
        board.send_signal(signal.SIGSTOP)
        time.sleep(3)
        board.send_signal(signal.SIGCONT)
        size = log.stat().st_size
        self.assertTrue(harness.wait_until(lambda: log.stat().st_size > size + 1000000))
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out + err)
        self.out = out
        return self.read_report(path), log

    def assert_taken_up(self, report, log):
        outages = report["links"][0]["outages"]
        self.assertTrue(any(each["heard_frame"] for each in outages), outages)
        for each in outages:
            if each["heard_frame"] is not None:
                self.assertGreater(each["heard_frame"], each["lost_frame"])
        self.assertIn("board: lost at frame", self.out)
        self.assertIn("verdict: interrupted by SIGINT after frame", self.out)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)

    def test_a_board_that_falls_silent_and_speaks_again_is_taken_up(self):
        self.assert_taken_up(*self.silence(harness.SATELLITE, "real"))

    def test_the_same_in_lockstep(self):
        self.assert_taken_up(*self.silence(LOCKSTEP, "lockstep"))


if __name__ == "__main__":
    harness.main()
