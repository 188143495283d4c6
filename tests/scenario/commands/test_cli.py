"""The command line: help everywhere, usage errors are 64, bad input is one line and 2."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness


class CommandLine(harness.Case):
    def test_help_is_everywhere(self):
        for arguments in (["--help"], ["run", "--help"], ["check", "--help"], ["replay", "--help"],
                          ["eval", "--help"], ["bench", "--help"], ["doctor", "--help"]):
            code, out, err = self.call(*arguments)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("usage: airbearing", out)

    def test_usage_errors_are_64(self):
        for arguments in ([], ["fly"], ["run"], ["run", "a.yaml", "b.yaml"], ["replay"], ["check"],
                          ["run", harness.TUMBLE, "--nonsense"], ["run", harness.TUMBLE, "--seconds", "-1"],
                          ["run", harness.TUMBLE, "--seconds", "abc"], ["run", harness.TUMBLE, "--pace", "slow"],
                          ["run", harness.TUMBLE, "--inject", "earthquake@1s"],
                          ["run", harness.TUMBLE, "--inject", "late=nanms@1s"],
                          ["run", harness.TUMBLE, "--inject", "late=-5ms@1s"],
                          ["run", harness.TUMBLE, "--inject", "touch=0@1s"],
                          ["run", harness.TUMBLE, "--inject", "hang@-1s"]):
            code, out, err = self.call(*arguments)
            self.assertEqual(code, 64, arguments)
            self.assertEqual(out, "")
            self.assertNotEqual(err, "")

    def test_bad_input_is_one_line_with_its_place(self):
        bad = self.dir / "bad.yaml"
        bad.write_text("name: bad\nrate: 1 kHz\nseconds: 1 s\nintegratr: rk4\n")
        for command in ("run", "check"):
            code, out, err = self.call(command, bad)
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, f"{bad}:4:1: ", "integrator")

    def test_a_missing_file_is_one_line(self):
        for command in ("run", "check", "replay"):
            code, out, err = self.call(command, self.dir / "absent.yaml")
            self.assertEqual((code, out), (2, ""))
            self.assert_one_line(err, "absent.yaml")

    def test_a_scenario_by_its_bare_name_is_answered_with_its_path(self):
        for given, meant in (("rms", "config/scenarios/rms.yaml"), ("rms.yml", "config/scenarios/rms.yaml"),
                             ("config/rms", "config/scenarios/rms.yaml"),
                             ("config/scenarios/rms.yml", "config/scenarios/rms.yaml")):
            with self.subTest(given):
                code, out, err = self.call("check", given, cwd=harness.ROOT)
                self.assertEqual(code, 2, out)
                self.assert_one_line(err, f"{given}: there is no such file; did you mean {meant}?")

    def test_an_instruction_set_that_does_not_run_is_one_line(self):
        log = self.dir / "run.mcap"
        self.run_scenario(harness.TUMBLE, "--seconds", "0.01", "--pace", "fast", "--log", log)
        absent = {"neon", "sse2", "avx2", "avx512"} - set(harness.instruction_sets())
        for isa in absent:
            with harness.environment(AIRBEARING_ISA=isa):
                for arguments in (["run", harness.TUMBLE], ["check", harness.TUMBLE], ["replay", log],
                                  ["eval", harness.TUMBLE]):
                    code, out, err = self.call(*arguments)
                    self.assertEqual((code, out), (2, ""), arguments)
                    self.assert_one_line(err, "AIRBEARING_ISA: ", isa)

    def test_a_bad_override_is_one_line(self):
        code, out, err = self.call("run", harness.TUMBLE, "--set", "bodies.buss.mass=1")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "--set bodies.buss.mass=1: ", "bus")

    def test_fast_pace_with_a_live_board_is_refused(self):
        code, out, err = self.call("run", harness.SATELLITE, "--pace", "fast")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "fast", "lockstep")

    def test_a_core_that_is_not_there_is_refused(self):
        scenario = self.dir / "cpu.yaml"
        scenario.write_text(harness.TUMBLE.read_text() + "frame: {cpu: 255}\n")
        place = f"{scenario}:{scenario.read_text().count(chr(10))}:14: "
        for command in ("run", "check"):
            code, out, err = self.call(command, scenario)
            self.assertEqual(code, 2)
            self.assert_one_line(err, place, "255")
        code, out, err = self.call("run", harness.TUMBLE, "--set", "frame.cpu=99")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "--set frame.cpu: ", "99")
        code, out, err = self.call("run", scenario, "--seconds", "1e-7")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "less than one frame")

    def test_check_prints_the_plan_and_starts_nothing(self):
        for scenario in sorted(harness.SCENARIOS.glob("*.yaml")):
            code, out, err = self.call("check", scenario)
            self.assertEqual((code, err), (0, ""), scenario)
            for part in ("jobs", "cores", "memory", "work per frame", "step", "worst case"):
                self.assertIn(part, out)

    def test_the_schema_names_every_top_level_key(self):
        code, out, err = self.call("check", "--schema")
        self.assertEqual((code, err), (0, ""))
        for key in ("rate", "bodies", "devices", "links", "expect", "controller"):
            self.assertIn(key, out)

    def test_output_that_cannot_be_written_is_one_line(self):
        for arguments in (["--help"], ["--version"], ["check", "--help"], ["check", "--schema"],
                          ["check", harness.TUMBLE], ["bench", "--help"], ["doctor", "--help"],
                          ["run", harness.TUMBLE, "--seconds", "0.01", "--pace", "fast"]):
            code, err = self.call_on_full_disk(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assert_one_line(err, "cannot be written")

    def test_another_exit_code_survives_output_that_cannot_be_written(self):
        bad = self.dir / "bad.yaml"
        bad.write_text("name: bad\n")
        code, err = self.call_on_full_disk("check", bad)
        self.assertEqual(code, 2)
        self.assert_one_line(err, f"{bad}:")
        self.assertEqual(self.call_on_full_disk("fly")[0], 64)

    def test_standard_descriptors_that_are_closed_stay_unused(self):
        """What the program opens would become its standard output else, or its controller's."""
        script = 'exec "$@" <&- >&- 2>&-'
        listed = self.dir / "listed"
        listing = f'for fd in 0 1 2; do readlink /proc/$PPID/fd/$fd; done >{listed}; exit 7'
        command = f'controller.command=["sh", "-c", "{listing}"]'
        done = subprocess.run(["sh", "-c", script, "sh", harness.AIRBEARING, "run", harness.SATELLITE, "--pace", "lockstep",
                               "--seconds", "1", "--set", command, "--set",
                               f"links.board.listen=127.0.0.1:{harness.free_port()}"], timeout=120)
        self.assertEqual(listed.read_text().split(), ["/dev/null"] * 3)
        self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    harness.main()
