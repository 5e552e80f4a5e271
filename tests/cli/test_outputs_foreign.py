"""No command replaces a file that leat did not write, unless with --replace: every option of the
option tables that names an output, each with a file of somebody else. Runs the command named by
LEAT (default: build/leat)."""
import os
import shutil
import subprocess
import tempfile
import unittest

import folder
import image_set
from command import BUILD, LIMIT, leat

ROWS = os.path.join(BUILD, "tests", "leat_option_rows")
SMALL = ["--width", "4", "--latent", "8", "--unit-size", "8", "--micro-batch", "8",
         "--sample-every", "0"]
FEW = ["--steps", "1", "--sample-every", "0"]
THEIRS = b"PAR1 measurements of a year, of which there is one copy"

DATA = None  # a folder with `set`, `cache`, `faces`, `run` and `detector`

# Files, by their mark: a word of the message, and the command without the file.
FILES = {
    ("inspect", "html"): [("page", "inspect", "set"), ("page", "inspect", "cache"),
                          ("page", "inspect", "faces")],
    ("batches", "report"): [("page", "batches", "set", "--steps", "0:1"),
                            ("page", "batches", "cache", "--steps", "0:1"),
                            ("page", "batches", "cache", "--split", "all")],
    ("batches", "save-state"): [("state", "batches", "set", "--steps", "0:1"),
                                ("state", "batches", "cache", "--steps", "0:1"),
                                ("state", "batches", "faces", "--batch", "8", "--steps", "0:1")],
    ("cat", "output"): [("PNG", "cat", "faces", "--image", "3")],
    ("sample", "output"): [("PNG", "sample", "run", "--count", "2")],
    ("eval", "html"): [("page", "eval", "detector", "cache")],
}
# Folders of figures.
FIGURES = {
    ("inspect", "figures"): [("inspect", "faces")],
    ("eval", "figures"): [("eval", "detector", "cache")],
    ("batches", "figures"): [("batches", "set", "--steps", "0:1", "--report", "{page}")],
}
# Data: never replaced without --replace, or never at all; a suffix if it is a file.
SYNTH = {
    ("synth probes", "output"): [(".csv", "synth", "probes", "-n", "100"),
                                 (".parquet", "synth", "probes", "-n", "100"),
                                 ("", "synth", "probes", "-n", "100")],
    ("synth can", "output"): [("", "synth", "can", "--frames", "1900")],
    ("synth images", "output"): [(".zip", "synth", "images", "--count", "2"),
                                 ("", "synth", "images", "--count", "2")],
}
FOLDERS = {
    ("ingest probes", "output"): ("ingest", "probes", "rows.csv"),
    ("ingest can", "output"): ("ingest", "can", "logs"),
    ("ingest images", "output"): ("ingest", "images", "photos"),
    ("train dcgan", "output"): ("train", "dcgan", "faces", "--steps", "1", *SMALL),
    ("train vgae", "output"): ("train", "vgae", "cache", *FEW),
    ("train gat", "output"): ("train", "gat", "cache", *FEW),
    ("import", "output"): ("import", "model"),
    ("export", "output"): ("export", "run"),
}
# What a test below names.
OTHERS = {("train dcgan", "export"), ("train vgae", "export"), ("train gat", "export"),
          ("coordinate", "export"), ("work", "key"), ("ingest probes", "temp"),
          ("ingest can", "temp"), ("ingest can", "stage"), ("batches", "stage"),
          ("eval", "scores")}
# Options whose files are only read, and one whose RUN is a name.
READ = {("batches", "addresses"), ("batches", "resume"),
        ("batches", "client-weights"),
        ("batches", "curriculum"), ("train dcgan", "config"), ("train dcgan", "init"),
        ("train vgae", "config"), ("train vgae", "init"), ("train gat", "config"),
        ("train gat", "init"), ("train vgae", "curriculum"), ("train gat", "curriculum"),
        ("coordinate", "data"), ("coordinate", "config"), ("coordinate", "init"),
        ("work", "data"), ("import", "data"), ("invite", "run"), ("doctor", "temp"),
        ("ingest can", "like")}


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-foreign-")
    for words in (("synth", "probes", "-n", "2000", "-o", at("rows.csv")),
                  ("ingest", "probes", at("rows.csv"), "-o", at("set")),
                  ("synth", "can", "--frames", "20000", "-o", at("logs")),
                  ("ingest", "can", at("logs"), "--vocab", "benign", "-o", at("caches")),
                  ("synth", "images", "--count", "2", "-o", at("photos"))):
        leat(*words, status=0)
    os.rename(at("caches", os.listdir(at("caches"))[0]), at("cache"))
    image_set.make(at("faces"), 16, 64)
    leat("train", "dcgan", at("faces"), "-o", at("run"), "--steps", "1", *SMALL, status=0)
    leat("export", at("run"), "-o", at("model"), status=0)
    leat("train", "vgae", at("cache"), "-o", at("detector"), "--steps", "1", status=0)


