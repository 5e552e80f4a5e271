"""Spoilt Arrow streams in ArrayRecord files that are valid: hashes are those of the spoilt bytes,
so that what is wrong reaches the reader of Arrow streams. What leat accepts must be what PyArrow
reads of the same bytes; what it calls damaged PyArrow must not read either, apart from a few things
named below; and nothing crashes, hangs or takes memory without bound.

LEAT_MUTATIONS and LEAT_MUTATIONS_SEED in the environment: how many, and others. Needs
scripts/python-env.sh; skipped, with a line that says so, where it could not be made.
"""
import collections
import csv
import io
import json
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import pyarrow as pa
    from array_record.python.array_record_module import ArrayRecordWriter
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)
import arrow_mutations as mutations

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
LEAT = os.environ.get("LEAT", os.path.join(BUILD, "leat"))
TOOL = os.path.join(BUILD, "tests", "oracle_tool_records")
COUNT = int(os.environ.get("LEAT_MUTATIONS", "800"))
SEED = int(os.environ.get("LEAT_MUTATIONS_SEED", "1"))
BATCH = 250  # records of a file
COMMANDS = max(6, COUNT // 250)  # files that the commands get
SANITIZED = bool(os.environ.get("LEAT_SANITIZE"))
GIB = 1 << 30


def limit_memory():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (12 * GIB, 12 * GIB))


def run(*words):
    return subprocess.run(words, capture_output=True, timeout=120, check=False,
                          preexec_fn=limit_memory)


def write(path, records, options="group_size:1,uncompressed"):
    writer = ArrayRecordWriter(path, options)
    for record in records:
        writer.write(record)
    writer.close()


def parse(data):
    """What tool rows said: (src_id, rows), or (code, message), of each record."""
    at, found = 0, []
    while at < len(data):
        good = data[at]
        at += 1
        if not good:
            code, size = struct.unpack_from("<II", data, at)
            found.append((code, data[at + 8:at + 8 + size].decode("utf-8", "replace")))
            at += 8 + size
            continue
        src_id, count = struct.unpack_from("<qq", data, at)
        at += 16
        rows = []
        for _ in range(count):
            time, rtt, version, size = struct.unpack_from("<qfBB", data, at)
            src = data[at + 14:at + 14 + size]
            at += 14 + size
            size = data[at]
            rows.append((time, src, data[at + 1:at + 1 + size], version, rtt))
            at += 1 + size
        found.append((src_id, rows))
    return found


def make(draw):
    """A record, spoilt somewhere."""
    rows = mutations.random_rows(draw)
    inner = mutations.inner_stream(draw, rows)
    facts = (rows[0][1], len(rows), rows[0][0], rows[-1][0])
    where = draw.random()
    if where < 0.75:
        inner = mutations.spoil(draw, inner)
        try:  # facts that are true of what it is now, so that they do not hide it
            now = mutations.read_measurements(inner)
            if now and draw.random() < 0.9:
                facts = (now[0][1].decode("utf-8", "replace"), len(now), now[0][0], now[-1][0])
                return finish(draw, inner, facts, where)
        except Exception:  # pylint: disable=broad-exception-caught
            pass
    return finish(draw, inner, facts, where)


def finish(draw, inner, facts, where):
    try:
        outer = mutations.outer_stream(inner, facts, draw)
    except (pa.ArrowException, OverflowError, TypeError):  # times beyond 64 bits
        outer = mutations.outer_stream(inner, ("192.0.2.1", facts[1], 0, 0), draw)
    return mutations.spoil(draw, outer) if where > 0.6 else outer


def read(record):
    """(src_id, rows) by PyArrow; None where it refuses the stream, or what it has is no row."""
    try:
        return mutations.read_row(record)
    except (pa.ArrowException, ValueError, KeyError, IndexError, TypeError, AttributeError,
            OverflowError, MemoryError, UnicodeError, OSError):
        return None


def is_invalid(record):
    """What leat must not accept, although PyArrow cannot tell what it is."""
    try:
        inner = pa.ipc.open_stream(record).read_all()["measurements"][0].as_buffer()
    except (pa.ArrowException, ValueError, KeyError, IndexError, TypeError, AttributeError,
            OSError, MemoryError, UnicodeError):
        return False
    return mutations.is_invalid(inner)


