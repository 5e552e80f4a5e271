"""leat's ArrayRecord files in Google's reader, and its writer's in leat, with options drawn at
random: compressions and levels, records of a chunk, padding, windows; ways of reading, buffers read
ahead, threads, where the index is kept. And data sets with options of ingest drawn at random.

LEAT_OPTIONS and LEAT_OPTIONS_SEED in the environment: how many, and others. Needs
scripts/python-env.sh; skipped, with a line that says so, where it could not be made.
"""
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    from array_record.python import array_record_data_source
    from array_record.python.array_record_module import ArrayRecordReader, ArrayRecordWriter
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)
import test_owners as owners

TOOL = os.path.join(os.environ.get("LEAT_BUILD", os.path.join(owners.ROOT, "build")), "tests",
                    "oracle_tool_records")
COUNT = int(os.environ.get("LEAT_OPTIONS", "40"))
SEED = int(os.environ.get("LEAT_OPTIONS_SEED", "1"))
SIZES = (0, 1, 2, 3, 127, 128, 1000, 4096, 65400, 65467, 65468, 65509, 65536, 70000, 131024, 300000)


def random_records(draw):
    """Records of all sizes, some that compress well."""
    count = draw.choice((0, 1, 2, 3, 10, 63, 64, 65, 200))
    large = draw.choice(SIZES)
    if draw.random() < 0.2:  # chunks of fewer bytes than records
        return [b""] * draw.choice((1, 1200, 1200))
    records = []
    for _ in range(count):
        size = large if draw.random() < 0.1 else draw.randrange(300)
        records.append(draw.randbytes(size) if draw.random() < 0.5 else
                       draw.randbytes(1 + size // 50) * 50)
    if draw.random() < 0.1:
        records.append(draw.randbytes(3 << 20))
    return records


def framed(records):
    return b"".join(struct.pack("<I", len(record)) + record for record in records)


def tool(*words, **more):
    return subprocess.run([TOOL, *words], capture_output=True, timeout=120, check=False, **more)


def compression(draw):
    """For leat: its name is the same as Google's but for none."""
    return draw.choice(("none", "snappy", "zstd", "brotli", f"zstd:{draw.randint(-50, 19)}",
                        f"zstd:{draw.choice((-131072, 0, 22))}", f"brotli:{draw.randint(0, 11)}"))


def reader_options(draw):
    options = [f"readahead_buffer_size:{draw.choice((0, 1, 4096, 65536, '1M', '16M', 'auto'))}",
               f"max_parallelism:{draw.choice((0, 1, 2, 8, 'auto'))}"]
    prefetch = draw.choice(("footer_prefetch_bytes:0,index_storage_option:offloaded",
                            "footer_prefetch_bytes:0", "footer_prefetch_bytes:1",
                            "footer_prefetch_bytes:65537", "footer_prefetch_bytes:1M",
                            "index_storage_option:in_memory", ""))
    options = draw.sample(options, draw.randrange(3)) + ([prefetch] if prefetch else [])
    return ",".join(draw.sample(options, len(options)))


def writer_options(draw):
    """Of Google's writer."""
    codec = draw.choice(("uncompressed", "snappy", "zstd", "brotli", "", "default"))
    if codec in ("zstd", "brotli"):
        codec += draw.choice(("", f":{draw.randint(0, 11)}", ":1"))
    options = [f"group_size:{draw.choice((1, 1, 2, 3, 64, 1000, 65536))}"]
    if codec and codec != "default":
        options.append(codec)
    if codec == "" or codec.startswith(("zstd", "brotli")):
        window = draw.choice((draw.randint(10, 24), 25, 30))
        options += draw.choice(([], [f"window_log:{window}"], ["window_log:auto"]))
    options += draw.choice(([], ["pad_to_block_boundary:true"], ["pad_to_block_boundary:false"]))
    options += draw.choice(([], ["max_parallelism:4", "saturation_delay_ms:1"]))
    options = draw.sample(options, len(options))
    return ",".join(["default"] * (codec == "default") + options)


class Random(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "some.arrayrecord")

    def check_reader(self, draw, records, options):
        """Google's reader with these options: all, stretches, lists, one after the other."""
        reader = ArrayRecordReader(self.path, options)
        self.assertTrue(reader.ok())
        count = len(records)
        self.assertEqual(reader.num_records(), count)
        self.assertEqual(reader.read_all(), records)
        if count == 0:
            return
        for _ in range(4):
            first = draw.randrange(count)
            end = draw.randint(first + 1, count)
            self.assertEqual(reader.read(first, end), records[first:end])
            picked = [draw.randrange(count) for _ in range(draw.choice((1, 2, 30)))]
            self.assertEqual(reader.read(picked), [records[i] for i in picked])
            at = draw.randrange(count)
            reader.seek(at)
            for i in range(at, min(count, at + 5)):
                self.assertEqual(reader.read(), records[i])
        self.assertEqual(reader.read(-count, -1) if count > 1 else [], records[:-1])
        reader.close()

    def check_source(self, draw, records):
        """What Grain reads through: of the whole file, and of a part of it."""
        count = len(records)
        if count == 0:
            return
        first = draw.randrange(count)
        for path, part in ((self.path, records), (f"{self.path}[{first}:{count}]",
                                                  records[first:])):
            with array_record_data_source.ArrayRecordDataSource([path]) as source:
                self.assertEqual(len(source), len(part))
                picked = [draw.randrange(len(part)) for _ in range(20)]
                self.assertEqual(list(source.__getitems__(picked)), [part[i] for i in picked])
                self.assertEqual(source[picked[0]], part[picked[0]])

    def test_ours_in_theirs(self):
        draw = random.Random(SEED)
        for number in range(COUNT):
            records, words = random_records(draw), (compression(draw), str(draw.choice((
                1, 1, 2, 3, 64, 1000))), draw.choice("01"))
            with self.subTest(number=number, count=len(records), words=words):
                done = tool("write", self.path, *words, input=framed(records))
                self.assertEqual(done.returncode, 0, done.stderr)
                for options in {"", reader_options(draw), reader_options(draw)}:
                    with self.subTest(options=options):
                        self.check_reader(draw, records, options)
                if words[1] == "1":
                    self.check_source(draw, records)

    def test_theirs_in_ours(self):
        draw = random.Random(SEED + 1)
        for number in range(COUNT):
            records, options = random_records(draw), writer_options(draw)
            with self.subTest(number=number, count=len(records), options=options):
                writer = ArrayRecordWriter(self.path, options)
                for record in records:
                    writer.write(record)
                writer.close()
                done = tool("read", self.path, str(draw.getrandbits(63)))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, framed(records))

    def test_transposed(self):
        """The one kind of file that leat does not read, it names."""
        writer = ArrayRecordWriter(self.path, "transpose:true,group_size:3")
        for record in (b"a", b"bc", b""):
            writer.write(record)
        writer.close()
        self.assertIn(b"transpose:false", tool("read", self.path, "1").stderr)

    def test_data_sets(self):
        draw = random.Random(SEED + 2)
        raw = os.path.join(self.folder, "raw.csv")
        owners.leat("synth", "probes", "--measurements", "4000", "--probes", "60", "-o", raw)
        expected, fewer = None, owners.LeatToOwners("check_record")
        for number in range(max(3, COUNT // 8)):
            words = ["--compression", compression(draw), "--max-row-size",
                     draw.choice(("none", "1K", "2000", "64K", "8M")), "--seed",
                     str(draw.randrange(100)), "--train-ratio", draw.choice(("0.5", "0.9"))]
            words += draw.choice(([], ["--dictionary-src"]))
            words += draw.choice(([], ["--probes-per-shard", str(draw.choice((1, 2, 7)))],
                                  ["--shards", "3"]))
            out = os.path.join(self.folder, f"data{number}")
            with self.subTest(words=words):
                owners.leat("ingest", "probes", raw, "-o", out, *words)
                paths = sorted(glob.glob(f"{out}/t*/*.arrayrecord"))
                with array_record_data_source.ArrayRecordDataSource(paths) as source:
                    order = draw.sample(range(len(source)), len(source))
                    found = [row for i in order for row in fewer.check_record(source[i])]
                found.sort(key=owners.sort_key)
                expected = expected or found
                self.assertEqual(len(found), 4000)
                self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
