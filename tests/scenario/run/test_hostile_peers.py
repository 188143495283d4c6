"""Peers that misbehave, against whole runs: the frames stay on the grid and the loop stays closed."""
import fcntl
import json
import mmap
import os
import pathlib
import random
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
import raw_log
import wire

REAL_TIME = unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")
BOARD = harness.AIRBEARING.parent / "board"
LOCKSTEP = harness.SCENARIOS / "quad-px4-lockstep.yaml"


class Neighbour:
    """The far end of a shared-memory link, as io/bus/shm.h has it: side 1."""
    HEAD, DATA, RING = 576, 4096 + 65536, 65536
    SIZE = DATA + RING
    SET_LOCK, LOCK = 37, struct.Struct("hhqqi")  # F_OFD_SETLK and its struct flock

    def __init__(self, path):
        self.file = open(path, "r+b", buffering=0)
        fcntl.fcntl(self.file, self.SET_LOCK, self.LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 1, 1, 0))
        self.memory = mmap.mmap(self.file.fileno(), self.SIZE)
        self.at = 0

    def send(self, message):
        record = struct.pack("<IIQ", len(message), 0, 0) + message + bytes(-len(message) % 8)
        for i, byte in enumerate(record):
            self.memory[self.DATA + (self.at + i) % self.RING] = byte
        self.at += len(record)
        self.memory[self.HEAD:self.HEAD + 8] = struct.pack("<Q", self.at)


