"""--memory is kept, and its advice is true: files made to take much memory, each with a limit that
is too little, and then with the one that the refusal names, once.

leat_counted counts the bytes that the command and its libraries have taken: with one thread that is
the same number in every run. The resident set, with more threads, is in test_memory_advice_slow.py.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import parquet_file as parquet
from test_memory import COUNTED, MIB, main

TOOL = os.path.join(os.path.dirname(COUNTED), "cli_tool_records")


def in_a_child(make):
    """Calls make in a process of its own. The peak that the system counts of a command begins with
    that of the process which started it, so this one must stay small."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            make()
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("the input could not be made")


class Counted(unittest.TestCase):
    command, always = COUNTED, ("--threads", "1")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-advice-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_leat(self, memory, *words):
        """Exit status, what it said, and its peak in MiB."""
        threads = () if "--threads" in words or words[0] == "cat" else self.always
        with open(self.path("said"), "w+", encoding="utf-8") as said:
            done = subprocess.Popen([self.command, *words, *threads, "--memory", f"{memory}M"],
                                    stdout=subprocess.DEVNULL, stderr=said,
                                    env={**os.environ, "LEAT_COUNTED_TO": self.path("peak")})
            _, status, usage = os.wait4(done.pid, 0)
            done.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            return done.returncode, said.read(), self.peak(usage)

    def peak(self, _):
        """What the command has counted; an older number must not pass for a new one."""
        with open(self.path("peak"), encoding="ascii") as file:
            peak = int(file.read()) / MIB
        os.remove(self.path("peak"))
        return peak

    def follow(self, memory, *words, passes=True):
        """Refused with so many MiB; then with what the refusal names, which is returned."""
        status, said, peak = self.run_leat(memory, *words)
        self.assertEqual(status, 1, said)
        named = re.search(r"use --memory (\d+)M", said)
        self.assertIsNotNone(named, said)
        enough = int(named.group(1))
        self.assertGreater(enough, memory)
        status, said, peak = self.run_leat(enough, *words)
        self.assertNotIn("--memory", said)
        if passes:
            self.assertEqual((status, said), (0, ""), words)
        self.assertLessEqual(peak, enough, words)
        return enough


