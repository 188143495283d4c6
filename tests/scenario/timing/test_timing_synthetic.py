"""What timing says of runs whose every nanosecond is known, against the files of golden/."""
import json
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import synthetic_log
import synthetic_run
from synthetic_run import FIRST, OWN, PERIOD, STOLEN, SWITCH


TENTH = 0.11  # of a picture's dots: half of one may be rounded up here and down there


def drawn(page):
    """A page without its style, and with blanks between the letters and numbers of a path."""
    text = re.sub(r"<style>.*</style>", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"(?<=[\" \d])([MLVH])(?=\d)", r" \1 ", text)


def on_grid(count, **changes):
    """A run without trouble, and no more in its log than frames and jobs."""
    run = synthetic_run.Run(count)
    run.metadata.update(changes)
    run.count()
    return run


class Forms(golden.Case):
    """The same figures as text, JSON, page, percentiles and trace."""

    def write(self, run, name="run.mcap", **how):
        return run.write(self.dir / name, **how)

    def test_a_troubled_run(self):
        log = self.write(synthetic_run.troubled())
        page, hgrm = self.dir / "page.html", self.dir / "start.hgrm"
        self.assert_says("timing-troubled.txt", "timing", log, "--html", page, "--hgrm", hgrm, code=1)
        self.assert_golden("timing-troubled.hgrm", hgrm.read_text())
        self.assert_golden("timing-troubled.html", drawn(page), near=TENTH)
        self.assert_says("timing-troubled.json", "timing", log, "--json", code=1)

    def test_a_quiet_run_that_was_committed_early(self):
        run = on_grid(400, commit="early", scenario="")
        synthetic_run.add_commands(run)
        page = self.dir / "page.html"
        self.assert_says("timing-quiet.txt", "timing", self.write(run), "--html", page)
        self.assert_golden("timing-quiet.html", drawn(page), near=TENTH)

    def test_a_run_that_no_clock_paced(self):
        run = on_grid(40, pace="fast")
        run.frames[7].after += 3 * PERIOD  # not late: nobody waited
        run.frames[7].release += 5
        run.frames[39].after += 2000 * PERIOD
        log, page, hgrm, trace = self.write(run), self.dir / "page.html", self.dir / "busy", self.dir / "trace"
        self.assert_says("timing-fast.txt", "timing", log, "--html", page, "--hgrm", hgrm, "--trace", trace)
        self.assert_golden("timing-fast.html", drawn(page), near=TENTH)
        self.assert_golden("timing-fast.hgrm", hgrm.read_text())
        self.assertNotIn('"tid":3,"ts"', trace.read_text())
        self.assert_says("timing-fast.json", "timing", log, "--json")

    def test_the_trace_of_a_short_run(self):
        run = synthetic_run.troubled()
        run.frames = run.frames[8:24]
        for frame in (run.frames[3], run.frames[9]):
            frame.has_jobs = False
        run.frames[5].held = 1
        trace = self.dir / "trace.json"
        self.call("timing", self.write(run), "--trace", trace)
        self.assert_golden("timing-short.trace", trace.read_text())
        json.loads(trace.read_text())

    def test_a_run_that_followed_the_boards_clock(self):
        run = on_grid(300, lock_ppm="100")
        moved = 0
        for k, frame in enumerate(run.frames):
            moved += 37 * (k > 100)
            frame.release += moved
        run.late(150, STOLEN, error=2_400_000)
        run.frames[250].release += 400_000  # on no grid
        run.count()
        run.report["phase_lock"] = {"locked": True, "error_ns": {"p50": 321.0}}
        log = self.write(run)
        self.assert_says("timing-locked.txt", "timing", log, code=1)
        self.assert_says("timing-locked.json", "timing", log, "--json", code=1)
        run.frames[250].release -= 400_000
        run.report["phase_lock"]["locked"] = False
        code, out, _ = self.call("timing", self.write(run))
        self.assertEqual(code, 0, out)
        self.assertIn("releases were moved by 7.4 us in all; NOT locked, error 321 ns median", out)
        del run.report["phase_lock"]
        code, out, _ = self.call("timing", self.write(run), "--json")
        self.assertEqual((json.loads(out)["corrected_ns"], json.loads(out)["phase_lock"]), (199 * 37, None))

    def test_a_long_run_is_decimated_in_its_plots(self):
        run = synthetic_run.Run(100_000)
        for frame in run.frames:
            frame.has_jobs = False
        for k in range(30_000, 34_100):
            run.frames[k].error += 1_100_000
            run.frames[k].cause = STOLEN
        run.late(90_000, SWITCH, after=5 * PERIOD)
        log, page, trace = self.write(run), self.dir / "page.html", self.dir / "trace.json"
        code, out, err = self.call("timing", log, "--html", page, "--trace", trace)
        self.assertEqual(code, 1, out + err)
        self.assertIn("late: 4081 more; --json has them all", out)
        page = page.read_text()
        self.assertEqual(page.count('width="1.4"'), 1000)
        self.assertEqual(page.count('class="stolen" cx='), 4000)
        self.assertEqual(page.count('r="3"/>'), 782)  # every second of the blocks of 64
        self.assertIn("4101, the first 200", page)
        self.assertEqual(page.count("</td></tr>"), 200 + 3)
        frames = [event["args"]["frame"] for event in json.loads(trace.read_text())["traceEvents"]
                  if event.get("tid") == 1 and event["ph"] == "X"]
        self.assertEqual(frames, [*range(1000), *range(29_980, 34_120), *range(89_980, 90_021)])

    def test_a_table_of_late_frames_that_has_them_all(self):
        page = self.dir / "page.html"
        for more, said in ((0, "<figcaption>200</figcaption>"), (1, "<figcaption>201, the first 200</figcaption>")):
            run = synthetic_run.Run(300)
            for frame in run.frames[50:250 + more]:
                frame.error += 1_100_000
            self.call("timing", self.write(run), "--html", page)
            self.assertIn(said, page.read_text())

    def test_a_long_trace_has_the_beginning_and_what_is_around_late_frames(self):
        run = synthetic_run.Run(21_000)
        for frame in run.frames:
            frame.has_jobs = False
        for k in (5, 20_500, 20_510):
            run.frames[k].error += 1_100_000
        trace = self.dir / "trace.json"
        run.others += [("/latency", k * PERIOD, synthetic_run.latency(k, run.frames[k].start, [1, 2, 3, 4, 5], 1))
                       for k in (17, 19_876, 19_877)]
        self.call("timing", self.write(run), "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        frames = [event["args"]["frame"] for event in events if event.get("tid") == 1 and event["ph"] == "X"]
        self.assertEqual(frames, [*range(20_000 - 3 * 41), *range(20_480, 20_531)])
        self.assertEqual([(event["args"]["frame"], event["dur"]) for event in events if event.get("tid") == 6],
                         [(17, 0.015), (19_876, 0.015)])


class Verdict(golden.Case):
    """The promise, and what a log must prove."""

    def judge(self, run, *options, **how):
        code, out, err = self.call("timing", run.write(self.dir / "run.mcap", **how), *options, "--json")
        self.assertIn(code, (0, 1), out + err)
        said = json.loads(out)
        self.assertEqual(code, 0 if said["kept"] else 1)
        return said["kept"], said["reasons"]

    def test_a_clean_run_keeps_its_promise(self):
        self.assertEqual(self.judge(on_grid(200)), (True, []))

    def test_late_frames_that_are_allowed_for(self):
        run = synthetic_run.troubled()
        for k in (200, 201):
            run.frames[k].is_told = True
        run.count()
        allowed = ["--allow", "own=2", "--allow", "io=1", "--allow", "fault=1", "--allow", "unknown=2"]
        self.assertEqual(self.judge(run, *allowed), (True, []))
        for less in ("own=1", "io=0", "fault=0", "unknown=1"):
            with self.subTest(less):
                kept, reasons = self.judge(run, *allowed, "--allow", less)
                self.assertEqual((kept, len(reasons)), (False, 1))
        run.report["realtime"]["memory_locked"] = False
        kept, reasons = self.judge(run, *allowed, "--allow", "fault=0")
        self.assertEqual((kept, reasons), (True, ["1 frame late by a page fault: memory was not locked"]))

    def test_a_page_fault_is_the_machines_where_memory_was_not_locked(self):
        run = synthetic_run.troubled()
        run.report["realtime"]["memory_locked"] = False
        code, out, _ = self.call("timing", run.write(self.dir / "run.mcap"), "--json")
        said = json.loads(out)
        self.assertEqual((said["machine"], said["own"], said["unexplained"]), (19, 3, 2))

    def test_time_that_the_machine_took(self):
        for releases, seconds, kept in ((50, 200, True), (51, 200, False), (60, 6000, True), (61, 6000, False)):
            with self.subTest(releases=releases, frames=seconds):
                run = on_grid(seconds)
                run.late(100, STOLEN, error=releases * PERIOD)
                run.count()
                self.assertEqual(self.judge(run)[0], kept)
                self.assertEqual(self.judge(run, "--allow", "stolen=1"), (True, []))
                self.assertEqual(self.judge(run, "--allow", "switch=1")[0], kept)
                self.assertEqual(self.judge(run, "--allow", "stolen=0")[0], kept)

    def test_realtime_that_was_required(self):
        run = on_grid(100, require_realtime="yes")
        self.assertEqual(self.judge(run), (True, []))
        run.report["realtime"].update(met=False, missing="a core")
        self.assertEqual(self.judge(run), (False, ["require: realtime was not met: a core"]))
        del run.report["realtime"]["missing"]
        self.assertEqual(self.judge(run), (False, ["require: realtime was not met: the log does not name what the "
                                                   "machine gave"]))
        run.metadata["require_realtime"] = "no"
        self.assertEqual(self.judge(run), (True, []))

    def test_a_run_that_hung(self):
        run = on_grid(100)
        run.report["ended"] = "hung"
        self.assertEqual(self.judge(run), (False, ["the run hung"]))

    def test_a_report_that_counts_otherwise(self):
        for key in ("frames", "overruns", "missed"):
            with self.subTest(key):
                run = on_grid(100)
                run.report[key] += 1
                self.assertEqual(self.judge(run),
                                 (False, ["the frames in the log are not those that its report counts"]))
                self.assertTrue(self.judge(run, cut=True)[0])
                run.metadata["pace"] = "lockstep"
                self.assertEqual(self.judge(run)[0], key != "frames")

    def test_releases_off_the_grid(self):
        run = on_grid(100)
        run.frames[50].release += 1
        self.assertEqual(self.judge(run), (False, ["1 releases lie off the grid"]))
        run = on_grid(100)
        run.shift(60, -1)
        kept, reasons = self.judge(run)
        self.assertEqual((kept, reasons[0]), (False, "40 releases lie off the grid"))

    def test_a_log_that_was_cut_off_or_has_no_report(self):
        run = on_grid(100)
        run.report = run.machine = None
        kept, reasons = self.judge(run, cut=True)
        self.assertTrue(kept)
        self.assertEqual(reasons, ["the log was cut off after frame 99; this is of what is there",
                                   "the log has no report: what the machine gave and what was predicted are not known"])

    def test_a_wall_clock_that_was_set(self):
        run = on_grid(700)
        for k in range(0, 700, 10):
            at = run.frames[k].start
            run.others.append(("/clock", k * PERIOD, synthetic_run.clock(at, at, 10**18 + at + (k > 350) * 50_000_000)))
        self.assertEqual(self.judge(run), (True, ["the wall clock was set during the run"]))


class Certificate(golden.Case):
    def test_a_certificate_fits_its_log_and_no_other(self):
        log, certificate = synthetic_run.troubled().write(self.dir / "run.mcap"), self.dir / "certificate.json"
        code, out, err = self.call("timing", log, "--certificate", certificate, "--allow", "own=2")
        self.assertEqual((code, err), (1, ""), out)
        self.assert_golden("timing-certificate.json", certificate.read_text())
        self.assert_says("timing-verified.txt", "timing", log, "--verify", certificate)
        given = json.loads(certificate.read_text())
        given["timing"]["missed"] += 1
        given["timing"]["seconds_wall"] *= 1 + 3e-9
        given["timing"]["seconds_simulated"] *= 1 + 3e-10  # another libm
        given["hashes"]["log"] = "0" * 16
        given["audit"]["more"] = "x" * 80
        del given["timing"]["busy_ns"]["p50"]
        certificate.write_text(json.dumps(given))
        self.assert_says("timing-not-verified.txt", "timing", log, "--verify", certificate, code=1)

    def test_a_certificate_of_a_bare_log(self):
        run = on_grid(100)
        run.report = run.machine = None
        del run.metadata["binary_hash"]
        certificate = self.dir / "certificate.json"
        code, out, err = self.call("timing", run.write(self.dir / "run.mcap", scenario=None), "--certificate",
                                   certificate)
        self.assertEqual((code, err), (0, ""), out)
        made = json.loads(certificate.read_text())
        self.assertEqual((made["hashes"]["scenario"], made["hashes"]["binary"], made["machine"]), (None, None, None))
        self.assertEqual(set(made["audit"].values()), {None})

    def test_what_is_no_certificate(self):
        log, certificate = on_grid(100).write(self.dir / "run.mcap"), self.dir / "certificate.json"
        for said in ('{"certificate": 1}', '{"certificate": "airbearing timing 1"}', '{}', '[]'):
            certificate.write_text(said)
            self.assert_says("timing-no-certificate.txt", "timing", log, "--verify", certificate, code=2)
        certificate.write_text("{\n  no")
        code, out, err = self.call("timing", log, "--verify", certificate)
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, rf"^{certificate}:2:4: .*\n$")

    def test_a_negative_allowance_is_none(self):
        log, certificate = on_grid(100).write(self.dir / "run.mcap"), self.dir / "certificate.json"
        self.call("timing", log, "--certificate", certificate)
        given = json.loads(certificate.read_text())
        given["allowed"]["own"] = -1
        certificate.write_text(json.dumps(given))
        code, out, err = self.call("timing", log, "--verify", certificate)
        self.assertEqual(code, 1, out + err)
        self.assertIn("  allowed.own: the certificate says -1, the log says 0\nverify: NO, 1 things differ", out)


