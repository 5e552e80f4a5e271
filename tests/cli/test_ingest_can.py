"""leat ingest can: the graphs of graphids, the same bytes whatever the machine, caches found again,
kills and crowds. Golden files are read without their library: nothing but Python is needed."""
import glob
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import golden_files
from command import BUILD, LEAT, LIMIT, leat
from held import Held

COUNTED = os.path.join(BUILD, "tests", "leat_counted")
MIB = 1 << 20
KINDS = {"F32": ("f", 4), "F64": ("d", 8), "I64": ("q", 8), "I32": ("i", 4), "U32": ("I", 4),
         "I16": ("h", 2)}
SANITIZED = bool(os.environ.get("LEAT_SANITIZE"))
FIRST_HALF = 29  # column of x
CALLS = (1, 16, 40, 80, 120, 180, 250)  # of a run, into the file system: it makes some 600


def golden(name):
    return golden_files.path(f"golden/can/{name}")


def read_tensors(path):
    """Each tensor as (shape, flat values)."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for key, tensor in header.items():
        first, last = (8 + size + at for at in tensor["data_offsets"])
        letter, item = KINDS[tensor["dtype"]]
        values = struct.unpack(f"<{(last - first) // item}{letter}", data[first:last])
        tensors[key] = (tensor["shape"], values)
    return tensors


def graphs_of(tensors, into):
    """Graphs by the frame that they begin with."""
    flat = {key: values for key, (_, values) in tensors.items()}
    edges = tensors["edge_index"][0][1]
    for g, start in enumerate(flat["window_start"]):
        n, m = flat["node_ptr"][g:g + 2], flat["edge_ptr"][g:g + 2]
        into[start] = {
            "x": flat["x"][35 * n[0]:35 * n[1]],
            "node_id": flat["node_id"][n[0]:n[1]],
            "edge_attr": flat["edge_attr"][11 * m[0]:11 * m[1]],
            "source": flat["edge_index"][m[0]:m[1]],
            "target": flat["edge_index"][edges + m[0]:edges + m[1]],
            "y": flat["y"][g],
            "attack_type": flat["attack_type"][g] if "attack_type" in flat else None,
        }
    return into


def write_log(path, frames, step=0.001, attack=None, begin=1000.0):
    """A small four-column log of a few identifiers; `attack` is a range of labelled frames."""
    with open(path, "w", encoding="ascii") as file:
        file.write("timestamp,arbitration_id,data_field,attack\n")
        for i in range(frames):
            label = int(attack is not None and i in attack)
            file.write(f"{begin + i * step:.6f},{0x100 + i * i % 13:03X},"
                       f"{(i * 2654435761) % 2 ** 64:016X},{label}\n")


def content(folder):
    """Every file of a cache by its bytes, but for what tells when it was made."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            if name != "inputs.json":
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-can-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, *names):
        os.makedirs(self.path(*names))
        return self.path(*names)

    def ingest(self, *words, out="cache", status=0, **more):
        done = leat("ingest", "can", *words, "-o", self.path(out), "--json", status=status, **more)
        return json.loads(done.stdout) if status == 0 else done.stderr


