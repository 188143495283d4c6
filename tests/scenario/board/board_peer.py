"""The simulator's side of the board's wires by hand, and the plain vehicles that are controlled over them.

Nothing here looks at a clock: a board in lockstep answers the same messages with the same numbers."""
import json
import math
import os
import pathlib
import pty
import select
import socket
import struct
import subprocess
import sys
import tty

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import wire

wire.EXTRA.update({21: 159, 22: 220, 23: 168, 111: 34, 113: 124, 115: 4, 138: 109})
PARAM_REQUEST_LIST, PARAM_VALUE, PARAM_SET, TIMESYNC, GPS, TRUTH, TRACKER = 21, 22, 23, 111, 113, 115, 138
BOARD = harness.AIRBEARING.parent / "board"
PATIENCE_S = 60
ACCEL, GYRO, FIELD, PRESSURE = 0x7, 0x38, 0x1C0, 0x1A00
ALL = ACCEL | GYRO | FIELD | PRESSURE
NAN = math.nan


def sensor(time_us, gyro=(0, 0, 0), accel=(0, 0, -9.80665), field_gauss=(0.21, 0.01, 0.42), pressure_hpa=956.0,
           fields=ALL, instrument=0):
    return wire.SENSOR, struct.pack("<Q13fIB", time_us, *accel, *gyro, *field_gauss, pressure_hpa, 0, 0, 20, fields,
                                    instrument)


def gps(time_us, latitude, longitude, altitude, velocity, fix=3, instrument=0):
    return GPS, struct.pack("<Qiii6hHBBB", time_us, round(latitude * 1e7), round(longitude * 1e7),
                            round(altitude * 1e3), 0, 0, 0, *(round(v * 100) for v in velocity), 0, fix, 10,
                            instrument)


def truth(time_us, attitude):
    return TRUTH, struct.pack("<Q7f3i8h", time_us, *attitude, *([0] * 14))


def tracker(time_us, attitude):
    return TRACKER, struct.pack("<Q7f", time_us, *attitude, 0, 0, 0)


def status(state, kind=0):
    return wire.HEARTBEAT, struct.pack("<IBBBBB", 0, kind, 0, 0, state, 3)


def order(command, *parameters):
    values = list(parameters) + [0.0] * (7 - len(parameters))
    return wire.COMMAND_LONG, struct.pack("<7fHBBB", *values, command, 1, 1, 0)


def fill(payload, size):
    """MAVLink 2 leaves zeros at the end out."""
    return payload + bytes(size - len(payload))


def read_controls(payload):
    """time_us, flags, the 16 controls, mode."""
    time_us, flags, *rest = struct.unpack("<QQ16fB", fill(payload, 81))
    return time_us, flags, rest[:16], rest[16]


def is_bound(port):
    """Whether a program listens on a UDP port, without going there."""
    return any(line.split()[1].endswith(f":{port:04X}")
               for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:])


class Case(golden.Case):
    """A board that the test ends in order, as its user would: what it says last is part of the test."""

    def board(self, *arguments):
        """Its simulator may stand still for longer than the usual 5 s, unless the test is about that."""
        patient = () if "--timeout" in arguments or "--connect" not in arguments else ("--timeout", PATIENCE_S)
        self.process = self.spawn([BOARD, *map(str, (*patient, *arguments))], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
        return self.process

    def last_words(self, code=0):
        out, err = self.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(self.process.returncode, code, out + err)
        return out + err

    def meet_px4(self, *arguments):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(PATIENCE_S)
            self.board("--wire", "px4", "--connect", f"127.0.0.1:{server.getsockname()[1]}", *arguments)
            self.line = Line(server.accept()[0])
        self.addCleanup(self.line.close)
        self.greeting = [self.line.next(), self.line.next()]
        return self.line


class Line:
    """MAVLink over a byte stream or over datagrams from one place."""

    def __init__(self, end):
        self.end, self.rest, self.sequence, self.waiting = end, b"", 0, []
        end.settimeout(PATIENCE_S)
        if end.type == socket.SOCK_STREAM:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.end.close()

    def send(self, *messages, spoil=False):
        frames = b""
        for message, payload in messages:
            frames += wire.frame(message, payload, self.sequence, component=200)
            self.sequence += 1
        self.end.sendall(wire.spoil(frames) if spoil else frames)

    def next(self):
        """(message id, payload, whole frame)."""
        while not self.waiting:
            data = self.end.recv(65536)
            if not data:
                raise AssertionError("the board hung up")
            self.waiting, self.rest = wire.split(self.rest + data)
        return self.waiting.pop(0)

    def await_(self, message):
        while True:
            found, payload, _ = self.next()
            if found == message:
                return payload

    def exchange(self, *messages):
        """What answers these messages, of which the last one asks for it."""
        self.send(*messages)
        return read_controls(self.await_(wire.CONTROLS))

    def is_silent(self, seconds=0.3):
        return not self.waiting and not select.select([self.end], [], [], seconds)[0]


def row(time_us, mode, controls, count):
    return f"{time_us} {mode:#04x} " + " ".join(f"{value + 0.0:.9f}" for value in controls[:count])


# ---- a quadrotor without air, and its instruments -----------------------------------------------

MOTORS = ((1, 1, 1), (-1, -1, 1), (1, -1, -1), (-1, 1, -1))  # forward, right, turn of the body
LATITUDE, LONGITUDE, ALTITUDE, GRAVITY = 47.397742, 8.545594, 488.0, 9.80665
FIELD_GAUSS = (0.215, 0.010, 0.427)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def multiply(a, b):
    return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]]


