"""The reference board, message by message: what it answers to synthetic sensors on each wire, in lockstep, against
reviewed numbers; and the texts and exit codes of its options and ends."""
import fcntl
import math
import os
import pathlib
import signal
import socket
import struct
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import board_peer
import golden
import harness
import wire
from board_peer import ACCEL, ALL, FIELD, GYRO, NAN, PRESSURE, Line, Quad, row, sensor, tracker, truth

golden.ABSOLUTE = 2e-6  # controls are single-precision numbers about 1
STEP_US = 10000


def attitude(angle, *axis):
    size = math.sqrt(sum(a * a for a in axis))
    return [math.cos(angle / 2)] + [math.sin(angle / 2) * a / size for a in axis]


class Satellite(board_peer.Case):
    """Gyro, magnetometer and star tracker tell of a body that turns as they say, whatever the wheels do."""

    def tumble(self, line, steps, star=tracker, scale=1.0):
        """Rows of answers; the first one that is armed included."""
        rows = []
        for step in range(1, steps + 1):
            time_us, t = step * 4000, step * 0.004
            gyro = [scale * v for v in (0.02 + 0.3 * t * t, -0.015 + 0.2 * t, 0.01 - 0.1 * t)]
            field = [0.2 + 0.05 * math.sin(7 * t), -0.1 + 0.3 * t, 0.3 * math.cos(5 * t)]
            told = [sensor(time_us, gyro, field_gauss=field)]
            if step % 5 == 0:
                told.insert(0, star(time_us - 1000, attitude(scale * (0.03 + 0.1 * t), 1.0, -0.5 + t, 0.25)))
            stamp, flags, controls, mode = line.exchange(*told)
            self.assertEqual((stamp, flags), (time_us, 1))
            self.assertEqual(controls[6:], [0.0] * 10)
            rows.append(row(stamp, mode, controls, 6))
        return rows

    def tell(self, *arguments, steps=60, every=60, **more):
        """Last answers, and what the board says of itself at its end."""
        line = self.meet_px4("--lock-after", 1, *arguments)
        rows = self.tumble(line, steps, **more)
        line.close()
        return [*rows[every - 1::every], self.last_words().strip()]

    def test_it_points_by_the_star_tracker(self):
        line = self.meet_px4("--lock-after", 1)
        rows = self.tumble(line, 150)
        line.close()
        self.assert_golden("board-satellite.txt", "\n".join([*rows[::3], self.last_words()]))

    def test_near_its_target_it_trims(self):
        self.assert_golden("board-satellite-near.txt", "\n".join(
            self.tell("--target", "0.99990,0.013,-0.004,0.003", steps=150, every=10, scale=0.2, star=truth)))

    def test_far_from_its_target_it_is_limited(self):
        self.assert_golden("board-satellite-far.txt", "\n".join(
            self.tell("--target", "-0.3,0.5,-0.1,0.8", steps=100, every=10) +
            self.tell("--target", "0.5,-0.5,0.5,0.5", "--torque", "20", steps=100, every=10, scale=3.0)))

    def test_each_option_has_its_effect(self):
        said = []
        for option in (["--target", "0.9,0.1,0.2,0.3"], ["--torque", "0.5"], ["--rate-limit", "0.4"],
                       ["--inertia", "7,5,3"], ["--authority", "0.3"], ["--attitude-gain", "0.6"],
                       ["--rate-gain", "1.1"], ["--trim-gain", "0"], ["--trim-gain", "9"], ["--roll-off", "1.5"],
                       ["--dipole", "200"], ["--unload-gain", "0.001"], ["--unload-gain", "0"]):
            said += [" ".join(option), *self.tell("--torque", "2", *option, scale=0.2)]
        self.assert_golden("board-satellite-options.txt", "\n".join(said))

    def test_it_detumbles_by_the_field_alone(self):
        said = []
        for option in ([], ["--detumble-gain", "1e-5"], ["--dipole", "0.5"]):
            said += [" ".join(option), *self.tell("--detumble", *option, steps=100, every=10)]
        line = self.meet_px4("--detumble", "--lock-after", 1)
        for time_us, field in ((1000, (0, 0, 0)), (2000, (1e-5, 0, 0)), (3000, (0.3, 0, 0.1)), (2003000, (0.1, 0.2, 0)),
                               (9003000, (0.1, -0.2, 0.1)), (9003000, (0.1, 0.2, 0.1)), (9000000, (0.3, 0.2, 0.1)),
                               (9500000, (NAN, 0.2, 0.1)), (9500000, (2e-4, 1e-4, 0))):
            for fields in (FIELD, FIELD & ~0x40, GYRO):
                stamp, _, controls, mode = line.exchange(sensor(time_us, field_gauss=field, fields=fields))
                said.append(row(stamp, mode, controls, 6))
        line.close()
        self.last_words()
        self.assert_golden("board-satellite-detumble.txt", "\n".join(said))

    def test_what_is_missing_or_impossible_is_borne(self):
        """A tracker outweighs the truth; a gap of more than a second loses the attitude; old stars, zero
        quaternions, and rates that are no numbers are not taken."""
        line = self.meet_px4("--lock-after", 1, "--torque", "2")
        turn = attitude(0.05, 1, 2, 3)
        said = []

        def tell(*messages):
            stamp, _, controls, mode = line.exchange(*messages)
            said.append(row(stamp, mode, controls, 6))

        tell(truth(0, [0, 0, 0, 0]), sensor(4000, (0.01, 0, 0)))
        tell(truth(8000, [2e6, 0, 0, 0]), sensor(8000, (0.01, 0, 0)))
        tell(truth(4000, [2 * q for q in turn]), sensor(12000, (0.01, 0.02, -0.01)))
        tell(sensor(16000, (0.01, 0.02, -0.01), fields=ACCEL | FIELD))
        tell(sensor(20000, (NAN, 0.02, -0.01)))
        tell(sensor(24000, (0.01, 0.02, -0.01), fields=GYRO))
        tell(tracker(20000, attitude(0.02, 3, 2, 1)), sensor(28000, (0.01, 0.02, -0.01)))
        tell(truth(28000, turn), sensor(32000, (0.01, 0.02, -0.01)))
        tell(sensor(180000, (0.01, 0.02, -0.01)))
        tell(sensor(180000, (0.02, 0.02, -0.01)))
        tell(sensor(1180000, (0.02, 0.02, -0.01)))
        tell(tracker(679999, turn), sensor(1180000, (0.02, 0.02, -0.01)))
        tell(sensor(2180001, (0.02, 0.02, -0.01)))
        tell(tracker(2200000, turn), sensor(2700001, (0.02, 0.02, -0.01)))
        tell(tracker(2200001, turn), sensor(2700001, (0.02, 0.02, -0.01)))
        tell(sensor(2700000, (0.02, 0.02, -0.01)))
        tell(tracker(3200000, turn), sensor(2700000, (0.02, 0.02, -0.01)))
        tell(sensor(2704000, (0.02, 0.02, -0.01)))
        tell(tracker(2708000, [-q for q in attitude(0.06, 1, 2, 3)]), sensor(2708000, (0.02, 0.02, -0.01)))
        tell(sensor(2712000, (0.02, 0.02, -0.01), field_gauss=(0, 0, 0)))
        tell(sensor(2716000, (0.02, 0.02, -0.01), field_gauss=(NAN, 0, 0)))
        tell(sensor(2720000, (0.02, 0.02, -0.01), field_gauss=(0, 0.3, 0)))
        line.send(sensor(2724000, (1, 1, 1), instrument=1))  # the second of two instruments is not this board's
        tell(sensor(2728000, (0.02, 0.02, -0.01), fields=GYRO))
        line.close()
        self.assert_golden("board-satellite-bad.txt", "\n".join([*said, self.last_words()]))


