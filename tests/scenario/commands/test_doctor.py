"""airbearing doctor: the verdict on this machine and on synthetic ones; changes are applied and undone.

Nothing here changes the machine: every --apply and --undo works on a made-up /proc and /sys.
"""
import json
import os
import pathlib
import platform
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

# A machine of four ordinary cores that lacks everything.
PLAIN = {
    "proc/sys/kernel/osrelease": "6.1.0-amd64",
    "proc/sys/kernel/sched_rt_runtime_us": "950000",
    "proc/sys/kernel/timer_migration": "1",
    "proc/self/status": "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-3",
    "proc/self/limits": "Max locked memory         unlimited  unlimited  bytes",
    "proc/cmdline": "quiet",
    "proc/interrupts": "  CPU0 CPU1 CPU2 CPU3\n 30: 1 2 3 4 MSI 1-edge eth0\n 31: 1 2 3 4 MSI 1-edge nvme0q4",
    "proc/irq/30/smp_affinity_list": "0-3",
    "proc/irq/30/effective_affinity_list": "3",
    "proc/irq/31/smp_affinity_list": "3",
    "proc/irq/31/effective_affinity_list": "3",
    "proc/meminfo": "HugePages_Free: 0\nHugepagesize: 2048 kB",
    "proc/swaps": "Filename Type\n/dev/sda2 partition",
    "proc/cpuinfo": "flags\t: constant_tsc nonstop_tsc",
    "proc/stat": "cpu3 1 2 3 4 5 6 7 0 0 0",
    "proc/1/comm": "init",
    "sys/devices/system/cpu/online": "0-3",
    "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "powersave",
    "sys/devices/system/cpu/cpu3/topology/thread_siblings_list": "3",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "sys/devices/virtual/workqueue/cpumask": "f",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
}
# The same as it should be.
TUNED = PLAIN | {
    "sys/kernel/realtime": "1",
    "proc/sys/kernel/sched_rt_runtime_us": "-1",
    "proc/sys/kernel/timer_migration": "0",
    "proc/cmdline": "isolcpus=domain,managed_irq,3 nohz_full=3 rcu_nocbs=3",
    "sys/devices/system/cpu/isolated": "3",
    "sys/devices/system/cpu/nohz_full": "3",
}
CHANGED = {
    "proc/sys/kernel/sched_rt_runtime_us": "-1",
    "proc/sys/kernel/timer_migration": "0",
    "proc/irq/30/smp_affinity_list": "0-1",
    "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "performance",
    "sys/devices/virtual/workqueue/cpumask": "3",
    "sys/kernel/mm/transparent_hugepage/enabled": "never",
}


class Doctor(harness.Case):
    def make(self, files):
        self.root = self.dir / "root"
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")

    def doctor(self, *arguments):
        with harness.environment(AIRBEARING_ROOT=str(self.root)):
            return self.call("doctor", *arguments, cwd=self.dir)

    def report(self, *arguments):
        code, out, err = self.doctor("--json", *arguments)
        self.assertEqual(err, "")
        return code, json.loads(out)

    def text(self, name):
        return (self.root / name).read_text().strip()

    def tree(self):
        return {str(path.relative_to(self.root)): path.read_text().strip()
                for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()}


