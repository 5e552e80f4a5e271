"""The frame of the command: help, manual pages, wrong usage, exit status, pipes, progress, signals.

Runs the command named by LEAT (default: build/leat); LEAT_UPDATE=1 writes docs/man anew.
"""
# TSan: the command's progress and signals have threads of their own.
import json
import os
import platform
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import held
from command import BUILD, LEAT, LIMIT, ROOT, leat

MAN = os.path.join(ROOT, "docs", "man")
DEFAULTS = os.path.join(BUILD, "tests", "cli_tool_defaults")


def commands():
    lines = leat("--help").stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    return [re.split(r"  +", line.strip())[0] for line in lines]


# Defaults of the command itself: the library has no such option.
OWN_DEFAULTS = {("ingest can", "preset", "default"), ("cat", "format", "ndjson"),
                ("cat", "scale", "none"), ("doctor", "temp", "."),
                ("batches", "steps", "10 steps, or to the end of --epochs"),
                ("batches", "words", "one step"), ("sample", "step", "the last"),
                ("sample", "seed", "the run's own, as in its samples"),
                ("export", "step", "the last"), ("coordinate", "model", "dcgan"),
                ("detect", "alarms-per-minute", "10"),
                ("coordinate", "name", "that of the folder"),
                ("work", "name", "the name of this machine"),
                ("invite", "run", "the only one that is open when the ticket is used"),
                ("invite", "machines", "4, or as before"),
                ("doctor", "workers", "those that work now"),
                ("work", "data", "fetch the images of each unit from the database"),
                ("work", "key", "~/.local/state/leat/machine.key")}


def defaults_in_help(command):
    """(option, default) of every option whose help ends with its default."""
    text = leat(*command.split(), "--help").stdout.split("Options:\n")[1].split("\nExamples:")[0]
    for option in re.split(r"\n(?= {2,6}-)", "\n" + text):
        words = " ".join(option.split("\n\n")[0].split())
        found = re.match(r"(?:-\w, )?--([a-z0-9-]+) .*[(;] ?default: ([^()]*)\)$", words)
        if found:
            yield found.groups()


def in_bytes(value):
    """512M as a number; anything else as it is."""
    found = re.fullmatch(r"(\d+)([KMGT])", value)
    return str(int(found[1]) << 10 * (1 + "KMGT".index(found[2]))) if found else value


def cpu_flags():
    """What Linux says that an x86-64 processor can run; empty on others."""
    if platform.machine() != "x86_64":
        return set()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((set(line.split()) for line in file if line.startswith("flags")), set())


