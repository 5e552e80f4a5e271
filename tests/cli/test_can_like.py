"""leat ingest can --like: later logs get the numbers and the scaler of an existing cache, and what
does not fit it is refused with the options that do."""
import json
import os
import re
import shlex
import shutil
import unittest

from command import leat
from test_ingest_can import Case, content, read_tensors

SMALL = ("--window", "20", "--stride", "20", "--val-fraction", "0")
FRAMES = 400


class Like(Case):
    def log(self, name, ids, buses=1, step=0.001):
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            for i in range(FRAMES):
                ident = ids[(7 * i + i // 20) % len(ids)]
                file.write(f"({1000 + i * step:.6f}) can{i % buses} {ident:03X}#"
                           f"{i * 2654435761 % 2 ** 64:016X}\n")
        return path

    def setUp(self):
        super().setUp()
        self.first = self.log("first.log", range(0x100, 0x10B))
        self.later = self.log("later.log", range(0x105, 0x110), step=0.003)

    def take(self, log, *words, **more):
        return self.ingest(log, *SMALL, "--unlabelled", "benign", *words, **more)

    def like(self, cache, *words, log=None, **more):
        return self.take(log or self.later, "--like", cache, *words, **more)

    def read(self, cache, name):
        with open(os.path.join(cache, name), encoding="utf-8") as file:
            return json.load(file)

    def vocabulary(self, cache):
        return self.read(cache, "vocab.json")["entries"]

    def tensors(self, cache):
        return read_tensors(os.path.join(cache, "train.safetensors"))


class Same(Like):
    def test_numbers_and_scaler(self):
        first = self.take(self.first)
        plain, like = self.take(self.later), self.like(first["cache"])
        old, new = first["cache"], like["cache"]
        self.assertEqual(self.vocabulary(new), self.vocabulary(old))
        self.assertNotEqual(self.vocabulary(plain["cache"]), self.vocabulary(old))
        scalers = [self.read(cache, "scaler.json") for cache in (old, new, plain["cache"])]
        self.assertEqual(scalers[1], scalers[0])
        self.assertNotEqual(scalers[2], scalers[0])
        self.assertNotEqual(like["digest"], plain["digest"])
        self.assertEqual((like["like"], like["scaler"], like["warnings"]),
                         (first["digest"], "z_benign", []))
        self.assertNotIn("like", plain)
        numbers = self.vocabulary(old)
        known = {numbers[f"{value:03X}"] for value in range(0x105, 0x10B)}
        self.assertEqual(set(self.tensors(new)["node_id"][1]), known | {0})
        for name in "x", "edge_attr", "y", "window_start":
            self.assertEqual(sorted(self.tensors(new)[name][1]),
                             sorted(self.tensors(plain["cache"])[name][1]))
        self.assertEqual((like["identifiers"], like["vocabulary"]), (16, 11))

    def test_the_same_log(self):
        """With everything known, it is the cache itself, but for its digest."""
        first = self.take(self.first)["cache"]
        again = self.like(first, log=self.first)["cache"]
        for name in "train.safetensors", "train.pages", "vocab.json", "scaler.json":
            self.assertEqual(content(again)[name], content(first)[name])
        self.assertNotEqual(first, again)

    def test_any_number_of_threads_and_runs(self):
        first = self.take(self.first)["cache"]
        made = [self.like(first, "--threads", str(threads), out=f"out{threads}")
                for threads in (1, 3)]
        self.assertEqual(*(content(one["cache"]) for one in made))
        for words in (), ("--verify",):
            again = self.like(first, *words, out="out1")
            self.assertEqual((again["found"], again["like"]), (True, made[0]["like"]))
        self.assertFalse(self.take(self.later, out="out1")["found"])

    def test_like_one_that_is_like_another(self):
        first = self.take(self.first)
        second = self.like(first["cache"])
        third = self.like(second["cache"], log=self.log("third.log", range(0x0FF, 0x111)))
        self.assertEqual(third["like"], second["digest"])
        self.assertEqual(self.vocabulary(third["cache"]), self.vocabulary(first["cache"]))
        self.assertEqual(self.read(third["cache"], "scaler.json"),
                         self.read(first["cache"], "scaler.json"))
        self.assertNotEqual(third["digest"], self.like(
            first["cache"], log=self.path("third.log"))["digest"])

    def test_robust_scalers_and_stored_frames(self):
        for scaler in "robust_benign", "z_all", "none":
            words = ("--scaler", scaler)
            first = self.take(self.first, *words)
            like = self.like(first["cache"], *words, "--store", "frames")
            self.assertEqual(self.read(like["cache"], "scaler.json"),
                             self.read(first["cache"], "scaler.json"))
            self.assertEqual(like["scaler"], first["scaler"])

    def test_what_is_told(self):
        first = self.take(self.first)
        words = (*SMALL, "--unlabelled", "benign", "-o", self.path("cache"))
        done = leat("ingest", "can", self.later, *words, "--like", first["cache"], status=0)
        self.assertIn("like    vocabulary and scaler (z_benign) of the cache with the digest "
                      f"{first['digest'][:16]}...\n", done.stdout)
        self.assertIn("1 capture, 16 identifiers (11 of the other cache and 5 new)\n", done.stdout)
        like = self.like(first["cache"])["cache"]
        page = self.path("page.html")
        shown = leat("inspect", like, "--verify", "--html", page, status=0).stdout
        self.assertIn("vocabulary and scaler of the cache with the digest " + first["digest"],
                      shown)
        self.assertIn("no problem found", shown)
        self.assertNotIn("--like ", shown)
        with open(page, encoding="utf-8") as file:
            self.assertIn(first["digest"], file.read())
        facts = json.loads(leat("inspect", like, "--json", status=0).stdout)
        self.assertEqual(facts["settings"]["like"], first["digest"])
        self.assertNotIn("like", json.loads(leat(
            "inspect", first["cache"], "--json", status=0).stdout)["settings"])

    def test_another_vehicle(self):
        first = self.take(self.first)
        said, = self.like(first["cache"], log=self.log("x.log", range(0x200, 0x210)))["warnings"]
        self.assertIn('train: 0 of its 16 identifiers are in the vocabulary, which has "100" where '
                      "these logs have", said)


class Refused(Like):
    def test_other_settings(self):
        """The options that are printed fit."""
        first = self.take(self.first, "--vocab", "benign", "--scaler", "z_all",
                          "--edge-step", "own", "--self-loops", "ignore", "--bus", "merge")
        says = self.ingest(self.later, "--like", first["cache"], status=2)
        words = shlex.split(re.search("use (--.*), or ingest its logs again", says)[1])
        self.assertEqual(words, ["--window", "20", "--edge-step", "own", "--self-loops", "ignore",
                                 "--vocab", "benign", "--scaler", "z_all", "--bus", "merge"])
        result = self.ingest(self.later, "--like", first["cache"], *words)
        self.assertEqual(result["like"], first["digest"])
        first = self.take(self.first, "--bus", "0", out="other")
        says = self.like(first["cache"], "--bus", "merge", "--identifiers", "written", status=2)
        self.assertIn("; use --identifiers canonical --bus 0, or", says)
        self.assertEqual(self.like(first["cache"], "--bus", "0", "--payload", "lenient")["like"],
                         first["digest"])

    def test_buses(self):
        two = self.log("two.log", range(0x100, 0x10B), buses=2)
        one = self.take(self.first)
        says = self.like(one["cache"], log=two, status=1)
        self.assertIn("these logs have several, 0 and others; use --bus N", says)
        result = self.like(one["cache"], "--bus", "0", log=two)
        self.assertEqual(self.vocabulary(result["cache"]), self.vocabulary(one["cache"]))
        for window in "", "--window 20 ":  # all that is to be changed, at once
            says = self.ingest(two, "--like", one["cache"], "--bus", "merge", status=2,
                               *(() if window else SMALL))
            self.assertIn(f"; use {window}--bus separate (if these logs have several buses, with "
                          "--bus N for the one that the cache is of), or ", says)
        zero = self.take(two, "--bus", "0")
        says = self.ingest(two, "--like", zero["cache"], status=2)
        words = re.search(r"; use (--.*) \(if these logs have several buses, with (--.*)\), or",
                          says).groups()
        says = self.like(zero["cache"], log=two, status=1)
        self.assertEqual(re.search("; use (--.*)", says)[1], words[1])
        result = self.ingest(two, "--like", zero["cache"], *" ".join(words).split(),
                             "--unlabelled", "benign")
        self.assertEqual(self.vocabulary(result["cache"]), self.vocabulary(zero["cache"]))
        both = self.take(two)
        result = self.like(both["cache"], log=self.first)
        numbers = self.vocabulary(both["cache"])
        self.assertEqual(self.vocabulary(result["cache"]), numbers)
        self.assertEqual(set(self.tensors(result["cache"])["node_id"][1]) - {0},
                         {number for name, number in numbers.items() if name[:2] == "0:"})

    def test_what_is_no_cache(self):
        first = self.take(self.first)["cache"]
        # a folder of one cache is that cache, as for other commands
        self.assertEqual(self.like(os.path.dirname(first))["like"],
                         self.like(first)["like"])
        for path, words in ((self.path("none"), "is not a cache of `leat ingest can`"),
                            (self.later, "is not a cache of `leat ingest can`"),
                            (self.make("empty"), "is not a cache of `leat ingest can`"),
                            (self.path("cache"), "holds 2 complete caches; give the path of one, "
                                                 "such as ")):
            says = self.like(path, status=1)
            self.assertIn(words, says)
            self.assertIn(path, says)
            self.assertFalse(os.path.exists(self.path("out")))
        copy = self.path("it's a copy")
        shutil.copytree(first, copy)
        self.assertEqual(self.like(copy)["like"], self.like(first)["like"])
        leat("ingest", "can", self.later, "-o", self.path("out"), "--like", status=2)

    def test_a_damaged_cache(self):
        first = self.take(self.first)["cache"]
        for name in "vocab.json", "scaler.json", "cache_metadata.json", ".complete":
            for damage in "removed", "changed":
                copy = self.path(f"copy-{name}-{damage}")
                shutil.copytree(first, copy)
                path = os.path.join(copy, name)
                if damage == "removed":
                    os.remove(path)
                else:
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(re.sub(r"\d", "7", text, count=1) + " ")
                says = self.like(copy, out="out", status=1)
                self.assertIn("--like", says)
                self.assertFalse(os.path.exists(self.path("out")))


if __name__ == "__main__":
    unittest.main()