class Verdict(Doctor):
    @unittest.skipIf("PREEMPT_RT" in platform.version(), "this machine may well be fit")
    def test_this_machine_is_not_fit_and_the_baseline_says_what_was_measured(self):
        code, out, err = self.call("doctor", "--json", "--seconds", "0.3")
        self.assertEqual((code, err), (1, ""))
        report = json.loads(out)
        self.assertLessEqual({"fit", "findings", "baseline", "cpu", "cmdline"}, set(report))
        self.assertIs(report["fit"], False)
        states = {finding["name"]: finding["state"] for finding in report["findings"]}
        self.assertEqual(states["preempt-rt"], "bad")
        self.assertLessEqual(set(states.values()), {"ok", "warn", "bad", "unknown"})
        for finding in report["findings"]:
            self.assertLessEqual({"name", "state", "seen", "remedy", "why", "essential"}, set(finding))
            self.assertNotEqual(finding["seen"], "")
            if finding["state"] in ("bad", "warn"):
                self.assertNotEqual(finding["remedy"], "", finding)
        late, gaps = report["baseline"]["late_ns"], report["baseline"]["gaps"]
        self.assertEqual(late["count"], 300)
        self.assertLessEqual(late["min"], late["p50"])
        self.assertLessEqual(late["p50"], late["p99"])
        self.assertLessEqual(late["p99"], late["max"])
        self.assertGreaterEqual(gaps["watched_ns"], 5 * 40e6)
        self.assertLessEqual(gaps["longest_ns"], gaps["total_ns"])
        self.assertEqual(states["gaps"] == "bad", gaps["longest_ns"] > 1e6)

    def test_missing_counts_the_essential_findings_that_are_bad_or_unknown(self):
        self.make(PLAIN)
        code, report = self.report("--seconds", "0")
        self.assertEqual(code, 1)
        missing = [finding["name"] for finding in report["findings"]
                   if finding["essential"] and finding["state"] in ("bad", "unknown")]
        self.assertEqual(missing, ["preempt-rt", "throttling", "isolated"])
        self.assertEqual(report["missing"], 3)
        self.assertIsNone(report["baseline"])
        self.assertEqual(report["cmdline"], "isolcpus=domain,managed_irq,2-3 nohz_full=2-3 "
                                            "rcu_nocbs=2-3 irqaffinity=0-1")

    def test_a_machine_that_has_all_is_fit(self):
        self.make(TUNED)
        code, report = self.report("--seconds", "0")
        self.assertEqual((code, report["fit"], report["missing"], report["cpu"]), (0, True, 0, 3))
        self.assertEqual(report["cmdline"], "")

    def test_each_essential_setting_alone_makes_it_unfit(self):
        for name, text in {"sys/kernel/realtime": "0", "sys/devices/system/cpu/isolated": "",
                           "proc/sys/kernel/timer_migration": "1",
                           "proc/sys/kernel/sched_rt_runtime_us": "950000",
                           "proc/self/limits": "Max locked memory  0  0  bytes"}.items():
            self.make(TUNED | {name: text})
            if name == "proc/self/limits":  # not root either
                self.make({"proc/self/status": "CapEff:\t0000000000800000\nCpus_allowed_list:\t0-3"})
            code, report = self.report("--seconds", "0")
            self.assertEqual((code, report["fit"]), (1, False), name)

    def test_people_read_the_verdict_first(self):
        self.make(PLAIN)
        code, out, err = self.doctor("--seconds", "0")
        lines = out.split("\n")
        self.assertEqual((code, err), (1, ""))
        self.assertRegex(lines[0], r"^not fit for hard real time: 3 of \d+ essential things are missing")
        groups = [line for line in lines if line in ("bad", "unknown", "warn", "ok")]
        self.assertEqual(groups, ["bad", "unknown", "warn", "ok"])
        self.assertLessEqual(max(len(line) for line in lines), 100)
        self.make(TUNED)
        code, out, err = self.doctor("--seconds", "0")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^fit for hard real time by its settings .*nothing was measured\n")

    def test_the_core_can_be_chosen(self):
        self.make(PLAIN)
        self.assertEqual(self.report("--seconds", "0", "--cpu", "1")[1]["cpu"], 1)
        code, out, err = self.doctor("--cpu", "9")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "core 9")


