"""The promise of --memory: inputs made to break it, at the least limit that is accepted.

Each input is ingested with the limit that the refusals of smaller ones name, and memory_peak_bytes
must stay under it. leat_counted counts the bytes that the command and its libraries have taken:
with one thread that is the same number in every run. The resident set, with more threads and more
data, is in test_memory_slow.py.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COUNTED = os.path.join(os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build")), "tests",
                       "leat_counted")
MIB = 1 << 20
LEAST = 48  # MiB; the least that the options accept
# Thousands of shards are synced one by one, which costs nothing in a file system in memory.
IN_MEMORY = "/dev/shm"


def address(number):
    return f"2001:db8:{number & 0xffff:x}:{number >> 16:x}:1234:5678:9abc:def0"


class Promise(unittest.TestCase):
    command, threads, always = COUNTED, ("1",), ("--threads", "1")
    room_bytes = 1 << 30

    def setUp(self):
        shm = "TMPDIR" not in os.environ and os.access(IN_MEMORY, os.W_OK)
        shm = shm and shutil.disk_usage(IN_MEMORY).free > self.room_bytes
        self.folder = tempfile.mkdtemp(prefix="leat-memory-", dir=IN_MEMORY if shm else None)
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "x.csv")

    def write(self, lines):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("event_time,src_addr,dst_addr,rtt\n")
            file.writelines(lines)

    def write_rotating(self, probes, rounds):
        """Each probe once, then each once more: no table of addresses that is smaller helps."""
        known = [address(i) for i in range(probes)]
        self.write(f"{1700000000 + 60 * i},{probe},2001:db8::1,5\n" for i in range(rounds)
                   for probe in known)
        return probes * rounds

    def write_heavy(self, rows):
        """One probe has nearly all measurements."""
        self.write(f"{1700000000 + i},{'192.0.2.1' if i % 50 else f'10.1.{i // 50 % 250}.1'},"
                   f"9.9.9.{i % 250},5\n" for i in range(rows))
        return rows

    def run_leat(self, memory, *words):
        always = () if "--threads" in words else self.always
        return subprocess.run([self.command, "ingest", "probes", self.path, "-o",
                               os.path.join(self.folder, "data"), "--json", "--memory",
                               f"{memory}M", *always, *words], capture_output=True, text=True,
                              timeout=500, check=False)

    def check(self, rows, memory, *words):
        """Ingests within so many MiB, or the least that is accepted above them: one number before
        the data are read, and one, which may be larger, when they are known."""
        done = self.run_leat(memory, *words)
        for _ in range(2):
            named = re.search(r"at least (\d+) MiB", done.stderr)
            if named is None:
                break
            self.assertGreater(int(named.group(1)), memory)
            memory = int(named.group(1))
            done = self.run_leat(memory, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        result = json.loads(done.stdout)
        self.assertEqual(result["measurements"], rows)
        self.assertEqual(result["memory_limit_bytes"], memory * MIB)
        self.assertLessEqual(result["memory_peak_bytes"], memory * MIB, words)
        return memory

    def drop(self):
        shutil.rmtree(os.path.join(self.folder, "data"))


class LeastLimit(Promise):
    rotating, heavy, small_shards, one_shard = (100000, 4), 500000, 2000, (150000, 2)

    def test_rotating_probes(self):
        rows = self.write_rotating(*self.rotating)
        for threads in self.threads:
            self.check(rows, LEAST, "--threads", threads)
            self.drop()

    def test_one_probe(self):
        rows = self.write_heavy(self.heavy)
        for words in ((), ("--max-row-size", "none", "--split", "ordered"),
                      ("--max-row-size", "4096", "--compression", "zstd")):
            self.check(rows, LEAST, *words)
            self.drop()

    def test_one_probe_a_shard(self):
        rows = self.write_rotating(self.small_shards, 1)
        self.check(rows, LEAST, "--probes-per-shard", "1")
        self.check(rows, LEAST, "--probes-per-shard", "1", "--replace")

    def test_one_shard(self):
        rows = self.write_rotating(*self.one_shard)
        for words in (("--shards", "1"), ("--shards", "1", "--train-ratio", "0.5",
                                          "--max-row-size", "1024")):
            self.check(rows, LEAST, *words)
            self.drop()

    def test_refused_before_anything_is_read(self):
        """What no row can be written in is refused at once, not after a scan of everything."""
        rows = self.write_heavy(1000)
        least = self.check(rows, LEAST)
        self.drop()
        with open(self.path, "a", encoding="ascii") as file:
            file.write("no measurement\n") # --strict: reading this would be the error
        for compression in ("brotli:5", "brotli:11"):
            done = self.run_leat(least, "--strict", "--compression", compression)
            self.assertRegex(done.stderr, r"too low to write these rows.*at least \d+ MiB")


class ManyIdentifiers(unittest.TestCase):
    """Vehicle logs whose frames all have identifiers of their own: tables of identifiers are most
    of the memory, and each thread that plans has one."""
    command, threads, logs, frames = COUNTED, "1", 4, 20000
    little, enough = 16, 24  # MiB

    def run_leat(self, folder, memory):
        return subprocess.run([self.command, "ingest", "can", os.path.join(folder, "logs"), "-o",
                               os.path.join(folder, "cache"), "--json", "--threads", self.threads,
                               "--memory", f"{memory}M"], capture_output=True, text=True,
                              timeout=500, check=False)

    def test_the_limit_holds(self):
        folder = tempfile.mkdtemp(prefix="leat-memory-")
        self.addCleanup(shutil.rmtree, folder)
        train = os.path.join(folder, "logs", "train_a")
        os.makedirs(train)
        for k in range(self.logs):
            with open(os.path.join(train, f"{k}.csv"), "w", encoding="ascii") as file:
                file.write("timestamp,arbitration_id,data_field,attack\n")
                file.writelines(f"{1000 * k + i * 1e-3:.3f},{k * self.frames + i:08X},00,0\n"
                                for i in range(self.frames))
        done = self.run_leat(folder, self.little)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "--memory")
        enough = self.enough
        done = self.run_leat(folder, enough)
        advised = re.search(r"use --memory (\d+)M\n\Z", done.stderr)
        if self.threads != "1" and advised:
            # How full the tables of several threads are depends on which of them read what: a limit
            # near what is needed may be too low. The one that the message names never is.
            enough = int(advised[1])
            self.assertLess(enough, self.bound)
            done = self.run_leat(folder, enough)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual(result["identifiers"], self.logs * self.frames)
        self.assertLessEqual(result["memory_peak_bytes"], enough * MIB)


def main(*commands):
    """Runs the tests of a file, where its commands are built and their memory is theirs."""
    for command in commands:
        if not os.access(command, os.X_OK):
            print(f"skipped: {command} is not built")
            sys.exit(77)
    if os.environ.get("LEAT_SANITIZE"):
        print("skipped: a sanitizer takes memory of its own")
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main(COUNTED)
