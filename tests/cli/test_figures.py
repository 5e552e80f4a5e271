"""The figures of pages: their numbers, counted here from what went in.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import json
import os
import re
import shutil
import tempfile
import unittest

import pages
import pings
from command import leat

DATA = None  # a folder with the data sets `set` and `few`
FEW = collections.Counter()  # the round trips of `few`, in ms


def ingest(name):
    leat("ingest", "probes", os.path.join(DATA, name + ".csv"), "-o", os.path.join(DATA, name),
         status=0)


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-figures-")
    pings.write_csv(os.path.join(DATA, "set.csv"))
    with open(os.path.join(DATA, "few.csv"), "w", encoding="utf-8") as out:
        out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
        for i in range(3000):
            rtt = ("5", "20", "300.5", "20")[i % 7 % 4]
            FEW[rtt] += 1
            out.write(f"{1556136000 + i // 10 * 240},192.0.2.{i % 10},198.51.100.7,4,{rtt}\n")
    for name in ("set", "few"):
        ingest(name)


def tearDownModule():
    shutil.rmtree(DATA)


def inspected(name):
    """The figures of the page by title, and the document."""
    path = os.path.join(DATA, "page.html")
    document = leat("inspect", os.path.join(DATA, name), "--json", "--html", path, status=0)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return pages.figures(text), json.loads(document.stdout), text


class Histograms(unittest.TestCase):
    def test_few_values_are_bars_with_their_values(self):
        figures, _, text = inspected("few")
        pages.check_labels(self, text)
        figure = figures["Round trip time"]
        told = [re.fullmatch(r"([\d.]+) ms to ([\d.]+) ms: ([\d.]+) % of the answers \(([\d,]+)\)",
                             words).groups() for words in pages.tooltips(figure)]
        self.assertEqual(len(told), 3)
        for rtt, (low, high, share, count) in zip(("5", "20", "300.5"), told):
            self.assertTrue(float(low) <= float(rtt) <= float(high) + 0.5, told)
            self.assertLess(float(high), 1.02 * float(low))
            self.assertEqual(count, f"{FEW[rtt]:,}")
            self.assertEqual(share, f"{100 * FEW[rtt] / 3000:.1f}")
            self.assertIn(f'class="marked">{share} %</text>', figure)
        self.assertNotIn("log scale", figure)
        self.assertEqual(pages.tooltips(figures["Gap between measurements"]),
                         ["240 s: 100.0 % of the gaps (2,990)"])

    def test_every_value_is_in_one_bar(self):
        figures, document, _ = inspected("set")
        values = document["values"]
        for title, of in (("Round trip time", values["rtt_ms"]),
                          ("Gap between measurements", values["gap_seconds"]),
                          ("Row size", document["row_bytes"])):
            counts = pages.counts(figures[title])
            self.assertGreater(len(counts), 0)
            self.assertGreater(min(counts), 0, "a bar of nothing")
            self.assertEqual(sum(counts), of["count"], title)


if __name__ == "__main__":
    unittest.main()
