"""Probe rows as a tuned Python script writes them: IN OUTDIR THREADS WORKERS OPTIONS.

DuckDB aggregates the measurements of each source to an ordered list; worker processes take the
lists in slices, make the two Arrow IPC streams of each probe with PyArrow, and write them with
array_record, one shard per worker. DuckDB and the workers use the same cores: the workers wait
while the aggregation runs on all threads of DuckDB, and have the cores afterwards. Casts are done
once per slice, metadata of its rows is computed together, and columns of a probe are slices, not
copies. (The loop converts no Python value to an Arrow one: PyArrow would look for pandas.)
Memory is not limited. No fsync.
"""
import hashlib
import multiprocessing
import os
import struct
import sys
import time

PROBES_PER_SLICE = 128

QUERY = """SELECT src_addr,
  list({{event_time: event_time, dst_addr: dst_addr, ip_version: ip_version, rtt: rtt}}
       ORDER BY event_time) AS measurements
FROM '{source}' GROUP BY src_addr"""


def work(tasks, results, path, options):
    """Writes the probes of slices until there are no more."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from array_record.python.array_record_module import ArrayRecordWriter

    from common import peak_bytes

    inner = pa.schema([("event_time", pa.timestamp("us")), ("src_addr", pa.string()),
                       ("dst_addr", pa.string()), ("ip_version", pa.int8()),
                       ("rtt", pa.float32())])
    outer = pa.schema([("src_id", pa.int64()), ("measurements", pa.binary()),
                       ("n_measurements", pa.int32()), ("time_span_seconds", pa.float64()),
                       ("first_timestamp", pa.timestamp("us")),
                       ("last_timestamp", pa.timestamp("us"))])

    def stream(schema, columns):
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
        return out.getvalue()

    def src_id(source):
        return int(hashlib.md5(source.encode()).hexdigest()[:15], 16)

    def facts(sources, ends, times):
        """The columns of the outer rows of a slice except the measurements, as arrays."""
        first = times.take(pa.array(ends[:-1]))
        last = times.take(pa.array([end - 1 for end in ends[1:]]))
        span = pc.subtract(last.cast(pa.int64()), first.cast(pa.int64()))
        return (pa.array(map(src_id, sources), pa.int64()),
                pa.array([end - begin for begin, end in zip(ends, ends[1:])], pa.int32()),
                pc.divide(span.cast(pa.float64()), 1e6), first, last)

    def record(values, row):
        body = stream(inner, values)
        ends = pa.py_buffer(struct.pack("<ii", 0, body.size))
        return stream(outer, [row[0], pa.Array.from_buffers(pa.binary(), 1, [None, ends, body]),
                              *row[1:]])

    writer = ArrayRecordWriter(path, options)
    measurements = probes = 0
    results.put("ready")
    while (task := tasks.get()) is not None:
        for batch in pa.ipc.open_stream(task):
            sources = batch.column("src_addr").cast(pa.string())
            lists = batch.column("measurements")
            ends, values = lists.offsets.to_pylist(), lists.values
            times = values.field("event_time").cast(pa.timestamp("us"))
            columns = (values.field("dst_addr").cast(pa.string()),
                       values.field("ip_version").cast(pa.int8()),
                       pc.fill_null(values.field("rtt").cast(pa.float32()), -1))
            rows = facts(sources.to_pylist(), ends, times)
            for k, (source, begin, end) in enumerate(zip(sources, ends, ends[1:])):
                n = end - begin
                others = [column.slice(begin, n) for column in columns]
                values = [times.slice(begin, n), pa.repeat(source, n), *others]
                row = [column.slice(k, 1) for column in rows]
                writer.write(record(values, row).to_pybytes())
            measurements += ends[-1] - ends[0]
            probes += len(sources)
    writer.close()
    results.put((measurements, probes, peak_bytes()))


def main():
    source, folder, threads, workers, options = sys.argv[1:]
    workers = int(workers)
    start = multiprocessing.get_context("spawn")
    tasks, results = start.Queue(4 * workers), start.Queue()
    paths = [os.path.join(folder, f"{k:05d}.arrayrecord") for k in range(workers)]
    team = [start.Process(target=work, args=(tasks, results, path, options)) for path in paths]
    for each in team:
        each.start()

    import duckdb
    import pyarrow as pa

    from common import answer, peak_bytes

    db = duckdb.connect()
    db.execute(f"SET threads={int(threads)}")
    for _ in team:
        results.get()  # imports are done
    begin = time.monotonic()
    reader = db.sql(QUERY.format(source=source)).to_arrow_reader(2048)
    aggregated = None
    for batch in reader:
        aggregated = aggregated or time.monotonic() - begin
        for at in range(0, batch.num_rows, PROBES_PER_SLICE):
            out = pa.BufferOutputStream()
            with pa.ipc.new_stream(out, batch.schema) as writer:
                writer.write_batch(batch.slice(at, PROBES_PER_SLICE))
            tasks.put(out.getvalue().to_pybytes())
    for _ in team:
        tasks.put(None)
    done = [results.get() for _ in team]
    seconds = time.monotonic() - begin
    for each in team:
        each.join()
    answer(seconds=seconds, seconds_aggregated=aggregated,
           measurements=sum(each[0] for each in done), probes=sum(each[1] for each in done),
           bytes=sum(os.path.getsize(path) for path in paths),
           memory_peak_bytes=peak_bytes() + sum(each[2] for each in done))


if __name__ == "__main__":
    main()