class Numbers(Case):
    """Beside graphids."""
    def compare(self, ours, golden, labels=True, skip=()):
        self.assertEqual(sorted(ours), sorted(golden))
        for start, wanted in golden.items():
            graph = ours[start]
            for key in ("node_id", "source", "target", "edge_attr", "y"):
                self.assertEqual(graph[key], wanted[key], (start, key))
            if labels:
                self.assertEqual(graph["attack_type"], wanted["attack_type"], start)
            for i, (a, b) in enumerate(zip(graph["x"], wanted["x"])):
                if i % 35 not in skip:
                    self.assertLessEqual(abs(a - b), 1e-6 * max(abs(b), 1e-3), (start, i % 35))

    def check(self, case, name, *words, labels=True, skip=()):
        result = self.ingest(golden("input/" + case), "--preset", "reference", *words)
        ours = {}
        for split in ("train", "val"):
            graphs_of(read_tensors(os.path.join(result["cache"], f"{split}.safetensors")), ours)
        tensors = read_tensors(golden(f"{name}.safetensors"))
        self.compare(ours, graphs_of({key: value for key, value in tensors.items()
                                      if "/" not in key}, {}), labels, skip)
        return result, tensors

    def test_real_logs(self):
        result, tensors = self.check("v40_cut", "features_ref")
        test = read_tensors(os.path.join(result["cache"], "test_02_fuzzing.safetensors"))
        self.compare(graphs_of(test, {}), graphs_of(
            {key[5:]: value for key, value in tensors.items() if key.startswith("test/")}, {}))
        with open(golden("features_ref.json"), encoding="utf-8") as file:
            split = json.load(file)["split"]
        val = read_tensors(os.path.join(result["cache"], "val.safetensors"))["window_start"][1]
        starts = tensors["window_start"][1]
        self.assertEqual(sorted(val), sorted(starts[i] for i in split["val"]))
        with open(os.path.join(result["cache"], "vocab.json"), "rb") as ours, \
                open(golden("cache/vocab.json"), "rb") as theirs:
            self.assertEqual(ours.read(), theirs.read())

    def test_scalers(self):
        wanted = read_tensors(golden("features_scaled_ref.safetensors"))
        for strategy, center, scale in (("z_benign", "mean", "scale"),
                                        ("robust_benign", "robust_center", "robust_scale")):
            result = self.ingest(golden("input/v40_cut"), "--preset", "reference",
                                 "--scaler", strategy)
            with open(os.path.join(result["cache"], "scaler.json"), encoding="utf-8") as file:
                found = json.load(file)
            for part, slack in (("x", 1e-6), ("edge", 1e-12)):
                for name, key in (("center", center), ("scale", scale)):
                    for a, b in zip(found[f"{part}_{name}"], wanted[f"scaler/{part}_{key}"][1]):
                        self.assertLessEqual(abs(a - b), slack * abs(b), (strategy, part, name))

    def test_windows_and_strides(self):
        self.check("v40_w50", "features_w50_ref", "--window", "50", "--stride", "50")
        self.check("v40_s200", "features_s200_ref", "--stride", "200")

    def test_awkward_logs(self):
        for stride, name, labels, skip in (
                (10, "features_awkward_ref", True, ()),
                (15, "features_awkward_s15_ref", True, (FIRST_HALF,)),  # theirs is misplaced there
                (4, "features_overlap_indep", False, ())):
            self.check("awkward", name, "--window", "10", "--stride", str(stride),
                       *["--allow-overlap"] * (stride < 10), labels=labels, skip=skip)
        self.check("awkward", "features_awkward_w4_ref", "--window", "4", "--stride", "4")
        self.check("awkward_hex", "features_awkward_hex_ref", "--window", "11", "--stride", "11")
        self.check("page_example", "features_page_example_ref", "--window", "10", "--stride", "10")

    def test_all_samples(self):
        lines = {"candump/truck_15s.log": 1, "gvret/kona_no_key.csv.gz": 1,
                 "gvret/outlander_parking_brake.csv.gz": 1, "v40": 3}
        for sample in lines:
            result = self.ingest(golden_files.path(f"data/can/{sample}"))
            self.assertEqual(result["frames"], sum(result[f"frames_{what}"] for what in (
                "windowed", "between", "tail", "dropped", "left_out")), sample)
            self.assertGreater(result["splits"]["train"]["graphs"], 50, sample)
            self.assertEqual(result["rejected"], 0, sample)


class Logs(Case):
    def logs(self):
        folder = self.make("logs", "train_a")
        write_log(os.path.join(folder, "drive_1.csv"), 30_000)
        write_log(os.path.join(folder, "dos_2.csv"), 17_321, attack=range(9000, 9500), begin=1010)
        write_log(os.path.join(self.make("logs", "test_x"), "fuzzing_1.csv"), 5_001,
                  attack=range(100, 200))
        # times step back by less than a second, and once by half a minute
        with open(os.path.join(folder, "back.csv"), "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,attack\n")
            for i in range(40_000):
                k = (i + 20_000) % 40_000
                file.write(f"{5000 + k // 900 * 0.9 + k * 7919 % 900 * 1e-3:.3f},"
                           f"{i % 31:03X},0011,0\n")
        return self.path("logs")


