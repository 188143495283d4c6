"""What `airbearing log` says of synthetic logs, whole and damaged, and what it writes from them."""
import json
import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden
import harness
import synthetic_log
import synthetic_run
import raw_log

NUMBERS = """# every kind of number
float64[2] at # m, where it is
float32 warm # K; of the bearing
uint64 wide_ns
int64 deep
uint32 mid
int32 low
uint16 some # counts
int16 few
uint8 one
int8 less
bool yes
"""
LAYOUT = struct.Struct("<2df4xQqIiHhBbB")


def numbers(i):
    return LAYOUT.pack(i / 3.0, -2.5e300 * i, 0.1 * i, 2**64 - 1 - i, -2**62 - i, 2**32 - 1 - i, -i, 65535 - i, -300 * i,
                       255 - i, -i, i % 2)


def sound():
    """Nothing is wrong with it."""
    log = synthetic_log.Log()
    log.metadata({"pace": "real", "odd": "a\x1bb\x7f", "long": "x" * 70})
    log.metadata({"key": "value"}, name="foreign")
    log.attach("scenario.yaml", b"name: made\n", "application/yaml")
    log.channel("/frame", synthetic_run.DEFINITIONS["/frame"], {"unit.release_ns": "ns"}, schema="made/msg/Frame")
    log.channel("/numbers", NUMBERS)
    log.channel("/device/../odd name", "float64 x\n", {"every": "5", "unit.x": "m"})
    log.channel("/empty", "uint8 nothing\n")
    for k, frame in enumerate(synthetic_run.Run(30).frames):
        log.message("/frame", k * synthetic_run.PERIOD, frame.record())
        if k % 10 == 0:
            log.message("/numbers", 1234567 + k, numbers(k // 10))
        if k % 5 == 4:
            log.message("/device/../odd name", k * 1000, struct.pack("<d", k), sequence=k)
        if k == 14:
            log.chunk()
    log.chunk()
    log.attach("report.json", b"{}")
    return log


class Log(golden.Case):
    def write(self, data, name="run.mcap"):
        path = self.dir / name
        if isinstance(data, synthetic_log.Log):
            data.write(path)
        else:
            path.write_bytes(data)
        return path


class Info(Log):
    def test_a_valid_log(self):
        log = self.write(sound())
        self.assert_says("log-info.txt", "log", "info", log)
        self.assert_says("log-info.json", "log", "info", log, "--json")

    def missing(self, sequences, metadata=None, code=1):
        """What is missing of a channel with these records."""
        log = synthetic_log.Log()
        log.channel("/one", "uint8 x\n", metadata)
        log.channel("/two", "uint8 x\n")
        log.message("/two", 7, b"\1")
        for sequence in sequences:
            log.message("/one", 9, b"\1", sequence=sequence)
        done, out, _ = self.call("log", "info", self.write(log), "--json")
        self.assertEqual(done, code, out)
        said = json.loads(out)
        self.assertEqual(said["lost"]["missing_records"], said["channels"][0]["missing"])
        done, out, _ = self.call("log", "info", self.dir / "run.mcap")
        self.assertEqual((done, f"lost: {said['channels'][0]['missing']} records are missing by their sequence numbers"
                          in out), (code, code == 1))
        return said["channels"][0]["missing"]

    def test_records_that_are_missing_by_their_numbers(self):
        self.assertEqual(self.missing([0, 1, 2], code=0), 0)
        self.assertEqual(self.missing([0, 1, 4]), 2)
        self.assertEqual(self.missing([3]), 3)
        self.assertEqual(self.missing([1, 0, 2], code=0), 0)
        self.assertEqual(self.missing([2, 1, 3]), 1)
        self.assertEqual(self.missing([2, 0, 1, 5]), 2)
        self.assertEqual(self.missing([2**32 - 2, 2**32 - 1, 0, 1]), 2**32 - 2)
        self.assertEqual(self.missing([2**32 - 2, 0, 2**32 - 1, 1]), 2**32 - 2)
        self.assertEqual(self.missing([2**31 - 1, 2**32 - 2, 2**31 + 5]), 2**32 - 4)

    def test_a_decimated_channel_misses_only_what_was_due(self):
        self.assertEqual(self.missing([4, 9, 14], {"every": "5"}, code=0), 0)
        self.assertEqual(self.missing([4, 14], {"unit.x": "m", "every": "5"}), 1)
        self.assertEqual(self.missing([4, 5, 6, 9, 18], {"every": "5"}), 1)
        self.assertEqual(self.missing([4], {"every": "1"}), 4)
        self.assertEqual(self.missing([4], {"every": "0"}), 4)
        self.assertEqual(self.missing([4], {"every": "1000000000"}, code=0), 0)
        self.assertEqual(self.missing([4], {"every": "1000000001"}), 4)
        self.assertEqual(self.missing([4], {"never": "5"}), 4)
        self.assertEqual(self.missing([1, 3], {"every": "2"}, code=0), 0)

    def test_times_are_the_earliest_and_the_latest(self):
        log = synthetic_log.Log()
        log.channel("/one", "uint8 x\n")
        log.channel("/two", "uint8 x\n")
        for topic, at in (("/one", 5_000_000_000), ("/one", 2_000_000_000), ("/two", 3_000_000_000),
                          ("/two", 9_000_000_000), ("/one", 4_000_000_000)):
            log.message(topic, at, b"\1")
        code, out, _ = self.call("log", "info", self.write(log), "--json")
        said = json.loads(out)
        self.assertEqual([(c["first_ns"], c["last_ns"]) for c in (*said["channels"], said)],
                         [(2 * 10**9, 5 * 10**9), (3 * 10**9, 9 * 10**9), (2 * 10**9, 9 * 10**9)])

    def test_usage(self):
        log = self.write(sound())
        for arguments in ((), (log, log), ("--nonsense", log)):
            code, out, err = self.call("log", "info", *arguments)
            self.assertEqual((code, out), (64, ""))
            self.assertIn("usage: airbearing log info LOG", err)
        code, out, err = self.call("log", "info", "--help")
        self.assertEqual((code, err, out.split("\n")[0]), (0, "", "usage: airbearing log info LOG [--json]"))
        code, out, err = self.call("log", "info", self.dir / "absent")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "absent")

    def test_the_commands_of_log(self):
        self.assert_says("log-help.txt", "log", "--help")
        self.assert_says("log-help.txt", "log", "-h")
        for arguments, first in (((), "usage: airbearing log COMMAND LOG ..."),
                                 (("eat",), "airbearing log: there is no command \"eat\"")):
            code, out, err = self.call("log", *arguments)
            self.assertEqual((code, out, err.split("\n")[0]), (64, "", first))


class Damage(Log):
    """Each kind of loss has its line, in info and in recover, and costs no more than itself."""

    @staticmethod
    def places(data):
        """Opcode and place of every record."""
        at, found = 8, []
        while at + 9 <= len(data) and data[at:at + 8] != synthetic_log.MAGIC:
            opcode, size = struct.unpack_from("<BQ", data, at)
            found.append((opcode, at))
            at += 9 + size
        return found

    def whole(self, crc=0):
        log = self.write(sound(), "whole.mcap")
        data = log.read_bytes()
        chunks = [at for opcode, at in self.places(data) if opcode == synthetic_log.CHUNK]
        end = next(at for opcode, at in self.places(data) if opcode == synthetic_log.DATA_END)
        if crc is not None:
            data = data[:end + 9] + struct.pack("<I", crc) + data[end + 13:]
        return data, chunks

    def tell(self, name, data, code, recovered=None):
        """Info, recover, whose exit codes these are, and what is in the new log."""
        bad, new = self.write(data, "bad.mcap"), self.dir / f"new-{name}.mcap"
        done, told, err = self.call("log", "info", bad)
        self.assertEqual((done, err), (code, ""), told)
        head, tail = told.split("\n")[0], "".join(line + "\n" for line in told.split("\n") if line.startswith("lost"))
        done, saved, err = self.call("log", "recover", bad, new)
        self.assertEqual((done, err), (code if recovered is None else recovered, ""), saved)
        size = f", {new.stat().st_size} bytes\n"  # which is the compressor's
        self.assertIn(size, saved)
        saved = saved.replace(size, "\n")
        done, out, err = self.call("log", "info", bad, "--json")
        lost = json.loads(out)["lost"]
        kept = [(topic, at, sequence, payload) for topic, at, sequence, payload in raw_log.stamped(new)]
        self.assert_golden(f"log-{name}.txt", head + "\n" + tail + saved + json.dumps(lost) + "\n"
                           + " ".join(f"{topic}:{sequence}" for topic, _, sequence, _ in kept) + "\n")
        there = list(raw_log.stamped(self.dir / "whole.mcap")) if (self.dir / "whole.mcap").exists() else kept
        self.assertTrue(all(record in there for record in kept), "each of them was there")
        return new

    def attachment(self, log, name):
        for opcode, body in raw_log._records(log.read_bytes(), 8):
            if opcode == synthetic_log.ATTACHMENT and raw_log._text(body, 16)[0] == name:
                at = raw_log._text(body, raw_log._text(body, 16)[1])[1]
                return body[at + 8:-4].decode()
        return None

    def test_none(self):
        new = self.tell("whole", self.whole(crc=None)[0], 0)
        self.assertIsNone(self.attachment(new, "recovery.txt"))
        self.assert_says("log-recovered.txt", "log", "info", new)
        self.assertEqual(list(raw_log.stamped(new)), list(raw_log.stamped(self.dir / "whole.mcap")))

    def test_cut_off(self):
        data, chunks = self.whole()
        new = self.tell("cut", data[:chunks[1] + 100], 0)
        self.assertEqual(self.attachment(new, "recovery.txt"),
                         "lost: the file was cut off; 100 bytes of an unfinished record\n")
        self.tell("cut-early", data[:chunks[0]], 0)

    def test_noise_at_the_end(self):
        self.tell("noise", self.whole()[0] + b"x" * 31, 0)

    def test_an_end_that_a_record_claims(self):
        """A message that says it is so long reaches into the footer, of which five bytes are left."""
        end = synthetic_log.record(synthetic_log.DATA_END, bytes(4)) + synthetic_log.record(synthetic_log.FOOTER, bytes(20)) + synthetic_log.MAGIC
        head = struct.pack("<HIQQ", 1, 30, 0, 0)
        self.tell("tail", sound().data + struct.pack("<BQ", synthetic_log.MESSAGE, len(head) + len(end) - 5) + head + end, 1)

    def test_a_chunk_whose_crc_is_wrong(self):
        data, chunks = self.whole()
        at = chunks[0] + 200
        self.tell("chunk", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], 1)

    def test_a_place_where_no_record_is(self):
        data, chunks = self.whole()
        self.tell("gap", data[:chunks[0]] + b"\xff" * 9 + data[chunks[0] + 9:], 1)

    def test_two_places_where_no_record_is(self):
        data, chunks = self.whole()
        self.tell("gaps", data[:chunks[0]] + b"\xff" * 20 + data[chunks[0]:chunks[1]] + b"\xff" * 30
                  + data[chunks[1]:], 1)

    def test_a_data_section_whose_crc_is_wrong(self):
        self.tell("data", self.whole(crc=1)[0], 1)

    def test_an_attachment_whose_crc_is_wrong(self):
        data = self.whole()[0]
        at = data.index(b"name: made")
        self.tell("attachment", data[:at] + b"N" + data[at + 1:], 1)

    def test_definitions_that_contradict_each_other(self):
        log = sound()
        log.add(synthetic_log.record(synthetic_log.CHANNEL, struct.pack("<HH", 1, 1) + synthetic_log.text("/other")
                                     + synthetic_log.text("cdr") + synthetic_log.pairs({})))
        self.tell("contradiction", log.write(self.dir / "x.mcap").read_bytes(), 1)

    def test_records_of_undefined_channels(self):
        log = sound()
        for i in range(3):
            log.message(99, i, b"\1")
        log.chunk()
        self.tell("nameless", log.write(self.dir / "x.mcap").read_bytes(), 1)

    def test_fewer_records_than_the_summary_has(self):
        data = sound().data + synthetic_log.record(synthetic_log.DATA_END, struct.pack("<I", 0))
        statistics = synthetic_log.record(synthetic_log.STATISTICS, struct.pack("<QHIIIIQQI", 40, 4, 4, 2, 2, 2, 0, 0, 0))
        start = len(data)
        data += statistics + synthetic_log.record(synthetic_log.FOOTER, struct.pack("<QQI", start, 0, 0))[:-4]
        data += struct.pack("<I", zlib.crc32(data[start:])) + synthetic_log.MAGIC
        self.tell("told", data, 1)

    def test_what_is_not_of_airbearing_is_left_out(self):
        log = sound()
        log.channel("/json", "{}", encoding="json", schema_encoding="jsonschema")
        log.channel("/protobuf", "x", schema_encoding="protobuf")
        log.channel("/" + "t" * 200, "uint8 x\n")
        log.message("/json", 1, b"{}", header=b"")
        log.message("/protobuf", 1, b"\1")
        log.message("/" + "t" * 200, 1, b"\1")
        log.message("/empty", 1, b"")
        log.message("/empty", 2, b"\1", header=b"\0\0\0\0")
        log.message("/empty", 3, b"\1")
        self.tell("foreign", log.write(self.dir / "x.mcap").read_bytes(), 0, recovered=1)

    def test_what_recover_does_not_do(self):
        log = self.write(sound())
        for arguments in ((), (log,), (log, "a", "b"), ("--nonsense", log, "a")):
            code, out, err = self.call("log", "recover", *arguments)
            self.assertEqual((code, out), (64, ""))
            self.assertIn("usage: airbearing log recover IN", err)
        code, out, err = self.call("log", "recover", "--help")
        self.assertEqual((code, err, out.split("\n")[0]), (0, "", "usage: airbearing log recover IN OUT.mcap"))
        link, folder = self.dir / "link", self.dir / "folder"
        link.hardlink_to(log)
        folder.mkdir()
        for out, why in ((log, "the path is the damaged log itself; give another name"),
                         (link, "the path is the damaged log itself; give another name"),
                         (folder, "not a regular file; give the name of one"),
                         (folder / "no" / "new", "No such file or directory")):
            self.assertEqual(self.call("log", "recover", log, out),
                             (2, "", f"airbearing log recover: {out}: {why}\n"))
        code, out, err = self.call("log", "recover", self.dir / "absent", self.dir / "new")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "absent")
        self.assertFalse((self.dir / "new").exists())


