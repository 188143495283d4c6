"""airbearing bench: what it reports, that work grows with the links, and that check's bound holds."""
import concurrent.futures
import contextlib
import io
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness

COUNTS = shutil.which("valgrind") is not None and not harness.SANITIZED
FLOPS = harness.AIRBEARING.parent / "bench_flops"
BENCH_PEERS = harness.ROOT / "tools" / "bench-peers"
BENCH_FLEX = harness.ROOT / "tools" / "bench-flex"
MAKE_CHAIN = harness.ROOT / "tools" / "make-chain"
URDF = """<robot name="swing">
  <link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="bob"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>
</robot>
"""
# Hinges and slides, with springs, dampers and a step that is cut in two.
CHAIN = """name: chain
rate: 1 kHz
seconds: 1 s
integrator: {{method: {method}, substeps: 2}}
bodies:
  - {{name: a, joint: {{type: revolute, axis: 0 0 1, stiffness: 3 N m/rad, rate: 1 rad/s}}, mass: 2 kg,
     inertia: 1 1 1 kg m^2}}
  - {{name: b, parent: a, joint: {{type: prismatic, axis: 1 0 0, at: 0.1 0.2 0.3 m}}, mass: 2 kg,
     center: 0.1 0 0 m, inertia: 1 1 1 kg m^2}}
  - {{name: c, parent: b, joint: {{type: revolute, axis: 0 1 0, at: 0.3 0 0 m, damping: 0.1 N m s/rad}},
     mass: 1 kg, inertia: 1 1 1 kg m^2}}
devices:
  - {{name: gyro, type: gyro, body: c}}
"""


def callgrind(function, file, *arguments):
    """Total of the instructions inside this function while airbearing runs with these arguments."""
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}",
                           f"--toggle-collect={function}", harness.AIRBEARING, *map(str, arguments)],
                          capture_output=True, text=True, check=True, timeout=280)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


