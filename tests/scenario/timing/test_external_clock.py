"""A run against clocks that it does not own: a stopwatch for its sync pulses, a board for its frames."""
import json
import os
import pathlib
import pty
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
import tty
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log

REAL_TIME = unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")
HEAD = "# airbearing stopwatch 1\nsequence,frame,sim_ns,sent_ns,stamp_ns,kernel\n"
SO_TIMESTAMPNS = 35
BODY = "bodies: [{name: bus, joint: free, mass: 120 kg, inertia: 12 14 10 kg m^2}]\n"


def read_pulse(data):
    """A pulse's sequence, frame, sim_ns, sent_ns and whether it is the last, by its documented bytes."""
    if len(data) != 40 or data[:4] != b"ABGP" or zlib.crc32(data[:36]) != struct.unpack("<I", data[36:])[0]:
        return None
    return struct.unpack("<IQQQI", data[4:36])


class Witness:
    """Stamps pulses without a line of the program's own code: the kernel's SO_TIMESTAMPNS."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5)
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]

    def rows(self):
        """All pulses up to the last, which have been waiting in the kernel with their stamps."""
        rows = []
        while True:
            data, control, _, _ = self.socket.recvmsg(256, 256)
            stamp = next(value for level, kind, value in control
                         if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS))
            seconds, nanoseconds = struct.unpack("qq", stamp)
            sequence, frame, sim_ns, sent_ns, last = read_pulse(data)
            if last:
                self.socket.close()
                return rows
            rows.append((sequence, frame, sim_ns, sent_ns, seconds * 10**9 + nanoseconds, 1))


def fit(points):
    """Least squares, by the book."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x)**2 for x, _ in points)


def scenario(folder, text, seconds):
    path = folder / "s.yaml"
    path.write_text(f"name: s\nrate: 1 kHz\nseconds: {seconds}\nframe: {{watchdog: 10 s}}\n{BODY}{text}")
    return path


