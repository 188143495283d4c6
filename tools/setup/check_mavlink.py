#!/usr/bin/env python3
"""Check generated MAVLink headers against the messages we speak.

    check_mavlink.py DIRECTORY

The headers come from whatever package version a suite holds today. A message whose number, length
or checksum seed differs from this table would be refused by every board, silently.
"""
import pathlib
import re
import sys

# name: (id, lengths in use, shortest length, CRC extra). TIMESYNC has two dialects of equal CRC.
MESSAGES = {
    "HEARTBEAT": (0, {9}, 9, 50),
    "SYSTEM_TIME": (2, {12}, 12, 137),
    "COMMAND_LONG": (76, {33}, 33, 152),
    "HIL_ACTUATOR_CONTROLS": (93, {81}, 81, 47),
    "HIL_SENSOR": (107, {65}, 64, 108),
    "TIMESYNC": (111, {16, 18}, 16, 34),
    "HIL_GPS": (113, {39}, 36, 124),
    "HIL_STATE_QUATERNION": (115, {64}, 64, 4),
}


def constant(text, name):
    found = re.search(rf"#define\s+{name}\s+(\d+)", text)
    return int(found.group(1)) if found else None


def differences(directory):
    """Yield one sentence for each message that is missing or not as in the table."""
    for name, (number, lengths, shortest, extra) in MESSAGES.items():
        header = next(directory.glob(f"*/mavlink_msg_{name.lower()}.h"), None)
        if header is None:
            yield f"{name} is missing"
            continue
        text = header.read_text(encoding="utf-8", errors="replace")
        symbol = f"MAVLINK_MSG_ID_{name}"
        if constant(text, symbol) != number:
            yield f"{name} has id {constant(text, symbol)}, not {number}"
        if constant(text, f"{symbol}_LEN") not in lengths:
            yield f"{name} has length {constant(text, f'{symbol}_LEN')}, not {sorted(lengths)}"
        if constant(text, f"{symbol}_MIN_LEN") != shortest:
            yield f"{name} is at least {constant(text, f'{symbol}_MIN_LEN')} long, not {shortest}"
        if constant(text, f"{symbol}_CRC") != extra:
            yield f"{name} has CRC extra {constant(text, f'{symbol}_CRC')}, not {extra}"


def main():
    directory = pathlib.Path(sys.argv[1])
    wrong = list(differences(directory))
    for sentence in wrong:
        print(f"{directory}: {sentence}", file=sys.stderr)
    if not wrong:
        print(f"MAVLink headers agree in {len(MESSAGES)} messages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
