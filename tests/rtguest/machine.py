"""One boot of the guest: start QEMU, read JSON lines off its serial console until it says done.

The guest speaks in lines `@@ {...}`; everything else on the console is kept for a failure.
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
import subprocess
import time

import image

PROGRAM = "qemu-system-x86_64"
LATER = image.ROOT / "build-deps" / "guest" / "qemu" / "usr"
COMMON = ["-no-user-config", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"]
COMMAND_LINE = ("console=ttyS0,115200 quiet panic=-1 mitigations=off nowatchdog audit=0 "
                "tsc=reliable")
VIRTUAL = ["-M", "q35", "-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off",
           "-cpu", "max,-rdrand,-rdseed", "-seed", "42", "-rtc", "base=2026-01-01,clock=vm",
           "-smp", "1", "-m", "512"]
PLACEMENT = ["-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024",
             "-object", "memory-backend-ram,id=m0,size=512M",
             "-object", "memory-backend-ram,id=m1,size=512M",
             "-numa", "node,nodeid=0,cpus=0,memdev=m0", "-numa", "node,nodeid=1,cpus=1,memdev=m1",
             "-numa", "dist,src=0,dst=1,val=21"]
ISOLATED = ("isolcpus=domain,managed_irq,1 nohz_full=1 rcu_nocbs=1 irqaffinity=0 skew_tick=1")
SAME_EVERY_TIME = "nokaslr"


class Boot:
    """A run of a kind's script in tests/rtguest/guest, with what it answered, by case."""

    def __init__(self, kind, initramfs, words="", limit_s=240, qemu=None):
        virtual = kind == "virtual"
        line = f"{COMMAND_LINE} {SAME_EVERY_TIME if virtual else ISOLATED} guest={kind} {words}"
        self.command = [*(qemu or [str(image.find_tool(PROGRAM))]), *COMMON,
                        *(VIRTUAL if virtual else PLACEMENT),
                        "-kernel", str(image.unpacked_kernel()), "-initrd", str(initramfs),
                        "-append", line]
        self.limit_s = limit_s
        self.cases, self.facts, self.console, self.wall_s = {}, {}, [], {}
        self.done = False
        self.on_line = None

    def run(self):
        self.begin_s = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            self._read()
        finally:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        self.seconds = time.monotonic() - self.begin_s
        return self

    def _read(self):
        rest = b""
        pipe = self.process.stdout
        while not self.done:
            left = self.begin_s + self.limit_s - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                self.console.append(f"(no more after {self.limit_s} s)")
                return
            chunk = os.read(pipe.fileno(), 65536)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._take(line.decode(errors="replace").strip("\r"))

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
        return "\n".join(self.console[-30:])


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
