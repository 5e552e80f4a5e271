"""With --help, every script that users run prints the comment or docstring at its head, and does
nothing else; it refuses unknown words with status 2, before it does anything."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = ["bare-debian.sh", "bench.sh", "check", "cross-arm64.sh", "demo-class.sh", "demo.sh",
           "find-clang.sh", "install.sh", "lint", "maxtext-env.sh", "page_picture.py",
           "pictures.sh", "python-env.sh", "python_abi.py", "run_pages.py",
           "schemas.py", "try-postgres.sh"]
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
                              capture_output=True, timeout=120, check=False,
                              env={"PATH": self.tools, "PYTHONDONTWRITEBYTECODE": "1"})

    def test_all_are_known(self):
        every = {name for name in os.listdir(os.path.join(HOME, "scripts"))
                 if os.access(os.path.join(HOME, "scripts", name), os.X_OK)
                 and os.path.isfile(os.path.join(HOME, "scripts", name))}
        for_ctest = {"cpu-seconds.sh", "oracle-python.sh"}
        self.assertEqual(every - for_ctest, set(SCRIPTS))

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

    def test_libraries_of_the_debian_with_maxtext(self):
        """libleat.so is loaded there: each library that it is linked with must be in its list."""
        library = os.path.join(os.environ.get("LEAT_BUILD", os.path.join(HOME, "build")),
                               "libleat.so")
        if not os.path.exists(library) or shutil.which("readelf") is None:
            self.skipTest("skipped: no libleat.so, or no readelf")
        done = subprocess.run(["readelf", "-d", library], capture_output=True, text=True,
                              check=True)
        needed = set(re.findall(r"NEEDED.*\[(lib\w+)", done.stdout)) - {"libc", "libm"}
        with open(os.path.join(HOME, "scripts", "maxtext-env.sh"), encoding="utf-8") as file:
            packages = ",".join(re.findall(r"^packages=(\S+)", file.read(), re.M)).split(",")
        names = {"libz": "zlib1g", "libcrypto": "libssl", "libbrotlienc": "libbrotli1",
                 "libbrotlidec": "libbrotli1"}
        for name in sorted(needed):
            wanted = names.get(name, name)
            if name.startswith(("libasan", "libtsan", "libubsan")):
                continue
            with self.subTest(name):
                self.assertTrue(any(package.startswith(wanted) for package in packages))

    def test_install_without_apt(self):
        for tool in ("tr", "grep"):
            os.symlink(shutil.which(tool), os.path.join(self.tools, tool))
        done = self.run_script("install.sh")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "missing: gcc .* libcmocka-dev .*has no apt-get")
        os.symlink("/bin/false", os.path.join(self.tools, "dnf"))
        done = self.run_script("install.sh")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "dnf install gcc glibc-devel .* libcmocka-devel")

    def test_install_without_clang_format(self):
        """A tool that only lint uses is not required, and nothing is installed for it alone."""
        for name in ("apt-get", "sudo"):
            path = os.path.join(self.tools, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho {name} was run\n")
            os.chmod(path, 0o755)
        with open(os.path.join(self.tree, "scripts", "lint"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 1\n")
        for path in ("lib/libduckdb.so", "include/duckdb.h"):
            path = os.path.join(self.tree, ".deps", "duckdb", path)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8"):
                pass
        done = subprocess.run(["scripts/install.sh"], cwd=self.tree, text=True, timeout=120,
                              capture_output=True, check=False,
                              env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no clang-format 14: lint does not check the format of", done.stdout)
        self.assertNotIn("was run", done.stdout)


if __name__ == "__main__":
    unittest.main()
