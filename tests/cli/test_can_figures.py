"""The figures and tables of `leat inspect` that show windows, captures and identifiers of a CAN
cache: their numbers, counted again from `leat cat` and from the logs.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import csv
import html
import io
import json
import math
import os
import re
import shlex
import shutil
import tempfile
import unittest

import pages
from command import leat


DATA = None  # a folder with `logs` and the caches
LABELS = {0: "benign", 1: "attack", -1: "unlabelled"}
TITLES = {"benign": "A benign window as a graph",
          "attack": "A window with an attack as a graph",
          "unlabelled": "An unlabelled window as a graph"}
MSG_COUNT = 24


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-can-figures-")
    leat("synth", "can", "--frames", "30000", "--vehicles", "2", "-o", at("logs"), status=0)


def tearDownModule():
    shutil.rmtree(DATA)


def at(*names):
    return os.path.join(DATA, *names)


class Cache:
    """A cache, all of its graphs as `leat cat` prints them, its page and its document."""
    def __init__(self, name, *words, logs="logs"):
        self.folder, page = at(f"it's {name}"), at(name + ".html")
        made = json.loads(leat("ingest", "can", at(logs), "-o", self.folder, "--json", *words,
                               status=0).stdout)
        self.path = made["cache"]
        self.document = json.loads(leat("inspect", self.path, "--json", "--html", page,
                                        status=0).stdout)
        with open(page, encoding="utf-8") as file:
            self.text = file.read()
        self.figures, self.files = pages.figures(self.text), pages.files(self.text)
        self.graphs = {}
        for split, facts in self.document["splits"].items():
            if facts["graphs"] > 0:
                lines = leat("cat", self.path, "--split", split, "--graph", ":", status=0).stdout
                self.graphs[split] = [json.loads(line) for line in lines.splitlines()]

    def every(self):
        """(split, graph) in order."""
        return [(split, graph) for split, graphs in self.graphs.items() for graph in graphs]

    def table(self, name):
        return list(csv.DictReader(io.StringIO(self.files[name].decode())))


CACHES = {}


def cache(name, *words, **more):
    if name not in CACHES:
        CACHES[name] = Cache(name, *words, **more)
    return CACHES[name]


def frames_of(graph):
    return [int(row[MSG_COUNT]) for row in graph["x"]]


def names_of(graph):
    return [name or "?" for name in graph["identifiers"]]


def numbers(words):
    return int(words.replace(",", ""))


def write_log(name, rows):
    """A log of (time, identifier, attack); attack None: the log has no such column."""
    os.makedirs(os.path.dirname(at(name)), exist_ok=True)
    labelled = rows[0][2] is not None
    with open(at(name), "w", encoding="ascii") as out:
        out.write("timestamp,arbitration_id,data_field" + (",attack" if labelled else "") + "\n")
        for time, identifier, attack in rows:
            out.write(f"{time:.6f},{identifier:03X},00" + (f",{attack}" if labelled else "") + "\n")


CIRCLE = re.compile(r'<circle class="(bar|ring)( bad| zero)?" cx="([\d.]+)" cy="([\d.]+)" '
                    r'r="([\d.]+)"><title>([^<]*): ([\d,]+) frames?</title>')
EDGE = re.compile(r'<g class="edge"><title>([^<]*) to ([^<]*): ([\d,]+) steps?</title>'
                  r'<path d="M[^"]*" stroke-width="([\d.]+)"/>')
NAME = re.compile(r'<text transform="translate\(([\d.]+) ([\d.]+)\)rotate\((-?[\d.]+)\)" y="3.8" '
                  r'class="name(?: end)?">([^<]*)</text>')


class Windows(unittest.TestCase):
    def expect_median(self, of):
        """The first of the windows with the median number of nodes, of each label."""
        found = of.document["median_windows"]
        for y, label in LABELS.items():
            here = [(split, graph) for split, graph in of.every() if graph["y"] == y]
            self.assertEqual(label in found, bool(here))
            if not here:
                continue
            median = sorted(len(graph["x"]) for _, graph in here)[(len(here) - 1) // 2]
            split, graph = next(one for one in here if len(one[1]["x"]) == median)
            self.assertEqual(found[label],
                             {"split": split, "graph": graph["graph"], "nodes": median})
            self.assertIn(["leat", "cat", of.path, "--split", split, "--graph",
                           str(graph["graph"]), "--format", "words"],
                          [shlex.split(html.unescape(line)) for line in
                           re.findall(r">(leat cat .*?)</code>", of.text)])
        return found

    def expect_drawn(self, of, label):
        """Nodes, edges and the table are those of the graph that `leat cat` prints."""
        place = of.document["median_windows"][label]
        graph = of.graphs[place["split"]][place["graph"]]
        figure = html.unescape(of.figures[TITLES[label]])
        names, frames = names_of(graph), frames_of(graph)
        circles, edges = CIRCLE.findall(figure), EDGE.findall(figure)
        self.assertEqual([(kind, name, numbers(count)) for kind, *_, name, count in circles],
                         [("ring" if name == "?" else "bar", name, count)
                          for name, count in zip(names, frames)])
        colours = {"benign": {""}, "attack": {"", " bad"}, "unlabelled": {" zero"}}[label]
        self.assertLessEqual({colour for _, colour, *_ in circles}, colours)
        pairs = collections.Counter(zip(*graph["edge_index"]))
        self.assertEqual(sorted((source, target, numbers(count))
                                for source, target, count, _ in edges),
                         sorted((names[source], names[target], count)
                                for (source, target), count in pairs.items()))
        self.expect_scales(circles, edges)
        told = [(int(row["source_node"]), int(row["target_node"]), int(row["steps"]))
                for row in of.table(re.sub("[^a-z]+", "-", TITLES[label].lower()) + ".csv")]
        self.assertEqual(told, sorted((*ends, count) for ends, count in pairs.items()))
        for row in of.table(re.sub("[^a-z]+", "-", TITLES[label].lower()) + ".csv"):
            for end in ("source", "target"):
                node = int(row[end + "_node"])
                self.assertEqual((row[end], int(row[end + "_frames"])),
                                 (names[node], frames[node]))
        return figure

    def expect_scales(self, circles, edges):
        most = max(numbers(count) for *_, count in circles)
        largest = max(float(radius) for _, _, _, _, radius, _, _ in circles)
        for _, _, x, y, radius, _, count in circles:
            self.assertAlmostEqual(float(radius),
                                   max(2, largest * math.sqrt(numbers(count) / most)), delta=0.11)
            self.assertTrue(0 < float(x) < 400 and 0 < float(y) < 400)
        for _, _, count, width in edges:
            self.assertAlmostEqual(float(width), min(7, 0.8 * math.sqrt(numbers(count))), 2)

    def expect_apart(self, figure):
        """No node is on another, and names have space for their type."""
        places = [(float(x), float(y), float(r))
                  for _, _, x, y, r, _, _ in CIRCLE.findall(figure)]
        for i, (x, y, r) in enumerate(places):
            for x2, y2, r2 in places[:i]:
                self.assertGreater(math.hypot(x - x2, y - y2), r + r2)
        names = [(float(x), float(y), float(angle), name)
                 for x, y, angle, name in NAME.findall(figure)]
        self.assertEqual(len(names), len(places))
        for i, (x, y, angle, name) in enumerate(names):
            for x2, y2, _, _ in names[:i]:
                self.assertGreater(math.hypot(x - x2, y - y2), 10)
            out = math.atan2(y - 200, x - 200)
            end = [c + 6.4 * min(len(name), 13) * d
                   for c, d in ((x, math.cos(out)), (y, math.sin(out)))]
            self.assertTrue(all(-1 <= value <= 401 for value in end), (name, end))
            self.assertLess(abs(angle), 90.2, "a name is upside down")

    def test_windows_of_each_label(self):
        of = cache("features")
        self.assertEqual(set(self.expect_median(of)), {"benign", "attack"})
        for label in ("benign", "attack"):
            self.expect_apart(self.expect_drawn(of, label))
        self.assertNotIn(TITLES["unlabelled"], of.figures)

    def expect_sent(self, of, folder, words, all_known=True):
        """The identifiers with labelled frames, from the log itself, have their colour."""
        place = of.document["median_windows"]["attack"]
        graph = of.graphs[place["split"]][place["graph"]]
        with open(os.path.join(folder, graph["folder"], graph["file"]), encoding="ascii") as file:
            rows = sorted(csv.DictReader(file), key=lambda row: float(row["timestamp"]))
        rows = rows[graph["window_start"]:graph["window_start"] + of.document["window"]]
        self.assertEqual(sum(row["attack"] == "1" for row in rows), graph["attack_count"])
        sent = {row["arbitration_id"] for row in rows if row["attack"] == "1"}
        figure = of.figures[TITLES["attack"]]
        drawn = {name for _, colour, *_, name, _ in CIRCLE.findall(figure) if colour == " bad"}
        self.assertIn(words, figure)
        if all_known:
            self.assertEqual(drawn, sent)
            self.assertLess(len(drawn), len(graph["x"]))
        self.assertLessEqual(drawn, sent)
        self.assertEqual("does not record which others are labelled" in figure, not all_known)
        return drawn

    def test_identifiers_that_an_attack_sends(self):
        """One of its own, one that others send as well, many of its own, all of the window's
        frames, and some that are in benign windows: of these, the first is known."""
        first = "identifier of the first labelled frame</span>"
        self.expect_sent(cache("features"), at("logs"), first)
        attacks = {
            "spoof": (first, True, lambda i: (i % 7 + 1, int(i % 21 == 9))),
            "fuzz": ("only</span>", True,
                     lambda i: (i * i % 13 + 800, 1) if i % 3 == 0 else (i % 7 + 1, 0)),
            "rest": ("identifiers of labelled frames</span>", True,
                     lambda i: (i // 50 % 2 * 4 + i % 4 + 1, i // 50 % 2)),
            "some": ("of the first labelled frame, or in windows", False,
                     lambda i: (i % 7 + 1, int(i % 7 < 3)))}
        for name, (words, all_known, attack) in attacks.items():
            with self.subTest(name):
                write_log(f"{name}/train_a/a.csv", [
                    (i * 1e-3, *(attack(i) if i // 500 % 2 else (i % 7 + 1, 0)))
                    for i in range(8000)])
                of = cache(f"{name}-cache", "--val-split", "random", logs=name)
                drawn = self.expect_sent(of, at(name), words, all_known)
                self.assertEqual(len(drawn) > 1, name in ("fuzz", "rest"))

    def test_stored_frames_draw_the_same(self):
        features, frames = cache("features"), cache("frames", "--store", "frames")
        self.assertEqual(features.files, frames.files)

    def test_threads_change_nothing(self):
        of, texts = cache("features"), set()
        for threads in ("1", "2", "3", "8"):
            leat("inspect", of.path, "--html", at("threads.html"), "--threads", threads, status=0)
            with open(at("threads.html"), "rb") as file:
                texts.add(file.read())
        self.assertEqual(texts, {of.text.encode()})

    def test_nothing_is_read(self):
        """The windows are chosen by labels and sizes, whatever --read."""
        of = cache("features")
        told = leat("inspect", of.path, "--json", "--read", "0", status=0).stdout
        self.assertEqual(json.loads(told)["median_windows"], of.document["median_windows"])

    def test_without_attacks(self):
        write_log("calm/train_a/a.csv", [(i * 1e-3, i % 7 + 1, 0) for i in range(4000)])
        of = cache("calm-cache", logs="calm")
        self.assertEqual(set(self.expect_median(of)), {"benign"})
        self.expect_apart(self.expect_drawn(of, "benign"))
        self.assertIn("no window is labelled as an attack", of.figures[TITLES["attack"]])
        self.assertNotIn("<svg", of.figures[TITLES["attack"]])
        pages.check_stands_alone(self, of.text)

    def test_without_labels(self):
        write_log("open/train_a/a.csv", [(i * 1e-3, i % 7 + 1, None) for i in range(4000)])
        of = cache("open-cache", logs="open")
        self.assertEqual(set(self.expect_median(of)), {"unlabelled"})
        self.expect_drawn(of, "unlabelled")
        self.assertIn("no window is labelled as benign", of.figures[TITLES["benign"]])

    def test_a_split_without_windows(self):
        write_log("empty/train_a/a.csv", [(i * 1e-3, i % 7 + 1, i % 400 < 9) for i in range(4000)])
        write_log("empty/test_b/b.csv", [(i * 1e-3, 5, 0) for i in range(30)])
        of = cache("empty-cache", logs="empty")
        self.assertEqual(of.document["splits"]["test_b"]["graphs"], 0)
        self.assertEqual(set(self.expect_median(of)), {"benign", "attack"})
        pages.check_stands_alone(self, of.text)
        pages.check_labels(self, of.text)

    def test_one_identifier(self):
        write_log("one/train_a/a.csv", [(i * 1e-3, 5, 0) for i in range(4000)])
        of = cache("one-cache", logs="one")
        self.expect_apart(self.expect_drawn(of, "benign"))

    def test_a_large_window_is_drawn_in_part(self):
        """64 identifiers at most, those with the most frames; the table has every edge."""
        write_log("large/train_a/a.csv",
                  [(i * 1e-3, (i * i) % 1999 % (i % 700 + 1), 0) for i in range(20000)])
        of = cache("large-cache", "--window", "4096", "--stride", "4096", "--val-fraction", "0",
                   logs="large")
        place = self.expect_median(of)["benign"]
        graph = of.graphs["train"][place["graph"]]
        frames, names = frames_of(graph), names_of(graph)
        self.assertGreater(len(names), 500)
        figure = of.figures[TITLES["benign"]]
        best = sorted(range(len(names)), key=lambda node: (-frames[node], node))[:64]
        self.assertEqual([name for *_, name, _ in CIRCLE.findall(figure)],
                         [names[node] for node in sorted(best)])
        pairs = collections.Counter(zip(*graph["edge_index"]))
        inner = sorted(((-count, ends) for ends, count in pairs.items()
                        if set(ends) <= set(best)))[:300]
        drawn = [(source, target, numbers(count))
                 for source, target, count, _ in EDGE.findall(figure)]
        self.assertEqual(drawn, [(names[a], names[b], -count) for count, (a, b) in inner])
        self.assertIn(f"the 64 of {len(names):,} identifiers with the most frames,", figure)
        steps = -sum(count for count, _ in inner)
        self.assertIn(f"and {steps:,} of 4,094 steps; the table", figure)
        rows = of.table("a-benign-window-as-a-graph.csv")
        self.assertEqual(sum(int(row["steps"]) for row in rows), 4094)
        self.assertEqual(len(rows), len(pairs))
        self.expect_apart(figure)

    def test_names_from_elsewhere(self):
        """Long names are cut where they are drawn, and complete in tooltip and table."""
        os.makedirs(at("long", "train_a"))
        with open(at("long", "train_a", "a.csv"), "w", encoding="ascii") as out:
            out.write("timestamp,arbitration_id,data_field,attack\n")
            for i in range(4000):
                name = ("steering_angle_1", "brake_pressure_2", "&b;", "7")[i * i % 7 % 4]
                out.write(f"{i * 1e-3:.3f},{name},00,0\n")
        of = cache("long-cache", "--identifiers", "written", logs="long")
        self.expect_apart(self.expect_drawn(of, "benign"))
        self.assertIn("\u2026</text>", of.figures[TITLES["benign"]])

    def test_in_a_browser(self):
        of = cache("features")
        for name in ("a-benign-window-as-a-graph", "a-window-with-an-attack-as-a-graph"):
            with open(at(name + ".svg"), "wb") as file:
                file.write(of.files[name + ".svg"])
            pages.check_in_browser(self, at(name + ".svg"), DATA, 8, dark=False)


class Course(unittest.TestCase):
    """A capture over time, counted again window by window."""
    def expect_capture(self, of):
        """The index of the capture, and its windows."""
        found = of.document["median_windows"]
        place = next(found[label] for label in ("attack", "benign", "unlabelled")
                     if label in found)
        index = of.graphs[place["split"]][place["graph"]]["capture"]
        capture = of.document["captures"][index]
        self.assertIn(f'{capture["file"]}</span>, {capture["split"]}: the capture of', of.text)
        return capture, [graph for _, graph in of.every() if graph["capture"] == index]

    def columns(self, of, capture):
        """(first, end) frames of each column."""
        places, stride = capture["windows"], of.document["stride"]
        count = min(places, 96)
        ends = [-(-i * places // count) * stride for i in range(count + 1)]
        return list(zip(ends, ends[1:]))

    def expect_identifiers(self, of):
        capture, graphs = self.expect_capture(of)
        columns, frames = self.columns(of, capture), collections.Counter()
        cells, windows = collections.Counter(), [collections.Counter() for _ in columns]
        for graph in graphs:
            column = next(i for i, (first, end) in enumerate(columns)
                          if first <= graph["window_start"] < end)
            windows[column][graph["y"]] += 1
            for number, name, count in zip(graph["node_id"], graph["identifiers"],
                                           frames_of(graph)):
                frames[number, name or "unknown"] += count
                cells[number, name or "unknown", column] += count
        order = sorted(frames, key=lambda key: (-frames[key], key[0]))
        shown, rest = order[:32], order[32:]
        wanted = []
        rows = [(name, [cells[number, name, i] for i in range(len(columns))])
                for number, name in shown]
        if rest:
            rows.append((f"{len(rest):,} others", [
                sum(cells[(*key, i)] for key in rest) for i in range(len(columns))]))
        for name, row in rows:
            for (first, end), count, here in zip(columns, row, windows):
                total = sum(here.values())
                if count > 0:
                    wanted.append((name, first, end, count / total, total, here[1], here[-1]))
        told = of.table("identifiers-over-time.csv")
        self.assertEqual(len(told), len(wanted))
        for row, (name, first, end, mean, total, attacks, unlabelled) in zip(told, wanted):
            self.assertEqual((row["identifier"], int(row["frame_from"]), int(row["frame_to"])),
                             (name, first, end))
            self.assertEqual("seconds_from" in row, capture["last_s"] > capture["first_s"])
            self.assertAlmostEqual(float(row["frames_per_window"]), mean, 6)
            self.assertEqual([int(row[key]) for key in ("windows", "windows_with_attack",
                                                        "windows_unlabelled")],
                             [total, attacks, unlabelled])
        figure = of.figures["Identifiers over time"]
        self.expect_cells(of, figure, self.places(of, columns), rows, windows)
        self.expect_tints(figure, columns, windows)
        return figure

    def places(self, of, columns):
        """Where columns with cells begin and end, in time, or in frames if there are no times."""
        table = of.table("identifiers-over-time.csv")
        seconds = {int(row["frame_from"]): (float(row["seconds_from"]), float(row["seconds_to"]))
                   for row in table if "seconds_from" in row}
        found = [seconds.get(first) if seconds else (first, end) for first, end in columns]
        told = [place for place in found if place is not None]
        self.assertEqual(told, sorted(told))
        self.assertTrue(all(begin < end for begin, end in told))
        return found

    def expect_times(self, of, folder, share):
        """Columns are where the frames of the log are, to this share of the time of the capture."""
        capture, _ = self.expect_capture(of)
        with open(os.path.join(folder, capture["folder"], capture["file"]),
                  encoding="ascii") as file:
            times = sorted(float(row["timestamp"]) for row in csv.DictReader(file))
        whole = times[-1] - times[0]
        for row in of.table("identifiers-over-time.csv"):
            for end in ("from", "to"):
                frame = min(int(row["frame_" + end]), len(times) - 1)
                self.assertAlmostEqual(float(row["seconds_" + end]), times[frame] - times[0],
                                       delta=share * whole)

    def expect_cells(self, of, figure, columns, rows, windows):
        """Each cell has the shade of its share of the frames of a window, and its place."""
        names = re.findall(r'<text x="([\d.]+)" y="(\d+)" class="end">[^<]*<title>([^<]*): ',
                           figure)
        self.assertEqual([name for _, _, name in names], [name for name, _ in rows])
        left = float(names[0][0]) + 5
        cells = [(shade, float(x), int(y), float(x) + float(width)) for shade, path in
                 re.findall(r'<path class="shade k1(\d)" d="([^"]*)"/>', figure)
                 for x, y, width in re.findall(r"M([\d.]+) (\d+)h([\d.]+)v8h-[\d.]+z", path)]
        drawn = {}
        scale = (max(end for *_, end in cells) - left) / max(
            place[1] for place in columns if place is not None)
        for shade, x, y, end in cells:
            for i, column in enumerate(columns):
                if column is not None and x < left + scale * sum(column) / 2 < end:
                    place = (y - 23) // 10, i
                    self.assertNotIn(place, drawn, "two cells in one place")
                    drawn[place] = int(shade)
        wanted = {}
        for place, (_, row) in enumerate(rows):
            for i, count in enumerate(row):
                if count > 0:
                    share = count / sum(windows[i].values()) / of.document["window"]
                    wanted[place, i] = 1 + sum(share > end for end in (0.01, 0.02, 0.05, 0.1))
        self.assertEqual(drawn, wanted)

    def expect_tints(self, figure, columns, windows):
        """Windows with an attack are shaded, and nothing else."""
        told = [tuple(map(numbers, words)) for words in re.findall(
            r'<rect class="tint"[^>]*><title>frames ([\d,]+) to ([\d,]+): ([\d,]+) of ([\d,]+) '
            'windows? with an attack', figure)]
        wanted = []
        for (first, end), here in zip(columns, windows):
            if here[1] == 0:
                continue
            if wanted and wanted[-1][1] == first - 1:
                before = wanted.pop()
                wanted.append((before[0], end - 1, before[2] + here[1],
                               before[3] + sum(here.values())))
            else:
                wanted.append((first, end - 1, here[1], sum(here.values())))
        self.assertEqual(told, wanted)

    def expect_load(self, of, folder):
        """Frames per second, from the times of the log itself."""
        capture, graphs = self.expect_capture(of)
        with open(os.path.join(folder, capture["folder"], capture["file"]),
                  encoding="ascii") as file:
            times = sorted(float(row["timestamp"]) for row in csv.DictReader(file))
        self.assertEqual(len(times), capture["frames"])
        window, sums = of.document["window"], {}
        for graph in graphs:
            start = graph["window_start"]
            column = next((first, end) for first, end in self.columns(of, capture)
                          if first <= start < end)
            steps, seconds = sums.get(column, (0, 0))
            sums[column] = (steps + window - 2,
                            seconds + times[start + window - 2] - times[start])
        told = [float(row["frames_per_second"]) for row in of.table("bus-load-over-time.csv")]
        wanted = [steps / seconds for _, (steps, seconds) in sorted(sums.items())]
        self.assertEqual(len(told), len(wanted))
        for load, here in zip(told, wanted):
            self.assertAlmostEqual(load, here, delta=1e-4 * here)
        begins = {float(row["seconds_from"]) for row in of.table("identifiers-over-time.csv")}
        self.assertEqual([float(row["time_since_the_first_frame_s_from"])
                          for row in of.table("bus-load-over-time.csv")], sorted(begins))
        mean = round((len(times) - 1) / (times[-1] - times[0]))
        self.assertIn(f"mean of the capture <b>{mean:,}</b>", of.figures["Bus load over time"])
        self.assertIn(f"<td>{mean:,}</td>", of.text)
        self.assertRegex(leat("inspect", of.path, status=0).stdout, f" {mean:,}\n")

    def test_of_the_window_with_an_attack(self):
        of = cache("features")
        figure = self.expect_identifiers(of)
        self.assertIn('class="tint"', figure)
        self.assertNotIn("overlap", figure)
        self.expect_load(of, at("logs"))

    def test_the_axis_is_time(self):
        """An attack that sends three frames for one of the others takes a quarter of the time,
        and half of the frames."""
        rows, now = [], 0.0
        for i in range(16000):
            attack = 4000 <= i < 12000
            now += 0.0003 if attack else 0.0009
            rows.append((now, 0 if attack and i % 3 else i % 7 + 1, int(attack and i % 3 > 0)))
        write_log("dense/train_a/a.csv", rows)
        for name, words in (("dense-features", ()), ("dense-overlap", ("--stride", "33"))):
            with self.subTest(name):
                of = cache(name, "--val-fraction", "0", *words, logs="dense")
                figure = self.expect_identifiers(of)
                self.expect_times(of, at("dense"), 0.01)
                self.assertNotIn("estimated", figure)
                for title in ("Identifiers over time", "Bus load over time"):
                    axis = of.figures[title]
                    self.assertIn("time since the first frame", axis)
                    tint = re.search(r'<rect class="tint" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"',
                                     axis)
                    width = 342 if "load" in title else 392 - float(re.search(
                        r'<path class="base" d="M([\d.]+) ', axis).group(1))
                    self.assertAlmostEqual(float(tint.group(2)) / width, 0.25, delta=0.04)
                strip = re.search(r'aria-label="where attacks are".*?</svg>', of.text).group(0)
                parts = [(float(x), float(width)) for x, width in re.findall(
                    r'<rect class="bar bad" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', strip)]
                self.assertAlmostEqual(sum(width for _, width in parts), 0.25 * 256, delta=7)
                self.assertAlmostEqual(parts[0][0], 0.375 * 256, delta=4)
        told = leat("inspect", of.path, "--html", at("unread.html"), "--read", "0", status=0)
        with open(at("unread.html"), encoding="utf-8") as file:
            strip = re.search(r'aria-label="where attacks are".*?</svg>', file.read()).group(0)
        self.assertEqual(told.stderr, "")
        self.assertEqual(set(re.findall(r'y="9" width="([\d.]+)"', strip)), {"2.00"})

    def test_a_pause_between_windows_is_remarked(self):
        """Where it lies is not in the cache."""
        write_log("pause/train_a/a.csv",
                  [(i * 1e-3 + (i >= 2000) * 3, i % 7 + 1, 0) for i in range(4000)])
        write_log("within/train_a/a.csv",
                  [(i * 1e-3 + (i >= 2050) * 3, i % 7 + 1, 0) for i in range(4000)])
        of = cache("pause-cache", "--val-fraction", "0", logs="pause")
        for title in ("Identifiers over time", "Bus load over time"):
            self.assertIn("places in time are estimated", of.figures[title])
        of = cache("within-cache", "--val-fraction", "0", logs="within")
        self.assertNotIn("are estimated", of.text)
        self.expect_times(of, at("within"), 0.03)

    def test_windows_that_overlap_or_have_gaps(self):
        of = cache("overlap", "--window", "40", "--stride", "7")
        self.assertIn("windows overlap", self.expect_identifiers(of))
        self.expect_load(of, at("logs"))
        of = cache("gaps", "--window", "10", "--stride", "25", "--edge-step", "previous")
        self.assertNotIn("windows overlap", self.expect_identifiers(of))
        self.expect_load(of, at("logs"))

    def test_training_and_validation(self):
        """Both have windows of one capture; those dropped between them leave a gap."""
        write_log("calm/train_a/a.csv", [(i * 1e-3, i % 7 + 1, 0) for i in range(4000)])
        of = cache("calm-cache", logs="calm")
        figure = self.expect_identifiers(of)
        self.assertGreater(of.document["windows_dropped"], 0)
        self.assertEqual({split for split, _ in of.every()}, {"train", "val"})
        self.assertIn("no window with an attack", figure)
        self.expect_load(of, at("calm"))

    def test_more_identifiers_than_rows(self):
        write_log("many/train_a/a.csv",
                  [(i * 1e-3, (i * i) % 1999 % (i % 90 + 1), i // 900 % 5 == 2)
                   for i in range(20000)])
        of = cache("many-cache", logs="many")
        self.assertIn(" others", self.expect_identifiers(of))
        pages.check_labels(self, of.text)

    def test_a_sample_is_said(self):
        of = cache("features")
        leat("inspect", of.path, "--html", at("sample.html"), "--read", "60K", status=0)
        with open(at("sample.html"), encoding="utf-8") as file:
            text = file.read()
        figure = pages.figures(text)["Identifiers over time"]
        read, windows = re.search(r"from a sample: ([\d,]+) of ([\d,]+) windows", figure).groups()
        self.assertLess(numbers(read), numbers(windows))
        leat("inspect", of.path, "--html", at("sample.html"), "--read", "0", status=0)
        with open(at("sample.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("no graph was read", pages.figures(text)["Identifiers over time"])

    def test_without_times(self):
        write_log("still/train_a/a.csv", [(0, i % 7 + 1, 0) for i in range(4000)])
        of = cache("still-cache", "--val-split", "random", logs="still")
        self.expect_identifiers(of)
        self.assertIn("have no times", of.figures["Bus load over time"])


class Identifiers(unittest.TestCase):
    def count(self, of):
        """By number: windows and frames by label, and the text."""
        found = {}
        for _, graph in of.every():
            seen = set()
            for number, name, frames in zip(graph["node_id"], graph["identifiers"],
                                            frames_of(graph)):
                windows, all_frames, _ = found.setdefault(
                    number, (collections.Counter(), collections.Counter(), name))
                windows[graph["y"]] += number not in seen
                all_frames[graph["y"]] += frames
                seen.add(number)
        return found

    def expect_statistics(self, of):
        found = self.count(of)
        order = sorted(found, key=lambda number: (-sum(found[number][1].values()), number))
        told = of.document["identifier_statistics"]
        self.assertEqual(told["count"], len(found))
        self.assertEqual(told["attack_only"],
                         sum(set(windows) == {1} for number, (windows, _, _) in found.items()
                             if number > 0))
        wanted = []
        for number in order[:2048]:
            windows, frames, name = found[number]
            one = {"number": number, "windows": sum(windows.values()),
                   "windows_with_attack": windows[1], "windows_unlabelled": windows[-1],
                   "frames": sum(frames.values()), "frames_in_attacks": frames[1],
                   "attack_only": number > 0 and set(windows) == {1}}
            wanted.append({**one, "identifier": name} if number > 0 else one)
        self.assertEqual(told["most_frequent"], wanted)
        return told

    def test_statistics(self):
        told = self.expect_statistics(cache("features"))
        self.assertEqual(told, cache("frames", "--store", "frames")
                         .document["identifier_statistics"])
        self.assertIn(0, {one["number"] for one in told["most_frequent"]})

    def test_only_in_attacks(self):
        """Named on the terminal and on the page; unlabelled windows are not attacks."""
        rows = [(i * 1e-3, 0x7AA if 1000 <= i < 1900 and i % 9 == 0 else i % 7 + 1,
                 1000 <= i < 1900 and i % 9 == 0) for i in range(6000)]
        write_log("only/train_a/a.csv", rows)
        write_log("only/train_b/b.log.csv", [(i * 1e-3, 0x7BB, None) for i in range(600)])
        of = cache("only-cache", logs="only")
        told = self.expect_statistics(of)
        self.assertEqual([one["identifier"] for one in told["most_frequent"]
                          if one["attack_only"]], ["7AA"])
        words = leat("inspect", of.path, status=0).stdout
        self.assertIn("1 identifier only in windows with an attack: 7AA\n", words)
        self.assertIn('1 identifier only in windows with an attack: <span class="mono">7AA</span>',
                      of.text)

    def test_tables(self):
        of = cache("many-cache-2", logs="logs")
        told = self.expect_statistics(of)
        words = leat("inspect", of.path, status=0).stdout
        table = words[words.index("  most frequent "):].split("\n\n")[0].splitlines()
        self.assertIn(f"and {told['count'] - 12:,} more; --json lists all", table[13])
        frames = sum(one["frames"] for one in told["most_frequent"])
        graphs = sum(split["graphs"] for split in of.document["splits"].values())
        page = re.findall(r'<tr><td class="mono">([^<]*)</td><td>([\d,]+)</td><td>([\d.]+) %</td>'
                          r"<td>([\d,]+)</td><td>([\d.e-]+) %</td><td>([\d,]+)</td>"
                          r"<td>([\d.]+) %</td></tr>", of.text)
        self.assertEqual(len(page), min(40, told["count"]))
        for line, cells, one in zip(table[1:13], page, told["most_frequent"]):
            values = (one.get("identifier", "unknown"), one["windows"],
                      100 * one["windows"] / graphs, one["frames"], 100 * one["frames"] / frames)
            for shown in (re.sub(" %", "", line).split(), [*cells[:5], cells[6]]):
                self.assertEqual((shown[0], numbers(shown[1]), numbers(shown[3])),
                                 (values[0], values[1], values[3]))
                self.assertAlmostEqual(float(shown[2]), values[2], delta=0.06)
                self.assertAlmostEqual(float(shown[4]), values[4], delta=0.06)
                self.assertAlmostEqual(float(shown[5]),
                                       100 * one["windows_with_attack"] / one["windows"],
                                       delta=0.06)
            self.assertEqual(numbers(cells[5]), one["windows_with_attack"])

    def test_threads_change_nothing(self):
        of = cache("features")
        for threads in ("1", "2", "3", "8"):
            told = json.loads(leat("inspect", of.path, "--json", "--threads", threads,
                                   status=0).stdout)
            self.assertEqual(told["identifier_statistics"],
                             of.document["identifier_statistics"])


if __name__ == "__main__":
    unittest.main()
