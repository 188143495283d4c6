"""A synthetic run at real pace: frames, jobs, commands and clocks by formula, so that its timing is known."""
import json
import random
import struct

import synthetic_log

PERIOD = 1_000_000
FIRST = 5_000_000_000
NONE, FAULT, SWITCH, IO, STOLEN, OWN, UNKNOWN = range(7)
JOBS = ("step", "hash", "tell <&\">")

SCENARIO = """name: made
rate: 1 kHz
seconds: 1 s
urdf: plate.urdf
devices:
  - {name: wheel, type: wheel, body: plate, axis: 1 0 0, inertia: 0.02 kg m^2, max_torque: 0.2 N m,
     max_speed: 6000 rpm, command: {link: board, control: 2}}
  - {name: still, type: wheel, body: plate, axis: 0 1 0, inertia: 0.02 kg m^2, max_torque: 0.2 N m,
     max_speed: 6000 rpm, command: {link: board, control: 3}}
links:
  - {name: board, protocol: mavlink, bus: udp, listen: 127.0.0.1:14560, body: plate}
"""
PLATE = """<robot name="made">
  <link name="ground"/>
  <link name="plate">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="turn" type="continuous">
    <parent link="ground"/><child link="plate"/><axis xyz="0 0 1"/>
  </joint>
</robot>
"""
REPORT = {
    "frames": 0, "overruns": 0, "missed": 0,
    "realtime": {"memory_locked": True, "met": True}, "ended": "done",
    "jobs": [{"name": "step", "predicted_ns": 95000}, {"name": "other", "predicted_ns": 17},
             {"name": JOBS[2], "predicted_ns": 6000}, {"name": "more", "predicted_ns": 5}],
    "allocations_after_seal": 0, "page_faults_after_seal": 3, "state_hash": "0123456789abcdef", "isa": "sse2",
}
DEFINITIONS = {
    "/frame": "uint64 frame\nuint64 release_ns # ns\nuint64 start_ns # ns\nuint64 end_ns # ns\nuint64 state_hash\n"
              "uint32 missed\nuint8 cause\nuint8 held\nuint32 paused\n",
    "/job": "".join(f"# job {i} {name}\n" for i, name in enumerate(JOBS))
            + "uint64 frame\nuint64 begin_ns # ns\nuint64 due\nuint32[3] spent_ns # ns\n",
    "/event": "uint64 frame\n", "/latency": "uint64 frame\n", "/clock": "uint64 monotonic_ns\n",
    "/input": "uint64 frame\n", "/device/wheel": "float64 out\nfloat64 other\n",
    "/device/still": "float64 out\nfloat64 other\n",
}


class Frame:
    """What is recorded of one frame."""

    def __init__(self, number):
        k = self.number = number
        self.release = FIRST + k * PERIOD
        self.error = 2000 + 7 * (k * 37 % 101)
        self.latch = 1000 + 10 * (k * 11 % 13)
        self.spent = [90000 + 100 * (k * 17 % 19), 20000 + 50 * (k * 7 % 11), 5000]
        self.due = 1 | (k % 2 == 0) << 1 | (k % 5 == 0) << 2
        self.after = 40000 + 100 * (k * 53 % 97)
        self.missed = self.cause = self.held = self.paused = 0
        self.is_told = self.has_jobs = True

    @property
    def start(self):
        return self.release + self.error

    @property
    def jobs(self):
        return self.start + self.latch

    @property
    def jobs_end(self):
        return self.jobs + sum(spent for j, spent in enumerate(self.spent) if self.due >> j & 1)

    @property
    def end(self):
        return self.jobs_end + self.after

    def record(self):
        return struct.pack("<QQQQQIBBxxI", self.number, self.release, self.start, self.end, 0, self.missed, self.cause,
                           self.held, self.paused)

    def job_record(self):
        return struct.pack("<QQQ3I", self.number, self.jobs, self.due, *self.spent)

    def event_record(self, await_ns=0, sent_ns=None, unanswered=0):
        sent_ns = self.start + self.latch // 2 if sent_ns is None else sent_ns
        return struct.pack("<9QI4B3I", self.number, self.release, self.start, await_ns, sent_ns, self.jobs, self.end,
                           self.end + 700, self.due, self.missed, self.cause, self.held, unanswered, 0, *self.spent)