class Hostile(harness.Case):
    def begin(self, scenario, *options):
        self.report = self.dir / "report.json"
        return self.start("run", scenario, "--report", self.report, *options)

    def finish(self, process, expect=(0, 1)):
        out, err = process.communicate(timeout=90)
        self.assertIn(process.returncode, expect, out + err)
        report = json.loads(self.report.read_text())
        self.assert_orderly(report)
        return report

    def assert_orderly(self, report):
        """True of every run, whoever talks to it."""
        period = report["period_ns"]
        self.assertEqual(report["frames"], round(report["seconds_simulated"] * report["rate_hz"]))
        if report["pace"] == "real":
            self.assertEqual(report["wall_ns"], (report["frames"] + report["missed"]) * period)
            # The machine may take time away; the peers may not make a frame too long.
            late = report["overrun_causes"]
            self.assertEqual(late["io"] + late["fault"], 0)
            self.assertLessEqual(late["own"], report["frames"] // 200)
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)
            self.assertEqual(report["page_faults_after_seal"], 0)
        self.assertEqual(report["not_finite"], 0)

    def satellite(self, port, *options, seconds=6, lost="3 s"):
        """lost is longer than this machine stands still, so that a loss is the peers' doing."""
        return self.begin(harness.SATELLITE, "--seconds", str(seconds), "--external-board",
                          "--set", f"links.board.listen=127.0.0.1:{port}",
                          "--set", f"links.board.lost_after={lost}", *options)

    def board(self, port, *options):
        return self.spawn([*harness.OWN_PROCESSOR, BOARD, "--connect", f"127.0.0.1:{port}", "--quiet", *options],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def assert_pointing(self, report):
        """Nearer to where a quiet board has brought it by then than to where it is without one; a machine that stands
        still keeps the board from some of it."""
        quiet, none = {5000: (0.325, 0.592), 6000: (0.236, 0.613)}[report["frames"]]
        self.assertLess(report["attitude_error_rad"], quiet + 0.3 * (none - quiet))

    @REAL_TIME
    def cut_off(self, size, on_loss):
        """A run on shared memory whose board is received, and then makes the file as short as that."""
        name, log = f"airbearing-test-{os.getpid()}-{size}", self.dir / "cut.mcap"
        shared, scenario = pathlib.Path("/dev/shm") / name, self.dir / "shared.yaml"
        self.addCleanup(shared.unlink, missing_ok=True)
        text = harness.SATELLITE.read_text()
        text = re.sub(r"\ncontroller:\n.*\n", "\n", text)
        text = re.sub(r"bus: udp\n.*listen:.*\n", f"bus: shared\n    device: {name}\n", text)
        scenario.write_text(text)
        run = self.begin(scenario, "--seconds", "3600", "--log", log, "--set", f"links.board.on_loss={on_loss}",
                         "--set", "links.board.connect_within=60 s", "--set", "links.board.lost_after=2 s")
        self.assertTrue(harness.wait_until(lambda: shared.exists() and shared.stat().st_size == Neighbour.SIZE))
        neighbour = Neighbour(shared)  # stays, and keeps its lock: it is only the file that is gone
        self.addCleanup(neighbour.file.close)
        neighbour.send(wire.heartbeat())
        self.assertTrue(harness.begun(run))
        for sequence in range(50):
            neighbour.send(wire.controls([0.1], sequence))
            time.sleep(0.01)
        os.truncate(shared, size)
        return run, log

    def test_a_board_that_cuts_its_shared_memory_off_is_a_lost_link(self):
        """Which was a SIGBUS: exit as on_loss says, and a log that can be read and replayed."""
        for size in (0, 4096, 70000):
            with self.subTest(size=size):
                run, log = self.cut_off(size, "stop")
                out, err = run.communicate(timeout=120)
                self.assertEqual(run.returncode, 3, out + err)
                self.assertGreater(len(raw_log.frames(log)), 0)
                code, out, err = self.call("replay", log)
                self.assertEqual(code, 0, out + err)
                log.unlink()

    def test_a_run_goes_on_without_the_board_that_cut_its_shared_memory_off(self):
        run, log = self.cut_off(0, "safe")
        time.sleep(3)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=120)
        self.assertIn(run.returncode, (0, 1, 130), out + err)
        self.assertGreaterEqual(json.loads(self.report.read_text())["io"]["losses"], 1)

    def test_a_flood_of_garbage_and_strangers_changes_nothing(self):
        for mode in ("threaded", "inline"):
            port = harness.free_port()
            run = self.satellite(port, "--set", f"io.mode={mode}", seconds=5)
            self.board(port)
            harness.begun(run)  # the board is the peer by now
            with wire.Flood(port, random.Random(1)) as flood:
                time.sleep(3.0)
            report = self.finish(run)
            self.assertGreater(flood.sent, 1000)
            self.assertGreater(report["io"]["rx_bad"], flood.sent // 4)
            self.assertEqual(report["io"]["losses"], 0, (mode, report["links"], report["stolen_ns_total"],
                                                         report["overrun_causes"], flood.sent))
            self.assertGreater(report["io"]["commands"], 800)
            self.assert_pointing(report)

    @REAL_TIME
    def test_frames_that_are_doubled_swapped_cut_and_spoiled_fly_all_the_same(self):
        port, noise, held = harness.free_port(), random.Random(2), []

        def mangle(data):
            kind = noise.randrange(8)
            if kind == 0:
                return [data, data, data]
            if kind == 1:
                held.append(data)
                return []
            if kind == 2:
                return [wire.spoil(data), data]
            if kind == 3:
                return [data[:len(data) // 2], data]
            if kind == 4:
                return [data + noise.randbytes(2500), data]
            out = [data, *held]
            held.clear()
            return out

        run = self.satellite(port)
        with wire.Proxy(port, mangle) as proxy:
            self.board(proxy.port)
            report = self.finish(run)
        self.assertGreater(report["io"]["rx_bad"], 100)
        self.assertGreater(report["io"]["rx_lost"], 100)
        self.assertEqual(report["io"]["losses"], 0)
        self.assert_pointing(report)

    @REAL_TIME
    def test_controls_that_are_no_numbers_do_no_harm(self):
        port, bad = harness.free_port(), (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-45)
        run = self.satellite(port, seconds=2)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as board:
            sequence = 0
            while run.poll() is None:
                turned = bad[sequence % 6:] + bad[:sequence % 6]
                board.sendto(wire.controls(turned, sequence), ("127.0.0.1", port))
                sequence += 1
                time.sleep(0.004)
        report = self.finish(run)  # which looks for what is not finite
        self.assertGreater(report["io"]["commands"], 100)
        self.assertLess(report["attitude_error_rad"], 3.2)

    @REAL_TIME
    def test_a_board_that_is_killed_and_started_again_takes_over(self):
        port = harness.free_port()
        run = self.satellite(port, seconds=7, lost="300 ms")
        first = self.board(port)
        harness.begun(run)
        time.sleep(1.5)
        harness.end(first)
        time.sleep(0.8)
        self.board(port)
        report = self.finish(run)
        link = report["links"][0]
        self.assertGreaterEqual(link["losses"], 1)
        self.assertEqual(link["board"], "ready")
        self.assertGreater(link["gap_ns_max"] + link["commands"], 0)
        self.assertGreater(link["commands"], 700)  # the first sent at most 400
        self.assertLess(report["attitude_error_rad"], 0.4)  # without a second one it would be beyond 0.6

    def quad(self, port, *options, delay=0):
        command = ["sh", "-c", f"sleep {delay}; exec {BOARD} --wire px4 --vehicle quad --connect "
                               f"127.0.0.1:{port}"]
        return self.begin(LOCKSTEP, "--seconds", "15", "--set", f"links.board.listen=127.0.0.1:{port}",
                          "--set", f"controller.command={json.dumps(command)}", *options)

    def test_a_script_that_chatters_and_leaves_a_process_behind_is_ended_whole(self):
        port, mark = harness.free_port(), f"{random.Random().randrange(10**8, 10**9)}.5"
        script = f"sleep {mark} & yes | head -c 3000000; {BOARD} --wire px4 --vehicle quad " \
                 f"--connect 127.0.0.1:{port}; sleep {mark}"
        run = self.begin(LOCKSTEP, "--seconds", "1", "--set", f"links.board.listen=127.0.0.1:{port}",
                         "--set", "links.board.wait_limit=20 s",  # no machine stands still for so long
                         "--set", f"controller.command={json.dumps(['sh', '-c', script])}")
        report = self.finish(run)
        self.assertEqual(report["missed_replies"], 0)
        left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                if self.cmdline(path).startswith(f"sleep\0{mark}")]
        self.assertEqual(left, [])

    def cmdline(self, path):
        try:
            return path.read_text(errors="replace")
        except OSError:
            return ""  # it has ended meanwhile

    def assert_flown(self, report):
        climbed = report["expect"][0]  # altitude > 9 m within 12 s
        self.assertEqual(climbed["verdict"], "met", climbed)

    def in_storm(self):
        port = harness.free_port()
        run = self.quad(port)
        harness.begun(run)
        with wire.Storm(port) as storm:
            report = self.finish(run)
        self.assertGreater(storm.made, 0)
        return report

    def test_a_storm_of_connections_does_not_disturb_the_lockstep(self):
        for _ in range(3):
            storm, quiet = self.in_storm(), self.finish(self.quad(harness.free_port()))
            self.assert_flown(storm)
            # A machine that stands still for a second makes a reply missed, for 40 ms the board lock later.
            missed = storm["missed_replies"] + quiet["missed_replies"]
            if not missed and storm["links"][0]["epoch_us"] == quiet["links"][0]["epoch_us"]:
                self.assertEqual(storm["state_hash"], quiet["state_hash"])
                return
        self.skipTest("the machine stood still in each of three pairs of flights")

    def test_an_idle_connection_that_came_first_is_replaced_by_the_board(self):
        port = harness.free_port()
        run = self.quad(port, "--set", "links.board.connect_within=8 s", delay=1)
        with wire.connect(port):
            report = self.finish(run)
        self.assert_flown(report)

    @REAL_TIME
    def test_a_stream_in_halves_and_bytes_is_understood(self):
        port = harness.free_port()
        run = self.satellite(port, "--set", "links.board.bus=tcp", seconds=3)
        with wire.connect(port) as client:
            client.sendall(wire.controls((0.1,))[:25])
        with wire.connect(port) as client:
            sequence = 0
            while run.poll() is None:
                try:
                    for byte in wire.controls((0.1, 0.0, -0.1), sequence):
                        client.send(bytes([byte]))
                except OSError:
                    break
                sequence += 1
                time.sleep(0.01)
        report = self.finish(run)
        self.assertGreater(report["io"]["commands"], 50)
        self.assertLessEqual(report["io"]["rx_bad"], 1)  # the half
        self.assertEqual(report["io"]["losses"], 0)

    @REAL_TIME
    def test_a_peer_that_never_reads_blocks_no_other(self):
        for mode in ("threaded", "inline"):
            port = harness.free_port()
            run = self.satellite(port, "--set", "links.board.bus=tcp", "--set", f"io.mode={mode}",
                                 "--set", "links.board.send.state=250 Hz", seconds=4)
            with wire.connect(port, receive_buffer=2048) as client:
                sequence = 0
                while run.poll() is None:
                    try:
                        client.sendall(wire.controls((0.1,), sequence))
                    except OSError:
                        break
                    sequence += 1
                    time.sleep(0.01)
            report = self.finish(run)
            self.assertGreater(report["io"]["tx_dropped"], 0)
            self.assertGreater(report["io"]["commands"], 100)
            self.assertEqual(report["io"]["losses"], 0)


if __name__ == "__main__":
    harness.main()
