"""A PX4 board on a serial line, with ground stations behind it; the line is a pair of pseudo-terminals."""
import json
import os
import pathlib
import pty
import select
import socket
import struct
import subprocess
import sys
import time
import tty
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import wire

HITL = harness.SCENARIOS / "quad-px4-hitl.yaml"
BOARD = harness.AIRBEARING.parent / "board"
REAL_TIME = unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")


class Line(wire.Worker):
    """Carries bytes between the simulator's end and the board's, each a terminal; keeps the sensors' times.

    A wire is not slow because the machine is busy: this one goes before other work, and knows for how long
    it was kept from carrying all the same.  The simulator opens a link to its end, so that the end may be
    another one after a cut."""
    PROMPT_S = 0.1  # a pseudo-terminal keeps more than what comes in so long

    def __init__(self, folder):
        self.link, self.sensors, self.rest = folder / "ttySIM", [], b""
        self.looked, self.kept_s = None, 0.0
        self.board, self.board_end = self.make()
        self.simulator = self.simulator_end = -1
        self.cut_until = 0.0
        self.plug_in()

    def make(self):
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        os.set_blocking(ours, False)
        return ours, theirs

    def plug_in(self):
        self.simulator, self.simulator_end = self.make()
        fresh = self.link.with_suffix(".new")
        fresh.symlink_to(os.ttyname(self.simulator_end))
        fresh.rename(self.link)

    def pull_out(self, seconds):
        self.cut_until = time.monotonic() + seconds

    def unplug(self):
        for fd in (self.simulator, self.simulator_end):
            os.close(fd)
        self.simulator = self.simulator_end = -1
        self.link.unlink()

    def look(self):
        now = time.monotonic()
        if self.looked is None:
            harness.go_first()
        elif now - self.looked > self.PROMPT_S:
            self.kept_s += now - self.looked
        self.looked = now

    def step(self):
        self.look()
        cut = time.monotonic() < self.cut_until
        if cut and self.simulator >= 0:
            self.unplug()
        elif not cut and self.simulator < 0:
            self.plug_in()
        ends = [fd for fd in (self.simulator, self.board) if fd >= 0]
        for fd in select.select(ends, [], [], 0.02)[0]:
            self.carry(fd)

    def carry(self, fd):
        try:
            data = os.read(fd, 4096)
        except OSError:
            return
        to = self.board if fd == self.simulator else self.simulator
        if fd == self.simulator:
            frames, self.rest = wire.split(self.rest + data)
            self.sensors += [struct.unpack_from("<Q", payload.ljust(8, b"\0"))[0]
                             for message, payload, _ in frames if message == wire.SENSOR]
        try:
            if to >= 0:
                os.write(to, data)
        except OSError:
            pass  # full or gone, as a line without flow control loses it

    def close(self):
        for fd in (self.simulator, self.simulator_end, self.board, self.board_end):
            if fd >= 0:
                os.close(fd)