class Stopwatch(golden.Case):
    """The run's sync pulses by another clock."""
    HEAD = "# airbearing stopwatch 1\nsequence,frame,sim_ns,sent_ns,stamp_ns,kernel\n"

    def stamps(self, run, kernel=lambda i: 1, every=10, delay=lambda i: 30_000 + 1000 * (i * 7 % 11)):
        lines = []
        for i, frame in enumerate(run.frames[::every]):
            stamp = 10**18 + frame.start + 500 + delay(i) + round(11e-6 * (frame.release - FIRST))
            lines.append(f"{i},{frame.number},{frame.number * PERIOD},{frame.start + 500},{stamp},{kernel(i)}\n")
        return lines

    def write(self, lines):
        path = self.dir / "truth.csv"
        path.write_text(self.HEAD + "".join(lines))
        return path

    def test_the_comparison(self):
        run = on_grid(2000)
        run.late(500, STOLEN, error=3 * PERIOD)
        run.count()
        run.report["pulse"] = {"sent": 204}
        at = FIRST + 12345
        run.others.append(("/clock", 0, synthetic_run.clock(at, at, at + 10**18 - 250)))
        lines = self.stamps(run, kernel=lambda i: i % 2)
        lines.insert(20, lines[19])
        lines.insert(30, f"29,{run.frames[300].number},1,{run.frames[300].end + 1},5,1\n")
        del lines[100:103]
        log, page, truth = run.write(self.dir / "run.mcap"), self.dir / "page.html", self.write(lines)
        self.assert_says("timing-truth.txt", "timing", log, "--truth", truth, "--html", page)
        self.assert_says("timing-truth.json", "timing", log, "--truth", truth, "--json")
        self.assert_golden("timing-truth.html", drawn(page).partition("<h2>By another")[2], near=TENTH)

    def test_all_stamped_by_the_kernel_or_none(self):
        run = on_grid(2000)
        log = run.write(self.dir / "run.mcap")
        for by, said in ((1, "kernel"), (0, "program that read them")):
            truth = self.write(self.stamps(run, kernel=lambda i: by))
            code, out, err = self.call("timing", log, "--truth", truth)
            self.assertIn(f"stopwatch: 200 pulses in 1.990 s, stamped by the {said}; 0 lost\n", out)
            code, out, err = self.call("timing", log, "--truth", truth, "--json")
            self.assertEqual(json.loads(out)["truth"]["stamped_by"], said.split()[0])

    def test_too_few_stamps_for_a_drift(self):
        run = on_grid(100)
        page = self.dir / "page.html"
        self.assert_says("timing-truth-few.txt", "timing", run.write(self.dir / "run.mcap"), "--truth",
                         self.write(self.stamps(run, every=50)), "--html", page)
        self.assertNotIn("By another clock", page.read_text())

    def test_of_many_sync_pulses_every_third_is_plotted(self):
        run = on_grid(3100)
        page = self.dir / "page.html"
        self.call("timing", run.write(self.dir / "run.mcap"), "--truth", self.write(self.stamps(run, every=1)),
                  "--html", page)
        self.assertEqual(page.read_text().partition("By another clock")[2].count("<circle"), 1034)  # every third

    def test_files_that_are_none(self):
        run = on_grid(100)
        log, truth = run.write(self.dir / "run.mcap"), self.dir / "truth.csv"
        columns = self.HEAD.splitlines(keepends=True)
        first = self.stamps(run)[0]
        for text, said in (("", "1:1: the file was not written by airbearing stopwatch"),
                           (columns[0], "2:1: these are not the columns of a stopwatch's file"),
                           (columns[0] + "x\n", "2:1: these are not the columns of a stopwatch's file"),
                           (columns[0].rstrip("\n") + " \n", "1:1: the file was not written by airbearing stopwatch"),
                           (self.HEAD + "1,2,x", "3:5: a whole number is expected here"),
                           (self.HEAD + first + "1,2;3,4,5,6\n", "4:4: a comma is expected here"),
                           (self.HEAD + first + "1,2,3,4,5,6,7\n", "4:12: the line should end here"),
                           (self.HEAD + first + "1,2,3,4,5,6", "4:12: the line should end here"),
                           (self.HEAD + f"1,{2**62 + 1},3,4,5,6\n", "3:3: this number is too large")):
            with self.subTest(said=said):
                truth.write_text(text)
                self.assertEqual(self.call("timing", log, "--truth", truth), (2, "", f"{truth}:{said}\n"))
        truth.write_text(self.HEAD + f"1,5,3,4,{2**62},6\n")
        self.assertEqual(self.call("timing", log, "--truth", truth),
                         (2, "", f"airbearing timing: {truth}: none of the 1 pulses belongs to this run\n"))

    def test_a_run_that_no_clock_paced_has_no_truth(self):
        log = on_grid(40, pace="fast").write(self.dir / "run.mcap")
        self.assert_says("timing-truth-fast.txt", "timing", log, "--truth", self.dir / "none", code=2)
        log = on_grid(40).write(self.dir / "run.mcap")
        code, out, err = self.call("timing", log, "--truth", self.dir / "none")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "none")


