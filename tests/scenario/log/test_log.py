"""The log: what is in it, what is left of it after a crash or damage, and how it comes out again.

AIRBEARING_KILLS=100 makes the test that kills runs kill so many (default 10).
"""
import csv
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log
import wire

KILLS = int(os.environ.get("AIRBEARING_KILLS", "10"))
LOSS_S = 0.5  # a crash may lose so much, and no more
HIL_SENSOR = 107


class Witness:
    """A board that only listens: which sample came when."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(10)
        self.port = self.socket.getsockname()[1]
        self.seen = []  # monotonic seconds, simulated microseconds

    def close(self):
        self.socket.close()

    def take(self):
        """One datagram; its address."""
        data, address = self.socket.recvfrom(512)
        if data[0] == 0xFD and data[7] | data[8] << 8 | data[9] << 16 == HIL_SENSOR:
            payload = data[10:10 + data[1]].ljust(8, b"\0")
            self.seen.append((time.monotonic(), struct.unpack_from("<Q", payload)[0]))
        return address

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.take()

    def outage(self):
        """The longest time in which nothing came: the machine stood still, and the log with it."""
        times = [at for at, _ in self.seen]
        return max((b - a for a, b in zip(times, times[1:])), default=0.0)

    def sim_us_at(self, moment):
        """The newest sample that had come then, 0 for none."""
        return max((sim for at, sim in self.seen if at <= moment), default=0)


class Log(harness.Case):
    def record(self, *options, scenario=harness.TUMBLE, name="run.mcap", expect=0):
        log = self.dir / name
        self.report = self.run_scenario(scenario, "--log", log, *options, expect=expect)
        return log

    def info(self, log, expect=0):
        code, out, err = self.call("log", "info", log, "--json")
        self.assertEqual(code, expect, out + err)
        return json.loads(out)

    def damaged(self, log, at, data):
        bad = self.dir / "bad.mcap"
        content = bytearray(log.read_bytes())
        content[at:at + len(data)] = data
        bad.write_bytes(content)
        return bad

    # ---- what is in it ----

    def test_info_lists_the_contents_and_agrees_with_a_foreign_reader(self):
        log = self.record("--seconds", "1")
        info = self.info(log)
        self.assertTrue(info["complete"])
        self.assertEqual(info["records"], self.report["log"]["records"])
        self.assertEqual(info["records"], sum(1 for _ in raw_log.messages(log)))
        foreign = harness.count_records(log)
        if foreign is not None:
            self.assertEqual(info["records"], foreign)
        channels = {channel["topic"]: channel for channel in info["channels"]}
        self.assertEqual(channels["/frame"]["records"], 1000)
        self.assertEqual(channels["/frame"]["missing"], 0)
        self.assertEqual(channels["/device/gyro"]["metadata"], {"unit.rate": "rad/s"})
        code, out, err = self.call("log", "info", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("unit.rate: rad/s", out)
        self.assertNotIn("lost", out)

    def test_a_log_says_where_it_comes_from(self):
        log = self.record("--seconds", "0.2", "--pace", "fast")
        info = self.info(log)
        metadata = info["metadata"]["airbearing"]
        for key in ("version", "revision", "scenario_hash", "model_hash", "binary_hash"):
            self.assertRegex(metadata[key], r"^[0-9a-z.+]+$", key)
        self.assertEqual(metadata["seed"], "1")
        self.assertEqual(metadata["isa"], self.report["isa"])
        again = self.info(self.record("--seconds", "0.2", "--pace", "fast", name="again.mcap"))
        self.assertEqual(again["metadata"]["airbearing"]["scenario_hash"], metadata["scenario_hash"])
        changed = self.dir / "changed.yaml"
        changed.write_text(harness.TUMBLE.read_text() + "\n# one more line\n")
        other = self.info(self.record("--seconds", "0.2", "--pace", "fast", scenario=changed))
        self.assertNotEqual(other["metadata"]["airbearing"]["scenario_hash"],
                            metadata["scenario_hash"])
        names = [attachment["name"] for attachment in info["attachments"]]
        self.assertEqual(names, ["scenario.yaml", "audit.json", "report.json"])
        text = log.read_bytes()
        at = text.index(b'"findings"')
        self.assertIn(b'"remedy"', text[at:at + 4000])

    # ---- two that want one file ----

    def test_a_log_that_a_run_writes_is_not_for_another(self):
        log, report = self.dir / "run.mcap", self.dir / "report.json"
        run = self.start("run", harness.TUMBLE, "--seconds", "60", "--log", log, "--report", report)
        self.assertIsNotNone(harness.begun(run))
        self.assertTrue(harness.wait_until(lambda: log.stat().st_size > 0))
        code, out, err = self.call("run", harness.TUMBLE, "--seconds", "0.1", "--log", log)
        self.assertEqual(code, 2, out + err)
        self.assert_one_line(err, "--log", str(log), "another run writes it")
        source = self.record("--seconds", "0.1", "--pace", "fast", name="other.mcap")
        code, out, err = self.call("log", "recover", source, log)
        self.assertEqual(code, 2, out + err)
        self.assert_one_line(err, str(log), "a run writes it")
        code, out, err = self.call("log", "info", log)  # to look at it is free
        self.assertEqual(code, 0, out + err)
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out + err)
        records = json.loads(report.read_text())["log"]["records"]
        self.assertEqual(self.info(log)["records"], records)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.record("--seconds", "0.1", "--pace", "fast")  # the next one may have it
        self.assertEqual(self.info(log)["channels"][0]["first_ns"], 0)

    def test_what_recover_cannot_write_it_does_not_remove(self):
        log = self.record("--seconds", "0.1", "--pace", "fast")
        kept = self.dir / "kept"
        kept.write_text("precious")
        with open(kept) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            code, out, err = self.call("log", "recover", log, kept)
        self.assertEqual(code, 2, out + err)
        self.assertEqual(kept.read_text(), "precious")

    # ---- what is left of it ----

    def test_a_cut_off_log_is_recovered_and_replays(self):
        log = self.record("--seconds", "3", "--pace", "fast")
        cut, new = self.dir / "cut.mcap", self.dir / "new.mcap"
        cut.write_bytes(log.read_bytes()[:log.stat().st_size * 2 // 3])
        code, out, err = self.call("log", "recover", cut, new)
        self.assertEqual(code, 0, out + err)
        self.assertIn("cut off", out)
        info = self.info(new)
        self.assertTrue(info["complete"])
        self.assertGreater(info["records"], 1000)
        self.assertEqual(list(raw_log.stamped(new)), list(raw_log.stamped(log))[:info["records"]])
        self.assertIn("recovery.txt", [attachment["name"] for attachment in info["attachments"]])
        foreign = harness.count_records(new)
        if foreign is not None:
            self.assertEqual(foreign, info["records"])
        code, out, err = self.call("replay", new)
        self.assertEqual(code, 0, out + err)

    def test_damage_in_the_middle_costs_its_chunk_and_is_reported(self):
        log = self.record("--seconds", "3", "--pace", "fast")
        all_records = list(raw_log.stamped(log))
        chunks = self.info(log)["chunks"]
        noise = random.Random(1)
        for _ in range(3):
            at = noise.randrange(20000, log.stat().st_size * 9 // 10)
            bad = self.damaged(log, at, noise.randbytes(50))
            self.assertRegex(self.call("log", "info", bad)[1].split("\n")[0], ": damaged, ")
            new = self.dir / "new.mcap"
            code, out, err = self.call("log", "recover", bad, new)
            kept = list(raw_log.stamped(new))
            self.assertEqual(code, 1, out + err)
            self.assertIn("lost:", out)
            lost = len(all_records) - len(kept)
            self.assertLessEqual(lost, 2.5 * len(all_records) / chunks)
            if lost:
                missing = re.search(r"(\d+) records are missing by their sequence", out)
                self.assertTrue(missing or "the summary lists" in out, out)
            rest = iter(all_records)
            self.assertTrue(all(record in rest for record in kept), "each was there, in this order")
            self.assertTrue(self.info(new, expect=1 if lost else 0)["complete"])
            foreign = harness.count_records(new)
            if foreign is not None:
                self.assertEqual(foreign, len(kept))

    def test_what_cannot_be_done_is_one_line_and_exit_2(self):
        garbage, log = self.dir / "garbage", self.record("--seconds", "0.1", "--pace", "fast")
        garbage.write_bytes(random.Random(1).randbytes(10000))
        for command in (["info", garbage], ["recover", garbage, self.dir / "new.mcap"],
                        ["export", garbage, "--csv", self.dir / "csv"],
                        ["info", self.dir / "nothing"], ["recover", log, log],
                        ["recover", log, self.dir], ["recover", log, "/dev/full"],
                        ["recover", log, "/no/such/folder/new.mcap"],
                        ["export", log, "--csv", "/no/such/folder/csv"],
                        ["export", log, "--csv", self.dir / "x.csv", "--channel", "/no"],
                        ["export", log, "--hgrm", "/no/such/folder/x"]):
            code, out, err = self.call("log", *command)
            self.assertEqual(code, 2, (command, out, err))
            self.assert_one_line(err)
        self.assertFalse((self.dir / "new.mcap").exists())
        self.assertEqual(self.info(log)["records"], self.report["log"]["records"])

    def test_usage_is_reported(self):
        for command in ([], ["no"], ["info"], ["info", "a", "b"], ["recover", "a"], ["export", "a"],
                        ["export", "a", "--csv", "b", "--hgrm", "c"], ["info", "--no", "a"],
                        ["export", "a", "--hgrm", "b", "--of", "lunch"]):
            code, out, err = self.call("log", *command)
            self.assertEqual(code, 64, (command, out, err))
            self.assertTrue(err)
        for command in (["--help"], ["info", "--help"], ["recover", "--help"], ["export", "--help"]):
            code, out, err = self.call("log", *command)
            self.assertEqual(code, 0)
            self.assertIn("usage:", out)

    # ---- how it comes out again ----

    def test_csv_has_every_bit_and_the_units(self):
        log = self.record("--seconds", "0.3", "--pace", "fast")
        folder = self.dir / "csv"
        code, out, err = self.call("log", "export", log, "--csv", folder)
        self.assertEqual(code, 0, out + err)
        with open(folder / "device.gyro.csv", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["log_time (ns)", "sequence", "rate[0] (rad/s)", "rate[1] (rad/s)",
                                   "rate[2] (rad/s)"])
        expected = [(at, sequence, *struct.unpack("<3d", payload))
                    for topic, at, sequence, payload in raw_log.stamped(log)
                    if topic == "/device/gyro"]
        self.assertEqual([(int(r[0]), int(r[1]), *map(float, r[2:])) for r in rows[1:]], expected)
        with open(folder / "frame.csv", newline="") as file:
            frames = [tuple(map(int, row[2:])) for row in list(csv.reader(file))[1:]]
        self.assertEqual(frames, raw_log.frames(log))
        one = self.dir / "one.csv"
        code, out, err = self.call("log", "export", log, "--csv", one, "--channel", "/device/gyro")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(one.read_text(), (folder / "device.gyro.csv").read_text())

    def test_percentiles_are_those_of_timing(self):
        log = self.record("--seconds", "1")
        mine, other = self.dir / "mine", self.dir / "other"
        code, out, err = self.call("log", "export", log, "--hgrm", mine)
        self.assertEqual(code, 0, out + err)
        self.call("timing", log, "--hgrm", other)
        self.assertEqual(mine.read_text(), other.read_text())
        code, out, err = self.call("log", "export", log, "--hgrm", mine, "--of", "busy")
        busy = max(end - start for _, _, start, end, *_ in raw_log.frames(log))
        self.assertIn(f"{busy / 1000:.3f} 1.000000000000", mine.read_text())

    def test_a_damaged_log_is_exported_as_far_as_it_goes(self):
        log = self.record("--seconds", "3", "--pace", "fast")
        bad = self.damaged(log, log.stat().st_size // 2, b"\xff" * 200)
        code, out, err = self.call("log", "export", bad, "--csv", self.dir / "csv")
        self.assertEqual(code, 1, out + err)
        self.assertIn("lost:", out)
        rows = (self.dir / "csv" / "frame.csv").read_text().count("\n") - 1
        self.assertGreater(rows, 500)
        self.assertLess(rows, 3000)

    # ---- how much of it there is ----

    def test_a_decimated_channel_is_whole_around_the_beginning_of_a_fault(self):
        log = self.record("--seconds", "3", "--pace", "fast", "--set",
                          "log.channels=[{topic: /plant, rate: 10 Hz}, {topic: /device/gyro, every: 50}]",
                          "--set", "faults=[{device: gyro, type: bias, at: 1.5 s, value: 1 deg/s}]",
                          "--set", "log.trigger={when: [fault], before: 100 ms, after: 200 ms}")
        times = {"/plant": [], "/device/gyro": [], "/frame": []}
        for topic, at, _, _ in raw_log.stamped(log):
            times.setdefault(topic, []).append(at // 1000000)
        self.assertEqual(len(times["/frame"]), 3000)
        for topic, every in (("/plant", 100), ("/device/gyro", 50)):
            wanted = sorted(set(range(every, 3001, every)) | set(range(1400, 1701)))
            self.assertEqual(sorted(times[topic]), wanted, topic)
        self.assertEqual(self.report["log"]["thinned"], 6000 - len(times["/plant"])
                         - len(times["/device/gyro"]))
        info = self.info(log)
        self.assertEqual([c["missing"] for c in info["channels"]], [0] * len(info["channels"]))
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("3000 of 3000", out)

    def test_an_overrun_makes_a_decimated_channel_whole_too(self):
        log = self.record("--seconds", "2", "--inject", "late=20ms@1s", "--set",
                          "log.channels=[{topic: /plant, every: 1000}]", "--set",
                          "log.trigger={when: [overrun], before: 50 ms, after: 50 ms}")
        plant = {at // 1000000 for topic, at, _, _ in raw_log.stamped(log) if topic == "/plant"}
        self.assertLessEqual(set(range(950, 1051)), plant)
        code, out, err = self.call("timing", log)
        self.assertIn(code, (0, 1), out + err)

    # ---- a crash ----

    def kill_one(self, folder, number):
        """Kill a run at a random moment; what is missing must be younger than LOSS_S
        and what the machine took away."""
        log, new = folder / f"run{number}.mcap", folder / f"new{number}.mcap"
        witness = Witness()
        port = harness.free_port()
        process = self.start("run", harness.SATELLITE, "--external-board", "--seconds", "60", "--log",
                             log, "--set", f"links.board.listen=127.0.0.1:{port}")
        try:
            witness.socket.settimeout(0.1)
            while not witness.seen:
                witness.socket.sendto(wire.heartbeat(), ("127.0.0.1", port))
                try:
                    witness.take()
                except TimeoutError:
                    self.assertIsNone(process.poll())
            witness.socket.settimeout(10)
            witness.watch(random.uniform(0.2, 1.6))
            killed = time.monotonic()
            process.kill()
        finally:
            process.kill()
            process.communicate(timeout=30)
            witness.close()
        code, out, err = self.call("log", "recover", log, new)
        self.assertEqual(code, 0, out + err)
        frames = raw_log.frames(new)
        self.assertEqual([frame[0] for frame in frames], list(range(len(frames))))
        # The sample of (k + 1) h leaves when frame k is over and recorded.
        due = witness.sim_us_at(killed - LOSS_S - witness.outage()) // 1000
        self.assertGreaterEqual(len(frames), due, f"run {number}")
        return new, len(frames), due, witness.sim_us_at(killed) // 1000 - len(frames)

    def test_a_killed_run_loses_at_most_half_a_second(self):
        # Where there is no disk that others may keep busy for longer than that: all that was written is there.
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
            self.kill_all(pathlib.Path(folder))

    def kill_all(self, folder):
        results = [self.kill_one(folder, number) for number in range(KILLS)]
        tested = sum(due > 0 for _, _, due, _ in results)
        worst = max(lost for *_, lost in results)
        print(f"{KILLS} runs killed: {tested} had records older than {LOSS_S} s, all are there; at most "
              f"{worst} frames of 1 ms lost")
        self.assertGreater(tested, 0)
        longest = max(results, key=lambda result: result[1])[0]
        self.assertEqual(self.info(longest)["lost"]["missing_records"], 0)
        foreign = harness.count_records(longest)
        if foreign is not None:
            self.assertEqual(foreign, self.info(longest)["records"])
        code, out, err = self.call("replay", longest)
        self.assertEqual(code, 0, out + err)


if __name__ == "__main__":
    harness.main()
