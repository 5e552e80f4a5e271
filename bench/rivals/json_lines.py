"""Python parses each line of a JSON file and keeps nothing: IN. The least that any script does."""
import json
import sys
import time

from common import answer, peak_bytes

ROWS = 0
begin, cpu = time.monotonic(), time.process_time()
with open(sys.argv[1], "rb") as file:
    for line in file:
        json.loads(line)
        ROWS += 1
answer(seconds=time.monotonic() - begin, cpu=time.process_time() - cpu, measurements=ROWS,
       memory_peak_bytes=peak_bytes())
