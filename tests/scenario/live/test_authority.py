#!/usr/bin/env python3
"""Which client may command a run that is served, and a hand controller on the page."""
import base64
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log

HAND = harness.SCENARIOS / "hand.yaml"
RMS = harness.SCENARIOS / "rms.yaml"
HOLD, TOOL, SAFE = 1 << 0, 1 << 2, 1 << 10  # buttons of that arm
PEER = harness.ROOT / "tests" / "scenario" / "live" / "fly_peer.mjs"
HAS_PEERS = shutil.which("node") and (harness.PEERS / "node_modules" / "ws").is_dir()
# The same link as in the scenario, but for its wire.
LINK = ("links.hand={name: hand, protocol: hand, bus: cockpit, body: bus, lost_after: 300 ms, axes: "
        "[{axis: x, control: 0, invert: true}, {axis: rz, control: 2, invert: true}], modes: [0, 1]}")

# One that ends by itself, and one that is over before anybody looks.
FAULTS = """
faults:
  - {name: lean, device: gyro, type: bias, when: operator, for: 1 s, value: 1 deg/s}
  - {name: blink, device: gyro, type: bias, when: operator, for: 1 ms, value: 1 deg/s}
"""


def picture(x=0.0, buttons=0, sent_us=None):
    """As io/protocol/hand.h has it."""
    axes = struct.pack("<24f", x, *[0.0] * 23)
    if sent_us is None:
        return b"HAND" + struct.pack("<II", 1, buttons) + axes
    return b"HAND" + struct.pack("<II", 2, buttons) + axes + struct.pack("<Q", sent_us)


PATIENCE_S = 60


class Refused(Exception):
    """The HTTP status with which a client was refused."""


class Client:
    """A viewer by the protocol's own text, without any library."""

    def __init__(self, port, query="", **headers):
        self.wire = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.stream = self.wire.makefile("rb")
        more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wire.sendall((f"GET /{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                           f"Connection: Upgrade\r\nSec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}"
                           f"\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n{more}\r\n")
                          .encode())
        status = int(self.stream.readline().split()[1])
        if status != 101:
            self.close()
            raise Refused(status)
        while self.stream.readline() != b"\r\n":
            pass
        self.heard, self.calls = [], 0
        self.info = self.wait(op="serverInfo")
        self.channels = {c["topic"]: c["id"] for c in self.wait(op="advertise")["channels"]}
        self.services = {s["name"]: s["id"] for s in self.wait(op="advertiseServices")["services"]}
        self.number = int(self.info["metadata"]["viewer"])

    def close(self):
        self.stream.close()
        self.wire.close()

    def send(self, payload):
        """Text, or bytes; the mask is zero."""
        binary = isinstance(payload, bytes)
        data = payload if binary else json.dumps(payload).encode()
        self.wire.sendall(bytes([0x82 if binary else 0x81, 0x80 | 126]) + struct.pack(">H", len(data))
                          + bytes(4) + data)

    def message(self):
        head = self.stream.read(2)
        if len(head) < 2:
            raise EOFError
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(self.stream.read(2 if size == 126 else 8), "big")
        data = self.stream.read(size)
        if head[0] & 15 == 9:  # a ping: still here
            self.wire.sendall(bytes([0x8a, 0x80 | len(data)]) + bytes(4) + data)
            return {"op": ""}
        if head[0] & 15 == 1:
            return json.loads(data)
        return {"op": f"binary {data[0]}" if data else "", "data": data}

    def messages(self):
        """One after the other, but not for ever: a run that is served never falls silent."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            yield self.message()
        raise AssertionError(f"what was waited for did not come within {PATIENCE_S} s")

    def wait(self, **wanted):
        """The next message that has all of this, among those that were not asked for yet, too."""
        def fits(said):
            return all(said.get(key) == value for key, value in wanted.items())
        for i, said in enumerate(self.heard):
            if fits(said):
                return self.heard.pop(i)
        for said in self.messages():
            if fits(said):
                return said
            self.heard.append(said)

    def call(self, name, /, **request):
        """Did it work, and what was said."""
        self.calls += 1
        self.send(b"\2" + struct.pack("<III", self.services[name], self.calls, 4) + b"json"
                  + json.dumps(request).encode())
        for said in self.messages():
            if said["op"] == "serviceCallFailure" and said["callId"] == self.calls:
                return False, said["message"]
            if said["op"] == "binary 3" and struct.unpack_from("<I", said["data"], 5)[0] == self.calls:
                answer = json.loads(said["data"][17:])
                return answer["success"], answer["message"]
            self.heard.append(said)

    def subscribe(self, topic):
        self.send({"op": "subscribe", "subscriptions": [{"id": 77, "channelId": self.channels[topic]}]})

    def authority(self, holder, asking):
        """Waits until the channel says so."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            said = self.wait(op="binary 1")["data"]
            if struct.unpack_from("<I", said, 1)[0] == 77 and \
                    struct.unpack_from("<II", said, 13 + 4) == (holder, asking):
                return struct.unpack_from("<I", said, 13 + 12)[0]
        raise AssertionError(f"nobody told of {holder} and {asking}")

    def desk(self):
        """The run status, as the next message has it: paused, faults."""
        data = self.wait(op="binary 1")["data"]
        paused, count = struct.unpack_from("<?3xI", data, 13 + 4)
        return paused, list(data[13 + 12:13 + 12 + count])

    def event(self, begin):
        """The next line of /log that begins so."""
        while True:
            data = self.wait(op="binary 1")["data"]
            size = struct.unpack_from("<I", data, 13 + 4 + 12)[0]
            text = data[13 + 4 + 16:13 + 4 + 16 + size - 1].decode()
            if text.startswith(begin):
                return text

    def take_stick(self):
        self.send({"op": "advertise", "channels": [{"id": 5, "topic": "/hand", "encoding": "hand",
                                                    "schemaName": "hand"}]})

    def move(self, picture):
        self.send(b"\1" + struct.pack("<I", 5) + picture)


