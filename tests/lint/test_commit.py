"""cmake/commit.cmake: which commit a build reports, for sources that git knows and others."""
import os
import re
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cmake/commit.cmake")
NOBODY = {name: "tester" for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")} | {
    name: "tester@example.org" for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")}


class Commit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="leat-commit-")
        self.addCleanup(folder.cleanup)
        self.top = os.path.join(os.path.realpath(folder.name), "a b")
        self.output = os.path.join(folder.name, "commit.c")
        os.mkdir(self.top)

    def git(self, *words):
        # of the folder alone, whatever the person has set
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("GIT_")}
        return subprocess.run(["git", "-C", self.top, *words], check=True, text=True,
                              stdout=subprocess.PIPE,
                              env=environment | NOBODY | {"GIT_CONFIG_GLOBAL": os.devnull}
                              ).stdout.strip()

    def begin(self):
        self.git("init", "-q")
        self.write("a")
        self.git("add", "source.c")
        self.git("commit", "-q", "-m", "first")
        return self.git("rev-parse", "HEAD")

    def write(self, text):
        with open(os.path.join(self.top, "source.c"), "w", encoding="utf-8") as file:
            file.write(text)

    def commit_of(self, source, *more):
        subprocess.run(["cmake", "-D", f"SOURCE={source}", "-D", f"OUTPUT={self.output}", *more,
                        "-P", SCRIPT], check=True)
        with open(self.output, encoding="utf-8") as file:
            return re.search(r'return "(.*)";', file.read())[1]

    def test_of_a_clone(self):
        first = self.begin()
        self.assertEqual(self.commit_of(self.top), first)
        before = os.stat(self.output).st_mtime_ns
        with open(os.path.join(self.top, "new"), "w", encoding="utf-8"):
            pass  # a file that git does not track is not one of the sources
        self.assertEqual(self.commit_of(self.top), first)
        self.assertEqual(os.stat(self.output).st_mtime_ns, before)  # nothing is built again
        self.write("b")
        self.assertEqual(self.commit_of(self.top), first + ", with changes")
        self.git("commit", "-q", "-a", "-m", "second")
        second = self.git("rev-parse", "HEAD")
        self.assertNotEqual(second, first)
        self.assertEqual(self.commit_of(self.top), second)

    def test_not_of_a_clone(self):
        self.assertEqual(self.commit_of(self.top), "unknown")
        self.assertEqual(self.commit_of(self.top, "-D", "COMMIT=v1"), "v1")
        self.git("init", "-q")  # which has no commit
        self.assertEqual(self.commit_of(self.top), "unknown")
        self.begin()
        inner = os.path.join(self.top, "leat-0.1.0")
        os.mkdir(inner)
        self.assertEqual(self.commit_of(inner), "unknown")


if __name__ == "__main__":
    unittest.main()
