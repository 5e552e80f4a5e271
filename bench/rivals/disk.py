"""The disk alone: writes BYTES to a new file in pieces of 4 MiB, then fsync: FILE BYTES."""
import os
import sys
import time

from common import answer

path, size = sys.argv[1], int(sys.argv[2])
piece = memoryview(os.urandom(4 << 20))
begin = time.monotonic()
file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
left = size
while left > 0:
    left -= os.write(file, piece[:min(left, len(piece))])
written = time.monotonic() - begin
os.fsync(file)
seconds = time.monotonic() - begin
os.close(file)
answer(seconds=seconds, seconds_written=written, bytes=size)
