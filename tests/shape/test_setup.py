#!/usr/bin/env python3
"""What set-up fetches is pinned by what it is and not by what it is called; what it runs has no privileges."""
import configparser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SETUP = ROOT / "tools" / "setup"
sys.path.insert(0, str(SETUP))
sys.dont_write_bytecode = True
import check_sums  # noqa: E402


class Pins(unittest.TestCase):
    def test_wraps_name_a_commit_or_a_hash(self):
        wraps = list((ROOT / "tools" / "subprojects").glob("*.wrap"))
        self.assertTrue(wraps)
        for path in wraps:
            wrap = configparser.ConfigParser()
            wrap.read(path)
            if wrap.has_section("wrap-git"):
                self.assertRegex(wrap["wrap-git"]["revision"], r"^[0-9a-f]{40}$", path)
            else:
                self.assertRegex(wrap["wrap-file"]["source_hash"], r"^[0-9a-f]{64}$", path)

    def test_every_npm_package_has_its_hash_and_runs_no_script(self):
        locks = list((ROOT / "tools").glob("*/package-lock.json"))
        self.assertTrue(locks)
        for path in locks:
            for name, package in json.loads(path.read_text())["packages"].items():
                if name:
                    self.assertRegex(package.get("integrity", ""), r"^sha512-", f"{path}: {name}")
        for path in (SETUP / "npm", SETUP / "wmm"):
            for call in re.findall(r"\bnpm (?:ci|install|pack)\b[^>|;)]*", path.read_text()):
                if "failed" not in call:
                    self.assertIn("--ignore-scripts", call, path)

    def test_what_others_wrote_is_run_without_privileges(self):
        text = (SETUP / "mavlink").read_text()
        runs = re.findall(r"^.*(?:\\\n.*)*usr/bin/mavgen", text, re.MULTILINE)
        self.assertEqual([bool(re.search(r"\bunprivileged\b", run)) for run in runs], [True])

    def test_root_becomes_nobody(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            script = f". {SETUP}/common.sh; unprivileged id -u; unprivileged touch {folder}/mine 2>&1"
            done = subprocess.run(["bash", "-c", script, "test"], cwd="/", capture_output=True, text=True)
            user = int(done.stdout.split()[0])
            if os.getuid() == 0:
                self.assertNotEqual(user, 0)
                self.assertFalse((pathlib.Path(folder) / "mine").exists())
            else:
                self.assertEqual(user, os.getuid())


class Sums(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)
        (self.directory / "deep").mkdir()
        (self.directory / "deep" / "a.h").write_text('#define MAVLINK_BUILD_DATE "Mon"\nint a;\n')
        (self.directory / "b.c").write_text("int b;\n")

    def test_a_byte_a_name_or_a_file_more_is_another_digest(self):
        digests = {check_sums.digest(self.directory)}
        (self.directory / "b.c").write_text("int c;\n")
        digests.add(check_sums.digest(self.directory))
        (self.directory / "b.c").rename(self.directory / "c.c")
        digests.add(check_sums.digest(self.directory))
        (self.directory / "d.h").write_text("")
        digests.add(check_sums.digest(self.directory))
        self.assertEqual(len(digests), 4)

    def test_the_day_does_not_count(self):
        before = check_sums.digest(self.directory)
        (self.directory / "deep" / "a.h").write_text('#define MAVLINK_BUILD_DATE "Tue"\nint a;\n')
        self.assertEqual(check_sums.digest(self.directory), before)
        (self.directory / "deep" / "a.h").write_text('#define MAVLINK_BUILD_DATE "Tue" evil()\nint a;\n')
        self.assertNotEqual(check_sums.digest(self.directory), before)

    def call(self, *arguments):
        return subprocess.run([SETUP / "check_sums.py", *arguments], capture_output=True, text=True)

    def test_what_is_not_known_is_refused_with_what_to_do(self):
        done = self.call("mavlink", self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(f"add the line `mavlink {check_sums.digest(self.directory)} VERSION`", done.stderr)

    def test_a_link_is_refused(self):
        (self.directory / "e.h").symlink_to("/etc/passwd")
        done = self.call("mavlink", self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a plain file", done.stderr)

    def test_what_this_tree_was_built_with_is_known(self):
        for name in ("mavlink", "unity"):
            directory = ROOT / "build-deps" / name
            if directory.is_dir():
                with self.subTest(name):
                    self.assertIn(check_sums.digest(directory), check_sums.known(name))


if __name__ == "__main__":
    unittest.main()
