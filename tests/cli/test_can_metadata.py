"""Labels from a capture_metadata.json beside the logs, as in ORNL's ROAD data set: which frames it
marks, what it says of other logs, and what is wrong with it. Runs the command named by LEAT."""
import gzip
import json
import os
import unittest

from command import leat
from test_ingest_can import Case, content, read_tensors

ID, DATA = "0D0", "0011FF3344556677"
SMALL = ("--window", "3", "--stride", "3", "--val-fraction", "0", "--store", "frames")


class Metadata(Case):
    def setUp(self):
        super().setUp()
        self.logs = 0  # so far, which begin at different times
        self.attacks = self.make("road", "attacks")
        self.ambient = self.make("road", "ambient")

    def write(self, text, folder=None):
        with open(os.path.join(folder or self.attacks, "capture_metadata.json"), "w",
                  encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))

    def log(self, name, frames, folder=None, begin=None):
        """Frames are (seconds since the first one, identifier, data)."""
        self.logs += 1
        begin = 1010000000.0 + 1000 * self.logs if begin is None else begin
        lines = [f"({begin + at:.6f}) can0 {id_}#{data}\n" for at, id_, data in frames]
        path = os.path.join(folder or self.attacks, name)
        opened = gzip.open if name.endswith(".gz") else open
        with opened(path, "wt", encoding="ascii") as file:
            file.write("".join(lines))
        return path

    def attack(self, **members):
        return {"elapsed_sec": 3, "on_dyno": True, "injection_id": "0xd0",
                "injection_data_str": "XXXXFFXXXXXXXXXX", "injection_interval": [1, 2], **members}

    def labels(self, result, name):
        """Of each window of a log: y, and how many of its three frames are attacks."""
        with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            captures = json.load(file)["captures"]
        flat = {key: values for key, (_, values) in
                read_tensors(os.path.join(result["cache"], "train.safetensors")).items()}
        found = [(start, y, count) for start, capture, y, count in
                 zip(flat["window_start"], flat["capture"], flat["y"], flat["attack_count"])
                 if captures[capture]["file"] == name]
        return [pair[1:] for pair in sorted(found)]

    def marked(self, frames, entry, *words):
        """Whether each frame is an attack: each fills a window, after one that begins the log."""
        times = [(0.0, "001", "00")] * 3
        for frame in frames:
            times += [frame] * 3
        self.log("x.log", times)
        self.write({"x": entry})
        out = f"out{len(os.listdir(self.folder))}"
        result = self.ingest(self.attacks, *SMALL, *words, out=out)
        labels = self.labels(result, "x.log")
        self.assertEqual(labels[0], (0, 0))
        for label in labels:
            self.assertIn(label, ((0, 0), (1, 3)))
        return [y == 1 for y, _ in labels[1:]], result