class Limits(Logs):
    least_mib = 16  # of what --memory accepts

    def keeps(self, result, memory):
        """The resident set is asserted in test_ingest_can_slow.py."""

    def test_threads_and_memory(self):
        logs = self.logs()
        for words in ((), ("--captures", "merged", "--scaler", "robust_benign"),
                      ("--store", "frames", "--clock-steps", "sort"),
                      ("--window", "40", "--stride", "7")):
            wanted = None
            for threads, memory in ((1, "512M"), (2, "96M"), (3, "64M"), (8, "512M")):
                out = f"cache-{threads}"
                result = self.ingest(logs, *words, "--threads", str(threads), "--memory", memory,
                                     out=out)
                self.keeps(result, memory)
                found = content(result["cache"])
                wanted = wanted or found
                self.assertEqual(found, wanted, (words, threads, memory))
                shutil.rmtree(self.path(out))
            if SANITIZED:  # a sanitizer takes memory of its own
                continue
            result = self.ingest(logs, *words, "--threads", "1", "--memory", f"{self.least_mib}M",
                                 executable=COUNTED)
            self.assertLessEqual(result["memory_peak_bytes"], self.least_mib * MIB)
            self.assertEqual(content(result["cache"]), wanted, words)
            shutil.rmtree(self.path("cache"))


