#!/usr/bin/env python3
"""A run that is served live: what viewers see is true, and the run does not notice them."""
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

PEER = harness.ROOT / "tests" / "scenario" / "live" / "live_peer.mjs"
HAS_PEERS = shutil.which("node") and (harness.PEERS / "node_modules" / "ws").is_dir()
needs_peers = unittest.skipUnless(HAS_PEERS, "the packages of tools/peers are not installed")
FLEX = harness.SCENARIOS / "flex-chain.yaml"


class Serve(harness.Case):
    def serve(self, scenario, *options, port=None):
        """A run on a port of its own, that can be connected to."""
        port = port or harness.free_port()
        process = self.start("run", scenario, "--serve", str(port), "--report", self.dir / "report.json",
                             *options)
        self.wait_for_port(port, process)
        return port, process

    def wait_for_port(self, port, process):
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
            time.sleep(0.05)
        self.fail("nobody listens")

    def finish(self, process, expect=0):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, expect, f"{out}\n{err}")
        return json.loads((self.dir / "report.json").read_text())

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        return self.finish(process, expect=130)

    def watch(self, scenario, *options, path="/", scheme="ws"):
        """A run with the protocol's own client before it from the first frame on."""
        port = harness.free_port()
        url = f"{scheme}://127.0.0.1:{port}{path}"
        viewer = self.spawn([*harness.NODE, PEER, "collect", url, self.dir / "live.jsonl"],
                            stdout=subprocess.PIPE, text=True)
        self.assertEqual(viewer.stdout.readline(), "waiting\n")
        port, run = self.serve(scenario, *options, port=port)
        self.assertEqual(viewer.stdout.readline(), "looking\n")
        return port, run, viewer

    def seen(self, viewer):
        self.assertEqual(viewer.wait(timeout=60), 0)
        return [json.loads(line) for line in (self.dir / "live.jsonl").read_text().splitlines()]

    def peer(self, *arguments):
        done = harness.node(PEER, *arguments, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def decode(self, topic):
        return self.peer("decode", self.dir / "live.jsonl", topic)

    @needs_peers
    def test_what_is_sent_live_is_what_is_in_the_log(self):
        log = self.dir / "run.mcap"
        _, run, viewer = self.watch(harness.TUMBLE, "--seconds", "3", "--log", log, path="/?rate=all")
        seen = self.seen(viewer)
        report = self.finish(run)
        (counts,) = self.peer("compare", self.dir / "live.jsonl", log)
        for topic in ("/frame", "/plant", "/job", "/device/gyro"):
            self.assertGreater(counts[topic], 100, counts)
        self.assertEqual(report["live"]["viewers"], 1)
        self.assertEqual(report["live"]["sent"], sum(line["kind"] == "message" for line in seen))
        self.assertEqual(report["log"]["dropped"], 0)
        self.assertEqual(seen[-1], {"kind": "close", "code": 1001})
        times = [int(line["time"]) for line in seen if line["kind"] == "time"]
        self.assertEqual(times, sorted(set(times)))
        self.assertTrue(all(t % 1000000 == 0 for t in times), "the time is not simulated time")
        self.check_vehicle()
        self.check_figures()

    def check_vehicle(self):
        """The transform of a free body is what /plant says, at the same time."""
        plant = {line["time"]: line["message"]["q"] for line in self.decode("/plant")}
        places = self.decode("/tf")
        checked = 0
        for line in places:
            place = line["message"]["transforms"][0]
            self.assertEqual(place["parent_frame_id"], "world")
            q = plant.get(line["time"])
            if q is None:
                continue
            checked += 1
            for axis, value in zip("xyz", q[:3]):
                self.assertAlmostEqual(place["translation"][axis], value, places=12)
            for axis, value in zip("wxyz", q[3:7]):
                self.assertAlmostEqual(place["rotation"][axis], value, places=12)
        self.assertGreater(checked, 3)
        (scene,) = self.decode("/scene")
        entities = scene["message"]["entities"]
        self.assertEqual([e["frame_id"] for e in entities],
                         [t["child_frame_id"] for t in places[0]["message"]["transforms"]])
        for entity in entities:
            (cube,) = entity["cubes"]
            self.assertGreater(min(cube["size"].values()), 0)
            self.assertTrue(entity["frame_locked"])

    def check_figures(self):
        figures = [line["message"] for line in self.decode("/live")]
        self.assertGreater(len(figures), 3)
        frames = [f["frame"] for f in figures]
        self.assertEqual(frames, sorted(frames))
        last = figures[-1]
        self.assertGreater(last["busy_us"], 0)
        self.assertLessEqual(last["busy_us"], last["busy_us_max"])
        self.assertLessEqual(last["margin_us_min"], last["margin_us"])
        self.assertEqual(sum(last["cause"]), last["overruns"])

    @needs_peers
    def test_a_flexible_vehicle_is_drawn_as_it_is_bent(self):
        _, run, viewer = self.watch(FLEX, "--seconds", "2", "--set", "integrator.substeps=4",
                                    "--set", "rate=250 Hz")
        self.seen(viewer)
        self.finish(run)
        places = {line["time"]: {t["child_frame_id"]: t for t in line["message"]["transforms"]}
                  for line in self.decode("/tf")}
        bent = [line for line in self.decode("/scene/bent") if line["time"] in places]
        self.assertGreater(len(bent), 3)
        for line in bent:
            entities = {e["id"]: e for e in line["message"]["entities"]}
            self.assertEqual(len(entities), 15)  # the last has no node
            for i in range(1, 16):
                points = entities[f"beam{i}"]["lines"][0]["points"]
                here, there = (places[line["time"]][f"beam{k}"] for k in (i, i + 1))
                tip = self.rotate(here["rotation"], points[-1])
                for axis in "xyz":  # but for what a bend draws in
                    self.assertAlmostEqual(tip[axis] + here["translation"][axis],
                                           there["translation"][axis], delta=0.02)

        (lines,) = self.decode("/scene/straight")
        straight = {e["id"]: e["lines"][0]["points"] for e in lines["message"]["entities"]}
        self.assertEqual(set(straight), set(entities))
        unbent = [line for line in self.decode("/tf/straight") if line["time"] in places]
        self.assertGreater(len(unbent), 3)
        for line in unbent:
            frames = {t["child_frame_id"]: t for t in line["message"]["transforms"]}
            self.assertEqual(set(frames), set(places[line["time"]]))
            for i in range(1, 16):
                here, there = frames[f"beam{i}"], frames[f"beam{i + 1}"]
                tip = self.rotate(here["rotation"], straight[f"beam{i}"][-1])
                for axis in "xyz":
                    self.assertAlmostEqual(tip[axis] + here["translation"][axis],
                                           there["translation"][axis], places=12)

    def rotate(self, turn, point):
        u = [turn[a] for a in "xyz"]
        p = [point[a] for a in "xyz"]

        def cross(a, b):
            return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        t = [2 * c for c in cross(u, p)]
        s = cross(u, t)
        return {a: p[i] + turn["w"] * t[i] + s[i] for i, a in enumerate("xyz")}

    def watch_trouble(self):
        """A frame that is late by its own work, and a board that falls silent. A machine that takes away as much time
        in that very frame makes it late by theft: then once more."""
        for _ in range(3):
            options = self.board_options("--mute-after", "1")
            _, run, viewer = self.watch(harness.SATELLITE, "--seconds", "4", "--inject", "late=20ms@2s",
                                        "--set", "links.board.lost_after=0.9 s", *options)
            seen = self.seen(viewer)
            self.finish(run)
            events = [line["message"] for line in self.decode("/log")]
            if not any(re.match("frame 2000 overran .*: stolen$", event["message"]) for event in events):
                break
        return seen, events

    @needs_peers
    def test_overruns_and_a_lost_link_are_reported(self):
        seen, events = self.watch_trouble()
        statuses = [line for line in seen if line["kind"] == "status"]
        overruns = [s for s in statuses if s.get("id") == "overruns"]
        self.assertRegex(overruns[0]["message"], r"^[1-9]\d* frames overran")
        self.assertEqual(overruns[0]["level"], 1)
        (lost,) = [s for s in statuses if s.get("id") == "link.board"]
        self.assertIn("link board is lost since", lost["message"])
        texts = [event["message"] for event in events]
        self.assertTrue(any(text.startswith("frame 2000 overran by ") and text.endswith(": own")
                            for text in texts), texts)
        self.assertIn("link board is lost", texts)
        self.assertEqual({e["level"] for e in events if "lost" in e["message"]}, {4})

    def hands_off(self, port):
        """A viewer that asks for everything and never reads."""
        viewer = socket.socket()
        self.addCleanup(viewer.close)
        viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        viewer.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        viewer.sendall((f"GET /?rate=all HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n").encode())
        self.assertIn(b" 101 ", viewer.recv(64))
        text = json.dumps({"op": "subscribe",
                           "subscriptions": [{"id": i, "channelId": i} for i in range(8)]}).encode()
        viewer.sendall(bytes([0x81, 0x80 | 126]) + len(text).to_bytes(2, "big") + bytes(4) + text)
        return viewer

    def test_a_viewer_that_never_reads_loses_and_the_run_does_not_notice(self):
        log = self.dir / "run.mcap"
        # A large plant, so that the kernel's buffers are full soon.
        port, run = self.serve(FLEX, "--seconds", "4", "--log", log)
        self.hands_off(port)
        report = self.finish(run)
        self.assertEqual(report["frames"], 4000)
        self.assertEqual(report["log"]["dropped"], 0)
        self.assertGreater(report["live"]["lost"], 0)
        if not harness.SANITIZED:
            self.assertEqual(report["allocations_after_seal"], 0)

    def test_viewers_do_not_change_the_motion(self):
        alone = self.run_scenario(harness.TUMBLE, "--pace", "fast", "--seconds", "30")
        port, run = self.serve(harness.TUMBLE, "--pace", "fast", "--seconds", "30")
        try:
            self.hands_off(port)
        except (ConnectionError, AssertionError):
            pass  # it was over before
        self.assertEqual(self.finish(run)["state_hash"], alone["state_hash"])

    def test_top_shows_the_run(self):
        port, run = self.serve(harness.SATELLITE, "--seconds", "3600", *self.board_options())
        code, out, err = self.call("top", f"127.0.0.1:{port}", "--once")
        self.assertEqual(code, 0, err)
        rows = out.splitlines()
        self.assertTrue(rows[0].startswith("satellite-board "), out)
        for i, name in enumerate(("rate", "start error", "busy", "margin", "overruns", "links"), 1):
            self.assertTrue(rows[i].startswith(f"  {name} "), out)
        self.assertRegex(out, r"\n  gyro +rate( -?\d\S*){3} rad/s")
        self.assertNotIn("\033", out)
        self.stop(run)
        code, _, err = self.call("top", f"127.0.0.1:{port}", "--once")
        self.assertEqual(code, 2)
        self.assert_one_line(err, f"127.0.0.1:{port}", "--serve")

    def test_page_and_socket_share_the_port(self):
        port, run = self.serve(harness.TUMBLE, "--seconds", "3600")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
            self.assertEqual(page.status, 200)
            text = page.read()
            if page.headers["Content-Encoding"] == "gzip":
                text = gzip.decompress(text)
            self.assertIn(b"<title>Airbearing</title>", text)
        self.stop(run)

    def fetch(self, url, **headers):
        """Status and body, whatever they are."""
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as page:
                return page.status, page.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def test_the_model_of_a_robot_is_served_to_viewers(self):
        model = harness.SCENARIOS / "arm7.urdf"
        port, run = self.serve(harness.SCENARIOS / "arm7.yaml", "--seconds", "3600")
        url = f"http://127.0.0.1:{port}/model.urdf"
        self.assertEqual(self.fetch(url), (200, model.read_bytes()))
        self.assertEqual(self.fetch(url, Host=f"localhost:{port}")[0], 200)
        self.assertEqual(self.fetch(url, Host=f"rebound.example:{port}")[0], 403)
        self.stop(run)
        port, run = self.serve(harness.SCENARIOS / "arm7.yaml", "--seconds", "3600", "--token", "sesame")
        url = f"http://127.0.0.1:{port}/model.urdf"
        self.assertEqual(self.fetch(url)[0], 401)
        self.assertEqual(self.fetch(url + "?token=sesam")[0], 401)
        self.assertEqual(self.fetch(url + "?token=sesame"), (200, model.read_bytes()))
        self.assertEqual(self.fetch(url, Authorization="Bearer sesame")[0], 200)
        self.stop(run)
        port, run = self.serve(harness.TUMBLE, "--seconds", "3600")
        self.assertEqual(self.fetch(f"http://127.0.0.1:{port}/model.urdf")[0], 404)
        self.stop(run)

    def test_other_addresses_need_a_token_and_tls(self):
        for options in ([], ["--token", "x"], ["--cert", "c", "--key", "k"]):
            code, _, err = self.call("run", harness.TUMBLE, "--serve", "0.0.0.0:0", *options)
            self.assertEqual(code, 2, err)
            self.assert_one_line(err, "--serve 0.0.0.0:0", "--token-file", "--cert")
        code, _, err = self.call("run", harness.TUMBLE, "--serve", "0", "--cert", "none.pem")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "--cert and --key go together")
        code, _, err = self.call("run", harness.TUMBLE, "--serve", "0", "--cert", "none.pem", "--key", "no")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "none.pem", "No such file")

    def test_what_cannot_be_served_is_refused_before_the_run(self):
        for at in ("x", "70000", "-1", "1.2.3:80", "host.example:80", ":", "127.0.0.1:"):
            code, _, err = self.call("run", harness.TUMBLE, f"--serve={at}")
            self.assertEqual(code, 64, at)
            self.assert_one_line(err, "--serve needs PORT, from 0", "to 65535")
        code, _, err = self.call("run", harness.TUMBLE, "--token", "x")
        self.assertEqual(code, 64)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            code, _, err = self.call("run", harness.TUMBLE, "--serve", str(port),
                                     "--report", self.dir / "r.json")
        self.assertEqual(code, 2)
        self.assert_one_line(err, f"--serve {port}", "Address already in use", "choose another port, or 0")
        self.assertFalse((self.dir / "r.json").exists())

    def make_certificate(self):
        cert, key = self.dir / "cert.pem", self.dir / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                        cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
        return cert, key

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_only_current_versions_of_tls_are_accepted(self):
        cert, key = self.make_certificate()
        port, run = self.serve(harness.TUMBLE, "--seconds", "3600", "--cert", cert, "--key", key)
        spoken = {
            "1.3": (True, ["-tls1_3"]),
            "1.2": (True, ["-tls1_2"]),
            "1.2 as browsers do": (True, ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"]),
            "1.2, one key for all": (False, ["-tls1_2", "-cipher", "AES256-GCM-SHA384"]),
            "1.2, the same, SHA-1": (False, ["-tls1_2", "-cipher", "AES128-SHA@SECLEVEL=0"]),
            "1.2, SHA-1": (False, ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA@SECLEVEL=0"]),
            "1.2, CBC": (False, ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA384@SECLEVEL=0"]),
            "1.2, signed by SHA-1": (False, ["-tls1_2", "-sigalgs", "RSA+SHA1", "-cipher", "ECDHE@SECLEVEL=0"]),
            "1.1": (False, ["-tls1_1", "-cipher", "ALL@SECLEVEL=0"]),
            "1.0": (False, ["-tls1", "-cipher", "ALL@SECLEVEL=0"]),
        }
        for name, (accepted, options) in spoken.items():
            done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", cert,
                                   "-verify_return_error", *options], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=120)
            with self.subTest(name):
                self.assertEqual(done.returncode == 0, accepted, done.stdout + done.stderr)
                self.assertNotIn("no cipher match", done.stderr)
        self.stop(run)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    @needs_peers
    def test_tls_and_a_token_admit_a_client_that_knows_it(self):
        cert, key = self.make_certificate()
        token = self.dir / "token"
        token.write_text("open sesame\n")
        port, run, viewer = self.watch(harness.TUMBLE, "--seconds", "3600", "--cert", cert, "--key", key,
                                       "--token-file", token, path="/?token=open%20sesame", scheme="wss")
        code, out, err = self.call("top", f"localhost:{port}", "--once", "--tls", "--ca", cert,
                                   "--token-file", token)
        self.assertEqual(code, 0, err)
        self.assertTrue(out.startswith("tumble "), out)
        code, _, err = self.call("top", f"localhost:{port}", "--once", "--tls", "--ca", cert)
        self.assertEqual(code, 2)
        self.stop(run)
        self.assertGreater(len(self.seen(viewer)), 10)


if __name__ == "__main__":
    harness.main()
