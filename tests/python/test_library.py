"""Which libleat.so the package opens: the one beside it, or the one that LEAT_LIBRARY names."""
import os
import re
import shutil
import subprocess
import sys
import unittest

import support

support.need("numpy")

PACKAGE = os.path.join(support.BUILD, "python")
HERE = os.path.join(PACKAGE, "leat", "libleat.so")
SHOW = """
import leat
print(leat.__version__)
for line in open("/proc/self/maps"):
    if "libleat" in line or "a b" in line:
        print(line.split(maxsplit=5)[5].strip())
"""


class Library(unittest.TestCase):
    def opened(self, library, folder=None):
        """(paths of the libleat that was opened, its messages)"""
        environment = os.environ | {"PYTHONPATH": PACKAGE}
        environment.pop("LEAT_LIBRARY", None)
        if library is not None:
            environment["LEAT_LIBRARY"] = library
        done = subprocess.run([sys.executable, "-c", SHOW], cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return set(done.stdout.splitlines()[1:]), done.stderr

    def test_which(self):
        folder = os.path.join(support.folder(), "a b")
        os.mkdir(folder)
        other = os.path.join(folder, "other.so")
        shutil.copy(HERE, other)
        for library, expected in ((None, HERE), ("", HERE), (other, other), ("other.so", other),
                                  ("./other.so", other)):
            with self.subTest(library=library):
                found, messages = self.opened(library, folder)
                self.assertEqual((found, messages),
                                 ({os.path.realpath(expected)}, ""))

    def test_refused(self):
        lines = (("/nowhere/libleat.so", r"cannot be loaded from LEAT_LIBRARY=/nowhere/libleat.so: "
                  r".*; name the file libleat.so, or unset LEAT_LIBRARY"),
                 (__file__, "cannot be loaded from LEAT_LIBRARY=.*invalid ELF header"),
                 (self.another("libc.so.6"), r"does not have the function leat_\w+, which this"
                  ".*; unset LEAT_LIBRARY to use"),
                 (self.old(), r"is libleat 9\.1\.0, but this package needs \d+\.\d+\.\d+; unset"))
        for library, words in lines:
            with self.subTest(library=library):
                found, messages = self.opened(library)
                self.assertEqual(found, set())
                self.assertRegex(messages.splitlines()[-1], "^ImportError: .*" + words)

    def test_another_commit(self):
        """It is opened, and a warning names both commits."""
        commit = re.search(r"^build +commit +([0-9a-f]{40})", support.run("version"), re.MULTILINE)
        if commit is None:
            self.skipTest("this build does not know its commit")
        path = self.changed(commit[1].encode(), b"0" * 40, "libleat-commit.so")
        found, messages = self.opened(path)
        self.assertEqual(found, {os.path.realpath(path)})
        self.assertRegex(messages, "RuntimeWarning: LEAT_LIBRARY=.*libleat-commit.so is libleat of "
                         f"commit 0{{40}}.*, but this package is of commit {commit[1]}.*; use both "
                         "of one commit, or unset LEAT_LIBRARY")

    def another(self, name):
        """The path of a library that every Python has."""
        with open("/proc/self/maps", encoding="utf-8") as file:
            return next(line.split(maxsplit=5)[5].strip() for line in file if name in line)

    def old(self):
        """libleat with another version's number in the text that it returns."""
        version = support.run("--version").split()[1].encode()
        self.assertEqual(len(version), 5)
        return self.changed(b"\0" + version + b"\0", b"\0" + b"9.1.0" + b"\0", "old.so")

    def changed(self, text, other, name):
        """The path of a libleat with another text of the same length."""
        path = os.path.join(support.folder(), name)
        with open(HERE, "rb") as file:
            library = file.read()
        self.assertIn(text, library)
        with open(path, "wb") as file:
            file.write(library.replace(text, other))
        return path


if __name__ == "__main__":
    unittest.main()
