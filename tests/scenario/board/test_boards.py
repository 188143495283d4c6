"""Every shipped board scenario with its reference controller: it settles, holds and recovers."""
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
import raw_log

NODE = harness.PEERS / "node_modules" / "node-mavlink"
# A machine that stands still for a second keeps the board from its reply for as long.
SAID, ANSWERED, ACCEPTED, GIVEN_UP = range(4)  # what happens to a step of the ground station's script
NONE = 255  # no answer
PATIENT = ("--set", "links.board.wait_limit=20 s")


def has_node():
    return NODE.exists()


class Boards(harness.Case):
    def options(self, wire, *arguments, port=None, ground=False):
        """A port of its own for the link and for the program that plays the board, and one for its ground station."""
        port = port or harness.free_port()
        if ground:
            line = f"127.0.0.1:{harness.free_port()}"
            return ["--set", f"links.board.ground_line={line}",
                    *self.options(wire, *arguments, "--ground", line, port=port)]
        command = ["board", "--wire", wire, "--connect", f"127.0.0.1:{port}", *arguments]
        return ["--set", f"links.board.listen=127.0.0.1:{port}",
                "--set", f"controller.command={json.dumps(command)}"]

    def scenario(self, name):
        return harness.SCENARIOS / f"{name}.yaml"

    def fly(self, name, *options, expect=0):
        report = self.run_scenario(self.scenario(name), *options, expect=expect)
        if report["allocations_counted"]:
            self.assertEqual(report["allocations_after_seal"], 0)
            self.assertEqual(report["page_faults_after_seal"], 0)
        self.assertEqual(report["not_finite"], 0)
        self.assertEqual(report["io"]["rx_bad"], 0)
        return report

    def assert_met(self, report):
        self.assertEqual({e["verdict"] for e in report["expect"]}, {"met"}, report["expect"])

    def fly_in_real_time(self, name, *options):
        """A flight that went well, or that the machine let be: one that failed when more than 20 ms were lost is
        flown again."""
        for _ in range(3):
            report = self.fly(name, *options, expect=None)
            went_well = {e["verdict"] for e in report["expect"]} == {"met"}
            if went_well or report["missed"] <= 20 and report["links"][0]["gap_ns_max"] < 60e6:
                self.assert_met(report)
                return report
        self.skipTest(f"the machine stood still: {report['missed']} of {report['frames']} releases "
                      "were missed in the last of three flights")

    def test_px4_in_lockstep_takes_off_and_holds(self):
        for _ in range(3):
            report = self.fly("quad-px4-lockstep", *PATIENT,
                              *self.options("px4", "--vehicle", "quad", ground=True))
            # The board locks later, and flies another flight, where the machine stood still for 40 ms meanwhile.
            if report["links"][0]["freewheel_messages"] == 20:
                break
        self.assert_met(report)
        self.assertEqual(report["missed_replies"], 0)
        self.assertEqual(report["links"][0]["freewheel_messages"], 20)
        # One reply per sensor message from the lock on, and the one that locked.
        self.assertEqual(report["io"]["commands"], report["frames"] // 4 + 1)

    def test_ardupilot_in_lockstep_takes_off_and_holds(self):
        report = self.fly("quad-ardupilot", *self.options("ardupilot", ground=True))
        self.assert_met(report)
        self.assertEqual([(s["step"], s["state"], s["ended_s"] > s["at_s"]) for s in report["links"][0]["ground"]],
                         [(s, "accepted", True) for s in ("mode guided", "arm", "takeoff 10 m")])
        self.assertEqual(report["missed_replies"], 0)

    def assert_same_flight(self, fly_both):
        """Two flights in lockstep are the same to the bit. Those in which the machine stood still for so long that a
        reply was missed (1 s) or the board locked later (40 ms) are others, and flown again."""
        for _ in range(3):
            one, two = fly_both()
            same = one["links"][0]["epoch_us"] == two["links"][0]["epoch_us"]
            if same and not one["missed_replies"] + two["missed_replies"]:
                self.assertEqual(one["state_hash"], two["state_hash"])
                return
        self.skipTest("the machine stood still in each of three pairs of flights")

    def test_ardupilot_with_32_channels_flies_the_same(self):
        self.assert_same_flight(lambda: (
            self.fly("quad-ardupilot", "--seconds", "3", *self.options("ardupilot")),
            self.fly("quad-ardupilot", "--seconds", "3", *self.options("ardupilot", "--pwm32"))))

    def fly_busy_and_idle(self, name, *wire):
        """A flight while others take the cores, and one without."""
        load = [self.spawn(["sh", "-c", "while :; do :; done"]) for _ in range(3)]
        busy = self.fly(name, "--seconds", "4", *self.options(*wire))
        for process in load:
            harness.end(process)
        return busy, self.fly(name, "--seconds", "4", *self.options(*wire))

    def test_lockstep_repeats_bit_for_bit_whatever_the_load(self):
        for name, wire in (("quad-px4-lockstep", ("px4", "--vehicle", "quad")),
                           ("quad-ardupilot", ("ardupilot",))):
            with self.subTest(name):
                self.assert_same_flight(lambda: self.fly_busy_and_idle(name, *wire))

    def test_a_lockstep_run_replays(self):
        log = self.dir / "run.mcap"
        self.fly("quad-px4-lockstep", "--seconds", "5", "--log", log,
                 *self.options("px4", "--vehicle", "quad"))
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)
        self.assertIn("5000 of 5000 frames compared, all identical", out)

    def fly_by_script(self, log):
        return self.fly("quad-px4-lockstep", "--seconds", "20", "--log", log, *PATIENT,
                        *self.options("px4", "--vehicle", "quad", ground=True), expect=None)

    def test_flights_by_the_same_script_are_the_same_to_the_bit(self):
        logs = [self.dir / "one.mcap", self.dir / "two.mcap"]
        self.assert_same_flight(lambda: [self.fly_by_script(log) for log in logs])
        for log in logs:  # a command leaves ahead of a sample, and is answered before the next
            self.assertEqual(raw_log.ground(log), [(12003, 0, 0, SAID, NONE), (12007, 0, 0, ACCEPTED, 0),
                                                   (13003, 0, 1, SAID, NONE), (13007, 0, 1, ACCEPTED, 0)])
        code, out, err = self.call("replay", logs[0])
        self.assertEqual(code, 0, out + err)
        self.assertIn("20000 of 20000 frames compared, all identical", out)

    def fly_badly(self, ground, *options):
        """A script that the board does not take: the first line, the link's line and the steps of the report."""
        report = self.fly("quad-px4-lockstep", "--set", f"links.board.ground={json.dumps(ground)}",
                          "--set", "expect=[]", *PATIENT, *options, expect=1)
        self.assertEqual(report["verdict"]["text"], "NO, link broken")
        return report["verdict"]["link"]["text"], report["links"][0]["ground"]

    def test_a_step_that_is_refused_is_a_no(self):
        log = self.dir / "run.mcap"
        steps = [{"at": "2 s", "land": True, "within": "1.5 s"}, {"at": "3 s", "set": "ANY", "to": 1}]
        line, told = self.fly_badly(steps, "--seconds", "4", "--log", log,
                                    *self.options("px4", "--vehicle", "quad", ground=True))
        self.assertEqual(line, 'board did not accept "land": temporarily rejected')
        self.assertEqual([(s["step"], s["state"], s["tries"]) for s in told],
                         [("land", "not accepted", 2), ("set ANY 1", "accepted", 1)])
        self.assertEqual([record[2:] for record in raw_log.ground(log)],
                         [(0, SAID, NONE), (0, ANSWERED, 1), (0, SAID, 1), (0, ANSWERED, 1), (0, GIVEN_UP, 1),
                          (1, SAID, NONE), (1, ACCEPTED, 0)])

    def test_a_step_without_an_answer_fails_the_run(self):
        line, told = self.fly_badly([{"at": "1 s", "arm": True}], "--seconds", "2",
                                    *self.options("px4", "--vehicle", "quad"),
                                    "--set", f"links.board.ground_line=127.0.0.1:{harness.free_port()}")
        self.assertEqual(line, 'board did not accept "arm": no answer')
        self.assertEqual((told[0]["state"], told[0]["answer"]), ("not accepted", "no answer"))

    def test_a_step_of_the_file_is_named_with_its_line(self):
        scenario = self.dir / "flight.yaml"
        text = self.scenario("quad-px4-lockstep").read_text().replace("{at: 12 s, takeoff", "{at: 1 s, takeoff")
        scenario.write_text(text)
        line = 1 + text[:text.index("{at: 1 s, takeoff")].count("\n")
        report = self.run_scenario(scenario, "--seconds", "2", *PATIENT, *self.options("px4", "--vehicle", "quad"),
                                   "--set", f"links.board.ground_line=127.0.0.1:{harness.free_port()}", expect=1)
        self.assertEqual(report["links"][0]["ground"][0]["line"], line)
        self.assertEqual(report["verdict"]["link"]["text"],
                         f'board did not accept "takeoff 2.5 m" (flight.yaml:{line}): no answer')

    @unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")
    def test_px4_in_real_time_takes_off_and_holds(self):
        report = self.fly_in_real_time("quad-px4-hitl", "--seconds", "42.5",
                                       *self.options("px4-hitl", "--vehicle", "quad", "--ground", "wire"))
        self.assertGreater(report["io"]["commands"], 2000)  # half of them, where others take the board's time
        self.assertGreater(report["links"][0]["forwarded"], 100)

    def test_a_board_that_is_not_in_hil_mode_is_reported(self):
        code, _, err = self.call("run", self.scenario("quad-px4-hitl"), "--set",
                                 "links.board.connect_within=4 s", "--set", "links.board.lost_after=60 s",
                                 *self.options("px4-hitl", "--vehicle", "quad", "--no-hil"))
        self.assertEqual(code, 3)
        self.assertIn("board not in HIL mode", err)
        self.assertIn("SYS_HITL", err)

    @unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")
    def test_betaflight_obeys_the_pilot(self):
        port = harness.free_port()
        self.fly_in_real_time("quad-betaflight", "--set",
                              f"links.board.peer=127.0.0.1:{port + 1}",
                              *self.options("betaflight", port=port))

    def test_a_cubesat_is_stilled_by_its_torquers(self):
        report = self.fly("cubesat-detumble", *PATIENT,
                          *self.board_options("--detumble", "--dipole", "0.1"))
        self.assert_met(report)
        self.assertEqual(report["missed_replies"], 0)

    def test_faults_are_survived_and_counted(self):
        report = self.fly("fault-campaign", *self.options("px4", "--vehicle", "quad"))
        self.assert_met(report)
        for fault in report["faults"]:
            self.assertGreater(fault["hits"], 0, fault)

    def test_an_ardupilot_that_restarts_finds_the_vehicle_at_its_start(self):
        port, log = harness.free_port(), self.dir / "run.mcap"
        board = [harness.AIRBEARING.parent / "board", "--wire", "ardupilot", "--quiet",
                 "--connect", f"127.0.0.1:{port}"]
        run = self.start("run", self.scenario("quad-ardupilot"), "--seconds", "20", "--log", log,
                         "--report", self.dir / "r.json", "--external-board",
                         "--set", f"links.board.listen=127.0.0.1:{port}")
        subprocess.run([*board, "--die-after", "8"], timeout=60)  # flies at some 8 m by then
        self.spawn(board)
        out, err = run.communicate(timeout=120)
        self.assertIn(run.returncode, (0, 1), out + err)
        report = self.read_report(self.dir / "r.json")
        self.assertEqual(report["links"][0]["resets"], 1)
        self.assertGreater(report["signals"]["altitude"], 5.0)
        code, out, err = self.call("replay", log)
        self.assertEqual(code, 0, out + err)

    def peer(self, script, *options):
        """A board of other people's making, beside an external run; its JSON."""
        return self.spawn([*harness.NODE, harness.ROOT / "tests" / "peers" / script, *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def judged(self, process):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        return json.loads(out.strip().split("\n")[-1])

    @unittest.skipUnless(has_node(), "node-mavlink is not installed")
    def test_node_mavlink_in_lockstep_agrees_with_every_byte(self):
        port = harness.free_port()
        peer = self.peer("px4_peer.mjs", "--port", str(port), "--seconds", "3")
        try:
            report = self.fly("quad-px4-lockstep", "--seconds", "3.2", "--external-board",
                              "--set", f"links.board.listen=127.0.0.1:{port}", "--set",
                              "links.board.wait_limit=2 s", "--set", "links.board.on_loss=stop",
                              expect=None)
        finally:
            seen = self.judged(peer)
        self.assertFalse(seen["problems"], seen)
        self.assertGreater(report["io"]["commands"], 600)

    @unittest.skipUnless(has_node(), "node-mavlink is not installed")
    @unittest.skipIf(harness.SANITIZED, "real time under a sanitizer says nothing")
    def test_node_mavlink_in_real_time_agrees_with_every_byte(self):
        port = harness.free_port()
        peer = self.peer("hitl_peer.mjs", "--port", str(port), "--seconds", "3")
        try:
            self.fly("quad-px4-hitl", "--seconds", "5", "--external-board",
                     "--set", f"links.board.listen=127.0.0.1:{port}", expect=None)
        finally:
            seen = self.judged(peer)
        self.assertFalse(seen["problems"], seen)


if __name__ == "__main__":
    harness.main()