class Tune(Doctor):
    def test_tune_prints_and_changes_nothing(self):
        self.make(PLAIN)
        before = self.tree()
        code, out, err = self.doctor("--tune")
        self.assertEqual((code, err), (0, ""))
        for name, text in CHANGED.items():
            self.assertRegex(out, rf"/{name}: .* -> {text}\n")
        self.assertNotIn("/proc/irq/31/", out)  # managed
        for words in ("add --apply", "swapoff", "cpu_dma_latency", "nohz_full=2-3"):
            self.assertIn(words, out)
        self.assertEqual(self.tree(), before)
        self.assertEqual(list(self.dir.glob("*undo*")), [])

    def test_apply_changes_and_undo_puts_back(self):
        self.make(PLAIN)
        before = self.tree()
        code, out, err = self.doctor("--tune", "--apply")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("--undo airbearing-undo.txt", out)
        self.assertEqual(self.tree(), before | CHANGED)
        # The older file knows the true settings: it is never written over.
        (self.root / "proc/sys/kernel/timer_migration").write_text("1\n")
        code, out, err = self.doctor("--tune", "--apply")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "airbearing-undo.txt", "nothing was changed")
        self.assertEqual(self.text("proc/sys/kernel/timer_migration"), "1")
        code, out, err = self.doctor("--undo", "airbearing-undo.txt")
        self.assertEqual((code, err), (0, ""))
        before["sys/kernel/mm/transparent_hugepage/enabled"] = "always"  # a kernel would show all
        self.assertEqual(self.tree(), before)
        self.assertFalse((self.dir / "airbearing-undo.txt").exists())

    def test_applying_twice_finds_nothing_more_to_do(self):
        self.make(PLAIN)
        self.doctor("--tune", "--apply")
        (self.root / "proc/irq/30/effective_affinity_list").write_text("0\n")
        (self.root / "sys/kernel/mm/transparent_hugepage/enabled").write_text("always madvise [never]\n")
        code, out, err = self.doctor("--tune", "--apply", "--undo-file", "second")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("nothing to change", out)
        self.assertFalse((self.dir / "second").exists())

    def test_a_failed_write_undoes_the_rest(self):
        self.make(PLAIN)
        governor = self.root / "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
        governor.unlink()
        before = self.tree()
        governor.symlink_to("/dev/full")  # can be read and opened; no write succeeds
        code, out, err = self.doctor("--tune", "--apply")
        self.assertEqual((code, out), (1, ""))
        self.assert_one_line(err, "scaling_governor", "No space left", "nothing was changed", "--skip")
        before["sys/kernel/mm/transparent_hugepage/enabled"] = "always"  # a kernel would show all
        self.assertEqual(self.tree(), before)
        self.assertFalse((self.dir / "airbearing-undo.txt").exists())
        code, out, err = self.doctor("--tune", "--apply", "--skip", "governor")
        self.assertEqual(code, 0)
        self.assertEqual(self.text("proc/sys/kernel/timer_migration"), "0")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become nobody")
    def test_without_the_right_to_write_nothing_is_changed(self):
        self.make(PLAIN)
        self.dir.chmod(0o777)
        before = self.tree()
        for arguments in (["--tune", "--apply"], ["--tune", "--apply", "--json"]):
            with harness.environment(AIRBEARING_ROOT=str(self.root)):
                try:
                    code, out, err = self.call("doctor", *arguments, cwd=self.dir, user=65534)
                except PermissionError:
                    self.skipTest("nobody may not run the program from here")
            self.assertEqual((code, out), (1, ""))
            self.assert_one_line(err, "Permission denied", "nothing was changed", "root")
        self.assertEqual(self.tree(), before)
        self.assertEqual(list(self.dir.glob("*undo*")), [])

    def test_tune_prints_json(self):
        self.make(PLAIN)
        code, report = self.report("--tune", "--apply", "--undo-file", "u")
        self.assertEqual((code, report["applied"], report["undo_file"]), (0, True, "u"))
        self.assertEqual({change["path"].lstrip("/"): change["after"] for change in report["changes"]},
                         CHANGED)

    def test_an_undo_file_that_is_none_is_refused(self):
        self.make(PLAIN)
        bad = self.dir / "bad"
        for text, line in (("", 1), ("airbearing doctor undo 1\nwrite /etc/passwd x\n", 2)):
            bad.write_text(text)
            code, out, err = self.doctor("--undo", bad)
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, f"{bad}:{line}:1: ")
        code, out, err = self.doctor("--undo", self.dir / "absent")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "absent")

    def test_what_cannot_be_put_back_keeps_the_file(self):
        self.make(PLAIN)
        self.doctor("--tune", "--apply")
        (self.root / "proc/sys/kernel/timer_migration").unlink()
        code, out, err = self.doctor("--undo", "airbearing-undo.txt")
        self.assertEqual((code, out), (1, ""))
        self.assert_one_line(err, "timer_migration", "is kept")
        self.assertEqual(self.text("proc/sys/kernel/sched_rt_runtime_us"), "950000")
        self.assertTrue((self.dir / "airbearing-undo.txt").exists())


class Usage(Doctor):
    def test_usage_errors_are_64(self):
        self.make(PLAIN)
        for arguments in (["--nonsense"], ["extra"], ["--apply"], ["--undo-file", "x"],
                          ["--tune", "--undo-file", "x"], ["--tune", "--undo", "x"], ["--skip", "thp"],
                          ["--tune", "--skip", "nothing"], ["--seconds", "-1"], ["--seconds", "x"],
                          ["--seconds", "nan"], ["--cpu", "x"], ["--cpu", "-1"], ["--cpu"]):
            code, out, err = self.doctor(*arguments)
            self.assertEqual((code, out), (64, ""), arguments)
            self.assertNotEqual(err, "")

    def test_help_lists_every_measured_reason_to_be_unfit(self):
        code, out, err = self.call("doctor", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("usage: airbearing doctor", out)
        for reason in ("a gap above 1 ms", "stolen time that", "does not report stolen time",
                       "measurement is refused"):
            self.assertIn(reason, " ".join(out.split()))


if __name__ == "__main__":
    harness.main()
