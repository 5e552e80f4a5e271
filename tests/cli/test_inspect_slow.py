"""leat inspect --html of many probes of many sizes: what a figure shows reaches its last probe.

Runs the command named by LEAT (default: build/leat).
"""
import os
import re
import tempfile
import unittest

import pages
from command import leat


class Concentration(unittest.TestCase):
    def test_the_curve_ends_with_all_probes(self):
        """Sizes in more bins than the figure once had points for."""
        sizes = [1] * 20000 + [2] * 30 + list(range(3, 64))
        sizes += [(64 + i % 64) << (i // 64) for i in range(480)]
        with tempfile.TemporaryDirectory() as top:
            pings, data, page = (os.path.join(top, name) for name in ("a.csv", "data", "a.html"))
            with open(pings, "w", encoding="ascii") as file:
                file.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
                for number, size in enumerate(sizes):
                    source = f"10.0.{number >> 8}.{number & 255}"
                    file.writelines(f"{1700000000 + k},{source},192.0.2.1,4,1.5\n"
                                    for k in range(size))
            done = leat("ingest", "probes", pings, "-o", data, "--train-ratio", "1")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = leat("inspect", data, "--html", page)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(page, encoding="utf-8") as file:
                text = file.read()
        largest = sorted(sizes, reverse=True)
        held = sum(largest[:len(sizes) // 100]) / sum(sizes)
        shown = re.search(r"the largest 1 % of the probes hold <b>([0-9.]+) %", text).group(1)
        self.assertAlmostEqual(float(shown) / 100, held, delta=0.01)
        for title in ("Share held by the largest probes", "Measurements per row and per probe"):
            name = title.lower().replace(" ", "-") + ".csv"
            rows = pages.files(text)[name].decode().splitlines()[1:]
            points = [tuple(map(float, row.split(",")[-2:])) for row in rows]
            self.assertGreater(len(points), 100)
            if title.startswith("Share"):
                self.assertEqual(points[-1], (1.0, 1.0))
                steps = list(zip(points, points[1:]))
                self.assertTrue(all(a[0] < b[0] and a[1] <= b[1] for a, b in steps))
            else:
                self.assertEqual(max(x for x, _ in points), max(sizes))


if __name__ == "__main__":
    unittest.main()
