"""A process that takes the frame thread's core on purpose: late frames are switches, and are reported as such."""
import json
import multiprocessing
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log

SWITCH = 2  # of the causes, as in the log
PERIOD_NS = 1000000
BURSTS, BURST_NS, EVERY_NS = 20, 6000000, 60000000


def hog(cpu, pipe):
    """Above the frame thread on its core: run for BURST_NS every EVERY_NS, then tell when it was."""
    os.sched_setaffinity(0, {cpu})
    harness.go_first()
    bursts, begin = [], time.monotonic_ns()
    for i in range(BURSTS):
        time.sleep(max(0, begin + i * EVERY_NS - time.monotonic_ns()) / 1e9)
        start = time.monotonic_ns()
        while time.monotonic_ns() - start < BURST_NS:
            pass
        bursts.append((start, time.monotonic_ns()))
    pipe.send(bursts)


class Hog(harness.Case):
    def fly_with_hog(self):
        """Report, frames of the log, and when the hog ran."""
        log, report = self.dir / "run.mcap", self.dir / "report.json"
        process = self.start("run", harness.TUMBLE, "--seconds", "3", "--log", log, "--report", report)
        core = harness.core_of(process, "frame")
        self.assertIsNotNone(core, "there was no frame thread with a core of its own")
        time.sleep(0.7)  # it begins with a rehearsal
        ours, theirs = multiprocessing.Pipe()
        thief = multiprocessing.Process(target=hog, args=(core, theirs))
        thief.start()
        out, err = process.communicate(timeout=60)
        bursts = ours.recv() if ours.poll(20) else None
        thief.join()
        self.assertEqual(process.returncode, 0, out + err)
        return json.loads(report.read_text()), raw_log.frames(log), bursts

    @unittest.skipUnless(harness.may_be_realtime(), "no SCHED_FIFO for tests (needs root)")
    def test_a_process_that_takes_the_core_on_purpose_is_a_switch(self):
        """Whatever else the machine takes: only frames that a burst fell into are judged."""
        report, frames, bursts = self.fly_with_hog()
        self.assertEqual(report["realtime"]["policy"], "fifo")
        self.assertEqual(sum(report["overrun_causes"].values()), report["overruns"])
        late = [(release, end, cause) for _, release, _, end, _, _, cause, *_ in frames
                if end - release > PERIOD_NS]
        self.assertEqual(len(late), report["overruns"])
        inside = [(begin, end) for begin, end in bursts if frames[0][1] < begin and end < frames[-1][1]]
        self.assertGreaterEqual(len(inside), BURSTS // 2)
        hit = [[cause for release, until, cause in late if release < end and begin < until]
               for begin, end in inside]
        switches = sum(SWITCH in causes for causes in hit)
        print(f"{len(inside)} bursts, {sum(map(bool, hit))} made a frame late, {switches} a switch; "
              f"in all {report['overruns']} late: {report['overrun_causes']}")
        self.assertEqual(sum(map(bool, hit)), len(inside))
        self.assertGreaterEqual(switches, 0.8 * len(inside))


if __name__ == "__main__":
    harness.main()