class Ground:
    """A ground station on a port of its own."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.05)
        self.port, self.heard, self.simulator, self.sequence = self.socket.getsockname()[1], [], None, 0

    def listen(self, seconds):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            try:
                data, self.simulator = self.socket.recvfrom(4096)
            except TimeoutError:
                continue
            self.heard += [message for message, _, _ in wire.split(data)[0]]

    def command(self):
        payload = struct.pack("<7fHBBB", 1, 0, 0, 0, 0, 0, 0, 512, 1, 1, 0)
        self.socket.sendto(wire.frame(wire.COMMAND_LONG, payload, self.sequence, 255, 190), self.simulator)
        self.sequence += 1


class Serial(harness.Case):
    def begin(self, line, *options):
        self.report = self.dir / "report.json"
        return self.start("run", HITL, "--report", self.report, "--external-board",
                          "--set", "links.board.bus=serial", "--set", f"links.board.device={line.link}",
                          "--set", "links.board.baud=921600", *options)

    def board(self, line):
        return self.spawn([*harness.OWN_PROCESSOR, BOARD, "--wire", "px4-hitl", "--vehicle", "quad", "--connect",
                           os.ttyname(line.board_end), "--quiet"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def finish(self, run, expect=(0, 1)):
        out, err = run.communicate(timeout=60)
        self.assertIn(run.returncode, expect, out + err)
        report = json.loads(self.report.read_text())
        self.assertEqual(report["wall_ns"], (report["frames"] + report["missed"]) * report["period_ns"])
        if report["allocations_counted"]:
            self.assertEqual((report["allocations_after_seal"], report["page_faults_after_seal"]), (0, 0))
        return report

    @REAL_TIME
    def test_a_board_on_a_serial_line_flies_while_a_ground_station_floods(self):
        ground = Ground()
        with Line(self.dir) as line, ground.socket:
            run = self.begin(line, "--seconds", "13",
                             "--set", f"links.board.forward=[127.0.0.1:{ground.port}]")
            with harness.Witness(harness.core_of(run, "io")) as witness:
                self.board(line)
                ground.listen(3.0)
                self.assertIn(wire.ATTITUDE, ground.heard)
                self.assertNotIn(wire.SENSOR, ground.heard)
                ground.command()
                ground.listen(0.5)
                self.assertIn(wire.COMMAND_ACK, ground.heard)
                for _ in range(150):
                    for _ in range(8):
                        ground.command()
                    time.sleep(0.01)
                report = self.finish(run)
        self.assertEqual(report["expect"][0]["verdict"], "met", report["expect"])  # it climbed
        self.assertEqual(report["io"]["losses"], 0)
        self.assertGreater(report["links"][0]["forwarded"], 100)
        self.check_sensors(report, line.sensors, line.kept_s + witness.kept_s)

    def check_sensors(self, report, times, kept_s):
        """One sensor message every 4 ms of simulated time, none left out for the flood's sake; but a machine that
        keeps the I/O thread or the line from running loses what was due meanwhile."""
        steps, dropped = {b - a for a, b in zip(times, times[1:])}, report["io"]["tx_dropped"]
        if kept_s == 0.0 or dropped == 0:
            self.assertEqual((dropped, steps), (0, {4000}))
            return
        print(f"the machine held I/O up for {kept_s:.3f} s; {dropped} messages were lost")
        self.assertLess(dropped, 2.0 * kept_s * report["io"]["tx"] / report["seconds_wall"])
        self.assertEqual({step % 4000 for step in steps}, {0})

    @REAL_TIME
    def test_a_line_that_vanishes_for_a_second_comes_back(self):
        with Line(self.dir) as line:
            # Longer than this machine stands still, so that there is one loss.
            run = self.begin(line, "--seconds", "7", "--set", "links.board.lost_after=900 ms")
            self.board(line)
            harness.begun(run)
            time.sleep(1.5)
            line.pull_out(1.6)
            report = self.finish(run)
        link = report["links"][0]
        self.assertEqual((link["losses"], link["board"]), (1, "ready"))
        self.assertGreater(link["tx_dropped"], 100)  # nobody was there
        self.assertGreater(link["commands"], 500)
        self.assertGreater(line.sensors[-1], 6_500_000)  # to the end

    def test_a_line_that_is_too_slow_is_refused_before_the_run(self):
        code, _, err = self.call("run", HITL, "--external-board", "--set", "links.board.bus=serial",
                                 "--set", "links.board.device=/dev/null", "--set", "links.board.baud=57600")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "57600 baud", "bytes a second", "raise baud to")
        scenario = self.dir / "slow.yaml"
        scenario.write_text(HITL.read_text().replace("bus: udp ", "bus: serial\n    device: /dev/null\n    baud: 57600 #"))
        code, _, err = self.call("run", scenario, "--external-board")
        self.assertEqual(code, 2)
        line = 1 + scenario.read_text().split("\n").index(
            next(text for text in scenario.read_text().split("\n") if "baud: 57600" in text))
        self.assert_one_line(err, f"slow.yaml:{line}:", "57600 baud")


if __name__ == "__main__":
    harness.main()
