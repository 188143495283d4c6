"""An MCAP log read straight from its bytes, by the specification alone: it shares nothing with the program."""
import ctypes
import struct

_zstd = ctypes.CDLL("libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def _text(data, at):
    size, = struct.unpack_from("<I", data, at)
    return data[at + 4:at + 4 + size].decode(), at + 4 + size


def _records(data, at):
    while at + 9 <= len(data):
        opcode, size = struct.unpack_from("<BQ", data, at)
        yield opcode, data[at + 9:at + 9 + size]
        at += 9 + size
        if opcode == 2:
            return


def _plain(chunk):
    size, = struct.unpack_from("<Q", chunk, 16)
    compression, at = _text(chunk, 28)
    body = chunk[at + 8:]
    if compression == "":
        return body
    assert compression == "zstd", compression
    out = ctypes.create_string_buffer(size)
    assert _zstd.ZSTD_decompress(out, size, body, len(body)) == size
    return out.raw


def stamped(path):
    """Topic, log time, sequence and payload of every message, in file order."""
    data, topics = path.read_bytes(), {}

    def walk(records):
        for opcode, record in records:
            if opcode == 4:
                channel, = struct.unpack_from("<H", record, 0)
                topics[channel], _ = _text(record, 4)
            elif opcode == 6:
                yield from walk(_records(_plain(record), 0))
            elif opcode == 5:
                channel, sequence, time_ns = struct.unpack_from("<HIQ", record, 0)
                yield topics[channel], time_ns, sequence, record[22 + 4:]  # after a CDR header

    yield from walk(_records(data, 8))


def messages(path):
    """Topic and payload of every message, in file order."""
    for topic, _, _, payload in stamped(path):
        yield topic, payload


def frames(path):
    """frame, release, start, end, hash, missed, cause, held, paused of every frame."""
    return [struct.unpack_from("<QQQQQIBBxxI", payload) for topic, payload in messages(path)
            if topic == "/frame"]


def latencies(path):
    """frame, rx, wire in, grid wait, step, hold, wire out, link."""
    return [struct.unpack_from("<7QB", payload) for topic, payload in messages(path)
            if topic == "/latency"]


def ground(path):
    """frame, link, step, event, answer."""
    return [struct.unpack_from("<Q4B", payload) for topic, payload in messages(path)
            if topic == "/ground"]


def clocks(path):
    """monotonic, raw, realtime, window."""
    return [struct.unpack_from("<3QI", payload) for topic, payload in messages(path)
            if topic == "/clock"]


def jobs(path):
    """frame, begin, due, and what each took."""
    return [struct.unpack_from(f"<QQQ{(len(payload) - 24) // 4}I", payload)
            for topic, payload in messages(path) if topic == "/job"]


def events(path):
    """By frame: release, start, await, sent, jobs, end, recorded, due, missed, cause, held, unanswered,
    and what each job took, of the frames that the flight recorder told of."""
    rows = [struct.unpack_from(f"<9QI4B{(len(payload) - 80) // 4}I", payload)
            for topic, payload in messages(path) if topic == "/event"]
    return {row[0]: row[1:13] + (row[14:],) for row in rows}
