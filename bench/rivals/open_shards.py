"""array_record opens all shards of a data set and reads random records.

DIR OPTIONS RECORDS SEED
"""
import os
import random
import resource
import statistics
import sys
import time

from array_record.python.array_record_module import ArrayRecordReader

from common import answer, memory_bytes

folder, options, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
paths = sorted(os.path.join(where, name) for where, _, names in os.walk(folder)
               for name in names if name.endswith(".arrayrecord"))
before = memory_bytes("VmRSS")
begin = time.monotonic()
readers = [ArrayRecordReader(path, options) for path in paths]
counts = [reader.num_records() for reader in readers]
open_ms = (time.monotonic() - begin) * 1e3
open_bytes = memory_bytes("VmRSS") - before

pick = random.Random(seed)
samples = []
for shard in pick.choices(range(len(readers)), weights=counts, k=count):
    index = pick.randrange(counts[shard])
    begin = time.monotonic()
    readers[shard].read([index])
    samples.append((time.monotonic() - begin) * 1e6)
answer(open_ms=open_ms, record_us=statistics.median(samples), rows=sum(counts),
       shards=len(paths), open_bytes=open_bytes)
