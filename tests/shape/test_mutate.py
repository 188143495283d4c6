#!/usr/bin/env python3
"""What tools/mutate changes in a line, and that a seed draws the same again.  Nothing is built here."""
import importlib.machinery
import importlib.util
import itertools
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADER = importlib.machinery.SourceFileLoader("mutate", str(ROOT / "tools" / "mutate"))
LOADER_SPEC = importlib.util.spec_from_loader("mutate", LOADER)
mutate = importlib.util.module_from_spec(LOADER_SPEC)
LOADER.exec_module(mutate)


def changed(text, at=0):
    """(kind, new lines) of every change that begins at line `at` of the text."""
    lines, code = text.split("\n"), mutate.masked(text).split("\n")
    return [(kind, list(new.values())) for kind, new in mutate.changes(lines, code, at)]


class Mutate(unittest.TestCase):
    def test_signs_bounds_and_numbers_of_a_line(self):
        self.assertEqual(changed("    x = a + 2.0 * b;"),
                         [("sign", ["    x = a - 2.0 * b;"]), ("unit", ["    x = a + 2.0 * 1000.0 * b;"])])
        self.assertIn(("bound", ["    for (i = 0; i <= n; i++)"]), changed("    for (i = 0; i < n; i++)"))
        self.assertIn(("sign", ["    return x;"]), changed("    return -x;"))
        self.assertIn(("bound", ["    if (!(a == b))"]), changed("    if (a == b)"))

    def test_calls_are_dropped_and_arguments_change_places(self):
        self.assertEqual(changed("    give(a, b);"), [("order", ["    give(b, a);"]), ("drop", ["    ;"])])

    def test_what_cannot_matter_stays(self):
        self.assertEqual(changed("    give(hypot(a, b));"), [("drop", ["    ;"])])
        self.assertEqual(changed("    bool seen[MAX] = {false};"), [])

    def test_statements_change_places_where_it_matters(self):
        self.assertIn(("order", ["    close(fd);", "    write_all(fd);"]), changed("    write_all(fd);\n    close(fd);"))
        self.assertIn(("order", ["    b = a;", "    a = 1;"]), changed("    a = 1;\n    b = a;"))
        self.assertNotIn("order", [kind for kind, _ in changed("    a = 1;\n    b = 2;")])
        self.assertNotIn("order", [kind for kind, _ in changed("    put(one);\n    put(other);")])
        self.assertEqual(changed("    int mode_count, station_count, node_count;"), [])

    def test_comments_strings_and_directives_stay(self):
        for line in ('/* a + b < c */', '    "a + b",', "#if A > B", "    // -x"):
            self.assertEqual(changed(line), [], line)

    @unittest.skipUnless((ROOT / ".git").exists(), "a tree without its history: nothing says which files are ours")
    def test_a_seed_draws_the_same_again_and_another_does_not(self):
        def first(seed):
            return [(m["file"], m["line"], m["is"]) for m in itertools.islice(mutate.draw(seed, ("rt",)), 20)]
        self.assertEqual(first(3), first(3))
        self.assertNotEqual(first(3), first(4))


if __name__ == "__main__":
    unittest.main(verbosity=2)
