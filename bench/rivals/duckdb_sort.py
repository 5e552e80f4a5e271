"""DuckDB sorts the measurements and writes Parquet: IN OUT MEMORY THREADS TEMP.

No fsync: COPY returns when the last byte has been passed to the system.
"""
import sys
import time

import duckdb

from common import answer, peak_bytes

source, target, memory, threads, temp = sys.argv[1:]
db = duckdb.connect()
db.execute(f"SET memory_limit='{memory}'")
db.execute(f"SET threads={int(threads)}")
db.execute(f"SET temp_directory='{temp}'")
begin = time.monotonic()
rows = db.execute(f"COPY (SELECT * FROM '{source}' ORDER BY src_addr, event_time) "
                  f"TO '{target}' (FORMAT parquet)").fetchone()[0]
seconds = time.monotonic() - begin
answer(seconds=seconds, measurements=rows, memory_peak_bytes=peak_bytes())
