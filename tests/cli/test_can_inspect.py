"""leat inspect and leat cat of CAN caches, made of synthetic and of known logs: text, JSON, page,
verification, graphs, as a user runs them. Runs the command named by LEAT (default: build/leat)."""
import csv
import hashlib
import io
import json
import math
import os
import random
import re
import shutil
import struct
import tempfile
import unittest

import golden_files
import hostile
import pages
from command import leat


DATA = None  # a folder with `logs`, `features`, `frames` and what the tests put beside them
CACHES = {}  # the caches of stored features and of stored frames


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-can-inspect-")
    logs = os.path.join(DATA, "logs")
    done = leat("synth", "can", "--frames", "30000", "--vehicles", "2", "-o", logs)
    assert done.returncode == 0, done.stderr
    for store in ("features", "frames"):
        done = leat("ingest", "can", logs, "-o", os.path.join(DATA, store), "--store", store,
                    "--json")
        assert done.returncode == 0, done.stderr
        CACHES[store] = json.loads(done.stdout)


def tearDownModule():
    shutil.rmtree(DATA)


def copied(name, store="features"):
    to = os.path.join(DATA, name)
    shutil.copytree(CACHES[store]["cache"], to)
    return to


def edit(cache, name, change):
    """Changes a document, and its hash in .complete."""
    path, complete = os.path.join(cache, name), os.path.join(cache, ".complete")
    with open(path, "rb") as file:
        data = file.read()
    changed = change(data)
    with open(path, "wb") as file:
        file.write(changed)
    with open(complete, encoding="ascii") as file:
        text = file.read()
    with open(complete, "w", encoding="ascii") as file:
        file.write(text.replace(hashlib.sha256(data).hexdigest(),
                                hashlib.sha256(changed).hexdigest()))


def flip(path, offset, bit=0):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1 << bit]))


