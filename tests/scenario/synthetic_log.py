"""Synthetic MCAP logs, by the specification alone: records whose answers are known before they are written."""
import struct
import zlib

import raw_log

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, ATTACHMENT, STATISTICS, METADATA, DATA_END = \
    1, 2, 3, 4, 5, 6, 9, 11, 12, 15
CDR = b"\0\1\0\0"


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(data)) + data


def pairs(values):
    return text(b"".join(text(key) + text(value) for key, value in values.items()))


def record(opcode, body):
    return struct.pack("<BQ", opcode, len(body)) + body


def chunk(records, crc=None):
    """One that is not compressed."""
    times = [struct.unpack_from("<Q", body, 6)[0] for opcode, body in raw_log._records(records, 0) if opcode == MESSAGE]
    return record(CHUNK, struct.pack("<QQQI", min(times, default=0), max(times, default=0), len(records),
                                     zlib.crc32(records) if crc is None else crc) + text("")
                  + struct.pack("<Q", len(records)) + records)


def attachment(name, data, media_type="application/json"):
    body = struct.pack("<QQ", 0, 0) + text(name) + text(media_type) + struct.pack("<Q", len(data)) + data
    return record(ATTACHMENT, body + struct.pack("<I", zlib.crc32(body)))


class Log:
    """Records in the order in which they are given; messages wait for chunk()."""

    def __init__(self):
        self.data = MAGIC + record(HEADER, text("") + text("made"))
        self.topics, self.sequences, self.waiting = {}, {}, b""

    def add(self, data):
        self.data += data

    def metadata(self, values, name="airbearing"):
        self.add(record(METADATA, text(name) + pairs(values)))

    def attach(self, name, data, media_type="application/json"):
        self.add(attachment(name, data, media_type))

    def channel(self, topic, definition, metadata=None, schema="made/msg/Made", encoding="cdr",
                schema_encoding="ros2msg"):
        number = len(self.topics) + 1
        self.topics[topic] = number
        self.add(record(SCHEMA, struct.pack("<H", number) + text(schema) + text(schema_encoding) + text(definition)))
        self.add(record(CHANNEL, struct.pack("<HH", number, number) + text(topic) + text(encoding)
                        + pairs(metadata or {})))

    def message(self, topic, time_ns, payload, sequence=None, header=CDR):
        number = self.topics.get(topic, topic)
        sequence = self.sequences.get(number, 0) if sequence is None else sequence
        self.sequences[number] = sequence + 1
        self.waiting += record(MESSAGE, struct.pack("<HIQQ", number, sequence, time_ns, time_ns) + header + payload)

    def chunk(self, crc=None):
        self.add(chunk(self.waiting, crc))
        self.waiting = b""

    def write(self, path, crc=None):
        if self.waiting:
            self.chunk()
        data = self.data + record(DATA_END, struct.pack("<I", zlib.crc32(self.data) if crc is None else crc))
        path.write_bytes(data + record(FOOTER, struct.pack("<QQI", 0, 0, 0)) + MAGIC)
        return path


def changed(log, copy, change=None, metadata=None, attachments=None):
    """A copy with other payloads: change(topic, index, time_ns, payload) gives the new one, a pair of time and
    payload, or None for none at all.  metadata(pairs) and attachments(name, data) do the same."""
    data, topics, counts = log.read_bytes(), {}, {}
    out = MAGIC

    def message(body):
        number, sequence, time_ns = struct.unpack_from("<HIQ", body)
        index = counts[number] = counts.get(number, -1) + 1
        given = change(topics[number], index, time_ns, body[26:])
        if given is None:
            return b""
        time_ns, payload = given if isinstance(given, tuple) else (time_ns, given)
        return record(MESSAGE, struct.pack("<HIQQ", number, sequence, time_ns, time_ns) + CDR + payload)

    for opcode, body in raw_log._records(data, 8):
        if opcode == DATA_END:
            break
        if opcode == CHANNEL:
            topics[struct.unpack_from("<H", body)[0]] = raw_log._text(body, 4)[0]
        if opcode == CHUNK and change:
            plain = raw_log._plain(body)
            out += chunk(b"".join(message(inner) if kind == MESSAGE else record(kind, inner)
                                  for kind, inner in raw_log._records(plain, 0)))
        elif opcode == METADATA and metadata:
            name, at = raw_log._text(body, 0)
            values, end = {}, len(body)
            at += 4
            while at < end:
                key, at = raw_log._text(body, at)
                values[key], at = raw_log._text(body, at)
            out += record(METADATA, text(name) + pairs(metadata(values)))
        elif opcode == ATTACHMENT and attachments:
            name, at = raw_log._text(body, 16)
            media_type, at = raw_log._text(body, at)
            given = attachments(name, body[at + 8:-4])
            if given is not None:
                out += attachment(name, given, media_type)
        elif 7 != opcode:  # an index of messages would not be true any more
            out += record(opcode, body)
    out += record(DATA_END, struct.pack("<I", 0))
    copy.write_bytes(out + record(FOOTER, struct.pack("<QQI", 0, 0, 0)) + MAGIC)
    return copy
