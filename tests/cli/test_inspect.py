"""leat inspect and leat doctor: text, JSON, page, verification, as a user runs them.

Runs the command named by LEAT (default: build/leat). The page is read by an HTML parser that wants
every element closed, must refer to nothing outside, and is drawn by Chromium where that is
installed.
"""
import json
import os
import re
import shutil
import tempfile
import unittest

import golden_files
import pages
import pings
from command import leat

ROWS = "golden/latency/rows/"

DATA = None  # a folder with `set` (a data set) and what the tests put beside it


def setUpModule():
    global DATA, KNOWN
    DATA = tempfile.mkdtemp(prefix="leat-inspect-")
    KNOWN = pings.write_csv(os.path.join(DATA, "pings.csv"))
    done = leat("ingest", "probes", os.path.join(DATA, "pings.csv"), "-o",
                os.path.join(DATA, "set"), "--probes-per-shard", "30", "--max-row-size", "16K")
    assert done.returncode == 0, done.stderr


def tearDownModule():
    shutil.rmtree(DATA)


def damaged(data, what, at, more=None):
    """What a row of golden/latency/rows/damage.json makes of a file."""
    if what == "append":
        return data + bytes.fromhex(at)
    if what == "truncate":
        return data[:at]
    out = bytearray(data)
    if what == "flip":
        out[at] ^= 1 << more
    else:
        assert what == "zero", what
        out[at:at + more] = bytes(more)
    return bytes(out)


def copied(name):
    to = os.path.join(DATA, name)
    shutil.copytree(os.path.join(DATA, "set"), to)
    return to


