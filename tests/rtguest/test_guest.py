"""The program on the real kernel: Debian's PREEMPT_RT, emulated, with the real binary inside.

    test_guest.py [virtual | placement] [--long]

One boot for each class below; a class judges what its boot told. Times of the virtual boot are
those of a model (two nanoseconds an instruction) and times of the placement boot those of an
emulator on a busy host: neither says anything about hardware. Exit 77 where the guest cannot be
built; tools/setup/guest gets what it needs.
"""
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import unittest

import image
import machine

# By how much a frame may start later than cyclictest's thread wakes up at worst. A frame thread
# shares the core with its own I/O thread and its board; 1 to 6 us were seen.
BUDGET_NS = 15000
STOP_S = 3.0
REHEARSAL_S = 1.5  # the frame thread is there, but begins with a rehearsal of at most half a second
LONG = False


def zeros(report):
    """What must be nothing in a run that nobody disturbs."""
    return {"overruns": report["overruns"], "missed": report["missed"],
            "faults": report["page_faults_after_seal"],
            "switches": report["involuntary_switches"]}


NONE = {"overruns": 0, "missed": 0, "faults": 0, "switches": 0}


def figures(name, report):
    start, busy = report["start_error_ns"], report["busy_ns"]
    causes = " ".join(f"{cause} {count}" for cause, count in report["overrun_causes"].items() if count)
    return (f"{name:>12}: {report['frames']} frames at {report['rate_hz']:g} Hz, "
            f"start error {start['p50']}/{start['p99']}/{start['max']} ns (p50/p99/max), "
            f"busy {busy['p50']}/{busy['max']} ns, late {report['overruns']}, missed {report['missed']}, "
            f"faults {report['page_faults_after_seal']}, switches {report['involuntary_switches']}, "
            f"commands {report['io']['commands']}" + (f", causes: {causes}" if causes else ""))


def print_figures(boot):
    print(f"guest: {boot.facts.get('kernel')}, {boot.wall_s.get('boot', 0):.1f} s to the first process, "
          f"{boot.seconds:.1f} s in all")
    for name, case in boot.cases.items():
        if case.get("report"):
            print(figures(name, case["report"]))
        elif "Max_us" in case:
            print(f"{name:>12}: average {case['Avg_us']}, at most {case['Max_us']} us")
    sys.stdout.flush()


class Guest(unittest.TestCase):
    maxDiff = None
    kind = None
    words = ""
    limit_s = 500

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            initramfs = pathlib.Path(folder) / "initramfs.cpio"
            image.write(initramfs, machine.build_directory())
            cls.boot = machine.Boot(cls.kind, cls.kind, initramfs, cls.words, cls.limit_s)
            cls.boot.on_line = cls.on_line
            cls.boot.run()
        print_figures(cls.boot)

    @staticmethod
    def on_line(boot, told):
        """Called for each line of the guest."""

    def case(self, name):
        if name not in self.boot.cases:
            self.fail(f"the guest did not get to {name}:\n{self.boot.tail()}")
        return self.boot.cases[name]

    def report(self, name):
        case = self.case(name)
        self.assertEqual(case.get("code"), 0, self.boot.tail())
        report = case["report"]
        self.assertEqual(sum(report["overrun_causes"].values()), report["overruns"])
        return report

    def test_the_kernel_is_a_real_time_one_and_the_guest_got_to_its_end(self):
        self.assertEqual(self.boot.facts.get("realtime"), 1, self.boot.tail())
        self.assertTrue(self.boot.done, self.boot.tail())


