"""What the whole-program tests share: start airbearing on a port of its own, read what came out."""
import contextlib
import functools
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
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
# With threads for V8's own work node may wait for one of them at its exit for ever.
NODE = ["node", "--single-threaded"]
# Sanitizer builds are many times slower and have a heap of their own.
SANITIZED = bool(os.environ.get("AIRBEARING_SANITIZED"))


def is_free(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        try:
            udp.bind(("127.0.0.1", port))
            tcp.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def free_port():
    """Free for UDP and TCP, and below those that the kernel hands out to others; so are the two above it, which
    some boards use, too."""
    while True:
        port = random.randrange(20000, 32000)
        if all(is_free(each) for each in range(port, port + 3)):
            return port


def node(script, *arguments, timeout=60):
    """What a short script did that can be run again: it is, if it did not end."""
    command = [*NODE, script, *map(str, arguments)]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        print(f"{script} did not end within {timeout} s; once more", flush=True)
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def count_records(log):
    """Records in a log by another project's library, which also checks its CRCs; None where it is not installed."""
    if not shutil.which("node") or not (PEERS / "node_modules").exists():
        return None
    done = node(ROOT / "tests/scenario/log/count_records.mjs", log)
    done.check_returncode()
    return int(done.stdout)


def end(process):
    """Kill a process, if it is still there, and leave nothing of it behind."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


class TooLong(Exception):
    """Not a TimeoutError, which many a loop takes for a peer that says nothing."""


def relatives():
    """Processes of the test's POSIX session, and what they started in one of its own."""
    found, parents = set(), {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            if int(fields[3]) == os.getsid(0):
                found.add(int(path.parent.name))
    for process in parents:
        line = {process}
        while process in parents and process not in found:
            process = parents[process]
            line.add(process)
        if process in found:
            found |= line
    return sorted(found)


def where(task):
    """A line of what the kernel says of a thread; the stack has the newest call first."""
    said = {}
    for name in ("comm", "wchan", "syscall", "stack"):
        try:
            said[name] = (task / name).read_text(errors="replace").strip()
        except OSError as error:
            said[name] = f"({error.strerror})"
    calls = [line.rpartition(" ")[2].partition("+")[0] for line in said["stack"].splitlines()]
    return f"{said['comm']}: {said['wchan']}, syscall {said['syscall'].split(' ')[0]}, stack {' < '.join(calls)}"


def tell_what_hangs():
    for process in relatives():
        for task in sorted(pathlib.Path(f"/proc/{process}/task").glob("*")):
            print(f"process {process} thread {task.name} {where(task)}", file=sys.stderr)
    sys.stderr.flush()


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


# For a program that plays a board: what else this machine has to do does not make it silent.
OWN_PROCESSOR = ["chrt", "-f", "40"] if shutil.which("chrt") and may_be_realtime() else []


def begun(process, thread="frame"):
    """The id of a thread of a run, once there is one of this name; None if the run ended before."""
    while process.poll() is None:
        for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if (task / "comm").read_text() == thread + "\n":
                    return int(task.name)
        time.sleep(0.02)
    return None


def core_of(process, thread):
    """The core that a thread of a run is bound to, once it is; None if it ended before."""
    task = begun(process, thread)
    with contextlib.suppress(OSError):
        while task is not None:
            cores = os.sched_getaffinity(task)
            if len(cores) == 1:
                return cores.pop()
            time.sleep(0.02)
    return None


def wait_until(condition, seconds=60):
    """Whether it came true."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


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
    limit_s = 300  # of a test; longer than that is for ever
    # A machine that others keep busy stands still for longer than the watchdog lets a frame be, as a rule.
    overwrites = True
    patient = True

    def setUp(self):
        signal.signal(signal.SIGALRM, self.give_up)
        signal.alarm(self.limit_s * (5 if SANITIZED else 1))
        self.addCleanup(signal.alarm, 0)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def give_up(self, *_):
        print(f"\n{self.id()} does not end; what hangs?", file=sys.stderr)
        tell_what_hangs()
        raise TooLong(self.id())

    def board_options(self, *board_arguments, port=None):
        """Overrides that give the satellite a port of its own and its board some arguments."""
        address = f"127.0.0.1:{port or free_port()}"
        command = json.dumps(["board", "--connect", address, *board_arguments])
        return ["--set", f"links.board.listen={address}", "--set", f"controller.command={command}"]

    def command(self, *arguments):
        """The watchdog of a run waits, unless the test speaks of it or is not patient; and a second run may take
        the log of the first, unless the test is about that."""
        logs = self.overwrites and arguments[:1] == ("run",) and "--log" in arguments
        waits = self.patient and arguments[:1] == ("run",) and not any("watchdog" in str(a) for a in arguments)
        return [AIRBEARING, *arguments, *(("--set", "frame.watchdog=60 s") if waits else ()),
                *(("--overwrite",) if logs and "--overwrite" not in arguments else ())]

    def spawn(self, command, **options):
        """A process that does not outlive the test."""
        process = subprocess.Popen(command, **options)
        self.addCleanup(end, process)
        return process

    def start(self, *arguments, **options):
        return self.spawn(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)

    def call(self, *arguments, timeout=120, **options):
        """Exit code, stdout and stderr of one command."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=timeout,
                              **options)
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