class Bench(harness.Case):
    def bench(self, *options):
        code, out, err = self.call("bench", *options)
        self.assertEqual((code, err), (0, ""))
        return out

    def assert_model(self, model):
        for isa in (model, *model["per_isa"].values()):
            for kind in ("forward_ns", "batch_ns"):
                self.assertGreater(isa[kind + "_min"], 0)
                self.assertGreaterEqual(isa[kind], isa[kind + "_min"])
        self.assertIn("sse2", model["per_isa"])
        if COUNTS:
            self.assertGreater(model["instructions"], 100 * model["links"])
            self.assertIn(model["instructions_isa"], ("sse2", "avx2"))
        if FLOPS.exists():
            parts = model["flops_parts"]
            self.assertEqual(model["flops"], parts["mul"] + parts["add"] + parts["div"])
            self.assertGreater(model["flops"], 100 * model["links"])

    def assert_beams(self, beams, bodies, modes):
        self.assertEqual((beams["bodies"], beams["modes"]), (bodies, modes))
        self.assertEqual([row["fidelity"] for row in beams["rows"]], ["rigid", "ruthless", "consistent"])
        self.assertEqual(beams["rows"][0]["ratio"], 1)
        for row in beams["rows"]:
            for key in ("forward_ns", "rk4_step_ns"):
                self.assertGreater(row[key + "_min"], 0)
                self.assertGreaterEqual(row[key], row[key + "_min"])
            self.assertGreater(row["rk4_step_ns_min"], row["forward_ns_min"])
        for key, there in (("instructions", COUNTS), ("flops", FLOPS.exists())):
            if there:
                rigid, ruthless, consistent = (row[key] for row in beams["rows"])
                self.assertLess(rigid, ruthless)
                self.assertLess(ruthless, consistent)

    def test_json_has_every_figure(self):
        report = json.loads(self.bench("--json"))
        self.assertEqual([(m["name"], m["nv"], m["links"]) for m in report["models"]],
                         [("arm7", 7, 7), ("chain30", 30, 30), ("chain100", 100, 100),
                          ("spacecraft22", 28, 23)])
        for model in report["models"]:
            self.assert_model(model)
            self.assertIn(report["isa"], model["per_isa"])
            self.assertEqual(model["per_isa"][report["isa"]]["forward_ns"], model["forward_ns"])
        for key in ("frame_overhead_ns", "loop_latency_floor_ns", "loop_round_trip_ns"):
            self.assertGreater(report[key + "_min"], 0)
            self.assertGreaterEqual(report[key], report[key + "_min"] * 31 / 32)  # a histogram's bucket
        self.assertTrue(report["machine"]["processor"])
        self.assertNotIn("forward_ns", report)
        self.assert_beams(report["beams"], 16, 4)

    @unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")
    def test_the_wire_is_measured_beside_a_bare_ping_pong(self):
        file = self.dir / "wire.json"
        done = subprocess.run([harness.ROOT / "tools" / "bench", "wire", "--segments", "1", "--json", file],
                              env=dict(os.environ, AIRBEARING=str(harness.AIRBEARING)),
                              capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)  # one segment gates nothing
        if "skipped" in done.stdout:
            self.skipTest(done.stdout.strip())
        wire = json.loads(file.read_text())["wire"]
        parts = wire["median_ns"]
        self.assertGreater(wire["ping_pong_ns"], 0)
        self.assertGreater(parts["wire_in"] + parts["wire_out"], 0)
        self.assertGreaterEqual(parts["sum"], parts["wire_in"] + parts["wire_out"])
        self.assertEqual(wire["jitter"]["count"], 250)

    def test_one_model_stands_at_the_top_too(self):
        path = self.dir / "swing.urdf"
        path.write_text(URDF)
        for base, nv, links in (("fixed", 1, 1), ("free", 7, 2)):
            report = json.loads(self.bench("--model", path, "--base", base, "--isa", "sse2", "--json"))
            (model,) = report["models"]
            self.assertEqual((model["name"], model["nv"], model["links"]), ("swing", nv, links))
            self.assert_model(model)
            for key in ("forward_ns", "batch_ns"):
                self.assertEqual(report[key], model[key])

    def test_a_model_with_a_mimic_has_no_batch(self):
        path = self.dir / "mimic.urdf"
        more = """<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
          <joint name="wrist" type="continuous"><parent link="bob"/><child link="tip"/><axis xyz="0 1 0"/>
          <mimic joint="pivot"/></joint></robot>"""
        path.write_text(URDF.replace("</robot>", more))
        with harness.environment(PATH=""):  # no valgrind: that takes a while
            report = json.loads(self.bench("--model", path, "--isa", "sse2", "--json"))
        self.assertIsNone(report["models"][0]["instructions"])
        self.assertGreater(report["forward_ns"], 0)
        self.assertIsNone(report["batch_ns"])
        self.assertIsNone(report["models"][0]["flops"])

    def test_the_table_says_what_it_is(self):
        out = self.bench("--made", "arm7", "--isa", "sse2")
        self.assertRegex(out, r"\narm7 +7 +7 +sse2 *\* +\d+ \( *\d+\) +\d+\.\d +\d+ \( *\d+\) +\d+\.\d+\n")
        self.assertNotIn("avx", out)
        for part in ("forward ns", "batch ns", "instructions", "flops", "frame overhead",
                     "loop latency floor", "as quoted by Lilly and Orin 1989"):
            self.assertIn(part, out)

    def test_beams_stand_alone(self):
        self.assert_beams(json.loads(self.bench("--beams", "3x5", "--isa", "sse2", "--json"))["beams"], 3, 5)
        out = self.bench("--beams", "2x1", "--isa", "sse2")
        self.assertRegex(out, r"\n2 beams with 1 modes each, hinged in a chain, sse2;")
        self.assertRegex(out, r"\nruthless +\d+ \( *\d+\) +\d+\.\d +\d+\.\d\d +\d+\.\d\d \( *\d+\.\d\d\) ")
        self.assertNotIn("NASA", out)
        self.assertNotIn("frame overhead", out)

    def test_the_instruction_set_of_a_run_is_the_one_that_counts(self):
        environment = dict(os.environ, AIRBEARING_ISA="sse2")
        code, out, err = self.call("bench", "--made", "arm7", "--json", env=environment)
        self.assertEqual((code, err), (0, ""))
        report = json.loads(out)
        self.assertEqual(report["isa"], "sse2")
        self.assertEqual(report["forward_ns"], report["models"][0]["per_isa"]["sse2"]["forward_ns"])
        if COUNTS:
            self.assertEqual(report["models"][0]["instructions_isa"], "sse2")
        code, out, err = self.call("bench", env=dict(environment, AIRBEARING_ISA="mmx"))
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "AIRBEARING_ISA", "mmx")

    def test_a_table_that_cannot_be_written_is_one_line(self):
        path = self.dir / "swing.urdf"
        path.write_text(URDF)
        with harness.environment(PATH=""):
            code, err = self.call_on_full_disk("bench", "--model", path, "--isa", "sse2")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "cannot be written")

    def test_a_bad_model_is_one_line(self):
        bad = self.dir / "bad.urdf"
        bad.write_text(URDF.replace('type="continuous"', 'type="loose"'))
        for options, parts in ((["--model", bad], [f"{bad}:4:", "loose"]),
                               (["--model", self.dir / "absent.urdf"], ["absent.urdf"]),
                               (["--made", "chain0"], ["chain0", "arm7"]),
                               (["--made", "chain3x"], ["chain3x"]),
                               (["--made", "ruthless16"], ["ruthless16"]),
                               (["--made", "ruthless0x4"], ["ruthless0x4"]),
                               (["--made", "rigid16x17"], ["rigid16x17", "16 modes"]),
                               (["--made", "consistent16x4x"], ["consistent16x4x"])):
            code, out, err = self.call("bench", *options)
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, *parts)

    def test_usage_errors_are_64(self):
        for options in (["--nonsense"], ["model.urdf"], ["--base", "free"], ["--isa", "mmx"],
                        ["--made", "arm7", "--base", "free"], ["--made", "arm7", "--model", "a.urdf"],
                        ["--model", "a.urdf", "--base", "loose"], ["--calls", "7"],
                        ["--made", "arm7", "--calls", "0"], ["--made", "arm7", "--calls", "7x"],
                        ["--made", "arm7", "--calls", "99999999999999999999"],
                        ["--beams", "16"], ["--beams", "0x4"], ["--beams", "4x17"], ["--beams", "4x4 "],
                        ["--beams", "4x4", "--made", "arm7"], ["--made", "arm7", "--composite"]):
            code, out, err = self.call("bench", *options)
            self.assertEqual((code, out), (64, ""), options)
            self.assertNotEqual(err, "")


