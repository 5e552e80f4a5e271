"""leat ingest can: what would be wrong in silence is read right, refused or in a warning: labels
that mean something else, times that are lost, frames that are cut."""
import json
import os
import re
import shutil
import sys
import unittest

from command import leat
from test_ingest_can import Case

HEADER = "timestamp,arbitration_id,data_field"
FRAMES = 3000  # in windows of 100, three of them with attacks
ATTACKS = range(1500, 1800, 2)


class Doubts(Case):
    def log(self, name, header, line, count=FRAMES):
        """A log with the line of each frame: its number, time, identifier, payload and whether it
        is an attack."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(header + "\n" if header else "")
            for i in range(count):
                attack = i in ATTACKS
                file.write(line(i, f"{1.6e9 + i * 0.001:.6f}",
                                "000" if attack else f"{256 + i % 10:03X}",
                                f"0A{i * 7919 % 65536:04X}0B1C2D3E", int(attack)) + "\n")
        return path

    def table(self, name, column, values="01", header=HEADER):
        """With a column of this name, which has these values for benign frames and for attacks."""
        return self.log(name, f"{header},{column}",
                        lambda i, time, ident, data, attack: f"{time},{ident},{data},"
                                                             f"{values[attack]}")

    def run_can(self, path, *words):
        self.count = getattr(self, "count", 0) + 1
        return self.ingest(path, "--val-fraction", "0", *words, out=f"cache{self.count}")

    def attacks(self, result):
        train = result["splits"]["train"]
        return train["attacks"], train["unlabelled"]

    def warning(self, path, *words):
        return "\n".join(self.run_can(path, *words)["warnings"])


class Labels(Doubts):
    def test_columns_named_for_benign_frames(self):
        """1 marks a benign frame there, whatever --column label is given."""
        for name in ("benign", "Normal", "is_benign", "is_normal", "normal_flag", "Legit"):
            with self.subTest(name):
                log = self.table("x.csv", name, "10")
                said = self.warning(log)
                self.assertIn(f'column "{name}" looks like a label but is not used', said)
                self.assertIn(f"--column label={name} to read it inverted", said)
                for words in (f"label={name}", "label=4"):
                    result = self.run_can(log, "--column", words)
                    self.assertEqual(self.attacks(result), (3, 0))
                    self.assertIn("it is read inverted", result["warnings"][0])
        log = self.table("x.csv", "normal", ("True", "False"))
        self.assertEqual(self.attacks(self.run_can(log, "--column", "label=normal")), (3, 0))
        log = self.table("x.csv", "normal", ("normal", "DoS"))  # words say it themselves
        self.assertEqual(self.attacks(self.run_can(log, "--column", "label=normal")), (3, 0))

    def test_columns_of_zeros_and_ones(self):
        """Whatever their names, and however late the first 1: such a log is not benign by name."""
        for name, values in (("ground_truth", "01"), ("gt", "01"), ("zork", "01"), ("y", "NY"),
                             ("result", ("0.0", "1.0")), ("fake", ("", "1"))):
            with self.subTest(name):
                result = self.run_can(self.table("normal.csv", name, values))
                self.assertIn(f'column "{name}" looks like a label but is not used',
                              result["warnings"][0])
                self.assertEqual(self.attacks(result), (0, 30))
        for name, values in (("brs", "01"), ("zork", "00"), ("zork", "02"), ("d1", "01"),
                             ("is_rx", "01"), ("normalized_time", "12")):
            with self.subTest(name):
                result = self.run_can(self.table("normal.csv", name, values))
                self.assertEqual((result["warnings"], self.attacks(result)), ([], (0, 0)))

    def test_names_of_attacks(self):
        """Logs without labels that are named for one are not benign by name."""
        log = self.table("normal.csv", "brs")
        for name in ("normal_mitm", "normal_jamming", "normal-tampered", "normal_hacked",
                     "normal_compromised", "normal_masq", "normal_busoff", "normal_sybil"):
            os.rename(log, self.path(name + ".csv"))
            log = self.path(name + ".csv")
            self.assertEqual(self.attacks(self.run_can(log)), (0, 30), name)

    def test_numbers_that_may_mean_something_else(self):
        said = self.warning(self.table("x.csv", "label", ("-1", "1")))
        self.assertIn("there are labels below 0, which are read as benign", said)
        said = self.warning(self.table("x.csv", "label", "12"))
        self.assertIn("no label is 0, so every frame is an attack", said)
        for values in ("01", "02", ("0.0", "3.0"), ("-0", "1"), ("normal", "2")):
            self.assertEqual(self.warning(self.table("x.csv", "label", values)), "", values)

    def test_another_column_has_the_attacks(self):
        log = self.table("x.csv", "attack,attack_type", ("0,None", "0,DoS"))
        self.assertIn('column "attack_type" looks like a label but is not used, and no frame is '
                      "labelled as an attack; use --column label=attack_type", self.warning(log))
        for values in (("0,None", "0,None"), ("0,None", "1,DoS"), ("0,normal", "0,benign")):
            log = self.table("x.csv", "attack,attack_type", values)
            self.assertEqual(self.warning(log), "", values)


class Splits(Doubts):
    def folders(self, *names):
        self.count = getattr(self, "count", 0) + 1
        for i, name in enumerate(names):
            self.table(os.path.join(f"logs{self.count}", name), "attack", ("0", f"{i + 1}"))
        return self.path(f"logs{self.count}")

    def test_folders_named_for_tests(self):
        """By a whole word, first or last, in any case."""
        for name in ("test", "tests", "testing", "test-01", "test01", "Test_01", "TEST_01",
                     "Testing_set", "car-test"):
            with self.subTest(name):
                result = self.run_can(self.folders("train/a.csv", f"{name}/b.csv"))
                self.assertEqual([(split, one["graphs"]) for split, one in
                                  result["splits"].items()],
                                 [("train", 30), ("val", 0), (f"test_{name}", 30)])
                self.assertEqual(result["warnings"], [])
                says = self.ingest(self.folders("drive/a.csv", f"{name}/b.csv"), status=1)
                self.assertIn("although its folder is named like a test", says)
        result = self.run_can(self.folders("train_1/a.csv", "train/c.csv", "test_1/b.csv",
                                           "test/d.csv"))  # the plain names decide
        self.assertEqual(list(result["splits"]), ["train", "val", "test_1"])
        self.assertEqual(result["not_read"]["count"], 2)
        result = self.run_can(self.folders("contest/a.csv", "latest/b.csv", "train/c.csv"))
        self.assertEqual((result["splits"]["train"]["graphs"], result["warnings"]), (90, []))

    def test_copies(self):
        """Found by their contents, in one split or two."""
        log = self.table("logs/train_a/a.csv", "attack")
        self.assertEqual(self.warning(self.path("logs")), "")
        shutil.copy(log, self.path("logs", "train_a", "a (1).csv"))
        self.assertEqual(self.warning(self.path("logs")),
                         '"train_a/a (1).csv" and "train_a/a.csv" have the same contents; remove '
                         "copies")
        os.makedirs(self.path("logs", "test_b"))
        shutil.copy(log, self.path("logs", "test_b", "b.csv"))
        self.assertEqual(self.warning(self.path("logs")),
                         '"train_a/a.csv" and "test_b/b.csv" have the same contents, though they '
                         "are in the splits train and test_b; so have 1 more; remove copies")

    def test_a_found_cache_has_its_warnings(self):
        log = self.log("fd.csv", f"{HEADER},zork", lambda i, time, ident, data, attack:
                       f"{time},{ident},{data * 2},{attack}")
        made, again = (self.ingest(log, "--val-fraction", "0") for _ in range(2))
        self.assertTrue(again["found"])
        self.assertIn('"zork" looks like a label', made["warnings"][0])
        self.assertEqual([(one["warnings"], one["frames_cut"]) for one in (made, again)],
                         [(made["warnings"], FRAMES)] * 2)
        told = [leat("inspect", made["cache"], *words, status=0).stdout
                for words in ((), ("--json",))]
        self.assertIn('\n  warning: "', told[0])
        self.assertIn('"zork" looks like a label', told[0])
        self.assertIn("; 3,000 CAN-FD frames cut to 8 bytes", told[0])
        told = json.loads(told[1])
        self.assertEqual((told["warnings"], told["frames_cut"]), (made["warnings"], FRAMES))

    def test_uneven_validation_of_few_windows(self):
        """28 of 58 windows although a fifth was asked for: the log pauses."""
        for pause, said in ((51, True), (0, False)):
            log = self.log(f"{pause}.csv", HEADER, lambda i, *rest, pause=pause:
                           f"{i * 0.001 + (pause if i >= 3100 else 0):.6f},{rest[1]},{rest[2]}",
                           6000)
            for seed in ("0", "1", "10"):
                found = "".join(self.ingest(log, "--seed", seed, out=f"cache{seed}")["warnings"])
                self.assertEqual("windows although --val-fraction is 0.2" in found, said, found)

    def test_what_may_be_a_test(self):
        for name in ("eval/b.csv", "holdout/b.csv", "hold_out_1/b.csv", "valid/b.csv", "test.csv",
                     "car/drive_test_2.csv"):
            with self.subTest(name):
                logs = self.folders("train/a.csv", name)
                self.assertIn(f"{os.path.basename(name)}\": by its name, this may be a test, but "
                              "it is training data; choose with --train and --test",
                              self.warning(logs))
                self.assertEqual(self.warning(os.path.join(logs, name)), "")
                self.assertEqual(self.warning(logs, "--train", "*"), "")


class Times(Doubts):
    def test_equal_times(self):
        """Rounded by a spreadsheet, or to seconds."""
        for time in ("1.60E+09", "whole"):
            log = self.log("x.csv", HEADER, lambda i, full, ident, data, attack, t=time:
                           f"{full.split('.')[0] if t == 'whole' else t},{ident},{data}")
            self.assertIn("99 % of consecutive frames have equal times", self.warning(log))
        log = self.log("x.csv", HEADER, lambda i, time, ident, data, attack:
                       f"{1.6e9 + i // 4 * 0.001:.3f},{ident},{data}")
        self.assertEqual(self.warning(log), "")


def bits(data):
    return f"{int(data, 16):064b}"


def decimal(data, part):
    return part.join(str(value % 90 + 10) for value in bytes.fromhex(data))


class Payloads(Doubts):
    def payloads(self, write, header=HEADER, more=""):
        return self.log("x.csv", header, lambda i, time, ident, data, attack:
                        f"{time},{ident},{more}{write(data)}")

    def test_bits(self):
        """Digits 0 and 1 are hexadecimal as well: 64 of them were a CAN-FD frame that was cut."""
        for header, more in ((HEADER, ""), ("time,id,dlc,data_field", "8,")):
            log = self.payloads(bits, header, more)
            says = self.ingest(log, status=1)
            self.assertIn("its payloads consist of 0 and 1 only; use --column data=data_field:bits",
                          says)
            result = self.run_can(log, "--column", "data=data_field:bits")
            self.assertEqual((result["frames_cut"], result["warnings"]), (0, []))
        self.assertEqual(self.run_can(log, "--preset", "reference", "--column",
                                      "data=data_field:bits")["frames_cut"], 0)
        log = self.payloads(bits)
        self.assertEqual(self.run_can(log, "--column", "data=data_field:hex")["frames_cut"], FRAMES)
        self.assertEqual(self.run_can(log, "--preset", "reference")["frames_cut"], FRAMES)
        said = self.warning(self.payloads(lambda data: bits(data)[8:24]))
        self.assertIn("those of the first lines consist of 0 and 1 only", said)
        for data in ("00000000", "0000000100000000", "1" * 64 + "A" * 2):
            self.assertEqual(self.warning(self.payloads(lambda _, data=data: data)), "", data)

    def test_decimal_digits(self):
        said = self.warning(self.payloads(lambda data: decimal(data, " ")))
        self.assertIn("the first lines do not show whether bytes are hexadecimal or decimal", said)
        for unit in ("hex", "dec"):
            log = self.payloads(lambda data: decimal(data, " "))
            self.assertEqual(self.warning(log, "--column", f"data=data_field:{unit}"), "")
        said = self.warning(self.payloads(lambda data: decimal(data, "")))
        self.assertIn("have no digit from A to F", said)
        for write in (lambda data: " ".join(f"{value % 10:02d}" for value in bytes.fromhex(data)),
                      lambda data: decimal(data, " ")[:-2] + "0B",
                      lambda data: "1122334455667788",
                      lambda data: "12 45"):
            said = self.warning(self.payloads(write))
            self.assertEqual(said == "", write("00" * 8) != "12 45", said)

    def test_frames_that_are_cut(self):
        log = self.log("fd.log", "", lambda i, time, ident, data, attack:
                       f"({time}) can0 {ident}#{('', '#1' + data)[i % 2]}{data}")
        self.assertEqual(self.run_can(log)["frames_cut"], FRAMES // 2)
        self.assertEqual(self.run_can(log, "--can-fd", "refuse")["frames_cut"], 0)
        with open(log, encoding="ascii") as file:
            lines = [f"{i / 1000},0F5,{line.rsplit('#', 1)[1][i % 2:].strip()}"
                     for i, line in enumerate(file)]
        for header in (HEADER, "time,id,data"):
            log = self.log("fd.csv", header, lambda i, *_: lines[i])
            self.assertEqual(self.run_can(log)["frames_cut"], FRAMES // 2)


class Buses(Doubts):
    def test_interfaces(self):
        for name in ("interface", "frame.interface_name"):
            log = self.log("x.csv", f"{HEADER},{name}", lambda i, time, ident, data, attack:
                           f"{time},{ident},{data},can{i % 2}")
            self.assertEqual(self.run_can(log)["captures"], 2)
        log = self.log("x.csv", f"{HEADER},bus,interface", lambda i, time, ident, data, attack:
                       f"{time},{ident},{data},{i % 3},can{i % 2}")
        self.assertEqual(self.run_can(log)["captures"], 3)
        log = self.log("x.csv", f"{HEADER},interface", lambda i, time, ident, data, attack:
                       f"{time},{ident},{data},Vector VN1610 channel {i % 2}")
        self.assertEqual(self.run_can(log)["captures"], 1)


class Hints(Doubts):
    """What a refusal says helps, and what would destroy data is not offered."""
    def says(self, write, header=f"{HEADER},label"):
        log = self.log("x.csv", header, lambda i, *rest: write(i, *rest))
        return self.ingest(log, status=1)

    def test_notations(self):
        cases = (
            (lambda i, t, n, d, a: f"{t},{217056561 + i % 5},{d},{a}",
             "if its identifiers are decimal, use --column id=arbitration_id:dec"),
            (lambda i, t, n, d, a: f"{t},{n}y,{d},{a}", "identifiers are hexadecimal digits"),
            (lambda i, t, n, d, a: f"{t},305.0,{d},{a}",
             "use --column id=arbitration_id:dec, or write"),
            (lambda i, t, n, d, a: f"{1600000000000 + i},{n},{d},{a}",
             "use --column time=timestamp:ms"),
            (lambda i, t, n, d, a: f"{1600000000000000 + i},{n},{d},{a}",
             "use --column time=timestamp:us"),
            (lambda i, t, n, d, a: f"2020-09-13T12:26:40.{i:04},{n},{d},{a}",
             "dates are not read"),
            (lambda i, t, n, d, a: f"{t},{n},202 24 37 {i % 256},{a}",
             "use --column data=data_field:dec"),
            (lambda i, t, n, d, a: f'{t},{n},"[202, 24, {i % 256}]",{a}',
             "use --column data=data_field:dec"),
            (lambda i, t, n, d, a: f"{t},0x{n}h,{d},{a}",
             "identifiers have 0x before the digits or h after them, not both; remove one"),
            (lambda i, t, n, d, a: f'{t},{n},"({i % 256}, 2)",{a}',
             "use --column data=data_field:dec"),
            (lambda i, t, n, d, a: f"{t},{n},b'{d}',{a}", "payloads like b'...' are not read"))
        for write, wanted in cases:
            said = self.says(write)
            self.assertIn(wanted, said)
            self.assertNotIn("--max-rejected", said)
        said = self.says(lambda i, t, n, d, a: f"{t};{n};{d};{a}".replace(".", ","),
                         f"{HEADER};label".replace(",", ";"))
        self.assertIn("times with a decimal comma are not read", said)

    def test_lines_of_other_formats(self):
        """--column reads a csv, so it is not offered; what is said helps, both of it."""
        begin = "base hex  timestamps absolute\n"
        good = [f"   {i * 0.001:.6f} 1  1A{i % 8}  Rx   d 2 0A {i % 256:02X}\n"
                for i in range(800)]
        bad = [line.replace(" d 2 ", " d 3 ") for line in good[:200]]
        says = self.refused("x.asc", begin + "".join(good + bad))
        self.assertNotIn("--column", says)
        self.assertIn("they are damaged, or of a kind that is not read; repair or remove them",
                      says)
        words = re.search(r"or allow it with (--max-rejected \S+)\n", says)[1].split()
        result = self.ingest(self.path("x.asc"), *words, "--val-fraction", "0")
        self.assertEqual((result["frames"], result["rejected"]), (800, 200))
        with open(self.path("y.asc"), "w", encoding="ascii") as file:
            file.write(begin + "".join(good))
        result = self.ingest(self.path("y.asc"), "--val-fraction", "0")
        self.assertEqual((result["frames"], result["rejected"]), (800, 0))

    def test_columns_by_their_numbers(self):
        """What a warning advises can be given as it is."""
        log = self.log("x.csv", "data,when,time,id", lambda i, *_:
                       f"1{i % 9}0A,x,{i},{(704, 1088)[i % 2]}")
        said = self.warning(log)
        for words in ("time=3:ms, us or ns, or time=3:s", "id=4:dec if they are, or id=4:hex"):
            self.assertIn(words, said)
        result = self.run_can(log, "--column", "time=3:ms,id=4:dec")
        self.assertEqual((result["warnings"], result["frames"]), ([], FRAMES))

    def test_a_log_in_no_order(self):
        log = self.log("x.csv", HEADER, lambda i, time, ident, data, attack:
                       f"{i % 1000 * 0.01:.2f},{ident},{data}")
        said = leat("ingest", "can", log, "-o", self.path("out"), "--val-fraction", "0",
                    status=0).stdout
        self.assertIn("(--clock-steps sort if a log is in no order of time)\n", said)

    def test_labels(self):
        said = self.says(lambda i, t, n, d, a: f"{t},{n},{d},{'attack' if a else ''}")
        self.assertIn("a line without a label is not taken for benign", said)
        self.assertIn("--unlabelled benign-lines", said)
        self.assertNotIn("--max-rejected", said)
        for other in ("hacked", "odd"):
            said = self.says(lambda i, t, n, d, a, other=other:
                             f"{t},{n},{d},{other if a else 'normal'}")
            self.assertIn(f'the labels of 150 of its 3000 lines are not known: "{other}" in line '
                          "1502", said)
            self.assertNotIn("--max-rejected", said)
        for values in ("NY", ("ok", "attack")):
            self.assertEqual(self.attacks(self.run_can(self.table("y.csv", "label", values))),
                             (3, 0))

    def refused(self, name, text, *words):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.ingest(self.path(name), *words, status=1)

    def test_files(self):
        lines = "".join(f"{i * 0.001:.3f},0F5,0A0B,0\n" for i in range(300))
        text = f"{HEADER},attack\n{lines}"
        screen = "".join("  can0  0F5   [2]  0A 0B\n" for i in range(300))
        hcrl = "".join(f"Timestamp: {i * 0.001:.3f}        ID: 0350    000    DLC: 8    "
                       f"{' '.join(['0a'] * 8)} {'TR'[i < 290]}\n" for i in range(300))
        cases = (("utf-16.csv", text.encode("utf-16"), "is UTF-16; convert it: iconv"),
                 ("utf-16-be.csv", text.encode("utf-16-be"), "is UTF-16; convert it: iconv"),
                 ("cr.csv", text.replace("\n", "\r"), "its lines end with CR only"),
                 ("x.zip", b"PK\3\4" + bytes(range(256)) * 9, "is a zip file; unpack it first"),
                 ("x.log", b"\x28\xb5\x2f\xfd" + bytes(range(256)) * 9, "is a zstd file"),
                 ("comment.csv", "# recorded by me\n" + text, "neither a header nor a frame"),
                 ("sep.csv", "sep=,\n" + text, "neither a header nor a frame"),
                 ("quoted.csv", '"sep=,"\n' + text, "neither a header nor a frame"),
                 ("screen.log", screen, "candump wrote it for the screen, without times"),
                 ("labels.txt", hcrl, "--column time=2,id=4,dlc=7,data=8..15,label=16"),
                 ("notes.txt", "some notes\nand more\n", "whose name begins with _ is not read"))
        for name, data, wanted in cases:
            self.assertIn(wanted, self.refused(name, data), name)
        result = self.run_can(self.path("labels.txt"), "--column",
                              "time=2,id=4,dlc=7,data=8..15,label=16")
        self.assertEqual(self.attacks(result), (1, 0))
        for words, wanted in (("time=1", "use --column time=1,id=2,data=3"),
                              ("time=1,data=3:hex", "use --column time=1,id=2,data=3")):
            self.assertIn(wanted, self.refused("numbers.csv", lines, "--column", words))

    def test_identifiers_of_a_trace_that_are_filled_up(self):
        """Eight digits mark 29 bits where others have four."""
        header = ";$FILEVERSION=2.1\n;$COLUMNS=N,O,T,B,I,d,R,L,D"

        def write(name, digits):
            return self.log(name, header,
                            lambda i, time, ident, data, attack:
                            f"{i} {i}.5 DT 1 {'2A0'.zfill(digits) if i % 9 == 0 else '00000300'} "
                            "Rx - 1 0A")
        filled, four = (self.run_can(write(f"{digits}/a.trc", digits)) for digits in (8, 4))
        self.assertIn("are read as 11 bits", " ".join(filled["warnings"]))
        self.assertNotIn("11 bits", " ".join(four["warnings"]))


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
