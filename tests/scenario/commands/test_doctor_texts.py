"""airbearing doctor on synthetic machines: all that it says of them, of every file that changes or is gone, and of what it
changes and puts back."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import test_doctor

# Of a machine that has more: groups, nodes, a fair server, idle states, a clock to steer by.
RICH = test_doctor.TUNED | {
    "proc/sys/kernel/osrelease": "6.12.1-rt",
    "proc/sys/kernel/numa_balancing": "1",
    "proc/irq/4/smp_affinity_list": "0-3",
    "proc/irq/4/effective_affinity_list": "0",
    "proc/2/comm": "chronyd",
    "proc/self/cgroup": "0::/box",
    "proc/self/mountinfo": "34 31 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
    "sys/fs/cgroup/cgroup.controllers": "cpuset cpu",
    "sys/fs/cgroup/cgroup.subtree_control": "cpu",
    "sys/fs/cgroup/cpuset.cpus.effective": "0-3",
    "sys/devices/system/node/online": "0-1",
    "sys/devices/system/cpu/cpu3/cpuidle/state0/latency": "0",
    "sys/devices/system/cpu/cpu3/cpuidle/state0/name": "POLL",
    "sys/devices/system/cpu/cpu3/cpuidle/state1/latency": "130",
    "sys/devices/system/cpu/cpu3/cpuidle/state1/name": "C6",
    "sys/kernel/debug/sched/fair_server/cpu3/runtime": "50000000",
    "sys/kernel/debug/sched/fair_server/cpu2/runtime": "50000000",
    "dev/cpu_dma_latency": "",
    "dev/ptp0": "",
}
# What each file may say instead; None: it is gone.
OTHER = {
    "sys/kernel/realtime": ("0", None),
    "proc/sys/kernel/sched_rt_runtime_us": ("950000", "0", None),
    "proc/sys/kernel/timer_migration": ("1", None),
    "proc/sys/kernel/numa_balancing": ("0", None),
    "proc/self/status": ("CapEff:\t0000000000000000\nCpus_allowed_list:\t0-3", "CapEff:\t1ffffffffff\nCpus_allowed_list:\t0-1",
                         "CapEff:\t1ffffffffff\nCpus_allowed_list:\t2", None),
    "proc/self/limits": ("Max locked memory  65536  65536  bytes\nMax realtime priority  50  50", None),
    "proc/cmdline": ("quiet", None),
    "proc/irq/30/effective_affinity_list": ("0", "2-3", None),
    "proc/irq/31/effective_affinity_list": ("0", None),
    "proc/irq/30/smp_affinity_list": ("0-1", None),
    "proc/meminfo": ("HugePages_Free: 64\nHugepagesize: 2048 kB", "HugePages_Free: 1\nHugepagesize: 2048 kB", None),
    "proc/swaps": ("Filename Type", "Filename Type\n/a\n/b", None),
    "proc/cpuinfo": ("flags\t: nonstop_tsc", "flags\t: constant_tsc", "flags\t: constant_tsc nonstop_tsc tsc_known_freq",
                     "flags\t: constant_tsc nonstop_tsc hypervisor", None),
    "proc/stat": ("cpu3 1 2 3 4 5 6 7 250 0 0", "cpu3 1 2 3 4", None),
    "proc/2/comm": ("init", None),
    "sys/devices/system/cpu/isolated": ("", "2-3", None),
    "sys/devices/system/cpu/nohz_full": ("", "2-3", None),
    "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": ("performance", None),
    "sys/devices/system/cpu/cpu3/topology/thread_siblings_list": ("1,3", "2-3", None),
    "sys/devices/system/clocksource/clocksource0/current_clocksource": ("hpet", "kvm-clock", "jiffies", None),
    "sys/devices/virtual/workqueue/cpumask": ("7", "8", None),
    "sys/kernel/mm/transparent_hugepage/enabled": ("always [madvise] never", "always madvise [never]", None),
    "sys/kernel/debug/sched/fair_server/cpu3/runtime": ("0", None),
    "sys/devices/system/cpu/cpu3/cpuidle/state1/latency": ("2", None),
    "sys/devices/system/node/online": ("0", None),
    "dev/cpu_dma_latency": (None,),
}


class Words(golden.Case):
    def make(self, files):
        self.made = getattr(self, "made", 0) + 1
        self.root = self.dir / f"root{self.made}"
        self.root.mkdir()
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")

    def doctor(self, *arguments):
        with harness.environment(AIRBEARING_ROOT=str(self.root)):
            code, out, err = self.call("doctor", *arguments, cwd=self.dir)
        return f"== doctor {' '.join(arguments)}\nexit {code}\n{out}{err}"

    def findings(self):
        with harness.environment(AIRBEARING_ROOT=str(self.root)):
            _, out, _ = self.call("doctor", "--seconds", "0", "--json")
        report = json.loads(out)
        told = {finding.pop("name"): finding for finding in report.pop("findings") if finding["name"] != "io-uring"}
        return report, told

    def mask(self, text):
        """io_uring is this machine's own."""
        lines = text.split("\n")
        keep = []
        for line in lines:
            if line.startswith("  ") and not line.startswith("   "):
                skipping = line.startswith("  io-uring")
            elif not line.startswith("   "):
                skipping = False
            if not skipping:
                keep.append(line)
        return "\n".join(keep)

    def test_machines(self):
        said = []
        for name, files in (("plain", test_doctor.PLAIN), ("tuned", test_doctor.TUNED), ("rich", RICH), ("empty", {})):
            self.make(files)
            said += [f"#### {name}\n", self.mask(self.doctor("--seconds", "0")), self.doctor("--tune")]
        self.assert_golden("doctor.txt", "".join(said))

    def test_each_file_counts(self):
        self.make(RICH)
        report, before = self.findings()
        said = [json.dumps(report) + "\n"]
        for name, texts in OTHER.items():
            for text in texts:
                files = dict(RICH)
                files.pop(name, None)
                if text is not None:
                    files[name] = text
                self.make(files)
                other, now = self.findings()
                said.append(f"== {name}: {text!r}\n")
                said += [f"{key}: {other[key]}\n" for key in other if other[key] != report[key]]
                said += [f"{key}: {json.dumps(now[key])}\n" for key in now if now[key] != before.get(key)]
                said += [f"{key}: gone\n" for key in before if key not in now]
        self.assert_golden("doctor-files.txt", "".join(said))

    def test_changes_and_back(self):
        said = []
        for name, files, arguments in (("plain", test_doctor.PLAIN, ()), ("plain", test_doctor.PLAIN, ("--json",)),
                                       ("plain", test_doctor.PLAIN, ("--skip", "thp", "--skip", "interrupts", "--skip", "governor")),
                                       ("rich", RICH, ()), ("rich", RICH, ("--json", "--cpu", "1")), ("tuned", test_doctor.TUNED, ())):
            self.make(files)
            undo = self.dir / "undo.txt"
            said += [f"#### {name}\n", self.doctor("--tune", *arguments),
                     self.doctor("--tune", "--apply", "--undo-file", "undo.txt", *arguments)]
            said.append(undo.read_text() if undo.exists() else "no undo file\n")
            said += [f"{path.relative_to(self.root)}: {path.read_text().strip()}\n" for path in sorted(self.root.rglob("*"))
                     if path.is_file() and path.read_text().strip() != files.get(str(path.relative_to(self.root)))]
            said.append(self.doctor("--undo", "undo.txt"))
            said += [f"{path.relative_to(self.root)}: {path.read_text().strip()}\n" for path in sorted(self.root.rglob("*"))
                     if path.is_file() and path.read_text().strip() != files.get(str(path.relative_to(self.root)))]
            undo.unlink(missing_ok=True)
        self.assert_golden("doctor-changes.txt", "".join(said))

    def test_refusals(self):
        self.make(test_doctor.PLAIN)
        (self.dir / "bad.txt").write_text("airbearing doctor undo 1\nwrite /etc/passwd x\n")
        (self.dir / "there.txt").write_text("")
        said = [self.doctor(*arguments) for arguments in (
            ["--nonsense"], ["extra"], ["--apply"], ["--undo-file", "x"], ["--tune", "--undo-file", "x"], ["--tune", "--undo", "x"],
            ["--apply", "--undo", "x"], ["--json", "--undo", "x"], ["--undo-file", "y", "--undo", "x"], ["--skip", "thp"],
            ["--tune", "--skip", "nothing"], ["--tune", *["--skip", "thp"] * 20], ["--seconds", "-1"], ["--seconds", "x"],
            ["--seconds", "nan"], ["--seconds", ""], ["--seconds", "86401"], ["--cpu", "x"], ["--cpu", "-1"], ["--cpu", ""], ["--cpu", "9"],
            ["--cpu", "100000"], ["--cpu"], ["--undo", "absent.txt"], ["--undo", "bad.txt"],
            ["--tune", "--apply", "--undo-file", "there.txt"], ["--tune", "--apply", "--undo-file", "no/such/place"])]
        self.assert_golden("doctor-refused.txt", "".join(said).replace(str(harness.AIRBEARING), "airbearing"))

    def test_a_write_that_fails(self):
        for name in ("proc/sys/kernel/sched_rt_runtime_us", "sys/devices/virtual/workqueue/cpumask"):
            self.make(test_doctor.PLAIN)
            path = self.root / name
            path.unlink()
            path.symlink_to("/dev/full")
            before = (self.root / "proc/sys/kernel/timer_migration").read_text()
            said = self.doctor("--tune", "--apply")
            self.assertIn("exit 1\n" if "nothing was changed" in said else "exit 0\n", said)
            if "exit 1" in said:
                self.assertEqual((self.root / "proc/sys/kernel/timer_migration").read_text(), before)
                self.assertFalse((self.dir / "airbearing-undo.txt").exists())

    def test_a_measurement(self):
        """On this machine, whatever it is: the figures follow from each other."""
        code, out, err = self.call("doctor", "--json", "--seconds", "0.2")
        report = json.loads(out)
        self.assertEqual((code, err), (0 if report["fit"] else 1, ""))
        baseline = report["baseline"]
        late, gaps = baseline["late_ns"], baseline["gaps"]
        self.assertEqual(late["count"], 200)
        self.assertLessEqual(late["min"], late["p50"] * 33 / 32)
        self.assertLessEqual(late["p50"], late["p99"])
        self.assertLessEqual(late["p99"], late["max"] * 33 / 32)
        self.assertGreaterEqual(gaps["watched_ns"], 0.2 * 2 / 3 * 1e9 * 0.99)
        self.assertLessEqual(gaps["longest_ns"], gaps["total_ns"])
        self.assertGreaterEqual(gaps["count"], gaps["longest_ns"] > 0)
        states = {finding["name"]: finding for finding in report["findings"]}
        self.assertEqual(states["gaps"]["state"] == "bad", gaps["longest_ns"] > 1e6)
        missing = [f for f in report["findings"] if f["essential"] and f["state"] in ("bad", "unknown")]
        self.assertEqual((len(missing), report["fit"]), (report["missing"], not missing))
        code, out, err = self.call("doctor", "--seconds", "0.1")
        self.assertRegex(out, r"^(not fit for hard real time: \d+ of \d+ essential things are missing \(core \d+\)"
                              r"|fit for hard real time \(core \d+\), as far as a measurement of 0\.\d s can tell)\n")


if __name__ == "__main__":
    harness.main()
