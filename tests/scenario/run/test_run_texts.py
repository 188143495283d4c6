"""What a run prints: console, report and log of short runs without a clock, beside reviewed files."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import run_texts
import harness

PX4 = ("--wire", "px4", "--vehicle", "quad")
PATIENT = ("--set", "links.board.wait_limit=60 s")
FAST = ("--pace", "fast")
ACTS = """
faults:
  - {name: lean, device: gyro, type: bias, when: operator, value: 1 deg/s}
  - {device: gyro, type: noise, at: 0.03 s, for: 0.04 s, value: 1 deg/s}
tunable: [devices.gyro.bias, {of: environment.gravity, low: -20, high: 20}, bodies.panel.joint.stiffness]
expect: ["rate < 60 deg/s after 0 s", "attitude_error > 10 deg within 0.05 s", "speed < 1 m/s after 9 s"]
"""
SCRIPT = ["0.01s:tune devices.gyro.bias.x=0.5 deg/s", "0.02s:fault lean on", "0.025s:pause", "0.027s:step 3",
          "0.03s:resume", "0.04s:fault lean off", "0.05s:tune environment.gravity.z=3.7", "0.09s:reset",
          "0.11s:tune bodies.panel.joint.stiffness=50 N m/rad", "9s:reset"]


def acts(*texts):
    return [word for text in texts for word in ("--act", text)]


class Flown(run_texts.Case):
    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def test_nothing(self):
        self.assert_flight("empty", harness.SCENARIOS / "empty.yaml", *FAST, "--seconds", "0.02")

    def test_a_chain_that_bends(self):
        self.assert_flight("flex-chain", harness.SCENARIOS / "flex-chain.yaml", *FAST, "--seconds", "0.05")

    def test_acts_of_the_operator(self):
        scenario = self.write("tumble.yaml", harness.TUMBLE.read_text() + ACTS)
        self.assert_flight("acts", scenario, *FAST, "--seconds", "0.15", *acts(*SCRIPT), code=1, samples=7)

    def test_a_quadrotor_that_faults_strike(self):
        """It takes off after a second; the faults of a minute come within these three."""
        text = (harness.SCENARIOS / "fault-campaign.yaml").read_text()
        text = re.sub(r"at: (\d+) s, for: [\d.]+ s", lambda at: f"at: {int(at[1]) / 20} s, for: 0.3 s", text)
        text = re.sub(r"  - {link: .*\n", "", text)
        self.assert_flight("faults", self.write("faults.yaml", text), *FAST, "--seconds", "3",
                           *self.board_options(*PX4), *PATIENT, "--set", 'expect=["tilt < 20 deg after 2 s"]',
                           samples=6)

    def test_a_wire_that_faults_strike(self):
        """One reply is dropped and one sensor message is spoiled: two replies that never come.

        The link is not lost by that: frames of a lost one do not wait, and how many of them pass before the board is
        heard again is the machine's affair."""
        text = (harness.SCENARIOS / "fault-campaign.yaml").read_text()
        text = re.sub(r"  - {device: .*\n", "", text)
        text = re.sub(r"(link: board, type: crc.*) at: .*}", r"\1 at: 40 ms, for: 4 ms, value: 100 %}", text)
        text = re.sub(r"(link: board, type: dropout.*) at: .*}", r"\1 at: 80 ms, for: 4 ms, value: 100 %}", text)
        self.assert_flight("wire", self.write("wire.yaml", text), *FAST, "--seconds", "0.12",
                           *self.board_options(*PX4), "--set", "links.board.wait_limit=2 s",
                           "--set", "links.board.lost_after=60 s", "--set", "require.link=unbroken", code=1)

    def test_a_quadrotor_of_ardupilot(self):
        ground = f"links.board.ground_line=127.0.0.1:{harness.free_port()}"
        self.assert_flight("ardupilot", harness.SCENARIOS / "quad-ardupilot.yaml", *FAST, "--seconds", "1.5",
                           *self.board_options("--wire", "ardupilot"), *PATIENT, "--set", ground)

    def test_a_satellite_in_lockstep(self):
        self.assert_flight("satellite", harness.SATELLITE, "--pace", "lockstep", "--seconds", "0.2",
                           *PATIENT, *self.board_options())

    def test_a_cubesat_in_lockstep(self):
        self.assert_flight("cubesat", harness.SCENARIOS / "cubesat-detumble.yaml", "--pace", "lockstep", "--seconds", "2",
                           *PATIENT, *self.board_options("--detumble", "--dipole", "0.1"))

    def test_cassini_in_lockstep(self):
        self.assert_flight("cassini", harness.SCENARIOS / "cassini.yaml", "--pace", "lockstep", "--seconds", "0.02",
                           *PATIENT, *self.board_options(), samples=2)


if __name__ == "__main__":
    harness.main()
