"""MAVLink 2 by hand, and peers that misbehave.  Nothing of the simulator's own codec is used."""
import socket
import struct
import threading
import time

import harness

EXTRA = {0: 50, 30: 39, 76: 152, 77: 143, 93: 47, 107: 108}  # CRC seeds of the messages below
HEARTBEAT, ATTITUDE, COMMAND_LONG, COMMAND_ACK, CONTROLS, SENSOR = EXTRA


def checksum(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc


def frame(message, payload, sequence=0, system=1, component=1):
    payload = payload.rstrip(b"\0") or b"\0"
    head = struct.pack("<BBBBBBBHB", 0xFD, len(payload), 0, 0, sequence & 255, system, component,
                       message & 0xFFFF, message >> 16)
    return head + payload + struct.pack("<H", checksum(head[1:] + payload + bytes([EXTRA[message]])))


def heartbeat(sequence=0, mode=0x81 | 0x20):
    return frame(HEARTBEAT, struct.pack("<IBBBBB", 0, 2, 12, mode, 4, 3), sequence)


def controls(values=(), sequence=0, time_us=None):
    values = list(values) + [0.0] * (16 - len(values))
    time_us = time.monotonic_ns() // 1000 if time_us is None else time_us
    return frame(CONTROLS, struct.pack("<QQ16fB", time_us, 1, *values, 0x81), sequence)


def spoil(data):
    """The same with a wrong checksum."""
    return data[:-1] + bytes([data[-1] ^ 0x55])


def split(data):
    """(message id, payload, whole frame) of each MAVLink 2 frame in a run of bytes; and the rest."""
    found, at = [], 0
    while at + 12 <= len(data):
        if data[at] != 0xFD:
            at += 1
            continue
        size = 12 + data[at + 1]
        if at + size > len(data):
            break
        message = int.from_bytes(data[at + 7:at + 10], "little")
        found.append((message, data[at + 10:at + size - 2], data[at:at + size]))
        at += size
    return found, data[at:]


class Worker:
    """A thread that calls step() until the block is left."""

    def __enter__(self):
        self.stopped, self.failure = threading.Event(), None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(10)
        self.close()
        if self.failure:
            raise self.failure

    def work(self):
        try:
            while not self.stopped.is_set():
                self.step()
        except Exception as failure:  # told by the test, not by the thread
            self.failure = failure

    def close(self):
        pass


class Flood(Worker):
    """Datagrams of all bad kinds from changing ports, some thousands a second."""

    def __init__(self, port, noise):
        self.to, self.noise, self.sent = ("127.0.0.1", port), noise, 0
        self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(8)]
        good = controls((1.0, -1.0, 1.0))
        self.kinds = [b"", b"\xfd", good[:20], spoil(good), good, heartbeat(), good * 3,
                      b"\xfd" * 1400, bytes(9000), b"\xfe" * 300]

    def step(self):
        for i in range(10):
            datagram = self.noise.randbytes(self.noise.randrange(1, 600)) if i % 2 else \
                self.noise.choice(self.kinds)
            try:
                self.noise.choice(self.sockets).sendto(datagram, self.to)
                self.sent += 1
            except OSError:
                pass
        time.sleep(0.002)

    def close(self):
        for each in self.sockets:
            each.close()


class Proxy(Worker):
    """Between a board and the simulator: hands on what mangle() makes of the board's datagrams, before other work."""

    def __init__(self, port, mangle):
        self.simulator, self.board, self.mangle = ("127.0.0.1", port), None, mangle
        self.inner = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # the board's side
        self.outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for each in (self.inner, self.outer):
            each.bind(("127.0.0.1", 0))
            each.settimeout(0.05)
        self.port = self.inner.getsockname()[1]
        self.back = threading.Thread(target=self.carry_back, daemon=True)
        self.closing = False
        self.back.start()

    def carry_back(self):
        harness.go_first()
        while not self.closing:
            try:
                data = self.outer.recv(4096)
                if self.board:
                    self.inner.sendto(data, self.board)
            except OSError:
                pass

    def work(self):
        harness.go_first()
        super().work()

    def step(self):
        try:
            data, self.board = self.inner.recvfrom(4096)
        except OSError:
            return
        for each in self.mangle(data):
            try:
                self.outer.sendto(each, self.simulator)
            except OSError:
                pass

    def close(self):
        self.closing = True
        self.back.join(5)
        self.inner.close()
        self.outer.close()


class Storm(Worker):
    """Connects, says something bad, leaves: a bounded number of times."""

    def __init__(self, port, count=200):
        self.to, self.left, self.made = ("127.0.0.1", port), count, 0

    def step(self):
        if self.left == 0:
            time.sleep(0.05)
            return
        self.left -= 1
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
            client.settimeout(0.2)
            try:
                client.connect(self.to)
                client.sendall(spoil(controls()) if self.left % 2 else b"\xfd\x40garbage")
                self.made += 1
            except OSError:
                pass
        time.sleep(0.002)


def connect(port, patience=60.0, receive_buffer=None):
    """A TCP connection to a simulator that may not be there yet."""
    limit = time.monotonic() + patience
    while True:
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            client.connect(("127.0.0.1", port))
            if client.getsockname() == client.getpeername():
                raise OSError("connected to itself, as happens on loopback when nobody listens")
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return client
        except OSError:
            client.close()
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)
