"""Unlabelled beside benign and attack: logs without labels through leat ingest can, inspect, cat,
batches and doctor. Runs the command named by LEAT (default: build/leat)."""
import json
import os
import re
import shlex
import shutil
import tempfile
import unittest

import pages
from command import leat
from test_ingest_can import content, read_tensors

FOLDER = None  # of this program
FRAMES = 400  # of each log, in windows of 20


def setUpModule():
    global FOLDER
    FOLDER = tempfile.mkdtemp(prefix="leat-can-labels-")


def tearDownModule():
    shutil.rmtree(FOLDER)


def frame(i):
    return f"{0x100 + i * i % 13:03X}", f"{(i * 2654435761) % 2 ** 64:016X}"


def write_labelled(path, attack=(), begin=1000.0):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write("timestamp,arbitration_id,data_field,attack\n")
        for i in range(FRAMES):
            name, data = frame(i)
            file.write(f"{begin + i * 0.001:.6f},{name},{data},{int(i in attack)}\n")


def write_candump(path, begin=1000.0, step=0.001):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        for i in range(FRAMES):
            name, data = frame(i)
            file.write(f"({begin + i * step:.6f}) can0 {name}#{data}\n")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=FOLDER)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def ingest(self, *words, out="cache"):
        done = leat("ingest", "can", self.path("logs"), "-o", self.path(out), "--window", "20",
                    "--stride", "20", "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def words(self, *words, out="cache"):
        done = leat("ingest", "can", self.path("logs"), "-o", self.path(out), "--window", "20",
                    "--stride", "20", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def labels(self, result, *splits):
        """(y, attack_type, attack_first, attack_count) of each graph, by the log it is of."""
        with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            captures = json.load(file)["captures"]
        found = {}
        for split in splits:
            tensors = read_tensors(os.path.join(result["cache"], f"{split}.safetensors"))
            flat = [tensors[name][1] for name in ("y", "attack_type", "attack_first",
                                                  "attack_count")]
            for g, capture in enumerate(tensors["capture"][1]):
                one = tuple(values[g] for values in flat)
                found.setdefault(captures[capture]["file"], []).append(one)
        return found


class States(Case):
    """Three logs without labels, one of them benign by its name, and one with labels."""
    def setUp(self):
        super().setUp()
        write_candump(self.path("logs", "train_a", "drive.log"))
        write_candump(self.path("logs", "train_a", "normal_run.log"), begin=2000)
        write_candump(self.path("logs", "train_b", "abnormal.log"), begin=3000)
        write_labelled(self.path("logs", "train_b", "dos.csv"), range(110, 150), begin=4000)

    BENIGN, UNLABELLED = (0, 0, -1, 0), (-1, -1, -1, 0)

    def test_by_name(self):
        result = self.ingest("--val-fraction", "0")
        self.assertEqual((result["files_taken_as_benign"], result["files_unlabelled"]), (1, 2))
        self.assertEqual(result["splits"]["train"], {"graphs": 80, "attacks": 3, "unlabelled": 40})
        self.assertEqual(result["scaler"], "z_benign")
        found = self.labels(result, "train")
        self.assertEqual(set(found["drive.log"]), {self.UNLABELLED})
        self.assertEqual(set(found["abnormal.log"]), {self.UNLABELLED})
        self.assertEqual(set(found["normal_run.log"]), {self.BENIGN})
        self.assertEqual(sorted(found["dos.csv"]),
                         [self.BENIGN] * 17 + [(1, 1, 0, 10), (1, 1, 0, 20), (1, 1, 10, 10)])
        with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            metadata = json.load(file)
        self.assertEqual(metadata["splits"]["train"]["attack_balance"],
                         {"benign": 37, "dos": 3, "unlabelled": 40})
        self.assertEqual((metadata["settings"]["unlabelled"], metadata["preset"]),
                         ("by-name", "default"))

    def test_for_all(self):
        for rule, counts, benign in (("benign", (3, 0), 77), ("unknown", (0, 3), 17)):
            result = self.ingest("--val-fraction", "0", "--unlabelled", rule)
            self.assertEqual((result["files_taken_as_benign"], result["files_unlabelled"]), counts)
            found = [one for graphs in self.labels(result, "train").values() for one in graphs]
            self.assertEqual(found.count(self.BENIGN), benign)
            self.assertEqual(found.count(self.UNLABELLED), 77 - benign)
        done = leat("ingest", "can", self.path("logs"), "-o", self.path("x"), "--unlabelled", "no")
        self.assertEqual(done.returncode, 2)
        self.assertIn("by-name, benign, unknown or benign-lines", done.stderr)

    def test_reference(self):
        result = self.ingest("--preset", "reference", "--val-fraction", "0")
        self.assertEqual((result["files_taken_as_benign"], result["files_unlabelled"]), (3, 0))
        self.assertEqual(result["splits"]["train"]["unlabelled"], 0)
        with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["preset"], "reference")

    def test_said(self):
        text = self.words("--val-fraction", "0")
        self.assertIn("\n        1 log without labels counted as benign, by name\n", text)
        self.assertIn("\n        2 logs without labels counted as unlabelled; use --unlabelled "
                      "benign if there are no attacks\n", text)
        self.assertIn("train   80 graphs, 3 with an attack, 40 unlabelled", text)
        for rule, words in (("benign", "benign"), ("unknown", "unlabelled")):
            self.assertIn(f"\n        3 logs without labels counted as {words}\n",
                          self.words("--unlabelled", rule))
        again = self.ingest("--val-fraction", "0")  # what a cache does not record is not told
        self.assertTrue(again["found"])
        self.assertFalse({"files_taken_as_benign", "files_unlabelled"} & set(again))
        self.assertEqual(again["splits"]["train"], {"graphs": 80, "attacks": 3, "unlabelled": 40})
        again = self.words("--val-fraction", "0")
        self.assertIn("already exists", again)
        self.assertIn("train   80 graphs, 3 with an attack, 40 unlabelled", again)

    def test_attacks_of_unknown_type(self):
        """They are not benign, whether the cache is new or found."""
        write_labelled(self.path("logs", "test_x", "drive.csv"), range(110, 150), begin=5000)
        first, again = (self.ingest("--val-fraction", "0.3") for _ in range(2))
        self.assertEqual((first["found"], again["found"]), (False, True))
        self.assertEqual(first["splits"]["test_x"], {"graphs": 20, "attacks": 3, "unlabelled": 0})
        self.assertEqual(again["splits"], first["splits"])
        with open(os.path.join(first["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["splits"]["test_x"]["attack_balance"],
                             {"benign": 17, "attack of unknown type": 3})

    def test_nearly_all_attacks(self):
        """Of 20 or more training graphs more than 90 %, whether the cache is new or found."""
        shutil.rmtree(self.path("logs"))
        for count, warns in ((18, False), (19, True)):
            write_labelled(self.path("logs", "drive.csv"), range(20 * count))
            for _ in range(2):
                warnings = json.dumps(self.ingest("--val-fraction", "0", "--val-split", "random")
                                      ["warnings"])
                self.assertEqual("19 of the 20 training graphs have an attack; check that the "
                                 "right column" in warnings, warns, warnings)
                self.assertEqual(warnings != "[]", warns)

    def test_the_same_bytes_however_made(self):
        for store in ("features", "frames"):
            wanted = None
            for threads in ("1", "2", "3", "8"):
                result = self.ingest("--store", store, "--threads", threads, out=f"c{threads}")
                found = content(result["cache"])
                wanted = wanted or found
                self.assertEqual(found, wanted)
                shutil.rmtree(self.path(f"c{threads}"))

    def test_windows_of_several_logs(self):
        """An attack outweighs an unlabelled frame, which outweighs benign ones."""
        shutil.rmtree(self.path("logs"))
        write_labelled(self.path("logs", "train_a", "dos.csv"), range(100, 200))
        write_candump(self.path("logs", "train_a", "drive.log"), begin=1000.3005, step=0.0001)
        result = self.ingest("--captures", "merged", "--val-fraction", "0")
        tensors = read_tensors(os.path.join(result["cache"], "train.safetensors"))
        found = dict(zip(tensors["window_start"][1], tensors["y"][1]))
        self.assertEqual([found[20 * i] for i in range(15)], [0] * 5 + [1] * 5 + [0] * 5)
        self.assertEqual({found[start] for start in found if 300 <= start < 700}, {-1})
        write_candump(self.path("logs", "train_a", "drive.log"), begin=1000.1005, step=0.00025)
        result = self.ingest("--captures", "merged", "--val-fraction", "0", out="other")
        tensors = read_tensors(os.path.join(result["cache"], "train.safetensors"))
        found = dict(zip(tensors["window_start"][1], tensors["y"][1]))
        types = dict(zip(tensors["window_start"][1], tensors["attack_type"][1]))
        self.assertEqual([found[20 * i] for i in range(5)], [0] * 5)
        self.assertEqual({(found[start], types[start]) for start in found if 100 <= start < 580},
                         {(1, 1)})


def hexes(i):
    return ",".join(f"{i * k % 256:02x}" for k in range(8))


class Words(Case):
    """Labels that are words, missing, or not known."""
    def write(self, labels, name="a.csv"):
        os.makedirs(self.path("logs"), exist_ok=True)
        with open(self.path("logs", name), "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,label\n")
            for i, label in enumerate(labels):
                file.write(f"{1000 + i * 0.001:.6f},{','.join(frame(i))},{label}\n")

    def fails(self, *words):
        done = leat("ingest", "can", self.path("logs"), "-o", self.path("x"), *words)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_types_of_attacks(self):
        words = ("DoS", "attack_dos", "Fuzzing Attack", "gear-spoofing", "Replay", "attack-replay",
                 "flooding", "RPM", "Impersonation")
        for word in words:
            self.write([word if i < 20 else "Normal" for i in range(FRAMES)])
            result = self.ingest("--val-fraction", "0", "--replace")
            self.assertEqual(result["splits"]["train"],
                             {"graphs": 20, "attacks": 1, "unlabelled": 0}, word)
        for word in ("no_attack", "AttackFree", "attack_free", "Attack-free", "No attack", "Clean",
                     "Non-Malicious", "Genuine"):
            self.write([word] * FRAMES)
            self.assertEqual(self.ingest("--replace")["splits"]["train"]["attacks"], 0)

    def test_not_known(self):
        """However few they are: they may be all of the attacks."""
        self.write(["weird" if i in (7, 9) else "odd" if i == 300 else "normal"
                    for i in range(FRAMES)])
        said = self.fails()
        self.assertIn('the labels of 3 of its 400 lines are not known: "weird" in line 9 (2 '
                      'times), "odd" in line 302 (1 time); expected numbers (0 = benign) or '
                      'words such as normal, attack; --column label=NAME', said)
        self.assertIn("--max-rejected 0.0075", said)
        result = self.ingest("--max-rejected", "0.0075", "--replace")
        self.assertIn("rejected 3 frames with an unknown label (--max-rejected)",
                      json.dumps(result["warnings"]))
        self.fails("--max-rejected", "0.007")

    def test_missing(self):
        self.write(["", "nan", "None"] + ["normal"] * (FRAMES - 3))
        result = self.ingest()
        self.assertIn("rejected 3 frames without a label, though", json.dumps(result["warnings"]))

    def test_flags_that_come_late(self):
        """HCRL's and Survival's flags, first beyond the lines that decide on the format."""
        os.makedirs(self.path("logs"))
        for parts in (",", " "):
            with open(self.path("logs", "normal.txt"), "w", encoding="ascii") as file:
                for i in range(2000):
                    flag = ",T" if i == 1500 else ""
                    file.write(f"{1000 + i * 0.001:.6f},0316,8,{hexes(i).replace(',', parts)}"
                               f"{flag}\n")
            said = self.fails()
            self.assertIn('the labels of 1 of its 2000 lines are missing from most of its '
                          'first lines, or vary in number there, so it was taken for a log without '
                          'labels: "T" in line 1501; add a label to every line', said)

    def lines(self, end):
        """A log of candump or CrySyS; end(i) follows line i."""
        os.makedirs(self.path("logs"), exist_ok=True)
        forms = (("normal.log", lambda i: f"({1000 + i * 0.001:.6f}) can0 {frame(i)[0]}#01FF"),
                 ("normal.txt", lambda i: f"{1000 + i * 0.001:.6f} 0{frame(i)[0]} 000 2 01 FF"))
        for name, line in forms:
            path = self.path("logs", name)
            with open(path, "w", encoding="ascii") as file:
                for i in range(2000):
                    file.write(line(i) + end(i) + "\n")
            yield name
            os.remove(path)

    def test_labels_at_the_end_that_come_late(self):
        """One line, and all of the later ones: never an unlabelled log, nor one of bad lines."""
        for _ in self.lines(lambda i: " 1 Attack" if i == 1500 else ""):
            said = self.fails()
            self.assertIn('the labels of 1 of its 2000 lines are missing from most of its '
                          'first lines, or vary in number there, so it was taken for a log without '
                          'labels: "1 Attack" in line 1501; add a label to every line', said)
            result = self.ingest("--max-rejected", "0.0005", "--replace")
            self.assertIn("rejected 1 frame with a label that the first lines do not have",
                          json.dumps(result["warnings"]))
            self.assertEqual((result["files_taken_as_benign"], result["files_unlabelled"]), (0, 1))
        for _ in self.lines(lambda i: f" {int(i == 1500)}" if i >= 300 else ""):
            said = self.fails()
            self.assertIn('the labels of 1700 of its 2000 lines are missing from most of its', said)
            self.assertIn('"0" in line 301, "1" in line 1501; add a label to every line', said)

    def test_labels_at_the_end_that_are_missing(self):
        for name in self.lines(lambda i: "" if i in (50, 1500) else f" {int(i == 1600)}"):
            result = self.ingest(out=name)
            self.assertEqual(result["rejected"], 2)
            self.assertIn("rejected 2 frames without a label, though",
                          json.dumps(result["warnings"]))
            with open(os.path.join(result["cache"], "rejected.csv"), encoding="utf-8") as file:
                reasons = [line.split(",")[1:3] for line in file.read().splitlines()[1:]]
            self.assertEqual(reasons, [["51", "label_missing"], ["1501", "label_missing"]])


class Columns(Case):
    def test_gvret_with_labels(self):
        os.makedirs(self.path("logs"))
        with open(self.path("logs", "normal.csv"), "w", encoding="ascii") as file:
            file.write("Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8,Label\n")
            for i in range(FRAMES):
                file.write(f"{1000000 + 1000 * i},00000130,false,Rx,0,8,{hexes(i)},{i // 390}\n")
        done = leat("ingest", "can", self.path("logs"), "-o", self.path("x"))
        self.assertEqual(done.returncode, 1)
        columns = shlex.split(re.search(r"read it with --column (.*)", done.stderr).group(1))[0]
        result = self.ingest("--column", columns, "--val-fraction", "0")
        self.assertEqual(result["splits"]["train"], {"graphs": 20, "attacks": 1, "unlabelled": 0})
        self.assertEqual(result["files_taken_as_benign"], 0)
        with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["captures"][0]["first_s"], 1.0)

    def test_unused_label(self):
        """A log with a column that looks like a label is not benign by name."""
        os.makedirs(self.path("logs"))
        with open(self.path("logs", "normal.csv"), "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,attack_name\n")
            for i in range(FRAMES):
                file.write(f"{1000 + i * 0.001:.6f},{','.join(frame(i))},{'odd' if i else ''}\n")
        result = self.ingest()
        self.assertEqual((result["files_taken_as_benign"], result["files_unlabelled"]), (0, 1))


class AttackTypes(Case):
    """The type of an attack is that of its label's word, of a second column, or of the file."""
    CASES = (  # file, lines of (label, SubClass) by the window, options, attack_balance
        ("ride.csv", {3: "DoS", 4: "Fuzzy", 5: "DoS", 9: "Attack", 11: "Fabrication"}, (),
         {"dos": 2, "fuzzing": 1, "attack of unknown type": 2, "benign": 15}),
        ("replay.csv", {3: "DoS", 9: "Attack", 11: "fabrication"}, (),
         {"dos": 1, "replay": 1, "attack of unknown type": 1, "benign": 17}),
        ("ride.csv", {3: "Attack,Flooding", 4: "attack,gear spoofing", 5: "Attack,Odd one",
                      6: "Attack,", 7: "Fuzzy,Normal", 8: "Normal,Flooding"},
         ("--column", "attack=SubClass"),
         {"flooding": 1, "gear": 1, "attack of unknown type": 2, "fuzzing": 1, "benign": 15}),
        ("dos.csv", {3: "Replay"}, ("--attack-codes", "short"),
         {"attack of unknown type": 1, "benign": 19}),
        ("dos.csv", {3: "Fuzzy"}, ("--attack-type", "file"), {"dos": 20}))

    def write(self, name, labels):
        os.makedirs(self.path("logs"), exist_ok=True)
        two = any("," in label for label in labels.values())
        with open(self.path("logs", name), "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,Label" + ",SubClass" * two + "\n")
            for i in range(FRAMES):
                label = labels.get(i // 20, "") if i % 20 == 7 else ""
                file.write(f"{1000 + i * 0.001:.6f},{','.join(frame(i))},"
                           f"{label or 'Normal' + ',Normal' * two}\n")

    def test_words(self):
        """Metadata, inspect and cat agree, for any number of threads."""
        for number, (name, labels, words, balance) in enumerate(self.CASES):
            shutil.rmtree(self.path("logs"), ignore_errors=True)
            self.write(name, labels)
            seen = []
            for threads in ("1", "3"):
                result = self.ingest("--val-fraction", "0", "--threads", threads, *words,
                                     out=f"{number}-{threads}")
                seen.append(content(result["cache"]))
            self.assertEqual(seen[0], seen[1])
            with self.subTest(number):
                with open(os.path.join(result["cache"], "cache_metadata.json"),
                          encoding="utf-8") as file:
                    told = json.load(file)["splits"]["train"]["attack_balance"]
                self.assertEqual(told, balance)
                done = leat("inspect", result["cache"], "--json")
                self.assertEqual({one["name"]: one["graphs"] for one in
                                  json.loads(done.stdout)["splits"]["train"]["attacks"]}, balance)
                found = {}
                done = leat("cat", result["cache"], "--graph", ":", "--format", "ndjson")
                for line in done.stdout.splitlines():
                    attack = json.loads(line)["attack"]
                    found[attack] = found.get(attack, 0) + 1
                self.assertEqual(found, balance)
                done = leat("doctor", result["cache"])
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_columns_of_one_attack_each(self):
        """The name of a column is the type of its attacks, unless the cell has a word for it; and
        that of the file, if it is none."""
        for cells, words, balance in (
                ({3: "1,0,0", 4: "0,1,0", 5: "0,0,1", 9: "0,1,1"}, (),
                 {"dos": 1, "fuzzing": 2, "gear": 1, "benign": 16}),
                ({3: "True,False,False", 4: "False,Replay,False"}, (),
                 {"dos": 1, "replay": 1, "benign": 18}),
                ({3: "1,0,0", 4: "0,0,1"}, ("--attack-type", "file"), {"gear": 20})):
            os.makedirs(self.path("logs"), exist_ok=True)
            with open(self.path("logs", "gear.csv"), "w", encoding="ascii") as file:
                file.write("timestamp,arbitration_id,data_field,DoS,is_fuzzy,odd\n")
                for i in range(FRAMES):
                    cell = cells.get(i // 20, "0,0,0") if i % 20 == 7 else "0,0,0"
                    file.write(f"{1000 + i * 0.001:.6f},{','.join(frame(i))},{cell}\n")
            result = self.ingest("--val-fraction", "0", "--replace", *words, "--column",
                                 "label=DoS+is_fuzzy+odd")
            with open(os.path.join(result["cache"], "cache_metadata.json"),
                      encoding="utf-8") as file:
                self.assertEqual(json.load(file)["splits"]["train"]["attack_balance"], balance)

    def test_alone(self):
        """Types without labels are refused, and each of the two remedies is taken."""
        self.write("ride.csv", {3: "Flooding", 4: "DoS"})
        with open(self.path("logs", "ride.csv"), encoding="ascii") as file:
            text = file.read()
        with open(self.path("logs", "ride.csv"), "w", encoding="ascii") as file:
            file.write(text.replace("Label", "Kind of it"))
        done = leat("ingest", "can", self.path("logs"), "-o", self.path("x"), "--window", "20",
                    "--stride", "20", "--column", "attack=Kind of it")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no column says which frames are attacks", done.stderr)
        remedy = re.search("use (label=Kind of it) instead", done.stderr)[1]
        splits = self.ingest("--column", remedy)["splits"]
        self.assertEqual(splits["train"]["attacks"] + splits["val"]["attacks"], 2)


class Buses(Case):
    """A csv names its buses in the first 256 lines; names that come later."""
    def write(self, late):
        os.makedirs(self.path("logs"), exist_ok=True)
        with open(self.path("logs", "a.csv"), "w", encoding="ascii") as file:
            file.write("timestamp,channel,arbitration_id,data_field,attack\n")
            for i in range(20000):
                bus = late if i in (300, 15000) else ("HS1", "MS1")[i % 2]
                file.write(f"{1000 + i * 0.001:.6f},{bus},{','.join(frame(i))},0\n")

    def buses(self, late):
        """Frames of each bus, and rejected lines, for any number of threads."""
        self.write(late)
        wanted = None
        for threads in ("1", "2", "3", "8"):
            result = self.ingest("--threads", threads, "--val-fraction", "0", out="cache")
            with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as f:
                captures = json.load(f)["captures"]
            found = ({one["bus"]: one["frames"] for one in captures}, result["rejected"],
                     content(result["cache"]))
            wanted = wanted or found
            self.assertEqual(found, wanted)
            rows, path = [], os.path.join(result["cache"], "rejected.csv")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    rows = [line.split(",")[1:3] for line in file.read().splitlines()[1:]]
            shutil.rmtree(self.path("cache"))
        return wanted[0], rows

    def test_late_names(self):
        """Only digits may differ from the first name; any other one is rejected, with a reason."""
        self.assertEqual(self.buses("HS3"), ({1: 10000 - 2, 0: 10000, 3: 2}, []))
        rejected = [["302", "bus_unparsable"], ["15002", "bus_unparsable"]]
        for name in ("LS3", "HS", "7", "HS0"):  # 0 is the number of MS1
            self.assertEqual(self.buses(name), ({1: 10000 - 2, 0: 10000}, rejected), name)


class Scalers(Case):
    """Training logs without a benign window."""
    def setUp(self):
        super().setUp()
        write_candump(self.path("logs", "train_a", "drive.log"))
        write_labelled(self.path("logs", "test_a", "benign.csv"), begin=3000)

    def scaler(self, result):
        with open(os.path.join(result["cache"], "scaler.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_of_all_windows(self):
        found = self.ingest()
        self.assertEqual((found["scaler"], self.scaler(found)["strategy"]), ("z_all", "z_all"))
        wanted = self.scaler(self.ingest("--scaler", "z_all"))
        self.assertEqual(self.scaler(found), wanted)
        self.assertNotEqual(set(wanted["x_center"]), {0.0})
        benign = self.scaler(self.ingest("--unlabelled", "benign"))
        self.assertEqual(benign["strategy"], "z_benign")
        for a, b in zip(benign["x_center"], wanted["x_center"]):
            self.assertAlmostEqual(a, b)
        with open(os.path.join(found["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            metadata = json.load(file)
        self.assertEqual((metadata["scaler_strategy"], metadata["settings"]["scaler"]),
                         ("z_all", "z_benign"))

    def test_robust(self):
        found = self.scaler(self.ingest("--scaler", "robust_benign"))
        wanted = self.scaler(self.ingest("--scaler", "robust_benign", "--unlabelled", "benign"))
        self.assertEqual((found.pop("strategy"), wanted.pop("strategy")),
                         ("robust_all", "robust_benign"))
        self.assertEqual(found, wanted)

    def test_attacks_alone(self):
        write_labelled(self.path("logs", "train_a", "drive.log"), range(FRAMES))
        self.assertEqual(self.scaler(self.ingest())["strategy"], "z_all")

    def test_none_wanted(self):
        self.assertEqual(self.ingest("--scaler", "none")["scaler"], "none")
        self.assertNotIn("no training graph is benign", self.words("--scaler", "none"))

    def test_said(self):
        for _ in range(2):  # of a new cache, and of one that is found
            self.assertIn("scaler  z_all, because no training graph is benign", self.words())

    def test_one_benign_window_is_enough(self):
        write_labelled(self.path("logs", "train_a", "some.csv"), range(20, FRAMES), begin=5000)
        kinds = ("z_benign", "robust_benign")
        found = [self.scaler(self.ingest("--val-fraction", "0", "--scaler", kind))
                 for kind in kinds]
        self.assertEqual([one["strategy"] for one in found], list(kinds))
        os.remove(self.path("logs", "train_a", "drive.log"))
        self.assertEqual(found, [self.scaler(self.ingest("--val-fraction", "0", "--scaler", kind))
                                 for kind in kinds])  # those of that window alone


class Reports(Case):
    """What the other commands say of a cache with all three states."""
    def setUp(self):
        super().setUp()
        write_candump(self.path("logs", "train_a", "drive.log"))
        write_labelled(self.path("logs", "train_a", "dos.csv"), range(110, 150), begin=4000)
        self.cache = self.ingest("--val-fraction", "0")["cache"]

    def run_leat(self, *words):
        done = leat(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def told(self, *words):
        return json.loads(self.run_leat(*words, "--json"))

    def test_inspect(self):
        told = self.told("inspect", self.cache, "--verify")
        self.assertTrue(told["verification"]["ok"], told["verification"]["findings"])
        train = told["splits"]["train"]
        self.assertEqual([train[name] for name in ("graphs", "graphs_with_attack", "graphs_benign",
                                                   "graphs_unlabelled")], [40, 3, 17, 20])
        self.assertEqual([(one["type"], one["name"], one["graphs"], one["labelled_frames"])
                          for one in train["attacks"]],
                         [(0, "benign", 17, 0), (1, "dos", 3, 40), (-1, "unlabelled", 20, 0)])
        self.assertEqual({one["file"]: (one["graphs_with_attack"], one["graphs_unlabelled"])
                          for one in told["captures"]}, {"drive.log": (0, 20), "dos.csv": (3, 0)})
        text = self.run_leat("inspect", self.cache)
        self.assertRegex(text, r"\n  split +graphs +with attack +benign +unlabelled +nodes")
        self.assertRegex(text, r"\n  train +40 +3 +7\.50 % +17 +20 ")
        self.assertRegex(text, r"\n +unlabelled +20 +50\.0 % +0\n")
        self.assertRegex(text, r"drive\.log +train_a +0 +\? +400 +20 +0 +20 ")

    def test_page(self):
        page = self.path("page.html")
        self.run_leat("inspect", self.cache, "--html", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        shown = re.sub(r"\s+", " ", " ".join(pages.check_stands_alone(self, text).texts))
        pages.check_labels(self, text)
        self.assertIn("unlabelled 50.0 %", shown)
        row = re.search(r"<tr><td>train</td>(.*?)</tr>", text, re.S).group(1)
        self.assertEqual([re.sub("<[^>]*>", "", cell) for cell in row.split("</td>")[:4]],
                         ["40", "7.50 %", "42.5 %", "50.0 %"])
        self.assertIn('class="bar zero" x="0.00" y="9"', text)  # the strip of the unlabelled log

    def test_cat(self):
        facts = [json.loads(line) for line in
                 self.run_leat("cat", self.cache, "--graph", "0:40").splitlines()]
        for one in facts:
            if one["file"] == "drive.log":
                self.assertEqual([one[name] for name in ("y", "attack_type", "attack",
                                                         "attack_first", "attack_count")],
                                 [-1, -1, "unlabelled", -1, 0])
        number = next(one["graph"] for one in facts if one["file"] == "drive.log")
        words = self.run_leat("cat", self.cache, "--graph", str(number), "--format", "words")
        self.assertIn("\n  unlabelled\n", words)
        self.assertNotIn("benign", words)

    def test_doctor(self):
        done = leat("doctor", "--json", self.cache)
        problems = [one["what"] for one in json.loads(done.stdout)["findings"]
                    if one["verdict"] == "problem" and "cache" in one["what"]]
        self.assertEqual(problems, [])

    def test_batches(self):
        page = self.path("page.html")
        told = self.told("batches", self.cache, "--report", page, "--max-nodes", "100")
        self.assertEqual((told["graphs"], told["attacks"], told["unlabelled"]), (40, 3, 20))
        self.assertEqual(sum(one["unlabelled"] for one in told["in_order"]), 20)
        self.assertGreaterEqual(told["attacks_least"], 0)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        shown = re.sub(r"\s+", " ", " ".join(pages.check_stands_alone(self, text).texts))
        self.assertIn("unlabelled graphs", shown)
        words = self.run_leat("batches", self.cache, "--report", page)
        self.assertIn("3 of them with an attack: 7.50 %", words)
        self.assertIn("20 of them unlabelled: 50.0 %", words)
        explained = self.told("batches", self.cache, "--explain", "0")
        ys = [one["y"] for one in explained["graphs"]]
        self.assertEqual([ys.count(y) for y in (1, 0, -1)], [3, 17, 20])
        words = self.run_leat("batches", self.cache, "--explain", "0")
        self.assertIn("3 with an attack, 20 unlabelled\n", words)
        self.assertEqual(words.count(", unlabelled\n"), 20)

    def test_curriculum(self):
        """Unlabelled graphs are not ranked among benign ones: they are in every epoch."""
        words = ("--curriculum", "random", "--epochs", "9", "--tiers", "17")
        explained = self.told("batches", self.cache, "--explain", "0", *words)
        ys = [one["y"] for one in explained["graphs"]]
        self.assertEqual([ys.count(y) for y in (1, -1)], [3, 20])
        self.assertLess(ys.count(0), 17)


if __name__ == "__main__":
    unittest.main()
