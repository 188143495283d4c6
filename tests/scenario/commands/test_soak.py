"""tools/soak: every reason for a no, alone, and what it says of real runs, good and spoiled."""
import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

SOAK = harness.ROOT / "tools" / "soak"


def load_soak():
    loader = importlib.machinery.SourceFileLoader("soak", str(SOAK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    return module


soak = load_soak()

GOOD = {
    "frames": 600000, "period_ns": 1000000, "wall_ns": 600000000000, "missed": 0,
    "io": {"commands": 150000}, "allocations_after_seal": 0, "allocations_counted": True,
    "page_faults_after_seal": 0, "realtime": {"memory_locked": True},
    "log": {"records": 6000000, "dropped": 0, "bytes": 0, "error": 0}, "stolen_ns_total": 0,
    "overrun_causes": {"fault": 0, "switch": 0, "io": 0, "stolen": 0, "own": 0, "unknown": 0},
}
STEADY = [(float(second), 10000) for second in range(600)]


class Verdict(harness.Case):
    def reasons(self, samples=STEADY, **changes):
        """Reasons for a no when these figures of a good report are others; a__b is b inside a."""
        report = copy.deepcopy(GOOD)
        for path, value in changes.items():
            *outer, last = path.split("__")
            inner = report
            for key in outer:
                inner = inner[key]
            self.assertIn(last, inner)
            inner[last] = value
        return [reason for _, _, reason in soak.judge(report, samples) if reason]

    def test_nothing_to_complain_about_is_a_yes(self):
        self.assertEqual(self.reasons(), [])
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(soak.print_verdict(soak.judge(GOOD, STEADY), []), 0)
        self.assertIn("soak: yes", out.getvalue())

    def test_lateness_by_the_machine_is_no_reason(self):
        for cause in ("fault", "switch", "io", "stolen", "unknown"):
            self.assertEqual(self.reasons(**{f"overrun_causes__{cause}": 9}, missed=90), [])

    def test_each_figure_alone_is_a_no(self):
        for change, word in (({"allocations_after_seal": 1}, "allocated"),
                             ({"allocations_counted": False}, "does not count"),
                             ({"page_faults_after_seal": 1}, "page"),
                             ({"page_faults_after_seal": None}, "did not live"),
                             ({"log__dropped": 1}, "log"), ({"log__error": 28}, "log"),
                             ({"overrun_causes__own": 1}, "own work"),
                             ({"frames": 0}, "no frame"), ({"io__commands": 0}, "board")):
            reasons = self.reasons(**change)
            self.assertEqual(len(reasons), 1, change)
            self.assertIn(word, reasons[0])
        self.assertEqual(self.reasons([]), ["the run was too short to see memory"])

    def test_memory_that_grows_after_the_warm_up_is_a_no(self):
        leak = [(at, kb + 3 * int(at)) for at, kb in STEADY]  # 3 kB a second
        self.assertEqual(self.reasons(leak), ["memory grew"])

    def test_memory_that_is_taken_at_the_start_is_no_growth(self):
        start = [(at, kb if at > 60 else kb // 2) for at, kb in STEADY]
        self.assertEqual(self.reasons(start), [])

    def test_the_index_of_a_long_log_is_no_growth(self):
        index = [(at, kb + 2 * int(at)) for at, kb in STEADY]
        self.assertEqual(self.reasons(index), ["memory grew"])
        self.assertEqual(self.reasons(index, log__bytes=320 * 1000000), [])

    def test_a_viewer_that_reads_must_see_something(self):
        def viewer(reads, seen):
            return types.SimpleNamespace(reads=reads, seen=seen)
        for viewers, reasons in (([viewer(True, 9), viewer(False, 0)], []),
                                 ([viewer(True, 9), viewer(True, 0)], ["a viewer saw nothing"])):
            rows = soak.judge(GOOD, STEADY, viewers)
            self.assertEqual([reason for _, _, reason in rows if reason], reasons)

    def test_the_load_is_what_a_step_costs(self):
        def trial(busy_ns):
            return {"busy_ns": {"p50": busy_ns}, "period_ns": 1000000}
        pair = [(1, trial(25000)), (33, trial(185000))]  # 20 us, and 5 us for each step
        self.assertEqual(soak.steps_for(0.5, pair), 96)
        self.assertEqual(soak.steps_for(0.05, [(1, trial(90000)), (33, trial(250000))]), 1)
        with self.assertRaises(soak.Unfit):
            soak.steps_for(0.5, [(1, trial(25000)), (33, trial(24000))])

    def test_stolen_time_that_no_kernel_accounts_for_is_reported(self):
        report = copy.deepcopy(GOOD)
        report["stolen_ns_total"], report["overrun_causes"]["own"] = 50_000_000, 2
        self.assertIn("may be theft", list(soak.machine_lines(report, 0))[-1])
        self.assertEqual(len(list(soak.machine_lines(report, 5))), 1)


class Short(harness.Case):
    def soak(self, *options):
        """Exit code and output of a soak of three seconds, or as asked, at a light load."""
        done = subprocess.run([SOAK, "--minutes", "0.05", "--load", "0.1", "--folder", self.dir, *options],
                              capture_output=True, text=True, timeout=120,
                              env={**os.environ, "AIRBEARING": str(harness.AIRBEARING)})
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def figure(self, out, what):
        return int(re.search(rf"^  {what} +(\d+) ", out, re.M).group(1))

    def test_a_good_run_passes(self):
        for _ in range(3):
            code, out = self.soak("--minutes", "0.1")
            if not self.figure(out, "overruns by own work"):
                break
        else:
            self.skipTest(f"the machine took the core from frames that computed, three times:\n{out}")
        self.assertEqual(code, 0, out)
        self.assertEqual(self.figure(out, "frames"), 6000)
        self.assertIn("soak: yes", out)
        self.assertIn("the machine took", out)

    def test_a_page_first_touched_in_a_frame_is_a_no(self):
        code, out = self.soak("--inject", "touch=5@1s")
        self.assertEqual(code, 1, out)
        self.assertEqual(self.figure(out, "page faults after the seal"), 5)
        self.assertIn("kept in", out)

    def test_a_frame_that_is_too_long_is_a_no(self):
        for _ in range(3):  # another thread, or the host, may take the core in those very 7 ms
            code, out = self.soak("--inject", "late=7ms@1s")
            if self.figure(out, "overruns by own work"):
                break
        self.assertGreaterEqual(self.figure(out, "overruns by own work"), 1, out)
        self.assertEqual(code, 1, out)

    def test_a_run_that_is_stopped_is_a_no(self):
        code, out = self.soak("--inject", "hang@1s")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"exit code of the run +3 +ended: hung")

    def test_usage_is_said_where_it_is_wrong(self):
        for options, code, word in ((["--load", "2"], 64, "0.05"), (["--minutes", "-1"], 64, "no time"),
                                    (["--hours", "1", "--minutes", "2"], 64, "not allowed"),
                                    (["--minutes", "0.05", "--folder", "/no/such"], 2, "/no/such")):
            done = subprocess.run([SOAK, *options], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "AIRBEARING": str(harness.AIRBEARING)})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assert_one_line(done.stderr, word)


if __name__ == "__main__":
    harness.main()
