#!/usr/bin/env python3
"""The checks themselves: each accepts a clean case and refuses a planted fault."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("rt", "rt/executive", "dynamics", "io", "config", "config/yaml", "config/import", "tools", "tests")


def run(script, *arguments):
    """(exit status, output) of one of our scripts."""
    done = subprocess.run(
        [ROOT / "tools" / script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


class Scratch(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Rooms(Scratch):
    def setUp(self):
        super().setUp()
        for room in ROOMS:
            (self.directory / room).mkdir()

    def check(self, name, *includes):
        self.write(name, "/* first line */\n" + "".join(f"#include {i}\n" for i in includes))
        return run("check_rooms.py", self.directory)

    def refused(self, name, include):
        status, output = self.check(name, include)
        self.assertEqual(status, 1, f"{name} includes {include}")
        self.assertIn(f"{name}:2: ", output)

    def test_the_allowed_ways_pass(self):
        self.assertEqual(self.check("rt/a.c", '"rt/a.h"', "<pthread.h>"), (0, ""))
        self.assertEqual(self.check("dynamics/a.c", '"dynamics/a.h"', "<math.h>"), (0, ""))
        self.assertEqual(self.check("io/a.c", '"rt/a.h"', '"dynamics/math/spatial.h"'), (0, ""))
        self.assertEqual(self.check("config/a.c", '"io/a.h"', '"dynamics/a.h"'), (0, ""))
        self.assertEqual(self.check("tests/a.c", '"unity.h"', '"tools/a.h"'), (0, ""))
        self.assertEqual(self.check("config/resolve/a.c", '"rt/executive/a.h"', '"config/yaml/a.h"'), (0, ""))
        self.assertEqual(self.check("config/import/a.c", '"config/yaml/a.h"', '"rt/arena.h"'), (0, ""))
        self.assertEqual(self.check("config/yaml/a.c", '"rt/arena.h"'), (0, ""))
        self.assertEqual(self.check("tools/a.c", '"rt/executive/a.h"'), (0, ""))

    def test_leaves_do_not_know_each_other(self):
        self.refused("rt/a.c", '"dynamics/a.h"')
        self.refused("dynamics/a.c", '"rt/a.h"')

    def test_io_takes_only_vectors_from_dynamics(self):
        self.refused("io/bus/a.c", '"dynamics/model.h"')

    def test_rooms_below_the_executive_do_not_include_it(self):
        self.refused("rt/a.c", '"rt/executive/sim.h"')
        self.refused("rt/machine/a.h", '"rt/executive/sim.h"')
        self.refused("io/link/a.c", '"rt/executive/sim.h"')
        self.refused("dynamics/a.c", '"rt/executive/sim.h"')

    def test_the_executive_runs_a_vehicle_and_reads_no_scenario(self):
        self.assertEqual(self.check("rt/executive/arm/a.c", '"rt/frame.h"', '"rt/executive/sim.h"',
                                    '"dynamics/plant.h"', '"io/link/link.h"', "<time.h>"), (0, ""))
        self.refused("rt/executive/a.c", '"config/scenario.h"')
        self.refused("rt/executive/a.h", '"config/yaml/document.h"')
        self.refused("rt/executive/a.c", '"tools/a.h"')

    def test_the_readers_of_text_include_neither_executive_nor_resolver(self):
        for room in ("config/yaml", "config/import"):
            self.refused(f"{room}/a.c", '"rt/executive/sim.h"')
            self.refused(f"{room}/a.c", '"config/resolve/resolve.h"')
            self.refused(f"{room}/a.c", '"config/scenario.h"')
        self.refused("config/yaml/a.c", '"config/import/urdf.h"')

    def test_a_circle_of_two_modules_is_refused_and_named(self):
        self.assertEqual(self.check("io/a.h", '"io/b.h"'), (0, ""))
        self.assertEqual(self.check("io/b.h", '"rt/arena.h"'), (0, ""))
        circle = (1, "io/a: includes itself by way of io/b\n")
        self.assertEqual(self.check("io/b.h", '"io/a.h"'), circle)

    def test_a_circle_through_sources_and_a_third_module_is_found(self):
        self.check("io/a.h")
        self.check("io/a.c", '"io/a.h"', '"io/b.h"')
        self.check("io/b.h", '"io/c.h"')
        self.check("io/c.h")
        self.assertEqual(self.check("io/c.c", '"io/c.h"', '"io/a.h"'),
                         (1, "io/a: includes itself by way of io/b, io/c\n"))

    def test_no_room_includes_tools_or_tests(self):
        self.refused("config/a.c", '"tools/a.h"')
        self.refused("tools/a.c", '"tests/a.h"')

    def test_a_header_without_its_room_is_refused(self):
        self.refused("rt/a.c", '"ring.h"')
        self.refused("rt/a.h", '"../io/link.h"')

    def test_product_code_does_not_use_the_test_framework(self):
        self.refused("tools/a.c", '"unity.h"')

    def test_dynamics_has_no_clock_and_no_files(self):
        self.refused("dynamics/a.c", "<time.h>")
        self.refused("dynamics/a.h", "<stdio.h>")

    def test_a_missing_room_is_not_a_clean_room(self):
        for room in ("rt/executive", "config/yaml"):
            (self.directory / room).rmdir()
            self.assertEqual(run("check_rooms.py", self.directory), (1, f"{room}/ is not there\n"))
            (self.directory / room).mkdir()
        (self.directory / "io").rmdir()
        self.assertEqual(run("check_rooms.py", self.directory), (1, "io/ is not there\n"))


class Tested(Scratch):
    """Where a source is tested can be found, and no file is too long."""

    def setUp(self):
        super().setUp()
        for room in ROOMS:
            (self.directory / room).mkdir()
        self.write("rt/README.md", "| `a` | what it is |\n")

    def check(self, *files):
        for name, text in files:
            self.write(name, text)
        return run("check_tested.py", self.directory)

    def test_a_short_source_needs_no_test(self):
        self.assertEqual(self.check(("rt/a.c", "\n" * 150)), (0, ""))

    def test_a_long_one_needs_a_test_of_its_name(self):
        status, output = self.check(("rt/a.c", "\n" * 151))
        self.assertEqual(status, 1)
        self.assertIn("rt/a.c: 151 lines and no test of its name", output)
        self.assertEqual(self.check(("tests/rt/test_a.c", "")), (0, ""))

    def test_or_a_line_in_its_head_that_is_true(self):
        head = "/*\n * What it is.\n *\n * Tested by tests/rt/test_b.c and\n * test_c.py.\n */\n"
        status, output = self.check(("rt/a.c", head + "\n" * 150), ("tests/rt/test_b.c", ""))
        self.assertEqual((status, output), (1, "rt/a.c: there is no test_c.py, by which it is tested\n"))
        self.assertEqual(self.check(("tests/scenario/test_c.py", "")), (0, ""))

    def test_the_head_of_the_header_counts(self):
        self.assertEqual(self.check(("rt/a.c", "\n" * 200), ("rt/a.h", "/*\n * Tested by tests/rt/test_b.c.\n */\n"),
                                    ("tests/rt/test_b.c", "")), (0, ""))

    def test_the_readme_of_a_room_names_its_modules(self):
        status, output = self.check(("rt/b.c", ""), ("rt/b.h", ""))
        self.assertEqual((status, output), (1, "rt/b.c: rt/README.md does not name it\n"))
        self.assertEqual(self.check(("rt/README.md", "| `a`, `b` | what they are |\n")), (0, ""))

    def test_no_file_is_too_long(self):
        status, output = self.check(("rt/a.c", "\n" * 601), ("tests/rt/test_a.c", "\n" * 1001))
        self.assertEqual(status, 1)
        self.assertIn("rt/a.c: 601 lines", output)
        self.assertIn("tests/rt/test_a.c: 1001 lines", output)


class Symbols(Scratch):
    def check(self, text):
        source = self.write("a.c", text)
        thing, library = source.with_suffix(".o"), source.with_name("liba.a")
        subprocess.run(["cc", "-O2", "-fPIC", "-c", source, "-o", thing], check=True)
        subprocess.run(["ar", "cr", library, thing], check=True)
        return run("check_symbols.py", library)

    def refused(self, text, what):
        status, output = self.check(text)
        self.assertEqual(status, 1, text)
        self.assertIn(what, output)

    def test_memory_and_mathematics_pass(self):
        text = """#include <math.h>
            #include <string.h>
            static const char *const names[] = {"x", "y"};
            const char *name(const double *q, double *v, int n)
            {
                memcpy(v, q, (unsigned)n * sizeof *q);
                return names[sin(v[0]) > atan2(v[1], v[2])];
            }"""
        self.assertEqual(self.check(text), (0, ""))

    def test_allocation_is_found(self):
        self.refused("#include <stdlib.h>\nvoid *f(void) { return malloc(8); }", "needs malloc")

    def test_a_clock_is_found(self):
        self.refused("#include <time.h>\nlong f(void) { return time(0); }", "needs time")

    def test_global_state_is_found(self):
        self.refused("int x = 3;", ".data can be written")
        self.refused("int f(void) { static int n; return ++n; }", ".bss can be written")
        self.refused("_Thread_local int x; int f(void) { return x; }", ".tbss can be written")

    def test_an_empty_library_proves_nothing(self):
        self.refused("typedef int unused;", "defines nothing")


class Mavlink(Scratch):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(ROOT / "tools" / "setup"))
        sys.dont_write_bytecode = True
        cls.messages = __import__("check_mavlink").MESSAGES

    def headers(self, **changed):
        for name, (number, lengths, shortest, extra) in self.messages.items():
            values = {"": number, "_LEN": max(lengths), "_MIN_LEN": shortest, "_CRC": extra}
            if name in changed:
                values.update(changed[name])
            text = "".join(f"#define MAVLINK_MSG_ID_{name}{k} {v}\n" for k, v in values.items())
            self.write(f"common/mavlink_msg_{name.lower()}.h", text)
        return run("setup/check_mavlink.py", self.directory)

    def test_the_table_agrees_with_itself(self):
        self.assertEqual(self.headers()[0], 0)

    def test_a_short_timesync_is_fine(self):
        self.assertEqual(self.headers(TIMESYNC={"_LEN": 16})[0], 0)

    def test_each_wrong_number_is_found(self):
        for suffix in ("", "_LEN", "_MIN_LEN", "_CRC"):
            with self.subTest(suffix):
                status, output = self.headers(HIL_SENSOR={suffix: 77})
                self.assertEqual(status, 1)
                self.assertIn("HIL_SENSOR", output)

    def test_a_missing_message_is_found(self):
        self.headers()
        (self.directory / "common/mavlink_msg_hil_gps.h").unlink()
        self.assertIn("HIL_GPS is missing", run("setup/check_mavlink.py", self.directory)[1])


class Summary(Scratch):
    def write_log(self, name, tests):
        text = "".join(json.dumps({"name": "t", "returncode": 0, **t}) + "\n" for t in tests)
        return self.write(f"build-x/meson-logs/{name}.json", text)

    def summarize(self, *tests, extra=()):
        status, output = run("setup/summarize.py", self.write_log("testlog", tests), *extra)
        return status, output.splitlines()[-1]

    def test_cases_of_unity_are_counted_one_by_one(self):
        test = {"result": "OK", "stdout": "...\n7 Tests 0 Failures 2 Ignored\nOK\n"}
        self.assertEqual(self.summarize(test), (0, "5 passed, 0 failed, 2 skipped"))

    def test_a_failure_fails(self):
        passed = {"result": "OK", "stdout": ""}
        failed = {"result": "FAIL", "stdout": "4 Tests 3 Failures 0 Ignored\nFAIL\n"}
        self.assertEqual(self.summarize(passed, failed), (1, "2 passed, 3 failed, 0 skipped"))

    def test_a_crash_behind_clean_cases_fails(self):
        leaked = {"result": "FAIL", "stdout": "4 Tests 0 Failures 0 Ignored\nOK\n"}
        self.assertEqual(self.summarize(leaked), (1, "3 passed, 1 failed, 0 skipped"))
        late = {"result": "TIMEOUT"}
        self.assertEqual(self.summarize(late), (1, "0 passed, 1 failed, 0 skipped"))

    def test_no_test_is_no_success(self):
        self.assertEqual(self.summarize()[0], 1)
        skipped = {"result": "SKIP", "stdout": "no peer\n"}
        self.assertEqual(self.summarize(skipped), (1, "0 passed, 0 failed, 1 skipped"))

    def test_only_tests_that_keep_time_get_a_second_try(self):
        failed = {"result": "FAIL", "stdout": "it was late\n"}
        log = self.write_log("testlog", [
            {"name": "a:scenario+sanitize / late", **failed}, {"name": "a:scenario / well", "result": "OK"},
            {"name": "a:guest / slow", "result": "TIMEOUT"}, {"name": "a:unit / sum", **failed},
            {"name": "a:unit+threads / ring", **failed}, {"name": "a:shape / rooms", **failed},
            {"name": "a:peers / engines", **failed}, {"name": "a:fuzz / urdf", **failed},
            {"name": "a:threads / race", "result": "FAIL", "stdout": "WARNING: ThreadSanitizer: data race\n"}])
        self.assertEqual(run("setup/summarize.py", "--again", log), (0, "late\nslow\nring\n"))

    def test_a_second_try_counts_and_is_reported(self):
        late = {"name": "a:scenario / late", "result": "FAIL", "stdout": "AssertionError: a stall\n\nFAILED\n"}
        unit = {"name": "a:unit / sum", "result": "FAIL"}
        self.assertEqual(self.summarize(late), (1, "0 passed, 1 failed, 0 skipped"))
        again = self.write_log("again", [{**late, "result": "OK"}, {**unit, "result": "OK"}])
        status, output = run("setup/summarize.py", self.write_log("testlog", [late]))
        self.assertEqual((status, output.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn("passed only at the second try: build-x: a:scenario / late; at the first: "
                      "AssertionError: a stall\n", output)
        self.assertNotIn("FAILED", output)
        self.assertIn("passed only at the second try: 1 of them", output)
        self.assertEqual(self.summarize(late, unit), (1, "1 passed, 1 failed, 0 skipped"))
        again.write_text(json.dumps({**late, "result": "FAIL"}))
        self.assertEqual(self.summarize(late), (1, "0 passed, 1 failed, 0 skipped"))

    def test_failures_come_last_with_their_reasons(self):
        """Whoever sees only the end of a long output finds them there, whichever build they are of."""
        unity = "a.c:7:test_one:PASS\na.c:9:test_two:FAIL: 1 is not 2\n\n2 Tests 1 Failures 0 Ignored\nFAIL\n"
        race = "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 8\n"
        log = self.write_log("testlog", [
            {"name": "a:unit / sum", "result": "FAIL", "returncode": 1, "stdout": unity},
            {"name": "a:threads / race", "result": "FAIL", "stdout": race},
            {"name": "a:unit / mute", "result": "TIMEOUT"},
            {"name": "a:unit / alloc", "result": "OK", "stdout": "a.c:1:test_a:IGNORE: no heap\n"
             "a.c:1:test_b:IGNORE: no heap\n3 Tests 0 Failures 2 Ignored\n"}])
        status, output = run("setup/summarize.py", log)
        self.assertEqual(status, 1)
        self.assertIn("skipped build-x: a:unit / alloc (2): no heap\nbuild-x: 2 passed, 3 failed, 2 skipped\n", output)
        self.assertIn("\nFAILED build-x: a:unit / sum (FAIL, exit 1)\n    a.c:7:test_one:PASS\n", output)
        self.assertEqual(output.splitlines()[-4:], [
            "FAILED build-x: a:unit / sum: a.c:9:test_two:FAIL: 1 is not 2",
            "FAILED build-x: a:threads / race: WARNING: ThreadSanitizer: data race (pid=1)",
            "FAILED build-x: a:unit / mute: nothing was printed", "2 passed, 3 failed, 2 skipped"])

    def test_a_build_without_results_fails(self):
        passed = {"result": "OK"}
        self.assertEqual(self.summarize(passed, extra=["build-y/none.json"])[0], 1)
        self.assertEqual(self.summarize(passed, extra=["failed:tsan: does not build"])[0], 1)
        self.assertEqual(self.summarize(passed, extra=["skipped:fuzz: no clang"])[0], 0)


class Format(Scratch):
    def check(self, text):
        self.write(".clang-format", (ROOT / ".clang-format").read_text(encoding="utf-8"))
        self.write("rt/a.c", text)
        status, output = run("check_format.sh", self.directory, "rt/a.c")
        if status == 77:
            self.skipTest(output.strip())
        return status

    def test_the_house_style_passes(self):
        self.assertEqual(self.check("int f(void)\n{\n    return 1;\n}\n"), 0)

    def test_another_style_does_not(self):
        self.assertNotEqual(self.check("int f(void) {\n  return 1;\n}\n"), 0)


if __name__ == "__main__":
    unittest.main()
