"""What a command says, beside its text when that was last reviewed: the files of tests/scenario/golden/.

Words must be the same.  Numbers may differ in the seventh digit, as compilers and instruction sets let them.
AIRBEARING_GOLDEN=write puts what is said now into the files, for you to read what `git diff` shows."""
import os
import pathlib
import re

import harness

FILES = pathlib.Path(__file__).resolve().parent / "golden"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
RELATIVE = 2e-7
ABSOLUTE = 1e-12


def same(here, there, near):
    """Whether two lines have the same words, and numbers that agree: to the seventh digit, or that near."""
    if NUMBER.sub("#", here) != NUMBER.sub("#", there):
        return False
    for a, b in zip(NUMBER.findall(here), NUMBER.findall(there)):
        if a != b and abs(float(a) - float(b)) > near + RELATIVE * max(abs(float(a)), abs(float(b))):
            return False
    return True


class Case(harness.Case):
    def assert_golden(self, name, said, near=ABSOLUTE):
        """The text is that of golden/NAME."""
        said = said.replace(str(self.dir), "DIR").replace(str(harness.ROOT), "ROOT")
        path = FILES / name
        if os.environ.get("AIRBEARING_GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(said)
        expected = path.read_text().splitlines()
        lines = said.splitlines()
        for number, (here, there) in enumerate(zip(lines, expected), 1):
            if not same(here, there, near):
                self.fail(f"{path}:{number}:\n- {there}\n+ {here}")
        self.assertEqual(len(lines), len(expected), f"{path}: number of lines\n{said}")

    def assert_says(self, name, *arguments, code=0):
        """A command's exit code, and its words on both outputs."""
        done, out, err = self.call(*arguments)
        self.assertEqual(done, code, f"{arguments}\n{out}\n{err}")
        self.assert_golden(name, out + (f"--- stderr\n{err}" if err else ""))
