"""A run that stands still, as its viewers see it: every message to them, number for number."""
import json
import pathlib
import re
import signal
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import run_texts
import harness
import raw_log
import websocket

RMS = harness.SCENARIOS / "rms.yaml"
# By the wall clock.
MEASURED = {"start_error_us", "start_error_us_max", "busy_us", "busy_us_max", "margin_us", "margin_us_min", "overruns",
            "missed", "cause", "release_ns", "start_ns", "end_ns", "state_hash", "rx_ns", "ready_ns"}


def rows(value, path=""):
    """A line for each value; lists of numbers and vectors lie on one."""
    if isinstance(value, dict):
        value = {key: each for key, each in value.items() if key not in MEASURED and each != [] and each != ""}
    inner = list(value.values()) if isinstance(value, dict) else value
    if isinstance(value, (dict, list)) and not all(isinstance(each, (int, float)) for each in inner):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from rows(each, f"{path}.{key}" if path else str(key))
    else:
        said = inner if isinstance(value, (dict, list)) else [value]
        yield f"{path}: " + " ".join(each if isinstance(each, str) else run_texts.number(each) for each in said)


JOINT, BASE, GRAPPLE = 1 << 1, 1 << 3, 1 << 8  # buttons of rms.yaml


class Viewer:
    """One client; keeps the newest message of every topic, and all events."""

    def __init__(self, port, path):
        self.line, self.answer = websocket.connect(port, path)
        self.info, self.channels, self.services, self.newest, self.events = None, {}, {}, {}, []
        self.parameters, self.answers, self.calls, self.status = None, {}, 0, []
        while self.info is None or not self.channels or not self.services:
            self.hear()
        self.line.say("subscribe", subscriptions=[{"id": key, "channelId": key} for key in self.channels])

    def hear(self):
        opcode, payload = self.line.hear()
        if opcode == websocket.TEXT:
            self.hear_text(json.loads(payload))
        elif payload[0] == 1:
            key, = struct.unpack_from("<I", payload, 1)
            channel = self.channels[key]
            message = websocket.decode(channel["schema"], payload[13:])
            self.newest[channel["topic"]] = message
            if channel["topic"] == "/log":
                self.events.append((message["level"], message["name"], message["message"]))
        elif payload[0] == 3:
            call, size = struct.unpack_from("<II", payload, 5)
            self.answers[call] = json.loads(payload[13 + size:])

    def hear_text(self, said):
        op = said.pop("op")
        if op == "serverInfo":
            self.info = said
        elif op == "advertise":
            self.channels = {channel["id"]: channel for channel in said["channels"]}
        elif op == "advertiseServices":
            self.services = {service["name"]: service for service in said["services"]}
        elif op == "parameterValues":
            self.parameters = said["parameters"]
        elif op == "serviceCallFailure":
            self.answers[said["callId"]] = {"success": False, "message": said["message"]}
        elif op == "status":
            self.status.append(said["message"])

    def until(self, condition):
        while not condition():
            self.hear()

    def ask(self, service, **request):
        """What a service answers."""
        self.calls += 1
        data = json.dumps(request).encode()
        head = struct.pack("<BIII", 2, self.services[service]["id"], self.calls, 4)
        self.line.send(websocket.BINARY, head + b"json" + data)
        self.until(lambda: self.calls in self.answers)
        return self.answers[self.calls]

    def has(self, *topics):
        return all(topic in self.newest for topic in topics)