class Bytes(Logs):
    """The same cache, whatever makes it."""
    def test_a_cache_is_found_again(self):
        logs = self.logs()
        first = self.ingest(logs)
        before = content(first["cache"])
        self.assertFalse(first["found"])
        again = self.ingest(logs)
        self.assertEqual((again["found"], again["verified"]), (True, False))
        again = self.ingest(logs, "--verify")
        self.assertEqual((again["found"], again["verified"]), (True, True))
        log = os.path.join(logs, "train_a", "drive_1.csv")
        os.utime(log, (1, 1))  # touched: hashed, and found
        again = self.ingest(logs)
        self.assertEqual((again["found"], again["verified"]), (True, True))
        self.assertEqual(content(again["cache"]), before)
        # what it says of the cache is what was said when it was made; of its making, nothing
        unknown = {"rejected", "frames_stepped_back", "clock_steps", "bytes_written",
                   "bytes_spilled", "seconds_scan", "seconds_written", "files_taken_as_benign",
                   "files_unlabelled"}
        self.assertEqual(set(first) - set(again), unknown)
        own = unknown | {"found", "verified", "seconds", "memory_peak_bytes"}
        self.assertEqual({key: value for key, value in again.items() if key not in own},
                         {key: value for key, value in first.items() if key not in own})
        other = self.ingest(logs, "--seed", "7")
        self.assertFalse(other["found"])
        self.assertNotEqual(other["cache"], first["cache"])
        with open(log, "a", encoding="ascii") as file:
            file.write("1030.0,100,00,0\n")
        changed = self.ingest(logs)
        self.assertFalse(changed["found"])
        self.assertEqual(changed["frames"], first["frames"] + 1)
        self.assertEqual(len(os.listdir(self.path("cache"))), 3)

    def test_a_cache_is_found_under_another_name(self):
        folder = self.make("logs", "train_01_attack_free")
        write_log(os.path.join(folder, "drive-1.csv"), 3_000)
        write_log(os.path.join(self.make("logs", "train_02_with_attacks"), "dos-1.csv"), 3_000,
                  attack=range(900, 950), begin=2000)
        first = self.ingest(self.path("logs"))
        for again in (self.ingest(self.path("logs"), "--dataset", "set_01", "--verify"),
                      self.ingest(self.path("logs"), "--dataset", "set_01")):
            self.assertTrue(again["found"])
            self.assertEqual((again["cache"], again["digest"]), (first["cache"], first["digest"]))
        self.assertEqual(os.listdir(self.path("cache")), [os.path.basename(first["cache"])])

    def test_staged(self):
        logs, fast = self.logs(), self.path("fast")
        result = self.ingest(logs, "--stage", fast)
        self.assertEqual(result["staged"], os.path.join(fast, os.path.basename(result["cache"])))
        self.assertFalse(result["staged_before"])
        self.assertEqual(content(result["staged"]), content(result["cache"]))
        sizes = [os.path.getsize(path) for path in glob.glob(result["staged"] + "/*")
                 + glob.glob(result["staged"] + "/.*")]
        self.assertEqual(result["bytes_staged"], sum(sizes))
        again = self.ingest(logs, "--stage", fast)
        self.assertTrue(again["found"] and again["staged_before"])
        os.truncate(os.path.join(result["staged"], "train.safetensors"), 4096)
        mended = self.ingest(logs, "--stage", fast)
        self.assertFalse(mended["staged_before"])
        self.assertEqual(content(mended["staged"]), content(result["cache"]))
        self.assertEqual(os.listdir(fast), [os.path.basename(result["cache"])])
        # folders of a kernel are root's, and keep no files
        if os.access("/proc", os.W_OK):
            says = self.ingest(logs, "--stage", "/proc", status=1)
            self.assertIn("its folder keeps no files, or other processes remove them; use a folder "
                          "on a disk", says)
            self.assertIn("the same command with another --stage copies it", says)
            self.assertTrue(self.ingest(logs, "--stage", self.path("disk"))["found"])
            self.assertEqual(content(self.path("disk", os.path.basename(result["cache"]))),
                             content(result["cache"]))
        # what cannot be copied is said, and the cache is there all the same
        with open(os.path.join(result["cache"], "train.safetensors"), "r+b") as file:
            file.seek(5000)
            file.write(b"damage")
        says = self.ingest(logs, "--stage", self.path("other"), status=1)
        self.assertIn("train.safetensors", says)
        self.assertNotIn("complete", says)
        self.assertEqual(glob.glob(self.path("other", "*")), [])
        self.assertEqual(glob.glob(self.path("other", ".*")), [])
        self.assertNotIn("staged", self.ingest(logs))

    def test_a_stage_that_cannot_be_written_is_refused_before_the_ingest(self):
        logs, taken = self.logs(), self.path("a file")
        with open(taken, "w", encoding="utf-8"):
            pass
        for stage in (taken, os.path.join(taken, "fast", "er")):
            said = self.ingest(logs, "--stage", stage, status=1)
            self.assertIn("--stage: ", said)
            self.assertFalse(os.path.exists(self.path("cache")), stage)
        deep = self.path("not", "yet/")
        self.assertEqual(os.path.dirname(self.ingest(logs, "--stage", deep)["staged"]), deep[:-1])

    def test_validation_keeps_its_distance(self):
        write_log(os.path.join(self.make("logs"), "drive.csv"), 100_000)
        result = self.ingest(self.path("logs"))
        sides = {}
        for side in ("train", "val"):
            tensors = read_tensors(os.path.join(result["cache"], f"{side}.safetensors"))
            sides.update(dict.fromkeys(tensors["window_start"][1], side))
        cuts = 0
        for start in range(0, 99_900, 100):
            here, later = sides.get(start), sides.get(start + 100)
            if here is not None and later is not None:
                self.assertEqual(here, later, start)
            cuts += here is not None and later is None
        self.assertIn(cuts, range(2, 9))  # four blocks of twenty
        self.assertEqual(len(sides) + result["windows_dropped"], 1000)
        self.assertIn(result["windows_dropped"], range(cuts, 2 * cuts + 1))
        share = result["splits"]["val"]["graphs"] / 1000
        self.assertAlmostEqual(share, 0.2, delta=0.02)

    def test_killed_and_resumed(self):
        logs = self.logs()
        wanted = content(self.ingest(logs, out="whole")["cache"])
        for call in CALLS:
            with Held(["ingest", "can", logs, "-o", self.path("cache"), "--resume"],
                      self.path("cache", ".leat-*"), call) as process:
                process.kill()
        result = self.ingest(logs, "--resume")
        self.assertEqual(content(result["cache"]), wanted)
        self.assertEqual(os.listdir(self.path("cache")), [os.path.basename(result["cache"])])

    def test_stopped_leaves_nothing_or_what_resumes(self):
        logs = self.logs()
        wanted = content(self.ingest(logs, out="whole")["cache"])
        for at, left in ((".leat-*.lock", 0), (".leat-*/temp/*", 0), (".leat-*/scan.state", 1)):
            with Held(["ingest", "can", logs, "-o", self.path("cache")],
                      self.path("cache", at)) as process:
                process.stop()
                process.rest()
            self.assertEqual(process.returncode, 1)
            # the folder itself goes with a run that leaves nothing
            self.assertEqual(len(glob.glob(self.path("cache"))), left)
            self.assertEqual(glob.glob(self.path("cache", ".*.lock")), [])
            result = self.ingest(logs, "--resume")
            self.assertEqual((content(result["cache"]), result["resumed"]), (wanted, left == 1))
            shutil.rmtree(self.path("cache"))

    def test_words_of_a_stopped_and_a_resumed_run(self):
        logs = self.logs()
        with Held(["ingest", "can", logs, "-o", self.path("cache"), "--threads", "1"],
                  self.path("cache", ".leat-*", "scan.state")) as process:
            process.stop()
            said = process.rest()[1]
        self.assertEqual(process.returncode, 1)
        self.assertRegex(said, r"\Aleat: stopped while [a-z ]+; use --resume to continue after the "
                               r"scan\n\Z")
        done = leat("ingest", "can", logs, "-o", self.path("cache"), "--resume", status=0)
        self.assertRegex(done.stdout, r"\Acache .*\nresumed the scan of an interrupted run "
                                      r"\(inputs: same contents\)\nread ")

    def test_one_temp_for_many(self):
        """Runs that share --temp leave each other alone, and nothing in it."""
        logs, temp = self.logs(), self.make("temp")
        ways = [("--seed", str(seed)) for seed in range(3)] + [("--captures", "merged")]
        wanted = [content(self.ingest(logs, *way, out="alone")["cache"]) for way in ways]
        command = [LEAT, "ingest", "can", logs, "-o", self.path("cache"), "--temp", temp, "--json"]
        for _ in range(3):
            shutil.rmtree(self.path("cache"), ignore_errors=True)
            runs = [subprocess.Popen([*command, *way], stdout=subprocess.PIPE) for way in ways]
            results = [run.communicate(timeout=LIMIT)[0] for run in runs]
            self.assertEqual([run.returncode for run in runs], [0] * len(ways))
            for result, want in zip(results, wanted):
                self.assertEqual(content(json.loads(result)["cache"]), want)
            self.assertEqual(os.listdir(temp), [])

    def test_killed_with_temp(self):
        logs, temp = self.logs(), self.make("temp")
        wanted = content(self.ingest(logs, out="whole")["cache"])
        for last in (["--resume"], []):
            for call in CALLS:
                with Held(["ingest", "can", logs, "-o", self.path("cache"), "--temp", temp,
                           "--resume", "--threads", "8"], self.path("cache", ".leat-*"),
                          call) as process:
                    process.kill()
            result = self.ingest(logs, "--temp", temp, "--threads", "2", *last)
            self.assertEqual(content(result["cache"]), wanted)
            self.assertEqual(os.listdir(temp), [])
            self.assertEqual(os.listdir(self.path("cache")), [os.path.basename(result["cache"])])
            shutil.rmtree(self.path("cache"))

    def test_two_at_once(self):
        logs = self.logs()
        command = [LEAT, "ingest", "can", logs, "-o", self.path("cache"), "--json"]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(3)]
        said = [process.communicate(timeout=LIMIT) for process in both]
        results = [json.loads(out) for out, _ in said if out]
        self.assertEqual(len({result["cache"] for result in results}), 1)
        self.assertEqual(sum(not result["found"] for result in results), 1)
        self.assertEqual([process.returncode for process in both],
                         [0 if out else 1 for out, _ in said])
        for out, err in said:  # it does not wait for the one that works
            if not out:
                self.assertIn(b"another ingest of these logs is running", err)
        self.assertEqual(len(os.listdir(self.path("cache"))), 1)