class Help(unittest.TestCase):
    def test_commands_are_listed(self):
        self.assertEqual(commands(), ["ingest probes", "ingest can", "ingest images", "inspect",
                                      "cat", "batches", "synth probes", "synth can",
                                      "synth images", "train dcgan", "train vgae", "train gat",
                                       "eval", "detect", "sample", "export", "import",
                                       "coordinate", "work", "invite", "revoke", "status",
                                       "dash", "doctor", "version"])

    def test_every_command_explains_itself(self):
        for words in commands():
            with self.subTest(words):
                texts = [leat(*words.split(), "--help"), leat(*words.split(), "-h"),
                         leat("help", *words.split())]
                for done in texts:
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(done.stdout, texts[0].stdout)
                text = texts[0].stdout
                for part in (f"leat {words}: ", f"Usage: leat {words}", "Options:", "Examples:",
                             "Exit status: 0 success, 1 failure, 2 wrong usage."):
                    self.assertIn(part, text)
                self.assertLessEqual(max(map(len, text.split("Options:")[0].splitlines()[4:])), 80)

    def test_choices_are_complete(self):
        """Long lists of them are wrapped, never cut."""
        text = leat("ingest", "can", "--help").stdout
        listed = re.search(r"--format ([a-z0-9|\s-]+?)\n {20}", text)[1]
        formats = re.search(r"\(formats: ([^)]*), each", text)[1]
        self.assertEqual("".join(listed.split()).split("|"), ["auto", *re.split(r",\s+", formats)])

    def test_options_of_a_model_have_a_heading(self):
        dcgan = ["width", "latent", "schedule", "learning-rate", "beta1", "beta2"]
        vgae = ["size", "dropout", "id-drop", "learning-rate", "vocabulary", "max-nodes",
                "max-edges", "pack", "batch", "oversize", "min-steps", "curriculum", "scores-hash",
                "tiers", "curriculum-epochs", "curriculum-start", "curriculum-end"]
        gat = ["size", "loss", *vgae[1:]]
        for words, heading, options in (("train dcgan", "Options of the model", dcgan),
                                        ("train vgae", "Options of the model", vgae),
                                        ("train gat", "Options of the model", gat),
                                        ("coordinate", "Options of the model dcgan", dcgan),
                                        ("coordinate", "Options of the model vgae", vgae),
                                        ("coordinate", "Options of the model gat", gat)):
            every, own = leat(*words.split(), "--help").stdout.split(f"\n\n{heading}:\n")
            own = own.split("\n\n")[0]
            # leat train takes a file, too, and has that option among its own
            wanted = [name for name in options if words == "coordinate" or name != "curriculum"]
            self.assertEqual(re.findall(r"^ {6}--([a-z0-9-]+)", own, re.M), wanted)
            self.assertIn("--micro-batch", every)
            if not heading.endswith("t") and not heading.endswith("vgae"):
                self.assertNotIn(f"--{options[0]} ", every)
            self.assertIn(f'.SS "{heading}"\n', leat("help", "--man", *words.split()).stdout)

    def test_examples_use_options_that_exist(self):
        for words in commands():
            text = leat(*words.split(), "--help").stdout
            options, examples = text.split("Options:")[1].split("Examples:")
            self.assertIn(f"leat {words}", examples)
            for flag in re.findall(r" (--[a-z-]+)", "\n".join(
                    line for line in examples.splitlines() if line.startswith("  leat"))):
                self.assertRegex(options, f"{flag}\\b", f"example of leat {words}")

    def test_defaults_are_those_of_the_library(self):
        """Every default in --help is that of a leat_*_options_default, and the other way round."""
        done = subprocess.run([DEFAULTS], capture_output=True, text=True, timeout=LIMIT, check=True)
        rows = {tuple(line.split("\t")) for line in done.stdout.splitlines()}
        processors, = (value for command, _, value in rows if command == "")
        words = {"one per processor": processors, "one per 235 measurements": "0",
                 "inside the output folder": "-", "uniform": "-", "usual names": "-",
                 "set this or --epochs": "0", "set this or --steps": "0",
                 "the widest that this processor runs": "-",
                 "the widest that runs here": "-", "new weights from the seed": "-",
                 "no limit": "0", "no note": "-", "only this machine": "-", "all files": "-",
                 "no file": "-", "no plan": "1", "as --uplink": "0kbit",
                 "measured on this machine": "10",
                 "no export": "-", "all tests": "-",
                 "none; --curriculum requires it": "0",
                  "no value": "-", "its own": "-"}
        shown = {(command, name, in_bytes(words.get(value, value)))
                 for command in commands() for name, value in defaults_in_help(command)}
        wanted = {(command, name, in_bytes(value)) for command, name, value in rows
                  if command != "" and value != "false"}  # flags show no default
        self.assertEqual(shown - wanted, OWN_DEFAULTS)
        self.assertEqual(wanted - shown, set())

    def test_groups(self):
        done = leat("synth", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("synth probes", done.stdout)
        self.assertNotIn("cat", done.stdout)

    def test_manual_pages_refer_to_each_other(self):
        pages = {words: f"leat-{words.replace(' ', '-')}" for words in commands()}
        refers = {}
        for words, page in [("", "leat"), *pages.items()]:
            text = leat("help", "--man", *words.split()).stdout.replace("\\", "")
            refers[page] = re.findall(r"fB([a-z-]+)fR[(]1[)]", text.split(".SH SEE ALSO")[1])
        self.assertEqual(refers["leat"], list(pages.values()))
        for page, others in refers.items():
            self.assertNotIn(page, others)
            self.assertLess(1, len(others), page)
            for other in others:
                self.assertIn(page, refers[other])
        for page, wanted in (("leat-ingest-probes", "inspect batches synth-probes"),
                             ("leat-batches", "cat"), ("leat-train-dcgan", "sample export import"),
                             ("leat-coordinate", "work status doctor")):
            self.assertLessEqual({f"leat-{name}" for name in wanted.split()}, set(refers[page]))

    def test_manual_pages_are_in_step(self):
        wanted = {"leat.1": leat("help", "--man").stdout}
        for words in commands():
            wanted[f"leat-{words.replace(' ', '-')}.1"] = \
                leat("help", "--man", *words.split()).stdout
        if os.environ.get("LEAT_UPDATE") == "1":
            os.makedirs(MAN, exist_ok=True)
            for name, text in wanted.items():
                with open(os.path.join(MAN, name), "w", encoding="utf-8") as file:
                    file.write(text)
        self.assertEqual(sorted(os.listdir(MAN)), sorted(wanted))
        for name, text in wanted.items():
            with open(os.path.join(MAN, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), text, f"{name}: run {__file__} with LEAT_UPDATE=1")

    @unittest.skipUnless(shutil.which("groff"), "groff is not here")
    def test_manual_pages_are_sound(self):
        for words in [[], *(words.split() for words in commands())]:
            page = leat("help", "--man", *words).stdout
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page, text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)


