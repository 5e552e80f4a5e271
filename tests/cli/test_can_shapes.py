"""leat ingest can: logs in the shapes of published data sets become the same frames, what is not
sure is reported, and what cannot be read is refused with what helps."""
import json
import os
import random
import sys
import unittest

from command import ROOT
from test_ingest_can import Case, read_tensors

SHAPES = os.path.join(ROOT, "tests", "golden", "can_shapes")
PAYLOADS = ["01ff0a", "7d8778877f7722b3", "02ff0b", "8090a0b0c0d0e0f0",
            "03ff0c", "7e8778877f7722b4", "04ff0d", "8191a1b1c1d1e1f1"]
IDS = ["0DE", "026", "0DE", "47F", "0DE", "026", "0DE", "47F"]
SMALL = ("--window", "4", "--stride", "4", "--val-fraction", "0", "--store", "frames")
BYTES = ",".join(f"{name}={column}" for name, column in (
    ("time", "1"), ("id", "2"), ("dlc", "3"), ("data", "4..11"), ("label", "12")))

# file, options, whether it is labelled, frames per second of invented times
FILES = [
    ("can_train_and_test.csv", (), True, None),
    ("label_name.csv", (), True, None),
    ("daga.csv", (), True, None),
    ("otids.csv", ("--column", "id=IntID1:dec"), True, None),
    ("otids_bytes.csv", ("--column", "id=IntID1:dec"), True, None),
    ("challenge.csv", (), True, None),
    ("python_can.csv", (), False, None),
    ("crysys.log", (), False, None),
    ("candump_labels.log", (), True, None),
    ("ciciov2024.csv", ("--no-time", "4"), True, 4),
    ("semicolons.csv", ("--column", "time=T:us,id=Message:dec,data=Payload:dec,label=Verdict"),
     True, None),
    ("no_header.tsv", ("--column", BYTES), True, None),
]


class Shapes(Case):
    def test_the_same_frames(self):
        for name, words, labelled, rate in FILES:
            with self.subTest(name):
                result = self.ingest(os.path.join(SHAPES, name), *SMALL, *words, out=name)
                flat = {key: values for key, (_, values) in read_tensors(
                    os.path.join(result["cache"], "train.safetensors")).items()}
                with open(os.path.join(result["cache"], "vocab.json"), encoding="ascii") as file:
                    entries = json.load(file)["entries"]
                names = sorted(entries, key=entries.get)
                times = [(i + 1) / rate if rate else 1600000000 + i / 4 for i in range(8)]
                self.assertEqual(list(flat["frame_time"]), times)
                self.assertEqual([names[i] for i in flat["frame_id"]], IDS)
                self.assertEqual(bytes(flat["frame_bytes"]).hex(),
                                 "".join(data.ljust(16, "0") for data in PAYLOADS))
                if labelled:
                    self.assertEqual(list(flat["attack_count"]), [1, 2])
                    self.assertEqual(list(flat["attack_first"]), [1, 0])

    def test_a_cache_without_new_settings_has_none(self):
        """Only a setting that is given is in the metadata, and so in the digest."""
        log = os.path.join(SHAPES, "daga.csv")
        plain = self.ingest(log, *SMALL)
        self.assertTrue(self.ingest(log, *SMALL)["found"])
        self.assertEqual(self.settings(plain), (None, None))
        mapped = self.ingest(log, *SMALL, "--column", "label=ANOMALY")
        self.assertNotEqual(mapped["digest"], plain["digest"])
        self.assertEqual(self.settings(mapped), ("label=ANOMALY", None))
        invented = self.ingest(log, *SMALL, "--no-time", "9")
        self.assertEqual(self.settings(invented), (None, "9"))
        self.assertEqual(len({result["digest"] for result in (plain, mapped, invented)}), 3)
        allowed = self.ingest(log, *SMALL, "--max-rejected", "0.5")
        self.assertTrue(allowed["found"])  # it decides whether there is a cache, not which

    def settings(self, result):
        path = os.path.join(result["cache"], "cache_metadata.json")
        with open(path, encoding="utf-8") as file:
            settings = json.load(file)["settings"]
        return settings.get("column"), settings.get("no-time")


