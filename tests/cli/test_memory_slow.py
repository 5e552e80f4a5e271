"""The promise of --memory with more data than test_memory.py has: millions of rows in 256 MiB, and
tens of thousands of shards in as little as is accepted.
"""
import os
import sys
import unittest

from test_memory import LEAST, LEAT, Promise


class Large(Promise):
    room_bytes = 6 << 30

    def test_rotating_probes(self):
        rows = self.write_rotating(400000, 5)
        for memory, threads in ((256, "2"), (LEAST, "8")):
            self.check(rows, memory, "--threads", threads)
            self.drop()

    def test_one_probe(self):
        rows = self.write_heavy(3000000)
        for memory, words in ((256, ()), (LEAST, ("--max-row-size", "none")),
                              (LEAST, ("--threads", "8", "--dictionary-src"))):
            self.check(rows, memory, *words)
            self.drop()

    def test_one_probe_a_shard(self):
        rows = self.write_rotating(45000, 1)
        self.check(rows, LEAST, "--probes-per-shard", "1")
        self.check(rows, LEAST, "--probes-per-shard", "1", "--replace")

    def test_one_shard(self):
        rows = self.write_rotating(300000, 4)
        few = ("--shards", "2", "--train-ratio", "0.5", "--max-row-size", "1024")
        for memory, words in ((256, ("--shards", "1")), (LEAST, ("--shards", "1")), (64, few)):
            self.check(rows, memory, *words)
            self.drop()


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    if os.environ.get("LEAT_SANITIZE"):
        print("skipped: a sanitizer takes memory of its own")
        sys.exit(77)
    unittest.main()