class Words(unittest.TestCase):
    def test_text(self):
        done = leat("inspect", CACHES["features"]["cache"], env=dict(os.environ, LC_ALL="C"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.isascii(), "block characters in the C locale")
        for words in ("a CAN cache", "train", "val", "test_01_dos", "benign", "fuzzing",
                      "without a number", "from every graph", "byte_0-7_mean", "edge_freq",
                      "digest", "attack_free_001-1.csv"):
            self.assertIn(words, done.stdout)
        self.assertLess(max(map(len, done.stdout.split("\n"))), 200)

    def test_settings(self):
        """What a cache was built with, to tell it from another of the same logs."""
        logs, out = os.path.join(DATA, "logs"), os.path.join(DATA, "settings")
        page = os.path.join(DATA, "settings.html")
        for words, shown in (((), "preset default"),
                             (("--preset", "reference"), "preset reference"),
                             (("--vocab", "benign", "--stride", "50", "--window", "100"),
                              "preset default, but --stride 50 --vocab benign")):
            leat("ingest", "can", logs, "-o", out, *words, status=0)
            done = leat("inspect", out, "--html", page, status=0)
            self.assertIn(f"  settings     {shown}\n", done.stdout)
            with open(page, encoding="utf-8") as file:
                self.assertIn(f"features stored; {shown}, validation split ", file.read())
            shutil.rmtree(out)

    def test_blocks_where_the_terminal_has_them(self):
        done = leat("inspect", DATA + "/features", env=dict(os.environ, LC_ALL="C.UTF-8"))
        self.assertIn("\u2588", done.stdout)

    def test_options_for_other_data(self):
        cache = CACHES["features"]["cache"]
        for words in (("inspect", "--rows", "3"), ("cat", "--rows", "0:1"), ("cat", "--src", "1"),
                      ("cat", "--format", "csv")):
            done = leat(*words, cache)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("probe rows", done.stderr)
        for words in (("--graph", "1"), ("--split", "val"), ("--scale", "stored")):
            done = leat("cat", *words, os.path.join(DATA, "logs"))
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("is for CAN caches", done.stderr)
        done = leat("inspect", cache, cache)
        self.assertEqual(done.returncode, 2)
        self.assertIn("must be the only argument", done.stderr)

    def test_doctor(self):
        def told(path):
            done = leat("doctor", "--json", path)
            findings = json.loads(done.stdout)["findings"]
            return {verdict: " ".join(item["what"] for item in findings
                                      if item["verdict"] == verdict and "Parquet" not in
                                      item["what"]) for verdict in ("ok", "note", "problem")}
        inside = os.path.join(DATA, "doctor")
        cache = copied(os.path.join("doctor", "cache-1"))
        for path in (cache, inside):
            found = told(path)
            self.assertEqual(found["problem"], "")
            self.assertRegex(found["ok"], r"CAN cache .* opens: [\d,]+ graphs in \d+ splits")
            self.assertNotIn("leftover", found["note"])
            self.assertIn("only the presence of files was checked", found["note"])
        for name in (".leat-0123456789abcdef", ".stage-cache-1"):
            os.mkdir(os.path.join(inside, name))  # a third party's, without leat's mark
        self.assertNotIn("leftover", told(inside)["note"])
        for name in (".leat-0123456789abcdef", ".stage-cache-1"):
            with open(os.path.join(inside, name, "leat-work.json"), "w", encoding="utf-8") as mark:
                mark.write("{}")
        for path in (cache, inside):
            self.assertIn("killed: .leat-0123456789abcdef, .stage-cache-1", told(path)["note"])
        os.remove(os.path.join(cache, "val.safetensors"))
        self.assertIn("val.safetensors", told(cache)["problem"])

    def test_raw_logs(self):
        logs = os.path.join(DATA, "logs")
        for words in (("doctor",), ("inspect",)):
            done = leat(*words, logs)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("leat ingest can", done.stdout + done.stderr)

    def test_several_caches_are_listed(self):
        both = os.path.join(DATA, "both")
        for store in CACHES:
            shutil.copytree(CACHES[store]["cache"], os.path.join(both, store))
        for words in (("inspect",), ("inspect", "--verify"), ("cat",)):
            done = leat(*words, both)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("holds 2 caches; give the path of one of them: features, frames",
                          done.stderr)


class Json(unittest.TestCase):
    def test_attacks_of_no_kind(self):
        logs, caches = os.path.join(DATA, "unnamed"), os.path.join(DATA, "unnamed-cache")
        os.makedirs(logs)
        folder = os.path.join(DATA, "logs", "test_01_dos")
        shutil.copy(os.path.join(folder, sorted(os.listdir(folder))[0]),
                    os.path.join(logs, "capture7.csv"))
        done = leat("ingest", "can", logs, "-o", caches, "--val-fraction", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(leat("inspect", caches, "--json").stdout)["splits"]["train"]
        kinds = {kind["name"]: kind["graphs"] for kind in told["attacks"]}
        self.assertEqual(set(kinds), {"benign", "attack of unknown type"})
        self.assertEqual(kinds["attack of unknown type"], told["graphs_with_attack"])
        self.assertGreater(told["graphs_with_attack"], 0)

    def test_numbers(self):
        cache = CACHES["features"]
        done = leat("inspect", cache["cache"], "--json", "--verify")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told = json.loads(done.stdout)
        self.assertEqual(told["fingerprint"], cache["digest"])
        self.assertEqual({name: (split["graphs"], split["graphs_with_attack"])
                          for name, split in told["splits"].items()},
                         {name: (split["graphs"], split["attacks"])
                          for name, split in cache["splits"].items()})
        for name, split in told["splits"].items():
            attacks = split["graphs_with_attack"]
            counts = {"benign": split["graphs"] - attacks, "attack": attacks}
            here = sum(count > 0 for count in counts.values())
            self.assertEqual(split["class_weights"],
                             {name: split["graphs"] / (here * count) if count else 0.0
                              for name, count in counts.items()}, name)
        self.assertEqual(told["splits"]["test_05_suppress"]["class_weights"],
                         {"benign": 1.0, "attack": 0.0})
        self.assertEqual(told["vocabulary"], cache["vocabulary"])
        self.assertEqual(told["identifiers"], cache["identifiers"])
        self.assertEqual(told["windows_dropped"], cache["windows_dropped"])
        splits = told["splits"].values()
        self.assertEqual(sum(split["frames"] for split in splits), cache["frames"])
        for name in ("tail", "between", "dropped"):
            self.assertEqual(sum(split[f"frames_{name}"] for split in splits),
                             cache[f"frames_{name}"])
        for split in splits:
            self.assertEqual(sum(attack["graphs"] for attack in split["attacks"]),
                             split["graphs"])
            nodes = split["nodes_per_graph_histogram"]
            self.assertEqual(nodes["count"], split["graphs"])
            counts = [one["count"] for one in nodes["histogram"]]
            self.assertTrue(all(isinstance(count, int) for count in counts), counts)
            self.assertEqual(nodes.get("zeros", 0) + sum(counts), nodes["count"])
        fuzzing = told["splits"]["test_02_fuzzing"]["unknown_identifiers"]
        self.assertGreater(fuzzing["count"], 10)
        self.assertGreater(fuzzing["nodes"], 10)
        self.assertGreaterEqual(fuzzing["frames"], fuzzing["count"])
        for split in splits:
            unknown = split["unknown_identifiers"]
            most = unknown["most_frequent"]
            self.assertEqual(len(most), min(unknown["count"], 2048))
            self.assertEqual(sum(one["frames"] for one in most), unknown["frames"])
            counts = [one["frames"] for one in most]
            self.assertEqual(counts, sorted(counts, reverse=True))
            self.assertEqual(len({one["identifier"] for one in most}), len(most))
        for capture in told["captures"]:
            whole, attack, unlabelled = (capture[name] for name in (
                "course", "course_with_attack", "course_unlabelled"))
            self.assertGreaterEqual(sum(whole), capture["graphs"])
            self.assertEqual(sum(attack) > 0, capture["graphs_with_attack"] > 0)
            self.assertEqual(sum(unlabelled) > 0, capture["graphs_unlabelled"] > 0)
            for part in zip(whole, attack, unlabelled):
                self.assertGreaterEqual(part[0], part[1] + part[2])
        self.assertEqual(told["splits"]["train"]["unknown_identifiers"]["count"], 0)
        self.assertEqual(len(told["values"]["x"]), 35)
        self.assertEqual(len(told["values"]["edge_attr"]), 11)
        self.assertTrue(told["values"]["of_every_graph"])
        self.assertEqual(len(told["captures"]), cache["captures"])
        self.assertEqual(sum(capture["graphs"] for capture in told["captures"]),
                         sum(split["graphs"] for split in splits))
        self.assertTrue(told["verification"]["ok"], told["verification"]["findings"])
        self.assertEqual(told["verification"]["notes"], 0)
        self.assertEqual(told["verification"]["inputs_unchanged"], cache["files"])

    def test_stores_and_threads_change_nothing(self):
        texts = set()
        for store in CACHES:
            for threads in ("1", "2", "3", "8"):
                done = leat("inspect", CACHES[store]["cache"], "--json", "--threads", threads)
                told = json.loads(done.stdout)
                for name in ("path", "cache", "fingerprint", "store", "settings"):
                    del told[name]
                for split in told["splits"].values():
                    del split["file_bytes"]
                texts.add(json.dumps(told))
        self.assertEqual(len(texts), 1)

    def test_sample_is_said(self):
        cache = CACHES["features"]["cache"]
        values = json.loads(leat("inspect", cache, "--json", "--read", "400K").stdout)["values"]
        self.assertFalse(values["of_every_graph"])
        self.assertIn(values["graphs_read"], range(1, 100))
        self.assertIn("from a sample", leat("inspect", cache, "--read", "400K").stdout)


class Verification(unittest.TestCase):
    def verdict(self, path):
        done = leat("inspect", "--verify", "--json", path)
        told = json.loads(done.stdout)["verification"]
        self.assertEqual(done.returncode, 0 if told["ok"] else 1)
        return told

    def test_right_whatever_the_settings(self):
        logs = os.path.join(DATA, "logs")
        for words in ((), ("--store", "frames", "--window", "40", "--stride", "7"),
                      ("--preset", "reference"), ("--captures", "merged", "--vocab", "all"),
                      ("--window", "10", "--stride", "25", "--edge-step", "own"),
                      ("--val-fraction", "0"), ("--attack-type", "file", "--window", "4096")):
            out = os.path.join(DATA, "some")
            done = leat("ingest", "can", logs, "-o", out, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = self.verdict(out)
            self.assertTrue(told["ok"], (words, told["findings"]))
            self.assertEqual(told["notes"], 0)
            shutil.rmtree(out)

    def test_every_file(self):
        """One bit of it, cut, gone: each is found, and the file is named."""
        draw = random.Random(7)
        for store in CACHES:
            done = leat("ingest", "can", os.path.join(DATA, "logs"), "--train", "train_*", "--test",
                        "test_01*", "-o", os.path.join(DATA, f"broken-{store}"), "--store", store,
                        "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            cache = json.loads(done.stdout)["cache"]
            for name in sorted(os.listdir(cache)):
                path = os.path.join(cache, name)
                with open(path, "rb") as file:
                    data = file.read()
                places = [draw.randrange(len(data)) for _ in range(2)] + [len(data) - 1]
                if name == "inputs.json":  # times and folders are not those of the content
                    places = [data.index(b"sha256") + 20, data.index(b"window 100"),
                              data.index(b'"split"') + 11, 0]
                for place in places:
                    flip(path, place, draw.randrange(8) if name != "inputs.json" else 0)
                    self.expect_named(cache, name)
                    with open(path, "wb") as file:
                        file.write(data)
                os.truncate(path, len(data) - 1 - draw.randrange(len(data) // 2))
                self.expect_named(cache, name)
                os.unlink(path)
                if name == "inputs.json":
                    self.assertEqual(self.verdict(cache)["notes"], 1)
                else:
                    self.expect_named(cache, name)
                with open(path, "wb") as file:
                    file.write(data)
            self.assertTrue(self.verdict(cache)["ok"])

    def test_edited_document(self):
        """Says the same, and its hash is in .complete: but not as leat writes it."""
        cache = copied("edited")
        edit(cache, "scaler.json", lambda data: data + b"\n")
        told = self.verdict(cache)
        self.assertEqual([(finding["file"], finding["kind"]) for finding in told["findings"]],
                         [("scaler.json", "problem")])
        self.assertIn("it was edited", told["findings"][0]["reason"])

    def test_names_move_no_cursor(self):
        """Names of a cache from elsewhere, in everything that a terminal shows."""
        def change(data):
            document = json.loads(data)
            document["preset"] = document["built_at"] = "x\x1b[2J\u202ex"
            for capture in document["captures"]:
                capture["file"] = capture["folder"] = hostile.NAME
                capture["tail"] += 1  # for a finding that quotes the name
            return json.dumps(document, indent=2).encode()
        cache = copied("cursor")
        edit(cache, "cache_metadata.json", change)
        page = os.path.join(DATA, "cursor.html")
        for words, shown in ((("inspect", "--html", page), 2), (("inspect", "--verify"), 3),
                             (("cat", "--format", "words", "--graph", "0"), 2),
                             (("batches", "--explain", "0"), 2)):
            told = leat(words[0], cache, *words[1:]).stdout
            self.assertGreaterEqual(told.count(hostile.SHOWN), shown, words)
            self.assertEqual(hostile.unfit(told), set(), words)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertGreaterEqual(text.count(hostile.SHOWN), 2)
        self.assertEqual(hostile.unfit(text), set())
        for words in (("inspect", "--json"), ("cat", "--graph", "0")):
            told = leat(words[0], cache, *words[1:]).stdout
            self.assertEqual(hostile.unfit(told), set(), words)
            self.assertIn(json.dumps(hostile.NAME)[1:-1].replace("\\n", "\\u000a").replace(
                "\\t", "\\u0009") if words[0] == "cat" else json.dumps(hostile.NAME)[1:-1], told)

    def expect_named(self, cache, name):
        told = self.verdict(cache)
        self.assertFalse(told["ok"], name)
        problems = [finding for finding in told["findings"] if finding["kind"] == "problem"]
        # a wrong hash in .complete makes a document the one that differs
        wanted = {"vocab.json", "scaler.json", "cache_metadata.json", ".complete"} \
            if name == ".complete" else {name}
        self.assertTrue(wanted & {finding["file"] for finding in problems}, (name, problems))

    def test_page_is_placed(self):
        cache = copied("placed")
        flip(os.path.join(cache, "train.safetensors"), 5 * 4096 + 9)
        told = self.verdict(cache)
        self.assertEqual(told["problems"], 1)
        self.assertIn("bytes 20480 to 24575", told["findings"][0]["reason"])
        done = leat("inspect", "--verify", cache)
        self.assertEqual(done.returncode, 1)
        self.assertIn("problem: train.safetensors", done.stdout)

    def test_threads_change_nothing(self):
        cache = copied("threads")
        for split in ("train", "val", "test_01_dos"):
            flip(os.path.join(cache, f"{split}.safetensors"), 4097)
        texts = {leat("inspect", "--verify", "--json", cache, "--threads", n).stdout
                 for n in ("1", "2", "3", "8")}
        self.assertEqual(len(texts), 1)

    def test_inputs(self):
        logs = os.path.join(DATA, "other-logs")
        shutil.copytree(os.path.join(DATA, "logs"), logs)
        out = os.path.join(DATA, "other")
        self.assertEqual(leat("ingest", "can", logs, "-o", out).returncode, 0)
        names = sorted(os.path.join(folder, name) for folder, _, files in os.walk(logs)
                       for name in files if folder != logs)
        with open(names[0], "a", encoding="ascii") as file:
            file.write("\n")
        os.unlink(names[1])
        os.utime(names[2], (1, 1))
        told = self.verdict(out)
        self.assertTrue(told["ok"], told["findings"])
        self.assertEqual((told["inputs_changed"], told["inputs_missing"]), (1, 1))
        self.assertEqual(told["inputs_unchanged"], len(names) - 2)
        self.assertEqual(told["notes"], 2)


class LongNames(unittest.TestCase):
    def test_columns_stay_aligned(self):
        logs, out = os.path.join(DATA, "long"), os.path.join(DATA, "long-cache")
        for name in ("train_a", "test_" + "very_" * 9 + "long"):
            os.makedirs(os.path.join(logs, name))
            with open(os.path.join(logs, name, name + ".csv"), "w", encoding="ascii") as file:
                file.write("timestamp,arbitration_id,data_field,attack\n")
                file.writelines(f"{i * 1e-3:.3f},{i % 7:03X},00,{i % 2}\n" for i in range(4000))
        told = leat("ingest", "can", logs, "-o", out, status=0).stdout
        labels = re.findall(r"(?m)^((?:train|val|test_\w+) +)\d+ graphs?, ", told)
        self.assertEqual((len(labels), len({len(label) for label in labels})), (3, 1), told)
        tables = re.split(r"\n\n", leat("inspect", out, status=0).stdout)
        for head in ("split ", "nodes of a graph ", "attacks ", "captures "):
            table, = (t.split("\n") for t in tables if t.startswith("  " + head))
            ends = {re.match(r"  \S+(?: of a graph)? +", line).end() for line in table
                    if line[2] != " "}
            if head in ("attacks ", "captures "):  # the next column is aligned left
                self.assertEqual(len(ends), 1, table)
            else:
                self.assertEqual(len({len(line.rstrip("▁▂▃▄▅▆▇█ ")) for line in table[1:]}), 1,
                                 table)


class Cat(unittest.TestCase):
    def graphs(self, *words, store="features"):
        done = leat("cat", CACHES[store]["cache"], *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_all_graphs_and_some(self):
        for split, facts in CACHES["features"]["splits"].items():
            found = self.graphs("--split", split, "--graph", ":")
            self.assertEqual([graph["graph"] for graph in found], list(range(facts["graphs"])))
            self.assertEqual(sum(graph["y"] for graph in found), facts["attacks"])
        every = self.graphs("--split", "val", "--graph", ":")
        self.assertEqual(self.graphs("--split", "val", "--graph", "3"), every[3:4])
        self.assertEqual(self.graphs("--split", "val", "--graph", "3:9"), every[3:9])
        self.assertEqual(self.graphs("--split", "val", "--graph", "5:"), every[5:])
        self.assertEqual(self.graphs("--split", "val", "--graph", ":2"), every[:2])
        for graph in every:
            self.assertEqual(len(graph["identifiers"]), len(graph["x"]))
            self.assertEqual(len(graph["edge_attr"]), 98)
            self.assertLess(max(graph["edge_index"][0] + graph["edge_index"][1]),
                            len(graph["node_id"]))
            self.assertEqual([identifier is None for identifier in graph["identifiers"]],
                             [number == 0 for number in graph["node_id"]])

    def test_a_split_without_graphs(self):
        parent = os.path.join(DATA, "no-val")
        done = leat("ingest", "can", os.path.join(DATA, "logs"), "-o", parent,
                    "--val-fraction", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ((), ("--graph", "0"), ("--graph", ":")):
            done = leat("cat", parent, "--split", "val", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("the split val has no graphs; use --split for another one", done.stderr)

    def test_stores_print_the_same(self):
        for words in (("--split", "test_02_fuzzing", "--graph", ":"),
                      ("--scale", "stored", "--graph", ":9"),
                      ("--format", "words", "--graph", "7")):
            texts = {leat("cat", CACHES[store]["cache"], *words).stdout for store in CACHES}
            self.assertEqual(len(texts), 1, words)
            self.assertGreater(len(texts.pop()), 1000)

    def test_words(self):
        done = leat("cat", CACHES["features"]["cache"], "--split", "test_01_dos", "--graph", "0",
                    "--format", "words")
        self.assertEqual(done.returncode, 0)
        for words in ("graph 0 of test_01_dos: test_01_dos/dos_001-1.csv, bus 0, vehicle 1, frames",
                      "msg_count", "98 edges in order of time", " -> ", " ms, edge_freq"):
            self.assertIn(words, done.stdout)

    def test_scaled(self):
        cache = CACHES["features"]["cache"]
        with open(os.path.join(cache, "scaler.json"), encoding="utf-8") as file:
            scaler = json.load(file)
        raw, scaled = (self.graphs("--graph", "4", "--scale", how)[0] for how in ("none", "stored"))
        for i, row in enumerate(raw["x"]):
            for k, value in enumerate(row):
                wanted = (value - scaler["x_center"][k]) / scaler["x_scale"][k]
                self.assertAlmostEqual(scaled["x"][i][k], wanted, delta=1e-4 * max(1, abs(wanted)))

    def test_first_graph(self):
        """Without --graph: one graph, and how to get others."""
        cache = CACHES["features"]["cache"]
        for words, what in (((), "graph"), (("--format", "words"), "words")):
            done = leat("cat", cache, *words, status=0)
            self.assertEqual(done.stdout, leat("cat", cache, "--graph", "0", *words).stdout, what)
            count = CACHES["features"]["splits"]["train"]["graphs"]
            self.assertEqual(done.stderr, f"leat: the first of {count} graphs of train; use "
                                          "--graph I for another one, --graph : for all\n")

    def test_bad_words(self):
        cache = CACHES["features"]["cache"]
        count = CACHES["features"]["splits"]["train"]["graphs"]
        for words in (("--graph", str(count)), ("--graph", "x"), ("--graph", ""),
                      ("--graph", "5:3"), ("--graph", "-1"), ("--split", "none"),
                      ("--scale", "much")):
            self.assertEqual(leat("cat", cache, *words).returncode, 2, words)
        self.assertIn(f"graphs 0 to {count - 1}", leat("cat", cache, "--graph", "x").stderr)
        self.assertIn("train, val", leat("cat", cache, "--split", "none").stderr)

    def test_damage_is_told(self):
        cache = copied("cat-broken")
        with open(os.path.join(cache, "train.safetensors"), "rb") as file:
            size, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size))
        at = 8 + size + header["x"]["data_offsets"][0]
        flip(os.path.join(cache, "train.safetensors"), at + 8192)
        done = leat("cat", cache, "--graph", ":")
        self.assertEqual(done.returncode, 1)
        self.assertIn("hash mismatch", done.stderr)

    def test_the_reference_systems_graph(self):
        """The window of the golden page example, node by node and edge by edge."""
        out = os.path.join(DATA, "golden")
        done = leat("ingest", "can", golden_files.path("golden/can/input/page_example"), "-o", out,
                    "--preset", "reference", "--window", "10", "--stride", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        graph, = (json.loads(line) for line in leat("cat", out).stdout.splitlines())
        self.assertEqual(graph["identifiers"], ["0C1", "0C9", "316", "7DF"])
        self.assertEqual(graph["node_id"], [1, 2, 3, 4])
        with open(golden_files.path("golden/can/features_page_example_ref.safetensors"),
                  "rb") as file:
            data = file.read()
        size, = struct.unpack_from("<Q", data)
        header = json.loads(data[8:8 + size])

        def tensor(name, letter):
            first, last = (8 + size + at for at in header[name]["data_offsets"])
            item = struct.calcsize(letter)
            return struct.unpack(f"<{(last - first) // item}{letter}", data[first:last])

        for key in ("x", "edge_attr"):
            ours = [value for row in graph[key] for value in row]
            theirs = tensor(key, "f")
            self.assertEqual(len(ours), len(theirs))
            for a, b in zip(ours, theirs):
                self.assertLessEqual(abs(a - b), 1e-6 * max(abs(b), 1e-3))
        index = tensor("edge_index", "i" if header["edge_index"]["dtype"] == "I32" else "q")
        self.assertEqual(graph["edge_index"][0] + graph["edge_index"][1], list(index))
        self.assertEqual(graph["y"], 1)


class Page(unittest.TestCase):
    def page(self, *words):
        path = os.path.join(DATA, "page.html")
        done = leat("inspect", *words, "--html", path)
        with open(path, encoding="utf-8") as file:
            return done, file.read()

    def test_page(self):
        done, text = self.page(CACHES["features"]["cache"], "--verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = pages.check_stands_alone(self, text)
        pages.check_labels(self, text)
        self.assertGreater(page.tags["svg"], 50)
        bars = next(svg for svg in re.findall(r"<svg.*?</svg>", text, flags=re.S)
                    if 'aria-label="Graphs with an attack, by split"' in svg)
        splits = json.loads(leat("inspect", "--json", CACHES["features"]["cache"]).stdout)["splits"]
        self.assertEqual(re.findall(r'class="end">([^<]*)<', bars),
                         list(splits))
        shown = " ".join(page.texts)
        for words in ("preset default", "validation split blocks", "attack type by frame",
                      "--window 100", "--val-fraction 0.2", "--scaler z_benign"):
            self.assertIn(words, re.sub(r"\s+", " ", shown))
        self.assertNotIn('<div class="two">', text, "the table of splits needs the whole width")
        for words in ("Verified: no problem found.", "test_06_unknown_vehicle", "fuzzing",
                      "node_iat_mean", "Captures", "Identifiers"):
            self.assertIn(words, text)

    def test_a_colour_is_one_kind_of_attack(self):
        cache = CACHES["features"]["cache"]
        text = self.page(cache)[1]
        kinds = {}
        for key, name in re.findall(r'<(?:rect|path) class="share (k\d+)" [^>]*><title>'
                                    r'([^<]*): [\d.]+ % \(', text):
            kinds.setdefault(name, set()).add(key)
        told = json.loads(leat("inspect", "--json", cache).stdout)["splits"]
        rows = csv.reader(io.StringIO(pages.files(text)["kinds-of-attacks-by-split.csv"].decode()))
        self.assertEqual(
            [[bar, part, int(count)] for bar, part, _, count in list(rows)[1:]],
            [[name, one["name"], one["graphs"]] for name, split in told.items()
             for one in split["attacks"]])
        splits = told.values()
        found = {one["name"] for split in splits for one in split["attacks"]}
        self.assertEqual(set(kinds), found)
        self.assertGreater(len(found), 2)
        self.assertEqual({name for name in kinds if len(kinds[name]) > 1}, set())
        self.assertEqual(len(set.union(*kinds.values())), len(kinds), kinds)
        # nor is it that of any attack, nor of both labels
        colours = dict(re.findall(r"\.([kb]\w+(?:\.bad)?)\{fill:(var\(--\w+\))\}", text))
        attacks = {colours[key] for name, keys in kinds.items() for key in keys
                   if name not in ("benign", "unlabelled") and key < "k31"}
        self.assertGreater(len(attacks), 2)
        self.assertNotIn(colours["bar.bad"], attacks)
        self.assertNotIn(colours["bar"], attacks)

    def test_ranges_have_an_axis(self):
        """Labelled, with a line in each row, and the bars are where it says."""
        text = self.page(CACHES["features"]["cache"])[1]
        axis = re.search(r'range, scaled(<svg.*?</svg>)</th>', text, flags=re.S).group(1)
        ticks = {float(words): float(x) for x, words in
                 re.findall(r'<text x="([\d.]+)" y="11" class="mid">(-?[\d.e+]+)</text>', axis)}
        self.assertGreaterEqual(len(ticks), 5)
        self.assertEqual({-value for value in ticks}, set(ticks))
        self.assertEqual(ticks[0], 100)
        far = max(ticks)
        self.assertGreaterEqual(far, 10)
        reach = math.asinh(far) * 100 / (ticks[far] - 100)
        rows = re.findall(r'aria-label="range, scaled" style="width:200px">(.*?)</svg>', text)
        self.assertEqual(len(rows), 46)
        farthest = 0
        for row in rows:
            lines = [float(x) for x in re.findall(r'class="(?:base|grid)" d="M([\d.]+) ', row)]
            self.assertEqual(sorted(lines), sorted(ticks.values()))
            x, width, low, high = map(float, re.search(
                r'<rect class="bar" x="([\d.]+)" y="4" width="([\d.]+)" height="6"><title>'
                r'(\S+) to (\S+), scaled', row).groups())
            self.assertAlmostEqual(x, 100 * (1 + math.asinh(low) / reach), delta=1)
            self.assertAlmostEqual(x + width, 100 * (1 + math.asinh(high) / reach), delta=1.1)
            farthest = max(farthest, abs(low), abs(high))
        self.assertAlmostEqual(math.asinh(farthest), reach, delta=0.05)

    def test_nothing_is_translucent(self):
        """A mixture of two colours would be a third one that means something else."""
        text = self.page(CACHES["features"]["cache"])[1]
        self.assertNotRegex(text, r'style="[^"]*opacity')
        strips = "".join(re.findall(r'aria-label="where attacks are".*?</svg>', text))
        bars = re.findall(r'<rect class="bar bad" x="[\d.]+" y="([\d.]+)" width="[\d.]+" '
                          r'height="([\d.]+)"/>', strips)
        self.assertGreater(len(bars), 100)
        for y, height in bars:
            self.assertLessEqual(float(y) + float(height), 9)  # the strip is below

    def test_damaged(self):
        cache = copied("page-broken")
        flip(os.path.join(cache, "val.pages"), 3)
        done = leat("inspect", cache, "--verify")
        self.assertEqual(done.returncode, 1)
        self.assertIn("val.pages", done.stdout)
        done = leat("inspect", cache)
        self.assertEqual(done.returncode, 1)
        self.assertIn("val.pages", done.stderr)

    def test_names_are_text(self):
        logs = os.path.join(DATA, "<b>'&logs", "train_<i>")
        os.makedirs(logs)
        shutil.copy(os.path.join(DATA, "logs", "train_01_attack_free", "attack_free_001-1.csv"),
                    os.path.join(logs, "<u>-1.csv"))
        out = os.path.join(DATA, "<cache>")
        self.assertEqual(leat("ingest", "can", os.path.dirname(logs), "-o", out).returncode, 0)
        done, text = self.page(out, "--read", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        pages.check_stands_alone(self, text)
        self.assertNotRegex(text, r"<(u|i|cache)>")
        self.assertIn("&lt;u&gt;-1.csv", text)

    def test_in_a_browser(self):
        self.page(CACHES["features"]["cache"])
        pages.check_in_browser(self, os.path.join(DATA, "page.html"), DATA)


if __name__ == "__main__":
    unittest.main()
