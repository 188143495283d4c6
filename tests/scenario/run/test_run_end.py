"""How a run ends, and that it says so: its controller is gone, its board stopped sending, it was interrupted."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
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
        # The script of its ground station begins at 12 s, and would not be accepted.
        report = self.run_scenario(LOCKSTEP, "--seconds", "11", "--set", "links.board.on_loss=safe",
                                   "--set", "links.board.wait_limit=2 s", "--set", "expect=[]",
                                   *self.controller(*self.board("px4", port, "--die-after", "1"), port=port))
        took = time.monotonic() - begin
        self.assertEqual(report["frames"], 11000)
        self.assertEqual(report["ended"], "complete")
        self.assertTrue(report["controller"]["died_early"])
        [outage] = report["links"][0]["outages"]
        self.assertIsNone(outage["heard_frame"])
        self.assertIn("board: lost at frame", self.out)
        # A wait of two seconds for each of 2500 replies would take hours.
        self.assertLessEqual(report["missed_replies"], 3)
        print(f"{report['seconds_simulated']:g} s in {took:.1f} s")

    def test_a_controller_that_exits_after_the_last_reply_is_no_loss(self):
        port = harness.free_port()
        # It answers until it receives the farewell, and is then gone at once.
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

    def silence(self, scenario, pace, *options, machine=False):
        """A run with a foreign board that stands still for a while, or the whole machine with it; its
        report."""
        port, log, path = harness.free_port(), self.dir / "run.mcap", self.dir / "report.json"
        wire = "px4" if scenario == LOCKSTEP else "satellite"
        run = self.start("run", scenario, "--seconds", "3600", "--pace", pace, "--external-board", "--log", log,
                         "--report", path, "--set", f"links.board.listen=127.0.0.1:{port}", "--set",
                         "links.board.lost_after=200 ms", "--set", "links.board.wait_limit=300 ms",
                         "--set", "expect=[]", *options)
        board = self.spawn(self.board(wire, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(harness.wait_until(lambda: log.exists() and log.stat().st_size > 300000))
        for process in (board, run) if machine else (board,):
            process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        for process in (run, board) if machine else (board,):
            time.sleep(0.05)  # the run is awake before its board has answered
            process.send_signal(signal.SIGCONT)
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

    def test_a_board_that_stops_sending_and_sends_again_is_accepted(self):
        self.assert_taken_up(*self.silence(harness.SATELLITE, "real"))

    def test_the_same_in_lockstep(self):
        self.assert_taken_up(*self.silence(LOCKSTEP, "lockstep"))

    def test_a_machine_that_stood_still_loses_no_board_in_lockstep(self):
        report, _ = self.silence(LOCKSTEP, "lockstep", "--set", "links.board.wait_limit=2 s", machine=True)
        self.assertEqual(report["links"][0]["outages"], [])
        self.assertEqual(report["missed_replies"], 0)
        self.assertEqual(report["io"]["losses"], 0)


class Verdict(harness.Case):
    overwrites = False

    def first_line(self):
        return self.out.split("\n")[0]

    def late_run(self, *options, expect=0):
        log = self.dir / "run.mcap"
        return self.run_scenario(harness.TUMBLE, "--seconds", "1", "--inject", "late=300ms@0.5s", "--log", log,
                                 "--overwrite", *options, expect=expect), log

    def test_a_late_run_is_ok_and_its_first_line_says_what_was_not_kept(self):
        report, log = self.late_run()
        self.assertRegex(self.first_line(), r"real pace: ok, time not kept")
        self.assertIn("verdict: ok, time not kept", self.out)
        verdict = report["verdict"]
        self.assertTrue(verdict["ok"])
        self.assertEqual((verdict["time"]["kept"], verdict["time"]["required"]), (False, False))
        self.assertEqual({name for name in ("physics", "expectations", "time", "link", "log")
                          if not verdict[name]["kept"]} - {"log"}, {"time"})
        code, out, err = self.call("timing", log)
        self.assertEqual(code, 1, out + err)
        self.assertIn("NOT KEPT", out)

    def test_a_late_run_is_a_no_where_time_is_required(self):
        report, _ = self.late_run("--set", "require.time=kept", expect=1)
        self.assertRegex(self.first_line(), r"NO, time not kept")
        self.assertFalse(report["verdict"]["ok"])
        self.assertEqual(report["verdict"]["exit_code"], 1)
        self.assertTrue(report["verdict"]["time"]["required"])

    def test_run_and_timing_agree_on_time(self):
        log = self.dir / "run.mcap"
        report = self.run_scenario(harness.TUMBLE, "--seconds", "2", "--log", log)
        found = json.loads(self.call("timing", log, "--json")[1])
        if report["log"]["dropped"] == 0:
            self.assertEqual(found["kept"], report["verdict"]["time"]["kept"], found["reasons"])

    def test_a_broken_link_is_reported_and_fails_the_run_where_it_is_required(self):
        dies = ["--seconds", "2", "--set", "expect=[]", *self.board_options("--die-after", "0.5")]
        report = self.run_scenario(harness.SATELLITE, *dies)
        self.assertRegex(self.first_line(), r": ok.*, link broken")
        self.assertIn("controller ended, status 0", report["verdict"]["link"]["text"])
        report = self.run_scenario(harness.SATELLITE, *dies, "--set", "require.link=unbroken", expect=1)
        self.assertRegex(self.first_line(), r": NO.*, link broken")

    def test_a_log_and_expectations_can_be_required(self):
        fast = ("--seconds", "0.5", "--pace", "fast")
        self.run_scenario(harness.TUMBLE, *fast, "--set", "require.log=complete", expect=1)
        self.assertIn("log not complete", self.first_line())
        report = self.run_scenario(harness.TUMBLE, *fast, "--set", "require.log=complete", "--log",
                                   self.dir / "run.mcap")
        self.assertEqual(report["verdict"]["text"], "ok")
        late = ("--set", "expect=[rate > 0 deg/s after 5 s]")
        report = self.run_scenario(harness.TUMBLE, *fast, *late)
        self.assertEqual(report["verdict"]["text"], "ok so far")
        self.run_scenario(harness.TUMBLE, *fast, *late, "--set", "require.expectations=reached", expect=1)

    def test_what_is_wrong_in_require_is_one_line_with_its_place(self):
        scenario = self.dir / "mine.yaml"
        for text, part in (("require: {time: maybe}", "kept"), ("require: {tiem: kept}", "time"),
                           ("physics: {max_speed: -1 m/s}", "max_speed")):
            scenario.write_text(harness.TUMBLE.read_text() + f"\n{text}\n")
            code, out, err = self.call("check", scenario)
            self.assertEqual(code, 2)
            self.assert_one_line(err, part)
            self.assertRegex(err, r"mine\.yaml:\d+:\d+: ")

    def test_a_log_is_never_overwritten_unasked(self):
        log = self.dir / "run.mcap"
        fast = ("run", harness.TUMBLE, "--seconds", "0.1", "--pace", "fast", "--log")
        self.assertEqual(self.call(*fast, log)[0], 0)
        before = log.read_bytes()
        code, out, err = self.call(*fast, log)
        self.assertEqual(code, 2)
        self.assert_one_line(err, "--log", str(log), "--overwrite")
        self.assertEqual(log.read_bytes(), before)
        self.assertEqual(self.call(*fast, log, "--overwrite")[0], 0)
        self.assertNotEqual(log.read_bytes(), before)
        empty = self.dir / "empty.mcap"
        empty.touch()
        self.assertEqual(self.call(*fast, empty)[0], 0)
        self.assertEqual(self.call(*fast, "/dev/null")[0], 0)

    def test_a_report_is_replaced_as_a_whole(self):
        report = self.dir / "report.json"
        report.write_text("old")
        with open(report) as held:
            self.run_scenario(harness.TUMBLE, "--seconds", "0.1", "--pace", "fast")
            self.assertEqual(held.read(), "old")  # who has it open reads what was there
        self.assertEqual([path.name for path in self.dir.iterdir()], ["report.json"])

    def test_a_state_that_blew_up_is_a_no_with_the_frame_and_the_body(self):
        report = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--pace", "fast", "--set",
                                   "physics.max_speed=0.01 m/s", expect=1)
        self.assertIn("physics not sound", self.first_line())
        self.assertEqual(report["unsound"]["what"], "speed")
        self.assertIn(f"from frame {report['unsound']['frame']} on", self.out)
        self.assertIn(report["unsound"]["body"], self.out)
        report = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--pace", "fast")
        self.assertIsNone(report["unsound"])
        self.assertTrue(report["verdict"]["physics"]["kept"])


if __name__ == "__main__":
    harness.main()