class Virtual(Guest):
    """One CPU, its clock counts instructions: the same whatever the host does, nearly."""
    kind = "virtual"

    @classmethod
    def setUpClass(cls):
        cls.loaded = 10000 if LONG else 500
        cls.words = (f"frames={cls.loaded} seconds_1k={cls.loaded / 1e3} "
                     f"seconds_10k={cls.loaded / 1e4}")
        cls.limit_s = 3600 if LONG else 500
        super().setUpClass()

    def assert_undisturbed(self, name, frames, baseline):
        report = self.report(name)
        self.assertEqual(report["frames"], frames)
        self.assertEqual(zeros(report), NONE)
        self.assertEqual(report["realtime"]["policy"], "fifo")
        self.assertTrue(report["realtime"]["kernel_rt"])
        self.assertLessEqual(report["start_error_ns"]["max"],
                             self.case(baseline)["Max_us"] * 1000 + BUDGET_NS)
        self.assertEqual(report["io"]["rx_bad"], 0)

    def test_ten_thousand_frames_at_1_khz_are_all_in_time(self):
        self.assert_undisturbed("idle_1k", 10000, "cyclictest_1k")
        self.assertEqual(self.report("idle_1k")["io"]["commands"], 2500)

    def test_ten_thousand_frames_at_10_khz_are_all_in_time(self):
        self.assert_undisturbed("idle_10k", 10000, "cyclictest_10k")
        self.assertEqual(self.report("idle_10k")["io"]["commands"], 250)

    def test_load_at_1_khz_changes_nothing(self):
        self.assert_undisturbed("loaded_1k", self.loaded, "loaded_cyclictest_1k")

    def test_load_at_10_khz_changes_nothing(self):
        self.assert_undisturbed("loaded_10k", self.loaded, "loaded_cyclictest_1k")

    def assert_cause(self, report, cause, least=1, share=1.0):
        """At least so many frames were late, and this share of them for this reason."""
        self.assertGreaterEqual(report["overruns"], least)
        self.assertGreaterEqual(report["overrun_causes"][cause], share * report["overruns"],
                                report["overrun_causes"])

    def test_a_hog_above_the_frame_thread_is_a_switch(self):
        report = self.report("hog")
        self.assert_cause(report, "switch", 5)
        self.assertGreaterEqual(report["missed"], 15)
        self.assertEqual(report["page_faults_after_seal"], 0)

    def test_a_spinner_below_the_frame_thread_does_no_harm(self):
        self.assertEqual(zeros(self.report("spinner")), NONE)

    def test_throttling_because_of_a_spinner_is_a_switch(self):
        report = self.report("throttled")
        self.assert_cause(report, "switch")
        self.assertGreaterEqual(report["missed"], 5)

    def test_one_first_touch_is_counted_though_the_frame_was_in_time(self):
        self.assertEqual(zeros(self.report("touch_one")), NONE | {"faults": 1})

    def test_many_first_touches_make_a_frame_late_by_fault(self):
        report = self.report("touch_many")
        self.assertEqual(report["page_faults_after_seal"], 2000)
        self.assertEqual(report["involuntary_switches"], 0)
        self.assert_cause(report, "fault")
        self.assertEqual(report["overruns"], 1)

    def test_a_frame_that_is_too_long_is_our_own(self):
        report = self.report("late")
        self.assert_cause(report, "own")
        self.assertEqual(zeros(report), {"overruns": 1, "missed": 5, "faults": 0, "switches": 0})

    def test_a_frame_thread_below_the_io_thread_is_seen_in_its_switches(self):
        self.assertEqual(self.case("refused")["code"], 2)
        report = self.report("below_io")
        self.assertEqual(report["realtime"]["priority"], 70)
        self.assertGreaterEqual(report["involuntary_switches"], 200)
        self.assertEqual(report["overruns"], 0)

    def test_a_frame_thread_that_got_no_priority_is_named_and_its_lateness_a_switch(self):
        report = self.report("other")
        self.assertEqual(report["realtime"]["policy"], "other")
        self.assertGreater(report["involuntary_switches"], 0)
        # One that is switched away while it looks for the cause of a late frame leaves the next
        # without: that is `unknown` then, and of a thread with priority it does not happen.
        self.assert_cause(report, "switch", share=0.9)


    def test_a_frame_thread_that_lost_its_priority_meanwhile_is_named(self):
        self.assertEqual(self.report("demoted")["realtime"]["policy"], "other")