class Work(harness.Case):
    @unittest.skipUnless(COUNTS, "no valgrind, or a sanitizer build")
    def test_instructions_grow_with_the_links_to_ten_thousand(self):
        def per_link(n):
            return callgrind("dyn_aba", "/dev/null", "bench", "--made", f"chain{n}", "--calls", 1) / n
        with concurrent.futures.ThreadPoolExecutor() as side_by_side:  # counts, so they may disturb each other
            counts = list(side_by_side.map(per_link, (100, 1000, 10000)))
        self.assertLess(max(counts), 1.1 * min(counts), counts)

    @unittest.skipUnless(FLOPS.exists(), "no counting build")
    def test_flops_grow_with_the_links_to_ten_thousand(self):
        per_link = []
        for n in (100, 1000, 10000):
            done = subprocess.run([FLOPS, f"chain{n}", "made"], capture_output=True, text=True, check=True)
            mul, add, div, functions = map(int, done.stdout.split())
            self.assertEqual((div, functions), (n - 1, n))  # the last hinge carries a constant
            per_link.append((mul + add) / n)
        self.assertLess(max(per_link), 1.1 * min(per_link), per_link)

    @unittest.skipUnless(FLOPS.exists(), "no counting build")
    def test_articulated_bodies_beat_composite_ones_by_the_modes(self):
        flex = runpy.run_path(str(BENCH_FLEX))
        for modes, least in ((5, 3), (10, 7)):
            row = flex["compare"](10, modes)
            self.assertGreaterEqual(row["ratio"], least, row)
            n = 10 * (1 + modes)  # of a full triangle
            self.assertEqual(row["factor"], (n**3 - n) / 3 + n * (n - 1) / 2 + n)
            published = flex["formulas"](10, modes)[1]
            self.assertLess(row["composite"], published)  # no rival made slow
            self.assertGreater(row["composite"], 0.7 * published)

    def test_the_published_formulas_give_the_published_ratios(self):
        formulas = runpy.run_path(str(BENCH_FLEX))["formulas"]
        for modes, ratio in ((5, 3.68), (10, 7.27)):
            articulated, composite = formulas(10, modes)
            self.assertAlmostEqual(composite / articulated, ratio, 2)

    @unittest.skipUnless(FLOPS.exists(), "no counting build")
    def test_flops_of_flexible_chains_are_linear_in_bodies(self):
        flex = runpy.run_path(str(BENCH_FLEX))
        for fidelity in ("ruthless", "consistent"):
            few, more, many = (flex["count"](f"{fidelity}{n}x4mixed")[0] for n in (10, 20, 1000))
            self.assertAlmostEqual(many, few + 99 * (more - few), delta=5e-3 * many)  # small angles have cheaper sines
            self.assertAlmostEqual(flex["slope"]([10, 1000], [few, many]), 1, delta=0.02)

    @unittest.skipUnless(FLOPS.exists(), "no counting build")
    def test_flops_of_flexible_chains_grow_with_modes_by_less_than_their_square(self):
        flex = runpy.run_path(str(BENCH_FLEX))
        modes = [8, 10, 12, 14, 16]
        ours = [flex["compare"](10, m)["articulated"] for m in modes]
        rival = [flex["compare"](10, m)["composite"] for m in modes]
        self.assertLess(flex["slope"](modes, ours), 2)
        self.assertGreater(flex["slope"](modes, rival), 2)
        for fidelity in ("ruthless", "consistent"):
            many = range(5, 17)
            per_beam = [(flex["count"](f"{fidelity}12x{m}mixed")[0] - flex["count"](f"{fidelity}10x{m}mixed")[0]) / 2
                        for m in many]
            terms, off = flex["cubic"](many, per_beam)
            self.assertLess(off, 0.01)
            self.assertAlmostEqual(terms[3], 2 / 3, delta=0.4)  # the elimination of m modes from each other

    def test_a_fit_finds_what_was_there(self):
        flex = runpy.run_path(str(BENCH_FLEX))
        xs = [1, 2, 3, 5, 8]
        self.assertAlmostEqual(flex["slope"](xs, [7 * x**1.5 for x in xs]), 1.5)
        terms, off = flex["cubic"](xs, [4 - x + 0.5 * x**3 for x in xs])
        for found, true in zip(terms, (4, -1, 0, 0.5)):
            self.assertAlmostEqual(found, true)
        self.assertLess(off, 1e-9)

    @unittest.skipUnless(COUNTS, "no valgrind, or a sanitizer build")
    def test_instructions_of_flexible_chains_grow_with_the_bodies(self):
        def per_body(n):
            return callgrind("dyn_aba", "/dev/null", "bench", "--made", f"consistent{n}x4", "--calls", 1) / n
        with concurrent.futures.ThreadPoolExecutor() as side_by_side:
            counts = list(side_by_side.map(per_body, (100, 1000)))
        self.assertLess(max(counts), 1.05 * min(counts), counts)

    def test_flex_chain_is_what_make_chain_makes(self):
        made = subprocess.run([MAKE_CHAIN, "16", "4"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(made, (harness.SCENARIOS / "flex-chain.yaml").read_text())

    def test_bench_flex_says_what_is_wrong_with_its_usage(self):
        for options in (["--nonsense"], ["fast"]):
            done = subprocess.run([BENCH_FLEX, *options], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (64, ""), options)
            self.assert_one_line(done.stderr, "tools/bench-flex: ", options[0])

    def check(self, method):
        """Scenario and output of check; a chain that is integrated by this method."""
        scenario = self.dir / f"{method}.yaml"
        scenario.write_text(CHAIN.format(method=method))
        code, out, err = self.call("check", scenario)
        self.assertEqual((code, err), (0, ""))
        return scenario, out

    def test_check_counts_the_forward_dynamics_of_the_worst_frame(self):
        for method, evaluations in (("semi-implicit-euler", 2), ("rk2", 4), ("rk4", 8), ("ab2", 5),
                                    ("ab4", 8)):
            self.assertIn(f"\n  {evaluations + 1} forward dynamics a frame: step {evaluations}, "
                          "instruments 1\n", self.check(method)[1])

    def real_and_bound(self, scenario, out, frames=20):
        """Instructions of the dynamics in a frame, counted, and as check has them at most."""
        bound = int(re.search(r"instructions each, (\d+) a frame", out).group(1))
        counts = self.dir / f"{scenario.stem}.callgrind"
        callgrind("rt_frame_run", counts, "run", scenario, "--pace", "fast", "--seconds", frames / 1000)
        table = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", counts],
                               capture_output=True, text=True, check=True).stdout
        real = 0
        for function in ("dyn_plant_step", "dyn_plant_solve", "dyn_plant_validity"):
            line = re.search(rf"^ *([\d,]+) .*:{function} ", table, re.M)
            real += int(line.group(1).replace(",", "")) / frames
        return real, bound

    @unittest.skipUnless(COUNTS, "no valgrind, or a sanitizer build")
    def test_a_frame_stays_below_the_worst_case_of_check(self):
        real, bound = self.real_and_bound(*self.check("rk4"))
        self.assertLess(real, bound)
        self.assertGreater(real, bound / 2.5)

    @unittest.skipUnless(COUNTS, "no valgrind, or a sanitizer build")
    def test_a_frame_of_flexible_bodies_stays_below_it_too(self):
        def measure(case):
            modes, fidelity, method = case
            scenario = self.dir / f"{fidelity}{modes}{method.split(',')[0]}.yaml"
            text = subprocess.run([MAKE_CHAIN, "3", str(modes), "--fidelity", fidelity], capture_output=True,
                                  text=True, check=True).stdout
            scenario.write_text(text.replace("method: rk4", f"method: {method}"))
            code, out, err = self.call("check", scenario)
            self.assertEqual((code, err), (0, ""))
            return case, *self.real_and_bound(scenario, out, 5)
        cases = ((1, "ruthless", "rk4"), (4, "consistent", "rk4"), (5, "ruthless", "ros2"),
                 (6, "consistent", "ros2"), (13, "consistent", "ros2, substeps: 4"), (16, "ruthless", "ros2, substeps: 8"))
        with concurrent.futures.ThreadPoolExecutor() as side_by_side:
            for case, real, bound in side_by_side.map(measure, cases):
                self.assertLess(real, bound, case)
                self.assertGreater(real, bound / 2.5, case)


class Peers(harness.Case):
    """tools/bench-peers, with a synthetic benchmark in place of the one it builds."""

    def judge(self, call_ns, segments, *options):
        """Exit code, stdout and stderr for a chain of 100 that takes so many ns in every segment."""
        model = {"model": "chain100", "source": "made", "dof": 100,
                 "contenders": {name: {"call_ns": [ns] * segments, "error": 0} for name, ns in call_ns.items()}}
        fake = self.dir / "bench_peers"
        fake.write_text(f"#!/bin/sh\necho '{json.dumps(model)}'\n")
        fake.chmod(0o755)
        main = runpy.run_path(str(BENCH_PEERS))["main"]
        main.__globals__["build"] = lambda directory: fake
        out, err = io.StringIO(), io.StringIO()
        with (contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
              unittest.mock.patch("sys.argv", ["bench-peers", *map(str, options)])):
            try:
                code = main()
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def test_a_gate_is_passed_or_missed(self):
        for kdl, code, verdict in ((801, 0, "pass"), (799, 1, "FAIL")):
            got, out, err = self.judge({"ours": 100, "batch": 50, "kdl": kdl}, 20)
            self.assertEqual((got, err), (code, ""))
            self.assertRegex(out, rf"kdl +{kdl / 100:.2f} +8 +{verdict} ")

    def test_few_segments_are_not_judged(self):
        code, out, err = self.judge({"ours": 100, "batch": 50, "kdl": 900}, 19)
        self.assertEqual((code, err), (77, ""))
        self.assertRegex(out, r"kdl +9\.00 +8 +not judged ")

    def test_the_batch_has_a_wish_that_fails_nothing(self):
        file = self.dir / "rows.json"
        code, out, _ = self.judge({"ours": 100, "batch": 50, "kdl": 900}, 20, "--json", file)
        self.assertEqual(code, 0)
        self.assertIn(" 2.00  wish at least 3\n", out)
        self.assertEqual(json.loads(file.read_text())[0]["batch"], {"ratio": 2.0, "wish": 3.0})

    def test_a_file_that_cannot_be_written_is_one_line(self):
        code, out, err = self.judge({"ours": 100, "batch": 50}, 20, "--json", "/dev/full")
        self.assertEqual(code, 2)
        self.assert_one_line(err, "/dev/full: ")
        code, out, err = self.judge({"ours": 100, "batch": 50}, 20, "--json", self.dir / "absent" / "a.json")
        self.assertEqual((code, out), (2, ""))  # before the run
        self.assert_one_line(err, "a.json: ")

    def test_usage_errors_are_one_line_and_64(self):
        for options in (["--segments", "0"], ["--segments", "-3"], ["--segments", "x"], ["--nonsense"]):
            done = subprocess.run([BENCH_PEERS, *options], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (64, ""), options)
            self.assert_one_line(done.stderr, "tools/bench-peers: ", options[0])


if __name__ == "__main__":
    harness.main()
