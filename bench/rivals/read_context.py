"""A context with array_record and PyArrow: SHARD RECORD, the places on stdin.

The first read is timed like leat's, in a fresh process; `again_us` is the fastest of five more
reads, with a warm interpreter.
"""
import sys
import time

import pyarrow as pa
from array_record.python.array_record_module import ArrayRecordReader

from common import answer

shard, record = sys.argv[1], int(sys.argv[2])
places = pa.array([int(line) for line in sys.stdin], pa.int64())
reader = ArrayRecordReader(shard, "readahead_buffer_size:0,max_parallelism:0")


def context():
    begin = time.monotonic()
    outer = pa.ipc.open_stream(reader.read([record])[0]).read_next_batch()
    inner = pa.ipc.open_stream(outer.column("measurements")[0].as_buffer()).read_next_batch()
    values = inner.take(places)
    return (time.monotonic() - begin) * 1e6, values


first, taken = context()
again = min(context()[0] for _ in range(5))
times = taken.column("event_time").cast(pa.int64()).to_pylist()
answer(context_us=first, again_us=again, time_sum=sum(times),
       rtt_sum=sum(taken.column("rtt").to_pylist()))
