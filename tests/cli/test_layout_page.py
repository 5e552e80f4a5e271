"""docs/dataset.md is enough to say where a probe is: its block of Python, from the addresses of the
input alone, gives every shard's rows of data sets that leat writes."""
import csv
import hashlib
import json
import os
import struct
import tempfile
import unittest

import command
from shown import pages, read


def block_of_page():
    """The names that the page defines."""
    found = [block for block in pages.blocks("docs/dataset.md", read("docs", "dataset.md"))
             if any("def split_of" in line for line in block.lines)]
    assert len(found) == 1
    names = {}
    exec("\n".join(found[0].lines), names)  # pylint: disable=exec-used
    return names


def rows_of_index(path):
    """(split, number, [src_id of each row]) of each shard, read as the page says."""
    with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    with open(os.path.join(path, "index.bin"), "rb") as file:
        data = file.read()
    at, shards = 16, []
    for shard in manifest["shards"]:
        rows = [struct.unpack_from("<q", data, at + 48 * i)[0] for i in range(shard["rows"])]
        at += 48 * shard["rows"] + 8 * -(-shard["bytes"] // 4096)
        split = shard["file"].split("/")[0]
        shards.append((split, int(shard["file"][-17:-12]), rows))
    return manifest["options"], shards


class Layout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.raw, self.out = (os.path.join(folder.name, name) for name in ("raw.csv", "out"))
        command.leat("synth", "probes", "-n", 3000, "-p", 310, "-o", self.raw, status=0)
        with open(self.raw, encoding="ascii") as file:
            self.texts = sorted({row["src_addr"] for row in csv.DictReader(file)})
        self.page = block_of_page()

    def expected(self, options):
        """The same from the texts of the probes."""
        ids = {text: int(hashlib.md5(text.encode()).hexdigest()[:15], 16) for text in self.texts}
        ratio, splits = options["train_ratio"], {"train": [], "test": []}
        for i, text in enumerate(self.texts):
            if options["split"] == "ordered":
                split = "train" if i < int(ratio * len(ids)) else "test"
            else:
                split = self.page["split_of"](ids[text], options["seed"], ratio)
            splits[split].append(ids[text])
        shards = []
        for split, found in splits.items():
            count = self.page["shard_count"](len(found), options.get("probes_per_shard", 1))
            if "shards" in options:
                count = options["shards"]
                if split == "test" and ratio > 0:
                    count = max(1, int(count * (1 - ratio) / ratio + 0.5))
            shards += [(split, number, sorted(one for one in found
                                              if self.page["shard_of"](one, count) == number))
                       for number in range(count)]
        return shards

    def test_each_probe_is_where_the_page_says(self):
        for words in ([], ["--seed", 7], ["--seed", 2**62 + 11, "--train-ratio", 0.5],
                      ["--train-ratio", 0.3, "--probes-per-shard", 31],
                      ["--probes-per-shard", 100], ["--probes-per-shard", 9],
                      ["--train-ratio", 0.7, "--shards", 6], ["--train-ratio", 0, "--shards", 3],
                      ["--split", "ordered", "--train-ratio", 0.77, "--probes-per-shard", 50]):
            with self.subTest(words):
                command.leat("ingest", "probes", self.raw, "-o", self.out, "--replace", *words,
                             status=0)
                options, shards = rows_of_index(self.out)
                self.assertEqual(self.expected(options), shards)


if __name__ == "__main__":
    unittest.main()
