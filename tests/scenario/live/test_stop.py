#!/usr/bin/env python3
"""A stop, and the end of a run, with everything in the way that may stand there."""
import contextlib
import json
import os
import pathlib
import re
import signal
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log
import test_authority as authority
import run.test_faults as faults

SAFE_ACT = 8
VIEWERS = 60
ALL_CHILDREN = 0x40000000


def acts(log):
    """frame, ordinal, counted, value, index, act of what the operator did."""
    return [struct.unpack_from("<QQQdIB", payload) for topic, payload in raw_log.messages(log)
            if topic == "/operator"]


class Flood(threading.Thread):
    """Comes in, says far too much, is let go, and comes again."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.over, self.rounds = port, threading.Event(), 0
        self.start()

    def run(self):
        while not self.over.is_set():
            try:
                client = authority.Client(self.port)
                for _ in range(5000):
                    client.send({"op": "subscribe", "subscriptions": []})
                client.close()
            except (OSError, EOFError, authority.Refused):
                pass
            self.rounds += 1


class Stop(harness.Case):
    client, end = authority.Authority.client, authority.Authority.end

    def serve(self, scenario, *options):
        """A run whose checkpoints are kept in the test's folder, its port and the operator's query."""
        report = self.dir / "report.json"
        run = self.start("run", scenario, "--serve", "0", "--report", report, *options, cwd=self.dir)
        run.report = report
        line = run.stderr.readline()
        found = re.fullmatch(r"live on http://127\.0\.0\.1:(\d+)/(\?\S+)\n", line)
        self.assertTrue(found, line)
        return run, int(found[1]), found[2]

    @contextlib.contextmanager
    def disk_stands(self, run):
        """As long as this lasts, the thread that writes checkpoints hangs, as in a call that the disk
        does not answer.  False where no tracer is permitted."""
        self.assertTrue(harness.begun(run))  # the frame thread, which is started after the other
        thread = harness.begun(run, "files")
        with faults.standing_still(thread) as stands:
            yield stands
        with contextlib.suppress(ChildProcessError):
            os.waitpid(thread, ALL_CHILDREN)  # one that ended with its run while it was traced

    def assert_stopped_in_time(self, log):
        """Of the frames that began after a stop was raised at most one runs before it; one more may
        have been under way."""
        starts = {row[0]: row[2] for row in raw_log.frames(log)}
        stops = [row for row in acts(log) if row[5] == SAFE_ACT]
        self.assertGreater(len(stops), 0)  # some are read as one
        for before, _, _, raised_ns, _, _ in stops:
            late = [k for k in range(max(0, before - 1000), before) if starts.get(k, 0) > raised_ns]
            self.assertLessEqual(len(late), 1, (before, raised_ns, late))

    def test_a_stop_comes_within_two_frames_under_any_load(self):
        log = self.dir / "stop.mcap"
        run, port, query = self.serve(authority.RMS, "--seconds", "3600", "--log", log, "--set",
                                      "links.hand.lost_after=3600 s")
        pilot, other = self.client(port, query), self.client(port, query)
        for _ in range(VIEWERS - 3):
            self.client(port).subscribe("/plant")
        other.wait(op="binary 2")  # frames run
        flood = Flood(port)
        with self.disk_stands(run) as stands:
            for _ in range(70):  # the first waits for the disk, the others for the first
                pilot.calls += 1
                pilot.send(b"\2" + struct.pack("<III", pilot.services["/checkpoint"], pilot.calls, 4)
                           + b"json" + json.dumps({"path": "a.checkpoint"}).encode())
            if stands:
                self.assertIn("too many", pilot.wait(op="serviceCallFailure")["message"])
            self.assertTrue(harness.wait_until(lambda: flood.rounds > 0))
            for _ in range(5):
                done, said = other.call("/safe")
                self.assertTrue(done, said)
        flood.over.set()
        report, text = self.end(run)
        self.assertTrue(report["arm"]["safed"], text)
        self.assert_stopped_in_time(log)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn(report["state_hash"], out)

    def test_a_stop_works_in_a_pause(self):
        log = self.dir / "pause.mcap"
        run, port, query = self.serve(authority.RMS, "--seconds", "3600", "--log", log)
        pilot = self.client(port, query)
        pilot.wait(op="binary 2")  # frames run
        self.assertTrue(pilot.call("/pause")[0])
        frames = {said.rsplit(" ", 1)[1] for done, said in (pilot.call("/safe"), pilot.call("/safe"))
                  if done}
        self.assertEqual(len(frames), 1)  # both before the frame that is held back
        report, text = self.end(run)
        self.assertTrue(report["arm"]["safed"], text)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)

    def test_a_pilot_that_is_gone_stops_the_arm_at_once(self):
        run, port, query = self.serve(authority.RMS, "--seconds", "3600", "--set",
                                      "links.hand.lost_after=3600 s")
        pilot, other = self.client(port, query), self.client(port, query)
        other.subscribe("/log")
        pilot.take_stick()
        pilot.wait(op="binary 2")
        pilot.move(authority.picture())
        other.event("link hand is heard")  # how it stands at first is no press
        pilot.move(authority.picture(buttons=authority.TOOL))
        pilot.move(authority.picture(x=0.5))
        other.event("mode end-effector")
        pilot.close()
        other.event("the arm is safed")
        report, text = self.end(run)
        self.assertEqual((report["arm"]["mode"], report["arm"]["safed"]), ("hold", True), text)

    def test_a_signal_ends_the_links_while_the_disk_stands_still(self):
        log, port = self.dir / "run.mcap", harness.free_port()
        run = self.start("run", harness.SATELLITE, "--seconds", "3600", "--log", log, "--act",
                         f"1s:checkpoint {self.dir}/a", *self.board_options(port=port))
        with self.disk_stands(run) as stands:
            if not stands:
                self.skipTest("no tracer is permitted here")
            self.assertTrue(harness.wait_until(lambda: log.exists() and log.stat().st_size > 1000000))
            self.assertFalse(harness.is_free(port))
            run.send_signal(signal.SIGTERM)
            self.assertTrue(harness.wait_until(lambda: harness.is_free(port)))
            self.assertIsNone(run.poll())  # it waits for the disk, but the board does not
        out, err = run.communicate(timeout=60)
        self.assertTrue((self.dir / "a").exists(), out + err)

    def test_a_frame_that_hangs_is_found_while_the_disk_stands_still(self):
        self.patient = False
        report = self.dir / "report.json"
        run = self.start("run", harness.TUMBLE, "--seconds", "3600", "--inject", "hang@3s", "--act",
                         f"2s:checkpoint {self.dir}/a", "--report", report)
        with self.disk_stands(run) as stands:
            if not stands:
                self.skipTest("no tracer is permitted here")
            self.assertTrue(harness.wait_until(lambda: report.exists() and report.stat().st_size > 0,
                                               120))
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3, out + err)
        self.assertIn("the disk did not answer", out)
        told = json.loads(report.read_text())
        self.assertEqual((told["ended"], told["operator"]["failed"]), ("hung", 1))
        self.assertTrue(told["operator"]["files_hung"])


if __name__ == "__main__":
    harness.main()