class Frames(Metadata):
    def test_both_ends_are_included(self):
        """To the microsecond, which differences of doubles do not have."""
        for low, high in ((1.0, 2.0), (9.191851, 30.050109), (0.000001, 0.000002)):
            step = 0.000001
            frames = [(at, ID, DATA) for at in (low - step, low, high, high + step)]
            marked, result = self.marked(frames, self.attack(injection_interval=[low, high]))
            self.assertEqual(marked, [False, True, True, False])
            self.assertEqual(result["capture_metadata"],
                             {"files": 1, "frames": 6, "intervals": 1, "first": [
                                 {"file": os.path.join(self.attacks, "x.log"), "frames": 15,
                                  "attacks": 6}]})
            self.assertEqual((result["files_unlabelled"], result["warnings"]), (0, []))

    def test_identifiers(self):
        ids = ["0D0", "0D1", "000000D0", "1FFFFFFF"]
        frames = [(1.5, name, DATA) for name in ids]
        for wanted, marked in (("0xd0", [1, 0, 0, 0]), ("0D0", [1, 0, 0, 0]), ("d0", [1, 0, 0, 0]),
                               ("0x000000D0", [0, 0, 1, 0]), ("1fffffff", [0, 0, 0, 1]),
                               ("X" * 3, [1] * 4), ("x", [1] * 4), (None, [1] * 4)):
            found, _ = self.marked(frames, self.attack(injection_id=wanted))
            self.assertEqual(found, [bool(one) for one in marked], wanted)
            found, _ = self.marked(frames, self.attack(injection_id=wanted), "--identifiers",
                                   "written")
            self.assertEqual(found, [bool(one) for one in marked], wanted)

    def test_several_identifiers(self):
        ids = ["0D0", "0D1", "000000D0", "0D2"]
        frames = [(1.5, name, DATA) for name in ids]
        for wanted, marked in ((["0xd2", "0d0"], [1, 0, 0, 1]), (["000000D0"], [0, 0, 1, 0]),
                               (["0D1", "X" * 3], [1] * 4), (ids, [1] * 4)):
            found, _ = self.marked(frames, self.attack(injection_id=wanted))
            self.assertEqual(found, [bool(one) for one in marked], wanted)

    def test_several_intervals(self):
        """In any order, and overlapping; none of them reaches the time between them."""
        times = (0.999999, 1, 1.5, 2, 2.000001, 2.999999, 3, 3.2, 5, 5.000001)
        frames = [(at, ID, DATA) for at in times]
        want = [1 <= at <= 2 or 3 <= at <= 5 for at in times]
        for intervals in ([[1, 2], [3, 5]], [[4, 5], [1, 2], [3, 4]],
                          [[3, 4], [1, 1.2], [3.5, 5], [1.1, 2], [3, 3], [1, 2]]):
            found, result = self.marked(frames, self.attack(injection_interval=intervals))
            self.assertEqual(found, want, intervals)
            self.assertEqual((result["capture_metadata"]["intervals"], result["warnings"]), (1, []))
        found, _ = self.marked(frames, self.attack(injection_interval=[[1, 2]]))
        self.assertEqual(found, [1 <= at <= 2 for at in times])

    def test_absolute_times(self):
        """Above 10^9, or as a date; to the microsecond, both ends included."""
        self.logs = 0
        step = 0.000001
        for interval, low, high in (([1010001009.191851, 1010001030.050109], 9.191851, 30.050109),
                                    (["2002-01-02T19:50:09.5Z", "2002-01-02T19:50:12Z"], 9.5, 12)):
            frames = [(at, ID, DATA) for at in (low - step, low, high, high + step)]
            for intervals in (interval, [interval]):
                self.logs = 0
                found, result = self.marked(frames, self.attack(injection_interval=intervals))
                self.assertEqual((found, result["warnings"]), ([False, True, True, False], []))

    def test_patterns(self):
        data = [DATA, "0011FE3344556677", "FFFFFFFFFFFFFFFF", "0011FF", "0011FF0000000000", ""]
        frames = [(1.5, ID, one) for one in data]
        for wanted, marked in (("XXXXFFXXXXXXXXXX", [1, 0, 1, 0, 1, 0]),
                               ("xxxxFxxxxxxxxxxx", [1, 1, 1, 0, 1, 0]),
                               ("XXXXXXXXXXXXXXX7", [1, 1, 0, 0, 0, 0]),
                               ("ffffffffffffffff", [0, 0, 1, 0, 0, 0]),
                               ("XXXXFF", [0, 0, 0, 1, 0, 0]), (None, [1] * 6)):
            found, _ = self.marked(frames, self.attack(injection_data_str=wanted))
            self.assertEqual(found, [bool(one) for one in marked], wanted)

    def test_names_of_the_documentation(self):
        entry = self.attack(injected_aid="0xd0", injection_data="XXXXFFXXXXXXXXXX")
        del entry["injection_id"], entry["injection_data_str"]
        frames = [(1.5, ID, DATA), (1.5, "0D1", DATA), (1.5, ID, "00")]
        self.assertEqual(self.marked(frames, entry)[0], [True, False, False])

    def test_any_number_of_threads_and_blocks(self):
        """The first frame is in another block than most."""
        frames = [(at * 0.0001, ID if at % 3 else "0D1", DATA) for at in range(30000)]
        self.log("x.log", frames)
        self.log("y.log.gz", frames, begin=5000.0)
        self.write({"x": self.attack(injection_interval=[[1.5, 2], [1, 1.5]]),
                    "y": self.attack(injection_interval=[2.9, 3])})
        found = [self.ingest(self.attacks, *SMALL, "--threads", str(threads), out=f"out{threads}")
                 for threads in (1, 2, 3, 8)]
        self.assertEqual([one["attacks"] for one in found[0]["capture_metadata"]["first"]],
                         [sum(i % 3 != 0 for i in range(10000, 20001)),
                          sum(i % 3 != 0 for i in range(29000, 30000))])
        for one in found[1:]:
            self.assertEqual(content(one["cache"]), content(found[0]["cache"]))

    def test_gaps_count_from_the_first_frame(self):
        gaps = [0.25] * 12
        self.log("x.log", [(0, ID, DATA)] * 1 + [(gap, ID, DATA) for gap in gaps[1:]], begin=0.0)
        self.write({"x": self.attack(injection_interval=[1, 1.5])})
        result = self.ingest(self.attacks, *SMALL, "--times", "gap")
        self.assertEqual(self.labels(result, "x.log"), [(0, 0), (1, 2), (1, 1), (0, 0)])