class Flying(board_peer.Case):
    """A quadrotor in closed loop; orders and faults come at their times."""

    def setUp(self):
        super().setUp()
        self.said, self.step, self.controls, self.mode = [], 0, [0.0] * 16, 0
        self.quad = Quad()
        self.off = 0  # instruments that say nothing
        self.has_gps, self.changes = True, {}

    def fly(self, seconds, every=25):
        for _ in range(round(seconds * 1e6 / STEP_US)):
            self.step += 1
            time_us = self.step * STEP_US
            told = [self.quad.gps(time_us)] if self.has_gps and self.step % 10 == 1 else []
            fields = (ALL if self.step % 2 == 1 else ACCEL | GYRO) & ~self.off
            told.append(self.quad.sensor(time_us, fields=fields, **self.changes))
            stamp, flags, self.controls, self.mode = self.line.exchange(*told)
            self.assertEqual((stamp, flags, self.controls[4:]), (time_us, 1, [0.0] * 12))
            if self.step % every == 0:
                self.said.append(row(stamp, self.mode, self.controls, 4))
            self.quad.step(self.controls, STEP_US * 1e-6)

    def note(self, text):
        self.said.append(f"-- {text}; at " + " ".join(f"{p:.6f}" for p in self.quad.position))

    def assert_flight(self, name):
        self.line.close()
        self.assert_golden(name, "\n".join([*self.said, self.last_words()]))

    def take_off(self, *arguments):
        self.meet_px4("--lock-after", 1, "--vehicle", "quad", *arguments)