# words, what stderr says (a pattern)
WRONG = [
    ("", r"no command given"),
    ("trian", r'unknown command "trian"; did you mean "train"\? See leat --help'),
    ("trian faces", r'unknown command "trian"; did you mean "train"\?'),
    ("trian dcgan faces", r'unknown command "trian dcgan"; did you mean "train dcgan"\?'),
    ("foo", r'unknown command "foo"; see leat --help'),
    ("docter", r'unknown command "docter"; did you mean "doctor"\? See leat --help'),
    ("ingest frobnicate", r'unknown command "ingest frobnicate": leat ingest takes probes, can '
     r"or images; see leat ingest --help"),
    ("ingest a.csv -o x", r'unknown command "ingest a.csv": leat ingest takes probes, can or'),
    ("ingest ping a.csv", r'unknown command "ingest ping": leat ingest takes probes, can or'),
    ("train faces", r'unknown command "train faces": leat train takes dcgan, vgae or gat; see '),
    ("ingest prbes x", r'unknown command "ingest prbes"; did you mean "ingest probes"\?'),
    ("ingst probes x", r'did you mean "ingest probes"\?'),
    ("synth", r"leat synth requires another word: probes, can or images; see leat synth --help"),
    ("train", r"leat train requires another word: dcgan, vgae or gat; see leat train --help"),
    ("help inspct", r'did you mean "inspect"\?'),
    ("--verison", r"unknown option --verison before the command"),
    ("cat", r"PATH is missing; see leat cat --help"),
    ("cat --fromat csv x", r"unknown option --fromat; did you mean --format\?"),
    ("cat --zzzzzz x", r"unknown option --zzzzzz; see"),
    ("cat -z x", r"unknown option -z"),
    ("cat --for csv x", r"did you mean --format\?"),
    ("cat --format xml x", r'--format: "xml" is not accepted; it takes ndjson, csv or words'),
    ("cat --format csvx x", r'"csvx" is not accepted'),
    ("cat x --format", r"--format requires a value \(ndjson\|csv\|words\)"),
    ("cat x --format --rows", r"--format requires a value"),
    ("cat x --format=", r'--format: "" is not accepted'),
    ("cat --format csv --format csv x", r"--format is given twice"),
    ("version x", r'"x": too many arguments; see'),
    ("train dcgan x y --steps 3", r'"y": too many arguments; did you mean -o y\?'),
    ("train dcgan x y -o z --steps 3", r'"y": too many arguments; see'),
    ("sample x -o grid.JPG", r'"grid.JPG" will be a PNG: give it a name that ends with .png'),
    ("version --json=1", r"--json takes no value"),
    ("synth probes -n 5", r"--output PATH is missing"),
    ("synth probes -n 5x -o y", r'"5x" is not accepted; it takes a whole number from 1 to 1'),
    ("synth probes -n -5 -o y", r'"-5" is not accepted'),
    ("synth probes -n 99999999999999999999 -o y", r"is not accepted"),
    ("synth probes -n 5 -p 6 -o y", r"more probes than measurements"),
    ("synth probes -n 5 -o y --memory 12Q", r"--memory: \"12Q\" is not accepted; it takes a size "
                                            r"of at least 128M, in bytes or as 512M, 4G "
                                            r"or 1T"),
    ("synth probes -n 5 -o y --memory 9999999999T", r"is not accepted"),
    ("synth probes -n 5 -o y --memory 512MB", r"is not accepted"),
    ("synth probes -n 5 -o y --memory 512iB", r"is not accepted"),
    ("synth probes -n 5 -o y --memory 1MiB", r"at least 128M"),
    ("synth probes -n 5 -o y --memory none", r"is not accepted"),
    ("synth can -o y", r"--frames N is missing"),
    ("synth can -n 5000", r"--output DIR is missing"),
    ("synth can -n 5000 -o y --vehicles 1001", r"a whole number from 1 to 1000"),
    ("synth can -n 5000 -o y --attacks dos,fuzz", r'--attacks: "fuzz" is not accepted; it takes '
                                                  r"dos, fuzzing, replay, spoof and supp"),
    ("synth can -n 5000 -o y --attacks=", r'--attacks: "" is not accepted'),
    ("synth can -n 5000 -o y --attacks dos,", r'--attacks: "" is not accepted'),
    ("synth can -n 5000 -o y --attacks dos,spoof,dos", r"--attacks: dos is given twice"),
    ("synth can -n 1899 -o y", r"between 1900 \(100 in the smallest file\) and \d+, not 1899"),
    ("ingest probes x", r"--output DIR is missing"),
    ("ingest probes -o y", r"PATH is missing"),
    ("ingest probes x -o y --train-ratio 1.5", r"it takes a number from 0 to 1"),
    ("ingest probes x -o y --train-ratio nan", r"it takes a number from 0 to 1"),
    ("ingest probes x -o y --train-ratio 0x1", r"it takes a number from 0 to 1"),
    ("ingest probes x -o y --compression lzma", r"--compression: .*lzma"),
    ("ingest probes x -o y --column foo=a", r'--column: "foo=a" is not accepted'),
    ("ingest probes x -o y --column rtt", r'--column: "rtt" is not accepted'),
    ("ingest probes x -o y --column rtt=", r'--column: "rtt=" is not accepted'),
    ("ingest probes x -o y --column rtt=a,rtt=b", r"rtt is given twice"),
    ("ingest probes x -o y --column rtt=a,", r'--column: "" is not accepted'),
    ("ingest probes x -o y --resume --replace", r"they exclude each other, use one of them"),
    ("ingest probes x -o y --shards 3 --probes-per-shard 5", r"give only one of them"),
    ("batches", r"PATH is missing"),
    ("batches x --hash=lines", r'--hash: "lines" is not accepted; it takes all or rows'),
    ("batches x --explain 5", r"--explain: for probe rows, give the row too \(STEP ROW\)"),
    ("batches x --explain=5", r"--explain: for probe rows, give the row too"),
    ("batches x --explain 5 y", r"--explain: for probe rows, give the row too"),
    ("batches x --explain y", r'--explain: "y" is not accepted; it takes a whole number of at '),
    ("batches x --explain", r"--explain requires a value \(STEP \[ROW\]\)"),
    ("batches x --explain -1 0", r'"-1" is not accepted'),
    ("batches x --length 63", r"it takes a whole number from 64 to 1048576"),
    ("batches x --batch 0", r'--batch: "0" is not accepted; it takes a whole number from 1'),
    ("batches x --prefetch=-1", r'--prefetch: "-1" is not accepted; it takes auto or a whole'),
    ("batches x --tiers 251", r"it takes a whole number from 1 to 250"),
    ("batches x --timestamp-modes 40,30", r"--timestamp-modes: .* three percentages, as 40,30,30"),
    ("ingest probes x -o y --max-row-size 1023", r"it takes none or a size of at least 1K"),
    ("ingest probes x -o y --shards 0", r"it takes auto or a whole number from 1"),
    ("ingest can x -o y --bus 65536", r"it takes separate, merge or a whole number"),
    ("ingest can x -o y --val-fraction 1", r"it takes a number from 0 to below 1"),
    ("ingest can x -o y --window 1", r"--window: \"1\" is not accepted; it takes a whole number"),
]