class Origin(Log):
    """Where a log comes from: hashes of what was read, and the machine as the doctor sees it."""

    def record(self, scenario, **files):
        for name, text in files.items():
            (self.dir / name.replace("_", ".")).write_text(text)
        path, log = self.dir / "s.yaml", self.dir / "run.mcap"
        path.write_text(scenario)
        code, out, err = self.call("run", path, "--pace", "fast", "--seconds", "0.01", "--log", log)
        self.assertEqual((code, err), (0, ""), out)
        code, out, err = self.call("log", "info", log, "--json")
        return log, json.loads(out)["metadata"]["airbearing"]

    def test_hashes_of_the_scenario_and_its_files(self):
        alone = "name: a\nrate: 1 kHz\nseconds: 1 s\nbodies: [{name: b, joint: free, mass: 1 kg, inertia: 1 1 1 kg m^2}]\n"
        robot = "name: a\nrate: 1 kHz\nseconds: 1 s\nurdf: plate.urdf\n"
        _, said = self.record(alone)
        self.assertEqual(said["model_hash"], "0" * 16)
        first = said["scenario_hash"]
        _, said = self.record(robot, plate_urdf=synthetic_run.PLATE)
        hashes = said["scenario_hash"], said["model_hash"]
        self.assert_golden("log-hashes.txt", "\n".join((first, *hashes)) + "\n")
        _, said = self.record(robot, plate_urdf=synthetic_run.PLATE + "<!-- -->")
        self.assertEqual(said["scenario_hash"], hashes[0])
        self.assertNotEqual(said["model_hash"], hashes[1])
        _, said = self.record(robot.replace("plate", "other"), other_urdf=synthetic_run.PLATE)
        self.assertNotEqual(said["model_hash"], hashes[1])

    def test_the_machine_is_what_the_doctor_would_say(self):
        log, _ = self.record(harness.TUMBLE.read_text())
        for opcode, body in raw_log._records(log.read_bytes(), 8):
            name, at = raw_log._text(body, 16) if opcode == synthetic_log.ATTACHMENT else ("", 0)
            if name == "audit.json":
                audit = json.loads(body[raw_log._text(body, at)[1] + 8:-4])
        code, out, err = self.call("doctor", "--seconds", "0", "--json")
        doctor = json.loads(out)
        self.assertEqual(set(audit), set(doctor))
        for said in (audit, doctor):
            said["findings"] = [finding["name"] for finding in said["findings"]]
        for key in ("findings", "cpu", "cmdline"):
            self.assertEqual(audit[key], doctor[key])