class LongTexts(Counted):
    """Texts that a dictionary holds once and DuckDB would copy for each row."""

    def write(self, texts, rows, source="src_addr", other="dst_addr"):
        """A Parquet file of so many rows of each text, and one of an address; its rows."""
        in_a_child(lambda: self.write_here(texts, rows, source, other))
        return rows * len(texts)

    def write_here(self, texts, rows, source, other):
        count = rows * len(texts)
        columns = [parquet.numbers("event_time", [1700000000 + i for i in range(count)]),
                   parquet.coded(source, texts + [b"192.0.2.1"],
                                 [i // rows for i in range(count - 1)] + [len(texts)]),
                   parquet.coded(other, [b"9.9.9.9"], [0] * count),
                   parquet.floats("rtt", [5.0] * count)]
        parquet.write(self.path("x.parquet"), columns, count)

    def rejected(self):
        with open(self.path("data", "rejected.csv"), encoding="utf-8") as file:
            return file.read().splitlines()[1:]

    def check(self, memory, *words):
        status, said, peak = self.run_leat(memory, "ingest", "probes", self.path("x.parquet"), "-o",
                                           self.path("data"), *words)
        self.assertEqual(status, 0, said)
        self.assertLessEqual(peak, memory)

    def test_one_text(self):
        for column in (("src_addr", "dst_addr"), ("dst_addr", "src_addr")):
            count = self.write([b"x" * MIB], 2048, *column)
            self.check(128, "--replace")
            rows = self.rejected()
            self.assertEqual(len(rows), count - 1)
            reason = f"{column[0]}_unparsable"
            for number, row in enumerate(rows, 1):
                fields = row.split(",")
                self.assertEqual(fields[1:3], [str(number), reason])
                self.assertEqual(fields[4 if column[0] == "src_addr" else 5], "x" * 1024)

    def test_many_texts(self):
        in_a_child(lambda: self.write_here([bytes([97 + k]) * MIB for k in range(20)], 2048,
                                           "src_addr", "dst_addr"))
        self.check(128)
        self.assertEqual(len(self.rejected()), 20 * 2048 - 1)

    def test_letters_of_several_bytes(self):
        """A text is cut in letters and written in bytes."""
        for letters in ("\u00e4" * 5000, "\U0001f600" * 5000, "a" * 1023 + "\u00e4" * 5000):
            self.write([letters.encode()], 4096)
            self.check(128, "--replace")
            shown = self.path("data", "rejected.csv")
            with open(shown, "rb") as file:
                row = file.read().splitlines()[1]
            self.assertEqual(row.split(b",")[4], letters.encode()[:1024])

    def test_texts_that_grow_in_a_page(self):
        """A delta encoding repeats a text without writing it: refused within the limit."""
        def make():
            count = 2048
            columns = [parquet.numbers("event_time", [1700000000 + i for i in range(count)]),
                       parquet.repeated("src_addr", b"x" * MIB, count),
                       parquet.coded("dst_addr", [b"9.9.9.9"], [0] * count),
                       parquet.floats("rtt", [5.0] * count)]
            parquet.write(self.path("x.parquet"), columns, count)

        in_a_child(make)
        status, said, peak = self.run_leat(128, "ingest", "probes", self.path("x.parquet"), "-o",
                                           self.path("data"))
        self.assertEqual(status, 1)
        self.assertIn("x.parquet", said)
        self.assertLessEqual(peak, 128)


class Chunks(Counted):
    """ArrayRecord files of others, whose chunks are much larger than the files."""
    mib, few, rows = 100, 64, 100000
    commands = (("inspect",), ("inspect", "--verify"), ("cat",), ("batches",))

    def test_zeros(self):
        for compression in ("brotli:1", "zstd", "snappy"):
            path = self.path(f"{compression[:4]}.arrayrecord")
            subprocess.run([TOOL, path, compression, str(self.mib), "3"], check=True)
            for words in self.commands:
                status, said, peak = self.run_leat(self.few, *words, path)
                self.assertEqual(status, 1)
                self.assertRegex(said, r"arrayrecord.*use --memory \d+M")
                self.assertLessEqual(peak, self.few)
            # what is in it are no rows, which is said once there is memory for them
            self.follow(self.few, "cat", path, passes=False)

    def test_rows(self):
        with open(self.path("x.csv"), "w", encoding="ascii") as file:
            file.write("event_time,src_addr,dst_addr,rtt\n")
            file.writelines(f"{1700000000 + i},192.0.2.1,9.9.9.{i % 250},5\n"
                            for i in range(self.rows))
        for compression in ("none", "zstd"):
            status, said, _ = self.run_leat(512, "ingest", "probes", self.path("x.csv"), "-o",
                                            self.path("data"), "--replace", "--train-ratio", "1",
                                            "--max-row-size", "none", "--compression", compression)
            self.assertEqual(status, 0, said)
            path = self.path("data", "train", "train_shard_00000.arrayrecord")
            for words in self.commands:
                extra = ("--steps", "0:2") if words == ("batches",) else ()
                self.follow(20, *words, path, *extra)
            # our own are mapped, or read as before
            for words in self.commands:
                extra = ("--steps", "0:2") if words == ("batches",) else ()
                if words == ("batches",) and compression != "none":
                    continue
                status, said, _ = self.run_leat(20, *words, self.path("data"), *extra)
                self.assertEqual((status, said), (0, ""), words)


class Identifiers(Counted):
    """Vehicle logs in which each frame has an identifier of its own."""
    frames, limits = 150000, (("1", 16), ("1", 26))

    def test_one_number(self):
        folder = self.path("logs", "train_a")
        os.makedirs(folder)
        for k in range(3):
            with open(os.path.join(folder, f"{k}.csv"), "w", encoding="ascii") as file:
                file.write("timestamp,arbitration_id,data_field,attack\n")
                file.writelines(f"{1000 * k + i * 1e-3:.3f},{k * self.frames // 3 + i:08X},00,0\n"
                                for i in range(self.frames // 3))
        for threads, memory in self.limits:
            enough = self.follow(memory, "ingest", "can", self.path("logs"), "-o",
                                 self.path("cache"), "--threads", threads)
            self.assertLessEqual(enough, 90)  # about 30 are used
            shutil.rmtree(self.path("cache"))


class Least(Counted):
    """The limit that the help calls the least."""
    logs, frames, rows, threads = 3, 60000, 100000, ("1",)

    def least(self, command):
        done = subprocess.run([self.command, "ingest", command, "--help"], capture_output=True,
                              text=True, check=True)
        return int(re.search(r"--memory SIZE[^(]*\(at least (\d+)M", done.stdout).group(1))

    def works(self, least, *words):
        done = subprocess.run([self.command, "ingest", *words, "--memory", f"{least}M", "--json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        # its own count, because before exec a child has the peak of this interpreter
        self.assertLessEqual(json.loads(done.stdout)["memory_peak_bytes"], least * MIB, words)

    def test_of_probes(self):
        least = self.least("probes")
        with open(self.path("x.csv"), "w", encoding="ascii") as file:
            file.write("event_time,src_addr,dst_addr,rtt\n")
            file.writelines(f"{1700000000 + i},192.0.{i % 40}.{i % 250},9.9.9.{i % 7},{i % 90}.5\n"
                            for i in range(self.rows))
        for threads in self.threads:
            for words in ((), ("--train-ratio", "1"), ("--max-row-size", "none"),
                          ("--compression", "none"), ("--per-packet",)):
                self.works(least, "probes", self.path("x.csv"), "-o", self.path("data"),
                           "--replace", "--threads", threads, *words)

    def test_of_can(self):
        least = self.least("can")
        folder = self.path("logs", "train_a")
        os.makedirs(folder)
        for k in range(self.logs):
            with open(os.path.join(folder, f"{k}.csv"), "w", encoding="ascii") as file:
                file.write("timestamp,arbitration_id,data_field,attack\n")
                file.writelines(f"{i * 7919 % self.frames * 1e-3:.3f},{i % 97:03X},{k:04X},0\n"
                                for i in range(self.frames))
        for threads in self.threads:
            for words in ((), ("--captures", "merged"), ("--scaler", "robust_benign")):
                self.works(least, "can", self.path("logs"), "-o", self.path("cache"), "--threads",
                           threads, "--clock-steps", "sort", *words)
                shutil.rmtree(self.path("cache"))


if __name__ == "__main__":
    main(COUNTED, TOOL)
