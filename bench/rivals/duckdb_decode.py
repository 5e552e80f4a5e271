"""DuckDB decodes all five columns and keeps nothing: IN THREADS. The least that any reader does.

It computes sums, because counts and extremes are taken from the file's statistics.
"""
import sys
import time

import duckdb

from common import answer, peak_bytes

source, threads = sys.argv[1:]
db = duckdb.connect()
db.execute(f"SET threads={int(threads)}")
begin = time.monotonic()
rows = db.execute("SELECT count(*), sum(epoch_us(event_time)), sum(strlen(src_addr)), "
                  f"sum(strlen(dst_addr)), sum(ip_version), sum(rtt) FROM '{source}'").fetchone()[0]
seconds = time.monotonic() - begin
answer(seconds=seconds, measurements=rows, memory_peak_bytes=peak_bytes())
