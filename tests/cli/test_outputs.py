"""What commands write: files that appear whole or not at all and touch nothing else, texts that
command no terminal, rejected.csv that begins no formula. Runs the command named by LEAT (default:
build/leat)."""
import csv
import glob
import json
import os
import pty
import random
import shutil
import stat
import subprocess
import tempfile
import unittest

import command
import hostile
from command import LEAT, LIMIT
from held import Held

HEAD = "event_time,src_addr,dst_addr,ip_version,rtt\n"

DATA = None  # a folder with `set`, a data set, and `cache`, a CAN cache


def leat(*words, **more):
    return command.leat(*words, text=False, **more)


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-outputs-")
    for words in (("synth", "probes", "-n", "2000", "-o", f"{DATA}/rows.csv"),
                  ("ingest", "probes", f"{DATA}/rows.csv", "-o", f"{DATA}/set"),
                  ("synth", "can", "--frames", "5000", "--vehicles", "1", "-o", f"{DATA}/logs"),
                  ("ingest", "can", f"{DATA}/logs", "-o", f"{DATA}/caches")):
        done = leat(*words)
        assert done.returncode == 0, done.stderr
    os.rename(f"{DATA}/caches/{os.listdir(DATA + '/caches')[0]}", f"{DATA}/cache")


def tearDownModule():
    shutil.rmtree(DATA)