class Crowd(threading.Thread):
    """Connections that never make a whole request, and are made again when they are closed."""
    HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "

    def __init__(self, port, count):
        super().__init__(daemon=True)
        self.port, self.made, self.left = port, 0, 0
        self.ended = self.stays_away = False
        self.wires = [None] * count

    def make(self, kind):
        wire = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        self.made += 1
        wire.setblocking(False)
        with contextlib.suppress(OSError):
            wire.send((b"", self.HALF, self.HALF[:1])[kind % 3])
        return wire

    def is_gone(self, wire, kind):
        try:
            if kind % 3 == 2:
                wire.send(b"x")
            return wire.recv(1) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def run(self):
        while not self.ended:
            for i, wire in enumerate(self.wires):
                if wire is not None and self.is_gone(wire, i):
                    wire.close()
                    self.wires[i] = None
                if self.wires[i] is None and not self.stays_away and not self.ended:
                    with contextlib.suppress(OSError):
                        self.wires[i] = self.make(i)
            self.left = sum(wire is not None for wire in self.wires)
            time.sleep(0.05)

    def end(self):
        self.ended = True
        self.join()
        for wire in self.wires:
            if wire is not None:
                wire.close()


class Authority(harness.Case):
    numbers = itertools.count()

    def serve(self, scenario, *options):
        """A run, its port and the query of the address that it printed."""
        report = self.dir / f"report{next(self.numbers)}.json"
        run = self.start("run", scenario, "--serve", "0", "--report", report, *options)
        run.report = report
        line = run.stderr.readline()
        found = re.fullmatch(r"live on http://127\.0\.0\.1:(\d+)/(\?\S+)?( \(.*\))?\n", line)
        self.assertTrue(found, line)
        run.line = line
        return run, int(found[1]), found[2] or ""

    def client(self, *arguments, **headers):
        client = Client(*arguments, **headers)
        self.addCleanup(client.close)
        return client

    def assert_refused(self, status, *arguments, **headers):
        with self.assertRaises(Refused) as refused:
            Client(*arguments, **headers)
        self.assertEqual(refused.exception.args[0], status)

    def end(self, run):
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        return json.loads(run.report.read_text()), out + err

    def test_the_address_that_is_printed_lets_command_and_without_it_one_looks_on(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600", "--set",
                                      "tunable=[devices.gyro.bias]")
        self.assertRegex(query, r"^\?operator=[0-9a-f]{32}$")
        watcher = self.client(port)
        self.assertEqual(watcher.info["metadata"]["operator"], "no")
        for name, request in (("/pause", {}), ("/step", {"frames": 1}), ("/authority/take", {})):
            done, said = watcher.call(name, **request)
            self.assertFalse(done)
            self.assertIn("?operator=", said)
        watcher.send({"op": "getParameters", "id": "all", "parameterNames": []})
        first = watcher.wait(op="parameterValues", id="all")["parameters"][0]
        watcher.send({"op": "setParameters", "id": "set",
                      "parameters": [{"name": first["name"], "value": first["value"] + 0.5}]})
        self.assertIn("?operator=", watcher.wait(op="status", level=2)["message"])
        self.assertEqual(watcher.wait(op="parameterValues", id="set")["parameters"], [first])
        pilot = self.client(port, query)
        self.assertEqual(pilot.info["metadata"]["operator"], "yes")
        self.assertTrue(pilot.call("/pause")[0])
        self.assertTrue(pilot.call("/resume")[0])
        report, _ = self.end(run)
        self.assertEqual(report["live"]["viewers"], 2)

    def test_a_wrong_operator_token_is_refused_at_the_connection(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        token = query.partition("=")[2]
        self.assert_refused(403, port, "?operator=" + "0" * 32)
        self.assert_refused(403, port, "?operator=" + token[:-1])
        self.assert_refused(403, port, Authorization="Operator nobody")
        self.client(port, Authorization=f"Operator {token}")
        report, _ = self.end(run)
        self.assertEqual((report["live"]["viewers"], report["live"]["refused"]), (1, 3))

    def test_tokens_that_are_given_by_hand_are_printed_as_an_address_wants_them(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600", "--operator-token", "a b&c",
                                      "--token", "in?")
        self.assertEqual(query, "?token=in%3F&operator=a%20b%26c")
        self.assertEqual(self.client(port, query).info["metadata"]["operator"], "yes")
        self.end(run)

    def test_tokens_of_files_are_printed_nowhere(self):
        """Neither in the address nor in what the run prints, its log, its report or its page."""
        watcher, operator = self.dir / "watcher", self.dir / "operator"
        secrets = {watcher: "open-sesame-17", operator: "command-sesame-18"}
        for path, secret in secrets.items():
            path.write_text(secret + "\n")
        log = self.dir / "run.mcap"
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600", "--token-file", watcher,
                                      "--operator-token-file", operator, "--log", log)
        self.assertEqual(query, "")
        self.assertIn(f"(token= is in {watcher}) (operator= is in {operator})", run.line)
        query = f"?token={secrets[watcher]}&operator={secrets[operator]}"
        pilot = self.client(port, query)
        self.assertTrue(pilot.call("/pause")[0])
        self.assertTrue(pilot.call("/resume")[0])
        self.assert_refused(403, port, f"?token={secrets[watcher]}&operator={secrets[operator]}x")
        self.assert_refused(401, port, f"?token={secrets[watcher]}x")
        command = pathlib.Path(f"/proc/{run.pid}/cmdline").read_text()
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/{query}").read()
        report, said = self.end(run)
        told = [run.line, said, json.dumps(report), command, repr(page), repr(pilot.info),
                log.read_bytes().decode("latin-1")]
        told += [repr(payload) for _, payload in raw_log.messages(log)]
        for secret in secrets.values():
            self.assertFalse([text for text in told if secret in text], secret)

    def test_tokens_are_given_by_hand_or_file(self):
        path = self.dir / "operator"
        path.write_text("a b&c\n")
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600", "--operator-token-file", path,
                                      "--token", "in?")
        self.assertEqual(query, "?token=in%3F")
        self.assertEqual(self.client(port, query + "&operator=a%20b%26c").info["metadata"]["operator"], "yes")
        self.assertEqual(self.client(port, "?token=in%3F").info["metadata"]["operator"], "no")
        self.assert_refused(401, port, "?operator=a%20b%26c")
        self.end(run)
        for options in (["--operator-token", "x"], ["--operator-token-file", path]):
            code, _, err = self.call("run", harness.TUMBLE, *options)
            self.assertEqual(code, 64)
            self.assert_one_line(err, "go with --serve")
        for options in (["--operator-token", ""], ["--operator-token-file", self.dir / "none"],
                        ["--operator-token-file", "/dev/null"]):
            code, _, err = self.call("run", harness.TUMBLE, "--serve", "0", *options)
            self.assertEqual(code, 2, err)
            self.assert_one_line(err, "operator")

    def test_a_token_that_does_not_fit_is_refused_and_not_cut(self):
        path = self.dir / "token"
        for name in ("--token", "--operator-token"):
            for size, fits in ((255, True), (256, False), (300, False)):
                path.write_text("a" * size + "\n")
                for option in ([name, "a" * size], [name + "-file", path]):
                    if fits:
                        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600", *option)
                        self.client(port, query if option[0] == name else
                                    f"?{name[2:].removesuffix('-token')}={'a' * size}")
                        self.end(run)
                        continue
                    code, _, err = self.call("run", harness.TUMBLE, "--serve", "0", *option)
                    self.assertEqual(code, 2, err)
                    self.assert_one_line(err, f"{option[0]}: a token has at most 255 characters")

    def test_one_commands_and_hands_over(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        one, two, watcher = self.client(port, query), self.client(port, query), self.client(port)
        watcher.subscribe("/authority")
        watcher.authority(0, 0)
        self.assertTrue(one.call("/pause")[0])
        self.assertEqual(watcher.authority(one.number, 0), 3)
        held = f"viewer {one.number} has authority; it can hand it over, or leave"
        self.assertEqual(two.call("/resume"), (False, held))
        self.assertEqual(two.call("/authority/take"), (False, held))
        self.assertTrue(two.call("/authority/ask")[0])
        self.assertEqual(one.wait(op="status", id="authority")["message"],
                         f"viewer {two.number} asks for authority")
        watcher.authority(one.number, two.number)
        self.assertEqual(one.call("/authority/give"), (True, f"viewer {two.number} has authority now"))
        watcher.authority(two.number, 0)
        self.assertFalse(one.call("/resume")[0])
        two.close()  # whoever leaves lays it down
        watcher.authority(0, 0)
        self.assertTrue(one.call("/resume")[0])
        self.end(run)

    def test_viewers_do_not_keep_an_operator_out(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        watchers = []
        for _ in range(60):
            watchers.append(self.client(port))
            for each in watchers:  # who says nothing for long is let go
                each.send({"op": "subscribeConnectionGraph"})
        self.assert_refused(503, port)
        self.assert_refused(503, port, "?operator=none")
        for _ in range(16):
            pilot = self.client(port, query)
        self.assertTrue(pilot.call("/pause")[0])
        self.assert_refused(503, port, query)
        report, _ = self.end(run)
        self.assertEqual((report["live"]["viewers"], report["live"]["refused"]), (76, 3))

    def test_half_open_connections_keep_no_client_out(self):
        """700 that say nothing, half of a request, or a byte now and then, and come back when they are let go."""
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        crowd = Crowd(port, 700)
        self.addCleanup(crowd.end)
        crowd.start()
        self.assertTrue(harness.wait_until(lambda: crowd.made >= 700), crowd.made)
        pilots = [self.client(port, query) for _ in range(7)]
        for pilot in pilots:
            self.assertEqual(pilot.info["metadata"]["operator"], "yes")
            for name in ("/authority/take", "/pause", "/resume", "/authority/give"):
                done, said = pilot.call(name)
                self.assertTrue(done, f"{name}: {said}")
        watcher = self.client(port)
        self.assertEqual(watcher.info["metadata"]["operator"], "no")
        watcher.subscribe("/live")
        watcher.wait(op="binary 1")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE_S) as page:
            self.assertEqual(page.status, 200)
        crowd.stays_away = True
        self.assertTrue(harness.wait_until(lambda: crowd.left == 0), crowd.left)
        self.assertTrue(pilots[0].call("/pause")[0])
        report, _ = self.end(run)
        self.assertEqual(report["live"]["viewers"], 8)
        self.assertGreaterEqual(report["live"]["dismissed"], 700)

    def test_a_client_that_vanishes_or_stops_in_the_handshake_is_closed(self):
        """The server is patient with both; they wait for it at the same time."""
        with concurrent.futures.ThreadPoolExecutor() as side_by_side:
            checks = [side_by_side.submit(check) for check in (
                self.check_that_who_vanished_has_authority_no_more,
                self.check_that_nobody_stays_in_the_door)]
            for check in checks:
                check.result()

    def check_that_who_vanished_has_authority_no_more(self):
        """Without a message."""
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        one, two = self.client(port, query), self.client(port, query)
        two.subscribe("/authority")
        self.assertTrue(one.call("/pause")[0])  # and from here on it neither reads nor answers
        two.authority(one.number, 0)
        self.assertEqual(two.authority(0, 0), 1)
        self.assertTrue(two.call("/resume")[0])
        self.end(run)

    # ---- hands

    def test_a_hand_from_the_page_flies_and_the_log_replays(self):
        log = self.dir / "run.mcap"
        run, port, query = self.serve(HAND, "--set", LINK, "--seconds", "3600", "--log", log, "--set",
                                      'expect=["rate > 1 deg/s within 50 s"]')
        pilot, other = self.client(port, query), self.client(port, query)
        self.assertIn("clientPublish", pilot.info["capabilities"])
        self.assertIn("hand", pilot.info["supportedEncodings"])
        pilot.take_stick()
        other.take_stick()
        pilot.wait(op="binary 2")  # time goes by: what comes before the first frame is no move
        for i in range(100):
            pilot.move(picture(x=min(0.02 * i, 1.0), buttons=i % 3))
            other.move(picture(x=-1.0))
            time.sleep(0.01)
        self.assertIn("has authority", other.wait(op="status", level=1, id="hand")["message"])
        self.assertTrue(pilot.call("/authority/take")[0])  # answered in turn: the pictures are all in
        pilot.close()  # the page goes away: the stick is let go, and then silence is its loss
        time.sleep(1.0)
        report, said = self.end(run)
        self.assertEqual(run.returncode, 130, said)
        self.assertEqual({each["verdict"] for each in report["expect"]} - {"met"}, set(), said)
        link = report["links"][0]
        self.assertGreaterEqual(link["losses"], 1, said)
        self.assertIn(link["commands"], (100, 101))  # the last is that it lets go, if the run saw that
        self.assertEqual(link["rx_bad"], 0)
        self.assertGreater(report["loop_latency_ns"]["count"], 20)
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("all identical", out)
        self.assertIn(report["state_hash"], out)

    def test_what_the_last_hand_did_does_not_go_on_when_it_is_gone(self):
        """Long before its silence is a loss."""
        link = LINK.replace("300 ms", "3600 s")
        run, port, query = self.serve(HAND, "--set", link, "--seconds", "3600")
        watcher = self.client(port)
        watcher.subscribe("/input")

        def control():
            """The first of the next input that a frame latched (struct sim_record_input)."""
            return struct.unpack_from("<f", watcher.wait(op="binary 1")["data"], 13 + 4 + 56)[0]

        for leaves in (lambda pilot: pilot.close(), lambda pilot: pilot.call("/authority/give")):
            pilot = self.client(port, query)
            pilot.take_stick()
            pilot.move(picture(x=1.0))
            self.assertEqual(control(), -1.0)  # inverted
            leaves(pilot)
            self.assertEqual(control(), 0.0)
        report, _ = self.end(run)
        self.assertEqual(report["links"][0]["losses"], 0)

    # ---- an arm

    def fly(self, *options):
        """The arm, commanded by a pilot whose silence is no loss."""
        run, port, query = self.serve(RMS, "--seconds", "3600", "--set", "links.hand.lost_after=3600 s", *options)
        pilot = self.client(port, query)
        pilot.take_stick()
        pilot.wait(op="binary 2")
        pilot.move(picture())
        time.sleep(0.1)  # how it stands at first is no press
        pilot.move(picture(buttons=TOOL))
        pilot.move(picture(x=0.5))
        time.sleep(0.3)
        return run, port, query, pilot

    def test_what_is_pressed_in_a_pause_counts_however_often(self):
        for buttons, pause_s in ((SAFE, SAFE), 0.3), ((HOLD, TOOL, HOLD), 0.03), ((SAFE,) * 3, 0.03):
            run, _, _, pilot = self.fly()
            self.assertTrue(pilot.call("/pause")[0])
            for button in buttons:
                pilot.move(picture(x=0.5, buttons=button))
                time.sleep(pause_s)
                pilot.move(picture(x=0.5))
                time.sleep(pause_s)
            self.assertTrue(pilot.call("/resume")[0])
            time.sleep(0.5)
            report, _ = self.end(run)
            self.assertEqual((report["arm"]["mode"], report["arm"]["safed"]), ("hold", SAFE in buttons))

    def test_every_operator_and_no_other_client_may_stop_the_arm(self):
        log = self.dir / "safe.mcap"
        run, port, query, pilot = self.fly("--log", log)
        other, watcher = self.client(port, query), self.client(port)
        self.assertFalse(other.call("/pause")[0])  # the pilot has authority,
        done, said = watcher.call("/safe")
        self.assertFalse(done)
        self.assertIn("?operator=", said)
        done, said = other.call("/safe")
        self.assertTrue(done, said)
        self.assertIn("the arm stops before frame", said)
        pilot.move(picture(x=0.5))  # and flies no more,
        time.sleep(0.5)
        self.assertFalse(other.call("/pause")[0])  # though it still has it
        report, _ = self.end(run)
        self.assertEqual((report["arm"]["mode"], report["arm"]["safed"]), ("hold", True))
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn(report["state_hash"], out)

    def test_an_arm_is_stopped_at_a_given_frame_and_that_replays(self):
        log, path = self.dir / "act.mcap", self.dir / "act.json"
        code, out, err = self.call("run", RMS, "--seconds", "0.5", "--act", "0.2s:safe", "--log", log, "--report", path)
        self.assertEqual(code, 0, out + err)
        report = json.loads(path.read_text())
        self.assertTrue(report["arm"]["safed"])
        self.assertEqual(report["operator"]["acts"], 1)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn(report["state_hash"], out)

    def test_without_an_arm_there_is_nothing_to_stop(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        done, said = self.client(port, query).call("/safe")
        self.assertFalse(done)
        self.assertIn("there is no arm", said)
        self.end(run)

    def test_every_client_gets_the_run_status_also_one_that_comes_in_a_pause(self):
        scenario = self.dir / "faulty.yaml"
        scenario.write_text(harness.TUMBLE.read_text() + FAULTS)
        run, port, query = self.serve(scenario, "--seconds", "3600")
        pilot, watcher = self.client(port, query), self.client(port)
        pilot.subscribe("/desk")
        watcher.subscribe("/log")
        self.assertEqual(pilot.desk(), (False, [0, 0]))
        self.assertTrue(pilot.call("/pause")[0])
        self.assertEqual(pilot.desk(), (True, [0, 0]))
        self.assertTrue(pilot.call("/fault", name="lean", active=True)[0])
        self.assertEqual(pilot.desk(), (True, [1, 0]))
        late = self.client(port)
        late.subscribe("/desk")
        self.assertEqual(late.desk(), (True, [1, 0]))
        self.assertTrue(pilot.call("/resume")[0])
        for client in (pilot, late):
            self.assertEqual(client.desk(), (False, [1, 0]))
            self.assertEqual(client.desk(), (False, [0, 0]))  # its own end
        self.assertTrue(pilot.call("/reset")[0])
        self.assertTrue(pilot.call("/fault", name="lean", active=True)[0])
        self.assertEqual(pilot.desk(), (False, [1, 0]))
        self.assertEqual(pilot.desk(), (False, [0, 0]))
        self.assertTrue(pilot.call("/fault", name="blink", active=True)[0])
        self.assertEqual(pilot.desk(), (False, [0, 1]))
        self.assertEqual(pilot.desk(), (False, [0, 0]))
        for name in ("lean", "lean", "blink"):
            for what in ("begins", "ends"):
                self.assertEqual(watcher.event("fault "), f"fault {what}: {name}")
        self.end(run)

    def test_the_run_does_not_wait_for_a_hand_and_a_hand_that_never_came_is_not_lost(self):
        code, out, err = self.call("run", HAND, "--set", LINK, "--set", "links.hand.on_loss=stop", "--set",
                                   "links.hand.connect_within=60 s", "--seconds", "1", timeout=30)
        self.assertEqual(code, 0, out + err)
        self.assert_one_line(err, "links.hand: the page that commands this link is not served; give --serve PORT")
        code, _, err = self.call("run", HAND, "--set", LINK, "--seconds", "1", "--pace", "fast")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "cannot follow pace fast")

    def test_without_a_cockpit_link_a_hand_is_refused_with_a_reason(self):
        run, port, query = self.serve(harness.TUMBLE, "--seconds", "3600")
        pilot = self.client(port, query)
        self.assertNotIn("clientPublish", pilot.info["capabilities"])
        pilot.take_stick()
        self.assertIn("bus: cockpit", pilot.wait(op="status", level=1)["message"])
        self.end(run)

    @unittest.skipUnless(HAS_PEERS, "the packages of tools/peers are not installed")
    def test_the_protocols_own_client_flies_too(self):
        run, port, query = self.serve(HAND, "--set", LINK, "--seconds", "3600")
        peer = subprocess.run([*harness.NODE, PEER, f"ws://127.0.0.1:{port}/{query}", "100"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(peer.returncode, 0, peer.stderr)
        said = json.loads(peer.stdout)
        report, _ = self.end(run)
        # The last is that it lets go; on a busy machine some come so late that they are dropped.
        self.assertLessEqual(report["links"][0]["commands"], 101)
        self.assertEqual(report["links"][0]["rx_bad"], 0)
        # Its own clock came back to it with what the frames latched, in order.
        self.assertGreater(len(said["latched"]), 5)
        self.assertEqual(said["latched"], sorted(said["latched"]))
        self.assertTrue(set(said["latched"]) <= set(said["sent"]))

    def test_a_flooding_client_is_let_go_and_the_run_goes_on(self):
        run, port, query = self.serve(HAND, "--set", LINK, "--seconds", "3600")
        pilot = self.client(port, query)
        pilot.take_stick()
        pilot.move(picture())

        calls = bytes([0x82, 0x80 | 17]) + bytes(4) + b"\2" + bytes(8) + b"\4\0\0\0json"
        pieces = bytes([0x00, 0x80]) + bytes(4)  # of a message that never ends, and has nothing in it

        def pour(first, rest):
            stranger = Client(port)
            try:
                stranger.wire.sendall(first)
                for _ in range(20000):
                    stranger.wire.sendall(rest)
            except OSError:
                pass
            stranger.close()

        floods = [threading.Thread(target=pour, args=args) for args in
                  ((calls, calls), (calls, calls), (bytes([0x02]) + pieces[1:], pieces))]
        for flood in floods:
            flood.start()
        for _ in range(50):
            pilot.move(picture(x=0.5))
            time.sleep(0.01)
        for flood in floods:
            flood.join()
        self.assertTrue(pilot.call("/pause")[0])
        report, _ = self.end(run)
        # With a sanitizer the server may take less than a flood, however much is poured.
        self.assertIn(report["live"]["floods"], range(0 if harness.SANITIZED else 3, 4))
        self.assertEqual(report["links"][0]["commands"], 51)

    def knock(self, port, text):
        """A client that sends this and then neither reads nor goes on."""
        stranger = socket.socket()
        self.addCleanup(stranger.close)
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        stranger.settimeout(60)
        stranger.connect(("127.0.0.1", port))
        try:
            stranger.sendall(text)
        except OSError:
            pass  # let go before all was said
        return stranger

    def check_that_nobody_stays_in_the_door(self):
        """And the pilot flies on."""
        run, port, query = self.serve(HAND, "--set", LINK.replace("300 ms", "60 s"), "--seconds", "3600")
        pilot = self.client(port, query)
        pilot.take_stick()
        half = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-More: "
        strangers = [self.knock(port, text) for text in [b"", b"\x16\x03\x01" + bytes(200), half] * 50]
        for _ in range(30):  # a page that is fetched and not read
            self.knock(port, b"GET /cockpit.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        for size in (5000, 1000000):
            for line in (b"GET /?%s HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nOrigin: %s\r\n"):
                strangers.append(self.knock(port, line % (b"a" * size) + b"Host: 127.0.0.1\r\n\r\n"))
        sent = 0
        for stranger in strangers:  # each is let go, whatever it said, and nobody was let in
            while True:
                pilot.move(picture(x=0.5))
                sent += 1
                self.assertLess(sent, 20000, "somebody may stay in the door")
                try:
                    stranger.settimeout(0.02)
                    said = stranger.recv(65536)
                except TimeoutError:
                    continue
                except OSError:
                    break
                self.assertNotIn(b" 101 ", said)
                if not said:
                    break
        self.assertEqual(self.client(port).info["metadata"]["operator"], "no")
        self.assertTrue(pilot.call("/pause")[0])
        report, _ = self.end(run)
        self.assertEqual(report["links"][0]["losses"], 0)
        self.assertIn(report["links"][0]["commands"], (sent, sent + 1))


if __name__ == "__main__":
    harness.main()
