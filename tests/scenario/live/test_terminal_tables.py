"""Tables in a terminal: airbearing top with a server of our own that sends what no run would, a run's own table, and
what a run says when no board comes."""
import os
import pathlib
import pty
import re
import signal
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import websocket

LIVE = """uint64 frame
float64 seconds # simulated
float64 rate_hz
float64 start_error_us
float64 start_error_us_max
float64 busy_us
float64 busy_us_max
float64 margin_us
float64 margin_us_min
uint64 overruns
uint64 missed
uint64[7] cause
uint64 inputs
uint8[4] link
"""
FIGURES = struct.pack("<Q8d10Q4B", 1234, 1.234, 999.5, 2.25, 31.75, 17.5, 203.25, 801.125, -12.5, 21, 3,
                      9, 1, 2, 3, 4, 5, 6, 77, 1, 2, 0, 1)
CDR = b"\0\1\0\0"


def channel(key, topic, schema):
    return {"id": key, "topic": topic, "encoding": "cdr", "schemaName": "x", "schema": schema}


class Server(threading.Thread):
    """Serves one client and hangs up when it has gone."""

    def __init__(self, channels, messages, status=None):
        super().__init__(daemon=True)
        self.channels, self.messages, self.status = channels, messages, status
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.request, self.subscribed = "", None

    def run(self):
        line, self.request = websocket.accept(self.listener)
        try:
            line.say("serverInfo", name="made\x1b[2J run", capabilities=[])
            line.say("advertise", channels=self.channels)
            _, text = line.hear()
            self.subscribed = text.decode()
            if self.status:
                line.say("status", level=1, message=self.status)
            for key, payload in self.messages:
                line.send(websocket.BINARY, struct.pack("<BIQ", 1, key, 5) + CDR + payload)
            while True:
                line.hear()
        except (websocket.Closed, OSError):
            pass
        line.connection.close()


class Top(golden.Case):
    def look(self, channels, messages, *options, status=None, code=0):
        """What it says of a server, and that server."""
        server = Server(channels, messages, status)
        server.start()
        self.addCleanup(server.listener.close)
        done, out, err = self.call("top", f"127.0.0.1:{server.port}", *options)
        self.assertEqual(done, code, out + err)
        server.join(60)
        return server, out + err.replace(str(server.port), "PORT")

    def test_all_figures_are_in_their_places(self):
        devices = [channel(10 + k, f"/device/wheel{k}", "float64 torque # N m\nfloat64 speed # rad/s, relative\n")
                   for k in range(26)]
        channels = [channel(1, "/live", LIVE), channel(2, "/desk", "uint8 paused\n"),
                    channel(3, "/frame", "uint64 frame\n"), channel(4, "/device/gyro", "float64[3] rate # rad/s\nfloat64 unused\n"),
                    channel(5, "/device/silent", "float64 x\n"), channel(159, "/device/many", "float64[6] y\n"),
                    channel(160, "/device/out", "float64 x\n"), channel(-1, "/device/less", "float64 x\n"), *devices]
        messages = [(1, FIGURES), (2, b"\1"), (4, struct.pack("<4d", 0.125, -2.5, 3e-7, 9.0)),
                    (159, struct.pack("<6d", 1, 2, 3, 4, 5, 6)), (160, bytes(8)), (3, bytes(8))]
        messages += [(10 + k, struct.pack("<2d", k, -k)) for k in range(26)]
        server, said = self.look(channels, messages, "--once", "--token", "sesame", status="all is well\n")
        self.assert_golden("all.top", said)
        self.assertRegex(server.request, r"(?i)authorization: bearer sesame\r\n")
        self.assertIn("GET /?rate=10 HTTP/1.1\r\n", server.request)
        self.assertEqual([int(key) for key in re.findall(r'"channelId":(\d+)', server.subscribed)],
                         [1, 2, 4, 5, 159, *range(10, 36)])

    def test_a_run_with_little_has_a_short_table(self):
        token = self.dir / "token"
        token.write_text("from a file\r\nnot this\n")
        figures = struct.pack("<Q8d10Q4B", *[0] * 19, 0, 0, 0, 0)
        server, said = self.look([channel(0, "/live", LIVE)], [(0, figures)], "--token-file", token)
        self.assert_golden("little.top", said)
        self.assertRegex(server.request, r"(?i)authorization: bearer from a file\r\n")
        server, said = self.look([channel(0, "/live", LIVE), channel(7, "/desk", "uint8 paused\n")],
                                 [(7, b"\0"), (0, figures[:8])])
        self.assert_golden("cut.top", said)
        self.assertNotIn("authorization", server.request.lower())

    def test_what_is_refused(self):
        empty = self.dir / "empty"
        empty.touch()
        port = harness.free_port()
        text = ""
        for arguments in (["a", "b"], ["0"], ["65536"], ["x"], ["127.0.0.1:"], ["127.0.0.1:1x"], ["y" * 128 + ":80"],
                          ["--nonsense"], ["--token-file", empty], ["--token-file", self.dir / "absent"], [str(port)],
                          [f"127.0.0.1:{port}", "--once"]):
            done, out, err = self.call("top", *arguments)
            shown = " ".join(map(str, arguments)).replace("y" * 128, "yyy...")
            text += f"{done} top {shown}\n  {(out + err).strip()}\n".replace(str(port), "PORT")
        self.assert_golden("refused.top", text)


class Table(golden.Case):
    def test_a_run_draws_its_table_in_place(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        command = self.command("run", harness.TUMBLE, "--pace", "fast", "--seconds", "0.2", "--serve", "0",
                               "--act", "0.15s:pause")
        run = self.spawn(command, stdout=slave, stderr=slave)
        os.close(slave)
        said, limit = b"", time.monotonic() + 60
        while said.partition(b"frames          100 ")[2].count(b"\x1b[6A") < 3 and time.monotonic() < limit:
            said += os.read(master, 65536)
        run.send_signal(signal.SIGINT)
        try:
            while more := os.read(master, 65536):
                said += more
        except OSError:  # as the end of a terminal is told
            pass
        self.assertEqual(run.wait(60), 130)
        table = said.decode().replace("\r", "").split("\x1b[6A")
        self.assertEqual(table[1].count("\n"), 6)
        whole = [each for each in table if "frames" in each and "verdict" not in each][-1]
        table = re.sub(r"-?[\d.]+ us", "T us", whole)
        self.assert_golden("table.run", table.replace("\x1b", "ESC"))


class Nobody(golden.Case):
    """A board that does not come, or not for long."""

    def ask(self, *options):
        done, out, err = self.call("run", harness.SATELLITE, "--seconds", "1", "--log", self.dir / "x.mcap", *options)
        self.assertFalse((self.dir / "x.mcap").exists(), "nothing is left behind")
        return f"{done}\n" + re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", out + err)

    def test_no_board(self):
        port = harness.free_port()
        mine = ("--set", f"links.board.listen=127.0.0.1:{port}")
        text = self.ask(*mine, "--external-board", "--set", "links.board.connect_within=100 ms")
        text += self.ask(*mine, "--set", 'controller.command=["sh", "-c", "echo so it ends; exit 7"]')
        text += self.ask(*mine, "--set", 'controller.command=["no-such-program"]')
        text += self.ask(*mine, "--set", 'controller.command=["sh", "-c", "kill -9 $$"]')
        self.assert_golden("nobody.run", text)


if __name__ == "__main__":
    harness.main()
