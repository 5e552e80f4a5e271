"""make alone installs nothing: what a build without DuckDB says, each time; where make install puts
things."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOUND = "-- leat: DuckDB at /usr/lib/libduckdb.so\n"
MISSING = "-- leat: DuckDB not found: Parquet input left out (scripts/install.sh fetches it)\n"


class Makefile(unittest.TestCase):
    def test_a_build_without_duckdb_says_so(self):
        with open(os.path.join(ROOT, "cmake", "libraries.cmake"), encoding="utf-8") as file:
            self.assertIn(MISSING[3:-1], file.read())  # what is looked for is what CMake says
        for log, says in ((FOUND, False), (MISSING, True)):
            for target in ("build", "all"):
                with self.subTest(target, says=says), tempfile.TemporaryDirectory() as folder:
                    shutil.copy(os.path.join(ROOT, "Makefile"), folder)
                    os.makedirs(os.path.join(folder, "build"))
                    for name, text in (("build.ninja", ""), ("configure.log", log)):
                        with open(os.path.join(folder, "build", name), "w",
                                  encoding="ascii") as file:
                            file.write(text)
                    cmake = os.path.join(folder, "cmake")  # a build that has nothing to do
                    with open(cmake, "w", encoding="ascii") as file:
                        file.write("#!/bin/sh\n")
                    os.chmod(cmake, 0o755)
                    path = folder + os.pathsep + os.environ["PATH"]
                    done = subprocess.run(["make", "-s", target, "WERROR="], cwd=folder,
                                          env={**os.environ, "PATH": path, "MAKEFLAGS": ""},
                                          capture_output=True, text=True, check=True)
                    self.assertEqual(done.stderr, "make: built without DuckDB, so leat cannot read "
                                     "Parquet; to add it, run scripts/install.sh, then make again\n"
                                     if says else "")

    def install(self, prefix):
        """What make install would do, with PREFIX as a shell passes it that expands no ~."""
        return subprocess.run(["make", "-n", "install", f"PREFIX={prefix}"], cwd=ROOT,
                              env={**os.environ, "HOME": "/opt/someone", "MAKEFLAGS": ""},
                              capture_output=True, text=True, check=False)

    def test_a_tilde_is_the_home_folder(self):
        for prefix, at in (("~/.local", "/opt/someone/.local"), ("~", "/opt/someone"),
                           ("/opt/~", "/opt/~"), ("there", os.path.join(ROOT, "there"))):
            with self.subTest(prefix):
                self.assertIn(f'--prefix "{at}"\n', self.install(prefix).stdout)

    def test_the_home_folder_of_another_is_refused(self):
        done = self.install("~other/.local")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("PREFIX=~other/.local: the home folder of another user is not looked up; "
                      "write its full path", done.stderr)
        self.assertNotIn("cmake", done.stdout)


if __name__ == "__main__":
    if shutil.which("make") is None:
        print("skipped: no make")
        sys.exit(77)
    unittest.main()
