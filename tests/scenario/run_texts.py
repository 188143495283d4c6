"""A whole run as text: its console, its report and records of its log, without what the wall clock and this machine
put into them."""
import csv
import functools
import json
import re

import golden
import harness

TIME = r"-?[\d.]+ (?:ns|us|ms|s)"
# Of the console: what was measured, and not simulated.
MEASURED = [
    (rf"^(  (?:start error|busy|loop latency|  \w+)) +{TIME} +{TIME} +{TIME} +{TIME}$", r"\1 TIMES"),
    (rf"^(  .{{14}} +[\d.e+]+ Hz) +{TIME} +{TIME} +{TIME}$", r"\1 TIMES"),
    (rf"least margin {TIME}", "least margin TIME"),
    (r"\d+ page faults", "N page faults"),
    (r"state hash \w{16}", "state hash HASH"),
    (r"in [\d.]+ s of wall time", "in T s of wall time"),
    (r"^  \w+: the controller was late .*\n", ""),
    (rf"(longest copy took the frame) {TIME}", r"\1 TIME"),
    (r"messages in \d+ (\(bad \d+, lost \d+\)), out \d+ ", r"messages in N \1, out N "),
    (r"commands \d+$", "commands N"),
    (r"round trip \d+ us", "round trip N us"),
    (r"; \d+ in, \d+ out, ", "; N in, N out, "),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
]
# Of the report.
HOST = {"seconds_wall", "wall_ns", "state_hash", "isa", "predicted_ns", "page_faults_after_seal",
        "involuntary_switches", "stolen_ns_total", "checkpoint_copy_ns_max", "checkpoint_bytes", "bytes", "realtime",
        "gap_ns_max", "late", "silent", "commands", "duplicates", "losses", "loop_latency_ns", "rx", "tx", "rx_bytes", "tx_bytes", "freewheel_messages",
        "epoch_us", "allocations_counted", "records", "line"}
PERCENTILE = {"p50", "p99", "p999", "max", "max_frame", "min", "min_frame"}
# Of the records.
STAMP = re.compile(r"(_ns|_us|_hash|^bytes)(\[\d+\])?( \(.*\))?$")


def console(text):
    for pattern, mark in MEASURED:
        text = re.sub(pattern, mark, text, flags=re.MULTILINE)
    return text


def leaves(value, path=()):
    """(path, value) of everything in a report that is no list and no object."""
    if isinstance(value, (dict, list)) and value:
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))
    else:
        yield path, value


def of_run(report):
    """A line for each value of a report that is not of the wall clock or the machine."""
    return "".join(f"{'.'.join(map(str, path))}: {json.dumps(value)}\n" for path, value in leaves(report)
                   if not HOST.intersection(path) and path[-1] not in PERCENTILE)


def number(text, least=1e-11):
    """To nine digits; what is nothing but the rounding of larger numbers is zero."""
    value = float(text)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{0.0 if abs(value) < least else value:.9g}"


def records(path, samples, least=1e-11):
    """Some of the records of one channel, one number a line: the first, the last, and those in between."""
    with path.open() as file:
        head, *rows = csv.reader(file)
    keep = [k for k, name in enumerate(head) if not STAMP.search(name) and name != "sequence"]
    places = sorted({round(k * (len(rows) - 1) / max(samples - 1, 1)) for k in range(samples)}) if rows else []
    lines = [f"{path.name}: {len(rows)} records"]
    for k in keep if rows else []:
        lines.append(f"  {head[k]}: " + "  ".join(number(rows[place][k], least) for place in places))
    return lines


class Case(golden.Case):
    def log_text(self, log, samples=3):
        folder = self.dir / "csv"
        code, out, err = self.call("log", "export", log, "--csv", folder)
        self.assertEqual(code, 0, out + err)
        lines = []
        for path in sorted(folder.glob("*.csv")):
            lines += records(path, samples)
            path.unlink()
        return "\n".join(lines) + "\n"

    def assert_times(self, report):
        """Percentiles that can be; none of them is known."""
        for path, _ in leaves(report):
            if path[-1] != "count":
                continue
            of = functools.reduce(lambda value, key: value[key], path[:-1], report)
            if path[0] == "margin_ns":
                self.assertTrue(of["min"] <= of["p999"] <= of["p99"] <= of["p50"] <= report["period_ns"], of)
            else:
                self.assertTrue(0 <= of["p50"] <= of["p99"] <= of["p999"] <= of["max"], of)
                self.assertTrue(of["max_frame"] < report["frames"], of)
            self.assertTrue(of["count"] > 0 or not any(of[key] for key in PERCENTILE & of.keys()), of)
        for key, value in report["io"].items():
            self.assertEqual(value, sum(link[key] for link in report["links"]), key)
        self.assertGreater(report["busy_ns"]["p50"], 0)
        self.assertGreater(report["wall_ns"], 0)
        self.assertAlmostEqual(report["seconds_wall"], 1e-9 * report["wall_ns"], delta=1e-9)

    def assert_flight(self, name, scenario, *options, code=0, samples=3):
        """Exit code, console, report and log of a run are those of golden/NAME."""
        log, report = self.dir / "run.mcap", self.dir / "report.json"
        done, out, err = self.call("run", scenario, "--log", log, "--report", report, *options)
        self.assertEqual(done, code, out + err)
        out = out.replace(str(harness.AIRBEARING.parent), "BUILD")
        text = console(out) + (f"--- stderr\n{console(err)}" if err else "")
        self.assert_golden(f"{name}.console", text)
        said = self.read_report(report)
        build = str(harness.AIRBEARING.parent)
        self.assert_golden(f"{name}.report", of_run(said).replace(build, "BUILD"))
        self.assert_times(said)
        self.assert_golden(f"{name}.log", self.log_text(log, samples))