class Flight(Flying):
    def test_it_takes_off_and_holds_its_place_in_wind(self):
        self.take_off()
        self.fly(0.3, every=5)
        self.fly(13)
        self.assertLess(math.dist(self.quad.position, (0, 0, -10)), 0.3)
        self.assertEqual(self.mode, 0x81)
        self.note("wind")
        self.quad.wind = [1.5, -0.8, 0.3]
        self.fly(4)
        self.quad.wind = [0.0, 4.0, 0.0]
        self.fly(2)
        self.note("a push")
        self.quad.rate = [1.0, -2.0, 0.5]
        self.fly(1, every=5)
        self.assert_flight("board-quad.txt")

    def test_each_option_has_its_effect(self):
        for arguments, quad in ((["--altitude", 2], {}), (["--mass", "2"], {"mass": 2.0}),
                                (["--inertia", "0.05,0.04,0.09"], {"inertia": (0.05, 0.04, 0.09)}),
                                (["--max-thrust", "9"], {"max_thrust": 9.0}), (["--arms", "0.3,0.15"], {"arms": (0.3, 0.15)}),
                                (["--drag-ratio", "0.03"], {"drag_ratio": 0.03}), (["--declination", "-12"], {})):
            self.said.append(" ".join(map(str, arguments)))
            self.quad, self.step = Quad(**quad), 0
            self.take_off(*arguments)
            self.fly(2.5, every=50)
            self.quad.rate = [0.3, -0.2, 0.1]
            self.fly(0.5, every=5)
            self.line.close()
            self.said.append(self.last_words().strip())
        self.assert_golden("board-quad-options.txt", "\n".join(self.said))

    def test_it_comes_down_without_a_fix_and_goes_on_with_one(self):
        self.take_off("--altitude", 4)
        self.fly(8, every=100)
        self.note("no fix")
        self.has_gps = False
        self.fly(4.9, every=50)
        self.fly(2)
        self.note("a fix")
        self.has_gps = True
        self.fly(5, every=50)
        self.note("no fix for good")
        self.has_gps = False
        self.fly(25, every=100)
        self.assertEqual((self.quad.position[2], self.mode), (0.0, 0x01))
        self.assert_flight("board-quad-no-fix.txt")

    def test_it_bears_instruments_that_fail(self):
        self.take_off("--altitude", 3)
        self.fly(7, every=100)
        for name, fields in (("no gyro", GYRO), ("no accelerometer", ACCEL), ("no field", FIELD),
                             ("no pressure", PRESSURE), ("one axis of each", 0x49)):
            self.note(name)
            self.off = fields
            self.fly(0.15)
            self.fly(0.15, every=5)
            self.off = 0
            self.fly(2, every=50)
        for name, changes in (("a rate that is no number", {"gyro": (0, NAN, 0)}),
                              ("a force that is no number", {"accel": (NAN, 0, 0)}),
                              ("a field that is no number", {"field_gauss": (0, 0, NAN)}),
                              ("pressures that are none", {"pressure_hpa": 10.0}),
                              ("pressures beyond the sea", {"pressure_hpa": 2000.0}),
                              ("a pressure that sticks", {"pressure_hpa": 956.0})):
            self.note(name)
            self.changes = changes
            self.fly(0.4, every=10)
            self.changes = {}
            self.fly(1, every=50)
        self.assert_flight("board-quad-faults.txt")

    def test_it_waits_for_all_its_instruments(self):
        self.take_off()
        for name, fields, has_gps in (("no field", FIELD, True), ("no gyro", GYRO, True), ("no fix", 0, False),
                                      ("no accelerometer", ACCEL, True)):
            self.off, self.has_gps = fields, has_gps
            self.fly(1.6, every=40)
            self.note(name)
            self.assertEqual(self.mode, 0x01)
        self.off, self.has_gps = 0, True
        self.fly(1.3, every=1)
        self.assertEqual(self.mode, 0x81)
        self.off = GYRO  # it has not left the ground
        self.fly(0.3, every=1)
        self.assertEqual(self.mode, 0x01)
        self.assert_flight("board-quad-waits.txt")

    def test_a_fix_in_two_dimensions_or_of_a_second_receiver_is_none(self):
        self.take_off()
        self.has_gps = False
        for _ in range(20):
            self.line.send(self.quad.gps(self.step * STEP_US, fix=2), self.quad.gps(self.step * STEP_US, instrument=1))
            self.fly(0.1, every=50)
        self.assertEqual(self.mode, 0x01)
        self.assert_flight("board-quad-no-receiver.txt")

    def test_time_that_jumps_counts_for_a_tenth_of_a_second_at_most(self):
        self.take_off("--altitude", 3)
        self.fly(7, every=200)
        for jump in (9, 90, -3):
            self.note(f"{jump} steps")
            self.step += jump
            self.fly(0.3, every=3)
        self.assert_flight("board-quad-time.txt")


class Station(Flying):
    """Orders of a ground station on a socket of its own."""

    def setUp(self):
        super().setUp()
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(end.close)
        end.bind(("127.0.0.1", 0))
        end.settimeout(board_peer.PATIENCE_S)
        self.end, self.address = end, f"127.0.0.1:{end.getsockname()[1]}"

    def meet(self, fly):
        """Its first heartbeat has its address."""
        fly(0.01)
        data, self.peer = self.end.recvfrom(4096)
        self.beat(wire.split(data)[0][0])

    def beat(self, found):
        message, payload, _ = found
        self.assertEqual(message, wire.HEARTBEAT)
        custom, kind, autopilot, mode, state, version = struct.unpack("<IBBBBB", board_peer.fill(payload, 9))
        self.said.append(f"heartbeat {custom} {kind} {autopilot} {mode:#x} {state} {version}")

    def order(self, message, fly):
        """What the next turn answers."""
        self.end.sendto(wire.frame(*message, component=190, system=255), self.peer)
        fly(0.01)
        while True:
            found = wire.split(self.end.recv(4096))[0][0]
            if found[0] != wire.HEARTBEAT:
                break
            self.beat(found)
        if found[0] == wire.COMMAND_ACK:
            command, result, _, _, system, component = struct.unpack("<HBBiBB", board_peer.fill(found[1], 10))
            self.said.append(f"order {command} result {result} for {system}:{component}")
        else:
            value, count, index, name, kind = struct.unpack("<fHH16sB", board_peer.fill(found[1], 25))
            name = name.rstrip(b"\0").decode()
            self.said.append(f"parameter {name} {value:g} {count} {index} {kind}")

    def fly_by_orders(self, fly, above):
        arm, disarm, land = board_peer.order(400, 1), board_peer.order(400, 0), board_peer.order(21)

        def up(height):
            return board_peer.order(22, 0, 0, 0, 0, 0, 0, above + height)

        self.meet(fly)
        for message in (arm, up(3), land, disarm, board_peer.order(176, 1), board_peer.order(999),
                        (board_peer.PARAM_SET, struct.pack("<fBB16sB", 2.5, 1, 1, b"WPNAV_SPEED", 9))):
            self.order(message, fly)
        fly(2)
        for message in (up(-1), arm, disarm, arm, board_peer.order(400, 0.4), up(0), up(5), arm, up(3)):
            self.order(message, fly)
        fly(0.7)
        for message in (arm, disarm, up(9)):
            self.order(message, fly)
        fly(5)
        self.order(land, fly)
        fly(10)
        for message in (land, arm, disarm, arm):
            self.order(message, fly)
        fly(1.5)
        while True:  # the heartbeats of the way
            self.end.settimeout(0.3)
            try:
                for found in wire.split(self.end.recv(4096))[0]:
                    self.beat(found)
            except TimeoutError:
                break


class Ground(Station):
    def test_px4_obeys_orders(self):
        self.take_off("--ground", self.address)
        self.fly_by_orders(lambda seconds: self.fly(seconds, every=50), board_peer.ALTITUDE)
        self.assert_flight("board-quad-orders.txt")

    def test_a_station_with_a_bad_address_is_reported(self):
        self.board("--vehicle", "quad", "--ground", "nowhere", "--connect", "127.0.0.1:14560")
        self.assert_golden("board-ground-address.txt", self.last_words(2))


