"""Where leat takes libduckdb.so from: beside itself, the installed folder, the system; never from
the build tree that it was copied out of, or from where a stranger could have put it. The strangers'
library is a trap that says so when it is loaded."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

LEAT, BUILD = os.environ["LEAT"], os.environ["LEAT_BUILD"]
HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(BUILD, "libduckdb.so")
SPRUNG = "the trap is loaded"
STRANGER = 54321
TRAP = f"""#include <unistd.h>
__attribute__((constructor)) static void spring(void) {{
    static const char said[] = "{SPRUNG}\\n";
    if (write(2, said, sizeof said - 1) < 0) _exit(3);
}}
"""


@unittest.skipUnless(os.path.exists(LIBRARY), "skipped: built without DuckDB")
class Places(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.built.cleanup)
        source = os.path.join(cls.built.name, "trap.c")
        cls.trap = os.path.join(cls.built.name, "trap.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(TRAP)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", cls.trap, source],
                       check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.bin = os.path.join(self.root, "bin")
        self.lib = os.path.join(self.root, "lib", "leat")
        os.makedirs(self.bin)
        os.makedirs(self.lib)
        for place in (self.root, self.bin, os.path.dirname(self.lib), self.lib):
            os.chmod(place, 0o755)  # whatever the umask is
        self.leat = shutil.copy(LEAT, self.bin)

    def plant(self, folder):
        path = os.path.join(folder, "libduckdb.so")
        shutil.copyfile(self.trap, path)
        os.chmod(path, 0o644)
        return path

    def doctor(self, leat=None, **options):
        """(the path of the library that reads Parquet or None, all that was said of DuckDB)"""
        done = subprocess.run([leat or self.leat, "doctor", "--json"], capture_output=True,
                              text=True, check=False, **options)
        said = [finding["what"] for finding in json.loads(done.stdout)["findings"]
                if "DuckDB" in finding["what"]]
        self.assertTrue(said, done.stdout)
        path = said[0].partition("reads Parquet (")[2].rstrip(")")
        return path or None, "\n".join(said) + "\n" + done.stderr

    def must_reject(self, *words):
        """The trap is not loaded, and doctor says why."""
        path, said = self.doctor()
        self.assertNotIn(SPRUNG, said)
        self.assertNotIn(self.root, path or "")
        for word in ("is not used", *words):
            self.assertIn(word, said)

    def test_trap_springs(self):
        self.plant(self.bin)
        self.assertIn(SPRUNG, self.doctor()[1])

    def test_without_functions(self):
        self.plant(self.bin)
        path, said = self.doctor()
        self.assertIsNone(path)
        self.assertRegex(said, rf'DuckDB at "{self.bin}/libduckdb\.so" \(unknown version\): '
                               r"function duckdb_\w+ is missing, so this version is too old or "
                               r"too new; run scripts/install\.sh")

    def test_damaged(self):
        with open(os.path.join(self.bin, "libduckdb.so"), "w", encoding="ascii") as file:
            file.write("not a library, but a text of more bytes than the header of one\n" * 9)
        self.assertIn(f"{self.bin}/libduckdb.so: invalid ELF header", self.doctor()[1])

    def test_build_tree(self):
        self.assertEqual(self.doctor(LEAT)[0], os.path.realpath(LIBRARY))

    def test_copy_leaves_build_tree(self):
        path, said = self.doctor()
        for place in (LIBRARY, os.path.realpath(LIBRARY)):
            self.assertNotEqual(path, place)
            self.assertNotIn(place + ",", said)

    @unittest.skipIf(os.environ.get("LEAT_SANITIZE"), "skipped: debug information has paths")
    def test_no_path_of_the_build(self):
        for name in (LEAT, os.path.join(BUILD, "libleat.so")):
            with open(name, "rb") as file:
                data = file.read()
            for folder in ("src", "include", ".deps", os.path.basename(BUILD)):
                place = os.path.join(HOME, folder) + os.sep
                self.assertFalse(place.encode() in data, f"{name} has {place}")

    def test_beside_and_installed(self):
        for folder in (self.lib, self.bin):
            os.symlink(os.path.realpath(LIBRARY), os.path.join(folder, "libduckdb.so"))
            path, said = self.doctor()
            self.assertEqual((path, "is not used" in said), (os.path.realpath(LIBRARY), False))

    def test_run_through_a_link(self):
        os.symlink(os.path.realpath(LIBRARY), os.path.join(self.lib, "libduckdb.so"))
        other = os.path.join(self.root, "other")
        os.mkdir(other)
        self.plant(other)
        os.symlink(self.leat, os.path.join(other, "leat"))
        path, said = self.doctor(os.path.join(other, "leat"))
        self.assertEqual((path, SPRUNG in said), (os.path.realpath(LIBRARY), False))

    def test_open_folder(self):
        for mode in (0o777, 0o1777):
            for folder in (self.bin, self.lib):
                with self.subTest(mode=oct(mode), folder=folder):
                    path = self.plant(folder)
                    os.chmod(folder, mode)
                    self.must_reject("every user may write to", folder)
                    os.chmod(folder, 0o755)
                    os.unlink(path)

    def test_open_folder_above(self):
        self.plant(self.lib)
        for folder in (os.path.dirname(self.lib), self.root):
            os.chmod(folder, 0o777)
            self.must_reject("every user may write to", folder)
            os.chmod(folder, 0o755)
        os.chmod(self.root, 0o1777)  # as /tmp, where leat has folders of its own
        self.assertIn(SPRUNG, self.doctor()[1])

    def test_open_file(self):
        os.chmod(self.plant(self.bin), 0o646)
        self.must_reject("every user may write to")

    def test_link_to_open_folder(self):
        other = os.path.join(self.root, "other")
        os.mkdir(other)
        path = self.plant(other)
        os.chmod(other, 0o1777)
        os.symlink(path, os.path.join(self.bin, "libduckdb.so"))
        self.must_reject(other)

    def test_next_one_is_used(self):
        os.chmod(self.plant(self.bin), 0o646)
        os.symlink(os.path.realpath(LIBRARY), os.path.join(self.lib, "libduckdb.so"))
        path, said = self.doctor()
        self.assertEqual((path, SPRUNG in said), (os.path.realpath(LIBRARY), False))
        self.assertIn("is not used", said)

    def test_current_folder(self):
        here = os.path.join(self.root, "here")
        os.mkdir(here)
        self.plant(here)
        self.assertNotIn(SPRUNG, self.doctor(cwd=here)[1])

    @unittest.skipUnless(os.geteuid() == 0, "skipped: only root gives files away")
    def test_strangers(self):
        link = os.path.join(self.bin, "libduckdb.so")
        for name, make in (
                ("file", lambda: os.chown(self.plant(self.bin), STRANGER, 0)),
                ("link", lambda: (os.symlink(self.plant(self.lib), link),
                                  os.chown(link, STRANGER, 0, follow_symlinks=False)))):
            with self.subTest(name):
                make()
                if name == "link":
                    os.chmod(os.path.join(self.lib, "libduckdb.so"), 0o646)
                self.must_reject(f"user {STRANGER} owns")
                os.unlink(link)

    @unittest.skipUnless(os.geteuid() == 0, "skipped: only root gives files away")
    def test_owner_of_leat(self):
        os.chown(self.plant(self.bin), STRANGER, 0)
        os.chown(self.bin, STRANGER, 0)
        os.chown(self.leat, STRANGER, 0)  # who could have changed leat itself
        self.assertIn(SPRUNG, self.doctor()[1])

    @unittest.skipUnless(os.geteuid() == 0, "skipped: only root gives files away")
    def test_groups(self):
        path = self.plant(self.lib)
        os.chown(path, 0, STRANGER)
        os.chmod(path, 0o664)
        self.must_reject(f"group {STRANGER} may write to")
        os.chown(self.bin, 0, STRANGER)
        os.chmod(self.bin, 0o775)  # who may exchange leat itself
        self.assertIn(SPRUNG, self.doctor()[1])


if __name__ == "__main__":
    unittest.main()
