"""What the whole-program tests share: start airbearing on a port of its own, read what came out."""
import contextlib
import functools
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
AIRBEARING = pathlib.Path(os.environ.get("AIRBEARING", ROOT / "build" / "airbearing"))
SCENARIOS = ROOT / "config" / "scenarios"
SATELLITE = SCENARIOS / "satellite-board.yaml"
TUMBLE = SCENARIOS / "tumble.yaml"
PEERS = ROOT / "tools" / "peers"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HAS_BROWSER = bool(CHROMIUM and shutil.which("node") and (PEERS / "node_modules" / "playwright-core").is_dir())
# Sanitizer builds are many times slower and have a heap of their own.
SANITIZED = bool(os.environ.get("AIRBEARING_SANITIZED"))


def free_port():
    """Free for UDP and TCP, and below those that the kernel hands out to others."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
                socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            try:
                udp.bind(("127.0.0.1", port))
                tcp.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


@contextlib.contextmanager
def environment(**variables):
    """What the programs started inside see in their environment."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@functools.cache
def instruction_sets():
    """Those of the kernel's that run on this machine."""
    def runs(isa):
        with environment(AIRBEARING_ISA=isa):
            return subprocess.run([AIRBEARING, "eval", TUMBLE], stdin=subprocess.DEVNULL,
                                  capture_output=True).returncode == 0
    return [isa for isa in ("sse2", "avx2", "avx512") if runs(isa)]


def go_first():
    """The calling thread before everything else on its core; False: it may not."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(95))
        return True
    except OSError:
        return False


def may_be_realtime():
    may = go_first()
    if may:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return may


def core_of(process, thread):
    """The core that a thread of a run is bound to, once it is; None if it ended before."""
    with contextlib.suppress(OSError):
        while process.poll() is None:
            for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
                cores = os.sched_getaffinity(int(task.name))
                if (task / "comm").read_text() == thread + "\n" and len(cores) == 1:
                    return cores.pop()
            time.sleep(0.02)
    return None


class Witness:
    """Looks on from a core whether the machine lets it run: kept_s, the sum of what was longer than GAP_S."""
    GAP_S = 0.005

    def __init__(self, cpu):
        self.hears, tells = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=self.watch, args=(cpu, tells), daemon=True)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join()
        self.kept_s = 0.0
        with contextlib.suppress(EOFError):
            while self.hears.poll():
                self.kept_s += self.hears.recv()

    def watch(self, cpu, tells):
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        go_first()
        before = time.monotonic()
        while True:
            time.sleep(0.001)
            now = time.monotonic()
            if now - before > self.GAP_S:
                tells.send(now - before)
            before = now


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def board_options(self, *board_arguments, port=None):
        """Overrides that give the satellite a port of its own and its board some arguments."""
        address = f"127.0.0.1:{port or free_port()}"
        command = json.dumps(["board", "--connect", address, *board_arguments])
        return ["--set", f"links.board.listen={address}", "--set", f"controller.command={command}"]

    def start(self, *arguments, **options):
        return subprocess.Popen([AIRBEARING, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def call(self, *arguments, timeout=120, **options):
        """Exit code, stdout and stderr of one command."""
        done = subprocess.run([AIRBEARING, *arguments], capture_output=True, text=True,
                              timeout=timeout, **options)
        return done.returncode, done.stdout, done.stderr

    def call_on_full_disk(self, *arguments):
        """Exit code and stderr of one command that can write nothing."""
        with open("/dev/full", "w") as full:
            done = subprocess.run([AIRBEARING, *arguments], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=120)
        return done.returncode, done.stderr

    def run_scenario(self, scenario, *options, expect=0):
        """Report of a run that must end with this exit code; None: with any."""
        report = self.dir / "report.json"
        code, out, err = self.call("run", scenario, "--report", report, *options)
        if expect is not None:
            self.assertEqual(code, expect, f"\n{out}\n{err}")
        self.assertTrue(report.exists(), f"exit {code}\n{out}\n{err}")
        self.out = out
        return self.read_report(report)

    def read_report(self, path):
        """Whatever else happened in a run, neither the frame nor the I/O thread has allocated."""
        report = json.loads(path.read_text())
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)
        return report

    def assert_one_line(self, text, *parts):
        lines = text.strip().split("\n")
        self.assertEqual(len(lines), 1, text)
        for part in parts:
            self.assertIn(part, lines[0])


def main():
    if not AIRBEARING.exists():
        print(f"{AIRBEARING} is missing; run tools/build")
        sys.exit(1)
    unittest.main(verbosity=2)