class Drafts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-drafts-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def plant(self, *names):
        """Files and links of the names that drafts once had; returns a check of them."""
        with open(self.path("precious"), "w", encoding="ascii") as file:
            file.write("gold")
        for name in names:
            with open(self.path(name + ".tmp"), "w", encoding="ascii") as file:
                file.write("mine")
            os.symlink("precious", self.path("l" + name + ".tmp"))

        def check():
            for name in names:
                for path, text in ((name + ".tmp", "mine"), ("l" + name + ".tmp", "gold")):
                    with open(self.path(path), encoding="ascii") as file:
                        self.assertEqual(file.read(), text, path)
                self.assertTrue(os.path.islink(self.path("l" + name + ".tmp")))
            self.assertFalse([name for name in os.listdir(self.folder) if name.startswith(".")])
        return check

    def writers(self, name):
        """Commands that write a file of this name, and why each would fail."""
        path = self.path(name)
        return ((("inspect", f"{DATA}/set", "--html", path),
                 ("inspect", "/nowhere", "--html", path)),
                (("inspect", f"{DATA}/cache", "--html", path),
                 ("inspect", f"{DATA}/cache", "--rows", "1", "--html", path)),
                (("batches", f"{DATA}/set", "--steps", "0:2", "--report", path),
                 ("batches", "/nowhere", "--steps", "0:2", "--report", path)),
                (("batches", f"{DATA}/cache", "--report", path),
                 ("batches", f"{DATA}/cache", "--split", "no", "--report", path)),
                (("synth", "probes", "-n", "100", "--replace", "-o", path + ".csv"),
                 ("synth", "probes", "-n", "0", "-o", path + ".csv")))

    def test_other_names_are_not_touched(self):
        check = self.plant("r.html", "r.html.csv")
        for name in ("r.html", "lr.html"):
            for good, _ in self.writers(name):
                done = leat(*good)
                self.assertEqual((done.returncode, done.stderr), (0, b""), good)
                check()

    def test_failure_leaves_no_trace(self):
        check = self.plant("r.html")
        os.utime(self.folder, ns=(10 ** 18, 10 ** 18))
        for _, bad in self.writers("r.html"):
            done = leat(*bad)
            self.assertNotEqual(done.returncode, 0, bad)
            self.assertEqual(os.stat(self.folder).st_mtime_ns, 10 ** 18, bad)
        check()

    def test_links_and_permissions_stay(self):
        for good, _ in self.writers("l.html"):
            written = good[-1]
            target = self.path("target")
            with open(target, "w", encoding="ascii") as file:
                file.write("<!DOCTYPE html>\n<!-- Written by leat. -->\n")
            os.chmod(target, 0o640)
            os.symlink("target", written)
            done = leat(*good)
            self.assertEqual((done.returncode, done.stderr), (0, b""), good)
            self.assertTrue(os.path.islink(written), good)
            self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640, good)
            self.assertGreater(os.path.getsize(target), 100, good)
            os.unlink(written)
        before = os.umask(0o027)
        try:
            leat("synth", "probes", "-n", "10", "-o", self.path("new.csv"))
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("new.csv")).st_mode), 0o640)

    def test_folders_that_are_replaced_keep_theirs(self):
        for kind in ("probes", "can"):
            count = ("-n", "1000") if kind == "probes" else ("--frames", "5000", "--vehicles", "1")
            path = self.path(kind)
            self.assertEqual(leat("synth", kind, *count, "-o", path).returncode, 0)
            os.chmod(path, 0o700)
            os.symlink(kind, path + "-link")
            done = leat("synth", kind, *count, "--replace", "-o", path + "-link")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.islink(path + "-link"))
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o700)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["can", "can-link", "probes", "probes-link"])

    def test_what_is_not_a_file_stays(self):
        os.mkfifo(self.path("fifo"))
        for path in ("/dev/stdout", "/dev/null", self.path("fifo"), self.folder):
            done = leat("inspect", f"{DATA}/set", "--html", path)
            self.assertEqual((done.returncode, done.stdout), (1, b""), path)
            self.assertIn(b"give the path of a file to write", done.stderr)
            self.assertFalse(stat.S_ISREG(os.stat(path).st_mode) and path != "/dev/stdout")

    def test_long_names(self):
        for name in ("x" * 255, "\u20ac" * 85):
            done = leat("inspect", f"{DATA}/set", "--html", self.path(name))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertGreater(os.path.getsize(self.path(name)), 1000)
        done = leat("inspect", f"{DATA}/set", "--html", self.path("x" * 256))
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"name too long", done.stderr)

    def test_two_at_once(self):
        words = [LEAT, "inspect", f"{DATA}/set", "--html", self.path("r.html")]
        runs = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(6)]
        self.assertEqual([run.wait(timeout=LIMIT) for run in runs], [0] * 6)
        self.assertEqual(os.listdir(self.folder), ["r.html"])

    def test_what_a_kill_leaves(self):
        path = self.path("x.csv")
        with Held(["synth", "probes", "-n", "1000", "-o", path],
                  self.path(".x.csv.leat-*.tmp")) as process:
            process.kill()
        left = os.listdir(self.folder)
        self.assertEqual(len(left), 1)
        self.assertRegex(left[0], r"\A\.x\.csv\.leat-[0-9a-f]{16}\.tmp\Z")
        self.assertEqual(leat("synth", "probes", "-n", "10", "-o", path).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([left[0], "x.csv"]))

    def test_a_resumed_cache_holds_no_drafts(self):
        out = self.path("caches")
        first = leat("ingest", "can", f"{DATA}/logs", "-o", out)
        self.assertEqual(first.returncode, 0, first.stderr)
        cache = os.path.join(out, next(name for name in os.listdir(out) if name[0] != "."))
        complete = sorted(os.listdir(cache))
        shutil.rmtree(out)
        with Held(["ingest", "can", f"{DATA}/logs", "-o", out],
                  f"{glob.escape(out)}/.leat-*/scan.state") as process:
            process.kill()
        (work,) = glob.glob(f"{glob.escape(out)}/.leat-????????????????")
        draft = f"{work}/out/.cache_metadata.json.leat-0123456789abcdef.tmp"
        with open(draft, "w", encoding="ascii") as file:
            file.write("half")
        done = leat("ingest", "can", f"{DATA}/logs", "-o", out, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(cache)), complete)