class Seen(run_texts.Case):
    def serve(self, scenario, *options, path="/?rate=all&operator=sesame"):
        """A run with a viewer that may command."""
        self.log, self.report = self.dir / "run.mcap", self.dir / "report.json"
        self.run_ = self.start("run", scenario, "--serve", "0", "--operator-token", "sesame", "--log", self.log,
                               "--report", self.report, *options)
        for line in self.run_.stderr:
            found = re.search(r"live on http://127.0.0.1:(\d+)/\?operator=sesame\n", line)
            if found:
                viewer = Viewer(int(found[1]), path)
                self.addCleanup(viewer.line.connection.close)
                return viewer
        self.fail(self.run_.communicate())

    def stop(self):
        self.run_.send_signal(signal.SIGINT)
        out, err = self.run_.communicate(timeout=60)
        self.assertEqual(self.run_.returncode, 130, out + err)
        return out

    def told(self, viewer, *topics):
        info = dict(viewer.info)
        self.assertRegex(info.pop("sessionId"), r"^\d+$")
        pairs = {key: json.loads(value) if value[0] in "[{" else value for key, value in info.pop("metadata").items()}
        lines = [*rows(info), *rows(pairs, "metadata")]
        lines += [f"channel {each['topic']} {each['encoding']} {each['schemaName']}" for each in viewer.channels.values()]
        lines += [f"service {name} {each['type']}" for name, each in viewer.services.items()]
        for topic in topics:
            lines += rows(viewer.newest[topic], topic)
        return "\n".join(lines) + "\n"

    def test_an_arm_after_one_frame(self):
        topics = ("/live", "/desk", "/plant", "/arm", "/tf", "/scene", "/scene/bent", "/tf/straight", "/scene/straight")
        viewer = self.serve(RMS, "--act", "0.001s:pause")
        viewer.until(lambda: viewer.has(*topics) and viewer.newest["/desk"]["paused"])
        self.assert_golden("arm.seen", self.told(viewer, *topics))
        self.stop()
        report = json.loads(self.report.read_text())
        self.assertEqual((report["frames"], report["ended"], report["live"]["viewers"]), (1, "signal", 1))
        self.assertEqual((report["live"]["refused"], report["live"]["floods"], report["live"]["dismissed"]), (0, 0, 0))
        self.assertGreaterEqual(report["live"]["sent"], len(topics))

    # ---- an arm that is flown step by step, while no clock counts

    def move(self, viewer, frames, buttons=0, **axes):
        """So many frames with the sticks like this."""
        now_us = time.monotonic_ns() // 1000
        stick = [axes.get(name, 0.0) for name in ("x", "y", "z", "rx", "ry", "rz")] + [0.0] * 18
        picture = b"HAND" + struct.pack("<II24fQ", 2, buttons, *stick, now_us)
        viewer.line.send(websocket.BINARY, struct.pack("<BI", 1, 7) + picture)
        time.sleep(0.2)
        self.expected.append((self.frames, now_us))
        self.step(viewer, frames)

    def step(self, viewer, frames):
        self.assertTrue(viewer.ask("/step", frames=frames)["success"])
        self.frames += frames
        viewer.until(lambda: viewer.newest["/frame"]["frame"] == self.frames - 1)

    def fly(self):
        """What the services answered."""
        viewer = self.serve(RMS, "--act", "0.001s:pause", "--set", "links.hand.lost_after=60 s")
        viewer.line.say("advertise", channels=[{"id": 7, "topic": "/hand", "encoding": "hand", "schemaName": "hand"}])
        viewer.until(lambda: viewer.has("/frame", "/desk"))
        self.frames, self.expected = 1, []
        self.move(viewer, 20)
        self.move(viewer, 20, buttons=JOINT)
        self.move(viewer, 300, x=1.0)
        self.move(viewer, 20, buttons=BASE)
        self.move(viewer, 300, x=0.5, y=-1.0, z=0.2, rx=0.7)
        self.move(viewer, 20, buttons=GRAPPLE)
        self.move(viewer, 20)
        answers = {"safe": viewer.ask("/safe"), "fault": viewer.ask("/fault", name="hand-lost", active=True),
                   "checkpoint": viewer.ask("/checkpoint", path="/tmp/x"),
                   "no fault": viewer.ask("/fault", name="x", active=True),
                   "none": viewer.ask("/step", frames=0)}
        self.step(viewer, 30)
        answers["reset"] = viewer.ask("/reset")
        self.step(viewer, 30)
        self.said = viewer
        return answers

    def test_viewers_get_every_message_of_an_arm(self):
        for _ in range(5):
            answers = self.fly()
            self.stop()
            latched = [struct.unpack_from("<QQQQQ", record) for topic, record in raw_log.messages(self.log)
                       if topic == "/input"]
            if [(frame, board_us) for frame, _, _, _, board_us in latched if board_us > 0] == self.expected:
                break
        else:
            self.skipTest("this machine is too busy to take a picture of a hand within 0.2 s")
        # Several threads tell of them, in no order.
        events = [f"{level} {name}: {event}\n" for level, name, event in self.said.events if "overran" not in event]
        text = "".join(sorted(events))
        text += "".join(f"{name}: {answer['success']} {answer['message']}\n" for name, answer in answers.items())
        self.assert_golden("arm.events", text)
        report = self.read_report(self.report)
        self.assert_golden("arm.report", run_texts.of_run({key: report[key] for key in ("frames", "arm", "operator")}))
        self.assert_golden("arm.log", "\n".join(self.channel_text("/arm", 9) + self.channel_text("/plant", 5)) + "\n")

    def channel_text(self, topic, samples):
        path = self.dir / "channel.csv"
        code, out, err = self.call("log", "export", self.log, "--csv", path, "--channel", topic)
        self.assertEqual(code, 0, out + err)
        return run_texts.records(path, samples, least=1e-5)


if __name__ == "__main__":
    harness.main()
