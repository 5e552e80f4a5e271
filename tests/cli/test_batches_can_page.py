"""The page of leat batches CACHE --report: the options that it shows are those of its batches.

Runs the command named by LEAT (default: build/leat).
"""
import html
import json
import re
import shlex
import unittest

import command
import folder


def batches(*words):
    return command.leat("batches", *map(str, words), status=0).stdout


class Options(folder.Folder):
    def setUp(self):
        super().setUp()
        command.leat("synth", "can", "--frames", "20000", "--vehicles", "2", "-o", self.at("logs"),
                     status=0)
        said = command.leat("ingest", "can", self.at("logs"), "-o", self.at("caches"), "--json",
                            status=0)
        self.cache = json.loads(said.stdout)["cache"]

    def shown(self, *words):
        batches(self.cache, *words, "--report", self.at("page.html"))
        with open(self.at("page.html"), encoding="utf-8") as file:
            items = re.search(r"Options: <code>(.*)</code>", file.read())[1]
        return shlex.split(html.unescape(re.sub("<[^>]*>", " ", items)))

    def test_they_are_accepted_and_make_the_same_batches(self):
        with open(self.at("all.json"), "w", encoding="utf-8") as file:
            facts = json.loads(command.leat("inspect", self.cache, "--json", status=0).stdout)
            steps = json.loads(batches(self.cache, "--epochs", 1, "--json"))["steps"][1]
            graphs = [graph for step in range(steps) for graph in json.loads(
                batches(self.cache, "--explain", step, "--json"))["graphs"]]
            json.dump({"fingerprint": facts["fingerprint"], "model": "m",
                       "capture": [graph["capture"] for graph in graphs],
                       "window_start": [graph["window_start"] for graph in graphs],
                       "score": list(range(len(graphs)))}, file)
        for words, there in (((), "--max-nodes"), (("--pack", "fixed", "--batch", 7), "--batch"),
                             (("--curriculum", "random", "--tiers", 3), "--tiers"),
                             (("--curriculum", self.at("all.json")), "--curriculum"),
                             (("--order", "windowed:1M", "--graphs", "benign"), "--order")):
            with self.subTest(words=words):
                shown = self.shown("--epochs", 3, *words)
                self.assertIn(there, shown)
                self.assertEqual("--batch" in shown, "fixed" in shown)
                self.assertEqual(batches(self.cache, *shown, "--hash"),
                                 batches(self.cache, "--epochs", 3, *words, "--hash"))


if __name__ == "__main__":
    unittest.main()
