"""The verdict on time, against the raw log and against logs that are not whole."""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log

CAUSES = ("none", "fault", "switch", "io", "stolen", "own", "unknown")
PARTS = ("wire_in", "grid_wait", "step", "hold", "wire_out")
FRACTIONS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}


def percentile(values, fraction):
    """By nearest rank; none when no value lies beyond it."""
    rank = max(1, math.ceil(fraction * len(values) - 1e-6))
    return sorted(values)[rank - 1] if rank < len(values) else None


class Timing(harness.Case):
    @classmethod
    def setUpClass(cls):
        """A place for recordings that several tests read and none changes; made by the first."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.shelf, cls.recordings = pathlib.Path(folder.name), {}

    def record(self, *options, seconds="2", scenario=harness.SATELLITE, board=True, folder=None):
        self.log = (folder or self.dir) / f"{scenario.stem}.mcap"
        extra = self.board_options() if board else ()
        self.report = self.run_scenario(scenario, "--seconds", seconds, "--log", self.log, *extra,
                                        *options)
        return self.log

    def read(self, scenario=harness.SATELLITE, board=True):
        """A run with a frame that is late by 8 ms after a second."""
        if scenario not in self.recordings:
            self.record("--inject", "late=8ms@1s", scenario=scenario, board=board, seconds="3", folder=self.shelf)
            self.recordings[scenario] = self.log, self.report
        self.log, self.report = self.recordings[scenario]

    def read_tumble(self):
        self.read(harness.TUMBLE, board=False)

    def timing(self, *options, log=None, expect=None):
        code, out, err = self.call("timing", log or self.log, "--json", *options)
        self.assertIn(code, (0, 1) if expect is None else (expect,), out + err)
        found = json.loads(out)
        self.assertEqual(code, 0 if found["kept"] else 1)
        return found

    def assert_spread(self, found, pairs):
        """found is the spread of these values, each with its frame."""
        values = [value for value, _ in pairs]
        for name, fraction in FRACTIONS.items():
            self.assertEqual(found[name], percentile(values, fraction), name)
        self.assertEqual(found["count"], len(values))
        self.assertEqual(found["max"], max(values))
        self.assertIn((found["max"], found["max_frame"]), pairs)

    def test_every_figure_is_that_of_the_raw_log(self):
        self.read()
        found = self.timing()
        frames, period = raw_log.frames(self.log), 1000000
        self.assertEqual(found["frames"], len(frames))
        self.assert_spread(found["start_error_ns"], [(s - r, k) for k, r, s, *_ in frames])
        self.assert_spread(found["busy_ns"], [(e - s, k) for k, _, s, e, *_ in frames])
        responses = [e - r for _, r, _, e, *_ in frames]
        self.assertEqual(found["margin_ns"]["min"], period - max(responses))
        self.assertEqual(found["margin_ns"]["p99"], period - percentile(responses, 0.99))
        late = [(k, CAUSES[cause]) for k, r, s, e, _, _, cause, *_ in frames if e - r > period]
        self.assertEqual([(f["frame"], f["cause"]) for f in found["late"]], late)
        self.assertEqual(found["missed"], sum(f[5] for f in frames))
        self.assertEqual(found["lag_ns"], found["missed"] * period)
        self.assertEqual(found["follow_ns"],
                         max(s - frames[0][1] - k * period for k, _, s, *_ in frames))
        for key in ("overruns", "missed", "lag_ns", "overrun_causes"):
            self.assertEqual(found[key], self.report[key], key)
        self.assertEqual(found["start_error_ns"]["max"], self.report["start_error_ns"]["max"])

    def test_the_parts_of_the_loop_are_those_of_the_raw_log_and_of_the_report(self):
        self.read()
        link, = self.timing()["loop_latency_ns"]
        raw = raw_log.latencies(self.log)
        self.assertEqual(len(raw), self.report["loop_latency_ns"]["count"])
        self.assert_spread(link, [(sum(r[2:7]), r[0]) for r in raw])
        for i, part in enumerate(PARTS):
            self.assert_spread(link[part], [(r[2 + i], r[0]) for r in raw])
            self.assertEqual(link[part]["max"], self.report["loop_latency_ns"][part]["max"])

    def test_jobs_are_measured_in_every_frame_in_which_they_ran(self):
        self.read()
        found, raw = self.timing()["jobs"], raw_log.jobs(self.log)
        self.assertEqual([job["name"] for job in found],
                         [job["name"] for job in self.report["jobs"]])
        self.assertEqual(len(raw), self.report["frames"])
        for i, job in enumerate(found):
            self.assert_spread(job, [(r[3 + i], r[0]) for r in raw if r[2] >> i & 1])
            self.assertEqual(job["count"], self.report["jobs"][i]["count"])
            self.assertEqual(job["max"], self.report["jobs"][i]["max"])
            self.assertEqual(job["predicted_ns"], self.report["jobs"][i]["predicted_ns"])

    def test_drift_lies_about_where_the_clocks_themselves_put_it(self):
        self.read()
        found, clocks = self.timing(), raw_log.clocks(self.log)
        self.assertGreater(len(clocks), 50)
        first, last = clocks[0], clocks[-1]
        ppm = (1 - (last[1] - first[1]) / (last[0] - first[0])) * 1e6
        slack = 3 * (found["drift"]["ppm_high"] - found["drift"]["ppm_low"]) + 0.5
        self.assertAlmostEqual(found["drift"]["ppm"], ppm, delta=slack)
        self.assertEqual(found["drift_against"], "CLOCK_MONOTONIC_RAW")

    def test_an_injected_delay_is_own_and_names_its_job(self):
        self.read()
        found = self.timing()
        late = {f["frame"]: f for f in found["late"]}
        self.assertIn(1000, late)
        self.assertGreater(late[1000]["grew_ns"], 7000000)
        if late[1000]["start_error_ns"] > 500000:
            self.skipTest("the machine was late in the same frame")
        self.assertEqual((late[1000]["job"], late[1000]["grew"]), ("inject", "inject"))
        if late[1000]["cause"] == "own":
            self.assertFalse(found["kept"])
            self.assertIn("late by own work", " ".join(found["reasons"]))

    def test_the_verdict_is_one_sentence_and_what_is_allowed_does_not_break_it(self):
        self.read()
        many = [word for cause in CAUSES[1:] for word in ("--allow", f"{cause}=1000000")]
        found = self.timing(*many, expect=0)
        self.assertRegex(found["verdict"],
                         r"^simulated time followed wall time within [\d.]+ \S+ over [\d.]+ s; \d+ of "
                         r"\d+ late frames were the machine's(, \d+ its own)?, \d+ unexplained$")
        self.assertEqual(found["machine"] + found["own"] + found["unexplained"], found["overruns"])

    def test_effective_latency_is_found_where_an_actuator_moves(self):
        self.record("--set", "commit=grid", seconds="4")
        found = self.timing()
        self.assertIsNone(found["effective_latency_why"])
        known = [e["latency_ns"] for e in found["effective_latency"] if e["latency_ns"] is not None]
        raw = raw_log.latencies(self.log)
        # In, to the latch, and the commit is one period later.
        due = percentile([r[2] + r[3] for r in raw], 0.5) + 1000000
        self.assertTrue(any(abs(ns - due) < 400000 for ns in known), (known, due))

    def test_without_commands_the_effective_latency_is_not_known(self):
        self.record(scenario=harness.TUMBLE, board=False, seconds="0.5")
        found = self.timing()
        self.assertEqual(found["effective_latency_why"], "no command was recorded")

    def test_a_fast_run_promised_nothing_about_wall_time(self):
        self.record("--pace", "fast", scenario=harness.TUMBLE, board=False)
        found = self.timing(expect=0)
        self.assertIn("no wall clock paced this run", found["verdict"])
        self.assertIsNone(found["drift"])
        self.assertEqual(found["start_error_ns"]["count"], 0)

    def test_realtime_that_is_required_and_not_met_is_no(self):
        log = self.dir / "run.mcap"
        report = self.run_scenario(harness.TUMBLE, "--seconds", "0.3", "--log", log, "--set",
                                   "require=realtime", expect=None)
        found = self.timing(log=log)
        if not report["realtime"]["met"]:
            self.assertFalse(found["kept"])
            self.assertIn(report["realtime"]["missing"], " ".join(found["reasons"]))

    def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(self):
        self.read_tumble()
        whole = self.log.read_bytes()
        cut = self.dir / "cut.mcap"
        cut.write_bytes(whole[:len(whole) * 6 // 10])
        found = self.timing(log=cut)
        there = raw_log.frames(self.log)[:found["frames"]]
        self.assert_spread(found["busy_ns"], [(e - s, k) for k, _, s, e, *_ in there])
        self.assertTrue(0 < found["frames"] < self.report["frames"])
        self.assertFalse(found["complete"])
        self.assertIn("cut off after frame", " ".join(found["reasons"]))
        code, out, err = self.call("timing", cut)
        self.assertIn("cut off after frame", out)

    def test_a_corrupted_log_is_refused_with_one_line(self):
        self.read_tumble()
        whole = bytearray(self.log.read_bytes())
        whole[len(whole) // 2] ^= 0x40
        bad = self.dir / "bad.mcap"
        bad.write_bytes(whole)
        nonsense = self.dir / "nonsense.mcap"
        nonsense.write_bytes(b"not a log")
        for path in (bad, nonsense, self.dir / "absent.mcap"):
            code, out, err = self.call("timing", path)
            self.assertEqual(code, 2, out)
            self.assertEqual(out, "")
            self.assert_one_line(err, path.name)

    def test_the_page_is_one_file_that_loads_nothing(self):
        self.read()
        page = self.dir / "page.html"
        self.call("timing", self.log, "--html", page)
        text = page.read_text()
        self.assertTrue(text.startswith("<!doctype html>") and text.endswith("</html>\n"))
        foreign = [url for url in re.findall(r"https?://[^\s\"'<>]*", text)
                   if not url.startswith("http://www.w3.org/")]
        self.assertEqual(foreign, [])
        self.assertNotRegex(text, r"(?i)<script|<link|<iframe|\bsrc=|@import|url\(")
        self.assertNotRegex(text, r"(?i)\bnan\b|\binf\b")
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertGreaterEqual(text.count("<svg"), 6)
        self.assertEqual(text.count("<svg"), text.count("</svg>"))
        self.assertIn(self.timing()["verdict"], text)
        if harness.HAS_BROWSER:
            self.check_in_browser(page)

    def check_in_browser(self, page):
        shot = pathlib.Path(os.environ.get("SCREENSHOTS", self.dir)) / "timing.png"
        look = subprocess.run([*harness.NODE, harness.ROOT / "tests/scenario/timing/open_page.mjs", page, shot],
                              capture_output=True, text=True, timeout=120,
                              env={**os.environ, "CHROMIUM": harness.CHROMIUM})
        self.assertEqual(look.returncode, 0, look.stderr)
        saw = json.loads(look.stdout)
        self.assertEqual(saw["complaints"], [])
        self.assertGreaterEqual(saw["pictures"], 6)

    def test_the_percentile_text_is_that_of_the_raw_log(self):
        self.read_tumble()
        path = self.dir / "run.hgrm"
        self.call("timing", self.log, "--hgrm", path)
        lines = path.read_text().splitlines()
        self.assertEqual(lines[0].split(), ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"])
        errors = sorted(s - r for _, r, s, *_ in raw_log.frames(self.log))
        rows = [[float(word) for word in line.split()] for line in lines[2:] if line[:1] != "#"]
        for value, fraction, count, *_ in rows:
            self.assertAlmostEqual(value * 1000, errors[int(count) - 1], delta=0.6)
            self.assertAlmostEqual(count / len(errors), fraction, delta=1.01 / len(errors))
        self.assertEqual(rows[-1][2], len(errors))

    def test_the_trace_has_every_frame_and_its_jobs_inside_it(self):
        self.read_tumble()
        path = self.dir / "trace.json"
        self.call("timing", self.log, "--trace", path)
        events = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
        frames = {e["args"]["frame"]: e for e in events if e["tid"] == 1}
        self.assertEqual(len(frames), self.report["frames"])
        inside = [e for e in events if e["tid"] == 2]
        self.assertGreater(len(inside), len(frames))
        for job in inside:
            frame = frames[job["args"]["frame"]]
            self.assertGreaterEqual(job["ts"], frame["ts"] - 0.002)
            self.assertLessEqual(job["ts"] + job["dur"], frame["ts"] + frame["dur"] + 0.002)

    def test_the_flight_recorder_has_the_frames_around_an_overrun(self):
        self.record("--inject", "late=5ms@0.5s", scenario=harness.TUMBLE, board=False, seconds="0.7")
        rows = raw_log.events(self.log)
        late = [k for k, r, _, e, *_ in raw_log.frames(self.log) if e - r > 1000000]
        self.assertIn(500, late)
        wanted = {k for late_frame in late for k in range(late_frame - 32, late_frame + 9) if 0 <= k < 700}
        if self.report["recorder_lost"] == 0:
            self.assertEqual(wanted - set(rows), set())
        self.assertGreater(rows[500][12][0], 5000000)  # the injector is the first job
        frames = {f[0]: f for f in raw_log.frames(self.log)}
        jobs = {j[0]: j for j in raw_log.jobs(self.log)}
        for k, (release, start, wait, sent, begin, end, recorded, due, missed, cause, held, unanswered,
                spent) in rows.items():
            self.assertEqual((k, release, start, end, missed, cause, held),
                             frames[k][:4] + frames[k][5:8])
            self.assertEqual((k, begin, due, *spent), jobs[k])
            self.assertEqual((wait, unanswered), (0, 0))
            if k > 0:
                self.assertEqual(sorted((start, sent, begin)), [start, sent, begin])
            self.assertLessEqual(begin + sum(s for i, s in enumerate(spent) if due >> i & 1), end)
            self.assertLessEqual(end, recorded)

    def test_the_trace_and_the_text_have_the_steps_of_an_overrun(self):
        self.record("--inject", "late=60ms@0.5s", scenario=harness.TUMBLE, board=False, seconds="0.7")
        path, page = self.dir / "trace.json", self.dir / "page.html"
        _, out, _ = self.call("timing", self.log, "--trace", path, "--html", page)
        events = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
        steps = [e for e in events if e["tid"] == 4]
        self.assertEqual({e["args"]["frame"] for e in steps}, set(raw_log.events(self.log)))
        # Two of a frame never overlap, or the picture would be nonsense.
        for a, b in zip(steps, steps[1:]):
            self.assertLessEqual(a["ts"] + a["dur"], b["ts"] + 0.002)
        inject, = [e for e in steps if e["args"]["frame"] == 500 and e["name"] == "inject"]
        self.assertGreater(inject["dur"], 60000)
        names = [e["name"] for e in steps if e["args"]["frame"] == 500]
        self.assertEqual([n for n in names if n in ("commit", "latch", "inject", "step", "hash")],
                         ["commit", "latch", "inject", "step", "hash"])
        self.assertEqual(names[-1], "cause, record")
        worst = max(self.timing()["late"], key=lambda late: late["over_ns"])["frame"]
        self.assertIn(f"the latest of them, frame {worst}, from its release on:", out)
        self.assertIn(f"The latest frame, {worst}: what ran when?", page.read_text())

    def test_a_run_that_an_overrun_stops_still_reports_it(self):
        log = self.dir / "run.mcap"
        report = self.run_scenario(harness.TUMBLE, "--seconds", "1", "--log", log, "--inject",
                                   "late=5ms@0.2s", "--set", "overrun=stop", expect=3)
        last = report["frames"] - 1
        self.assertEqual(set(raw_log.events(log)), set(range(max(0, last - 32), last + 1)))

    def test_others_decode_every_event(self):
        self.record("--inject", "late=5ms@0.3s", scenario=harness.TUMBLE, board=False, seconds="0.4")
        reader = harness.ROOT / "tests" / "peers" / "mcap_read.mjs"
        if not shutil.which("node"):
            self.skipTest("no node")
        done = harness.node(reader, self.log)
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rf"/event  {len(raw_log.events(self.log))}\n")

    def test_a_certificate_fits_its_own_log_alone(self):
        self.record(scenario=harness.TUMBLE, board=False, seconds="0.5")
        certificate = self.dir / "certificate.json"
        self.call("timing", self.log, "--certificate", certificate, "--allow", "unknown=100")
        code, out, err = self.call("timing", self.log, "--verify", certificate)
        self.assertEqual(code, 0, out + err)
        self.assertIn("the certificate matches the log", out)
        content = json.loads(certificate.read_text())
        self.assertRegex(content["hashes"]["binary"], "^[0-9a-f]{16}$")
        self.assertEqual(content["audit"]["realtime"], self.report["realtime"])
        self.assertEqual(content["hashes"]["files"], {})

        content["timing"]["start_error_ns"]["p50"] += 1
        certificate.write_text(json.dumps(content))
        code, out, err = self.call("timing", self.log, "--verify", certificate)
        self.assertEqual(code, 1, out + err)
        self.assertIn("timing.start_error_ns.p50", out)

        content["timing"]["start_error_ns"]["p50"] -= 1
        certificate.write_text(json.dumps(content))
        self.record(scenario=harness.TUMBLE, board=False, seconds="0.5")
        code, out, err = self.call("timing", self.log, "--verify", certificate)
        self.assertEqual(code, 1, out + err)
        self.assertIn("hashes.log:", out)

    def test_a_certificate_has_what_the_doctor_said_of_the_machine(self):
        self.read_tumble()
        certificate = self.dir / "certificate.json"
        self.call("timing", self.log, "--certificate", certificate)
        content = json.loads(certificate.read_text())
        machine, core = content["machine"], self.report["realtime"]["cpus"]["frame"]
        said = json.loads(self.call("doctor", "--json", "--seconds", "0.01", "--cpu", str(core))[1])
        self.assertEqual([finding["name"] for finding in machine["findings"]],
                         [finding["name"] for finding in said["findings"]])
        self.assertEqual((machine["cpu"], machine["baseline"]["cpu"]), (core, core))
        self.assertEqual(machine["baseline"]["late_ns"]["count"], 100)
        self.assertGreater(machine["baseline"]["gaps"]["watched_ns"], 0)
        self.assertLessEqual(machine["baseline"]["late_ns"]["p50"], machine["baseline"]["late_ns"]["max"])

        machine["baseline"]["gaps"]["longest_ns"] += 1
        certificate.write_text(json.dumps(content))
        code, out, err = self.call("timing", self.log, "--verify", certificate)
        self.assertEqual(code, 1, out + err)
        self.assertIn("machine.baseline.gaps.longest_ns", out)

    def test_a_run_that_promised_nothing_about_time_has_no_machine_in_its_certificate(self):
        self.record("--pace", "fast", scenario=harness.TUMBLE, board=False, seconds="0.5")
        certificate = self.dir / "certificate.json"
        self.call("timing", self.log, "--certificate", certificate)
        self.assertIsNone(json.loads(certificate.read_text())["machine"])

    def test_what_is_no_certificate_is_refused_with_one_line(self):
        self.read_tumble()
        for text in ("{", "{}", "[]", '{"certificate": "another"}'):
            path = self.dir / "none.json"
            path.write_text(text)
            code, out, err = self.call("timing", self.log, "--verify", path)
            self.assertEqual(code, 2, out)
            self.assert_one_line(err, "none.json")

    def test_usage_is_said_where_it_is_wrong(self):
        for arguments in ((), ("a", "b"), ("a", "--allow", "own"), ("a", "--allow", "own=x"),
                          ("a", "--allow", "luck=1"), ("a", "--nonsense")):
            self.assertEqual(self.call("timing", *arguments)[0], 64, arguments)
        code, out, err = self.call("timing", "--help")
        self.assertEqual(code, 0)
        self.assertIn("usage: airbearing timing LOG", out)


if __name__ == "__main__":
    harness.main()
