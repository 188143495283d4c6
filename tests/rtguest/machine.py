"""One boot of the guest: start QEMU, read JSON lines off its serial console until it says done.

The guest speaks in lines `@@ {...}`; everything else on the console is kept for a failure. One that
falls silent is ended, after it was asked what it does, and so is one that takes too long.
Two kinds of machine:

  virtual     one CPU whose clock counts its own instructions (-icount): two nanoseconds each, no
              cache, no pipeline. What the host does is not seen inside. A model of time, good to
              find a change of behaviour by, and no statement about any hardware.
  placement   two CPUs and two memory nodes in the emulator's real time: who runs where is true,
              how long anything takes is not.
"""
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import tempfile
import time

import image

PROGRAM = "qemu-system-x86_64"
LATER = image.ROOT / "build-deps" / "guest" / "qemu" / "usr"
COMMON = ["-no-user-config", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"]
COMMAND_LINE = ("console=ttyS0,115200 quiet panic=-1 mitigations=off nowatchdog audit=0 "
                "tsc=reliable sysrq_always_enabled")
VIRTUAL = ["-M", "q35", "-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off",
           "-cpu", "max,-rdrand,-rdseed", "-seed", "42", "-rtc", "base=2026-01-01,clock=vm",
           "-smp", "1", "-m", "512"]
PLACEMENT = ["-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024",
             "-object", "memory-backend-ram,id=m0,size=512M",
             "-object", "memory-backend-ram,id=m1,size=512M",
             "-numa", "node,nodeid=0,cpus=0,memdev=m0", "-numa", "node,nodeid=1,cpus=1,memdev=m1",
             "-numa", "dist,src=0,dst=1,val=21"]
# The kernel's check of its timer counts ticks in a short busy wait; on a loaded host the emulator gets
# none of them in, and the kernel gives up ("IO-APIC + timer doesn't work!").
# The scheduler's tracepoint is set before the second CPU runs. To set it later the kernel puts a
# breakpoint into the scheduler's code for a moment; QEMU 7.2 with a thread for each CPU sometimes keeps
# its translation of the breakpoint, and both CPUs meet it for ever.
ISOLATED = ("isolcpus=domain,managed_irq,1 nohz_full=1 rcu_nocbs=1 irqaffinity=0 skew_tick=1 "
            "no_timer_check trace_event=sched:sched_switch")
SAME_EVERY_TIME = "nokaslr"


# A guest that hangs burns a core or none, and so does one that works. What is counted is the time it
# had: that of the host less what its threads stood in line for a core. Seen between two lines: 30 s.
SILENCE_S = 200
LAST_WORDS_S = 5
BOOTS = 5
TAIL = 60


def queued_ns(pid):
    """How long each thread of a process was runnable and waited for a core, so far."""
    waits = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            waits[path.parent.name] = int(path.read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue  # the thread has ended, or the kernel does not count
    return waits


class Machine:
    """A process that prints lines, which are kept by case; it is ended when it prints no more.

    limit_s bounds the whole of it in time of the host, silence_s the time it had between two lines.
    """

    def __init__(self, command, limit_s, silence_s=SILENCE_S):
        self.command, self.limit_s, self.silence_s = command, limit_s, silence_s
        self.cases, self.facts, self.console, self.wall_s = {}, {}, [], {}
        self.done = False
        self.hung = None
        self.on_line = None

    def run(self):
        self.begin_s = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.rest = b""
        try:
            self._hear()
            self._read()
        finally:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        self.seconds = time.monotonic() - self.begin_s
        return self

    def _hear(self):
        """It said something just now."""
        self.heard_s, self.queued_ns = time.monotonic(), queued_ns(self.process.pid)

    def _silent_s(self):
        """Time it had since it last said something. Threads may wait side by side, so the longest
        wait counts and not their sum."""
        waits = (ns - self.queued_ns.get(thread, 0) for thread, ns in queued_ns(self.process.pid).items())
        return time.monotonic() - self.heard_s - max(waits, default=0) / 1e9

    def _read(self):
        while not self.done:
            silent_s = self._silent_s()
            if silent_s >= self.silence_s:
                self.hung = f"it had {silent_s:.0f} s for a line and told none"
            elif time.monotonic() - self.begin_s >= self.limit_s:
                self.hung = f"it was not done after {self.limit_s} s"
            if self.hung:
                self._end_hung()
                return
            if self._take_chunk(min(1.0, self.silence_s / 4)) is False:
                return

    def _end_hung(self):
        self.console.append(f"(the machine was ended: {self.hung})")
        self._ask_why()

    def _ask_why(self):
        """What can still be learnt of one that hangs, onto the console."""

    def _take_chunk(self, wait_s):
        """Lines that come within so long. False at the end of all."""
        pipe = self.process.stdout
        if not select.select([pipe], [], [], wait_s)[0]:
            return None
        chunk = os.read(pipe.fileno(), 65536)
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        for line in lines:
            self._take(line.decode(errors="replace").strip("\r"))
        if lines and not self.hung:
            self._hear()
        return bool(chunk)

    def _take(self, line):
        if not line.startswith("@@ "):
            self.console.append(line)
            return
        try:
            told = json.loads(line[3:])
        except ValueError:
            self.console.append(line)
            return
        self.wall_s.setdefault(told.get("case", "boot"), time.monotonic() - self.begin_s)
        if "case" in told:
            self.cases.setdefault(told["case"], {}).update(told)
        else:
            self.facts.update(told)
        self.done = bool(told.get("done"))
        if self.on_line:
            self.on_line(self, told)

    def tail(self):
        """The end of what it printed, and how far it got."""
        last = next(reversed(self.wall_s), "the boot")
        where = "" if self.done else f"(the last that it told was of {last})"
        return "\n".join([*self.console[-TAIL:], self.rest.decode(errors="replace"), where])


class Boot(Machine):
    """A run of a kind's script in tests/rtguest/guest on a machine of that kind."""

    def __init__(self, kind, initramfs, words="", limit_s=1700, qemu=None, silence_s=SILENCE_S,
                 script=None):
        virtual = kind == "virtual"
        line = (f"{COMMAND_LINE} {SAME_EVERY_TIME if virtual else ISOLATED} guest={script or kind} "
                f"{words}")
        self.folder = tempfile.TemporaryDirectory()
        self.monitor = pathlib.Path(self.folder.name) / "monitor"
        super().__init__([*(qemu or [str(image.find_tool(PROGRAM))]), *COMMON,
                          "-monitor", f"unix:{self.monitor},server=on,wait=off",
                          *(VIRTUAL if virtual else PLACEMENT),
                          "-kernel", str(image.unpacked_kernel()), "-initrd", str(initramfs),
                          "-append", line], limit_s, silence_s)

    def run(self):
        """Boots, and again where the kernel took its clock's rate from an emulator that stood still."""
        with self.folder:
            for _ in range(BOOTS):
                self.facts.clear()
                super().run()
                if not self.facts.get("clock_wrong"):
                    break
                self.console.append("(the kernel measured its clock wrongly)")
        return self

    def _ask_why(self):
        """The processors' registers; then, by the keyboard, what the kernel knows: whom each of them
        runs, and who is blocked on what."""
        try:
            with socket.socket(socket.AF_UNIX) as monitor:
                monitor.settimeout(LAST_WORDS_S)
                monitor.connect(str(self.monitor))
                for command in ("info registers -a", "sendkey alt-sysrq-9", "sendkey alt-sysrq-l",
                                "sendkey alt-sysrq-w"):
                    monitor.sendall(f"{command}\n".encode())
                    self._take_chunk(0.5)
                end_s = time.monotonic() + LAST_WORDS_S
                while time.monotonic() < end_s and self._take_chunk(0.5) is not False:
                    continue
                told = monitor.recv(65536).decode(errors="replace")
        except OSError as error:
            self.console.append(f"(its monitor did not answer: {error})")
            return
        self.console += re.findall(r"^(?:CPU#\d+|R[A-Z0-9]+ ?=.*|RIP=.*)$", told.replace("\r", ""), re.M)


def exact_qemu():
    """Command of a QEMU 10, where two boots are the same to the bit; None where there is none.

    The one that was unpacked takes the firmware of the one that is installed.
    """
    for command in ([LATER / "bin" / PROGRAM, "-L", LATER / "share/qemu", "-L", "/usr/share/seabios"],
                    [image.find_tool(PROGRAM)]):
        command = [str(word) for word in command]
        try:
            told = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
        except OSError:
            continue
        version = re.search(r"version (\d+)", told)
        if version and int(version.group(1)) >= 10:
            return command
    return None


def build_directory():
    return pathlib.Path(os.environ.get("AIRBEARING_BUILD", image.ROOT / "build"))