class Logs(Metadata):
    """What is said of logs as a whole."""
    FRAMES = [(i * 0.5, ID, DATA) for i in range(12)]

    def take(self, *words, out="cache"):
        return self.ingest(self.path("road"), *SMALL, *words, out=out)

    def test_as_downloaded(self):
        self.log("speed_attack_1.log", self.FRAMES)
        self.log("accelerator_attack_drive_1.log", self.FRAMES)
        self.log("ambient_dyno_drive_benign_anomaly.log", self.FRAMES, self.ambient)
        self.write({"speed_attack_1": self.attack(),
                    "accelerator_attack_drive_1": self.attack(
                        injection_id=None, injection_data_str=None, injection_interval=None)})
        self.write({"ambient_dyno_drive_benign_anomaly": {"elapsed_sec": 3, "on_dyno": True}},
                   self.ambient)
        result = self.take()
        self.assertEqual(self.labels(result, "speed_attack_1.log"),
                         [(1, 1), (1, 2), (0, 0), (0, 0)])
        self.assertEqual(self.labels(result, "accelerator_attack_drive_1.log"), [(-1, 0)] * 4)
        self.assertEqual(self.labels(result, "ambient_dyno_drive_benign_anomaly.log"), [(0, 0)] * 4)
        self.assertEqual(result["capture_metadata"]["files"], 2)
        self.assertEqual(result["files_unlabelled"], 1)
        self.assertEqual(result["warnings"], [
            '"attacks/accelerator_attack_drive_1.log": capture_metadata.json does not say which of '
            'its frames are attacks, so they have no labels'])
        self.assertEqual(result["not_read"]["count"], 0)
        benign = self.take("--unlabelled", "benign", out="benign")
        self.assertEqual(self.labels(benign, "accelerator_attack_drive_1.log"), [(0, 0)] * 4)

    def test_logs_that_it_does_not_name(self):
        """Those that are named ambient, as in ROAD, are benign."""
        for name in ("a_attack.log", "ambient_long.log", "ambient_attack.log", "drive.log"):
            self.log(name, self.FRAMES, self.path("road"))
        self.write({"a_attack": self.attack(), "b": self.attack(), "c/../drive": self.attack()},
                   self.path("road"))
        result = self.take()
        self.assertEqual(self.labels(result, "ambient_long.log"), [(0, 0)] * 4)
        for name in ("ambient_attack.log", "drive.log"):
            self.assertEqual(self.labels(result, name), [(-1, 0)] * 4)
        warning, = result["warnings"]
        self.assertIn('capture_metadata.json names 2 captures that are not there: "b", ...',
                      warning)
        self.assertIn('"road/ambient_attack.log" and 2 other files: capture_metadata.json beside '
                      'it does not name it', warning)
        found = self.ingest(self.path("road"), *SMALL)
        self.assertTrue(found["found"])
        self.assertEqual(found["warnings"], result["warnings"])

    def test_an_entry_without_an_injection_where_the_name_says_attack(self):
        self.log("x_attack.log", self.FRAMES)
        self.write({"x_attack": {"elapsed_sec": 3}})
        self.assertEqual(self.labels(self.take(), "x_attack.log"), [(-1, 0)] * 4)

    def test_other_logs_of_the_folder_are_not_missing(self):
        one = self.log("a.log", self.FRAMES)
        self.log("b.log.gz", self.FRAMES)
        self.write({"a": self.attack(), "b": self.attack()})
        self.assertEqual(self.ingest(one, *SMALL)["warnings"], [])

    def test_intervals_that_do_not_fit(self):
        self.log("beyond.log", self.FRAMES)
        self.log("none.log", self.FRAMES)
        self.log("falls.log", self.FRAMES[:6] + self.FRAMES[:6])
        self.write({"beyond": self.attack(injection_interval=[5, 6.6]),
                    "none": self.attack(injection_id="0xd1"), "falls": self.attack()})
        warning, = self.take()["warnings"]
        self.assertIn('"attacks/none.log": no frame matches its injection_interval', warning)
        self.assertIn('"attacks/beyond.log": its injection_interval in capture_metadata.json ends '
                      'after its last frame; seconds count from the first frame up to 10^9',
                      warning)
        self.assertIn('"attacks/falls.log": its injection_interval counts from its first frame, '
                      'but its clock falls back', warning)
        self.write({"beyond": self.attack(injection_interval=[5, 6.5]),
                    "none": self.attack(), "falls": self.attack(injection_interval=[1, 1.1])})
        result = self.take("--clock-steps", "sort", out="sorted")
        self.assertEqual(result["warnings"], [])
        self.assertEqual([log["attacks"] for log in result["capture_metadata"]["first"]], [2, 2, 3])

    def test_the_summary(self):
        for i in range(10):
            self.log(f"x{i}.log", self.FRAMES)
        self.write({f"x{i}": self.attack() for i in range(10)})
        done = leat("ingest", "can", self.attacks, *SMALL, "-o", self.path("out"))
        self.assertIn("10 logs labelled by capture_metadata.json, 30 frames of attacks\n",
                      done.stdout)
        self.assertIn(f"          3 of 12 in {self.attacks}/x7.log\n          and 2 logs more\n",
                      done.stdout)