def on_terminal(words, surroundings=None):
    """The command with stdout and stderr on a terminal; what it wrote there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([LEAT, *words], stdout=theirs, stderr=theirs,
                          env={**os.environ, "TERM": "dumb", **(surroundings or {})}) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError: # the terminal's other side is closed
                break
            if not part:
                break
            seen += part
        process.wait(timeout=LIMIT)
    os.close(ours)
    return seen.replace(b"\r\n", b"\n")


class Texts(unittest.TestCase):
    """File names as an attacker chooses them, through every command that shows them."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-texts-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.name = os.path.join(self.folder, hostile.NAME)

    def check(self, output, shown=hostile.SHOWN):
        text = output.decode("utf-8")  # strict
        self.assertEqual(hostile.unfit(text), set(), text)
        if shown is not None:
            self.assertIn(shown, text)
        return text

    def test_messages(self):
        for words in (("inspect", self.name), ("cat", self.name), ("batches", self.name),
                      ("doctor", self.name),
                      ("ingest", "probes", self.name, "-o", f"{self.folder}/out"),
                      ("ingest", "can", self.name, "-o", f"{self.folder}/out"),
                      ("inspect", f"{DATA}/set", "--html", f"{self.name}/no.html"),
                      (hostile.NAME,),
                      ("inspect", "--" + hostile.NAME),
                      ("cat", "--rows", hostile.NAME, f"{DATA}/set"),
                      ("synth", "probes", "-n", "10", "-o", f"{self.name}/no.csv")):
            done = leat(*words)
            self.assertNotEqual(done.returncode, 0, words)
            output = done.stdout + done.stderr
            self.check(output, "\\x1b]0;owned")
            if words[0] != "doctor":
                self.assertEqual(done.stderr.count(b"\n"), 1, words)

    def test_bytes_that_are_not_utf8(self):
        done = leat("inspect", self.folder.encode() + b"/\xff\xc3\xbc\x9b\xe2\x82")
        self.assertIn("/\\xff\u00fc\\x9b\\xe2\\x82", self.check(done.stderr, None))

    def test_words_of_all_commands(self):
        shutil.copytree(f"{DATA}/set", self.name)
        for words in (("inspect", self.name), ("inspect", "--verify", self.name),
                      ("doctor", self.name),
                      ("batches", self.name, "--steps", "0:2", "--report", self.name + ".html"),
                      ("synth", "probes", "-n", "10", "-o", self.name + ".csv"),
                      ("ingest", "probes", self.name + ".csv", "-o", self.name + "-set")):
            done = leat(*words)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)
            self.check(done.stdout)

    def test_caches(self):
        logs = f"{self.folder}/logs"
        shutil.copytree(f"{DATA}/logs", logs)
        for folder, _, names in list(os.walk(logs)):
            for name in names:
                os.rename(f"{folder}/{name}", f"{folder}/{hostile.NAME}{name}")
                with open(f"{folder}/{hostile.NAME}{name}", "a", encoding="utf-8") as file:
                    file.write(f"{hostile.NAME}\n")
            if folder != logs:
                os.rename(folder, f"{folder}{hostile.NAME}")
        done = leat("ingest", "can", f"{self.folder}/logs", "-o", self.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(done.stdout + done.stderr)
        cache = os.path.join(self.name, next(name for name in os.listdir(self.name)
                                             if not name.startswith(".")))
        page = self.folder + "/page.html"
        for words in (("inspect", cache, "--html", page), ("inspect", "--verify", cache),
                      ("cat", "--format", "words", "--graph", "0", cache),
                      ("batches", cache, "--explain", "0"), ("doctor", cache),
                      ("batches", cache, "--report", page)):
            done = leat(*words)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.check(done.stdout + done.stderr,
                       None if "--report" in words else hostile.SHOWN)
            if os.path.exists(page):
                with open(page, "rb") as file:
                    self.check(file.read())
                os.unlink(page)
        for words in (("inspect", "--json", cache), ("cat", "--graph", "0", cache)):
            text = self.check(leat(*words).stdout, "\\u001b]0;owned")
            self.assertIn(hostile.NAME, "\n".join(strings(json.loads(text))))

    def test_pages(self):
        shutil.copytree(f"{DATA}/set", self.name)
        page = self.folder + "/page.html"
        done = leat("inspect", self.name, "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(page, "rb") as file:
            self.check(file.read())

    def test_json_means_the_same(self):
        shutil.copytree(f"{DATA}/set", self.name)
        done = leat("inspect", "--json", self.name)
        text = self.check(done.stdout, "\\u009b2J\\u202ecod")
        self.assertEqual(json.loads(text)["path"], self.name)

    def test_strict_shows_the_row(self):
        path = self.folder + "/x.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(HEAD + "1556136000,\"" + hostile.NAME + "\",192.0.2.1,4,1\n")
        done = leat("ingest", "probes", path, "-o", self.folder + "/out", "--strict")
        self.assertEqual(done.returncode, 1)
        self.check(done.stderr)

    def test_names_on_a_terminal(self):
        shutil.copytree(f"{DATA}/set", self.name)
        for words in (("inspect", self.name), ("inspect", "--json", self.name),
                      ("cat", "/" + hostile.NAME)):
            self.check(on_terminal(words), "]0;owned")

    def test_letters_stay(self):
        path = self.folder + "/z\u00fcrich \u4eac\u90fd \U0001f600.csv"
        done = leat("synth", "probes", "-n", "10", "-o", path)
        self.assertIn(path, done.stdout.decode())
        self.assertIn(path, leat("synth", "probes", "-n", "10", "-o", path).stderr.decode())


def strings(value):
    """All texts of a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


def undo(cell):
    """A cell of rejected.csv as it was found, as docs/ingest.md says."""
    return cell[1:] if cell.startswith("'") else cell


FORMULA = tuple("=+-@\t\r")
NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"


class Rejected(unittest.TestCase):
    """What is set aside begins no formula in a spreadsheet, and can be had back."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-rejected-")
        self.addCleanup(shutil.rmtree, self.folder)

    def rejected(self, kind, path):
        out = self.folder + "/out"
        done = leat("ingest", kind, path, "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = out if kind == "probes" else os.path.join(
            out, next(name for name in os.listdir(out) if not name.startswith(".")))
        with open(found + "/rejected.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        shutil.rmtree(out)
        for row in rows:
            for cell in row.values():
                if cell.startswith(FORMULA):
                    self.assertRegex(cell, rf"\A{NUMBER}\Z")
        return rows

    def test_addresses(self):
        draw = random.Random(3)
        cells = ["=1+1", "+1", "-1", "-", "@x", "'", "''", "'=x", "'-1", "\tx", "\rx", "-1e5",
                 "-1e", "+.5", "-.", "=cmd|' /C calc'!A0", "=\"a\"\"b\"", "-1,5", "-2+3",
                 "=HYPERLINK(\"http://x\",\"y\")", "\u202e", "- 1", "-inf"]
        letters = "=+-@\t\r'\"01.eE, ax\n"
        for _ in range(3000):
            cells.append("".join(draw.choice(letters) for _ in range(draw.randint(1, 7))).strip(" ")
                         or "x")
        path = self.folder + "/=cells.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
            file.write(HEAD)
            for cell in cells:
                writer.writerow(["1556136000", "192.0.2.1", cell, "4", "1.5"])
            writer.writerow(["1556136000", "192.0.2.1", "192.0.2.2", "4", "1.5"])
        rows = self.rejected("probes", path)
        self.assertEqual([undo(row["dst_addr"]) for row in rows], cells)
        self.assertEqual({undo(row["src_addr"]) for row in rows}, {"192.0.2.1"})

    def test_a_failed_ping_stays(self):
        path = self.folder + "/x.csv"
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + "1556136000,nowhere,192.0.2.1,4,-1\n"
                       "1556136000,192.0.2.1,192.0.2.2,4,-inf\n"
                       "1556136000,192.0.2.1,192.0.2.2,4,1\n")
        rows = self.rejected("probes", path)
        self.assertEqual([row["rtt"] for row in rows], ["-1", "'-inf"])

    def test_names_of_files(self):
        os.chdir(self.folder)
        with open("=x.csv", "w", encoding="utf-8") as file:
            file.write(HEAD + "1556136000,nowhere,192.0.2.1,4,-1\n"
                       "1556136000,192.0.2.1,192.0.2.2,4,1\n")
        rows = self.rejected("probes", "=x.csv")
        os.chdir("/")
        self.assertEqual([row["file"] for row in rows], ["'=x.csv"])

    def test_lines_of_logs(self):
        cells = ["=1+1", "-1", "-x", "@SUM(A1)", "'", "'=x", "+", "\tx", "x=1"]
        os.makedirs(self.folder + "/logs")
        source = next(os.path.join(path, name) for path, _, names in os.walk(f"{DATA}/logs")
                      for name in names if name.endswith("-1.csv"))
        with open(source, encoding="ascii") as file:
            lines = file.readlines()
        shutil.copytree(f"{DATA}/logs", self.folder + "/more")
        copied = source.replace(f"{DATA}/logs", self.folder + "/more")
        with open(copied, "w", encoding="ascii") as file:
            file.writelines(lines[:100] + [cell + "\n" for cell in cells] + lines[100:])
        rows = self.rejected("can", self.folder + "/more")
        self.assertEqual([undo(row["text"]) for row in rows], cells)


if __name__ == "__main__":
    unittest.main()