def tearDownModule():
    shutil.rmtree(DATA)


def at(*names):
    return os.path.join(DATA, *names)


def rows():
    """(command, option), kind and placeholder of every option."""
    done = subprocess.run([ROWS], capture_output=True, text=True, timeout=LIMIT, check=True)
    for line in done.stdout.splitlines():
        command, option, kind, value = line.split("\t")
        yield (command, option), kind, value


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tree(path):
    """The bytes of all files below a folder."""
    return {os.path.join(where, name): read(os.path.join(where, name))
            for where, _, names in os.walk(path) for name in names}


class Tables(unittest.TestCase):
    def test_every_output_is_tested(self):
        outputs = {row for row, kind, _ in rows() if kind == "output"}
        tested = {*FILES, *FIGURES, *SYNTH, *FOLDERS, *OTHERS}
        self.assertEqual(outputs - tested, set(), "an output without a case in this file")
        self.assertEqual(tested - outputs, set())

    def test_no_output_is_declared_as_something_else(self):
        """An option whose value may be a file is declared as an output, or known to be read."""
        others = {row for row, kind, value in rows()
                  if kind == "path" or (kind == "text" and any(
                      word in value for word in ("FILE", "DIR", "PATH", "RUN")))}
        self.assertEqual(others, READ, "LEAT_SETTING_OUTPUT if it is written, else name it here")

    def test_files_and_figures_have_the_option(self):
        all_rows = {row for row, _, _ in rows()}
        for command, _ in {*FILES, *FIGURES, *SYNTH, ("export", "output"),
                           ("train dcgan", "export"), ("coordinate", "export")}:
            self.assertIn((command, "replace"), all_rows)


