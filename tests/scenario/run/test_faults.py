"""What goes wrong on a bench, one test each: nothing hangs, and nothing is lost that was reported."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness


def heartbeat(sequence=0):
    """A MAVLink 2 HEARTBEAT of a board, written from the wire format."""
    payload = struct.pack("<IBBBBB", 0, 2, 12, 0x21, 4, 3)
    head = bytes([len(payload), 0, 0, sequence & 255, 1, 1, 0, 0, 0])
    crc = 0xFFFF
    for byte in head + payload + bytes([50]):
        mixed = (byte ^ crc) & 0xFF
        mixed = (mixed ^ mixed << 4) & 0xFF
        crc = (crc >> 8 ^ mixed << 8 ^ mixed << 3 ^ mixed >> 4) & 0xFFFF
    return b"\xfd" + head + payload + struct.pack("<H", crc)


@contextlib.contextmanager
def standing_still(thread):
    """One thread of a run does nothing, the others go on; False where a tracer is not permitted."""
    seize, interrupt, detach = 0x4206, 0x4207, 17
    all_children = 0x40000000

    def trace(request):
        return ctypes.CDLL(None).ptrace(request, thread, None, None) == 0
    stands = trace(seize) and trace(interrupt)
    if stands:
        os.waitpid(thread, all_children)
    try:
        yield stands
    finally:
        if stands:
            trace(detach)


class Faults(harness.Case):
    def satellite(self, *options, port=None, board=()):
        return ["run", harness.SATELLITE, "--report", self.dir / "report.json",
                *self.board_options(*board, port=port), *options]

    def report(self):
        return self.read_report(self.dir / "report.json")

    def has_grown(self, log):
        """By more than a second of this run, which makes some 550 kB."""
        return log.exists() and log.stat().st_size > 800000

    def test_a_port_in_use_is_one_line_and_exit_2(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            code, out, err = self.call(*self.satellite(port=port))
        self.assertEqual(code, 2)
        self.assert_one_line(err, str(port), "links.board")
        self.assertFalse((self.dir / "report.json").exists())

    def test_no_board_is_one_line_and_exit_3(self):
        log = self.dir / "run.mcap"
        code, out, err = self.call(*self.satellite("--external-board", "--log", log, "--set",
                                                   "links.board.connect_within=300 ms"))
        self.assertEqual(code, 3)
        self.assert_one_line(err, "no message from a board")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_a_controller_that_cannot_be_started_is_exit_2(self):
        code, out, err = self.call("run", harness.SATELLITE, "--set", "controller.command=[no-such-board]",
                                   "--set", f"links.board.listen=127.0.0.1:{harness.free_port()}")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "controller", "no-such-board")

    def test_a_board_that_dies_zeroes_the_controls_and_the_run_goes_on(self):
        log = self.dir / "run.mcap"
        code, out, err = self.call(*self.satellite("--seconds", "3", "--log", log,
                                                   board=("--die-after", "1")))
        self.assertEqual(code, 0, out + err)
        report = self.report()
        self.assertEqual(report["frames"], 3000)
        self.assertGreaterEqual(report["io"]["losses"], 1)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)

    def test_a_board_that_dies_stops_the_run_where_the_scenario_says_so(self):
        code, out, err = self.call(*self.satellite("--seconds", "10", "--set", "links.board.on_loss=stop",
                                                   board=("--die-after", "1")))
        self.assertEqual(code, 3, out + err)
        report = self.report()
        self.assertEqual(report["ended"], "link_lost")
        self.assertLess(report["frames"], 10000)

    def test_sigterm_ends_the_run_with_log_and_report_complete(self):
        log = self.dir / "run.mcap"
        process = self.start(*self.satellite("--seconds", "60", "--log", log))
        self.assertTrue(harness.wait_until(lambda: self.has_grown(log)))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("verdict: interrupted by SIGTERM after frame", out)
        report = self.report()
        self.assertEqual(report["ended"], "signal")
        self.assertGreater(report["frames"], 0)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn(f"{report['frames']} of {report['frames']} frames", out)
        records = harness.count_records(log)
        if records is not None:
            self.assertEqual(records, report["log"]["records"])

    def test_after_sigkill_the_log_replays_up_to_the_last_whole_chunk(self):
        log = self.dir / "run.mcap"
        process = self.start(*self.satellite("--seconds", "60", "--log", log))
        self.assertTrue(harness.wait_until(lambda: self.has_grown(log)))
        process.kill()
        process.communicate(timeout=30)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("cut off", out)
        self.assertGreater(int(re.search(r"replay: (\d+) of", out).group(1)), 500)

    def test_a_hung_frame_thread_invalidates_the_outputs_and_ends_with_3(self):
        self.patient = False
        log = self.dir / "run.mcap"
        for mode in ("threaded", "inline"):
            code, out, err = self.call(*self.satellite("--seconds", "30", "--inject", "hang@1s", "--log",
                                                       log, "--set", f"io.mode={mode}"))
            self.assertEqual(code, 3, out + err)
            self.assertEqual(self.report()["ended"], "hung")
            self.assertIn("simulator in emergency", out)
            code, out, err = self.call("replay", log)
            self.assertEqual(code, 0, out + err)

    def test_the_overrun_policy_stop_ends_with_3(self):
        code, out, err = self.call(*self.satellite("--seconds", "30", "--inject", "late=5ms@1s", "--set",
                                                   "overrun=stop"))
        self.assertEqual(code, 3, out + err)
        report = self.report()
        self.assertEqual(report["ended"], "overrun")
        self.assertEqual(sum(report["overrun_causes"].values()), report["overruns"])
        self.assertIn("simulator in emergency", out)

    def test_a_late_frame_is_counted_and_has_a_cause(self):
        report = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--inject", "late=20ms@0.5s")
        self.assertGreaterEqual(report["overruns"], 1)
        self.assertGreaterEqual(report["missed"], 19)
        self.assertEqual(sum(report["overrun_causes"].values()), report["overruns"])

    @unittest.skipIf(harness.SANITIZED, "sanitizers lock no memory and fault in their own shadow")
    def test_pages_first_touched_in_a_frame_are_counted(self):
        before = self.run_scenario(harness.TUMBLE, "--seconds", "1")
        report = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--inject", "touch=50@0.5s")
        if report["realtime"]["memory_locked"] and not before["page_faults_after_seal"]:
            self.assertEqual(report["page_faults_after_seal"], 50)

    def test_a_full_disk_keeps_what_was_written_readable(self):
        disk = self.dir / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small tmpfs (needs root)")
        self.addCleanup(subprocess.run, ["umount", disk])
        log = disk / "run.mcap"
        code, out, err = self.call(*self.satellite("--seconds", "3", "--log", log))
        self.assertEqual(code, 1, out + err)
        report = self.report()
        self.assertNotEqual(report["log"]["error"], 0)
        self.assertGreater(report["log"]["dropped"], 0)
        self.assertEqual(report["frames"], 3000)
        self.assertIn("the disk refused", out)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        records = harness.count_records(log)
        if records is not None:
            self.assertEqual(records, report["log"]["records"])

    def test_records_that_a_slow_disk_loses_are_reported_and_no_failure(self):
        log = self.dir / "run.mcap"
        run = self.start("run", harness.TUMBLE, "--seconds", "60", "--log", log,
                         "--report", self.dir / "report.json")
        self.assertIsNotNone(harness.begun(run))
        with standing_still(harness.begun(run, "telemetry")) as stands:
            time.sleep(4 if stands else 0)
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=60)
        if not stands:
            self.skipTest("cannot stop a thread (ptrace)")
        self.assertEqual(run.returncode, 130, out + err)
        dropped = self.report()["log"]["dropped"]
        self.assertGreater(dropped, 0)
        self.assertIn(f"{dropped} records were dropped", out)
        self.assertEqual(self.call("log", "info", log)[0], 1)

    def test_a_log_that_cannot_be_created_is_exit_2_before_anything_starts(self):
        code, out, err = self.call(*self.satellite("--log", "/no/such/folder/run.mcap"))
        self.assertEqual(code, 2)
        self.assert_one_line(err, "/no/such/folder/run.mcap")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_a_report_that_cannot_be_created_is_exit_2_before_anything_starts(self):
        log = self.dir / "run.mcap"
        code, out, err = self.call("run", harness.TUMBLE, "--report", "/no/such/folder/report.json",
                                   "--log", log)
        self.assertEqual(code, 2)
        self.assert_one_line(err, "/no/such/folder/report.json")
        self.assertFalse(log.exists())

    def test_a_run_that_never_began_keeps_the_old_log(self):
        log = self.dir / "run.mcap"
        log.write_text("old")
        code, out, err = self.call(*self.satellite("--external-board", "--log", log, "--set",
                                                   "links.board.connect_within=300 ms"))
        self.assertEqual(code, 3)
        self.assertEqual(log.read_text(), "old")

    def test_the_scenario_is_never_overwritten(self):
        scenario = self.dir / "mine.yaml"
        scenario.write_text(harness.TUMBLE.read_text())
        for option in ("--log", "--report"):
            code, out, err = self.call("run", scenario, option, scenario)
            self.assertEqual(code, 2)
            self.assert_one_line(err, option, "scenario")
        self.assertEqual(scenario.read_text(), harness.TUMBLE.read_text())
        same = self.dir / "same"
        code, out, err = self.call("run", scenario, "--log", same, "--report", same)
        self.assertEqual(code, 2)
        self.assertFalse(same.exists())

    def test_a_run_without_a_board_leaves_the_standard_input_alone(self):
        process = self.start("run", harness.TUMBLE, "--pace", "fast", "--seconds", "0.1",
                             stdin=subprocess.PIPE)
        process.stdin.write("SECRET\n")
        process.stdin.flush()  # and the pipe stays open: whoever reads to its end hangs
        try:
            process.wait(timeout=30)
        finally:
            process.kill()
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, out + err)
        self.assertNotIn("SECRET", out)

    def test_a_frame_thread_that_comes_back_ends_in_order(self):
        self.patient = False
        log = self.dir / "run.mcap"
        report = self.run_scenario(harness.TUMBLE, "--seconds", "4", "--inject", "late=800ms@1s",
                                   "--log", log, expect=3)
        self.assertEqual(report["ended"], "hung")
        self.assertIsNotNone(report["drift_ppm"])
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn(f"{report['frames']} of {report['frames']} frames", out)
        self.assertIn(report["state_hash"], out)

    def test_a_board_that_is_slow_in_lockstep_is_not_a_hung_frame_thread(self):
        code, out, err = self.call(*self.satellite("--seconds", "0.508", "--pace", "lockstep", "--set",
                                                   "links.board.wait_limit=1.6 s", "--set",
                                                   "frame.watchdog=1 s", board=("--mute-after", "0.5")))
        self.assertEqual(code, 0, out + err)
        self.assertGreaterEqual(self.report()["missed_replies"], 1)

    def test_a_plant_that_blows_up_is_a_no(self):
        report = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--pace", "fast", "--set",
                                   "bodies.panel.joint.rate=1e160 rad/s", expect=1)
        self.assertGreater(report["not_finite"], 0)
        self.assertIn("not finite from frame", self.out)

    def test_a_board_that_never_commands_is_lost_where_that_must_stop_the_run(self):
        port = harness.free_port()
        process = self.start(*self.satellite("--external-board", "--seconds", "20", "--set",
                                             "links.board.on_loss=stop", port=port))
        board = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(board.close)
        while process.poll() is None:
            board.sendto(heartbeat(), ("127.0.0.1", port))
            time.sleep(0.05)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 3, out + err)
        self.assertEqual(self.report()["ended"], "link_lost")

    def test_a_named_peer_is_sent_to_first(self):
        for mode in ("threaded", "inline"):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as board:
                board.bind(("127.0.0.1", 0))
                board.settimeout(10)
                process = self.start(*self.satellite(
                    "--external-board", "--seconds", "0.2", "--set", f"io.mode={mode}", "--set",
                    f"links.board.peer=127.0.0.1:{board.getsockname()[1]}"))
                data, address = board.recvfrom(300)
                self.assertEqual(data[0], 0xFD)
                board.sendto(heartbeat(), address)
                out, err = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 0, out + err)

    def test_sigterm_before_the_board_spoke_is_one_line(self):
        process = self.start(*self.satellite("--external-board", "--log", self.dir / "run.mcap"))
        harness.begun(process, "io")  # it listens, and knows signals since before that
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assert_one_line(err, "SIGTERM", "nothing was run")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_garbage_from_strangers_does_not_disturb_the_loop(self):
        port = harness.free_port()
        process = self.start(*self.satellite("--seconds", "3", port=port))
        harness.begun(process)
        stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(stranger.close)
        for i in range(200):
            stranger.sendto(os.urandom(1 + i % 300), ("127.0.0.1", port))
            time.sleep(0.01)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        report = self.report()
        self.assertEqual(report["frames"], 3000)
        self.assertGreater(report["io"]["rx_bad"], 0)
        self.assertGreater(report["io"]["commands"], 100)


if __name__ == "__main__":
    harness.main()