class ArduPilot(Station):
    """JSON there, servo pulse widths back."""

    def start(self, *arguments):
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.udp.close)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.settimeout(board_peer.PATIENCE_S)
        self.board("--wire", "ardupilot", "--connect", f"127.0.0.1:{self.udp.getsockname()[1]}", *arguments)
        self.answers, self.euler = 0, False
        self.servo = self.await_servo()

    def await_servo(self):
        """The packet that knows of all answers; one that was late may come twice."""
        while True:
            data, self.there = self.udp.recvfrom(4096)
            magic, rate, count = struct.unpack_from("<HHI", data)
            if count == self.answers:
                return magic, rate, struct.unpack_from(f"<{len(data) // 2 - 4}H", data, 8)

    def fly_json(self, seconds, every=25):
        for _ in range(round(seconds * 1e6 / STEP_US)):
            magic, rate, pulses = self.servo
            self.step += 1
            if self.step % every == 0:
                self.said.append(f"{magic} {rate} {self.answers}: " + " ".join(map(str, pulses)))
            self.quad.step([(p - 1000) * 1e-3 for p in pulses[:4]], STEP_US * 1e-6)
            self.udp.sendto(self.quad.as_json(self.step * STEP_US * 1e-6, self.euler).encode(), self.there)
            self.answers += 1
            self.servo = self.await_servo()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.said.append(self.last_words())

    def test_it_flies(self):
        self.start("--altitude", 3)
        self.fly_json(3)
        self.euler = True
        self.fly_json(5)
        self.assertLess(math.dist(self.quad.position, (0, 0, -3)), 0.2)
        self.quad.rate = [0.8, -0.6, 0.5]
        self.fly_json(0.5, every=2)
        self.stop()
        self.assertIn(f" stopped; {self.answers} in, ", self.said[-1])
        self.said[-1] = self.said[-1].partition(" out, ")[2]  # how often it said the same again is the clock's
        self.assert_golden("board-ardupilot.txt", "\n".join(self.said))

    def test_32_channels_and_what_is_no_answer(self):
        self.start("--pwm32")
        self.fly_json(0.05, every=1)
        good = self.quad.as_json(0.06)
        for bad in ("", "\n", "{}", good[1:], good[:-1], good.replace("timestamp", "time"), good.replace("gyro", "giro"),
                    good.replace("accel_body", "accel"), good.replace("position", "place"),
                    good.replace("velocity", "speed"), good.replace("quaternion", "turn"),
                    good.replace("0.06", "-0.06"), good.replace("0.06", "1e9"), good.replace("0.06", "nan"),
                    good.replace("[0.0,0.0,0.0]", "[0.0,1e9,0.0]"), good.replace("[0.0,0.0,0.0]", "[0.0,0.0,nan]"),
                    good.replace("[0.0,0.0,0.0]", "[0.0,0.0]"), "\n" + "x" * 2000 + "\n"):
            self.udp.sendto(bad.encode(), self.there)
        self.fly_json(0.05, every=1)
        self.process.send_signal(signal.SIGINT)
        words = self.last_words()
        self.assertIn("board: stopped; 10 in, ", words)
        self.assertIn(" 0 lost, 18 bad; disarmed, 0.00 m from the target", words)
        self.assert_golden("board-ardupilot-bad.txt", "\n".join(self.said))

    def test_it_obeys_orders(self):
        self.start("--ground", self.address)
        self.fly_by_orders(lambda seconds: self.fly_json(seconds, every=50), 0.0)
        self.stop()
        self.assert_golden("board-ardupilot-orders.txt", "\n".join(self.said[:-1]))