class Mutations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        if not SANITIZED:  # a size that was spoilt must not make PyArrow take all memory
            resource.setrlimit(resource.RLIMIT_AS, (12 * GIB, hard))
            cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_AS, (soft, hard))
        draw = random.Random(SEED)
        cls.records = [make(draw) for _ in range(COUNT)]

    def test_rows(self):
        """Every way of reading each of them, against PyArrow."""
        tally, odd = collections.Counter(), collections.Counter()
        for begin in range(0, COUNT, BATCH):
            part = self.records[begin:begin + BATCH]
            path = os.path.join(self.folder, "rows.arrayrecord")
            write(path, part, f"group_size:{1 + begin % 3},uncompressed")
            done = run(TOOL, "rows", path)
            self.assertEqual(done.returncode, 0, f"records {begin} and on: {done.stderr[-2000:]}")
            found = parse(done.stdout)
            self.assertEqual(len(found), len(part))
            for number, (have, record) in enumerate(zip(found, part), begin):
                want = read(record)
                accepted = isinstance(have[1], list)
                if accepted and want is not None:
                    self.assertEqual(have, want, f"record {number}")
                elif accepted:
                    self.assertFalse(is_invalid(record), f"record {number}: {have}")
                elif not accepted and want is not None:
                    odd[re.sub(r"\d+", "N", re.sub(r'"[^"]*"', '"..."', have[1]))] += 1
                tally[accepted, want is not None] += 1
        print(f"  {COUNT} records: {tally[True, True]} read alike, {tally[False, False]} refused by"
              f" both, {tally[False, True]} refused by leat alone, {tally[True, False]} by PyArrow")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        print(f"  peak memory of leat {peak} MiB")
        for message, count in odd.most_common():
            print(f"  {count:6d} {message}")
        self.assertGreater(tally[True, True], COUNT // 20)
        self.assertGreater(tally[False, False], COUNT // 20)

    def test_commands(self):
        """inspect --verify, cat and batches on files in which one record is spoilt."""
        draw = random.Random(SEED + 1)
        whole = [mutations.outer_stream(mutations.inner_stream(draw, rows), (
            rows[0][1], len(rows), rows[0][0], rows[-1][0]))
            for rows in (mutations.random_rows(draw) for _ in range(4))]
        path = os.path.join(self.folder, "train.arrayrecord")
        tally = collections.Counter()
        for number in range(COMMANDS):
            spoilt = self.records[draw.randrange(COUNT)]
            options = draw.choice(("group_size:1,uncompressed", "group_size:2,zstd:1",
                                   "group_size:3,snappy", "group_size:1,brotli:2"))
            write(path, whole[:2] + [spoilt] + whole[2:], options)
            found = parse(run(TOOL, "rows", path).stdout)
            good = isinstance(found[2][1], list)
            inspected = run(LEAT, "inspect", "--verify", "--json", path)
            listed = run(LEAT, "cat", "--format", "csv", path)
            made = run(LEAT, "batches", path, "--batch", "2", "--length", "64", "--steps", "0:3",
                       "--hash")
            words = f"spoilt record {number}: {found[2]}"
            for done in (inspected, listed, made):
                self.assertIn(done.returncode, (0, 1), words + done.stderr.decode()[-2000:])
                self.assertEqual(done.returncode == 0, not done.stderr, words)
            self.assertEqual(listed.returncode == 0, good, words)
            self.assertEqual(made.returncode == 0, good, words + made.stderr.decode())
            self.assertEqual(inspected.returncode == 0, good, words + inspected.stderr.decode())
            tally[good] += 1
            if good:
                rows = list(csv.DictReader(io.StringIO(listed.stdout.decode())))
                self.assertEqual(len(rows), sum(len(row[1]) for row in found))
                json.loads(inspected.stdout)
        print(f"  {COMMANDS} files for commands: {tally[True]} accepted, {tally[False]} refused")
        self.assertGreater(tally[False], 0)


if __name__ == "__main__":
    unittest.main()
