"""leat batches --report: its numbers counted again from what --explain tells of each row and from
the raw measurements, its page held to what pages are held to.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import csv
import io
import json
import math
import os
import random
import re
import shutil
import tempfile
import unittest

import golden_files
import pages
from command import leat

TYPES = ["MEASUREMENT_START", "SRC_IPV4", "SRC_IPV6", "DST_IPV4", "DST_IPV6", "TIMESTAMP_ABS",
         "TIMESTAMP_DELTA1", "TIMESTAMP_DELTA4", "RTT_START", "THROUGHPUT_START", "FAILED", "BYTE"]
FIELDS = ["start", "source", "source", "destination", "destination", "timestamp", "timestamp",
          "timestamp", "result", "result", "result"]
LENGTH = 128
STEPS, BATCH = 5, 6

DATA = None  # a folder with `set`, a data set, all of it train
PROBES = {}  # source: [(seconds, is IPv6, failed)] in time order


def write_csv(path):
    """Sources that measure every few seconds, minutes, hours, days; both versions."""
    draw = random.Random(11)
    with open(path, "w", encoding="utf-8") as out:
        out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
        for probe in range(60):
            six = probe % 3 == 0
            src = f"2001:db8::{probe + 1:x}" if six else f"192.0.2.{probe}"
            dst = "2001:db8:1::7" if six else "198.51.100.7"
            gap = (2, 7, 240, 290, 4000, 90_000, 800_000)[probe % 7]
            time, rows = 1_556_136_017 + 13 * probe, []
            for _ in range(1 + probe * probe % 67 if probe % 20 else 700):
                failed = draw.random() < 0.1
                rows.append((time, six, failed))
                out.write(f"{time},{src},{dst},{6 if six else 4},"
                          f"{'-1' if failed else draw.uniform(1, 300):.6}\n")
                time += draw.randrange(gap + 1)
            PROBES[src] = rows


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-batches-report-")
    write_csv(os.path.join(DATA, "pings.csv"))
    done = leat("ingest", "probes", os.path.join(DATA, "pings.csv"), "-o",
                os.path.join(DATA, "set"), "--probes-per-shard", "20", "--train-ratio", "1")
    assert done.returncode == 0, done.stderr


def tearDownModule():
    shutil.rmtree(DATA)


def report(*words, data="set", name="page.html"):
    path = os.path.join(DATA, name)
    done = leat("batches", os.path.join(DATA, data), "--report", path, "--json", *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


# ---- counted again ---------------------------------------------------------------------------


def scale_of(times):
    if len(times) < 2:
        return "single"
    seconds = max(times) - min(times)
    for name, end in (("seconds", 60), ("minutes", 3600), ("hours", 86400), ("days", 604800)):
        if seconds < end:
            return name
    return "weeks"


class Contexts:
    """The numbers of one kind of contexts, as the report names them."""
    COUNTS = ("contexts", "tokens", "measurements", "stamped", "cut", "dropped")

    def __init__(self):
        self.sums = collections.Counter()
        self.modes, self.scales = collections.Counter(), collections.Counter()
        self.scale_tokens = collections.Counter()
        self.lists = collections.defaultdict(list)

    def add(self, segment):
        inside = segment["measurements"]
        times = [it["time_us"] / 1e6 for it in inside]
        self.sums.update(contexts=1, tokens=segment["token_count"], measurements=len(inside),
                         stamped=sum(it["stamped"] for it in inside),
                         cut=sum(it["cut"] for it in inside),
                         dropped=segment["drawn"] - len(inside))
        self.modes[segment["timestamps"]] += 1
        self.scales[scale_of(times)] += 1
        self.scale_tokens[scale_of(times)] += segment["token_count"]
        self.lists["row_measurements"].append(segment["row_measurements"])
        self.lists["window_measurements"].append(segment["window_count"])
        self.lists["context_measurements"].append(len(inside))
        if len(inside) > 1:
            self.lists["span_seconds"].append(max(times) - min(times))


class Sequences:
    def __init__(self, *words, data="set"):
        self.data = os.path.join(DATA, data)
        self.sums, self.types = collections.Counter(), collections.Counter()
        self.fields, self.segments = collections.Counter(), []
        self.anchors, self.fillers = Contexts(), Contexts()
        for step in range(STEPS):
            batch = collections.Counter()
            for row in range(BATCH):
                batch += self.add(step, row, words)
            self.sums["repeated_in_batch"] += sum(count - 1 for count in batch.values())

    def add(self, step, row, words):
        done = leat("batches", self.data, "--explain", str(step), str(row), "--json", *words)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        inside = collections.Counter()
        if told["past_end"]:
            return inside
        if told["masked"]:
            self.sums.update(sequences=1, masked=1, padding=len(told["inputs"]))
            return inside
        used = sum(segment["token_count"] for segment in told["segments"])
        for i, segment in enumerate(told["segments"]):
            (self.fillers if i > 0 else self.anchors).add(segment)
            inside.update((segment["row"], it["index"]) for it in segment["measurements"])
        self.sums.update(sequences=1, tokens=used, padding=len(told["inputs"]) - used,
                         repeated_in_sequence=sum(count - 1 for count in inside.values()))
        self.segments.append(len(told["segments"]))
        field = None
        for token in told["inputs"][:used]:
            self.types[TYPES[min(token, 11)]] += 1
            field = FIELDS[token] if token < 11 else field
            self.fields[field] += 1
        return inside


def chunks_of(length):
    """(measurements, tokens) of what each probe measured in each 5 minutes."""
    found = []
    for rows in PROBES.values():
        groups = collections.defaultdict(list)
        for row in rows:
            groups[row[0] // 300].append(row)
        for group in groups.values():
            tokens, before = 0, None
            for time, six, failed in group:
                stamp = 9 if before is None else 2 if time - before < 256 else 5
                tokens += 1 + 2 * (17 if six else 5) + (1 if failed else 3) + stamp
                before = time
            found.append((len(group), tokens))
    return found, sum(max(0, length - tokens) for _, tokens in found)


class Numbers(unittest.TestCase):
    def same_dist(self, told, values):
        self.assertEqual(told["count"], len(values))
        if not values:
            return
        self.assertAlmostEqual(told["min"], min(values), places=6)
        self.assertAlmostEqual(told["max"], max(values), places=6)
        self.assertAlmostEqual(told["mean"], sum(values) / len(values), places=6)
        middle = sorted(values)[math.ceil(len(values) / 2) - 1]
        self.assertAlmostEqual(told["p50"], middle, delta=0.016 * middle + 1e-6)

    def same_counts(self, told, counted):
        self.assertEqual({name: count for name, count in told.items() if count}, +counted)

    def same_contexts(self, told, counted):
        self.assertEqual([told[name] for name in Contexts.COUNTS],
                         [counted.sums[name] for name in Contexts.COUNTS])
        self.same_counts(told["timestamp_modes"], counted.modes)
        self.same_counts(told["span_scales"], counted.scales)
        self.same_counts(told["span_scale_tokens"], counted.scale_tokens)
        for name in ("row_measurements", "window_measurements", "context_measurements",
                     "span_seconds"):
            self.same_dist(told[name], counted.lists[name])

    def same_sequences(self, told, counted):
        for name in ("sequences", "masked", "tokens", "padding", "repeated_in_sequence",
                     "repeated_in_batch"):
            self.assertEqual(told[name], counted.sums[name], name)
        places = counted.sums["tokens"] + counted.sums["padding"]
        self.assertAlmostEqual(told["padding_share"], counted.sums["padding"] / places)
        self.same_counts(told["token_types"], counted.types)
        self.same_counts(told["token_fields"], counted.fields)
        self.same_dist(told["segments_per_sequence"], counted.segments)
        self.same_contexts(told["anchors"], counted.anchors)
        self.same_contexts(told["fillers"], counted.fillers)

    def test_counted_again(self):
        basic = ("--length", str(LENGTH), "--batch", str(BATCH))
        for words in ((), ("--sampler", "plan2", "--tail", "pad"), ("--sampler", "all"),
                      ("--by", "client"), ("--timestamp-modes", "0,100,0", "--seed", "4")):
            with self.subTest(words=words):
                words = (*basic, *words)
                told = report(*words, "--steps", f"0:{STEPS}")
                self.assertEqual(told["steps"], [0, STEPS])
                self.same_sequences(told["asked"], Sequences(*words))
                self.same_sequences(told["unpacked"], Sequences(*words, "--packing", "none"))

    def test_repeats_are_seen(self):
        # few rows and many sequences: without repeats the test above would say nothing of them
        told = report("--length", "1024", "--batch", "64")["asked"]
        self.assertGreater(told["repeated_in_batch"], told["repeated_in_sequence"])
        self.assertGreater(told["repeated_in_sequence"], 0)

    def test_masked_sequences_repeat_nothing(self):
        """What a sequence had drawn before its damage was met is not counted."""
        damaged = os.path.join(DATA, "masked")
        shutil.copytree(os.path.join(DATA, "set"), damaged)
        for shard in range(3):
            path = os.path.join(damaged, "train", f"train_shard_0000{shard}.arrayrecord")
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 3)
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 8]))
        words = ("--length", "1024", "--batch", str(BATCH), "--on-corrupt", "mask")
        told = report(*words, "--steps", f"0:{STEPS}", data="masked")
        counted = Sequences(*words, data="masked")
        self.same_sequences(told["asked"], counted)
        self.assertGreater(counted.sums["masked"], 5)
        self.assertGreater(counted.sums["repeated_in_batch"], 5)

    def test_chunks(self):
        for length in (64, 1024):
            found, padding = chunks_of(length)
            told = report("--length", str(length), "--steps", "0:1")["chunks_5_minutes"]
            self.assertEqual(told["chunks"], len(found))
            self.assertEqual(told["measurements"], sum(count for count, _ in found))
            self.assertEqual(told["tokens"], sum(tokens for _, tokens in found))
            self.assertEqual(told["padding"], padding)
            self.assertEqual(told["short_chunks"], sum(tokens < length for _, tokens in found))
            self.assertAlmostEqual(told["padding_share"], padding / (len(found) * length))
            self.same_dist(told["chunk_tokens"], [tokens for _, tokens in found])
            self.same_dist(told["chunk_measurements"], [count for count, _ in found])
            self.assertEqual((told["rows_read"], told["rows"]), (60, 60))

    def test_contexts_of_rows(self):
        told = report("--steps", "0:1")["contexts_per_row"]
        self.same_dist(told, [
            math.ceil((4 + (43 if rows[0][1] else 19) * len(rows)) / 1024) if len(rows) < 34
            else min(16, math.ceil(len(rows) / 30)) for rows in PROBES.values()])


class Options(unittest.TestCase):
    def test_order(self):
        """The report says in which order the batches that it counted are."""
        numbers, windowed = [], "windowed:1M"
        for order in ("global", windowed):
            told = report("--steps", "0:9", *(("--order", order) if order == windowed else ()))
            self.assertEqual(told["options"]["order"], order)
            numbers.append(told["asked"])
            with open(os.path.join(DATA, "page.html"), encoding="utf-8") as file:
                options = re.search(r"Options: <code>(.*)</code>", file.read())[1]
            self.assertIn(f'<span class="item">--order {order}</span>', options)
        self.assertNotEqual(*numbers)


class Extent(unittest.TestCase):
    def test_one_epoch_unless_it_is_long(self):
        told = report()
        self.assertEqual(told["asked"]["sequences"], told["epoch_sequences"])
        self.assertEqual(told["asked"]["anchors"]["contexts"], told["epoch_sequences"])
        told = report("--epochs", "200", "--length", "64", "--batch", "100")
        self.assertGreater(200 * told["epoch_sequences"], 16400)
        self.assertEqual(told["asked"]["sequences"], 16300)
        self.assertEqual(report("--steps", "2:4")["asked"]["sequences"], 16)
        self.assertEqual(report("--steps", "2:4", "--batch", "12", "--host", "1", "--hosts",
                                "3")["asked"]["sequences"], 8)

    def test_threads_change_nothing(self):
        texts = {json.dumps(report("--threads", n)) for n in ("1", "2", "3", "8")}
        self.assertEqual(len(texts), 1)

    def test_damage(self):
        damaged = os.path.join(DATA, "damaged")
        shutil.copytree(os.path.join(DATA, "set"), damaged)
        with open(os.path.join(damaged, "train", "train_shard_00001.arrayrecord"), "r+b") as file:
            file.seek(5_000)
            byte = file.read(1)[0]
            file.seek(5_000)
            file.write(bytes([byte ^ 8]))
        page = os.path.join(DATA, "none.html")
        done = leat("batches", damaged, "--report", page)
        self.assertEqual(done.returncode, 1)
        self.assertIn("train_shard_00001", done.stderr)
        self.assertFalse(os.path.exists(page))
        told = report("--on-corrupt", "mask", "--epochs", "1", data="damaged")
        done = leat("batches", damaged, "--on-corrupt", "mask", "--epochs", "1", "--json")
        counters = json.loads(done.stdout)["counters"]
        self.assertGreater(counters["masked"], 0)
        for name in ("sequences", "masked", "tokens", "padding", "measurements"):
            self.assertEqual(told["asked"][name], counters[name], name)
        chunks = told["chunks_5_minutes"]
        self.assertGreater(chunks["rows_damaged"], 0)
        self.assertEqual(chunks["rows_damaged"] + chunks["rows_read"], 60)

    def test_wrong_usage(self):
        page = os.path.join(DATA, "none.html")
        for words in (("--hash",), ("--time",), ("--explain", "0", "0"), ("--steps", "7")):
            done = leat("batches", os.path.join(DATA, "set"), "--report", page, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(words[0], done.stderr)
        done = leat("batches", os.path.join(DATA, "set"), "--report",
                    os.path.join(DATA, "no", "folder.html"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("folder.html", done.stderr)
        done = leat("batches", os.path.join(DATA, "set"), "--report", page, "--steps", "5:5")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(page))


class FirstSequences(unittest.TestCase):
    """The figure of the first sequences, against what --explain tells of each."""
    NAME = "the-first-sequences.csv"

    def drawn(self, *words, data="set"):
        report(*words, data=data)
        with open(os.path.join(DATA, "page.html"), encoding="utf-8") as file:
            text = file.read()
        pages.check_labels(self, text)
        rows = list(csv.DictReader(io.StringIO(pages.files(text)[self.NAME].decode())))
        return rows, pages.figures(text)["The first sequences"]

    def told(self, step, row, words, data="set"):
        """What the table must have of a row of a batch."""
        if "--steps" in words:
            at = words.index("--steps")
            words = words[:at] + words[at + 2:]
        done = leat("batches", os.path.join(DATA, data), "--explain", str(step), str(row),
                    "--json", *words, status=0)
        told = json.loads(done.stdout)
        if told["past_end"]:
            return []
        rows, end = [], 0
        for i, of in enumerate(told["segments"]):
            begin, end = of["token_first"], of["token_first"] + of["token_count"]
            rows.append([told["sequence"], i + 1, begin, end, of["src_id"], of["row"],
                         of["context"], "filler" if i else "anchor"])
        if end < len(told["inputs"]):
            rows.append([told["sequence"], "", end, len(told["inputs"]), "", "", "", "padding"])
        return [[str(value) for value in row] for row in rows]

    def test_what_they_hold(self):
        kinds = set()
        for words in (("--length", "256", "--batch", "9"), ("--sampler", "all", "--batch", "2"),
                      ("--packing", "none", "--length", "256"), ("--by", "client"),
                      ("--tail", "pad", "--steps", "3:5", "--host", "1", "--hosts", "2")):
            with self.subTest(words=words):
                step = 3 if "3:5" in words else 0
                batch = int(words[words.index("--batch") + 1]) if "--batch" in words else 8
                first = batch // 2 if "--hosts" in words else 0
                rows, _ = self.drawn(*words)
                expected = [row for i in range(first, min(batch, first + 6))
                            for row in self.told(step, i, words)]
                self.assertEqual([list(row.values()) for row in rows], expected)
                kinds |= {row["kind"] for row in rows}
        self.assertEqual(kinds, {"anchor", "filler", "padding"})

    def test_colours(self):
        """A probe has one number and one colour; those with most segments come first."""
        rows, figure = self.drawn("--length", "512", "--batch", "6")
        shown = re.findall(r'<path class="line probe p(\d)" d="[^"]*"><title>[^<]*, probe (\d+) '
                           r'\(src_id (\d+)\)', figure)
        self.assertEqual([src_id for _, _, src_id in shown],
                         [row["probe"] for row in rows if row["probe"]])
        segments = collections.Counter(src_id for _, _, src_id in shown)
        numbers = {src_id: int(number) for _, number, src_id in shown}
        self.assertEqual(len(set(shown)), len(segments))
        self.assertEqual(sorted(numbers.values()), list(range(1, len(numbers) + 1)))
        self.assertGreater(len(numbers), 6)
        for colour, number, _ in shown:
            self.assertEqual(int(colour), int(number) if int(number) <= 6 else 0)
        ranked = sorted(numbers, key=numbers.get)
        self.assertEqual([segments[src_id] for src_id in ranked],
                         sorted(segments.values(), reverse=True))
        self.assertIn("other probes", figure)

    def test_one_probe(self):
        path = os.path.join(DATA, "alone.csv")
        with open(path, "w", encoding="utf-8") as out:
            out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
            for i in range(300):
                out.write(f"{1556136000 + i * 60},192.0.2.1,198.51.100.7,4,{i % 9 + 1}\n")
        leat("ingest", "probes", path, "-o", os.path.join(DATA, "alone"), "--train-ratio", "1",
             status=0)
        rows, figure = self.drawn("--length", "256", data="alone")
        self.assertEqual(len({row["probe"] for row in rows}), 1)
        self.assertEqual(set(re.findall(r'"line probe p(\d)"', figure)), {"1"})
        done = leat("batches", os.path.join(DATA, "alone"), "--split", "test", "--report",
                    os.path.join(DATA, "none.html"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))  # an empty split
        self.assertFalse(os.path.exists(os.path.join(DATA, "none.html")))

    def test_masked(self):
        damaged = os.path.join(DATA, "first-masked")
        shutil.copytree(os.path.join(DATA, "set"), damaged)
        for shard in range(3):
            path = os.path.join(damaged, "train", f"train_shard_0000{shard}.arrayrecord")
            with open(path, "r+b") as file:
                data = bytearray(file.read())
                data[len(data) // 3] ^= 8
                file.seek(0)
                file.write(data)
        words = ("--batch", "6", "--on-corrupt", "mask")
        rows, figure = self.drawn(*words, data="first-masked")
        self.assertEqual([list(row.values()) for row in rows],
                         [row for i in range(6)
                          for row in self.told(0, i, words, data="first-masked")])
        self.assertIn("masked for damaged data: 1,024 positions of padding", figure)

    def test_many_segments(self):
        """Of a long sequence the first 256 segments are drawn, and the others as one part."""
        rows, figure = self.drawn("--length", "524288", "--batch", "1", "--steps", "0:1")
        self.assertEqual([row["kind"] for row in rows], ["anchor"] + 255 * ["filler"] + ["more"])
        self.assertEqual(rows[-1]["begin"], rows[-2]["end"])
        self.assertEqual(rows[-1]["end"], "524288")
        self.assertIn("<title>segments from 257 on</title>", figure)


class Html(unittest.TestCase):
    def page(self, *words, data="set"):
        path = os.path.join(DATA, "page.html")
        done = leat("batches", os.path.join(DATA, data), "--report", path, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(path, encoding="utf-8") as file:
            return path, file.read(), done.stdout

    def test_stands_alone_and_tells_the_numbers(self):
        told = report()
        _, text, words = self.page()
        page = pages.check_stands_alone(self, text)
        self.assertEqual((page.tags["svg"], page.tags["figure"]), (13, 13))
        rows = list(csv.reader(io.StringIO(pages.files(text)["padding.csv"].decode())))
        self.assertEqual(rows[0], ["sequences", "padding_share", "padding"])
        for row, of in zip(rows[1:], (told["asked"], told["unpacked"], told["chunks_5_minutes"])):
            self.assertEqual(int(row[2]), of["padding"])
            self.assertAlmostEqual(float(row[1]), of["padding_share"], 6)
            percent = 100 * of["padding_share"]
            self.assertIn(f"{percent:.{1 if percent >= 10 else 2}f} %",
                          pages.figures(text)["Padding"])
        self.assertEqual(len(rows), 4)
        for name, of in (("timestamps-and-tokens.csv", {
                "Anchors by timestamps": told["asked"]["anchors"]["timestamp_modes"],
                "Fillers by timestamps": told["asked"]["fillers"]["timestamp_modes"],
                "Tokens by field": told["asked"]["token_fields"]}), ("contexts-by-span.csv", {
                "Anchors": told["asked"]["anchors"]["span_scales"],
                "One context per sequence": told["unpacked"]["anchors"]["span_scales"]})):
            rows = list(csv.DictReader(io.StringIO(pages.files(text)[name].decode())))
            for bar, counts in of.items():
                drawn = [int(row["count"]) for row in rows if row["bar"] == bar]
                self.assertEqual(drawn, list(counts.values()), bar)
        pages.check_labels(self, text)
        shown = " ".join(page.texts)
        asked = told["asked"]
        chunks = f"{100 * told['chunks_5_minutes']['padding_share']:.1f} %"
        alone = f"{100 * told['unpacked']['padding_share']:.1f} %"
        for part in (f"{asked['tokens']:,}", f"{asked['measurements']:,}", chunks, alone,
                     f"{asked['token_types']['RTT_START']:,}", "minutes", "weeks", "partial"):
            self.assertIn(part, shown)
        self.assertIn(chunks, words)
        self.assertIn(alone, words)

    def test_all_ways(self):
        hostile = os.path.join(DATA, "a<b>&\"'")
        shutil.copytree(os.path.join(DATA, "set"), hostile)
        for words in (("--packing", "none"), ("--sampler", "all"), ("--by", "client"),
                      ("--sampler", "plan2", "--tail", "pad", "--length", "64"),
                      ("--length", "65536", "--steps", "0:2")):
            _, text, _ = self.page(*words, data="a<b>&\"'")
            page = pages.check_stands_alone(self, text)
            pages.check_labels(self, text)
            self.assertNotIn("a<b>", text)
            self.assertIn(hostile, "".join(page.texts))

    def test_files_of_others(self):
        _, text, _ = self.page(
            data=golden_files.path("golden/latency/rows/test.arrayrecord"))
        pages.check_stands_alone(self, text)

    def test_chromium_draws_it(self):
        path, _, _ = self.page()
        pages.check_in_browser(self, path, DATA)


if __name__ == "__main__":
    unittest.main()
