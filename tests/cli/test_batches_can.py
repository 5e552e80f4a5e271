"""leat batches of a CAN cache as a user runs it: hashes, hosts, states, budgets, curricula, pages,
staging, damage. All from synthetic logs.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import pages
from command import LEAT, LIMIT, leat as run, wait_for_output
from held import Held

DATA = None  # the test's folder
CACHE = FRAMES = None  # caches of features and of frames, of the same logs
ATTACKS = {0: "of unknown type", 1: "dos", 2: "fuzzing", 15: "suppress", 17: "replay", 18: "spoof"}
SMALL = ("--max-nodes", 1000, "--max-edges", 3000)  # batches of some 25 graphs


def batches(*words, cache=None):
    done = run("batches", cache or CACHE, *words)
    assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
    return done.stdout


def told(*words, cache=None):
    return json.loads(batches("--json", *words, cache=cache))


def setUpModule():
    global DATA, CACHE, FRAMES
    DATA = tempfile.mkdtemp(prefix="leat-batches-can-")
    logs = os.path.join(DATA, "logs")
    done = run("synth", "can", "--frames", 80000, "--vehicles", 2, "-o", logs)
    assert done.returncode == 0, done.stderr
    found = []
    for name, more in (("features", ()), ("frames", ("--store", "frames"))):
        parent = os.path.join(DATA, name)
        done = run("ingest", "can", logs, "-o", parent, "--stride", 50, *more)
        assert done.returncode == 0, done.stderr
        found += glob.glob(os.path.join(parent, "*-*"))
    CACHE, FRAMES = found


def tearDownModule():
    shutil.rmtree(DATA)


def place(line):
    return [int(word) for word in line.split()[:2]]


def explained(steps, *words):
    return [told("--explain", step, *words) for step in range(steps)]


class Case(unittest.TestCase):
    def path(self, name):
        path = os.path.join(DATA, name)
        self.addCleanup(lambda: os.path.exists(path) and
                        (shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)))
        return path

    def refused(self, pattern, *words, status=2, cache=None):
        done = run("batches", cache or CACHE, *words)
        self.assertEqual((done.returncode, done.stdout), (status, ""), words)
        self.assertRegex(done.stderr, pattern)
        return done.stderr


class Hashes(Case):
    STEPS = (*SMALL, "--epochs", 2)

    def test_hash_is_that_of_the_lines(self):
        lines = batches(*self.STEPS, "--hash=rows")
        places = [place(line) for line in lines.splitlines()]
        self.assertEqual(places, sorted(places))
        self.assertEqual({epoch for epoch, _ in places}, {0, 1})
        self.assertGreater(len(places), 20)
        first = [line for line in lines.splitlines() if place(line)[0] == 0]
        self.assertEqual(len({line.split()[2] for line in first}), len(first))
        self.assertEqual(batches(*self.STEPS, "--hash"),
                         hashlib.sha256(lines.encode()).hexdigest() + "\n")
        document = told(*self.STEPS, "--hash=rows", "--time")
        self.assertEqual(document["text"], lines)
        self.assertEqual(document["steps"], [0, len(places)])
        self.assertEqual(document["batches"], [places[0], places[-1]])
        self.assertEqual(document["counters"]["batches"], len(places))
        self.assertGreater(document["time"]["graphs_per_second"], 0)
        self.assertEqual(json.loads(document["state"])["epoch"], 2)

    def test_whatever_makes_them(self):
        want = batches(*self.STEPS, "--hash")
        for cache in (CACHE, FRAMES):
            for more in (("--threads", 1), ("--threads", 2), ("--threads", 3), ("--threads", 8),
                         ("--prefetch", 0), ("--prefetch", 1), ("--prefetch", 8),
                         ("--memory", "24M")):
                with self.subTest(cache=cache, more=more):
                    self.assertEqual(batches(*self.STEPS, "--hash", *more, cache=cache), want)
        self.assertEqual(batches(*self.STEPS, "--hash", cache=os.path.dirname(CACHE)), want)
        seen = {want}
        for more in (("--seed", 1), ("--pack", "next-fit"), ("--pack", "bucket"),
                     ("--scale", "none"), ("--split", "val"), ("--preset", "reference"),
                     ("--curriculum", "random")):
            seen.add(batches(*self.STEPS, "--hash", *more))
        seen.add(batches("--epochs", 2, "--pack", "fixed", "--batch", 25, "--hash"))
        self.assertEqual(len(seen), 9)

    def test_in_windows(self):
        order = (*self.STEPS, "--order", "windowed:1M")
        want = batches(*order, "--hash=rows")
        self.assertEqual(batches(*order, "--hash=rows", "--threads", 5, cache=FRAMES), want)
        lines = [line for host in range(3) for line in batches(
            *order, "--hash=rows", "--hosts", 3, "--host", host).splitlines()]
        self.assertEqual(sorted(lines, key=place), want.splitlines())
        document = told(*order, "--time")
        self.assertEqual(document["options"]["order"], "windowed:1M")
        self.assertEqual(document["counters"]["graphs"], 2 * document["split_graphs"])
        self.assertGreaterEqual(document["time"]["read_wait_seconds"], 0)
        self.assertIn("\nreading    threads waited for data ", batches(*order, "--time"))
        self.assertEqual(told(*self.STEPS)["options"]["order"], "global")
        self.refused("order windowed is not for preset reference", *order, "--preset", "reference")

    def test_hosts_share(self):
        want = batches(*self.STEPS, "--hash=rows").splitlines()
        for hosts in (2, 3, 8):
            lines = []
            for host in range(hosts):
                lines += batches(*self.STEPS, "--hash=rows", "--hosts", hosts, "--host",
                                 host).splitlines()
            self.assertEqual(sorted(lines, key=place), want)

    def test_steps_count_through_epochs(self):
        want = batches(*self.STEPS, "--hash=rows").splitlines()
        epoch = sum(place(line)[0] == 0 for line in want)
        for first, end in ((0, 1), (3, 7), (epoch - 1, epoch + 1), (epoch, epoch + 2),
                           (epoch + 3, len(want)), (len(want) - 1, len(want) + 9)):
            got = batches(*self.STEPS, "--hash=rows", "--steps", f"{first}:{end}").splitlines()
            self.assertEqual(got, want[first:end])
        self.assertEqual(batches(*self.STEPS, "--steps", f"{epoch}:", "--hash=rows").splitlines(),
                         want[epoch:])
        self.assertIn("none", batches(*self.STEPS, "--steps", f"{len(want)}:"))
        hosts = batches(*self.STEPS, "--hash=rows", "--steps", "1:3", "--hosts", 3, "--host", 1)
        self.assertEqual(hosts.splitlines(), [want[4], want[7]])


class States(Case):
    WORDS = (*SMALL, "--epochs", 2, "--hash=rows")

    def test_in_the_middle_of_an_epoch(self):
        want = batches(*self.WORDS).splitlines()
        state = self.path("state.json")
        batches(*self.WORDS, "--steps", "0:0", "--save-state", state)
        got = []
        for end in (3, 4, 15, 16, len(want) - 9, len(want) - 5, len(want)):
            got += batches(*self.WORDS, "--resume", state, "--steps", f":{end}", "--save-state",
                           state, "--threads", 1 + end % 3).splitlines()
            self.assertEqual(got, want[:end])
        self.assertEqual(batches(*self.WORDS, "--resume", state), "")

    def test_in_the_middle_of_a_window(self):
        words, state = (*self.WORDS, "--order", "windowed:1M"), self.path("state.json")
        want = batches(*words).splitlines()
        for step in (1, 5, 17, len(want) // 2 + 1):
            batches(*words, "--steps", f"0:{step}", "--save-state", state)
            self.assertEqual(batches(*words, "--resume", state).splitlines(), want[step:])
        self.refused(r"order.*windowed:1M", *self.WORDS, "--resume", state, status=1)

    def test_without_steps(self):
        want = batches(*self.WORDS).splitlines()
        state = self.path("state.json")
        batches(*SMALL, "--steps", "0:7", "--save-state", state)
        self.assertEqual(batches(*SMALL, "--resume", state, "--hash=rows").splitlines(),
                         want[7:17])
        self.assertEqual(batches(*self.WORDS, "--resume", state).splitlines(), want[7:])

    def test_other_hosts(self):
        want = batches(*self.WORDS).splitlines()
        state = self.path("state.json")
        batches(*self.WORDS, "--steps", "0:2", "--hosts", 3, "--save-state", state)
        lines = []
        for host in range(2):
            lines += batches(*self.WORDS, "--resume", state, "--hosts", 2, "--host",
                             host).splitlines()
        self.assertEqual(sorted(lines, key=place), want[6:])
        self.refused("4 hosts cannot resume at batch 6", *self.WORDS, "--resume", state, "--hosts",
                     4)

    def test_refusals_name_what_differs(self):
        state = self.path("state.json")
        batches(*SMALL, "--steps", "0:2", "--save-state", state)
        for more, words in ((("--seed", 3), "seed"), (("--pack", "bucket"), "pack"),
                            (("--order", "windowed"), "order"), (("--scale", "none"), "scale"),
                            (("--max-nodes", 999), "max-nodes"), (("--split", "val"), "split")):
            options = [*SMALL, *more] if more[0] != "--max-nodes" else ["--max-edges", 3000, *more]
            done = run("batches", CACHE, *options, "--resume", state)
            self.assertIn(done.returncode, (1, 2), more)
            self.assertIn(words, done.stderr)
        for steps, words in (("5:9", "starts at 5, but the state of --resume is at 2"),
                             (":2", "ends at 2, but the state of --resume is already at step 2")):
            self.refused(words, *SMALL, "--resume", state, "--steps", steps)

    def test_stopped(self):
        state = self.path("state.json")
        with subprocess.Popen([LEAT, "batches", CACHE, "--steps", "0:99999999", "--hash=rows",
                               "--save-state", state], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            wait_for_output(process)  # the first batches are made
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 1)
        found = re.fullmatch(r"leat: stopped before step (\d+) of 0:99999999; use --resume to "
                             rf"continue from the state in {re.escape(state)}\n", err)
        self.assertTrue(found, err)
        step = int(found[1])
        self.assertGreater(step, 0)
        self.assertEqual(batches("--resume", state, "--steps", f":{step + 1}", "--hash=rows"),
                         batches("--steps", f"{step}:{step + 1}", "--hash=rows"))


class Contents(Case):
    def test_every_graph_once(self):
        document = told("--steps", "0:1", *SMALL)
        count = document["epoch"]["batches"]
        seen = collections.Counter()
        for batch in explained(count, *SMALL):
            self.assertEqual(batch["batch_count"], count)
            self.assertEqual(sum(graph["nodes"] for graph in batch["graphs"]), batch["nodes"])
            self.assertLessEqual(batch["nodes"], 1000)
            self.assertLessEqual(batch["edges"], 3000)
            seen.update(graph["graph"] for graph in batch["graphs"])
        self.assertEqual(seen, collections.Counter(range(document["split_graphs"])))

    def test_words_agree(self):
        batch = told("--explain", 2, *SMALL)
        text = batches("--explain", 2, *SMALL)
        lines = text.splitlines()
        attacks = sum(graph["y"] for graph in batch["graphs"])
        self.assertEqual(lines[0], f"epoch 0 batch 2 of {batch['batch_count']}: "
                         f"{len(batch['graphs'])} graphs, {batch['nodes']} nodes, {batch['edges']} "
                         f"edges, {attacks} with an attack")
        self.assertEqual(len(lines), 1 + len(batch["graphs"]))
        for line, graph in zip(lines[1:], batch["graphs"]):
            self.assertRegex(line, rf"\Agraph {graph['graph']}: {graph['nodes']} nodes, "
                             rf"{graph['edges']} edges, {graph['folder']}/{graph['file']} frames "
                             rf"{graph['window_start']} to {graph['window_start'] + 99}(, attack "
                             rf"{ATTACKS[graph['attack_type']]}, {graph['attack_count']} "
                             rf"frame{'s' * (graph['attack_count'] != 1)} from "
                             rf"{graph['window_start'] + graph['attack_first']} on)?\Z")
            self.assertEqual(", attack " in line, graph["y"] == 1)
        one = told("--explain", 0, *SMALL, "--hosts", 3, "--host", 2)
        self.assertEqual(one, batch)

    def test_summary(self):
        document = told(*SMALL, "--steps", "0:4")
        counters = document["counters"]
        text = batches(*SMALL, "--steps", "0:4")
        for pattern in (rf"\Asplit      train: {document['split_graphs']:,} graphs of ",
                        r"(?m)^steps      0:4, the first epoch 0 batch 0, the last epoch 0 "
                        r"batch 3$",
                        rf"(?m)^epoch      0 has {document['epoch']['batches']} batches of "
                        rf"{document['epoch']['graphs']:,} graphs$",
                        rf"(?m)^filled     {counters['nodes'] / 40:.3g} % of 1,000 nodes, "
                        rf"{counters['edges'] / 120:.3g} % of 3,000 edges$"):
            self.assertRegex(text, pattern)

    def test_min_steps(self):
        words = ("--steps", "0:1", "--max-nodes", 0, "--max-edges", 10 ** 6)
        self.assertEqual(told(*words)["epoch"]["batches"], 1)
        many = told(*words, "--min-steps", 9)
        self.assertGreaterEqual(many["epoch"]["batches"], 9)

    def test_oversize(self):
        words = ("--max-nodes", 40, "--steps", "0:2")
        document = told(*words)
        large = document["oversize"]
        self.assertGreater(len(large), 3)
        self.assertEqual(document["epoch"]["graphs"], document["split_graphs"] - len(large))
        text = batches(*words)
        self.assertRegex(text, rf"oversize   {len(large)} graphs over a budget, left out: "
                         rf"{large[0]} {large[1]} ")
        alone = told(*words, "--oversize", "alone")
        self.assertEqual(alone["oversize"], large)
        self.assertEqual(alone["epoch"]["graphs"], document["split_graphs"])
        self.refused("graph .*40", *words, "--oversize", "fail", status=1)


class Filters(Case):
    def test_one_label(self):
        everything = told("--steps", "0:1")
        self.assertEqual((everything["options"]["graphs"], everything["left_out"]), ("all", 0))
        self.assertEqual(batches(*SMALL, "--epochs", 1, "--hash"),
                         batches(*SMALL, "--epochs", 1, "--hash", "--graphs", "all"))
        self.assertNotIn("left out", batches("--steps", "0:1"))
        graphs, count = set(), everything["split_graphs"]
        for y, word in enumerate(("benign", "attack")):
            words = ("--graphs", word, *SMALL)
            document = told(*words, "--steps", "0:1")
            held = [graph for batch in explained(document["epoch"]["batches"], *words)
                    for graph in batch["graphs"]]
            self.assertEqual({graph["y"] for graph in held}, {y})
            self.assertEqual(document["epoch"]["graphs"], len(held))
            self.assertEqual(document["left_out"], count - len(held))
            self.assertEqual(document["split_graphs"], count)
            line = f"left out   {count - len(held)} graphs by --graphs {word}, {len(held)} remain"
            self.assertIn(f"\n{line}\n", batches(*words, "--steps", "0:1"))
            path = self.path("page.html")
            report = told(*words, "--report", path)
            self.assertEqual((report["graphs"], report["attacks"], report["left_out"]),
                             (len(held), y * len(held), count - len(held)))
            self.assertIn(f"\n{line}\n", "\n" + batches(*words, "--report", path))
            with open(path, encoding="utf-8") as file:
                text = file.read()
            pages.check_stands_alone(self, text)
            self.assertIn("graphs left out by --graphs", text)
            self.assertIn(f"--graphs {word}", text)
            graphs.update(graph["graph"] for graph in held)
        self.assertEqual(len(graphs), count)

    def test_curriculum(self):
        words = (*SMALL, "--curriculum", "random", "--epochs", 5, "--tiers", 4,
                 "--curriculum-end", 4)
        benign = told(*words, "--graphs", "benign", "--report", self.path("page.html"))
        everything = told(*words, "--report", self.path("page.html"))
        attacks = benign["left_out"]
        self.assertGreater(attacks, 0)
        self.assertEqual([(epoch["tiers"], epoch["graphs"] + attacks)
                          for epoch in benign["epochs"]],
                         [(epoch["tiers"], epoch["graphs"]) for epoch in everything["epochs"]])
        self.refused("graphs attack leaves out the benign graphs, which a curriculum ranks",
                     *words, "--graphs", "attack")

    def test_nothing_left(self):
        for words in ((), ("--report", self.path("page.html"))):
            self.refused("split test_05_suppress: graphs attack: no graph has an attack "
                         r"\(y = 1: 0 of [0-9]+; unlabelled: 0\); use another split, or graphs all",
                         "--split", "test_05_suppress", "--graphs", "attack", *words)

    def test_states(self):
        """A state names the filter; one of all graphs is what it was before there was a filter."""
        state = self.path("state.json")
        words = (*SMALL, "--steps", ":2", "--save-state", state)
        for saved, now in (("all", "benign"), ("benign", "all"), ("attack", "benign")):
            batches(*words, "--graphs", saved)
            with open(state, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["in_words"]["graphs"], saved)
            done = run("batches", CACHE, *SMALL, "--graphs", now, "--resume", state)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"graphs was {saved} when the state was saved and is {now} now",
                          done.stderr)
            batches(*SMALL, "--graphs", saved, "--resume", state)
        batches(*words)
        with open(state, encoding="utf-8") as file:
            old = json.load(file)
        del old["in_words"]["graphs"]
        text = json.dumps(old["in_words"], separators=(",", ":"))
        self.assertEqual(old["options"], hashlib.sha256(text.encode()).hexdigest()[:16])
        with open(state, "w", encoding="utf-8") as file:
            json.dump(old, file)
        batches(*SMALL, "--resume", state)
        self.assertIn("graphs was not there when the state was saved and is benign now",
                      run("batches", CACHE, *SMALL, "--graphs", "benign", "--resume", state).stderr)


class AllSplits(Case):
    def splits(self, *words, cache=None):
        found = told("--split", "all", *words, cache=cache)
        self.assertEqual(list(found), ["splits"])
        return [self.steady(split) for split in found["splits"]]

    @staticmethod
    def steady(document):
        """Without what depends on how far threads have read ahead."""
        document.get("counters", {}).pop("payload_bytes", None)
        return document

    def test_each_as_by_itself(self):
        names = [split["options"]["split"] for split in self.splits("--steps", "0:1")]
        self.assertEqual(names[:3], ["train", "val", "test_01_dos"])
        self.assertEqual(set(names), {os.path.splitext(os.path.basename(path))[0] for path in
                                      glob.glob(os.path.join(CACHE, "*.safetensors"))})
        page = self.path("page.html")
        for words in ((*SMALL, "--steps", "0:3"), ("--epochs", 1, "--hash"),
                      ("--report", page, *SMALL),
                      ("--device-memory", "100M", "--model", "gat", "--steps", "0:2")):
            with self.subTest(words=words):
                self.assertEqual(self.splits(*words),
                                 [self.steady(told("--split", name, *words)) for name in names])
        one = [batches("--split", name, "--steps", "0:2", *SMALL) for name in names]
        read = re.compile("(?m)^read .* of the split")
        self.assertEqual(read.sub("", batches("--split", "all", "--steps", "0:2", *SMALL)),
                         read.sub("", "\n".join(one)))
        self.assertEqual(batches("--split", "all", "--epochs", 1, "--hash"),
                         "".join(batches("--split", name, "--epochs", 1, "--hash").strip() +
                                 f"  {name}\n" for name in names))
        text = batches("--split", "all", "--report", page, *SMALL)
        for name in names:
            alone = batches("--split", name, "--report", page, *SMALL)
            self.assertRegex(text, rf"split      {name}: .*\n" +
                             re.escape(alone.split("page  ")[0]))
        self.assertEqual(text.count("page  "), 1)

    def test_page(self):
        page, names = self.path("page.html"), []
        for words in (SMALL, ("--graphs", "attack"), ("--max-nodes", 40),
                      ("--curriculum", "random", "--epochs", 9)):
            document = self.splits("--report", page, *words)
            names = [split["options"]["split"] for split in document]
            with open(page, encoding="utf-8") as file:
                text = file.read()
            shown = pages.check_stands_alone(self, text)
            pages.check_labels(self, text)
            self.assertEqual((shown.tags["h1"], shown.tags["header"]), (1, 1))
            headings = re.findall(r"<h2>([^<]*)</h2>", text)
            self.assertEqual([line for line in headings if ":" not in line], names)
            for split in document:
                if "no_batches" not in split:
                    self.assertIn(f"{split['options']['split']}: Batches", headings)
                    self.assertIn(f"of {split['graphs']:,} graphs, epoch 0", text)

    def test_splits_without_batches(self):
        found = {split["options"]["split"]: split for split in self.splits("--graphs", "attack")}
        none = found["test_05_suppress"]
        self.assertEqual(none["no_batches"], "--graphs attack leaves out all of its graphs")
        self.assertEqual(none["left_out"], none["split_graphs"])
        self.assertGreater(found["test_01_dos"]["epoch"]["graphs"], 0)
        parent = self.path("no-val")
        done = run("ingest", "can", os.path.join(DATA, "logs"), "-o", parent, "--val-fraction", 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        val = self.splits("--steps", "0:1", cache=parent)[1]
        self.assertEqual((val["split_graphs"], val["no_batches"]), (0, "the split has no graphs"))
        self.assertIn("\nbatches    none: the split has no graphs\n",
                      batches("--split", "all", "--steps", "0:1", cache=parent))
        self.assertNotIn("  val\n", batches("--split", "all", "--steps", "0:1", "--hash",
                                            cache=parent))

    def test_refused(self):
        page = self.path("page.html")
        for words, pattern in (
                (("--explain", 0), "--explain is for a single split"),
                (("--resume", "s"), "--resume is for a single split"),
                (("--save-state", self.path("s")), "--save-state is for a single split"),
                (("--hash=rows",), "--hash=rows does not name the split"),
                (("--curriculum", "scores.json", "--epochs", 2), "the scores of a single split"),
                (("--batch", 9), "--batch is for --pack fixed"),
                (("--report", page, "--hash"), "cannot be combined"),
                (("--report", page, "--epochs", 1, "--steps", "99:100"), "no step of the run")):
            self.refused(pattern, "--split", "all", *words)
        self.assertFalse(os.path.exists(page))

    def test_damage(self):
        damaged = self.path("damaged")
        shutil.copytree(CACHE, damaged)
        with open(os.path.join(damaged, "val.safetensors"), "r+b") as file:
            file.truncate(5000)
        for words in (("--json",), ("--report", self.path("page.html"), "--json")):
            self.refused("val.safetensors", "--split", "all", "--epochs", 1, *words, status=1,
                         cache=damaged)
        self.assertFalse(os.path.exists(self.path("page.html")))


class Budgets(Case):
    def test_arithmetic(self):
        for model in ("vgae", "vgae-large", "gat", "gat-large"):
            document = told("--device-memory", "400M", "--model", model, "--steps", "0:1")
            budget = document["budget"]
            self.assertEqual((budget["model"], budget["device_bytes"]), (model, 400 << 20))
            nodes, edges = budget["max_nodes"], budget["max_edges"]
            self.assertEqual(document["options"]["max-nodes"], str(nodes))
            self.assertEqual(document["options"]["max-edges"], str(edges))
            used = (budget["fixed_bytes"] + nodes * budget["node_bytes"] +
                    edges * budget["edge_bytes"])
            self.assertLessEqual(used, 400 << 20)
            self.assertGreater(used, 300 << 20)
            text = batches("--device-memory", "400M", "--model", model, "--steps", "0:1")
            self.assertIn(f"budget     400 MiB hold {nodes:,} nodes and {edges:,} edges per batch",
                          text)
            self.assertIn(f"bytes = {budget['fixed_bytes']:,} + {budget['node_bytes']:,} x nodes + "
                          f"{budget['edge_bytes']:,} x edges + {budget['graph_bytes']:,} x graphs",
                          text)

    def test_the_least_that_would_do(self):
        words = self.refused("device memory of 1048576 bytes", "--device-memory", "1M", "--model",
                             "gat", status=1)
        least = re.search(r"require (\d+) with it", words)[1]
        size = re.search(r"; use --device-memory (\d+[KM]) or more", words)[1]
        told("--device-memory", size, "--model", "gat", "--steps", "0:1")
        self.refused("device memory", "--device-memory", f"{int(size[:-1]) - 1}{size[-1]}",
                     "--model", "gat", status=1)
        self.assertEqual(told("--device-memory", least, "--model", "gat", "--steps",
                              "0:1")["oversize"], [])
        self.refused("device memory", "--device-memory", int(least) - 1, "--model", "gat",
                     status=1)


class Curricula(Case):
    def test_random(self):
        words = (*SMALL, "--curriculum", "random", "--epochs", 5, "--tiers", 4,
                 "--curriculum-end", 4)
        document = told(*words, "--steps", "0:1")
        self.assertEqual(document["epoch"]["tiers"], 1)
        self.assertIn("1 of 4 tiers", batches(*words, "--explain", 0))
        report = told(*words, "--report", self.path("page.html"))
        self.assertEqual([epoch["epoch"] for epoch in report["epochs"]], [0, 1, 2, 3, 4])
        self.assertEqual([epoch["tiers"] for epoch in report["epochs"]], [1, 2, 3, 4, 4])
        self.assertEqual(report["epochs"][4]["graphs"], document["split_graphs"])

    def test_scores(self):
        everything = explained(told("--steps", "0:1", *SMALL)["epoch"]["batches"], *SMALL)
        graphs = [graph for batch in everything for graph in batch["graphs"]]
        with open(os.path.join(CACHE, "cache_metadata.json"), encoding="utf-8") as file:
            digest = json.load(file)["digest"]
        scores = self.path("scores.json")
        document = {"fingerprint": digest, "model": "vgae",
                    "capture": [graph["capture"] for graph in graphs],
                    "window_start": [graph["window_start"] for graph in graphs],
                    "score": [graph["nodes"] + graph["graph"] / 1e6 for graph in graphs]}
        with open(scores, "w", encoding="utf-8") as file:
            json.dump(document, file)
        words = (*SMALL, "--curriculum", scores, "--epochs", 9)
        first = told(*words, "--steps", "0:1")["epoch"]
        self.assertEqual(first["tiers"], 1)
        benign = sorted((graph["nodes"], graph["graph"]) for graph in graphs if not graph["y"])
        easy = {number for _, number in benign[:-(-len(benign) // 10)]}
        attacks = {graph["graph"] for graph in graphs if graph["y"]}
        held = {graph["graph"] for batch in explained(first["batches"], *words)
                for graph in batch["graphs"]}
        self.assertEqual(held, easy | attacks)
        document["fingerprint"] = "0" * 64
        with open(scores, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = run("batches", CACHE, *words)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("scores.json", done.stderr)
        done = run("batches", CACHE, "--curriculum", "/nowhere/scores.json", "--epochs", 2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/scores.json", done.stderr)


class Reports(Case):
    def report(self, *words, cache=None):
        path = self.path("page.html")
        document = told("--report", path, *words, cache=cache)
        with open(path, encoding="utf-8") as file:
            return document, file.read(), path

    def test_counted_again(self):
        document, text, _ = self.report(*SMALL)
        everything = explained(document["batches"], *SMALL)
        self.assertEqual(everything[0]["batch_count"], document["batches"])
        shares = [sum(graph["y"] for graph in batch["graphs"]) / len(batch["graphs"])
                  for batch in everything]
        graphs = [graph for batch in everything for graph in batch["graphs"]]
        self.assertEqual(document["graphs"], len(graphs))
        for name in ("nodes", "edges"):
            sizes = [batch[name] for batch in everything]
            self.assertEqual(document[name], sum(sizes))
            told_sizes = document[f"batch_{name}"]
            self.assertEqual((told_sizes["min"], told_sizes["max"]), (min(sizes), max(sizes)))
        self.assertAlmostEqual(document["node_fill"],
                               document["nodes"] / document["batches"] / 1000)
        self.assertAlmostEqual(document["edge_fill"],
                               document["edges"] / document["batches"] / 3000)
        self.assertEqual(document["attacks"], sum(graph["y"] for graph in graphs))
        self.assertAlmostEqual(document["attacks_least"], min(shares))
        self.assertAlmostEqual(document["attacks_most"], max(shares))
        self.assertEqual(document["graph_nodes"]["max"], max(graph["nodes"] for graph in graphs))
        self.assertEqual((document["first"], document["last"]),
                         ([0, 0], [0, document["batches"] - 1]))
        self.assertEqual(document["in_order"], [
            {"batches": 1, "graphs": len(batch["graphs"]), "nodes": batch["nodes"],
             "edges": batch["edges"], "attacks": sum(graph["y"] for graph in batch["graphs"]),
             "unlabelled": 0, "attacks_least": share, "attacks_most": share}
            for batch, share in zip(everything, shares)])
        shown = " ".join(pages.check_stands_alone(self, text).texts)
        for part in (f"{100 * document['node_fill']:.1f} %", f"{len(graphs):,} graphs", "benign",
                     "dos", "fuzzing", "--max-nodes 1000"):
            self.assertIn(part, shown)

    def test_ranges_of_shares(self):
        """A column of several batches: no label promises more than what is drawn."""
        singly = []  # a column is one batch
        for first in range(0, 400, 100):
            part, _, _ = self.report(*SMALL, "--steps", f"{first}:{first + 100}")
            singly += [one["attacks"] / one["graphs"] for one in part["in_order"]]
        self.assertEqual(len(singly), 400)
        document, text, _ = self.report(*SMALL, "--steps", "0:400")
        columns, at = document["in_order"], 0
        for column in columns:
            shares = singly[at:at + column["batches"]]
            self.assertGreater(len(shares), 1)
            self.assertAlmostEqual(column["attacks_least"], min(shares))
            self.assertAlmostEqual(column["attacks_most"], max(shares))
            at += len(shares)
        figure = pages.figures(text)["Graphs with an attack, by batch"]
        bars = re.findall(r'<rect class="bar range" x="[\d.]+" y="([\d.]+)" width="[\d.]+" '
                          r'height="([\d.]+)"', figure)
        self.assertEqual(len(bars), len(columns))
        self.assertRegex(figure, "(?s)batches 0 to .* to 399: ")
        top = min(float(y) for y, _ in bars)
        high = max(columns, key=lambda one: one["attacks_most"])["attacks_most"]
        low = min(columns, key=lambda one: one["attacks_least"])["attacks_least"]
        for name, share in (("least", low), ("most", high)):
            self.assertAlmostEqual(document[f"attacks_{name}"], share)
            self.assertIn(f"{100 * share:.1f} %", figure)
        self.assertLess(top, 216)

    def test_extent(self):
        epoch = told(*SMALL, "--steps", "0:1")["epoch"]["batches"]
        document, _, _ = self.report(*SMALL, "--steps", f"{epoch - 2}:{epoch + 3}")
        self.assertEqual((document["first"], document["last"], document["batches"]),
                         ([0, epoch - 2], [1, 2], 5))
        document, _, _ = self.report(*SMALL, "--steps", "3:")
        self.assertEqual((document["first"], document["last"]), ([0, 3], [0, epoch - 1]))
        run = (*SMALL, "--curriculum", "random", "--epochs", 5)
        steps = told(*run, "--hash")["steps"][1]
        for text, count in (("0:", steps), (f"{epoch + 2}:", steps - epoch - 2), (":7", 7)):
            document, _, _ = self.report(*run, "--steps", text)
            self.assertEqual(document["batches"], count, text)
        self.refused("contains no step", "--report", self.path("none.html"), *run, "--steps",
                     f"{steps}:")
        document, _, _ = self.report(*SMALL, "--steps", "1:2", "--hosts", 4)
        self.assertEqual((document["first"], document["last"]), ([0, 4], [0, 7]))
        many, _, _ = self.report(*SMALL, "--steps", f"0:{20 * epoch}")
        self.assertEqual(many["batches"], 20 * epoch)
        columns = many["in_order"]
        self.assertIn(len(columns), range(64, 129))
        self.assertEqual({column["batches"] for column in columns[:-1]},
                         {1 << (-(-20 * epoch // 128) - 1).bit_length()})
        for name in ("batches", "graphs", "nodes", "edges", "attacks"):
            self.assertEqual(sum(column[name] for column in columns), many[name])
        page = self.path("none.html")
        for words in (("--hash",), ("--time",), ("--explain", 0), ("--steps", "7"),
                      ("--steps", "5:5"), ("--save-state", "s")):
            self.refused(words[0], "--report", page, *words)
        self.refused("contains no step", "--report", page, "--epochs", 1, "--steps", "999:1000")
        self.assertFalse(os.path.exists(page))
        self.refused("folder.html", "--report", os.path.join(DATA, "no", "folder.html"), status=1)

    def test_all_ways(self):
        hostile = self.path("a<b>&\"'")
        shutil.copytree(CACHE, hostile)
        for words in (SMALL, ("--pack", "fixed"), ("--max-nodes", 40), ("--split", "val"),
                      ("--max-nodes", 0), ("--split", "test_05_suppress"),
                      ("--max-nodes", 40, "--oversize", "alone"), (*SMALL, "--steps", "0:2000"),
                      ("--device-memory", "100M", "--model", "vgae"),
                      ("--curriculum", "random", "--epochs", 300, *SMALL)):
            with self.subTest(words=words):
                _, text, _ = self.report(*words, cache=hostile)
                page = pages.check_stands_alone(self, text)
                pages.check_labels(self, text)
                self.assertNotIn("a<b>", text)
                self.assertIn(hostile, "".join(page.texts))

    def test_words(self):
        path = self.path("page.html")
        text = batches("--report", path, *SMALL)
        document, _, _ = self.report(*SMALL)
        self.assertIn(f"{document['batches']} batches", text)
        self.assertIn(f"{100 * document['node_fill']:.1f} % of 1,000 per batch", text)

    def test_chromium_draws_it(self):
        _, _, path = self.report(*SMALL, "--curriculum", "random", "--epochs", 30)
        pages.check_in_browser(self, path, DATA)


class Usage(Case):
    def test_refused(self):
        for words, pattern in (
                (("--length", 128), "--length is for probe rows; .* holds a CAN cache"),
                (("--words",), "--words is for probe rows"),
                (("--by", "client"), "--by is for probe rows"),
                (("--rows", "1"), "--rows is for probe rows"),
                (("--explain", 3, 4), "for a CAN cache, give only the step"),
                (("--split", "tset"), 'no split "tset"; it has train, val, test_01_dos'),
                (("--device-memory", "1G"), "--device-memory and --model require each other"),
                (("--model", "gat"), "--device-memory and --model require each other"),
                (("--device-memory", "1G", "--model", "gat", "--max-edges", 7), "--max-edges"),
                (("--device-memory", "1G", "--model", "gat", "--pack", "fixed"), "no budget"),
                (("--batch", 64), "--batch is for --pack fixed; with --pack ffd"),
                (("--pack", "bucket", "--batch", 64), "with --pack bucket"),
                (("--pack", "fixed", "--max-nodes", 100), "--max-nodes: --pack fixed has no"),
                (("--pack", "fixed", "--max-edges", 100), "--max-edges: --pack fixed"),
                (("--pack", "fixed", "--oversize", "fail"), "--oversize: --pack fixed"),
                (("--curriculum", "random"), r"--curriculum requires --epochs N \(now 0: never"),
                (("--tiers", 3), "--tiers requires a curriculum; give --curriculum"),
                (("--epochs", 2, "--curriculum-start", 3), "--curriculum-start requires"),
                (("--curriculum", "none", "--curriculum-end", 3), "--curriculum-end requires"),
                (("--model", "gta"), "it takes vgae, vgae-large"),
                (("--max-nodes", -1), "from 0 to 2147483647"),
                (("--max-nodes", 2 ** 40), "max-nodes"),
                (("--min-steps", 0), "from 1 to 1073741824"),
                (("--hosts", 2, "--host", 2), "host"),
                (("--steps", "3:1"), "ends before it starts"),
                (("--steps", "3:"), "has no end"),
                (("--steps", "three"), "FIRST:END"),
                (("--curriculum-start", "x"), "a number")):
            with self.subTest(words=words):
                self.refused(pattern, *words)
        done = run("batches", CACHE, FRAMES)
        self.assertEqual(done.returncode, 2)
        self.assertIn("must be the only argument", done.stderr)
        self.refused("memory", "--memory", "1K")

    def test_of_probe_rows(self):
        for words in (("--pack", "ffd"), ("--stage", "x"), ("--scale", "none")):
            done = run("batches", DATA, *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{words[0]} is for CAN caches", done.stderr)
        done = run("batches", DATA, "--explain", 3)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--explain: for probe rows, give the row too", done.stderr)

    def test_files_that_cannot_be_written_are_told_before_the_work(self):
        self.refused("state.json", "--save-state", os.path.join(DATA, "no", "state.json"),
                     "--steps", "0:1", status=1)
        copies = self.path("copies")
        for option in ("--save-state", "--report"):
            self.refused("cannot create", option, os.path.join(DATA, "no", "file"), "--stage",
                         copies, "--steps", "0:1", status=1)
            self.assertFalse(os.path.exists(copies), option)

    def test_steps_behind_the_last(self):
        steps = told(*SMALL, "--epochs", 2, "--hash")["steps"][1]
        told(*SMALL, "--epochs", 2, "--explain", steps - 1)
        self.refused(f"step {steps} is after the last step, {steps - 1}, of --epochs 2", *SMALL,
                     "--epochs", 2, "--explain", steps)
        self.refused(f"after the last step, {steps - 1},", *SMALL, "--epochs", 2,
                     "--explain", 10 ** 9)


class Damage(Case):
    def test_named(self):
        damaged = self.path("damaged")
        shutil.copytree(CACHE, damaged)
        path = os.path.join(damaged, "train.safetensors")
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 8]))
        state = self.path("state.json")
        done = run("batches", damaged, "--epochs", 1, "--hash", "--save-state", state)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("train.safetensors", done.stderr)
        self.assertEqual(batches("--split", "val", "--epochs", 1, "--hash", cache=damaged),
                         batches("--split", "val", "--epochs", 1, "--hash"))
        with open(state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["epoch"], 0)
        fast = self.path("fast")
        done = run("batches", damaged, "--stage", fast)
        self.assertEqual(done.returncode, 1)
        self.assertIn("train.safetensors", done.stderr)
        self.assertFalse(os.path.exists(fast))


class Staging(Case):
    def test_same_batches(self):
        fast = self.path("fast")
        want = batches(*SMALL, "--hash")
        self.assertEqual(batches(*SMALL, "--hash", "--stage", fast), want)
        copy = os.path.join(fast, os.path.basename(CACHE))
        self.assertEqual(os.listdir(fast), [os.path.basename(CACHE)])
        self.assertEqual(batches(*SMALL, "--hash", cache=copy), want)
        age = os.stat(os.path.join(copy, "train.safetensors")).st_mtime_ns
        text = batches(*SMALL, "--stage", fast)
        self.assertRegex(text, rf"\Astaged     {re.escape(copy)}, .*, already there\n")
        document = told(*SMALL, "--stage", fast)
        self.assertEqual((document["path"], document["staged_before"]), (copy, True))
        self.assertEqual(os.stat(os.path.join(copy, "train.safetensors")).st_mtime_ns, age)

    def test_several_at_once(self):
        fast = self.path("fast")
        want = batches(*SMALL, "--hash")
        crowd = [subprocess.Popen([LEAT, "batches", CACHE, *map(str, SMALL), "--hash", "--stage",
                                   fast], text=True, stdout=subprocess.PIPE) for _ in range(6)]
        self.assertEqual({process.communicate(timeout=120)[0] for process in crowd}, {want})
        self.assertEqual(os.listdir(fast), [os.path.basename(CACHE)])

    def test_killed(self):
        fast = self.path("fast")
        for call in (1, 4, 16, 64):  # into the file system, once there is something
            with Held(["batches", CACHE, "--stage", fast], os.path.join(fast, "*"),
                      call) as process:
                process.kill()
        batches("--stage", fast, "--steps", "0:1")
        self.assertEqual(os.listdir(fast), [os.path.basename(CACHE)])


if __name__ == "__main__":
    unittest.main()