class Export(Log):
    def export(self, log, *options, code=0, out="", err=""):
        self.assertEqual(self.call("log", "export", log, *options), (code, out, err))

    def test_every_kind_of_number(self):
        log, folder = self.write(sound()), self.dir / "csv"
        self.export(log, "--csv", folder)
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["device.__.odd_name.csv", "empty.csv", "frame.csv", "numbers.csv"])
        said = "".join(f"--- {path.name}\n{path.read_text()}" for path in sorted(folder.iterdir()))
        self.assert_golden("log-export.csv", said)
        rows = (folder / "numbers.csv").read_text().splitlines()[1:]
        for i, row in enumerate(rows):
            cells = row.split(",")
            self.assertEqual([float(cells[2]), float(cells[3]), *map(int, cells[5:])],
                             [*LAYOUT.unpack(numbers(i))[:2], *LAYOUT.unpack(numbers(i))[3:]])

    def test_one_channel_into_a_file_or_a_folder(self):
        log, one, folder = self.write(sound()), self.dir / "one.csv", self.dir / "folder"
        self.export(log, "--csv", one, "--channel", "/numbers")
        self.assertEqual(one.read_text().count("\n"), 4)
        folder.mkdir()
        self.export(log, "--csv", folder, "--channel", "/numbers")
        self.assertEqual([path.name for path in folder.iterdir()], ["numbers.csv"])
        self.export(log, "--csv", folder, "--channel", "/numbers", "--channel", "/frame")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["frame.csv", "numbers.csv"])

    def test_what_cannot_be_written(self):
        log, one = self.write(sound()), self.dir / "one"
        one.write_text("")
        refused = "airbearing log export: {}: {}\n"
        self.export(log, "--csv", one, code=2, err=refused.format(one, "File exists"))
        self.export(log, "--csv", "/dev/full", "--channel", "/frame", code=2,
                    err=refused.format("/dev/full", "cannot be written"))
        away = self.dir / "no" / "csv"
        self.export(log, "--csv", away, code=2, err=refused.format(away, "No such file or directory"))
        self.export(log, "--csv", away, "--channel", "/frame", code=2,
                    err=refused.format(away, "No such file or directory"))
        self.export(log, "--hgrm", away, code=2, err=refused.format(away, "No such file or directory"))
        self.export(log, "--hgrm", "/dev/full", code=2, err=refused.format("/dev/full", "cannot be written"))
        self.export(log, "--csv", self.dir / "x", "--channel", "/frame", "--channel", "/no", code=2,
                    err=refused.format(log, "the log lacks a requested channel; airbearing log info lists them"))

    def test_what_is_no_table(self):
        why = "its schema is not known or not of numbers of fixed size"
        for topic, definition, encoding in (("/text", "string words\n", "cdr"), ("/json", "uint8 x\n", "json"),
                                            ("/none", "# nothing\n", "cdr"),
                                            ("/many", "".join(f"uint8 f{i}\n" for i in range(513)), "cdr")):
            with self.subTest(topic):
                log = synthetic_log.Log()
                log.channel(topic, definition, encoding=encoding)
                log.message(topic, 1, b"\1")
                self.export(self.write(log), "--csv", self.dir / "csv", code=2,
                            err=f"airbearing log export: {topic}: {why}\n")
        log = synthetic_log.Log()
        log.channel("/many", "".join(f"uint8 f{i}\n" for i in range(512)))
        log.message("/many", 1, bytes(512))
        self.export(self.write(log), "--csv", self.dir / "csv")

    def test_records_that_are_too_short(self):
        log = synthetic_log.Log()
        log.channel("/frame", synthetic_run.DEFINITIONS["/frame"])
        frames = synthetic_run.Run(3).frames
        log.message("/frame", 0, frames[0].record())
        log.message("/frame", 1, frames[1].record()[:-1])
        log.message("/frame", 2, frames[2].record())
        log, table = self.write(log), self.dir / "x.csv"
        said = "lost: 1 records too short for their fields\n"
        self.export(log, "--csv", table, "--channel", "/frame", code=1, out=said)
        self.assertEqual([line.split(",")[0] for line in table.read_text().splitlines()[1:]], ["0", "2"])
        self.export(log, "--hgrm", self.dir / "x", code=1, out=said)
        self.assertIn("Total count    =            2]", (self.dir / "x").read_text())

    def test_of_a_damaged_log(self):
        data = self.write(sound()).read_bytes()
        at = data.index(struct.pack("<d", 14.0))
        bad = self.write(data[:at] + b"?" + data[at + 1:])
        code, out, err = self.call("log", "export", bad, "--csv", self.dir / "csv")
        self.assertEqual((code, err), (1, ""))
        self.assert_golden("log-export-damaged.txt", out)

    def test_percentiles(self):
        path = self.dir / "x.hgrm"
        for pace, wish, golden_name in (("real", (), "log-start.hgrm"), ("fast", (), "log-busy.hgrm"),
                                        ("real", ("--of", "busy"), "log-busy.hgrm"),
                                        ("lockstep", ("--of", "start-error"), "log-start.hgrm")):
            with self.subTest(pace=pace, wish=wish):
                run = synthetic_run.Run(30)
                run.metadata["pace"] = pace
                log = run.write(self.dir / "run.mcap")
                self.export(log, "--hgrm", path, *wish)
                self.assert_golden(golden_name, path.read_text())
        log = synthetic_log.Log()
        log.channel("/frame", synthetic_run.DEFINITIONS["/frame"])
        log.message("/frame", 0, struct.pack("<QQQQQIBBxxI", 0, 50, 40, 30, 0, 0, 0, 0, 0))
        self.export(self.write(log), "--hgrm", path)
        self.assertIn("       0.000 1.000000000000          1\n", path.read_text())
        self.export(self.write(log), "--hgrm", path, "--of", "busy")
        self.assertIn("       0.000 1.000000000000          1\n", path.read_text())
        log = synthetic_log.Log()
        log.channel("/other", "uint8 x\n")
        log.message("/other", 0, b"\1")
        log = self.write(log)
        self.export(log, "--hgrm", path, code=2, err=f"airbearing log export: {log}: no /frame record inside\n")

    def test_usage(self):
        log = self.write(sound())
        for arguments in ((log,), (log, log, "--csv", "x"), (log, "--csv", "x", "--hgrm", "y"), ("--csv", "x")):
            self.assertEqual(self.call("log", "export", *arguments),
                             (64, "", "airbearing log export: give one log, and --csv or --hgrm; see airbearing log export "
                                      "--help\n"))
        for arguments in (("--hgrm", "x", "--channel", "/a"), ("--csv", "x", "--of", "busy")):
            self.assertEqual(self.call("log", "export", log, *arguments),
                             (64, "", "airbearing log export: --channel needs --csv, --of needs --hgrm; see airbearing log export "
                                      "--help\n"))
        self.assertEqual(self.call("log", "export", log, "--hgrm", "x", "--of", "idle"),
                         (64, "", "airbearing log export: --of is start-error or busy, not idle; see airbearing log export "
                                  "--help\n"))
        many = [option for i in range(65) for option in ("--channel", f"/c{i}")]
        self.assertEqual(self.call("log", "export", log, "--csv", "x", *many),
                         (64, "", "airbearing log export: too many --channel, at /c64; see airbearing log "
                                  "export --help\n"))
        code, out, err = self.call("log", "export", log, "--nonsense")
        self.assertEqual((code, out), (64, ""))
        self.assertIn("usage: airbearing log export LOG --csv FOLDER", err)
        code, out, err = self.call("log", "export", "--help")
        self.assertEqual((code, err, out.split("\n")[0]),
                         (0, "", "usage: airbearing log export LOG --csv FOLDER [--channel TOPIC]..."))
        code, out, err = self.call("log", "export", self.dir / "absent", "--csv", "x")
        self.assertEqual((code, out), (2, ""))
        self.assert_one_line(err, "absent")


if __name__ == "__main__":
    harness.main()
