#!/usr/bin/env python3
"""Sum up meson test logs: show what was skipped, what failed and why, end with the count.

    summarize.py RESULT...
    summarize.py --again LOG

RESULT is a testlog.json, or `failed:WHY` or `skipped:WHY` for a build that has none. A Unity
program counts with each of its cases, any other test as one. Exits 1 when something failed or nothing ran.

A test of the whole program, or of threads that wait for each other, may fail because of the machine, so it is run
a second time, when nothing else is; --again prints the names of those that deserve it. The log of second tries, again.json, lies beside the
first. What passed only there counts as passed, but is told.
"""
import collections
import json
import pathlib
import re
import sys

LOG_TAIL_LINES = 40
SECOND_CHANCE = {"scenario", "trap", "threads", "guest"}  # suites
WHY = re.compile(r"^\w*(Error|Exception)\b|:FAIL|Sanitizer: |: \w+ error: ")
UNITY = re.compile(r"^(\d+) Tests (\d+) Failures (\d+) Ignored", re.MULTILINE)


def count(test):
    """Counter of passed, failed and skipped cases of one meson test."""
    result = test["result"]
    if result == "SKIP":
        return collections.Counter(skipped=1)
    unity = UNITY.findall(test.get("stdout", ""))
    cases, failures, ignored = (sum(map(int, column)) for column in zip(*unity or [(1, 0, 0)]))
    if result not in ("OK", "EXPECTEDFAIL"):
        # A crash or a sanitizer's verdict at exit leaves Unity's own count clean.
        failures = max(failures, 1)
        cases = max(cases, failures + ignored)
    return collections.Counter(passed=cases - failures - ignored, failed=failures, skipped=ignored)


def output_of(test):
    return (test.get("stdout", "") + test.get("stderr", "")).rstrip().splitlines()


def read(log):
    """Tests of a log, which has one JSON object a line."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def deserves_second_chance(test):
    """It kept time or met others; what a sanitizer found is found."""
    suites = set(test["name"].rpartition(" / ")[0].rpartition(":")[2].split("+"))
    return (test["result"] in ("FAIL", "TIMEOUT") and bool(suites & SECOND_CHANCE)
            and not any("Sanitizer:" in line for line in output_of(test)))


def reason_of(test):
    """The line that says best why it did not pass: an assertion of Python or Unity, or else the last one."""
    lines = [line.strip() for line in output_of(test) if line.strip()] or ["nothing was printed"]
    return ([line for line in lines if WHY.search(line)] or lines)[-1]


def show_failure(build, test):
    print(f"\nFAILED {build}: {test['name']} ({test['result']}, exit {test.get('returncode')})")
    for line in output_of(test)[-LOG_TAIL_LINES:]:
        print(f"    {line}")


def skips_of(test, counted):
    """Reasons of what was skipped of it, as often as they were given."""
    if test["result"] == "SKIP":
        return [(output_of(test) or ["no reason given"])[-1]]
    return [line.partition(":IGNORE: ")[2] for line in output_of(test) if ":IGNORE" in line and counted["skipped"]]


def sum_log(log):
    """Counter over one testlog.json and what was tried again of it, and the tests that failed."""
    total, skips, failures = collections.Counter(), collections.Counter(), []
    build = log.parent.parent.name
    again = log.with_name("again.json")
    second = {test["name"]: test for test in (read(again) if again.exists() else [])}
    for test in read(log):
        if deserves_second_chance(test) and second.get(test["name"], test)["result"] == "OK":
            print(f"passed only at the second try: {build}: {test['name']}; at the first: {reason_of(test)}")
            total["second"] += 1
            test = second[test["name"]]
        counted = count(test)
        if counted["failed"]:
            failures.append((build, test))
        skips.update((test["name"], reason) for reason in skips_of(test, counted))
        total += counted
    for (name, reason), times in skips.items():
        print(f"skipped {build}: {name} ({times}): {reason}")
    print(f"{build}: {describe(total)}")
    return total, failures


def describe(total):
    return ", ".join(f"{total[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))


def main():
    if sys.argv[1:2] == ["--again"]:
        for log in map(pathlib.Path, sys.argv[2:]):
            print(*(test["name"].rpartition(" / ")[2] for test in read(log) if deserves_second_chance(test)), sep="\n")
        return 0
    total, failures = collections.Counter(), []
    for result in sys.argv[1:]:
        outcome, _, why = result.partition(":")
        if outcome in ("failed", "skipped"):
            print(f"{outcome} {why}")
            total[outcome] += 1
        elif pathlib.Path(result).exists():
            counted, failed = sum_log(pathlib.Path(result))
            total += counted
            failures += failed
        else:
            print(f"failed {result}: no test ran")
            total["failed"] += 1
    if total["second"]:
        print(f"passed only at the second try: {total['second']} of them; see above")
    for build, test in failures:
        show_failure(build, test)
    for build, test in failures:
        print(f"FAILED {build}: {test['name']}: {reason_of(test)}")
    print(describe(total))
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