class Notes(Case):
    """What is not sure is in the summary."""
    def log(self, name, header, line, count=600):
        random.seed(1)
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(header)
            for i in range(count):
                file.write(line(i) + "\n")
        return self.path(name)

    def warnings(self, *words, out="cache"):
        return "\n".join(self.ingest(*words, "--val-fraction", "0", out=out)["warnings"])

    def test_an_unused_label(self):
        log = self.log("x.csv", "timestamp,arbitration_id,data_field,verdict\n",
                       lambda i: f"{i * 0.001:.6f},{0xA0 + i % 5:X},00,{'TR'[i % 2]}")
        says = self.warnings(log)
        self.assertIn('x.csv": column "verdict" looks like a label but is not used', says)
        self.assertIn("use --column label=verdict", says)
        result = self.ingest(log, "--column", "label=verdict", "--val-fraction", "0")
        self.assertEqual(result["warnings"], [])
        self.assertEqual(result["splits"]["train"]["attacks"], 6)

    def test_known_labels_are_read(self):
        for i, (name, words) in enumerate((
                ("label", "01"), ("Label", ("Normal", "Attack")), ("class", ("benign", "anomaly")),
                ("Attack", ("False", "True")), ("Flag", "RT"), (" attack", "01"),
                ("ANOMALY", ("FALSE", "TRUE")))):
            with self.subTest(name):
                log = self.log("x.csv", f"timestamp,arbitration_id,data_field,{name}\n",
                               lambda n, w=words: f"{n * 0.001:.6f},{0xA0 + n % 5:X},00,"
                                                  f"{w[n % 200 == 7]}")
                result = self.ingest(log, "--val-fraction", "0", out=f"c{i}")
                self.assertEqual(result["splits"]["train"],
                                 {"graphs": 6, "attacks": 3, "unlabelled": 0})
                self.assertEqual(result["warnings"], [])

    def test_bytes_that_may_be_decimal(self):
        log = self.log("x.csv", "time,id,d0,d1\n", lambda i: f"{i * 0.001:.6f},0F5,{i % 99},1")
        self.assertIn("the first lines do not show whether bytes are hexadecimal or decimal; "
                      "specify --column data=FIRST..LAST:hex (or :dec)", self.warnings(log))
        self.assertEqual(self.warnings(log, "--column", "data=d0..d1:dec"), "")
        log = self.log("dec.csv", "time,id,d0,d1\n", lambda i: f"{i * 0.001:.6f},291,{i % 256},1")
        self.assertIn("identifiers are read as hexadecimal, but all", self.warnings(log))

    def test_times_that_may_not_be_seconds(self):
        log = self.log("x.csv", "timestamp,arbitration_id,data_field\n", lambda i: f"{i},0F5,00")
        self.assertIn("times are read as seconds, but all of the first ones are whole numbers",
                      self.warnings(log))
        self.assertEqual(self.warnings(log, "--column", "time=timestamp:ms"), "")

    def test_times_with_a_fraction_that_are_too_slow_for_seconds(self):
        """As pandas writes milliseconds and microseconds; both threads count the same."""
        head, says = "timestamp,arbitration_id,data_field\n", "and a bus is faster; use --column " \
            "time=1:ms, us or ns, or time=1:s if they are seconds"
        for step in (0.561, 142.25):
            log = self.log("x.csv", head, lambda i, s=step: f"{0.123 + i * s:.6f},0F5,00")
            self.assertIn(says, self.warnings(log))
            for unit in ("ms", "s"):
                self.assertEqual(self.warnings(log, "--column", f"time=timestamp:{unit}"), "")
        log = self.log("x.csv", head, lambda i: f"{0.123 + i * 0.09:.6f},0F5,00")
        self.assertEqual(self.warnings(log), "")
        # pauses are rare
        log = self.log("x.csv", head, lambda i: f"{i * 0.001 + i // 3 * 60:.6f},0F5,00")
        self.assertEqual(self.warnings(log), "")

    def test_identifiers_that_may_be_decimal(self):
        ids = (704, 1088, 1264)
        by_range = self.log("range.csv", "time,id,data\n",
                            lambda i: f"{i * 0.001:.6f},{ids[i % 3]},140a")
        self.assertIn("identifiers are read as hexadecimal, but all of them could be decimal",
                      self.warnings(by_range))
        for unit in ("hex", "dec"):
            self.assertEqual(self.warnings(by_range, "--column", f"id=id:{unit}"), "")
        by_name = self.log("name.csv", "time,IntID,data\n", lambda i: f"{i * 0.001:.6f},{i % 9},14")
        self.assertIn("could be decimal", self.warnings(by_name, "--column", "id=IntID"))
        for name, text, column in (("letters", ("704", "1088", "1A64"), "id"),
                                   ("short", ("704", "088", "264"), "id"),
                                   ("beyond", ("704", "1088", "9264"), "can_id")):
            log = self.log(f"{name}.csv", f"time,{column},data\n",
                           lambda i, t=text: f"{i * 0.001:.6f},{t[i % 3]},140a")
            self.assertEqual(self.warnings(log), "", name)
        self.assertEqual(self.warnings(by_range, "--identifiers", "written"), "")
        log = self.log("extended.csv", "time,id,extended,data\n",
                       lambda i: f"{i * 0.001:.6f},{ids[0]},{i % 2},140a")
        self.assertEqual(self.warnings(log), "")  # 704 with 29 bits is not above 7FF

    def test_invented_times(self):
        log = os.path.join(SHAPES, "ciciov2024.csv")
        result = self.ingest(log, *SMALL, "--no-time", "4")
        self.assertIn("there are no times; they were invented, 4 frames per second (--no-time)",
                      result["warnings"][0])