class Betaflight(board_peer.Case):
    """A pilot's sticks and the motion there, motors back on two ports."""

    def setUp(self):
        super().setUp()
        port = harness.free_port()
        while not harness.is_free(port + 3):
            port = harness.free_port()
        self.raw, self.motors = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for end, number in ((self.raw, port), (self.motors, port + 1)):
            self.addCleanup(end.close)
            end.bind(("127.0.0.1", number))
            end.settimeout(board_peer.PATIENCE_S)
        self.port, self.said, self.step, self.quad = port + 1, [], 0, Quad(heading=-0.7)

    def start(self, *arguments):
        self.board("--wire", "betaflight", "--connect", f"127.0.0.1:{self.port}", *arguments)
        self.assertTrue(harness.wait_until(lambda: board_peer.is_bound(self.port + 1)))
        self.motion(every=0)

    def motion(self, every=1):
        self.motors.sendto(self.quad.fdm(self.step * STEP_US * 1e-6), ("127.0.0.1", self.port + 1))
        speeds = struct.unpack("<4f", self.motors.recv(64))
        count, *pulses = struct.unpack("<Hxx16f", self.raw.recv(128))
        self.assertEqual((count, pulses[4:]), (4, [0.0] * 12))
        for pulse, speed in zip(pulses, (speeds[3], *speeds[:3])):
            self.assertAlmostEqual(pulse, 1000 + 1000 * speed, places=3)
        if every and self.step % every == 0:
            self.said.append(f"{self.step} " + " ".join(f"{s:.9f}" for s in speeds))
        return speeds

    def sticks(self, *channels):
        """Two sockets have no order: a motion at the same instant again changes nothing but that it is answered."""
        self.said.append(f"sticks {channels}")
        data = struct.pack("<d16H", 0.0, *channels, *([1500] * (16 - len(channels))))
        self.motors.sendto(data, ("127.0.0.1", self.port + 2))
        self.motion(every=0)
        self.motion(every=0)

    def fly(self, seconds, every=5):
        for _ in range(round(seconds * 1e6 / STEP_US)):
            self.step += 1
            self.quad.step(self.motion(every), STEP_US * 1e-6)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        words = self.last_words()
        self.assertRegex(words, r"^board: stopped; \d+ in, \d+ out, 0 lost, \d+ bad; (armed|disarmed)\n$")
        self.said.append(words.split(" lost")[1])

    def test_it_follows_the_sticks(self):
        self.start()
        self.fly(0.1)
        for channels in ((1500, 1500, 1050, 1500, 1701), (1500, 1500, 1000, 1500, 1701), (1500, 1500, 1000, 1500, 1700),
                         (1500, 1500, 1049, 1500, 1701)):
            self.sticks(*channels)
            self.fly(0.05, every=1)
        for channels in ((1500, 1500, 1600, 1500, 2000), (1600, 1500, 1560, 1500, 2000), (1500, 1400, 1560, 1500, 2000),
                         (1500, 1500, 1560, 1700, 2000), (2200, 900, 1500, 1300, 2000), (1500, 1500, 1000, 1500, 2000)):
            self.sticks(*channels)
            self.fly(0.4)
        self.fly(0.2, every=1)
        self.sticks(1500, 1500, 1500, 1500, 1000)
        self.fly(0.05, every=1)
        self.end()
        self.assert_golden("board-betaflight.txt", "\n".join(self.said))

    def test_motions_and_sticks_that_are_none(self):
        self.start("--inertia", "0.05,0.04,0.09", "--mass", "30")
        self.sticks(1500, 1500, 1000, 1500, 1800)
        self.sticks(1550, 1520, 1500, 1480, 1800)
        self.fly(0.1)
        good = self.quad.fdm(1.0)
        for bad in (good[:-8], good + bytes(8), b"", struct.pack("<d", -1.0) + good[8:], struct.pack("<d", NAN) + good[8:],
                    good[:-8] + struct.pack("<d", 1e9)):
            self.motors.sendto(bad, ("127.0.0.1", self.port + 1))
        for bad in (b"", bytes(39), bytes(41)):
            self.motors.sendto(bad, ("127.0.0.1", self.port + 2))
        self.fly(0.05, every=1)
        self.quad.attitude, before = [0.0] * 4, self.quad.attitude
        self.said.append("no attitude")
        self.step += 1
        self.motion()
        self.quad.attitude = before
        self.said.append("time jumps")
        self.step += 30
        self.fly(0.02, every=1)
        self.step -= 3
        self.fly(0.02, every=1)
        self.end()
        self.assertIn(", 9 bad; armed", self.said[-1])
        self.assert_golden("board-betaflight-bad.txt", "\n".join(self.said))

    def test_a_port_that_is_taken_is_reported(self):
        for above in (1, 2):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.bind(("127.0.0.1", self.port + above))
                self.board("--wire", "betaflight", "--connect", f"127.0.0.1:{self.port}")
                self.assertIn(f"board: 127.0.0.1:{self.port}: Address already in use", self.last_words(2))