class Run:
    """Frames, and what else its log shall have."""

    def __init__(self, count):
        self.frames = [Frame(k) for k in range(count)]
        self.others = []  # topic, time, payload
        self.metadata = {"version": "0.0.made", "scenario": "made <run>.yaml", "pace": "real", "overrun": "skip",
                         "period_ns": str(PERIOD), "binary_hash": "00112233445566aa", "isa": "sse2"}
        self.report = json.loads(json.dumps(REPORT))
        self.machine = {"findings": ["all is well"]}

    def shift(self, first, releases):
        """From this frame on everything is so many releases later."""
        for frame in self.frames[first:]:
            frame.release += releases * PERIOD

    def late(self, k, cause, **what):
        """A frame that is late by what is added to its parts, and what is lost by that."""
        frame = self.frames[k]
        frame.cause = cause
        for part, ns in what.items():
            if part == "spent":
                frame.spent = [spent + more for spent, more in zip(frame.spent, ns)]
            else:
                setattr(frame, part, getattr(frame, part) + ns)
        lost = (frame.end - frame.release) // PERIOD
        self.shift(k + 1, lost)
        self.frames[k + 1].missed = lost

    def count(self):
        """The report agrees with the frames."""
        told = [frame for frame in self.frames if frame.is_told]
        self.report.update(frames=len(told), missed=sum(frame.missed for frame in self.frames),
                           overruns=sum(frame.end - frame.release > PERIOD for frame in told))

    def write(self, path, scenario=SCENARIO, cut=False):
        log = synthetic_log.Log()
        log.metadata(self.metadata)
        for topic, definition in DEFINITIONS.items():
            log.channel(topic, definition)
        if scenario:
            log.attach("scenario.yaml", scenario.encode(), "application/yaml")
            log.attach("plate.urdf", PLATE.encode(), "text/plain")
        for frame in self.frames:
            at = frame.number * PERIOD
            if frame.is_told:
                log.message("/frame", at, frame.record())
            if frame.has_jobs:
                log.message("/job", at, frame.job_record())
            if frame.number % 500 == 499:
                log.chunk()
        for topic, at, payload in self.others:
            log.message(topic, at, payload)
        if log.waiting:
            log.chunk()
        if self.report is not None:
            log.attach("report.json", json.dumps(self.report).encode())
        if self.machine is not None:
            log.attach("machine.json", json.dumps(self.machine).encode())
        if cut:
            path.write_bytes(log.data)
            return path
        return log.write(path)


def command(frame, number, rx_ns, controls, kind=0, link=0):
    controls = (controls + [0.0] * 16)[:16]
    return struct.pack("<6QII16fBB", frame, number, rx_ns, rx_ns, 0, 0, number, 0, *controls, kind, link)


def clock(monotonic_ns, raw_ns, realtime_ns):
    return struct.pack("<3QI", monotonic_ns, raw_ns, realtime_ns, 50)


def latency(frame, rx_ns, parts, link):
    return struct.pack("<7QB", frame, rx_ns, *parts, link)


def troubled():
    """Late for every reason, and with everything that timing shows."""
    run = Run(500)
    run.late(10, OWN, spent=[1_050_000, 0, 0])
    run.late(20, STOLEN, error=1_500_000)
    run.late(30, SWITCH, latch=2_200_000)
    run.late(40, IO, after=960_000)
    run.late(50, FAULT, spent=[0, 1_000_000, 500])
    run.late(60, UNKNOWN, spent=[900_000, 0, 0], after=100_000)
    run.late(70, NONE, after=1_000_000)
    run.frames[80].has_jobs = False
    run.late(80, OWN, spent=[1_300_000, 0, 0])
    for k in range(100, 132, 2):
        run.late(k, STOLEN, after=900_000 + 1000 * k)
    run.frames[33].held = run.frames[34].held = run.frames[60].held = 1
    run.frames[150].paused = 40
    run.shift(150, 40)
    for k in (200, 201):
        run.frames[k].is_told = False
    run.count()
    for k in range(5, 500, 5):
        frame = run.frames[k]
        parts = [10_000 + 13 * k, 300_000 + 1000 * (k * 29 % 31), 100_000, 50_000 + k, 20_000 + 3 * k]
        run.others.append(("/latency", k * PERIOD, latency(k, frame.start - parts[0], parts, 0)))
        if k % 10 == 0:
            run.others.append(("/latency", k * PERIOD, latency(k, frame.start, parts[::-1], 2)))
    for i, k in enumerate(range(0, 500, 100)):
        at = run.frames[k].start
        run.others.append(("/clock", k * PERIOD, clock(
            at, at + 7000 + round(3e-6 * (at - FIRST)) + (i == 2) * 40, at + 10**18 - round(7e-6 * (at - FIRST)))))
    for k in range(8, 24):
        frame = run.frames[k]
        run.others.append(("/event", k * PERIOD, frame.event_record(
            sent_ns=frame.jobs_end + 500 if k in (10, 12) else None,
            await_ns=frame.release - 300 if k in (14, 15) else 0, unanswered=k == 15)))
    add_commands(run)
    return run


def add_commands(run, every=4, behind=7):
    """The wheel does what its command said so many frames before."""
    dice, asked = random.Random(7), [0.0] * len(run.frames)
    for k in range(len(run.frames)):
        asked[k] = 2.0 * dice.random() - 1.0 if k % every == 0 else asked[k - 1]
    for i, k in enumerate(range(0, len(run.frames), every)):
        frame = run.frames[k]
        run.others.append(("/input", k * PERIOD, command(k, i, frame.start, [9.0, 8.0, asked[k], 0.5])))
        run.others.append(("/input", k * PERIOD, command(k, i, frame.start, [5.0, 6.0, -asked[k], 0.5], link=1)))
        run.others.append(("/input", k * PERIOD, command(k, i, frame.start, [0.0] * 4, kind=1)))
    for k in range(behind, len(run.frames)):
        run.others.append(("/device/wheel", (k + 1) * PERIOD, struct.pack("<2d", 0.25 * asked[k - behind], 77.0)))
        run.others.append(("/device/still", (k + 1) * PERIOD, struct.pack("<2d", 0.125, 0.0)))
