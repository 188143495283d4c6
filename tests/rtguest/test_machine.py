"""Bounds of a boot, with shells in the place of machines: one that hangs ends, and shows what it printed.

Time of the host is never long enough for a test to fail by: each ends because of its bound, or not at
all.
"""
import os
import sys
import unittest
from unittest import mock

import machine

FOR_EVER_S = 100000


def shell(script, **bounds):
    return machine.Machine(["sh", "-c", script], **{"limit_s": FOR_EVER_S, "silence_s": FOR_EVER_S, **bounds})


class Bounds(unittest.TestCase):
    def test_a_boot_without_output_is_ended_and_its_last_lines_are_printed(self):
        hanging = shell("printf 'last words\\n@@ {\"case\": \"flight\"}\\nhalf a li'; exec sleep 100000")

        def hasten(boot, _):
            boot.silence_s = 0.2

        hanging.on_line = hasten
        hanging.run()
        self.assertRegex(hanging.hung, "it had [0-9]+ s for a line and told none")
        self.assertEqual(hanging.tail().split("\n"), [
            "last words", f"(the machine was ended: {hanging.hung})", "half a li",
            "(the last that it told was of flight)"])
        self.assertFalse(hanging.done)
        self.assertIsNotNone(hanging.process.returncode)

    def test_one_that_talks_for_ever_is_ended(self):
        talking = shell("while echo on; do sleep 0.05; done", limit_s=0.5).run()
        self.assertEqual(talking.hung, "it was not done after 0.5 s")
        self.assertIn("(the last that it told was of the boot)", talking.tail())

    def test_a_boot_that_waits_for_a_core_is_not_ended(self):
        longer = iter(range(0, 10**18, 10**12))  # each time it is asked, 1000 s more
        with mock.patch.object(machine, "queued_ns", lambda pid: {"1": next(longer)}):
            waiting = shell("exec sleep 100000", silence_s=0.1, limit_s=1).run()
        self.assertEqual(waiting.hung, "it was not done after 1 s")

    def test_the_time_in_line_is_that_of_each_thread(self):
        waits = machine.queued_ns(os.getpid())
        if not waits:
            self.skipTest("the kernel does not count it")
        self.assertIn(str(os.getpid()), waits)
        self.assertEqual(machine.queued_ns(2**22 + 1), {})  # nobody has such a number

    def test_one_that_is_done_or_ends_by_itself_did_not_hang(self):
        done = shell("echo '@@ {\"done\": true}'; exec sleep 100000").run()
        self.assertEqual((done.done, done.hung), (True, None))
        ended = shell("echo bye").run()
        self.assertEqual((ended.done, ended.hung, ended.console), (False, None, ["bye"]))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