class Bad(Case):
    """What cannot be read is said, and nothing is left behind."""
    def test_inputs(self):
        empty, folder = self.make("empty"), self.make("logs")
        write_log(os.path.join(folder, "short.csv"), 50)
        with open(self.path("words.csv"), "w", encoding="ascii") as file:
            file.write("some words\n" * 500)
        for words, status, says in (
                ((self.path("none"),), 1, "does not exist"),
                ((empty,), 1, "empty"),
                ((self.path("words.csv"),), 1, "words.csv"),
                ((folder, "--window", "2"), 2, "window"),
                ((folder, "--stride", "0"), 2, "stride"),
                ((folder, "--scaler", "no"), 2, "scaler"),
                ((folder, "--bus", "-1"), 2, "bus"),
                ((folder, "--dataset", "set_01"), 1, "train_01_attack_free"),
                ((folder, "--train", "nothing*"), 1, "nothing*"),
                ((folder, "--train", "*.csv", "--test", "*.csv"), 1,
                 'short.csv" in split train and "'),
                ((), 2, "no input"),
                ((folder, "--memory", "15M"), 2, "at least 16M")):
            self.assertIn(says, self.ingest(*words, status=status), words)
            left = glob.glob(self.path("cache", ".*")) + glob.glob(self.path("cache", "*"))
            self.assertEqual(left, [], words)

    def test_no_test_is_trained_on(self):
        logs = self.make("logs")
        for name in ("car/train_01/a.csv", "car/test_01_dos/b.csv"):
            os.makedirs(os.path.dirname(os.path.join(logs, name)))
            write_log(os.path.join(logs, name), 3000)
        says = self.ingest(logs, status=1)
        self.assertIn("test_01_dos", says)
        self.assertIn("--test", says)
        self.ingest(os.path.join(logs, "car"))
        says = self.ingest(os.path.join(logs, "car", "test_01_dos"), status=1)
        self.assertIn("test_01_dos", says)
        self.ingest(os.path.join(logs, "car", "test_01_dos", "b.csv"))  # what was asked for
        self.ingest(logs, "--train", "car/*")

    def test_splits_by_pattern(self):
        for name in ("a", "b", "c"):
            write_log(os.path.join(self.make("logs", name), "log.csv"), 500, begin=1000)
        result = self.ingest(self.path("logs"), "--train", "a", "--test", "c,b")
        self.assertEqual(list(result["splits"]), ["train", "val", "test_b", "test_c"])
        self.assertIn("seed", self.ingest(self.path("logs"), "--seed", str(2 ** 63), status=2))
        # two tests of one name are no one split
        for tests in ("b/log.csv,c/log.csv", "[bc]/*.csv"):
            says = self.ingest(self.path("logs"), "--train", "a", "--test", tests, status=1)
            for word in ("b/log.csv", "c/log.csv", "both be split test_log", "name the folders"):
                self.assertIn(word, says)
        for tests in ("b,b", "b,b/"):
            self.assertIn("same file", self.ingest(self.path("logs"), "--train", "a", "--test",
                                                   tests, status=1))

    def test_splits_of_one_name(self):
        """Folders whose names become the same, or the same where case is ignored."""
        def logs(folder, *names):
            for name in names:
                write_log(os.path.join(self.make(folder, name), "log.csv"), 500)
            return self.path(folder)
        cases = (("blank", "test_a b", "test_a_b", "split test_a_b"),
                 ("letters", "test_\u00e4", "test___", "split test___"),
                 ("signs", "test_a+b", "test_a=b", "split test_a_b"),
                 ("case", "test_DoS", "test_dos", "splits test_DoS and test_dos"))
        for folder, one, other, says in cases:
            path = logs(folder, "train_a", one, other)
            told = self.ingest(path, status=1)
            for word in (os.path.join(path, one), os.path.join(path, other), says, "rename one"):
                self.assertIn(word, told)
            self.assertFalse(os.path.exists(self.path("cache")))
            told = self.ingest(path, "--train", "train_a", "--test", "test_*", status=1)
            self.assertIn(says, told)
            shutil.rmtree(os.path.join(path, other))
            self.ingest(path, out=folder + "-cache")
        # with and without the prefix that a test's name has
        path = logs("prefix", "train_a", "test_b", "b")
        told = self.ingest(path, "--train", "train_a", "--test", "b,test_b", status=1)
        self.assertIn("would both be split test_b", told)
        # names of tests say nothing where no folder is named as training
        told = self.ingest(logs("tests", "test_a b", "test_a_b", "other"), status=1)
        self.assertIn("although its folder is named like a test", told)

    def test_times_that_step_back_are_told(self):
        with open(os.path.join(self.make("logs"), "log.csv"), "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,attack\n")
            for i in range(3000):  # a clock that is set back, twice
                file.write(f"{1000 + i % 1000 * 1e-3:.3f},0F5,00,0\n")
        self.assertEqual(self.ingest(self.path("logs"))["frames_stepped_back"], 2)
        done = leat("ingest", "can", self.path("logs"), "-o", self.path("words"), status=0)
        self.assertIn("the clock fell back 2 times; frames were sorted by time\n", done.stdout)

    def clock(self, name, times):
        path = os.path.join(self.make(name), "drive.csv")
        with open(path, "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,attack\n")
            for i, time_s in enumerate(times):
                file.write(f"{time_s:.6f},{0x100 + i % 13:03X},00,0\n")
        return self.path(name)

    def test_a_wrong_clock_that_empties_a_side(self):
        # one frame from long before: all others are in the last block, which one seed
        # makes validation and another training
        drive = self.clock("late", [1000.0, *(500000 + i * 0.001 for i in range(4999))])
        sides = set()
        for seed in range(12):
            done = leat("ingest", "can", drive, "-o", self.path("cache"), "--json", "--seed", seed)
            says = done.stderr
            for word in ("late/drive.csv", "1000.000 to 500004.998 s", "20 blocks",
                         "all 50 windows", "the longest pause is 499000.000 s, after 1000.000 s",
                         "use --clock-steps split:240000, which begins a new capture"):
                self.assertIn(word, says)
            self.assertNotIn("random", says)
            if done.returncode == 1:
                sides.add("training")
                self.assertIn("the training split would be empty", says)
                continue
            sides.add("validation")
            self.assertEqual(done.returncode, 0)
            self.assertIn("warning: the validation split is empty", says)
            for result in (json.loads(done.stdout), self.ingest(drive, "--seed", str(seed))):
                self.assertEqual(len(result["warnings"]), 1)
                self.assertIn("the validation split is empty", result["warnings"][0])
                self.assertIn(result["warnings"][0].split("; ")[-2], says) # of mean intervals
                self.assertNotIn("random", result["warnings"][0])
        self.assertEqual(sides, {"training", "validation"})
        self.assertEqual([name for name in os.listdir(self.path("cache")) if name[0] == "."], [])
        split = self.ingest(drive, "--clock-steps", "split:240000")
        self.assertEqual((split["warnings"], split["captures"]), ([], 2))
        for words in (("--val-split", "random"), ("--val-fraction", "0")):
            self.assertEqual(len(self.ingest(drive, *words)["warnings"]), 1, words)
        # of fewer windows than blocks, chance may leave none: no error
        few = self.clock("few", [i * 0.001 for i in range(500)])
        result = self.ingest(few)
        self.assertEqual(len(result["warnings"]), 1)
        good = self.clock("good", [i * 0.001 for i in range(10_000)])
        self.assertEqual(self.ingest(good)["warnings"], [])

    def test_lines_are_rejected(self):
        folder = self.make("logs")
        write_log(os.path.join(folder, "log.csv"), 5000)
        with open(os.path.join(folder, "log.csv"), "a", encoding="ascii") as file:
            file.write("1.0,XYZ,00,0\nnoon,100,00,0\n2.0,100,0,0\n2.0,100,GG,0\n2.0,100\n")
        result = self.ingest(folder)
        self.assertEqual((result["frames"], result["rejected"]), (5000, 5))
        with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
            rejected = file.read().splitlines()
        self.assertEqual(len(rejected), 6)
        self.assertIn(",5002,identifier_unparsable,", rejected[1])

    def test_a_full_disk(self):
        folder = self.make("logs")
        write_log(os.path.join(folder, "log.csv"), 60_000)
        small = self.make("small")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", small], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("cannot mount a small file system")
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        says = self.ingest(folder, out="small", status=1)
        self.assertIn("No space left", says)
        self.assertNotIn("--temp", says)  # it was the cache that did not fit
        self.assertEqual(os.listdir(small), [])
        write_log(os.path.join(folder, "log.csv"), 120_000)
        says = self.ingest(folder, "--temp", small, status=1)
        self.assertIn(f'frames are spilled to "{small}', says)
        self.assertEqual(os.listdir(small), [])
        self.assertFalse(os.path.exists(self.path("cache")))
        write_log(os.path.join(folder, "log.csv"), 1_000)
        self.assertEqual(self.ingest(folder, "--temp", small)["frames"], 1_000)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