class Words(unittest.TestCase):
    def test_text(self):
        done = leat("inspect", os.path.join(DATA, "set"), "--rows", "2",
                    env=dict(os.environ, LC_ALL="C"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.isascii(), "block characters in the C locale")
        for words in ("train", "test", f"{KNOWN['measurements']:,}", "largest probes", "failures",
                      "from every row", " more\n", "src_id", "fingerprint"):
            self.assertIn(words, done.stdout)
        self.assertEqual(len(re.findall(r"\n  row [\d,]+ \(", done.stdout)), 2)
        self.assertLess(max(map(len, done.stdout.split("\n"))), 200)

    def test_blocks_where_the_terminal_has_them(self):
        done = leat("inspect", os.path.join(DATA, "set"), env=dict(os.environ, LC_ALL="C.UTF-8"))
        self.assertIn("\u2588", done.stdout)

    def test_any_name_of_a_folder(self):
        for name in ("x.csv", "manifest.json"):
            path = copied(name)
            done = leat("inspect", path, status=0)
            self.assertIn(f"{path}: a data set written by leat", done.stdout)

    def test_other_inputs_are_explained(self):
        done = leat("inspect", os.path.join(DATA, "pings.csv"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("leat ingest probes", done.stderr)
        for words in ("cat", "batches"):
            done = leat(words, os.path.join(DATA, "pings.csv"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("leat ingest probes", done.stderr)
        done = leat("inspect", os.path.join(DATA, "set", "manifest.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("give its folder", done.stderr)
        done = leat("inspect", os.path.join(DATA, "nothing"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing", done.stderr)


class Json(unittest.TestCase):
    def test_numbers(self):
        done = leat("inspect", os.path.join(DATA, "set"), "--json", "--verify")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        all_of_it = json.loads(done.stdout)
        values = all_of_it["values"]
        self.assertEqual(all_of_it["all"]["measurements"], KNOWN["measurements"])
        self.assertEqual(all_of_it["all"]["probes"], 150)
        self.assertEqual(values["ipv4_failures"] + values["ipv6_failures"], KNOWN["failures"])
        self.assertEqual(values["gap_seconds"]["count"], KNOWN["measurements"] - 150)
        self.assertAlmostEqual(values["gap_seconds"]["p50"], 240, delta=4)
        rtt = values["rtt_ms"]
        self.assertEqual(rtt["count"], KNOWN["measurements"] - KNOWN["failures"])
        self.assertEqual(rtt["zeros"] + sum(one["count"] for one in rtt["histogram"]),
                         rtt["count"])
        self.assertEqual(sum(bin["measurements"] for bin in values["over_time"]["bins"]),
                         KNOWN["measurements"])
        self.assertEqual(sum(shard["rows"] for shard in all_of_it["shards"]),
                         all_of_it["all"]["rows"])
        most = sorted(KNOWN["by_source"].values(), reverse=True)[:10]
        self.assertEqual([probe["measurements"] for probe in all_of_it["largest_probes"]], most)
        for probe in all_of_it["largest_probes"]:
            self.assertEqual(KNOWN["by_source"][probe["src_addr"]], probe["measurements"])
        self.assertTrue(all_of_it["verification"]["ok"])
        self.assertEqual(all_of_it["verification"]["findings"], [])

    def test_threads_change_nothing(self):
        texts = {leat("inspect", os.path.join(DATA, "set"), "--json", "--threads", n).stdout
                 for n in ("1", "2", "3", "8")}
        self.assertEqual(len(texts), 1)

    def test_sample_is_said(self):
        done = leat("inspect", os.path.join(DATA, "set"), "--json", "--read", "100K")
        values = json.loads(done.stdout)["values"]
        self.assertFalse(values["of_every_row"])
        self.assertLess(values["bytes_read"], 400_000)
        done = leat("inspect", os.path.join(DATA, "set"), "--read", "100K")
        self.assertIn("from a sample", done.stdout)


class Verification(unittest.TestCase):
    def verdict(self, *paths):
        done = leat("inspect", *paths, "--verify", "--json", "--rows", "0")
        document = json.loads(done.stdout) if done.stdout else {}
        return done, document.get("verification")

    def test_damage_is_named(self):
        damaged = copied("damaged")
        pings.flip(os.path.join(damaged, "train", "train_shard_00001.arrayrecord"), 5000)
        done, verdict = self.verdict(damaged)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(verdict["ok"])
        self.assertTrue(all(finding["file"] == "train/train_shard_00001.arrayrecord"
                            for finding in verdict["findings"]))
        self.assertTrue(any("record" in finding for finding in verdict["findings"]))
        done = leat("inspect", damaged, "--verify")
        self.assertEqual(done.returncode, 1)
        self.assertIn("problem:", done.stdout)

    def test_a_data_set_that_does_not_open_is_told_of(self):
        broken = copied("broken")
        os.remove(os.path.join(broken, "index.bin"))
        done, verdict = self.verdict(broken)
        self.assertEqual(done.returncode, 1)
        self.assertIn("index.bin", {finding["file"] for finding in verdict["findings"]})

    def test_the_98_damaged_files(self):
        with open(golden_files.path(ROWS + "damage.json"), encoding="utf-8") as file:
            variants = json.load(file)["variants"]
        self.assertEqual(len(variants), 98)
        said = {}
        for base in sorted({variant["base"] for variant in variants}):
            with open(golden_files.path(ROWS + base), "rb") as file:
                data = file.read()
            path = os.path.join(DATA, "golden.arrayrecord")
            # The records of these files are no probe rows: what is said of the whole file is said
            # of the damaged one too, and does not count.
            with open(path, "wb") as out:
                out.write(data)
            said[base] = {(finding.get("record"), finding["reason"])
                          for finding in self.verdict(path)[1]["findings"]}
            for variant in (v for v in variants if v["base"] == base):
                with open(path, "wb") as out:
                    out.write(damaged(data, *variant["op"]))
                done, verdict = self.verdict(path)
                self.assertEqual(done.returncode, 1, variant["name"])
                new = {(finding.get("record"), finding["reason"])
                       for finding in verdict["findings"]} - said[base]
                self.assertTrue(new, f"{variant['name']}: nothing said of {variant['what']}")


class Html(unittest.TestCase):
    def page(self, *words, name="page.html"):
        path = os.path.join(DATA, name)
        done = leat("inspect", *words, "--html", path)
        self.assertEqual(done.stderr, "")
        with open(path, encoding="utf-8") as file:
            return path, file.read()

    def test_stands_alone_and_is_well_formed(self):
        _, text = self.page(os.path.join(DATA, "set"), "--verify")
        page = pages.check_stands_alone(self, text)
        self.assertEqual(page.tags["svg"], 16)
        self.assertEqual(page.tags["figure"], 16)
        words = " ".join(page.texts)
        for part in (f"{KNOWN['measurements']:,}", "Verified: no problem found", "Largest probes",
                     "Round trip time", "Gap between measurements", "p99",
                     "10 of 150 probes."):
            self.assertIn(part, words)

    def test_texts_are_escaped(self):
        hostile = os.path.join(DATA, "a<b>&\"'\u00e9")
        shutil.copytree(os.path.join(DATA, "set"), hostile)
        _, text = self.page(hostile)
        page = pages.Page(text)
        self.assertNotIn("a<b>", text)
        self.assertIn(hostile, "".join(page.texts))

    def test_labels_do_not_overlap(self):
        _, text = self.page(os.path.join(DATA, "set"))
        pages.check_labels(self, text)

    def test_odd_data_sets(self):
        for name in ("empty.arrayrecord", "test.arrayrecord"):
            _, text = self.page(golden_files.path(ROWS + name))
            pages.Page(text)
            self.assertNotRegex(text, r"[\" ]-?(nan|inf)")

    def test_a_page_that_cannot_be_written(self):
        done = leat("inspect", os.path.join(DATA, "set"), "--html",
                    os.path.join(DATA, "no", "such", "folder.html"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))  # before the work
        self.assertIn("folder.html", done.stderr)
        done = leat("inspect", os.path.join(DATA, "set"), "--html", DATA)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("is a folder", done.stderr)

    def test_chromium_draws_it(self):
        path, _ = self.page(os.path.join(DATA, "set"))
        pages.check_in_browser(self, path, DATA)


class Doctor(unittest.TestCase):
    def findings(self, *words):
        done = leat("doctor", "--json", *words)
        return done.returncode, json.loads(done.stdout)["findings"]

    def problems(self, *words):
        return [item["what"] for item in self.findings(*words)[1] if item["verdict"] == "problem"]

    def test_the_machine(self):
        text = leat("doctor").stdout
        for word in ("processors", "memory", "disk", "open files", "zstd"):
            self.assertIn(word, text)
        # What is wrong with this machine, if anything, is Parquet's library alone.
        self.assertTrue(all("Parquet" in words for words in self.problems()), self.problems())
        found = {item["what"]: item for item in self.findings()[1]}
        if any(words.startswith("DuckDB") for words in found):
            checksums = [item for words, item in found.items() if "page checksums" in words]
            self.assertEqual([item["verdict"] for item in checksums], ["note"])
            self.assertIn("sha256sum", checksums[0]["do"])

    def test_folder_to_write_to(self):
        def told(folder, **more):
            done = leat("doctor", "--json", "--temp", folder, **more)
            return [item["what"] for item in json.loads(done.stdout)["findings"]
                    if item["verdict"] == "problem" and folder in item["what"]]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(told(folder), [])
            missing, plain = os.path.join(folder, "no"), os.path.join(folder, "plain")
            with open(plain, "w", encoding="utf-8"):
                pass
            self.assertEqual(told(missing), []) # an ingest makes it
            self.assertEqual(told(plain), [f'"{plain}" is not a folder'])
            os.chmod(folder, 0o555)
            try: # root may write everywhere
                closed = told(folder, user=65534) if os.geteuid() == 0 else told(folder)
            except PermissionError:
                self.skipTest("nobody may not run the command where it lies")
            finally:
                os.chmod(folder, 0o755)
            self.assertEqual(closed, [f'cannot write to folder "{folder}": Permission denied'])

    def test_data(self):
        here = set(self.problems())
        self.assertEqual(set(self.problems(os.path.join(DATA, "set"))), here)
        cut = copied("cut")
        shard = os.path.join(cut, "train", "train_shard_00000.arrayrecord")
        os.truncate(shard, os.path.getsize(shard) - 10)
        os.remove(os.path.join(cut, "test", "test_shard_00000.arrayrecord"))
        status, _ = self.findings(cut)
        self.assertEqual(status, 1)
        words = " ".join(set(self.problems(cut)) - here)
        self.assertIn("the manifest says", words)
        self.assertIn("is missing", words)
        self.assertEqual(self.findings(os.path.join(DATA, "nothing"))[0], 1)

    def test_interrupted_ingest(self):
        half = os.path.join(DATA, "half")
        os.makedirs(os.path.join(half, ".leat"))
        self.assertNotIn("--resume", " ".join(self.problems(half)))  # not leat's without its mark
        with open(os.path.join(half, ".leat", "leat-work.json"), "w", encoding="utf-8") as mark:
            mark.write("{}")
        self.assertIn("--resume", " ".join(self.problems(half)))


if __name__ == "__main__":
    unittest.main()
