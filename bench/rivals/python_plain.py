"""Probe rows as a first script writes them: IN OUTDIR THREADS WORKERS OPTIONS.

DuckDB returns the ordered list of each source as Python values; a pool of processes makes the two
Arrow streams of a probe with pa.table and pa.ipc; array_record writes them, one file. This is what
the design of the rows suggests to a user, without the tuning of python_rows.py. Memory is not
limited. No fsync. Starting the processes and their imports are not counted.
"""
import functools
import hashlib
import multiprocessing
import os
import sys
import time

PROBES_PER_FETCH = 1000
PROBES_PER_TASK = 64

QUERY = """SELECT src_addr,
  list({{event_time: event_time::TIMESTAMP, dst_addr: dst_addr, ip_version: ip_version, rtt: rtt}}
       ORDER BY event_time) AS measurements
FROM '{source}' GROUP BY src_addr"""


@functools.cache
def schemas():
    import pyarrow as pa

    inner = pa.schema([("event_time", pa.timestamp("us")), ("src_addr", pa.string()),
                       ("dst_addr", pa.string()), ("ip_version", pa.int8()),
                       ("rtt", pa.float32())])
    outer = pa.schema([("src_id", pa.int64()), ("measurements", pa.binary()),
                       ("n_measurements", pa.int32()), ("time_span_seconds", pa.float64()),
                       ("first_timestamp", pa.timestamp("us")),
                       ("last_timestamp", pa.timestamp("us"))])
    return inner, outer


def stream(table):
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


def record(probe):
    """The bytes of one probe's row: (source, measurements in order of time)."""
    import pyarrow as pa

    source, measurements = probe
    inner, outer = schemas()
    times = [m["event_time"] for m in measurements]
    table = pa.table({
        "event_time": times,
        "src_addr": [source] * len(measurements),
        "dst_addr": [m["dst_addr"] for m in measurements],
        "ip_version": [m["ip_version"] for m in measurements],
        "rtt": [-1.0 if m["rtt"] is None else m["rtt"] for m in measurements],
    }, schema=inner)
    row = pa.table({
        "src_id": [int(hashlib.md5(source.encode()).hexdigest()[:15], 16)],
        "measurements": [stream(table)],
        "n_measurements": [len(measurements)],
        "time_span_seconds": [(times[-1] - times[0]).total_seconds()],
        "first_timestamp": [times[0]],
        "last_timestamp": [times[-1]],
    }, schema=outer)
    return len(measurements), stream(row)


def work_memory(_):
    from common import peak_bytes

    time.sleep(0.2)  # so that each process of the pool answers once
    return os.getpid(), peak_bytes()


def main():
    source, folder, threads, workers, options = sys.argv[1:]
    workers = int(workers)
    import duckdb
    from array_record.python.array_record_module import ArrayRecordWriter

    from common import answer, peak_bytes

    db = duckdb.connect()
    db.execute(f"SET threads={int(threads)}")
    with multiprocessing.get_context("spawn").Pool(workers, initializer=schemas) as pool:
        pool.map(work_memory, range(workers), 1)
        begin = time.monotonic()
        rows = db.execute(QUERY.format(source=source))
        path = os.path.join(folder, "rows.arrayrecord")
        writer = ArrayRecordWriter(path, options)
        measurements = probes = 0
        while fetched := rows.fetchmany(PROBES_PER_FETCH):
            for count, bytes_ in pool.imap(record, fetched, PROBES_PER_TASK):
                writer.write(bytes_)
                measurements += count
                probes += 1
        writer.close()
        seconds = time.monotonic() - begin
        memory = dict(pool.map(work_memory, range(workers), 1))
    answer(seconds=seconds, measurements=measurements, probes=probes, bytes=os.path.getsize(path),
           memory_peak_bytes=peak_bytes() + sum(memory.values()))


if __name__ == "__main__":
    main()