class Refusals(golden.Case):
    """Records that cannot be true, logs that are none, and wishes that are nonsense."""

    def refuse(self, said, run=None, change=None, metadata=None):
        good, bad = self.dir / "good.mcap", self.dir / "bad.mcap"
        (run or synthetic_run.troubled()).write(good)
        synthetic_log.changed(good, bad, change or (lambda topic, index, at, payload: payload), metadata)
        code, out, err = self.call("timing", bad)
        self.assertEqual((code, out, err), (2, "", f"{bad}: {said}\n"))

    def test_records_that_are_too_short(self):
        for topic, size in (("/frame", 52), ("/job", 36), ("/event", 92), ("/latency", 57), ("/clock", 28),
                            ("/input", 122)):
            article = "an" if topic in ("/event", "/input") else "a"
            with self.subTest(topic):
                self.refuse(f"{article} {topic} record is too short",
                            change=lambda name, index, at, payload, t=topic, n=size:
                            payload[:n - 1] if name == t else payload)

    def test_records_that_cannot_be_true(self):
        q = struct.Struct("<Q")

        def put(topic, index, offset, value, form=q):
            def change(name, number, at, payload):
                if name != topic or number != index:
                    return payload
                return payload[:offset] + form.pack(value) + payload[offset + form.size:]
            return change

        late, byte = 1 << 61, struct.Struct("<B")
        for topic, index, offset, value, form, said in (
                ("/frame", 30, 8, late, q, "the record of frame 30 cannot be true"),
                ("/frame", 30, 16, late, q, "the record of frame 30 cannot be true"),
                ("/frame", 30, 24, late + 1, q, "the record of frame 30 cannot be true"),
                ("/frame", 30, 44, 7, byte, "the record of frame 30 cannot be true"),
                ("/frame", 30, 0, 29, q, "the record of frame 29 is out of order"),
                ("/frame", 30, 0, late // PERIOD + 1, q, f"the record of frame {late // PERIOD + 1} cannot be true"),
                ("/frame", 30, 8, FIRST, q, "the record of frame 30 is out of order"),
                ("/job", 30, 8, late + 1, q, "the /job record of frame 30 cannot be true"),
                ("/job", 30, 0, 29, q, "the /job record of frame 29 cannot be true"),
                ("/latency", 3, 16, late // 8, q, "the /latency record of frame 15 cannot be true"),
                ("/latency", 3, 48, late // 8, q, "the /latency record of frame 15 cannot be true"),
                ("/latency", 3, 56, 4, byte, "the /latency record of frame 15 cannot be true"),
                ("/clock", 1, 0, FIRST, q, "a /clock record cannot be true"),
                ("/clock", 1, 0, late + 1, q, "a /clock record cannot be true"),
                ("/clock", 1, 8, late + 1, q, "a /clock record cannot be true"),
                ("/clock", 1, 16, late + 1, q, "a /clock record cannot be true"),
                ("/input", 1, 16, late + 1, q, "the /input record 0 cannot be true")):
            with self.subTest(topic=topic, offset=offset):
                self.refuse(said, change=put(topic, index, offset, value, form))

    def test_what_is_just_possible(self):
        log, other = synthetic_run.troubled().write(self.dir / "run.mcap"), self.dir / "other.mcap"
        late = struct.pack("<Q", 1 << 61)
        synthetic_log.changed(log, other, lambda topic, index, at, payload:
                         late + payload[8:] if topic == "/clock" and index == 4
                         else payload[:16] + late + payload[24:] if topic == "/input" and index == 200
                         else payload[:8] + late + payload[16:] if topic == "/job" and index == 499
                         else payload)
        code, out, err = self.call("timing", other)
        self.assertEqual((code, err), (1, ""), out)

    def test_logs_that_do_not_say_what_they_are(self):
        def without(key, value=None):
            return lambda values: {name: text for name, text in {**values, key: value}.items() if text is not None}

        self.refuse("the log does not name its pace; only logs of airbearing run do", metadata=without("pace"))
        for value in (None, "0", "0.9", "60000000001", "nan"):
            self.refuse("the log does not name its rate; only logs of airbearing run do",
                        metadata=without("period_ns", value))
        self.refuse("no /frame record inside", change=lambda topic, index, at, payload:
                    payload if topic == "/job" else None)

    def test_a_rate_instead_of_a_period(self):
        log, other = on_grid(100).write(self.dir / "run.mcap"), self.dir / "other.mcap"
        synthetic_log.changed(log, other, metadata=lambda values: {"rate_hz": "1000.0003", "pace": "real"})
        code, out, err = self.call("timing", other, "--json")
        self.assertEqual((code, json.loads(out)["period_ns"], json.loads(out)["scenario"]), (0, 1_000_000, ""))

    def test_text_of_a_log_cannot_write_on_the_terminal(self):
        code, out, err = self.call("timing", on_grid(100, scenario="a\x1b[1m\x7fb").write(self.dir / "run.mcap"))
        self.assertEqual(out.splitlines()[0], "a?[1m?b: 1000 Hz, real pace")

    def test_wishes_that_are_nonsense(self):
        log = on_grid(100).write(self.dir / "run.mcap")
        for value in ("own", "own=", "own=x", "own=-1", "own=1x", "=1", "ow=1", "owns=1", "none=1"):
            self.assertEqual(self.call("timing", log, "--allow", value),
                             (64, "", f"airbearing timing: --allow needs a cause and a number, as in own=2, not "
                                      f"\"{value}\"; see airbearing timing --help\n"))
        for arguments in ((), (log, log), ("--nonsense", log)):
            code, out, err = self.call("timing", *arguments)
            self.assertEqual((code, out), (64, ""))
            self.assertIn("usage: airbearing timing LOG", err)
        code, out, err = self.call("timing", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("usage: airbearing timing LOG"))

    def test_files_that_cannot_be_written(self):
        log = on_grid(100).write(self.dir / "run.mcap")
        for option in ("--html", "--hgrm", "--trace", "--certificate"):
            for path in (self.dir / "no" / "file", "/dev/full"):
                with self.subTest(option=option, path=path):
                    code, _, err = self.call("timing", log, option, path)
                    self.assertEqual(code, 2)
                    self.assert_one_line(err, "airbearing timing: ", str(path))
        code, out, err = self.call("timing", self.dir / "absent")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "absent")


if __name__ == "__main__":
    harness.main()
