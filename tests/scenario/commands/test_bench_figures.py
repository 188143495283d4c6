"""airbearing bench and the small benchmarks beside it: which figures there are, and how they follow from each other.

No time is judged.  What counts for bench is a copy of the program, beside a counting build and before a valgrind that
are made here, so that their counts are known."""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import raw_log

URDF = """<robot name="swing">
  <link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="bob"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>
</robot>
"""
CALLS = 64
FLOPS = harness.AIRBEARING.parent / "bench_flops"


class Bench(golden.Case):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "airbearing"
        shutil.copy(harness.AIRBEARING, self.program)
        self.put("bench_flops", 'echo "$@" >> "$0.log"; echo 100 200 30 4; echo more')
        self.put("path/env", f'echo "$@" >> "$0.log"; echo noise; echo "==1== Collected : {700 * CALLS}" >&2')

    def put(self, name, text, *, code=0):
        path = self.dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\nexit {code}\n")
        path.chmod(0o755)

    def bench(self, *options, code=0):
        with harness.environment(PATH=str(self.dir / "path"), AIRBEARING_ISA="sse2"):
            for _ in range(5):  # a machine that stands still may keep the board from being heard
                done = subprocess.run([self.program, "bench", *map(str, options)], capture_output=True, text=True, timeout=120)
                if "floor  not measured" not in done.stdout and '"loop_latency_floor_ns": null' not in done.stdout:
                    break
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def asked(self, name):
        return (self.dir / f"{name}.log").read_text().replace(str(self.dir), "DIR")

    def assert_spread(self, of, key):
        self.assertGreater(of[f"{key}_min"], 0)
        self.assertLess(of[f"{key}_min"], 60e9)
        self.assertGreaterEqual(of[key] * 33 / 32, of[f"{key}_min"])  # a histogram's bucket

    def test_one_model_as_json(self):
        report = json.loads(self.bench("--made", "arm7", "--json"))
        self.assertEqual(set(report), {"machine", "models", "isa", "forward_ns", "forward_ns_min", "batch_ns", "batch_ns_min",
                                       "frame_overhead_ns", "frame_overhead_ns_min", "loop_latency_floor_ns",
                                       "loop_latency_floor_ns_min", "loop_round_trip_ns", "loop_round_trip_ns_min"})
        self.assertEqual(report["isa"], "sse2")
        (model,) = report["models"]
        self.assertEqual((model["name"], model["nv"], model["links"]), ("arm7", 7, 7))
        self.assertEqual((model["instructions"], model["instructions_isa"], model["flops"]), (700, "sse2", 330))
        self.assertEqual(model["flops_parts"], {"mul": 100, "add": 200, "div": 30, "functions": 4})
        self.assertEqual(list(model["per_isa"]), harness.instruction_sets())
        for key in ("forward_ns", "forward_ns_min", "batch_ns", "batch_ns_min"):
            self.assertEqual(report[key], model[key])
            self.assertEqual(report[key], model["per_isa"]["sse2"][key])
        for speed in model["per_isa"].values():
            self.assert_spread(speed, "forward_ns")
            self.assert_spread(speed, "batch_ns")
        for key in ("frame_overhead_ns", "loop_latency_floor_ns", "loop_round_trip_ns"):
            self.assert_spread(report, key)
        cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
        name = re.search(r"^model name\s*: *(.*)$", cpuinfo, re.M)
        self.assertEqual(report["machine"]["processor"], name.group(1) if name else "unknown processor")
        self.assertEqual(report["machine"]["virtual"], " hypervisor" in cpuinfo)
        self.assertEqual(report["machine"]["kernel"], pathlib.Path("/proc/sys/kernel/osrelease").read_text().strip())
        self.assertEqual(self.asked("bench_flops"), "arm7 made\n")
        self.assertEqual(self.asked("path/env"),
                         "AIRBEARING_ISA=sse2 valgrind --tool=callgrind --callgrind-out-file=/dev/null "
                         f"--toggle-collect=dyn_aba DIR/airbearing bench --made arm7 --calls {CALLS}\n")

    def row(self, out):
        """forward, lowest, per link, batch, lowest, gain of the model's line."""
        found = re.search(r"^(\S+) +(\d+) +(\d+)  sse2   \* +(\d+) \( *(\d+)\) +(\d+\.\d) +(\d+) \( *(\d+)\) +(\d+\.\d\d)$", out, re.M)
        self.assertIsNotNone(found, out)
        name, nv, links, *figures = found.groups()
        return (name, int(nv), int(links)), tuple(map(float, figures))

    def test_one_model_as_a_table(self):
        model = self.dir / "swing.urdf"
        model.write_text(URDF)
        for base, nv, links in (("fixed", 1, 1), ("free", 7, 2)):
            out = self.bench("--model", model, "--base", base, "--isa", "sse2")
            what, (forward, lowest, per_link, batch, batch_lowest, gain) = self.row(out)
            self.assertEqual(what, ("swing", nv, links))
            self.assertLessEqual(lowest, forward)
            self.assertAlmostEqual(per_link, forward / links, delta=0.6)
            self.assertLessEqual(batch_lowest, batch)
            self.assertAlmostEqual(gain, forward / batch, delta=0.01 + 0.51 * (forward + batch) / batch ** 2)
            self.assertIn(f"\n    instructions a call 700, a link {700 / links:.1f} (sse2, callgrind)\n"
                          f"    flops a state 330, a dof {330 / nv:.1f} (100 mul, 200 add, 30 div in the batch; "
                          "beside them 4 sines with cosines and tanhs)\n", out)
            self.assertRegex(out, r"\nframe overhead +\d+ ns \(\d+\)  commit, latch, jobs, stamps of a frame in which nothing moves;\n"
                                  r" {37} no wait, no log, no link\n"
                                  r"loop latency floor +\d+ ns \(\d+\)  command in to sample out over loopback UDP, lockstep, empty "
                                  r"plant,\n {37} I/O thread (polls|blocks); there and back with the board \d+ ns \(\d+\)\n$")
            self.assertRegex(out, r"^[^\n]+, \d+ cores?, Linux [^\n]+\nCPU time of one thread: median of \d+ turns, lowest in "
                                  r"brackets; \* is what a run uses\n\nmodel +dof +links  isa +forward ns  per link +batch "
                                  r"ns/state +gain\n")
            self.assertEqual(self.asked("bench_flops").splitlines()[-1], f"DIR/swing.urdf {base}")
            self.assertIn(f"--model DIR/swing.urdf --base {base} --calls {CALLS}", self.asked("path/env"))
        self.bench("--model", model, "--isa", "sse2")
        self.assertEqual(self.asked("bench_flops").splitlines()[-1], "DIR/swing.urdf unsaid")
        self.assertTrue(self.asked("path/env").endswith(f"--model DIR/swing.urdf --calls {CALLS}\n"))

    def test_what_could_not_be_counted_is_reported(self):
        self.put("path/env", "echo Collected : 5", code=1)
        self.put("bench_flops", "echo a joint mimics another >&2; echo more", code=2)
        out = self.bench("--made", "chain2")
        self.assertIn("    instructions not counted: valgrind is missing or does not run here\n"
                      "    flops not counted: a joint mimics another\n", out)
        self.put("path/env", "echo Collected nothing")
        self.put("bench_flops", "echo 1 2 3")
        (model,) = json.loads(self.bench("--made", "chain2", "--json"))["models"]
        self.assertEqual([model[key] for key in ("instructions", "instructions_isa", "flops")], [None, None, None])
        self.assertNotIn("flops_parts", model)
        (self.dir / "path/env").unlink()
        (self.dir / "bench_flops").unlink()
        out = self.bench("--made", "chain2")
        self.assertIn("    instructions not counted: valgrind is missing or does not run here\n"
                      "    flops not counted: bench_flops is not there: it is built where there is a C++ compiler\n", out)
        (self.dir / "bench_flops").write_text("no program")
        self.assertIn("bench_flops is not there", self.bench("--made", "chain2"))

    def test_much_output_of_a_child_is_borne(self):
        self.put("path/env", f'i=0; while [ $i -lt 3000 ]; do echo "a line that nobody wants to read, {"x" * 60}"; i=$((i+1)); '
                             'done; echo Collected : 640 >&2')
        self.put("bench_flops", "echo 1 2 3 4; kill -9 $$")
        (model,) = json.loads(self.bench("--made", "chain2", "--json"))["models"]
        self.assertEqual([model[key] for key in ("instructions", "flops")], [None, None])

    def test_all_builtin_models_are_measured(self):
        report = json.loads(self.bench("--isa", "sse2", "--json"))
        self.assertEqual([(m["name"], m["nv"], m["links"]) for m in report["models"]],
                         [("arm7", 7, 7), ("chain30", 30, 30), ("chain100", 100, 100), ("spacecraft22", 28, 23)])
        self.assertNotIn("forward_ns", report)
        for model in report["models"]:
            self.assertEqual(list(model["per_isa"]), ["sse2"])
        self.assert_beams(report["beams"], 16, 4)
        self.assertEqual(self.asked("bench_flops").split("\n")[:5],
                         ["arm7 made", "chain30 made", "chain100 made", "spacecraft22 made", "consistent16x4 made"])

    def assert_beams(self, beams, bodies, modes):
        self.assertEqual([beams[key] for key in ("bodies", "modes", "isa", "instructions_isa")], [bodies, modes, "sse2", "sse2"])
        self.assertEqual([row["fidelity"] for row in beams["rows"]], ["rigid", "ruthless", "consistent"])
        self.assertEqual(beams["rows"][0]["ratio"], 1)
        for row in beams["rows"]:
            self.assert_spread(row, "forward_ns")
            self.assert_spread(row, "rk4_step_ns")
            self.assertGreater(row["rk4_step_ns_min"], row["forward_ns_min"])
            self.assertEqual((row["instructions"], row["flops"]), (700, 330))
            self.assertGreater(row["ratio"], 0)

    def test_beams(self):
        self.assert_beams(json.loads(self.bench("--beams", "3x5", "--isa", "sse2", "--json"))["beams"], 3, 5)
        self.assertEqual(self.asked("bench_flops"), "consistent3x5 made\nruthless3x5 made\nrigid3x5 made\n")
        out = self.bench("--beams", "2x1")
        found = re.match(r"^\n2 beams with 1 modes each, hinged in a chain, sse2; instructions \(sse2\) and flops a call\n"
                         r"fidelity +forward ns  per body  ratio +RK4 step us  instructions     flops\n"
                         r"((?:\S+ +\d+ \( *\d+\) +\d+\.\d +\d+\.\d\d +\d+\.\d\d \( *\d+\.\d\d\) +700 +330\n){3})$", out)
        self.assertIsNotNone(found, out)
        for line in found.group(1).splitlines():
            name, forward, lowest, per_body, ratio, step, step_lowest = re.match(
                r"(\S+) +(\d+) \( *(\d+)\) +(\S+) +(\S+) +(\S+) \( *(\S+)\)", line).groups()
            self.assertAlmostEqual(float(per_body), float(forward) / 2, delta=0.3)
            self.assertLessEqual(float(lowest), float(forward))
            self.assertLessEqual(float(step_lowest), float(step))
            self.assertLess(float(lowest) * 1e-3, float(step))
        self.put("path/env", "", code=1)
        self.put("bench_flops", "", code=1)
        self.assertRegex(self.bench("--beams", "2x1"), r"(\n\S+ [^\n]+\) {13}- {9}-){3}\n$")
        out = self.bench("--beams", "16x4")
        self.assertTrue(out.endswith("    quoted, not measured here: NASA 42 (11e3cc3, gcc -O2, 2.8 GHz Xeon, virtual), as many "
                                     "bodies and modes: 2000 to 2300 us\n    a step of RK4, by dense elimination\n"), out)
        for size in ("16x3", "15x4"):
            self.assertNotIn("NASA", self.bench("--beams", size))

    def test_calls_say_nothing(self):
        for options in (["--made", "arm7"], ["--made", "ruthless2x3"], ["--made", "arm7", "--composite"], ["--made", "chain3", "--isa", "sse2"]):
            for calls in ("1", "200"):
                self.assertEqual(self.bench(*options, "--calls", calls), "")

    def test_refusals(self):
        model = self.dir / "bad.urdf"
        model.write_text(URDF.replace('type="continuous"', 'type="loose"'))
        said = []
        for code, cases in ((64, (["--nonsense"], ["model.urdf"], ["--base", "free"], ["--isa", "mmx"], ["--made", "arm7", "--base", "free"],
                                  ["--made", "arm7", "--model", "a.urdf"], ["--model", "a.urdf", "--base", "loose"], ["--calls", "7"],
                                  ["--made", "arm7", "--calls", "0"], ["--made", "arm7", "--calls", "7x"], ["--made", "arm7", "--calls", "-1"],
                                  ["--made", "arm7", "--calls", "99999999999999999999"], ["--beams", "16"], ["--beams", "0x4"],
                                  ["--beams", "4x0"], ["--beams", "4x17"], ["--beams", "4x4 "], ["--beams", "4x4", "--made", "arm7"],
                                  ["--made", "arm7", "--composite"], ["--json", "x"])),
                            (2, (["--model", model], ["--model", self.dir / "absent.urdf"], ["--made", "chain0"], ["--made", "chain"],
                                 ["--made", "chain3x"], ["--made", "chain100001"], ["--made", "chain03"], ["--made", "ruthless16"],
                                 ["--made", "ruthless0x4"], ["--made", "rigid16x17"], ["--made", "consistent16x4x"],
                                 ["--made", "flexible2x2"], ["--made", ""], ["--made", "arm8"],
                                 ["--made", "chain0", "--calls", "3"]))):
            for arguments in cases:
                said.append(" ".join(map(str, arguments)) + "\n" + self.bench(*arguments, code=code))
        self.assert_golden("bench-refused.txt", "".join(said))