class Usage(unittest.TestCase):
    def test_wrong_usage(self):
        for line, pattern in WRONG:
            with self.subTest(line):
                done = leat(*line.split())
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Aleat: .*" + pattern)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_failure_is_one(self):
        for line in ("ingest probes /nowhere/x.csv -o /tmp/y", "cat /nowhere"):
            done = leat(*line.split())
            self.assertEqual((done.returncode, done.stdout), (1, ""), line)
            self.assertRegex(done.stderr, r"\Aleat: .*/nowhere")

    def test_names_cannot_move_the_cursor(self):
        for line in (["cat", "no\033[31m\n\177"], ["cat", "x", "no\r"], ["\033[2J"]):
            done = leat(*line)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"\Aleat: [ -~]+\n\Z")

    def test_forms_of_options(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "-x.csv")
            forms = [("-n", "50", "-o", path), ("-n50", f"-o{path}"),
                     ("--measurements=50", f"--output={path}"),
                     ("--measurements", "50", "--output", path, "--"),
                     ("-n", "50", "-o", path, "--memory", "256MiB")]
            texts = set()
            for form in forms:
                done = leat("synth", "probes", "--replace", *form)
                self.assertEqual((done.returncode, done.stderr), (0, ""), form)
                with open(path, encoding="ascii") as file:
                    texts.add(file.read())
            self.assertEqual(len(texts), 1)
            self.assertEqual(leat("cat", "--", "--format").returncode, 1)

    def test_raw_data_and_parts_are_not_arguments(self):
        cases = (("pings.parquet", "run `leat ingest probes` on it first"),
                 ("pings.csv.gz", "run `leat ingest probes` or `leat ingest can` on it first"),
                 ("drive.log", "run `leat ingest can` on it first"),
                 ("data/manifest.json", "part of a data set, run or export; give its folder"),
                 ("cache/train.safetensors", "part of a data set, run or export; give its folder"),
                 ("faces.zip", "run `leat ingest images` on it first"),
                 ("faces/7.jpg", "run `leat ingest images` on it first"),
                 ("set/images.json", "part of a data set, run or export; give its folder"))
        for command in ("inspect", "cat", "batches"):
            for name, words in cases:
                with self.subTest(command=command, name=name):
                    done = leat(command, name)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(words, done.stderr)

    def test_version(self):
        done = leat("--version")
        self.assertRegex(done.stdout, r"\Aleat \d+\.\d+\.\d+\n\Z")
        self.assertTrue(leat("version").stdout.startswith(done.stdout))
        document = json.loads(leat("version", "--json").stdout)
        self.assertEqual(f"leat {document['version']}\n", done.stdout)
        duckdb = document["duckdb"]
        words = (f"{duckdb['version']} ({duckdb['path']})" if duckdb["available"]
                 else f"not available: {duckdb['reason']}")
        self.assertIn(f"library   DuckDB        {words}\n", leat("version").stdout)
        groups = {item["group"] for item in document["build"]}
        self.assertEqual(groups, {"build", "compiler", "cpu", "library"})
        values = {(item["group"], item["name"]): item["value"] for item in document["build"]}
        self.assertRegex(values["build", "commit"],
                         r"\A([0-9a-f]{40}(, with changes)?|unknown)\Z")
        self.assertTrue(values["build", "kind"])
        flags = cpu_flags()
        for name, needed in {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "fma"},
                             "sha": {"sha_ni", "sse4_1"}}.items() if flags else ():
            in_use = "in use" if needed <= flags else "not in this cpu"
            self.assertEqual(values["cpu", name], f"compiled in, {in_use}")
        names = {item["name"] for item in document["build"]}
        self.assertLessEqual({"zstd", "brotli", "snappy", "xxhash", "libcrypto"}, names)