class Caches(Metadata):
    FRAMES = Logs.FRAMES

    def setUp(self):
        super().setUp()
        self.log("x.log", self.FRAMES)
        self.log("y.log", self.FRAMES[::-1])

    def take(self, *words):
        return self.ingest(self.attacks, *SMALL, *words)

    def test_other_metadata_is_another_cache(self):
        plain = self.take()
        self.write({"x": self.attack()})
        first = self.take()
        self.assertFalse(first["found"])
        self.assertTrue(self.take()["found"])
        self.assertTrue(self.take("--verify")["found"])
        self.write({"x": self.attack(injection_interval=[1, 2.5])})
        second = self.take()
        self.assertFalse(second["found"])
        self.assertEqual(len({one["digest"] for one in (plain, first, second)}), 3)
        for one in (plain, first, second):
            done = leat("inspect", one["cache"], "--verify")
            self.assertIn("no problem found", done.stdout)
        os.remove(os.path.join(self.attacks, "capture_metadata.json"))
        self.assertEqual(self.take()["digest"], plain["digest"])
        with open(os.path.join(first["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["settings"]["capture-metadata"],
                             "1 log, 3 frames of attacks")

    def test_a_file_of_that_name_of_another_kind(self):
        """It is not read, and the cache is that without it."""
        plain = self.take()
        for text in ("{}", '{"x": {"attack": true}, "y": 3}', '{"a": []}'):
            self.write(text)
            result = self.take()
            self.assertTrue(result["found"], text)
            self.assertEqual(result["not_read"]["first"],
                             [os.path.join(self.attacks, "capture_metadata.json")])
            self.assertEqual(plain["digest"], result["digest"])

    def test_resumed(self):
        self.write({"x": self.attack()})
        first = self.take()
        again = self.ingest(self.attacks, *SMALL, "--resume", out="again")
        self.assertEqual(content(first["cache"]), content(again["cache"]))


class Refused(Metadata):
    FRAMES = Logs.FRAMES

    def setUp(self):
        super().setUp()
        self.log("x.log", self.FRAMES)

    def refuse(self, text, *words, more=()):
        self.write(text)
        error = self.ingest(self.attacks, *SMALL, *more, status=1)
        for word in words:
            self.assertIn(word, error)
        self.assertFalse(os.path.exists(self.path("cache")))

    def test_not_json(self):
        for text in ("", "{", '{"x": ', '{"x": {"elapsed_sec": 1e400}}', "[]", '{"x": {}} x',
                     '{"x": {"elapsed_sec": 1, "elapsed_sec": 2}}', "\xff", '{"x": tru}'):
            self.refuse(text, "capture_metadata.json", "repair it, or move it away")

    def test_values(self):
        for members, why in (
                ({"injection_interval": [1]}, "must be [begin, end] in seconds"),
                ({"injection_interval": [2, 1]}, "must be [begin, end] in seconds"),
                ({"injection_interval": [-1, 1]}, "must be [begin, end] in seconds"),
                ({"injection_interval": [0, 1e10]}, "first frame, or times since 1970"),
                ({"injection_interval": ["1", "2"]}, "must be [begin, end] in seconds"),
                ({"injection_interval": []}, "must be [begin, end] in seconds"),
                ({"injection_interval": [[1, 2], 3]}, "must be [begin, end] in seconds"),
                ({"injection_interval": [[1, 2], [4, 3]]}, "must be [begin, end] in seconds"),
                ({"injection_interval": [[[1, 2]]]}, "must be [begin, end] in seconds"),
                ({"injection_interval": [2e12, 3e12]}, "must be [begin, end] in seconds"),
                ({"injection_interval": ["2002-01-02T20:06:49", "2002-01-02T20:06:52"]},
                 "must be [begin, end] in seconds"),
                ({"injection_interval": [[1, 2], [1.1e9, 1.2e9]]},
                 "first frame, or times since 1970"),
                ({"injection_id": []}, "injection_id must be a text"),
                ({"injection_id": ["0D0", 209]}, "injection_id must be a text"),
                ({"injection_id": ["0D0", ""]}, "injection_id must be a text"),
                ({"injection_interval": "1-2"}, "must be [begin, end] in seconds"),
                ({"injection_id": 208}, "injection_id must be a text"),
                ({"injection_id": "0xZZ"}, "injection_id must be a text"),
                ({"injection_id": "0x1XX"}, "injection_id must be a text"),
                ({"injection_id": "20000000"}, "injection_id must be a text"),
                ({"injection_id": ""}, "injection_id must be a text"),
                ({"injection_data_str": "FFF"}, "injection_data_str must be a text"),
                ({"injection_data_str": "GG"}, "injection_data_str must be a text"),
                ({"injection_data_str": ""}, "injection_data_str must be a text"),
                ({"injection_data_str": "00" * 9}, "injection_data_str must be a text"),
                ({"injection_data_str": 255}, "injection_data_str must be a text")):
            self.refuse({"x": self.attack(**members)}, 'capture "x"', why, "move it away")
        for name in ("injection_id", "injection_data_str"):
            entry = self.attack()
            del entry[name]
            self.refuse({"x": entry}, "requires injection_id and injection_data_str")
        self.refuse({"x": self.attack(), "y": 7}, 'capture "y"', "must be an object, not 7;")
        for members, shown in (({"injection_interval": [[1, 2], [4, 3]]}, "[4,3]"),
                               ({"injection_interval": [0, 1e10]}, "[0,10000000000.0]"),
                               ({"injection_id": ["0D0", "x y"]}, '"x y"'),
                               ({"injection_data_str": "\x1b"}, '"\\u001B"'),
                               ({"injection_data_str": "00" * 99}, '"' + "0" * 47 + "...")):
            self.refuse({"x": self.attack(**members)}, f", not {shown}; the labels")
        entry = json.dumps(self.attack())
        self.refuse(f'{{"x": {entry}, "x": {entry}}}', 'capture "x": it is there twice')

    def test_size(self):
        self.refuse({"x": self.attack(), "y": {"description": "y" * (1 << 20)}}, "the limit is")
        self.refuse({"x": self.attack(), "y": {"description": "y" * (1 << 17)}}, "the limit is")

    def test_labels_of_two_sources(self):
        path = self.log("x.log", [(at, id_, data + " 1") for at, id_, data in self.FRAMES])
        self.refuse({"x": self.attack()}, path, "has labels, but capture_metadata.json")
        self.write({"x": {"elapsed_sec": 3}})
        self.assertEqual(self.labels(self.ingest(self.attacks, *SMALL), "x.log"), [(1, 3)] * 4)

    def test_no_times(self):
        os.remove(os.path.join(self.attacks, "x.log"))
        with open(os.path.join(self.attacks, "x.csv"), "w", encoding="ascii") as file:
            file.write("id,data\n" + "0D0,00\n" * 12)
        self.refuse({"x": self.attack()}, "x.csv", "has no times (--no-time)",
                    more=("--no-time", "10"))


if __name__ == "__main__":
    unittest.main()
