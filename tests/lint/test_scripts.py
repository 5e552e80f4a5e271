"""Every script for people prints the comment or docstring at its head for --help, and does nothing
else; what it does not know it refuses with status 2, before it does anything."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = ["bench.sh", "check", "demo.sh", "install.sh", "lint", "maxtext-env.sh", "python-env.sh"]
# Enough to print help, and nothing that could install, fetch or build.
TOOLS = ["dirname", "env", "sed", "sh"]


def head_of(path):
    """The prose at the head of a script."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "python3" in text.split("\n", maxsplit=1)[0]:
        return re.search(r'"""(.*?)"""', text, re.DOTALL).group(1).strip()
    lines = re.match(r"#![^\n]*\n((?:#[^\n]*\n)+)", text).group(1).splitlines()
    return "\n".join(re.sub("^# ?", "", line) for line in lines)


def files_in(folder):
    return sorted((at, *folders, *names) for at, folders, names in os.walk(folder)
                  if "__pycache__" not in at)


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-scripts-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = os.path.join(self.folder, "tree")
        self.tools = os.path.join(self.folder, "tools")
        shutil.copytree(os.path.join(HOME, "scripts"), os.path.join(self.tree, "scripts"))
        os.mkdir(self.tools)
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(self.tools, tool))
        os.symlink(os.path.realpath(sys.executable), os.path.join(self.tools, "python3"))

    def run_script(self, name, *words):
        return subprocess.run([os.path.join("scripts", name), *words], cwd=self.tree, text=True,
                              capture_output=True, timeout=60, check=False,
                              env={"PATH": self.tools, "PYTHONDONTWRITEBYTECODE": "1"})

    def test_all_are_known(self):
        every = {name for name in os.listdir(os.path.join(HOME, "scripts"))
                 if os.access(os.path.join(HOME, "scripts", name), os.X_OK)
                 and os.path.isfile(os.path.join(HOME, "scripts", name))}
        self.assertEqual(every - {"oracle-python.sh"}, set(SCRIPTS)) # that one is for ctest

    def test_help(self):
        before = files_in(self.tree)
        for name in SCRIPTS:
            with self.subTest(name):
                done = self.run_script(name, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(head_of(os.path.join(HOME, "scripts", name)), done.stdout)
                self.assertNotIn("set -", done.stdout)
                self.assertEqual(files_in(self.tree), before)

    def test_unknown_words(self):
        before = files_in(self.tree)
        for name in SCRIPTS:
            if name == "maxtext-env.sh":
                continue # its words are a command
            with self.subTest(name):
                done = self.run_script(name, "--no-such-thing")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertNotEqual(done.stderr, "")
                self.assertEqual(files_in(self.tree), before)


if __name__ == "__main__":
    unittest.main()