class Flops(golden.Case):
    def test_counts_of_builtin_models(self):
        if not FLOPS.exists():
            self.skipTest("no counting build")
        said = []
        model = self.dir / "swing.urdf"
        model.write_text(URDF)
        mimic = self.dir / "mimic.urdf"
        mimic.write_text(URDF.replace("</robot>", """<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>
          </inertial></link><joint name="wrist" type="continuous"><parent link="bob"/><child link="tip"/><axis xyz="0 1 0"/>
          <mimic joint="pivot"/></joint></robot>"""))
        for name in ("arm7", "chain1", "chain3", "spacecraft22", "rigid3x4", "ruthless3x4", "consistent2x6mixed", "inconsistent2x3",
                     "consistent1x16", "ruthless2x5mixed"):
            for more in ([], ["composite"]):
                said += self.count(name, "made", *more)
        for arguments in ([model, "fixed"], [model, "free"], [model, "unsaid"], [model, "free", "composite"], [mimic, "fixed"],
                          [mimic, "made"], [model, "loose"], [model], [], ["arm7", "made", "twice"], ["arm7", "made", "composite", "x"],
                          [self.dir / "absent.urdf", "fixed"], [harness.SCENARIOS / "satellite-board.yaml", "unsaid"],
                          [harness.SCENARIOS / "arm7.urdf", "fixed", "composite"]):
            said += self.count(*arguments)
        self.assert_golden("flops.txt", "".join(said))

    def count(self, *arguments):
        done = subprocess.run([FLOPS, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        return [f"{' '.join(map(str, arguments))}\nexit {done.returncode}\n{done.stdout}{done.stderr}"]


class Small(harness.Case):
    """The programs for one question each; what they measure is anybody's, what they did is not."""

    def call_beside(self, name, *arguments, code=0):
        done = subprocess.run([harness.AIRBEARING.parent / name, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def load(self, signals, channels, rate, frames, mode):
        self.log = self.dir / f"{mode}.mcap"
        self.log.unlink(missing_ok=True)
        return json.loads(self.call_beside("bench_load", self.log, signals, channels, rate, frames, mode))

    def records(self):
        found = {}
        for topic, time_ns, _, payload in raw_log.stamped(self.log):
            if topic.startswith("/load/"):
                found.setdefault(topic, []).append((time_ns, struct.unpack(f"<{len(payload) // 8}d", payload)))
        return found

    def test_a_load_is_written_signal_by_signal(self):
        said = self.load(7, 2, 0, 100, "written")  # three signals a channel; the seventh has no place
        self.assertEqual({key: said[key] for key in ("records", "dropped", "error", "missed", "busy_drained_ns", "bytes")},
                         {"records": 200, "dropped": 0, "error": 0, "missed": 0, "busy_drained_ns": 0,
                          "bytes": self.log.stat().st_size})
        self.assertGreater(said["busy_written_ns"], 0)
        self.assertLess(said["busy_written_ns"], 60e9)
        found = self.records()
        self.assertEqual(list(found), ["/load/0", "/load/1"])
        for channel in range(2):
            rows = found[f"/load/{channel}"]
            self.assertEqual([time_ns for time_ns, _ in rows], [1000000 * frame for frame in range(100)])
            for k in range(3):
                i = 3 * channel + k
                position, velocity, stiffness = 1.0 + 0.001 * i, 0.0, 1e-4 * (1.0 + 0.37 * (i % 97))
                for _, values in rows:
                    velocity -= stiffness * position
                    position += velocity
                    self.assertAlmostEqual(values[k], position, 12)

    def test_a_load_that_is_drained_or_not_even_copied_leaves_no_record(self):
        for mode in ("drained", "none"):
            said = self.load(4, 1, 0, 50, mode)
            self.assertEqual((said["records"], said["dropped"], said["error"], self.records()), (0, 0, 0, {}))
            self.assertEqual(said["busy_written_ns"], 0)
            self.assertEqual(said["busy_drained_ns"] > 0, mode == "drained")

    def test_windows_alternate(self):
        said = self.load(4, 2, 200, 45, "alternate")  # windows of 10 frames; the second and the fourth are written
        times = [time_ns for time_ns, _ in self.records()["/load/1"]]
        self.assertEqual(times, [5000000 * frame for frame in range(45) if frame // 10 % 2])
        self.assertEqual((said["records"], said["dropped"]), (40, 0))
        self.assertGreater(said["busy_written_ns"], 0)
        self.assertGreater(said["busy_drained_ns"], 0)

    def test_a_load_longer_than_its_ring_waits_for_room(self):
        self.assertEqual(self.load(2, 1, 0, 3000, "written")["records"], 3000)
        self.assertEqual(len(self.records()["/load/0"]), 3000)

    def test_loads_that_are_none(self):
        for arguments in ([], ["x.mcap", 4, 1, 0, 10], ["x.mcap", 4, 1, 0, 10, "written", "more"], ["x.mcap", 4, 0, 0, 10, "none"],
                          ["x.mcap", 1, 2, 0, 10, "none"], ["x.mcap", 4, 1, 0, 0, "none"], ["x.mcap", 4, 1, -1, 10, "none"],
                          ["x.mcap", 4000, 3000, 0, 10, "none"]):
            said = self.call_beside("bench_load", *arguments, code=64)
            self.assertEqual(said.startswith("usage: bench_load LOG SIGNALS"), len(arguments) != 6, arguments)
        self.assertEqual(self.call_beside("bench_load", self.dir / "absent" / "x.mcap", 4, 1, 0, 10, "written", code=2),
                         f"bench_load: {self.dir}/absent/x.mcap: No such file or directory\n")

    def test_what_logging_costs(self):
        log = self.dir / "cost.mcap"
        first, second = map(int, self.call_beside("bench_log", harness.TUMBLE, log, 170).split())
        self.assertGreater(min(first, second), 0)
        self.assertLess(max(first, second), 60e9)
        times = {time_ns for topic, time_ns, _, _ in raw_log.stamped(log) if topic.endswith("/frame")}
        self.assertGreater(len(times), 0)
        self.assertLessEqual(len(times), 70)  # of 0 to 169 those of 50 to 99 and of 150 to 169

    def test_what_the_recorder_costs(self):
        figures = list(map(int, self.call_beside("bench_recorder", harness.TUMBLE, 170).split()))
        self.assertEqual(len(figures), 4)
        self.assertGreater(min(figures), 0)
        self.assertLess(max(figures), 60e9)
        for kind in ("on", "off"):
            self.assertEqual(self.call_beside("bench_recorder", harness.TUMBLE, 50, kind), "0 0 0 0\n")

    def test_usage_of_both(self):
        absent = self.dir / "absent.yaml"
        for name, usage, good in (("bench_log", "SCENARIO LOG [FRAMES]", [absent, self.dir / "x.mcap"]),
                                  ("bench_recorder", "SCENARIO FRAMES [on|off]", [absent, 5])):
            for arguments in ([], [absent], [*good, 5, 5]):
                self.assertEqual(self.call_beside(name, *arguments, code=64), f"usage: {name} {usage}\n")
            self.assertEqual(self.call_beside(name, *good, code=2), f"{absent}: there is no such file; check the path\n")

    def test_a_ping_has_its_pong(self):
        for arguments in ([20], [1], [5, -1, -1], [5, -1, -1, 0]):
            median, lowest = map(int, self.call_beside("ping_pong", *arguments).split())
            self.assertLess(0, lowest)
            self.assertLessEqual(lowest, median)
            self.assertLess(median, 10e9)
            self.assertTrue(arguments != [1] or median == lowest)
        for arguments in ([0], [-5], [1000001], ["x"], [5, 0, 0, 100], [5, 0, 0, -1]):
            self.assertEqual(self.call_beside("ping_pong", *arguments, code=64), "usage: ping_pong [TRIPS [CPU CPU [PRIORITY]]]\n")


if __name__ == "__main__":
    harness.main()