class Stream(board_peer.Case):
    """Wires on the board's own clock: what it says of itself, and which messages answer which."""

    def meet(self, *arguments, wire_name="mavlink"):
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(end.close)
        end.bind(("127.0.0.1", 0))
        end.settimeout(board_peer.PATIENCE_S)
        self.board("--wire", wire_name, "--connect", f"127.0.0.1:{end.getsockname()[1]}", *arguments)
        data, there = end.recvfrom(4096)
        end.connect(there)
        self.line = Line(end)
        self.first = wire.split(data)[0][0]
        return self.line

    def stop(self, state=7, code=0):
        self.line.send(board_peer.status(state))
        return self.last_words(code)

    def test_mavlink_answers_each_sensor_with_the_same_numbers_as_px4(self):
        line = self.meet()
        message, payload, _ = self.first
        self.assertEqual((message, struct.unpack("<IBBBBB", payload)), (0, (0, 0, 12, 0x21, 3, 3)))
        said = []
        before = 0
        for step in range(1, 60):
            gyro = (0.02 + 0.001 * step, -0.015 + 0.002 * step, 0.01)
            stars = [truth(step * 4000, attitude(0.02, 1, 2, 3))] if step % 5 == 0 else []
            stamp, flags, controls, mode = line.exchange(*stars, sensor(step * 4000, gyro))
            self.assertGreater(stamp, before)
            self.assertLess(abs(stamp - time.monotonic_ns() // 1000), 60e6)
            self.assertEqual(flags, 0)
            before = stamp
            said.append(row(step, mode, controls, 6))
        self.assertRegex(self.stop(), r"^board: simulator ended; 71 in, \d+ out, 0 lost, 0 bad; attitude error "
                                      r"\d\.\d{4} deg(; round trip \d+ us)?\n$")
        self.assert_golden("board-mavlink.txt", "\n".join(said))

    def test_its_heartbeat_says_when_it_is_armed(self):
        line = self.meet()
        line.exchange(truth(4000, [1, 0, 0, 0]), sensor(4000))
        payload = line.await_(wire.HEARTBEAT)
        self.assertEqual(struct.unpack("<IBBBBB", payload), (0, 0, 12, 0xA1, 4, 3))
        self.stop()

    def test_times_are_asked_and_answered(self):
        line = self.meet("--clock-ppm", "100000")
        line.exchange(sensor(4000))
        ours = struct.unpack("<qq", board_peer.fill(line.await_(board_peer.TIMESYNC), 16))
        self.assertEqual(ours[0], 0)
        begin = time.monotonic_ns()
        time.sleep(0.2)
        line.send((board_peer.TIMESYNC, struct.pack("<qq", 0, 12345)))
        while True:
            tc1, ts1 = struct.unpack("<qq", board_peer.fill(line.await_(board_peer.TIMESYNC), 16))
            if tc1:
                break
        self.assertEqual(ts1, 12345)
        self.assertGreater(tc1 - ours[1], 0.2e9)
        elapsed = time.monotonic_ns() - begin
        self.assertLess(tc1 - ours[1], (elapsed + 60e9) * 1.1)
        now = int(time.monotonic_ns() * 1.0)
        # Three answers: 1 s, 2 s and 3 s; the board says the median.  One from the future does not count.
        for age in (3e9, 1e9, 2e9):
            line.send((board_peer.TIMESYNC, struct.pack("<qq", 1, int(now - age))))
        line.send((board_peer.TIMESYNC, struct.pack("<qq", 1, now + 10**15)))
        line.send((board_peer.TIMESYNC, struct.pack("<qq", 1, -5)))
        words = self.stop()
        trip_us = int(words.split("round trip ")[1].split()[0])
        self.assertGreater(trip_us, 1.9e6)
        self.assertLess(trip_us, 60e6)

    def test_a_clock_that_is_fast_is_so_by_its_share(self):
        for ppm in (100000, -100000):
            line = self.meet("--clock-ppm", ppm)
            begin = time.monotonic_ns()
            first, *_ = line.exchange(sensor(4000))
            time.sleep(1)
            gone_us = line.exchange(sensor(8000))[0] - first
            # However late this machine is, the sleep lies between the two answers, and both between the two looks.
            if ppm > 0:
                self.assertGreater(gone_us, 1.09e6)
            else:
                self.assertLess(gone_us, 0.91e-3 * (time.monotonic_ns() - begin))
            self.stop()

    def test_gaps_bad_frames_and_strangers_are_counted(self):
        line = self.meet()
        line.exchange(sensor(4000))
        line.sequence += 5
        line.exchange(sensor(8000))
        line.send(sensor(12000), spoil=True)
        line.sequence += 2
        line.exchange(board_peer.status(6, kind=6), sensor(16000))  # an emergency of a ground station
        self.assertIn(", 8 lost, 1 bad", self.stop())

    def test_an_emergency_disarms_once_and_is_reported_by_a_quiet_board(self):
        line = self.meet("--quiet")
        line.exchange(truth(4000, [1, 0, 0, 0]), sensor(4000, (0.1, 0, 0)))
        line.send(board_peer.status(6))
        _, _, controls, mode = board_peer.read_controls(line.await_(wire.CONTROLS))
        self.assertEqual((controls, mode), ([0.0] * 16, 0x21))
        self.assertEqual(self.last_words(), "board: simulator in emergency, commands stopped\n")

    def test_silence_ends_it(self):
        line = self.meet("--timeout", "0.2", "--quiet")
        line.exchange(sensor(4000))
        self.assertEqual(self.last_words(1), "board: simulator silent\n")
        self.meet("--wait", "0.2", "--quiet")
        self.assertEqual(self.last_words(1), "board: no simulator answered\n")
        self.meet("--wait", "0.2")
        self.assertRegex(self.last_words(1), r"^board: no simulator answered; 0 in, \d out, 0 lost, 0 bad\n$")

    def test_it_waits_for_ever_with_that_option(self):
        self.meet("--wait", "0", "--timeout", "0.5")
        time.sleep(0.3)
        self.assertIsNone(self.process.poll())
        self.assertRegex(self.stop(), "^board: simulator ended; 1 in")

    def test_faults_on_purpose(self):
        line = self.meet("--drop", "3")
        for step in range(1, 10):
            line.send(sensor(step * 4000))
        line.send(board_peer.status(6))
        answers = 0
        while True:
            stamp, flags, controls, mode = board_peer.read_controls(line.await_(wire.CONTROLS))
            answers += 1
            if answers == 7:
                break
        self.assertRegex(self.last_words(), r"^board: simulator in emergency, commands stopped; 10 in, ")
        self.assertTrue(line.is_silent(0.1))
        line = self.meet("--die-after", "1")
        line.exchange(sensor(5000000))
        line.exchange(sensor(5999999))
        line.send(sensor(6000000))
        self.assertEqual(self.last_words(), "")
        line = self.meet("--mute-after", "1")
        line.exchange(sensor(5000000))
        line.exchange(sensor(5999999))
        line.send(sensor(6000000), sensor(6004000), board_peer.status(7))
        self.assertRegex(self.last_words(), r"^board: simulator ended; 5 in, ")
        while not line.is_silent(0.1):
            self.assertNotEqual(line.next()[0], wire.CONTROLS)

    def hitl(self, line, steps, **more):
        """A board that stands still, tilted; it stamps at arrival, so messages come at their pace."""
        quad = Quad(heading=0.5)
        quad.attitude = board_peer.multiply(quad.attitude, attitude(0.2, 1, 0, 0))
        quad.force = board_peer.seen(quad.attitude, (0, 0, -board_peer.GRAVITY))
        for step in range(steps):
            told = [quad.gps(0)] if step % 10 == 0 else []
            line.send(*told, quad.sensor(0, **more))
            time.sleep(0.01)

    def test_a_board_in_the_loop_sends_its_attitude_and_streams(self):
        line = self.meet("--vehicle", "quad", wire_name="px4-hitl")
        message, payload, _ = self.first
        self.assertEqual((message, struct.unpack("<IBBBBB", payload)), (0, (0, 2, 12, 0x3D, 3, 3)))
        seen_before = []
        while seen_before.count(board_peer.TIMESYNC) < 3:
            seen_before.append(line.next()[0])
        self.assertLessEqual(set(seen_before), {wire.HEARTBEAT, board_peer.TIMESYNC})
        self.hitl(line, 60)
        attitudes, kinds, stamps, modes = [], set(), [], set()
        while not line.is_silent(0):
            message, payload, _ = line.next()
            kinds.add(message)
            if message == wire.ATTITUDE:
                attitudes.append(struct.unpack("<I6f", board_peer.fill(payload, 28)))
            if message == wire.CONTROLS:
                stamp, flags, controls, mode = board_peer.read_controls(payload)
                self.assertEqual((flags, controls), (0, [0.0] * 16))
                stamps.append(stamp)
                modes.add(mode)
        self.assertEqual(modes, {0x35})
        self.assertEqual(stamps, sorted(set(stamps)))
        self.assertGreater(len(stamps), 3)
        self.assertGreater(len(stamps), len(attitudes))
        declination = math.radians(2.663) - math.atan2(0.010, 0.215)
        for number, expected in enumerate((0.2, 0.0, 0.5 + declination, 0.005, -0.004, 0.003)):
            self.assertAlmostEqual(attitudes[-1][1 + number], expected, delta=0.003)
        self.assertLess(abs(attitudes[-1][0] - time.monotonic_ns() / 1e6), 60e3)
        self.stop()

    def test_it_arms_by_itself_and_says_so_on_its_wire(self):
        line = self.meet("--vehicle", "quad", wire_name="px4-hitl")
        armed = False
        for _ in range(40):
            self.hitl(line, 20)
            while not line.is_silent(0):
                message, payload, _ = line.next()
                if message == wire.CONTROLS:
                    mode = board_peer.read_controls(payload)[3]
                    self.assertIn(mode, (0x35, 0xB5))
                    armed = armed or mode == 0xB5
                if message == wire.HEARTBEAT and armed and struct.unpack("<IBBBBB", payload)[3:5] == (0xBD, 4):
                    self.stop()
                    return
        self.fail("it never armed")

    def test_a_board_that_is_not_in_the_loop_drives_nothing(self):
        line = self.meet("--vehicle", "quad", "--no-hil", wire_name="px4-hitl")
        self.assertEqual(struct.unpack("<IBBBBB", self.first[1])[3], 0x1D)
        self.hitl(line, 40)
        kinds = set()
        while wire.ATTITUDE not in kinds:
            kinds.add(line.next()[0])
        self.assertIn(wire.ATTITUDE, kinds)
        self.assertNotIn(wire.CONTROLS, kinds)
        self.stop()

    def ask(self, line, *message):
        line.send(message)
        while True:
            found, payload, _ = line.next()
            if found == wire.COMMAND_ACK:
                return struct.unpack("<HBBiBB", board_peer.fill(payload, 10))
            if found == board_peer.PARAM_VALUE:
                return struct.unpack("<fHH16sB", board_peer.fill(payload, 25))

    def test_a_ground_station_behind_the_wire_is_answered(self):
        line = self.meet(wire_name="px4-hitl")
        parameter = (1.0, 1, 0, b"SYS_HITL" + bytes(8), 9)
        self.assertEqual(self.ask(line, *board_peer.order(400, 1)), (400, 0, 0, 0, 1, 200))
        self.assertEqual(self.ask(line, board_peer.PARAM_REQUEST_LIST, b"\1\1"), parameter)
        self.stop()
        line = self.meet("--vehicle", "quad", "--ground", "wire", wire_name="px4-hitl")
        self.assertEqual(self.ask(line, *board_peer.order(400, 1)), (400, 1, 0, 0, 1, 200))
        self.assertEqual(self.ask(line, *board_peer.order(999)), (999, 3, 0, 0, 1, 200))
        self.assertEqual(self.ask(line, board_peer.PARAM_REQUEST_LIST, b"\1\1"), parameter)
        self.stop()

    def test_a_serial_line_is_raw_and_has_its_speed(self):
        ours, theirs, name = board_peer.pseudo_terminal()
        self.addCleanup(os.close, ours)
        self.board("--wire", "px4-hitl", "--vehicle", "quad", "--connect", name, "--baud", "2000000")
        data = b""
        while not wire.split(data)[0]:
            data += os.read(ours, 4096)
        message, payload, _ = wire.split(data)[0][0]
        self.assertEqual((message, payload[4:6]), (0, b"\2\x0c"))
        get, size = 0x802C542A, 44  # TCGETS2, struct termios2
        iflag, oflag, cflag, lflag, _, special, *speeds = struct.unpack(
            "<4IB19s2I", fcntl.ioctl(theirs, get, bytes(size)))
        self.assertEqual((iflag, oflag, lflag, speeds), (0, 0, 0, [2000000, 2000000]))
        self.assertEqual((special[termios.VMIN], special[termios.VTIME]), (1, 0))
        self.assertEqual(cflag & (termios.CSIZE | termios.CREAD | termios.CLOCAL | termios.PARENB),
                         termios.CS8 | termios.CREAD | termios.CLOCAL)
        os.close(theirs)
        os.write(ours, wire.frame(*board_peer.status(7)))
        self.assertRegex(self.last_words(), r"^board: simulator ended; 1 in, ")


class Words(board_peer.Case):
    def complain(self, *arguments, code=64):
        self.board(*arguments)
        return f"{' '.join(map(str, arguments))}\n{self.last_words(code)}".replace(str(board_peer.BOARD), "board")

    def test_the_help(self):
        self.board("--help")
        self.assert_golden("board-help.txt", self.last_words())

    def test_what_options_refuse(self):
        bad = {"--target": ("0,0,0,0", "1,0,0", "1,0,0,0,0", "x", "1,0,0,0,", "1e7,0,0,0"),
               "--inertia": ("0,1,1", "1,0,1", "1,1,0", "1,2", "-1,1,1"), "--torque": ("0", "-1", "much", "", "inf"),
               "--rate-limit": ("0", "nan"), "--authority": ("0", "1.001"), "--attitude-gain": ("0",),
               "--rate-gain": ("0",), "--trim-gain": ("-0.1",), "--roll-off": ("0",), "--detumble-gain": ("0",),
               "--dipole": ("0",), "--unload-gain": ("-1",), "--altitude": ("0",), "--mass": ("0",),
               "--max-thrust": ("0",), "--arms": ("0,1", "1,0", "1"), "--drag-ratio": ("0",),
               "--declination": ("180.1", "-180.1", "east"), "--timeout": ("0",), "--wait": ("-1",),
               "--clock-ppm": ("100001", "-100001", "fast"), "--drop": ("0", "1.5", "1000000001"),
               "--mute-after": ("0",), "--die-after": ("0",), "--baud": ("0", "20000001", "9.5"),
               "--lock-after": ("0",), "--wire": ("", "can"), "--vehicle": ("", "quads")}
        said = [self.complain(option, value) for option, values in bad.items() for value in values]
        said += [self.complain(*arguments) for arguments in (
            ["--nonsense"], ["stray"], ["--connect"], ["--wire", "ardupilot", "--vehicle", "satellite"],
            ["--wire", "betaflight", "--vehicle", "satellite"], ["--vehicle", "quad", "--mass", "2.4"],
            ["--vehicle", "quad", "--max-thrust", "4.499"])]
        self.assert_golden("board-options-bad.txt", "".join(said))

    def test_what_options_take(self):
        """At their bounds; the address comes after them, and is what is wrong."""
        for arguments in (["--authority", "1"], ["--trim-gain", "0"], ["--unload-gain", "0"], ["--wait", "0"],
                          ["--clock-ppm", "100000"], ["--clock-ppm", "-1e5"], ["--drop", "1"], ["--drop", "1e9"],
                          ["--baud", "20000000"], ["--baud", "1"], ["--declination", "180"], ["--declination=-180"],
                          ["--vehicle", "quad", "--max-thrust", "4.5"], ["--vehicle", "satellite", "--mass", "99"],
                          ["--wire", "ardupilot", "--vehicle", "quad"], ["--wire", "betaflight", "--mass", "9"],
                          ["--target", "1e-5,0,0,0"], ["--inertia", "1e-9,1,1"]):
            self.assertIn("an address is host:port", self.complain(*arguments, "--connect", "nowhere", code=2))

    def test_addresses(self):
        said = [self.complain("--connect", address, code=2) for address in (
            "127.0.0.1", "127.0.0.1:", ":14560", "127.0.0.1:0", "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:x",
            "127.0.0.1:1x", "[]:1", "127.0.0.1:0000000000001456", "h" * 128 + ":1")]
        said += [self.complain("--wire", "betaflight", "--connect", address, code=2)
                 for address in ("127.0.0.1:1x", "127.0.0.1:65534", "127.0.0.1:65535")]
        said += [self.complain("--wire", "px4-hitl", "--connect", path, code=2) for path in ("/dev/null", "/no/line")]
        said += [self.complain("--wire", name, "--connect", "nowhere", code=2) for name in ("px4", "ardupilot")]
        self.assert_golden("board-addresses.txt", "".join(said))

    def test_addresses_that_will_do(self):
        for address in (f"localhost:{harness.free_port()}", f"127.0.0.1:0000000000{harness.free_port()}",
                        "127.0.0.1:65535", "127.0.0.1:1"):
            self.board("--connect", address, "--wait", "0.01")
            self.assertRegex(self.last_words(1), "^board: no simulator answered; 0 in, ")

    def test_an_address_of_the_sixth_version(self):
        try:
            server = socket.create_server(("::1", 0), family=socket.AF_INET6)
        except OSError:
            self.skipTest("no IPv6 here")
        with server:
            server.settimeout(board_peer.PATIENCE_S)
            self.board("--wire", "px4", "--connect", f"[::1]:{server.getsockname()[1]}")
            line = Line(server.accept()[0])
            line.next()
            line.close()
            self.assertIn("simulator hung up", self.last_words())


class Px4(board_peer.Case):
    def test_it_greets_asks_for_the_truth_and_answers_from_the_twentieth_sensor_on(self):
        for arguments, first in (([], 20), (["--lock-after", "3"], 3)):
            line = self.meet_px4(*arguments)
            (request, payload, _), (heartbeat, beat, _) = self.greeting
            self.assertEqual((request, heartbeat), (wire.COMMAND_LONG, wire.HEARTBEAT))
            self.assertEqual(struct.unpack("<7fHBBB", board_peer.fill(payload, 33)),
                             (115.0, 5000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 511, 0, 0, 0))
            self.assertEqual(struct.unpack("<IBBBBB", beat), (0, 0, 12, 0x01, 3, 3))
            for step in range(1, first):
                line.send(sensor(step * 1000))
            for step in range(first, first + 5):
                stamp, flags, controls, mode = line.exchange(sensor(step * 1000))
                self.assertEqual((stamp, flags, mode), (step * 1000, 1, 0x01))
            line.close()
            self.assertEqual(self.last_words(),
                             f"board: simulator hung up; {first + 4} in, 7 out, 0 lost, 0 bad\n")

    def test_it_asks_until_a_peer_listens(self):
        port = harness.free_port()
        self.board("--wire", "px4", "--connect", f"127.0.0.1:{port}")
        time.sleep(0.2)
        with socket.create_server(("127.0.0.1", port)) as server:
            server.settimeout(board_peer.PATIENCE_S)
            line = Line(server.accept()[0])
            self.assertEqual((line.next()[0], line.next()[0]), (wire.COMMAND_LONG, wire.HEARTBEAT))
            self.assertTrue(line.is_silent())
            line.close()
        self.assertEqual(self.last_words(), "board: simulator hung up; 0 in, 2 out, 0 lost, 0 bad\n")

    def test_frames_in_pieces_and_many_at_once(self):
        line = self.meet_px4("--lock-after", 1)
        data = b"".join(wire.frame(*sensor(1000 * step), step) for step in range(1, 201))
        for at in range(0, 700, 7):
            line.end.sendall(data[at:at + 7])
        line.end.sendall(data[700:])
        for step in range(1, 201):
            self.assertEqual(board_peer.read_controls(line.await_(wire.CONTROLS))[0], 1000 * step)
        line.close()
        self.assertEqual(self.last_words(), "board: simulator hung up; 200 in, 202 out, 0 lost, 0 bad\n")


if __name__ == "__main__":
    harness.main()
