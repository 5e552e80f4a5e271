"""leat detect: lines as docs/schema/detect.json has them, each as soon as the bus gives cause for
it; a bus that is not well, and what is refused. Runs the command named by LEAT (default:
build/leat).
"""
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import unittest

import json_schema
from command import BUILD, LEAT, LIMIT, leat

WINDOW = 20
COUNTED = os.path.join(BUILD, "tests", "leat_counted")
SCHEMAS = json_schema.Schemas()
TOP = None  # a folder for everything
LINES = []  # all that were written
# of the default threshold, for which validation has too few windows here
DOUBT = ("leat: 1 % of 25 benign windows of val is less than one window, so the threshold is the "
         "highest of their scores; validation data with more benign windows allows a better one\n")


def at(*names):
    return os.path.join(TOP, *names)


def frames(seed, count, begin=1000.0, attacks=False):
    """(time, identifier, data, attack) of a bus on which a frame comes each millisecond."""
    draw = random.Random(seed)
    for i in range(count):
        attack = attacks and i % 120 > 80 and draw.random() < 0.5
        name = 0x700 + draw.randrange(3) if attack else 0x100 + i * i % 13
        data = draw.randrange(1 << 16) if attack else i * 7 % 65536
        yield begin + i * 1e-3, f"{name:03X}", f"{data:04X}", int(attack)


def csv(seed, count, attacks):
    return "timestamp,arbitration_id,data_field,attack\n" + "".join(
        f"{time:.6f},{name},{data},{attack}\n"
        for time, name, data, attack in frames(seed, count, attacks=attacks))


def candump(log, bus=0):
    return "".join(f"({time:.6f}) can{bus} {name}#{data}\n" for time, name, data, _ in log)


def write(name, text):
    with open(at(name), "w", encoding="latin-1") as file:
        file.write(text)
    return at(name)


def setUpModule():  # pylint: disable=invalid-name
    global TOP  # pylint: disable=global-statement
    TOP = tempfile.mkdtemp(prefix="leat-detect-")
    logs = [write(f"{name}.csv", csv(seed, 1500, seed > 1))
            for seed, name in enumerate(("normal", "train", "mixed"), 1)]
    leat("ingest", "can", "--window", WINDOW, "--stride", WINDOW, *logs, "-o", at("cache"),
         status=0)
    for model in ("vgae", "gat"):
        leat("train", model, at("cache"), "-o", at(model), "--steps", 2, "--unit-size", 1,
             "--threads", 1, "--sample-every", 2, status=0)


def tearDownModule():  # pylint: disable=invalid-name
    shutil.rmtree(TOP)


def read(text):
    """Lines as documents, each by its schema; begin and end are always there."""
    lines = text.splitlines()
    for line in lines:
        SCHEMAS.check_text("detect", line + "\n")
    LINES.extend(lines)
    documents = [json.loads(line) for line in lines]
    return documents


def detect(*words, text=None, status=0, model="vgae"):
    """The documents, and stderr."""
    done = leat("detect", at(model), *words, status=status, input=text)
    return read(done.stdout), done.stderr


def of_event(documents, *events):
    return [line for line in documents if line["event"] in events]


def next_window(process):
    """The next window's line; alarms may be between."""
    while (line := json.loads(process.stdout.readline()))["event"] != "window":
        pass
    return line


