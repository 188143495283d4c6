"""Access to a run that is served: what each client is answered, in a pause, so that no clock counts."""
import base64
import gzip
import json
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import websocket

ARM = harness.SCENARIOS / "arm7.yaml"
PAUSED = ("--act", "0.001s:pause")
UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
           "Sec-WebSocket-Version": "13"}
LIVE = {**UPGRADE, "Sec-WebSocket-Protocol": websocket.PROTOCOL}


class Door(harness.Case):
    def serve(self, scenario, *options, address=r"http://127\.0\.0\.1:(\d+)/(\?operator=sesame)?"):
        self.report = self.dir / "report.json"
        if not any("operator" in str(option) for option in options):
            options = (*options, "--operator-token", "sesame")
        self.run_ = self.start("run", scenario, "--serve", "0", *PAUSED, "--report", self.report, *options)
        line = self.run_.stderr.readline()
        found = re.fullmatch(f"live on {address}\n", line)
        self.assertTrue(found, line)
        self.port = int(found[1])

    def stop(self):
        """What the report says of the clients."""
        self.run_.send_signal(signal.SIGINT)
        out, err = self.run_.communicate(timeout=60)
        self.assertEqual(self.run_.returncode, 130, out + err)
        return json.loads(self.report.read_text())["live"]

    def request(self, path, method="GET", wrap=None, **headers):
        """The connection after a request, the first line of the answer, its headers, and what it has read behind."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(connection.close)
        if wrap:
            connection = wrap(connection)
            self.addCleanup(connection.close)
        headers = {"Host": f"127.0.0.1:{self.port}", **{key.replace("_", "-"): value for key, value in headers.items()}}
        text = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode())
        line = websocket.Line(connection, masks=True)
        first, *rest = line.head().split("\r\n")
        answer = dict(row.lower().split(": ", 1) if ": " in row else (row.lower(), "") for row in rest if row)
        return line, int(first.split()[1]), answer

    def page(self, path, **more):
        """Status, headers and body."""
        line, status, answer = self.request(path, **more)
        size = int(answer.get("content-length", 0))
        return status, answer, line.take(size)

    def looks(self, path="/", headers=None, **more):
        """Status of an attempt to view, and of a refused one its reason."""
        line, status, answer = self.request(path, **{**LIVE, **(headers or {}), **more})
        if status == 101:
            line.connection.close()
            return 101
        said = line.take(int(answer.get("content-length", 0))).decode()
        return status, re.sub(r"<[^>]*>", " ", said).split(None, 1)[-1].strip()

    def test_pages(self):
        self.serve(ARM)
        status, head, body = self.page("/")
        self.assertEqual(status, 200)
        self.assertEqual(head["content-type"], "text/html; charset=utf-8")
        self.assertEqual((head["x-content-type-options"], head["referrer-policy"], head["cache-control"]),
                         ("nosniff", "no-referrer", "no-cache"))
        self.assertIn("default-src 'self'", head["content-security-policy"])
        self.assertIn("frame-ancestors 'none'", head["content-security-policy"])
        self.assertEqual(head.get("content-encoding") == "gzip", body[:2] == b"\x1f\x8b")
        text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        self.assertIn(b"<title>Airbearing</title>", text)
        self.assertEqual(self.page("/index.html")[2], body)
        self.assertEqual(self.page("/?x=1")[2], body)
        for path in ("/nothing", "/index.htm", "/model.urd"):
            self.assertEqual(self.page(path)[0], 404, path)
        self.assertEqual(self.page("/", method="POST", Content_Length="0")[0], 404)
        model = (harness.SCENARIOS / "arm7.urdf").read_bytes()
        self.assertGreater(len(model), 1000)
        status, head, body = self.page("/model.urdf")
        self.assertEqual((status, body), (200, model))
        self.assertNotIn("content-encoding", head)
        for host, expected in (("localhost", 200), (f"localhost:{self.port}", 200), ("127.9.9.9", 200),
                               ("128.0.0.1", 403), ("126.255.255.255", 403), ("rebound.example", 403),
                               ("localhost.example", 403)):
            self.assertEqual(self.page("/model.urdf", Host=host)[0], expected, host)
        live = self.stop()
        self.assertEqual((live["viewers"], live["refused"]), (0, 4))

    def test_several_pages_come_over_one_connection(self):
        self.serve(ARM)
        line, _, answer = self.request("/model.urdf")
        first = line.take(int(answer["content-length"]))
        line.connection.sendall("GET /model.urdf HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.assertIn(" 200 ", line.head())
        self.assertEqual(line.take(len(first)), first)
        self.stop()

    def test_origins(self):
        self.serve(harness.TUMBLE, "--origin", "http://one.example", "--origin", "https://two.example:8443")
        own = f"127.0.0.1:{self.port}"
        stranger = (403, "the origin of this page is not allowed; start the run with --origin and its address")
        for host, origin, expected in (
                (own, None, 101), (own, f"http://{own}", 101), (own, f"https://{own}", stranger),
                (own, "https://app.foxglove.dev", 101), (own, "https://studio.foxglove.dev", 101),
                (own, "http://app.foxglove.dev", stranger), (own, "http://one.example", 101),
                (own, "https://two.example:8443", 101), (own, "https://two.example", stranger),
                (own, "http://three.example", stranger), (own, f"http://localhost:{self.port}", stranger),
                (f"localhost:{self.port}", f"http://localhost:{self.port}", 101),
                ("rebound.example", "http://rebound.example", stranger),
                ("128.0.0.1", "http://128.0.0.1", stranger), ("127.1.2.3", "http://127.1.2.3", 101)):
            headers = {"Host": host, **({"Origin": origin} if origin else {})}
            self.assertEqual(self.looks(headers=headers), expected, headers)
        bare = {key: value for key, value in LIVE.items() if key != "Sec-WebSocket-Protocol"}
        self.assertEqual(self.request("/", **bare, Sec_WebSocket_Protocol="foxglove.websocket.v1")[1], 101)
        with self.assertRaises((websocket.Closed, ConnectionError)):
            self.request("/", **bare, Sec_WebSocket_Protocol="chat")
        self.assertEqual(self.request("/", **bare)[1], 400)
        self.assertEqual(self.stop()["viewers"], 9)

    def test_tokens(self):
        self.serve(ARM, "--token", "ab/", "--operator-token", "cd",
                   address=r"http://127\.0\.0\.1:(\d+)/\?token=ab%2F&operator=cd")
        wrong = (401, "a token is required: add ?token=TOKEN to the address")
        other = (403, "the operator token is not that of this run; use the address that this run printed, or connect without a token")
        for path, authorization, expected in (
                ("/", None, wrong), ("/?token=ab%2F", None, 101), ("/?token=ab", None, wrong),
                ("/?token=ab%2Fa", None, wrong), ("/?token=ab%2Fab%2F", None, wrong), ("/?token=", None, wrong),
                ("/?token=xb%2F", None, wrong), ("/?token=abx", None, wrong),
                ("/", "Bearer ab/", 101), ("/", "bearer ab/", 101), ("/", "Bearer ab", wrong), ("/", "Bearer ", wrong),
                ("/", "Bearer", wrong), ("/", "Beaver ab/", wrong), ("/?token=no", "Bearer ab/", 101),
                ("/?operator=cd", None, wrong), ("/?token=ab%2F&operator=cd", None, 101),
                ("/?token=ab%2F&operator=ce", None, other), ("/?token=ab%2F&operator=c", None, other),
                ("/?token=ab%2F", "Operator cd", 101), ("/?token=ab%2F", "operator cd", 101),
                ("/?token=ab%2F", "Operator x", other), ("/?token=ab%2F", "Operate cd", 101)):
            headers = {"Authorization": authorization} if authorization else {}
            self.assertEqual(self.looks(path, headers), expected, (path, authorization))
        self.assertEqual(self.looks("/?token=ab%2F", {"Origin": "http://three.example"}), 101)
        for path, authorization, expected in (("", None, 401), ("?token=ab%2F", None, 200), ("?token=ab", None, 401),
                                              ("", "Bearer ab/", 200)):
            headers = {"Authorization": authorization} if authorization else {}
            self.assertEqual(self.page("/model.urdf" + path, **headers)[0], expected, (path, authorization))
        self.assertEqual(self.page("/model.urdf?token=ab%2F", Host="rebound.example")[0], 200)
        live = self.stop()
        self.assertEqual((live["viewers"], live["refused"]), (9, 17))

    def test_an_operator_is_told_that_it_may_command(self):
        self.serve(harness.TUMBLE)
        for path, headers, expected in (("/", {}, "no"), ("/?operator=sesame", {}, "yes"),
                                        ("/", {"Authorization": "Operator sesame"}, "yes"),
                                        ("/", {"Authorization": "Bearer sesame"}, "no")):
            line, status, _ = self.request(path, **LIVE, **headers)
            self.assertEqual(status, 101)
            info = {}
            while info.get("op") != "serverInfo":
                info = json.loads(line.hear()[1])
            self.assertEqual(info["metadata"]["operator"], expected, (path, headers))
            self.assertEqual(info["name"], "tumble")
        self.stop()

    def test_the_address_says_where_the_tokens_are(self):
        one, two = self.dir / "one", self.dir / "two"
        one.write_text("first\nsecond\n")
        two.write_text("third\r\n")
        for options, query in (
                (("--token-file", one, "--operator-token-file", two), rf" \(token= is in {one}\) \(operator= is in {two}\)"),
                (("--token-file", one, "--operator-token", "x"), rf"\?operator=x \(token= is in {one}\)"),
                (("--token", "AZaz09-._~", "--operator-token-file", two),
                 rf"\?token=AZaz09-\._~ \(operator= is in {two}\)"),
                (("--token", "a&=%", "--operator-token", "\u00e9 "), r"\?token=a%26%3D%25&operator=%C3%A9%20")):
            self.serve(harness.TUMBLE, *options, address=r"http://127\.0\.0\.1:(\d+)/" + query)
            if options[0] == "--token-file":
                self.assertEqual(self.looks("/?token=first"), 101)
                self.assertEqual(self.looks("/?token=firstsecond")[0], 401)
            if options[2] == "--operator-token-file":
                token = "first" if options[0] == "--token-file" else "AZaz09-._~"
                self.assertEqual(self.looks(f"/?token={token}&operator=third"), 101)
                self.assertEqual(self.looks(f"/?token={token}&operator=thirdx")[0], 403)
            self.stop()

    def test_the_longest_token_of_a_file_is_taken(self):
        longest = self.dir / "longest"
        for end in ("", "\n", "\r\n"):
            longest.write_text("y" * 255 + end)
            self.serve(harness.TUMBLE, "--token-file", longest, "--operator-token", "x",
                       address=r"http://127\.0\.0\.1:(\d+)/\?operator=x \(token= is in .*\)")
            self.assertEqual(self.looks("/?token=" + "y" * 255), 101)
            self.assertEqual(self.looks("/?token=" + "y" * 254)[0], 401)
            self.stop()

    def test_a_message_of_64_kib_is_accepted_whole_or_in_pieces_and_one_byte_more_is_not(self):
        self.serve(harness.TUMBLE, "--set", "tunable=[devices.gyro.bias]")
        line, status, _ = self.request("/", **LIVE)
        self.assertEqual(status, 101)
        for size, sent in ((80, 1), (65536, 1), (65536, 3), (80, 2)):
            name = f"{size} in {sent}"
            words = json.dumps({"op": "getParameters", "id": name, "parameterNames": []}).ljust(size).encode()
            step = -(-size // sent)
            for k in range(sent):
                self.piece(line, words[k * step:(k + 1) * step], k == 0, k == sent - 1)
            self.assertEqual(self.values(line), name)
        self.piece(line, bytes(65536), True, False)
        self.piece(line, b"x", False, True)
        with self.assertRaises((websocket.Closed, ConnectionError)):
            while True:
                line.hear()
        line, _, _ = self.request("/", **LIVE)
        line.send(websocket.TEXT, b" " * 65537)
        code = None
        while code is None:
            first, payload = line.frame()
            code = struct.unpack(">H", payload[:2])[0] if first & 15 == websocket.CLOSE else None
        self.assertEqual(code, 1009)
        self.assertEqual(self.stop()["floods"], 0)

    def piece(self, line, payload, first, last):
        mask = bytes(4)
        size = struct.pack(">BBQ", (0x80 if last else 0) | (websocket.TEXT if first else 0), 0x80 | 127, len(payload))
        line.connection.sendall(size + mask + payload)

    def values(self, line):
        """Whose question was answered."""
        while True:
            opcode, payload = line.hear()
            said = json.loads(payload) if opcode == websocket.TEXT else {}
            if said.get("op") == "parameterValues":
                self.assertEqual(len(said["parameters"]), 3)
                return said["id"]

    def test_the_end_is_announced(self):
        self.serve(harness.TUMBLE)
        line, _, _ = self.request("/", **LIVE)
        self.run_.send_signal(signal.SIGINT)
        last, statuses = None, []
        while last is None:
            first, payload = line.frame()
            if first & 15 == websocket.CLOSE:
                last = payload
            elif first & 15 == websocket.TEXT and json.loads(payload)["op"] == "status":
                statuses.append(json.loads(payload))
        self.assertEqual(last, struct.pack(">H", 1001) + b"the run is over")
        (verdict,) = [each for each in statuses if each.get("id") == "verdict"]
        self.assertRegex(verdict["message"], "^verdict: ")
        self.run_.communicate(timeout=60)

    def test_a_certificate_must_fit(self):
        wrong = self.dir / "wrong.pem"
        wrong.write_text("no certificate\n")
        code, out, err = self.call("run", harness.TUMBLE, "--serve", "0", "--cert", wrong, "--key", wrong)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, f"airbearing run: --serve 0: {wrong}: the certificate and the key do not belong together\n")
        for options in (("--cert", self.dir / "none", "--key", wrong), ("--cert", wrong, "--key", self.dir / "none")):
            code, out, err = self.call("run", harness.TUMBLE, "--serve", "0", *options)
            self.assertEqual(err, f"airbearing run: --serve 0: {self.dir / 'none'}: No such file or directory\n")

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_with_a_certificate_the_own_page_is_another(self):
        cert, key = self.dir / "cert.pem", self.dir / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        self.serve(harness.TUMBLE, "--cert", cert, "--key", key,
                   address=r"https://127\.0\.0\.1:(\d+)/\?operator=sesame")
        context = ssl.create_default_context(cafile=cert)

        def wrap(connection):
            return context.wrap_socket(connection, server_hostname="127.0.0.1")

        own = f"127.0.0.1:{self.port}"
        self.assertEqual(self.page("/", wrap=wrap)[0], 200)
        self.assertEqual(self.looks(wrap=wrap, Origin=f"https://{own}"), 101)
        self.assertEqual(self.looks(wrap=wrap, Origin=f"http://{own}")[0], 403)
        self.stop()


if __name__ == "__main__":
    harness.main()
