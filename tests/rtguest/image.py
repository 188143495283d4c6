"""What the guest boots: the kernel as it is in memory, and a file system of a few programs.

Both are written by hand, from the formats, since they are small: no tool is needed for it, no
privileges, and the same files always give the same bytes.
"""
import lzma
import os
import pathlib
import re
import stat
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
KERNEL = ROOT / "build-deps" / "guest" / "kernel"
DAEMON = ROOT / "build-deps" / "guest" / "spacenavd"
BUSYBOX = pathlib.Path("/bin/busybox")
HELPERS = ("trouble", "where", "can_bridge", "stick")
TOOLS = ("cyclictest", "hackbench", "chrt", "setpriv")
MODULES = ["net/can/can.ko", "net/can/can-raw.ko", "drivers/net/can/dev/can-dev.ko",
           "drivers/net/can/vcan.ko", "drivers/input/evdev.ko", "drivers/input/misc/uinput.ko"]


class Missing(Exception):
    """The guest cannot be built here; the text says what is not there."""


def find_tool(name):
    for folder in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
        path = pathlib.Path(folder) / name
        if path.exists():
            return path
    raise Missing(f"no {name}; tools/setup/guest installs it")


def check():
    """Raises Missing unless everything is here that a guest is made of."""
    find_tool("qemu-system-x86_64")
    packed_kernel()
    if not BUSYBOX.exists() or libraries_of(BUSYBOX):
        raise Missing("no static busybox; tools/setup/guest installs it")
    for tool in TOOLS:
        find_tool(tool)


def packed_kernel():
    found = sorted(KERNEL.glob("boot/vmlinuz-*-rt-*"))
    if not found:
        raise Missing("no PREEMPT_RT kernel; tools/setup/guest gets it")
    return found[-1]


def unpacked_kernel():
    """Path of the ELF kernel inside vmlinuz: emulated, its own unpacking takes longer than the boot.

    The boot protocol's header has the payload's place and size; Debian packs it with xz.
    """
    packed = packed_kernel()
    path = KERNEL.parent / packed.name.replace("vmlinuz", "vmlinux")
    if path.exists() and path.stat().st_mtime >= packed.stat().st_mtime:
        return path
    image = packed.read_bytes()
    sectors = image[0x1F1] or 4
    offset, size = struct.unpack_from("<II", image, 0x248)
    begin = (sectors + 1) * 512 + offset
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(lzma.LZMADecompressor().decompress(image[begin:begin + size]))
    scratch.replace(path)
    return path


def libraries_of(program, root=None):
    """Shared libraries a program is loaded with, the loader itself among them; first those that were
    unpacked with it under a root of its own."""
    first = {"LD_LIBRARY_PATH": ":".join(map(str, root.glob("**/*-linux-gnu")))} if root else {}
    done = subprocess.run(["ldd", program], capture_output=True, text=True, env={**os.environ, **first})
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", done.stdout)]


class Image:
    """A cpio archive in the kernel's newc format."""

    def __init__(self):
        self.entries = {}

    def add_folder(self, path):
        path = pathlib.PurePosixPath(path)
        for folder in reversed([path, *path.parents]):
            if str(folder) not in (".", "/"):
                self.entries.setdefault(str(folder), (stat.S_IFDIR | 0o755, b""))

    def add_bytes(self, path, content, mode=0o755):
        self.add_folder(pathlib.PurePosixPath(path).parent)
        self.entries[path] = (stat.S_IFREG | mode, content)

    def add_link(self, path, target):
        self.entries[path] = (stat.S_IFLNK | 0o777, target.encode())

    def add_program(self, program, root=None):
        """Into bin/, with its libraries where the loader looks for them."""
        program = pathlib.Path(program)
        self.add_bytes(f"bin/{program.name}", program.read_bytes())
        for library in libraries_of(program, root):
            unpacked = root and root in library.parents
            place = library.relative_to(root if unpacked else "/")
            self.add_bytes(str(place), library.resolve().read_bytes())

    def write(self, path):
        with open(path, "wb") as out:
            for number, (name, (mode, content)) in enumerate(
                    [*self.entries.items(), ("TRAILER!!!", (0, b""))], start=1):
                fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
                head = b"070701" + b"".join(b"%08X" % field for field in fields)
                for part in (head + name.encode() + b"\0", content):
                    out.write(part + b"\0" * (-len(part) % 4))


def modules():
    """Kernel modules in the order in which they are loaded."""
    found = [path for name in MODULES for path in KERNEL.glob(f"lib/modules/*/kernel/{name}")]
    return found if len(found) == len(MODULES) else []


def daemon():
    """The program spacenavd with its libraries under DAEMON, or None."""
    program = DAEMON / "usr/bin/spacenavd"
    return program if program.exists() else None


def write(path, build):
    """The image around the programs of a build directory."""
    image = Image()
    for folder in ("proc", "sys", "dev", "tmp", "run", "etc", "lib", "lib64", "modules"):
        image.add_folder(folder)
    image.add_program(BUSYBOX)
    applets = subprocess.run([BUSYBOX, "--list"], capture_output=True, text=True, check=True)
    for applet in applets.stdout.split():
        if applet != "busybox":
            image.add_link(f"bin/{applet}", "busybox")
    for program in ("airbearing", "board", "tests/io/test_can",
                    *(f"tests/rtguest/{name}" for name in HELPERS)):
        image.add_program(build / program)
    for tool in TOOLS:
        image.add_program(find_tool(tool))
    if daemon():
        image.add_program(daemon(), DAEMON)
    image.add_folder("var/log")
    image.add_link("var/run", "/run")
    image.add_bytes("etc/passwd", b"root::0:0::/:/bin/sh\nnobody::65534:65534::/tmp:/bin/sh\n", 0o644)
    for place, path_of in enumerate(modules()):
        image.add_bytes(f"modules/{place}-{path_of.name}", path_of.read_bytes(), 0o644)
    for script in sorted((HERE / "guest").iterdir()):
        image.add_bytes("init" if script.name == "init" else f"guest/{script.name}",
                        script.read_bytes())
    image.add_bytes("guest/tumble.yaml", (ROOT / "config/scenarios/tumble.yaml").read_bytes())
    image.write(path)
