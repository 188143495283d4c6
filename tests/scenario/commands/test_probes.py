"""The USDT probes: their notes in the program, and that the kernel sees them fire."""
import ctypes
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

PROBES = {"release", "latch", "step", "commit", "overrun"}
UPROBE_TYPE = "/sys/bus/event_source/devices/uprobe/type"
PERF_EVENT_OPEN = 298  # the system call, x86-64
ATTR_SIZE = 112        # of struct perf_event_attr


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, harness.AIRBEARING], capture_output=True, text=True,
                          check=True).stdout


def notes():
    """(provider, name, address, arguments) of every probe."""
    found = re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location: (0x[0-9a-f]+).*?\n\s+Arguments: ?(.*)",
                       readelf("-n"))
    return [(provider, name, int(address, 16), text.split()) for provider, name, address, text in found]


def file_offset(address):
    for offset, start, size in re.findall(r"LOAD\s+(0x\S+)\s+(0x\S+)\s+0x\S+\s+(0x\S+)", readelf("-l")):
        if int(start, 16) <= address < int(start, 16) + int(size, 16):
            return int(offset, 16) + address - int(start, 16)
    raise ValueError(hex(address))


class Counter:
    """Counts how often anybody passes one address of the program.

    On every core and not by process: the kernel would look for the path in the memory of each new
    thread, where it is not."""
    def __init__(self, offset):
        libc = ctypes.CDLL(None, use_errno=True)
        with open(UPROBE_TYPE) as file:
            kind = int(file.read())
        path = ctypes.create_string_buffer(bytes(harness.AIRBEARING.resolve()))
        attr = struct.pack("=IIQQQQQIIQQ", kind, ATTR_SIZE, 0, 0, 0, 0, 0, 0, 0,
                           ctypes.addressof(path), offset).ljust(ATTR_SIZE, b"\0")
        self.fds = []
        for cpu in range(os.cpu_count()):
            fd = libc.syscall(PERF_EVENT_OPEN, attr, -1, cpu, -1, 0)
            if fd < 0:
                self.close()
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            self.fds.append(fd)

    def read(self):
        return sum(struct.unpack("=Q", os.read(fd, 8))[0] for fd in self.fds)

    def close(self):
        for fd in self.fds:
            os.close(fd)


@unittest.skipUnless(shutil.which("readelf"), "readelf is missing (package binutils)")
@unittest.skipUnless(os.environ.get("AIRBEARING_PROBES", "1"),
                     "built without sys/sdt.h (package systemtap-sdt-dev)")
class Probes(harness.Case):
    def test_the_program_has_five_probes_with_two_arguments_of_eight_bytes(self):
        found = notes()
        self.assertEqual({(provider, name) for provider, name, *_ in found},
                         {("airbearing", name) for name in PROBES})
        for _, name, _, arguments in found:
            self.assertEqual([word.split("@")[0] for word in arguments], ["8", "8"], name)

    def fired(self, *options):
        """Report of a run, and how often each probe fired in it."""
        counts, counters = dict.fromkeys(PROBES, 0), []
        for _, name, address, _ in notes():
            try:
                counters.append((name, Counter(file_offset(address))))
            except OSError as error:
                self.skipTest(f"the kernel gives no probes to this user: {error}")
            self.addCleanup(counters[-1][1].close)
        report = self.run_scenario(harness.TUMBLE, *options)
        for name, counter in counters:
            counts[name] += counter.read()
        return report, counts

    def test_every_frame_of_a_fast_run_fires_all_but_the_overrun(self):
        _, counts = self.fired("--pace", "fast", "--seconds", "0.5")
        self.assertEqual(counts, {"release": 500, "latch": 500, "step": 500, "commit": 500, "overrun": 0})

    def test_every_overrun_of_a_run_in_real_time_fires_its_probe(self):
        report, counts = self.fired("--seconds", "0.3", "--inject", "late=5ms@0.1s")
        self.assertGreater(report["overruns"], 0)
        self.assertEqual(counts["overrun"], report["overruns"])
        self.assertEqual(counts["release"], report["frames"])


if __name__ == "__main__":
    harness.main()
