"""What `airbearing run` refuses, and with which text: every option one by one, with the exit code."""
import os
import pathlib
import re
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
from test_run_texts import ACTS, FAST

ARM = harness.SCENARIOS / "rms.yaml"


class Refused(golden.Case):
    patient = False  # no option but those that are shown
    taken = "(none)"

    def setUp(self):
        super().setUp()
        self.scenario = self.dir / "tumble.yaml"
        self.scenario.write_text(harness.TUMBLE.read_text() + ACTS.partition("expect:")[0])
        self.lines = []

    def ask(self, *options, scenario=None, shown=None):
        """The exit code of a run, and its text where it was refused."""
        done, out, err = self.call("run", scenario or self.scenario, *options)
        self.lines.append(f"{done} run {shown or ' '.join(map(str, options))}")
        said = err + "".join(re.findall("^  --act .*\n", out, flags=re.MULTILINE))
        said = re.sub(r"(live on http://127.0.0.1:)\d+(/\?operator=)[0-9a-f]{32}$", r"\1PORT\2RANDOM", said,
                      flags=re.MULTILINE)
        self.lines += [f"  {line.strip()}" for line in re.sub("x{200,}", "xxx...", said).splitlines()]

    def assert_asked(self, name):
        self.assert_golden(name, "\n".join(self.lines).replace(f":{self.taken}", ":TAKEN") + "\n")

    def short(self, *options, shown=None):
        """A tenth of a second, for which the machine may take its time."""
        self.ask("--set", "frame.watchdog=60 s", *FAST, "--seconds", "0.1", *options,
                 shown=shown or " ".join(map(str, options)))

    def test_options(self):
        for options in (("--nonsense",), ("--seconds",), ("--seconds", "0"), ("--seconds", "-1"), ("--seconds", "1x"),
                        ("--seconds", "1e7"), ("--seconds", "nan"), ("--seconds", "0.0004"), ("--pace", "slow"),
                        ("--pace", "lockstep"), ("--inject", "earthquake@1s"), ("--inject", "late=5ms@-1s"),
                        ("--inject", "late=5ms@1sx"), ("--inject", "hang@1"), ("--inject", "touch=0@1s"),
                        ("--inject", "touch=100001@1s"), ("--inject", "late=-1ms@1s"), ("--inject", "hang@1e7s"),
                        ("--set", "rate"), ("--set", "rte=1 Hz"), ("--set", "rate=fast"), ("--set", "frame.cpu=4095"),
                        ("--restore", self.dir / "absent"), ("--restore", self.scenario)):
            self.ask(*options)
        self.ask(self.scenario)
        self.short("--seconds", "0.0005")
        self.short("--inject", "touch=1@0s")
        self.short("--inject", "touch=100000@9s")
        self.short("--inject", "late=0ms@0.05s")
        self.short(*["--set", "seed=2"] * 63, shown="--set seed=2, 64 times")
        self.short(*["--set", "seed=2"] * 64, shown="--set seed=2, 65 times")
        done, out, err = self.call("run")
        self.lines.append(f"{done} run\n  {(out + err).strip()}")
        self.assert_asked("options.refused")

    def test_acts(self):
        for act in ("pause", "1:pause", "1s:pause", "-1s:reset", "1e8s:reset", "1 m:reset", "0s:pose", "0s:hover",
                    "0s:reset now", "0s:step 0", "0s:step 1.5", "0s:step 1e9", "0s:step two", "0s:safe",
                    "0s:checkpoint", "0s:restore", "0s:checkpoint " + "x" * 5000, "0s:fault", "0s:fault lean",
                    "0s:fault lean maybe", "0s:fault leen on", "0s:fault flood on", "0s:tune devices.gyro.bias.x",
                    "0s:tune devices.gyro.bais.x=1", "0s:tune orbit=1", "0s:tune devices.gyro.bias.x=1 m",
                    "0s:tune environment.gravity.z=21", "0s:tune environment.gravity.z=-20.001", "0s:step 1",
                    f"{'9' * 40}s:reset"):
            self.short("--act", act, shown=None if len(act) < 200 else f"--act {act[:20]}...")
        for good in ("0s:tune environment.gravity.z=20", "0s:tune environment.gravity.z=-20", "0s:reset",
                     f"0s:restore {self.dir / 'absent'}", f"0s:checkpoint {self.dir}", "0.05s:fault noise of gyro off"):
            self.short("--act", good)
        self.short("--act", "0.05s:resume", "--act", "0.02s:pause")
        self.short("--act", "0.02s:step 3", "--act", "0.05s:resume")
        self.short("--act", "0.02s:resume", "--act", "0.05s:pause")
        self.short(*["--act", "0s:reset"] * 64, shown="--act 0s:reset, 64 times")
        self.short(*["--act", "0s:reset"] * 65, shown="--act 0s:reset, 65 times")
        self.assert_asked("acts.refused")

    def test_files(self):
        log, report, folder = self.dir / "a.mcap", self.dir / "a.json", self.dir / "folder"
        folder.mkdir()
        self.overwrites = False
        self.short("--log", log)
        before = log.read_bytes()
        self.short("--log", log)
        self.assertEqual(log.read_bytes(), before)
        self.lines[-1] = self.lines[-1].replace(str(len(before)), "N")
        self.short("--log", log, "--overwrite")
        self.assertNotEqual(log.read_bytes(), before)
        for options in (("--log", folder), ("--report", folder), ("--log", self.dir / "none" / "a.mcap"),
                        ("--report", self.dir / "none" / "a.json"), ("--log", self.scenario), ("--report", self.scenario),
                        ("--log", report, "--report", report), ("--log", "/dev/null", "--report", "/dev/null"),
                        ("--report", "/dev/full"), ("--log", "/dev/full")):
            self.short(*options)
        self.assertFalse(report.exists(), "nothing is left behind")
        self.assertIn("name: tumble", self.scenario.read_text())
        self.short("--report", report)
        self.assertTrue(report.exists())
        empty = self.dir / "empty.mcap"
        empty.touch()
        self.short("--log", empty)
        self.assertGreater(empty.stat().st_size, 1000)
        os.symlink(self.dir / "nowhere" / "x", self.dir / "link")
        self.short("--log", self.dir / "link")
        self.assert_asked("files.refused")

    def test_serving(self):
        token, long, empty = (self.dir / name for name in ("token", "long", "void"))
        token.write_text("sesame\nsecond line\n")
        long.write_text("x" * 256 + "\n")
        empty.write_text("\n")
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            self.taken = busy.getsockname()[1]
            for options in (("--token", "x"), ("--token-file", token), ("--operator-token", "x"),
                            ("--operator-token-file", token), ("--cert", token), ("--key", token), ("--origin", "http://x"),
                            ("--serve", ""), ("--serve", "x"), ("--serve", "65536"), ("--serve", "-1"), ("--serve", "1x"),
                            ("--serve", "host:0"), ("--serve", "1.2.3:0"), ("--serve", "0.0.0.0:0"),
                            ("--serve", "10.0.0.1:0", "--token", "x"), ("--serve", "0", "--cert", token),
                            ("--serve", "0", "--key", token), ("--serve", "0", "--token", ""),
                            ("--serve", "0", "--operator-token", ""), ("--serve", "0", "--token-file", empty),
                            ("--serve", "0", "--operator-token-file", self.dir / "absent"),
                            ("--serve", "0", "--token-file", long), ("--serve", "0", "--operator-token-file", long),
                            ("--serve", f"127.0.0.1:{self.taken}"), ("--serve", "0", *["--origin", "http://x"] * 8),
                            ("--serve", "0", *["--origin", "http://x"] * 9)):
                self.short(*options)
            self.short("--serve", "0", "--token", "x" * 256, shown="--serve 0 --token (256 x)")
            self.short("--serve", "0", "--operator-token", "x" * 256, shown="--serve 0 --operator-token (256 x)")
            self.assert_asked("serving.refused")

    def test_arms(self):
        self.ask("--act", "0s:safe now", scenario=ARM)
        self.ask("--act", "0s:pause", scenario=ARM)
        self.ask(*FAST, scenario=ARM)
        self.ask("--pace", "lockstep", "--seconds", "0.00001", scenario=ARM)
        self.assert_asked("arms.refused")


if __name__ == "__main__":
    harness.main()