class Placement(Guest):
    """Two CPUs, the second isolated, two memory nodes. Nothing here is about how long it takes."""
    kind = "placement"
    limit_s = 300
    # What the kernel itself has bound to the second CPU or its node.
    OF_THE_CPU = re.compile(r"frame|swapper/1|kcompactd1|kswapd1|[a-z_]+/1(:.*)?")

    @staticmethod
    def on_line(boot, told):
        if told.get("case") == "stopped" and told.get("begun"):
            time.sleep(REHEARSAL_S)
            boot.process.send_signal(signal.SIGSTOP)
            time.sleep(STOP_S)
            boot.process.send_signal(signal.SIGCONT)

    def test_the_machine_is_the_one_asked_for(self):
        self.assertEqual(self.boot.facts["isolated"], "1")
        self.assertEqual(self.boot.facts["nohz_full"], "1")
        self.assertEqual(self.boot.facts["nodes"], "0-1")

    def test_the_frame_thread_is_fifo_and_only_ever_on_the_isolated_cpu(self):
        for name in ("migrating", "placed"):
            where, report = self.case(name)["where"], self.report(name)
            self.assertEqual((where["policy"], where["priority"]), (os.SCHED_FIFO, 90))
            self.assertEqual((where["allowed"], where["may_1"], where["seen"]), (1, 1, 2))
            self.assertEqual(where["migrations"], 0)
            self.assertEqual(report["realtime"]["cpus"]["frame"], 1)
            self.assertTrue(report["realtime"]["isolated"])
            self.assertEqual(report["page_faults_after_seal"], 0)

    def test_its_pages_are_on_the_node_of_that_cpu(self):
        for name in ("migrating", "placed"):
            where = self.case(name)["where"]
            for part, least in (("arena", 100), ("stack", 10)):
                self.assertEqual(where[part]["nodes"][0], 0, where)
                self.assertGreaterEqual(where[part]["nodes"][1], least, where)
                self.assertEqual(where[part]["absent"], 0, where)

    def test_nobody_else_runs_there(self):
        for name in ("migrating", "placed"):
            foreign = [task for task in self.case(name)["tasks"] if not self.OF_THE_CPU.fullmatch(task)]
            self.assertEqual(foreign, [])
            self.assertIn("frame", self.case(name)["tasks"])

    def test_without_timer_migration_its_timer_fires_there(self):
        """With it, kernel.timer_migration = 1, some are armed on the first CPU, which then wakes
        the second by an interrupt of its own."""
        placed = self.case("placed")
        print(f"timer_migration {self.boot.facts['timer_migration']}: "
              f"{self.case('migrating')['timer_interrupts']} timer and "
              f"{self.case('migrating')['reschedule_interrupts']} reschedule interrupts; "
              f"0: {placed['timer_interrupts']} and {placed['reschedule_interrupts']}")
        self.assertGreater(placed["timer_interrupts"], 100)
        self.assertLessEqual(placed["reschedule_interrupts"], placed["timer_interrupts"] / 20)

    def test_the_unit_test_of_can_passes_where_there_is_one(self):
        if not image.modules():
            self.skipTest("the kernel has no CAN modules")
        self.assertEqual(self.case("test_can")["code"], 0, self.boot.tail())

    def test_a_loop_closes_over_can(self):
        if not image.modules():
            self.skipTest("the kernel has no CAN modules")
        report = self.report("can")
        link = report["links"][0]
        self.assertEqual((link["bus"], link["protocol"]), ("can", "mavlink"))
        self.assertGreater(link["commands"], 10)
        self.assertEqual((link["rx_bad"], link["losses"]), (0, 0))
        self.assertGreater(report["loop_latency_ns"]["count"], 0)

    def test_a_host_that_stops_the_machine_is_a_thief(self):
        report = self.report("stopped")
        self.assertGreaterEqual(report["missed"], 0.9 * STOP_S * report["rate_hz"])
        self.assertGreaterEqual(report["stolen_ns_total"], 0.9 * STOP_S * 1e9)
        self.assertGreater(report["overrun_causes"]["stolen"], 0)

    def test_doctor_calls_the_machine_fit(self):
        if "doctor" not in self.boot.cases:
            self.skipTest("this airbearing has no doctor")
        self.assertEqual(self.case("doctor")["code"], 0, self.case("doctor"))


def main():
    global LONG
    arguments = sys.argv[1:]
    LONG = "--long" in arguments
    kinds = [kind for kind in ("virtual", "placement") if kind in arguments] or ["virtual", "placement"]
    suite = unittest.TestSuite()
    for test_class in (Virtual, Placement):
        if test_class.kind in kinds:
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(test_class))
    try:
        image.check()
    except image.Missing as missing:
        print(f"no guest: {missing}")
        return 77
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