def turned(q, v):
    """v in world axes."""
    return multiply(multiply(q, [0.0, *v]), [q[0], -q[1], -q[2], -q[3]])[1:]


def seen(q, v):
    """v of the world in body axes."""
    return turned([q[0], -q[1], -q[2], -q[3]], v)


class Quad:
    def __init__(self, heading=0.4, mass=1.5, inertia=(0.029, 0.029, 0.055), max_thrust=7.0, arms=(0.22, 0.20),
                 drag_ratio=0.016):
        self.mass, self.inertia, self.max_thrust, self.arms = mass, inertia, max_thrust, arms
        self.drag_ratio = drag_ratio
        self.position, self.velocity, self.rate = [0.0] * 3, [0.0] * 3, [0.0] * 3
        self.attitude = [math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)]
        self.force = [0.0, 0.0, -GRAVITY]  # specific, body axes
        self.wind = [0.0] * 3  # its push, m/s^2

    def step(self, commands, seconds):
        thrust = [self.max_thrust * u * u for u in commands[:4]]
        lift = sum(thrust) / self.mass
        torque = [-self.arms[1] * sum(m[1] * t for m, t in zip(MOTORS, thrust)),
                  self.arms[0] * sum(m[0] * t for m, t in zip(MOTORS, thrust)),
                  self.drag_ratio * sum(m[2] * t for m, t in zip(MOTORS, thrust))]
        push = turned(self.attitude, [0.0, 0.0, -lift])
        gains = [push[i] + self.wind[i] for i in range(3)]
        if self.position[2] >= 0.0 and gains[2] + GRAVITY >= 0.0:  # it stands
            self.velocity, self.rate, self.position[2] = [0.0] * 3, [0.0] * 3, 0.0
            self.force = seen(self.attitude, [0.0, 0.0, -GRAVITY])
            return
        self.force = seen(self.attitude, gains)
        spin = cross(self.rate, [i * w for i, w in zip(self.inertia, self.rate)])
        for i in range(3):
            self.rate[i] += (torque[i] - spin[i]) / self.inertia[i] * seconds
            self.velocity[i] += (gains[i] + (GRAVITY if i == 2 else 0.0)) * seconds
            self.position[i] += self.velocity[i] * seconds
        turn = multiply(self.attitude, [0.0, *self.rate])
        self.attitude = [q + 0.5 * d * seconds for q, d in zip(self.attitude, turn)]
        size = math.sqrt(sum(q * q for q in self.attitude))
        self.attitude = [q / size for q in self.attitude]

    def sensor(self, time_us, **more):
        height = ALTITUDE - self.position[2] + 0.01 * (time_us // 10000 * 7919 % 11 - 5)  # it is never quite still
        seen_now = {"gyro": [w + b for w, b in zip(self.rate, (0.005, -0.004, 0.003))], "accel": self.force,
                    "field_gauss": seen(self.attitude, FIELD_GAUSS),
                    "pressure_hpa": 1013.25 * (1 - 0.0065 * height / 288.15) ** 5.25588}
        return sensor(time_us, **{**seen_now, **more})

    def gps(self, time_us, **more):
        return gps(time_us, LATITUDE + math.degrees(self.position[0] / 6358000.0),
                   LONGITUDE + math.degrees(self.position[1] / 4326000.0), ALTITUDE - self.position[2],
                   self.velocity, **more)

    def as_json(self, seconds, euler=False):
        """What ArduPilot's simulators say."""
        w, x, y, z = self.attitude
        attitude = {"attitude": [math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
                                 math.asin(2 * (w * y - z * x)),
                                 math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]} if euler else \
            {"quaternion": self.attitude}
        said = {"timestamp": seconds, "imu": {"gyro": self.rate, "accel_body": self.force},
                "position": self.position, **attitude, "velocity": self.velocity}
        return "\n" + json.dumps(said, separators=(",", ":")) + "\n"

    def fdm(self, seconds):
        """What Betaflight's simulators say."""
        return struct.pack("<18d", seconds, *self.rate, *self.force, *self.attitude, *self.velocity, *self.position,
                           95600.0)


def pseudo_terminal():
    """The simulator's end of a serial line, and the name of the board's."""
    ours, theirs = pty.openpty()
    tty.setraw(ours)
    return ours, theirs, os.ttyname(theirs)