class Foreign(folder.Folder):
    def clear(self):
        shutil.rmtree(self.top)
        os.mkdir(self.top)

    def run_on(self, words, *more):
        """Runs a command whose second or third word is data."""
        words = [at(word) if os.path.exists(at(word)) and i < 3 else word
                 for i, word in enumerate(words)]
        return leat(*[word.replace("{page}", self.at("page.html")) for word in words], *more)

    def refused(self, done, *texts):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_files(self):
        for (_, option), cases in FILES.items():
            for kind, *words in cases:
                with self.subTest(words=words, option=option):
                    path = self.write("theirs", THEIRS)
                    out = (f"--{option}", path)
                    self.refused(self.run_on(words, *out), f'"{path}" exists', f"a {kind} that",
                                 "--replace")
                    self.assertEqual(tree(self.top), {path: THEIRS})
                    for more in (["--replace"], []):
                        done = self.run_on(words, *out, *more)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertNotEqual(read(path), THEIRS)
                        self.assertEqual(list(tree(self.top)), [path])
                    self.clear()

    def test_scores(self):
        """Not even its own are replaced: nothing tells them from scores of other programs."""
        words, path = ("eval", "detector", "cache"), self.write("theirs", THEIRS)
        for replaced in (False, True, False):
            before = read(path)
            out = ("--scores", path, *(["--replace"] if replaced else []))
            done = self.run_on(words, *out)
            if replaced:
                self.assertEqual(done.returncode, 0, done.stderr)
            else:
                self.refused(done, f'"{path}"', "--replace")
            self.assertEqual(read(path) != before, replaced)

    def test_figures(self):
        for cases in FIGURES.values():
            for words in cases:
                with self.subTest(words=words):
                    out = ("--figures", self.at("figures"))
                    for _ in range(2):  # new, and over its own
                        done = self.run_on(words, *out)
                        self.assertEqual(done.returncode, 0, done.stderr)
                    names = sorted(os.listdir(self.at("figures")))
                    for name in (names[0], names[1], "notes.txt"):
                        path = self.write(f"figures/{name}", THEIRS)
                        before = tree(self.at("figures"))
                        self.refused(self.run_on(words, *out), name, "--replace")
                        self.assertEqual(tree(self.at("figures")), before)
                        done = self.run_on(words, *out, "--replace")
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertEqual(read(path) == THEIRS, name == "notes.txt")
                    self.clear()

    def test_synthetic_data(self):
        for cases in SYNTH.values():
            for suffix, *words in cases:
                with self.subTest(words=words, suffix=suffix):
                    out = self.at("theirs" + suffix)
                    if suffix == "":
                        os.mkdir(out)
                    path = self.write(os.path.relpath(out if suffix else out + "/x", self.top),
                                      THEIRS)
                    self.refused(leat(*words, "-o", out), "--replace")
                    self.assertEqual(tree(self.top), {path: THEIRS})
                    done = leat(*words, "-o", out, "--replace")
                    if suffix == "":  # never with files of others in it
                        self.refused(done, "choose another folder")
                        self.assertEqual(tree(self.top), {path: THEIRS})
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertNotEqual(read(path), THEIRS)
                    self.clear()

    def test_folders(self):
        """Files of others in the folder: the command refuses it, or leaves them."""
        for (command, _), words in FOLDERS.items():
            for name in ("theirs", "README.md", "config.json"):
                with self.subTest(words=words, name=name):
                    os.mkdir(self.at("out"))
                    path = self.write(f"out/{name}", THEIRS)
                    with_replace = (command, "replace") in {row for row, _, _ in rows()}
                    for more in (["--replace"], []) if with_replace and name == "theirs" else ([],):
                        self.run_on(words, "-o", self.at("out"), *more)
                        self.assertEqual(read(path), THEIRS)
                    shutil.rmtree(self.at("out"))

    def test_files_where_a_folder_is_meant(self):
        path = self.write("theirs", THEIRS)
        for words in [*FOLDERS.values(), *[case[1:] for cases in SYNTH.values()
                                           for case in cases if case[0] == ""]]:
            with self.subTest(words=words):
                self.assertNotEqual(self.run_on(words, "-o", path).returncode, 0)
                self.assertEqual(tree(self.top), {path: THEIRS})

    def test_an_export_with_each_checkpoint(self):
        """What its user put there for a file of leat's is neither replaced nor in the way of the
        run when it is noticed."""
        for model, data, settings, weights in (
                ("dcgan", "faces", SMALL, ("samples.png", "discriminator.safetensors",
                                           "generator.safetensors")),
                ("vgae", "cache", FEW[2:], ("vgae.safetensors",)),
                ("gat", "cache", FEW[2:], ("gat.safetensors",))):
            self.clear()
            self.export_with_each_checkpoint(("train", model, data, "-o", self.at("run"),
                                              "--export", self.at("model"), *settings), weights)

    def export_with_each_checkpoint(self, words, weights):
        self.assertEqual(self.run_on(words, "--steps", "1").returncode, 0)
        self.assertEqual(self.run_on(words, "--steps", "2", "--resume").returncode, 0)
        for name in ("README.md", "config.json", *weights):
            with self.subTest(name=name, of=words[1]):
                ours = read(self.at("model", name))
                path = self.write(f"model/{name}", THEIRS)
                before = tree(self.top)
                self.refused(self.run_on(words, "--steps", "3", "--resume"), "use another folder")
                self.assertEqual(tree(self.top), before)
                self.write(f"model/{name}", ours)
                self.assertNotEqual(read(path), THEIRS)
        for name in (weights[-1], "config.json"):
            path = self.write(f"model/{name}", THEIRS)
        done = self.run_on(words, "--steps", "3", "--resume", "--replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(read(path), THEIRS)
        done = self.run_on(words[:5], "--steps", "4", "--resume", "--replace")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--replace is for --export", done.stderr)

    def test_a_link_that_leads_nowhere(self):
        """It is replaced itself, and nothing is left of it."""
        for cases in SYNTH.values():
            for suffix, *words in cases:
                if suffix:
                    self.clear()
                    os.symlink("nowhere", self.at("x" + suffix))
                    leat(*words, "-o", self.at("x" + suffix), status=0)
                    self.assertEqual(os.listdir(self.top), ["x" + suffix])
                    self.assertFalse(os.path.islink(self.at("x" + suffix)))

    def test_work_folders_and_keys(self):
        path = self.write("theirs", THEIRS)
        self.refused(leat("work", "postgresql://127.0.0.1:1/none", "--key", path), "theirs")
        for words in (("ingest", "probes", at("rows.csv"), "--temp"),
                      ("ingest", "can", at("logs"), "--temp"),
                      ("ingest", "can", at("logs"), "--stage")):
            leat(*words, self.top, "-o", self.at("out"), status=0)
            self.assertEqual(read(path), THEIRS, words)
            shutil.rmtree(self.at("out"))
        leat("batches", at("cache"), "--stage", self.top, "--steps", "0:1", status=0)
        self.assertEqual(read(path), THEIRS)

    def test_the_data_itself(self):
        """A file of the data set that is read, as the name of an output."""
        before = tree(DATA)
        files = [name for name in before if name.startswith((at("set") + "/", at("cache") + "/"))]
        self.assertGreater(len(files), 8)
        for path in [*files, at("rows.csv")]:
            data = path if path == at("rows.csv") else at(os.path.relpath(path, DATA).split("/")[0])
            if path == data:
                data = at("set")
            for words in (("inspect", data, "--html", path),
                          ("batches", data, "--steps", "0:1", "--save-state", path)):
                self.refused(leat(*words), "--replace")
        self.assertEqual(tree(DATA), before)

    def test_replace_alone(self):
        for words in (("inspect", "set"), ("batches", "set"), ("cat", "faces")):
            done = self.run_on(words, "--replace")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--replace requires an option that names a file", done.stderr)


if __name__ == "__main__":
    unittest.main()