class Bus(unittest.TestCase):
    def test_alarms(self):
        """Each is told, begins and ends; both models, from a file and from a pipe."""
        log = write("attack.log", candump(frames(7, 1500, attacks=True)))
        for model in ("vgae", "gat"):
            documents, noted = detect(log, "--alarms-per-minute", 0, "--all", model=model)
            self.assertEqual(noted, DOUBT)
            start, end = documents[0], documents[-1]
            self.assertEqual((start["event"], start["model"], start["log"]), ("start", model, log))
            self.assertEqual((end["event"], end["reason"], end["frames"]), ("end", "end", 1500))
            windows = of_event(documents, "window")
            self.assertEqual([line["window_start"] for line in windows],
                             list(range(0, 1500 - WINDOW + 1, WINDOW)))
            for line in windows:
                self.assertEqual(line["alarms"], line["score"] > start["threshold"])
            alarms, ends = of_event(documents, "alarm"), of_event(documents, "alarm_end")
            self.assertGreater(len(alarms), 0)
            self.assertEqual(len(alarms), len(ends))
            self.assertEqual(sum(line["windows"] for line in ends), end["windows_alarming"])
            for line in ends:
                self.assertAlmostEqual(line["duration_s"], line["end_s"] - line["begin_s"], 5)
            self.assertEqual(len(alarms), end["alarms"])
            with open(log, encoding="ascii") as file:
                piped, _ = detect("--alarms-per-minute", 0, "--all", text=file.read(), model=model)
            self.assertEqual(piped[1:], documents[1:])

    def test_labels(self):
        documents, _ = detect(at("train.csv"), "--all", "--stride", 10, "--from", 30)
        windows = of_event(documents, "window")
        self.assertEqual([line["window_start"] for line in windows],
                         list(range(30, 1500 - WINDOW + 1, 10)))
        self.assertEqual({line["label"] for line in windows}, {0, 1})

    def test_held_back(self):
        log = write("many.log", candump(frames(7, 3000, attacks=True)))
        everything, _ = detect(log, "--alarms-per-minute", 0, "--target-fpr", 0.5)
        documents, _ = detect(log, "--alarms-per-minute", 2, "--target-fpr", 0.5)
        self.assertEqual(len(of_event(documents, "alarm")), 2)
        self.assertEqual(documents[-1]["alarms"], everything[-1]["alarms"])
        self.assertEqual(documents[-1]["alarms_held_back"], everything[-1]["alarms"] - 2)

    def test_while_it_runs(self):
        """Windows are told before the next frame; a signal ends it as the log's end does."""
        with subprocess.Popen([LEAT, "detect", at("vgae"), "--all"], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            text = [json.loads(process.stdout.readline())]
            self.assertEqual(text[0]["event"], "start")
            log = candump(frames(3, 17 * WINDOW)).splitlines(keepends=True)
            process.stdin.write("".join(log[:256]))
            process.stdin.flush()
            for count in range(256 // WINDOW):
                self.assertEqual(next_window(process)["last_line"], (count + 1) * WINDOW)
            for count in range(256, len(log)):
                process.stdin.write(log[count])
                process.stdin.flush()
                if (count + 1) % WINDOW == 0:
                    self.assertEqual(next_window(process)["last_line"], count + 1)
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            self.assertEqual(process.wait(LIMIT), 0, process.stderr.read())
            end = read(rest)[-1]
            self.assertEqual((end["event"], end["reason"]), ("end", "stopped"))
            self.assertEqual(end["frames"], len(log))

    def test_stopped_early(self):
        """Before the format is known: lines that have arrived are frames; nothing was scored."""
        with subprocess.Popen([LEAT, "detect", at("vgae")], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdin.write(candump(frames(3, WINDOW + 9)))
            process.stdin.flush()
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            self.assertEqual(process.wait(LIMIT), 0, process.stderr.read())
            end = read(rest)[-1]
            # the signal may be faster than the pipe
            self.assertEqual(end["reason"], "stopped")
            self.assertIn(end["frames"], (0, WINDOW + 9))

    def test_rejected_from_now_on(self):
        """Told while it goes on, though no window ends any more."""
        with subprocess.Popen([LEAT, "detect", at("vgae")], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            process.stdin.write(candump(frames(3, 256)) + "what\n")
            process.stdin.flush()
            said = process.stderr.readline()
            while said != "" and "so the threshold is the highest" in said:
                said = process.stderr.readline()
            self.assertIn("line 257 is not a frame", said)
            process.stdin.close()
            self.assertEqual(process.wait(LIMIT), 0)

    def test_nothing_watched(self):
        """A bus on which no window ends is not one without alarms."""
        log = write("short.log", "".join(
            candump(frames(3, WINDOW - 1, begin=1000 - 10 * i)) for i in range(5)) + "what\n")
        documents, noted = detect(log)
        self.assertEqual(documents[-1]["windows"], 0)
        self.assertIn(f"no window of {WINDOW} frames was scored: frames 95, of other buses 0, "
                      "recordings 5, rejected lines 1", noted)
        _, noted = detect(log, "--bus", 3)
        self.assertIn("of other buses 95", noted)

    def test_packed(self):
        """A file is unpacked, a pipe is refused by what it is."""
        packed = gzip.compress(candump(frames(3, 300)).encode())
        with open(at("packed.log.gz"), "wb") as file:
            file.write(packed)
        documents, _ = detect(at("packed.log.gz"))
        self.assertEqual(documents[-1]["frames"], 300)
        done = leat("detect", at("vgae"), status=1, input=packed, text=False)
        self.assertIn(b"packed by gzip; unpack it first (zcat)", done.stderr)

    def test_a_bus_that_is_not_well(self):
        """Garbage, cut lines, time that goes back, an hour of silence, an identifier that is
        missing: everything is told, nothing ends it."""
        good = list(frames(5, 900))
        quiet = [frame for frame in frames(5, 3000, begin=1000.9) if frame[1] != "100"]
        pause = list(frames(5, 300, begin=5000.0))
        back = list(frames(5, 300, begin=900.0))
        text = candump(good) + "\0\1\2\xff\n(1000.9) can0 1\n" + candump(quiet) + \
            candump(pause[:150]) + "(5000.1) can0 101#00\n" + candump(pause[150:]) + \
            candump(back) + "(900.3) can0 12"
        documents, noted = detect("--all", text=text)
        end = documents[-1]
        self.assertEqual(end["rejected"], 3)
        self.assertEqual(end["rejected_reasons"], {"malformed_line": 3})
        self.assertEqual(noted.count("is not a frame"), 1)
        self.assertEqual(noted.count("is earlier than the one before it"), 1)
        missing = of_event(documents, "missing")
        self.assertIn("100", [line["identifier"] for line in missing])
        returned = of_event(documents, "returned")
        self.assertEqual([line["identifier"] for line in returned], ["100"])
        recording, = of_event(documents, "recording")
        self.assertEqual(recording["reason"], "step_back")
        self.assertGreater(recording["seconds"], 4000)
        self.assertEqual(end["steps_back"], 1)
        self.assertEqual(end["recordings"], 2)
        self.assertEqual(end["windows_unscored"], 0)

    def test_memory_does_not_grow(self):
        """With the length of a log: the highest count of bytes is that of a log ten times as
        short, with all that a bus can do in both."""
        def peak(rounds, model):
            text = "".join(
                candump(frames(7, 1000, begin=1000 + 2 * i, attacks=True)) +
                f"what is line {i}\n" + candump(frames(9, 60, begin=999 + 2 * i), bus=i % 3)
                for i in range(rounds))
            log, told = write(f"long-{rounds:02}.log", text), at(f"peak-{model}-{rounds:02}")
            done = subprocess.run(
                [COUNTED, "detect", at(model), log, "--all", "--bus", "merge", "--target-fpr",
                 "0.5", "--alarms-per-minute", "1"], text=True, capture_output=True, check=True,
                timeout=LIMIT, env={**os.environ, "LEAT_COUNTED_TO": told})
            end = read(done.stdout)[-1]
            self.assertEqual((end["rejected"], end["frames"]), (rounds, 1060 * rounds))
            self.assertGreaterEqual(end["recordings"], rounds)
            self.assertGreater(end["alarms_held_back"], 0)
            with open(told, encoding="ascii") as file:
                return int(file.read())
        for model in ("vgae", "gat"):
            # numbers of a line have more or fewer digits; a byte a frame would be 19,080
            self.assertAlmostEqual(peak(2, model), peak(20, model), delta=1024)

    def test_identifiers_of_29_bits(self):
        """00000100 is not 100: the detector knows one, and not the other, and both may be the same
        number. Error frames and longer numbers are none."""
        log = list(frames(5, 600))
        text = "".join(f"({time:.6f}) can0 {name if i % 3 else name.rjust(8, '0')}#{data}\n"
                       for i, (time, name, data, _) in enumerate(log))
        text += "(1000.61) can0 20000080#0000000000000000\n(1000.62) can0 FFFFFFFFF#00\n"
        documents, _ = detect("--all", text=text)
        end = documents[-1]
        self.assertEqual((end["frames"], end["frames_unknown"], end["rejected"]), (600, 200, 2))
        windows = of_event(documents, "window")
        self.assertEqual(len(windows), 600 // WINDOW)
        for i, line in enumerate(windows):
            part = log[WINDOW * i:WINDOW * (i + 1)]
            long = {name for k, (_, name, *_) in enumerate(part, WINDOW * i) if k % 3 == 0}
            short = {name for k, (_, name, *_) in enumerate(part, WINDOW * i) if k % 3}
            self.assertEqual((line["unknown"], line["nodes"]), (len(long), len(long) + len(short)))
            self.assertEqual(len(line["identifier"]), 8 if "identifier_unknown" in line else 3)
        self.assertTrue(any("identifier_unknown" in line for line in windows))

    def test_another_vehicle(self):
        """Told once, where most identifiers are not known."""
        log = "".join(f"({time:.6f}) can0 4{name[1:]}#{data}\n"
                      for time, name, data, _ in frames(3, 600))
        documents, noted = detect("--all", text=log)
        self.assertEqual(noted.count("identifiers that the detector does not know"), 1)
        self.assertEqual(documents[-1]["frames_unknown"], 600)
        windows = of_event(documents, "window")
        self.assertTrue(all(line["identifier_unknown"] for line in windows))
        self.assertGreater(len({line["identifier"] for line in windows if line["alarms"]}), 1)
        end, = of_event(documents, "alarm_end")  # of all of them, since they are one cause
        self.assertEqual(end["windows"], sum(line["alarms"] for line in windows))
        documents, noted = detect(at("normal.csv"))
        self.assertEqual((noted, documents[-1]["frames_unknown"]), (DOUBT, 0))

    def test_a_threshold_that_can_be_kept(self):
        for words in (("--target-fpr", 0.04), ("--target-fpr", 0), ("--threshold", "f1")):
            self.assertEqual(detect(at("normal.csv"), *words, model="gat")[1], "", words)

    def test_a_bus_that_does_not_come(self):
        """Told once while it is awaited, and at the end; not where it comes late, or never is a
        frame."""
        says = "is of bus 7, the one to follow: they are of "
        ask = "use --bus N for a bus that is there"
        log = candump(frames(3, 700)) + candump(frames(3, 700, begin=1000.7), bus=2)
        documents, noted = detect("--bus", 7, text=log)
        self.assertEqual(documents[-1]["frames_left_out"], 1400)
        self.assertIn(f"none of 1,000 frames {says}buses 0 and 2; nothing is watched until", noted)
        self.assertIn(f"none of 1,400 frames {says}buses 0 and 2; nothing was watched", noted)
        self.assertEqual((noted.count(says), noted.count(ask)), (2, 1))
        _, noted = detect("--bus", 7, text=candump(frames(3, 300)))
        self.assertIn(f"none of 300 frames {says}bus 0; nothing was watched: {ask}", noted)
        many = "".join(candump(frames(3, 30), bus=bus) for bus in (1, 0, 2, 3, 4, 5, 6, 8, 9))
        _, noted = detect("--bus", 7, text=many)
        self.assertIn(f"{says}buses 1, 0, 2, 3, 4, 5, 6, 8 and others; ", noted)
        late = candump(frames(3, 900)) + candump(frames(3, 300, begin=1000.9), bus=7)
        self.assertNotIn(says, detect("--bus", 7, text=late)[1])
        self.assertNotIn(says, detect("--bus", 7, text="")[1])

    def test_refused(self):
        log = write("few.log", candump(frames(3, 300)))
        two = write("two.log", candump(frames(3, 60)) + candump(frames(3, 60), bus=1))
        cases = [
            (("nothing", log), 1, "nothing"),
            ((at("cache"), log), 1, "run"),
            ((at("vgae"), at("nothing")), 1, "nothing"),
            ((at("vgae"), log, "--format", "asc"), 1, "looks like candump"),
            ((at("vgae"), log, "--stride", "0"), 2, "run or a whole number from 1"),
            ((at("vgae"), log, "--bus", "both"), 2, "--bus"),
            ((at("vgae"), log, "--alarms-per-minute", "10001"), 2, "10000"),
            ((at("vgae"), log, "--threshold", "f1", "--target-fpr", "0.1"), 2,
             "omit one of the two"),
            ((at("gat"), log, "--score", "difficulty"), 2, "leave --score out"),
            ((), 2, "RUN is missing"),
        ]
        for words, status, what in cases:
            with self.subTest(words):
                done = leat("detect", *words, status=status, input="")
                self.assertIn(what, done.stderr)
                self.assertNotIn('"alarm"', done.stdout)
        documents, noted = detect(two, status=1)
        self.assertIn("trained on one bus; name the bus that it was trained on with --bus N "
                      "(0 or 1)", noted)
        self.assertEqual(documents[-1]["reason"], "failed")
        documents, _ = detect(two, "--bus", 1)
        self.assertEqual(documents[-1]["frames_left_out"], 60)

    def test_everything_occurs(self):
        """Each member of each line, but for the reason why a window has no score."""
        if len(LINES) == 0:
            self.skipTest("no other test was run")
        found = json_schema.Schemas()
        for line in LINES:
            found.check_text("detect", line + "\n")
        places = {place for place in found.places if place.startswith("detect.json#")}
        left = {place.split("#/$defs/")[1] for place in places - found.seen}
        self.assertEqual(left, {"window/properties/why"})


def load_tests(loader, standard, pattern):
    """The last test looks at the lines of all others."""
    del standard, pattern
    suite = unittest.TestSuite(loader.loadTestsFromName(f"Bus.{name}", __import__(__name__))
                               for name in loader.getTestCaseNames(Bus)
                               if name != "test_everything_occurs")
    suite.addTest(Bus("test_everything_occurs"))
    return suite


if __name__ == "__main__":
    unittest.main()
