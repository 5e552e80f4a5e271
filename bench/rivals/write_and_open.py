"""array_record writes, PyArrow opens: DIR MILLISECONDS FILE_BYTES.

Rows are like those of bench/formats.c.
"""
import os
import random
import sys
import time

import pyarrow as pa
from array_record.python.array_record_module import ArrayRecordWriter

from common import answer, peak_bytes

SMALL_ROW, LARGE_ROW, TARGETS = 235, 180_000, 300

folder, seconds, file_bytes = sys.argv[1], int(sys.argv[2]) / 1e3, int(sys.argv[3])
pick = random.Random(8)
targets = [f"32.{pick.randrange(256)}.{pick.randrange(256)}.{pick.randrange(256)}"
           for _ in range(TARGETS)]


def stream(columns):
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, batch.schema) as writer:
        writer.write_batch(batch)
    return out.getvalue().to_pybytes()


def make_row(n):
    first = 1_556_136_002_000_000
    times = [first + i * 180_000_000 for i in range(n)]
    body = stream({
        "event_time": pa.array(times, pa.timestamp("us")),
        "src_addr": pa.repeat(targets[0], n),
        "dst_addr": pa.array(pick.choices(targets, k=n)),
        "ip_version": pa.array([4] * n, pa.int8()),
        "rtt": pa.array([10.0 + i % 90 for i in range(n)], pa.float32())})
    return stream({
        "src_id": pa.array([1], pa.int64()), "measurements": pa.array([body], pa.binary()),
        "n_measurements": pa.array([n], pa.int32()),
        "time_span_seconds": pa.array([180.0 * (n - 1)]),
        "first_timestamp": pa.array(times[:1], pa.timestamp("us")),
        "last_timestamp": pa.array(times[-1:], pa.timestamp("us"))})


def write(record):
    path = os.path.join(folder, "rival.arrayrecord")
    writer = ArrayRecordWriter(path, "group_size:1,uncompressed")
    written = 0
    while written < file_bytes:
        writer.write(record)
        written += len(record)
    writer.close()
    os.remove(path)
    return written


def decode(record):
    outer = pa.ipc.open_stream(record).read_next_batch()
    inner = pa.ipc.open_stream(outer.column("measurements")[0].as_buffer()).read_next_batch()
    outer.validate(full=True)
    inner.validate(full=True)
    for name in ("event_time", "ip_version", "rtt"):
        inner.column(name).to_numpy(zero_copy_only=True)
    return inner.num_rows


def rate(work, record):
    work(record)
    units, begin = 0, time.monotonic()
    while (elapsed := time.monotonic() - begin) < seconds:
        units += work(record)
    return units / elapsed


small, large = make_row(SMALL_ROW), make_row(LARGE_ROW)
answer(write_small_bytes=rate(write, small), write_large_bytes=rate(write, large),
       decode_small_measurements=rate(decode, small),
       decode_large_measurements=rate(decode, large), small_row_bytes=len(small),
       large_row_bytes=len(large), memory_peak_bytes=peak_bytes())