class Output(unittest.TestCase):
    def test_full_disk(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for words in (["--help"], ["version"], ["version", "--json"]):
                done = leat(*words, stdout=full)
                self.assertEqual(done.returncode, 1, words)
                self.assertRegex(done.stderr, r"\Aleat: writing to stdout: No space left")

    def test_closed_stdout(self):
        done = subprocess.run(["sh", "-c", '"$0" version >&-', LEAT], stderr=subprocess.PIPE,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aleat: writing to stdout: ")

    def test_reader_that_has_gone(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = leat("--help", stdout=writing)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_one_json_document(self):
        with tempfile.TemporaryDirectory() as folder:
            done = leat("synth", "probes", "-n", "1000", "-p", "30", "-o", f"{folder}/x.csv",
                        "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            document = json.loads(done.stdout)
            self.assertEqual(document["measurements"], 1000)
            self.assertEqual(document["probes"], 30)
            self.assertEqual(document["bytes_written"], os.path.getsize(f"{folder}/x.csv"))

    def test_vehicle_logs(self):
        """The frames that were asked for are there, and the summary says what is."""
        with tempfile.TemporaryDirectory() as folder:
            words = ["synth", "can", "--vehicles", "2", "-n", "30001", "--attacks", "spoof,dos",
                     "-o", f"{folder}/x"]
            done = leat(*words, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            document = json.loads(done.stdout)
            found = {"frames": 0, "attack_frames": 0, "files": 0}
            for place, _, names in os.walk(f"{folder}/x"):
                for name in names:
                    if name == "attacks.csv":
                        continue
                    with open(os.path.join(place, name), encoding="ascii") as file:
                        lines = file.read().splitlines()[1:]
                    found["files"] += 1
                    found["frames"] += len(lines)
                    found["attack_frames"] += sum(line.endswith(",1") for line in lines)
            self.assertEqual(found, {name: document[name] for name in found})
            self.assertEqual(found["frames"], 30001)
            self.assertEqual((document["vehicles"], document["held_out"]), (2, 1))
            self.assertEqual(sorted(os.listdir(f"{folder}/x")),
                             ["attacks.csv", "test_01_dos", "test_02_spoof",
                              "test_03_unknown_vehicle", "train_01_attack_free",
                              "train_02_with_attacks"])
            self.assertRegex(leat(*words).stderr, r"not empty; use --replace")
            done = leat(*words, "--replace")
            self.assertRegex(done.stdout, r"\Awrote 30,001 frames of 2 vehicles \(1 in tests only"
                                          r"\), [\d,]+ of them sent by attackers, in 6 intervals\n"
                                          r"to .*7 files")

    def test_no_progress_in_a_pipe(self):
        with tempfile.TemporaryDirectory() as folder:
            done = leat("synth", "probes", "-n", "1000000", "-o", f"{folder}/x.csv")
            self.assertEqual((done.returncode, done.stderr), (0, ""))


def run_on_terminal(words, stdout=subprocess.DEVNULL, kind="xterm"):
    """The command with stderr on a terminal, and a clock that is 50 ms later at each look: what it
    wrote there does not depend on its speed. That, and its exit status."""
    ours, theirs = pty.openpty()
    surroundings = {**os.environ, "LEAT_HELD_CLOCK": "50000000"}
    surroundings.pop("TERM", None)
    if kind is not None:
        surroundings["TERM"] = kind
    with subprocess.Popen([held.PROGRAM, *words], stdout=stdout, stderr=theirs,
                          env=surroundings) as process:
        os.close(theirs)
        seen = b""
        while True:
            if not select.select([ours], [], [], LIMIT)[0]:
                process.kill()
                raise AssertionError(f"waited {LIMIT} s for its next words, after {seen[-999:]}")
            try:
                part = os.read(ours, 4096)
            except OSError: # the terminal's other side is closed
                break
            if not part:
                break
            seen += part
        status = process.wait(timeout=LIMIT)
    os.close(ours)
    return seen.decode(), status


class Progress(unittest.TestCase):
    def test_on_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            seen, status = run_on_terminal(["synth", "probes", "-n", "1500000", "-o",
                                            f"{folder}/x.csv"])
        self.assertEqual(status, 0)
        lines = seen.split("\r")
        self.assertRegex(lines[1],
                         r"\Awriting: 0 of 1,500,000 rows, memory [\d.]+ [KMG]iB\x1b\[K\Z")
        # half a second after the stage began there is a rate, and it is right: 200 ms a line
        rows = [int(re.match(r"writing: ([\d,]+) of", line).group(1).replace(",", ""))
                for line in lines[1:-1]]
        self.assertGreater(len(rows), 5)
        for number, (line, row) in enumerate(zip(lines[1:-1], rows)):
            told = re.search(r" rows, ([\d,]+)/s, ([\d.]+) s left, ", line)
            self.assertEqual(told is not None, number >= 3, line)
            if told:
                self.assertAlmostEqual(int(told.group(1).replace(",", "")), row / (0.2 * number),
                                       delta=1)
                self.assertAlmostEqual(float(told.group(2)),
                                       (1500000 - row) / row * 0.2 * number, delta=0.006)
        self.assertEqual(lines[-1], "\x1b[K") # nothing stays
        self.assertNotIn("\n", seen)

    def test_of_output_into_a_file(self):
        """cat tells how far it is where its stdout is a file, and not into a pipe's reader."""
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(leat("synth", "probes", "-n", "400000", "-p", "2000", "-o",
                                  f"{folder}/x.csv").returncode, 0)
            self.assertEqual(leat("ingest", "probes", f"{folder}/x.csv", "-o",
                                  f"{folder}/data").returncode, 0)
            with open(f"{folder}/out", "wb") as out:
                seen, status = run_on_terminal(["cat", f"{folder}/data"], out)
            self.assertEqual(status, 0)
            lines = seen.split("\r")
            self.assertRegex(lines[1], r"\Awriting: 0 of 2,000 rows.*[KMG]iB\x1b\[K\Z")
            self.assertGreater(len(lines), 3) # it moves
            self.assertEqual(lines[-1], "\x1b[K") # nothing stays
            with open(f"{folder}/out", "rb") as out:
                self.assertEqual(sum(1 for _ in out), 400000)
            seen, status = run_on_terminal(["cat", f"{folder}/data"])
            self.assertEqual((seen, status), ("", 0))

    def test_none_where_lines_cannot_be_cleared(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("dumb", "", None):
                seen, status = run_on_terminal(["synth", "probes", "-n", "1000000", "-o",
                                                f"{folder}/x.csv", "--replace"], kind=kind)
                self.assertEqual((seen, status), ("", 0), kind)
                seen, status = run_on_terminal(["synth", "probes", "-n", "100", "-o",
                                                f"{folder}/no/x.csv"], kind=kind)
                self.assertEqual(status, 1)
                self.assertRegex(seen, r"\Aleat: [^\r\x1b]*\r?\n\Z")

    def test_cleared_before_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            seen, status = run_on_terminal(["synth", "probes", "-n", "100", "-o",
                                            f"{folder}/no/x.csv"])
        self.assertEqual(status, 1)
        self.assertRegex(seen, r"leat: [^\r]*\r?\n\Z")


class Signals(unittest.TestCase):
    def start(self, folder, maker=("probes", "x.csv", "")):
        kind, name, inside = maker
        process = subprocess.Popen(
            [LEAT, "synth", kind, "-n", "1000000000", "-o", f"{folder}/{name}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end, draft = time.monotonic() + LIMIT, re.compile(rf"\.{name}\.leat-[0-9a-f]{{16}}\.tmp")
        while time.monotonic() < end:
            grown = [f"{folder}/{found}{inside}" for found in os.listdir(folder)
                     if draft.fullmatch(found)]
            if grown and os.path.exists(grown[0]) and os.path.getsize(grown[0]) > 1 << 20:
                break
            time.sleep(0.01)
        else:
            process.kill()
            self.fail(f"no draft grows within {LIMIT} s: {process.communicate()}")
        return process

    def test_stop_cleans_up(self):
        can = ("can", "x", "/train_01_attack_free/attack_free_001-1.csv")
        for number, *maker in ((signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, can),
                               (signal.SIGTERM, can)):
            with tempfile.TemporaryDirectory() as folder:
                process = self.start(folder, *maker)
                process.send_signal(number)
                out, err = process.communicate(timeout=LIMIT)
                self.assertEqual((process.returncode, out), (1, ""))
                self.assertRegex(err, r"\Aleat: .*stopped as requested, nothing is kept\n\Z")
                self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