class Truth(harness.Case):
    @classmethod
    def setUpClass(cls):
        """A run with an independent witness: its log, its report, and what the witness wrote down."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        witness = Witness()
        log, report = folder / "log.mcap", folder / "report.json"
        path = scenario(folder, f"pulse: {{to: '{witness.address}', every: 20}}", 2)
        subprocess.run([harness.AIRBEARING, "run", path, "--log", log, "--report", report], check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        cls.pulsed = log, json.loads(report.read_text()), witness.rows()

    def scenario(self, text, seconds=2):
        return scenario(self.dir, text, seconds)

    def write(self, rows):
        path = self.dir / "stamps.csv"
        path.write_text(HEAD + "".join(",".join(map(str, row)) + "\n" for row in rows))
        return path

    def timing(self, log, *arguments, codes=(0, 1)):
        code, out, err = self.call("timing", log, "--json", *arguments)
        self.assertIn(code, codes, err)
        return json.loads(out) if out else err

    def run_program(self, *arguments):
        code, _, err = self.call("run", *arguments)
        self.assertEqual(code, 0, err)

    def test_an_independent_witness_sees_the_frames_where_the_log_has_them(self):
        log, report, rows = self.pulsed
        frames = {row[0]: dict(zip(("release_ns", "start_ns", "end_ns"), row[1:4])) for row in raw_log.frames(log)}
        self.assertEqual(report["pulse"], {"every": 20, "sent": len(rows), "dropped": 0})
        self.assertEqual([row[1] for row in rows], list(range(0, 2000, 20)))
        for sequence, frame, sim_ns, sent_ns, _, _ in rows:
            self.assertEqual(sim_ns, frame * 10**6)
            self.assertEqual(sequence, frame // 20)
            self.assertGreaterEqual(sent_ns, frames[frame]["start_ns"])
            self.assertLessEqual(sent_ns, frames[frame]["end_ns"])
        truth = self.timing(log, "--truth", self.write(rows))["truth"]
        self.assertEqual((truth["pulses"], truth["lost"], truth["foreign"]), (len(rows), 0, 0))
        self.assertEqual(truth["stamped_by"], "kernel")
        first, last = rows[0], rows[-1]
        self.assertEqual(truth["behind_ns"], last[4] - first[4] - (last[2] - first[2]))
        self.assertEqual(truth["log_behind_ns"], frames[last[1]]["release_ns"] -
                         frames[first[1]]["release_ns"] - (last[2] - first[2]))
        self.assertEqual(truth["log_behind_ns"] % 10**6, 0)
        # No pulse is stamped before its frame was released: one machine, two ways to its wall clock.
        self.assertGreater(truth["offset_ns"], -10**6)
        self.assertLessEqual(truth["ppm_low"], truth["ppm"])
        self.assertLessEqual(truth["ppm"], truth["ppm_high"])

    def test_a_changed_stamp_file_gives_its_drift_and_offset(self):
        log, _, rows = self.pulsed
        frames = {row[0]: dict(zip(("release_ns", "start_ns", "end_ns"), row[1:4])) for row in raw_log.frames(log)}
        origin = frames[0]["release_ns"]
        doctored = []
        for sequence, frame, sim_ns, sent_ns, _, kernel in rows:
            since = frames[frame]["release_ns"] - origin
            doctored.append((sequence, frame, sim_ns, sent_ns, 10**18 + since + since * 250 // 10**6, kernel))
        true_ppm = (1 / (1 + 250e-6) - 1) * 1e6
        truth = self.timing(log, "--truth", self.write(doctored))["truth"]
        self.assertAlmostEqual(truth["ppm"], true_ppm, delta=0.01)
        self.assertLessEqual(truth["jitter_ns"]["max"], 5)
        points = [((row[4] - doctored[0][4]) / 1e9, frames[row[1]]["release_ns"] - origin - (row[4] - doctored[0][4]))
                  for row in doctored]
        self.assertAlmostEqual(truth["ppm"], fit(points) / 1e3, delta=0.01)
        # An offset moves the offset and nothing else.
        moved = [(*row[:4], row[4] + 12345, row[5]) for row in doctored]
        again = self.timing(log, "--truth", self.write(moved))["truth"]
        self.assertAlmostEqual(again["offset_ns"] - truth["offset_ns"], 12345, delta=1)
        self.assertAlmostEqual(again["ppm"], truth["ppm"], delta=1e-6)
        # A pulse taken out is lost, and a late one is the worst.
        late = [(*row[:4], row[4] + (5000000 if row[0] == 40 else 0), row[5]) for row in doctored if row[0] != 7]
        again = self.timing(log, "--truth", self.write(late))["truth"]
        self.assertEqual(again["lost"], 1)
        self.assertEqual(again["jitter_ns"]["max_frame"], 800)
        # By its own clock it came 250 ppm of those 5 ms less late.
        self.assertAlmostEqual(again["jitter_ns"]["max"], 5000000 * (1 - 250e-6), delta=10)
        self.assertAlmostEqual(again["ppm"], true_ppm, delta=0.01)

    def test_a_file_that_is_not_of_this_run_is_refused_in_one_line(self):
        log, _, rows = self.pulsed
        other = self.write([(*row[:3], row[3] + 10**12, *row[4:]) for row in rows])
        self.assertEqual(self.timing(log, "--truth", other, codes=[2]),
                         f"airbearing timing: {other}: none of the 100 pulses belongs to this run\n")
        other.write_text(HEAD + "1,2,x\n")
        self.assertEqual(self.timing(log, "--truth", other, codes=[2]),
                         f"{other}:3:5: a whole number is expected here\n")

    def stopwatch(self, *arguments):
        out = self.dir / "watch.csv"
        watch = self.start("stopwatch", "--out", out, "--seconds", "60", *arguments)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (out.exists() and out.read_text().startswith("#")):
            time.sleep(0.02)  # the file is begun once the wire is open
        return watch, out

    def test_the_stopwatch_stamps_by_the_kernel_and_ends_with_the_run(self):
        address = f"127.0.0.1:{harness.free_port()}"
        watch, out = self.stopwatch("--listen", address)
        log, page = self.dir / "log.mcap", self.dir / "page.html"
        self.run_program(self.scenario(f"pulse: {{to: '{address}', every: 20}}"), "--log", log)
        printed, _ = watch.communicate(timeout=20)
        self.assertEqual(watch.returncode, 0)
        self.assertEqual(printed, "100 pulses stamped, 0 datagrams and 0 bytes were something else\n")
        truth = self.timing(log, "--truth", out, "--html", page)["truth"]
        self.assertEqual((truth["pulses"], truth["lost"], truth["stamped_by"]), (100, 0, "kernel"))
        self.assertIn("By another clock", page.read_text())
        certificate = self.dir / "certificate.json"
        self.timing(log, "--truth", out, "--certificate", certificate)
        self.assertEqual(self.call("timing", log, "--truth", out, "--verify", certificate)[0], 0)

    def test_sync_pulses_cross_a_serial_line(self):
        ends = [pty.openpty() for _ in range(2)]
        for _, slave in ends:
            tty.setraw(slave)
        (run_end, run_tty), (watch_end, watch_tty) = ends
        watch, out = self.stopwatch("--device", os.ttyname(watch_tty))
        log = self.dir / "log.mcap"
        run = self.start("run", self.scenario(f"pulse: {{device: {os.ttyname(run_tty)}, every: 20}}", 1), "--log", log)
        os.write(watch_end, b"noise before ABGP the pulses")
        deadline = time.monotonic() + 30
        while watch.poll() is None and time.monotonic() < deadline:
            if select.select([run_end], [], [], 0.02)[0]:
                os.write(watch_end, os.read(run_end, 13))  # in small pieces
        self.assertEqual(run.wait(20), 0, run.stderr.read())
        self.assertEqual(watch.wait(20), 0)
        truth = self.timing(log, "--truth", out)["truth"]
        self.assertEqual((truth["pulses"], truth["lost"], truth["stamped_by"]), (50, 0, "program"))
        for fd in (run_end, run_tty, watch_end, watch_tty):
            os.close(fd)
        for process in (run, watch):
            process.stdout.close(), process.stderr.close()

    def test_a_stopwatch_without_sync_pulses_says_so(self):
        code, _, _ = self.call("stopwatch", "--listen", f"127.0.0.1:{harness.free_port()}", "--out",
                               self.dir / "none.csv", "--seconds", "0.2")
        self.assertEqual(code, 1)
        self.assertEqual((self.dir / "none.csv").read_text(), HEAD)
        for arguments, wanted in ((["--listen", "here", "--out", "x"], 64), (["--out", "x"], 64),
                                  (["--listen", "127.0.0.1:1", "--device", "/dev/x", "--out", "x"], 64),
                                  (["--device", "/dev/null/no", "--out", self.dir / "x"], 2)):
            code, _, err = self.call("stopwatch", *arguments)
            self.assertEqual(code, wanted, err)
            if code == 2:
                self.assert_one_line(err)

    # ---- the board's clock ----

    def locked(self, board_ppm, seconds, lock="", rest=""):
        """A run whose frames follow a board with a wrong clock; its report, its log."""
        address = f"127.0.0.1:{harness.free_port()}"
        board = ["board", "--connect", address, "--quiet", "--clock-ppm", str(board_ppm)]
        path = self.scenario(f"links: [{{name: board, listen: '{address}', body: bus}}]\n"
                             f"controller: {{command: {json.dumps(board)}}}\n"
                             f"lock: {{link: board, time_constant: 500 ms{lock}}}\n{rest}", seconds)
        log, report = self.dir / "log.mcap", self.dir / "report.json"
        self.run_program(path, "--log", log, "--report", report)
        return json.loads(report.read_text()), log

    def check_identity(self, report):
        lock = report["phase_lock"]
        self.assertEqual(report["wall_ns"], (report["frames"] + report["missed"]) * report["period_ns"] +
                         lock["corrected_ns"])

    @REAL_TIME
    def test_frames_follow_a_board_whose_clock_is_wrong(self):
        report, log = self.locked(800, 5, ", limit_ppm: 2000")
        lock = report["phase_lock"]
        self.check_identity(report)
        self.assertGreater(lock["observations"], 20)
        # Without the lock the board would have got this far ahead; with it, it did not.
        free_ns = report["wall_ns"] * 800e-6
        # A slip, where the machine stood still for long, gives up less than half a period for good.
        self.assertLess(abs(lock["corrected_ns"] + free_ns), 0.2 * free_ns + lock["slips"] * 500000)
        self.assertLess(lock["error_ns"]["p50"], 0.05 * free_ns)
        self.assertEqual(lock["source"], "timesync")
        timing = self.timing(log)
        self.assertEqual(timing["off_grid"], 0)
        self.assertEqual(timing["missed"], report["missed"])
        self.assertEqual(timing["corrected_ns"], lock["corrected_ns"])
        self.assertEqual(timing["phase_lock"], lock)

    @REAL_TIME
    def test_a_board_beyond_the_limit_is_not_locked_to(self):
        report, log = self.locked(2500, 3, ", limit_ppm: 100")
        lock = report["phase_lock"]
        self.check_identity(report)
        self.assertFalse(lock["locked"])
        self.assertGreater(lock["slips"], 0)
        self.assertLessEqual(abs(lock["corrected_ns"]), report["wall_ns"] * 100e-6 + 1)
        self.assertEqual(self.timing(log)["off_grid"], 0)

    @REAL_TIME
    def test_a_run_that_followed_a_clock_replays_to_the_same_state(self):
        _, log = self.locked(400, 2, ", limit_ppm: 1000", "devices: [{name: gyro, type: gyro, body: bus}]\n")
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)

    @REAL_TIME
    def test_frames_follow_commands_that_come_evenly(self):
        """Commands every 5 ms of a board whose clock is fast by 1500 ppm."""
        address = f"127.0.0.1:{harness.free_port()}"
        board = ["board", "--wire", "px4-hitl", "--connect", address, "--quiet", "--clock-ppm", "1500"]
        path = self.scenario(f"links: [{{name: board, protocol: px4-hitl, bus: udp, listen: '{address}', body: bus}}]\n"
                             f"controller: {{command: {json.dumps(board)}}}\n"
                             "lock: {link: board, source: arrival, period: 5 ms, time_constant: 500 ms, limit_ppm: 3000}\n"
                             "devices: [{name: gyro, type: gyro, body: bus}]\n", 5)
        report = self.dir / "report.json"
        self.run_program(path, "--report", report)
        report = json.loads(report.read_text())
        self.check_identity(report)
        lock, free_ns = report["phase_lock"], report["wall_ns"] * 1500e-6
        self.assertEqual(lock["source"], "arrival")
        # A slip, as above.
        self.assertLess(abs(lock["corrected_ns"] + free_ns), 0.4 * free_ns + lock["slips"] * 500000)

    def test_without_a_lock_the_report_has_none(self):
        report = self.dir / "report.json"
        self.run_program(self.scenario("", 0.2), "--report", report)
        report = json.loads(report.read_text())
        self.assertIsNone(report["phase_lock"])
        self.assertIsNone(report["pulse"])
        self.assertEqual(report["wall_ns"], (report["frames"] + report["missed"]) * report["period_ns"])


if __name__ == "__main__":
    unittest.main()
