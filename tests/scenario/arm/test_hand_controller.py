"""A person's hands: reports of a hand controller from a tape and by UDP turn the satellite.

There is no event device on most machines that test; the one of a virtual joystick is tested in the
emulated machine (tests/rtguest)."""
import pathlib
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log

HAND = harness.SCENARIOS / "hand.yaml"
RMS = harness.SCENARIOS / "rms.yaml"
BASE = 1 << 3  # the button of that mode
LOST, SAFED = 8, 16  # flags of /arm


def picture(x=0.0, y=0.0, twist=0.0, buttons=0):
    """As io/protocol/hand.h has it."""
    axes = [x, y, 0.0, 0.0, 0.0, twist] + [0.0] * 18
    return b"HAND" + struct.pack("<II24f", 1, buttons, *axes)


def tape(pictures):
    """A tape of (seconds, report), as io/bus/tape.h has it."""
    return b"AIRBTAPE" + struct.pack("<II", 1, 0) + b"".join(
        struct.pack("<QII", round(at * 1e9), len(p), 0) + p for at, p in pictures)


class Operator(threading.Thread):
    """Sends reports every 10 ms as soon as a peer listens, one after the other, each for its seconds."""

    def __init__(self, port, *turns):
        super().__init__(daemon=True)
        self.port, self.turns = port, turns
        self.turn = threading.Event()  # the next one comes now

    def is_heard(self):
        return f"0100007F:{self.port:04X} " in pathlib.Path("/proc/net/udp").read_text()

    def run(self):
        for _ in range(6000):
            if self.is_heard():
                break
            time.sleep(0.01)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for each, seconds in self.turns:
                limit = time.monotonic() + seconds
                while time.monotonic() < limit and not self.turn.is_set():
                    out.sendto(each, ("127.0.0.1", self.port))
                    time.sleep(0.01)
                self.turn.clear()


class Hand(harness.Case):
    def play(self, pictures, *options, **more):
        path = self.dir / "hand.tape"
        path.write_bytes(tape(pictures))
        report = self.run_scenario(HAND, "--set", "links.hand.bus=tape", "--set",
                                   f"links.hand.device={path}", *options, **more)
        return report, report["links"][0]

    def assert_replays(self, log, report):
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("all identical", out)
        self.assertIn(report["state_hash"], out)

    def test_a_hand_turns_the_satellite_and_the_log_replays(self):
        log = self.dir / "run.mcap"
        # From when on there are frames, and for longer than the machine stands still.
        moves = [(0.6 + 0.01 * i, picture(x=min(0.02 * i, 1.0), y=-0.5, buttons=i % 3))
                 for i in range(200)] + [(2.6, picture()), (60.0, picture())]
        report, link = self.play(moves, "--seconds", "2.5", "--log", log, "--set",
                                 'expect=["rate > 1 deg/s within 2.4 s"]')
        self.assertGreater(link["commands"], 50)
        self.assertEqual(link["rx"], link["commands"])
        self.assertEqual((link["losses"], link["late"], link["rx_bad"], link["tx"]), (0, 0, 0, 0))
        # Each report that a frame latched was followed to the motion that it made.
        latency = report["loop_latency_ns"]
        self.assertGreater(latency["count"], 20)
        self.assertLessEqual(latency["count"], link["commands"])
        self.assertEqual(latency["wire_out"]["max"], 0)
        self.assertEqual(report["allocations_after_seal"], 0)
        self.assert_replays(log, report)

    def test_a_hand_at_rest_is_not_lost(self):
        report, link = self.play([(0.0, picture(x=1.0)), (60.0, picture())], "--seconds", "1.5",
                                 "--set", "links.hand.lost_after=100 ms",
                                 "--set", 'expect=["rate > 5 deg/s within 1.4 s"]')
        self.assertEqual((link["commands"], link["losses"]), (1, 0))
        # It was there before the first frame: no loop, however long the run took to begin.
        self.assertEqual(report["loop_latency_ns"]["count"], 0)

    def test_a_hand_that_is_gone_lets_go(self):
        log = self.dir / "run.mcap"
        report, link = self.play([(0.0, picture(x=1.0)), (0.2, picture(x=0.9))], "--seconds", "1",
                                 "--log", log, "--set", 'expect=["rate < 5 deg/s after 0 s"]')
        self.assertEqual((link["commands"], link["losses"]), (2, 1))
        self.assert_replays(log, report)
        _, link = self.play([(0.0, picture(x=1.0)), (0.2, picture())], "--seconds", "5",
                            "--set", "links.hand.on_loss=stop", expect=3)
        self.assertEqual(link["losses"], 1)

    def test_over_udp_the_sender_must_repeat_itself(self):
        port = harness.free_port()
        operator = Operator(port, (picture(twist=-1.0), 4))
        operator.start()
        report = self.run_scenario(HAND, "--set", "links.hand={name: hand, protocol: hand, bus: udp, "
                                   f"listen: '127.0.0.1:{port}', body: bus, axes: [{{axis: rz, "
                                   "control: 2}], lost_after: 300 ms}", "--seconds", "6",
                                   "--set", 'expect=["rate > 1 deg/s within 5 s"]')
        operator.join()
        link = report["links"][0]
        self.assertGreater(link["commands"], 10)
        self.assertGreaterEqual(link["losses"], 1)

    def test_an_arm_whose_hand_is_lost_by_the_operators_fault_stops_and_stays(self):
        """Of rms.yaml, with the stick pushed all the time."""
        log, port = self.dir / "run.mcap", harness.free_port()
        # What is pressed before the first frame presses nothing.
        operator = Operator(port, (picture(), 100), (picture(), 1), (picture(buttons=BASE), 0.2), (picture(y=0.5), 100))
        operator.start()
        run = self.start("run", RMS, "--set", "links.hand.bus=udp", "--set", f"links.hand.listen=127.0.0.1:{port}",
                         "--act", "2.5s:fault hand-lost on", "--seconds", "5.5", "--log", log,
                         "--report", self.dir / "report.json")
        self.assertIsNotNone(harness.begun(run))
        operator.turn.set()
        out, err = run.communicate(timeout=120)
        operator.turn.set()
        operator.join()
        self.assertEqual(run.returncode, 0, out + err)
        report = self.read_report(self.dir / "report.json")
        arm = [(struct.unpack_from("<6d", payload, 8 * (2 + 2 * 6)), struct.unpack_from("<I", payload, 8 * 56)[0])
               for topic, payload in raw_log.messages(log) if topic == "/arm"]
        asked = [index for index, (rates, _) in enumerate(arm) if any(rates)]
        lost = next(index for index, (_, flags) in enumerate(arm) if flags & LOST and index > asked[0])
        self.assertGreater(asked[0], 0)
        self.assertEqual(asked[-1], lost - 1, "rates are zero as soon as it is lost")
        self.assertTrue(all(flags & SAFED for _, flags in arm[lost:]))
        self.assertFalse(arm[-1][1] & LOST, "the fault ended by itself, the hand is heard again")
        self.assertGreaterEqual(report["links"][0]["losses"], 1)
        self.assert_replays(log, report)

    def test_without_the_device_one_line_says_what_to_do(self):
        code, _, err = self.call("run", HAND, "--seconds", "1", "--set",
                                 "links.hand.device=name:No such stick")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "links.hand.device: there is no name:No such stick")


if __name__ == "__main__":
    harness.main()
