"""What train and test share, as leat ingest probes and leat inspect count it: paths in either
direction, sources and destinations.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import random
import unittest

import folder
from command import leat

T0 = 1600000000


class Overlap(folder.Folder):
    def mesh(self, hosts=40, rows=3000):
        """Some hosts measure each other, others only servers of their own."""
        rng = random.Random(7)
        lines = ["event_time,src_addr,dst_addr,rtt,id\n"]
        for i in range(rows):
            a = rng.randrange(2 * hosts)
            target = f"192.0.2.{rng.randrange(hosts)}" if a < hosts else f"198.51.100.{a}"
            lines.append(f"{T0 + i},192.0.2.{a},{target},{i % 50 + 1},{a // 2}\n")
        return self.write("mesh.csv", "".join(lines))

    def ingest(self, *options):
        done = leat("ingest", "probes", self.at("mesh.csv"), "-o", self.at("data"), "--replace",
                    "--json", *options, status=0)
        shared = json.loads(done.stdout)["overlap"]
        with open(self.at("data", "run.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["overlap"], shared)
        told = json.loads(leat("inspect", self.at("data"), "--json", "--read", "0",
                               status=0).stdout)
        self.assertEqual(told["ingest"]["overlap"], shared)
        return shared

    def paths(self, split):
        text = leat("cat", os.path.join(self.at("data"), split), "--format", "ndjson",
                    status=0).stdout
        return [(each["src_addr"], each["dst_addr"]) for each in map(json.loads,
                                                                     text.splitlines())]

    def counted(self):
        train, test = self.paths("train"), self.paths("test")
        either = {frozenset(path) for path in train}
        sources, targets = ({path[i] for path in train} for i in (0, 1))
        tested, reached = ({path[i] for path in test} for i in (0, 1))
        return {"measurements": len(test), "pairs_sample": 1, "hosts_sample": 1,
                "mirrored": sum(frozenset(path) in either for path in test),
                "sources": len(tested), "sources_shared": len(tested & (sources | targets)),
                "destinations": len(reached), "destinations_shared": len(reached & targets)}

    def test_counts(self):
        self.mesh()
        for options in ([], ["--split", "ordered"], ["--probe", "id"], ["--spill", "always"]):
            found = [self.ingest("--train-ratio", "0.8", "--threads", threads, *options)
                     for threads in (1, 3)]
            self.assertEqual(found, [self.counted()] * 2)
            self.assertTrue(0 < found[0]["mirrored"] < found[0]["measurements"])
        self.ingest("--train-ratio", "0.8")
        want = self.counted()
        again = leat("ingest", "probes", self.at("mesh.csv"), "-o", self.at("data"),
                     "--train-ratio", "0.8", "--resume", "--json", status=0).stdout
        self.assertEqual(json.loads(again)["overlap"], want)
        said = leat("inspect", self.at("data"), status=0).stdout
        self.assertIn(f"  shared       {want['mirrored']} of {want['measurements']} test "
                      "measurements are between hosts of a path in train, in either direction\n"
                      f"               of the hosts in test, {want['sources_shared']} of "
                      f"{want['sources']} sources and {want['destinations_shared']} of "
                      f"{want['destinations']} destinations are in train as well\n", said)

    def test_one_split(self):
        self.mesh(rows=50)
        for ratio in ("1", "0"):
            found = self.ingest("--train-ratio", ratio)
            self.assertEqual((found["mirrored"], found["sources_shared"]), (0, 0))
            self.assertEqual(found["measurements"], 0 if ratio == "1" else 50)

    def test_not_known(self):
        """A data set of an earlier version."""
        self.mesh(rows=50)
        self.ingest()
        path = self.at("data", "run.json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        for value in (None, {"mirrored": 1}, "x"):
            run["overlap"] = value
            with open(path, "w", encoding="utf-8") as file:
                json.dump(run, file)
            told = json.loads(leat("inspect", self.at("data"), "--json", status=0).stdout)
            self.assertIsNone(told["ingest"]["overlap"])
            self.assertNotIn("  shared ", leat("inspect", self.at("data"), status=0).stdout)

    def test_more_pairs_than_are_kept(self):
        if os.environ.get("LEAT_SANITIZE"):
            self.skipTest("a sanitizer takes memory of its own, which decides the number")
        lines = [f"{T0 + i},10.{i % 200}.0.1,10.{i * 7 % 200}.{i // 200 % 250}.1,5\n"
                 for i in range(40000)]
        told = set()
        for order in (lines, lines[::-1]):
            self.write("mesh.csv", "event_time,src_addr,dst_addr,rtt\n" + "".join(order))
            for threads in (1, 3):
                told.add(json.dumps(self.ingest("--memory", "64M", "--threads", threads)))
        self.assertEqual(len(told), 1)
        found = json.loads(told.pop())
        self.assertLess(found["pairs_sample"], 1)
        said = leat("inspect", self.at("data"), status=0).stdout
        self.assertIn(f"(in a sample, 1/{1 / found['pairs_sample']:.0f} of the pairs of hosts)",
                      said)


if __name__ == "__main__":
    unittest.main()