class Refused(Case):
    """Nothing is left behind, and the message says what helps."""
    def refused(self, text, *words, status=1):
        with open(self.path("x.csv"), "w", encoding="ascii") as file:
            file.write(text)
        says = self.ingest(self.path("x.csv"), *words, status=status)
        self.assertFalse(os.path.exists(self.path("cache")) and os.listdir(self.path("cache")))
        return says

    def test_decoded_signals(self):
        says = self.refused("Label,Time,ID,Signal1_of_ID,Signal2_of_ID\n0,1.5,id1,0.25,0.5\n" * 9)
        self.assertIn('begins with "Label", "Time", "ID": it contains decoded signals', says)

    def test_what_is_missing(self):
        says = self.refused("Time,IntID1,ID2,DLC,Data,Label\n0.5,704,02c0,2,14 0a,0\n")
        for words in ('begins with "Time", "IntID1", "ID2"', "no column for id",
                      "use --column id=IntID1:dec", "formats: csv, hcrl, hcrl-text"):
            self.assertIn(words, says)
        says = self.refused("ID,DATA_0,DATA_1\n65,96,255\n")
        self.assertIn("--no-time RATE", says)

    def test_options(self):
        text = "time,id,data\n1,0F5,00\n"
        for words, status, says in (
                (("--column", "when=T"), 2, "WHAT is time, id, bus, dlc, data, label or attack"),
                (("--column", "id=id:base64"), 2, "--column: id does not take :base64"),
                (("--column", "id=nothing"), 1, 'there is no column "nothing"'),
                (("--column", "id=id", "--format", "gvret"), 2, "column describes a csv"),
                (("--column", "id=" + "x" * 600), 2, "more than 511 characters"),
                (("--no-time", "0"), 2, "refuse or a whole number from 1 to 1000000"),
                (("--max-rejected", "1.5"), 2, "a number from 0 to 1")):
            with self.subTest(words):
                self.assertIn(says, self.refused(text, *words, status=status))

    def test_a_payload_in_decimal_bytes(self):
        """2,964 of 3,000 lines were rejected, and the ingest succeeded."""
        lines = ["timestamp,arbitration_id,data_field,attack\n"]
        lines += [f"{i * 0.001:.6f},0F5,0102,0\n" for i in range(36)]
        lines += [f"{1 + i * 0.001:.6f},0F5,{i % 256} 17 255,0\n" for i in range(2964)]
        says = self.refused("".join(lines))
        for words in ("2964 of its 3000 lines are rejected as csv", "line 38 payload_unparsable: "
                      "1.000000,0F5,0 17 255,0", "line 39 ", "line 40 ",
                      "if its bytes are decimal, use --column data=data_field:dec"):
            self.assertIn(words, says)
        self.assertNotIn("--max-rejected", says)  # no advice to lose most of a log
        result = self.ingest(self.path("x.csv"), "--max-rejected", "0.988", "--val-fraction", "0",
                             "--window", "36")
        self.assertEqual((result["frames"], result["rejected"]), (36, 2964))
        result = self.ingest(self.path("x.csv"), "--column", "data=data_field:dec",
                             "--val-fraction", "0")
        self.assertEqual(result["rejected"], 36)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
