"""Foxglove's protocol over a WebSocket, by hand, from either end; and ros2msg text with CDR bytes."""
import base64
import hashlib
import json
import os
import re
import socket
import struct

PROTOCOL = "foxglove.sdk.v1"
TEXT, BINARY, CLOSE = 1, 2, 8
SIZES = {"bool": "?", "byte": "B", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i",
         "uint64": "Q", "int64": "q", "float32": "f", "float64": "d"}
TIME = [("int32", "", "sec"), ("uint32", "", "nsec")]


class Closed(Exception):
    pass


class Line:
    """Frames on a connection; masks is what clients do."""

    def __init__(self, connection, masks):
        self.connection, self.masks, self.left = connection, masks, b""

    def take(self, size):
        while len(self.left) < size:
            more = self.connection.recv(65536)
            if not more:
                raise Closed
            self.left += more
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    def head(self):
        """The lines of a request or an answer."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        return head.decode()

    def send(self, opcode, payload):
        size = len(payload)
        mask = os.urandom(4) if self.masks else b""
        if mask:
            payload = bytes(byte ^ mask[k % 4] for k, byte in enumerate(payload))
        bit = 0x80 if mask else 0
        length = struct.pack(">B", bit | size) if size < 126 else struct.pack(">BH", bit | 126, size) \
            if size < 65536 else struct.pack(">BQ", bit | 127, size)
        self.connection.sendall(bytes([0x80 | opcode]) + length + mask + payload)

    def say(self, op, **rest):
        self.send(TEXT, json.dumps({"op": op, **rest}).encode())

    def frame(self):
        first, second = self.take(2)
        size = second & 127
        if size == 126:
            size, = struct.unpack(">H", self.take(2))
        elif size == 127:
            size, = struct.unpack(">Q", self.take(8))
        mask = self.take(4) if second & 0x80 else b""
        payload = self.take(size)
        return first, bytes(byte ^ mask[k % 4] for k, byte in enumerate(payload)) if mask else payload

    def hear(self):
        """Opcode and payload of the next message that is no ping."""
        opcode, whole = 0, b""
        while True:
            first, payload = self.frame()
            if first & 15 == CLOSE:
                raise Closed
            if first & 15 > CLOSE:
                continue
            opcode, whole = opcode or first & 15, whole + payload
            if first & 0x80:
                return opcode, whole


def accept_key(key):
    return base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()


def connect(port, path="/"):
    """A client's line, and the answer to its request."""
    line = Line(socket.create_connection(("127.0.0.1", port), timeout=60), masks=True)
    line.connection.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\n"
                             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n").encode())
    return line, line.head()


def accept(listener):
    """A server's connection to the next client, and its request."""
    connection, _ = listener.accept()
    connection.settimeout(60)
    line = Line(connection, masks=False)
    head = line.head()
    key = re.search(r"(?i)^sec-websocket-key: *(\S+)", head, re.MULTILINE)[1]
    connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Accept: {accept_key(key)}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n").encode())
    return line, head


# ---- what is in a message


def fields_of(text):
    """By type: (type, array, name) of each field."""
    types, name = {"": []}, ""
    for row in text.split("\n"):
        row = row.partition("#")[0].strip()
        if row.startswith("MSG:"):
            name = row[4:].strip()
            types[name] = []
        elif row and not row.startswith("==") and "=" not in row:
            kind, called = row.split()[:2]
            base, _, array = kind.partition("[")
            types[name].append((base, array and "[" + array, called))
    return types


class Reader:
    def __init__(self, data):
        self.data, self.at = data[4:], 0  # after the CDR header

    def number(self, code):
        size = struct.calcsize(code)
        self.at += -self.at % size
        value, = struct.unpack_from("<" + code, self.data, self.at)
        self.at += size
        return value

    def one(self, types, base):
        if base == "string":
            size = self.number("I")
            self.at += size
            return self.data[self.at - size:self.at - 1].decode()
        if base in SIZES:
            return self.number(SIZES[base])
        if base in ("builtin_interfaces/Time", "builtin_interfaces/Duration", "time", "duration"):
            fields = TIME
        else:
            fields = types.get(base) or next(each for name, each in types.items() if name.endswith("/" + base))
        return self.message(types, fields)

    def message(self, types, fields):
        value = {}
        for base, array, name in fields:
            if array:
                count = int(array[1:-1]) if array != "[]" else self.number("I")
                value[name] = [self.one(types, base) for _ in range(count)]
            else:
                value[name] = self.one(types, base)
        return value


def decode(schema, data):
    """A message by its text; all bytes are used."""
    types, reader = fields_of(schema), Reader(data)
    value = reader.message(types, types[""])
    assert reader.at == len(reader.data), (reader.at, len(reader.data))
    return value
