"""The promise of --memory by the resident set, as the system counts it, libraries included: the
inputs of test_memory.py with several threads and more data; millions of rows in 256 MiB, and tens
of thousands of shards in as little as is accepted.

Runs the command named by LEAT (default: build/leat).
"""
# Alone: the resident set depends on what the system has left for it.
import os

import test_memory
from test_memory import LEAST, ROOT, main

LEAT = os.environ.get("LEAT", os.path.join(ROOT, "build", "leat"))


class LeastLimit(test_memory.LeastLimit):
    command, threads, always = LEAT, ("1", "3"), ()
    room_bytes = 2 << 30


class ManyIdentifiers(test_memory.ManyIdentifiers):
    command, threads, logs, frames = LEAT, "8", 8, 75000
    little, enough, bound = 60, 140, 220


class Large(test_memory.Promise):
    command, always = LEAT, ()
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
    main(LEAT)
