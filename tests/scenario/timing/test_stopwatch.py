"""The stopwatch with synthetic sync pulses: what it writes, and when it ends."""
import os
import pathlib
import pty
import socket
import struct
import sys
import time
import tty
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness

HEAD = "# airbearing stopwatch 1\nsequence,frame,sim_ns,sent_ns,stamp_ns,kernel\n"


def pulse(sequence, frame, last=0):
    data = b"ABGP" + struct.pack("<IQQQI", sequence, frame, frame * 1000 + 1, frame * 1000 + 7, last)
    return data + struct.pack("<I", zlib.crc32(data))


class Stopwatch(golden.Case):
    def begin(self, *options):
        """One that listens: its head is written once it does."""
        self.out = self.dir / "out.csv"
        watch = self.start("stopwatch", "--out", self.out, *options)
        self.assertTrue(harness.wait_until(lambda: watch.poll() is not None or
                                           (self.out.exists() and self.out.read_text() == HEAD)))
        self.assertIsNone(watch.poll())
        return watch

    def rows(self, begun_ns, kernel):
        """What was written: each row without its stamp, which is of this time."""
        text = self.out.read_text()
        self.assertTrue(text.startswith(HEAD), text)
        rows = [tuple(map(int, line.split(","))) for line in text[len(HEAD):].splitlines()]
        for row in rows:
            self.assertEqual(row[5], kernel)
            self.assertGreaterEqual(row[4], begun_ns)
            self.assertLessEqual(row[4], time.time_ns())
        return [row[:4] for row in rows]

    def test_datagrams(self):
        port = harness.free_port()
        begun_ns = time.time_ns()
        watch = self.begin("--listen", f"127.0.0.1:{port}", "--seconds", "60")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
            for data in (pulse(9, 9, last=1), pulse(0, 10), b"x" * 40, pulse(1, 20)[:-1], pulse(4, 30), b"no",
                         pulse(5, 40, last=1)):
                wire.sendto(data, ("127.0.0.1", port))
        out, err = watch.communicate(timeout=60)
        self.assertEqual((watch.returncode, out, err),
                         (0, "2 pulses stamped, 3 datagrams and 0 bytes were something else\n", ""))
        self.assertEqual(self.rows(begun_ns, kernel=1), [(0, 10, 10001, 10007), (4, 30, 30001, 30007)])

    def test_a_serial_line(self):
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        begun_ns = time.time_ns()
        watch = self.begin("--device", os.ttyname(theirs), "--baud", "115200", "--seconds", "60")
        for data in (b"noise", pulse(0, 10), pulse(1, 20)[:15], pulse(2, 30), pulse(3, 40, last=1)):
            os.write(ours, data)
        out, err = watch.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        self.assertEqual((watch.returncode, out, err),
                         (0, "2 pulses stamped, 0 datagrams and 20 bytes were something else\n", ""))
        self.assertEqual(self.rows(begun_ns, kernel=0), [(0, 10, 10001, 10007), (2, 30, 30001, 30007)])

    def test_it_ends_by_itself_and_says_that_nothing_came(self):
        watch = self.begin("--listen", f"127.0.0.1:{harness.free_port()}", "--seconds", "0.2")
        out, err = watch.communicate(timeout=60)
        self.assertEqual((watch.returncode, out, err),
                         (1, "0 pulses stamped, 0 datagrams and 0 bytes were something else\n", ""))
        self.assertEqual(self.out.read_text(), HEAD)

    def test_a_signal_ends_it(self):
        watch = self.begin("--listen", f"127.0.0.1:{harness.free_port()}")
        watch.terminate()
        out, err = watch.communicate(timeout=60)
        self.assertEqual((watch.returncode, err), (1, ""))

    def test_where_it_cannot_listen_or_write(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
            wire.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{wire.getsockname()[1]}"
            code, out, err = self.call("stopwatch", "--listen", address, "--out", self.dir / "x")
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, f"airbearing stopwatch: {address}: ", "is in use")
        code, out, err = self.call("stopwatch", "--device", self.dir / "no", "--out", self.dir / "x")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, f"airbearing stopwatch: {self.dir}/no: there is no device {self.dir}/no; ")
        self.assertFalse((self.dir / "x").exists())
        away = self.dir / "no" / "x"
        self.assertEqual(self.call("stopwatch", "--listen", f"127.0.0.1:{harness.free_port()}", "--out", away),
                         (2, "", f"airbearing stopwatch: {away}: No such file or directory\n"))
        self.assertEqual(self.call("stopwatch", "--listen", f"127.0.0.1:{harness.free_port()}", "--out", "/dev/full",
                                   "--seconds", "0.001"),
                         (2, "", "airbearing stopwatch: /dev/full: cannot be written\n"))

    def test_usage(self):
        tells = "; see airbearing stopwatch --help\n"
        address = ("--listen", "127.0.0.1:14600")
        for options, said in (((*address, "--device", "x"), f"give only one of --listen and --device; the second is \"x\"{tells}"),
                              (("--device", "x", *address),
                               f"give only one of --listen and --device; the second is \"127.0.0.1:14600\"{tells}"),
                              (("--listen", "here"), "--listen needs an IPv4 address and a port, 127.0.0.1:14600, not "
                                                     f"\"here\"{tells}"),
                              (("--device", ""), f"--device needs the path of a serial line, not \"\"{tells}"),
                              (("--device", "d" * 1000),
                               f"--device needs the path of a serial line, not \"{'d' * 1000}\"{tells}"),
                              (("--baud", "49"), "--baud needs a number from 50 to 2e+07, not \"49\"\n"),
                              (("--baud", "2e8"), "--baud needs a number from 50 to 2e+07, not \"2e8\"\n"),
                              (("--baud", "x"), "--baud needs a number from 50 to 2e+07, not \"x\"\n"),
                              (("--baud", ""), "--baud needs a number from 50 to 2e+07, not \"\"\n"),
                              (("--baud", "100x"), "--baud needs a number from 50 to 2e+07, not \"100x\"\n"),
                              (("--seconds", "0"), "--seconds needs a number from 0.001 to 1e+07, not \"0\"\n"),
                              (("--seconds", "1e8"), "--seconds needs a number from 0.001 to 1e+07, not \"1e8\"\n")):
            with self.subTest(options=options):
                self.assertEqual(self.call("stopwatch", *options), (64, "", f"airbearing stopwatch: {said}"))
        for options in ((), address, ("--out", "x"), (*address, "--out", "x", "more"), ("--nonsense",)):
            code, out, err = self.call("stopwatch", *options)
            self.assertEqual((code, out), (64, ""))
            self.assertIn("usage: airbearing stopwatch", err)
        code, out, err = self.call("stopwatch", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("usage: airbearing stopwatch"))


if __name__ == "__main__":
    harness.main()
